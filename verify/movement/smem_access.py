# SPDX-License-Identifier: Apache-2.0
"""Accesses of shared memory: which thread accesses which bytes, in what width, and on what architecture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from layouts import ComposedLayout, Layout, LayoutError, Swizzle, size
from layouts.arrays import np
from layouts.banks import LANES, PHASE, Access, Operation
from layouts.int_tuple import IntTuple

if TYPE_CHECKING:
    from proofs.layout.movement import Access as SolverAccess

Table = np.ndarray[tuple[int, ...], np.dtype[np.int64]]

CAPACITY: Mapping[str, int] = {  # KiB of shared memory that one CTA can have
    # CUDA C++ Programming Guide, technical specifications per compute capability
    **dict.fromkeys(("sm_70", "sm_72"), 96),
    "sm_75": 64,
    **dict.fromkeys(("sm_80", "sm_87"), 163),
    **dict.fromkeys(("sm_86", "sm_89", "sm_120", "sm_121"), 99),
    **dict.fromkeys(("sm_90", "sm_100", "sm_101", "sm_103", "sm_110"), 227),
}
ARCH = "sm_90"  # where none is given
WIDTHS: Mapping[str, tuple[int, ...]] = {  # how shared memory is accessed -> bits that one access can have
    "load": tuple(PHASE),
    "store": tuple(PHASE),
    "cp.async": (32, 64, 128),
    "ldmatrix": (128,),
    "stmatrix": (128,),
}
MATRICES = ("ldmatrix", "stmatrix")
BYTE = 8
WRITES = ("store", "cp.async", "stmatrix")
PLAIN = Swizzle(0, 0, 0)


@dataclass(frozen=True, slots=True)
class SmemAccess:
    """The accesses of all threads to a tile in shared memory, or to the source of a copy in global memory."""

    tile: Layout | ComposedLayout  # index in the tile -> element of memory, a swizzle of it or not
    threads: Layout  # (thread, value) -> index in the tile
    element: int  # bits of an element
    width: int  # bits that a thread accesses at once
    how: str = "load"  # load, store, cp.async, ldmatrix or stmatrix
    arch: str = ARCH  # whose shared memory it is
    base: int | None = None  # byte at which the tile starts, where it is given
    memory: str = "shared"  # or "global"

    @property
    def swizzle(self) -> Swizzle:
        """The swizzle, of elements; of no bits where there is none."""
        outer = self.tile.layout_a if isinstance(self.tile, ComposedLayout) else None
        return outer if isinstance(outer, Swizzle) else PLAIN

    @property
    def plain(self) -> Layout:
        """The tile before the swizzle."""
        inner = self.tile.layout_b if isinstance(self.tile, ComposedLayout) else self.tile
        if not isinstance(inner, Layout):
            raise LayoutError(f"{self.tile} is not a swizzle of a layout")
        return inner

    @property
    def vector(self) -> int:
        """Elements of one access."""
        return self.width // self.element

    @property
    def bytes(self) -> Swizzle:
        """The swizzle, of bytes."""
        s = self.swizzle
        return Swizzle(s.bits, s.base + (self.element // BYTE).bit_length() - 1, s.shift)

    @property
    def capacity(self) -> int:
        """Bytes of shared memory that a CTA can have."""
        return CAPACITY[self.arch] * 1024

    @property
    def unit(self) -> int:
        """Bases are multiples of this many bytes: the swizzle's period, or the width where there is none."""
        return self.bytes.period if self.swizzle.bits else self.width // BYTE

    @property
    def operation(self) -> Operation:
        """The operation in the model of banks: a matrix row, loaded or stored, is served as a store of its width."""
        return Operation.STORE if self.how in MATRICES else Operation(self.how)

    def offsets(self) -> Table:
        """The element of memory of each (thread, access, place in the access), from base 0."""
        threads, values = size(self.threads[0]), size(self.threads[1])
        index = self.threads(np.arange(threads)[:, None], np.arange(values)[None, :])
        found: Table = np.asarray(self.swizzle(np.asarray(self.plain(index))))
        return found.reshape(threads, values // self.vector, self.vector)

    def accesses(self, base: int = 0) -> list[Access]:
        """Every access of every warp, in bytes from a base on."""
        first = base + self.offsets()[:, :, 0] * (self.element // BYTE)
        warps = range(0, len(first), LANES)
        rows = (first[start : start + LANES, step].tolist() for step in range(first.shape[1]) for start in warps)
        return [Access(tuple(row), self.width, self.operation) for row in rows]

    def for_solver(self) -> SolverAccess:
        """The accesses as the solver's input: the layouts of the spec, none computed from another."""
        from proofs.layout.movement import Access as SolverAccess

        bases, shared = max(1, self.capacity // self.unit), self.operation is not Operation.COPY
        element, phase = self.element // BYTE, PHASE[self.width]
        return SolverAccess(self.threads, self.plain, element, self.width, phase, self.bytes, bases, self.unit, shared)


def scaled(stride: IntTuple, factor: int) -> IntTuple:
    """Every stride times a factor."""
    return tuple(scaled(d, factor) for d in stride) if isinstance(stride, tuple) else stride * factor


def in_parts(tile: Layout | ComposedLayout, parts: int) -> Layout | ComposedLayout:
    """The tile whose elements are split into neighbouring parts: (x, y) becomes (part + parts * x, y).

    >>> print(in_parts(Layout((8, 4), (4, 1)), 2))
    ((2,8),4):((1,8),2)
    """
    if parts == 1:
        return tile
    if isinstance(tile, ComposedLayout):
        outer, inner = tile.layout_a, tile.layout_b
        if not isinstance(outer, Swizzle) or not isinstance(inner, Layout):
            raise LayoutError(f"{tile} is not a swizzle of a layout")
        finer = Swizzle(outer.bits, outer.base + parts.bit_length() - 1, outer.shift)
        return ComposedLayout(finer, 0, in_parts(inner, parts))
    x, y = tile
    return Layout(((parts, x.shape), y.shape), ((1, scaled(x.stride, parts)), scaled(y.stride, parts)))
