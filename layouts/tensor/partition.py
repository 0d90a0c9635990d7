# SPDX-License-Identifier: Apache-2.0
"""Tiles and partitions of tensors. Source: CUTLASS, include/cute/tensor_impl.hpp (local_tile and its variants)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeAlias

from layouts.arrays import np
from layouts.compose import Tiler
from layouts.coords import Index, Slicer, crd2idx
from layouts.divide import zipped_divide
from layouts.errors import LayoutError
from layouts.int_tuple import IntTuple, leaves, rank, size, wrap
from layouts.layout import Layout
from layouts.modes import select
from layouts.tensor.tensor import Tensor

Projection: TypeAlias = "tuple[int | None, ...] | None"


def inner_partition(tensor: Tensor, tiler: Tiler, coord: Slicer) -> Tensor:
    """Return the tile at ``coord`` among the tiles: R(t) = T(tile t of rest coord).

    Modes of the rest beyond ``coord`` are kept, as are those where it is None. Where the tiles do not divide the
    tensor, the last one extends beyond it: ``make_predicate`` computes which elements are inside.

    >>> from layouts.tensor.tensor import make_identity_tensor
    >>> inner_partition(make_identity_tensor((8, 6)), (4, 3), (1, 0))[1, 2]
    (5, 2)

    Raises LayoutError where zipped_divide does, and when ``coord`` does not fit the rest.
    """
    divided = replace(tensor, layout=zipped_divide(tensor.layout, tiler))
    tile, rest = wrap(divided.shape)
    return divided[_pad((), tile), _pad(coord, rest)]  # type: ignore[no-any-return]


def outer_partition(tensor: Tensor, tiler: Tiler, coord: Slicer) -> Tensor:
    """Return the element at ``coord`` of each tile: R(r) = T(tile coord of rest r).

    >>> from layouts.tensor.tensor import make_identity_tensor
    >>> outer_partition(make_identity_tensor((8, 6)), (4, 3), (1, 0))[1, 1]
    (5, 3)

    Raises LayoutError where zipped_divide does, and when ``coord`` does not fit the tile.
    """
    divided = replace(tensor, layout=zipped_divide(tensor.layout, tiler))
    tile, rest = wrap(divided.shape)
    return divided[_pad(coord, tile), _pad((), rest)]  # type: ignore[no-any-return]


def local_tile(tensor: Tensor, tiler: Tiler, coord: Slicer, proj: Projection = None) -> Tensor:
    """Return the tile of a tensor for a CTA: inner_partition, by the modes of tiler and coord that ``proj`` does not
    drop.

    ``proj`` has a number for each mode that the tensor has, None for the others: (1, None, 1) is A of an (m, n, k)
    tiler.

    >>> from layouts.tensor.tensor import make_identity_tensor
    >>> A = local_tile(make_identity_tensor((64, 32)), (16, 8, 4), (1, 0, None), (1, None, 1))
    >>> A.shape, A[3, 2, 5]
    ((16, 4, 8), (19, 22))

    Raises LayoutError where inner_partition does, and when ``proj`` has another rank than the tiler.
    """
    if proj is not None:
        tiler, coord = _project(tiler, proj, "tiler"), _project(coord, proj, "coordinate")
    return inner_partition(tensor, tiler, coord)


def local_partition(tensor: Tensor, tile: Layout, index: int, proj: Projection = None) -> Tensor:
    """Return the view of thread ``index`` where ``tile`` is the layout of threads in each tile: coordinate -> thread.

    R(r) = T(c of rest r), where c is the coordinate with tile(c) = index. ``proj`` as in local_tile.

    >>> from layouts.tensor.tensor import make_identity_tensor
    >>> local_partition(make_identity_tensor((16, 64)), Layout((2, 16)), 5)[1, 2]
    (3, 34)

    Raises LayoutError when no coordinate of ``tile`` has that index, and where outer_partition does.
    """
    if not 0 <= index <= _last(tile):
        raise LayoutError(f"no coordinate of the threads {tile} has the index {index}: they end at {_last(tile)}")
    if proj is not None:
        if len(proj) != len(tile):
            raise LayoutError(f"the projection {proj} has {len(proj)} modes, {tile} has {len(tile)}")
        tile = select(tile, [i for i, kept in enumerate(proj) if kept is not None])
    shape = tuple(size(mode) for mode in tile)
    return outer_partition(tensor, shape, flat_coord(tile, index))


def make_predicate(coords: Tensor, bounds: IntTuple) -> Tensor:
    """Return the predicate of the elements inside: P[c] = every coordinate in coords[c] is below its bound.

    A new tensor.

    ``coords`` is a tile or partition of an identity tensor, ``bounds`` the shape of the tensor that is there.

    >>> from layouts.tensor.tensor import make_identity_tensor
    >>> last = local_tile(make_identity_tensor((5, 4)), (4, 4), (1, 0))
    >>> make_predicate(last, (5, 4)).matrix().astype(int).tolist()
    [[1, 1, 1, 1], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]

    Raises LayoutError when ``coords`` has storage, or coordinates of another number of modes than ``bounds``.
    """
    if coords.data is not None:
        raise LayoutError(f"a predicate needs a tensor of coordinates, and {coords} has storage")
    points, limits = coords.values(), leaves(bounds)
    parts = leaves(points)
    if len(parts) != len(limits):
        raise LayoutError(f"coordinates of {len(parts)} numbers against the bounds {bounds}")
    inside = np.ones(coords.size, dtype=np.bool_)
    for part, limit in zip(parts, limits, strict=True):
        inside &= np.asarray(part) < limit
    return Tensor(inside, Layout(coords.shape))


def flat_coord(layout: Layout, index: Index) -> tuple[Any, ...]:
    """One integer coordinate per mode, from the digits (index // d) % s of its strides; 0 along strides of 0.

    >>> flat_coord(Layout.parse("((4,2),2,3):((1,16),4,0)"), 22)
    (6, 1, 0)

    The index of that coordinate is ``index`` wherever the layout takes that value. CuTe: get_flat_coord.
    """
    return tuple(
        crd2idx(
            tuple(index // d % s if d else 0 for s, d in zip(leaves(mode.shape), leaves(mode.stride), strict=True)),
            leaves(mode.shape),
        )
        for mode in layout
    )


def _pad(coord: Slicer, shape: IntTuple) -> Slicer:
    """Return a coordinate with None for the modes of ``shape`` beyond it; None for a shape that is one mode."""
    if not isinstance(coord, tuple):
        return coord
    if not isinstance(shape, tuple):
        return coord[0] if coord else None
    return (*coord, *(None,) * (rank(shape) - len(coord)))


def _project(t: Any, proj: tuple[int | None, ...], what: str) -> Any:
    if not isinstance(t, tuple) or len(t) != len(proj):
        raise LayoutError(f"the projection {proj} has {len(proj)} modes, the {what} {t} has not")
    return tuple(x for x, kept in zip(t, proj, strict=True) if kept is not None)


def _last(tile: Layout) -> int:
    return sum((s - 1) * d for s, d in zip(leaves(tile.shape), leaves(tile.stride), strict=True))
