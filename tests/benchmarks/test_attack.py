# SPDX-License-Identifier: Apache-2.0
"""The attack's oracles know right from wrong by themselves, and what they find is counted and kept."""

from __future__ import annotations

import ast
import json
import random
import shutil
from pathlib import Path

import pytest

from benchmarks.attack import algebra, atoms, campaign, descriptors, expressions, headers, oracle, repairs
from benchmarks.attack.attempt import Attempt, Truth, fault_of
from verify import Report, verify_layout

RIGHT = "((4,8),(2,2)):((32,1),(16,8))"


def test_the_oracle_imports_none_of_the_packages() -> None:
    tree = ast.parse(Path(oracle.__file__).read_text())
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert names == {"__future__", "ast", "re", "typing"}


def test_the_oracle_evaluates_layouts_and_swizzles() -> None:
    assert oracle.rows("((4,8),(2,2)):((32,1),(16,8))")[5] == [33, 49, 41, 57]
    assert oracle.images("Sw<3,3,3> o (8,64):(64,1)")[1] == 72  # row 1: chunk 0 goes to chunk 1
    assert atoms.same_function(RIGHT, "((4,8),4):((32,1),8)") is False
    assert atoms.same_function(RIGHT, "((4,2,4),(2,2)):((32,1,2),(16,8))")


@pytest.mark.parametrize(
    ("truth", "verdict", "fault"),
    [
        (Truth.WRONG, "VERIFIED", "false accept"),
        (Truth.UNDEFINED, "VERIFIED", "false accept"),
        (Truth.RIGHT, "REFUTED", "false alarm"),
        (Truth.RIGHT, "CRASHED: KeyError", "crash"),
        (Truth.RIGHT, "VERIFIED", ""),
        (Truth.WRONG, "REFUTED", ""),
        (Truth.WRONG, "UNDECIDED", ""),
    ],
)
def test_a_verdict_is_held_against_the_truth(truth: Truth, verdict: str, fault: str) -> None:
    assert fault_of(truth, verdict) == fault


def accept_everything(*_: object, **__: object) -> Report:
    """A checker that accepts everything."""
    return verify_layout("4:1", onto=4)


@pytest.mark.long
def test_a_checker_that_accepts_everything_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(atoms, "verify_atom", accept_everything)
    monkeypatch.setattr(repairs, "verify_atom", accept_everything)
    monkeypatch.setattr(descriptors, "verify_movement", accept_everything)
    monkeypatch.setattr(headers, "main", lambda _: print(json.dumps({"subjects": [1]})) or 0)
    for attack in (atoms, repairs, descriptors, headers):
        attempts = [attack.attempt(number, random.Random(number)) for number in range(8)]
        assert "false accept" in {attempt.fault for attempt in attempts}, attack.__name__


@pytest.mark.long
@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_gcc_knows_which_rows_are_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = {
        expressions.ROW: Truth.RIGHT,
        f"{expressions.ROW} + ((lane - 9)/2 - ((lane - 9)>>1))": Truth.WRONG,
        f"{expressions.ROW} + i/(lane - lane)": Truth.UNDEFINED,
    }
    assert {row: expressions.truth_of(row, "int", tmp_path) for row in rows} == rows
    assert expressions.truth_of(list(rows)[1], "unsigned", tmp_path) is Truth.RIGHT
    monkeypatch.setattr(expressions, "verify_index", accept_everything)
    attempts = [expressions.attempt(number, random.Random(number)) for number in range(12)]
    assert "false accept" in {attempt.fault for attempt in attempts}


def test_a_result_that_breaks_its_definition_is_caught() -> None:
    for name, (_, kept) in algebra.OPERATIONS.items():
        assert not kept("(2,3):(1,2)", "3:1", "(2,4):(5,1)", 12), name


def test_operations_keep_their_definitions_on_two_hundred_layouts() -> None:
    attempts = [algebra.attempt(number, random.Random(f"test {number}")) for number in range(200)]
    assert [attempt for attempt in attempts if attempt.fault] == []
    assert sum(attempt.verdict == "VERIFIED" for attempt in attempts) > 100


@pytest.mark.long
def test_canonical_layouts_have_a_descriptor_and_edited_ones_have_none() -> None:
    right = "((8,8),(64,1)):((64,512),(1,4096))"
    places = {point: descriptors.swizzled(place, 3) for point, place in descriptors.points(right).items()}
    assert descriptors.is_described(places)
    places[3, 5], places[3, 6] = places[3, 6], places[3, 5]
    assert not descriptors.is_described(places)


def test_layouts_of_a_header_are_those_that_its_text_has() -> None:
    text = (headers.HEADERS / "atom" / "mma_traits_own.hpp").read_text()
    assert oracle.images("((4,8),(2,2)):((16,1),(8,64))") in headers.layouts_of(text)
    assert headers.layouts_of(text) != headers.layouts_of(text.replace("Stride<_16, _1>", "Stride<_16, _2>"))


def test_a_log_is_gone_on_with_after_a_torn_line(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    first = list(campaign.run(["algebra"], 4, 1, log, 1))
    whole = log.read_text()
    log.write_text(whole[:-20])
    assert len(campaign.kept(log, 1)) == 3
    assert sorted(campaign.run(["algebra"], 4, 1, log, 1), key=lambda attempt: attempt.number) == first
    assert sorted(log.read_text().splitlines()) == sorted(whole.splitlines())
    with pytest.raises(ValueError, match="another seed"):
        campaign.kept(log, 2)


def test_the_score_counts_attempts_and_faults() -> None:
    first = Attempt("atoms", 0, "", Truth.WRONG, "VERIFIED", "false accept")
    second = Attempt("atoms", 1, "", Truth.RIGHT, "VERIFIED")
    third = Attempt("headers", 0, "", Truth.WRONG, "UNDECIDED")
    assert campaign.score([first, second, third]).splitlines()[2:] == [
        "| atoms | 1 | 1 | 1 | 0 | 0 | 1 | 0 | 0 | 0 | 0 |",
        "| headers | 0 | 0 | 1 | 0 | 1 | 0 | 0 | 0 | 0 | 0 |",
        "| all | 1 | 1 | 2 | 0 | 1 | 1 | 0 | 0 | 0 | 0 |",
    ]
