# SPDX-License-Identifier: Apache-2.0
"""Every map of an operand of some rows and columns in tensor memory, each once, with the operands that have it.

Only places of a lane and a column are compared: not scale factors, whose elements are bytes of a column, nor what two
CTAs have.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import isa_tables
from isa_tables.tables import SHIPPED
from layouts.arrays import np
from verify.identify.catalogue import Group, Member
from verify.index import memory
from verify.maps.fragment_map import FragmentMap

CHOSEN = ("M", "N", "K")  # selections that are the extents of a tile


@dataclass(frozen=True, slots=True)
class Placed(Group):
    """A map (lane, column) -> element of tensor memory, and the operands that have it."""

    found: FragmentMap

    def points(self) -> tuple[Any, Any]:
        """The element at each lane and column; lanes without one hold nothing."""
        table = np.full((self.lanes, self.values, 2), -1, dtype=np.int64)
        for (lane, column), (element,) in self.found.images.items():
            table[lane, column] = element
        return table, (table >= 0).all(axis=(1, 2))


def groups(tile: tuple[int, int]) -> list[Group]:
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
    maps: dict[Any, tuple[FragmentMap, dict[Any, dict[str, None]]]] = {}
    for operand, members in found:
        where = memory.reference(operand, {})
        if memory.keys(where) != ["lane", "column"] or not where.functional:
            continue
        back = where.inverse()
        _, known = maps.setdefault(tuple(sorted(back.images.items())), (back, {}))
        for member, mnemonics in members.items():
            known.setdefault(member, {}).update(mnemonics)
    return [
        Placed(
            back.inputs[0].extent,
            back.inputs[1].extent,
            (back.outputs[0].extent, back.outputs[1].extent),
            False,
            tuple(Member(operand, axes, (), tuple(names)) for (operand, axes), names in members.items()),
            back,
        )
        for back, members in maps.values()
        if back.functional
    ]
