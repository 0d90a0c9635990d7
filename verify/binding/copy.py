# SPDX-License-Identifier: Apache-2.0
"""The formulas of the ISA tables for a copy: which bit of the moved matrix each bit of a thread is.

The ISA describes source and destination of a copy in the same coordinates: a stored row and an element in it, a lane
and a column of Tensor Memory, a row and column of a matrix. Numbering these maps a bit of one operand to a bit of the
other; a copy atom is right if both operands have the same name for it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import isa_tables
from layouts import Layout, fit, right_inverse, size
from layouts.atoms import Adapter
from verify.core.digits import image, walk

BYTE = 8  # bits


class CopyOperand(NamedTuple):
    """The source or destination of a copy. Its bits are numbered by row, product, column and place in the element.

    Without a table it is memory under one address: every thread addresses all of it.
    """

    table: isa_tables.Operand | None
    instruction: isa_tables.Instruction
    extent: tuple[int, int, int]  # rows, products, columns
    bits: int  # width of an element
    inverse: Layout | None = None  # number -> lane + lanes * bit, if it is in registers and names the bits

    def number(self, lane: Any, bit: Any) -> Any:
        """Return the number of a lane's bit, on ints, arrays and terms alike."""
        if self.table is None:
            return bit
        row, column = self.table.locate(lane, bit // self.bits)
        _, products, columns = self.extent
        if products > 1:
            row = row * products + self.instruction.product(lane)
        return (row * columns + column) * self.bits + bit % self.bits

    @property
    def map(self) -> tuple[object, ...]:
        """Equal for operands that number their bits alike: the formulas, with the parameters that they use."""
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
        """The number of owners of each bit, over all lanes."""
        return self.lanes if self.table is None else self.table.copies // self.extent[1]

    def owner(self, number: Any) -> tuple[Any, Any]:
        """Return a (thread, bit) with a number: in memory, thread i has stored row i, or thread 0 has everything."""
        if self.inverse is not None:
            index = image(self.inverse, number)
            return index % self.lanes, index // self.lanes
        return number // self.per_thread, number % self.per_thread

    @property
    def lanes(self) -> int:
        """Threads of the instruction."""
        return self.instruction.signature.lanes


def inverse(operand: CopyOperand) -> Layout | None:
    """Return the layout number -> lane + lanes * bit of an operand in registers.

    None if its formula is no such layout.
    """
    lanes, bits = np.arange(operand.lanes)[:, None], np.arange(operand.per_thread)[None, :]
    layout = fit(np.broadcast_to(operand.number(lanes, bits), (operand.lanes, operand.per_thread)))
    if layout is None:
        return None
    back = right_inverse(layout)
    return back if size(back) == lanes.size * bits.size else None


class Carried(NamedTuple):
    """The formula for the names of bits in one operand, given the names in the other, which is in memory.

    `adapter` permutes the bytes of this operand's registers after the instruction.
    """

    operand: CopyOperand
    memory: CopyOperand
    layout: Layout  # of the operand in memory
    adapter: Adapter | None

    def locate(self, lane: Any, value: Any) -> tuple[Any, Any]:
        """(name of the bit, 0)."""
        number = self.operand.number(lane, adapt_bit(value, self.adapter))
        return walk(self.layout, *self.memory.owner(number)), 0

    @property
    def values(self) -> int:
        """Bits per lane."""
        return self.operand.per_thread

    @property
    def copies(self) -> int:
        """The number of owners of each bit, over all lanes."""
        return self.operand.copies

    @property
    def whole(self) -> bool:
        """Return False: bits have the names of another operand's."""
        return False

    @property
    def provenance(self) -> str:
        """The origin of the formula."""
        table = self.operand.table
        return "derived: one address for all threads" if table is None else table.provenance

    @property
    def citation(self) -> str:
        """The section of the PTX ISA, with the provenance."""
        then = f", then {self.adapter.name}" if self.adapter is not None else ""
        return f"PTX ISA {self.operand.instruction.section} ({self.provenance}){then}"

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for equal formulas."""
        steps = self.adapter.bytes if self.adapter is not None else ()
        order = str(self.memory.inverse or self.memory.per_thread)
        return (
            "copy",
            *self.operand.map,
            self.operand.extent,
            self.operand.bits,
            str(self.layout),
            self.memory.extent,
            order,
            steps,
        )

    def text(self) -> str:
        """Return the formula as the ISA tables write it."""
        return self.operand.table.text() if self.operand.table is not None else "every thread addresses all bits"


def adapt_bit(bit: Any, adapter: Adapter | None) -> Any:
    """Return the bit after the instruction that is `bit` after the adapter."""
    if adapter is None:
        return bit
    group = BYTE * len(adapter.bytes)
    inside = bit % group // BYTE
    source: Any = adapter.bytes[-1]
    for position in reversed(range(len(adapter.bytes) - 1)):
        source = isa_tables.where(inside == position, adapter.bytes[position], source)
    return bit // group * group + source * BYTE + bit % BYTE
