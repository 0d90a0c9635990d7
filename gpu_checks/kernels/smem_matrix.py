# SPDX-License-Identifier: Apache-2.0
"""Matrices in shared memory as wgmma's descriptors see them: how large, and in which steps.

No address of an element is known here: a probe finds them. An image is the smallest that a
descriptor can access in each mode, `mn` being the coordinate of the matrix that is not contracted:

    K-major, no swizzle    panels of 16 bytes by mn rows; LBO steps to the next panel, SBO over 8 rows
    K-major, W bytes       rows of W bytes; SBO steps over 8 of them
    MN-major, no swizzle   blocks of 16 bytes along mn by 8 along k; SBO steps along mn, LBO along k
    MN-major, W bytes      blocks of W bytes along mn by 8 along k; LBO steps along mn, SBO along k
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from isa_tables.signature import Fragment

# Codes: the matrix descriptor of wgmma, PTX ISA 9.7.15.5.1.
SWIZZLES: Mapping[str, tuple[int, int]] = MappingProxyType(  # mode -> its width in bytes, its code in a descriptor
    {"none": (16, 0), "32B": (32, 3), "64B": (64, 2), "128B": (128, 1)}
)
MAJORS = ("K", "MN")
ALIGNMENT = 1024  # bytes after which every mode repeats: 8 rows of 128 bytes in the widest


class Window(NamedTuple):
    """One operand's image: its mode, its size, and the descriptor's offsets, all in bytes."""

    swizzle: str
    major: str
    size: int
    lbo: int
    sbo: int

    @property
    def descriptor(self) -> int:
        """The 64-bit descriptor without its start address."""
        return pack_descriptor(self.swizzle, self.lbo, self.sbo)


def pack_descriptor(swizzle: str, lbo: int, sbo: int) -> int:
    """Return the 64 bits of a descriptor without its start address, from its mode and its offsets in bytes.

    >>> hex(pack_descriptor("64B", 1024, 512))
    '0x8000002000400000'
    """
    return (lbo >> 4) << 16 | (sbo >> 4) << 32 | SWIZZLES[swizzle][1] << 62


def window(operand: str, fragment: Fragment, swizzle: str = "none", major: str = "K") -> Window | None:
    """Return the image of A or B in a mode; None where a row is longer than the mode is wide."""
    mn, k = fragment.extent if operand == "A" else fragment.extent[::-1]
    row, width = k * fragment.bits // 8, SWIZZLES[swizzle][0]
    if major == "K" and swizzle == "none":
        return Window(swizzle, major, mn * row, 16 * mn, 128)
    if major == "K":
        return Window(swizzle, major, mn * width, 0, 8 * width) if row <= width else None
    along, block = -(-mn * fragment.bits // 8 // width), 8 * width
    size = along * block * k // 8
    if swizzle == "none":
        return Window(swizzle, major, size, along * block, block)
    return Window(swizzle, major, size, k // 8 * block, block)


def transposes(asm: str) -> int:
    """How many operands may be MN-major: the zeros behind the scales of an instruction's operand list."""
    parts = asm.split(", ")
    scales = 2  # of A and of B, behind the predicate
    return max(0, len(parts) - parts.index("p") - 1 - scales) if "p" in parts else 0


def windows(operand: str, fragment: Fragment, majors: tuple[str, ...]) -> tuple[Window, ...]:
    """All images of A or B that the majors allow, the plainest first."""
    candidates = (window(operand, fragment, swizzle, major) for major in majors for swizzle in SWIZZLES)
    return tuple(image for image in candidates if image is not None)
