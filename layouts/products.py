# SPDX-License-Identifier: Apache-2.0
"""Products: a block repeated. Source: CUTLASS, include/cute/layout.hpp (logical_product, its variants, tile_to_shape).

The product of a block A and a layout T moves copy j of the block to A*(T(j)), where A* lists, in order, distances at
which the copies of A are disjoint: the gaps between its modes first, then what lies beyond it. That is the complement
of A, with two exceptions: gaps that the modes below do not fill evenly are left open, as in a block with padding; and
no gap is used where modes interleave, as in (4,4):(7,3).

In by-mode products a tiler is a layout; an int n for n:1; a tuple of tilers, mode by mode, where modes of A beyond
it stay single; or None, a single copy. For a composed layout S o offset o B the block B is repeated, and S applied
to all of it: if the period of S divides the distances, this repeats the swizzled block.
"""

from __future__ import annotations

from math import prod

from layouts.complement import gaps, of_gaps
from layouts.compose import Tiler, composition
from layouts.composed import L, on_layout
from layouts.divide import by_mode, unpack_both, unpack_second, unzip
from layouts.errors import LayoutError
from layouts.int_tuple import IntTuple, compatible, size, wrap
from layouts.layout import Layout, cosize, make_layout
from layouts.modes import UNIT, append, make_ordered_layout
from layouts.text import format_int_tuple


def logical_product(block: L, tiler: Tiler) -> L:
    """Return the layout of rank 2 (block, copies), or with a tuple of tilers mode by mode.

    R(i, j) = A(i) + A*(T(j)) for a layout T, and R takes each value once if A and T do. None leaves its mode as
    it is.

    >>> print(logical_product(Layout.parse("(2,2):(4,1)"), Layout(6)))
    ((2,2),(2,3)):((4,1),(2,8))
    >>> print(logical_product(Layout(4, 2), 2))
    (4,2):(2,1)

    Raises LayoutError when A* is not admissible for T, when a tuple has more modes than the block, and for more than
    a single copy when modes of the block overlap or have negative strides.
    """
    return on_layout(lambda plain: by_mode(_logical, plain, tiler), block)


def zipped_product(block: L, tiler: Tiler) -> L:
    """Return the layout ((blocks of all modes), (copies of all modes)); None makes a single copy, 1:0.

    >>> print(zipped_product(Layout.parse("(4,8):(1,4)"), (Layout(2, 1), 3)))
    ((4,8),(2,3)):((1,4),(4,1))

    Raises LayoutError where logical_product does.
    """
    return on_layout(lambda plain: make_layout(*unzip(_block_and_copies, plain, tiler)), block)


def tiled_product(block: L, tiler: Tiler) -> L:
    """Return the layout ((blocks), copies, copies, ...): zipped_product with its second mode unpacked.

    A tuple of a single mode of copies is unpacked too (CuTe C++ leaves it packed).

    >>> print(tiled_product(Layout(4, 1), Layout((2, 3))))
    (4,2,3):(1,4,8)

    Raises LayoutError where logical_product does.
    """
    return on_layout(lambda plain: unpack_second(*unzip(_block_and_copies, plain, tiler)), block)


def flat_product(block: L, tiler: Tiler) -> L:
    """Return the layout (block, block, ..., copies, copies, ...): zipped_product with both modes unpacked.

    Tuples of a single mode are unpacked too (CuTe C++ leaves them packed).

    >>> print(flat_product(Layout((2, 2)), Layout((2, 3))))
    (2,2,2,3):(1,2,4,8)

    Raises LayoutError where logical_product does.
    """
    return on_layout(lambda plain: unpack_both(*unzip(_block_and_copies, plain, tiler)), block)


def blocked_product(block: L, tiler: Layout) -> L:
    """Return the layout in which mode k is (block mode k, tiler mode k): copies of the block next to each other.

    R(b_0 + B_0*t_0, b_1 + B_1*t_1, ...) = A(b_0, b_1, ...) + A*(T(t_0, t_1, ...)), B_k the extents of the block.
    The shorter of the two gets modes 1:0 at its right.

    >>> print(blocked_product(Layout((2, 5), (5, 1)), Layout((3, 4))))
    ((2,3),(5,4)):((5,10),(1,30))

    Raises LayoutError where logical_product does.
    """
    return on_layout(lambda plain: _zip(*_ranked_product(plain, tiler)), block)


