# SPDX-License-Identifier: Apache-2.0
"""A kernel as `parse` reads it: instructions with their operands, registers, parameters and variables."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from verify.core.errors import UsageError

# Bits of a register of each type: PTX ISA 5.2, fundamental, alternate and packed types.
WIDTHS = {
    **{f"{letter}{bits}": bits for letter in "busf" for bits in (8, 16, 32, 64)},
    **{"pred": 1, "f16x2": 32, "bf16": 16, "bf16x2": 32, "u16x2": 32, "s16x2": 32, "b128": 128, "tf32": 32},
}
STRONG = frozenset("acquire release acq_rel relaxed volatile mmio".split())


class PtxError(UsageError):
    """PTX that cannot be read, with its line."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(f"line {line}: {problem}")
        self.line, self.problem = line, problem


@dataclass(frozen=True, slots=True)
class Register:
    """A register by its number; `negated` is the `!` before a predicate."""

    name: str
    index: int
    negated: bool = False


class Immediate(NamedTuple):
    """A number, as its bits: two's complement of an integer, IEEE's of a float."""

    bits: int
    text: str
    kind: str = ""  # f32 or f64 of a float: an instruction of another type converts it


class Symbol(NamedTuple):
    """The address of a variable of shared memory, a parameter, a label's name, or a special register."""

    name: str
    offset: int = 0


class Address(NamedTuple):
    """Memory at base + offset; `coordinates` are those of a tensor map."""

    base: Operand
    offset: int
    coordinates: tuple[Operand, ...] = ()


class Vector(NamedTuple):
    """Registers in braces, or the two destinations `p|q`, or the list of a call in brackets."""

    items: tuple[Operand, ...]
    pair: bool = False


Operand = Register | Immediate | Symbol | Address | Vector


@dataclass(slots=True)
class PtxInstruction:
    """One instruction: its opcode as words, its guard, its operands, and where it is written."""

    line: int  # of the file
    text: str  # as written, blanks joined
    words: tuple[str, ...]  # of the opcode: ("mad", "lo", "s32")
    guard: Register | None  # the predicate before it
    operands: tuple[Operand, ...]  # in the order of the text
    source: tuple[int, int] | None  # (file number, line) of the last .loc
    target: int = -1  # of a branch: the number of the instruction
    targets: tuple[int, ...] = ()  # of brx.idx
    column: int = 0  # of the last .loc, from 1; 0 if it says none

    @property
    def is_strong(self) -> bool:
        """Whether it is a strong load or store: an access by which threads may wait for each other."""
        return self.words[0] in ("ld", "st") and not STRONG.isdisjoint(self.words)

    @property
    def opcode(self) -> str:
        """The opcode with its modifiers."""
        return ".".join(self.words)


@dataclass(slots=True)
class Variable:
    """A variable of shared, local, constant or parameter memory."""

    size: int  # bytes
    align: int
    number: int = 0  # of a parameter: its position


@dataclass(slots=True)
class Kernel:
    """One entry of a PTX file."""

    name: str  # of the entry
    target: str  # sm_80, sm_90a
    parameters: dict[str, Variable]  # by name
    shared: dict[str, Variable]  # static shared memory
    dynamic: dict[str, Variable]  # `.extern .shared` arrays: all start where static shared memory ends
    instructions: list[PtxInstruction]  # in order
    registers: list[str]  # declared type by number
    names: list[str]  # of the registers by number
    block: tuple[int, ...] | None  # .reqntid
    most: int = 0  # threads of a CTA that .maxntid allows; 0 if there is none
    files: dict[int, str] = field(default_factory=dict)  # of .loc
    local: dict[str, Variable] = field(default_factory=dict)  # memory of each thread
    clusters: tuple[int, str] | None = None  # line and text of a directive for clusters of several CTAs
    module: dict[str, int] = field(default_factory=dict)  # variables in global memory outside of any function: numbers
    contents: list[int] = field(default_factory=list)  # of registers by number before any write; none: not known

    def parameter_reads(self) -> dict[int, list[int]]:
        """By the number of a parameter, the bytes from which an instruction reads it by its name."""
        offsets: dict[int, set[int]] = {}
        for inst in self.instructions:
            for place in inst.operands:
                if isinstance(place, Address) and isinstance(place.base, Symbol) and place.base.name in self.parameters:
                    number = self.parameters[place.base.name].number
                    offsets.setdefault(number, set()).add(place.base.offset + place.offset)
        return {number: sorted(offsets[number]) for number in sorted(offsets)}
