# SPDX-License-Identifier: Apache-2.0
"""An operand of an atom with its map, its tile and the ISA's formulas for it."""

from __future__ import annotations

from typing import NamedTuple

from layouts import Layout
from verify.binding.axes import AXES, OperandFormula
from verify.core.digits import walks
from verify.maps.map import Axis, Map
from verify.maps.strided import StridedMap


class BoundOperand(NamedTuple):
    """One operand of an atom: its map (None if ill formed), its tile and its formulas in the ISA tables."""

    name: str  # A, B, C, E, SFA or SFB; Src, Dst or Ref of a copy; empty for a layout that isn't an operand
    text: str  # the layout as the atom's file has it
    # (thread, value) -> (x, y): of a layout, plain or not, or point by point, of an expression; None if ill formed
    map: Map | None
    fault: str  # why it is ill formed; empty where it is not
    extent: tuple[int, int]  # of its tile, in elements: the ranges of x and y
    # the ISA's different formulas for it: one, but where an element fills several positions
    formulas: tuple[OperandFormula, ...]
    no_formula: str = ""  # why the ISA tables have no formula, though they have the instruction
    keys: tuple[tuple[object, ...], ...] = ()  # those of the formulas

    @property
    def layout(self) -> Layout | None:
        """The layout (thread, value) -> x + X*y, which has proofs; None for any other map."""
        return self.map.plain if isinstance(self.map, StridedMap) else None

    @property
    def layout_of_text(self) -> Layout:
        """The layout. Raises TypeError where it is ill formed, or another map."""
        layout = self.layout
        if layout is None:
            raise TypeError(f"{self.text} isn't a plain layout: {self.fault}")
        return layout

    @property
    def axes(self) -> tuple[str, ...]:
        """The names of the coordinates: two, or one where bits are numbered."""
        return AXES[self.name]

    def of_layout(self, layout: Layout) -> BoundOperand:
        """Return the operand with another layout."""
        return self._replace(text=str(layout), map=map_layout(self.name, layout, self.extent))

    @property
    def values(self) -> int:
        """Values per thread: the extent of the map's second input; 0 when it is ill formed."""
        return self.domain[1]

    @property
    def domain(self) -> tuple[int, int]:
        """Threads and values of the map; (0, 0) when it is ill formed.

        >>> C = BoundOperand("C", "", None, "", (16, 8), ())
        >>> C.domain, C.of_layout(Layout.parse("(32,4):(1,32)")).domain
        ((0, 0), (32, 4))
        """
        return (0, 0) if self.map is None else (self.map.inputs[0].extent, self.map.inputs[1].extent)

    @property
    def points(self) -> Map:
        """The map. Raises TypeError for an operand that is ill formed."""
        if self.map is None:
            raise TypeError(f"{self.text} is not well formed: {self.fault}")
        return self.map

    @property
    def well_formed(self) -> bool:
        """Whether it has a map."""
        return self.map is not None

    def rows(self) -> list[list[int]]:
        """Return the element of every (thread, value), in plain integers, by thread.

        Raises TypeError if it is ill formed.
        """
        return self.points.elements() if self.layout is None else walks(self.layout_of_text)

    @property
    def tile(self) -> str:
        """The tile of this operand, as printed.

        >>> BoundOperand("B", "", None, "", (8, 32), ()).tile
        '8x32 (n,k)'
        """
        return f"{self.extent[0]}x{self.extent[1]} ({','.join(self.axes)})"

    def show(self, element: int) -> str:
        """Return an element as its two coordinates; the second exceeds the tile if the element does.

        >>> BoundOperand("C", "", None, "", (16, 8), ()).show(57)
        '(m=9, n=3)'
        """
        if len(self.axes) == 1:
            return f"{self.axes[0]} {element}"
        x, y = element % self.extent[0], element // self.extent[0]
        return f"({self.axes[0]}={x}, {self.axes[1]}={y})"


def map_layout(name: str, layout: Layout, extent: tuple[int, int]) -> StridedMap:
    """Return a layout as the map of an operand; bits have one axis."""
    return StridedMap(layout, tuple(map(Axis, AXES[name], extent)))
