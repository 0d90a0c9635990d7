# SPDX-License-Identifier: Apache-2.0
"""Judge laws: every obligation by every solver and seed, the hypotheses met, every mutant broken.

`judge` works on one law; `judge_all` spreads many over processes. Nothing here decides what counts as a pass: the
answers are returned as they came.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial

from proofs.laws import solve
from proofs.laws.law import Law, ancestors, catalogue
from proofs.laws.problem import mutants, obligations, witness
from proofs.laws.solve import Answer, Model
from proofs.smt.engine import Solver


@dataclass(frozen=True, slots=True)
class Tried:
    """One obligation with every answer that was given on it."""

    name: str
    answers: tuple[Answer, ...]


@dataclass(frozen=True, slots=True)
class Judgement:
    """All that was found out about one law. ``example`` is None for an open law: nothing was tried."""

    law: Law
    tried: tuple[Tried, ...]
    example: Model | None
    mutants: tuple[Model, ...]
    rests_on: tuple[str, ...]

    def status(self, engine: str) -> str:
        """Unsat: it closed every obligation under every seed; sat: one has a model; "": it was not asked."""
        said = {a.status for t in self.tried for a in t.answers if a.engine == engine}
        return next((s for s in ("sat", "unknown", "unsat") if s in said), "")

    def seconds(self, engine: str) -> float:
        """The engine's time over all obligations and seeds."""
        return sum(a.seconds for t in self.tried for a in t.answers if a.engine == engine)


def judge(law: Law, rests_on: Sequence[str], engines: Sequence[str] = ("z3",), seeds: int = 1) -> Judgement:
    """Prove a law, show a model of its hypotheses, and break each of its mutants."""
    if law.why_open:
        return Judgement(law, (), None, (), tuple(rests_on))
    tried = []
    for obligation in obligations(law):
        problem = obligation.smt()
        ask = {"z3": solve.z3, "cvc5": solve.cvc5}
        tried.append(Tried(obligation.name, tuple(ask[e](problem, seed) for e in engines for seed in range(seeds))))
    solver = Solver()
    broken = tuple(solve.counterexample(query, solver) for query in mutants(law))
    return Judgement(law, tuple(tried), solve.example(witness(law), solver), broken, tuple(rests_on))


def judge_all(names: Sequence[str], engines: Sequence[str], seeds: int, jobs: int = 0) -> Iterator[Judgement]:
    """Judge laws by name, in order; ``jobs`` processes, as many as there are cores when 0, none when 1."""
    one = partial(_judge_named, engines=tuple(engines), seeds=seeds)
    jobs = min(jobs or os.cpu_count() or 1, len(names) or 1)
    if jobs == 1:
        yield from map(one, names)
        return
    with processes(jobs) as pool:
        with _deaf_to_interruption():
            waiting = [pool.submit(one, name) for name in names]
        for future in waiting:  # not by `map`, which cancels what waits: a pool that ends then fails on that
            yield future.result()


@contextmanager
def processes(jobs: int, max_tasks_per_child: int | None = None) -> Iterator[ProcessPoolExecutor]:
    """A pool of fresh processes; when the block is left by an exception or an interruption they end at once."""
    with ProcessPoolExecutor(
        jobs,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=signal.signal,
        initargs=(signal.SIGINT, signal.SIG_IGN),  # Ctrl-C reaches them too, and only this process is to answer
        max_tasks_per_child=max_tasks_per_child,
    ) as pool:
        try:
            yield pool
        except BaseException:
            for process in multiprocessing.active_children():
                process.terminate()
            raise


@contextmanager
def _deaf_to_interruption() -> Iterator[None]:
    """A block in which Ctrl-C is passed over, by the processes that it starts even before their first line is run."""
    if threading.current_thread() is not threading.main_thread():
        yield  # Ctrl-C is the main thread's affair, and no other may say how it is met
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _judge_named(name: str, engines: tuple[str, ...], seeds: int) -> Judgement:
    laws = shipped()
    return judge(laws[name], [n for n in laws if n in ancestors(laws[name], laws)], engines, seeds)


@lru_cache(maxsize=1)
def shipped() -> Mapping[str, Law]:
    """The shipped catalogue, read once a process."""
    return catalogue()
