# SPDX-License-Identifier: Apache-2.0
"""Generic copy and gemm over tensors. Source: CUTLASS, include/cute/algorithm/copy.hpp, gemm.hpp."""

from __future__ import annotations

from layouts.arrays import np
from layouts.errors import LayoutError
from layouts.int_tuple import size
from layouts.tensor.tensor import Tensor


def copy(src: Tensor, dst: Tensor, pred: Tensor | None = None) -> None:
    """dst[i] = src[i] for every index i of dst, in their order, or for those where ``pred`` holds.

    The shapes may differ: only the index of an element counts, not its coordinate. So strides alone make it a gather,
    scatter, broadcast or transpose. Nothing is read where the predicate is false.

    >>> from layouts.layout import Layout
    >>> dst = Tensor(np.zeros(6, int), Layout((2, 3), (3, 1)))
    >>> copy(Tensor(np.arange(6), Layout((2, 3))), dst)
    >>> dst.data
    array([0, 2, 4, 1, 3, 5])

    Raises LayoutError when the sizes differ, when dst has no storage, and for indices outside the storage.
    """
    if not src.size == dst.size == (dst if pred is None else pred).size:
        sizes = f"{src.size} to {dst.size}" + ("" if pred is None else f" under {pred.size} predicates")
        raise LayoutError(f"copy of {src} to {dst}: the numbers of elements differ, {sizes}")
    at = slice(None) if pred is None else np.flatnonzero(pred.values())
    dst.data[dst.indices(at)] = src.data[src.indices(at)]


def gemm(A: Tensor, B: Tensor, C: Tensor) -> None:
    """C[m, n] += sum over k of A[m, k] * B[n, k]; with a first mode v in all three, for each v.

    Modes may be nested: (m1, m2) is one m, which is how tensor contractions and convolutions become products.
    An element of C at several (m, n) gets all their sums.

    >>> from layouts.layout import Layout
    >>> C = Tensor(np.zeros(4, int), Layout((2, 2)))
    >>> gemm(Tensor(np.array([1, 2]), Layout((2, 1))), Tensor(np.array([3, 5]), Layout((2, 1))), C)
    >>> C.data
    array([ 3,  6,  5, 10])

    Raises LayoutError when the extents of m, n, k or v differ, and for ranks other than 2 or 3.
    """
    if not len(A) == len(B) == len(C) or len(A) not in (2, 3):
        raise LayoutError(f"gemm needs the ranks 2, 2, 2 or, with V, 3, 3, 3, got {len(A)}, {len(B)}, {len(C)}")
    (*va, ma, ka), (*vb, nb, kb), (*vc, mc, nc) = ([size(mode) for mode in T.layout] for T in (A, B, C))
    for name, *extents in (("M", ma, mc), ("N", nb, nc), ("K", ka, kb), ("V", *va, *vb, *vc)):
        if len(set(extents)) > 1:
            raise LayoutError(f"gemm of {A} by {B} to {C}: {name} is {' and '.join(map(str, extents))}")
    product = A.matrix() @ np.swapaxes(B.matrix(), -1, -2)
    np.add.at(C.data, C.indices(), product.reshape(-1, order="F"))
