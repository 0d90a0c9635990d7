# SPDX-License-Identifier: Apache-2.0
"""Certificates, found without a solver, that a layout takes exactly the values 0 .. size-1, each equally often.

There are two independent arguments: mixed radix, which is complete for every layout, and the rank over the field of two
elements, for layouts that are linear over it.
"""

from __future__ import annotations

from math import prod
from typing import Literal, NamedTuple

from layouts import Layout
from proofs.layout.modes import modes
from proofs.smt.script import Modes


class Certificate(NamedTuple):
    """The reason why every element of 0 .. size-1 has exactly ``copies`` owners.

    ``steps`` are, for "mixed radix", the modes (extent, stride) by increasing stride, each stride being the product of
    the extents before it; for "F2 rank", the images of the index bits as (2, image), bit-disjoint, spanning all bits.
    """

    method: Literal["mixed radix", "F2 rank"]
    size: int
    copies: int
    steps: Modes


def certificate(layout: Layout, size: int) -> Certificate | None:
    """Return a certificate that ``layout`` is onto 0 .. size-1, by mixed radix or else by F2 rank.

    None when there is none.

    >>> certificate(Layout.parse("((4,8),(2,2)):((32,1),(16,8))"), 128).steps
    ((8, 1), (2, 8), (2, 16), (4, 32))
    >>> certificate(Layout.parse("((4,8),8):((32,1),8)"), 256) is None
    True
    """
    return mixed_radix(layout, size) or f2_rank(layout, size)


def mixed_radix(layout: Layout, size: int) -> Certificate | None:
    """Return the certificate by mixed radix; None exactly when the layout does not take each of 0 ..

    Size-1 equally often.

    The modes of stride 0 repeat everything. The others, by increasing stride, must be the places of a mixed-radix
    number: d_0 = 1, d_(i+1) = s_i * d_i, and their extents multiply to ``size``. The condition is necessary too: the
    smallest element not yet covered, s_i * d_i, can only be covered by a stride equal to it.

    >>> mixed_radix(Layout.parse("(4,2):(1,0)"), 4).copies
    2
    """
    flat = modes(layout)
    digits = sorted((mode for mode in flat if mode[1] != 0), key=lambda mode: mode[1])
    radix = 1
    for s, d in digits:
        if d != radix:
            return None
        radix *= s
    if radix != size:
        return None
    return Certificate("mixed radix", size, prod(s for s, d in flat if d == 0), tuple(digits))


def f2_rank(layout: Layout, size: int) -> Certificate | None:
    """Return the certificate by rank over F2.

    None when extents or ``size`` aren't powers of two or the map is not linear.

    Bit j of the index of a mode is mapped to stride * 2^j. When the images of different bits have no bit in common,
    sums are exclusive ors: the map is linear, and takes every number below 2^n equally often when its rank is n.

    >>> f2_rank(Layout.parse("(4,2):(2,1)"), 8).steps
    ((2, 2), (2, 4), (2, 1))
    """
    flat = modes(layout)
    if any(s & (s - 1) or d < 0 for s, d in flat) or size & (size - 1):
        return None
    images = [d << j for s, d in flat for j in range(s.bit_length() - 1)]
    union = 0
    for image in images:
        if image & union:
            return None
        union |= image
    bits = size.bit_length() - 1
    if union != size - 1 or _rank(images) != bits:
        return None
    return Certificate("F2 rank", size, 1 << (len(images) - bits), tuple((2, image) for image in images))


def _rank(rows: list[int]) -> int:
    """Return the rank over F2 of rows given as the bits of integers, by elimination on the leading bit."""
    basis: dict[int, int] = {}
    for row in rows:
        rest = row
        while rest and rest.bit_length() in basis:
            rest ^= basis[rest.bit_length()]
        if rest:
            basis[rest.bit_length()] = rest
    return len(basis)
