# SPDX-License-Identifier: Apache-2.0
"""Hierarchical integer tuples: an int, or a tuple of hierarchical integer tuples.

Shapes, strides and coordinates are such tuples. Two are *congruent* when their parentheses nest alike.
Source of names and meanings: CUTLASS, include/cute/int_tuple.hpp.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Protocol, TypeAlias

from layouts.errors import LayoutError, ProfileError

IntTuple: TypeAlias = "int | tuple[IntTuple, ...]"
MAX_DEPTH = 64  # tuples are read recursively; no layout is nested as deep


class HasShape(Protocol):
    """Anything with a shape, such as a layout."""

    @property
    def shape(self) -> IntTuple:
        """The extents, one per mode."""


Shaped: TypeAlias = "IntTuple | HasShape"


def shape(a: Shaped) -> IntTuple:
    """Return the shape of a layout; an integer tuple is its own shape."""
    return a if isinstance(a, (int, tuple)) else a.shape


def leaves(t: IntTuple) -> tuple[int, ...]:
    """Return the integers of ``t`` from left to right, always as a tuple.

    >>> leaves(((4, 8), 2)), leaves(5)
    ((4, 8, 2), (5,))
    """
    if not isinstance(t, tuple):
        return (t,)
    for x in t:
        if isinstance(x, tuple):
            break
    else:
        return t  # type: ignore[return-value]  # flat already
    flat: list[int] = []
    for x in t:
        if isinstance(x, tuple):
            flat.extend(leaves(x))
        else:
            flat.append(x)
    return tuple(flat)


def wrap(t: IntTuple) -> tuple[IntTuple, ...]:
    """``t`` as a tuple of modes: an int is its own only mode."""
    return t if isinstance(t, tuple) else (t,)


def product(t: IntTuple) -> int:
    """Return the product of all integers of ``t``; 1 for the empty tuple.

    >>> product(((4, 8), 2)), product(5), product(())
    (64, 5, 1)
    """
    return prod(leaves(t)) if isinstance(t, tuple) else t


def size(a: Shaped) -> int:
    """Return the number of coordinates of a shape or layout: the product of its extents.

    >>> size(((4, 8), 2))
    64
    """
    return product(shape(a))


def rank(a: Shaped) -> int:
    """Return the number of modes of the top level; 1 for an int.

    >>> rank(((4, 8), 2)), rank(5)
    (2, 1)
    """
    s = shape(a)
    return len(s) if isinstance(s, tuple) else 1


def depth(a: Shaped) -> int:
    """Return the depth of the parentheses: 0 for an int, 1 for a flat tuple (also for the empty one).

    >>> depth(5), depth((4, 8)), depth(((4, 8), 2))
    (0, 1, 2)
    """
    s = shape(a)
    return 1 + max((depth(x) for x in s), default=0) if isinstance(s, tuple) else 0


def congruent(a: Shaped, b: Shaped) -> bool:
    """Whether two tuples nest alike, whatever their integers.

    >>> congruent(((4, 8), 2), ((32, 1), 16)), congruent((8,), 8)
    (True, False)
    """
    x, y = shape(a), shape(b)
    if isinstance(x, tuple) and isinstance(y, tuple):
        return len(x) == len(y) and all(map(congruent, x, y))
    return isinstance(x, tuple) == isinstance(y, tuple)


def weakly_congruent(a: Shaped, b: Shaped) -> bool:
    """Whether ``b`` refines the profile of ``a``.

    An int of ``a`` may be anything in ``b``, a tuple of ``a`` is a tuple of the same rank, mode by mode.
    A partial order on profiles.

    >>> weakly_congruent((1, 1), ((2, 3), 4)), weakly_congruent(((2, 3), 4), (1, 1))
    (True, False)
    """
    x, y = shape(a), shape(b)
    if isinstance(x, tuple):
        return isinstance(y, tuple) and len(x) == len(y) and all(map(weakly_congruent, x, y))
    return True


def compatible(a: Shaped, b: Shaped) -> bool:
    """Whether every coordinate of shape ``a`` is one of shape ``b`` too, and the sizes agree.

    An int of ``a`` is a part of that size in ``b``; a tuple is a tuple of the same rank, mode by mode.
    A partial order on shapes.

    >>> compatible(24, (4, 6)), compatible((4, 6), ((2, 2), 6)), compatible((4, 6), 24)
    (True, True, False)
    """
    x, y = shape(a), shape(b)
    if isinstance(x, tuple):
        return isinstance(y, tuple) and len(x) == len(y) and all(map(compatible, x, y))
    return x == product(y)


def unflatten(flat: tuple[IntTuple, ...], profile: IntTuple) -> IntTuple:
    """Return the items of ``flat`` in the nesting of ``profile``.

    >>> unflatten((1, 2, 3), ((0, 0), 0))
    ((1, 2), 3)

    Raises ProfileError when the number of items and of the profile's integers differ.
    """
    need = len(leaves(profile))
    if need != len(flat):
        raise ProfileError(f"cannot nest {len(flat)} items {flat} like {profile}, which has {need} integers")
    return nest(iter(flat), profile)


def nest(items: Iterator[IntTuple], profile: IntTuple) -> IntTuple:
    """One item for each integer of ``profile``, in its nesting."""
    return tuple([nest(items, p) for p in profile]) if isinstance(profile, tuple) else next(items)


def check_shape(t: IntTuple) -> None:
    """Raise LayoutError unless ``t`` is a shape: an integer tuple with extents of at least 1."""
    check_int_tuple(t, "shape")
    if min(leaves(t), default=1) < 1:
        raise LayoutError(f"extents must be at least 1, got the shape {t}")


def check_int_tuple(t: object, what: str, level: int = 0) -> None:
    """Raise LayoutError unless ``t`` is an integer tuple: no other types, no booleans, at most 64 levels."""
    if isinstance(t, int) and not isinstance(t, bool):
        return
    if not isinstance(t, tuple):
        raise LayoutError(f"{what} must be an int or a tuple of such, got {type(t).__name__} {t!r}")
    if level == MAX_DEPTH:
        raise LayoutError(f"{what} nests deeper than {MAX_DEPTH} levels")
    for x in t:
        check_int_tuple(x, what, level + 1)
