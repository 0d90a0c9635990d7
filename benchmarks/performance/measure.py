# SPDX-License-Identifier: Apache-2.0
"""The measurements of docs/performance.md: all results are compared first, then times are taken in turns.

A time is CPU seconds, and every figure a ratio: of evaluation to numpy's divmod chain over a fixed number of points,
of operations to ours on the same inputs, of commands to two imports. A measurement that would take more than its
allowance of CPU seconds is left out, by name; one for which 15 pairs would take more has fewer.
"""

from __future__ import annotations

import hashlib
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, partial
from math import inf, prod
from typing import Any

import numpy as np

from benchmarks.absolute import Unmeasured
from benchmarks.paired import BASELINE, PAIRS, Figure
from benchmarks.performance import inputs
from benchmarks.performance.libraries import NUMPY, OPERATIONS, Failed, Running, start
from benchmarks.programs import Observed, ProgramFailed, observed, process

LEAST = 0.01  # CPU seconds that one measurement takes at least
ROW = 3  # allowances that a row of atoms may take by the clock
CHECKS = {"isa and proof": ("--checks", "isa,proof"), "recordings too": ()}
TAKEN = {"CPU time": "cpu", "time by the clock": "wall", "memory": "memory"}  # column -> what of a program
Pair = tuple[float, float]  # a measurement and its baseline
Cell = dict[str, Any]  # table, column, at; and a figure, or why there is none
Request = dict[str, Any]  # what a library is to compute


@dataclass
class Column:
    """What one library computes for one row after the other, and what is known of its time."""

    table: str
    name: str
    running: Running
    requests: dict[int, Request]  # by row
    why: dict[int, str]  # rows without a figure
    seconds: dict[int, float]  # of a call, by row


def measured(python: str, seconds: float) -> dict[str, Any]:
    """Everything that the page shows; each cell may take so many CPU seconds."""
    started, load = time.monotonic(), os.getloadavg()[0]
    libraries, baseline = start(python), Running(NUMPY, sys.executable)  # the baseline does nothing else
    base = unit(baseline)
    try:
        usable = [library for library in libraries if not library.missing]
        evaluated, applied = [*evaluations(usable)], [*operations(usable)]
        differences = [line for column in evaluated for line in compared(column, seconds)]
        differences += [line for name in OPERATIONS for line in agreement(name, applied)]
        cells = [cell for column in evaluated for cell in timed(column, base, seconds)]
        cells += [cell for name in OPERATIONS for cell in side_by_side(name, applied, base, seconds)]
    finally:
        for library in (*libraries, baseline):
            library.close()
    cells += [*atoms(seconds), *campaigns()]
    return {
        "machine": {**machine(), "load": round(load, 1), "allowance": seconds,
                    "minutes": round((time.monotonic() - started) / 60, 1)},
        "libraries": [
            {"name": row.peer.name, "version": row.version, "install": row.peer.install, "missing": row.missing}
            for row in libraries
        ],
        "inputs": {"unit": inputs.UNIT, "points": inputs.POINTS},
        "differences": differences,
        "cells": cells,
    }  # fmt: skip


def evaluations(usable: list[Running]) -> Iterator[Column]:
    """A column for each way of each library to evaluate a whole domain."""
    tables = {
        "evaluation": {points: inputs.hierarchical(points) for points in inputs.EVALUATED},
        "ranks": {rank: inputs.flat(inputs.POINTS, rank) for rank in inputs.RANKS},
    }
    for table, layouts in tables.items():
        for library in usable:
            for way in library.peer.ways:
                requests = {at: {"way": way, "shape": s, "stride": d} for at, (s, d) in layouts.items()}
                yield Column(table, f"{library.peer.name}, {way}", library, requests, {}, {})


def operations(usable: list[Running]) -> Iterator[Column]:
    """A column for each library and each of its operations."""
    for name in OPERATIONS:
        for library in usable:
            if name in library.peer.operations:
                requests = {
                    rank: {"operation": name, "cases": inputs.algebra(rank)[name], "space": inputs.POINTS}
                    for rank in inputs.RANKS
                }
                yield Column(name, library.peer.name, library, requests, {}, {})


def compared(column: Column, allowance: float) -> Iterator[str]:
    """Evaluate every row once, and yield the first at which the values are not those of the definition."""
    say(f"values of {column.table}: {column.name}")
    last: tuple[int, float] | None = None
    different = False
    for at, request in column.requests.items():
        points = at if column.table == "evaluation" else inputs.POINTS
        if last and last[1] * points / last[0] > allowance:
            column.why[at] = f"more than {allowance:g} s"
            continue
        try:
            answer = column.running.ask(**request, least=0, values=False)
            last = points, answer["seconds"]
            column.seconds[at] = answer["seconds"]
            wanted = digest(request["shape"], request["stride"])
            if (answer["result"]["count"], answer["result"]["digest"]) != wanted:
                column.why[at] = "other values"
                if not different:
                    values = column.running.ask(**request, least=0, values=True)["result"].get("values", ())
                    yield f"{column.name}: {difference(request, values)}"
                different = True
        except Failed as failed:
            column.why[at] = str(failed)
            yield f"{column.name}, {text(request['shape'], request['stride'])}: no result: {failed}"


