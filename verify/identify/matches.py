# SPDX-License-Identifier: Apache-2.0
"""What a map is among all maps of the ISA tables: the same, the transpose, a relabelling, or how near.

Every map of as many lanes and values is compared at every point, in plain integers; where lanes do not contribute, at
the points of the others.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from operator import eq

from verify.identify.groups import Group
from verify.identify.query import Query
from verify.maps.relabelling import permutation

NEAREST = 3  # maps that are shown where none is the same
Points = list[list[int]]  # the numbers x, and the numbers y, at every point


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
    """Return the maps of its size that a query is, or the transpose or a relabelling of; or else the nearest ones."""
    compared = [
        (group, group.points()) for group in groups if (group.lanes, group.values) == (query.lanes, query.values)
    ]
    related = [match for group, right in compared if (match := _find_relation(query, group, right)) is not None]
    if related:
        order = list(Relation)
        return sorted(related, key=lambda match: (order.index(match.relation), -_count(match.group)))
    near = [match for group, right in compared if (match := _nearer(query, group, right)) is not None]
    return sorted(near, key=lambda match: (-match.agree, match.transposed, -_count(match.group)))[:NEAREST]


def _count(group: Group) -> int:
    return sum(len(member.mnemonics) for member in group.members)


def _find_relation(query: Query, group: Group, right: Points) -> Match | None:
    """Return the strongest relation of a query to one map, which has the points `right`."""
    points = len(right[0])
    for transposed in _orientations(query, group):
        got = _orient(query, group, transposed)
        if got == right:
            return Match(Relation.TRANSPOSE if transposed else Relation.EQUALS, group, points, points, transposed)
        for axis in (0, 1) if not transposed else ():
            if got[1 - axis] == right[1 - axis]:
                numbers = permutation(got[axis], right[axis], group.extent[axis])
                if numbers is not None:
                    agree = sum(map(eq, got[axis], right[axis]))
                    return Match(Relation.RELABELS, group, agree, points, transposed, (), axis, numbers)
    return None


def _nearer(query: Query, group: Group, right: Points) -> Match | None:
    """How near a query is to one map, in the better of the two orientations; None where it has another tile."""
    near: list[Match] = []
    for transposed in _orientations(query, group):
        got = _orient(query, group, transposed)
        same = list(map(eq, zip(*got, strict=True), zip(*right, strict=True)))
        first = same.index(False)
        lane, value = divmod(first, group.values)
        shown = group.holds[lane], value, *(line[first] for line in (*got, *right))
        near.append(Match(Relation.NEAREST, group, sum(same), len(same), transposed, shown))
    return max(near, key=lambda match: match.agree, default=None)


def _orientations(query: Query, group: Group) -> list[bool]:
    """Return the ways to read a query, as it is and transposed, in which its tile is that of a group."""
    return [
        transposed for transposed in (False, True) if query.tile in (None, group.extent[:: -1 if transposed else 1])
    ]


def _orient(query: Query, group: Group, transposed: bool) -> Points:
    """Return the query's x, and its y, in a group's tile, where that has points.

    `transposed` reads a layout as y + Y*x, and exchanges pairs.
    """
    given = query.columns
    if len(group.holds) < group.lanes:
        starts = [lane * group.values for lane in group.holds]
        given = [[number for start in starts for number in line[start : start + group.values]] for line in given]
    if len(given) == 1:
        unit = group.extent[transposed]
        given = [[number % unit for number in given[0]], [number // unit for number in given[0]]]
    return given[::-1] if transposed != (query.as_isa and group.swapped) else given


def sizes(query: Query, known: Collection[tuple[int, ...]]) -> str:
    """Which numbers of values there are for as many lanes, where none has the query's; empty if one has."""
    values = sorted({values for lanes, values in known if lanes == query.lanes})
    if query.values in values:
        return ""
    listed = ", ".join(map(str, values))
    lanes = ", ".join(map(str, sorted({lanes for lanes, _ in known})))
    if not values:
        return f"no operand in registers has {query.lanes} {query.lane}s: there are {lanes}"
    return f"no operand in registers of {query.lanes} {query.lane}s has {query.values} values: there are {listed}"
