# SPDX-License-Identifier: Apache-2.0
"""Whether one mistake explains several refutations of an operand: a report tells it once, with its consequences.

A map equals the ISA's at a point where their difference D is 0. One wrong stride makes D a multiple of one digit of one
input, D(x) = c * (x // d % n), and a map that is right but for that leaves its tile and misses elements only by it. Two
mistakes have no such D: they keep two blocks unless one edit was found that mends everything. Without an instruction:
where no element has too many owners and there are just as many points as owners, the elements that lack one are those
of the points outside.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import NamedTuple, TypeAlias

from verify.core.digits import walks
from verify.core.verdict import Status, Verdict
from verify.core.verified_repair import OF_A_MAP
from verify.maps.map import Map
from verify.maps.strided import StridedMap

Point: TypeAlias = "tuple[int, ...]"
Rows: TypeAlias = "Sequence[Sequence[Point]]"  # the image of each point, by its two inputs
ONE_EDIT = (  # repairs of a single mistake
    "one stride", "one extent", "one constant", "one basis", "one profile",
    "two strides swapped", "two extents swapped", "two bases exchanged", "m and n exchanged",
)  # fmt: skip
MOST = 1 << 16  # points of an operand: beyond, each refutation is told by itself
BOUNDS, OWNERS, EQUALS = "in_bounds", "ownership", "equals_isa"


class Compared(NamedTuple):
    """An operand's map beside the one that it should be."""

    given: Rows
    wanted: Rows | None  # None where it is compared with no instruction
    extent: Point  # of the outputs
    copies: int  # owners that each element should have
    single: bool = False  # whether each output has a text of its own: a mistake changes one of them


def fold_consequences(verdicts: Sequence[Verdict], operand: Callable[[str], Compared | None]) -> list[Verdict]:
    """Return the verdicts; those that follow from another one of their operand name it as their `cause`."""
    refuted = [v for v in verdicts if v.status is Status.REFUTED and v.claim.prop.key in OF_A_MAP and not v.cause]
    causes: dict[tuple[str, str], str] = {}
    for part, count in Counter(v.claim.part for v in refuted).items():
        own = [v for v in refuted if v.claim.part == part]
        if count < 2 or any(v.contradiction for v in own):
            continue
        keys, compared = {v.claim.prop.key for v in own}, operand(part)
        if any(map(_is_mended_by_one_edit, own)) or (EQUALS in keys and compared and is_one_step(compared)):
            causes |= {(part, key): EQUALS for key in keys - {EQUALS}}
        elif {BOUNDS, OWNERS} <= keys and compared and _lacks_only_what_is_outside(compared):
            causes[part, OWNERS] = BOUNDS
        elif len(keys) > 2:  # a map that equals the ISA's has its owners
            causes[part, OWNERS] = EQUALS
    return [_because(v, causes.get((v.claim.part, v.claim.prop.key), "")) for v in verdicts]


def _because(verdict: Verdict, cause: str) -> Verdict:
    return (
        verdict._replace(cause=cause) if cause and verdict.status is Status.REFUTED and not verdict.cause else verdict
    )


def _is_mended_by_one_edit(verdict: Verdict) -> bool:
    """Return whether a single edit was found with which the map equals the ISA's at every point."""
    wrong = verdict.counterexample
    return verdict.claim.prop.key == EQUALS and wrong is not None and wrong.repair.partition(":")[0] in ONE_EDIT


def compare_map(m: Map, copies: int, wanted: Rows | None = None) -> Compared:
    """Return a map beside the one that it should be: of a plain layout elements x + X*y, where a stride is a step.

    `wanted` has coordinates, whatever the map is.
    """
    threads, values = (axis.extent for axis in m.inputs)
    extent = tuple(axis.extent for axis in m.outputs)
    if not (isinstance(m, StridedMap) and m.plain is not None):
        rows: Rows = [[m(thread, value) for value in range(values)] for thread in range(threads)]
        return Compared(rows, wanted, extent, copies)
    if wanted is not None:
        wanted = [[(m.number(image),) for image in row] for row in wanted]
    return Compared([[(element,) for element in row] for row in walks(m.plain)], wanted, (prod(extent),), copies)


def is_one_step(compared: Compared) -> bool:
    """Return whether the maps differ by multiples of one step, by one digit of one input.

    >>> wanted = [[(thread // 4 + 8 * value,) for value in range(2)] for thread in range(32)]
    >>> wrong = [[(thread // 4 * 2 + 8 * value,) for value in range(2)] for thread in range(32)]
    >>> twice = [[(thread // 4 * 2 + 9 * value,) for value in range(2)] for thread in range(32)]
    >>> [is_one_step(Compared(rows, wanted, (16,), 1)) for rows in (wrong, twice)]
    [True, False]
    """
    given, wanted = compared.given, compared.wanted
    if wanted is None or [*map(len, given)] != [*map(len, wanted)]:
        return False
    for minus in (operator.sub, operator.xor):  # a wrong stride, a wrong basis
        rows = [
            [tuple(map(minus, a, b)) for a, b in zip(mine, its, strict=True)]
            for mine, its in zip(given, wanted, strict=True)
        ]
        for line in _lines(rows):
            if _is_digit(line, 2 if minus is operator.xor else len(line) + 1, compared.single):
                return True
    return False


def _lines(rows: Sequence[Sequence[Point]]) -> Iterator[Sequence[Point]]:
    """Yield the differences along an input, if they are the same at each value of the other one."""
    if all(row == rows[0] for row in rows):
        yield rows[0]
    if all(point == row[0] for row in rows for point in row):
        yield [row[0] for row in rows]


def _is_digit(line: Sequence[Point], most: int, single: bool) -> bool:
    """Return whether line[x] = c * (x // d % n) with n at most `most`, or a constant."""
    first = next((x for x, point in enumerate(line) if any(point)), None)
    if first is None or (single and sum(map(bool, line[first])) > 1):
        return False
    if first == 0:
        return all(point == line[0] for point in line)
    again = next((x for x in range(first, len(line), first) if not any(line[x])), None)
    n = -(-len(line) // first) if again is None else again // first
    return n <= most and all(point == tuple(c * (x // first % n) for c in line[first]) for x, point in enumerate(line))


def _lacks_only_what_is_outside(compared: Compared) -> bool:
    """Return whether no element has too many owners, and there are as many points as owners."""
    points = [image for row in compared.given for image in row]
    inside = Counter(
        image for image in points if all(0 <= c < end for c, end in zip(image, compared.extent, strict=True))
    )
    return len(points) == compared.copies * prod(compared.extent) and max(inside.values(), default=0) <= compared.copies
