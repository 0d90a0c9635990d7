# SPDX-License-Identifier: Apache-2.0
"""The pool of processes of every command that uses several."""

from __future__ import annotations

import concurrent.futures  # it imports its pool of processes when one is made: 15 ms that one atom does not need
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from lanecheck.console.frame import collect_rarely


@contextmanager
def processes(
    jobs: int, max_tasks_per_child: int | None = None, begin: Callable[[], None] | None = None
) -> Iterator[concurrent.futures.ProcessPoolExecutor]:
    """Yield a pool of processes, which are ended at once when an exception or an interruption leaves the block.

    They are new ones. With `begin`, which each calls first, they are forks, so that nothing is read twice.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # of each process: threads of its own would wait for the others
    before = multiprocessing.active_children()
    with concurrent.futures.ProcessPoolExecutor(
        jobs,
        mp_context=multiprocessing.get_context("fork" if begin else "spawn"),
        initializer=_begin,
        initargs=(begin,),
        max_tasks_per_child=max_tasks_per_child,
    ) as pool:
        try:
            yield pool
        except BaseException:
            for process in multiprocessing.active_children():
                if process not in before:
                    process.kill()
            raise


def _begin(begin: Callable[[], None] | None) -> None:
    """Ignore Ctrl-C, which arrives at the children too and which the parent handles; end when the parent has gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # a fork has its parent's handler
    threading.Thread(target=_end_with_parent, daemon=True).start()
    collect_rarely()
    if begin is not None:
        begin()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()  # a parent that is killed leaves its children waiting for work for ever
        os._exit(1)


@contextmanager
def ignore_interruption() -> Iterator[None]:
    """Ignore Ctrl-C in a block, also in the processes that it starts, from their first line on."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may set a signal handler
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
