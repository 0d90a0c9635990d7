# SPDX-License-Identifier: Apache-2.0
"""An implementation called on every case of a block, and its results decided group by group.

The cases of a group have the same shapes, those of the results included, so that one array has all their values. What
fits no group (an exception that is a bug, a result that is no layout, numbers beyond the arrays') is decided case by
case in plain Python, which also decides the smallest counterexample and one confirmed case again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
from verify.campaign.laws import LAWS, Rows
from verify.core.errors import Exit, UsageError

POINTS = 1 << 20  # of all cases that are decided at once
LARGEST = 1 << 31  # stride of a result: products with indices fit in 64 bits

Second = Pair | int | None


class DisagreementError(UsageError):
    """The arrays and plain Python decide a case differently: nothing can be concluded."""

    code = Exit.CONTRADICTION


@dataclass(slots=True)
class _Group:
    """The cases of one group: places of their arguments, and the strides of their results."""

    firsts: list[int] = field(default_factory=list)
    seconds: list[int] = field(default_factory=list)
    strides: list[Any] = field(default_factory=list)


@dataclass(slots=True)
class _Called:
    """What came back: results by (shape of the first, second argument's shape or number, shape of the result)."""

    groups: dict[tuple[Any, Any, Any], _Group] = field(default_factory=dict)
    rejected: list[tuple[int, int]] = field(default_factory=list)
    odd: list[tuple[int, int]] = field(default_factory=list)


def examined(target: Target, law: str, firsts: Sequence[Pair], seconds: Sequence[Second]) -> Found:
    """What a law's cases are: each first argument with each second one; None where it has no second one."""
    called = _called(target, law, firsts, seconds)
    if called is None:  # an argument was changed, so that other calls may have been made with wrong ones
        return _one_by_one(target, law, list(grid(firsts, seconds)))
    odd = [(firsts[i], seconds[j]) for i, j in called.odd]
    rejected = [(firsts[i], seconds[j]) for i, j in called.rejected]
    due = [case for case in rejected if REQUIRED[law].plain(*_arguments(case))]  # simple cases must not be rejected
    found = _one_by_one(target, law, [*odd, *due])
    found += Found(cases=len(rejected) - len(due), rejected=len(rejected) - len(due))
    sample: tuple[Pair, Second] | None = None
    wrong: list[tuple[Pair, Second]] = []
    for (a, b, result), group in called.groups.items():
        for part in _parts(law, a, b, result, group, firsts, seconds):
            if part is None:
                cases = [(firsts[i], seconds[j]) for i, j in zip(group.firsts, group.seconds, strict=True)]
                found += _one_by_one(target, law, cases)
                break
            places, broken, unmet = part
            right = ~(broken | unmet)
            counts = len(broken), int(right.sum()), int(broken.sum()), 0, int((unmet & ~broken).sum())
            wrong += [(firsts[group.firsts[n]], seconds[group.seconds[n]]) for n in places[broken]]
            if sample is None and right.any():
                n = places[int(right.argmax())]
                sample = firsts[group.firsts[n]], seconds[group.seconds[n]]
            found += Found(*counts, smallest=_PENDING if counts[2] else None)
    return _again(target, law, found, wrong, sample)


_PENDING = Wrong(1 << 62, "", "")  # replaced by the smallest counterexample of all groups


def _again(
    target: Target, law: str, found: Found, wrong: Sequence[tuple[Pair, Second]], sample: tuple[Pair, Second] | None
) -> Found:
    """The result with its smallest counterexample and a confirmed case computed again; DisagreementError."""
    if sample is not None and (fault := enumerated.tried(target, law, _arguments(sample))) != "":
        raise DisagreementError(f"{enumerated.call(law, _arguments(sample))} {fault}: the arrays find nothing wrong")
    if not wrong:
        return found
    first = min(map(_arguments, wrong), key=lambda case: (enumerated.weight(case), enumerated.call(law, case)))
    text = enumerated.call(law, first)
    fault = enumerated.tried(target, law, first)
    if not fault:
        raise DisagreementError(f"{text}: the arrays find it wrong, and plain Python does not")
    smallest = Wrong(enumerated.weight(first), text, fault)
    kept = [smallest] if found.smallest in (None, _PENDING) else [smallest, found.smallest]
    return Found(found.cases, found.confirmed, found.refuted, found.rejected, found.unmet, min(kept))


def _arguments(case: tuple[Pair, Second]) -> tuple[Any, ...]:
    return case[:1] if case[1] is None else case


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
            group.firsts.append(i)
            group.seconds.append(j)
            group.strides.append(stride)
    changed = any((x.shape, x.stride) != pair for x, pair in zip(left, firsts, strict=True))
    changed |= any(isinstance(p, tuple) and (x.shape, x.stride) != p for x, p in zip(right, seconds, strict=True))
    return None if changed else called


def _parts(
    law: str, a: Any, b: Any, result: Any, group: _Group, firsts: Sequence[Pair], seconds: Sequence[Second]
) -> Iterator[tuple[Any, Any, Any] | None]:
    """(places in the group, broken, unmet) of a group, part by part; None if its results fit no array."""
    strides = _array(result, group.strides)
    if strides is None:
        yield None
        return
    first = _rows(a, firsts, group.firsts)
    second = _rows(b, seconds, group.seconds) if isinstance(seconds[0], tuple) else b
    last = Rows(result, strides, np.arange(len(strides)))
    rows = [first, last] if b is None else [first, second, last]
    points = LAWS[law].points(*rows)
    if last.size > MOST or points > MOST:
        yield None
        return
    step = max(1, POINTS // points)
    for start in range(0, len(strides), step):
        places = np.arange(start, min(start + step, len(strides)))
        part = [Rows(x.shape, x.strides, x.which[places]) if isinstance(x, Rows) else x for x in rows[:-1]]
        yield places, *LAWS[law].decide(*part, Rows(result, strides[places], np.arange(len(places))))


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


def _one_by_one(target: Target, law: str, cases: Sequence[tuple[Pair, Second]]) -> Found:
    """What the cases are, in plain Python alone."""
    found = Found()
    for case in cases:
        arguments = _arguments(case)
        try:
            fault = enumerated.tried(target, law, arguments)
        except TooLarge:
            fault = None
        if fault is None:
            found += Found(cases=1, rejected=1)
        elif fault:
            wrong = Wrong(enumerated.weight(arguments), enumerated.call(law, arguments), fault)
            found += Found(cases=1, refuted=1, smallest=wrong)
        elif LAWS[law].partial:
            found += Found(cases=1, unmet=1)
        else:
            found += Found(cases=1, confirmed=1)
    return found
