# SPDX-License-Identifier: Apache-2.0
"""A tiled GEMM in numpy, through nothing but the partitions and the fragments, and its product compared with numpy's.

Every thread copies its partitions of A and B into fragments, and its accumulators into its partition of C. In between,
the threads of an atom issue its instruction on their fragments: the instruction reads registers only, and its elements
are those of the formulas in the ISA tables, or of the atom's own layouts where the tables have none. With several atoms
along K, threads hold partial sums, which are added up at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import shake_128
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from layouts import Layout, LayoutError
from layouts.tensor import Tensor
from verify.core.digits import every, walks
from verify.core.verdict import Check, Counterexample, Evidence, Status, finding, leave_unchecked
from verify.evidence import layout_repair
from verify.evidence.product import RANGES, effective
from verify.tiling import instruction, reference
from verify.tiling.bind import TiledOperand, Tiling

if TYPE_CHECKING:
    import numpy.typing as npt

Table: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.int64]]"
Array: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.floating[Any]]]"
Parts: TypeAlias = "Callable[[Tiling, TiledOperand, Tensor], npt.NDArray[Any]]"


def check_product(_run: object, tiling: Tiling, _: None) -> list[Evidence]:
    """Evidence of a product of random integers through the library's partitions, compared with numpy's."""
    misfits = [why for part in tiling.subject.parts if (why := instruction.misfit(tiling.subject, part))]
    if misfits:  # an instruction cannot be issued on fragments of another size
        return [leave_unchecked(Check.ISA, misfits[0])]
    given = operands(tiling)
    right = compute_expected(given)
    wrong = None
    try:
        computed = multiply(tiling, given)
        if len(bad := np.argwhere(computed != right)):
            m, n = (int(c) for c in bad[0])
            got = "not written, or by owners that differ" if np.isnan(computed[m, n]) else f"{computed[m, n]:.0f}"
            again = multiply(tiling, given, _one_by_one)[m, n]
            wrong = Counterexample(
                {"m": m, "n": n},
                f"(m={m}, n={n}) is {got}, numpy has {right[m, n]:.0f} (seed 0)",
                damage=(f"{len(bad)} of {right.size} elements are wrong",),
                reproduced=np.array_equal(computed[m, n], again, equal_nan=True),
            )
    except LayoutError as error:
        wrong = Counterexample({}, f"a partition does not fit its operand: {error}", reproduced=not _fits(tiling))
    return [finding(Check.ISA, wrong, "random integers", right.size, "numpy", Status.AGREES)]


def operands(tiling: Tiling, seed: int = 0) -> dict[str, Array]:
    """Matrices of small integers: every sum of products of them is exact in 64-bit floating point.

    They are drawn from a digest: numpy.random takes 10 ms to load.
    """
    matrices: dict[str, Array] = {}
    for tiled in tiling.operands:
        if tiled.name != "C":
            rows, columns = tiled.extent(tiling.tile)
            low, high = RANGES[tiled.name]
            drawn = shake_128(f"{tiled.name} {seed}".encode()).digest(rows * columns)
            matrices[tiled.name] = np.array(bytearray(drawn), np.float64).reshape(rows, columns) % (high - low) + low
    return matrices


def compute_expected(given: Mapping[str, Array]) -> Array:
    """Return the product by numpy."""
    a, b = effective(given)
    expected: Array = np.einsum("mk,nk->mn", a, b)  # `@` would load a library with its first use
    return expected


def partitions(tiling: Tiling, tiled: TiledOperand, tensor: Tensor) -> npt.NDArray[Any]:
    """Return the threads' parts of a tensor, as rows of values in the order of :func:`threads`."""
    column = np.array(threads(tiling))[:, None]
    rows = tiled.partition(column, tensor).values()
    return np.broadcast_to(rows, (len(column), rows.shape[-1]))


def _one_by_one(tiling: Tiling, tiled: TiledOperand, tensor: Tensor) -> npt.NDArray[Any]:
    """Return the same of a tensor with storage, by column, with the places evaluated in plain integers."""
    values: npt.NDArray[Any] = tensor.data[np.array([elements_of(tiling, tiled, thread) for thread in threads(tiling)])]
    return values


def _fits(tiling: Tiling) -> bool:
    """Whether the partitions of all threads have as many elements as the atom's fragments, repeated."""
    return all(
        len(elements_of(tiling, tiled, thread)) == tiled.part.values * prod(tiled.repeats(tiling.tile))
        for tiled in tiling.operands
        for thread in threads(tiling)
    )


