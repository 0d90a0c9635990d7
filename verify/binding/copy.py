# SPDX-License-Identifier: Apache-2.0
"""What the book says of a copy: which bit of the moved matrix each bit of a thread is.

A copy instruction describes both sides in one set of coordinates: a stored row and an element in it, a lane and a
column of Tensor Memory, a row and column of a matrix. Numbered through, they tie a bit of one side to one of the other;
a copy atom stands when both call it by the same number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import isa_tables
from layouts import Layout, fit, right_inverse, size
from layouts.atoms import Adapter
from verify.core.digits import image, walk

BYTE = 8


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a copy. Its bits are numbered by row, product, column and place in the element.

    Without a table it is memory under one address: every thread counts through all of it.
    """

    table: isa_tables.Operand | None
    instruction: isa_tables.Instruction
    extent: tuple[int, int, int]  # rows, products, columns
    bits: int  # width of an element
    inverse: Layout | None = None  # number -> lane + lanes * bit, of a side in registers that names the bits

    def number(self, lane: Any, bit: Any) -> Any:
        """The number of a lane's bit, on ints, arrays and terms alike."""
        if self.table is None:
            return bit
        row, column = self.table.locate(lane, bit // self.bits)
        _, products, columns = self.extent
        if products > 1:
            row = row * products + self.instruction.product(lane)
        return (row * columns + column) * self.bits + bit % self.bits

    @property
    def map(self) -> tuple[object, ...]:
        """Equal for sides that number their bits alike: what the formulas say, with the parameters that they name."""
        if self.table is None:
            return ("whole",)
        used = tuple((name, self.table.param[name]) for name in sorted(self.table.uses))
        return self.table.text(), used, self.instruction.product_formula.text

    @property
    def per_thread(self) -> int:
        """Bits of one thread."""
        rows, products, columns = self.extent
        return (rows * products * columns if self.table is None else self.table.values) * self.bits

    @property
    def copies(self) -> int:
        """How often each bit is held over all lanes."""
        return self.lanes if self.table is None else self.table.copies // self.extent[1]

    def owner(self, number: Any) -> tuple[Any, Any]:
        """A (thread, bit) that a number is: in memory, thread i holds stored row i, or thread 0 holds everything."""
        if self.inverse is not None:
            index = image(self.inverse, number)
            return index % self.lanes, index // self.lanes
        return number // self.per_thread, number % self.per_thread

    @property
    def lanes(self) -> int:
        """Threads of the instruction."""
        return self.instruction.signature.lanes


def inverse(side: Side) -> Layout | None:
    """The layout number -> lane + lanes * bit of a side in registers, or None where its formula is no such layout."""
    lanes, bits = np.arange(side.lanes)[:, None], np.arange(side.per_thread)[None, :]
    found = fit(np.broadcast_to(side.number(lanes, bits), (side.lanes, side.per_thread)))
    if found is None:
        return None
    back = right_inverse(found)
    return back if size(back) == lanes.size * bits.size else None


@dataclass(frozen=True, slots=True)
class Carried:
    """The name of a bit on one side, by what the other side, in memory, calls it.

    `adapter` permutes the bytes of this side's registers after the instruction.
    """

    side: Side
    memory: Side
    layout: Layout  # of the side in memory
    adapter: Adapter | None

    def locate(self, lane: Any, value: Any) -> tuple[Any, Any]:
        """(name of the bit, 0)."""
        number = self.side.number(lane, adapted(value, self.adapter))
        return walk(self.layout, *self.memory.owner(number)), 0

    @property
    def values(self) -> int:
        """Bits per lane."""
        return self.side.per_thread

    @property
    def copies(self) -> int:
        """How often each bit is held over all lanes."""
        return self.side.copies

    @property
    def provenance(self) -> str:
        """Where the formula comes from."""
        return self.side.table.provenance if self.side.table is not None else "derived: one address for all threads"

    @property
    def citation(self) -> str:
        """The section it stands in, with its provenance."""
        then = f", then {self.adapter.name}" if self.adapter is not None else ""
        return f"PTX ISA {self.side.instruction.section} ({self.provenance}){then}"

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for formulas that say the same."""
        steps = self.adapter.bytes if self.adapter is not None else ()
        held = str(self.memory.inverse or self.memory.per_thread)
        return (
            "copy",
            *self.side.map,
            self.side.extent,
            self.side.bits,
            str(self.layout),
            self.memory.extent,
            held,
            steps,
        )

    def text(self) -> str:
        """The formula, in the book's words."""
        return self.side.table.text() if self.side.table is not None else "every thread counts through all bits"


def adapted(bit: Any, adapter: Adapter | None) -> Any:
    """The bit that the instruction left where `bit` is after the adapter."""
    if adapter is None:
        return bit
    group = BYTE * len(adapter.bytes)
    inside = bit % group // BYTE
    source: Any = adapter.bytes[-1]
    for position in reversed(range(len(adapter.bytes) - 1)):
        source = isa_tables.where(inside == position, adapter.bytes[position], source)
    return bit // group * group + source * BYTE + bit % BYTE
