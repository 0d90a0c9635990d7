# SPDX-License-Identifier: Apache-2.0
"""A hand-over in registers: what one instruction leaves in a lane is what the next one wants there.

    rows(r) + columns(c) = wanted(lane, v)      with (r, c) = held(lane, source(v)), for every lane and value v

`held` and `wanted` are the ISA's. `rows` and `columns` say which element of the tile the r-th row of a matrix load
starts with and how far apart its elements are; `source` says which value becomes which. What is not given is read off
at powers of two: where it is no layout, the equation does not hold.
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
    """Two operands in registers, and how the one becomes the other.

    Of a store the rows are compared as those of a load are: `held` is what the store finds, `wanted` what is there.
    """

    name: str
    held: RegisterOperand
    wanted: RegisterOperand
    rows: Layout = ONE
    columns: Layout = ONE
    source: Layout = ONE
    derived: bool = True  # rows, values and tiles: nothing is given
    replay: str = ""
    major: str = ""  # of the tile in memory, where it is given
    access: SmemAccess | None = None  # of its rows, where the tile's place in shared memory is given

    @property
    def miscount(self) -> str:
        """Why the operands cannot be compared value by value; empty when they can."""
        held, wanted = self.held, self.wanted
        if held.lanes != wanted.lanes:
            return f"{held.mnemonic} has {held.lanes} lanes, {wanted.mnemonic} {wanted.lanes}"
        if held.values != wanted.values:
            mine, yours = f"{held.values} values of {held.bits} bits in each lane", f"has {wanted.values}"
            return f"{held.mnemonic} has {mine}, {wanted.operand} of {wanted.mnemonic} {yours}"
        return ""

    @property
    def store(self) -> bool:
        """Whether the rows are those of a store: its registers are filled by the other instruction."""
        return self.held.mnemonic.startswith("stmatrix")

    @property
    def along(self) -> str:
        """The axis of the tile along which the elements of a row of memory lie; empty where there is none."""
        (x, y), parts = self.wanted.axes, self.wanted.parts
        step = int(self.columns(parts)) if size(self.columns) > parts else 0
        straight = all(self.columns(c) == c // parts * step + c % parts for c in range(size(self.columns)))
        return {parts: x, self.wanted.extent[0]: y}.get(step, "") if straight else ""

    def placed(self, rows: Layout | None = None, source: Layout | None = None) -> HandOver:
        """The same with what is not given of rows, columns and source read off; the same where counts differ."""
        if self.miscount:
            return self
        source = source or (Layout(self.wanted.values) if self.held.rows else self._source())
        x, y = self.held.extent
        derived, columns = self._rows(source) if self.held.rows else (Layout(x, 1), Layout(y, self.wanted.extent[0]))
        return replace(self, rows=rows or derived, columns=columns, source=source)

    def turned(self) -> HandOver | None:
        """The same with .trans of the load or store added or left out, its rows read off; None where it cannot be."""
        name, held = self.held.mnemonic, self.held
        other = name.replace(".trans", "") if ".trans" in name else name.replace(".shared", ".trans.shared")
        try:
            found = register_operand("from", other, "").split(held.bits).warps(held.lanes)
        except SpecError:
            return None
        found = found.tiled("row", held.extent[0] // found.extent[0])
        return replace(self, held=found).placed(source=self.source)

    def _rows(self, source: Layout) -> tuple[Layout, Layout]:
        """Where rows start in the tile and how far their elements are apart, as the registers at powers of two say."""
        held, wanted = self.held, self.wanted
        lanes, values = np.arange(held.lanes)[:, None], np.arange(held.values)[None, :]
        row, column = (np.broadcast_to(c, (held.lanes, held.values)) for c in held.locate(lanes, values))
        numbers = np.broadcast_to(wanted.number(lanes, values), (held.lanes, held.values))
        sources = np.asarray(source(np.arange(size(source))))
        place: dict[tuple[int, int], int] = {}
        for lane, value in np.ndindex(wanted.lanes, min(wanted.values, len(sources))):
            at = int(row[lane, sources[value]]), int(column[lane, sources[value]])
            place.setdefault(at, int(numbers[lane, value]))
        parts = wanted.parts  # of an element: in memory they are neighbours, whatever the registers say
        return from_samples(held.extent[0], lambda r: place.get((r, 0), 0)), from_samples(
            held.extent[1], lambda c: place.get((0, c), 0) if c >= parts else c
        )

    def _source(self) -> Layout:
        """Which value of the first lane of `held` is each of `wanted`: the order in which registers are passed on."""
        where: dict[tuple[int, int], int] = {}
        for value in range(self.held.values):
            x, y = self.held.locate(0, value)
            where.setdefault((int(x), int(y)), value)

        def value_of(value: int) -> int:
            x, y = self.wanted.locate(0, value)
            return where.get((int(x), int(y)), 0)

        return from_samples(self.wanted.values, value_of)
