# SPDX-License-Identifier: Apache-2.0
"""The asynchronous copies of threads to shared memory, cp.async, that are on their way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from verify.kernel.data.values import Ids, Mask
from verify.kernel.state.order import Ints

Octets = NDArray[np.uint8]
Ended: TypeAlias = Callable[[Mask, tuple[int, int] | None], None]
"""Is told whose copies have ended; or that an mbarrier counts them, and by which column and time of `Order.engine`."""


@dataclass(slots=True)
class Copies:
    """One cp.async of some threads: on its way until each has waited for its group."""

    threads: Ints  # that started it
    cells: Ints  # (threads, cells of each)
    places: Ints  # (threads, bytes of each)
    labels: Ids  # of those bytes when they arrive
    plain: Octets  # and their plain bits
    group: Ints  # of each thread
    line: int  # of the instruction
    open: Mask  # which threads' bytes are still on their way
    sources: list[Ended]  # told of the threads, by number, that have waited for it, or whose mbarrier counts it
    counted: tuple[Ints, int] | None = None  # by an mbarrier: each thread's column of `Order.engine`, and the time
