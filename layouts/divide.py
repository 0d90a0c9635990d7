# SPDX-License-Identifier: Apache-2.0
"""Division of layouts into tiles. Source: CUTLASS, include/cute/layout.hpp (logical_divide and its variants).

A tiler T lists the indices of one tile. With T* = complement(T, size(A)), every index of A is T(t) + T*(r) for one
place t in a tile and one tile r, so A o (T, T*) is A, tile by tile (a T with strides of 0 repeats its places).
Where the tiles do not divide A, the last ones extend beyond it along A's last mode: callers mask that part.

A tiler is a layout; an int n for n:1; a tuple of tilers, mode by mode, where modes of A beyond it stay undivided; or
None, a tile of the whole mode. A composed layout S o offset o B is divided in B: that is the same function.
"""

from __future__ import annotations

from collections.abc import Callable

from layouts.complement import complement
from layouts.compose import Tiler, composition
from layouts.composed import L, on_layout
from layouts.errors import LayoutError
from layouts.int_tuple import size
from layouts.layout import Layout, make_layout
from layouts.modes import UNIT


def logical_divide(layout: L, tiler: Tiler) -> L:
    """Return the layout of rank 2 (tile, rest), or with a tuple of tilers mode by mode.

    R(t, r) = A(T(t) + T*(r)) for a layout T, so that R[0] = composition(A, T). None leaves its mode as it is.

    >>> print(logical_divide(Layout.parse("(4,2,3):(2,1,8)"), Layout(4, 2)))
    ((2,2),(2,3)):((4,1),(2,8))
    >>> print(logical_divide(Layout((8, 6)), (4, Layout(2, 3))))
    ((4,2),(2,3)):((1,4),(24,8))

    Raises LayoutError when T has no complement in A's indices, when A is not admissible for (T, T*), and when a
    tuple has more modes than A.
    """
    return on_layout(lambda plain: by_mode(_logical, plain, tiler), layout)


def zipped_divide(layout: L, tiler: Tiler) -> L:
    """Return the layout ((tiles of all modes), (rests of all modes)): R[0] = composition(A, T), as R[0](t) = A(T(t)).

    None makes the whole mode the tile, with the rest 1:0.

    >>> print(zipped_divide(Layout((8, 6, 5)), (4, Layout(2, 3))))
    ((4,2),(2,3,5)):((1,24),(4,8,48))
    >>> print(zipped_divide(Layout((8, 6)), (4, None)))
    ((4,6),(2,1)):((1,8),(4,0))

    Raises LayoutError where logical_divide does.
    """
    return on_layout(lambda plain: make_layout(*unzip(_tile_and_rest, plain, tiler)), layout)


def tiled_divide(layout: L, tiler: Tiler) -> L:
    """Return the layout ((tiles), rest, rest, ...): zipped_divide with its second mode unpacked.

    A tuple of a single rest is unpacked too (CuTe C++ leaves it packed).

    >>> print(tiled_divide(Layout((8, 6, 5)), (4, Layout(2, 3))))
    ((4,2),2,3,5):((1,24),4,8,48)

    Raises LayoutError where logical_divide does.
    """
    return on_layout(lambda plain: unpack_second(*unzip(_tile_and_rest, plain, tiler)), layout)


def flat_divide(layout: L, tiler: Tiler) -> L:
    """Return the layout (tile, tile, ..., rest, rest, ...): zipped_divide with both modes unpacked.

    Tuples of a single tile or rest are unpacked too (CuTe C++ leaves them packed).

    >>> print(flat_divide(Layout((8, 6, 5)), (4, Layout(2, 3))))
    (4,2,2,3,5):(1,24,4,8,48)

    Raises LayoutError where logical_divide does.
    """
    return on_layout(lambda plain: unpack_both(*unzip(_tile_and_rest, plain, tiler)), layout)


def _logical(layout: Layout, tiler: Layout) -> Layout:
    return composition(layout, make_layout(tiler, complement(tiler, size(layout))))


def _tile_and_rest(layout: Layout, tiler: Layout | None) -> tuple[Layout, Layout]:
    if tiler is None:
        return layout, UNIT
    divided = _logical(layout, tiler)
    return divided[0], divided[1]


def by_mode(operation: Callable[[Layout, Layout], Layout], layout: Layout, tiler: Tiler) -> Layout:
    """``operation`` applied to each mode and its tiler; modes of None and beyond a tuple are kept."""
    if tiler is None:
        return layout
    if not isinstance(tiler, tuple):
        return operation(layout, as_layout(tiler))
    _check_rank(layout, tiler)
    modes = list(layout)
    modes[: len(tiler)] = [by_mode(operation, m, t) for m, t in zip(modes, tiler, strict=False)]
    return make_layout(*modes)


def unzip(
    operation: Callable[[Layout, Layout | None], tuple[Layout, Layout]], layout: Layout, tiler: Tiler
) -> tuple[Layout, Layout]:
    """``operation`` applied to each mode: the layout of all firsts, and that of all seconds and further modes."""
    if not isinstance(tiler, tuple):
        return operation(layout, None if tiler is None else as_layout(tiler))
    _check_rank(layout, tiler)
    modes = list(layout)
    pairs = [unzip(operation, m, t) for m, t in zip(modes, tiler, strict=False)]
    return (
        make_layout(*(first for first, _ in pairs)),
        make_layout(*(second for _, second in pairs), *modes[len(tiler) :]),
    )


def unpack_second(first: Layout, second: Layout) -> Layout:
    """Return the layout (first, modes of the second)."""
    return make_layout(first, *second)


def unpack_both(first: Layout, second: Layout) -> Layout:
    """Return the layout (modes of the first, modes of the second)."""
    return make_layout(*first, *second)


def as_layout(tiler: Layout | int) -> Layout:
    """Return a tiler as a layout: an int n is n:1."""
    return Layout(tiler) if isinstance(tiler, int) else tiler


def _check_rank(layout: Layout, tiler: tuple[Tiler, ...]) -> None:
    if len(tiler) > len(layout):
        raise LayoutError(f"a tiler of {len(tiler)} modes for {layout}, which has {len(layout)}")
