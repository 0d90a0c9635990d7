# SPDX-License-Identifier: Apache-2.0
"""The properties of a movement: the table `PROPERTIES`, one row each, and the run over it, `MovementChecker`.

A row's functions take (run, movement, unit): a unit is the hand-over, one tile's accesses, or the descriptor that fits
a layout. The table of docs/movement.md is made from the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import proofs
from verify.core.verdict import Property, Statement, Verdict, add_replay
from verify.core.verified_repair import settle
from verify.evidence.run import Run, needs_confirmed
from verify.maps import short_names
from verify.movement import conflict_free, smem, wgmma_descriptor
from verify.movement import register_handover as registers
from verify.movement.bind import Movement, bind
from verify.movement.drawing import of_movement
from verify.movement.register_handover import HandOver
from verify.movement.smem_access import WRITES, SmemAccess
from verify.movement.spec import HandOverSpec, Spec
from verify.report import Case, drawing_command

if TYPE_CHECKING:
    from verify.pictures.picture import Picture, Window

MOVEMENT = "movement"
COUNTED = 1 << 12  # points up to which the solver counts counterexamples: the ISA check counts them at base 0
SOLVED = "z3"


def _is_thread_access(movement: Movement, access: SmemAccess) -> bool:
    """Whether it is an access to shared memory by threads, not by a descriptor."""
    return movement.operand is None and access.memory == "shared"


def _counts_equal(_: Movement, over: HandOver, __: Sequence[Verdict]) -> str:
    return "the counts differ" if over.miscount else ""


def _whole(_: Movement, __: SmemAccess, before: Sequence[Verdict]) -> str:
    return next(
        (
            f"its premise is not verified: {WHOLE.words} is {verdict.status}"
            for verdict in before
            if verdict.claim.prop == WHOLE and not verdict.claim.part and not verdict.status.confirmed
        ),
        "",
    )


_of_registers = partial(Property, scope="registers", reads=lambda check, movement, over: over)
_of_memory = partial(Property, scope="shared memory", reads=lambda check, movement, access: access)
_of_descriptor = partial(Property, scope="descriptor", reads=lambda check, movement, _: movement.operand)

COUNT = _of_registers(
    "count",
    says={MOVEMENT: "both instructions have as many lanes and values, of one width"},
    states=lambda _, over: Statement(
        "", f"{over.given.mnemonic} has as many values as {over.wanted.operand}, of the same width"
    ),
    isa=registers.compare_counts,
    how=("counted", "", ""),
)
HAND_OVER = _of_registers(
    "hand_over",
    words="hand-over",
    says={MOVEMENT: "rows(r) + columns(c) = wanted(lane, v), (r, c) = given(lane, order(v)), for every lane and value"},
    states=registers.claim,
    isa=registers.compare_arrays,
    proof=registers.prove,
    gpu=registers.find_recording,
    how=("every point", SOLVED, "a recorded kernel with both"),
    needs=(_counts_equal,),
)
MAJOR = _of_registers(
    "major",
    says={MOVEMENT: "rows of memory run along one axis of the tile, with `--major` along that one"},
    states=registers.major_claim,
    applies=lambda movement, over: over.given.rows and not over.miscount and (over.major or not movement.accesses),
    isa=registers.major,
    proof=registers.major_proved,
    how=("every point", SOLVED, ""),
    needs=(needs_confirmed(HAND_OVER),),
)
ROOM = _of_memory(
    "room",
    says={MOVEMENT: "the tile lies in the shared memory that a CTA has"},
    states=lambda _, access: Statement("", f"the tile lies in the shared memory that a CTA has on {access.arch}"),
    applies=lambda _, access: access.memory == "shared",
    isa=smem.room,
    proof=smem.room_proved,
    how=("every point", SOLVED, ""),
)
BASE = _of_memory(
    "base",
    says={MOVEMENT: "`--base` is a multiple of the swizzle's period, without one of the width"},
    states=smem.base_claim,
    applies=lambda _, access: access.base is not None,
    isa=smem.base,
    how=("counted", "", ""),
)
DISJOINT = _of_memory(
    "disjoint",
    says={MOVEMENT: "different elements that are written have different places"},
    states=lambda *_: Statement("", "different elements that are written have different places"),
    applies=lambda movement, access: _is_thread_access(movement, access) and access.how in WRITES,
    isa=smem.disjoint,
    proof=smem.disjoint_proved,
    how=("every point", SOLVED, ""),
)
WHOLE = _of_memory(
    "whole_accesses",
    says={MOVEMENT: "each access is of neighbouring elements, at a multiple of its width; `--global` likewise"},
    states=smem.whole_claim,
    applies=lambda movement, _: movement.operand is None,
    isa=smem.whole,
    proof=smem.whole_proved,
    how=("every point at base 0", "z3, at every base", ""),
)
CONFLICT_FREE = _of_memory(
    "free_of_bank_conflicts",
    says={MOVEMENT: "no two lanes that are served together access different words of one bank"},
    states=conflict_free.claim,
    applies=_is_thread_access,
    isa=conflict_free.enumerate_accesses,
    proof=conflict_free.prove,
    gpu=conflict_free.find_measurement,
    how=("every base within a word", "z3, at every base", "measured, at these addresses"),
    needs=(_whole,),
)
STEPS = _of_descriptor(
    "whole_instructions",
    says={MOVEMENT: "the tile is a multiple of wgmma's steps"},
    states=wgmma_descriptor.steps_claim,
    isa=wgmma_descriptor.steps,
    how=("counted", "", ""),
)
DESCRIBED = _of_descriptor(
    "descriptor",
    says={MOVEMENT: "each element lies where a descriptor with one swizzle, LBO and SBO has it, each at its own byte"},
    states=wgmma_descriptor.claim,
    isa=wgmma_descriptor.compare_addresses,
    proof=wgmma_descriptor.prove,
    how=("every point", "z3, where each has a byte of its own", ""),
)
PROPERTIES = (
    COUNT, HAND_OVER, MAJOR,
    ROOM, BASE, DISJOINT, WHOLE, CONFLICT_FREE,
    STEPS, DESCRIBED,
)  # fmt: skip


@dataclass
class MovementChecker(Run):
    """One run over the properties of movements: always with all three checks."""

    @cached_property
    def solver(self) -> proofs.Solver:
        """The solver, which counts few counterexamples."""
        return proofs.Solver(COUNTED)

    def units(self, subject: Movement, scope: str) -> Sequence[Any]:
        """List the hand-over, the accesses of each memory, or the descriptor that fits best; none where none is."""
        if scope == "shared memory":
            return subject.accesses
        if scope == "registers":
            return () if subject.over is None else (subject.over,)
        return () if subject.operand is None else (wgmma_descriptor.fit(subject.operand),)

    def confirms(self, spec: Spec) -> bool:
        """Whether a movement is VERIFIED, on its own: no evidence is taken over or left."""
        again, movement = replace(self), bind(spec)
        return Case(movement.name, tuple(again.verdicts(PROPERTIES, movement))).status == "VERIFIED"

    def case(self, movement: Movement) -> Case:
        """Return a movement with the verdicts on it."""
        verdicts = settle(self.verdicts(PROPERTIES, movement), movement.spec, self.confirms)
        return Case(
            movement.name,
            tuple(add_replay(verdict, lambda: movement.replay) for verdict in verdicts),
            notes=_describe_names(movement.spec),
            picture=lambda window: _draw(movement, verdicts, window),
            drawn_by=drawing_command(movement.replay),
        )


def _describe_names(spec: Spec) -> tuple[str, ...]:
    """Return a note for each short name of an instruction that a hand-over gives."""
    named = ((spec.from_, ["C"]), (spec.to, [spec.operand])) if isinstance(spec, HandOverSpec) else ()
    return tuple(note for name, operands in named if "." in name and (note := short_names.describe(name, operands)))


def _draw(movement: Movement, verdicts: Sequence[Verdict], window: Window) -> Picture:
    return of_movement(movement, verdicts, window)
