# SPDX-License-Identifier: Apache-2.0
"""Composition of layouts, and the condition under which it exists.

Write A, coalesced, as the flat modes (M_0, ..., M_k):(D_0, ..., D_k): A(x) = sum of digit_i(x) * D_i, where the
digits of x have the radices M_i and the last one is unbounded. Then A(x + y) = A(x) + A(y) whenever adding x and y
carries out of no digit below the last. So a mode N:r of B becomes N:A(r) if adding r to itself N - 1 times never
carries; at the first carry, after n steps, n must divide N, and the rest of the mode is N/n : n*r. All modes
together must not carry either: for every i < k the sum of (n_j - 1) * digit_i(r_j) over all resulting modes n_j of
stride r_j must stay below M_i. This no-carry condition suffices for all strides D, and is necessary for generic ones.
"""

from __future__ import annotations

from typing import TypeAlias

from layouts.coalesce import merge
from layouts.errors import LayoutError
from layouts.int_tuple import IntTuple, leaves, nest, unwrap
from layouts.layout import Layout, make_layout, trusted

Tiler: TypeAlias = "Layout | int | tuple[Tiler, ...] | None"


class _NotAdmissible(LayoutError):
    """The no-carry condition fails."""


def composition(a: Layout, b: Tiler) -> Layout:
    """The layout R with R(c) = A(B(c)) for every coordinate c of B, where compatible(B, R).

    An int n means n:1. A tuple composes mode by mode, R(c_0, c_1, ...) = A(B_0(c_0), B_1(c_1), ...), None
    keeps its mode, and modes of A beyond the tuple are dropped, as in CuTe C++ (pycute keeps them).

    >>> print(composition(Layout.parse("(6,2):(8,2)"), Layout.parse("(4,3):(3,1)")))
    ((2,2),3):((24,2),8)
    >>> print(composition(Layout.parse("(6,2):(8,2)"), (Layout(3, 2), None)))
    (3,2):(16,2)

    Raises LayoutError when the no-carry condition (see the module) fails, when B has a negative stride (B(c) would
    be negative), and when a tuple has more modes than A.
    """
    if not isinstance(b, Layout):
        if b is None:
            return a
        if isinstance(b, tuple):
            if len(b) > len(a):
                raise LayoutError(f"a tiler of {len(b)} modes for {a}, which has {len(a)}")
            return make_layout(*map(composition, a, b))
        b = Layout(b)
    radices, weights = merged_modes(a)
    carry = Carry(a, b, radices[:-1], weights)
    if isinstance(b.shape, int) and isinstance(b.stride, int):
        return trusted(*carry.mode(b.shape, b.stride))
    modes = [carry.mode(n, r) for n, r in zip(leaves(b.shape), leaves(b.stride), strict=True)]
    return trusted(nest((s for s, _ in modes), b.shape), nest((d for _, d in modes), b.shape))


def admissible(a: Layout, b: Tiler) -> bool:
    """Whether the no-carry condition holds, that is, whether composition(a, b) returns a layout.

    True implies that a layout R with R(c) = A(B(c)) and compatible(B, R) exists. False implies that none exists for
    generic strides of A (for special ones, such as equal strides, one may).

    >>> admissible(Layout.parse("(6,2):(1,7)"), Layout.parse("(3,2):(2,3)"))
    False
    >>> A = Layout.parse("(2,2,2):(0,1,1)")  # the smallest special case: rejected, though 3:1 is A o 3:3
    >>> admissible(A, Layout(3, 3)), [A(3 * k) for k in range(3)]
    (False, [0, 1, 2])

    Raises LayoutError when a tuple has more modes than A.
    """
    try:
        composition(a, b)
    except _NotAdmissible:
        return False
    return True


def merged_modes(a: Layout) -> tuple[list[int], list[int]]:
    """The extents and strides of A's modes, neighbours merged, as a function of every index.

    Beyond A's domain its last mode continues.

    >>> merged_modes(Layout.parse("(2,3,1):(1,2,7)"))
    ([6, 2], [1, 7])
    """
    shapes, strides = leaves(a.shape) or (1,), leaves(a.stride) or (0,)
    # The last stride counts beyond the domain even where its extent is 1.
    return merge(shapes if shapes[-1] > 1 else (*shapes[:-1], 2), strides)


class Carry:
    """The digits of A that the modes of B have used so far.

    The proof of composition executes ``run`` by itself, and the loops around it with ``run`` replaced by its contract.
    """

    __slots__ = ("a", "b", "radices", "used", "weights")

    def __init__(self, a: Layout, b: Layout, radices: list[int], weights: list[int]) -> None:
        self.a, self.b = a, b
        self.radices, self.weights = radices, weights
        self.used = [0] * len(radices)

    def mode(self, extent: int, step: int) -> tuple[IntTuple, IntTuple]:
        """A o (extent:step), as one mode or, where adding carries, several."""
        if step == 0:
            return extent, 0
        if extent == 1:
            return 1, self.unit_stride(step)
        if step < 0:
            raise _NotAdmissible(f"{self}: the mode {extent}:{step} of B reaches negative indices of A")
        if not self.radices:
            return extent, step * self.weights[0]
        shapes: list[int] = []
        strides: list[int] = []
        rest = extent
        while rest > 1:
            n, value = self.run(rest, step)
            shapes.append(n)
            strides.append(value)
            rest //= n
            step *= n
        return unwrap(tuple(shapes)), unwrap(tuple(strides))

    def run(self, rest: int, step: int) -> tuple[int, int]:
        """The first mode n:A(step) of rest:step: n steps, until a digit carries or all steps are done."""
        digits, value = self.digits(step)
        n = rest
        for i, digit in enumerate(digits):
            if digit:
                n = min(n, -(-self.radices[i] // digit))
        if rest % n:
            raise _NotAdmissible(
                f"{self}: the mode {rest}:{step} of B carries out of a mode of A after {n} steps, "
                f"and {n} does not divide {rest}"
            )
        self.use(digits, n - 1)
        return n, value

    def digits(self, index: int) -> tuple[list[int], int]:
        """The bounded digits of an index, and A's value there."""
        digits: list[int] = []
        value = 0
        for radix, weight in zip(self.radices, self.weights, strict=False):
            digit = index % radix
            digits.append(digit)
            value += digit * weight
            index //= radix
        return digits, value + index * self.weights[-1]

    def use(self, digits: list[int], times: int) -> None:
        """Add ``times`` uses of the digits. Raises _NotAdmissible where they carry."""
        for i, digit in enumerate(digits):
            self.used[i] += digit * times
            if self.used[i] >= self.radices[i]:
                raise _NotAdmissible(
                    f"{self}: the modes of B together reach digit {self.used[i]} "
                    f"in mode {i} of the coalesced A, which has the extent {self.radices[i]}: A(B(c)) carries"
                )

    def unit_stride(self, step: int) -> int:
        """CuTe's stride for an extent of 1; inside the domain its value does not matter."""
        for radix in self.radices:
            step = -(-abs(step) // radix) * (1 if step > 0 else -1)
        return step * self.weights[-1]

    def __str__(self) -> str:
        return f"composition of A = {self.a} with B = {self.b}"
