# SPDX-License-Identifier: Apache-2.0
"""Two processes verify many atoms: the report is that of one process, whatever becomes of the other."""

from __future__ import annotations

import multiprocessing
import os
import pickle
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
from verify.atom import command, properties, selection
from verify.atom import pool as module
from verify.atom.checker import AtomChecker
from verify.atom.pool import SIZE, Groups, is_forkable, pack, pool_atoms, split
from verify.cli.batch import verify_each
from verify.core.errors import Exit
from verify.core.verdict import Check, Status
from verify.evidence import isa, proof
from verify.report import Case, Report, as_html, as_json

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork"),
    pytest.mark.filterwarnings("ignore:This process:DeprecationWarning"),  # pytest's own threads
]
DEFECT = next(name for name, atom in registry().items() if atom.known_defect)
WGMMA = [name for name in registry() if name.startswith("SM90_64x16x")][:18]  # by proofs about their families
NAMES = [*WGMMA[:9], "SM75_U32x1_LDSM_N", DEFECT, *WGMMA[9:], "SM61_DP2A", "UniversalFMA<float,float,float,float>"]
ATOMS = [registry()[name] for name in NAMES]
CHECKS = frozenset({Check.ISA, Check.PROOF})


def itself(atom: AnyAtom) -> AnyAtom:
    return atom


def report(jobs: int, after: float = 0.0, checks: frozenset[Check] = CHECKS) -> Report:
    """Return the report by so many processes, where this one begins after some seconds."""
    with pool_atoms(AtomChecker(checks), ATOMS, itself, jobs) as verify:
        time.sleep(after)
        verified = verify_each(ATOMS, verify, "atoms", quiet=True)
    assert not multiprocessing.active_children()
    return verified


@cache
def text_of_one(checks: frozenset[Check] = CHECKS) -> str:
    return as_json.render(report(1, checks=checks))


def here() -> Groups:
    """Return the groups as the other process sees them."""
    groups = Groups(AtomChecker(CHECKS), ATOMS, itself, [*split(ATOMS)])
    groups.begun = [0] * len(groups.ranges)
    return groups


def test_groups_are_neighbours_of_one_file() -> None:
    groups = [*split(ATOMS)]
    assert [place for group in groups for place in group] == [*range(len(ATOMS))]
    assert len(groups) > 4
    assert all(len({ATOMS[place].file for place in group}) == 1 for group in groups)
    many = [ATOMS[0]] * (2 * SIZE + 1)
    assert [len(group) for group in split(many)] == [SIZE, SIZE, 1]
    assert [*split(["mma", "wmma"])] == [range(2)] and [*split([])] == []


@pytest.mark.long
@pytest.mark.parametrize("after", [0.0, 0.3])
def test_the_report_is_that_of_one_process(after: float) -> None:
    assert as_json.render(report(2, after)) == text_of_one()


@pytest.mark.long
def test_with_recordings_too_the_report_is_that_of_one_process() -> None:
    expected = text_of_one(frozenset(Check))
    assert '"shared": "SM90' in expected and DEFECT in expected
    assert as_json.render(report(2, 0.3, frozenset(Check))) == expected


@pytest.mark.long
def test_what_the_other_process_found_is_not_found_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> None:
        if os.getpid() == parent:
            raise AssertionError("it is found here")

    expected, parent = text_of_one(), os.getpid()
    with pool_atoms(AtomChecker(CHECKS), ATOMS, itself, 2) as verify:
        deadline = time.monotonic() + 60
        groups = verify.__self__  # type: ignore[attr-defined]
        while not groups.awaited[0].done() and time.monotonic() < deadline:
            time.sleep(0.05)
        for owner, name in ((properties, "product"), (isa, "equals"), (proof, "equals"), (proof, "ownership")):
            monkeypatch.setattr(owner, name, fails)
        verified = verify_each(ATOMS, verify, "atoms", quiet=True)
    assert as_json.render(verified) == expected


