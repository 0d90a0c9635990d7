# SPDX-License-Identifier: Apache-2.0
"""Copy and gemm over layouts against numpy: every application that CUTLASS lists for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from layouts import Layout, LayoutError
from layouts.tensor import Tensor, copy, gemm, make_identity_tensor, make_predicate, make_tensor

RNG = np.random.default_rng(7)


def numbers(n: int) -> np.ndarray:
    return RNG.integers(-9, 10, n)


CUBE = Layout((8, 2, 3), (1, 8, 16))
FAR = Layout((2, 2, 2), (42, 1, 128))
PLACES = [0, 42, 1, 43, 128, 170, 129, 171]


@pytest.mark.parametrize(
    ("source", "target", "wanted"),
    [
        pytest.param(Layout(8), Layout(8), lambda s, d: s[:8], id="1D arrays"),
        pytest.param(CUBE, CUBE, lambda s, d: s[:48], id="ND arrays"),
        pytest.param(FAR, Layout(8), lambda s, d: s[PLACES], id="gather"),
        pytest.param(Layout(8, 0), Layout(8), lambda s, d: np.repeat(s[0], 8), id="broadcast"),
        pytest.param(Layout(8, 0), Layout(8, 0), lambda s, d: s[:1], id="constant"),
        pytest.param(
            Layout((8, 3)), Layout((8, 3), (3, 1)), lambda s, d: s[:24].reshape(3, 8).T.ravel(), id="transpose"
        ),
    ],
)
def test_copy_gathers_broadcasts_and_transposes(source: Layout, target: Layout, wanted: Any) -> None:
    src, dst = numbers(180), np.full(180, 99)
    expected = wanted(src, dst)
    copy(Tensor(src, source), Tensor(dst, target))
    assert dst[: len(expected)].tolist() == expected.tolist() and (dst[len(expected) :] == 99).all()


def test_a_copy_scatters_to_the_places_of_its_destination() -> None:
    src, dst = numbers(8), np.full(180, 99)
    copy(Tensor(src, Layout(8)), Tensor(dst, FAR))
    wanted = np.full(180, 99)
    wanted[PLACES] = src
    assert dst.tolist() == wanted.tolist()


def test_a_predicate_leaves_the_rest_unchanged() -> None:
    dst = Tensor(np.full(16, 99), Layout((4, 4)))
    copy(Tensor(np.arange(3), Layout((4, 4), (1, 0))), dst, make_predicate(make_identity_tensor((4, 4)), (3, 2)))
    assert dst.matrix().tolist() == [[0, 0, 99, 99], [1, 1, 99, 99], [2, 2, 99, 99], [99] * 4]


M, N, K = 5, 4, 3


@pytest.mark.parametrize("c_major", ["column", "row"])
@pytest.mark.parametrize("transposes", ["NT", "TN", "NN", "TT"])
def test_gemm_takes_every_transposition_of_blas(transposes: str, c_major: str) -> None:
    """N of A and T of B are contiguous along m and n: (M, K):(1, lda), (N, K):(1, ldb)."""
    lda, ldb, ldc = 7, 6, 8
    a, b, c = numbers(64), numbers(64), numbers(64)
    A = Tensor(a, Layout((M, K), (1, lda) if transposes[0] == "N" else (lda, 1)))
    B = Tensor(b, Layout((N, K), (1, ldb) if transposes[1] == "T" else (ldb, 1)))
    C = Tensor(c.copy(), Layout((M, N), (1, ldc) if c_major == "column" else (ldc, 1)))
    left = a[:56].reshape(8, 7)[:K, :M].T if transposes[0] == "N" else a[:56].reshape(8, 7)[:M, :K]
    right = b[:60].reshape(10, 6)[:K, :N] if transposes[1] == "T" else b[:60].reshape(10, 6)[:N, :K].T
    wanted = c.copy()
    grid = wanted.reshape(8, 8)
    view = grid[:N, :M].T if c_major == "column" else grid[:M, :N]
    view += left @ right
    gemm(A, B, C)
    assert C.data.tolist() == wanted.tolist()


def test_gemm_of_blis_has_any_strides() -> None:
    a, b, c = numbers(200), numbers(200), np.zeros(400, dtype=int)
    A, B = Tensor(a, Layout((M, K), (11, 2))), Tensor(b, Layout((N, K), (3, 17)))
    C = Tensor(c, Layout((M, N), (5, 41)))
    gemm(A, B, C)
    for m in range(M):
        for n in range(N):
            assert c[m * 5 + n * 41] == sum(a[m * 11 + k * 2] * b[n * 3 + k * 17] for k in range(K))
    assert np.count_nonzero(c) <= M * N


def test_gett_with_two_row_modes() -> None:
    a, b = numbers(2 * 3 * 5).reshape(5, 3, 2), numbers(4 * 5).reshape(4, 5)  # a[k, m2, m1], b[n, k]
    C = make_tensor(((2, 3), 4))
    gemm(Tensor(a.ravel(), Layout(((2, 3), 5), ((1, 2), 6))), Tensor(b.ravel(), Layout((4, 5), (5, 1))), C)
    assert C.data.reshape(4, 3, 2).tolist() == np.einsum("kqp,nk->nqp", a, b).tolist()


def test_gett_with_two_reduction_modes() -> None:
    a, b = numbers(4 * 2 * 3).reshape(2, 4, 3), numbers(5 * 2 * 3).reshape(3, 5, 2)  # a[k1, m, k2], b[k2, n, k1]
    C = make_tensor((4, 5))
    A = Tensor(a.ravel(), Layout((4, (2, 3)), (3, (12, 1))))
    B = Tensor(b.ravel(), Layout((5, (2, 3)), (2, (1, 10))))
    gemm(A, B, C)
    assert C.matrix().tolist() == np.einsum("pmq,qnp->mn", a, b).tolist()


def test_a_batch_mode_may_come_first() -> None:
    a, b, c = numbers(60).reshape(3, 4, 5), numbers(30).reshape(3, 2, 5), make_tensor((3, 4, 2))
    gemm(Tensor(a.ravel(), Layout((3, 4, 5), (20, 5, 1))), Tensor(b.ravel(), Layout((3, 2, 5), (10, 5, 1))), c)
    assert c.matrix().tolist() == np.einsum("vmk,vnk->vmn", a, b).tolist()


def test_conv_is_a_gemm_whose_strides_overlap() -> None:
    """(K, (C,T,R,S)) by ((N,Z,P,Q), (C,T,R,S)) to (K, (N,Z,P,Q)): the activations are read at the filter's place."""
    n, c, d, h, w, filters, t, r, s = 2, 3, 4, 5, 6, 2, 2, 3, 2
    act, weights = numbers(n * c * d * h * w).reshape(n, c, d, h, w), numbers(filters * c * t * r * s)
    z, p, q = d - t + 1, h - r + 1, w - s + 1
    reach = [int(x) // act.itemsize for x in act.strides]
    A = Tensor(weights, Layout((filters, (c, t, r, s)), (c * t * r * s, (t * r * s, r * s, s, 1))))
    B = Tensor(act.ravel(), Layout(((n, z, p, q), (c, t, r, s)), ((reach[0], *reach[2:]), tuple(reach[1:]))))
    C = make_tensor((filters, (n, z, p, q)))
    gemm(A, B, C)
    windows = np.lib.stride_tricks.sliding_window_view(act, (t, r, s), axis=(2, 3, 4))
    wanted = np.einsum("nczpqtrs,kctrs->knzpq", windows, weights.reshape(filters, c, t, r, s))
    assert C.matrix().tolist() == wanted.reshape(filters, -1, order="F").tolist()


def test_one_element_of_c_gets_all_sums() -> None:
    C = Tensor(np.array([100]), Layout((2, 3), (0, 0)))
    gemm(Tensor(np.ones(2, int), Layout((2, 1))), Tensor(np.arange(3), Layout((3, 1))), C)
    assert C.data[0] == 100 + 2 * (0 + 1 + 2)


@pytest.mark.parametrize(
    ("shapes", "said"),
    [
        (((4, 3), (5, 2), (4, 5)), "K is 3 and 2"),
        (((4, 3), (5, 3), (6, 5)), "M is 4 and 6"),
        (((4, 3), (5, 3), (4, 6)), "N is 5 and 6"),
        (((2, 4, 3), (1, 5, 3), (2, 4, 5)), "V is 2 and 1 and 2"),
        (((2, 4, 3), (5, 3), (4, 5)), "got 3, 2, 2"),
    ],
)
def test_a_gemm_whose_extents_differ_is_rejected(shapes: Any, said: str) -> None:
    with pytest.raises(LayoutError, match=said):
        gemm(*map(make_tensor, shapes))


def test_a_copy_of_other_size_is_rejected() -> None:
    with pytest.raises(LayoutError, match="6 to 8"):
        copy(make_tensor((2, 3)), make_tensor((2, 4)))
    with pytest.raises(LayoutError, match="under 4 predicates"):
        copy(make_tensor(6), make_tensor(6), make_tensor(4))
