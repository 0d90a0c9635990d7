# SPDX-License-Identifier: Apache-2.0
"""The run of one CTA with the forms of its registers beside it: the machine of `state`, which tells a shadow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from verify.kernel.data.registers import Word
from verify.kernel.data.values import Mask
from verify.kernel.instructions import handlers
from verify.kernel.interpretation import Interpretation
from verify.kernel.ptx.source import Register
from verify.kernel.sizes.forms import NotLifted
from verify.kernel.sizes.shadow import Shadow
from verify.kernel.state.loops import Loops
from verify.kernel.state.machine import Machine
from verify.kernel.state.phases import judge_late


class LiftedMachine(Machine):
    """A machine that tells a shadow of every read and write of a register, and of every guard."""

    skips = False
    shadow: Shadow | None = None

    def register(self, index: int) -> Word:
        """Return the contents of a register; NotLifted where sizes change it and nobody has asked for its form."""
        if self.shadow is not None:
            self.shadow.reads(index)
        return super().register(index)

    def write(self, index: int, word: Word, mask: Mask | None) -> None:
        """Write a register in some threads."""
        if self.shadow is not None:
            self.shadow.writes(index, mask)
        super().write(index, word, mask)

    def guard_mask(self, guard: Register, active: Mask, mask: Mask | None) -> Mask | None:
        """Return the threads in which a guard is true; NotLifted where sizes decide it and it isn't a mask."""
        if self.shadow is not None:
            self.shadow.guards(guard)
        return super().guard_mask(guard, active, mask)


class _Specials(dict[str, Word]):
    """Special registers; a shadow is told of each read."""

    def __init__(self, held: Mapping[str, Word], shadow: Shadow) -> None:
        super().__init__(held)
        self.shadow = shadow

    def __getitem__(self, name: str) -> Word:
        self.shadow.reads_special(name)
        return super().__getitem__(name)


class _Heads(Loops):
    """Loops that call a function at the end of each trip of one of them."""

    def __init__(self, machine: Any, number: int, head: Callable[[int], None]) -> None:
        super().__init__(machine)
        self.number, self.head = number, head

    def back(self, number: int, target: int, mask: Mask) -> None:
        """Count a trip; of the loop that is watched, call the function with the number of trips so far."""
        super().back(number, target, mask)
        if number == self.number:
            if not mask[: self.machine.real].all():  # type: ignore[attr-defined]
                raise NotLifted(self.machine.findings.line, "threads part at the end of a trip")
            self.head(self.by_branch[number].rounds)


class RunStopped(Exception):
    """The end of a run that has shown what it was made for."""


def start(run: Interpretation, cta: tuple[int, int, int]) -> LiftedMachine:
    """Start one CTA of a launch, its instructions bound."""
    machine, (x, y, _) = run.machine, run.launch.grid
    assert isinstance(machine, LiftedMachine)
    machine.start([cta], cta[0] + x * (cta[1] + y * cta[2]))
    missing = handlers.bind_instructions(machine)
    if missing:
        raise NotLifted(missing[0].line, missing[0].text)
    if machine.local:
        raise NotLifted(0, "local memory has no meaning for all sizes yet")
    return machine


def go(machine: LiftedMachine, shadow: Shadow | None, loop: int, head: Callable[[int], None]) -> bool:
    """Run a CTA with its shadow to its end, or until `head` stops it; return whether it ended."""
    machine.shadow = shadow
    if shadow is not None:
        machine.bound = [
            bound._replace(run=shadow.wrap(number, bound.run)) for number, bound in enumerate(machine.bound)
        ]
        machine.specials = _Specials(machine.specials, shadow)
    machine.loops = _Heads(machine, loop, head)
    try:
        machine.go()
    except RunStopped:
        return False
    finally:
        machine.values.flush()
    judge_late(machine.findings)
    return True
