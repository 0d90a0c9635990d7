# SPDX-License-Identifier: Apache-2.0
"""Whole domains at once: a layout of 1e7 points against numpy's chain of divmod, and on a GPU against filling an array.

Layouts behind a swizzle, and with coordinates as strides, are verified against a plain one of as many points.

On a machine with a GPU and CuPy: `python -m benchmarks batched`. The GPU's figures are of several evaluations in a row,
so that what is compared is the work of the GPU.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import gpu_checks
from benchmarks.paired import Figure, paired
from layouts import Layout, leaves, size
from layouts.batched import batch, stacked
from verify.core.verdict import Check
from verify.layout import onto_tile

LAYOUT = Layout(((10, 20), (25, (40, 50))), ((50, 500), (1, (10_000, 400_000))))  # 1e7 points, rank 5, a bijection
LARGER = Layout(((10, 20), (250, (40, 50))), ((500, 5000), (1, (100_000, 4_000_000))))  # 1e8 points
ROUNDS = 15
IN_A_ROW = 20
MANY = 2000  # layouts of one rank, evaluated together or one after the other


def figures() -> Iterator[Figure]:
    made = batch(LAYOUT)
    for name, narrow in (("1e7 points of rank 5", False), ("the same in int32", True)):
        run = partial(made.values, narrow=narrow)
        yield paired(name, run, "numpy's divmod chain", partial(divmod_chain, LAYOUT), 0.5, ROUNDS)
    shapes, strides = many()
    alone = [Layout(tuple(map(int, s)), tuple(map(int, d))) for s, d in zip(shapes, strides, strict=True)]
    index = np.arange(64)
    yield paired(
        f"{MANY} layouts of 64 points, as rows",
        lambda: stacked(shapes, strides).values(),
        "one after the other",
        lambda: [layout(index) for layout in alone],
        0.1,
        ROUNDS,
    )
    plain, ways = "(1024,1024):(1024,1)", {"swizzled": "Sw<3,3,3> o {}", "with coordinates": "(1024,1024):(1@0,1@1)"}
    for way, text in ways.items():
        run, baseline = (partial(onto_tile, one, (1024, 1024), {Check.ISA}) for one in (text.format(plain), plain))
        yield paired(f"a layout of 2^20 points {way}, verified", run, "the same, plain", baseline, 4, ROUNDS)
    yield from on_gpu()


def divmod_chain(layout: Layout) -> Any:
    """Every value, digit by digit, as numpy is used without thought of the structure."""
    index, total = np.arange(size(layout)), 0
    for s, d in zip(leaves(layout.shape), leaves(layout.stride), strict=True):
        index, digit = np.divmod(index, s)
        total = total + digit * d
    return total


def many() -> tuple[Any, Any]:
    """Extents and strides of layouts of rank 3 with 64 points each."""
    rng = np.random.default_rng(0)
    return np.full((MANY, 3), 4), rng.integers(0, 100, (MANY, 3))


def on_gpu() -> Iterator[Figure]:
    found = gpu_checks.device_info()
    if isinstance(found, gpu_checks.Unavailable):
        print(f"batched: {found.reason}", file=sys.stderr)
        return
    xp = importlib.import_module("cupy")
    for name, layout in (("1e7", LAYOUT), ("1e8", LARGER)):
        fill = in_a_row(xp, partial(xp.full, (size(layout),), 7, dtype=xp.int64))
        run = in_a_row(xp, batch(layout, xp).values)
        yield paired(f"{name} points of rank 5, on a GPU", run, "a fill kernel", fill, 1.5, ROUNDS)


def in_a_row(xp: Any, body: Callable[[], object]) -> Callable[[], None]:
    """A function that runs another several times and waits for the last."""

    def runs() -> None:
        for _ in range(IN_A_ROW):
            body()
        xp.cuda.get_current_stream().synchronize()

    return runs
