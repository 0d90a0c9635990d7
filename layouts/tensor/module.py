# SPDX-License-Identifier: Apache-2.0
"""Strides that are not integers: elements of a module over the integers.

The algebra of layouts only adds strides, multiplies them by integers and compares them. So L(c) = sum of c_i * d_i,
composition, division and slicing hold unchanged for strides d_i of any such module. Two are here: Coordinates (Z^n,
nested as shapes are; the basis is E(i)) and Xor (naturals under exclusive or, where 2 * x = 0). Source: the strides
E<i> of CUTLASS, include/cute/numeric/arithmetic_tuple.hpp.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, TypeAlias, cast

from layouts.arrays import np
from layouts.coords import natural
from layouts.errors import LayoutError, ProfileError
from layouts.int_tuple import IntTuple, check_shape, congruent, leaves, nest
from layouts.layout import Layout, trust_layout
from layouts.text import format_int_tuple

Nested: TypeAlias = "Any"  # an int, an integer array, or a tuple of such
Strides: TypeAlias = "int | Coordinates | Xor | tuple[Strides, ...]"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Coordinates:
    """An element of Z^n: one integer per mode, nested where a mode is; missing places are 0.

    >>> 3 * E(0) + 2 * E(1)
    (3,2)
    >>> E(1, 0) + E(0)
    (1,(1))
    """

    value: tuple[Nested, ...]
    __array_ufunc__ = None  # an array times a coordinate is computed here, not elementwise over objects

    def __add__(self, other: object) -> Coordinates:
        if isinstance(other, Coordinates):
            return Coordinates(_add(self.value, other.value))
        if np.any(cast(Any, other)):
            raise LayoutError(f"cannot add {other} to the coordinate {self}: only coordinates, or 0")
        # Zeros of an array still give the result its shape.
        return Coordinates(map_leaves(lambda x: x + other, self.value)) if isinstance(other, np.ndarray) else self

    __radd__ = __add__

    def __mul__(self, factor: Any) -> Coordinates:
        if not isinstance(factor, int) and np.asarray(factor).dtype.kind not in "iubO":
            raise LayoutError(f"cannot multiply the coordinate {self} by {factor}: only integers")
        return Coordinates(map_leaves(lambda x: x * factor, self.value))

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Coordinates):
            return bool(_strip(self.value) == _strip(other.value))
        return isinstance(other, int) and other == 0 and _strip(self.value) == 0

    def __hash__(self) -> int:
        return hash(_strip(self.value))

    def __abs__(self) -> int:
        """Return the largest absolute value of its integers, which must fit 64 bits."""
        return max((abs(x) for x in leaves(self.value)), default=0)

    def __repr__(self) -> str:
        return format_int_tuple(self.value)

    @property
    def as_stride(self) -> str:
        """The text of a stride, as CuTe prints a multiple of a basis coordinate, its innermost mode first.

        A sum of several, which CuTe has no notation for, is written with +; `layouts.spelling` does not read it.

        >>> (2 * E(1)).as_stride, E(1, 0).as_stride, (3 * E(0) + E(1)).as_stride
        ('2@1', '1@0@1', '3@0+1@1')
        """
        every = list(_paths(self.value))
        parts = [part for part in every if part[0] != 0] or every[-1:]
        return "+".join("@".join(map(str, part)) for part in parts) or "0"


def E(*path: int) -> Coordinates:
    """Return the basis coordinate: 1 at mode path[0], within it at mode path[1], ..., and 0 elsewhere.

    >>> E(0), E(2), E(1, 0)
    ((1), (0,0,1), (0,(1)))

    Raises LayoutError for an empty path or a negative mode.
    """
    if not path or min(path) < 0:
        raise LayoutError(f"a basis coordinate needs the number of a mode, got {path}")
    value: Nested = 1
    for mode in reversed(path):
        value = (*(0,) * mode, value)
    return Coordinates(value)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Xor:
    """A natural number under exclusive or: x + y is x ^ y, and n * x is x for odd n, 0 for even n.

    >>> Xor(9) + 3 * Xor(1), 2 * Xor(5)
    (x8, x0)

    Raises LayoutError for a negative number.
    """

    value: Any
    __array_ufunc__ = None

    def __post_init__(self) -> None:
        natural(self.value)

    def __add__(self, other: object) -> Xor:
        if isinstance(other, Xor):
            return Xor(self.value ^ other.value)
        if np.any(cast(Any, other)):
            raise LayoutError(f"cannot add {other} to the xor stride {self}: only xor strides, or 0")
        return Xor(self.value ^ cast(Any, other))

    __radd__ = __add__

    def __mul__(self, factor: Any) -> Xor:
        return Xor(factor % 2 * self.value)

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Xor):
            return bool(np.array_equal(self.value, other.value))
        return isinstance(other, int) and other == 0 and not np.any(self.value)

    def __hash__(self) -> int:
        return hash(self.value)

    def __abs__(self) -> int:
        return int(self.value)

    def __repr__(self) -> str:
        return f"x{self.value}"


def module_layout(shape: IntTuple, stride: Strides) -> Layout:
    """Return the layout ``shape:stride`` whose strides are integers or elements of one module: L(c) = sum of c_i * d_i.

    >>> L = module_layout((4, 8), (E(0), E(1)))
    >>> print(L, L(2, 5), L(9))
    (4,8):(1@0,1@1) (2,5) (1,2)

    Raises ProfileError when the profiles differ, LayoutError for extents below 1, and for strides of two modules.
    """
    check_shape(shape)
    as_stride = cast(IntTuple, stride)
    if not congruent(shape, map_leaves(lambda _: 0, stride)):
        raise ProfileError(f"shape {format_int_tuple(shape)} and stride {stride} differ in profile")
    kinds = {type(d) for d in leaves(as_stride) if d != 0}
    if len(kinds) > 1 or not kinds <= {int, Coordinates, Xor}:
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise LayoutError(f"strides {stride} must be integers, coordinates or xor strides, of one kind, not {names}")
    return trust_layout(shape, as_stride)


def identity_layout(shape: IntTuple) -> Layout:
    """Return the layout that gives each coordinate back: shape:(E(0), E(1), ...), nested as the shape.

    >>> identity_layout((4, (2, 3)))(1, (1, 2))
    (1,(1,2))

    Raises LayoutError where ``shape`` is no shape.
    """
    check_shape(shape)
    return trust_layout(shape, cast(IntTuple, _basis(shape) if isinstance(shape, tuple) else E(0)))


def xor_layout(shape: IntTuple, stride: IntTuple) -> Layout:
    """Return the layout under exclusive or in which bit b of digit i has the stride d_i << b.

    L(c) = exclusive or of (d_i << b) over the bits b that are set in c_i. A power of two 2^k becomes k modes of 2.

    >>> L = xor_layout((4, 4), (1, 5))
    >>> [[index(L(i, j)) for j in range(4)] for i in range(4)]
    [[0, 5, 10, 15], [1, 4, 11, 14], [2, 7, 8, 13], [3, 6, 9, 12]]

    Raises ProfileError when the profiles differ, LayoutError for extents that aren't powers of two.
    """
    plain = Layout(shape, stride)
    for extent in leaves(shape):
        if extent & (extent - 1):
            raise LayoutError(f"xor strides need powers of two, and {extent} in {format_int_tuple(shape)} is none")
    split = [_bits(s, d) for s, d in zip(leaves(plain.shape), leaves(plain.stride), strict=True)]
    shapes, strides = zip(*split, strict=True) if split else ((), ())
    return trust_layout(nest(iter(shapes), shape), nest(iter(strides), shape))


def index(element: Any) -> Any:
    """Return a stride element as an index: the number of an Xor, the tuple of Coordinates, an integer itself.

    >>> index(Xor(9)), index(2 * E(0) + E(1)), index(7)
    (9, (2, 1), 7)
    """
    return element.value if isinstance(element, (Coordinates, Xor)) else element


def _bits(extent: int, stride: int) -> tuple[IntTuple, IntTuple]:
    bits = range(extent.bit_length() - 1)
    if len(bits) < 2:
        return extent, cast(IntTuple, Xor(stride) if bits else 0)
    return (2,) * len(bits), cast(IntTuple, tuple(Xor(stride << bit) for bit in bits))


def _basis(shape: IntTuple, *path: int) -> Any:
    if not isinstance(shape, tuple):
        return E(*path)
    return tuple(_basis(mode, *path, i) for i, mode in enumerate(shape))


def map_leaves(change: Callable[[Any], Any], t: Nested) -> Nested:
    """Return a nested tuple with each of its leaves changed."""
    return tuple(map_leaves(change, x) for x in t) if isinstance(t, tuple) else change(t)


def _paths(t: Nested) -> Iterator[tuple[int, ...]]:
    """Each integer of a nested coordinate, with the numbers of the modes around it, the innermost first."""
    if not isinstance(t, tuple):
        yield (t,)
        return
    for mode, part in enumerate(t):
        yield from ((*path, mode) for path in _paths(part))


def _add(a: Nested, b: Nested) -> Nested:
    if isinstance(a, tuple) or isinstance(b, tuple):
        return tuple(_add(x, y) for x, y in zip_longest(_wrap_zero(a), _wrap_zero(b), fillvalue=0))
    return a + b


def _wrap_zero(t: Nested) -> tuple[Nested, ...]:
    """Return the tuple; for a 0, the empty tuple."""
    if not isinstance(t, tuple) and np.any(t):
        raise LayoutError(f"cannot add {t} to a nested coordinate")
    return t if isinstance(t, tuple) else ()


def _strip(t: Nested) -> Nested:
    """Return the canonical form of a coordinate: no zeros at the end of a tuple, 0 for an empty one."""
    if not isinstance(t, tuple):
        return t
    modes = [_strip(x) for x in t]
    while modes and modes[-1] == 0:
        modes.pop()
    return tuple(modes) or 0
