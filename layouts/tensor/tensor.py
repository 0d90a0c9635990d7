# SPDX-License-Identifier: Apache-2.0
"""Tensors: a layout over storage. Source: CUTLASS, include/cute/tensor_impl.hpp."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import repeat
from typing import TYPE_CHECKING, Any

from layouts import batched
from layouts.arrays import np
from layouts.compose import Tiler, composition
from layouts.composed import ComposedLayout, on_layout
from layouts.coords import IndexArray, Slicer, has_none
from layouts.errors import LayoutError
from layouts.int_tuple import IntTuple, leaves, nest, rank, size, wrap
from layouts.layout import Layout, slice_and_offset
from layouts.tensor.module import Coordinates, identity_layout, index, map_leaves

if TYPE_CHECKING:
    import numpy.typing as npt

AnyLayout = Layout | ComposedLayout


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tensor:
    """A view of storage: T[c] is data[offset + layout(c)]; without data, T[c] is offset + layout(c) itself.

    ``data`` is any one-dimensional array (of numpy, or what indexes like it) or None. A coordinate may hold numpy
    arrays, which gather; with None in it, T[c] is the view of the modes at the Nones. The offset of a view may be a
    column of offsets: its elements are then rows, one for each.

    >>> T = Tensor(np.arange(32) * 10, Layout((4, 8), (8, 1)))
    >>> print(T[1, 2], T[1, None], T[None, 3].values())
    100 (8):(1) at 8 [ 30 110 190 270]

    Raises LayoutError for data of another rank, and for indices that the storage does not have.
    """

    data: Any
    layout: AnyLayout
    offset: Any = 0

    def __post_init__(self) -> None:
        if self.data is not None and getattr(self.data, "ndim", None) != 1:
            raise LayoutError(
                f"the storage of a tensor must be a one-dimensional array, got {type(self.data).__name__} "
                f"of {getattr(self.data, 'ndim', 'no known number of')} dimensions"
            )

    @property
    def shape(self) -> IntTuple:
        """The shape of the layout."""
        return self.layout.shape

    @property
    def size(self) -> int:
        """The number of coordinates of the shape."""
        return size(self.layout)

    def __len__(self) -> int:
        return rank(self.layout)

    def __getitem__(self, coord: Slicer) -> Any:
        """Return the element at a coordinate, elements at arrays of coordinates, or with None a view."""
        if has_none(coord):
            return self._view(coord)
        at = self._places(coord)
        return at if self.data is None else self.data[self._within(at)]

    def __setitem__(self, coord: Slicer, value: Any) -> None:
        if has_none(coord):
            view = self._view(coord)
            view.data[view.indices()] = value
        else:
            if self.data is None:
                raise LayoutError(f"{self} has no storage to write to")
            self.data[self._within(self._places(coord))] = value

    def indices(self, which: Any = slice(None)) -> IndexArray:
        """Return the places of the elements in the storage, in the order of the index, or of those in ``which``.

        Raises LayoutError when there is no storage, or an index is outside it.
        """
        if self.data is None:
            raise LayoutError(f"{self} has no storage")
        places: IndexArray = self._within(self._all_places()[which])
        return places

    def values(self) -> Any:
        """All elements, in the order of the index 0 .. size-1; of a tensor without storage, arrays of coordinates."""
        if self.data is not None:
            return self.data[self.indices()]
        places = self._all_places()
        return map_leaves(lambda at: np.broadcast_to(at, np.broadcast_shapes(np.shape(at), (self.size,))), places)

    def matrix(self) -> npt.NDArray[Any]:
        """All elements as an array with one axis per mode.

        Raises LayoutError when there is no storage, or an index is outside it.
        """
        extents = [size(mode) for mode in self.layout]
        elements: npt.NDArray[Any] = self.data[self.indices()].reshape(extents, order="F")
        return elements

    def compose(self, tiler: Tiler) -> Tensor:
        """Return the tensor R with R[c] = T[tiler(c)]."""
        return replace(self, layout=on_layout(lambda plain: composition(plain, tiler), self.layout))

    def __str__(self) -> str:
        if isinstance(self.offset, np.ndarray):
            return f"{self.layout} at {self.offset.min()} to {self.offset.max()}"
        return f"{self.layout} at {self.offset}" if self.offset != 0 else str(self.layout)

    def __repr__(self) -> str:
        of = "no storage" if self.data is None else f"{self.data.shape[0]} {self.data.dtype}"
        return f"Tensor({self} of {of})"

    def _places(self, coord: Slicer) -> Any:
        return index(self.offset + self.layout(coord))

    def _all_places(self) -> Any:
        """Return the places of all elements; where strides aren't integers, by the call."""
        inner = self.layout
        while isinstance(inner, ComposedLayout):
            inner = inner.layout_b
        if all(type(d) is int for d in leaves(inner.stride)):
            return index(self.offset + batched.batch(self.layout).values())
        return self._places(np.arange(self.size, dtype=np.int64))

    def _view(self, coord: Slicer) -> Tensor:
        if isinstance(self.layout, ComposedLayout):  # its outer function is not linear, so the offset is inside it
            view: Any = self.layout(coord)
            return replace(self, layout=view)
        part, offset = slice_and_offset(coord, self.layout)
        return replace(self, layout=part, offset=self.offset + offset)

    def _within(self, at: Any) -> Any:
        """Return indices of the storage, checked: numpy would count negative ones from the end."""
        length = self.data.shape[0]
        low, high = (int(np.min(at)), int(np.max(at))) if np.size(at) else (0, 0)
        if low < 0 or high >= length:
            bad = low if low < 0 else high
            raise LayoutError(f"{self} has index {bad} of storage that has 0 .. {length - 1}")
        return at


