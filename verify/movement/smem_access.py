# SPDX-License-Identifier: Apache-2.0
"""Accesses of shared memory: which thread accesses which bytes, in what width, and on what architecture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

import proofs
from layouts import Layout, Swizzle, batched, size
from layouts.bank_conflicts import LANES, PHASE, Access, AccessKind
from layouts.int_tuple import IntTuple
from verify.core.digits import image, walk

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

    tile: Layout  # index in the tile -> element of memory, before the swizzle
    swizzle: Swizzle  # of elements; of no bits where there is none
    threads: Layout  # (thread, value) -> index in the tile
    element: int  # bits of an element
    width: int  # bits that a thread accesses at once
    how: str = "load"  # load, store, cp.async, ldmatrix or stmatrix
    arch: str = ARCH  # whose shared memory it is
    base: int | None = None  # byte at which the tile starts, where it is given
    memory: str = "shared"  # or "global"

    @property
    def vector(self) -> int:
        """Elements of one access."""
        return self.width // self.element

    @property
    def bytes(self) -> Swizzle:
        """The swizzle, of bytes."""
        return finer(self.swizzle, self.element // BYTE)

    @property
    def capacity(self) -> int:
        """Bytes of shared memory that a CTA can have."""
        return CAPACITY[self.arch] * 1024

    @property
    def unit(self) -> int:
        """Bases are multiples of this many bytes: the swizzle's period, or the width where there is none."""
        return self.bytes.period if self.swizzle.bits else self.width // BYTE

    @property
    def operation(self) -> AccessKind:
        """The operation in the model of banks: a matrix row, loaded or stored, is served as a store of its width."""
        return AccessKind.STORE if self.how in MATRICES else AccessKind(self.how)

    def indices(self) -> Table:
        """Return the index in the tile of each (thread, value)."""
        table: Table = batched.table(self.threads)
        return table

    @property
    def places(self) -> batched.Batch:
        """The element of memory at which each index of the tile lies, from base 0."""
        return batched.compose(self.swizzle, self.tile)

    def offsets(self) -> Table:
        """Return the element of memory of each (thread, access, place in the access), from base 0."""
        threads, values = map(size, self.threads)
        table: Table = batched.compose(self.places, self.threads).values().reshape(values, threads).T
        return table.reshape(threads, -1, self.vector)

    def place(self, index: int) -> int:
        """One of `places`, in plain integers."""
        return self.swizzle(int(image(self.tile, index)))

    def offset(self, thread: int, value: int) -> int:
        """Return the element of memory of one (thread, value), in plain integers."""
        return self.place(int(walk(self.threads, thread, value)))

    def access(self, threads: Sequence[int], step: int, base: int) -> Access:
        """One of `accesses`, of these threads, in plain integers."""
        places = (self.offset(thread, step * self.vector) for thread in threads)
        return Access(tuple(base + place * (self.element // BYTE) for place in places), self.width, self.operation)

    def accesses(self, base: int = 0) -> list[Access]:
        """Every access of every warp, in bytes from a base on."""
        first = base + self.offsets()[:, :, 0] * (self.element // BYTE)
        warps = range(0, len(first), LANES)
        rows = (first[start : start + LANES, step].tolist() for step in range(first.shape[1]) for start in warps)
        return [Access(tuple(row), self.width, self.operation) for row in rows]

    def for_solver(self) -> proofs.SharedAccess:
        """Return the accesses as the solver's input: the layouts of the spec, none computed from another."""
        bases, shared = max(1, self.capacity // self.unit), self.operation is not AccessKind.COPY
        element, phase = self.element // BYTE, PHASE[self.width]
        return proofs.SharedAccess(
            self.threads, self.tile, element, self.width, phase, self.bytes, bases, self.unit, shared
        )


def scale(stride: IntTuple, factor: int) -> IntTuple:
    """Every stride times a factor."""
    return tuple(scale(d, factor) for d in stride) if isinstance(stride, tuple) else stride * factor


def finer(swizzle: Swizzle, parts: int) -> Swizzle:
    """Return the swizzle of the parts of elements that does what a swizzle of whole elements does."""
    return Swizzle(swizzle.bits, swizzle.base + parts.bit_length() - 1, swizzle.shift)


def in_parts(tile: Layout, parts: int) -> Layout:
    """Return the tile whose elements are split into neighbouring parts: (x, y) becomes (part + parts * x, y).

    >>> print(in_parts(Layout((8, 4), (4, 1)), 2))
    ((2,8),4):((1,8),2)
    """
    if parts == 1:
        return tile
    x, y = tile
    return Layout(((parts, x.shape), y.shape), ((1, scale(x.stride, parts)), scale(y.stride, parts)))
