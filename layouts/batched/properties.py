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
    one, other = batch(f, xp), batch(g, xp)

    def bad(start: int, stop: int, one: Batch, other: Batch) -> Array:
        return one.values(start, stop, narrow=True) != other.values(start, stop, narrow=True)

    if one.count is None and other.count is None:
        both = min(one.size, other.size)
        found = _first(bad, both, one, other, budget=budget)
        return both if found is None and one.size != other.size else found
    xp = one.xp
    mine, theirs = xp.asarray(one.sizes), xp.asarray(other.sizes)
    both = xp.where(mine < theirs, mine, theirs)
    found = _first(bad, both, one, other, budget=budget)
    return xp.where((found < 0) & (mine != theirs), both, found)


def first_outside(f: Function | Batch, stop: Any, xp: Any = np, budget: int = BUDGET) -> Fault:
    """Return the first index i whose value is not in bounds: not 0 <= F(i) < stop.

    ``stop`` is an int, or an array [row].

    >>> from layouts.layout import Layout
    >>> first_outside(Layout((2, 4), (8, 1)), 12), first_outside(Layout((2, 4), (8, 1)), 11)
    (None, 7)
    """
    one = batch(f, xp)

    def bad(start: int, end: int, one: Batch, bound: Any) -> Array:
        values = one.values(start, end)
        return (values < 0) | (values >= bound)

    return _first(bad, one.sizes, one, stop if isinstance(stop, int) else stop[:, None], budget=budget)


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
    one = batch(f, xp)
    if one.count is None:
        return _first_repeat(one, budget)
    found = one.xp.full((one.count,), -1, dtype=one.xp.int64)
    if 8 * one.size > budget or (one.high - one.low + 1) * one.size > INT64_MAX:  # too large for rows at once
        for row in range(one.count):
            repeat = _first_repeat(one.row(row), budget)
            found[row] = -1 if repeat is None else repeat
        return found
    for which, part in _parts(budget, one):
        repeats = _repeats(one.xp, part.values(), one.low)
        found[which] = one.xp.where(repeats < one.xp.asarray(part.sizes), repeats, -1)
    return found


def is_bijection(f: Function | Batch, xp: Any = np, budget: int = BUDGET) -> Any:
    """Whether F takes every value in 0 .. size - 1 exactly once, as a compact layout does; an array [row] of answers.

    >>> from layouts.layout import Layout
    >>> is_bijection(Layout((2, 4), (4, 1))), is_bijection(Layout((2, 4), (5, 1)))
    (True, False)
    """
    one = batch(f, xp)
    outside, repeat = first_outside(one, one.sizes, budget=budget), first_repeat(one, budget=budget)
    return outside is None and repeat is None if one.count is None else (outside < 0) & (repeat < 0)


def counts(f: Function | Batch, stop: int, xp: Any = np, budget: int = BUDGET) -> Array:
    """Return the number of indices that have each value below ``stop``: an array [value], or [row][value].

    >>> from layouts.layout import Layout
    >>> counts(Layout((2, 3), (1, 1)), 5).tolist()
    [1, 2, 2, 1, 0]
    """
    one = batch(f, xp)
    xp = one.xp
    found = xp.zeros((one.count or 1, stop), dtype=xp.int64)
    for which, part in _parts(budget, one):
        rows = part.count or 1
        for start, end in part.spans(budget):
            numbers = _histogram(xp, _places(part, start, end, stop), rows * stop)
            found[which, :] += xp.reshape(numbers, (rows, stop))
    return found[0, :] if one.count is None else found


