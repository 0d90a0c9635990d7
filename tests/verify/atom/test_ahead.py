# SPDX-License-Identifier: Apache-2.0
"""Cases that further processes find ahead: the report is that of one process, whatever becomes of the others."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from gpu_checks.recordings_io import reader
from layouts.atoms import AnyAtom, Atom, registry
from verify.atom import ahead as module
from verify.atom import command, properties, selection
from verify.atom.ahead import CHUNK, Shared, ahead, find, forkable
from verify.atom.checker import AtomChecker
from verify.atom.parcel import Differs, Unpacker
from verify.cli.batch import verified
from verify.core.errors import Exit
from verify.core.verdict import Check
from verify.evidence import isa, proof
from verify.report import Case, Report, as_json

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork"),
    pytest.mark.filterwarnings("ignore:This process:DeprecationWarning"),  # pytest's own threads
]
NAMES = [*[name for name in registry() if name.startswith("SM90_64x16x")][:18], "SM75_U32x1_LDSM_N", "SM61_DP2A"]
ATOMS = [registry()[name] for name in NAMES]
CHECKS = frozenset({Check.ISA, Check.PROOF})


class Number:
    """A number of this process, as several processes share one."""

    def __init__(self, value: int) -> None:
        self.value = value


def itself(atom: AnyAtom) -> AnyAtom:
    return atom


@cache
def alone() -> str:
    return as_json.render(verified(ATOMS, AtomChecker(CHECKS).case, "atoms", quiet=True))


def report(jobs: int, after: float = 0.0) -> Report:
    """The report by so many processes, where this one begins after some seconds."""
    with ahead(AtomChecker(CHECKS), ATOMS, itself, jobs) as verify:
        time.sleep(after)
        found = verified(ATOMS, verify, "atoms", quiet=True)
    assert not multiprocessing.active_children()
    return found


@pytest.mark.long
@pytest.mark.parametrize("jobs", [2, 3])
def test_the_report_is_that_of_one_process(jobs: int) -> None:
    assert as_json.render(report(jobs, 0.1)) == alone()


def test_what_was_found_ahead_is_not_found_again(monkeypatch: pytest.MonkeyPatch) -> None:
    expected, checker = alone(), AtomChecker(CHECKS)
    unpacker = Unpacker(checker)
    for _, parcel in find(Shared(AtomChecker(CHECKS), ATOMS, itself, Number(-1), [0]), 0):
        unpacker.take(parcel)
    for owner, name in ((properties, "product"), (isa, "equals"), (proof, "equals"), (proof, "ownership")):
        monkeypatch.setattr(owner, name, None)
    assert as_json.render(verified(ATOMS, checker.case, "atoms", quiet=True)) == expected


@pytest.mark.long
@pytest.mark.parametrize("jobs", [2, 3, 4])
def test_what_another_process_began_is_taken_from_it(jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """This process is slow in its first chunk: by then each other one has found the chunk that is its own."""

    def slow(self: AtomChecker, entry: Any) -> Case:
        if os.getpid() == here:
            seen.append(entry.name)
            while multiprocessing.active_children():
                time.sleep(0.01)
        return Case(entry.name, ())

    here, seen = os.getpid(), list[str]()
    monkeypatch.setattr(AtomChecker, "case", slow)
    atoms = (ATOMS * 4)[: jobs * CHUNK]
    with ahead(AtomChecker(CHECKS), atoms, itself, jobs) as verify:
        found = [verify(atom).name for atom in atoms]
    assert found == [atom.name for atom in atoms]
    assert seen == found[:CHUNK]


@pytest.mark.parametrize(
    ("done", "others", "number", "firsts"),
    [
        (-1, 1, 0, [64, 48, 32, 16, 0]),
        (0, 1, 0, [64, 48, 32, 16]),
        (31, 1, 0, [64, 48, 32]),
        (32, 1, 0, [64, 48]),
        (0, 2, 0, [64, 32]),
        (0, 2, 1, [48, 16]),
        (0, 3, 2, [32]),
        (70, 1, 0, []),
    ],
)
def test_each_process_finds_its_chunks_from_the_last_on_until_where_the_parent_is(
    done: int, others: int, number: int, firsts: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    atoms = (ATOMS * 4)[: 4 * CHUNK + 3]
    monkeypatch.setattr(AtomChecker, "case", lambda self, atom: Case(atom.name, ()))
    begun, seen = [len(atoms)] * others, []
    for first, parcel in find(Shared(AtomChecker(CHECKS), atoms, itself, Number(done), begun), number):
        assert begun[number] == first
        seen.append(first)
        names = [packed[0].name for packed in parcel.cases if packed is not None]
        assert names == [atom.name for atom in atoms[first : first + CHUNK]]
    assert seen == firsts


@pytest.mark.long
def test_of_every_chunk_one_process_is_in_charge() -> None:
    atoms = (ATOMS * 6)[: 5 * CHUNK + 1]
    for others in (1, 2, 3, 4):
        taken: dict[int, int] = {}
        for number in range(others):
            shared = Shared(AtomChecker(frozenset()), atoms, itself, Number(-1), [0] * others)
            for first, _ in find(shared, number):
                assert taken.setdefault(first, number) == number
        assert sorted(taken) == [*range(0, len(atoms), CHUNK)]
        assert all(number == first // CHUNK % others for first, number in taken.items())


def dies(*_: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def fails(*_: Any) -> None:
    raise RuntimeError("planted")


def dies_within_a_chunk(shared: Shared, number: int) -> None:
    shared.begun[number] = 0
    os.kill(os.getpid(), signal.SIGKILL)


def dies_later(shared: Shared, number: int) -> Any:
    yield next(find(shared, number))
    os.kill(os.getpid(), signal.SIGKILL)


def hangs(shared: Shared, number: int) -> None:
    shared.begun[number] = 0
    os.kill(os.getpid(), signal.SIGSTOP)


@pytest.mark.long
@pytest.mark.parametrize("end", [dies, fails, dies_within_a_chunk, dies_later, hangs])
def test_a_process_that_ends_changes_nothing(
    end: Callable[..., None], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "find", end)
    monkeypatch.setattr(module, "PATIENCE", 0.2)
    assert as_json.render(report(2, 0.1)) == alone()
    assert capfd.readouterr() == ("", "")


@pytest.mark.long
def test_without_room_for_a_process_this_one_verifies_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(process: Any) -> None:
        started.append(process)
        if len(started) == 2:
            raise BlockingIOError("Resource temporarily unavailable")
        right(process)

    started: list[Any] = []
    fork: Any = multiprocessing.get_context("fork")
    right = fork.Process.start
    monkeypatch.setattr(fork.Process, "start", start)
    assert as_json.render(report(3)) == alone()
    assert len(started) == 2


@pytest.mark.long
def test_a_case_is_taken_for_its_own_atom_alone() -> None:
    with ahead(AtomChecker(CHECKS), ATOMS, itself, 2) as verify:
        time.sleep(0.5)
        assert [verify(atom).name for atom in reversed(ATOMS)] == NAMES[::-1]


@pytest.mark.long
def test_several_instructions_name_what_one_process_names() -> None:
    """Of two pieces of evidence that differ in their subject alone both stay, where the first was found before."""
    f16 = registry()["SM80_16x8x16_F32F16F16F32_TN"]
    bf16 = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"
    assert isinstance(f16, Atom) and f16.ptx is not None
    both, other = replace(f16, name="both", ptx=(*f16.ptx, bf16)), replace(f16, name="other", ptx=(bf16,))
    atoms = [f16, *ATOMS, *ATOMS, both, other]
    texts = []
    for jobs in (1, 2):
        with ahead(AtomChecker(), atoms, itself, jobs) as verify:
            time.sleep(0.5 * (jobs - 1))
            texts.append(as_json.render(verified(atoms, verify, "atoms", quiet=True)))
    assert texts[0] == texts[1]


@pytest.mark.long
def test_an_atom_that_fails_is_reported_once(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    right = AtomChecker.case

    def broken(self: AtomChecker, entry: Any) -> Case:
        if entry.name == NAMES[-1]:
            raise RuntimeError("planted")
        return right(self, entry)

    monkeypatch.setattr(AtomChecker, "case", broken)
    found = report(2)
    assert (len(found.cases), found.exit()) == (len(ATOMS) - 1, Exit.CONTRADICTION)
    assert capfd.readouterr().err.count("RuntimeError: planted") == 1


def test_an_interruption_ends_the_other_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[AnyAtom] = []

    def interrupted(self: AtomChecker, entry: Any) -> Case:
        if os.getpid() == here:
            seen.append(entry)
            if len(seen) == 4:
                raise KeyboardInterrupt
        return right(self, entry)

    here, right = os.getpid(), AtomChecker.case
    monkeypatch.setattr(AtomChecker, "case", interrupted)
    found = report(2)
    assert (len(found.cases), found.missing, found.exit()) == (3, len(ATOMS) - 3, Exit.INTERRUPTED)


def test_a_process_with_threads_is_not_forked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    monkeypatch.setattr(module.sys, "platform", "linux")
    assert forkable()
    monkeypatch.setattr(threading, "active_count", lambda: 2)
    assert not forkable()
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    monkeypatch.setattr(module.sys, "platform", "darwin")
    assert not forkable()


@pytest.mark.parametrize(("cores", "processes"), [(1, 0), (2, 1), (64, 1)])
def test_by_default_two_cores_work_at_most(cores: int, processes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "cores", lambda: cores)
    monkeypatch.setattr(module, "forkable", lambda: True)
    monkeypatch.setattr(module, "find", lambda *_: iter(lambda: time.sleep(1), 0))
    with ahead(AtomChecker(CHECKS), ATOMS, itself):
        assert len(multiprocessing.active_children()) == processes
    assert not multiprocessing.active_children()


def test_recordings_of_a_user_and_a_gpu_are_left_to_one_process() -> None:
    checker = AtomChecker(CHECKS, lookup=object())  # type: ignore[arg-type]
    with ahead(checker, ATOMS, itself, 2):
        assert not multiprocessing.active_children()


def test_few_atoms_are_verified_by_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    used = []
    monkeypatch.setattr(module, "cores", lambda: used.append(True) or 1)
    monkeypatch.setattr(module, "forkable", lambda: True)
    assert command.main(["SM61_DP4A", "-q"]) == 0
    assert not used
    monkeypatch.setattr(selection, "MANY", 1)
    assert command.main(["SM61_DP4A", "-q"]) == 0
    assert used


@pytest.mark.long
def test_cases_that_do_not_agree_with_what_was_found_here_are_found_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def differs(*_: Any) -> Case:
        asked.append(True)
        raise Differs

    expected, asked = alone(), list[bool]()
    monkeypatch.setattr(Unpacker, "case", differs)
    assert as_json.render(report(2, 0.1)) == expected
    assert asked


def test_recordings_of_a_file_are_dropped_with_it_and_the_evidence_is_not() -> None:
    def tables() -> int:
        return sum(len(file.cache) for file in reader._shipped(reader.SHIPPED))  # seam: the cache

    checker = AtomChecker()
    shared = Shared(checker, ATOMS, itself, Number(0), [0])
    module._verified(shared, ATOMS[0])  # seam: a step of every process
    read, evidence = tables(), dict(checker.cache.evidence)
    module._verified(shared, ATOMS[1])  # seam: the same
    assert tables() >= read > 0
    module._verified(shared, replace(ATOMS[0], file="another.toml"))  # seam: the same
    assert tables() == 0 and not {key for key in checker.cache.found if isinstance(key, tuple)}
    assert evidence.items() <= checker.cache.evidence.items()


@pytest.mark.slow
def test_the_report_on_every_eighth_atom_is_that_of_one_process() -> None:
    atoms = list(registry().values())[::8]
    texts = []
    for jobs in (1, 2, 3):
        checker = AtomChecker()
        with ahead(checker, atoms, itself, jobs) as verify:
            texts.append(as_json.render(verified(atoms, verify, "atoms", quiet=True)))
    assert texts[0] == texts[1] == texts[2]