def difference(request: Request, values: Any) -> str:
    """The first index at which these are not the values of a layout, in words."""
    shape, stride = request["shape"], request["stride"]
    right = definition(shape, stride)
    name = text(shape, stride)
    for i, (mine, wanted) in enumerate(zip(values, right.tolist(), strict=False)):
        if mine != wanted:
            return f"{name} at {i} is {mine}, by the definition {wanted}"
    return f"{name} has {len(values)} values of {len(right)}" if values else f"{name} has other values"


def agreement(name: str, columns: list[Column]) -> Iterator[str]:
    """Apply an operation to all inputs, and yield for each library the first result that is another function."""
    ours, *rest = (column for column in columns if column.table == name)
    say(f"values of {name}")
    different: set[str] = set()
    for rank, request in ours.requests.items():
        wanted = results(ours, rank)
        for column in rest:
            theirs = results(column, rank)
            if theirs is None:
                yield f"{column.name}, {name}, rank {rank}: no result: {column.why[rank]}"
            elif wanted is not None and (words := first_difference(request["cases"], wanted, theirs)):
                column.why[rank] = "another function"
                if column.name not in different:
                    yield f"{column.name}, {name} of {words}"
                different.add(column.name)


def results(column: Column, rank: int) -> Any:
    """The results of an operation as shapes and strides; None, and why, where there are none."""
    try:
        answer = column.running.ask(**column.requests[rank], least=0)
        column.seconds[rank] = answer["seconds"]
        return answer["result"]
    except Failed as failed:
        column.why[rank] = str(failed)
        return None


def first_difference(cases: Any, wanted: Any, theirs: Any) -> str | None:
    """The first case in which two results are different functions, and where, in words."""
    for case, (s, d), (t, e) in zip(cases, wanted, theirs, strict=True):
        name = " and ".join(str(argument) if isinstance(argument, int) else text(*argument) for argument in case)
        right, got = definition(s, d), definition(t, e)
        if len(right) != len(got):
            return f"{name} has {len(got)} points: {text(t, e)}, ours {len(right)}: {text(s, d)}"
        if (right != got).any():
            i = int((right != got).argmax())
            return f"{name} at {i} is {got[i]}: {text(t, e)}, ours {right[i]}: {text(s, d)}"
    return None


def definition(shape: Any, stride: Any, start: int = 0, stop: int | None = None) -> Any:
    """The values of a layout, sum of digit_k(i) * d_k, from its definition."""
    modes = [*zip(leaves(shape), leaves(stride), strict=True)]
    index = np.arange(start, prod(s for s, _ in modes) if stop is None else stop)
    total = np.zeros_like(index)
    for s, d in modes:
        total += index % s * d
        index //= s
    return total


@cache
def digest(shape: Any, stride: Any, chunk: int = 1 << 22) -> tuple[int, str]:
    """The number of values, and the digest of them all as 64-bit integers."""
    points, hasher = prod(leaves(shape)), hashlib.sha256()
    for first in range(0, points, chunk):
        hasher.update(definition(shape, stride, first, min(first + chunk, points)))
    return points, hasher.hexdigest()


def leaves(modes: Any) -> list[int]:
    return [leaf for mode in modes for leaf in leaves(mode)] if isinstance(modes, tuple | list) else [modes]


def text(shape: Any, stride: Any) -> str:
    """A layout as CuTe prints it."""
    extents, strides = (str(part).replace(" ", "").replace("[", "(").replace("]", ")") for part in (shape, stride))
    return f"{extents}:{strides}"


def unit(baseline: Running) -> Callable[[], float]:
    """The CPU seconds of the baseline of evaluation: numpy's divmod chain over a fixed number of points."""
    shape, stride = inputs.hierarchical(inputs.UNIT)
    return lambda: float(baseline.ask(way="divmod chain", shape=shape, stride=stride, least=LEAST)["seconds"])


def pairs(cost: float, allowance: float) -> int:
    """How many pairs of this cost fit into an allowance: 15, or fewer."""
    return max(1, min(PAIRS, int(allowance / max(cost, 1e-9))))


