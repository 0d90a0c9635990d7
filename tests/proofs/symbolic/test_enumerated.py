# SPDX-License-Identifier: Apache-2.0
"""Enumerating small layouts finds bugs that paths of flat layouts of rank 1 and 2 miss: each is planted and found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import layouts
from layouts import Layout, LayoutError, make_layout
from layouts.layout import trust_layout
from proofs.symbolic.enumerated import LAWS, enumerate_cases
from proofs.symbolic.execution import ours
from tests.proofs.planted import plant_bugs

pytestmark = pytest.mark.slow

TRIVIAL = trust_layout(1, 0)


@pytest.mark.parametrize("function", LAWS)
def test_ours_keeps_its_definitions(function: str) -> None:
    examined = enumerate_cases(ours(), function)
    assert (examined.wrong, examined.faults) == (0, ())
    assert 1000 < examined.cases > 2 * examined.refused


def _coalesce_keeps_ones(a: Layout) -> Layout:
    return layouts.flatten(a)


def _coalesce_wrong_at_rank_3(a: Layout) -> Layout:
    return TRIVIAL if len(a) == 3 and a.shape[1] == 1 else layouts.coalesce(a)  # type: ignore[index]


def _coalesce_wrong_when_nested(a: Layout) -> Layout:
    return TRIVIAL if layouts.depth(a.shape) > 1 else layouts.coalesce(a)


def _coalesce_of_none(a: Layout) -> None:
    return None


def _coalesce_slips(a: Layout) -> Layout:
    return layouts.coalesce(list(a)[a.shape] if a.shape == 3 else a)


def _coalesce_changes(a: Layout) -> Layout:
    result = layouts.coalesce(a)
    object.__setattr__(a, "shape", 1)
    return result


def _composition_wrong_when_nested(a: Layout, b: Layout) -> Layout:
    composed = layouts.composition(a, b)
    return trust_layout(composed.shape, _zero(composed.stride)) if layouts.depth(b.shape) > 1 else composed


def _zero(tree: Any) -> Any:
    return tuple(map(_zero, tree)) if isinstance(tree, tuple) else 0


def _composition_flat(a: Layout, b: Layout) -> Layout:
    return layouts.flatten(layouts.composition(a, b))


def _complement_too_far(a: Layout, target: int) -> Layout:
    return layouts.complement(a, target + max(s * d for s, d in _modes(a)))


def _complement_too_short(a: Layout, target: int) -> Layout:
    return layouts.complement(a, max(1, target - 1))


def _modes(a: Layout) -> list[tuple[int, int]]:
    return list(zip(layouts.leaves(a.shape), layouts.leaves(a.stride), strict=True))


def _finds_nothing(a: Layout) -> Layout:
    return TRIVIAL


def _rejects(*arguments: object) -> Layout:
    raise LayoutError("no")


def _divide_rejects_adjacent(a: Layout, tiler: Layout) -> Layout:
    if tiler.stride == 1:
        raise LayoutError("no")
    return layouts.logical_divide(a, tiler)


def _ends(a: Layout) -> Layout:
    raise SystemExit(0)


def _divide_turned(a: Layout, tiler: Layout) -> Layout:
    first, second = layouts.logical_divide(a, tiler)
    return make_layout(second, first)


def _divide_one_tile(a: Layout, tiler: Layout) -> Layout:
    return make_layout(layouts.logical_divide(a, tiler)[0], TRIVIAL)


def _product_turned(a: Layout, tiler: Layout) -> Layout:
    first, second = layouts.logical_product(a, tiler)
    return make_layout(second, first)


def _product_in_place(a: Layout, tiler: Layout) -> Layout:
    return make_layout(a, tiler)


def _product_backwards(a: Layout, tiler: Layout) -> Layout:
    first, second = layouts.logical_product(a, tiler)
    return make_layout(
        first, Layout((2, 2), (second.stride[1], second.stride[0])) if second.shape == (2, 2) else second
    )  # type: ignore[index]


@pytest.mark.parametrize(
    ("function", "wrong", "expected"),
    [
        ("coalesce", _coalesce_keeps_ones, "will do"),
        ("coalesce", _coalesce_wrong_at_rank_3, "size 1 for"),
        ("coalesce", _coalesce_wrong_when_nested, "size 1 for"),
        ("coalesce", _coalesce_of_none, "coalesce(1:0) -> None, which isn't a layout"),
        ("coalesce", _coalesce_slips, "coalesce(3:0) raises IndexError"),
        ("coalesce", _coalesce_changes, "changes its argument"),
        ("coalesce", _rejects, "coalesce(1:0) is rejected (LayoutError: no)"),
        ("coalesce", _ends, "raises SystemExit: 0"),
        ("composition", _composition_wrong_when_nested, "A(B("),
        ("composition", _composition_flat, "not compatible with B's"),
        ("composition", _rejects, "is rejected"),
        ("complement", _complement_too_far, "cover the cotarget"),
        ("complement", _complement_too_short, "is no A(i) + R(j)"),
        ("complement", _rejects, "is rejected"),
        ("right_inverse", _finds_nothing, "it finds 1 of the values"),
        ("right_inverse", _rejects, "is rejected"),
        ("left_inverse", _finds_nothing, "takes a value twice"),
        ("left_inverse", _rejects, "is rejected"),
        ("logical_divide", _divide_turned, "its first mode has not the shape of the tiler"),
        ("logical_divide", _divide_one_tile, "is none of R's"),
        ("logical_divide", _rejects, "is rejected"),
        ("logical_divide", _divide_rejects_adjacent, "is rejected"),
        ("logical_product", _product_turned, "its first mode is not the block"),
        ("logical_product", _product_in_place, "two coordinates have one value"),
        ("logical_product", _product_backwards, "its copies do not follow one another"),
        ("logical_product", _rejects, "is rejected"),
    ],
)
def test_a_planted_bug_is_found(function: str, wrong: Callable[..., Any], expected: str) -> None:
    examined = enumerate_cases(plant_bugs(**{function: wrong}), function)
    assert examined.wrong
    assert any(expected in fault for fault in examined.faults), examined.faults
