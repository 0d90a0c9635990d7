# SPDX-License-Identifier: Apache-2.0
"""A layout in any spelling, or an object of another library, as a value: the one reader of what users paste.

>>> print(read_layout("Swizzle<2,3,3>{} o Layout<Shape<_8,_32>,Stride<_32,_1>>"), read_layout("(4,8):(1@0,1@1)")(9))
Sw<2,3,3> o 0 o (8,32):(32,1) (1,2)
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from layouts.composed import ComposedLayout
from layouts.errors import LayoutError, LayoutParseError
from layouts.int_tuple import MAX_DEPTH, IntTuple
from layouts.layout import Layout
from layouts.spelling import Basis, first_basis, parse_written
from layouts.swizzle import Swizzle
from layouts.tensor import E, module_layout
from layouts.text import parse_shape_stride


def read_layout(text: str) -> Layout | ComposedLayout:
    """Return the layout of a text: with swizzles a ComposedLayout, with coordinates as strides a Layout of
    `layouts.tensor`.

    Raises LayoutParseError, ProfileError, LayoutError.
    """
    with suppress(LayoutParseError):
        return Layout(*parse_shape_stride(text))

    written = parse_written(text)
    layout: Layout | ComposedLayout
    if first_basis(written.stride) is not None:
        if written.swizzles:
            raise LayoutError(f"{text:.60}: a swizzle of coordinates has no values")

        return module_layout(written.shape, _elements(written.stride))
    layout = Layout(written.shape, written.stride)
    for swizzle, offset in reversed(written.swizzles):
        layout = ComposedLayout(Swizzle(*swizzle), offset, layout)
    return layout


def swizzle_and_layout(text: str) -> tuple[Swizzle, Layout]:
    """Return the swizzle and the layout of a tile in shared memory; the swizzle of 0 bits where there is none.

    >>> print(*swizzle_and_layout("S<3,3,3> o 0 o (8,64):(64,1)"), *swizzle_and_layout("(8,64):(64,1)"))
    Sw<3,3,3> (8,64):(64,1) Sw<0,0,0> (8,64):(64,1)

    Raises LayoutError, also for several swizzles, an offset, and strides that are coordinates.
    """
    with suppress(LayoutParseError):
        return Swizzle(0, 0, 0), Layout(*parse_shape_stride(text))

    written = parse_written(text)
    if first_basis(written.stride) is not None:
        raise LayoutError(f"{text:.60}: strides are coordinates, expected integers")
    if len(written.swizzles) > 1 or any(offset for _, offset in written.swizzles):
        raise LayoutError(f"{text:.60}: expected one swizzle without an offset, Sw<B,M,S> o 0 o LAYOUT")
    return Swizzle(*written.swizzles[0][0]), Layout(written.shape, written.stride)


def _elements(stride: Any) -> Any:
    """Return the strides with basis elements as coordinates."""
    if isinstance(stride, tuple):
        return tuple(map(_elements, stride))
    return stride.factor * E(*stride.path) if isinstance(stride, Basis) else stride


def from_object(value: Any) -> Layout | ComposedLayout:
    """Return the layout of an object of the CuTe DSL, pycute or tensor-layouts: by its shape and stride, or its parts.

    >>> class Theirs:
    ...     shape, stride = [4, (2, 4)], [2, (1, 8)]
    >>> print(from_object(Theirs()))
    (4,(2,4)):(2,(1,8))

    An object with `inner`, `offset` and `outer` is their composition; one that only prints as a layout is read from its
    text. Raises LayoutError.
    """
    if isinstance(value, Layout | ComposedLayout):
        return value
    if isinstance(value, str):
        return read_layout(value)
    for names in (("inner", "outer"), ("layout_a", "layout_b"), ("swizzle", "layout")):
        parts = [getattr(value, name, None) for name in names]
        if None not in parts:
            first, second = sorted(parts, key=lambda part: not _is_swizzle(part))  # libraries name them either way
            offset = _integer(getattr(value, "offset", 0), "offset")
            return ComposedLayout(_swizzle(first), offset, from_object(second))
    printed = None
    with suppress(LayoutError):
        printed = read_layout(str(value))
    try:
        layout = Layout(_int_tuple(value.shape, "shape"), _int_tuple(value.stride, "stride"))
    except (AttributeError, LayoutError) as error:
        if printed is not None:
            return printed
        wanted = "an object with shape and stride, or one that prints as a layout"
        raise LayoutError(f"{type(value).__name__}: expected {wanted}: {error}") from error
    if printed is not None and printed != layout:
        raise LayoutError(f"{type(value).__name__} prints as {printed}, its shape and stride are {layout}")
    return layout


NUMBERS = (("num_bits", "num_base", "num_shift"), ("bits", "base", "shift"), ("B", "M", "S"))


def _is_swizzle(value: Any) -> bool:
    """Whether an object is a swizzle: by its numbers, or by what it prints."""
    named = any(all(hasattr(value, name) for name in names) for names in NUMBERS)
    return named or str(value).lstrip().startswith("S")


def _swizzle(value: Any) -> Swizzle:
    """Return a swizzle by its numbers, under the names of the libraries, or by its text."""
    for names in NUMBERS:
        if all(hasattr(value, name) for name in names):
            return Swizzle(*(_integer(getattr(value, name), name) for name in names))

    swizzles = parse_written(f"{value} o 1:0").swizzles
    if len(swizzles) != 1:
        raise LayoutError(f"{value!s:.60} isn't a swizzle")
    return Swizzle(*swizzles[0][0])


def _int_tuple(value: Any, what: str, level: int = 0) -> IntTuple:
    """Return a tuple or list of integers, nested; numbers may be of a type of their own that is an index."""
    if level > MAX_DEPTH:
        raise LayoutError(f"{what} nests deeper than {MAX_DEPTH} levels")
    if isinstance(value, tuple | list):
        return tuple(_int_tuple(part, what, level + 1) for part in value)
    return _integer(value, what)


def _integer(value: Any, what: str) -> int:
    """Return an integer; an object with more than a number, such as a basis element, is none."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise LayoutError(f"{what} must be integers, found {type(value).__name__} {value!s:.40}")
    return int(value.__index__())
