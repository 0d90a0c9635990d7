# SPDX-License-Identifier: Apache-2.0
"""Reads and writes of one byte of global memory by two threads, with nothing to order them.

A replica, a thread that computes what another one does, loads an element that the other one overwrites, and its own
store is masked. What it loads is used by nobody. A second run shows that: there such a load gives no value.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from verify.kernel.data.values import Mask
from verify.kernel.state.order import Ints
from verify.kernel.state.region import PLAIN, Region

Numbers = NDArray[np.int32]
READ_LATE = "race: read after write in global memory"  # the kinds of findings of such a pair
WRITTEN_LATE = "race: write after read in global memory"
UNUSED = "is read while another thread may write it"


class Meetings:
    """The bytes on which a read and a write met; in a second run, the one thread that may write each of them."""

    def __init__(self) -> None:
        self.met: dict[int, Mask] = {}  # number of an array -> its bytes
        self.owners: Mapping[
            int, Numbers
        ] = {}  # of a second run: the thread of the grid; -1 for bytes on which none met
        self.several = False  # whether another thread wrote one of them

    def note(self, region: Region, place: Ints, where: Mask) -> None:
        """Note bytes that one thread reads and another one writes."""
        assert region.stored is not None
        known = self.met.setdefault(region.number, np.zeros(len(region.stored.labels), bool))
        known[np.broadcast_to(place, where.shape)[where]] = True

    def list_owners(self, regions: list[Region]) -> dict[int, Numbers] | None:
        """Return the thread that wrote each byte on which two met; None if one was not written plainly."""
        owners = {}
        for number, met in self.met.items():
            stored = regions[number].stored
            assert stored is not None
            if (met & ((stored.atomic != PLAIN) | (stored.writer < 0))).any():
                return None
            owners[number] = np.where(met, stored.writer, -1).astype(np.int32)
        return owners

    def find_lost(self, region: Region, place: Ints, mine: Ints) -> Mask | None:
        """Return where a thread reads what another one may be writing; None for nowhere."""
        owners = self.owners.get(region.number)
        if owners is None:
            return None
        owner = owners[place]
        return np.asarray((owner >= 0) & (owner != mine))

    def check_owner(self, region: Region, place: Ints, mine: Ints) -> None:
        """Note whether a byte on which two met is written by a thread that wasn't the last one to write it."""
        lost = self.find_lost(region, place, mine)
        self.several |= lost is not None and bool(lost.any())