def inverse(f: Function | Batch, stop: int, xp: Any = np, budget: int = BUDGET) -> Array:
    """Return the first index that has each value below ``stop``, -1 where none has: an array [value], or [row][value].

    >>> from layouts.layout import Layout
    >>> inverse(Layout((2, 3), (4, 1)), 8).tolist()
    [0, 2, 4, -1, 1, 3, 5, -1]
    """
    one = batch(f, xp)
    xp = one.xp
    if (one.count or 1) * (stop + 1) * one.size > INT64_MAX:
        raise LayoutError(f"{one.count or 1} functions of {one.size} indices have too many values below {stop}")
    found = xp.full((one.count or 1, stop), -1, dtype=xp.int64)
    for which, part in _parts(budget, one):
        rows = part.count or 1
        for start, end in part.spans(budget):
            n = end - start
            places = xp.reshape(_places(part, start, end, stop), (rows, n))
            keys = xp.sort(xp.reshape(places * n + xp.arange(n, dtype=xp.int64), (-1,)))
            wanted = xp.arange(rows * stop, dtype=xp.int64)
            at = xp.searchsorted(keys, wanted * n)
            first = xp.take(keys, xp.where(at < rows * n, at, 0))
            index = xp.reshape(xp.where(first // n == wanted, start + first % n, -1), (rows, stop))
            found[which, :] = xp.where(found[which, :] < 0, index, found[which, :])
    return found[0, :] if one.count is None else found


def _parts(budget: int, one: Batch, *others: Any) -> Iterator[tuple[Any, ...]]:
    """(rows, each argument's part of them), as many rows as have ``budget`` bytes of values; one function is one row.

    Arguments are batches, columns [row][1], or numbers.
    """
    given = (one, *others)
    count = next((b.count for b in given if isinstance(b, Batch) and b.count is not None), 1)
    size = max(b.size for b in given if isinstance(b, Batch))
    step = max(1, budget // (8 * size))
    for start in range(0, count, step):
        rows = slice(start, min(start + step, count))
        parts = (b.rows(rows) if isinstance(b, Batch) else b if isinstance(b, int) else b[rows, :] for b in given)
        yield rows, *parts


def _first(bad: Callable[..., Array], limits: Any, one: Batch, *others: Any, budget: int) -> Fault:
    """Return the first index below its limit at which ``bad`` is true: of (start, stop, parts of the arguments)."""
    xp = one.xp
    count = next((b.count for b in (one, *others) if isinstance(b, Batch) and b.count is not None), None)
    if count is None:
        for start, stop in one.spans(budget, limits):
            found = bad(start, stop, one, *others)
            if xp.any(found):
                return start + int(_argfirst(xp, found))
        return None
    faults = xp.full((count,), -1, dtype=xp.int64)
    bounds = xp.asarray(limits, dtype=xp.int64) + xp.zeros((count,), dtype=xp.int64)
    for rows, *parts in _parts(budget, one, *others):
        for start, stop in parts[0].spans(budget, min(b.size for b in parts if isinstance(b, Batch))):
            index = xp.arange(start, stop, dtype=xp.int64)
            found = bad(start, stop, *parts) & (index < bounds[rows][:, None])
            first = xp.where(xp.any(found, axis=-1), start + _argfirst(xp, found), -1)
            faults[rows] = xp.where(faults[rows] < 0, first, faults[rows])
            if xp.all(faults[rows] >= 0):
                break
    return faults


def _argfirst(xp: Any, found: Array) -> Array:
    """Return the first place along the last axis that is true, 0 where none is."""
    return xp.argmax(xp.asarray(found, dtype=xp.int8), axis=-1)


def _first_repeat(one: Batch, budget: int) -> int | None:
    xp = one.xp
    for start, stop in one.spans(budget):
        values = one.values(start, stop, narrow=True)
        ordered = xp.sort(values)
        again = []
        if xp.any(ordered[1:] == ordered[:-1]):
            again.append(int(_repeats(xp, xp.asarray(xp.searchsorted(ordered, values), dtype=xp.int64), 0)))
        for before, end in one.spans(budget):
            if before == start:
                break
            earlier = xp.sort(one.values(before, end, narrow=True))
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
    found = xp.reshape(part.values(start, stop), (rows, stop - start))
    inside = (found >= 0) & (found < values)
    if part.count is not None:
        sizes = xp.asarray(part.sizes, dtype=xp.int64) + xp.zeros((rows,), dtype=xp.int64)
        inside &= xp.arange(start, stop, dtype=xp.int64) < sizes[:, None]
    row = xp.arange(rows, dtype=xp.int64)[:, None]
    return xp.reshape(xp.where(inside, found + row * values, rows * values), (-1,))


def _histogram(xp: Any, places: Array, stop: int) -> Array:
    """How often each number below ``stop`` occurs. The standard has no bincount; a namespace that has it is faster."""
    if hasattr(xp, "bincount"):
        return xp.bincount(places, minlength=stop + 1)[:stop]
    ordered, every = xp.sort(places), xp.arange(stop, dtype=xp.int64)
    return xp.searchsorted(ordered, every, side="right") - xp.searchsorted(ordered, every, side="left")
