# SPDX-License-Identifier: Apache-2.0
"""The run of a campaign: the chunks that have no result yet, each result kept as soon as it is known."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from dataclasses import dataclass
from random import Random
from typing import Any

from lanecheck.console.progress import Progress
from proofs.symbolic.attempt import Stopped
from verify.campaign import code
from verify.campaign.results import Results
from verify.campaign.tally import Tally
from verify.campaign.tasks import CampaignPart, Implementation, work
from verify.core.errors import Exit, UsageError

MINUTE = 60.0  # seconds: what takes longer needs --yes
MEASURED = 2.0  # seconds after which the time left is estimated
AHEAD = 2  # chunks for each worker that are submitted at once
LOOK = 1.0  # seconds between two counts of the workers
PATIENCE = 60.0  # seconds without any worker, after which they count as gone

Place = tuple[int, int]  # (part, chunk)


class LongError(UsageError):
    """A campaign of more than a minute that nobody wanted."""


class GoneError(UsageError):
    """Workers that have gone, one or all."""

    code = Exit.UNDECIDED


@dataclass(frozen=True, slots=True)
class CountedPart:
    """What is known about a part."""

    part: CampaignPart
    tally: Tally
    done: int  # chunks that have a result
    stopped: str = ""  # why it has none


def count_parts(parts: Sequence[CampaignPart], results: Results, stopped: Mapping[str, str]) -> list[CountedPart]:
    """Return the results so far, part by part."""
    known = []
    for part in parts:
        kept = [results.tallies[part.key, n] for n in range(len(part.tasks)) if (part.key, n) in results.tallies]
        known.append(CountedPart(part, sum(kept, Tally()), len(kept), stopped.get(part.key, "")))
    return known


def list_left(parts: Sequence[CampaignPart], results: Results) -> list[Place]:
    """Return the chunks without a result, mixed: the first few are like all of them, so that a measured rate is too."""
    distinct = {part.key: p for p, part in enumerate(parts)}  # two campaigns may ask the same
    todo = [
        (p, n) for key, p in distinct.items() for n in range(len(parts[p].tasks)) if (key, n) not in results.tallies
    ]
    Random(0).shuffle(todo)
    return todo


class CampaignRun:
    """One run over the chunks that are left."""

    def __init__(self, parts: Sequence[CampaignPart], results: Results, target: Implementation) -> None:
        self.parts, self.results, self.target = parts, results, target
        self.todo = list_left(parts, results)
        self.stopped: dict[str, str] = {}  # the keys of parts of which a chunk has no result, and why
        self._waiting: dict[Future[Any], Place] = {}

    @property
    def cases(self) -> int:
        """How many cases are left."""
        return sum(self.parts[p].tasks[n].cases for p, n in self.todo)

    def go(
        self, pool: Executor, workers: Callable[[], int], shown: Progress, ask: Callable[[int, float, float], None]
    ) -> None:
        """Run every chunk; `ask` is called once with the cases left, their rate, and the seconds so far.

        `workers` says how many there are now: those of a cluster come and go. Raises UsageError.
        """
        queue = iter(self.todo)
        began, before, asked = 0.0, 0, False
        started = seen = looked = time.monotonic()
        there = workers()
        self._submit(pool, queue, AHEAD * there)
        while self._waiting:
            done, _ = wait(self._waiting, LOOK, return_when=FIRST_COMPLETED)
            for future in done:
                shown.done += self._keep(future, self._waiting.pop(future))
            now = time.monotonic()
            if not began:  # the processes have begun, which is no part of the rate
                began, before = now if done else 0.0, shown.done
            elif done and not asked and now - began > MEASURED:
                asked = True
                ask(shown.total - shown.done, (shown.done - before) / (now - began), now - started)
            if not asked and now - started > MINUTE:  # chunks so long that there is no other rate
                asked = True
                ask(shown.total - shown.done, shown.done / (now - started), now - started)
            if now - looked >= LOOK:
                there, looked = self._count(workers), now
                seen = now if there else seen
                if now - seen > PATIENCE:
                    raise GoneError(f"no worker was there for {PATIENCE:g} s; the same command goes on from here")
            self._submit(pool, queue, AHEAD * max(1, there) - len(self._waiting))  # one may come back

    def _count(self, workers: Callable[[], int]) -> int:
        try:
            return workers()
        except (RuntimeError, OSError) as error:  # the scheduler has gone
            raise self._tell_gone(error) from error

    def _submit(self, pool: Executor, queue: Iterator[Place], more: int) -> None:
        module, path = self.target.module, self.target.path
        while more > 0 and (place := next(queue, None)) is not None:
            part = self.parts[place[0]]
            if part.key in self.stopped:
                continue
            task = part.tasks[place[1]]
            try:
                future = pool.submit(work, task, code.digest(module, path), module, path)
            except (RuntimeError, OSError) as error:  # the pool is broken, or its scheduler has gone
                raise self._tell_gone(error) from error
            self._waiting[future] = place
            more -= 1

    def _keep(self, future: Future[Any], place: Place) -> int:
        """Keep the result of a chunk; returns how many cases it has."""
        part, chunk = self.parts[place[0]], place[1]
        try:
            outcome = future.result()
        except (BrokenExecutor, CancelledError, OSError) as error:
            raise self._tell_gone(error) from error
        except Exception as error:
            if type(error).__name__ == "KilledWorker":  # Dask's, after it tried several workers
                raise self._tell_gone(error) from error
            raise
        if isinstance(outcome, Stopped):
            self.stopped.setdefault(part.key, outcome.why)
        else:
            self.results.append(part.key, chunk, outcome)
        return part.tasks[chunk].cases

    def _tell_gone(self, error: BaseException) -> GoneError:
        return GoneError(f"the workers have gone ({type(error).__name__}); the same command goes on from here")


def check_minute(cases: int, rate: float, spent: float = 0.0) -> None:
    """Raise LongError where the cases left, after the seconds spent, take more than a minute in all."""
    if cases > rate * max(0.0, MINUTE - spent):
        minutes = (round(cases / rate / 60) or 1) if rate else 0
        long = (
            f"about {minutes} minute{'s' * (minutes > 1)} at {rate:.3g} a second"
            if minutes
            else "and no chunk was done in a minute"
        )
        raise LongError(f"{cases} cases are left, {long}: --yes runs them all")
