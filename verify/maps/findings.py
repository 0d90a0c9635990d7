# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a map, found at every point in plain integers: the smallest counterexample, or nothing.

A map has a few hundred points, so visiting each is a proof. No layout is called, and no numpy.

`size`, `in_bounds`, `ownership`, `equals`, `inverse_of`    findings: None, or the smallest counterexample
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from verify.core.verdict import Counterexample
from verify.core.wording import describe, owners
from verify.maps.fragment_map import Axis, FragmentMap, Point, grid

METHOD = "by enumeration"  # the number of points is beside it


def size(found: FragmentMap, wanted: Sequence[Axis]) -> Counterexample | None:
    """Whether a map has the wanted inputs, each with one image."""
    if found.inputs != tuple(wanted):
        has, needs = (_extents(axes) for axes in (found.inputs, wanted))
        return Counterexample({axis.word: axis.extent for axis in found.inputs}, f"the map has {has}, {needs} wanted")
    if found.total:
        return None
    several = next((point for point in found.domain if len(found.at(*point)) > 1), None)
    if several is not None:
        images = " and ".join(map(found.show, found.at(*several)))
        return Counterexample(_inputs(found, several), f"{found.show_input(several)} has several images: {images}")
    outside = next((point for point in found.domain if not _inside(point, found.inputs)), None)
    if outside is not None:
        return Counterexample(_inputs(found, outside), f"{found.show_input(outside)} is outside {_extents(wanted)}")
    missing = next(point for point in grid(wanted) if point not in found.images)
    lacking = f"{len(found.images)} of {prod(axis.extent for axis in wanted)} have one"
    return Counterexample(_inputs(found, missing), f"{found.show_input(missing)} has no image", damage=(lacking,))


def in_bounds(found: FragmentMap) -> Counterexample | None:
    """Whether every image is within the extents of the outputs."""
    outside = [(point, image) for point, image in found.pairs() if not _inside(image, found.outputs)]
    if not outside:
        return None
    point, image = outside[0]
    tile = "x".join(str(axis.extent) for axis in found.outputs)
    return Counterexample(
        _inputs(found, point),
        f"{found.show_input(point)} has {found.show(image)}, outside {tile}",
        extent="unique" if len(outside) == 1 else "smallest",
        damage=(f"{len(outside)} of {len(found)} points fall outside",),
        unique=len(outside) == 1,
    )


def ownership(found: FragmentMap, copies: int) -> Counterexample | None:
    """Whether each element within the extents has the number of owners that it must have."""
    elements = list(grid(found.outputs))
    counts = {element: len(found.owners(element)) for element in elements}
    few = [element for element in elements if counts[element] < copies]
    many = [element for element in elements if counts[element] > copies]
    damage: tuple[str, ...] = ()
    if few:
        lacking = "no owner" if copies == 1 else f"fewer than {copies} owners"
        damage = (f"{len(few)} of {len(elements)} elements have {lacking}{_described(few, found)}",)
    if many:
        element = min(many, key=found.owners)
        first, second = found.owners(element)[:2]
        extra = sum(counts[element] - copies for element in many)
        inputs = {**_inputs(found, first), **{f"other {name}": c for name, c in _inputs(found, second).items()}}
        both = f"{found.show_input(first)} and {found.show_input(second)} both have {found.show(element)}"
        extent = "the only collision" if extra == 1 else f"smallest of {extra} collisions"
        return Counterexample(inputs, both, extent=extent, damage=damage, unique=extra == 1)
    if few:
        count = owners(counts[few[0]])
        return Counterexample(
            {axis.word: c for axis, c in zip(found.outputs, few[0], strict=True)},
            f"{found.show(few[0])} has {count}, {copies} wanted",
            damage=damage,
        )
    return in_bounds(found)


def as_many_images(found: FragmentMap, wanted: FragmentMap) -> Counterexample | None:
    """Whether each input of the wanted map has as many images as there."""
    for point in wanted.domain:
        has, needs = len(found.at(*point)), len(wanted.at(*point))
        if has != needs:
            images = "one image" if has == 1 else f"{has} images" if has else "no image"
            return Counterexample(_inputs(found, point), f"{found.show_input(point)} has {images}, {needs} wanted")
    return None


def as_many_owners(found: FragmentMap, wanted: FragmentMap) -> Counterexample | None:
    """Whether each image has as many owners as in the wanted map: the first of several, or else the first of few."""
    images = sorted({image for one in (found, wanted) for _, image in one.pairs()})
    wrong = [image for image in images if len(found.owners(image)) != len(wanted.owners(image))]
    if not wrong:
        return None
    image = max(wrong, key=lambda one: len(found.owners(one)) > len(wanted.owners(one)))
    several = found.owners(image)
    shown = " and ".join(map(found.show_input, several[:2])) + (" both have " if len(several) > 1 else " has ")
    statement = f"{shown}{found.show(image)}" if several else f"{found.show(image)} has no owner"
    return Counterexample(
        {axis.word: c for axis, c in zip(found.outputs, image, strict=True)},
        f"{statement}, which has {owners(len(wanted.owners(image)))} in the ISA",
        damage=(f"{len(wrong)} of {len(images)} have another number of owners",),
    )


def equals(
    found: FragmentMap, wanted: FragmentMap, name: str = "ISA", arithmetic: Callable[[Point], str] = lambda _: ""
) -> Counterexample | None:
    """Whether each input has the images of another map, `name` in messages; `arithmetic` writes out one point.

    The counterexample names the input to which the wrong image belongs.
    """
    differing = found.differences(wanted)
    if not differing:
        return None
    point = differing[0]
    got, right = (" and ".join(map(one.show, one.at(*point))) or "no element" for one in (found, wanted))
    count, points = len(differing), len(found.images.keys() | wanted.images.keys())
    owner = ""
    if found.at(*point) and (right_one := wanted.owners(found.at(*point)[0])):
        owner = f"; {found.show(found.at(*point)[0])} belongs to {found.show_input(right_one[0])}"
    return Counterexample(
        _inputs(found, point),
        f"{found.show_input(point)}: map {got}, {name} {right}{owner}",
        arithmetic(point),
        extent="unique" if count == 1 else "smallest",
        damage=(f"{count} of {points} points disagree",),
        unique=count == 1,
    )


def inverse_of(found: FragmentMap, claimed: FragmentMap) -> Counterexample | None:
    """Whether a map, as it is given, is the inverse of another: the same pairs, read backwards."""
    return equals(claimed, found.inverse(), "the inverse")


def agreement(found: FragmentMap, wanted: FragmentMap) -> tuple[int, int]:
    """(how many inputs have the same images, how many inputs there are in either map)."""
    points = len(found.images.keys() | wanted.images.keys())
    return points - len(found.differences(wanted)), points


def _inputs(found: FragmentMap, point: Point) -> dict[str, int]:
    return {axis.word: c for axis, c in zip(found.inputs, point, strict=True)}


def _extents(axes: Sequence[Axis]) -> str:
    return " x ".join(f"{axis.extent} {axis.word}s" for axis in axes)


def _inside(point: Point, axes: Sequence[Axis]) -> bool:
    return all(0 <= c < axis.extent for c, axis in zip(point, axes, strict=True))


def _described(elements: Sequence[Point], found: FragmentMap) -> str:
    if len(found.outputs) != 2:
        return ""
    x, y = found.outputs
    return f": {describe([(a, b) for a, b in elements], (x.extent, y.extent), (x.name, y.name))}"
