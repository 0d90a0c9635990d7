# SPDX-License-Identifier: Apache-2.0
"""The counterexamples of maps in words, however they were found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from layouts.arrays import np
from verify.core.verdict import Counterexample
from verify.core.wording import SHOWN, Some, box, describe, list_elements, owners
from verify.maps.map import Array, Map, Point

STEP = 1 << 18  # places that are looked at together


def inputs_of(m: Map, point: Point) -> dict[str, int]:
    """Return the coordinates of an input, by their names."""
    return {axis.word: c for axis, c in zip(m.inputs, point, strict=True)}


def leaves_the_tile(m: Map, count: int, point: Point, image: Point) -> Counterexample:
    """Return the counterexample of `in_bounds`: how many images are outside, and the first of them."""
    tile = "x".join(str(axis.extent) for axis in m.outputs)
    return Counterexample(
        inputs_of(m, point),
        f"{m.show_input(point)} {m.has} {m.show(image)}, outside {tile}",
        extent="unique" if count == 1 else "smallest",
        damage=(f"{count} of {len(m)} points fall outside",),
        unique=count == 1,
    )


class OwnerCounts(NamedTuple):
    """The elements of a tile that have too few owners or too many, and the first of both."""

    elements: int  # of the tile
    few: int  # with too few owners
    where: str = ""  # those, in words
    first: Point = ()  # of those
    has: int = 0  # its owners
    extra: int = 0  # owners that are too many
    crowded: Point = ()  # the element with too many owners whose first owner is the smallest
    both: tuple[Point, ...] = ()  # its first two


def wrong_owners(m: Map, copies: int, counted: OwnerCounts) -> Counterexample | None:
    """Return the counterexample of `ownership`: the first element with too many owners, or else too few."""
    damage: tuple[str, ...] = ()
    if counted.few:
        lacking = "no owner" if copies == 1 else f"fewer than {copies} owners"
        damage = (f"{counted.few} of {counted.elements} elements have {lacking}{counted.where}",)
    if counted.extra:
        first, second = counted.both
        inputs = {**inputs_of(m, first), **{f"other {name}": c for name, c in inputs_of(m, second).items()}}
        owners_of = f"{m.show_input(first)} and {m.show_input(second)}"
        both = f"{owners_of} both {m.have} {m.show(counted.crowded)}"
        extent = "the only collision" if counted.extra == 1 else f"smallest of {counted.extra} collisions"
        return Counterexample(inputs, both, extent=extent, damage=damage, unique=counted.extra == 1)
    if counted.few:
        return Counterexample(
            {axis.word: c for axis, c in zip(m.outputs, counted.first, strict=True)},
            f"{m.show(counted.first)} has {owners(counted.has)}, {copies} wanted",
            damage=damage,
        )
    return None


def no_owner(m: Map, element: Point) -> Counterexample:
    """Return the counterexample of `right_inverse`: the first element without an owner."""
    return Counterexample({}, f"{m.show(element)} has no owner")


def not_undone(m: Map, element: Point, strays: Sequence[Point], counts: tuple[int, int]) -> Counterexample:
    """Return the counterexample of an inverse: the element, the inputs that it claims in vain, (how many, of all)."""
    says, (count, elements) = "has no lane and value", counts
    if strays:
        has = " and ".join(map(m.show, m.at(*strays[0]))) or "no element"
        says = f"is said to be {m.show_input(strays[0])}, which has {has}"
    return Counterexample(
        {axis.word: c for axis, c in zip(m.outputs, element, strict=True)},
        f"{m.show(element)} {says}",
        extent="unique" if count == 1 else "smallest",
        damage=(f"{count} of {elements} elements disagree",),
        unique=count == 1,
    )


def unequal(
    m: Map,
    wanted: Map,
    name: str,
    point: Point,
    belongs: Sequence[Point],
    counts: tuple[int, int],
) -> Counterexample:
    """Return the counterexample of `equals`: the first point, the input of its image, and (how many, of all)."""
    got, right = (" and ".join(map(side.show, side.at(*point))) or "no element" for side in (m, wanted))
    owner = f"; {m.show(m.at(*point)[0])} belongs to {m.show_input(belongs[0])}" if belongs else ""
    count, points = counts
    return Counterexample(
        inputs_of(m, point),
        f"{m.show_input(point)}: {m.noun} {got}, {name} {right}{owner}",
        extent="unique" if count == 1 else "smallest",
        damage=(f"{count} of {points} points disagree",),
        unique=count == 1,
    )


def describe_points(elements: Sequence[Point], m: Map) -> str:
    """Return elements of a tile in words, after a colon; nothing for a tile of more than two coordinates."""
    if len(m.outputs) > 2:
        return ""
    (x, y), names = (*(axis.extent for axis in m.outputs), 1)[:2], [axis.name for axis in m.outputs]
    return f": {describe([(a, b) for a, b, *_ in ((*element, 0) for element in elements)], (x, y), names)}"


def describe_chosen(chosen: Array, axes: Sequence[str]) -> str:
    """Return elements of a tile in words, as `wording.describe` has them: those that are true in an array [x][y].

    >>> describe_chosen(np.array([[0, 0, 1, 1], [0, 0, 1, 1]], dtype=bool), ("m", "n"))
    'n = 2..3, every m'
    """
    lines = chosen.any(axis=1), chosen.any(axis=0)
    spans = [_some(line) for line in lines]
    extents = chosen.shape
    if len(axes) == 1:
        return box(spans[:1], extents[:1], axes)
    count = int(np.count_nonzero(chosen))
    if spans[0].many * spans[1].many == count:
        return box(spans, extents, axes)
    points = [(x, y) for x in spans[0].first for y in _some(chosen[x]).first]
    return list_elements(points[:SHOWN], count, axes)


def _some(line: Array) -> Some:
    """Return the first few places that are true, how many there are, and the last."""
    first: list[int] = []
    for start in range(0, len(line), STEP):
        first += (start + np.flatnonzero(line[start : start + STEP])[:SHOWN]).tolist()
        if len(first) >= SHOWN:
            break
    last = len(line) - 1 - int(line[::-1].argmax())
    return Some(tuple(first[:SHOWN]), int(np.count_nonzero(line)), last)
