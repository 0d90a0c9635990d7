# SPDX-License-Identifier: Apache-2.0
"""Functions composed with a swizzle. Source: CUTLASS, include/cute/layout_composed.hpp, swizzle_layout.hpp."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar, overload

from layouts.arrays import np
from layouts.compose import Tiler, admissible
from layouts.compose import composition as compose_layouts
from layouts.coords import IndexArray, Slicer, has_none
from layouts.errors import LayoutError
from layouts.int_tuple import IntTuple, rank, size
from layouts.layout import Layout, slice_and_offset
from layouts.swizzle import Swizzle, make_swizzle, merge_swizzles

Outer: TypeAlias = "Swizzle | Layout | ComposedLayout"
Inner: TypeAlias = "Layout | ComposedLayout"

MAX_POINTS = 2**24  # of a composed layout that are listed: an array of them takes 128 MiB
BLOCK = 2**18  # points evaluated at once

L = TypeVar("L", bound="Layout | ComposedLayout")


@dataclass(frozen=True, slots=True)
class ComposedLayout:
    """The function layout_a o offset o layout_b: R(c) = layout_a(offset + layout_b(c)).

    ``layout_b`` gives the shape. There are no strides: with a swizzle outside, R is not linear in its digits.

    >>> R = ComposedLayout(Swizzle(2, 0, 2), 0, Layout((4, 4), (4, 1)))
    >>> str(R), R(1, 2), R(9)
    ('Sw<2,0,2> o 0 o (4,4):(4,1)', 7, 7)

    Raises LayoutError for an offset that is not a natural number.
    """

    layout_a: Outer
    offset: int
    layout_b: Inner

    def __post_init__(self) -> None:
        if type(self.offset) is not int or self.offset < 0:
            raise LayoutError(f"the offset of a composed layout must be a natural number, got {self.offset!r}")

    @property
    def shape(self) -> IntTuple:
        """The shape of the domain: that of ``layout_b``."""
        return self.layout_b.shape

    @overload
    def __call__(self, *coord: int) -> int: ...
    @overload
    def __call__(self, *coord: Slicer) -> Any: ...
    def __call__(self, *coord: Slicer) -> Any:
        """Return the value at a coordinate; with None in it, the composed layout of the modes at the Nones.

        The values of the fixed modes go into the offset: S(x) = R(coord with x in place of its Nones).

        >>> R = ComposedLayout(Swizzle(2, 0, 2), 0, Layout((4, 4), (4, 1)))
        >>> print(R(1, None))
        Sw<2,0,2> o 4 o (4):(1)
        """
        whole: Slicer = coord[0] if len(coord) == 1 else coord
        if not has_none(whole):
            return self.layout_a(self.offset + self.layout_b(whole))
        if isinstance(self.layout_b, ComposedLayout):
            inner: Any = self.layout_b(whole)
            return ComposedLayout(self.layout_a, self.offset, inner)
        part, offset = slice_and_offset(whole, self.layout_b)
        return ComposedLayout(self.layout_a, self.offset + offset, part)

    def __len__(self) -> int:
        return rank(self.shape)

    def __getitem__(self, mode: int) -> ComposedLayout:
        """Mode ``mode``, with the same outer function and offset."""
        return ComposedLayout(self.layout_a, self.offset, self.layout_b[mode])

    def __iter__(self) -> Iterator[ComposedLayout]:
        return (self[i] for i in range(len(self)))

    def __str__(self) -> str:
        return f"{self.layout_a} o {self.offset} o {self.layout_b}"


@overload
def composition(a: Layout, b: Tiler) -> Layout: ...
@overload
def composition(a: Swizzle, b: Swizzle) -> Swizzle: ...
@overload
def composition(a: Inner, b: Tiler | Outer) -> Inner: ...
@overload
def composition(a: Swizzle, b: Inner) -> Inner: ...
def composition(a: Outer, b: Tiler | Outer) -> Outer:
    """Return the function R with R(c) = A(B(c)) for every coordinate c of B, where compatible(B, R).

    Layout o layout gives a layout; an int n means n:1, a tuple composes mode by mode (modes of A beyond it
    are dropped), None keeps its mode. Swizzle o layout gives a composed layout, or the layout itself for a swizzle
    of 0 bits. Layout o swizzle, defined on the shape of A, gives S' o A where a swizzle S' with S'(A(x)) = A(S(x))
    is found, and A o S itself otherwise. Swizzle o swizzle gives a swizzle.

    >>> print(composition(Layout.parse("(6,2):(8,2)"), Layout.parse("(4,3):(3,1)")))
    ((2,2),3):((24,2),8)
    >>> print(composition(Swizzle(2, 0, 2), Layout((4, 4))))
    Sw<2,0,2> o 0 o (4,4):(1,4)
    >>> print(composition(Layout((4, 4), (8, 32)), Swizzle(2, 0, 2)))
    Sw<2,3,2> o 0 o (4,4):(8,32)
    >>> print(composition(Layout((2, 2, 4), (2, 1, 4)), Swizzle(2, 0, 2)))
    (2,2,4):(2,1,4) o 0 o Sw<2,0,2> o 0 o (2,2,4):(1,2,4)

    Raises LayoutError when layout o layout is not admissible (see layouts.compose), and when swizzle o swizzle is
    no swizzle.
    """
    if isinstance(a, Layout) and not isinstance(b, (Swizzle, ComposedLayout)):
        return compose_layouts(a, b)
    if isinstance(a, ComposedLayout):
        return _compose(a.layout_a, a.offset, composition(a.layout_b, b))
    if isinstance(b, (Swizzle, ComposedLayout)):
        return _after_swizzle(a, b)
    if isinstance(b, Layout):
        return _compose(a, 0, b)
    raise LayoutError(f"{a} has no modes: it composes with a layout, not with the tiler {b}")


def _after_swizzle(a: Layout | Swizzle, b: Swizzle | ComposedLayout) -> Outer:
    if isinstance(a, Swizzle):
        return merge_swizzles(a, b) if isinstance(b, Swizzle) else _compose(a, 0, b)
    if isinstance(b, Swizzle):
        return _moved_left(a, b, Layout(a.shape), a) or ComposedLayout(a, 0, ComposedLayout(b, 0, Layout(a.shape)))
    moved = None
    swizzle, inner = b.layout_a, b.layout_b
    if isinstance(swizzle, Swizzle) and isinstance(inner, Layout) and b.offset == 0 and admissible(a, inner):
        moved = _moved_left(a, swizzle, inner, compose_layouts(a, inner))
    return moved or ComposedLayout(a, 0, b)


def _moved_left(a: Layout, swizzle: Swizzle, inner: Layout, both: Layout) -> Inner | None:
    """S' o both for a swizzle S' with S'(both(x)) = a(swizzle(inner(x))), where both = a o inner; else None.

    S' reads the image under ``a`` of the field Y, and changes that of Z. This is right only if ``a`` moves bits as a
    whole, so every point is compared; for layouts of more than MAX_POINTS points the result is None.
    """
    if size(inner) > MAX_POINTS:
        return None
    try:
        moved = make_swizzle(a(swizzle.yyy_mask), a(swizzle.zzz_mask))
        same = all(np.array_equal(moved(both(x)), a(swizzle(inner(x)))) for x in index_blocks(size(inner)))
    except LayoutError:
        return None
    return _compose(moved, 0, both) if same else None


def _compose(a: Outer, offset: int, b: Inner) -> Inner:
    return b if isinstance(a, Swizzle) and a.bits == 0 and offset == 0 else ComposedLayout(a, offset, b)


def on_layout(change: Callable[[Layout], Layout], layout: L) -> L:
    """Return a layout changed; in a composed layout S o offset o B, the change of B."""
    if isinstance(layout, Layout):
        return change(layout)  # type: ignore[return-value]
    changed = on_layout(change, layout.layout_b)
    return ComposedLayout(layout.layout_a, layout.offset, changed)  # type: ignore[return-value]


def index_blocks(stop: int) -> Iterator[IndexArray]:
    """Return the indices 0 .. stop-1 in arrays of at most BLOCK."""
    return (np.arange(i, min(i + BLOCK, stop), dtype=np.int64) for i in range(0, stop, BLOCK))
