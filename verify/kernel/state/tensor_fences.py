# SPDX-License-Identifier: Apache-2.0
"""tcgen05.fence: whether an access of Tensor Memory is ordered after another thread's by fences, as the ISA asks.

A barrier alone orders threads, and not their asynchronous tcgen05 instructions (9.7.16.6.4). What thread u did is
before what thread t does if u executes fence::before_thread_sync after it, the two meet, and t then executes
fence::after_thread_sync. A tcgen05.commit is a fence of the first kind itself (9.7.16.12.1).
"""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
from numpy.typing import NDArray

from verify.kernel.state.order import Ints, Order


class TensorFences:
    """The fences of the threads of a batch."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self.before: dict[int, list[int]] = {}  # thread -> when it executed fence::before_thread_sync, ascending
        self.known = np.zeros_like(order.known)  # what each thread knew at its last fence::after_thread_sync
        self.products = np.zeros_like(order.engine)  # and which tcgen05.mma

    def close(self, threads: Ints) -> None:
        """Execute fence::before_thread_sync."""
        for thread in threads.tolist():
            self.before.setdefault(thread, []).append(self.order.now)

    def open(self, threads: Ints) -> None:
        """Execute fence::after_thread_sync."""
        self._widen()
        self.known[threads], self.products[threads] = self.order.known[threads], self.order.engine[threads]

    def products_of(self, thread: int) -> NDArray[np.int32]:
        """Return up to which product of each column a thread knew the end at its last fence::after_thread_sync."""
        self._widen()
        return np.asarray(self.products[thread])

    def _widen(self) -> None:
        more = self.order.engine.shape[1] - self.products.shape[1]
        self.products = np.pad(self.products, ((0, 0), (0, more))) if more else self.products

    def missing(self, thread: int, earlier: int, when: int) -> str:
        """Return which fence is missing between what thread `earlier` did until a time, and what a thread does now."""
        if thread == earlier:
            return ""
        times = self.before.get(earlier, [])
        place = bisect_left(times, when)
        if place == len(times) or times[place] > self.order.known[thread, self.order.local[earlier]]:
            return "before_thread_sync"
        return "" if times[place] <= self.known[thread, self.order.local[earlier]] else "after_thread_sync"
