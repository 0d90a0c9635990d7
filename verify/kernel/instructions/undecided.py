# SPDX-License-Identifier: Apache-2.0
"""Branches that data decide in some threads: which threads these are, and the way of the others."""

from __future__ import annotations

import numpy as np

from verify.kernel.data.registers import Word, find_decided
from verify.kernel.data.values import Mask
from verify.kernel.state.machine import Machine


def find_undecided(machine: Machine, number: int, active: Mask) -> tuple[Word, Mask] | None:
    """Return the guard of a branch and the threads in which data decide it; None where there are none."""
    inst = machine.kernel.instructions[number]
    if (
        machine.bound[number].control != "branch"
        or inst.guard is None
        or len(inst.targets) > 1
        or inst.words[0] == "brx"
    ):
        return None
    guard = machine.register(inst.guard.index)
    return (guard, active & find_decided(guard)) if guard.data(active) else None


def take_decided(machine: Machine, number: int, guard: Word, threads: Mask) -> None:
    """Let threads in which nothing but plain bits decides a branch take their way."""
    branch = machine.kernel.instructions[number]
    negated = branch.guard is not None and branch.guard.negated
    true = np.broadcast_to((guard.bits == 0) if negated else (guard.bits != 0), machine.count)
    machine.pc[threads] = np.where(true[threads], branch.target, number + 1)
    machine.guards[number] = 3  # both ways were taken
