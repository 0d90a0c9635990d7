# SPDX-License-Identifier: Apache-2.0
"""The properties of an operation's inline assembly and of ValID; a layout has those of an atom's operand.

What the source says is compared with itself and with the ISA tables, so each has the check `isa` alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from isa_tables.assembler import name_of
from isa_tables.semantics import meaning
from verify.binding.atom import look_up
from verify.core.verdict import (
    Check,
    Counterexample,
    Evidence,
    Place,
    Property,
    Proposal,
    Scope,
    Statement,
    Verdict,
    finding,
    leave_unchecked,
)
from verify.evidence.run import Run
from verify.scan.assembly import AssemblyFunction, RegisterArray, offset_of
from verify.scan.operands import find_faults, has_named_operands
from verify.scan.registers import ArrayFault, compare_arrays, repair_arrays
from verify.scan.tensor_memory import find_fault
from verify.scan.traits import Instance

HEADER = "header"  # the sort of subject, in `Property.says`
VAL_ID = "ValID is not compared"  # besides: of a copy within memory that has one


@dataclass(frozen=True)
class ScannedOperation:
    """An operation of a header with the function that issues its instructions, which may not be read."""

    name: str  # of the operation
    place: Place  # of its definition
    function: AssemblyFunction | None = None  # fma or copy
    instance: Instance | None = None  # of its traits; None where it has none
    replay: str = ""  # the command that finds a counterexample again
    about: str = ""  # what is claimed of it where that can't be read
    problem: str = ""  # why not


class Mnemonic(NamedTuple):
    """A mnemonic of an operation, looked up."""

    text: str
    rejected: str  # why it is none of the ISA's; empty if it may be one
    unknown: str  # why that isn't decided


class ComparedArrays(NamedTuple):
    """The arrays of registers that an operation declares and that could be compared."""

    seen: Sequence[RegisterArray]
    wrong: Sequence[ArrayFault]


def list_mnemonics(issued: Sequence[Sequence[str]]) -> list[Mnemonic]:
    """Return what an operation issues, once each."""
    every = dict.fromkeys(name for names in issued for name in names)
    named = {name: look_up(name) for name in every}
    return [Mnemonic(name, reading.rejected or _nameless(name), reading.unknown) for name, reading in named.items()]


def list_strays(assembly: AssemblyFunction | None) -> list[Mnemonic]:
    """Return each instruction that neither computes with matrices nor has a meaning in the tables."""
    every = (
        [instruction for asm in assembly.asms for instruction in asm.instructions if not instruction.is_main]
        if assembly
        else []
    )
    without = dict.fromkeys(instruction.mnemonic for instruction in every if meaning(instruction.mnemonic) is None)
    return [Mnemonic(name, _nameless(name), f"{name} is not read") for name in without]


def _nameless(mnemonic: str) -> str:
    """Say that PTX has no instruction of a mnemonic's name; empty if it has one."""
    return "" if name_of(mnemonic) else f"{mnemonic[:200]!r}: PTX has no instruction of this name"


def _look_up(_: Run, operation: ScannedOperation, mnemonic: Mnemonic) -> list[Evidence]:
    if mnemonic.unknown and not mnemonic.rejected:
        return [leave_unchecked(Check.ISA, mnemonic.unknown)]
    wrong = Counterexample({}, mnemonic.rejected, replay=operation.replay) if mnemonic.rejected else None
    return [finding(Check.ISA, wrong, "looked up", 1)]


def _place_mnemonic(operation: ScannedOperation, mnemonic: Mnemonic) -> Place:
    function = operation.function
    return operation.place if function is None else function.header.place(offset_of(function, mnemonic.text))


def _count_registers(_: Run, operation: ScannedOperation, function: AssemblyFunction) -> list[Evidence]:
    wrong = [fault for _, fault in find_faults(function)]
    if not wrong and any(has_named_operands(asm) for asm in function.asms):
        return [leave_unchecked(Check.ISA, "operands that have names, or modifiers such as %w0, are not read")]
    first = Counterexample({}, wrong[0], damage=tuple(wrong[1:]), replay=operation.replay) if wrong else None
    points = sum(len(asm.operands) for asm in function.asms)
    return [finding(Check.ISA, first, "operand by operand", points, "text of the header")]


def _place_registers(_: ScannedOperation, function: AssemblyFunction) -> Place:
    wrong = next(find_faults(function), None)
    return function.header.place(offset_of(function, function.mnemonics[0][0]) if wrong is None else wrong[0])


def _state_declared(operation: ScannedOperation, arrays: ComparedArrays) -> Statement:
    listed = ", ".join(f"{array.part}Registers" for array in arrays.seen)
    name = operation.function.name if operation.function else ""
    return Statement("asm", f"each array is what {name}() and its assembly take: {listed}")


