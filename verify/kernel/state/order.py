# SPDX-License-Identifier: Apache-2.0
"""Which accesses of shared memory are ordered: vector clocks of threads, and the last accesses of every cell.

Time is the number of the instruction that is executed. `known[t, u]` is the time up to which all that thread u of the
same CTA did happens before what thread t does next. A cell is as many bytes as the narrowest access of the kernel has.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verify.kernel.data.distinct import sort_distinct
from verify.kernel.data.values import Mask

Ints = NDArray[np.int64]
NOBODY, SEVERAL = -1, -2
ALWAYS = np.iinfo(np.int32).max


def name_cta(number: int, grid: Sequence[int]) -> str:
    """Return a CTA of a grid by its coordinates, as many as the grid has.

    >>> name_cta(5, (4, 2, 1)), name_cta(5, (8, 1, 1))
    ('CTA (1,1)', 'CTA 5')
    """
    x, y, z = grid
    axes = 3 if z > 1 else 2 if y > 1 else 1
    place = (number % x, number // x % y, number // (x * y))[:axes]
    return f"CTA {place[0]}" if axes == 1 else f"CTA ({','.join(map(str, place))})"


def latest(*clocks: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the latest time of each thread and engine in clocks; one that ends earlier knows nothing of the rest.

    >>> latest(np.array([1, 5]), np.array([3, 2, 4])).tolist()
    [3, 5, 4]
    """
    times = np.zeros(max(map(len, clocks)), np.int32)
    for clock in clocks:
        times[: len(clock)] = np.maximum(times[: len(clock)], clock)
    return times


