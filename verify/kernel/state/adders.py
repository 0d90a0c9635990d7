# SPDX-License-Identifier: Apache-2.0
"""Accesses of global memory in a run on opaque data: anywhere in a span of bytes, and atomic operations.

An access at an address that data decide may touch every byte of its span. Atomic operations don't race with each
other, but with plain accesses by other threads: who changed a byte atomically is kept beside who wrote it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from verify.kernel.data.values import FIRST, Ids, Mask
from verify.kernel.state.findings import Findings, Severity
from verify.kernel.state.order import NOBODY, SEVERAL, Ints

KIND = "race: atomic and plain access"
DECIDED = "race: a write where data decide"


class Adders:
    """Who changed each byte of an array by an atomic operation, and when; nothing orders those of several CTAs."""

    def __init__(self, count: int) -> None:
        self.who: NDArray[np.int32] = np.full(count, NOBODY, np.int32)  # a thread of the grid, or SEVERAL
        self.cta: NDArray[np.int32] = np.full(count, NOBODY, np.int32)  # its CTA, or SEVERAL
        self.when: NDArray[np.int32] = np.zeros(count, np.int32)
        self.narrow: NDArray[np.bool_] = np.zeros(count, bool)  # whether one of them had the scope of a CTA alone

    def late(self, place: Ints, mine: Ints, cta: Ints, floor: NDArray[np.int32]) -> Mask:
        """Find accesses by threads of the grid that nothing orders after the atomic operations of others."""
        who = self.who[place]
        ordered = (self.cta[place] == cta) & (self.when[place] <= floor)
        return np.asarray((who != NOBODY) & (who != mine) & ~ordered)

    def add(self, place: Ints, mine: Ints, cta: Ints, floor: NDArray[np.int32], now: int, narrow: bool) -> Mask:
        """Note atomic operations; find those whose scope is too narrow for the CTAs that meet."""
        place, mine, cta, floor = (each.ravel() for each in np.broadcast_arrays(place, mine, cta, floor))
        before, home = self.who[place], self.cta[place]
        first = (before == NOBODY) | (before == mine) | ((home == cta) & (self.when[place] <= floor))
        self.who[place] = np.where(first, mine, SEVERAL)
        self.who[place[(self.who[place] != mine)]] = SEVERAL
        self.cta[place] = np.where((home == NOBODY) | (home == cta), cta, SEVERAL)
        self.cta[place[(self.cta[place] != cta)]] = SEVERAL
        self.when[place] = now
        self.narrow[place] |= narrow
        return np.asarray((self.cta[place] == SEVERAL) & self.narrow[place])


def report_late(findings: Findings, who: str, verb: str, where: str) -> None:
    """Report a plain access that nothing orders after an atomic operation of another thread."""
    text = f"{who} {verb} {where}, which other threads change atomically; nothing orders the two"
    findings.add(KIND, Severity.RACE, text)


def keep_lost(old: Ids, new: Ids) -> Ids:
    """Return the labels after a write that may not happen: what nobody wrote stays so."""
    return np.where((old > 0) & (old < FIRST << 3), old, new)
