# SPDX-License-Identifier: Apache-2.0
"""The record of rank 3 is complete and current: nothing in it is wrong, unknown or left out."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
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
    """A path is proved, rejects its input, is unknown or wrong; no numbers take the others."""
    entry = KEPT[label]
    assert entry["proved"] + entry["refused"] + len(entry["violations"]) <= entry["paths"]
    assert entry["proved"] > 0
    assert entry["violations"] == []


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"unknown": ["the solver gave up"]}, "coalesce, rank 2: unknown: the solver gave up"),
        ({"unexplored": 7}, "coalesce, rank 2: 7 paths not followed"),
        ({"violations": ["coalesce(2:1) -> 1:0"]}, "coalesce, rank 2: coalesce(2:1) -> 1:0"),
        ({"proved": 0}, "coalesce, rank 2: its counts do not agree"),
        ({"proved": None}, "coalesce, rank 2: not in the record"),
        ({"sources": "0"}, "coalesce, rank 2: not in the record"),
    ],
)
def test_a_faulty_entry_is_reported(tmp_path: Path, change: dict[str, object], expected: str) -> None:
    edited = {**KEPT, "coalesce, rank 2": {**KEPT["coalesce, rank 2"], **change}}
    campaign.write(edited, tmp_path / "record.json")
    assert [line[: len(expected)] for line in campaign.faults(tmp_path / "record.json")] == [expected]


def test_without_a_record_nothing_is_recorded(tmp_path: Path) -> None:
    assert campaign.read_recorded(tmp_path / "record.json") == {}
    assert list(campaign.faults(tmp_path / "record.json")) == ["record.json: no such record"]


EDITS = {
    "a number": lambda text: text.replace('"paths": 2, "proved": 2,', '"paths": 3, "proved": 3,', 1),
    "an operation less": lambda text: "".join(line for line in text.splitlines(True) if "coalesce, rank 2" not in line),
    "no operation": lambda text: '{"operations": []}',
    "no result": lambda text: '{"operations": {"coalesce, rank 2": 3}}',
    "torn": lambda text: text[:5000],
    "empty": lambda text: "",
    "a list": lambda text: "[]",
    "a number for operations": lambda text: '{"operations": 3}',
    "no digest": lambda text: text.replace('"digest"', '"was"'),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_record_is_rejected_in_one_line(
    edit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from verify.laws.command import main

    text = campaign.FILE.read_text()
    (tmp_path / "record.json").write_text(text)
    assert list(campaign.faults(tmp_path / "record.json")) == []
    edited = EDITS[edit](text)
    assert edited != text
    (tmp_path / "record.json").write_text(edited)
    why = "record.json: edited or damaged: its digest is not that of its results"
    assert [line.partition(";")[0] for line in campaign.faults(tmp_path / "record.json")] == [why]
    with pytest.raises(campaign.EditedError, match="edited or damaged"):
        campaign.examine_missing(1, tmp_path / "record.json")
    assert (tmp_path / "record.json").read_text() == edited
    monkeypatch.setattr(campaign.read_recorded, "__defaults__", (tmp_path / "record.json",))
    assert main(["--code", "--rank", "3"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1 and why in lines[0] and "--fresh" in lines[0]


def test_nothing_is_unknown_or_left_over() -> None:
    assert {label for label, entry in KEPT.items() if entry["unknown"] or entry["unexplored"]} == set()


def test_every_rejection_lies_outside_the_precondition() -> None:
    assert {label: entry["refused"] for label, entry in KEPT.items() if entry["refused"] != entry["outside"]} == {}


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the sources that the record depends on, used in their place."""
    executed = {name for names in campaign.EXECUTED.values() for name in names}
    symbolic = (*campaign.ENGINE, "contracts", "loops", "runs", "searched")
    names = {"layouts": executed, "proofs": ("definitions",), "proofs/symbolic": symbolic}
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
        ("proofs/definitions.py", set(campaign.EXECUTED)),
        ("proofs/symbolic/pathwise.py", set(campaign.EXECUTED)),
        ("layouts/inverse.py", {"right_inverse", "left_inverse"}),
        ("layouts/complement.py", {"complement", "logical_divide", "logical_product"}),
        ("proofs/symbolic/searched.py", {"complement", "logical_divide", "logical_product"}),
        ("layouts/compose.py", {"composition", "logical_divide", "logical_product"}),
    ],
)
def test_a_change_of_the_code_makes_the_record_stale_for_the_operations_that_run_it(
    copied: Path, source: str, gone: set[str]
) -> None:
    text = (copied / source).read_text()
    (copied / source).write_text(f"# a comment\n{text}")
    assert campaign.read_recorded().keys() == KEPT.keys()
    (copied / source).write_text(f"{text}\nMORE = 1\n")
    left = {label for label, operation in campaign.operations().items() if operation.name not in gone}
    assert campaign.read_recorded().keys() == left & KEPT.keys()
    assert "has changed" in next(iter(campaign.faults()))


