# SPDX-License-Identifier: Apache-2.0
"""The operations of the layout algebra as published, with their errors: the subject of the refuted claims.

A layout is a pair of flat tuples (shape, stride). The functions follow the descriptions in the documentation of CUTLASS
and are used for refutations only. `Published` has them as the claims need them.
"""

from __future__ import annotations

from math import prod

from proofs.definitions import flat, size

Flat = tuple[tuple[int, ...], tuple[int, ...]]


def cosize(a: Flat) -> int:
    """Return the largest value plus 1: 1 + the sum of (s - 1) * d."""
    return 1 + sum((s - 1) * d for s, d in zip(*a, strict=True))


def notation(a: Flat) -> str:
    """Return the layout in CuTe's notation.

    >>> notation(((6, 2), (1, 7)))
    '(6,2):(1,7)'
    """
    parts = [str(side[0]) if len(side) == 1 else f"({','.join(map(str, side))})" for side in a]
    return ":".join(parts)


def compose_mode(a: Flat, n: int, r: int) -> Flat | None:
    """Return A o (n:r) if the mode is admissible (Shah 2024, 2.12: r divides or is divided by each extent)."""
    shapes: list[int] = []
    strides: list[int] = []
    for s, d in zip(a[0][:-1], a[1][:-1], strict=True):
        if n == 1:
            break
        if r % s == 0:
            r //= s
        elif s % r:
            return None
        elif (n - 1) * r < s:
            shapes, strides, n = [*shapes, n], [*strides, r * d], 1
        elif n % (s // r):
            return None
        else:
            shapes, strides, n, r = [*shapes, s // r], [*strides, r * d], n // (s // r), 1
    if n > 1 or not shapes:
        shapes, strides = [*shapes, n], [*strides, r * a[1][-1]]
    return tuple(shapes), tuple(strides)


def cute_fold(a: Flat, n: int, r: int, guard: str) -> Flat | None:
    """Return A o (n:r) as CuTe computes it; None when CuTe's assertion rejects it.

    ``guard`` is the assertion. "divides": the stride divides each extent or is divided by it. "weak": a stride smaller
    than the extent passes too, and the part that is split off must divide what is left.
    """
    shapes: list[int] = []
    strides: list[int] = []
    for s, d in zip(a[0][:-1], a[1][:-1], strict=True):
        if s % r and r % s and not (guard == "weak" and r < s):
            return None
        step = min(max(1, -(-s // r)), n)
        if guard == "weak" and n % step:
            return None
        if step != 1:
            shapes, strides = [*shapes, step], [*strides, r * d]
        n, r = n // step, -(-r // s)
    if n != 1 or not shapes:
        shapes, strides = [*shapes, n], [*strides, r * a[1][-1]]
    return tuple(shapes), tuple(strides)


def complement(a: Flat, target: int) -> Flat:
    """Return the complement with gaps d // end rounded down, as in all implementations of CuTe."""
    shapes: list[int] = []
    strides: list[int] = []
    end = 1
    for d, s in sorted(zip(a[1], a[0], strict=True)):
        if s > 1 and d:
            shapes, strides, end = [*shapes, d // end], [*strides, end], s * d
    return (*shapes, -(-target // end)), (*strides, end)


def right_inverse(a: Flat) -> Flat:
    """Return the right inverse by the chain of modes with strides 1, s_0, s_0 s_1, ..., up to the first gap."""
    before = [prod(a[0][:i]) for i in range(len(a[0]))]
    shapes: list[int] = []
    strides: list[int] = []
    end = 1
    for d, s, p in sorted(zip(a[1], a[0], before, strict=True)):
        if s > 1 and d == end:
            shapes, strides, end = [*shapes, s], [*strides, p], s * d
        elif s > 1:
            break
    return (tuple(shapes), tuple(strides)) if shapes else ((1,), (0,))


class InputRejected(Exception):
    """An operation rejects its input: the claim says nothing of it."""


class Published:
    """The operations that the refuted claims are about, as published; those of an implementation override them.

    Each raises Rejected for an input that it rejects.
    """

    def by_mode(self, a: Flat, b: Flat) -> list[Flat]:
        """Return (A o B_0, A o B_1, ...), each mode by the fold of Shah 2024, which must accept all of them."""
        return [_accept(compose_mode(a, n, r)) for n, r in zip(*b, strict=True)]

    def fold(self, a: Flat, n: int, r: int, guard: str) -> Flat:
        """Return A o (n:r) by CuTe's fold."""
        return _accept(cute_fold(a, n, r, guard))

    def complement(self, a: Flat, target: int) -> Flat:
        """Return the complement with gaps rounded down."""
        return complement(a, target)

    def left_inverse(self, a: Flat) -> Flat:
        """Return the right inverse of (A, A*)."""
        rest = complement(a, cosize(a))
        return right_inverse((a[0] + rest[0], a[1] + rest[1]))

    def compatible(self, a: object, b: object) -> bool:
        """Whether the sizes are equal, mode by mode at the top level."""
        if isinstance(a, tuple) and isinstance(b, tuple):
            return len(a) == len(b) and all(shape_size(x) == shape_size(y) for x, y in zip(a, b, strict=True))
        return shape_size(a) == shape_size(b)


def _accept(result: Flat | None) -> Flat:
    if result is None:
        raise InputRejected
    return result


def shape_size(shape: object) -> int:
    """Return the product of the integers of a shape."""
    return size(flat((shape, shape)))
