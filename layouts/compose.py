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
from layouts.errors import LayoutError, RejectedError
from layouts.int_tuple import IntTuple
from layouts.layout import Layout, leaves_of, make_layout, trust_layout

Tiler: TypeAlias = "Layout | int | tuple[Tiler, ...] | None"


class _NotAdmissible(RejectedError):
    """The no-carry condition fails."""


def composition(a: Layout, b: Tiler) -> Layout:
    """Return the layout R with R(c) = A(B(c)) for every coordinate c of B, where compatible(B, R).

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
    return trust_layout(*Carry(a, b, radices[:-1], weights).mode(b.shape, b.stride))


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
    """Return the extents and strides of A's modes, neighbours merged, as a function of every index.

    Beyond A's domain its last mode continues.

    >>> merged_modes(Layout.parse("(2,3,1):(1,2,7)"))
    ([6, 2], [1, 7])
    """
    extents, strides = leaves_of(a)
    # B may lead beyond A's domain, where CuTe continues the last mode: so its stride counts even if its extent is 1,
    # and an extent of 2 keeps `merge` from dropping it. Any extent would do, because the last mode is unbounded.
    if not extents or extents[-1] == 1:
        extents, strides = (*extents[:-1], 2), strides or (0,)
    return merge(extents, strides)


class Carry:
    """The digits of A that the modes of B have used so far.

    The proof of composition executes ``take_run`` by itself, and the loops around it with its contract in its place.
    """

    __slots__ = ("a", "b", "radices", "used", "weights")

    def __init__(self, a: Layout, b: Layout, radices: list[int], weights: list[int]) -> None:
        self.a, self.b = a, b
        self.radices, self.weights = radices, weights
        self.used = [0] * len(radices)

    def mode(self, extent: IntTuple, step: IntTuple) -> tuple[IntTuple, IntTuple]:
        """Return A o (extent:step), nested alike; an integer becomes several modes where adding carries."""
        if isinstance(extent, tuple) or isinstance(step, tuple):
            return self.modes(extent, step)  # type: ignore[arg-type]  # nested alike
        if step == 0:
            return extent, 0
        if extent == 1:
            return 1, self.unit_stride(step)
        if step < 0:
            raise self.fault("the mode {}:{} of B reaches negative indices of A", extent, step)
        if not self.radices:  # A is one unbounded mode: it is linear, and nothing carries
            return extent, step * self.weights[0]
        n, value = self.take_run(extent, step)
        if n == extent:
            return n, value
        shapes, strides = [n], [value]
        while (extent := extent // n) > 1:
            step *= n
            n, value = self.take_run(extent, step)
            shapes.append(n)
            strides.append(value)
        return tuple(shapes), tuple(strides)

    def modes(self, extents: tuple[IntTuple, ...], steps: tuple[IntTuple, ...]) -> tuple[IntTuple, IntTuple]:
        """Return the modes A o (extent:step) of a tuple, from left to right."""
        shapes: list[IntTuple] = []
        strides: list[IntTuple] = []
        for i, extent in enumerate(extents):
            shape, stride = self.mode(extent, steps[i])
            shapes.append(shape)
            strides.append(stride)
        return tuple(shapes), tuple(strides)

    def take_run(self, rest: int, step: int) -> tuple[int, int]:
        """Return the first mode n:A(step) of rest:step: n steps, until a digit carries or all steps are done."""
        digits: list[int] = []
        n, index, value = rest, step, 0
        for i, radix in enumerate(self.radices):
            digit = index % radix
            digits.append(digit)
            if digit:
                value += digit * self.weights[i]
                carry = -(-radix // digit)  # so many steps until the digit reaches the radix
                n = carry if carry < n else n
            index //= radix
        # A layout repeats one run of n steps. If the mode ended in the middle of one, none would have these values.
        if rest % n:
            raise self.fault(
                "the mode {}:{} of B carries out of a mode of A after {} steps, and {} does not divide {}",
                rest, step, n, n, rest,
            )  # fmt: skip
        # The run ends n - 1 steps away: so much of each digit is in use when the other modes of B add to it.
        self.use(digits, n - 1)
        return n, value + index * self.weights[-1]

    def use(self, digits: list[int], times: int) -> None:
        """Add ``times`` uses of the digits. Raises _NotAdmissible where they carry."""
        for i, digit in enumerate(digits):
            if digit:
                self.used[i] += digit * times
                if self.used[i] >= self.radices[i]:
                    raise self.fault(
                        "the modes of B together reach digit {} in mode {} of the coalesced A, "
                        "which has the extent {}: A(B(c)) carries",
                        self.used[i], i, self.radices[i],
                    )  # fmt: skip

    def unit_stride(self, step: int) -> int:
        """CuTe's stride for an extent of 1; inside the domain its value does not matter."""
        for radix in self.radices:
            step = -(-abs(step) // radix) * (1 if step > 0 else -1)
        return step * self.weights[-1]

    def fault(self, why: str, *numbers: int) -> _NotAdmissible:
        """Return the rejection for a reason with these numbers."""
        return _NotAdmissible("composition of A = {} with B = {}: " + why, self.a, self.b, *numbers)
