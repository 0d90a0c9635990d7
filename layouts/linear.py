# SPDX-License-Identifier: Apache-2.0
"""Layouts and swizzles as matrices over F2, the field of one bit. Source: Zhou et al., arXiv 2505.23819.

A function f from n-bit indices is linear when f(x ^ y) = f(x) ^ f(y). Its matrix has the columns f(2^j): column j
is the value of input bit j, so f(x) is the xor of the columns at the bits of x.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from layouts.arrays import np
from layouts.composed import ComposedLayout
from layouts.coords import Index, IndexArray, natural
from layouts.errors import LayoutError
from layouts.fit import from_samples
from layouts.int_tuple import leaves, size
from layouts.layout import Layout
from layouts.swizzle import INDEX_BITS, Swizzle, swizzles

if TYPE_CHECKING:
    import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class F2Matrix:
    """A linear function from len(columns) bits to ``height`` bits: f(x) = xor of columns[j] at the bits j of x.

    Bit i of columns[j] is the entry in row i and column j.

    >>> M = F2Matrix((0b01, 0b11), 2)
    >>> M(0b10), M.rank, M.inverse() @ M == F2Matrix.identity(2)
    (3, 2, True)

    Raises LayoutError for columns of more than ``height`` bits, and for more than 63 rows or columns.
    """

    columns: tuple[int, ...]
    height: int

    def __post_init__(self) -> None:
        if type(self.height) is not int or not isinstance(self.columns, tuple):
            raise LayoutError(f"an F2 matrix has a tuple of columns and a height, got {self.columns}, {self.height}")
        if not 0 <= self.height <= INDEX_BITS or len(self.columns) > INDEX_BITS:
            raise LayoutError(
                f"an F2 matrix has 0 to {INDEX_BITS} rows and columns, got {self.height} and {len(self.columns)}"
            )
        for column in self.columns:
            if not 0 <= column < 1 << self.height:
                raise LayoutError(f"column {column} does not fit the {self.height} rows of an F2 matrix")

    @classmethod
    def identity(cls, bits: int) -> F2Matrix:
        """Return the matrix of f(x) = x on ``bits`` bits."""
        return cls(tuple(1 << j for j in range(bits)), bits)

    @property
    def width(self) -> int:
        """The number of input bits."""
        return len(self.columns)

    @property
    def rank(self) -> int:
        """The dimension of the image: f takes 2^rank values, each 2^(width - rank) times."""
        basis: dict[int, int] = {}  # of the span of the columns, by the highest bit of each vector
        for column in self.columns:
            rest = column
            while rest and rest.bit_length() in basis:
                rest ^= basis[rest.bit_length()]
            if rest:
                basis[rest.bit_length()] = rest
        return len(basis)

    @overload
    def __call__(self, index: int) -> int: ...
    @overload
    def __call__(self, index: Index) -> Any: ...
    def __call__(self, index: Index) -> int | IndexArray:
        """Return the value at an index below 2^width, or at each element of an integer array.

        Raises LayoutError for an index outside.
        """
        x: Any = natural(index)
        if np.any(x >> self.width):
            raise LayoutError(f"index {np.max(x)} has more than the {self.width} bits of the matrix")
        result: Any = x * 0
        for j, column in enumerate(self.columns):
            result = result ^ (x >> j & 1) * column
        value: int | IndexArray = result
        return value

    def __matmul__(self, other: F2Matrix) -> F2Matrix:
        """Return the composition: (f @ g)(x) = f(g(x)).

        Raises LayoutError unless ``other`` has as many rows as this matrix has columns.
        """
        if other.height != self.width:
            raise LayoutError(f"{other.height} rows cannot be the input of {self.width} columns")
        return F2Matrix(tuple(self(c) for c in other.columns), self.height)

    def inverse(self) -> F2Matrix:
        """Return the matrix R with R @ f = f @ R = identity.

        Raises LayoutError unless the matrix is square and of full rank.
        """
        if not self.width == self.height == self.rank:
            raise LayoutError(
                f"a matrix of {self.height} rows, {self.width} columns and rank {self.rank} has no inverse"
            )
        # Gauss-Jordan on (value, index) pairs: both are xored alike, so value = f(index) stays true.
        pairs = [(column, 1 << j) for j, column in enumerate(self.columns)]
        for i in range(self.height):
            pivot = next(p for p in pairs[i:] if p[0] >> i & 1)
            pairs.remove(pivot)
            pairs = [(v ^ pivot[0], x ^ pivot[1]) if v >> i & 1 else (v, x) for v, x in pairs]
            pairs.insert(i, pivot)
        return F2Matrix(tuple(x for _, x in pairs), self.width)

    def array(self) -> npt.NDArray[np.uint8]:
        """Return the entries as an array of 0 and 1, [row, column], least significant bit first."""
        columns = np.array(self.columns, dtype=np.int64)
        return (columns[None, :] >> np.arange(self.height)[:, None] & 1).astype(np.uint8)


def f2_matrix(function: Layout | Swizzle | ComposedLayout) -> F2Matrix:
    """Return the matrix of a linear layout, swizzle or composed layout.

    M(x) = function(x) for all x of the domain: [0, size) of a layout, [0, period) of a swizzle. The height is the
    bit length of the largest value, and a swizzle's matrix is square.

    >>> f2_matrix(Layout((4, 8), (8, 1))).columns
    (8, 16, 1, 2, 4)
    >>> f2_matrix(Swizzle(1, 0, 1)).array().tolist()
    [[1, 1], [0, 1]]

    Raises LayoutError when the size isn't a power of two, when a stride is negative, when two columns share a bit
    (then adding them carries and f(x ^ y) = f(x) ^ f(y) fails), and when f(0) is not 0.
    """
    if isinstance(function, Swizzle):
        return _swizzle_matrix(function, function.period.bit_length() - 1)
    if isinstance(function, Layout):
        return _layout_matrix(function)
    if function.offset:
        raise LayoutError(f"{function} has the offset {function.offset}: an F2 matrix maps 0 to 0")
    inner = f2_matrix(function.layout_b)
    if isinstance(function.layout_a, Swizzle):
        bits = max(inner.height, function.layout_a.period.bit_length() - 1)
        outer = _swizzle_matrix(function.layout_a, bits)
    else:
        outer = f2_matrix(function.layout_a)
    columns = (outer @ F2Matrix(inner.columns, outer.width)).columns
    return F2Matrix(columns, max(columns, default=0).bit_length())


def f2_layout(matrix: F2Matrix) -> Layout | ComposedLayout:
    """Return a layout, or a layout composed with one swizzle, with the function of ``matrix``.

    R(x) = M(x) for all x below 2^width. Columns without a common bit are the strides of a coalesced layout.
    Otherwise a search for the swizzle of the fewest bits (then the least base and distance) tries M = S o L, then
    M = L o S.

    >>> print(f2_layout(F2Matrix((8, 16, 1, 2, 4), 5)))
    (4,8):(8,1)
    >>> print(f2_layout(F2Matrix((1, 2, 5, 10), 4)))
    Sw<2,0,2> o 0 o 16:1

    Raises LayoutError when no swizzle makes the columns disjoint.
    """
    layout = _disjoint_layout(matrix.columns)
    if layout is not None:
        return layout
    for swizzle in swizzles(matrix.height):
        layout = _disjoint_layout(tuple(map(swizzle, matrix.columns)))
        if layout is not None:
            return ComposedLayout(swizzle, 0, layout)
    for swizzle in swizzles(matrix.width):
        layout = _disjoint_layout(tuple(matrix(swizzle(1 << j)) for j in range(matrix.width)))
        if layout is not None:
            return ComposedLayout(layout, 0, ComposedLayout(swizzle, 0, Layout(1 << matrix.width)))
    raise LayoutError(f"the columns {matrix.columns} are neither a layout nor a layout composed with one swizzle")


def _layout_matrix(layout: Layout) -> F2Matrix:
    if size(layout).bit_count() != 1:
        raise LayoutError(f"{layout} has no F2 matrix: its size {size(layout)} isn't a power of two")
    columns: list[int] = []
    seen = 0
    for s, d in zip(leaves(layout.shape), leaves(layout.stride), strict=True):
        if d < 0 and s > 1:
            raise LayoutError(f"{layout} has no F2 matrix: the stride {d} is negative")
        for j in range(s.bit_length() - 1):
            column = d << j
            if column & seen:
                raise LayoutError(
                    f"{layout} has no F2 matrix: the mode {s}:{d} has bits {column & seen:#b} of another step, "
                    "so that sums carry"
                )
            seen |= column
            columns.append(column)
    return F2Matrix(tuple(columns), seen.bit_length())


def _swizzle_matrix(swizzle: Swizzle, bits: int) -> F2Matrix:
    return F2Matrix(tuple(swizzle(1 << j) for j in range(bits)), bits)


def _disjoint_layout(columns: tuple[int, ...]) -> Layout | None:
    seen = 0
    for column in columns:
        if column & seen:
            return None
        seen |= column
    return from_samples(1 << len(columns), lambda index: columns[index.bit_length() - 1])