KEPT_BY = {
    "a local": lambda text: re.sub(r"\bfollow\b", "following", text),
    "a docstring": lambda text: text.replace('"""Flat modes without', '"""Return flat modes without'),
    "a message": lambda text: text.replace("modes, the layout {layout} has", "modes; {layout} has"),
}
STALE_BY = {
    "two locals": lambda text: text.replace("follow = extent * stride", "follow = extent * extent"),
    "two arguments": lambda text: text.replace("zip(modes, profile,", "zip(profile, modes,"),
    "an operator": lambda text: text.replace("extent *= s", "extent += s"),
    "a constant": lambda text: text.replace("if s == 1:", "if s == 2:"),
    "a default": lambda text: text.replace("profile: IntTuple | None = None", "profile: IntTuple | None = 0"),
    "an attribute": lambda text: text.replace("layout.stride if", "layout.shape if"),
    "a class of errors": lambda text: text.replace("raise LayoutError(f", "raise ValueError(f"),
}


@pytest.mark.parametrize("what", KEPT_BY)
def test_another_name_or_other_words_change_no_result(copied: Path, what: str) -> None:
    coalesce = copied / "layouts/coalesce.py"
    text = coalesce.read_text()
    coalesce.write_text(KEPT_BY[what](text))
    assert coalesce.read_text() != text
    assert campaign.read_recorded().keys() == KEPT.keys()


@pytest.mark.parametrize("what", STALE_BY)
def test_what_may_change_a_result_makes_the_record_stale(copied: Path, what: str) -> None:
    coalesce = copied / "layouts/coalesce.py"
    text = coalesce.read_text()
    coalesce.write_text(STALE_BY[what](text))
    assert coalesce.read_text() != text
    assert campaign.read_recorded() == {}


def test_a_module_that_moves_changes_no_result(copied: Path) -> None:
    """The hash depends on the imported names, not on the module they are imported from."""
    compose = copied / "layouts/compose.py"
    text = compose.read_text()
    compose.write_text(text.replace("from layouts.coalesce import merge", "from layouts.folder.coalesce import merge"))
    assert campaign.read_recorded().keys() == KEPT.keys()
    compose.write_text(text.replace("from layouts.coalesce import merge", "from layouts.coalesce import coalesce"))
    assert campaign.read_recorded().keys() < KEPT.keys()


BESIDE = {"arithmetic", "arrays", "coords", "errors", "interleaved", "order", "swizzle", "text"}
"""Modules that are imported and run by no operation of the record; a search in `interleaved` counts as rejected."""


@pytest.mark.parametrize("name", campaign.EXECUTED)
def test_the_record_depends_on_every_module_that_the_operation_runs(name: str) -> None:
    """All modules that its modules import, directly or not."""
    first = {"composition": "composed", "logical_divide": "divide", "logical_product": "products"}.get(name, name)
    todo, run = [first.removeprefix("right_").removeprefix("left_")], set()
    while todo:
        module = todo.pop()
        if module in run or module in BESIDE:
            continue
        run.add(module)
        tree = ast.parse((campaign.ROOT / "layouts" / f"{module}.py").read_text())
        imported = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        todo += [module.removeprefix("layouts.") for module in imported if module.startswith("layouts.")]
    assert run == set(campaign.EXECUTED[name])


def test_a_change_of_one_contract_leaves_the_rest(copied: Path) -> None:
    """The operations with goals in that module become faults; those with goals elsewhere stay current."""
    with (copied / "proofs" / "symbolic" / "runs.py").open("a") as file:
        file.write("MORE = 1\n")
    left = campaign.read_recorded().keys()
    assert "complement, rank 3" in left
    assert "logical_divide, rank 3 by rank 3, by the contract of composition" in left
    gone = KEPT.keys() - left
    assert {"composition, rank 3: one run", "composition, rank 3 o rank 3, by the contract of a run"} <= gone
    assert all("run" in label or "merged" in label for label in gone)
    assert len(list(campaign.faults())) == len(gone)


def test_every_rank_up_to_3_is_recorded() -> None:
    """Each operation is recorded at each rank and each pair of ranks."""
    for r in (1, 2, 3):
        for name in ("coalesce", "complement", "right_inverse", "left_inverse"):
            assert f"{name}, rank {r}" in KEPT
        for b in (1, 2, 3):
            assert f"composition, rank {r} o rank {b}, by the contract of a run" in KEPT
            assert f"logical_divide, rank {r} by rank {b}, by the contract of composition" in KEPT
            assert f"logical_product, rank {r} by rank {b}, by the contract of composition" in KEPT


def test_an_interrupted_run_is_continued(tmp_path: Path) -> None:
    """Only the missing operation is executed; all others are taken from the record."""
    kept = tmp_path / "record.json"
    rest = dict(KEPT)
    entry = rest.pop("coalesce, rank 1")
    campaign.write(rest, kept)
    campaign.examine_missing(1, kept)
    anew = json.loads(kept.read_text())["operations"]["coalesce, rank 1"]
    assert anew == {**entry, "engine": solve.version("z3")}
    assert list(campaign.faults(kept)) == []


IN_A_PROCESS = """
import json, sys
from proofs.symbolic import campaign
print(json.dumps(campaign._examine(sys.argv[1])))
"""


@pytest.mark.parametrize("label", [label for label in KEPT if "rank 2" not in label and "rank 3" not in label])
def test_an_operation_is_examined_in_a_process_that_imported_nothing_else(label: str) -> None:
    words = [sys.executable, "-c", IN_A_PROCESS, label]
    done = subprocess.run(words, cwd=campaign.ROOT, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {key: KEPT[label][key] for key in campaign.KEYS - {"engine", "sources"}}
