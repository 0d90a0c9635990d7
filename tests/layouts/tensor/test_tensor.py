# SPDX-License-Identifier: Apache-2.0
"""Tensors as views of storage, their tiles and partitions, against numpy's own indexing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from layouts import Layout, LayoutError, Swizzle, composition
from layouts.tensor import (
    Tensor,
    copy,
    inner_partition,
    local_partition,
    local_tile,
    make_identity_tensor,
    make_predicate,
    make_tensor,
    outer_partition,
    xor_layout,
)


def matrix(rows: int, columns: int) -> tuple[np.ndarray, Tensor]:
    """A row-major matrix of different numbers, and the tensor over the same storage."""
    data = np.arange(rows * columns) * 7 + 1
    return data.reshape(rows, columns), Tensor(data, Layout((rows, columns), (columns, 1)))


def test_a_view_shares_the_storage() -> None:
    array, whole = matrix(6, 8)
    row, column = whole[2, None], whole[None, 5]
    assert row.matrix().tolist() == array[2].tolist() and column.matrix().tolist() == array[:, 5].tolist()
    row[3] = -1
    assert array[2, 3] == whole[2, 3] == -1
    whole[None, 0] = 9
    assert (array[:, 0] == 9).all()
    assert whole[np.arange(6)[:, None], np.arange(8)].tolist() == array.tolist() == whole.matrix().tolist()


def test_views_of_views_through_a_swizzle() -> None:
    layout = composition(Swizzle(2, 1, 3), Layout((8, 8), (8, 1)))
    tensor = Tensor(np.arange(64), layout)
    for i in range(8):
        for j in range(8):
            assert tensor[i, None][j] == tensor[None, j][i] == tensor[i, j] == layout(i, j)
    assert tensor[3, None][None][4] == layout(3, 4)
    assert tensor.compose((Layout(2, 4), None)).matrix().tolist() == tensor.matrix()[[0, 4]].tolist()


def test_xor_strides_index_storage() -> None:
    tensor = Tensor(np.arange(64), xor_layout((8, 8), (9, 1)))
    assert [[tensor[i, j] for j in range(8)] for i in range(8)] == [
        [8 * i + (i ^ j) for j in range(8)] for i in range(8)
    ]
    assert tensor[5, None].values().tolist() == [40 + (5 ^ j) for j in range(8)]


@pytest.mark.parametrize(
    ("use", "said"),
    [
        (lambda: Tensor(np.zeros((2, 2)), Layout(4)), "of 2 dimensions"),
        (lambda: Tensor([1, 2], Layout(2)), "got list"),
        (lambda: Tensor(np.zeros(4), Layout((2, 2), (1, 4)))[1, 1], "has index 5 of storage that has 0 .. 3"),
        (lambda: Tensor(np.zeros(4), Layout(4, -1))[1], "has index -1"),
        (lambda: Tensor(np.zeros(4), Layout(8)).values(), "has index 7"),
        (lambda: make_identity_tensor((2, 2)).indices(), "has no storage"),
        (lambda: make_identity_tensor((2, 3)).matrix(), r"\(2,3\).*has no storage"),
        (lambda: make_identity_tensor((2, 2)).__setitem__((0, 0), 1), "storage to write to"),
        (lambda: make_identity_tensor((2, 2)).__setitem__((None, 0), 1), r"^\(2\).* has no storage"),
        (lambda: make_predicate(make_tensor((2, 2)), (2, 2)), "has storage"),
        (lambda: make_predicate(make_identity_tensor((2, 2)), (2, 2, 2)), "2 numbers against the bounds"),
        (lambda: local_partition(make_identity_tensor((4, 4)), Layout((2, 2)), 4), "index 4: they end at 3"),
        (lambda: local_tile(make_identity_tensor((4, 4)), (2, 2), (0, 0), (1, None, 1)), "projection"),
        (lambda: local_tile(make_identity_tensor((4, 4)), (2, 2, 2), (0, 0, 0)), "3 modes"),
    ],
)
def test_what_cannot_be_read_is_one_line(use: Any, said: str) -> None:
    with pytest.raises(LayoutError, match=said) as caught:
        use()
    assert "\n" not in str(caught.value)


@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 4), st.integers(1, 4), st.data())
def test_tiles_and_partitions_are_numpy_slices(m: int, n: int, x: int, y: int, data: st.DataObject) -> None:
    array, whole = matrix(m * x, n * y)
    i, j = data.draw(st.integers(0, x - 1)), data.draw(st.integers(0, y - 1))
    tile = array[i * m : (i + 1) * m, j * n : (j + 1) * n]
    assert inner_partition(whole, (m, n), (i, j)).matrix().tolist() == tile.tolist()
    assert inner_partition(whole, (m, n), i + x * j).matrix().tolist() == tile.tolist()
    row = inner_partition(whole, (m, n), (i,)).matrix()  # the tiles of a row, along a third mode
    assert row.tolist() == array[i * m : (i + 1) * m].reshape(m, y, n).transpose(0, 2, 1).tolist()
    p, q = data.draw(st.integers(0, m - 1)), data.draw(st.integers(0, n - 1))
    assert outer_partition(whole, (m, n), (p, q)).matrix().tolist() == array[p::m, q::n].tolist()
    assert local_partition(whole, Layout((m, n), (n, 1)), p * n + q).matrix().tolist() == array[p::m, q::n].tolist()


def test_tiles_of_a_vector() -> None:
    vector = Tensor(np.arange(12), Layout(12))
    for at in (2, (2,)):
        assert inner_partition(vector, 4, at).values().tolist() == [8, 9, 10, 11]
        assert outer_partition(vector, 4, at).values().tolist() == [2, 6, 10]
    assert inner_partition(vector, 4, ()).matrix().tolist() == np.arange(12).reshape(3, 4).T.tolist()
    with pytest.raises(LayoutError, match="has index 15"):
        inner_partition(vector, 4, 3).values()


def test_projections_pick_the_modes_that_a_tensor_has() -> None:
    tiler, at = (4, 6, 2), (1, 2, None)
    A, B, C = (make_identity_tensor(shape) for shape in ((8, 10), (18, 10), (8, 18)))
    assert local_tile(A, tiler, at, (1, None, 1))[3, 1, 4] == (7, 9)
    assert local_tile(B, tiler, at, (None, 1, 1))[5, 0, 2] == (17, 4)
    assert local_tile(C, tiler, at, (1, 1, None))[0, 3] == (4, 15)
    threads = Layout((2, 3, 1), (3, 1, 0))
    seen = [local_partition(A, threads, t, (1, None, 1))[0, 0] for t in range(6)]
    assert seen == [(t // 3, 0) for t in range(6)]  # the threads along n share what A has
    assert [local_partition(B, threads, t, (None, 1, 1))[0, 0] for t in range(6)] == [(t % 3, 0) for t in range(6)]


@pytest.mark.long
@given(st.integers(1, 13), st.integers(1, 13), st.integers(1, 5), st.integers(1, 5))
def test_ragged_sizes_are_padded_by_a_predicate(rows: int, columns: int, m: int, n: int) -> None:
    """Tile by tile through a zeroed buffer: numpy's padding, and nothing outside the matrix is touched."""
    array, whole = matrix(rows, columns)
    padded = np.zeros((-(-rows // m) * m, -(-columns // n) * n), dtype=int)
    for i in range(padded.shape[0] // m):
        for j in range(padded.shape[1] // n):
            where = local_tile(make_identity_tensor((rows, columns)), (m, n), (i, j))
            pred, buffer = make_predicate(where, (rows, columns)), make_tensor((m, n))
            copy(local_tile(whole, (m, n), (i, j)), buffer, pred)
            padded[i * m : (i + 1) * m, j * n : (j + 1) * n] = buffer.matrix()
    assert padded[:rows, :columns].tolist() == array.tolist()
    assert padded.sum() == array.sum()
