# SPDX-License-Identifier: Apache-2.0
"""The layout algebra against CUTLASS's pycute on the same inputs; `make bench` installs pycute."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.absolute import Unmeasured
from benchmarks.paired import Figure, paired
from benchmarks.performance.libraries import PYCUTE
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


def figures() -> Iterator[Figure]:
    try:
        pycute = importlib.import_module("pycute")
    except ImportError:
        raise Unmeasured(f"pycute is not importable ({PYCUTE.install})") from None
    ours = {"composition": composition, "complement": complement, "right_inverse": right_inverse}
    for name, cases in inputs().items():
        theirs = getattr(pycute, name)
        mine = [tuple(made(Layout, argument) for argument in case) for case in cases]
        foreign = [tuple(made(pycute.Layout, argument) for argument in case) for case in cases]
        kept = [i for i in range(len(cases)) if accepted(ours[name], mine[i]) and accepted(theirs, foreign[i])]
        if not kept:
            raise Unmeasured(f"{name}: no input that both libraries accept")
        run, base = loop(ours[name], [mine[i] for i in kept]), loop(theirs, [foreign[i] for i in kept])
        yield paired(f"{name}, {len(kept)} inputs", run, "pycute, the same inputs", base, 0.5, rounds=31)


def made(layout: Any, argument: Any) -> Any:
    """A (shape, stride) pair as a layout; a size unchanged."""
    return layout(*argument) if isinstance(argument, tuple) else argument


def accepted(operation: Callable[..., Any], case: tuple[Any, ...]) -> bool:
    """Whether a library accepts an input; what only one accepts is not compared."""
    try:
        operation(*case)
    except (LayoutError, AssertionError):
        return False
    return True


def loop(operation: Callable[..., Any], cases: list[tuple[Any, ...]]) -> Callable[[], object]:
    def run() -> object:
        return [operation(*case) for _ in range(REPEATS) for case in cases]

    return run
