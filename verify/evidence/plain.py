# SPDX-License-Identifier: Apache-2.0
"""The check `isa` of few points, in Python's integers: numpy takes longer to load than they take to compare.

Only agreement is found here. Where anything differs, arrays look for the smallest point and say what is wrong.

`few`                   a layout at every point of a small domain, by `Layout.__call__`; sums of it on a larger one
`equals`                whether those are the elements of the ISA's formulas
`inverts`               whether it takes its right inverse to the identity
`multiplies`            whether random matrices multiplied through an atom's maps have the right product
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from operator import mul
from typing import TypeAlias

from lanecheck.console.digests import shake_128
from layouts import Layout, arrays, size
from verify.binding.atom import BoundAtom, BoundOperand
from verify.binding.coordinates import Memory
from verify.core.digits import FEW, lane_of, walks

Rows: TypeAlias = "list[list[int]]"
_KNOWN: dict[object, list[tuple[int, int]]] = {}  # places by formula: of the ISA tables alone, never of a layout
Slots: TypeAlias = "list[tuple[int, tuple[int, int], int, int]]"


def few(layout: Layout) -> list[int] | None:
    """The layout at every (thread, value) of a small domain, by thread; None where arrays are sooner.

    A larger one is called at every thread and at every value, and summed: a thread's digits and a value's do not mix.
    Also None where `Layout.__call__` and the sum of digit * stride differ anywhere: one of them is wrong, and arrays,
    which are neither, decide.

    >>> from unittest.mock import patch
    >>> with patch("layouts.arrays.loaded", return_value=False):
    ...     few(Layout.parse("(2,3):(10,1)"))
    [0, 1, 2, 10, 11, 12]
    """
    if arrays.loaded() or size(layout) > FEW:
        return None
    return _called(layout, Layout.__call__)


@lru_cache(maxsize=8)  # of one atom; the function is in the key, so that an error planted in it is seen
def _called(layout: Layout, call: Callable[..., int]) -> list[int] | None:
    threads, values = range(size(layout[0])), range(size(layout[1]))
    if size(layout) <= arrays.FEW:
        found = [call(layout, thread, value) for thread in threads for value in values]
    else:
        columns = [call(layout, 0, value) for value in values]
        found = [row + column for row in [call(layout, thread, 0) for thread in threads] for column in columns]
        if call(layout, threads[-1], values[-1]) != found[-1]:
            return None
    return found if found == [element for row in walks(layout) for element in row] else None


def equals(subject: BoundAtom, part: BoundOperand) -> int:
    """The number of points at which a layout and all formulas agree, if they agree at all of few points; else 0."""
    if part.domain != subject.expected(part) or not arrays.few(mul(*part.domain)):
        return 0
    if (found := few(part.parsed)) is None:
        return 0
    (rows, columns), wanted, values = part.extent, [], part.values
    for which in range(len(part.formulas)):
        places = _places(part, which, subject.lanes)
        for lane in lanes(subject):
            wanted += places[lane * values : (lane + 1) * values]
    if not all(0 <= x < rows and 0 <= y < columns for x, y in wanted):
        return 0
    times = len(part.formulas) * subject.rep_size
    return len(wanted) if [x + rows * y for x, y in wanted] == found * times else 0


def inverts(layout: Layout, inverse: Layout, elements: int) -> bool:
    """Whether a layout of few points takes its right inverse to the identity on the first elements."""
    return arrays.few(elements) and all(layout(inverse(k)) == k for k in range(elements))


def multiplies(subject: BoundAtom, trials: int, seed: int, numbers: tuple[int, int]) -> bool:
    """Whether few products of random integers of range(*numbers) are right, as `product` finds with arrays.

    Not for scale factors, metadata and operands in memory: arrays multiply those.
    """
    registers = [part.name for part in subject.parts] == ["A", "B", "C"] and not any(
        isinstance(part.formulas[0], Memory) or part.map for part in subject.parts
    )
    if not registers or not arrays.few(subject.lanes * max(part.values for part in subject.parts)):
        return False
    instruction = subject.instruction
    which = [instruction.product(lane % instruction.signature.lanes) for lane in range(subject.lanes)]
    a, b, c = subject.parts
    slots_a, slots_b, slots_c = (_slots(subject, part, which) for part in subject.parts)
    if not (slots_a and slots_b and slots_c):
        return False
    filled = {(product, x, y) for product, _, x, y in slots_c} == {
        (product, x, y) for product in which for x in range(c.extent[0]) for y in range(c.extent[1])
    }
    drawn = [[_drawn(part, f"{seed} {trial}", numbers) for part in (a, b)] for trial in range(trials)]
    return filled and all(_right(left, right, slots_a, slots_b, slots_c) for left, right in drawn)


def _right(left: Rows, right: Rows, slots_a: Slots, slots_b: Slots, slots_c: Slots) -> bool:
    """Whether every slot of C has its element of the product of two matrices, from the slots of these in registers."""
    of_fragments = {}
    for product in {slot[0] for slot in slots_c}:
        of_fragments[product] = _multiplied(_fragment(left, slots_a, product), _fragment(right, slots_b, product))
    wanted = _multiplied(left, right)
    return all(of_fragments[product][place[0]][place[1]] == wanted[x][y] for product, place, x, y in slots_c)


def _slots(subject: BoundAtom, part: BoundOperand, which: Sequence[int]) -> Slots:
    """(product, place in the instruction's operand, x, y in the atom's) of each (lane, value); [] if one is outside."""
    (rows, columns), found, values = part.extent, few(part.parsed), part.values
    places = _places(part, 0, subject.lanes)
    if found is None or not all(0 <= x < rows and 0 <= y < columns for x, y in places):
        return []
    return [
        (which[lane], places[lane * values + value], element % rows, element // rows)
        for at, lane in enumerate(lanes(subject))
        for value, element in enumerate(found[at % subject.threads * values :][:values])
    ]


def _places(part: BoundOperand, which: int, lanes: int) -> list[tuple[int, int]]:
    """The places that a formula of the ISA gives every (lane, value), by lane."""
    key = (part.keys[which], lanes) if part.keys else None
    if key is None or key not in _KNOWN:
        formula, values = part.formulas[which], range(part.values)
        found = [formula.locate(lane, value) for lane in range(lanes) for value in values]
        if len(_KNOWN) >= arrays.FEW:
            _KNOWN.clear()
        _KNOWN[key] = found
    return _KNOWN[key]


def lanes(subject: BoundAtom) -> list[int]:
    """The lanes of the logical threads, replica by replica."""
    thr, rep = subject.numbering
    threads = [lane_of(thr, thread) for thread in range(subject.threads)]
    return [lane + lane_of(rep, replica) for replica in range(subject.rep_size) for lane in threads]


def _drawn(part: BoundOperand, seed: str, numbers: tuple[int, int]) -> Rows:
    """A matrix of random integers, drawn from a digest: `random` takes longer to load."""
    low, high = numbers
    rows, columns = part.extent
    drawn = shake_128(f"{part.name} {seed}".encode()).digest(rows * columns)
    listed = [byte % (high - low) + low for byte in drawn]
    return [listed[row * columns : (row + 1) * columns] for row in range(rows)]


def _fragment(matrix: Rows, slots: Slots, product: int) -> Rows:
    """The matrix that the instruction reads for one of its products."""
    found = [[0] * len(row) for row in matrix]
    for which, (row, column), x, y in slots:
        if which == product:
            found[row][column] = matrix[x][y]
    return found


def _multiplied(a: Rows, b: Rows) -> Rows:
    return [[sum(map(mul, row, column)) for column in b] for row in a]
