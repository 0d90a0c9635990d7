# SPDX-License-Identifier: Apache-2.0
"""TiledCopy against its definition: how `ref` divides a tile, and which element the atom moves where."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from layouts import Layout, LayoutError, Swizzle, composition
from layouts.atoms import CopyAtom as Entry
from layouts.atoms import registry
from layouts.tensor import Tensor, copy, make_identity_tensor
from layouts.tiled import (
    TiledCopy,
    TiledCopyAtom,
    TiledMMA,
    make_tiled_copy,
    make_tiled_copy_A,
    make_tiled_copy_B,
    make_tiled_copy_C,
)
from tests.layouts.tiled.owners import table

F16 = "SM80_16x8x16_F32F16F16F32_TN"
MAKE = {"A": make_tiled_copy_A, "B": make_tiled_copy_B, "C": make_tiled_copy_C}


def move(bits: int = 32) -> TiledCopyAtom:
    """One thread moves one value."""
    bits_of = Layout((1, bits), (0, 1))
    return TiledCopyAtom(Layout(1, 0), bits_of, bits_of, bits_of, bits)


def in_values(bits_of: Layout, bits: int) -> np.ndarray:
    """[thread, value] -> the number of a value, from a layout over bits; the bits of a value are contiguous."""
    numbers = table(bits_of)
    groups = numbers.reshape(len(numbers), -1, bits)
    assert (groups == groups[..., :1] + np.arange(bits)).all() and not (groups[..., 0] % bits).any()
    return groups[..., 0] // bits


def compute_by_definition(tiled: TiledCopy, side: str) -> np.ndarray:
    """[thread, value, more values] -> index in the tile: the place where `ref` has the value of that number."""
    atom = tiled.atom
    ref, wanted = in_values(atom.ref, atom.bits), in_values(getattr(atom, side), atom.bits)
    home = {int(n): divmod(i, ref.shape[1]) for i, n in reversed([*enumerate(ref.ravel())])}
    whole = table(tiled.layout_tv)
    threads, values = (whole.shape[i] // ref.shape[i] for i in (0, 1))
    places = np.empty((threads, len(wanted), wanted.shape[1], values), dtype=np.int64)
    for (t, v), number in np.ndenumerate(wanted):
        there, which = home[int(number)]
        for again in range(threads):
            places[again, t, v] = whole[there + len(ref) * again, which :: ref.shape[1]]
    return places.reshape(threads * len(wanted), -1, values)


def agrees(tiled: TiledCopy) -> None:
    for side, got in (("src", tiled.layoutS_TV), ("dst", tiled.layoutD_TV)):
        wanted = compute_by_definition(tiled, side)
        points = got(np.arange(len(wanted))[:, None], np.arange(wanted[0].size))
        assert np.array_equal(points, wanted.reshape(len(wanted), -1, order="F")), side


CASES = [
    ("A", "SM75_U32x4_LDSM_N", (2, 2, 1), ()),
    ("A", "SM75_U32x4_LDSM_N", (2, 1, 2), (64, None, "(16,2,2):(1,32,16)")),
    ("A", "SM75_U32x2_LDSM_N", (1, 2, 1), ("(4,4,2):(1,8,4)",)),
    ("A", "SM75_U16x8_LDSM_T", (2, 2, 1), (32, 32, 16)),
    ("B", "SM75_U32x4_LDSM_N", (2, 2, 1), (None, 32)),
    ("B", "SM75_U32x2_LDSM_N", (2, 2, 1), ()),
    ("B", "SM75_U16x8_LDSM_T", (4, 1, 1), (None, "(8,2):(2,1)")),
    ("B", "SM75_U32x1_LDSM_N", (1, 1, 1), ()),
    ("C", "SM90_U32x4_STSM_N", (2, 2, 1), (None, 32)),
    ("C", "SM90_U32x2_STSM_N", (2, 2, 1), ()),
    ("C", "SM90_U16x4_STSM_T", (1, 2, 1), (32, "(8,2):(1,8)")),
]


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_matrix_moves_of_a_tiled_mma(case: Any) -> None:
    operand, name, atoms, permutation = case
    mma = TiledMMA(registry()[F16], atoms, permutation)
    tiled = MAKE[operand](TiledCopyAtom.of(registry()[name], 16), mma)
    agrees(tiled)
    shape = tuple(2 * x for x in mma.tile_shape(operand))
    origin = make_identity_tensor(shape)
    for t in range(0, mma.size, 7):
        own, thr = mma.get_slice(t).partition(operand, origin), tiled.get_slice(t)
        registers = thr.partition_S(origin) if operand == "C" else thr.partition_D(origin)
        seen = thr.retile_S(own) if operand == "C" else thr.retile_D(own)
        # The copy's registers are the fragment's: value by value the same element of the tile.
        assert seen.shape == registers.shape
        assert all(np.array_equal(a, b) for a, b in zip(seen.values(), registers.values(), strict=True))


def test_registered_copies_are_distributed_as_defined() -> None:
    seen = set()
    for atom in registry().values():
        if not isinstance(atom, Entry) or "tmem" in atom.space.values() or atom.known_defect:
            continue
        bits = atom.bits.get("Dst", 8)
        key = (atom.thr, *atom.operands.values(), bits)
        if key in seen or Layout.parse(atom.operands["Ref"]).shape == (1, 1):
            continue
        seen.add(key)
        copy = TiledCopyAtom.of(atom, bits)
        threads, values = in_values(copy.ref, bits).shape
        if len({*in_values(copy.ref, bits).ravel()}) < threads * values:
            continue  # `ref` has values twice: it does not divide a tile
        agrees(TiledCopy(copy, Layout((2 * threads, 2 * values), (2 * values, 1)), (4 * threads * values,)))
    assert len(seen) > 20


@given(st.tuples(*[st.integers(1, 4)] * 4), st.booleans(), st.booleans())
def test_threads_and_values_make_a_tile(extents: tuple[int, int, int, int], by_row: bool, values_by_row: bool) -> None:
    """The element (m, n) is value (m % vm, n % vn) of thread (m // vm, n // vn)."""
    tm, tn, vm, vn = extents
    threads = Layout((tm, tn), (tn, 1) if by_row else (1, tm))
    values = Layout((vm, vn), (vn, 1) if values_by_row else (1, vm))
    tiled = make_tiled_copy(move(), threads, values)
    assert tiled.shape == (tm * vm, tn * vn) and tiled.size == tm * tn
    for m in range(tm * vm):
        for n in range(tn * vn):
            thread, value = threads(m // vm, n // vn), values(m % vm, n % vn)
            assert tiled.layout_tv(thread, value) == tiled.layoutS_TV(thread, value) == m + tm * vm * n


@given(st.integers(1, 3), st.integers(1, 3))
def test_all_threads_together_copy_the_whole(x: int, y: int) -> None:
    tiled = make_tiled_copy(move(), Layout((4, 8), (8, 1)), Layout((2, 3)))
    shape = (8 * x, 24 * y)
    data = np.arange(shape[0] * shape[1])
    src, dst = Tensor(data, Layout(shape)), Tensor(np.zeros_like(data) - 1, Layout(shape, (shape[1], 1)))
    for t in range(tiled.size):
        thr = tiled.get_slice(t)
        copy(thr.partition_S(src), thr.partition_D(dst))
    assert np.array_equal(dst.matrix(), src.matrix())


def test_ldmatrix_reads_rows_of_swizzled_shared_memory() -> None:
    """Rows in, fragments out: the move, executed in numpy, gives each thread its fragment of the MMA."""
    mma = TiledMMA(registry()[F16], (2, 2, 1))
    atom = TiledCopyAtom.of(registry()["SM75_U32x4_LDSM_N"], 16)
    tiled = make_tiled_copy_A(atom, mma)
    plain = Layout((32, 16), (16, 1))
    shared = Tensor(np.arange(512) * 3, composition(Swizzle(1, 3, 3), plain))
    src, dst = in_values(atom.src, 16), in_values(atom.dst, 16)
    for warp in range(4):
        moved: dict[int, int] = {}
        for lane in range(32):
            part = tiled.get_slice(32 * warp + lane).partition_S(shared)
            row = part.indices()
            assert (np.diff(row) == 1).all() and row[0] % 8 == 0  # 16 bytes, aligned
            moved |= dict(zip(src[lane].tolist(), part.values().tolist(), strict=True))
        for lane in range(32):
            t = 32 * warp + lane
            wanted = mma.get_slice(t).partition_A(shared)
            assert [moved[int(n)] for n in dst[lane]] == tiled.retile(wanted).values().tolist()


def test_a_tiler_of_layouts_copies_separate_rows() -> None:
    tiled = TiledCopy(move(), Layout((4, 2), (1, 4)), (Layout(4, 2), 2))
    seen = {
        tiled.get_slice(t).partition_S(make_identity_tensor((8, 2)))[v, i, 0]
        for t in range(4)
        for v in (0, 1)
        for i in (0, 1)
    }
    assert seen == {(m, n) for m in range(8) for n in range(2)}
    first = tiled.get_slice(1).partition_S(make_identity_tensor((8, 2)))
    assert [first[v, i, 0] for i in (0, 1) for v in (0, 1)] == [(2, 0), (2, 1), (3, 0), (3, 1)]


LDSM = "SM75_U32x4_LDSM_N"


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (
            lambda: make_tiled_copy_B(TiledCopyAtom.of(registry()[LDSM], 16), TiledMMA(registry()[F16])),
            "4 values.* 8 would do",
        ),
        (
            lambda: TiledCopy(TiledCopyAtom.of(registry()[LDSM], 16), Layout((48, 8)), (48, 8)),
            "48 threads.* 64 would do",
        ),
        (lambda: TiledCopy(move(), Layout(8), (8,)), "has 1"),
        (lambda: TiledCopy(move(), Layout((8, 2)), (8, (2, 1))).shape, "an extent or a layout"),
        (lambda: TiledCopyAtom.of(registry()[LDSM], 48).values("src"), "48"),
        (lambda: TiledCopyAtom(Layout(2), *[Layout((1, 8), (0, 1))] * 3), "src = .* has 1 threads, thr = 2:1 has 2"),
        (lambda: make_tiled_copy(move(), Layout((4, 2), (1, 5))), "name each thread and value once"),
        (lambda: make_tiled_copy(move(), Layout((4, 8), (8, 2))), r"threads \(4,8\):\(8,2\) .* name each thread"),
        (
            lambda: make_tiled_copy(TiledCopyAtom("1:0", *["(1,2):(0,1)"] * 3), Layout((2, 2)), Layout((3, 2))),
            r"2 values cuts across the modes of \(\(2,2\),\(3,2\)\):\(\(3,12\),\(1,6\)\)",
        ),
        (lambda: make_tiled_copy(move(), Layout((4, 8))).get_slice(32), "thread 32 .* 0 .. 31"),
        (lambda: make_tiled_copy(move(), Layout((4, 8))).tidfrg_S(Layout((6, 8))), "6 of .* 4: 4 or 8 would do"),
        (lambda: make_tiled_copy(move(), Layout((4, 8))).tidfrg_D(Layout(4)), "less modes"),
        (
            lambda: make_tiled_copy_A(
                TiledCopyAtom.of(registry()[LDSM], 16), TiledMMA(registry()[F16], (), (32,))
            ).retile(Tensor(np.zeros(99), Layout((6, 2, 1)))),
            "blocks of 6",
        ),
    ],
    ids=range(13),
)
def test_numbers_that_do_not_fit_are_named(make: Any, said: str) -> None:
    with pytest.raises(LayoutError, match=said) as caught:
        make()
    assert "\n" not in str(caught.value)
