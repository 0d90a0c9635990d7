# SPDX-License-Identifier: Apache-2.0
"""A campaign on two cores against a plain loop over CUTLASS's pycute: the same layouts, the same laws.

The loop compares all values one at a time, the campaign all cases at once; both call the operation for every case.
So the campaign gains with the number of points: 50 times the loop's rate is its target for layouts of at most 1024
points, and less for smaller ones, where most of its time is our operation's own. Where N times is the target, pycute's
loop takes every Nth case, so that a ratio of 1 is N times its rate. `make bench` installs pycute.
"""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from itertools import count
from pathlib import Path
from typing import Any

from benchmarks.absolute import Unmeasured
from benchmarks.paired import Figure, paired
from benchmarks.performance.libraries import PYCUTE
from lanecheck_console.progress import Progress
from verify.campaign import executors, results
from verify.campaign.run import Run
from verify.campaign.spec import LawsSpec
from verify.campaign.tasks import Implementation, Part, domain_of, parts

JOBS = 2
EXTENTS = {16: (2, 4, 8), 64: (2, 4, 8, 16), 256: (4, 8, 16), 1024: (8, 16, 32)}  # of the modes, by the points at most
FASTER = {  # times pycute's rate, at least
    "composition": {16: 6, 64: 12, 256: 25, 1024: 50},
    "coalesce": {16: 12, 64: 40, 256: 50, 1024: 50},
}


def spec_of(law: str, points: int) -> LawsSpec:
    """All layouts of rank 2 in pairs, or of rank 3 alone, with strides that are powers of 2."""
    rank, strides = {"composition": (2, 7), "coalesce": (3, 16)}[law]
    return LawsSpec(
        name="powers of 2", kind="laws", laws=(law,), rank=rank, size=points, extents=EXTENTS[points],
        strides=tuple(1 << n for n in range(strides)),
    )  # fmt: skip


def figures() -> Iterator[Figure]:
    for law, targets in FASTER.items():
        for points, faster in targets.items():
            yield against_pycute(law, points, faster)


def against_pycute(law: str, points: int, every: int) -> Figure:
    """A campaign of a law, in turns with pycute's loop over every so many of the same cases. Raises Unmeasured."""
    try:
        pycute = importlib.import_module("pycute")
    except ImportError:
        raise Unmeasured(f"pycute is not importable ({PYCUTE.install})") from None
    spec = spec_of(law, points)
    (part,) = parts(spec, Implementation())
    base = {"composition": compositions, "coalesce": coalesced}[law](pycute, spec, every)
    name = f"{law}, at most {points} points, {part.cases} cases"
    with executors.local(JOBS, in_child=True) as (pool, _), tempfile.TemporaryDirectory() as folder:
        return paired(name, campaign(part, pool, folder), f"pycute, every {every}th case", base, 1.0)


def campaign(part: Part, pool: Executor, folder: str) -> Callable[[], object]:
    """A whole run, each time with a new file of results; the processes are there already."""
    files = (Path(folder, f"{part.key}-{n}.jsonl") for n in count())

    def run() -> object:
        with results.opened(next(files)) as kept:
            one = Run([part], kept, Implementation())
            one.go(pool, lambda: JOBS, Progress(one.cases, "cases", quiet=True), lambda *_: None)
            assert len(kept.found) == len(part.tasks)
            return None

    return run


def compositions(pycute: Any, spec: LawsSpec, every: int) -> Callable[[], object]:
    """pycute's own loop over some pairs: R(k) = A(B(k)) wherever B(k) is in the domain of A."""
    domain = domain_of(spec)
    chosen = [divmod(n, len(domain)) for n in range(0, len(domain) ** 2, every)]
    pairs = [(domain[a], domain[b]) for a, b in chosen]

    def loop() -> object:
        wrong = 0
        for first, second in pairs:
            a, b = pycute.Layout(*first), pycute.Layout(*second)
            try:
                r = pycute.composition(a, b)
            except AssertionError:
                continue
            size = pycute.size(a)
            for k in range(pycute.size(b)):
                x = b(k)
                if x < size and r(k) != a(x):
                    wrong += 1
                    break
        return wrong

    return loop


def coalesced(pycute: Any, spec: LawsSpec, every: int) -> Callable[[], object]:
    """pycute's own loop over some layouts: R(i) = L(i)."""
    domain = domain_of(spec)
    layouts = [domain[n] for n in range(0, len(domain), every)]

    def loop() -> object:
        wrong = 0
        for one in layouts:
            layout = pycute.Layout(*one)
            r = pycute.coalesce(layout)
            wrong += any(layout(i) != r(i) for i in range(pycute.size(layout)))
        return wrong

    return loop
