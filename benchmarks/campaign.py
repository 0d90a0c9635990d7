# SPDX-License-Identifier: Apache-2.0
"""A campaign on two cores against a plain loop over CUTLASS's pycute: the same layouts, the same laws.

pycute must be importable: `PYTHONPATH=cutlass/python python -m benchmarks campaign`. Its loop takes every 50th case, so
that a ratio of 1 is 50 times its rate.
"""

from __future__ import annotations

import importlib
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import Executor
from itertools import count
from pathlib import Path
from typing import Any

from benchmarks.paired import Figure, paired
from lanecheck_console.progress import Progress
from verify.campaign import executors, results
from verify.campaign.run import Run
from verify.campaign.spec import LawsSpec
from verify.campaign.tasks import Implementation, Part, domain_of, parts

FASTER = 50
JOBS = 2
SPECS = {  # tiles of 64 to 1024 elements, as kernels have
    "composition": LawsSpec(
        name="pairs", kind="laws", laws=("composition",), rank=2, size=1024, extents=(8, 16, 32),
        strides=(1, 2, 8, 16, 32, 64, 256),
    ),
    "coalesce": LawsSpec(
        name="layouts", kind="laws", laws=("coalesce",), rank=3, size=1024, extents=(4, 8, 16),
        strides=(1, 2, 4, 8, 16, 32, 64, 128),
    ),
}  # fmt: skip


def figures() -> list[Figure]:
    try:
        pycute = importlib.import_module("pycute")
    except ImportError:
        print(
            "campaign: pycute is not importable, nothing to compare with (PYTHONPATH=cutlass/python)", file=sys.stderr
        )
        return []
    loops = {"composition": compositions, "coalesce": coalesced}
    measured = []
    with executors.local(JOBS, in_child=True) as (pool, _), tempfile.TemporaryDirectory() as folder:
        for law, spec in SPECS.items():
            (part,) = parts(spec, Implementation())
            base = loops[law](pycute, spec)
            name = f"{law}, {part.cases} cases, {JOBS} processes"
            measured.append(paired(name, campaign(part, pool, folder), f"pycute, every {FASTER}th case", base, 1.0))
    return measured


def campaign(part: Part, pool: Executor, folder: str) -> Callable[[], object]:
    """A whole run, each time with a new file of results; the processes are there already."""
    files = (Path(folder, f"{part.name}-{n}.jsonl") for n in count())

    def run() -> object:
        with results.opened(next(files)) as kept:
            one = Run([part], kept, Implementation())
            one.go(pool, lambda: JOBS, Progress(one.cases, "cases", quiet=True), lambda *_: None)
            assert len(kept.found) == len(part.tasks)
            return None

    return run


def compositions(pycute: Any, spec: LawsSpec) -> Callable[[], object]:
    """pycute's own loop over pairs: R(k) = A(B(k)) wherever B(k) is in the domain of A."""
    domain = domain_of(spec)
    chosen = [divmod(n, len(domain)) for n in range(0, len(domain) ** 2, FASTER)]
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


def coalesced(pycute: Any, spec: LawsSpec) -> Callable[[], object]:
    """pycute's own loop over layouts: R(i) = L(i)."""
    domain = domain_of(spec)
    layouts = [domain[n] for n in range(0, len(domain), FASTER)]

    def loop() -> object:
        wrong = 0
        for one in layouts:
            layout = pycute.Layout(*one)
            r = pycute.coalesce(layout)
            wrong += any(layout(i) != r(i) for i in range(pycute.size(layout)))
        return wrong

    return loop
