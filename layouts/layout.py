# SPDX-License-Identifier: Apache-2.0
"""Layouts: functions from coordinates to integers, given by a shape and a stride of one profile."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, overload

from layouts.coords import Coord, Slicer, check_shape, check_strided, has_none, offset
from layouts.errors import LayoutError
from layouts.int_tuple import IntTuple, leaves, rank, wrap
from layouts.order import compact_col_major
from layouts.text import format_int_tuple, parse_shape_stride


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Layout:
    """A layout ``shape:stride``: L(c) = sum of c_i * d_i over the flat digits c_i of the coordinate c.

    A coordinate is an index (split colexicographically, the last mode unbounded), a tuple with one coordinate
    per mode, nested as deep as the shape, or numpy arrays in these places. Equality is structural;
    ``same_function`` compares the maps. Without strides the layout is column-major and compact.

    >>> L = Layout((4, 8), (8, 1))
    >>> L(9), L(1, 2), str(L[0]), len(L)
    (10, 10, '4:8', 2)

    Raises ProfileError when the profiles differ, LayoutError for anything but ints, and for extents below 1.
    """

    shape: IntTuple
    stride: IntTuple

    def __init__(self, shape: IntTuple, stride: IntTuple | None = None) -> None:
        if stride is None:
            check_shape(shape)
            stride = compact_col_major(shape)
        else:
            check_strided(shape, stride)
        _set_shape(self, shape)
        _set_stride(self, stride)

    @classmethod
    def parse(cls, text: str) -> Layout:
        """Read CuTe's notation, static integers included.

        >>> Layout.parse("((_4,8),(2,2)):((32,_1),(16,8))")
        Layout.parse('((4,8),(2,2)):((32,1),(16,8))')

        Raises LayoutParseError, ProfileError, LayoutError.
        """
        return cls(*parse_shape_stride(text))

    def __str__(self) -> str:
        return f"{format_int_tuple(self.shape)}:{format_int_tuple(self.stride)}"

    def __repr__(self) -> str:
        return f"Layout.parse('{self}')"

    @overload
    def __call__(self, *coord: int) -> int: ...
    @overload
    def __call__(self, *coord: Slicer) -> Any: ...
    def __call__(self, *coord: Slicer) -> Any:
        """Return the value at a coordinate; with None in it, the sub-layout of the modes at the Nones.

        >>> import numpy as np
        >>> L = Layout((4, 8), (8, 1))
        >>> L(1, 2), str(L(None, 3)), L(np.arange(3)).tolist()
        (10, '(4):(8)', [0, 8, 16])
        """
        whole: Slicer = coord[0] if len(coord) == 1 else coord
        if has_none(whole):
            return slice(whole, self)
        return offset(whole, self.shape, self.stride)

    def __len__(self) -> int:
        return rank(self.shape)

    def __getitem__(self, mode: int) -> Layout:
        """Mode ``mode`` as a layout; an unnested layout is its own mode 0."""
        return trust_layout(wrap(self.shape)[mode], wrap(self.stride)[mode])

    def __iter__(self) -> Iterator[Layout]:
        return map(trust_layout, wrap(self.shape), wrap(self.stride))


# The setters of the slots: the frozen dataclass blocks ordinary assignment.
_set_shape = vars(Layout)["shape"].__set__
_set_stride = vars(Layout)["stride"].__set__
_new = object.__new__


def trust_layout(shape: IntTuple, stride: IntTuple) -> Layout:
    """Return a layout from parts that are known to be valid and congruent, without checking them again."""
    layout = _new(Layout)
    _set_shape(layout, shape)
    _set_stride(layout, stride)
    return layout


def leaves_of(layout: Layout) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the extents and the strides of a layout from left to right.

    >>> leaves_of(Layout.parse("((4,8),2):((1,4),32)"))
    ((4, 8, 2), (1, 4, 32))
    """
    shape, stride = layout.shape, layout.stride
    extents = leaves(shape)
    return extents, stride if extents is shape else leaves(stride)  # type: ignore[return-value]  # nested alike


