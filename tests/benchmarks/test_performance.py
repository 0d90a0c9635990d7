# SPDX-License-Identifier: Apache-2.0
"""The page docs/performance.md: the same data give the same page; what is missing or computes otherwise is named."""

from __future__ import annotations

import os
import re
import sys
from itertools import pairwise
from math import prod
from pathlib import Path
from subprocess import CalledProcessError, CompletedProcess
from typing import Any

import pytest

from benchmarks.__main__ import main
from benchmarks.paired import process
from benchmarks.performance import inputs, measure, page
from benchmarks.performance.growth import growth
from benchmarks.performance.libraries import LIBRARIES, Failed, Library, Running

UNIT = 200_000
CELL = {"table": "evaluation", "column": "ours", "pairs": 15}
MADE_UP: dict[str, Any] = {
    "machine": {"date": "2026-01-01", "minutes": 2, "processor": "a chip", "cores": 2, "python": "3.11", "load": 0.5,
                "allowance": 4},
    "libraries": [
        {"name": "ours", "version": "1.0", "install": "pip install ours", "missing": ""},
        {"name": "theirs", "version": "", "install": "pip install theirs", "missing": "No module named 'theirs'"},
    ],
    "inputs": {"unit": UNIT, "points": 64},
    "differences": ["theirs, composition of 4:1 and 2:1 at 1 is 7"],
    "cells": [
        {**CELL, "at": 1000, "median": 3000 / UNIT, "quartile": 2000 / UNIT},
        {**CELL, "at": 10_000, "median": 30_000 / UNIT, "quartile": 20_000 / UNIT},
        {**CELL, "at": 100_000, "median": 5.0, "quartile": 4.0, "pairs": 3},
        {**CELL, "at": 1_000_000, "why": "more than 4 s"},
        {"table": "composition", "column": "Lanecheck", "at": 1, "median": 1, "quartile": 1, "pairs": 15,
         "ours": {"median": 1, "quartile": 1, "pairs": 15}},
        {"table": "composition", "column": "theirs", "at": 1, "median": 9, "quartile": 9, "pairs": 15,
         "ours": {"median": 2.5, "quartile": 2, "pairs": 15}},
    ],
}  # fmt: skip
RECORDED = {
    "A GPU": {"date": "2026-01-02", "machine": "a GPU", "what": "It took long.", "columns": ["", "s"],
              "rows": [["cold", "3"]], "notes": ["Most was waiting."]},
}  # fmt: skip


def test_the_same_data_give_the_same_page() -> None:
    text = page.rendered(MADE_UP, RECORDED)
    assert text == page.rendered(MADE_UP, RECORDED)
    lines = text.splitlines()
    assert "| theirs | - | **missing**: `No module named 'theirs'`. `pip install theirs` installs it |" in lines
    assert "- `theirs, composition of 4:1 and 2:1 at 1 is 7`" in lines
    assert [line for line in lines if line.startswith(("| points", "| 1,", "| 10", "| slope", "| linear"))] == [
        "| points | ours |", "| 1,000 | 3.0 (2.0) |", "| 10,000 | 3.0 (2.0) |", "| 100,000 | 10 (8.0) of 3 |",
        "| 1,000,000 | more than 4 s |", "| slope | 1.26 |", "| linear | 1,000 to 10,000, then 1.52 |",
        "| slope | - | - |", "| linear | too few sizes | too few sizes |",
    ]  # fmt: skip
    assert "| 1 | 1 | 2.5 (2.0) |" in lines
    assert lines[-7:] == [
        "It took long. Measured on 2026-01-02: a GPU.", "", "| | s |", "|---|---|", "| cold | 3 |", "",
        "- Most was waiting.",
    ]  # fmt: skip


def test_the_page_is_what_the_data_say() -> None:
    """`LANECHECK_SNAPSHOTS=update pytest …` writes it anew."""
    text = page.rendered(*page.data())
    if os.environ.get("LANECHECK_SNAPSHOTS") == "update":
        page.PAGE.write_text(text, encoding="utf-8")
    assert page.PAGE.read_text(encoding="utf-8") == text
    assert all(f"| {library.name} |" in text for library in LIBRARIES)


@pytest.mark.parametrize(
    ("times", "linear", "after"),
    [
        ([2, 20, 200, 2000], (1, 1000), None),
        ([2, 20, 200, 9000], (1, 100), 1.65),
        ([2, 2.1, 21, 210], (10, 1000), None),
        ([2, 2.1, 2.2, 2.3], None, None),
    ],
)
def test_growth_is_linear_where_the_slope_is_about_1(times: list[float], linear: Any, after: float | None) -> None:
    found = growth([*zip((1, 10, 100, 1000), times, strict=True)])
    assert found is not None
    assert found.linear == linear
    assert (found.after and round(found.after, 2)) == after


def test_sizes_close_to_each_other_have_no_slope_of_their_own() -> None:
    found = growth([(n, n * (2.0 if n in (3, 5) else 1.0)) for n in range(1, 9)])
    assert found is not None and found.linear == (1, 8)
    assert growth([(1, 1.0)]) is None


def test_layouts_are_bijections_that_every_library_has() -> None:
    for points in (1 << 10, 1 << 13):
        shape, stride = inputs.hierarchical(points)
        assert sorted(measure.definition(shape, stride)) == list(range(points))
    for rank in inputs.RANKS:
        shape, stride = inputs.flat(1 << 16, rank)
        assert sorted(measure.definition(shape, stride)) == list(range(1 << 16))
        extents = measure.leaves(shape)
        assert len(extents) == rank and prod(extents) == 1 << 16
        assert all(s * d != e for (s, d), (_, e) in pairwise(zip(extents, measure.leaves(stride), strict=True)))


