# SPDX-License-Identifier: Apache-2.0
"""Addresses of shared memory that are timed to measure its banks: strides, shared words, tiles, matrices, copies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gpu_checks.arrays import np

MEMORY = 32 * 1024  # bytes that addresses may access

Addresses = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Pattern:
    """The access of each lane of a warp: a load, store or asynchronous copy, or the rows of a matrix load or store."""

    name: str
    operation: str  # load, store, cp.async; ldmatrix.x1 and stmatrix.x1, also x2 and x4, each with .trans or without
    bits: int  # of one lane's access; 128, a row, for matrices
    addresses: Addresses  # byte of shared memory for each of 32 lanes

    @property
    def rows(self) -> Addresses:
        """The addresses that count: eight for each matrix, or one for each lane."""
        return self.addresses[: 8 * matrices(self.operation) or 32]


def matrices(operation: str) -> int:
    """How many matrices an operation moves; 0 for one that moves none.

    >>> matrices("ldmatrix.x4.trans"), matrices("store")
    (4, 0)
    """
    kind, *qualifiers = operation.split(".")
    return int(qualifiers[0][1:]) if kind in ("ldmatrix", "stmatrix") else 0


def patterns() -> tuple[Pattern, ...]:
    """Return the patterns that are recorded; their names are unique."""
    lane = np.arange(32)
    return tuple(
        Pattern(f"{operation} {bits}, {name}", operation, bits, tuple(map(int, addresses)))
        for operation, bits, name, addresses in (
            *_strides(lane),
            *_shared_words(lane),
            *_share_words(lane),
            *_phases(lane),
            *_draw_addresses(),
            *_tiles(lane),
            *_matrices(lane),
            *_written_matrices(lane),
            *_copies(lane),
        )
    )


_Rows = Iterator[tuple[str, int, str, Any]]


def _strides(lane: Any) -> _Rows:
    """Yield neighbouring lanes some accesses apart; odd strides use no bank twice."""
    for operation in ("load", "store"):
        for bits, steps in ((32, (1, 2, 4, 8, 16, 32, 33)), (64, (1, 2, 4, 16, 17)), (128, (1, 2, 4, 8, 9))):
            for step in steps:
                yield operation, bits, f"stride {step}", lane * step * bits // 8
    yield "load", 16, "stride 1", lane * 2
    yield "load", 8, "stride 1", lane
    yield "load", 16, "stride 32", lane * 64


def _shared_words(lane: Any) -> _Rows:
    """Lanes that access the same word, which is no conflict."""
    for bits in (32, 64, 128):
        wide = bits // 8
        yield "load", bits, "all the same", 0 * lane
        yield "load", bits, "pairs the same", lane // 2 * wide
        yield "load", bits, "lane and lane + 16 the same", lane % 16 * wide
        yield "load", bits, "pairs the same, in one bank", lane // 2 * 128
        yield "store", bits, "all the same", 0 * lane
    yield "load", 32, "two words of one bank", lane % 2 * 128
    yield "load", 32, "reversed", (31 - lane) * 4


def _share_words(lane: Any) -> _Rows:
    """Wide loads in which lanes share words: which sharing lets two phases become one, and at what price."""
    for bits in (64, 128):
        wide, random = bits // 8, np.random.default_rng(1000 + bits)
        below = {1: lane // 2, 2: lane & 1 | lane >> 2 << 1, 4: lane & 3 | lane >> 3 << 2, 8: lane & 7 | lane >> 4 << 3}
        for bit in (2, 4, 8):
            yield "load", bits, f"lane and lane ^ {bit} the same", below[bit] * wide
        for count in (4, 8, 16):
            yield "load", bits, f"{count} lanes the same", lane // count * wide
        for bit in (1, 2):
            for number in range(3):
                word = random.integers(0, MEMORY // wide, 16)
                yield "load", bits, f"lane and lane ^ {bit} the same, random {number}", word[below[bit]] * wide
        yield "load", bits, "pairs the same but the last", np.where(lane == 31, 64, lane // 2) * wide
        yield "load", bits, "pairs the same in the first half", np.where(lane < 16, lane // 2, lane) * wide
        yield "load", bits, "pairs the same in the first quarter", np.where(lane < 8, lane // 2, lane) * wide
        yield "load", bits, "first half lane ^ 1, second lane ^ 2", np.where(lane < 16, below[1], below[2]) * wide
    yield "store", 64, "pairs the same", lane // 2 * 8
    yield "store", 128, "pairs the same", lane // 2 * 16


def _phases(lane: Any) -> _Rows:
    """Which lanes of a wide access are served together: lanes that conflict here differ by half a warp or a quarter."""
    for bits, together in ((64, 16), (128, 8)):
        wide = bits // 8
        apart = lane % together * wide
        yield "load", bits, f"lane and lane + {together} in one bank", apart + lane // together * 1024
        yield "load", bits, "even and odd lanes in one bank", lane // 2 * wide + lane % 2 * 2048
        yield "load", bits, "second half in the banks of the first", lane % 16 * wide + lane // 16 * 4096
        yield "load", bits, "the first phase in one bank", np.where(lane < together, lane * 128, lane * wide + 8192)
    yield "load", 64, "quarters in one bank", lane % 8 * 8 + lane // 8 * 128
    yield "load", 128, "every fourth lane in one bank", lane % 4 * 16 + lane // 4 * 128


def _draw_addresses() -> _Rows:
    """Addresses at random: a permutation of neighbours, and any words."""
    for bits in (32, 64, 128):
        random = np.random.default_rng(bits)
        yield "load", bits, "permuted", random.permutation(32) * bits // 8
        for number in range(4):
            yield "load", bits, f"random {number}", random.integers(0, MEMORY * 8 // bits, 32) * bits // 8
        yield "store", bits, "random", random.permutation(MEMORY * 8 // bits)[:32] * bits // 8


def _swizzle(address: Any, bits: int) -> Any:
    """Swizzle<bits,4,3> of a byte address."""
    return address ^ (address >> 7 & (1 << bits) - 1) << 4


def _tiles(lane: Any) -> _Rows:
    """Yield a tile of 16-bit elements with rows of 128 bytes, in pieces of 16 bytes: along its rows and its columns."""
    row, column = lane // 8 * 128 + lane % 8 * 16, lane * 128
    for operation in ("load", "store"):
        for bits in (0, 1, 2, 3):
            how = f"swizzled by Sw<{bits},4,3>" if bits else "not swizzled"
            yield operation, 128, f"rows of a tile, {how}", _swizzle(row, bits)
            yield operation, 128, f"column of a tile, {how}", _swizzle(column, bits)
    yield "load", 128, "column of a tile, rows of 144 bytes", lane * 144


def _matrices(lane: Any) -> _Rows:
    """Yield the rows of 8x8 matrices of 16-bit elements."""
    for count in (1, 2, 4):
        for pitch in (16, 32, 64, 128, 144, 256):
            yield f"ldmatrix.x{count}", 128, f"rows {pitch} bytes apart", lane * pitch
        yield f"ldmatrix.x{count}", 128, "rows 128 bytes apart, swizzled", _swizzle(lane * 128, 3)
        yield f"ldmatrix.x{count}", 128, "rows 64 bytes apart, swizzled", _swizzle(lane * 64, 2)
    yield "ldmatrix.x4", 128, "one row", 0 * lane
    yield "ldmatrix.x4", 128, "the same row in each matrix", lane % 8 * 16
    yield "ldmatrix.x4", 128, "random", np.random.default_rng(4).integers(0, MEMORY // 16, 32) * 16


def _written_matrices(lane: Any) -> _Rows:
    """Yield the rows of matrices that are stored, and of those that are transposed on their way."""
    for count in (1, 2, 4):
        for operation in (f"stmatrix.x{count}", f"stmatrix.x{count}.trans", f"ldmatrix.x{count}.trans"):
            for pitch in (16, 32, 64, 128, 144):
                yield operation, 128, f"rows {pitch} bytes apart", lane * pitch
            yield operation, 128, "rows 128 bytes apart, swizzled", _swizzle(lane * 128, 3)
    random = np.random.default_rng(5)
    for operation in ("stmatrix.x4", "stmatrix.x4.trans", "ldmatrix.x4.trans"):
        yield operation, 128, "rows 64 bytes apart, swizzled", _swizzle(lane * 64, 2)
        yield operation, 128, "one row", 0 * lane
        yield operation, 128, "the same row in each matrix", lane % 8 * 16
        yield operation, 128, "random", random.integers(0, MEMORY // 16, 32) * 16


def _copies(lane: Any) -> _Rows:
    """Yield what asynchronous copies write: threads along a row, or along a column of a tile."""
    for bits, steps in ((32, (1, 2, 8, 32, 33)), (64, (1, 2, 16, 17)), (128, (1, 2, 8, 9))):
        wide, random = bits // 8, np.random.default_rng(7 + bits)
        for step in steps:
            yield "cp.async", bits, f"stride {step}", lane * step * wide
        yield "cp.async", bits, "all the same", 0 * lane
        yield "cp.async", bits, "pairs the same", lane // 2 * wide
        together = 32 * 32 // bits
        yield (
            "cp.async",
            bits,
            f"lane and lane + {together} in one bank",
            lane % together * wide + lane // together * 1024,
        )
        for number in range(3):
            yield "cp.async", bits, f"random {number}", random.permutation(MEMORY // wide)[:32] * wide
    for count in (0, 3):
        yield "cp.async", 128, f"rows of a tile, Sw<{count},4,3>", _swizzle(lane // 8 * 128 + lane % 8 * 16, count)
        yield "cp.async", 128, f"column of a tile, Sw<{count},4,3>", _swizzle(lane * 128, count)
