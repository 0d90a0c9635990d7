# SPDX-License-Identifier: Apache-2.0
"""Instant certificates that a layout's values are exactly 0 .. size-1, each taken equally often. No solver.

Two independent arguments: mixed radix, complete for every layout, and rank over the field of two elements, for
layouts that are linear there.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Literal

from layouts import Layout
from proofs.layout.modes import modes
from proofs.smt.script import Modes


@dataclass(frozen=True, slots=True)
class Certificate:
    """Why every element of 0 .. size-1 is held exactly ``copies`` times.

    steps, for "mixed radix": the modes (extent, stride) by increasing stride, each stride being the product of the
    extents before it; for "F2 rank": the images of the index bits as (2, image), bit-disjoint, spanning all bits.
    """

    method: Literal["mixed radix", "F2 rank"]
    size: int
    copies: int
    steps: Modes


def certificate(layout: Layout, size: int) -> Certificate | None:
    """A certificate for ``layout`` onto 0 .. size-1, by mixed radix or else by F2 rank; None: there is none.

    >>> certificate(Layout.parse("((4,8),(2,2)):((32,1),(16,8))"), 128).steps
    ((8, 1), (2, 8), (2, 16), (4, 32))
    >>> certificate(Layout.parse("((4,8),8):((32,1),8)"), 256) is None
    True
    """
    return mixed_radix(layout, size) or f2_rank(layout, size)


def mixed_radix(layout: Layout, size: int) -> Certificate | None:
    """The certificate by mixed radix; None just when the layout does not hold 0 .. size-1 equally often.

    The modes of stride 0 repeat everything; the others, by increasing stride, must be the digits of a mixed-radix
    numeral: d_0 = 1, d_(i+1) = s_i * d_i, and their extents multiply to ``size``. It is necessary too: the smallest
    element not yet reached, s_i * d_i, can only be reached by a stride equal to it.
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
    """The certificate by rank over F2; None where extents or ``size`` are not powers of two, or the map not linear.

    Index bit j of a mode goes to stride * 2^j. Where the images of different bits have no bit in common, sums are
    exclusive ors: the map is linear, and holds every number below 2^n equally often when its rank is n.
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


def smallest_gap(flat: Modes) -> int:
    """The smallest integer >= 0 that is no value of modes with strides >= 0.

    By increasing stride: while each stride is at most one beyond what the modes before it reach, the values are an
    unbroken run; the first stride past that leaves the number it jumps over without a preimage.

    >>> smallest_gap(((4, 2), (2, 1))), smallest_gap(((4, 2), (2, 3)))
    (8, 1)
    """
    reach = 1
    for s, d in sorted(flat, key=lambda mode: mode[1]):
        if d > reach:
            break
        reach += (s - 1) * d
    return reach


def _rank(rows: list[int]) -> int:
    """The rank of bit rows over F2, by elimination on the leading bit."""
    basis: dict[int, int] = {}
    for row in rows:
        rest = row
        while rest and rest.bit_length() in basis:
            rest ^= basis[rest.bit_length()]
        if rest:
            basis[rest.bit_length()] = rest
    return len(basis)
