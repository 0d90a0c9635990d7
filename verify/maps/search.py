# SPDX-License-Identifier: Apache-2.0
"""Find the point where a map leaves its tile, has another number of owners, or differs from another map.

This is the only search. A map that keeps its points is visited in plain integers. One with blocks is searched by
arrays, in bounded memory, and what is found there is asked again of `Map.at`; some points of every block are compared
with it too. Where the two differ there is an error of ours, which is never reproduced: a contradiction, and no finding.

`find_size_fault`, `find_out_of_bounds`, `find_owner_fault`, `find_missing_owner`   None, or the smallest counterexample
`locate_miscount`, `locate_collision`   an element with another number of owners, two inputs with one image
`locate_difference`    the smallest input at which two maps differ
`find_difference`      the same as a counterexample
`list_differences`, `count_agreement`   of tables: every such input, and how many have the same images
`find_inverse_fault`   an element that a claimed inverse does not lead back from
`find_image_count_fault`, `find_owner_count_fault`     other numbers of images or owners than another map has
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import NamedTuple

from layouts.arrays import np
from verify.core.verdict import Counterexample
from verify.core.wording import owners
from verify.maps import blocks
from verify.maps.blocks import (
    check_readings,
    image_at,
    number_elements,
    or_mismatch,
    walk_blocks,
    walk_elements,
)
from verify.maps.counterexamples import (
    OwnerCounts,
    describe_chosen,
    describe_points,
    inputs_of,
    leaves_the_tile,
    no_owner,
    not_undone,
    unequal,
    wrong_owners,
)
from verify.maps.fragment_map import FragmentMap
from verify.maps.map import Array, Axis, Map, Point, grid, inside

METHOD = "by enumeration"  # the number of points is beside it


def find_inputs(m: Map, image: Point, most: int) -> list[Point]:
    """Return the first inputs that have an image."""
    if not m.searchable:
        return [point for point, reached in m.pairs() if reached == image][:most]
    numbers: list[int] = []
    for at, columns in walk_blocks(m):
        alike = np.logical_and.reduce([column == c for column, c in zip(columns, image, strict=True)])
        numbers += (at + np.flatnonzero(alike)[:most]).tolist()
        if len(numbers) >= most:
            break
    if numbers and len(numbers) < most and m.repeats > 1:
        numbers.append(numbers[0] + len(m) // m.repeats)
    return [m.point(number) for number in numbers[:most]]


@or_mismatch
def find_size_fault(m: Map, expected: Sequence[Axis]) -> Counterexample | None:
    """Return how a map has other inputs than expected, or an input without just one image."""
    if m.inputs != tuple(expected):
        has, needs = (_extents(axes) for axes in (m.inputs, expected))
        return Counterexample({axis.word: axis.extent for axis in m.inputs}, f"the map has {has}, {needs} wanted")
    if m.total:
        return None
    several = next((point for point in m.domain if len(m.at(*point)) > 1), None)
    if several is not None:
        images = " and ".join(map(m.show, m.at(*several)))
        return Counterexample(inputs_of(m, several), f"{m.show_input(several)} has several images: {images}")
    outside = next((point for point in m.domain if not inside(point, m.inputs)), None)
    if outside is not None:
        return Counterexample(inputs_of(m, outside), f"{m.show_input(outside)} is outside {_extents(expected)}")
    missing = next(point for point in grid(expected) if not m.at(*point))
    lacking = f"{len(m.domain)} of {prod(axis.extent for axis in expected)} have one"
    return Counterexample(inputs_of(m, missing), f"{m.show_input(missing)} has no image", damage=(lacking,))


@or_mismatch
def find_image_count_fault(m: Map, expected: Map) -> Counterexample | None:
    """Return an input that has another number of images than in another map."""
    for point in expected.domain:
        has, needs = len(m.at(*point)), len(expected.at(*point))
        if has != needs:
            images = "one image" if has == 1 else f"{has} images" if has else "no image"
            return Counterexample(inputs_of(m, point), f"{m.show_input(point)} has {images}, {needs} wanted")
    return None


def _extents(axes: Sequence[Axis]) -> str:
    return " x ".join(f"{axis.extent} {axis.word}s" for axis in axes)


class Disagreement(NamedTuple):
    """The smallest input at which a map is not as it should be."""

    point: Point
    wrong: int  # how many inputs are
    points: int  # of how many
    reproduced: bool = True  # whether plain integers give what was found


def locate_stray(m: Map) -> Disagreement | None:
    """Return the smallest input with an image beyond the extents of the outputs. Raises EvaluationMismatch."""
    check_readings(m)
    if not m.searchable:
        strays = [point for point, image in m.pairs() if not inside(image, m.outputs)]
        return Disagreement(strays[0], len(strays), len(m)) if strays else None
    count, first = 0, -1
    stray: Point = ()
    for at, columns in walk_blocks(m):
        bad = number_elements(columns, m.outputs) < 0
        if bad.any():
            if not count:
                first = at + int(bad.argmax())
                stray = image_at(columns, first - at)
            count += int(np.count_nonzero(bad))
    if not count:
        return None
    point = m.point(first)
    return Disagreement(point, count * m.repeats, len(m), m.at(*point) == (stray,))


@or_mismatch
def find_out_of_bounds(m: Map) -> Counterexample | None:
    """Return the smallest input with an image beyond the extents of the outputs, as a counterexample."""
    stray = locate_stray(m)
    if stray is None:
        return None
    image = next(image for image in m.at(*stray.point) if m.searchable or not inside(image, m.outputs))
    return leaves_the_tile(m, stray.wrong, stray.point, image)._replace(reproduced=stray.reproduced)


# Owners


@or_mismatch
def find_owner_fault(m: Map, copies: int) -> Counterexample | None:
    """Return the first element with too many owners, or else with too few; or a stray image."""
    counted, reproduced = _count_by_blocks(m, copies) if m.searchable else (_count_by_points(m, copies), True)
    if counted is None:
        return None
    wrong = wrong_owners(m, copies, counted)
    return find_out_of_bounds(m) if wrong is None else wrong._replace(reproduced=reproduced)


def _count_by_points(m: Map, copies: int) -> OwnerCounts:
    owned: dict[Point, list[Point]] = {element: [] for element in grid(m.outputs)}
    for point, image in m.pairs():
        if image in owned:
            owned[image].append(point)
    few = [element for element, points in owned.items() if len(points) < copies]
    many = [element for element, points in owned.items() if len(points) > copies]
    counted = OwnerCounts(len(owned), len(few))
    if few:
        counted = counted._replace(where=describe_points(few, m), first=few[0], has=len(owned[few[0]]))
    if many:
        element = min(many, key=owned.__getitem__)
        extra = sum(len(owned[element]) - copies for element in many)
        counted = counted._replace(extra=extra, crowded=element, both=tuple(owned[element][:2]))
    return counted


def _count_by_blocks(m: Map, copies: int) -> tuple[OwnerCounts | None, bool]:
    """Return the counts, None if each element has its owners; and whether plain integers give them too."""
    elements = prod(axis.extent for axis in m.outputs)
    counts = count_owners(m, elements)
    if (counts == copies).all() and int(counts.sum()) == len(m):
        return None, True
    lacking = _by_coordinates(m, counts < copies)
    counted = OwnerCounts(elements, int(np.count_nonzero(lacking)))
    reproduced = True
    if counted.few:
        first = _first(lacking)
        counted = counted._replace(first=first, has=int(counts[m.element(first)]))
        if len(m.outputs) <= 2:
            names = [axis.name for axis in m.outputs]
            counted = counted._replace(where=f": {describe_chosen(lacking.reshape(len(lacking), -1), names)}")
    many = counts > copies
    if many.any():
        point, crowded = _first_crowded(m, many)
        both = tuple(find_inputs(m, crowded, 2))
        reproduced = m.at(*point) == (crowded,) and {m.at(*owner) for owner in both} == {(crowded,)}
        reproduced &= m.count(crowded) > copies
        counted = counted._replace(extra=int((counts[many] - copies).sum()), crowded=crowded, both=both)
    elif counted.few:
        reproduced = m.count(counted.first) == counted.has
    return counted, reproduced


def count_owners(m: Map, elements: int) -> Array:
    """Return how many inputs have each element of the tile: an array [element]. Raises EvaluationMismatch."""
    counts = np.zeros(elements + 1, dtype=np.int32)  # the last for images outside, whose number is -1
    for _, block in walk_elements(m):
        if len(block) >= elements:
            counts += np.bincount(block % (elements + 1), minlength=elements + 1).astype(np.int32)
        else:  # a tile may be much larger than a map
            each, times = np.unique(block, return_counts=True)
            counts[each] += times.astype(np.int32)
    return counts[:-1] if m.repeats == 1 else counts[:-1] * m.repeats


class Miscount(NamedTuple):
    """The first element that has another number of owners than it should have."""

    element: Point
    has: int
    wrong: int  # how many elements have another number
    reproduced: bool  # whether plain integers count as many owners


def locate_miscount(m: Map, copies: int) -> Miscount | None:
    """Return the first element of the tile without just so many owners. Raises EvaluationMismatch."""
    counts = count_owners(m, prod(axis.extent for axis in m.outputs))
    bad = _by_coordinates(m, counts != copies)
    if not bad.any():
        return None
    element = _first(bad)
    has = int(counts[m.element(element)])
    return Miscount(element, has, int(np.count_nonzero(bad)), m.count(element) == has)


class Collision(NamedTuple):
    """The smallest image that several inputs have."""

    image: int
    first: Point  # of its inputs
    second: Point
    extra: int  # how many inputs there are beyond one for each image
    reproduced: bool  # whether plain integers give both of them this image


def locate_collision(m: Map) -> Collision | None:
    """Return two inputs with one image, of a map of one output. Raises EvaluationMismatch."""
    images = np.concatenate([column for _, (column,) in walk_blocks(m, every=True)])
    order = np.argsort(images, kind="stable")
    twice = np.flatnonzero(np.diff(images[order]) == 0)
    if not len(twice):
        return None
    image = int(images[order[twice[0]]])
    first, second = (m.point(int(order[twice[0] + place])) for place in (0, 1))
    return Collision(image, first, second, len(twice), m.at(*first) == m.at(*second) == ((image,),))


def _first_crowded(m: Map, many: Array) -> tuple[Point, Point]:
    """Return the first input whose element is one of many, and its image."""
    for at, columns in walk_blocks(m):
        elements = number_elements(columns, m.outputs)
        crowded = np.append(many, False)[elements]
        if crowded.any():
            first = int(crowded.argmax())
            return m.point(at + first), image_at(columns, first)
    raise AssertionError("an element was counted too often, and no input has it")


@or_mismatch
def find_missing_owner(m: Map) -> Counterexample | None:
    """Return the first element without an owner: with one for each, the map has a right inverse."""
    if not m.searchable:
        owned = {image for _, image in m.pairs()}
        missing = next((element for element in grid(m.outputs) if element not in owned), None)
        return None if missing is None else no_owner(m, missing)
    lacking = _by_coordinates(m, count_owners(m, prod(axis.extent for axis in m.outputs)) == 0)
    if not lacking.any():
        return None
    first = _first(lacking)
    return no_owner(m, first)._replace(reproduced=not m.count(first))


@or_mismatch
def find_owner_count_fault(m: FragmentMap, expected: FragmentMap) -> Counterexample | None:
    """Return an image with another number of owners than in another map: the first of several, or else of few."""
    images = sorted({image for side in (m, expected) for _, image in side.pairs()})
    wrong = [image for image in images if len(m.owners(image)) != len(expected.owners(image))]
    if not wrong:
        return None
    image = max(wrong, key=lambda candidate: len(m.owners(candidate)) > len(expected.owners(candidate)))
    several = m.owners(image)
    shown = " and ".join(map(m.show_input, several[:2])) + (" both have " if len(several) > 1 else " has ")
    statement = f"{shown}{m.show(image)}" if several else f"{m.show(image)} has no owner"
    return Counterexample(
        {axis.word: c for axis, c in zip(m.outputs, image, strict=True)},
        f"{statement}, which has {owners(len(expected.owners(image)))} in the ISA",
        damage=(f"{len(wrong)} of {len(images)} have another number of owners",),
    )


def _by_coordinates(m: Map, elements: Array) -> Array:
    """Return what is true of the elements of a tile, as an array [x][y]: the last coordinate is the fastest."""
    return elements.reshape([axis.extent for axis in reversed(m.outputs)]).T


def _first(chosen: Array) -> Point:
    return tuple(int(c) for c in np.unravel_index(chosen.argmax(), chosen.shape))


# Equality


def locate_difference(m: Map, expected: Map) -> Disagreement | None:
    """Return the smallest input whose images differ from those of another map. Raises EvaluationMismatch."""
    check_readings(m, expected)
    if not (m.searchable and expected.searchable and len(m.inputs) == 2):
        differing = list_differences(m, expected)
        points = len({*m.domain, *expected.domain})
        return Disagreement(differing[0], len(differing), points) if differing else None
    (threads, values), (their_threads, their_values) = ([axis.extent for axis in side.inputs] for side in (m, expected))
    common, width = min(threads, their_threads), min(values, their_values)
    every = len(m) + len(expected) - common * width
    count, first = every - common * width, []
    if values != their_values:
        first.append((0, width))
    if threads != their_threads:
        first.append((common, 0))
    alike = common if m.repeats == expected.repeats == common else 1  # then one thread speaks for all
    for rows, columns in _rectangles(common // alike, width, max(values, their_values)):
        pairs = zip(_image_rectangle(m, rows, columns), _image_rectangle(expected, rows, columns), strict=True)
        unlike = np.logical_or.reduce([mine != theirs for mine, theirs in pairs])
        if unlike.any():
            count += int(np.count_nonzero(unlike)) * alike
            row, column = divmod(int(unlike.argmax()), len(columns))
            first.append((rows[row], columns[column]))
    if not first:
        return None
    point = min(first)
    return Disagreement(point, count, every, m.at(*point) != expected.at(*point) and _is_read_alike(point, m, expected))


def list_differences(m: Map, expected: Map) -> list[Point]:
    """Return every input whose images differ from those of another map, in ascending order, in plain integers."""
    otherwise = (point for point in {*m.domain, *expected.domain} if m.at(*point) != expected.at(*point))
    return sorted(point for point in otherwise if sorted(m.at(*point)) != sorted(expected.at(*point)))


def _is_read_alike(point: Point, *maps: Map) -> bool:
    """Return whether a block has what `at` gives for a point of each map that has it."""
    for m in maps:
        for image in m.at(*point):
            number = point[0] * m.inputs[1].extent + point[1]
            if image_at(m.block(number, number + 1), 0) != image:
                return False
    return True


@or_mismatch
def find_difference(
    m: Map, expected: Map, name: str = "ISA", arithmetic: Callable[[Point], str] = lambda _: ""
) -> Counterexample | None:
    """Return the smallest input whose images differ from those of another map, `name` in messages.

    The counterexample names the input to which the wrong image belongs; `arithmetic` writes out one point.
    """
    difference = locate_difference(m, expected)
    if difference is None:
        return None
    return word_difference(m, expected, name, difference)._replace(arithmetic=arithmetic(difference.point))


def word_difference(m: Map, expected: Map, name: str, difference: Disagreement) -> Counterexample:
    """Return a difference as a counterexample, with the input to which the wrong image belongs."""
    images = m.at(*difference.point)[:1]
    belongs = [point for image in images for point in find_inputs(expected, image, 1)]
    reproduced = difference.reproduced and all(images[0] in expected.at(*point) for point in belongs)
    wrong = unequal(m, expected, name, difference.point, belongs, (difference.wrong, difference.points))
    return wrong._replace(reproduced=reproduced)


@or_mismatch
def find_inverse_fault(m: FragmentMap, inverse: FragmentMap) -> Counterexample | None:
    """Return the smallest element that a claimed inverse does not lead back from.

    `inverse` has the axes of `m`: its pairs read backwards. An element of several owners needs one of them only.
    """
    wrong = []
    for element in grid(inverse.outputs):
        claimed = inverse.owners(element)
        strays = [point for point in claimed if m.at(*point) != (element,)]
        if strays or not claimed:
            wrong.append((element, strays))
    if not wrong:
        return None
    return not_undone(m, *wrong[0], (len(wrong), prod(axis.extent for axis in inverse.outputs)))


def count_agreement(m: FragmentMap, expected: FragmentMap) -> tuple[int, int]:
    """Return (how many inputs have the same images, how many inputs there are in either map)."""
    points = len({*m.domain, *expected.domain})
    return points - len(list_differences(m, expected)), points


def _rectangles(threads: int, values: int, longest: int) -> Iterator[tuple[range, range]]:
    """Yield (threads, values) of rectangles that cover all: whole threads, or part of one, of at most a block."""
    height = max(1, blocks.BLOCK // longest)
    width = values if longest <= blocks.BLOCK else blocks.BLOCK
    for top in range(0, threads, height):
        for left in range(0, values, width):
            yield range(top, min(top + height, threads)), range(left, min(left + width, values))


def _image_rectangle(m: Map, rows: range, columns: range) -> Iterator[Array]:
    """Yield each coordinate of the images in a rectangle, as an array [thread][value]."""
    values = m.inputs[1].extent
    first = rows.start * values
    if len(rows) == 1:
        yield from (
            coordinate[None, :] for coordinate in blocks.read_block(m, first + columns.start, first + columns.stop)
        )
        return
    for coordinate in blocks.read_block(m, first, rows.stop * values):
        yield coordinate.reshape(len(rows), values)[:, columns.start : columns.stop]
