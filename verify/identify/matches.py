# SPDX-License-Identifier: Apache-2.0
"""What a map is among all maps of the ISA tables: the same, the transpose, a relabelling, or how near.

Every map of as many lanes and values is evaluated from its formulas and compared at every point; where lanes do not
contribute, at the points of the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from layouts.arrays import np
from verify.identify.catalogue import Group
from verify.identify.query import Query
from verify.maps.relabelling import permutation

NEAREST = 3  # maps that are shown where none is the same


class Relation(StrEnum):
    """How a map is related to one of the ISA tables."""

    EQUALS = "equals"
    TRANSPOSE = "is the transpose of"
    RELABELS = "relabels"
    NEAREST = "is nearest to"


@dataclass(frozen=True, slots=True)
class Match:
    """One map of the ISA tables, and how the query is related to it."""

    relation: Relation  # how the query is related
    group: Group  # to which map, and which operands have it
    agree: int  # points with the same element
    points: int  # that were compared
    transposed: bool  # whether the query's coordinates were exchanged for the comparison
    first: tuple[
        int, ...
    ] = ()  # of the nearest: lane, value, the query's (x, y) and the ISA's, where they first differ
    axis: int = 0  # of a relabelling: 0 for x, 1 for y
    numbers: tuple[int, ...] = ()  # its permutation: where the ISA has y, the query has numbers[y]


def matches(query: Query, groups: Sequence[Group]) -> list[Match]:
    """The maps that a query is, or the transpose or a relabelling of; or else the nearest ones."""
    sized = [one for one in groups if (one.lanes, one.values) == (query.lanes, query.values)]
    elements = query.elements()
    found = [match for group in sized for match in _related(query, elements, group)]
    order = list(Relation)
    related = [one for one in found if one.relation is not Relation.NEAREST]
    if related:
        return sorted(related, key=lambda one: (order.index(one.relation), -_count(one.group)))
    return sorted(found, key=lambda one: (-one.agree, one.transposed, -_count(one.group)))[:NEAREST]


def _count(group: Group) -> int:
    return sum(len(member.mnemonics) for member in group.members)


def _related(query: Query, elements: Any, group: Group) -> Iterator[Match]:
    """The relations of a query to one map, the strongest alone; without any, the nearer of the two orientations."""
    right, holds = group.points()
    near: list[Match] = []
    for transposed in (False, True):
        if query.tile not in (None, group.extent[:: -1 if transposed else 1]):
            continue
        got = _oriented(query, elements, group, transposed)
        same = (got == right).all(axis=-1) | ~holds[:, None]
        points = int(holds.sum()) * group.values
        agree = points - int((~same).sum())
        if agree == points:
            yield Match(Relation.TRANSPOSE if transposed else Relation.EQUALS, group, agree, points, transposed)
            return
        lane, value = np.argwhere(~same)[0].tolist()
        first = lane, value, *got[lane, value].tolist(), *right[lane, value].tolist()
        near.append(Match(Relation.NEAREST, group, agree, points, transposed, first))
        if transposed:
            continue
        mine, theirs = got[holds], right[holds]
        for axis in (0, 1):
            if (mine[..., 1 - axis] == theirs[..., 1 - axis]).all():
                labels, known = (one[..., axis].ravel().tolist() for one in (mine, theirs))
                numbers = permutation(labels, known, group.extent[axis])
                if numbers is not None:
                    yield Match(Relation.RELABELS, group, agree, points, transposed, (), axis, numbers)
                    return
    yield from sorted(near, key=lambda one: -one.agree)[:1]


def _oriented(query: Query, elements: Any, group: Group, transposed: bool) -> Any:
    """The query's elements as (x, y) of a group's tile; `transposed` reads a layout as y + Y*x, and exchanges pairs."""
    if elements.shape[-1] == 1:
        unit = group.extent[transposed]
        pair = elements[..., 0] % unit, elements[..., 0] // unit
    else:
        pair = elements[..., 0], elements[..., 1]
    swapped = transposed != (query.as_isa and group.swapped)
    return np.stack(pair[::-1] if swapped else pair, axis=-1)


def sizes(query: Query, groups: Sequence[Group]) -> str:
    """Which numbers of values there are for as many lanes, where none has the query's; empty if one has."""
    values = sorted({one.values for one in groups if one.lanes == query.lanes})
    if query.values in values:
        return ""
    listed = ", ".join(map(str, values))
    lanes = ", ".join(map(str, sorted({one.lanes for one in groups})))
    if not values:
        return f"no operand in registers has {query.lanes} {query.lane}s: there are {lanes}"
    return f"no operand in registers of {query.lanes} {query.lane}s has {query.values} values: there are {listed}"
