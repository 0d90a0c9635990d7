# SPDX-License-Identifier: Apache-2.0
"""Where the variables of shared memory lie: as badly as the kernel's text allows, so that no luck is taken for a rule.

A variable lies at an odd multiple of its `.align`, and 16 at least: compilers rely on that for vectors of narrower
variables, which is a warning. What lies between two variables belongs to none. Dynamic memory comes last. If there is
nothing before it, it begins where the CTA's memory does, at a multiple of 1024, unless the claim's `smem_align` says
less. Shared memory starts at 1024, so that an address is not taken for the number 0.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from verify.kernel.data.values import Mask
from verify.kernel.ptx.source import Kernel
from verify.kernel.state.order import Ints

SHARED_BASE = 1024  # where shared memory begins: a multiple of the period of every swizzle (1024 bytes for 128B)
LEAST = 16  # bytes: what compilers align at least
MAX_SHARED = 1 << 19  # bytes of a CTA, more than any GPU has


class Room(NamedTuple):
    """One variable of shared memory, or all of dynamic memory."""

    name: str
    first: int  # its first byte
    size: int
    align: int  # as it is declared


class Placement:
    """Where each variable of a kernel's shared memory lies."""

    def __init__(self, kernel: Kernel, dynamic: int, smem_align: int) -> None:
        """Place the variables, and `dynamic` bytes at a multiple of `smem_align`; 0 for what the kernel declares."""
        self.rooms: list[Room] = []
        top = SHARED_BASE
        for name, variable in kernel.shared.items():
            top = _odd(top, variable.align)
            self.rooms.append(Room(name, top, variable.size, variable.align))
            top += variable.size + 1  # so that no other begins where it ends
        self.symbols = {room.name: room.first for room in self.rooms}
        self.align = 0  # of dynamic memory
        if kernel.dynamic:
            stated = max(extern.align for extern in kernel.dynamic.values())
            declared = max(stated, LEAST)
            self.align = smem_align or (declared if self.rooms else max(declared, SHARED_BASE))
            top = _odd(top, self.align)
            self.rooms.append(
                Room(next(iter(kernel.dynamic)), top, dynamic, stated if self.rooms and not smem_align else self.align)
            )
            self.symbols.update(dict.fromkeys(kernel.dynamic, top))
            top += dynamic
        self.size = top  # the first byte after all of them
        self._of = np.zeros(min(top, MAX_SHARED) + 1, np.int32)  # of each byte 1 + its room, 0 for none
        for number, room in enumerate(self.rooms):
            self._of[room.first : room.first + room.size] = number + 1
        self._aligns = np.array([LEAST, *(room.align for room in self.rooms)])
        self._least = int(self._aligns.min())

    def surrounding(self, addresses: Ints, count: int) -> Room | None:
        """Return the variable in which all accesses of so many bytes lie; None if there is none."""
        if not len(addresses):
            return None
        low, high = int(addresses.min()), int(addresses.max()) + count
        return next((room for room in self.rooms if room.first <= low and high <= room.first + room.size), None)

    def outside(self, addresses: Ints, count: int) -> Mask:
        """Find accesses of so many bytes that do not lie in one variable."""
        first = self._at(addresses)
        last = self._at(addresses + count - 1)
        return np.asarray((first == 0) | (first != last))

    def _at(self, addresses: Ints) -> NDArray[np.int32]:
        """Return 1 + the room of each byte, 0 for none."""
        return self._of[np.minimum(np.maximum(addresses, 0), self.size)]  # np.clip takes several times as long

    def spell(self, address: int) -> str:
        """Return an address, and the byte of its variable that it is, if it is of one."""
        room = next((place for place in self.rooms if place.first <= address < place.first + place.size), None)
        return str(address) if room is None else f"{address} ({shorten(room.name)} + {address - room.first})"

    def near(self, address: int) -> str:
        """Return the variable that begins next before an address, in words."""
        room = max(
            (place for place in self.rooms if place.first <= address), key=lambda place: place.first, default=None
        )
        room = room or min(self.rooms, key=lambda place: place.first, default=None)
        if room is None:
            return "of which the kernel has none"
        if not room.size:
            return f"which are in no variable; {room.name} has no bytes: the claim's smem says how many"
        return f"which are in no variable; {room.name} has {room.first} to {room.first + room.size - 1}"

    def lucky(self, addresses: Ints, count: int, within: Room | None) -> str:
        """Return a variable whose alignment does not cover accesses of so many bytes, in words; empty if all do.

        `within` is the variable in which all of them lie, if there is one.
        """
        if count <= self._least or count & (count - 1) or (within and within.align >= min(count, LEAST)):
            return ""
        of = self._at(addresses)
        short = of[self._aligns[of] < min(count, LEAST)]
        if not len(short):
            return ""
        room = self.rooms[int(short[0]) - 1]
        return f"{room.name}, declared with .align {room.align}"


def shorten(name: str) -> str:
    """Return the name that a variable has in C++, of one that its compiler made for a variable of a function.

    >>> shorten("_ZZ7reverseE4tile"), shorten("_ZZN2my1kEvE1s_0"), shorten("global_smem")
    ('tile', 's', 'global_smem')
    """
    match = re.fullmatch(r"_ZZ.*E(\d+)(\w+)", name)
    return match[2][: int(match[1])] if match else name


def _odd(top: int, align: int) -> int:
    """Return the first odd multiple of an alignment from an address on; of 16 for a smaller one."""
    step = max(align, LEAST)
    number = -(-top // step)
    return (number | 1) * step
