# SPDX-License-Identifier: Apache-2.0
"""The matrix descriptor of wgmma, read off the layout of a tile in shared memory.

With T elements in 16 bytes and W the width of the swizzle in 16 bytes, an instruction takes its operand from one of

    K-major, no swizzle    ((8,mn),(T,k)) : ((T,SBO),(1,LBO))
    K-major, W             ((8,mn),(T,k)) : ((W*T,SBO),(1,T))
    MN-major, no swizzle   ((T,mn),(8,k)) : ((1,SBO),(T,LBO))
    MN-major, W            ((T,W,mn),(8,k)) : ((1,T,LBO),(W*T,SBO))

and then exchanges address bits 4.. with bits 7... The offsets are what the layout says at two of its indices; that it
is this layout everywhere is checked element by element.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from gpu_checks.arrays import np
from gpu_checks.kernels.smem_matrix import SWIZZLES, pack_descriptor
from gpu_checks.tilings.strided import Indices, Strided
from gpu_checks.tilings.tiling import TilingError

if TYPE_CHECKING:
    from isa_tables.signature import Fragment

_WIDTHS = {0: "none", 1: "32B", 2: "64B", 3: "128B"}  # B of Swizzle<B,4,3> (CuTe) -> mode


class TileDescriptor(NamedTuple):
    """What stays the same for every instruction that reads one tile: the mode and the two offsets in bytes."""

    major: str
    swizzle: str
    lbo: int
    sbo: int

    @property
    def fields(self) -> int:
        """The 64 bits but for the start address."""
        return pack_descriptor(self.swizzle, self.lbo, self.sbo)


def descriptor(shared: Strided, extent: tuple[int, int], fragment: Fragment, origins: Sequence[int]) -> TileDescriptor:
    """Return the descriptor for instructions that start at the given indices of a tile of `extent` (mn, k).

    TilingError where the layout is none of the four above.
    """
    swizzle, mn = _mode(shared, fragment.bits), extent[0]
    chunk = 128 // fragment.bits
    width = SWIZZLES[swizzle][0] // 16
    plain = shared.plain
    major = "K" if plain(mn) == 1 else "MN"
    # How far one step along mn and one along k lead, in bytes; 0 where the tile ends before.
    along, across = (8, chunk) if major == "K" else (chunk * width, 8)
    by_mn = plain(along) * fragment.bits // 8 if along < mn else 0
    by_k = plain(across * mn) * fragment.bits // 8 if across < extent[1] else 0
    if major == "MN" and swizzle != "none":
        lbo, sbo = by_mn, by_k
    else:
        lbo, sbo = (by_k if swizzle == "none" else 0), by_mn
    form = TileDescriptor(major, swizzle, lbo, sbo)
    _check(shared, mn, fragment, origins, form)
    return form


def _mode(shared: Strided, bits: int) -> str:
    """Return the mode whose exchange of address bits is the layout's swizzle, which counts elements."""
    if shared.swizzle is None:
        return "none"
    count, base, shift = shared.swizzle
    chunk = (128 // bits).bit_length() - 1  # log2 of the elements in 16 bytes
    if (base, shift) != (chunk, 3) or count not in _WIDTHS:
        raise TilingError(f"{shared}: wgmma swizzles {bits}-bit elements by Sw<1..3,{chunk},3>")
    return _WIDTHS[count]


def _check(shared: Strided, mn: int, fragment: Fragment, origins: Sequence[int], form: TileDescriptor) -> None:
    """TilingError unless every element of every instruction is where the descriptor says."""
    rows, columns = fragment.extent if fragment.axes[0] == "m" else fragment.extent[::-1]
    plain, to_bytes = shared.plain, fragment.bits // 8
    i, k = np.arange(rows)[:, None], np.arange(columns)
    want = _canonical(form, 16 // to_bytes, to_bytes, i, k)
    for origin in origins:
        start = plain(origin)
        if start * to_bytes % 16:
            raise TilingError(
                f"{shared}: the instruction at index {origin} starts at byte {start * to_bytes}, not at 16s"
            )
        got = plain(origin + i + mn * k) - start
        if (got != want).any():
            row, column = np.argwhere(got != want)[0].tolist()
            raise TilingError(
                f"{shared}: element ({row}, {column}) of the instruction at index {origin} is {got[row, column]} from "
                f"its first; a {form.major}-major descriptor, swizzle {form.swizzle}, says {want[row, column]}"
            )


def _canonical(form: TileDescriptor, chunk: int, to_bytes: int, i: Indices, k: Indices) -> Indices:
    """Where the ISA puts element (i, k), in elements from the first."""
    width = SWIZZLES[form.swizzle][0] // 16
    lbo, sbo = form.lbo // to_bytes, form.sbo // to_bytes
    if form.major == "K":
        step = lbo if form.swizzle == "none" else chunk
        return i % 8 * width * chunk + i // 8 * sbo + k % chunk + k // chunk * step
    line = chunk * width
    far, near = (sbo, lbo) if form.swizzle == "none" else (lbo, sbo)
    return i % line + i // line * far + k % 8 * line + k // 8 * near
