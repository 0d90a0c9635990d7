# SPDX-License-Identifier: Apache-2.0
"""The findings of maps that keep no points: searched by blocks, and computed again in plain integers.

What plain integers do not give is a counterexample that is not reproduced: an error of ours. Where few points are as
they must be, lists of plain integers show it without arrays; where they are not, arrays find the smallest.
"""

from __future__ import annotations

from collections import Counter
from math import prod

from layouts.arrays import np
from verify.core import search
from verify.core.verdict import Counterexample
from verify.maps.counterexamples import OwnerCounts, leaves_the_tile, no_owner, unequal, wrong_owners
from verify.maps.fragment_map import FragmentMap, Point
from verify.maps.images import Images


@search.or_misread
def in_bounds(found: FragmentMap, images: Images) -> Counterexample | None:
    """Whether every image is within the extents of the outputs."""
    if (listed := images.listed_elements) is not None and 0 <= min(listed) <= max(listed) < prod(images.tile):
        return None
    elements = images.elements
    count, first, number = search.outside(elements, prod(images.tile))
    if not count:
        return None
    point = elements.at(first)
    wrong = leaves_the_tile(found, count, point, images.image(*point))
    return wrong._replace(reproduced=elements.gives(first, number))


@search.or_misread
def ownership(found: FragmentMap, images: Images, copies: int) -> Counterexample | None:
    """Whether each element within the extents has the number of owners that it must have."""
    elements = prod(images.tile)
    if prod(images.extents) == copies * elements and (listed := images.listed_elements) is not None:
        if Counter(listed) == dict.fromkeys(range(elements), copies):
            return None
    if copies == 1 and search.once(images.elements, elements):
        return None
    counts = search.owners(images.elements, elements)
    lacking = _by_coordinates(images, counts < copies)
    counted = OwnerCounts(elements, int(np.count_nonzero(lacking)))
    reproduced = True
    if counted.few:
        first = _first(lacking)
        counted = counted._replace(first=first, has=int(counts[images.number(first)]))
        if len(images.tile) <= 2:
            chosen, names = lacking.reshape(len(lacking), -1), [axis.name for axis in found.outputs]
            counted = counted._replace(where=f": {search.described(chosen, names)}")
    many = counts > copies
    if many.any():
        point, number = search.crowded(images.elements, counts, copies)
        crowded = images.image(*images.elements.at(point))
        points = tuple(images.elements.at(one) for one in search.places([images.elements], [number], 2))
        reproduced = images.elements.gives(point, number) and {images.image(*one) for one in points} == {crowded}
        reproduced &= images.count(crowded) > copies
        counted = counted._replace(extra=int((counts[many] - copies).sum()), crowded=crowded, both=points)
    elif counted.few:
        reproduced = images.count(counted.first) == counted.has
    wrong = wrong_owners(found, copies, counted)
    return in_bounds(found, images) if wrong is None else wrong._replace(reproduced=reproduced)


@search.or_misread
def equals(found: FragmentMap, images: Images, wanted: FragmentMap, others: Images, name: str) -> Counterexample | None:
    """Whether each input has the images of another map, `name` in messages."""
    if images.extents == others.extents and (listed := images.listed) is not None and listed == others.listed:
        return None
    count, points, thread, value = search.unequal(images.columns, others.columns)
    if not count:
        return None
    first = thread, value
    belongs: list[Point] = []
    reproduced = found.at(*first) != wanted.at(*first)
    for one in (images, others):
        reproduced &= first not in one or all(column.item(*first) == column.alone(*first) for column in one.columns)
    for image in found.at(*first):
        belongs = [others.elements.at(one) for one in search.places(others.columns, image)]
        reproduced &= all(others.image(*at) == image for at in belongs)
    return unequal(found, wanted, name, first, belongs, (count, points))._replace(reproduced=reproduced)


@search.or_misread
def right_inverse(found: FragmentMap, images: Images) -> Counterexample | None:
    """Whether each element within the extents has an owner."""
    if (listed := images.listed_elements) is not None and set(listed).issuperset(range(prod(images.tile))):
        return None
    lacking = _by_coordinates(images, search.owners(images.elements, prod(images.tile)) == 0)
    if not lacking.any():
        return None
    first = _first(lacking)
    return no_owner(found, first)._replace(reproduced=not images.count(first))


def _by_coordinates(images: Images, elements: search.Array) -> search.Array:
    """What is true of the elements of a tile, as an array [x][y]: the last coordinate is the fastest."""
    return elements.reshape(images.tile[::-1]).T


def _first(chosen: search.Array) -> Point:
    return tuple(int(c) for c in np.unravel_index(chosen.argmax(), chosen.shape))
