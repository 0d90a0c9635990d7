# SPDX-License-Identifier: Apache-2.0
"""The formulas of the ISA tables in an atom's coordinates: their order, their granularity, their memory.

An atom numbers logical positions of a tile. An instruction may have coarser elements (an element of a sparse A is two
columns, a scale factor is a whole block) or finer ones (two bits of metadata for one column); in shared memory every
thread addresses the whole tile.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

import isa_tables
from layouts import Layout
from layouts.arrays import np
from verify.binding.axes import AXES, OperandFormula
from verify.core.digits import image

Value = TypeVar("Value")
SWAPPED = ("B", "SFB")  # the ISA tables give (k, n) for these


def codomain(operand: str, row: Value, col: Value) -> tuple[Value, Value]:
    """(row, col) of the ISA tables in the atom's order: B is (k, n) in the ISA and n + N*k in CuTe.

    >>> codomain("A", "m", "k"), codomain("B", "k", "n"), codomain("C", "m", "n")
    (('m', 'k'), ('n', 'k'), ('m', 'n'))
    """
    return (col, row) if operand in SWAPPED else (row, col)


class Registers(NamedTuple):
    """The ISA's formula for an operand in registers, in positions of the atom; `coarse` or `fine` is 1."""

    operand: str  # A, B, C, ...: its axes are AXES[operand]
    table: isa_tables.Operand  # the operand of the ISA tables, with its formula
    section: str  # of the PTX ISA
    coarse: int = 1  # logical positions along y that share one element of the tables
    fine: int = 1  # elements of the tables that make one position
    which: int = 0  # number of the element, of `fine`, that the formula is about
    labels: tuple[Layout | None, Layout | None] = (None, None)  # by which a declared relabelling numbers x and y

    def locate(self, lane: Any, value: Any) -> tuple[Any, Any]:
        """(x, y) of the position that `value` is in: value j of an element of the instruction is its j-th position."""
        x, y = self._locate(lane, value)
        of_x, of_y = self.labels
        return x if of_x is None else image(of_x, x), y if of_y is None else image(of_y, y)

    def _locate(self, lane: Any, value: Any) -> tuple[Any, Any]:
        if self.coarse > 1:
            x, y = codomain(self.operand, *self.table.locate(lane, value // self.coarse))
            return x, y * self.coarse + value % self.coarse
        if self.fine > 1:
            x, y = codomain(self.operand, *self.table.locate(lane, value * self.fine + self.which))
            outside = max(self.table.extent)
            return x, isa_tables.where(y % self.fine == self.which, y // self.fine, outside)
        return codomain(self.operand, *self.table.locate(lane, value))

    @property
    def values(self) -> int:
        """Values per lane, as the atom counts them."""
        return self.table.values * self.coarse // self.fine

    @property
    def copies(self) -> int:
        """The number of owners of each element, over all lanes."""
        return self.table.copies

    @property
    def whole(self) -> bool:
        """Return False: threads have parts of it."""
        return False

    @property
    def provenance(self) -> str:
        """The origin of the formula."""
        return self.table.provenance

    @property
    def citation(self) -> str:
        """The section of the PTX ISA, with the provenance and the granularity."""
        grain = f", {self.coarse} positions to an element" if self.coarse > 1 else ""
        grain = f", {self.fine} elements to a position" if self.fine > 1 else grain
        axes = zip(AXES[self.operand], self.labels, strict=True)
        relabelled = "".join(f", {axis} relabelled by {layout}" for axis, layout in axes if layout is not None)
        return f"PTX ISA {self.section} ({self.provenance}){grain}{relabelled}"

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for equal formulas over as many values."""
        return *self.map, self.values, self.copies

    @property
    def map(self) -> tuple[object, ...]:
        """Equal for formulas with one text, however large their domain: those of a family."""
        used = tuple((name, self.table.param[name]) for name in sorted(self.table.uses))
        return self.operand, self.table.formulas, used, self.coarse, self.fine, self.which, self.labels

    def text(self) -> str:
        """Return the formula as the ISA tables write it."""
        return self.table.text()


class Memory(NamedTuple):
    """An operand in memory under one address: every thread addresses the whole tile, L(t, v) = v.

    If two CTAs share it, each has half of the rows and is one logical thread.
    """

    extent: tuple[int, int]  # of the tile, in elements: x and y
    space: str  # smem or tmem
    lanes: int  # threads that see it
    section: str  # of the PTX ISA
    provenance: str  # where the ISA tables have its extent from
    ctas: int = 1  # CTAs that share the tile; 1 where each sees it whole

    def locate(self, lane: Any, value: Any) -> tuple[Any, Any]:
        """(x, y) of element number `value` of the tile, x fastest; `lane` matters only if CTAs share the tile.

        >>> Memory((16, 8), "smem", 128, "9.7.15", "ISA text").locate(0, 17)
        (1, 1)
        """
        rows = self.extent[0] // self.ctas
        if self.ctas == 1:
            return value % rows, value // rows
        return value % rows + rows * lane, value // rows

    @property
    def values(self) -> int:
        """The elements of the tile, or of a CTA's share."""
        return self.extent[0] * self.extent[1] // self.ctas

    @property
    def copies(self) -> int:
        """The number of owners of each element: every thread."""
        return self.lanes

    @property
    def whole(self) -> bool:
        """Return whether every thread addresses all of it."""
        return self.ctas == 1

    @property
    def citation(self) -> str:
        """The section of the PTX ISA, and how the memory is addressed."""
        how = "addressed whole by every thread" if self.whole else f"its rows shared by {self.ctas} CTAs"
        return f"PTX ISA {self.section} ({self.provenance}): in {self.space}, {how}"

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for equal formulas."""
        return "memory", self.extent, self.lanes, self.ctas

    def text(self) -> str:
        """Return the formula in words."""
        x, y = self.extent
        if self.ctas == 1:
            return f"every thread addresses the whole tile: value v is element v of {x}x{y}"
        return f"CTA c has rows {x // self.ctas}*c and up: value v is its element v, rows first, of {x}x{y}"


def formulas(
    operand: str, instruction: isa_tables.Instruction, table: isa_tables.Operand, extent: tuple[int, int]
) -> tuple[tuple[OperandFormula, ...], str]:
    """Return the formulas for an operand with a tile of `extent`, or none and why the ISA tables have none."""
    no_formula = _no_formula(operand, instruction, table)
    if no_formula:
        return (), no_formula
    section = instruction.section
    if table.space != "reg":
        signature = instruction.signature
        ctas = signature.ctas if "cta" in table.maps else 1
        return (Memory(extent, table.space, signature.lanes, section, table.provenance, ctas),), ""
    _, columns = codomain(operand, *table.extent)
    if codomain(operand, *table.axes) == AXES[operand] or max(columns, extent[1]) % min(columns, extent[1]):
        return (Registers(operand, table, section),), ""
    if extent[1] >= columns:
        return (Registers(operand, table, section, coarse=extent[1] // columns),), ""
    fine = columns // extent[1]
    return tuple(Registers(operand, table, section, fine=fine, which=j) for j in range(fine)), ""


def _no_formula(operand: str, instruction: isa_tables.Instruction, table: isa_tables.Operand) -> str:
    """Why the ISA tables have no map from (lane, value) to the tile; empty if they have one."""
    if table.unspecified:
        return f"PTX ISA {instruction.section} leaves {operand} unspecified"
    if table.unmapped:
        return f"the ISA tables do not place {operand} in {table.space}: {table.unmapped}"
    if "cta" in table.maps:
        shared = _shared_in_halves(operand, instruction, table)
        return "" if shared else f"the ISA tables place {operand} in {table.space} and distribute nothing to threads"
    left_open = ", ".join(sorted(table.uses & instruction.signature.select.keys()))
    return f"the map of {operand} depends on {left_open}, which the atom leaves open" if left_open else ""


def _shared_in_halves(operand: str, instruction: isa_tables.Instruction, table: isa_tables.Operand) -> bool:
    """Whether each CTA has its share of a matrix along x (rows of A and D, columns of B), in order."""
    ctas = instruction.signature.ctas
    ends, (length, _) = table.extent, codomain(operand, *table.extent)
    if codomain(operand, *table.axes)[0] != AXES[operand][0] or length % ctas:
        return False
    row, column = np.arange(ends[0])[:, None], np.arange(ends[1])[None, :]
    x, _ = codomain(operand, row, column)
    return bool((table.cta(row, column) == x // (length // ctas)).all())