def parse_layout(text: str) -> Layout:
    """Read a layout in CuTe's notation: ``Layout.parse``."""
    return Layout.parse(text)


def make_layout(*layouts: Layout) -> Layout:
    """Return the layout whose modes are the given layouts: R(c_0, c_1, ...) = L_0(c_0) + L_1(c_1) + ...

    >>> print(make_layout(Layout(4, 2), Layout((2, 3), (1, 8))))
    (4,(2,3)):(2,(1,8))

    One layout becomes the only mode of a rank-1 layout.
    """
    return trust_layout(tuple([x.shape for x in layouts]), tuple([x.stride for x in layouts]))


def cosize(layout: Layout) -> int:
    """Return the number of integers that the image spans: 1 + sum of (s_i - 1) * |d_i|, which is max + 1 for strides >=
    0.

    >>> cosize(Layout((4, 8), (1, 5)))
    39
    """
    return 1 + sum([(s - 1) * abs(d) for s, d in zip(*leaves_of(layout), strict=True)])


def _keep_parts(coord: Slicer, t: IntTuple, none: bool) -> tuple[IntTuple, ...]:
    """Return the parts of ``t`` at the Nones of ``coord`` (``none`` false: at its indices), nested tuples spliced."""
    if not isinstance(coord, tuple):
        return (t,) if (coord is None) == none else ()
    if not isinstance(t, tuple) or len(t) != len(coord):
        raise LayoutError(f"coordinate of {len(coord)} modes for {format_int_tuple(t)}")
    kept: list[IntTuple] = []
    for c, x in zip(coord, t, strict=True):
        kept.extend(_keep_parts(c, x, none))
    return tuple(kept)


def _cut_layout(coord: Slicer, layout: Layout, none: bool) -> Layout:
    if not isinstance(coord, tuple) and (coord is None) == none:
        return layout
    return trust_layout(_keep_parts(coord, layout.shape, none), _keep_parts(coord, layout.stride, none))


def slice(coord: Slicer, layout: Layout) -> Layout:
    """Return the sub-layout of the modes at the Nones of ``coord``; slice_and_offset gives its offset too.

    >>> print(slice((None, 3), Layout((4, 8), (8, 1))))
    (4):(8)

    Raises LayoutError when the coordinate does not fit the shape's profile.
    """
    return _cut_layout(coord, layout, True)


def dice(coord: Slicer, layout: Layout) -> Layout:
    """Return the sub-layout of the modes at the indices of ``coord``: those that slice leaves out.

    >>> print(dice((None, 3), Layout((4, 8), (8, 1))))
    (8):(1)

    Raises LayoutError when the coordinate does not fit the shape's profile.
    """
    return _cut_layout(coord, layout, False)


def slice_and_offset(coord: Slicer, layout: Layout) -> tuple[Layout, int]:
    """Return the pair (S, o) with S(x) + o = L(coord with x in place of its Nones).

    >>> S, o = slice_and_offset((None, 3), Layout((4, 8), (8, 1)))
    >>> str(S), o
    ('(4):(8)', 3)

    Raises LayoutError when the coordinate does not fit the shape's profile or has negative entries.
    """
    return slice(coord, layout), offset(coord, layout.shape, layout.stride)


def domain_offset(coord: Coord, layout: Layout) -> tuple[Layout, int]:
    """Return the pair (L, L(coord)): the layout, and the offset of a domain that begins at ``coord``.

    >>> L, o = domain_offset((1, 2), Layout((4, 8), (8, 1)))
    >>> str(L), o
    ('(4,8):(8,1)', 10)

    Raises LayoutError when the coordinate does not fit the shape's profile or has negative entries.
    """
    return layout, offset(coord, layout.shape, layout.stride)
