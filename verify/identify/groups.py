# SPDX-License-Identifier: Apache-2.0
"""Lines of text, one for each map of an operand that the ISA tables have, and what they mean.

`Catalogue`   the lines: `of_size` and `of_tile` read some of them
`Group`       one map, and the operands that have it
`Member`      an operand of some instructions
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from verify.core.digits import every

REGISTERS, MEMORY = "registers", "memory"  # the first word of a line; the second is a size or a tile
Piece = Sequence[Any]  # the first number; the shape and the stride of what is added to it


class Member(NamedTuple):
    """An operand of some instructions, which all have one map."""

    operand: str  # D, A, B, C, E, ...
    axes: tuple[str, str]  # of its tile, in the order of an atom's layout: B is (n, k)
    select: tuple[tuple[str, str | int], ...]  # what the assembly text chooses, where the map depends on it
    mnemonics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """One map, and the operands that have it."""

    lanes: int  # or threads; of tensor memory its lanes
    values: int  # of each lane; of tensor memory the columns
    extent: tuple[int, int]  # of the tile, in the order of an atom's layout
    swapped: bool  # whether the ISA gives (y, x): of B it gives (k, n)
    members: tuple[Member, ...]  # the operands
    holds: tuple[int, ...]  # the lanes that contribute
    pieces: tuple[Sequence[Piece], Sequence[Piece]]  # of x and of y, at every value of these lanes

    def points(self) -> list[list[int]]:
        """Return the numbers x, and the numbers y, of the elements at every value of the lanes that contribute."""
        return list(map(numbers, self.pieces))


class Catalogue:
    """Lines: the mnemonics, then one for each map."""

    def __init__(self, text: str) -> None:
        mnemonics, *lines = text.splitlines()
        self._mnemonics = mnemonics.split()
        self._lines = [line.split(" ", 2) for line in lines]

    def of_size(self, lanes: int, values: int) -> list[Group]:
        """Return the maps in registers of so many lanes and values."""
        return self._some(REGISTERS, f"{lanes}x{values}")

    def of_tile(self, rows: int, columns: int) -> list[Group]:
        """Return the maps in tensor memory of so many rows and columns: (lane, value) is its (lane, column)."""
        return self._some(MEMORY, f"{rows}x{columns}")

    def sizes(self) -> set[tuple[int, ...]]:
        """Return the (lanes, values) of the maps in registers."""
        return {tuple(map(int, size.split("x"))) for where, size, _ in self._lines if where == REGISTERS}

    def groups(self) -> list[Group]:
        """Every map."""
        return [self._group(text) for _, _, text in self._lines]

    def _some(self, where: str, size: str) -> list[Group]:
        return [self._group(text) for *key, text in self._lines if key == [where, size]]

    def _group(self, text: str) -> Group:
        fields = json.loads(text)
        members = [
            Member(operand, tuple(axes), tuple(map(tuple, select)), tuple(self._mnemonics[at] for at in listed))
            for operand, axes, select, listed in fields["members"]
        ]
        lanes, values = fields["size"]
        holds = tuple(numbers(fields["holds"]))
        return Group(
            lanes, values, tuple(fields["extent"]), fields["swapped"], tuple(members), holds, (fields["x"], fields["y"])
        )


def numbers(pieces: Sequence[Piece]) -> list[int]:
    """Return the numbers of pieces: of each its first, and a layout's value at every index added to it.

    >>> numbers([(0, (4, 2), (2, 1)), (100, (), ())])
    [0, 2, 4, 6, 1, 3, 5, 7, 100]
    """
    listed: list[int] = []
    for first, shape, stride in pieces:
        listed += [first + number for number in every(tuple(shape), tuple(stride))]
    return listed
