# SPDX-License-Identifier: Apache-2.0
"""The record of rank 3: it is complete, speaks about the code as it is, and nothing in it is wrong or left out."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from proofs.laws import solve
from proofs.symbolic import campaign

pytestmark = pytest.mark.slow

KEPT = json.loads(campaign.FILE.read_text())["operations"]


def test_the_record_is_current_and_complete() -> None:
    assert list(campaign.faults()) == []


@pytest.mark.parametrize("label", KEPT)
def test_every_path_is_accounted_for(label: str) -> None:
    """Proved, refused, unknown or wrong; what is left over was reached by no numbers."""
    told = KEPT[label]
    assert told["proved"] + told["refused"] + len(told["violations"]) <= told["paths"]
    assert told["proved"] > 0
    assert told["violations"] == []


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"unknown": ["the solver gave up"]}, "coalesce, rank 2: unknown: the solver gave up"),
        ({"unexplored": 7}, "coalesce, rank 2: 7 paths not followed"),
        ({"violations": ["coalesce(2:1) -> 1:0"]}, "coalesce, rank 2: coalesce(2:1) -> 1:0"),
        ({"proved": 0}, "coalesce, rank 2: its counts do not agree"),
        ({"proved": None}, "coalesce, rank 2: not in the record"),
        ({"sources": "0"}, "coalesce, rank 2: not in the record"),
    ],
)
def test_what_the_record_must_not_tell_is_a_fault(tmp_path: Path, change: dict[str, object], told: str) -> None:
    edited = {**KEPT, "coalesce, rank 2": {**KEPT["coalesce, rank 2"], **change}}
    (tmp_path / "record.json").write_text(json.dumps({"operations": edited}))
    assert [line[: len(told)] for line in campaign.faults(tmp_path / "record.json")] == [told]


@pytest.mark.parametrize("text", ["", "[]", '{"operations": []}', '{"operations": {"coalesce, rank 2": 3}}'])
def test_a_record_that_is_none_says_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "record.json").write_text(text)
    assert campaign.recorded(tmp_path / "record.json") == {}
    assert len(list(campaign.faults(tmp_path / "record.json"))) == 1


def test_nothing_is_unknown_or_left_over() -> None:
    assert {label for label, told in KEPT.items() if told["unknown"] or told["unexplored"]} == set()


def test_every_refusal_lies_outside_the_precondition() -> None:
    assert {label: told["refused"] for label, told in KEPT.items() if told["refused"] != told["outside"]} == {}


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the sources that the record speaks about, in place of them."""
    executed = {name for names in campaign.EXECUTED.values() for name in names}
    names = {"layouts": executed, "proofs/laws": (*campaign.ENGINE, "contracts", "loops", "runs", "searched")}
    for folder, files in names.items():
        (tmp_path / folder).mkdir(parents=True)
        for name in files:
            (tmp_path / folder / f"{name}.py").write_text((campaign.ROOT / folder / f"{name}.py").read_text())
    monkeypatch.setattr(campaign, "ROOT", tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("source", "gone"),
    [
        ("layouts/layout.py", set(campaign.EXECUTED)),
        ("proofs/symbolic/pathwise.py", set(campaign.EXECUTED)),
        ("layouts/inverse.py", {"right_inverse", "left_inverse"}),
        ("layouts/complement.py", {"complement", "logical_divide", "logical_product"}),
        ("proofs/symbolic/searched.py", {"complement", "logical_divide", "logical_product"}),
        ("layouts/compose.py", {"composition", "logical_divide", "logical_product"}),
    ],
)
def test_a_change_of_the_code_makes_the_record_of_what_runs_it_speak_no_more(
    copied: Path, source: str, gone: set[str]
) -> None:
    text = (copied / source).read_text()
    (copied / source).write_text(f"# a comment\n{text}")
    assert campaign.recorded().keys() == KEPT.keys()
    (copied / source).write_text(f"{text}\nMORE = 1\n")
    left = {label for label, operation in campaign.operations().items() if operation.name not in gone}
    assert campaign.recorded().keys() == left & KEPT.keys()
    assert "has changed" in next(iter(campaign.faults()))


def test_a_module_that_moves_changes_no_result(copied: Path) -> None:
    """What counts are the names that are imported, not the folder they come from; another name counts."""
    compose = copied / "layouts/compose.py"
    text = compose.read_text()
    compose.write_text(text.replace("from layouts.coalesce import merge", "from layouts.folder.coalesce import merge"))
    assert campaign.recorded().keys() == KEPT.keys()
    compose.write_text(text.replace("from layouts.coalesce import merge", "from layouts.coalesce import coalesce"))
    assert campaign.recorded().keys() < KEPT.keys()


BESIDE = {"arithmetic", "coords", "errors", "interleaved", "order", "swizzle", "text"}
"""What modules import and no operation of the record runs; `interleaved` is searched, and stands as refused."""


@pytest.mark.parametrize("name", campaign.EXECUTED)
def test_the_record_rests_on_every_module_that_the_operation_runs(name: str) -> None:
    """All that its modules import, and what those do."""
    first = {"composition": "composed", "logical_divide": "divide", "logical_product": "products"}.get(name, name)
    todo, found = [first.removeprefix("right_").removeprefix("left_")], set()
    while todo:
        module = todo.pop()
        if module in found or module in BESIDE:
            continue
        found.add(module)
        tree = ast.parse((campaign.ROOT / "layouts" / f"{module}.py").read_text())
        imported = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        todo += [module.removeprefix("layouts.") for module in imported if module.startswith("layouts.")]
    assert found == set(campaign.EXECUTED[name])


def test_a_change_of_one_contract_leaves_the_rest(copied: Path) -> None:
    """What is stated elsewhere still speaks; what is stated there is a fault, operation by operation."""
    with (copied / "proofs" / "laws" / "runs.py").open("a") as file:
        file.write("MORE = 1\n")
    left = campaign.recorded().keys()
    assert "complement, rank 3" in left
    assert "logical_divide, rank 3 by rank 3, by the contract of composition" in left
    gone = KEPT.keys() - left
    assert {"composition, rank 3: one run", "composition, rank 3 o rank 3, by the contract of a run"} <= gone
    assert all("run" in label or "merged" in label for label in gone)
    assert len(list(campaign.faults())) == len(gone)


def test_every_rank_up_to_3_is_there() -> None:
    """Each operation, at each rank and each pair of ranks."""
    for r in (1, 2, 3):
        for name in ("coalesce", "complement", "right_inverse", "left_inverse"):
            assert f"{name}, rank {r}" in KEPT
        for b in (1, 2, 3):
            assert f"composition, rank {r} o rank {b}, by the contract of a run" in KEPT
            assert f"logical_divide, rank {r} by rank {b}, by the contract of composition" in KEPT
            assert f"logical_product, rank {r} by rank {b}, by the contract of composition" in KEPT


def test_a_run_that_was_cut_short_goes_on(tmp_path: Path) -> None:
    """Only what is missing is executed: all but one operation are taken from the record."""
    kept = tmp_path / "record.json"
    whole = json.loads(campaign.FILE.read_text())
    told = whole["operations"].pop("coalesce, rank 1")
    kept.write_text(json.dumps(whole))
    campaign.run(1, kept)
    anew = json.loads(kept.read_text())["operations"]["coalesce, rank 1"]
    assert anew == {**told, "engine": solve.version("z3")}
    assert list(campaign.faults(kept)) == []