def test_the_other_process_leaves_what_was_begun_and_stops_when_it_is_told_to(monkeypatch: pytest.MonkeyPatch) -> None:
    groups = here()
    monkeypatch.setattr(module, "OTHER", [groups])
    groups.begun[0] = module.OURS
    assert module.find_group(0) == b""
    cases = pickle.loads(module.find_group(1))
    assert groups.begun[1] == module.THEIRS and [case.name for case in cases] == [NAMES[i] for i in groups.ranges[1]]
    right, seen = AtomChecker.case, []

    def told(self: AtomChecker, entry: Any) -> Case:
        seen.append(entry.name)
        groups.begun[number] = module.OURS
        return right(self, entry)

    monkeypatch.setattr(AtomChecker, "case", told)
    number = max(range(len(groups.ranges)), key=lambda at: len(groups.ranges[at]))
    groups.begun[number] = 0
    assert len(groups.ranges[number]) > 1 and module.find_group(number) == b""
    assert len(seen) == 1


def dies(_: int) -> bytes:
    os.kill(os.getpid(), signal.SIGKILL)
    return b""


def fails(_: int) -> bytes:
    raise RuntimeError("planted")


def dies_within_a_group(number: int) -> bytes:
    module.OTHER[0].begun[number] = module.THEIRS
    return dies(number)


def fails_within_a_group(number: int) -> bytes:
    module.OTHER[0].begun[number] = module.THEIRS
    return fails(number)


def sends_nonsense(number: int) -> bytes:
    module.OTHER[0].begun[number] = module.THEIRS
    return b"nonsense"


def hangs(number: int) -> bytes:
    module.OTHER[0].begun[number] = module.THEIRS
    os.kill(os.getpid(), signal.SIGSTOP)
    return b""


@pytest.mark.long
@pytest.mark.parametrize("end", [dies, fails, dies_within_a_group, fails_within_a_group, sends_nonsense, hangs])
def test_a_process_that_ends_changes_nothing(
    end: Callable[[int], bytes], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "find_group", end)
    monkeypatch.setattr(module, "PATIENCE", 0.2)
    assert as_json.render(report(2, 0.1)) == text_of_one()
    assert capfd.readouterr() == ("", "")


@pytest.mark.long
def test_without_room_for_a_process_this_one_verifies_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(process: Any) -> None:
        started.append(process)
        raise BlockingIOError("Resource temporarily unavailable")

    started: list[Any] = []
    fork: Any = multiprocessing.get_context("fork")
    monkeypatch.setattr(fork.Process, "start", start)
    assert as_json.render(report(2)) == text_of_one()
    assert len(started) == 1


@pytest.mark.long
def test_a_case_is_taken_for_its_own_atom_alone() -> None:
    with pool_atoms(AtomChecker(CHECKS), ATOMS, itself, 2) as verify:
        time.sleep(0.5)
        assert [verify(atom).name for atom in reversed(ATOMS)] == NAMES[::-1]


@pytest.mark.long
def test_several_instructions_name_what_one_process_names() -> None:
    """Evidence on two instructions that differs in the name of a subject alone is one piece, in either process."""
    f16 = registry()["SM80_16x8x16_F32F16F16F32_TN"]
    bf16 = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"
    assert isinstance(f16, Atom) and f16.ptx is not None
    both, second = replace(f16, name="both", ptx=(*f16.ptx, bf16)), replace(f16, name="other", ptx=(bf16,))
    atoms = [f16, *ATOMS, *ATOMS, both, second]
    texts = []
    for jobs in (1, 2):
        with pool_atoms(AtomChecker(), atoms, itself, jobs) as verify:
            time.sleep(0.5 * (jobs - 1))
            texts.append(as_json.render(verify_each(atoms, verify, "atoms", quiet=True)))
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
    verified = report(2)
    assert (len(verified.cases), verified.exit()) == (len(ATOMS) - 1, Exit.CONTRADICTION)
    assert capfd.readouterr().err.count("RuntimeError: planted") == 1


