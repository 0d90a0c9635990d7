# SPDX-License-Identifier: Apache-2.0
"""A hand-over in registers: one instruction leaves in each lane the values that the next one wants there.

    rows(r) + columns(c) = wanted(lane, v)      with (r, c) = given(lane, order(v)), for every lane and value v

`given` and `wanted` are formulas of the ISA. `rows` is the element of the tile with which the r-th row of a matrix load
starts, `columns` how far apart its elements are, `order` the value of `given` that becomes value v. What a spec leaves
out is read off at powers of two; where the values so read form no layout, the equation fails.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from layouts import Layout, from_samples, size
from verify.core.errors import SpecError
from verify.movement.register_operand import RegisterOperand, register_operand
from verify.movement.smem_access import SmemAccess

ONE = Layout(1)


@dataclass(frozen=True, slots=True)
class HandOver:
    """Two operands in registers, and how one becomes the other.

    The rows of a store are compared as those of a load: `given` is the store's operand, `wanted` what fills it.
    """

    name: str  # of the movement
    given: RegisterOperand  # (lane, value) -> (row, column): the source operand, or a store's own
    wanted: RegisterOperand  # (lane, value) -> element: what has to be there
    rows: Layout = ONE  # row -> number of the element that it starts with
    columns: Layout = ONE  # column -> distance from the start of the row, in elements
    order: Layout = ONE  # value of the destination operand -> value of the source operand
    derived: bool = True  # the spec has no rows, values, tiles or times
    replay: str = ""  # the command that verifies it again
    major: str = ""  # of the tile in memory, where the spec has it
    access: SmemAccess | None = None  # of its rows, where the spec has the tile's layout in shared memory

    @property
    def miscount(self) -> str:
        """Why the operands cannot be compared value by value; empty when they can."""
        given, wanted = self.given, self.wanted
        if given.lanes != wanted.lanes:
            return f"{given.mnemonic} has {given.lanes} lanes, {wanted.mnemonic} {wanted.lanes}"
        if given.values != wanted.values:
            mine, yours = f"{given.values} values of {given.bits} bits in each lane", f"has {wanted.values}"
            return f"{given.mnemonic} has {mine}, {wanted.operand} of {wanted.mnemonic} {yours}"
        return ""

    @property
    def store(self) -> bool:
        """Whether the rows are those of a store, whose registers the other instruction fills."""
        return self.given.mnemonic.startswith("stmatrix")

    @property
    def along(self) -> str:
        """The axis of the tile along which the elements of a row of memory lie; empty where there is none."""
        (x, y), parts = self.wanted.axes, self.wanted.parts
        step = int(self.columns(parts)) if size(self.columns) > parts else 0
        straight = all(self.columns(c) == c // parts * step + c % parts for c in range(size(self.columns)))
        return {parts: x, self.wanted.extent[0]: y}.get(step, "") if straight else ""

    def placed(self, rows: Layout | None = None, order: Layout | None = None) -> HandOver:
        """The hand-over with rows, columns and order, those left out read off; unchanged where counts differ."""
        if self.miscount:
            return self
        order = order or (Layout(self.wanted.values) if self.given.rows else self._order())
        x, y = self.given.extent
        derived, columns = self._rows(order) if self.given.rows else (Layout(x, 1), Layout(y, self.wanted.extent[0]))
        return replace(self, rows=rows or derived, columns=columns, order=order)

    def turned(self) -> HandOver | None:
        """The hand-over with .trans of the load or store added or left out, rows read off; None where there is none."""
        name, given = self.given.mnemonic, self.given
        other = name.replace(".trans", "") if ".trans" in name else name.replace(".shared", ".trans.shared")
        try:
            found = register_operand("from", other, "").split(given.bits).warps(given.lanes)
        except SpecError:
            return None
        found = found.tiled("row", given.extent[0] // found.extent[0])
        return replace(self, given=found).placed(order=self.order)

    def _rows(self, order: Layout) -> tuple[Layout, Layout]:
        """Where rows start in the tile, and how far apart their elements are, read off registers at powers of two."""
        given, wanted = self.given, self.wanted
        lanes, values = np.arange(given.lanes)[:, None], np.arange(given.values)[None, :]
        row, column = (np.broadcast_to(c, (given.lanes, given.values)) for c in given.locate(lanes, values))
        numbers = np.broadcast_to(wanted.number(lanes, values), (given.lanes, given.values))
        orders = np.asarray(order(np.arange(size(order))))
        place: dict[tuple[int, int], int] = {}
        for lane, value in np.ndindex(wanted.lanes, min(wanted.values, len(orders))):
            at = int(row[lane, orders[value]]), int(column[lane, orders[value]])
            place.setdefault(at, int(numbers[lane, value]))
        parts = wanted.parts  # of an element: they are neighbours in memory, whatever their registers
        return from_samples(given.extent[0], lambda r: place.get((r, 0), 0)), from_samples(
            given.extent[1], lambda c: place.get((0, c), 0) if c >= parts else c
        )

    def _order(self) -> Layout:
        """The value of the first lane of `given` that is each value of `wanted`: the order of registers."""
        where: dict[tuple[int, int], int] = {}
        for value in range(self.given.values):
            x, y = self.given.locate(0, value)
            where.setdefault((int(x), int(y)), value)

        def value_of(value: int) -> int:
            x, y = self.wanted.locate(0, value)
            return where.get((int(x), int(y)), 0)

        return from_samples(self.wanted.values, value_of)
