# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a map, found at every point in plain integers: the smallest counterexample, or nothing.

Every point is visited, which is a proof. A map that keeps its points is visited in plain integers: no layout is called,
and no numpy. The others are searched by blocks of arrays, and what is found there is computed again in plain integers.

`size`, `in_bounds`, `ownership`, `equals`, `right_inverse`, `inverse_of`    None, or the smallest counterexample
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from verify.core.verdict import Counterexample
from verify.core.wording import describe, owners
from verify.maps.counterexamples import OwnerCounts, inputs_of, leaves_the_tile, no_owner, unequal, wrong_owners
from verify.maps.fragment_map import Axis, FragmentMap, Point, grid, inside

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
        return Counterexample(inputs_of(found, several), f"{found.show_input(several)} has several images: {images}")
    outside = next((point for point in found.domain if not inside(point, found.inputs)), None)
    if outside is not None:
        return Counterexample(inputs_of(found, outside), f"{found.show_input(outside)} is outside {_extents(wanted)}")
    missing = next(point for point in grid(wanted) if point not in found.images)
    lacking = f"{len(found.images)} of {prod(axis.extent for axis in wanted)} have one"
    return Counterexample(inputs_of(found, missing), f"{found.show_input(missing)} has no image", damage=(lacking,))


def in_bounds(found: FragmentMap) -> Counterexample | None:
    """Whether every image is within the extents of the outputs."""
    if found.computed is not None:
        from verify.maps import by_blocks

        return by_blocks.in_bounds(found, found.computed)
    outside = [(point, image) for point, image in found.pairs() if not inside(image, found.outputs)]
    return leaves_the_tile(found, len(outside), *outside[0]) if outside else None


def ownership(found: FragmentMap, copies: int) -> Counterexample | None:
    """Whether each element within the extents has the number of owners that it must have."""
    if found.computed is not None:
        from verify.maps import by_blocks

        return by_blocks.ownership(found, found.computed, copies)
    elements = list(grid(found.outputs))
    counts = {element: len(found.owners(element)) for element in elements}
    few = [element for element in elements if counts[element] < copies]
    many = [element for element in elements if counts[element] > copies]
    counted = OwnerCounts(len(elements), len(few))
    if few:
        counted = counted._replace(where=_described(few, found), first=few[0], has=counts[few[0]])
    if many:
        element = min(many, key=found.owners)
        extra = sum(counts[element] - copies for element in many)
        counted = counted._replace(extra=extra, crowded=element, both=found.owners(element)[:2])
    return wrong_owners(found, copies, counted) or in_bounds(found)


def as_many_images(found: FragmentMap, wanted: FragmentMap) -> Counterexample | None:
    """Whether each input of the wanted map has as many images as there."""
    for point in wanted.domain:
        has, needs = len(found.at(*point)), len(wanted.at(*point))
        if has != needs:
            images = "one image" if has == 1 else f"{has} images" if has else "no image"
            return Counterexample(inputs_of(found, point), f"{found.show_input(point)} has {images}, {needs} wanted")
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
    if found.computed is not None and wanted.computed is not None:
        from verify.maps import by_blocks

        wrong = by_blocks.equals(found, found.computed, wanted, wanted.computed, name)
    else:
        wrong = _unequal(found, wanted, name)
    return None if wrong is None else wrong._replace(arithmetic=arithmetic(tuple(wrong.inputs.values())))


def _unequal(found: FragmentMap, wanted: FragmentMap, name: str) -> Counterexample | None:
    differing = found.differences(wanted)
    if not differing:
        return None
    image = found.at(*differing[0])[:1]
    belongs = wanted.owners(image[0])[:1] if image else ()
    every = len(found.images.keys() | wanted.images.keys())
    return unequal(found, wanted, name, differing[0], belongs, (len(differing), every))


def right_inverse(found: FragmentMap) -> Counterexample | None:
    """Whether each element within the extents has an owner, so that the map has a right inverse."""
    if found.computed is not None:
        from verify.maps import by_blocks

        return by_blocks.right_inverse(found, found.computed)
    missing = next((element for element in grid(found.outputs) if not found.owners(element)), None)
    return None if missing is None else no_owner(found, missing)


def inverse_of(found: FragmentMap, claimed: FragmentMap) -> Counterexample | None:
    """Whether a map, as it is given, is the inverse of another: the same pairs, read backwards."""
    return equals(claimed, found.inverse(), "the inverse")


def agreement(found: FragmentMap, wanted: FragmentMap) -> tuple[int, int]:
    """(how many inputs have the same images, how many inputs there are in either map)."""
    points = len(found.images.keys() | wanted.images.keys())
    return points - len(found.differences(wanted)), points


def _extents(axes: Sequence[Axis]) -> str:
    return " x ".join(f"{axis.extent} {axis.word}s" for axis in axes)


def _described(elements: Sequence[Point], found: FragmentMap) -> str:
    if len(found.outputs) > 2:
        return ""
    (x, y), names = (*(axis.extent for axis in found.outputs), 1)[:2], [axis.name for axis in found.outputs]
    return f": {describe([(a, b) for a, b, *_ in ((*element, 0) for element in elements)], (x, y), names)}"
