# SPDX-License-Identifier: Apache-2.0
"""The lanes that execute one instruction together: the whole warp, or those that each lane's mask names.

A lane waits until all lanes of its mask that have not ended are at the same instruction with the same mask. So two
masks without a common lane are two groups, and neither waits for the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from isa_tables.semantics import meaning
from verify.kernel.data.distinct import sort_distinct
from verify.kernel.data.registers import Word
from verify.kernel.data.values import Bits, Mask
from verify.kernel.ptx.source import Immediate, Kernel
from verify.kernel.state.barriers import DONE
from verify.kernel.state.bound import BoundInstruction
from verify.kernel.state.findings import Findings, Severity
from verify.kernel.state.memory import Shared
from verify.kernel.state.order import Ints

WARP = 32  # threads: WARP_SZ of the PTX ISA, 32 on every GPU so far
FEWEST = 4  # lanes whose reads are told apart, in a kernel in which parts of a warp meet
_FULL = np.uint64(0xFFFFFFFF)
_MASK = "the mask of lanes: name the lanes by a number, since which ones activemask finds depends on a schedule"
_LANES = np.arange(WARP)


class WarpThreads(Protocol):
    """What is read here of the machine that runs a batch."""

    count: int  # threads
    state: NDArray[np.int8]  # of each
    pc: NDArray[np.int32]  # its instruction
    bound: list[BoundInstruction]
    kernel: Kernel
    findings: Findings
    shared: Shared

    def numbers(self, read: Callable[[], Word], mask: Mask | None, what: str) -> Bits:
        """Return an operand as plain bits."""


class Lanes:
    """The groups of lanes of a batch; an instruction is its number in the kernel."""

    def __init__(self, machine: WarpThreads) -> None:
        self.machine = machine

    def masks(self, number: int, there: Mask | None) -> Bits | None:
        """Return the mask that each thread gives; None if all threads name their whole warp."""
        read = self.machine.bound[number].members
        if read is None:
            return None
        bits = self.machine.numbers(read, there, _MASK) & _FULL
        some = bits if there is None or len(bits) == 1 else bits[there]
        return None if (some == _FULL).all() else np.broadcast_to(bits, self.machine.count)

    def late(self, number: int, there: Mask) -> Mask:
        """Find the threads at an instruction that must wait there for other lanes."""
        machine, masks = self.machine, self.masks(number, there)
        alive = machine.state != DONE
        if masks is None:
            size = machine.bound[number].lanes
            groups = there.reshape(-1, size)
            short = groups.any(1) & (alive.reshape(-1, size) & ~groups).any(1)
            return np.asarray(np.repeat(short, size) & there)
        warp = self._warp()
        same = there[warp] & (masks[warp] == masks[:, None])
        return np.asarray(there & (_lanes_of(masks) & alive[warp] & ~same).any(1))

    def check_named(self, number: int, there: Mask | None) -> None:
        """Report threads that execute an instruction though their own mask does not name them."""
        machine, masks = self.machine, self.masks(number, there)
        if masks is None:
            return
        away = masks >> (np.arange(machine.count) % WARP).astype(np.uint64) & np.uint64(1) == 0
        outside = np.flatnonzero(away if there is None else away & there)
        if len(outside):
            warp = outside[outside // WARP == outside[0] // WARP]
            text = f"{machine.shared.who(int(outside[0]))}: its warp's lanes {ranges((warp % WARP).tolist())} execute "
            text += "this instruction, and their own mask does not name them"
            decoded = meaning(machine.kernel.instructions[number].opcode)
            section = decoded.row.section if decoded else ""
            machine.findings.add("a lane outside of its mask", Severity.STUCK, text, section)

    def partners(self, number: int, there: Mask | None) -> Mask:
        """Return which lanes of its warp execute an instruction with each thread: (threads, 32)."""
        masks = self.masks(number, there)
        every = np.ones((self.machine.count, WARP), bool) if masks is None else _lanes_of(masks)
        if there is None:
            return every
        return np.asarray(every & there[self._warp()])

    def groups(self, number: int, there: Mask, chosen: Mask | None = None) -> Iterator[Ints]:
        """Yield the threads of each group of lanes that executes an instruction, of all warps or of chosen ones."""
        masks, warps = self.masks(number, there), there.reshape(-1, WARP)
        some = warps.any(1)
        for warp in np.flatnonzero(some if chosen is None else some & chosen):
            members = WARP * warp + np.flatnonzero(warps[warp])
            if masks is None:
                yield members
                continue
            for mask in sort_distinct(masks[members]):
                yield members[masks[members] == mask]

    def lacking(self, number: int, waiting: Ints) -> str:
        """Return which lanes the first of some waiting threads lacks, in words."""
        machine, first = self.machine, int(waiting[0])
        if machine.bound[number].lanes != WARP:
            return ""
        there = np.isin(np.arange(machine.count), waiting[machine.pc[waiting] == number])
        masks, warp = self.masks(number, there), first // WARP * WARP + _LANES
        named = np.ones(WARP, bool) if masks is None else _lanes_of(masks)[first]
        absent = named & (machine.state[warp] != DONE) & ~there[warp]
        text = f": lanes {ranges(_LANES[absent].tolist())} do not come" if absent.any() else ""
        if masks is not None and (differ := named & there[warp] & (masks[warp] != masks[first])).any():
            text += f": lanes {ranges(_LANES[differ].tolist())} name other lanes than the mask {int(masks[first]):#x}"
        return text

    def apart(self, waiting: Ints) -> bool:
        """Whether lanes of the first waiting thread's warp wait at several warp barriers, which the ISA lets meet."""
        machine, first = self.machine, int(waiting[0])
        warp = waiting[waiting // WARP == first // WARP]
        numbers = sort_distinct(machine.pc[warp])
        return len(numbers) > 1 and all(
            machine.kernel.instructions[number].words[:2] == ("bar", "warp") for number in numbers
        )

    def _warp(self) -> Ints:
        """Return the threads of each thread's warp: (threads, 32)."""
        mine = np.arange(self.machine.count)
        return (mine // WARP * WARP)[:, None] + _LANES


def parts_warps(kernel: Kernel) -> bool:
    """Return whether a kernel has a bar.warp.sync of another mask than that of the whole warp, or of a register."""
    masks = [inst.operands[0] for inst in kernel.instructions if inst.words[:2] == ("bar", "warp") and inst.operands]
    return any(not isinstance(mask, Immediate) or mask.bits & int(_FULL) != int(_FULL) for mask in masks)


def _lanes_of(masks: Bits) -> Mask:
    """Return which lanes each mask names: (masks, 32)."""
    return np.asarray((masks[:, None] >> _LANES.astype(np.uint64)) & np.uint64(1) != 0)


def ranges(lanes: Sequence[int]) -> str:
    """Return lanes as ranges.

    >>> ranges([0, 1, 2, 7, 9, 10])
    '0-2, 7, 9-10'
    """
    runs: list[list[int]] = []
    for lane in lanes:
        if runs and runs[-1][1] == lane - 1:
            runs[-1][1] = lane
        else:
            runs.append([lane, lane])
    return ", ".join(str(low) if low == high else f"{low}-{high}" for low, high in runs)
