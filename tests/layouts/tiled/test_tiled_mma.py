# SPDX-License-Identifier: Apache-2.0
"""TiledMMA against its definition, element by element, and a GEMM through fragments alone against numpy."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from layouts import Layout, LayoutError, Swizzle, composition
from layouts.atoms import Atom, registry
from layouts.tensor import Tensor, copy, gemm, local_tile, make_identity_tensor, make_predicate, make_tensor
from layouts.tiled import MmaAtom, ThrMMA, TiledMMA
from layouts.tiled.tiled_mma import AXES
from tests.layouts.tiled import owners

FMA = "UniversalFMA<float,float,float,float>"
F16 = "SM80_16x8x16_F32F16F16F32_TN"
SOME = (
    FMA,
    F16,
    "SM61_DP4A",
    "SM70_8x8x4_F32F16F16F32_NN",
    "SM70_8x8x4_F16F16F16F16_TN",
    "SM80_16x8x8_F32TF32TF32F32_TN",
    "SM80_16x8x32_S32S8S8S32_TN",
    "SM80_8x8x4_F64F64F64F64_TN",
    "SM90_16x8x16_F64F64F64F64_TN",
    "SM89_16x8x32_F32E4M3E4M3F32_TN",
)


def distinct(operand: str) -> list[str]:
    """One registered atom for each layout of an operand."""
    by_layout: dict[Any, str] = {}
    for name, atom in registry().items():
        if isinstance(atom, Atom) and atom.known_defect is None:
            extents = tuple(atom.shape[axis] for axis in owners.AXES[operand])
            by_layout.setdefault((extents, atom.thr, atom.operands[operand]), name)
    return list(by_layout.values())


def shuffle(extent: int, parts: list[int], order: list[int]) -> Layout:
    """A layout that lists 0 .. extent-1 in another order: the modes `parts`, weighted in another order of them."""
    strides, before = [0] * len(parts), 1
    for i in order:
        strides[i] = before
        before *= parts[i]
    assert before == extent
    return Layout(tuple(parts), tuple(strides))


@st.composite
def tilings(draw: st.DrawFn, names: tuple[str, ...] = SOME) -> tuple[TiledMMA, Any]:
    """A tiled MMA and its definition: atoms in any order, a permutation of each kind in each mode."""
    atom = MmaAtom.of(registry()[draw(st.sampled_from(names))])
    counts = draw(st.tuples(*[st.sampled_from([1, 2, 4] if len(owners.values(atom.thr)) < 9 else [1, 2])] * 3))
    order = draw(st.sampled_from([*permutations(range(3))]))
    strides, before = [0, 0, 0], 1
    for axis in order:
        strides[axis] = before
        before *= counts[axis]
    tilers: list[Any] = []
    orders: list[Any] = []
    for m, count in zip(atom.shape, counts, strict=True):
        times = draw(st.integers(1, 3))
        kind = draw(st.sampled_from(["none", "number", "layout"]))
        if kind == "layout":
            parts = [m, count, times]
            layout = shuffle(m * count * times, parts, draw(st.permutations(range(3))))
            tilers.append(layout)
            orders.append(owners.values(layout))
        else:
            tilers.append(None if kind == "none" else m * count * times)
            orders.append(tilers[-1])
    mma = TiledMMA(atom, Layout(counts, tuple(strides)), tuple(tilers))
    return mma, owners.define(atom, owners.bases(atom, counts, tuple(strides)), orders)


def extents(mma: TiledMMA, operand: str, times: tuple[int, int]) -> tuple[int, int]:
    x, y = mma.tile_shape(operand)
    return x * times[0], y * times[1]


@pytest.mark.slow
@pytest.mark.parametrize("operand", "ABC")
def test_every_registered_atom_is_distributed_as_defined(operand: str) -> None:
    for name in distinct(operand):
        atom = MmaAtom.of(registry()[name])
        counts = (2, 1, 2)
        mma = TiledMMA(atom, counts, (2 * 2 * atom.shape[0], None, None))
        definition = owners.define(atom, owners.bases(atom, counts, (1, 2, 2)), (2 * 2 * atom.shape[0], None, None))
        x, _ = shape = mma.tile_shape(operand)
        tv = getattr(mma, f"layout{operand}_TV")
        got = tv(np.arange(mma.size)[:, None], np.arange(owners.values(tv[1]).size))
        for thread, own in definition.fragments(operand, shape).items():
            wanted = own[..., 0] + x * own[..., 1]
            assert np.array_equal(got[thread], wanted.ravel(order="F")), (name, thread)


@pytest.mark.long
@given(tilings(), st.tuples(st.integers(1, 2), st.integers(1, 2)), st.sampled_from("ABC"))
def test_partitions_are_the_definition(tiling: Any, times: tuple[int, int], operand: str) -> None:
    mma, definition = tiling
    shape = extents(mma, operand, times)
    fragments = definition.fragments(operand, shape)
    for thread in sorted(fragments)[:: max(1, len(fragments) // 16)]:
        part = mma.get_slice(thread).partition(operand, make_identity_tensor(shape))
        wanted = fragments[thread]
        assert [part.layout[i].shape for i in range(3)] == [*mma.partition_shape(operand, shape)]
        assert [int(np.prod(owners.flat(mode))) for mode in part.shape] == [*wanted.shape[:3]]
        x, y = part.values()
        assert np.array_equal(x, wanted[..., 0].ravel(order="F")), thread
        assert np.array_equal(y, wanted[..., 1].ravel(order="F")), thread


@pytest.mark.long
@given(tilings(), st.sampled_from("ABC"))
def test_tv_layouts_are_the_partitions_of_all_threads(tiling: Any, operand: str) -> None:
    mma, definition = tiling
    shape = mma.tile_shape(operand)
    tv = getattr(mma, f"layout{operand}_TV")
    got = tv(np.arange(mma.size)[:, None], np.arange(owners.values(tv[1]).size))
    assert got.min() == 0 and got.max() < shape[0] * shape[1]
    for thread, own in definition.fragments(operand, shape).items():
        assert np.array_equal(got[thread], (own[..., 0] + shape[0] * own[..., 1]).ravel(order="F"))


def through_fragments(mma: TiledMMA, definition: Any, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A @ B.T: threads load fragments, atoms multiply those of their threads, threads add up their parts of C."""
    tensors = {x: Tensor(data.T.ravel(), Layout(data.shape)) for x, data in (("A", a), ("B", b))}
    tensors["C"] = make_tensor((a.shape[0], b.shape[0]))
    fragments: dict[tuple[str, int], Tensor] = {}
    threads = sorted(int(t + base) for t in definition.thr for base in definition.base.ravel())
    for t in threads:
        thr = mma.get_slice(t)
        for x, tensor in tensors.items():
            part = thr.partition(x, tensor)
            fragments[x, t] = make_tensor(part.shape)
            copy(part, fragments[x, t])
    m, n, k = definition.shape
    extent = {"A": (m, k), "B": (n, k), "C": (m, n)}
    for place in np.ndindex(*definition.base.shape):
        lanes = [int(t + definition.base[place]) for t in definition.thr]
        steps = [fragments[x, lanes[0]].matrix().shape for x in "AB"]
        for i, j, step in np.ndindex(steps[0][1], steps[1][1], steps[0][2]):
            matrices = {}
            for x, rest in (("A", (i, step)), ("B", (j, step))):
                matrices[x] = np.zeros(extent[x], dtype=np.int64)
                for v, t in enumerate(lanes):
                    at = definition.tables[x][v]
                    matrices[x][at % extent[x][0], at // extent[x][0]] = fragments[x, t].matrix()[:, *rest]
            product = matrices["A"] @ matrices["B"].T
            for v, t in enumerate(lanes):
                at = definition.tables["C"][v]
                fragments["C", t][np.arange(len(at)), i, j] += product[at % m, at // m]
    for t in threads:  # atoms along k have partial sums of the same elements
        part = mma.get_slice(t).partition_C(tensors["C"])
        np.add.at(part.data, part.indices(), fragments["C", t].values())
    return tensors["C"].matrix()


@pytest.mark.slow
@settings(max_examples=25)
@given(tilings(), st.tuples(*[st.integers(1, 2)] * 3), st.integers(0, 2**31))
def test_a_gemm_through_fragments_is_matmul(tiling: Any, times: tuple[int, int, int], seed: int) -> None:
    mma, definition = tiling
    m, n, k = (t * x for t, x in zip(times, mma.shape_mnk, strict=True))
    if m * n * k > 64**3:
        m, n, k = mma.shape_mnk
    rng = np.random.default_rng(seed)
    a, b = rng.integers(-9, 10, (m, k)), rng.integers(-9, 10, (n, k))
    assert np.array_equal(through_fragments(mma, definition, a, b), a @ b.T)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["SS", "RS"])
def test_warpgroups_read_shared_memory_whole(kind: str) -> None:
    atom = MmaAtom.of(registry()[f"SM90_64x32x16_F32F16F16_{kind}"])
    mma = TiledMMA(atom, (2, 1, 1))
    definition = owners.define(atom, owners.bases(atom, (2, 1, 1), (1, 2, 2)))
    assert mma.size == 256
    assert atom.memory == ({"A", "B"} if kind == "SS" else {"B"})
    tile = Tensor(np.arange(32 * 32), Layout((32, 32)))
    part = mma.get_slice(77).partition_B(tile)
    assert mma.get_slice(77).make_fragment_B(part) is part
    seen = [*part[np.arange(512), 0, 0], *part[np.arange(512), 0, 1]]
    assert sorted(seen) == [*range(1024)]  # every thread sees the whole tile
    rng = np.random.default_rng(3)
    a, b = rng.integers(-9, 10, (128, 16)), rng.integers(-9, 10, (32, 16))
    assert np.array_equal(through_fragments(mma, definition, a, b), a @ b.T)


def test_fragments_of_a_and_b_follow_memory_and_accumulators_do_not() -> None:
    """CuTe: make_fragment_A and _B are make_fragment_like, make_fragment_C is compact in its own order."""
    thr = TiledMMA(registry()["SM80_16x8x16_F32F16F16F32_TN"], (2, 2, 1)).get_slice(0)
    row_major = Tensor(None, Layout((128, 64), (64, 1)))
    assert str(thr.make_fragment_A(thr.partition_A(row_major))) == "((2,2,2),4,4):((1,2,4),32,8)"
    assert str(thr.make_fragment_C(thr.partition_C(row_major))) == "((2,2),4,4):((1,2),4,16)"


def test_a_letter_that_is_no_operand_is_named() -> None:
    mma = TiledMMA(registry()["SM80_16x8x16_F32F16F16F32_TN"])
    tensor = Tensor(None, Layout((16, 16)))
    for ask in (mma.tile_shape, mma.atom.operand, lambda x: mma.get_slice(0).partition(x, tensor),
                lambda x: mma.get_slice(0).make_fragment(x, tensor), lambda x: mma.thrfrg(x, tensor.layout),
                lambda x: mma.layout_TV(x, tensor.layout), lambda x: mma.partition_shape(x, (16, 16))):  # fmt: skip
        with pytest.raises(LayoutError, match=r"'D' isn't an operand of .*: A, B, C are"):
            ask("D")


def test_all_threads_at_once_have_the_views_of_each() -> None:
    mma = TiledMMA(registry()["SM80_16x8x16_F32F16F16F32_TN"], (2, 2, 1), (None, "(8,2,2):(1,16,8)"))
    threads = np.arange(mma.size)[:, None]
    for data, layout in ((None, Layout((64, 64), (64, 1))), (np.arange(4096) * 3, Layout((64, 64)))):
        rows = mma.get_slice(threads).partition_C(Tensor(data, layout)).values()
        alone = [mma.get_slice(t).partition_C(Tensor(data, layout)).values() for t in range(mma.size)]
        assert np.array_equal(rows, np.stack(alone))
    with pytest.raises(LayoutError, match=r"thread 128 of a tiled MMA with the threads 0 .. 127"):
        mma.get_slice(threads + 1)


@pytest.mark.long
def test_simt_threads_multiply_fragments_with_the_generic_gemm() -> None:
    """With one value per atom, (V, M, K) by (V, N, K) fragments are a product of their own."""
    mma = TiledMMA(registry()[FMA], "(16,16,1):(16,1,0)", ("(16,4):(4,1)", "(16,4):(4,1)"))
    rng = np.random.default_rng(5)
    a, b = rng.integers(-9, 10, (128, 8)), rng.integers(-9, 10, (128, 8))
    A, B, C = (
        Tensor(a.ravel(), Layout(a.shape, (8, 1))),
        Tensor(b.ravel(), Layout(b.shape, (8, 1))),
        make_tensor((128, 128)),
    )
    for t in range(mma.size):
        thr = mma.get_slice(t)
        parts = [thr.partition_A(A), thr.partition_B(B), thr.partition_C(C)]
        fragments = [thr.make_fragment(x, part) for x, part in zip("ABC", parts, strict=True)]
        copy(parts[0], fragments[0])
        copy(parts[1], fragments[1])
        gemm(*fragments)
        copy(fragments[2], parts[2])
    assert np.array_equal(C.matrix(), a @ b.T)


def piece(thr: ThrMMA, operand: str, whole: Tensor, at: tuple[int, ...], sizes: tuple[int, ...]) -> tuple[Any, Any]:
    """A thread's part of the tile at (m, n, k), which may go beyond (M, N, K), and what of it is inside."""
    axes = AXES[operand]
    proj = tuple(1 if axis in axes else None for axis in range(3))
    bounds = tuple(sizes[axis] for axis in axes)
    tile, where = (local_tile(t, thr.mma.shape_mnk, at, proj) for t in (whole, make_identity_tensor(bounds)))
    return thr.partition(operand, tile), make_predicate(thr.partition(operand, where), bounds)


@pytest.mark.long
@pytest.mark.parametrize("sizes", [(8, 8, 4), (9, 17, 5), (3, 2, 1), (16, 7, 10)])
def test_a_ragged_product_is_that_of_padded_tiles(sizes: tuple[int, int, int]) -> None:
    """Sizes that no tile divides: what is outside is not read, counts as zero, and is not written."""
    M, N, K = sizes
    mma = TiledMMA(registry()[FMA], "(2,4,1):(4,1,0)", ("(2,2):(2,1)", "(4,2):(2,1)", 4))
    tiles = [-(-extent // step) for extent, step in zip(sizes, mma.shape_mnk, strict=True)]
    rng = np.random.default_rng(sum(sizes))
    a, b = rng.integers(-9, 10, (M, K)), rng.integers(-9, 10, (N, K))
    A, B, C = (Tensor(x.ravel(), Layout(x.shape, (x.shape[1], 1))) for x in (a, b, np.zeros((M, N), int)))
    for t, m, n in np.ndindex(mma.size, tiles[0], tiles[1]):
        thr = mma.get_slice(t)
        out, inside = piece(thr, "C", C, (m, n, 0), sizes)
        sums = thr.make_fragment_C(out)
        for k in range(tiles[2]):
            fragments = []
            for operand, whole in (("A", A), ("B", B)):
                source, there = piece(thr, operand, whole, (m, n, k), sizes)
                fragments.append(thr.make_fragment(operand, source))
                copy(source, fragments[-1], there)
            gemm(*fragments, sums)
        copy(sums, out, inside)
    assert np.array_equal(C.matrix(), a @ b.T)


def test_museum_25_threads_of_atoms_along_k_stay_in_the_tile() -> None:
    """CuTe's get_layoutC_TV of (2,2,2) atoms leaves the tile: here they have the view of the first of them."""
    mma = TiledMMA(registry()[F16], (2, 2, 2))
    got = mma.layoutC_TV(np.arange(256)[:, None], np.arange(4))
    assert got.max() == 32 * 16 - 1
    assert np.array_equal(got[:128], got[128:])
    for t in (3, 100, 131, 228):
        part = mma.get_slice(t).partition_C(Tensor(np.arange(512), Layout((32, 16))))
        assert np.array_equal(part.values(), got[t])


@pytest.mark.parametrize(("operand", "copies"), [("A", 2), ("B", 4), ("C", 3)])
def test_each_element_has_a_place_for_each_atom_that_shares_it(operand: str, copies: int) -> None:
    mma = TiledMMA(registry()[F16], (4, 2, 3))
    tv = getattr(mma, f"layout{operand}_TV")
    counts = np.bincount(tv(np.arange(mma.size)[:, None], np.arange(owners.values(tv[1]).size)).ravel())
    assert set(counts) == {copies}


def test_a_quadpair_alone_leaves_lanes_idle() -> None:
    mma = TiledMMA(registry()["SM70_8x8x4_F32F16F16F32_TN"])
    assert mma.size == 32 and str(mma.thr_layout_vmnk) == "((4,2),1,1,1):((1,16),0,0,0)"
    for t in range(32):
        assert mma.get_slice(t).v == t % 4 + 4 * (t // 16)
    assert TiledMMA(registry()["SM70_8x8x4_F32F16F16F32_TN"], (2, 2, 1)).size == 32


def test_a_swizzled_tile_is_partitioned_as_the_plain_one() -> None:
    mma = TiledMMA(registry()[F16], (2, 2, 1), (32, 32, 16))
    plain = Layout((64, 64), (64, 1))
    swizzle = Swizzle(3, 3, 3)
    for t in (0, 37, 127):
        thr, data = mma.get_slice(t), np.arange(4096)
        straight = thr.partition_A(Tensor(data, plain)).values()
        swizzled = thr.partition_A(Tensor(data, composition(swizzle, plain))).values()
        assert np.array_equal(swizzled, swizzle(straight))


def test_more_modes_are_rests_of_their_own() -> None:
    """A pipeline's stages, (M, K, stage), pass through."""
    part = TiledMMA(registry()[F16]).get_slice(9).partition_A(make_identity_tensor((32, 32, 3)))
    assert [part[0, 0, 0, s][2] for s in range(3)] == [0, 1, 2] and len(part) == 4


@pytest.mark.parametrize(
    ("atoms", "same"),
    [("2,2,1", (2, 2, 1)), ("(2,2)", (2, 2, 1)), ("(2,2,1):(1,2,0)", Layout((2, 2, 1)))],
)
def test_atoms_may_be_text(atoms: str, same: Any) -> None:
    assert TiledMMA(registry()[F16], atoms) == TiledMMA(registry()[F16], same)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda a: TiledMMA(a, (2, 2, 1), (48,)), "48 elements of M .* the 32 that the atoms cover: 32 or 64 would do"),
        (lambda a: TiledMMA(a, (2, 2, 1), (None, 8)), "8 elements of N .* the 16 that the atoms cover: 16 would do"),
        (lambda a: TiledMMA(a, (1, 1, 1), ("(8,2):(4,2)",)), r"\(8,2\):\(4,2\) of M does not cover 0 .. 15"),
        (lambda a: TiledMMA(a, (1, 1, 1), ("(4,4):(1,2)",)), r"\(4,4\):\(1,2\) of M does not cover"),
        (lambda a: TiledMMA(a, (1, 1, 1), (0,)), "at least 1"),
        (lambda a: TiledMMA(a, (1, 1, 1), (16, 8, 16, 4)), "permutation of 4 modes"),
        (lambda a: TiledMMA(a, (2, 2, 1, 2)), "have 4 modes"),
        (lambda a: TiledMMA(a, (2, 0, 1)), "at least 1"),
        (lambda a: TiledMMA(a, "2,x"), "column 4"),
        (lambda a: TiledMMA(a, "(2,2,1):(1,1,0)"), "atoms"),
        (lambda a: TiledMMA(a, "(2,2,1):(1,3,0)"), "atoms"),
        (lambda a: TiledMMA(a, (2, 2, 1)).thrfrg_A(Layout((100, 32))), "M = 100 of A .* 32: 96 or 128 would do"),
        (lambda a: TiledMMA(a, (2, 2, 1)).thrfrg_B(Layout((16, 20))), "K = 20 of B .* 16: 16 or 32 would do"),
        (lambda a: TiledMMA(a, (2, 2, 1)).thrfrg_C(Layout((8, 16))), "M = 8 of C .* 32: 32 would do"),
        (lambda a: TiledMMA(a).thrfrg_C(Layout(256)), "C needs two modes, M and N, got 256:1"),
        (lambda a: TiledMMA(a).get_slice(32), "thread 32 .* 0 .. 31"),
        (lambda a: TiledMMA(a).get_slice(-1), "thread -1"),
        (lambda a: TiledMMA(registry()["SM80_16x8x128_S32U1U1S32_TN_XORPOPC"]), "profile"),
        (lambda a: MmaAtom((16, 8, 16), Layout(16), *"ABC"), "expected an integer"),
        (lambda a: MmaAtom((16, 8), Layout(32), a.A, a.B, a.C), "three extents"),
        (lambda a: MmaAtom((16, 8, 16), Layout(16), a.A, a.B, a.C), "A = .* has 32 threads, thr = 16:1 has 16"),
        (lambda a: MmaAtom((16, 8, 16), Layout(32), Layout(256), a.B, a.C), "has 1 modes"),
    ],
    ids=range(22),
)
def test_numbers_that_do_not_fit_are_named(make: Any, said: str) -> None:
    with pytest.raises(LayoutError, match=said) as caught:
        make(MmaAtom.of(registry()[F16]))
    assert "\n" not in str(caught.value)


def test_a_ctas_tile_is_partitioned() -> None:
    """benchmarks/tiling.py measures how long it takes."""
    mma = TiledMMA(registry()[F16], (2, 4, 1), (32, "(4,8,2):(1,8,4)", 16))
    for operand, shape in (("A", (128, 32)), ("B", (128, 32)), ("C", (128, 128))):
        tv = mma.layout_TV(operand, Layout(shape))
        assert tv(np.arange(256)[:, None], np.arange(owners.values(tv[1]).size)).shape[0] == 256
