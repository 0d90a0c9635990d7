# SPDX-License-Identifier: Apache-2.0
"""An array of the claim in global memory: its bytes, and who wrote and read each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from verify.kernel.data.values import Ids
from verify.kernel.state.adders import Adders
from verify.kernel.state.copies import Octets
from verify.kernel.state.fetches import Fetches
from verify.kernel.state.order import Ints

if TYPE_CHECKING:
    from verify.kernel.claims.launch import Array

Numbers = NDArray[np.int32]
# a thread's write; an atomic one; one of `.cta`, which is one for no other; an engine's; several of equal values
PLAIN, ATOMIC, WITHIN, ENGINE, SEVERAL = range(5)


@dataclass(slots=True)
class Stored:
    """An array of global memory that the kernel may write."""

    labels: Ids  # of every byte
    plain: Octets  # and its plain bits
    writer: Numbers  # the thread of the grid that last wrote a byte, -1 for none
    written: Numbers  # when, in the time of its batch
    atomic: Octets  # what kind of write that was
    reader: Numbers  # the thread of the grid that last read a byte, -1 for none, -2 for several of one CTA, -3 for more
    read: Numbers  # when
    reader_cta: Numbers  # its CTA
    constant: Numbers  # the line of an ld.global.nc that read it, 0 for none
    flying: Numbers  # the line of a bulk copy to it that its thread has not waited for, 0 for none
    adders: Adders | None = None  # in a run on opaque data, who changed a byte atomically
    fetches: Fetches | None = None  # the asynchronous copies that may still read it

    def begin_fetch(self, place: Ints, mine: Ints, ctas: Ints) -> Fetches:
        """Note that asynchronous reads of bytes begin, by a thread of the grid each; other CTAs know of none."""
        self.fetches = self.fetches or Fetches(len(self.labels))
        first, foreign = self.reader[place] == -1, self.reader_cta[place] != ctas
        self.read[place[first]], self.reader_cta[place[first]] = 0, ctas[first]
        self.reader[place[first]] = mine[first]
        self.reader[place[~first & foreign]] = -3
        return self.fetches


def store(labels: Ids, plain: Octets) -> Stored:
    """Return bytes that no thread of the launch has written or read."""
    nobody, zeros = np.full(len(labels), -1, np.int32), np.zeros(len(labels), np.int32)
    return Stored(
        labels, plain, nobody, nobody.copy(), zeros.astype(np.uint8), nobody.copy(),
        nobody.copy(), nobody.copy(), zeros, zeros.copy(),
    )  # fmt: skip


Places = list[tuple[Stored, Ints]]  # arrays, and the bytes (threads, count) of each


@dataclass(slots=True)
class Region:
    """An array of the claim in global memory."""

    array: Array  # of the claim
    first: int  # the id of its first element
    elements: NDArray[np.int64]  # of each place of the tables its element, -1 for padding
    places: NDArray[np.int64]  # and back
    size: int  # bytes of an element
    number: int  # of the array in the claim
    stored: Stored | None = None  # its bytes, if the kernel may write it
    kept: Ints | None = None  # of an array too large for tables of its places: those with elements, ascending

    @property
    def count(self) -> int:
        """Return how many ids its elements have."""
        return len(self.places)

    def find_kept(self, octets: Ints) -> Ints:
        """Return the bytes of the tables that bytes of the array's memory are; negative ones where it has none."""
        if self.kept is None:
            return octets
        place = octets // self.size
        row = np.minimum(np.searchsorted(self.kept, place), len(self.kept) - 1)
        return np.where(self.kept[row] == place, row * self.size + octets % self.size, -1)

    def where(self, octet: int) -> str:
        """Return the element of a byte of the tables, in words."""
        place = octet // self.size
        return self.array.where(place if self.kept is None else int(self.kept[place]))