def raked_product(block: L, tiler: Layout) -> L:
    """Return the layout in which mode k is (tiler mode k, block mode k): the copies interleaved.

    R(t_0 + T_0*b_0, t_1 + T_1*b_1, ...) = A(b_0, b_1, ...) + A*(T(t_0, t_1, ...)), T_k the extents of the tiler.
    The shorter of the two gets modes 1:0 at its right.

    >>> print(raked_product(Layout((2, 5), (5, 1)), Layout((3, 4))))
    ((3,2),(4,5)):((10,5),(30,1))

    Raises LayoutError where logical_product does.
    """
    return on_layout(lambda plain: _zip(*reversed(_ranked_product(plain, tiler))), block)


def tile_to_shape(block: L, shape: IntTuple, order: IntTuple | None = None) -> L:
    """Return the blocked product of the block and as many copies as fill ``shape``, laid out in ``order`` of the modes.

    compatible(shape, R); the smallest order runs fastest, by default the leftmost mode.

    >>> print(tile_to_shape(Layout((2, 2)), (4, 6)), tile_to_shape(Layout((2, 2)), (4, 6), (1, 0)))
    ((2,2),(2,3)):((1,4),(2,8)) ((2,2),(2,3)):((1,12),(2,4))

    Raises LayoutError when the block has more modes than the shape or does not divide it mode by mode, when a
    nested mode of the shape is not refined by its blocks and copies, and where blocked_product does.
    """
    return on_layout(lambda plain: _tile_to_shape(plain, shape, order), block)


def _tile_to_shape(block: Layout, shape: IntTuple, order: IntTuple | None) -> Layout:
    target = [size(mode) for mode in wrap(shape)]
    if len(block) > len(target):
        raise LayoutError(f"tile_to_shape of {block}: rank {len(block)}, shape {format_int_tuple(shape)} has less")
    padded = append(block, up_to_rank=len(target))
    extents = [size(mode) for mode in padded]
    for mode, (whole, part) in enumerate(zip(target, extents, strict=True)):
        if whole % part:
            raise LayoutError(f"tile_to_shape of {block}: in mode {mode}, {part} does not divide {whole}")
    copies = tuple(whole // part for whole, part in zip(target, extents, strict=True))
    result = blocked_product(padded, Layout(copies) if order is None else make_ordered_layout(copies, order))
    if not compatible(wrap(shape), result.shape):
        raise LayoutError(
            f"tile_to_shape of {block}: {result} has no coordinates of the nested shape {format_int_tuple(shape)}"
        )
    return result


def _copies(block: Layout, tiler: Layout) -> Layout:
    """Return A* o T."""
    try:
        extents, strides, end = gaps(block, 1)  # also those that are not filled evenly
    except LayoutError:
        if not single(tiler):
            raise
        return composition(UNIT, tiler)
    if not end:  # modes interleave, and end before the values do
        end = cosize(block)
    extents.append(-(-cosize(tiler) // prod(extents)))
    strides.append(end)
    return composition(of_gaps(extents, strides), tiler)


def single(tiler: Layout) -> bool:
    """Whether all copies are at 0: then the block is not moved, and may be any layout."""
    return cosize(tiler) == 1


def _logical(block: Layout, tiler: Layout) -> Layout:
    return make_layout(block, _copies(block, tiler))


def _block_and_copies(block: Layout, tiler: Layout | None) -> tuple[Layout, Layout]:
    return block, UNIT if tiler is None else _copies(block, tiler)


def _ranked_product(block: Layout, tiler: Layout) -> tuple[Layout, Layout]:
    rank = max(len(block), len(tiler))
    # As tuples: composition may split an unnested tiler into several modes, but keeps the rank of a tuple.
    block, tiler = (append(make_layout(*x), up_to_rank=rank) for x in (block, tiler))
    return block, _copies(block, tiler)


def _zip(first: Layout, second: Layout) -> Layout:
    return make_layout(*(make_layout(*pair) for pair in zip(first, second, strict=True)))