def _compare_declared(_: Run, operation: ScannedOperation, arrays: ComparedArrays) -> list[Evidence]:
    wrong, first = arrays.wrong, None
    if wrong and operation.function is not None:
        also = tuple(f"{fault.place}: {fault.text}" for fault in wrong[1:])
        better = repair_arrays(operation.function, wrong)
        proposals = (Proposal(better[0], partial(_with_arrays, better[1])),) if better else ()
        first = Counterexample({}, wrong[0].text, damage=also, proposals=proposals, replay=operation.replay)
    return [finding(Check.ISA, first, "array by array", len(arrays.seen), "text of the header")]


def _with_arrays(arrays: tuple[RegisterArray, ...], assembly: AssemblyFunction) -> AssemblyFunction:
    return replace(assembly, arrays=arrays)


def _compare_val_id(_: Run, operation: ScannedOperation, instance: Instance) -> list[Evidence]:
    """Return whether ValID gives each bit of a tile the address in Tensor Memory that the instruction gives it."""
    val_id, function = instance.val_id, operation.function
    if isinstance(val_id, str):
        return [leave_unchecked(Check.ISA, f"ValID is not read: {val_id}")]
    main = [instruction for asm in function.asms for instruction in asm.main] if function else []
    instruction = look_up(main[0].mnemonic).instruction if len(main) == 1 else None
    moved = None if instruction is None else instruction.operands.get("R")
    if val_id is None or moved is None:
        return [leave_unchecked(Check.ISA, VAL_ID)]
    bits, wrong = find_fault(val_id.layout, moved, main[0].text)
    return [finding(Check.ISA, wrong and wrong._replace(replay=operation.replay), "exhaustive", bits)]


def _place_val_id(_: ScannedOperation, instance: Instance) -> Place:
    val_id = instance.val_id
    return instance.operands["Src"].place if val_id is None or isinstance(val_id, str) else val_id.place


READABLE = Property(
    "readable",
    Scope.ATOM,
    says={HEADER: "it can be read"},
    states=lambda operation, _: Statement("", operation.about),
    place=lambda operation, _: operation.place,
    isa=lambda _, operation, __: [leave_unchecked(Check.ISA, operation.problem)],
    how=("never: what is not read is UNCHECKED", "", ""),
)
REGISTERS = Property(
    "asm_registers",
    Scope.INSTRUCTION,
    words="registers of the assembly",
    says={HEADER: "each operand and each parameter of the asm string is used, none twice, in order"},
    states=lambda _, __: Statement("asm", "each register of the assembly is used once, in order"),
    place=_place_registers,
    isa=_count_registers,
    how=("operand by operand", "", ""),
)
DECLARED = Property(
    "declared_registers",
    Scope.INSTRUCTION,
    words="declared registers",
    says={HEADER: "each array has the number and the type of the registers that the asm string takes"},
    states=_state_declared,
    place=lambda _, arrays: (arrays.wrong or arrays.seen)[0].place,
    isa=_compare_declared,
    how=("array by array", "", ""),
)
MNEMONIC = Property(
    "mnemonic",
    Scope.INSTRUCTION,
    says={HEADER: "every mnemonic is one of the ISA"},
    states=lambda _, mnemonic: Statement("", f"{mnemonic.text} is an instruction of the ISA"),
    place=_place_mnemonic,
    isa=_look_up,
    how=("looked up", "", ""),
    required=frozenset({Check.ISA}),
)
TENSOR_MEMORY = Property(
    "tensor_memory",
    Scope.INSTRUCTION,
    words="places in Tensor Memory",
    says={HEADER: "`ValID` gives each bit of the tile the address that the instruction gives it"},
    states=lambda _, __: Statement("", "ValID gives each bit its address in Tensor Memory"),
    place=_place_val_id,
    isa=_compare_val_id,
    how=("every bit", "", ""),
)
PROPERTIES = (MNEMONIC, REGISTERS, DECLARED, TENSOR_MEMORY, READABLE)


class OperationChecker(Run):
    """One run over the properties of an operation, in the order in which a report has them: by source, not by row."""

    def check_mnemonics(self, operation: ScannedOperation, mnemonics: Sequence[Mnemonic]) -> list[Verdict]:
        """Return a verdict on each mnemonic, at its own place; none where no function has them."""
        if operation.function is None:
            return []
        return [self.verdict(MNEMONIC, operation, mnemonic) for mnemonic in mnemonics]

    def check_assembly(self, operation: ScannedOperation, issued: Sequence[Sequence[str]]) -> list[Verdict]:
        """Return the verdicts on the registers of the inline assembly; none where there is no assembly."""
        function = operation.function
        if function is None or not function.asms or not issued:
            return []
        verdict = self.verdict(REGISTERS, operation, function)
        arrays = ComparedArrays(*compare_arrays(function))
        if verdict.status.refuted or not arrays.seen:
            return [verdict]
        return [verdict, self.verdict(DECLARED, operation, arrays)]

    def check_val_id(self, operation: ScannedOperation) -> list[Verdict]:
        """Return the verdict on ValID, which gives each bit of a tile its address in Tensor Memory, if there is one."""
        instance = operation.instance
        if instance is None or instance.val_id is None:
            return []
        return [self.verdict(TENSOR_MEMORY, operation, instance)]
