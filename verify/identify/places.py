# SPDX-License-Identifier: Apache-2.0
"""Every map of an operand of some rows and columns in tensor memory, each once, with the operands that have it.

Only places of a lane and a column are compared: not scale factors, whose elements are bytes of a column, nor what two
CTAs have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any

import isa_tables
from isa_tables.tables import SHIPPED
from layouts.arrays import np
from verify.identify.catalogue import Group, Member

CHOSEN = ("M", "N", "K")  # selections that are the extents of a tile


@dataclass(frozen=True, slots=True, eq=False)
class Placed(Group):
    """A map (lane, column) -> element of tensor memory, and the operands that have it."""

    table: Any  # the element at each lane and column, -1 where there is none

    def points(self) -> tuple[Any, Any]:
        """The element at each lane and column; lanes without one hold nothing."""
        return self.table, (self.table >= 0).all(axis=(1, 2))


@lru_cache(maxsize=4)
def groups(tile: tuple[int, int]) -> Sequence[Group]:
    """The maps of all operands in tensor memory with so many rows and columns."""
    formulas: dict[Any, tuple[isa_tables.Operand, dict[Any, dict[str, None]]]] = {}
    for mnemonic in isa_tables.mnemonics("tcgen05.*"):
        plain = isa_tables.instruction(mnemonic)
        if not any(one.placed for one in plain.operands.values()):
            continue
        choices = plain.signature.select
        words = [
            [word for word in several if word in tile] or several if name in CHOSEN else several
            for name, several in choices.items()
        ]
        for combination in product(*words):
            chosen = dict(zip(choices, combination, strict=True))
            for operand in isa_tables.instruction(mnemonic, SHIPPED, **chosen).operands.values():
                if operand.placed and operand.extent == tile:
                    texts = (*operand.let.items(), *operand.maps.items())
                    used = tuple((name, operand.param[name]) for name in sorted(operand.uses))
                    key = tuple((name, formula.text) for name, formula in texts), used, operand.copies
                    _, members = formulas.setdefault(key, (operand, {}))
                    members.setdefault((operand.name, operand.axes), {})[mnemonic] = None
    return _joined(list(formulas.values()))


def _joined(found: list[tuple[isa_tables.Operand, dict[Any, dict[str, None]]]]) -> list[Group]:
    """One group for each map; formulas that differ may be one map."""
    maps: dict[bytes, tuple[Any, dict[Any, dict[str, None]]]] = {}
    for operand, members in found:
        if (table := _table(operand)) is not None:
            _, known = maps.setdefault(repr(table.shape).encode() + table.tobytes(), (table, {}))
            for member, mnemonics in members.items():
                known.setdefault(member, {}).update(mnemonics)
    extent = found[0][0].extent if found else (0, 0)
    return [
        Placed(
            lanes=table.shape[0],
            values=table.shape[1],
            extent=extent,
            swapped=False,
            members=tuple(Member(name, axes, (), tuple(names)) for (name, axes), names in known.items()),
            table=table,
        )
        for table, known in maps.values()
    ]


def _table(operand: isa_tables.Operand) -> Any:
    """The element at each lane and column; None where a place has more coordinates, or an element several places."""
    x, y = np.indices(operand.extent)
    where = operand.place(x, y)
    others = [where[name] for name in where if name not in ("lane", "column")]
    if operand.copies > 1 or any(one.any() for one in others):
        return None
    lane, column = where["lane"], where["column"]
    table = np.full((int(lane.max()) + 1, int(column.max()) + 1, 2), -1, dtype=np.int64)
    table[lane, column] = np.stack([x, y], axis=-1)
    return table
