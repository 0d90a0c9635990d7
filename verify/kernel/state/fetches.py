# SPDX-License-Identifier: Apache-2.0
"""Asynchronous copies that may still read an array in global memory: what they read must not be written before."""

from __future__ import annotations

import numpy as np

from verify.kernel.data.values import Mask
from verify.kernel.state.findings import Findings, Severity
from verify.kernel.state.order import Ints, Order

COPY, LOAD = "9.7.9.25.3.3", "9.7.9.25.1.2"  # of the PTX ISA: waits of cp.async; how copies of the engine end


class Fetches:
    """The asynchronous reads of one array, by its bytes."""

    def __init__(self, octets: int) -> None:
        self.copies = np.zeros(octets, np.int32)  # how many cp.async may still read a byte
        self.lines = np.zeros(octets, np.int32)  # and the line of the last one
        self.loads: dict[int, Ints] = {}  # by its column of `Order.engine`, when the copy engine last read a byte

    def begin(self, places: Ints, line: int) -> None:
        """Note that a cp.async begins to read bytes; two of its threads may read one."""
        np.add.at(self.copies, places, 1)
        self.lines[places] = line

    def end(self, places: Ints, counted: tuple[int, int] | None) -> None:
        """Note that a thread has waited for a cp.async that read bytes, or that an mbarrier counts it."""
        np.subtract.at(self.copies, places, 1)
        if counted is not None:
            self._load(places, *counted)

    def load(self, places: Ints, column: int, time: int, line: int) -> None:
        """Note that the copy engine reads bytes; a thread that knows this time of the column comes after that."""
        self._load(places, column, time)
        self.lines[places] = line

    def _load(self, places: Ints, column: int, time: int) -> None:
        self.loads.setdefault(column, np.zeros(len(self.copies), np.int64))[places] = time

    def check(self, places: Ints, threads: Ints, order: Order, findings: Findings, where: str) -> None:
        """Report writes (threads, bytes) of what a copy may still read; `where` names the array's bytes."""
        busy: Mask = self.copies[places] > 0
        if busy.any():
            text = f"{where}, which the cp.async of line {self.lines[places][busy][0]} may still read: nobody has "
            findings.add("cp.async not waited for", Severity.RACE, f"{text}waited for it", COPY)
        for column, times in self.loads.items():
            late = times[places] > order.engine[threads, column][:, None]
            if late.any():
                text = f"{where}, which the bulk load of line {self.lines[places][late][0]} may still read: nobody has "
                findings.add("tensor load not waited for", Severity.RACE, f"{text}waited for its mbarrier", LOAD)
