# SPDX-License-Identifier: Apache-2.0
"""Evidence that further processes find ahead, while this one verifies many atoms in order.

The report is that of one process: its order, which subject shared evidence names, every failure. A further process
verifies atoms further on and sends what it found under each cache key; where this process needs evidence with that
key, it takes it. What no other has found by then, what failed there, or went with a process that died, is found here:
no verdict depends on the others.

They are forked, so that nothing is read twice: on Linux, from a process with one thread. Recordings of a user, of which
warnings are printed, and a GPU of this machine are left to one process.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from lanecheck_console.cores import cores

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from layouts.atoms import AnyAtom
    from verify.atom.checker import AtomChecker
    from verify.report import Case

MOST = 4  # processes in all, for their memory
CHUNK = 16  # atoms whose evidence is sent at once
GAPS = 12  # of so many equal parts of the atoms, a further process is at least one ahead
OFTEN = 8  # atoms between two looks at what has arrived
ROOM = 1 << 20  # bytes that wait to be read, so that nobody waits to send them


@contextmanager
def ahead(checker: AtomChecker, atoms: Sequence[AnyAtom], jobs: int = 0) -> Iterator[Callable[[AnyAtom], Case]]:
    """`checker.case`, to be called of these atoms in order; `jobs` counts the processes, 0 for as many as can work."""
    jobs = jobs or (min(cores(), MOST) if forkable() else 1)
    if jobs == 1 or checker.lookup is not None:
        yield checker.case
        return
    import multiprocessing

    fork: Any = multiprocessing.get_context("fork")
    # `done` is read and written without a lock, which a process that dies could keep
    done, start = fork.RawValue("i", 0), fork.Value("i", 0)
    results: list[Connection] = []
    others = []

    def case(atom: AnyAtom) -> Case:
        if done.value % OFTEN == 0:
            _take(checker, results)
        done.value += 1
        return checker.case(atom)

    try:
        for _ in range(jobs - 1):
            here, there = fork.Pipe(duplex=False)
            results.append(here)
            others.append(fork.Process(target=_work, args=(checker, atoms, results, there, done, start), daemon=True))
            others[-1].start()
            there.close()
        yield case
    finally:
        for other in others:
            other.kill()
            other.join()
        for result in results:
            result.close()


def forkable() -> bool:
    """Whether this process can be forked safely: on Linux, while it has one thread."""
    return sys.platform == "linux" and threading.active_count() == 1


def _take(checker: AtomChecker, results: list[Connection]) -> None:
    """Keep the evidence that has arrived; a process that has ended is not listened to any more."""
    for result in list(results):
        try:
            while result.poll():
                checker.cache.ahead.update(result.recv())
        except (EOFError, OSError):
            result.close()
            results.remove(result)


def _work(
    checker: AtomChecker, atoms: Sequence[AnyAtom], unread: list[Connection], there: Connection, done: Any, start: Any
) -> None:
    """Run a further process, which prints nothing and ends with its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C arrives here too, and the parent handles it
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    warnings.simplefilter("ignore")
    for result in unread:  # else what is sent after the parent's end would wait for ever
        result.close()
    _enlarge(there)
    with suppress(Exception):
        for found in find(checker, atoms, done, start):
            there.send(found)


def find(checker: AtomChecker, atoms: Sequence[AnyAtom], done: Any, start: Any) -> Iterator[dict[Any, Any]]:
    """The evidence of chunks of atoms, beyond those that are done; `start` is where the next process goes on."""
    parent = os.getppid()
    while os.getppid() == parent:
        with start.get_lock():
            first = max(start.value, done.value + max(CHUNK, len(atoms) // GAPS))
            start.value = first + CHUNK
        if first >= len(atoms):
            return
        known = len(checker.cache.found)
        for atom in atoms[first : first + CHUNK]:
            with suppress(Exception):  # the parent meets it too, and reports it
                checker.case(atom)
        yield checker.cache.evidence_since(known)


def _enlarge(pipe: Connection) -> None:
    with suppress(ImportError, AttributeError, OSError):  # no such system, or its limit
        import fcntl

        fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, ROOM)