class Order:
    """The clocks of all threads of some CTAs, and who last wrote and read each cell of their shared memory."""

    def __init__(self, ctas: int, threads: int, cells: int) -> None:
        self.threads, self.lanes, self.real = threads, 32, threads
        count = ctas * threads
        self.now = 1
        self.known = np.zeros((count, threads), np.int32)
        self.local = np.arange(count) % threads  # thread -> its number in its CTA
        # A thread's own past always comes before its next step, whatever the time.
        self.known[np.arange(count), self.local] = ALWAYS
        # Asynchronous work ends out of order: for each mbarrier that counts copies, and each thread that issues
        # tcgen05.mma, a column says up to which of its copies or products a thread knows that they have ended.
        self.columns: dict[Hashable, int] = {}
        self.engine = np.zeros((count, 0), np.int32)
        self.floor = np.zeros(count, np.int32)  # all of its CTA is known up to here
        self.heard = np.zeros(count, np.int32)  # when a thread last came to know anything of others
        self.writer = np.full(cells, NOBODY, np.int32)
        self.written = np.zeros(cells, np.int32)
        self.beside: dict[int, dict[int, int]] = {}  # cell -> who else wrote it, unordered (equal values), and when
        self.several = np.zeros(cells, bool)  # whether anybody else did
        self.reader = np.full(cells, NOBODY, np.int32)
        self.read = np.zeros(cells, np.int32)
        self.by_lanes = np.zeros((threads // 32, cells), np.int32)  # when so many lanes of a CTA last read it
        self.adder = np.full(cells, NOBODY, np.int32)  # who last changed it by an atomic operation
        self.added = np.zeros(cells, np.int32)
        self.added_by_lanes = np.zeros((0, cells), np.int32)  # when so many lanes last did, once anybody did
        self.adds = False  # whether anybody did
        self.write_line = np.zeros(cells, np.int32)
        self.read_line = np.zeros(cells, np.int32)

    def leave_out(self, real: int) -> None:
        """Leave out the threads of each CTA from one on: they fill up its last warp and do nothing."""
        self.real = real
        self.known[:, real:] = ALWAYS

    def part_warps(self, lanes: int) -> None:
        """Tell apart the reads of so many lanes each, not of warps."""
        self.lanes = lanes
        self.by_lanes = np.zeros((self.threads // lanes, self.by_lanes.shape[1]), np.int32)

    def meet(self, members: Ints) -> None:
        """Order all that these threads of one CTA did before what any of them does next."""
        self.now += 1
        self.heard[members] = self.now
        # A barrier doesn't end asynchronous work; the threads only share what they know of it.
        self.engine[members] = self.engine[members].max(0)
        if len(members) == self.threads:
            # The common case, a barrier of the whole CTA: everything up to now is known, without joining clocks.
            first = int(members[0])
            block = slice(first, first + self.threads)
            self.known[block, : self.real] = self.now
            self.floor[block] = self.now
            self.known[members, self.local[members]] = ALWAYS
            return
        # A thread's own entry is ALWAYS, which is true for itself alone: to the others it brings what it did up to now.
        top = self.known[members].copy()
        top[np.arange(len(members)), self.local[members]] = self.now
        joined = top.max(0)
        self.known[members] = joined
        self.known[members, self.local[members]] = ALWAYS
        self.floor[members] = joined.min()

    def meet_warps(self, members: Ints) -> None:
        """Order what the lanes of each warp did before what they do next."""
        self.now += 1
        if len(members) < len(self.known):
            for warp in sort_distinct(members // 32):
                self.learn(mine := members[members // 32 == warp], self.clock(mine))
            return
        own = np.arange(len(self.known))
        self.heard[:] = self.now
        self.known[own, self.local] = self.now
        for table in (self.known, self.engine):
            table[:] = np.repeat(table.reshape(len(table) // 32, 32, table.shape[1]).max(1), 32, 0)
        if self.threads == 32:
            self.floor[:] = self.now
        self.known[own, self.local] = ALWAYS

    def clock(self, members: Ints) -> NDArray[np.int32]:
        """Return what these threads have done and know, as they release it; engines' columns follow the threads'."""
        top = self.known[members].copy()
        top[np.arange(len(members)), self.local[members]] = self.now
        # What these threads do after the release gets a later time, which the clock doesn't cover.
        self.now += 1
        return np.append(top.max(0), self.engine[members].max(0)).astype(np.int32)

    def column(self, key: Hashable) -> int:
        """Return the column of `engine` for an mbarrier or a thread that issues products; a new one if it has none."""
        column = self.columns.setdefault(key, len(self.columns))
        if column >= self.engine.shape[1]:
            self.engine = np.pad(self.engine, ((0, 0), (0, 8)))
        return column

    def end_clock(self, columns: int | Ints, time: int) -> NDArray[np.int32]:
        """Return the clock that says that the work of some columns up to a time has ended."""
        clock = np.zeros(self.threads + int(np.max(columns)) + 1, np.int32)
        clock[self.threads + columns] = time
        return clock

    def learn(self, members: Ints, clock: NDArray[np.int32]) -> None:
        """Order what was released before what these threads do next."""
        self.known[members] = np.maximum(self.known[members], clock[: self.threads])
        engines = clock[self.threads :]
        if len(engines):
            self.engine[members, : len(engines)] = np.maximum(self.engine[members, : len(engines)], engines)
        self.known[members, self.local[members]] = ALWAYS
        self.floor[members] = self.known[members].min(1)
        self.heard[members] = self.now

    def unordered_write(self, cells: Ints, threads: Ints, *, beside: bool = False) -> Mask | None:
        """Where the last write of a cell by another thread is not ordered before an access; None for nowhere.

        For a write also those `beside` it, of equal values: a read finds these after any of them.
        """
        # Most cells were written before the last barrier: one comparison decides them without their writer.
        recent = self.written[cells] > self.floor[threads]
        if not recent.any():
            return None
        writer = self.writer[cells]
        unordered: Mask = recent & (writer != threads) & (writer >= 0)
        if unordered.any():
            unordered = unordered & (self.written[cells] > self.known[threads, self.local[np.maximum(writer, 0)]])
        for at in np.flatnonzero(recent & ~unordered & self.several[cells]) if beside and self.beside else ():
            me, writers = int(threads[at]), self.beside[int(cells[at])].items()
            unordered[at] = any(thread != me and time > self.known[me, self.local[thread]] for thread, time in writers)
        return unordered if unordered.any() else None

    def unordered_atomic(self, cells: Ints, threads: Ints) -> Mask | None:
        """Where the last atomic operation of other threads on a cell is not ordered before a plain access."""
        recent = self.added[cells] > self.floor[threads]
        if not recent.any():
            return None
        adder = self.adder[cells]
        unordered: Mask = recent & (adder != threads)
        unordered &= (adder == SEVERAL) | (self.added[cells] > self.known[threads, self.local[np.maximum(adder, 0)]])
        if (many := np.flatnonzero(unordered & (adder == SEVERAL))).size:
            # Only the last time of a warp is kept, not its lane: all lanes must be known up to it.
            known = self.known[threads[many]].reshape(len(many), -1, self.lanes).min(2)
            unordered[many] = (self.added_by_lanes[:, cells[many]].T > known).any(1)
        return unordered if unordered.any() else None

    def note_atomic(self, cells: Ints, threads: Ints) -> None:
        """Remember an atomic operation: of one thread, or of several that no barrier tells apart."""
        if not self.adds:
            self.adds, self.added_by_lanes = True, np.zeros_like(self.by_lanes)
        self.added_by_lanes[self.local[threads] // self.lanes, cells] = self.now
        old = self.adder[cells]
        first = (old == NOBODY) | (old == threads) | (self.added[cells] <= self.floor[threads])
        mine = np.where(first, threads, SEVERAL).astype(np.int32)
        self.adder[cells] = mine
        # If a cell is in the list twice, numpy keeps one of its threads: whoever reads back another shares the cell.
        back = self.adder[cells] != mine
        self.adder[cells[back]] = SEVERAL
        self.added[cells] = self.now

    def unordered_read(self, cells: Ints, threads: Ints) -> tuple[Mask, Mask] | None:
        """Where a read of a cell by another thread is not ordered before a write: (certainly, perhaps)."""
        recent = self.read[cells] > self.floor[threads]
        if not recent.any():
            return None
        reader = self.reader[cells]
        single = recent & (reader >= 0) & (reader != threads)
        single &= self.read[cells] > self.known[threads, self.local[np.maximum(reader, 0)]]
        many = recent & (reader == SEVERAL)
        certain, perhaps = single, np.zeros_like(single)
        if many.any():
            places, who = cells[many], threads[many]
            # Of a warp's reads only the last time is kept, not the lane that read. If the writer knows no lane up to
            # that time, the read certainly isn't ordered before the write; if it knows some lanes up to it, perhaps.
            lanes = self.known[who].reshape(len(who), -1, self.lanes)
            times = self.by_lanes[:, places].T
            unknown = (times > lanes.max(2, where=lanes < ALWAYS, initial=0)).any(1)
            certain = certain.copy()
            certain[many] = unknown
            perhaps[many] = (times > lanes.min(2)).any(1) & ~unknown
        return (certain, perhaps) if certain.any() or perhaps.any() else None

    def note_read(self, cells: Ints, threads: Ints, line: int) -> None:
        """Remember a read; whoever comes after it comes after those that are ordered before it too."""
        # As in FastTrack (Flanagan and Freund, PLDI 2009): while reads come one after the other, the last reader stands
        # for all of them; only reads that nothing orders need a time for each warp (`by_lanes`).
        old = self.reader[cells]
        fresh = (self.read[cells] <= self.floor[threads]) | (old == threads) | (old == NOBODY)
        later = ~fresh & (self.read[cells] <= self.heard[threads])
        # The clocks are compared only if the thread has learned anything since the last read of the cell.
        if later.any():
            early = self.unordered_read(cells[later], threads[later])
            fresh[later] = True if early is None else ~(early[0] | early[1])
        mine = np.where(fresh, threads, SEVERAL).astype(np.int32)
        self.reader[cells] = mine
        back = self.reader[cells] != mine
        if back.any():
            self.reader[cells[back]] = SEVERAL
        self.read[cells] = self.now
        self.by_lanes[self.local[threads] // self.lanes, cells] = self.now
        self.read_line[cells] = line

    def note_write(self, cells: Ints, threads: Ints, line: Any, beside: Mask | None = None) -> Mask | None:
        """Remember a write; where two threads of one instruction write one cell.

        `beside` finds the cells that others wrote, unordered: who comes after the write need not come after theirs.
        """
        if self.beside:
            gone = cells[self.several[cells]]
            gone = gone if beside is None else np.setdiff1d(gone, cells[beside])
            self.several[gone] = False
            for cell in gone.tolist():
                self.beside.pop(cell, None)
        for cell in cells[beside].tolist() if beside is not None else ():
            self._add_writer(cell, int(self.writer[cell]), int(self.written[cell]))
        self.writer[cells] = threads
        self.written[cells] = self.now
        self.write_line[cells] = line
        # As above: who reads back another thread than itself has written the cell together with it.
        double: Mask = self.writer[cells] != threads
        if not double.any():
            return None
        for cell, thread in zip(cells[double].tolist(), threads[double].tolist(), strict=True):
            self._add_writer(cell, thread, self.now)
        return double

    def _add_writer(self, cell: int, thread: int, time: int) -> None:
        """Remember who wrote a cell besides its writer; if a thread did twice, the later time counts for both."""
        self.beside.setdefault(cell, {})[thread] = time
        self.several[cell] = True
