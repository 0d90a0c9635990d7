# SPDX-License-Identifier: Apache-2.0
"""Accesses of global memory in a run on opaque data: anywhere in a span of bytes, and atomic operations.

An access at an address that data decide may touch every byte of its span. Atomic operations don't race with each
other, but with plain accesses by other threads: who changed a byte atomically is kept beside who wrote it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from verify.kernel.data.values import FIRST, UNWRITTEN, Ids, Mask
from verify.kernel.state.findings import Findings, Severity
from verify.kernel.state.order import NOBODY, SEVERAL, Ints

KIND = "race: atomic and plain access"
DECIDED = "race: a write where data decide"


class Adders:
    """Who changed each element of an array by an atomic operation, and when; nothing orders those of several CTAs.

    An element has `size` bytes: 1 if accesses may have a part of one.
    """

    def __init__(self, octets: int, size: int = 1) -> None:
        self.size, count = size, octets // size
        self.who: NDArray[np.int32] = np.full(count, NOBODY, np.int32)  # a thread of the grid, or SEVERAL
        self.cta: NDArray[np.int32] = np.full(count, NOBODY, np.int32)  # its CTA, or SEVERAL
        self.when: NDArray[np.int32] = np.zeros(count, np.int32)
        self.narrow: NDArray[np.bool_] = np.zeros(count, bool)  # whether one of them had the scope of a CTA alone
        self.flying: NDArray[np.int32] = np.zeros(count, np.int32)  # how many of the copy engine may be under way

    def late(self, place: Ints, mine: Ints, cta: Ints, floor: NDArray[np.int32]) -> Mask:
        """Find accesses by threads of the grid that nothing orders after the atomic operations of others."""
        place = place // self.size
        who = self.who[place]
        ordered = (self.cta[place] == cta) & (self.when[place] <= floor)
        return np.asarray(((who != NOBODY) & (who != mine) & ~ordered) | (self.flying[place] > 0))

    def are_several(self, place: Ints) -> Mask:
        """Find bytes of elements that several threads changed, with nothing to order them."""
        return np.asarray(self.who[place // self.size] == SEVERAL)

    def add(self, place: Ints, mine: Ints, cta: Ints, floor: NDArray[np.int32], now: int, narrow: bool) -> Mask:
        """Note atomic operations on bytes (threads, count); find those whose scope is too narrow for CTAs that meet."""
        place = place[:, :: self.size] // self.size
        before, home = self.who[place], self.cta[place]
        near = home == cta
        first = (before == NOBODY) | (before == mine) | (near & (self.when[place] <= floor))
        for table, kept, known in ((self.who, first, mine), (self.cta, near | (home == NOBODY), cta)):
            table[place] = np.where(kept, known, SEVERAL)
            double = table[place] != known  # of two in one instruction the table has one
            if double.any():
                table[place[double]] = SEVERAL
        self.when[place] = now
        if narrow:
            self.narrow[place] = True
        return np.asarray((self.cta[place] == SEVERAL) & self.narrow[place])

    def begin(self, place: Ints) -> None:
        """Note that the copy engine begins to change bytes: even its own thread knows of no end before a wait."""
        np.add.at(self.flying, place[:, :: self.size] // self.size, 1)

    def end(self, place: Ints, now: int) -> None:
        """Note that a thread has waited for what the copy engine changes."""
        place = place[:, :: self.size] // self.size
        np.add.at(self.flying, place, -1)
        self.when[place] = now


def report_late(findings: Findings, who: str, verb: str, where: str) -> None:
    """Report a plain access that nothing orders after an atomic operation of another thread, or of the copy engine."""
    text = f"{who} {verb} {where}, which other threads change atomically; nothing orders the two"
    findings.add(KIND, Severity.RACE, text)


def keep_lost(old: Ids, new: Ids, maybe: int = 0) -> Ids:
    """Return the labels after a write that may not happen: what nobody wrote stays so, or becomes `maybe` written."""
    kept = np.where(old == UNWRITTEN << 3, np.uint32(maybe << 3), old) if maybe else old
    return np.where((old > 0) & (old < FIRST << 3), kept, new)
