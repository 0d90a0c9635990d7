# SPDX-License-Identifier: Apache-2.0
"""Division of shapes. Source: CUTLASS, include/cute/int_tuple.hpp."""

from __future__ import annotations

from layouts.errors import LayoutError
from layouts.int_tuple import IntTuple, Shaped, product, shape


def ceil_div(a: IntTuple, b: IntTuple) -> IntTuple:
    """Return the number of ``b`` that cover ``a``: the quotient rounded up.

    Ints: the least q with q*b >= a. Tuples: mode by mode, missing modes of ``b`` count as 1. A tuple by an
    int: the divisor is divided among the modes from the left, r_0 = b, q_i = ceil_div(a_i, r_i), r_{i+1} =
    ceil_div(r_i, a_i).

    >>> ceil_div(7, 2), ceil_div((7, 6), (2,)), ceil_div((4, 5, 6), 40)
    (4, (4, 6), (1, 1, 3))

    Raises LayoutError for divisors below 1 and when ``b`` has more modes than ``a``.
    """
    if isinstance(a, tuple) and isinstance(b, tuple):
        if len(b) > len(a):
            raise LayoutError(f"ceil_div of {a} by {b}: the divisor has more modes")
        return tuple(map(ceil_div, a, b)) + a[len(b) :]
    if isinstance(a, tuple):
        quotients: list[IntTuple] = []
        for x in a:
            quotients.append(ceil_div(x, b))
            b = ceil_div(b, x)
        return tuple(quotients)
    divisor = product(b)
    if divisor < 1:
        raise LayoutError(f"ceil_div of {a} by {b}: the divisor must be at least 1")
    return -(-a // divisor)


def round_up(a: IntTuple, b: IntTuple) -> IntTuple:
    """Return the least multiple of ``b`` that is at least ``a``, mode by mode; missing modes of ``b`` count as 1.

    >>> round_up(7, 4), round_up((7, 6), (4,))
    (8, (8, 6))

    Raises LayoutError for divisors below 1, when ``b`` has more modes than ``a``, and for a tuple by an int.
    """
    if isinstance(a, tuple):
        if not isinstance(b, tuple) or len(b) > len(a):
            raise LayoutError(f"round_up of {a} to multiples of {b}: a tuple needs a tuple of at most as many modes")
        return tuple(map(round_up, a, b)) + a[len(b) :]
    return product(ceil_div(a, b)) * product(b)


def shape_div(a: IntTuple, b: IntTuple) -> IntTuple:
    """Return the shape that is left of ``a`` after its first ``b`` elements are taken as one.

    Ints: a / b when b divides a, 1 when a divides b. Tuples: mode by mode. A tuple by an int: the divisor is
    divided among the modes from the left, as in ceil_div.

    >>> shape_div(12, 4), shape_div((4, 5, 6), 40), shape_div((12, 3), (4, 3))
    (3, (1, 1, 3), (3, 1))

    Raises LayoutError when neither of two ints divides the other, and when ranks differ.
    """
    if isinstance(a, tuple) and isinstance(b, tuple):
        if len(a) != len(b):
            raise LayoutError(f"shape_div of {a} by {b}: {len(a)} and {len(b)} modes")
        return tuple(map(shape_div, a, b))
    if isinstance(a, tuple):
        quotients: list[IntTuple] = []
        for x in a:
            quotients.append(shape_div(x, b))
            b = shape_div(b, product(x))
        return tuple(quotients)
    divisor = product(b)
    if a < 1 or divisor < 1 or (a % divisor and divisor % a):
        raise LayoutError(f"shape_div of {a} by {divisor}: neither divides the other")
    return max(1, a // divisor)


def evenly_divides(a: Shaped, b: IntTuple) -> bool:
    """Whether tiles of shape ``b`` divide shape ``a`` without a remainder.

    An int b: size(a) = b * size(ceil_div(a, b)). Then b divides size(a); the reverse holds where the first b
    elements are whole leading modes and a divisor of the next. A tuple: mode by mode, modes of ``a`` beyond it
    count as divided.

    >>> evenly_divides((8, 6), 16), evenly_divides((8, 6), (4, 3)), evenly_divides((15, 14), 6)
    (True, True, False)

    False, not an error, when ``b`` has more modes than ``a``. Raises LayoutError for divisors below 1.
    """
    whole = shape(a)
    if isinstance(b, tuple):
        modes = whole if isinstance(whole, tuple) else (whole,)
        return len(b) <= len(modes) and all(map(evenly_divides, modes, b))
    return product(whole) == b * product(ceil_div(whole, b))