def multiply(tiling: Tiling, given: Mapping[str, Array], parts: Parts = partitions) -> Array:
    """C = A * B^T as the threads compute it; NaN where no thread wrote an element, or two wrote different values."""
    fragments = {d.name: load_fragments(tiling, d, given[d.name], parts) for d in tiling.operands if d.name != "C"}
    return store_accumulators(tiling, issue_instructions(tiling, fragments), parts)


def load_fragments(tiling: Tiling, tiled: TiledOperand, matrix: Array, parts: Parts = partitions) -> Array:
    """Return the fragments that the threads copy out of a matrix, as an array [v, wM, wN, wK][frg, restX, restY]."""
    return by_atom(tiling, tiled, parts(tiling, tiled, Tensor(matrix.T.ravel(), Layout(matrix.shape))))


def elements_of(tiling: Tiling, tiled: TiledOperand, thread: int) -> list[int]:
    """Return the elements of the tile that the partition of one thread has, without arrays."""
    part = tiled.partition(thread, Tensor(None, Layout(tiled.extent(tiling.tile))))
    if not isinstance(part.layout, Layout):
        raise TypeError(f"the partition of a layout is {part.layout}, no layout")
    return [int(part.offset) + place for place in every(part.layout.shape, part.layout.stride)]


def threads(tiling: Tiling) -> list[int]:
    """Return the threads' numbers, in the order of (v, wM, wN, wK), v fastest."""
    numbers: list[int] = reference.threads(tiling).ravel(order="F").tolist()
    return numbers


def by_atom(tiling: Tiling, tiled: TiledOperand, rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Rows of threads as [v, wM, wN, wK][frg, restX, restY]; LayoutError where their number differs."""
    x, y = tiled.repeats(tiling.tile)
    lanes, values = tiling.threads // prod(tiling.atoms), tiled.part.values
    if rows.shape != (wanted := (tiling.threads, values * x * y)):
        raise LayoutError(f"threads x values of partition_{tiled.name} are {rows.shape}, expected {wanted}")
    return rows.reshape(*tiling.atoms[::-1], lanes, y, x, values).transpose(3, 2, 1, 0, 6, 5, 4)


def issue_instructions(tiling: Tiling, fragments: Mapping[str, Array]) -> Array:
    """Return the accumulators [v, wM, wN, wK][frg, restM, restN] after every instruction of the tile."""
    matrices = {d.name: matrix_of(d, table(tiling, d), fragments[d.name]) for d in tiling.operands if d.name != "C"}
    a, b = effective(matrices)
    # [k, m, wM, wN, wK, restM, restK] and the same of n: an instruction per restM, restN and restK.
    c = np.einsum("kmabcxz,knabcyz->nmabcxy", a, b, optimize=True)
    accumulator = _accumulator(tiling)
    where = table(tiling, accumulator)
    return np.moveaxis(c.reshape(-1, *c.shape[2:])[where], 1, 4)


def matrix_of(tiled: TiledOperand, where: Table, fragments: Array) -> Array:
    """Return the atoms' matrices [y, x, wM, wN, wK, restX, restY] that an instruction reads from registers."""
    registers = np.moveaxis(fragments, 4, 1)
    x, y = tiled.part.extent
    matrices = np.full((x * y, *registers.shape[2:]), np.nan)
    matrices[where] = registers
    matrices[where[(matrices[where] != registers).any(axis=tuple(range(2, registers.ndim)))]] = (
        np.nan
    )  # owners that differ
    return matrices.reshape(y, x, *registers.shape[2:])


def table(tiling: Tiling, tiled: TiledOperand) -> Table:
    """Return the atom's element that each (v, value) is, by the ISA tables, or by the atom without a formula."""
    wanted = layout_repair.wanted_table(tiling.subject, tiled.part) if tiled.part.formulas else None
    return np.array(walks(tiled.part.layout_of_text)) if wanted is None else wanted


def store_accumulators(tiling: Tiling, accumulators: Array, parts: Parts = partitions) -> Array:
    """C as the threads write it, partial sums added; NaN where no thread wrote, or copies of one sum differ."""
    tiled = _accumulator(tiling)
    m, n = tiled.extent(tiling.tile)
    index = by_atom(tiling, tiled, parts(tiling, tiled, Tensor(np.arange(m * n), Layout((m, n)))))
    total = np.zeros(m * n)
    for w in range(tiling.atoms[2]):
        sums = np.full(m * n, np.nan)
        sums[index[:, :, :, w]] = accumulators[:, :, :, w]
        differ = sums[index[:, :, :, w]] != accumulators[:, :, :, w]
        sums[index[:, :, :, w][differ]] = np.nan
        total += sums
    return total.reshape(n, m).T


def _accumulator(tiling: Tiling) -> TiledOperand:
    return next(tiled for tiled in tiling.operands if tiled.name == "C")
