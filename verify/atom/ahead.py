# SPDX-License-Identifier: Apache-2.0
"""Cases that further processes find ahead, from the last atoms on, while this one verifies the first.

The report is that of one process: its order, which subject shared evidence names, every failure. What a further process
found of an atom is taken when it is this atom's turn. What no other has found by then, what failed there, or went with
a process that died or hangs, is found here: no verdict depends on the others. Atoms with several instructions are left
to this process: which pieces of their evidence are distinct depends on what was found before. How a case travels:
`verify.atom.parcel`.

They are forked, so that nothing is read twice: on Linux, from a process with one thread. Recordings of a user, of which
warnings are printed, and a GPU of this machine are left to one process.
"""

from __future__ import annotations

import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from lanecheck.console.cores import cores
from verify.atom.parcel import Differs, Packer, Parcel, Unpacker

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from layouts.atoms import AnyAtom
    from verify.atom.checker import AtomChecker
    from verify.report import Case

S = TypeVar("S")
MOST = 2  # processes in all: each further one takes about 80 MiB
CHUNK = 16  # subjects whose cases are sent at once
OFTEN = 8  # subjects between two looks at what has arrived
PATIENCE = 10.0  # seconds that one process is waited for, before its atoms are verified here
ROOM = 1 << 20  # bytes that wait to be read, so that nobody waits to send them


class Shared(NamedTuple):
    """What all processes of a run know; numbers are read and written without a lock, which one that dies could keep."""

    checker: AtomChecker  # each process has its own from the fork on
    subjects: Sequence[Any]  # in the order of the report
    entry: Callable[[Any], AnyAtom]  # the atom of a subject
    done: Any  # so many subjects the parent has verified
    begun: Any  # of each further process the first subject of the chunk that it is at, or was at last


@contextmanager
def ahead(
    checker: AtomChecker, subjects: Sequence[S], entry: Callable[[S], AnyAtom], jobs: int = 0
) -> Iterator[Callable[[S], Case]]:
    """What verifies the atom that is the `entry` of a subject, to be called of these subjects in order.

    `jobs` counts the processes, 0 for as many as can work.
    """
    jobs = jobs or (min(cores(), MOST) if forkable() else 1)
    if jobs == 1 or checker.lookup is not None:
        yield lambda subject: checker.case(entry(subject))
        return
    others: list[_Other] = []
    try:
        shared = _begun(checker, subjects, entry, jobs - 1, others)
        yield (lambda subject: checker.case(entry(subject))) if shared is None else partial(_case, shared, others)
    finally:
        for other in others:
            other.end()


def _begun(
    checker: AtomChecker, subjects: Sequence[S], entry: Callable[[S], AnyAtom], count: int, others: list[_Other]
) -> Shared | None:
    """Fork so many further processes; None where the system has no room for them."""
    import multiprocessing

    fork: Any = multiprocessing.get_context("fork")
    try:
        begun = fork.RawArray("i", [len(subjects)] * count)
        shared = Shared(checker, subjects, entry, fork.RawValue("i", 0), begun)
        for number in range(count):
            here, there = fork.Pipe(duplex=False)
            others.append(_Other(number, here, Unpacker(checker)))
            unread = [other.pipe for other in others]
            others[-1].process = fork.Process(target=_work, args=(shared, number, unread, there), daemon=True)
            others[-1].process.start()
            there.close()
    except OSError:
        for other in others:
            other.end()
        return None
    return shared


def _case(shared: Shared, others: Sequence[_Other], subject: Any) -> Case:
    """The case of the next subject: as another process found it, else as it is found here."""
    place: int = shared.done.value
    if place % OFTEN == 0:
        for other in others:
            other.receive()
    taker = others[place // CHUNK % len(others)]
    while place >= shared.begun[taker.number] and place not in taker.cases and taker.receive(wait=True):
        pass
    shared.done.value += 1
    found = taker.cases.pop(place, None)
    with suppress(Differs):
        if found is not None and found[0].name == getattr(subject, "name", subject):  # a mnemonic is its own name
            return taker.unpacker.case(found, lambda: shared.entry(subject))
    return _verified(shared, shared.entry(subject))


def _verified(shared: Shared, atom: AnyAtom) -> Case:
    """The case of an atom, found here. Atoms of another file have other recordings, which take most of the memory."""
    shared.checker.read_for(atom.file or atom.name)  # without a file it is made of an instruction
    return shared.checker.case(atom)


def forkable() -> bool:
    """Whether this process can be forked safely: on Linux, while it has one thread."""
    return sys.platform == "linux" and threading.active_count() == 1


class _Other:
    """A further process, as the parent sees it: what it has sent by now."""

    process: Any = None
    hangs = False  # it was waited for in vain

    def __init__(self, number: int, pipe: Connection, unpacker: Unpacker) -> None:
        self.number, self.pipe, self.unpacker = number, pipe, unpacker
        self.cases: dict[int, Any] = {}  # place of a subject -> its case, packed

    def receive(self, wait: bool = False) -> bool:
        """Keep what has arrived, or wait for more; whether any came. What a process that has ended sent is kept too."""
        came = False
        with suppress(EOFError, OSError):
            if wait and not self.hangs:
                self.hangs = not self.pipe.poll(PATIENCE)
            while self.pipe.poll():
                first, parcel = self.pipe.recv()
                self.unpacker.take(parcel)
                self.cases.update((first + at, case) for at, case in enumerate(parcel.cases) if case is not None)
                came = True
        return came

    def end(self) -> None:
        if self.process is not None and self.process.pid is not None:
            self.process.kill()
            self.process.join()
        self.pipe.close()


def _work(shared: Shared, number: int, unread: list[Connection], there: Connection) -> None:
    """Run a further process, which prints nothing and ends with its parent, at the latest when it sends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C arrives here too, and the parent handles it
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    warnings.simplefilter("ignore")
    for result in unread:  # else what is sent after the parent's end would wait for ever
        result.close()
    _enlarge(there)
    with suppress(Exception):
        for found in find(shared, number):
            there.send(found)


def find(shared: Shared, number: int) -> Iterator[tuple[int, Parcel]]:
    """The cases of chunks, each with the place of its first subject.

    The chunks go to the further processes in turn; each works from its last one down, until it meets the parent.
    """
    others = len(shared.begun)
    packer, last = Packer(shared.checker), (len(shared.subjects) - 1) // CHUNK
    for chunk in range(last - (last - number) % others, -1, -others):
        first = chunk * CHUNK
        if first <= shared.done.value:
            return
        shared.begun[number] = first
        cases: list[Case | None] = []
        for subject in shared.subjects[first : first + CHUNK]:
            cases.append(None)
            with suppress(Exception):  # the parent meets it too, and reports it
                atom = shared.entry(subject)
                cases[-1] = _verified(shared, atom) if len(atom.mnemonics) < 2 else None
        yield first, packer.packed(cases)


def _enlarge(pipe: Connection) -> None:
    with suppress(ImportError, AttributeError, OSError):  # no such system, or its limit
        import fcntl

        fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, ROOM)
