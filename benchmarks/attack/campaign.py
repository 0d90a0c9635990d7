# SPDX-License-Identifier: Apache-2.0
"""The attempts of a campaign, each made once: a log keeps them, and an interrupted run goes on where it stopped."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from pathlib import Path

from benchmarks.attack import algebra, atoms, descriptors, expressions, headers, repairs
from benchmarks.attack.attempt import Attempt, Truth

CAMPAIGNS: Mapping[str, Callable[[int, random.Random], Attempt]] = {
    "atoms": atoms.attempt,
    "algebra": algebra.attempt,
    "expressions": expressions.attempt,
    "repairs": repairs.attempt,
    "headers": headers.attempt,
    "descriptors": descriptors.attempt,
}
FAULTS = ("false accept", "false alarm", "wrong repair", "wrong result", "crash")


def made(task: tuple[str, int, int]) -> Attempt:
    """Make the attempt of a campaign with a number, by a seed."""
    name, number, seed = task
    return CAMPAIGNS[name](number, random.Random(f"{seed} {name} {number}"))


def kept(log: Path, seed: int) -> dict[tuple[str, int], Attempt]:
    """Return the attempts of a log; a last line that was cut off is left out.

    Raises ValueError for a log of another seed.
    """
    attempts: dict[tuple[str, int], Attempt] = {}
    lines = log.read_text().splitlines(keepends=True) if log.exists() else []
    for line in lines:
        if not line.endswith("\n"):
            break
        table = json.loads(line)
        if table.pop("seed") != seed:
            raise ValueError(f"{log} is of another seed than {seed}: give --seed, or another log")
        attempt = Attempt(**{**table, "truth": Truth(table["truth"])})
        attempts[attempt.key] = attempt
    return attempts


def run(names: Sequence[str], count: int, seed: int, log: Path, processes: int) -> Iterator[Attempt]:
    """Yield every attempt, those of the log first; the others are appended to it as they are made."""
    done = kept(log, seed)
    plan = [(name, number, seed) for number in range(count) for name in names]
    yield from (done[task[:2]] for task in plan if task[:2] in done)
    left = [task for task in plan if task[:2] not in done]
    log.parent.mkdir(parents=True, exist_ok=True)
    whole = "".join(f"{json.dumps({'seed': seed, **asdict(attempt)})}\n" for attempt in done.values())
    log.write_text(whole)  # without a torn last line
    with log.open("a") as out, ProcessPoolExecutor(processes) as pool:
        for attempt in pool.map(made, left, chunksize=4):
            out.write(json.dumps({"seed": seed, **asdict(attempt)}) + "\n")
            out.flush()
            yield attempt


def score(attempts: Sequence[Attempt]) -> str:
    """Return the table of docs/mutants.md: for each campaign its attempts, by truth and verdict, and its faults."""
    head = "| attack | right | of these VERIFIED | wrong | of these REFUTED | rejected or undecided | "
    text = [head + " | ".join(FAULTS) + " |", "|" + "---|" * (6 + len(FAULTS))]
    rows: list[tuple[int, ...]] = []
    for name in dict.fromkeys(attempt.campaign for attempt in attempts):
        mine = [attempt for attempt in attempts if attempt.campaign == name]
        counts = Counter((attempt.truth, attempt.verdict) for attempt in mine)
        right, wrong = (sum(attempt.truth is truth for attempt in mine) for truth in (Truth.RIGHT, Truth.WRONG))
        shy = sum(attempt.verdict in ("REJECTED", "UNDECIDED") for attempt in mine)
        faults = Counter(attempt.fault for attempt in mine)
        cells = (right, counts[Truth.RIGHT, "VERIFIED"], wrong, counts[Truth.WRONG, "REFUTED"], shy)
        rows.append((*cells, *(faults[fault] for fault in FAULTS)))
        text.append(f"| {name} | {' | '.join(map(str, rows[-1]))} |")
    whole = [sum(column) for column in zip(*rows, strict=True)]
    return "\n".join([*text, f"| all | {' | '.join(map(str, whole))} |"])
