# SPDX-License-Identifier: Apache-2.0
"""TiledCopy: the elements of a tile that each thread copies. Source: CUTLASS, include/cute/atom/copy_atom.hpp."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial, partialmethod
from typing import TypeVar

from layouts.coalesce import coalesce
from layouts.compose import Tiler, composition
from layouts.composed import ComposedLayout, on_layout
from layouts.divide import zipped_divide
from layouts.errors import LayoutError
from layouts.int_tuple import IntTuple, size, wrap
from layouts.inverse import right_inverse
from layouts.layout import Layout, make_layout
from layouts.products import logical_product, raked_product
from layouts.tensor.tensor import Tensor
from layouts.tiled.atom import TiledCopyAtom, check_multiple
from layouts.tiled.tiled_mma import TiledMMA
from layouts.widths import upcast

L = TypeVar("L", bound="Layout | ComposedLayout")


@dataclass(frozen=True, slots=True)
class TiledCopy:
    """A copy atom repeated over threads and values: ``layout_tv`` distributes the tile ``tiler`` over the threads.

    layout_tv is (thread, value) -> index in the tile; ``tiler`` gives the tile in the tensor, mode by mode. layout_tv
    describes the atom's ``ref``, its source or destination; the layout of the other follows from the atom.

    >>> from layouts.tensor import make_identity_tensor
    >>> atom = TiledCopyAtom("1:0", "(1,32):(0,1)", "(1,32):(0,1)", "(1,32):(0,1)", 16)
    >>> copy = make_tiled_copy(atom, Layout((8, 4), (4, 1)), Layout((1, 2)))
    >>> print(copy.tiler, copy.layoutS_TV)
    (8, 8) ((4,8),(2,1)):((16,1),(8,0))
    >>> copy.get_slice(5).partition_S(make_identity_tensor((16, 16))).shape
    ((2, 1), 2, 2)

    Raises LayoutError when layout_tv has no integer of the atom's threads or values, when these do not divide its
    modes, and where the atom's bits are no integer of values.
    """

    atom: TiledCopyAtom
    layout_tv: Layout
    tiler: tuple[Tiler, ...]

    def __post_init__(self) -> None:
        if len(self.layout_tv) != 2:
            raise LayoutError(f"a (thread, value) layout has 2 modes, {self.layout_tv} has {len(self.layout_tv)}")
        for mode, what in enumerate(("threads", "values")):
            whole, part = size(self.layout_tv[mode]), size(self.atom.values("ref")[mode])
            check_multiple(whole, part, f"{self.layout_tv} has {whole} {what}, no multiple of the atom's {part}")
        try:
            self._atoms()
        except LayoutError as error:
            threads, values = (size(mode) for mode in self.atom.values("ref"))
            problem = f"an atom of {threads} threads and {values} values cuts across the modes of {self.layout_tv}"
            raise LayoutError(f"{problem}: {error}") from error

    @property
    def size(self) -> int:
        """How many threads there are."""
        return size(self.layout_tv[0])

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of the tile."""
        return tuple(size(_as_shape(mode)) for mode in self.tiler)

    def tidfrg(self, operand: str, layout: L) -> L:
        """Return the layout (thread, (values, more values), (restM, restN, ...)) of the layout (m, n, ...) of src or
        dst.

        Raises LayoutError when a mode isn't a multiple of the tile.
        """
        if len(layout) < len(self.tiler):
            raise LayoutError(f"{layout} has less modes than the tile {self.shape}")
        for extent, tile in zip(map(size, wrap(layout.shape)), self.shape, strict=False):
            check_multiple(extent, tile, f"{extent} of {layout} isn't a multiple of the tile's {tile}")
        return on_layout(lambda plain: self._divide(operand, plain), layout)

    tidfrg_S = partialmethod(tidfrg, "src")
    tidfrg_D = partialmethod(tidfrg, "dst")

    @property
    def layoutS_TV(self) -> Layout:
        """(thread, value) -> index in the tile, of the source."""
        return self._distribute("src", Layout(size(self.shape)))

    @property
    def layoutD_TV(self) -> Layout:
        """(thread, value) -> index in the tile, of the destination."""
        return self._distribute("dst", Layout(size(self.shape)))

    def get_slice(self, thread: int) -> ThrCopy:
        """Return the view of one thread.

        Raises LayoutError for a thread outside 0 .. size-1.
        """
        if not 0 <= thread < self.size:
            raise LayoutError(f"thread {thread} of a tiled copy with the threads 0 .. {self.size - 1}")
        return ThrCopy(self, thread)

    def retile(self, tensor: Tensor) -> Tensor:
        """Return a thread's tensor (V, restM, restN, ...), by the copy's values: ((values, more values), restM, restN,
        ...).

        For registers that another tiling filled, such as a TiledMMA's fragments: value i of the result is the element
        of the tile that layout_tv gives to value i, provided that the first V values of layout_tv are V.

        Raises LayoutError when the values of layout_tv are no such blocks of V.
        """
        return replace(tensor, layout=on_layout(self._retile, tensor.layout))

    def _retile(self, layout: Layout) -> Layout:
        values = size(layout[0])
        problem = f"the values of {self.layout_tv} aren't blocks of {values} in the order of the tile's modes"
        try:
            place = composition(right_inverse(self.layout_tv), Layout(self.shape))
            blocks = upcast(place, self.size * values)  # (m, n) -> block: the order of the rests in layout_tv
            order = zipped_divide(
                logical_product(Layout(values), right_inverse(blocks)), size(self.atom.values("ref")[1])
            )
        except LayoutError as error:
            raise LayoutError(f"{problem}: {error}") from error
        if size(order) != size(self.layout_tv[1]):
            raise LayoutError(problem)
        tile = (values, *(size(mode) for mode in blocks))
        divided = zipped_divide(layout, tile)
        return make_layout(composition(divided[0], order), *[*divided[1]][1:])

    def _divide(self, operand: str, layout: Layout) -> Layout:
        tile, rest = zipped_divide(layout, self.tiler)
        return make_layout(*self._distribute(operand, tile), rest)

    def _atoms(self) -> Layout:
        """layout_tv as ((threads, values) of an atom, the others)."""
        ref = self.atom.values("ref")
        return zipped_divide(self.layout_tv, (size(ref[0]), size(ref[1])))

    def _distribute(self, operand: str, tile: Layout) -> Layout:
        """(thread, (values, more values)) of src or dst, for the layout of a tile."""
        ref, wanted = self.atom.values("ref"), self.atom.values(operand)
        atoms, rests = self._atoms()
        # (thread, value) of src or dst -> that of ref -> the tile
        thread, value = composition(atoms, composition(right_inverse(ref), wanted))
        zipped = make_layout(make_layout(thread, rests[0]), make_layout(value, rests[1]))
        return composition(tile, coalesce(zipped, (1, (1, 1))))


