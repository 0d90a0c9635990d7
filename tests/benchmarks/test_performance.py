# SPDX-License-Identifier: Apache-2.0
"""The page docs/performance.md: the same data give the same page; what is missing or computes otherwise is named."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import replace
from itertools import pairwise
from math import gcd, prod
from pathlib import Path
from subprocess import CompletedProcess
from types import SimpleNamespace
from typing import Any

import pytest

import layouts
from benchmarks import campaign
from benchmarks.__main__ import main
from benchmarks.absolute import Unmeasured
from benchmarks.paired import BASELINE, PAIRS, Figure
from benchmarks.performance import inputs, measure, page
from benchmarks.performance.growth import growth
from benchmarks.performance.libraries import LIBRARIES, Failed, Library, Running
from benchmarks.programs import Observed, ProgramFailed, observed
from layouts import Layout, LayoutError, size
from proofs.symbolic.enumerated import LAWS
from verify.campaign.spec import LawsSpec
from verify.campaign.tasks import Implementation, domain_of, parts

UNIT = 200_000
EVERY_LAW = LawsSpec(name="", kind="laws", rank=1, size=4, strides=(1, 2))
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
        {"table": "campaigns", "column": "coalesce", "at": 1024, "median": 61.7, "quartile": 59, "pairs": 15},
        {"table": "campaigns", "column": "coalesce", "at": 16, "why": "no loop"},
    ],
}  # fmt: skip
GPU = {"gpu": "a GPU", "driver": "1.2", "cuda": "13.0", "cores": 16}
RECORDED = {
    "title": "A GPU", "what": "It took long.", "notes": ["Most was waiting."],
    "run": [
        {**GPU, "compiling_wall": [21.84, 24.36], "remark": "by hand"},
        {**GPU, "date": "2026-01-02", "commit": "0123456789ab", "nvrtc": "13.1", "instructions": 7,
         "compiling_wall": [3.0, 2.0, 4.0], "kept_wall": [1.0, 1.0, 1.5]},
    ],
}  # fmt: skip


def test_the_same_data_give_the_same_page() -> None:
    text = page.rendered(MADE_UP, RECORDED)
    assert text == page.rendered(MADE_UP, RECORDED)
    lines = text.splitlines()
    assert "| ours | 1.0 | `pip install ours` |" in lines
    assert "| theirs | **missing**: `No module named 'theirs'` | `pip install theirs` |" in lines
    assert "- `theirs, composition of 4:1 and 2:1 at 1 is 7`" in lines
    begins = ("| points", "| 1,", "| 10", "| ours | 1.26", "| theirs | -")
    campaigns = lines.index("## Campaigns")
    assert [line for line in lines[:campaigns] if line.startswith(begins)] == [
        "| points | ours |", "| 1,000 | 3.0 (2.0) |", "| 10,000 | 3.0 (2.0) |", "| 100,000 | 10 (8.0) of 3 |",
        "| 1,000,000 | more than 4 s |", "| ours | 1.26 | **1,000 to 10,000: 1.00**; 10,000 to 100,000: 1.52 |",
        "| theirs | - | too few sizes |",
    ]  # fmt: skip
    assert "| 1 | 1 | 2.5 (2.0) |" in lines
    assert [line for line in lines[campaigns:] if line.startswith(("| points", "| 16", "| 1,024"))] == [
        "| points | coalesce |", "| 16 | no loop |", "| 1,024 | 62 (59) |",
    ]  # fmt: skip
    least = min(gate.faster[1024] for gate in campaign.GATES.values() if 1024 in gate.faster)
    whole = campaign.GATES[campaign.ALL].faster[32]
    assert f"at least {whole} for all laws at 32 points, and {least} for each law at 1,024." in text
    machine = "a GPU, driver 1.2, CUDA 13.0"
    assert lines[-5:] == [
        "|---|---|---|---|---|---|---|",
        f"| - | - | {machine}, 16 CPU cores | - | 21.8 to 24.4 s | - | by hand |",
        f"| 2026-01-02 | 0123456789ab | {machine}, NVRTC 13.1, 16 CPU cores | 7 "
        "| 2.0 to 4.0 s | 1.0 to 1.5 s | - |",
        "", "- Most was waiting.",
    ]  # fmt: skip


def test_the_page_is_what_the_data_say() -> None:
    """`LANECHECK_SNAPSHOTS=update pytest …` writes it anew."""
    text = page.rendered(*page.data())
    if os.environ.get("LANECHECK_SNAPSHOTS") == "update":
        page.PAGE.write_text(text, encoding="utf-8")
    assert page.PAGE.read_text(encoding="utf-8") == text
    assert all(f"| {library.name} |" in text for library in LIBRARIES)


@pytest.mark.parametrize(
    ("times", "ranges"),
    [
        ([2, 20, 200, 2000], [(1, 1000, 1.0, True)]),
        ([2, 20, 200, 9000], [(1, 100, 1.0, True), (100, 1000, 1.65, False)]),
        ([2, 2.1, 21, 210], [(1, 10, 0.02, False), (10, 1000, 1.0, True)]),
        ([2, 2.1, 2.2, 2.3], [(1, 1000, 0.02, False)]),
        ([2, 20, 20, 200], [(1, 10, 1.0, True), (10, 100, 0.0, False), (100, 1000, 1.0, True)]),
        ([1, 1, 100, 100], [(1, 10, 0.0, False), (10, 100, 2.0, False), (100, 1000, 0.0, False)]),
    ],
)
def test_growth_has_a_slope_for_every_range_of_sizes(times: list[float], ranges: list[Any]) -> None:
    grown = growth([*zip((1, 10, 100, 1000), times, strict=True)])
    assert grown is not None
    assert [(span.start, span.stop, round(span.slope, 2), span.linear) for span in grown.ranges] == ranges


def test_sizes_close_to_each_other_have_no_slope_of_their_own() -> None:
    grown = growth([(n, n * (2.0 if n in (3, 5) else 1.0)) for n in range(1, 9)])
    assert grown is not None and [(span.start, span.stop) for span in grown.ranges] == [(1, 8)]
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
        lines = [*measure.compared(column, 10)]
        assert [line.removeprefix(f"{running.peer.name}: 8:2 ") for line in lines] == wanted
        assert [at for at in rows if at not in column.why] == times
    cases = {rank: {"operation": "composition", "cases": [((8, 3), (rank, 2))], "space": 64} for rank in (2, 4)}
    columns = [measure.Column("composition", running.peer.name, running, cases, {}, {}) for running in (ours, theirs)]
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
    (line,) = measure.compared(column, 10)
    assert line == "ending, 4:1: no result: its process ended with exit code 3"
    with pytest.raises(Failed, match=r"^/no/python: No such file"):
        Running(LIBRARIES[-1], "/no/python").ask()


def test_every_library_says_how_it_is_installed() -> None:
    assert all(re.fullmatch(r"pip install \S.*", library.install) for library in LIBRARIES)
    assert {"pycute", "tensor-layouts", "CuTe DSL", "Triton's LinearLayout"} <= {library.name for library in LIBRARIES}
    assert inputs.EVALUATED[0] < 1e4 and inputs.EVALUATED[-1] > 1e8


def test_writing_the_page_runs_no_suite(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["--write", "laws"])
    assert "--write measures what its page shows" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--write", "--seconds", "-1"], "'-1' isn't a number of seconds above 0"),
        (["--write", "--seconds", "nan"], "'nan' isn't a number of seconds above 0"),
        (["--write", "--python", "/nonexistent"], "No such file or directory"),
        (["--write", "--python", "/bin/echo"], "/bin/echo: it is no Python"),
        (["--seconds", "3", "gpu"], "--python and --seconds are for --write"),
    ],
)
def test_nothing_is_measured_for_what_cannot_be(
    words: list[str], problem: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "measured", None)
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == 2 and problem in capsys.readouterr().err


def test_a_page_that_lacks_a_library_is_written_and_is_no_success(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked = []
    monkeypatch.setattr(page, "measured", lambda *given: asked.append(given) or MADE_UP)
    for name in ("MEASURED", "PAGE"):
        monkeypatch.setattr(page, name, tmp_path / name)
    assert main(["--write", "--python", sys.executable, "--seconds", "2"]) == 4
    assert asked == [(sys.executable, 2.0)] and "# Performance" in (tmp_path / "PAGE").read_text(encoding="utf-8")
    assert "the page lacks theirs (pip install theirs): No module named 'theirs'" in capsys.readouterr().err
    monkeypatch.setattr(page, "measured", lambda *_: {**MADE_UP, "libraries": MADE_UP["libraries"][:1]})
    assert main(["--write"]) == 0


def test_programs_are_measured_in_turns() -> None:
    order: list[str] = []
    program = "import time; time.sleep(0.2); print({!r})"
    run, base = (
        lambda name=name: order.append(name) or observed("-c", program.format(name)) for name in ("it", "base")
    )
    ((mine, theirs),) = measure.together(run, base, 0.0)
    assert (order, mine.output, theirs.output) == (["it", "base"], "it\n", "base\n")
    assert len(measure.together(lambda: mine, lambda: theirs, 60.0)) == PAIRS


def test_the_last_row_of_atoms_is_of_all_atoms_and_of_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[tuple[str, ...]] = []
    names = [f"Copy<{n}, {n}>\n" for n in range(40)]
    taken = {"verify.atlas": Observed(2.0, 3.0, 5.0, ""), BASELINE: Observed(1.0, 1.0, 1.0, "")}

    def seen(*words: str) -> Observed:
        ran.append(words)
        return taken[words[1]]

    monkeypatch.setattr(measure, "process", lambda *_: lambda: CompletedProcess("", 0, stdout="".join(names)))
    monkeypatch.setattr(measure, "observed", seen)
    cells = [*measure.atoms(0)]
    columns = [f"{checks}: {what}" for checks in measure.CHECKS for what in measure.TAKEN]
    rows = [1, 3, 10, 30, 40]
    assert [(cell["column"], cell["at"]) for cell in cells] == [
        (f"{checks}: {what}", at) for checks in measure.CHECKS for at in rows for what in measure.TAKEN
    ]
    assert {cell["column"]: cell["median"] for cell in cells} == dict(zip(columns, [2, 3, 5] * 2, strict=True))
    chosen = [words[words.index("--allow-unchecked") + 1 :] for words in ran if "verify.atlas" in words]
    assert [len(names_of) for names_of in chosen] == [1, 3, 10, 30, 1] * 2 and chosen[4] == chosen[-1] == ("*",)
    assert chosen[1] == ("Copy<0, 0>", "Copy<13, 13>", "Copy<26, 26>")
    assert ["isa,proof" in words for words in ran if "verify.atlas" in words] == [True] * 5 + [False] * 5


def test_a_program_that_fails_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> None:
        raise ProgramFailed("it ended with exit code 1: no atlas")

    monkeypatch.setattr(measure, "process", lambda *_: lambda: CompletedProcess("", 0, stdout="a\nb\n"))
    monkeypatch.setattr(measure, "together", failing)
    cells = [(cell["at"], cell["why"]) for cell in measure.atoms(1)]
    assert cells == [(at, "it ended with exit code 1: no atlas") for at in (1, 1, 1, 2, 2, 2)] * 2


def test_a_campaign_s_figure_is_cases_for_one_of_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    def taken(law: str, points: int, every: int) -> Figure:
        if law == "coalesce":
            raise Unmeasured("no pycute")
        return Figure("", "", ((2.0, 3.0), (2.0, 2.0), (2.0, 2.0)), 1.0)

    monkeypatch.setattr(campaign, "against_pycute", taken)
    cells = {(cell["column"], cell["at"]): cell for cell in measure.campaigns()}
    every = campaign.GATES["composition"].faster
    assert {at: cells["composition", at]["median"] for at in every} == every
    assert cells["composition", 1024]["pairs"] == 3
    assert {cell["why"] for (law, _), cell in cells.items() if law == "coalesce"} == {"no pycute"}


@pytest.mark.long
@pytest.mark.parametrize(("checked", "points"), [(law, n) for law, gate in campaign.GATES.items() for n in gate.faster])
def test_the_loop_has_the_campaign_s_cases_and_enough_chunks_for_two(checked: str, points: int) -> None:
    spec = campaign.spec_of(checked, points)
    layouts = domain_of(spec)
    assert gcd(campaign.GATES[checked].faster[points], len(layouts)) == 1
    assert max(size(layouts[n][0]) for n in range(len(layouts))) == (campaign.GATES[checked].size or points)
    counted = parts(spec, Implementation())
    assert [part.name for part in counted] == ([*LAWS] if checked == campaign.ALL else [checked])
    for part in counted:
        assert part.cases == (len(layouts) ** 2 if LAWS[part.name].second == "layout" else len(layouts))
    assert sum(len(part.tasks) for part in counted) > campaign.JOBS


def with_last(stride: Any, more: int) -> Any:
    return (*stride[:-1], with_last(stride[-1], more)) if isinstance(stride, tuple) else stride + more


@pytest.mark.long
@pytest.mark.parametrize("law", LAWS)
def test_the_loop_finds_nothing_wrong_with_right_results_and_finds_wrong_ones(law: str) -> None:
    """Ours in the place of pycute, which rejects by AssertionError."""

    def pycute(more: int) -> Any:
        def operation(*arguments: Any) -> Layout:
            try:
                layout = getattr(layouts, law)(*arguments)
            except LayoutError as error:
                raise AssertionError from error
            return Layout(layout.shape, with_last(layout.stride, more))

        return SimpleNamespace(**{law: operation}, Layout=Layout, size=size)

    spec = replace(campaign.spec_of(law, 1024), size=16, strides=(1, 2, 4, 8), extents=(2, 4))
    assert campaign.loop(pycute(0), spec, law, 3)() == 0
    assert campaign.loop(pycute(1), spec, law, 3)() > 0


@pytest.mark.long
def test_one_campaign_of_all_laws_has_a_loop_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    loops: list[tuple[str, int]] = []
    monkeypatch.setitem(sys.modules, "pycute", SimpleNamespace())
    monkeypatch.setattr(campaign, "spec_of", lambda *_: EVERY_LAW)
    monkeypatch.setattr(campaign, "loop", lambda _, __, law, every: lambda: loops.append((law, every)) or 0)
    monkeypatch.setattr(campaign, "paired", lambda name, run, base, loop, most: (name, run(), base, loop(), most))
    figure: Any = campaign.against_pycute(campaign.ALL, 4, 51)
    assert loops == [(law, 51) for law in LAWS]
    cases = sum(part.cases for part in parts(EVERY_LAW, Implementation()))
    assert figure == (f"all laws, at most 4 points, {cases} cases", None, "pycute, one case in 51", 0, 1.0)
