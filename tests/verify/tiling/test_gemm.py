# SPDX-License-Identifier: Apache-2.0
"""The product through partitions and fragments alone: it finds masks dropped, strides swapped and parts exchanged."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from layouts import Layout, make_layout
from layouts.atoms import Atom, registry
from layouts.tiled import ThrMMA, TiledMMA, tiled_mma
from tests.verify.tiling.tilings import (
    F16,
    INTERLEAVED,
    PREPARE,
    TWO_BY_TWO,
    list_refuted,
    swap_strides,
    verdict,
    verify_tiling,
)
from verify.core.verdict import Status
from verify.evidence.isa import evaluate
from verify.evidence.layout_repair import with_strides
from verify.tiling import gemm
from verify.tiling.properties import (
    EQUALS,
    IN_BOUNDS,
    OWNERSHIP,
    PARTITION,
    PRODUCT,
)
from verify.tiling.spec import TilingSpec, permutation

F16_K8 = "SM80_16x8x8_F32F16F16F32_TN"


def leave_unmasked(mma: TiledMMA) -> Layout:
    """CUTLASS's get_layoutC_TV (#3612): the threads of atoms along K run on beyond the tile."""
    right = mma.layout_TV("C", Layout(mma.tile_shape("C")))
    shape, stride = right[0].shape, right[0].stride
    beyond = mma.tile_shape("C")[0] * mma.tile_shape("C")[1]
    assert isinstance(shape, tuple) and isinstance(stride, tuple)
    return make_layout(Layout(shape, (*stride[:-1], beyond)), right[1])


def test_the_mask_of_k_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TiledMMA, "layoutC_TV", property(leave_unmasked))
    case = verify_tiling(TilingSpec("museum 25", F16_K8, Layout((2, 2, 2))))
    assert list_refuted(case) == {("C", IN_BOUNDS), ("C", OWNERSHIP), ("C", EQUALS)}
    wrong = verdict(case, IN_BOUNDS, "C").counterexample
    assert wrong is not None and wrong.reproduced
    assert wrong.statement == "T128 V0 holds (m=0, n=16), outside 32x16"


def test_two_strides_swapped_in_b(monkeypatch: pytest.MonkeyPatch) -> None:
    """Still each element once, but not where the accumulators want it: the product and the definition differ."""
    monkeypatch.setattr(TiledMMA, "thrfrg", swap_strides)
    case = verify_tiling(TilingSpec("swapped", F16, TWO_BY_TWO, (None, 32, None)))
    assert list_refuted(case) == {("B", EQUALS), ("B", PARTITION), ("", PRODUCT)}
    evidence = verdict(case, EQUALS, "B").evidence
    assert [e.status for e in evidence] == [Status.REFUTED, Status.REFUTED]


def test_a_thread_that_takes_its_neighbours_part(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(mma: TiledMMA, thread: Any) -> ThrMMA:
        return SLICE(mma, np.where(np.asarray(thread) == 5, 4, thread))

    monkeypatch.setattr(TiledMMA, "get_slice", wrong)
    case = verify_tiling(TilingSpec("neighbour", F16, TWO_BY_TWO))
    assert {("A", PARTITION), ("B", PARTITION), ("C", PARTITION)} <= list_refuted(case)
    assert ("", PRODUCT) in list_refuted(case)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_parts_exchanged_along_one_axis(monkeypatch: pytest.MonkeyPatch, axis: int) -> None:
    """Both operands that have the axis go to the other atom: the product is right, the threads are not."""
    right, along = tiled_mma._fragment, {"A": (0, 2), "B": (1, 2), "C": (0, 1)}  # seam: a planted bug

    def wrong(mma: TiledMMA, operand: str, layout: Any, v: Any, place: Any) -> Any:
        turned = (1 - at if mode == axis else at for mode, at in zip(along[operand], place, strict=True))
        return right(mma, operand, layout, v, tuple(turned))

    monkeypatch.setattr(tiled_mma, "_fragment", wrong)  # seam: a planted bug
    case = verify_tiling(TilingSpec("exchanged", F16, Layout((2, 2, 2)), permutation(INTERLEAVED), (64, 64, 64)))
    assert list_refuted(case) == {(part, PARTITION) for part, axes in along.items() if axis in axes}


SLICE = TiledMMA.get_slice


def test_the_instructions_of_a_tiling_compute_by_the_isa_and_not_by_the_atom() -> None:
    """Were a wrong layout taken for the instruction too, its product would be right."""
    atom = registry()[F16]
    assert isinstance(atom, Atom)
    tiling = PREPARE(TilingSpec("planted", F16, TWO_BY_TWO), atom)
    for tiled in tiling.operands:
        assert tiled.part.layout is not None
        right = gemm.table(tiling, tiled)
        assert np.array_equal(right, evaluate(tiled.part.layout))
        wrong = replace(tiled, part=tiled.part.of_layout(with_strides(tiled.part.layout, [0] * 6)))
        assert np.array_equal(gemm.table(tiling, wrong), right)
        unspecified = replace(wrong, part=wrong.part._replace(formulas=()))
        assert not gemm.table(tiling, unspecified).any() and right.any()


def test_an_element_whose_copies_differ_in_one_tile_is_no_number() -> None:
    """Two threads hold the one element of an atom, which is repeated twice: [v, wM, wN, wK][frg, restX, restY]."""
    registers, where = np.array([[5.0, 6.0], [5.0, 6.0]]).reshape(2, 1, 1, 1, 1, 2, 1), np.zeros((2, 1), np.int64)
    tiled: Any = SimpleNamespace(part=SimpleNamespace(extent=(1, 1)))
    assert gemm.matrix_of(tiled, where, registers).ravel().tolist() == [5, 6]
    registers[1, ..., 1, 0] = 7
    assert np.isnan(gemm.matrix_of(tiled, where, registers)).all()