@dataclass(frozen=True, slots=True)
class ThrCopy:
    """The view of one thread of a tiled copy."""

    copy: TiledCopy
    thread: int

    def partition(self, operand: str, tensor: Tensor) -> Tensor:
        """Return the thread's view ((values, more values), restM, restN, ...) of a tensor (m, n, ...), as src or dst.

        Raises LayoutError when a mode isn't a multiple of the tile.
        """
        divided = replace(tensor, layout=self.copy.tidfrg(operand, tensor.layout))
        rests = wrap(divided.shape)[2]
        return divided[(self.thread, None, (None,) * len(wrap(rests)))]  # type: ignore[no-any-return]

    partition_S = partialmethod(partition, "src")
    partition_D = partialmethod(partition, "dst")

    def retile_S(self, tensor: Tensor) -> Tensor:
        """Return registers of another tiling as this copy's source, or destination: TiledCopy.retile."""
        return self.copy.retile(tensor)

    retile_D = retile_S


def make_tiled_copy(atom: TiledCopyAtom, thr_layout: Layout, val_layout: Layout | None = None) -> TiledCopy:
    """Return the tiled copy of threads (m, n) -> thread, each with a block of values (m, n) -> value, one by default.

    The tile is the product of both, the values of a thread contiguous: layout_tv is the inverse of their raked product.

    >>> atom = TiledCopyAtom("1:0", "(1,16):(0,1)", "(1,16):(0,1)", "(1,16):(0,1)", 16)
    >>> copy = make_tiled_copy(atom, Layout((2, 4), (4, 1)), Layout((1, 2)))
    >>> print(copy.layout_tv, copy.tiler)
    ((4,2),2):((4,1),2) (2, 8)

    Raises LayoutError when the two together name a thread or a value twice, or leave one out.
    """
    values = Layout(1) if val_layout is None else val_layout
    problem = f"threads {thr_layout} and values {values} do not name each thread and value once"
    try:
        placed = raked_product(thr_layout, values)
    except LayoutError as error:
        raise LayoutError(f"{problem}: {error}") from error
    inverse = right_inverse(placed)
    if size(inverse) != size(placed):
        raise LayoutError(problem)
    layout_tv = composition(inverse, Layout((size(thr_layout), size(values))))
    return TiledCopy(atom, layout_tv, tuple(size(mode) for mode in placed))


def _made_like(operand: str, atom: TiledCopyAtom, mma: TiledMMA) -> TiledCopy:
    """Return the tiled copy in which each thread has the elements of an operand that it has in the MMA."""
    tile = mma.tile_shape(operand)
    return TiledCopy(atom, mma.layout_TV(operand, Layout(tile)), tile)


make_tiled_copy_A, make_tiled_copy_B, make_tiled_copy_C = (partial(_made_like, operand) for operand in "ABC")


def _as_shape(mode: Tiler) -> IntTuple:
    if isinstance(mode, Layout):
        return mode.shape
    if isinstance(mode, int):
        return mode
    raise LayoutError(f"each mode of a tile is an extent or a layout, got {mode}")
