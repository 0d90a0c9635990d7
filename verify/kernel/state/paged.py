# SPDX-License-Identifier: Apache-2.0
"""An array of which a few CTAs touch a part: its tables have the blocks that were touched, in the order of the touches.

A matrix of 4096x4096 elements would take 700 MB of tables, and a CTA reads a sixteenth of it or less. Everything that
looks at a region by bytes of its tables does so here too; what looks at all of its elements asks `find_rows` for some.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf

import numpy as np
from numpy.typing import NDArray

from verify.kernel.claims.launch import sort_axes
from verify.kernel.data.distinct import sort_distinct
from verify.kernel.state.findings import Unclear
from verify.kernel.state.order import Ints
from verify.kernel.state.region import Region

BLOCK = 128  # places that get their rows together
MOST_PLACES = 1 << 33  # of its memory: each block has a number
ROWS = 1 << 22  # of the tables of an array that the kernel reads; of one that it may write a quarter, each byte has 34


@dataclass(slots=True)
class PagedRegion(Region):
    """An array whose tables have some of its blocks: a row of the tables is what another region calls a place."""

    draw: Callable[[Ints], None] = field(default=lambda rows: None)  # gives new rows their values
    used: int = 0  # rows
    blocks: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))  # the rows' number, from 1; or 0

    @property
    def count(self) -> int:
        """Return how many ids its rows have by now."""
        return self.used

    @property
    def room(self) -> float:
        """Return how many rows there may be; any number if all of the array have theirs."""
        return inf if len(self.elements) >= self.array.end else len(self.elements)

    def find_kept(self, octets: Ints) -> Ints:
        """Return the bytes of the tables that bytes of the array's memory are; negative ones where it has none."""
        place = octets // self.size
        inside = (place >= 0) & (place < self.array.end)
        row = self.find_places(np.where(inside, place, self.array.offset))
        return np.where(inside & (self.elements[row] >= 0), row * self.size + octets % self.size, -1)

    def find_places(self, places: Ints) -> Ints:
        """Return the rows of places of its memory."""
        block = places // BLOCK
        new = sort_distinct(block[self.blocks[block] == 0])
        if len(new):
            self._add(new)
        return (self.blocks[block].astype(np.int64) - 1) * BLOCK + places % BLOCK

    def find_rows(self, picked: Sequence[Ints]) -> Ints:
        """Return the rows of elements, by their indices along each axis: an array with an axis for each."""
        places = np.full((1,) * len(picked), self.array.offset, np.int64)
        for axis, (indices, step) in enumerate(zip(picked, self.array.strides, strict=True)):
            places = places + (indices * step).reshape(-1, *[1] * (len(picked) - 1 - axis))
        return self.find_places(places)

    def _add(self, blocks: Ints) -> None:
        first, many = self.used, len(blocks) * BLOCK
        if first + many > len(self.elements):
            raise Unclear(0, f"the CTAs of a part touch more of {self.array.name} than its tables have room for")
        self.used += many
        self.blocks[blocks] = np.arange(first // BLOCK, self.used // BLOCK) + 1
        rest = (blocks[:, None] * BLOCK + np.arange(BLOCK)).ravel() - self.array.offset
        there = rest >= 0
        for _, extent, step in sort_axes(self.array) or ():
            index, rest = np.divmod(rest, step)
            there &= index < extent
        rows = np.arange(first, self.used)
        assert self.kept is not None
        self.kept[rows] = (blocks[:, None] * BLOCK + np.arange(BLOCK)).ravel()
        self.elements[first : self.used] = np.where(there & (rest == 0), rows, -1)
        self.draw(rows)