def figure(turns: list[Pair]) -> Cell:
    """The median of the ratios, their lower quartile, their number."""
    summary = Figure("", "", tuple(turns), inf)
    return {"median": float(f"{summary.ratio:.4g}"), "quartile": float(f"{summary.quartile:.4g}"), "pairs": len(turns)}


def timed(column: Column, base: Callable[[], float], allowance: float) -> Iterator[Cell]:
    """The figures of a column of evaluation, each call in turns with the baseline."""
    say(f"times of {column.table}: {column.name}")
    for at, request in column.requests.items():
        cell: Cell = {"table": column.table, "column": column.name, "at": at}
        if at in column.why:
            yield {**cell, "why": column.why[at]}
            continue
        try:
            ask = partial(column.running.ask, **request, least=LEAST, values=False)
            count = pairs(max(column.seconds[at], LEAST) + 2 * LEAST, allowance)
            ask()  # fills caches, and finds how many calls a measurement needs
            yield {**cell, **figure([(ask()["seconds"], base()) for _ in range(count)])}
        except Failed as failed:
            yield {**cell, "why": str(failed)}


def side_by_side(name: str, columns: list[Column], base: Callable[[], float], allowance: float) -> Iterator[Cell]:
    """The figures of an operation: every library in turns with ours, and with the baseline of evaluation."""
    say(f"times of {name}")
    here = [column for column in columns if column.table == name]
    for rank in inputs.RANKS:
        running = [column for column in here if rank not in column.why]
        for column in here:
            if rank in column.why:
                yield {"table": name, "column": column.name, "at": rank, "why": column.why[rank]}
        calls = [partial(column.running.ask, **column.requests[rank], least=LEAST) for column in running]
        cost = sum(max(column.seconds[rank], 2 * LEAST) for column in running)
        turns = [[base(), *(call()["seconds"] for call in calls)] for _ in range(pairs(cost, allowance) + 1)][1:]
        for k, column in enumerate(running, 1):
            growth = figure([(turn[k], turn[0]) for turn in turns])
            beside = figure([(turn[k], turn[1]) for turn in turns])
            yield {"table": name, "column": column.name, "at": rank, **growth, "ours": beside}


def atoms(allowance: float) -> Iterator[Cell]:
    """What the atlas takes of time and memory for more and more atoms, each set spread over all, by some checks."""
    listed = process("-m", "verify.atom", "--all", "--list")().stdout
    names = [line.strip() for line in listed.splitlines()]
    for checks, words in CHECKS.items():
        for count in (*(n for n in inputs.ATOMS if n < len(names)), len(names)):
            say(f"{count} atoms, {checks}")
            chosen = names[:: len(names) // count][:count] if count < len(names) else ["*"]
            run = partial(observed, "-m", "verify.atlas", "-q", *words, "--allow-unchecked", *chosen)
            try:
                turns = together(run, partial(observed, "-c", BASELINE), ROW * allowance)
                rows = [figure([(getattr(a, name), getattr(b, name)) for a, b in turns]) for name in TAKEN.values()]
            except ProgramFailed as error:
                rows = [{"why": str(error)}] * len(TAKEN)
            for column, row in zip(TAKEN, rows, strict=True):
                yield {"table": "atoms", "column": f"{checks}: {column}", "at": count, **row}


def together(
    run: Callable[[], Observed], base: Callable[[], Observed], allowance: float
) -> list[tuple[Observed, Observed]]:
    """Two programs in turns: 15 pairs, or as many as take so many seconds by the clock."""
    turns: list[tuple[Observed, Observed]] = []
    started = time.monotonic()
    while len(turns) < PAIRS:
        turns.append((run(), base()))
        if (time.monotonic() - started) * (1 + 1 / len(turns)) > allowance:  # with the next pair
            break
    return turns


def campaigns() -> Iterator[Cell]:
    """How many cases a campaign decides, by the clock, while pycute's own loop decides one."""
    from benchmarks import campaign

    for law, gate in campaign.GATES.items():
        for points, every in gate.faster.items():
            say(f"campaigns: {law}, {points} points")
            try:
                pairs = [(every * loop, mine) for mine, loop in campaign.against_pycute(law, points, every).pairs]
                row = figure(pairs)
            except Unmeasured as missing:
                row = {"why": str(missing)}
            yield {"table": "campaigns", "column": law, "at": points, **row}


def machine() -> dict[str, Any]:
    """What is known of this machine, and the day."""
    models = (line.partition(":")[2].strip() for line in cpuinfo() if line.startswith("model name"))
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "processor": next(models, platform.machine()),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
    }


def cpuinfo() -> list[str]:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return file.read().splitlines()
    except OSError:
        return []


def say(what: str) -> None:
    print(f"performance: {what}", file=sys.stderr, flush=True)
