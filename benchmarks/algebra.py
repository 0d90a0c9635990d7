# SPDX-License-Identifier: Apache-2.0
"""The layout algebra against CUTLASS's pycute on the same inputs.

pycute must be importable: `PYTHONPATH=cutlass/python python -m benchmarks algebra`.
"""

from __future__ import annotations

import importlib
import itertools
import sys
from collections.abc import Callable
from typing import Any

from benchmarks.paired import Figure, paired
from layouts import Layout, LayoutError, complement, composition, right_inverse

REPEATS = 5


def inputs() -> dict[str, list[tuple[Any, ...]]]:
    """Shapes and strides that kernels use, as (shape, stride) pairs that both libraries accept."""
    compact = [((4, 8), (2, 2, 2)), ((8, 8), (16, 4)), (64, 64), ((4, 8, 3), 5), (128, (8, 8), 2)]
    tilers = [(4, 1), (8, 2), (4, 4), (2, 8), ((2, 4), (1, 4)), ((4, 2), (2, 8))]
    atoms = [
        (((4, 8), (2, 2)), ((32, 1), (16, 8))),
        (((4, 8), (2, 2, 2)), ((32, 1), (16, 8, 128))),
        (((4, 8), (8, 2, 2)), ((128, 1), (16, 8, 512))),
        (((4, 8), (32, 2, 2)), ((512, 1), (16, 8, 2048))),
    ]
    pairs = list(itertools.product(compact, tilers))
    return {
        "composition": [((shape, None), tiler) for shape, tiler in pairs],
        "complement": [(tiler, size) for tiler, size in itertools.product(tilers, (64, 256, 1024))],
        "right_inverse": [(atom,) for atom in atoms] + [((shape, None),) for shape in compact],
    }


def figures() -> list[Figure]:
    try:
        pycute = importlib.import_module("pycute")
    except ImportError:
        print("algebra: pycute is not importable, nothing to compare with (PYTHONPATH=cutlass/python)", file=sys.stderr)
        return []
    ours = {"composition": composition, "complement": complement, "right_inverse": right_inverse}
    measured = []
    for name, cases in inputs().items():
        theirs = getattr(pycute, name)
        mine = [tuple(made(Layout, argument) for argument in case) for case in cases]
        other = [tuple(made(pycute.Layout, argument) for argument in case) for case in cases]
        kept = [i for i in range(len(cases)) if agree(ours[name], mine[i], theirs, other[i])]
        run, base = loop(ours[name], [mine[i] for i in kept]), loop(theirs, [other[i] for i in kept])
        measured.append(paired(f"{name}, {len(kept)} inputs", run, "pycute, the same inputs", base, 0.5, rounds=31))
    return measured


def made(layout: Any, argument: Any) -> Any:
    """A (shape, stride) pair as a layout; a size unchanged."""
    return layout(*argument) if isinstance(argument, tuple) else argument


def agree(ours: Callable[..., Any], mine: Any, theirs: Callable[..., Any], other: Any) -> bool:
    """Whether both libraries accept an input; others are not compared."""
    try:
        ours(*mine)
        theirs(*other)
    except (LayoutError, AssertionError):
        return False
    return True


def loop(operation: Callable[..., Any], cases: list[tuple[Any, ...]]) -> Callable[[], object]:
    def run() -> object:
        return [operation(*case) for _ in range(REPEATS) for case in cases]

    return run
