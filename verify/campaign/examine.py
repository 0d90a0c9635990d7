# SPDX-License-Identifier: Apache-2.0
"""An implementation called on every case of a block, and its results decided group by group.

The cases of a group have the same shapes, those of the results included, so that one array has all their values. What
fits no group (an exception that is a bug, a result that is no layout, numbers beyond the arrays') is decided case by
case in plain Python, which also decides the smallest counterexample and one confirmed case again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product as grid
from typing import Any

import numpy as np

from layouts.int_tuple import leaves
from proofs.symbolic import enumerated
from proofs.symbolic.definitions import MOST, TooLarge
from proofs.symbolic.enumerated import PROGRAMMING, REQUIRED
from proofs.symbolic.execution import Target
from verify.campaign.domain import Pair
from verify.campaign.found import Found, Wrong
from verify.campaign.laws import LAWS, Decided, Rows
from verify.core.errors import Exit, UsageError

POINTS = 1 << 20  # of all cases that are decided at once
LARGEST = 1 << 31  # stride of a result: products with indices fit in 64 bits

Second = Pair | int | None
Place = tuple[int, int]  # of the arguments
Case = tuple[Any, ...]  # the arguments


class DisagreementError(UsageError):
    """The arrays and plain Python decide a case differently: nothing can be concluded."""

    code = Exit.CONTRADICTION


@dataclass(slots=True)
class _Group:
    """The cases of one group, as places of their arguments, and the strides of their results."""

    places: list[Place] = field(default_factory=list)
    strides: list[Any] = field(default_factory=list)


@dataclass(slots=True)
class _Called:
    """What came back: results by (shape of the first, second argument's shape or number, shape of the result)."""

    groups: dict[tuple[Any, Any, Any], _Group] = field(default_factory=dict)
    rejected: list[Place] = field(default_factory=list)
    odd: list[Place] = field(default_factory=list)


def examined(target: Target, law: str, firsts: Sequence[Pair], seconds: Sequence[Second]) -> Found:
    """What a law's cases are: each first argument with each second one; None where it has no second one."""

    def case(place: Place) -> Case:
        first, second = firsts[place[0]], seconds[place[1]]
        return (first,) if second is None else (first, second)

    called = _called(target, law, firsts, seconds)
    if called is None:  # an argument was changed, so that other calls may have been made with wrong ones
        return _one_by_one(target, law, map(case, grid(range(len(firsts)), range(len(seconds)))))
    due = [place for place in called.rejected if REQUIRED[law].plain(*case(place))]  # simple: not to be rejected
    odd = [*called.odd, *due]
    right: list[Place] = []  # the first of each group
    wrong: list[Place] = []
    confirmed = unmet = 0
    for (a, b, result), group in called.groups.items():
        decided = _decided(law, a, b, result, group, firsts, seconds)
        if decided is None:
            odd += group.places
            continue
        broken, outside = decided
        fine = np.flatnonzero(~(broken | outside))
        right += [group.places[n] for n in fine[:1]]
        wrong += [group.places[n] for n in np.flatnonzero(broken)]
        confirmed += len(fine)
        unmet += int((outside & ~broken).sum())
    smallest = _again(target, law, [*map(case, right[:1])], [*map(case, wrong)])
    rejected = len(called.rejected) - len(due)
    counts = confirmed + len(wrong) + rejected + unmet, confirmed, len(wrong), rejected, unmet
    return Found(*counts, smallest) + _one_by_one(target, law, map(case, odd))


def _again(target: Target, law: str, right: Sequence[Case], wrong: Sequence[Case]) -> Wrong | None:
    """The smallest wrong case; it and the right ones are decided again in plain Python. Raises DisagreementError."""
    for case in right:
        if (fault := enumerated.tried(target, law, case)) != "":
            raise DisagreementError(f"{enumerated.call(law, case)} {fault}: the arrays find nothing wrong")
    if not wrong:
        return None
    size, text, first = min((enumerated.weight(case), enumerated.call(law, case), case) for case in wrong)
    fault = enumerated.tried(target, law, first)
    if not fault:
        raise DisagreementError(f"{text}: the arrays find it wrong, and plain Python does not")
    return Wrong(size, text, fault)


def _called(target: Target, law: str, firsts: Sequence[Pair], seconds: Sequence[Second]) -> _Called | None:
    """The results of all cases; None if a call changed its argument."""
    function = getattr(target.functions, law)
    left = [target.make(*one) for one in firsts]
    right: list[Any] = [target.make(*one) if isinstance(one, tuple) else one for one in seconds]
    shapes = [one[0] if isinstance(one, tuple) else one for one in seconds]
    called = _Called()
    groups = called.groups
    for i, a in enumerate(left):
        shape = firsts[i][0]
        for j, b in enumerate(right):
            try:
                result = function(a) if b is None else function(a, b)
            except PROGRAMMING:
                called.odd.append((i, j))
                continue
            except Exception:
                called.rejected.append((i, j))
                continue
            try:
                key = shape, shapes[j], result.shape
                group = groups.get(key)
                stride = result.stride
            except (AttributeError, TypeError):  # no layout, or a shape that cannot be compared
                called.odd.append((i, j))
                continue
            if group is None:
                group = groups[key] = _Group()
            group.places.append((i, j))
            group.strides.append(stride)
    changed = any((x.shape, x.stride) != pair for x, pair in zip(left, firsts, strict=True))
    changed |= any(isinstance(p, tuple) and (x.shape, x.stride) != p for x, p in zip(right, seconds, strict=True))
    return None if changed else called


def _decided(
    law: str, a: Any, b: Any, result: Any, group: _Group, firsts: Sequence[Pair], seconds: Sequence[Second]
) -> Decided | None:
    """(broken, outside the law) of each case of a group; None if its results fit no array."""
    strides = _array(result, group.strides)
    if strides is None:
        return None
    rows: list[Any] = [_rows(a, firsts, [i for i, _ in group.places])]
    if b is not None:
        rows.append(_rows(b, seconds, [j for _, j in group.places]) if isinstance(seconds[0], tuple) else b)
    points = LAWS[law].points(*rows, Rows(result, strides, np.arange(len(strides))))
    if points > MOST:
        return None
    found = []
    step = max(1, POINTS // points)
    for start in range(0, len(strides), step):
        part = [Rows(x.shape, x.strides, x.which[start : start + step]) if isinstance(x, Rows) else x for x in rows]
        some = strides[start : start + step]
        found.append(LAWS[law].decide(*part, Rows(result, some, np.arange(len(some)))))
    broken, outside = zip(*found, strict=True)
    return np.concatenate(broken), np.concatenate(outside)


def _rows(shape: Any, layouts: Sequence[Any], chosen: Sequence[int]) -> Rows:
    places, which = np.unique(np.array(chosen), return_inverse=True)
    return Rows(shape, np.array([leaves(layouts[n][1]) for n in places.tolist()], dtype=np.int64), which)


def _array(shape: Any, strides: Sequence[Any]) -> Any:
    """The flat strides of results, a row for each; None unless all are natural numbers of the shape's nesting."""
    try:
        extents = leaves(shape)
        found = np.array([leaves(stride) for stride in strides])
    except (TypeError, ValueError, OverflowError):
        return None
    plain = all(type(n) is int and n > 0 for n in extents) and found.dtype == np.int64
    if not plain or found.shape != (len(strides), len(extents)) or found.min(initial=0) < 0:
        return None
    return found if found.max(initial=0) < LARGEST else None


def _one_by_one(target: Target, law: str, cases: Iterable[Case]) -> Found:
    """What the cases are, in plain Python alone."""
    found = Found()
    for case in cases:
        try:
            fault = enumerated.tried(target, law, case)
        except TooLarge:
            fault = None
        if fault is None:
            found += Found(cases=1, rejected=1)
        elif fault:
            wrong = Wrong(enumerated.weight(case), enumerated.call(law, case), fault)
            found += Found(cases=1, refuted=1, smallest=wrong)
        elif LAWS[law].partial:
            found += Found(cases=1, unmet=1)
        else:
            found += Found(cases=1, confirmed=1)
    return found
