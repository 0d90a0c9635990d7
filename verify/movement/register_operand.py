# SPDX-License-Identifier: Apache-2.0
"""The two ends of a hand-over in registers, as the book has them.

One end is an operand of a matrix instruction, several tiles of it side by side where the other end holds more; the
other is such an operand too, or the rows of a matrix load or store. Elements are counted in the finer of the two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import isa_tables
from isa_tables.signature import find
from layouts.atoms import Atom, registry
from verify.binding.coordinates import AXES, codomain
from verify.core.errors import UsageError
from verify.core.names import nearest

ROWS = ("ldmatrix", "stmatrix")


@dataclass(frozen=True, slots=True)
class Side:
    """Registers: lane and value -> (x, y) in `extent`. `rows` says that x numbers rows of memory, y what is in them.

    Where `parts` is above 1, x counts the parts that an element of a tile is split into.
    """

    mnemonic: str
    operand: str
    section: str
    provenance: str
    locate: Callable[[Any, Any], tuple[Any, Any]]
    values: int
    bits: int
    extent: tuple[int, int]
    axes: tuple[str, ...]
    lanes: int
    rows: bool
    parts: int = 1

    @property
    def citation(self) -> str:
        """The section that the formula stands in, with its provenance."""
        return f"PTX ISA {self.section} ({self.provenance})"

    def number(self, lane: Any, value: Any) -> Any:
        """The element as a number, x + X * y."""
        x, y = self.locate(lane, value)
        return x + self.extent[0] * y

    def shown(self, number: int) -> str:
        """An element's number as coordinates."""
        x, y = number % self.extent[0], number // self.extent[0]
        part = f", bits {x % self.parts * self.bits} and up" if self.parts > 1 else ""
        return f"({self.axes[0]}={x // self.parts}, {self.axes[1]}={y}{part})"

    def tiled(self, axis: str, count: int) -> Side:
        """`count` tiles along an axis, the values of the first one first."""
        if count == 1:
            return self
        along, values, width = self.axes.index(axis), self.values, self.extent[self.axes.index(axis)]

        def locate(lane: Any, value: Any) -> tuple[Any, Any]:
            x, y = self.locate(lane, value % values)
            shift = value // values * width
            return (x + shift, y) if along == 0 else (x, y + shift)

        x, y = self.extent
        extent = (x * count, y) if along == 0 else (x, y * count)
        return replace(self, locate=locate, values=values * count, extent=extent)

    def warps(self, lanes: int) -> Side:
        """Of a matrix load or store: the same in every warp, whose rows are counted on."""
        if not self.rows or lanes == self.lanes or lanes % self.lanes:
            return self
        rows, width = self.extent[0], self.lanes

        def locate(lane: Any, value: Any) -> tuple[Any, Any]:
            x, y = self.locate(lane % width, value)
            return x + lane // width * rows, y

        return replace(self, locate=locate, lanes=lanes, extent=(rows * (lanes // width), self.extent[1]))

    def split(self, bits: int) -> Side:
        """The same registers in elements of fewer bits: of a row they lie side by side, of a tile each has its own."""
        parts = self.bits // bits
        if parts == 1:
            return self

        def locate(lane: Any, value: Any) -> tuple[Any, Any]:
            x, y = self.locate(lane, value // parts)
            return (x, y * parts + value % parts) if self.rows else (x * parts + value % parts, y)

        x, y = self.extent
        extent = (x, y * parts) if self.rows else (x * parts, y)
        held = 1 if self.rows else parts
        return replace(self, locate=locate, values=self.values * parts, bits=bits, extent=extent, parts=held)


def side(name: str, operand: str, giving: bool) -> Side:
    """The end that a mnemonic or an atom's name means; an mma gives its C and takes the operand that is asked for.

    Raises UsageError for a name that is none, an instruction with no registers to hand over, an operand it lacks.
    """
    mnemonic = _mnemonic(name)
    try:
        in_registers: dict[str, Any] = {"A_space": "reg"} if "A_space" in find(mnemonic).select else {}
        instruction = isa_tables.instruction(mnemonic, **in_registers)
    except isa_tables.IsaError as error:
        raise UsageError(f"{name}: {error}") from error
    if instruction.signature.family.startswith(ROWS):
        return _rows(instruction)
    if instruction.signature.family.startswith("movmatrix"):
        raise UsageError(f"{name}: a matrix load or store, or a matrix multiplication is wanted")
    wanted = "C" if giving else operand
    _in_registers(name, wanted)
    if not {"D", "B"} <= instruction.operands.keys() or (not giving and wanted == "C"):
        raise UsageError(f"{name}: an mma gives its accumulators and takes A or B; this is no such end")
    if wanted == "A" and "E" in instruction.operands:
        raise UsageError(f"{name}: A is compressed, by metadata that no other instruction leaves")
    if wanted not in AXES or (wanted not in instruction.operands and wanted != "C"):
        have = ", ".join(key for key in instruction.operands if key in AXES)
        raise UsageError(f"{name} has no operand {wanted}; there are: {have or 'none in registers'}")
    return _operand(instruction, wanted)


def _in_registers(name: str, operand: str) -> None:
    """Refuse an atom that takes the operand from memory, which its instruction may take from registers as well."""
    atoms: Mapping[str, Any] = registry()
    space = atoms[name].space.get(operand, "reg") if isinstance(atoms.get(name), Atom) else "reg"
    if space != "reg":
        other = name.replace("_SS", "_RS")
        near = f"; {other} takes it from registers" if operand == "A" and other != name and other in atoms else ""
        raise UsageError(f"{name}: {operand} is not handed over in registers ({space}){near}")


def _mnemonic(name: str) -> str:
    """The instruction of an atom, or the text itself where it is one."""
    if "." in name and "::" not in name.partition(".")[0]:
        return name
    atoms: Mapping[str, Any] = registry()
    if name not in atoms:
        close = nearest(name, list(atoms), "atom")
        raise UsageError(f"no atom or instruction is named {name!r}{close}")
    found = atoms[name].ptx
    if not found:
        raise UsageError(f"{name} is no matrix instruction; an mma, ldmatrix or stmatrix is wanted")
    if len(found) != 1:
        raise UsageError(f"{name} is {len(found)} instructions; one is wanted: give its mnemonic")
    return str(found[0])


def _rows(instruction: isa_tables.Instruction) -> Side:
    """The registers of a matrix load or store, by stored row and the element in it."""
    signature, table = instruction.signature, instruction.operands["R"]
    if len({part.type for part in signature.operands.values()}) > 1:
        raise UsageError(f"{signature.mnemonic} unpacks padded elements, which are no operand's values")
    return Side(
        signature.mnemonic,
        "R",
        instruction.section,
        table.provenance,
        table.locate,
        table.values,
        table.bits,
        table.extent,
        ("row", "element"),
        signature.lanes,
        True,
    )


def _operand(instruction: isa_tables.Instruction, operand: str) -> Side:
    signature = instruction.signature
    table = instruction.operands["D" if operand == "C" else operand]
    if table.space != "reg" or table.unspecified or signature.products > 1:
        why = "several products" if signature.products > 1 else "unspecified" if table.unspecified else table.space
        raise UsageError(f"{signature.mnemonic}: {operand} is not handed over in registers ({why})")

    def locate(lane: Any, value: Any) -> tuple[Any, Any]:
        return codomain(operand, *table.locate(lane, value))

    x, y = codomain(operand, *table.extent)
    return Side(
        signature.mnemonic,
        operand,
        instruction.section,
        table.provenance,
        locate,
        table.values,
        table.bits,
        (x, y),
        AXES[operand],
        signature.lanes,
        False,
    )
