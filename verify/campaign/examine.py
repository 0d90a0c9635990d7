# SPDX-License-Identifier: Apache-2.0
"""An implementation called on every case of a block, and its results decided group by group.

The cases of a group have the same shapes, those of the results included, so that one array has all their values. What
fits no group (an exception that is a bug, a result that isn't a layout, numbers beyond the arrays') is decided case by
case in plain Python, which also decides the smallest counterexample and one confirmed case again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from layouts.int_tuple import leaves
from proofs.definitions import MOST, TooLarge
from proofs.symbolic import enumerated
from proofs.symbolic.enumerated import LAWS, PROGRAMMING
from proofs.symbolic.execution import Target
from verify.campaign.domain import Pair
from verify.campaign.laws import DECISIONS, Decided, LayoutBatch, Rows
from verify.campaign.tally import Tally, Wrong
from verify.core.errors import Exit, UsageError

POINTS = 1 << 16  # of all cases that are decided at once: arrays that stay in a processor's cache
LARGEST = 1 << 31  # stride of a result: products with indices fit in 64 bits

Second = Pair | int | None
Case = tuple[Any, ...]  # the arguments


class DisagreementError(UsageError):
    """The arrays and plain Python decide a case differently: nothing can be concluded."""

    code = Exit.CONTRADICTION


Group = tuple[list[int], list[Any]]
"""The numbers of cases with results of one shape, and the strides of these results."""
Groups = defaultdict[Any, Group]
"""The groups of cases whose arguments have the same shapes, by the shape of their results."""


@dataclass(slots=True)
class _Called:
    """What came back: results by the shapes of the arguments; of a second argument that is none, the argument."""

    groups: defaultdict[tuple[Any, Any], Groups] = field(default_factory=lambda: defaultdict(_groups))
    rejected: list[int] = field(default_factory=list)
    odd: list[int] = field(default_factory=list)


def _groups() -> Groups:
    return defaultdict(lambda: ([], []))


class _Side:
    """The arguments of one side, those of one shape together."""

    def __init__(self, arguments: Sequence[Second]) -> None:
        self.arguments = arguments
        self.shapes = [argument[0] if isinstance(argument, tuple) else argument for argument in arguments]
        self.number = np.zeros(len(arguments), dtype=np.int64)  # of each among those of its shape
        self.layouts: dict[Any, LayoutBatch] = {}
        places: defaultdict[Any, list[int]] = defaultdict(list)
        for place, argument in enumerate(arguments):
            if isinstance(argument, tuple):
                places[argument[0]].append(place)
        for shape, some in places.items():
            self.number[some] = np.arange(len(some))
            strides = [arguments[place][1] for place in some]  # type: ignore[index]  # a layout, as was seen
            self.layouts[shape] = LayoutBatch(shape, _flat(shape, strides))

    def make_arguments(self, target: Target) -> list[Any]:
        """Return the arguments as an implementation has them."""
        return [target.make(*argument) if isinstance(argument, tuple) else argument for argument in self.arguments]

    def has_changed(self, made: Sequence[Any]) -> bool:
        """Whether an argument is no longer what it was made of."""
        given = zip(made, self.arguments, strict=True)
        now = [(x.shape, x.stride) if isinstance(argument, tuple) else argument for x, argument in given]
        return now != [*self.arguments]

    def rows(self, shape: Any, places: Any) -> Any:
        """Return the layouts of that shape at some places, one for each case; an argument that is none is itself."""
        return Rows(self.layouts[shape], self.number[places]) if shape in self.layouts else shape


def examine_cases(target: Target, law: str, firsts: Sequence[Pair], seconds: Sequence[Second]) -> Tally:
    """Return what a law's cases are: each first argument with each second one; None where it has no second one."""

    def case(number: int) -> Case:
        first, second = firsts[number % len(firsts)], seconds[number // len(firsts)]
        return (first,) if second is None else (first, second)

    left, right = _Side(firsts), _Side(seconds)
    called = _call_cases(target, law, left, right)
    if called is None:  # an argument was changed, so that other calls may have been made with wrong ones
        return _one_by_one(target, law, map(case, range(len(firsts) * len(seconds))))
    due = [number for number in called.rejected if LAWS[law].plain(*case(number))]  # simple: not to be rejected
    odd = [*called.odd, *due]
    fine: list[int] = []  # the first of each group; one of a block is decided again
    wrong: list[int] = []
    confirmed = unmet = 0
    for (a, b), groups in called.groups.items():
        for result, (numbers, strides) in groups.items():
            second, first = np.divmod(np.array(numbers, dtype=np.int64), len(firsts))
            decided = _decide_cases(law, [left.rows(a, first), right.rows(b, second)], result, strides)
            if decided is None:
                odd += numbers
                continue
            broken, outside = decided
            right_ones = np.flatnonzero(~(broken | outside))
            fine += [numbers[n] for n in right_ones[:1]]
            wrong += [numbers[n] for n in np.flatnonzero(broken)]
            confirmed += len(right_ones)
            unmet += int((outside & ~broken).sum())
    smallest = _again(target, law, [case(n) for n in fine[:1]], [case(n) for n in wrong])
    rejected = len(called.rejected) - len(due)
    counts = confirmed + len(wrong) + rejected + unmet, confirmed, len(wrong), rejected, unmet
    return Tally(*counts, smallest) + _one_by_one(target, law, map(case, odd))


def _again(target: Target, law: str, right: Sequence[Case], wrong: Sequence[Case]) -> Wrong | None:
    """Return the smallest wrong case; it and the right ones are decided again in plain Python.

    Raises DisagreementError.
    """
    for case in right:
        if (fault := enumerated.try_case(target, law, case)) != "":
            raise DisagreementError(f"{enumerated.call(law, case)} {fault}: the arrays find nothing wrong")
    if not wrong:
        return None
    size, text, first = min((enumerated.weight(case), enumerated.call(law, case), case) for case in wrong)
    fault = enumerated.try_case(target, law, first)
    if not fault:
        raise DisagreementError(f"{text}: the arrays find it wrong, and plain Python does not")
    return Wrong(size, text, fault)


def _call_cases(target: Target, law: str, left: _Side, right: _Side) -> _Called | None:
    """Return the results of all cases; None if a call changed its argument.

    All cases of a second argument have the numbers that follow those of the one before it.
    """
    function = getattr(target.functions, law)
    firsts, seconds = left.make_arguments(target), right.make_arguments(target)
    called = _Called()
    rejected, odd = called.rejected, called.odd
    groups_of = {b: [called.groups[a, b] for a in left.shapes] for b in dict.fromkeys(right.shapes)}
    for place, b in enumerate(seconds):
        begin = place * len(firsts)
        for number, (a, groups) in enumerate(zip(firsts, groups_of[right.shapes[place]], strict=True), begin):
            try:
                result = function(a) if b is None else function(a, b)
            except PROGRAMMING:
                odd.append(number)
                continue
            except Exception:
                rejected.append(number)
                continue
            try:
                numbers, strides = groups[result.shape]
                strides.append(result.stride)
                numbers.append(number)
            except (AttributeError, TypeError):  # no layout, or a shape that cannot be compared
                odd.append(number)
    return None if left.has_changed(firsts) or right.has_changed(seconds) else called


def _decide_cases(law: str, arguments: Sequence[Any], result: Any, strides: Sequence[Any]) -> Decided | None:
    """(broken, outside the law) of each case of a group; None if its results fit no array."""
    flat = _array(result, strides)
    if flat is None:
        return None
    rows = [row for row in (*arguments, Rows(LayoutBatch(result, flat))) if row is not None]
    points = DECISIONS[law].points(*rows)
    if points > MOST:
        return None
    decided = []
    step = max(1, POINTS // points)
    for start in range(0, len(flat), step):
        part = [row.part(slice(start, start + step)) if isinstance(row, Rows) else row for row in rows]
        try:
            decided.append(DECISIONS[law].decide(*part))
        except TooLarge:
            return None
    broken, outside = zip(*decided, strict=True)
    return np.concatenate(broken), np.concatenate(outside)


def _array(shape: Any, strides: Sequence[Any]) -> Any:
    """Return the flat strides of results, a row for each.

    None unless all are natural numbers of the shape's nesting.
    """
    try:
        extents = leaves(shape)
        flat = _flat(shape, strides)
    except (TypeError, ValueError, OverflowError):
        return None
    plain = all(type(n) is int and n > 0 for n in extents)
    if not plain or flat.shape != (len(strides), len(extents)) or flat.min(initial=0) < 0:
        return None
    return flat if flat.max(initial=0) < LARGEST else None


def _flat(shape: Any, strides: Sequence[Any]) -> Any:
    """Return the flat strides, a row for each.

    Raises ValueError for other types, and for another nesting than the shape's.
    """
    return np.array(_columns(shape, strides), dtype=np.int64).T


def _columns(shape: Any, strides: Sequence[Any]) -> list[Sequence[int]]:
    """Return the strides of each mode; column by column, which is much faster than row by row."""
    if not isinstance(shape, tuple):
        if set(map(type, strides)) != {int}:
            raise ValueError(f"no integers for {shape}")
        return [strides]
    if set(map(type, strides)) != {tuple} or set(map(len, strides)) != {len(shape)}:
        raise ValueError(f"strides that are not nested as {shape}")
    parts = zip(shape, zip(*strides, strict=True), strict=True)
    return [column for part, some in parts for column in _columns(part, some)]


def _one_by_one(target: Target, law: str, cases: Iterable[Case]) -> Tally:
    """Return what the cases are, in plain Python alone."""
    tally = Tally()
    for case in cases:
        try:
            fault = enumerated.try_case(target, law, case)
        except TooLarge:
            fault = None
        if fault is None:
            tally += Tally(cases=1, rejected=1)
        elif fault:
            wrong = Wrong(enumerated.weight(case), enumerated.call(law, case), fault)
            tally += Tally(cases=1, refuted=1, smallest=wrong)
        elif LAWS[law].partial:
            tally += Tally(cases=1, unmet=1)
        else:
            tally += Tally(cases=1, confirmed=1)
    return tally
