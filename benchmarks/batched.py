# SPDX-License-Identifier: Apache-2.0
"""Whole domains at once: a layout of 1e7 points against numpy's chain of divmod; `gpu` has the same on a GPU.

Layouts behind a swizzle, and with coordinates as strides, are verified against a plain one of as many points.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.paired import Figure, paired
from layouts import Layout, leaves, size
from layouts.batched import batch, stack_layouts
from verify.core.verdict import Check
from verify.layout.command import onto_tile

LAYOUT = Layout(((10, 20), (25, (40, 50))), ((50, 500), (1, (10_000, 400_000))))  # 1e7 points, rank 5, a bijection
MANY = 2000  # layouts of one rank, evaluated together or one after the other


def figures() -> Iterator[Figure]:
    made = batch(LAYOUT)
    for name, narrow in (("1e7 points of rank 5", False), ("the same in int32", True)):
        run = partial(made.values, narrow=narrow)
        yield paired(name, run, "numpy's divmod chain", partial(divmod_chain, LAYOUT), 0.1)
    shapes, strides = many()
    alone = [Layout(tuple(map(int, s)), tuple(map(int, d))) for s, d in zip(shapes, strides, strict=True)]
    index = np.arange(64)
    yield paired(
        f"{MANY} layouts of 64 points, as rows",
        lambda: stack_layouts(shapes, strides).values(),
        "one after the other",
        lambda: [layout(index) for layout in alone],
        0.05,
    )
    plain, ways = "(1024,1024):(1024,1)", {"swizzled": "Sw<3,3,3> o {}", "with coordinates": "(1024,1024):(1@0,1@1)"}
    for way, text in ways.items():
        run, baseline = (
            partial(onto_tile, written, (1024, 1024), {Check.ISA}) for written in (text.format(plain), plain)
        )
        yield paired(f"a layout of 2^20 points {way}, verified", run, "the same, plain", baseline, 4)


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