def make_tensor(shape: IntTuple, dtype: Any = "int64") -> Tensor:
    """Return a tensor with storage of its own: zeros, in the compact column-major layout of ``shape``.

    >>> print(make_tensor((2, (3, 4))))
    (2,(3,4)):(1,(2,6))
    """
    return Tensor(np.zeros(size(shape), dtype), Layout(shape))


def make_fragment_like(tensor: Tensor, dtype: Any = None) -> Tensor:
    """Return registers for a thread's part (V, rests ...): zeros in its shape, V compact, the rests ordered by its
    strides.

    So a copy into them runs through both in the same order. Values of V that are one element of the tensor (stride 0)
    are one register. Rests of equal strides follow each other from the left, as all do where the strides are
    coordinates.

    >>> part = Tensor(np.arange(128), Layout.parse("((2,2),4,8):((64,8),16,1)"))
    >>> print(make_fragment_like(part))
    ((2,2),4,8):((1,2),32,4)
    """
    layout = tensor.layout.layout_b if isinstance(tensor.layout, ComposedLayout) else tensor.layout
    dtype = dtype or (np.int64 if tensor.data is None else tensor.data.dtype)
    if rank(layout) < 2 or not isinstance(layout, Layout) or not all(type(d) is int for d in leaves(layout.stride)):
        return make_tensor(tensor.shape, dtype)
    flat = [(s, d) for mode in layout for s, d in zip(leaves(mode.shape), leaves(mode.stride), strict=True)]
    first = len(leaves(layout[0].shape))
    order = [i for i in range(first) if flat[i][1]] + sorted(range(first, len(flat)), key=lambda i: flat[i][1])
    strides, filled = [0] * len(flat), 1
    for mode in order:
        if flat[mode][0] > 1:
            strides[mode], filled = filled, filled * flat[mode][0]
    return Tensor(np.zeros(filled, dtype), Layout(layout.shape, nest(iter(strides), layout.shape)))


def make_identity_tensor(shape: IntTuple) -> Tensor:
    """Return the tensor of its own coordinates: T[c] = c.

    Its views, tiles and partitions show the coordinates they came from.

    >>> T = make_identity_tensor((4, 8))
    >>> T[2, 5], T[None, 3][1], T[9]
    ((2, 5), (1, 3), (1, 2))
    """
    # The offset is a zero with all modes: without it, a mode of extent 1 could lose its place in the coordinate.
    return Tensor(None, identity_layout(shape), Coordinates(tuple(nest(repeat(0), s) for s in wrap(shape))))
