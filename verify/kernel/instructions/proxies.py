# SPDX-License-Identifier: Apache-2.0
"""Fences between threads and asynchronous instructions: what threads wrote, and the mbarriers that they initialised."""

from __future__ import annotations

import numpy as np

from isa_tables.semantics import Meaning
from verify.kernel.data.values import Mask
from verify.kernel.instructions.asynchronous import Engine
from verify.kernel.ptx.source import PtxInstruction
from verify.kernel.state.bound import Run
from verify.kernel.state.machine import Bind, Machine


def proxy_fence(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """fence.proxy.async: what threads wrote, to the memory that it names, is seen by asynchronous instructions."""
    space = meaning.words.get("space", "")

    def execute(mask: Mask | None) -> None:
        shared = machine.shared
        if not space.startswith("shared"):
            machine.memory.fence(mask)
        if space == "global":
            return
        _show_barriers(machine, mask)
        if mask is None:
            shared.generic[:] = False
            return
        places = np.flatnonzero(shared.generic)
        writer = shared.order.writer[places]
        added = shared.order.added[places]
        own = mask[writer] & (added == 0) & ~shared.order.several[places]
        who = np.flatnonzero(mask)[0]
        seen = np.maximum(shared.order.written[places], added) <= shared.order.floor[who]
        shared.generic[places[own | seen]] = False

    return execute


def _show_barriers(machine: Machine, mask: Mask | None) -> None:
    """Show the copy engine and the tensor core the mbarriers that threads initialised, or know of."""
    if Engine not in machine.units:
        return
    threads, order = machine.list_threads(mask), machine.shared.order
    for (cta, _), phases in machine.unit(Engine).barriers.items():
        mine = threads[machine.cta[threads] == cta]
        phases.fenced |= bool((order.known[mine, order.local[phases.maker]] >= phases.made).any())


def barrier_fence(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """fence.mbarrier_init: the copy engine and other CTAs see what mbarrier.init wrote."""
    return lambda mask: _show_barriers(machine, mask)


BINDS: dict[str, Bind] = {"barrier_fence": barrier_fence, "proxy_fence": proxy_fence}
