# SPDX-License-Identifier: Apache-2.0
"""Properties of functions on their whole domains: the first index at which one fails, or what each value has.

A fault is an index, or None where there is none; of a batch with rows it is an array [row], -1 where there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from layouts.arrays import np
from layouts.batched.evaluate import BUDGET, Array, Batch, Function, batch, compose
from layouts.coords import INT64_MAX
from layouts.errors import LayoutError

Fault = Any  # an index or None, or an array [row] of indices and -1


def first_difference(f: Function | Batch, g: Function | Batch, xp: Any = np, budget: int = BUDGET) -> Fault:
    """Return the first index i with F(i) != G(i), or that one of the two domains lacks.

    >>> from layouts.layout import Layout
    >>> first_difference(Layout((4, 2), (1, 5)), Layout(8)), first_difference(Layout(4), Layout(6))
    (4, 4)
    >>> first_difference(Layout((4, 2), (1, 4)), Layout(8)) is None
    True
    """
    left, right = batch(f, xp), batch(g, xp)

    def bad(start: int, stop: int, left_part: Batch, right_part: Batch) -> Array:
        return left_part.values(start, stop, narrow=True) != right_part.values(start, stop, narrow=True)

    if left.count is None and right.count is None:
        both = min(left.size, right.size)
        fault = _first(bad, both, left, right, budget=budget)
        return both if fault is None and left.size != right.size else fault
    xp = left.xp
    mine, theirs = xp.asarray(left.sizes), xp.asarray(right.sizes)
    both = xp.where(mine < theirs, mine, theirs)
    fault = _first(bad, both, left, right, budget=budget)
    return xp.where((fault < 0) & (mine != theirs), both, fault)


def first_outside(f: Function | Batch, stop: Any, xp: Any = np, budget: int = BUDGET) -> Fault:
    """Return the first index i whose value is not in bounds: not 0 <= F(i) < stop.

    ``stop`` is an int, or an array [row].

    >>> from layouts.layout import Layout
    >>> first_outside(Layout((2, 4), (8, 1)), 12), first_outside(Layout((2, 4), (8, 1)), 11)
    (None, 7)
    """
    function = batch(f, xp)

    def bad(start: int, end: int, part: Batch, bound: Any) -> Array:
        values = part.values(start, end)
        return (values < 0) | (values >= bound)

    return _first(bad, function.sizes, function, stop if isinstance(stop, int) else stop[:, None], budget=budget)


def first_not_inverse(f: Function | Batch, g: Function | Batch, xp: Any = np, budget: int = BUDGET) -> Fault:
    """Return the first index i with F(G(i)) != i: of a layout F and its right inverse G, or of F, the left inverse of
    G.

    >>> from layouts.inverse import right_inverse
    >>> from layouts.layout import Layout
    >>> L = Layout.parse("((4,8),2):((2,8),1)")
    >>> first_not_inverse(L, right_inverse(L)) is None, first_not_inverse(L, Layout(64))
    (True, 1)
    """
    both = compose(f, g, xp)

    def bad(start: int, stop: int, both: Batch) -> Array:
        return both.values(start, stop) != both.xp.arange(start, stop, dtype=both.xp.int64)

    return _first(bad, both.sizes, both, budget=budget)


def first_repeat(f: Function | Batch, xp: Any = np, budget: int = BUDGET) -> Fault:
    """Return the first index j whose value an index before it has: F(i) = F(j), i < j.

    Where there is none, F is injective.

    A domain of more than ``budget`` bytes is compared block by block, each with all blocks before it.

    >>> from layouts.layout import Layout
    >>> first_repeat(Layout((4, 4), (1, 3))), first_repeat(Layout((4, 4), (4, 1)))
    (4, None)
    """
    function = batch(f, xp)
    if function.count is None:
        return _first_repeat(function, budget)
    faults = function.xp.full((function.count,), -1, dtype=function.xp.int64)
    if (
        8 * function.size > budget or (function.high - function.low + 1) * function.size > INT64_MAX
    ):  # too large for rows at once
        for row in range(function.count):
            repeat = _first_repeat(function.row(row), budget)
            faults[row] = -1 if repeat is None else repeat
        return faults
    for which, part in _parts(budget, function):
        repeats = _repeats(function.xp, part.values(), function.low)
        faults[which] = function.xp.where(repeats < function.xp.asarray(part.sizes), repeats, -1)
    return faults


def is_bijection(f: Function | Batch, xp: Any = np, budget: int = BUDGET) -> Any:
    """Whether F takes every value in 0 .. size - 1 exactly once, as a compact layout does; an array [row] of answers.

    >>> from layouts.layout import Layout
    >>> is_bijection(Layout((2, 4), (4, 1))), is_bijection(Layout((2, 4), (5, 1)))
    (True, False)
    """
    function = batch(f, xp)
    outside, repeat = first_outside(function, function.sizes, budget=budget), first_repeat(function, budget=budget)
    return outside is None and repeat is None if function.count is None else (outside < 0) & (repeat < 0)


def counts(f: Function | Batch, stop: int, xp: Any = np, budget: int = BUDGET) -> Array:
    """Return the number of indices that have each value below ``stop``: an array [value], or [row][value].

    >>> from layouts.layout import Layout
    >>> counts(Layout((2, 3), (1, 1)), 5).tolist()
    [1, 2, 2, 1, 0]
    """
    function = batch(f, xp)
    xp = function.xp
    tally = xp.zeros((function.count or 1, stop), dtype=xp.int64)
    for which, part in _parts(budget, function):
        rows = part.count or 1
        for start, end in part.spans(budget):
            numbers = _histogram(xp, _places(part, start, end, stop), rows * stop)
            tally[which, :] += xp.reshape(numbers, (rows, stop))
    return tally[0, :] if function.count is None else tally


def inverse(f: Function | Batch, stop: int, xp: Any = np, budget: int = BUDGET) -> Array:
    """Return the first index that has each value below ``stop``, -1 where none has: an array [value], or [row][value].

    >>> from layouts.layout import Layout
    >>> inverse(Layout((2, 3), (4, 1)), 8).tolist()
    [0, 2, 4, -1, 1, 3, 5, -1]
    """
    function = batch(f, xp)
    xp = function.xp
    if (function.count or 1) * (stop + 1) * function.size > INT64_MAX:
        raise LayoutError(
            f"{function.count or 1} functions of {function.size} indices have too many values below {stop}"
        )
    indices = xp.full((function.count or 1, stop), -1, dtype=xp.int64)
    for which, part in _parts(budget, function):
        rows = part.count or 1
        for start, end in part.spans(budget):
            n = end - start
            places = xp.reshape(_places(part, start, end, stop), (rows, n))
            keys = xp.sort(xp.reshape(places * n + xp.arange(n, dtype=xp.int64), (-1,)))
            wanted = xp.arange(rows * stop, dtype=xp.int64)
            at = xp.searchsorted(keys, wanted * n)
            first = xp.take(keys, xp.where(at < rows * n, at, 0))
            index = xp.reshape(xp.where(first // n == wanted, start + first % n, -1), (rows, stop))
            indices[which, :] = xp.where(indices[which, :] < 0, index, indices[which, :])
    return indices[0, :] if function.count is None else indices


def _parts(budget: int, function: Batch, *arguments: Any) -> Iterator[tuple[Any, ...]]:
    """(rows, each argument's part of them), as many rows as have ``budget`` bytes of values; one function is one row.

    Arguments are batches, columns [row][1], or numbers.
    """
    given = (function, *arguments)
    count = next((b.count for b in given if isinstance(b, Batch) and b.count is not None), 1)
    size = max(b.size for b in given if isinstance(b, Batch))
    step = max(1, budget // (8 * size))
    for start in range(0, count, step):
        rows = slice(start, min(start + step, count))
        parts = (b.rows(rows) if isinstance(b, Batch) else b if isinstance(b, int) else b[rows, :] for b in given)
        yield rows, *parts


def _first(bad: Callable[..., Array], limits: Any, function: Batch, *arguments: Any, budget: int) -> Fault:
    """Return the first index below its limit at which ``bad`` is true: of (start, stop, parts of the arguments)."""
    xp = function.xp
    count = next((b.count for b in (function, *arguments) if isinstance(b, Batch) and b.count is not None), None)
    if count is None:
        for start, stop in function.spans(budget, limits):
            mask = bad(start, stop, function, *arguments)
            if xp.any(mask):
                return start + int(_argfirst(xp, mask))
        return None
    faults = xp.full((count,), -1, dtype=xp.int64)
    bounds = xp.asarray(limits, dtype=xp.int64) + xp.zeros((count,), dtype=xp.int64)
    for rows, *parts in _parts(budget, function, *arguments):
        for start, stop in parts[0].spans(budget, min(b.size for b in parts if isinstance(b, Batch))):
            index = xp.arange(start, stop, dtype=xp.int64)
            mask = bad(start, stop, *parts) & (index < bounds[rows][:, None])
            first = xp.where(xp.any(mask, axis=-1), start + _argfirst(xp, mask), -1)
            faults[rows] = xp.where(faults[rows] < 0, first, faults[rows])
            if xp.all(faults[rows] >= 0):
                break
    return faults


def _argfirst(xp: Any, mask: Array) -> Array:
    """Return the first place along the last axis that is true, 0 where none is."""
    return xp.argmax(xp.asarray(mask, dtype=xp.int8), axis=-1)


def _first_repeat(function: Batch, budget: int) -> int | None:
    xp = function.xp
    for start, stop in function.spans(budget):
        values = function.values(start, stop, narrow=True)
        ordered = xp.sort(values)
        again = []
        if xp.any(ordered[1:] == ordered[:-1]):
            again.append(int(_repeats(xp, xp.asarray(xp.searchsorted(ordered, values), dtype=xp.int64), 0)))
        for before, end in function.spans(budget):
            if before == start:
                break
            earlier = xp.sort(function.values(before, end, narrow=True))
            place = xp.searchsorted(earlier, values)
            seen = xp.take(earlier, xp.where(place < end - before, place, 0)) == values
            if xp.any(seen):
                again.append(int(_argfirst(xp, seen)))
        if again:
            return start + min(again)
    return None


def _repeats(xp: Any, values: Array, low: int) -> Array:
    """Return the first index along the last axis whose value, >= low, occurs before it, else how many there are."""
    n = values.shape[-1]
    keys = xp.sort((values - low) * n + xp.arange(n, dtype=xp.int64), axis=-1)
    again = keys[..., 1:] // n == keys[..., :-1] // n
    later = xp.where(again, keys[..., 1:] % n, n)
    last = xp.full((*values.shape[:-1], 1), n, dtype=xp.int64)  # so that a single index has a least one, too
    later = xp.min(later, axis=-1, keepdims=True) if n > 1 else last
    return later[..., 0]


def _places(part: Batch, start: int, stop: int, values: int) -> Array:
    """Row * values + value at each index, row by row; rows * values where the value or the index is out of bounds."""
    xp, rows = part.xp, part.count or 1
    image = xp.reshape(part.values(start, stop), (rows, stop - start))
    inside = (image >= 0) & (image < values)
    if part.count is not None:
        sizes = xp.asarray(part.sizes, dtype=xp.int64) + xp.zeros((rows,), dtype=xp.int64)
        inside &= xp.arange(start, stop, dtype=xp.int64) < sizes[:, None]
    row = xp.arange(rows, dtype=xp.int64)[:, None]
    return xp.reshape(xp.where(inside, image + row * values, rows * values), (-1,))


def _histogram(xp: Any, places: Array, stop: int) -> Array:
    """How often each number below ``stop`` occurs. The standard has no bincount; a namespace that has it is faster."""
    if hasattr(xp, "bincount"):
        return xp.bincount(places, minlength=stop + 1)[:stop]
    ordered, every = xp.sort(places), xp.arange(stop, dtype=xp.int64)
    return xp.searchsorted(ordered, every, side="right") - xp.searchsorted(ordered, every, side="left")
