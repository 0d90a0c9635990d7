# SPDX-License-Identifier: Apache-2.0
"""The atlas by processes: the rows of one checker, whatever their number; what an interruption leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from typing import Any

import pytest

from layouts.atoms import registry
from verify.atlas import processes
from verify.atlas.processes import by_family, tabulate_many
from verify.atlas.rows import Atlas, Counted, Row, tabulate
from verify.atom.checker import AtomChecker
from verify.core.errors import Exit
from verify.core.verdict import Check
from verify.report import Case

ISA = frozenset({Check.ISA})
NAMES = ("SM61_DP4A", "SM80_16x8x8_F16F16F16F16_TN", "SM75_U32x1_LDSM_N", "SM80_16x8x16_F32F16F16F32_TN", "SM61_DP2A")
BARE = ("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", "wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64")


class AtOnce(Executor):
    """Makes each call when it is submitted, until its budget ends in Ctrl-C."""

    def __init__(self, calls: int = 1000) -> None:
        self.calls = calls

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.calls -= 1
        future.set_result(fn(*args)) if self.calls >= 0 else future.set_exception(KeyboardInterrupt())
        return future


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> AtOnce:
    pool = AtOnce()

    @contextmanager
    def local(jobs: int) -> Iterator[AtOnce]:
        yield pool

    monkeypatch.setattr(processes, "processes", local)
    return pool


def counts(atlas: Atlas) -> tuple[list[Row], list[Row], int]:
    """What is counted, less how much evidence was shared: that depends on which atoms have one checker."""
    for row in (*atlas.rows, *atlas.without_atom):
        row.shared = 0
    return list(atlas.rows), list(atlas.without_atom), int(atlas.exit)


def test_families_in_processes_make_the_rows_of_one_checker(at_once: AtOnce) -> None:
    atoms = [registry()[name] for name in NAMES]
    assert counts(tabulate_many(NAMES, BARE, ISA, quiet=True)) == counts(tabulate(atoms, AtomChecker(ISA), BARE, True))
    assert sorted(name for names, _ in by_family(NAMES, BARE) for name in names) == sorted(NAMES)
    assert [len(names) for names, _ in by_family(NAMES, BARE)] == [2, 1, 1, 1, 0]


def test_instructions_whose_names_begin_alike_have_one_checker(monkeypatch: pytest.MonkeyPatch) -> None:
    bare = ("tcgen05.ld.sync.aligned.32x32b.x1.b32", "wgmma.x", "tcgen05.st.sync.aligned.32x32b.x1.b32")
    assert by_family((), bare) == [([], [bare[0], bare[2]]), ([], [bare[1]])]
    monkeypatch.setattr("verify.atlas.processes.MANY", 1)
    assert [len(names) for names, _ in by_family(NAMES[1:4], ())] == [2, 1], "a family of many is a task of its own"


def test_an_interruption_leaves_the_families_that_are_done(at_once: AtOnce) -> None:
    at_once.calls = 2
    atlas = tabulate_many(NAMES, BARE, ISA, quiet=True)
    assert atlas.exit is Exit.INTERRUPTED
    done = atlas.total().atoms + atlas.total_without_atom().atoms
    assert atlas.missing >= 3
    assert atlas.missing + done == len(NAMES) + len(BARE)


def test_an_atom_that_fails_stops_no_other_and_is_printed(
    at_once: AtOnce, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    right = AtomChecker.case

    def broken(self: AtomChecker, entry: Any) -> Case:
        if entry.name == NAMES[0]:
            raise RuntimeError("planted")
        return right(self, entry)

    monkeypatch.setattr(AtomChecker, "case", broken)
    atlas = tabulate_many(NAMES, (), ISA, quiet=True)
    assert atlas.exit is Exit.CONTRADICTION
    assert (atlas.total().atoms, atlas.missing) == (4, 0)
    assert "SM61_DP4A was not verified: RuntimeError: planted" in capsys.readouterr().err


@pytest.mark.parametrize("allowed", [True, False])
def test_what_may_stay_unchecked_is_said_to_every_process(
    at_once: AtOnce, monkeypatch: pytest.MonkeyPatch, allowed: bool
) -> None:
    said = []
    monkeypatch.setattr(processes, "counted", lambda *task: said.append(task[-1]) or Counted())
    tabulate_many(NAMES, (), ISA, quiet=True, allow_unchecked=allowed)
    assert said == [allowed] * 4


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 3])
def test_the_number_of_processes_changes_no_count(jobs: int) -> None:
    found = tabulate_many(NAMES, BARE, ISA, quiet=True, jobs=jobs)
    shared = found.total().shared
    atoms = [registry()[name] for name in NAMES]
    assert shared == tabulate_many(NAMES, BARE, ISA, quiet=True, jobs=2).total().shared
    assert counts(found) == counts(tabulate(atoms, AtomChecker(ISA), BARE, True))
