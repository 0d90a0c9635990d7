# SPDX-License-Identifier: Apache-2.0
"""Operands in registers, by the ISA tables: the source and the destination of a hand-over.

One of the two is an operand of a matrix instruction, repeated side by side where the other has more values; the other
is such an operand too, or the rows of a matrix load or store. Elements are counted in the narrower width of the two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import isa_tables
from isa_tables.signature import find
from layouts.atoms import Atom, registry
from verify.binding.axes import AXES
from verify.binding.coordinates import codomain
from verify.core.errors import SpecError
from verify.core.names import nearest
from verify.maps import short_names

ROWS = ("ldmatrix", "stmatrix")


@dataclass(frozen=True, slots=True)
class RegisterOperand:
    """An operand in registers: (lane, value) -> (x, y)."""

    mnemonic: str  # of the instruction
    operand: str  # A, B or C; R for the rows of a matrix load or store
    section: str  # of the ISA
    provenance: str  # where the ISA tables have the formula from
    locate: Callable[[Any, Any], tuple[Any, Any]] = field(compare=False)  # (lane, value) -> (x, y), by all the rest
    values: int  # in each lane
    bits: int  # of a value
    extent: tuple[int, int]  # the ranges of x and y
    axes: tuple[str, ...]  # their names, as m and k
    lanes: int  # how many lanes there are: 32, or 128 of wgmma
    rows: bool  # x numbers rows of memory, y the elements of a row
    parts: int = 1  # that an element of a tile is split into; x counts parts

    @property
    def citation(self) -> str:
        """The section of the formula, with its provenance."""
        return f"PTX ISA {self.section} ({self.provenance})"

    def number(self, lane: Any, value: Any) -> Any:
        """Return the element as a number, x + X * y."""
        x, y = self.locate(lane, value)
        return x + self.extent[0] * y

    def spell_element(self, number: int) -> str:
        """Return an element's number as coordinates."""
        x, y = number % self.extent[0], number // self.extent[0]
        part = f", bits {x % self.parts * self.bits} and up" if self.parts > 1 else ""
        return f"({self.axes[0]}={x // self.parts}, {self.axes[1]}={y}{part})"

    def tile(self, axis: str, count: int, warps: bool = False) -> RegisterOperand:
        """`count` tiles along an axis: the values of the first one first, or a tile for each of more warps."""
        if count == 1:
            return self
        along, values, lanes, (x, y) = self.axes.index(axis), self.values, self.lanes, self.extent

        def locate(lane: Any, value: Any) -> tuple[Any, Any]:
            row, column = self.locate(lane % lanes, value) if warps else self.locate(lane, value % values)
            tile = lane // lanes if warps else value // values
            return (row + tile * x, column) if along == 0 else (row, column + tile * y)

        extent = (x * count, y) if along == 0 else (x, y * count)
        tiled = replace(self, locate=locate, extent=extent)
        return replace(tiled, lanes=lanes * count) if warps else replace(tiled, values=values * count)

    def split(self, bits: int) -> RegisterOperand:
        """Return the same registers in elements of fewer bits: side by side in a row, parts of an element in a tile."""
        parts = self.bits // bits
        if parts == 1:
            return self

        def locate(lane: Any, value: Any) -> tuple[Any, Any]:
            x, y = self.locate(lane, value // parts)
            return (x, y * parts + value % parts) if self.rows else (x * parts + value % parts, y)

        x, y = self.extent
        extent = (x, y * parts) if self.rows else (x * parts, y)
        finer = 1 if self.rows else parts
        return replace(self, locate=locate, values=self.values * parts, bits=bits, extent=extent, parts=finer)


def _in_registers(mnemonic: str) -> isa_tables.Instruction:
    """Return an instruction with A in registers if it may be there. Raise IsaError."""
    chosen: dict[str, Any] = {"A_space": "reg"} if "A_space" in find(mnemonic).select else {}
    return isa_tables.instruction(mnemonic, **chosen)


def register_operand(key: str, name: str, operand: str) -> RegisterOperand:
    """Return the operand that a mnemonic or an atom names under the key `from` or `to`.

    The source in an mma is its accumulators, the destination operand A or B. Raises SpecError under the key for
    an unknown name, an instruction without operands in registers, and an operand that it lacks.
    """
    atoms: Mapping[str, Any] = registry()
    mnemonic = name
    if "." not in name or "::" in name.partition(".")[0]:
        if name not in atoms:
            raise SpecError(key, f"no atom or instruction is named {name!r}{nearest(name, list(atoms), 'atom')}")
        if not atoms[name].ptx:
            raise SpecError(key, f"{name} isn't a matrix instruction; expected an mma, ldmatrix or stmatrix")
        if len(atoms[name].ptx) != 1:
            raise SpecError(key, f"{name} is {len(atoms[name].ptx)} instructions, expected one: give its mnemonic")
        mnemonic = str(atoms[name].ptx[0])
    try:
        wanted = "D" if key == "from" else operand
        rows = {"R"} if any(map(mnemonic.startswith, ROWS)) else set()
        instruction = short_names.find_instruction(key, mnemonic, rows or {wanted}, _in_registers, widths=True)
    except isa_tables.IsaError as error:
        raise SpecError(key, f"{name}: {error}") from error
    if instruction.signature.family.startswith(ROWS):
        return _registers(key, instruction, "R")
    if instruction.signature.family.startswith("movmatrix"):
        raise SpecError(key, f"{name}: expected a matrix load or store, or a matrix multiplication")
    wanted = "C" if key == "from" else operand
    space = atoms[name].space.get(wanted, "reg") if isinstance(atoms.get(name), Atom) else "reg"
    if space != "reg":  # though its instruction may also take it from registers
        variant = name.replace("_SS", "_RS")
        near = f"; {variant} takes it from registers" if wanted == "A" and variant != name and variant in atoms else ""
        raise SpecError(key, f"{name}: {wanted} is not in registers ({space}){near}")
    if not {"D", "B"} <= instruction.operands.keys() or (key == "to" and wanted == "C"):
        raise SpecError(key, f"{name}: expected an mma: its accumulators are a source, its A or B a destination")
    if wanted == "A" and "E" in instruction.operands:
        raise SpecError(key, f"{name}: A is compressed by metadata, which no other instruction produces")
    if wanted not in AXES or (wanted not in instruction.operands and wanted != "C"):
        have = ", ".join(letter for letter in instruction.operands if letter in AXES)
        raise SpecError(key, f"{name} has no operand {wanted}; there are: {have or 'none in registers'}")
    return _registers(key, instruction, wanted)


def _registers(key: str, instruction: isa_tables.Instruction, operand: str) -> RegisterOperand:
    """Return an instruction's operand; R, of a matrix load or store, has coordinates (stored row, its element)."""
    signature, rows = instruction.signature, operand == "R"
    table = instruction.operands["D" if operand == "C" else operand]
    if rows and len({part.type for part in signature.operands.values()}) > 1:
        raise SpecError(key, f"{signature.mnemonic} unpacks padded elements, which no operand has as values")
    if not rows and (table.space != "reg" or table.unspecified or signature.products > 1):
        why = "several products" if signature.products > 1 else "unspecified" if table.unspecified else table.space
        raise SpecError(key, f"{signature.mnemonic}: {operand} isn't an operand in registers to compare ({why})")

    def locate(lane: Any, value: Any) -> tuple[Any, Any]:
        return codomain(operand, *table.locate(lane, value))

    return RegisterOperand(
        signature.mnemonic,
        operand,
        instruction.section,
        table.provenance,
        table.locate if rows else locate,
        table.values,
        table.bits,
        table.extent if rows else codomain(operand, *table.extent),
        ("row", "element") if rows else AXES[operand],
        signature.lanes,
        rows,
    )