ADAPTER = """
def evaluate(shape, stride):
    return lambda: [i * stride + (i == {wrong}) for i in range(shape)]

def compose(a, b):
    return b[0], a[1] * b[1] + (b[0] == {shape})

EVALUATE = {{"some way": evaluate}}
OPERATIONS = {{"composition": compose}}
layout = lambda shape, stride, space: (shape, stride)
plain = lambda one: one
"""


def library(path: Path, name: str, text: str) -> Running:
    """A library whose adapter is this text."""
    path.with_suffix(".py").write_text(text)
    return Running(
        Library(name, str(path), name, f"pip install {name}", ("some way",), ("composition",)), sys.executable
    )


def test_a_library_that_computes_something_else_is_named_with_its_smallest_input(tmp_path: Path) -> None:
    ours = library(tmp_path / "ours", "ours", ADAPTER.format(wrong=-1, shape=-1))
    theirs = library(tmp_path / "theirs", "theirs", ADAPTER.format(wrong=5, shape=4))
    request = {"way": "some way"}
    rows = {4: {**request, "shape": 4, "stride": 2}, 8: {**request, "shape": 8, "stride": 2}}
    rows[16] = {**request, "shape": 16, "stride": 2}
    for running, wanted, times in ((ours, [], [4, 8, 16]), (theirs, ["at 5 is 11, by the definition 10"], [4])):
        column = measure.Column("evaluation", running.peer.name, running, rows, {}, {})
        found = [*measure.compared(column, 10)]
        assert [line.removeprefix(f"{running.peer.name}: 8:2 ") for line in found] == wanted
        assert [at for at in rows if at not in column.why] == times
    cases = {rank: {"operation": "composition", "cases": [((8, 3), (rank, 2))], "space": 64} for rank in (2, 4)}
    columns = [measure.Column("composition", one.peer.name, one, cases, {}, {}) for one in (ours, theirs)]
    assert [*measure.agreement("composition", columns)] == [
        "theirs, composition of 8:3 and 4:2 at 1 is 7: 4:7, ours 6: 4:6"
    ]
    assert (columns[1].why, columns[0].why) == ({4: "another function"}, {})
    ours.close()
    theirs.close()


def test_a_missing_library_and_one_that_ends_are_named(tmp_path: Path) -> None:
    missing = library(tmp_path / "missing", "missing", "import no_such_library")
    assert missing.missing == "ModuleNotFoundError: No module named 'no_such_library'"
    ending = library(tmp_path / "ending", "ending", "import os\nEVALUATE = {'some way': lambda *_: os._exit(3)}")
    column = measure.Column("evaluation", "ending", ending, {4: {"way": "some way", "shape": 4, "stride": 1}}, {}, {})
    (found,) = measure.compared(column, 10)
    assert found == "ending, 4:1: no result: its process ended with exit code 3"
    with pytest.raises(Failed, match=r"^/no/python: No such file"):
        Running(LIBRARIES[-1], "/no/python").ask()


def test_every_library_says_how_it_is_installed() -> None:
    assert all(re.fullmatch(r"pip install \S.*", library.install) for library in LIBRARIES)
    assert {"pycute", "tensor-layouts", "CuTe DSL", "Triton's LinearLayout"} <= {one.name for one in LIBRARIES}
    assert inputs.EVALUATED[0] < 1e4 and inputs.EVALUATED[-1] > 1e8


def test_writing_the_page_runs_no_suite(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["--write", "laws"])
    assert "--write measures what its page shows" in capsys.readouterr().err


def test_programs_are_measured_in_turns() -> None:
    base = process("-c", "print(2)")
    run = process("-c", "import sys; print('3', file=sys.stderr)")
    seconds, memory = measure.together(run, base, 0.0)
    assert memory == [(3.0, 2.0)] and len(seconds) == 1 and min(seconds[0]) > 0


def test_the_last_row_of_atoms_is_of_all_atoms_and_of_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[tuple[str, ...]] = []

    def listed(*words: str) -> object:
        ran.append(words)
        return lambda: CompletedProcess("", 0, stdout="".join(f"{n}\n" for n in range(40)))

    monkeypatch.setattr(measure, "process", listed)
    monkeypatch.setattr(measure, "together", lambda *_: ([(2.0, 1.0)], [(2.0, 1.0)]))
    assert [cell["at"] for cell in measure.atoms(1)] == [at for at in (1, 3, 10, 30, 40) for _ in range(2)]
    chosen = [words[words.index("--allow-unchecked") + 1 :] for words in ran if "verify.atlas" in words]
    assert [len(names) for names in chosen] == [1, 3, 10, 30, 1] and chosen[-1] == ("*",)


def test_a_program_that_fails_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> None:
        raise CalledProcessError(1, "it", stderr="first\nno atlas\n")

    monkeypatch.setattr(measure, "process", lambda *_: lambda: CompletedProcess("", 0, stdout="a\nb\n"))
    monkeypatch.setattr(measure, "together", failing)
    assert [(cell["at"], cell["why"]) for cell in measure.atoms(1)] == [(at, "no atlas") for at in (1, 1, 2, 2)]
