# SPDX-License-Identifier: Apache-2.0
"""Coordinates and indices: colexicographic (the leftmost mode runs fastest), on ints and on numpy arrays.

A coordinate of a shape is a natural number, or a tuple with one coordinate per mode. Source: CUTLASS,
include/cute/stride.hpp.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, TypeAlias

from layouts.arrays import any_of, is_array, is_bool, is_numpy_loaded, np
from layouts.errors import LayoutError, ProfileError
from layouts.int_tuple import IntTuple, Shaped, check_int_tuple, congruent, leaves, product, wrap
from layouts.int_tuple import check_shape as check_extents
from layouts.text import format_int_tuple

if TYPE_CHECKING:
    import numpy.typing as npt

IndexArray: TypeAlias = "npt.NDArray[np.int64]"
Index: TypeAlias = "int | npt.NDArray[np.integer[Any]]"
Coord: TypeAlias = "Index | tuple[Coord, ...]"
Slicer: TypeAlias = "Index | tuple[Slicer, ...] | None"

INT64_MAX = 2**63 - 1  # numpy wraps around beyond it in silence, so larger values are rejected first


def offset(coord: Slicer, shape: IntTuple, stride: IntTuple) -> Any:
    """Return the value of ``shape:stride`` at a coordinate; None counts as 0.

    offset(c, s, d) = sum of digit_i(c) * d_i over the flat modes; an int is split into digits
    colexicographically, its last digit unbounded. Integer arrays are computed in int64 and broadcast.

    Raises LayoutError for a negative or non-integer coordinate, a wrong rank, and array results beyond int64.
    """
    if is_numpy_loaded() and has_array(coord) and _largest(coord, shape, stride) > INT64_MAX:
        raise LayoutError(f"offsets of {shape}:{stride} at these coordinates do not fit 64 bits")
    return _offset(coord, shape, stride)


def _offset(coord: Slicer, shape: IntTuple, stride: IntTuple) -> Any:
    if isinstance(coord, tuple):
        return sum(map(_offset, coord, _modes(coord, shape), wrap(stride)))
    if type(coord) is int and coord >= 0:
        return digit_sum(coord, leaves(shape), leaves(stride))
    if coord is None:
        return 0
    strides = leaves(stride)
    if is_array(coord):  # a stride beyond 64 bits has only the digit 0, else _largest rejects it
        strides = tuple(d if abs(d) <= INT64_MAX else 0 for d in strides)
    return digit_sum(natural(coord), leaves(shape), strides)


def digit_sum(index: Any, shapes: tuple[Any, ...], strides: tuple[Any, ...]) -> Any:
    """Return the sum of digit * stride of an index, the last digit unbounded: of an int, an array of any namespace or a
    term.

    >>> digit_sum(9, (4, 8), (8, 1))
    10
    """
    if not shapes:
        return index * 0
    total: Any = 0
    for s, d in zip(shapes[:-1], strides, strict=False):
        total = total + index % s * d
        index = index // s
    return total + index * strides[-1]


def _modes(coord: tuple[Slicer, ...], shape: IntTuple) -> tuple[IntTuple, ...]:
    if not isinstance(shape, tuple) or len(shape) != len(coord):
        raise LayoutError(f"coordinate of {len(coord)} modes for the shape {format_int_tuple(shape)}")
    return shape


def has_array(coord: object) -> bool:
    """Whether a numpy array occurs anywhere in a coordinate."""
    return any(map(has_array, coord)) if isinstance(coord, tuple) else is_array(coord)


def has_none(coord: object) -> bool:
    """Whether None occurs anywhere in a coordinate, which then selects a slice."""
    return any(map(has_none, coord)) if isinstance(coord, tuple) else coord is None


def natural(index: Any, of: object = None) -> Any:
    """Return the index as a non-negative int or int64 array (uint8 would wrap); raises LayoutError for anything else.

    `of` is the function whose argument it is, where it is no coordinate.
    """
    if is_array(index):
        if index.dtype.kind not in "iu":
            raise LayoutError(f"coordinates must be integers, got an array of {index.dtype}")
        if index.size and int(index.min()) < 0:
            raise _negative(int(index.min()), of)
        if index.size and int(index.max()) > INT64_MAX:
            raise LayoutError(f"array coordinates must fit 64 signed bits, got {int(index.max())}")
        return index.astype(np.int64, copy=False)
    if is_bool(index) or not hasattr(index, "__index__"):
        raise LayoutError(f"coordinates must be integers, got {type(index).__name__} {index!r}")
    value = operator.index(index)
    if value < 0:
        raise _negative(value, of)
    return value


def _negative(value: int, of: object) -> LayoutError:
    needs = "coordinates must not be negative" if of is None else f"{of} needs natural numbers"
    return LayoutError(f"{needs}, got {value}")


def _largest(coord: Slicer, shape: IntTuple, stride: IntTuple) -> int:
    """Return an upper bound of the absolute value of every intermediate result of ``_offset``."""
    if isinstance(coord, tuple):
        return sum(map(_largest, coord, _modes(coord, shape), wrap(stride)))
    if coord is None:
        return 0
    index = natural(coord)
    top = int(np.max(index, initial=0))
    total, rest = 0, 1
    for s, d in zip(leaves(shape)[:-1], leaves(stride), strict=False):
        total += (s - 1) * abs(d)
        rest *= s
    return total + max(top, top // rest * abs((leaves(stride) or (0,))[-1]))


def check_shape(shape: IntTuple) -> None:
    """Raise LayoutError unless it is a shape; for a text, with the function that reads texts."""
    check_no_text(shape, "shape")
    check_extents(shape)


def check_no_text(part: object, what: str) -> None:
    """Raise LayoutError for a text: the constructor takes ints and tuples."""
    if isinstance(part, str):
        whole = part if ":" in part else "(4,8):(1,4)"
        problem = f"{what} must be an int or a tuple of such, got str {part!r:.80}"
        raise LayoutError(f"{problem}: Layout.parse({whole!r:.80}) reads a text")


def check_strided(shape: IntTuple, stride: IntTuple) -> None:
    """Raise LayoutError, or ProfileError, unless shape and stride make a layout."""
    check_shape(shape)
    check_no_text(stride, "stride")
    check_int_tuple(stride, "stride")
    if not congruent(shape, stride):
        raise ProfileError(f"shape {format_int_tuple(shape)} and stride {format_int_tuple(stride)} differ in profile")


def crd2idx(coord: Coord, shape: Shaped, stride: IntTuple | None = None) -> Any:
    """Return the index of a coordinate in a layout, in ``shape:stride``, or, without strides, its rank in ``shape``.

    crd2idx(c, s, d) = sum of digit_i(c) * d_i; without strides d_i is the product of the extents before i.

    >>> crd2idx((1, 2), (4, 8)), crd2idx((1, 2), (4, 8), (8, 1)), crd2idx(9, (4, 8), (8, 1))
    (9, 10, 10)

    Raises LayoutError for a negative coordinate or one that does not fit the shape's profile.
    """
    if not isinstance(shape, (int, tuple)):
        layout: Any = shape
        if hasattr(layout, "layout_b"):  # a composed layout A o B: A of the index that B gives
            return layout.layout_a(layout.offset + crd2idx(coord, layout.layout_b))
        return offset(coord, layout.shape, layout.stride)
    if stride is None:
        check_shape(shape)
        return offset(coord, shape, _prefix_products(shape, 1)[0])
    check_strided(shape, stride)
    return offset(coord, shape, stride)


def _prefix_products(shape: IntTuple, start: int) -> tuple[IntTuple, int]:
    if not isinstance(shape, tuple):
        return start, start * shape
    modes: list[IntTuple] = []
    for s in shape:
        mode, start = _prefix_products(s, start)
        modes.append(mode)
    return tuple(modes), start


def idx2crd(index: Coord, shape: IntTuple, stride: IntTuple | None = None) -> Any:
    """Return the coordinate, congruent with ``shape``, of an index: the inverse of crd2idx.

    crd2idx(idx2crd(i, s), s) = i for every natural i (the last mode is unbounded), and with strides
    crd2idx(idx2crd(i, s, d), s, d) = i: digit (i // d) % s in each mode.

    >>> idx2crd(9, (4, 8)), idx2crd(9, ((2, 2), 8)), idx2crd(10, (4, 8), (8, 1))
    ((1, 2), ((1, 0), 2), (1, 2))

    Raises LayoutError for a negative index, and, with strides, when the digits do not give the index back.
    """
    if stride is None:
        check_shape(shape)
    else:
        check_strided(shape, stride)
    if isinstance(index, tuple):
        shapes = _modes(index, shape)
        return tuple(map(idx2crd, index, shapes, (None,) * len(shapes) if stride is None else wrap(stride)))
    value = natural(index)
    if stride is None:
        return _digits(value, shape)[0]
    result = _strided_digits(value, shape, stride)
    if any_of(offset(result, shape, stride) != value):
        raise LayoutError(f"no digits (i // d) % s of {shape}:{stride} give the index {index} back")
    return result


def _digits(index: Any, shape: IntTuple, last: bool = True) -> tuple[Any, Any]:
    """Return the coordinate of an index, and its quotient for the modes to the right."""
    if not isinstance(shape, tuple):
        return (index, index * 0) if last else (index % shape, index // shape)
    if last and not shape and any_of(index):
        raise LayoutError("the empty shape () has the index 0 alone")
    modes = []
    for i, s in enumerate(shape):
        mode, index = _digits(index, s, last and i == len(shape) - 1)
        modes.append(mode)
    return tuple(modes), index


def _strided_digits(index: Any, shape: IntTuple, stride: IntTuple) -> Any:
    if isinstance(shape, tuple):
        return tuple(_strided_digits(index, s, d) for s, d in zip(shape, wrap(stride), strict=True))
    if shape == 1:
        return index * 0
    step = product(stride)
    if step <= 0:
        raise LayoutError(f"idx2crd needs positive strides, got {step} for the extent {shape}")
    return index // step % shape


def crd2crd(coord: Coord, source: IntTuple, target: IntTuple) -> Any:
    """Return the coordinate of ``target`` with the index of ``coord`` in ``source``, by mode if all are tuples.

    >>> crd2crd(9, 32, (4, 8)), crd2crd((1, 2), (4, 8), 32)
    ((1, 2), 9)

    Raises LayoutError when the sizes differ or the coordinate does not fit.
    """
    if isinstance(coord, tuple) and isinstance(source, tuple) and isinstance(target, tuple):
        if not len(coord) == len(source) == len(target):
            raise LayoutError(f"ranks differ: coordinate {len(coord)}, source {source}, target {target}")
        return tuple(map(crd2crd, coord, source, target))
    if product(source) != product(target):
        raise LayoutError(f"source {source} and target {target} differ in size")
    return idx2crd(crd2idx(coord, source), target)
