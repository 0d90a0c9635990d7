# SPDX-License-Identifier: Apache-2.0
"""Suggestions: the nearest atoms or permutation that have a TiledMMA, and none where nothing near has one."""

from dataclasses import replace

from layouts import Layout, LayoutError, size
from layouts.tiled import TiledMMA
from verify.tiling.spec import TilingSpec, atoms_layout, permutation
from verify.tiling.suggest import (
    builds,
    compact_layout,
    nearest_atoms,
    permutations_in_order,
    tiler_in_place,
)

SPEC = TilingSpec("mine", "SM80_16x8x16_F32F16F16F32_TN", atoms_layout("3,2"))


class Made:
    """In place of a TiledMMA: the threads of so many atoms."""

    def __init__(self, threads: int) -> None:
        self.size = threads


def only(*allowed: str) -> object:
    """A build that takes these atoms alone, without a permutation that reorders."""

    def build(spec: TilingSpec) -> TiledMMA:
        if str(spec.atoms_layout) not in allowed or any(isinstance(tiler, Layout) for tiler in spec.permutation):
            raise LayoutError("no TiledMMA")
        return Made(32 * size(spec.atoms_layout))  # type: ignore[return-value]

    return build


def test_strides_keep_their_order_and_leave_no_hole() -> None:
    assert str(compact_layout(Layout.parse("(2,3,1):(12,2,5)"))) == "(2,3,1):(3,1,0)"
    assert compact_layout(Layout((2, 2, 1))) == Layout((2, 2, 1))


def test_atoms_with_holes_are_straightened_first() -> None:
    spec = replace(SPEC, atoms_layout=Layout.parse("(3,2,1):(1,8,0)"))
    build = only("(3,2,1):(1,3,0)")
    assert nearest_atoms(spec, build) == (None, [Layout((3, 2, 1))])  # type: ignore[arg-type]


def test_else_another_count_along_the_axis_where_it_is_nearest() -> None:
    build = only("(2,2,1):(1,2,0)", "(4,2,1):(1,4,0)", "(3,7,1):(1,3,0)")
    assert nearest_atoms(SPEC, build) == (0, [Layout((2, 2, 1)), Layout((4, 2, 1))])  # type: ignore[arg-type]


def test_else_other_counts_along_several_axes_and_else_none() -> None:
    several = [Layout.parse("(2,1,1):(1,0,0)")]
    assert nearest_atoms(SPEC, only("(2,1,1):(1,0,0)")) == (None, several)  # type: ignore[arg-type]
    assert nearest_atoms(SPEC, only()) == (None, [])  # type: ignore[arg-type]


def test_more_threads_than_a_cta_has_are_no_suggestion() -> None:
    many = replace(SPEC, atoms_layout=atoms_layout("8,8"))
    assert not builds(many, only("(8,8,1):(1,8,0)"))  # type: ignore[arg-type]


def test_a_tiler_is_replaced_by_its_modes_in_order_or_by_its_extent() -> None:
    tiler = Layout.parse("(8,2):(1,32)")
    assert tiler_in_place(SPEC, 1, tiler, only()) == "16, in order,"  # type: ignore[arg-type]
    assert tiler_in_place(SPEC, 1, tiler, lambda _: Made(32)) == "(8,2):(1,8)"  # type: ignore[arg-type,return-value]


def test_fewest_layouts_of_a_permutation_are_replaced_first() -> None:
    spec = replace(SPEC, permutation=permutation("_,(8,2):(1,8),(4,4):(4,1)"))
    assert [axes for axes, _ in permutations_in_order(spec)][:2] == [(1,), (2,)]
    assert dict(permutations_in_order(spec))[1, 2] == (None, 16, 16)
