# SPDX-License-Identifier: Apache-2.0
"""The atlas of many atoms, made by one process for each core.

Instructions whose names begin alike (tcgen05.ld, tcgen05.st) ask mostly equal questions, so they are a task with one
checker: equal questions are answered once, and no count depends on the number of processes. To start one takes as long
as some 200 atoms. One takes 100 MiB, with recordings 150: what it has read for a task is dropped with the task.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import as_completed
from contextlib import suppress
from functools import cache
from itertools import groupby

from gpu_checks.recordings_io.reader import forget, forget_tables
from lanecheck_console.progress import Progress
from layouts.atoms import AnyAtom, registry
from proofs import Solver
from proofs.laws.decide import processes
from verify.atlas.rows import Atlas, Counted, instruction, place, report_failure
from verify.atom.checker import AtomChecker
from verify.cli.ending import uncollected
from verify.core.verdict import Check

MANY = 400  # atoms: from which on processes pay, and a family is a task of its own
MOST = 4  # processes, for their memory: the largest families take half of the time of all


def tabulate_many(
    names: Iterable[str],
    without_atom: Iterable[str],
    checks: frozenset[Check],
    quiet: bool = False,
    allow_unchecked: bool = False,
    jobs: int = 0,
) -> Atlas:
    """The atlas of shipped atoms by name, and of instructions without one; `jobs` is 0 for the cores, up to MOST."""
    tasks = by_family(names, without_atom)
    total = sum(len(atoms) + len(bare) for atoms, bare in tasks)
    found: dict[int, Counted] = {}
    done = 0
    with (
        suppress(KeyboardInterrupt),
        Progress(total, "instructions", quiet) as shown,
        processes(min(jobs or os.cpu_count() or 1, MOST, len(tasks))) as pool,
    ):
        waiting = {pool.submit(counted, *task, checks, allow_unchecked): i for i, task in enumerate(tasks)}
        for future in as_completed(waiting):
            i = waiting[future]
            found[i] = future.result()
            done += len(tasks[i][0]) + len(tasks[i][1])
            for failed in found[i].failures:
                with shown.aside():
                    report_failure(failed)
            shown.step(count=len(tasks[i][0]) + len(tasks[i][1]))
    whole = Counted()
    for i in sorted(found):
        whole.absorb(found[i])
    return whole.atlas(tuple(check for check in Check if check in checks), total - done)


def by_family(names: Iterable[str], without_atom: Iterable[str]) -> list[tuple[list[str], list[str]]]:
    """The names of atoms and the mnemonics of each task: one family of many, or all whose names begin alike."""
    atoms = registry()
    families: dict[str, tuple[list[str], list[str]]] = {}
    for name in names:
        families.setdefault(instruction(atoms[name])[0], ([], []))[0].append(name)
    for mnemonic in without_atom:
        families.setdefault(place(mnemonic)[0], ([], []))[1].append(mnemonic)
    tasks: dict[str, tuple[list[str], list[str]]] = {}
    for family, found in families.items():
        task = tasks.setdefault(family if len(found[0]) >= MANY else family.split(".")[0], ([], []))
        for part, more in zip(task, found, strict=True):
            part.extend(more)
    return sorted(tasks.values(), key=lambda task: -len(task[0]) - len(task[1]))


@cache
def solver() -> Solver:
    """The solver of this process, which proves equal questions of all its tasks once."""
    return Solver()


def counted(names: Sequence[str], without_atom: Sequence[str], checks: frozenset[Check], allow: bool) -> Counted:
    """The rows of one task, counted in a process of the pool; `allow` accepts what could not be checked."""
    found, checker, atoms = Counted(), AtomChecker(checks, loaded=solver()), registry()
    with uncollected():
        # Recorded tables take most of the memory. Instructions of one shape share theirs, which are dropped with it.
        shapes = groupby(sorted((atoms[name] for name in names), key=_shape), key=_shape)
        groups: list[Sequence[AnyAtom | str]] = [[*group] for _, group in shapes]
        for group in (*groups, *([mnemonic] for mnemonic in without_atom)):
            for one in group:
                found.count(one, checker, allow)
            if forget_tables():
                checker.forget_recordings()
    forget()
    return found


def _shape(atom: AnyAtom) -> tuple[int, ...]:
    """M, N and K; () of a copy, and where the entry leaves them to the instruction."""
    return getattr(atom, "shape", ())