@pytest.mark.long
def test_an_interruption_ends_the_other_process(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[AnyAtom] = []

    def interrupted(self: AtomChecker, entry: Any) -> Case:
        if os.getpid() == parent:
            seen.append(entry)
            if len(seen) == 4:
                raise KeyboardInterrupt
        return right(self, entry)

    parent, right = os.getpid(), AtomChecker.case
    monkeypatch.setattr(AtomChecker, "case", interrupted)
    verified = report(2)
    assert (len(verified.cases), verified.missing, verified.exit()) == (3, len(ATOMS) - 3, Exit.INTERRUPTED)


def test_a_process_with_threads_is_not_forked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    monkeypatch.setattr(module.sys, "platform", "linux")
    assert is_forkable()
    monkeypatch.setattr(threading, "active_count", lambda: 2)
    assert not is_forkable()
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    monkeypatch.setattr(module.sys, "platform", "darwin")
    assert not is_forkable()


@pytest.mark.parametrize(("cores", "children"), [(1, 0), (2, 1), (64, 1)])
def test_by_default_two_processes_work_at_most(cores: int, children: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "cores", lambda: cores)
    monkeypatch.setattr(module, "is_forkable", lambda: True)
    with pool_atoms(AtomChecker(CHECKS), ATOMS, itself):
        assert len(multiprocessing.active_children()) == children
    assert not multiprocessing.active_children()


def test_recordings_of_a_user_and_a_gpu_are_left_to_one_process() -> None:
    checker = AtomChecker(CHECKS, lookup=object())  # type: ignore[arg-type]
    with pool_atoms(checker, ATOMS, itself, 2):
        assert not multiprocessing.active_children()


def test_few_atoms_are_verified_by_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    used = []
    monkeypatch.setattr(module, "cores", lambda: used.append(True) or 1)
    monkeypatch.setattr(module, "is_forkable", lambda: True)
    assert command.main(["SM61_DP4A", "-q"]) == 0
    assert not used
    monkeypatch.setattr(selection, "MANY", 1)
    assert command.main(["SM61_DP4A", "-q"]) == 0
    assert used


def test_a_case_arrives_as_it_was_sent() -> None:
    checker = AtomChecker(CHECKS)
    atom = replace(registry()["SM80_16x8x16_F32F16F16F32_TN"], taken={"thr": "32:1"})
    case = checker.case(atom)
    (sent,) = pickle.loads(pack([replace(case, formulas=tuple, picture=None)]))
    assert sent == case and Status.TAKEN in [verdict.status for verdict in sent.verdicts]
    assert all(mine.claim.prop is theirs.claim.prop for mine, theirs in zip(sent.verdicts, case.verdicts, strict=True))


@pytest.mark.long
def test_what_the_other_process_found_has_formulas_and_a_picture() -> None:
    atoms, pages = [registry()["SM61_DP2A"], registry()["SM80_8x8x4_F64F64F64F64_TN"]], []
    for jobs in (1, 2):
        with pool_atoms(AtomChecker(CHECKS), atoms, itself, jobs) as verify:
            if jobs == 2:
                verify.__self__.awaited[0].result(60)  # type: ignore[attr-defined]
            pages.append(as_html.render(verify_each(atoms, verify, "atoms", quiet=True)))
    assert pages[0] == pages[1] and pages[0].count("<svg") >= len(atoms)


def test_what_failed_in_the_other_process_has_no_case_there() -> None:
    assert pickle.loads(pack([None])) == [None]


def test_recordings_of_a_file_are_dropped_with_it_and_the_evidence_is_not() -> None:
    def tables() -> int:
        return sum(len(file.cache) for file in reader._read_shipped(reader.SHIPPED))  # seam: the cache

    groups = Groups(AtomChecker(), ATOMS, itself, [*split(ATOMS)])
    groups.verify(ATOMS[0])
    read, evidence = tables(), dict(groups.checker.memo.values)
    assert groups.checker.memo.recorded
    groups.verify(ATOMS[1])
    assert tables() >= read > 0
    groups.verify(replace(ATOMS[0], file="another.toml"))
    assert tables() == 0
    assert not groups.checker.memo.recorded and evidence.keys() <= groups.checker.memo.values.keys()


@pytest.mark.slow
def test_the_report_on_every_eighth_atom_is_that_of_one_process() -> None:
    atoms = list(registry().values())[::8]
    texts = []
    for jobs in (1, 2):
        checker = AtomChecker()
        with pool_atoms(checker, atoms, itself, jobs) as verify:
            texts.append(as_json.render(verify_each(atoms, verify, "atoms", quiet=True)))
    assert texts[0] == texts[1]
