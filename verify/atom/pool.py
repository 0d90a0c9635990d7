# SPDX-License-Identifier: Apache-2.0
"""Many atoms, verified by two processes: this one begins with the first group, the other with the last.

A group is a run of neighbours of one file. Evidence is shared by name within a group alone (`verify.core.memo`), so the
report is that of one process. Which process verifies a group depends on how fast each is; what has failed in the other
one, or went with it when it died or hung, is verified here, so no verdict depends on it.

The other process is a fork, so that nothing is read twice: on Linux, from a process with one thread. Recordings of a
user, of which warnings are printed, and a GPU of this machine are left to one process.
"""

from __future__ import annotations

import copyreg
import io
import multiprocessing
import pickle
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from lanecheck.console.cores import cores
from lanecheck.console.processes import processes
from verify.atom.checker import show_atom
from verify.atom.properties import PROPERTIES, TAKEN
from verify.binding.bound import BoundMaps
from verify.core.verdict import Property

if TYPE_CHECKING:
    from layouts.atoms import AnyAtom
    from verify.atom.checker import AtomChecker
    from verify.report import Case

S = TypeVar("S")
SIZE = 128  # subjects of a group: what is sent at once
PATIENCE = 10.0  # seconds that the other process is waited for
OURS, THEIRS = 1, 2  # who has begun a group
ROWS = {row.key: row for row in (*PROPERTIES, TAKEN)}


@dataclass
class Groups:
    """The subjects of a run, in the order of the report, and what verifies them."""

    checker: AtomChecker  # each process has its own from the fork on
    subjects: Sequence[Any]  # in the order of the report
    entry: Callable[[Any], AnyAtom | BoundMaps]  # what is verified of a subject
    ranges: Sequence[range]  # of places in `subjects`
    begun: Any = ()  # by group, in memory of both processes: OURS, THEIRS, or 0; a race costs time alone
    awaited: Sequence[Future[bytes]] = ()  # by group, what the other process sends
    place: int = 0  # of the next subject
    cases: Sequence[Case | None] = ()  # the cases of its group, if the other process has found them

    def next_case(self, subject: Any) -> Case:
        """Return the case of the next subject: as the other process found it, else as it is found here."""
        number, within = next((n, self.place - span.start) for n, span in enumerate(self.ranges) if self.place in span)
        self.place += 1
        if within == 0:
            self.cases = self._take(number)
            self.checker.memo.begin_group()
        case = self.cases[within] if self.cases else None
        if case is None or case.name != getattr(subject, "name", subject):  # a mnemonic is its own name
            return self.verify(subject)
        return replace(case, **show_atom(lambda: self.entry(subject), case.verdicts))

    def verify(self, subject: Any) -> Case:
        """Find a case in this process. Atoms of another file have other recordings, which take most of the memory."""
        entry = self.entry(subject)
        alike = entry.name.partition(".")[0], entry.shape if isinstance(entry, BoundMaps) else ()
        self.checker.read_for(_source(subject) or str(alike))  # without a file: those of the family and the shape
        return self.checker.case(entry)

    def _take(self, number: int) -> Sequence[Case | None]:
        """Return the cases that the other process has found, or finds just now; none if this one has to find them."""
        if self.awaited and self.begun[number] == THEIRS:
            with suppress(Exception):  # it died, hangs, or has failed otherwise
                cases: Sequence[Case | None] = pickle.loads(self.awaited[number].result(PATIENCE))
                return cases
            self.stop()
        elif self.awaited:
            self.begun[number] = OURS
        return ()

    def stop(self) -> None:
        """Let the other process go no further, and take nothing from it any more."""
        for number in range(len(self.awaited)):
            self.begun[number] = OURS  # what it has not begun it gives back empty
        self.awaited = ()


@contextmanager
def pool_atoms(
    checker: AtomChecker, subjects: Sequence[S], entry: Callable[[S], AnyAtom | BoundMaps], jobs: int = 0
) -> Iterator[Callable[[S], Case]]:
    """Yield what verifies the `entry` of a subject, an atom or maps, to be called of these subjects in order.

    `jobs` is the number of processes, 0 for as many as can work: two at most, because each takes about 80 MiB.
    """
    groups = Groups(checker, subjects, entry, [*split(subjects)])
    jobs = jobs or (cores() if is_forkable() else 1)
    if jobs == 1 or checker.lookup is not None or len(groups.ranges) < 2:
        yield groups.next_case
        return
    fork: Any = multiprocessing.get_context("fork")
    groups.begun = fork.RawArray("b", len(groups.ranges))
    with suppress(_Hangs), processes(1, begin=partial(_begin, groups)) as pool:
        with suppress(OSError):  # the system has no room for a process
            groups.awaited = [pool.submit(find_group, number) for number in reversed(range(len(groups.ranges)))][::-1]
        sent = groups.awaited
        try:
            yield groups.next_case
        finally:
            groups.stop()
        if wait(sent, PATIENCE).not_done:
            raise _Hangs  # so that the pool is killed


class _Hangs(Exception):
    """The other process does not end."""


def split(subjects: Sequence[Any]) -> Iterator[range]:
    """Yield the places of each group: of neighbours of one file, at most SIZE."""
    start = 0
    for place in range(1, len(subjects) + 1):
        if place == len(subjects) or place - start == SIZE or _source(subjects[place]) != _source(subjects[start]):
            yield range(start, place)
            start = place


def _source(subject: Any) -> str:
    """Return the file of a subject; "" for an instruction without an atom."""
    return getattr(subject, "file", "")


def is_forkable() -> bool:
    """Return whether this process can be forked safely: on Linux, while it has one thread."""
    return sys.platform == "linux" and threading.active_count() == 1


OTHER: list[Groups] = []  # in the other process, what it verifies


def _begin(groups: Groups) -> None:
    warnings.simplefilter("ignore")  # it prints nothing
    OTHER.append(groups)


def find_group(number: int) -> bytes:
    """Return the cases of a group, packed; nothing if the other process is not to find them, or no longer."""
    (groups,) = OTHER
    if groups.begun[number]:
        return b""
    groups.begun[number] = THEIRS
    groups.checker.memo.begin_group()
    cases: list[Case | None] = []
    for place in groups.ranges[number]:
        if groups.begun[number] != THEIRS:
            return b""
        cases.append(None)
        with suppress(Exception):  # the parent meets it too, and reports it
            cases[-1] = replace(groups.verify(groups.subjects[place]), formulas=tuple, picture=None)
    return pack(cases)


def pack(cases: Sequence[Case | None]) -> bytes:
    """Return pickled cases. A property, which has functions, travels as its key."""
    out = io.BytesIO()
    pickler = pickle.Pickler(out, pickle.HIGHEST_PROTOCOL)
    pickler.dispatch_table = {**copyreg.dispatch_table, Property: lambda row: (find_row, (row.key,))}
    pickler.dump(cases)
    return out.getvalue()


def find_row(key: str) -> Property:
    """Return the property with a key."""
    return ROWS[key]
