# SPDX-License-Identifier: Apache-2.0
"""Where chunks are run: in this process, in a pool of processes, or by the workers of a Dask cluster.

All are executors of `concurrent.futures`, so that the campaign does not know which.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from typing import Any, TypeAlias

from lanecheck.console.processes import processes
from verify.core.errors import UsageError

Workers: TypeAlias = Callable[[], int]  # how many there are now
CONNECTING = 10  # seconds until a scheduler counts as missing


class InProcess(Executor):
    """An executor that runs each call at once."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Return the future of a call that has been made."""
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


@contextmanager
def local(jobs: int, in_child: bool) -> Iterator[tuple[Executor, Workers]]:
    """(executor, how many workers it has) of this machine; `in_child` keeps the calls out of this process."""
    if jobs == 1 and not in_child:
        yield InProcess(), lambda: 1
        return
    with processes(jobs) as pool:
        yield pool, lambda: jobs


@contextmanager
def cluster(scheduler: str, resources: Mapping[str, float]) -> Iterator[tuple[Executor, Workers]]:
    """(executor, how many threads) of a Dask cluster, of the workers with some resources if any are named. UsageError.

    The threads are those of the moment: workers come and go.
    """
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError as error:
        raise UsageError("--scheduler needs Dask: pip install 'lanecheck[cluster]'") from error
    with _silence_log(), _connect(distributed, scheduler) as client:

        def threads() -> int:
            workers = client.scheduler_info(n_workers=-1)["workers"].values()
            fit = (w for w in workers if all(w["resources"].get(name, 0) >= n for name, n in resources.items()))
            return sum(worker["nthreads"] for worker in fit)

        if not threads():
            named = ", ".join(f"{name}={n:g}" for name, n in resources.items())
            raise UsageError(f"--scheduler {scheduler}: it has no workers" + f" with {named}" * bool(named))
        chosen = {"resources": dict(resources)} if resources else {}
        pool = client.get_executor(pure=False, **chosen)
        try:
            yield pool, threads
        finally:
            pool.shutdown(wait=False)  # cancels what an interrupted run has left


def _connect(distributed: Any, scheduler: str) -> Any:
    try:
        return distributed.Client(scheduler, timeout=CONNECTING, set_as_default=False)
    except (OSError, ValueError) as error:  # a TimeoutError is an OSError
        raise UsageError(f"--scheduler {scheduler}: does not answer ({str(error).splitlines()[0]})") from error


@contextmanager
def _silence_log() -> Iterator[None]:
    """Log nothing in a block: what Dask loses is reported in one line, not by its tracebacks."""
    before = logging.root.manager.disable
    logging.disable()
    try:
        yield
    finally:
        logging.disable(before)
