# SPDX-License-Identifier: Apache-2.0
"""A tiled GEMM in numpy, through nothing but the partitions and the fragments.

Every thread copies its partition of A and B into fragments, and its accumulators out into its partition of C. In
between, the threads of an atom issue its instruction on their fragments: it sees registers alone, and finds their
elements by the book's formulas, or by the atom's own layouts where the book has none. Where atoms stand along K, their
threads hold partial sums, which are added up at the end.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from random import Random  # numpy.random takes 10 ms to load
from typing import Any

import numpy as np
import numpy.typing as npt

from layouts import Layout, LayoutError
from layouts.tensor import Tensor
from verify.evidence import repair
from verify.evidence.isa import RANGES, effective, evaluate
from verify.tiling import reference
from verify.tiling.bind import Dealt, Tiling

Table = np.ndarray[tuple[int, ...], np.dtype[np.int64]]
Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def operands(tiling: Tiling, seed: int = 0) -> dict[str, Array]:
    """Matrices of small integers: every sum of products of them is exact in 64-bit floating point."""
    rng = Random(seed)
    found: dict[str, Array] = {}
    for dealt in tiling.dealt:
        if dealt.name != "C":
            rows, columns = dealt.extent(tiling.tile)
            drawn = rng.choices(range(*RANGES[dealt.name]), k=rows * columns)
            found[dealt.name] = np.array(drawn, dtype=np.float64).reshape(rows, columns)
    return found


def expected(given: Mapping[str, Array]) -> Array:
    """The product by numpy."""
    a, b = effective(given)
    return a @ b.T


def run(tiling: Tiling, given: Mapping[str, Array]) -> Array:
    """C = A * B^T as the threads compute it; NaN where no thread, or two that differ, wrote an element."""
    fragments = {d.name: loaded(tiling, d, given[d.name]) for d in tiling.dealt if d.name != "C"}
    return stored(tiling, issued(tiling, fragments))


def loaded(tiling: Tiling, dealt: Dealt, matrix: Array) -> Array:
    """The fragments that the threads copy out of a matrix, as an array [v, wM, wN, wK][frg, restX, restY]."""
    return by_atom(tiling, dealt, partitions(tiling, dealt, Tensor(matrix.T.ravel(), Layout(matrix.shape))))


def partitions(tiling: Tiling, dealt: Dealt, tensor: Tensor) -> npt.NDArray[Any]:
    """The threads' parts of a tensor, as rows of values in the order of :func:`threads`."""
    column = np.array(threads(tiling))[:, None]
    rows = dealt.partition(column, tensor).values()
    return np.broadcast_to(rows, (len(column), rows.shape[-1]))


def threads(tiling: Tiling) -> list[int]:
    """The threads' numbers, in the order of (v, wM, wN, wK), v fastest."""
    numbers: list[int] = reference.threads(tiling).ravel(order="F").tolist()
    return numbers


def by_atom(tiling: Tiling, dealt: Dealt, rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Rows of threads as [v, wM, wN, wK][frg, restX, restY]. LayoutError where they are not so many."""
    x, y = dealt.repeats(tiling.tile)
    lanes, values = tiling.threads // prod(tiling.atoms), dealt.part.values
    if rows.shape != (wanted := (tiling.threads, values * x * y)):
        raise LayoutError(f"threads x values of partition_{dealt.name} are {rows.shape}, {wanted} wanted")
    return rows.reshape(*tiling.atoms[::-1], lanes, y, x, values).transpose(3, 2, 1, 0, 6, 5, 4)


def issued(tiling: Tiling, fragments: Mapping[str, Array]) -> Array:
    """The accumulators [v, wM, wN, wK][frg, restM, restN] after every instruction of the tile."""
    seen = {d.name: _matrix(d, table(tiling, d), fragments[d.name]) for d in tiling.dealt if d.name != "C"}
    a, b = effective(seen)
    # [k, m, wM, wN, wK, restM, restK] and the same of n: an instruction per restM, restN and restK.
    c = np.einsum("kmabcxz,knabcyz->nmabcxy", a, b, optimize=True)
    accumulator = _accumulator(tiling)
    where = table(tiling, accumulator)
    return np.moveaxis(c.reshape(-1, *c.shape[2:])[where], 1, 4)


def _matrix(dealt: Dealt, where: Table, fragments: Array) -> Array:
    """The atoms' matrices [y, x, wM, wN, wK, restX, restY] that an instruction sees in its threads' registers."""
    held = np.moveaxis(fragments, 4, 1)
    x, y = dealt.part.extent
    found = np.full((x * y, *held.shape[2:]), np.nan)
    found[where] = held
    found[where[(found[where] != held).any(axis=tuple(range(2, held.ndim)))]] = np.nan  # copies that differ
    return found.reshape(y, x, *held.shape[2:])


def table(tiling: Tiling, dealt: Dealt) -> Table:
    """The element of the atom that each (v, value) is, by the book, or by the atom where the book is silent."""
    told = repair.wanted_table(tiling.subject, dealt.part) if dealt.part.formulas else None
    return evaluate(dealt.part.parsed) if told is None else told


def stored(tiling: Tiling, accumulators: Array) -> Array:
    """C as the threads write it, partial sums added; NaN where nobody wrote, or copies of one sum differ."""
    dealt = _accumulator(tiling)
    m, n = dealt.extent(tiling.tile)
    index = by_atom(tiling, dealt, partitions(tiling, dealt, Tensor(np.arange(m * n), Layout((m, n)))))
    total = np.zeros(m * n)
    for w in range(tiling.atoms[2]):
        sums = np.full(m * n, np.nan)
        sums[index[:, :, :, w]] = accumulators[:, :, :, w]
        differ = sums[index[:, :, :, w]] != accumulators[:, :, :, w]
        sums[index[:, :, :, w][differ]] = np.nan
        total += sums
    return total.reshape(n, m).T


def _accumulator(tiling: Tiling) -> Dealt:
    return next(dealt for dealt in tiling.dealt if dealt.name == "C")
