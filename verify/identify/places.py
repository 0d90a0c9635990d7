# SPDX-License-Identifier: Apache-2.0
"""Every map of an operand in tensor memory, from the formulas of the ISA tables, with the operands that have it.

Only places of a lane and a column are compared: not scale factors, whose elements are bytes of a column, nor what two
CTAs have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

import isa_tables
from isa_tables.tables import SHIPPED
from verify.identify.groups import Member

CHOSEN = ("M", "N", "K")  # selections that are the extents of a tile
Tile = tuple[int, int]
Members = dict[tuple[str, tuple[str, str]], dict[str, None]]  # operand and its axes -> mnemonics


def tables() -> Iterator[tuple[Tile, Any, tuple[Member, ...]]]:
    """Yield the rows and columns of each map, its elements [lane, column, coordinate] with -1 where there is none, and
    whose.

    Formulas that differ may be one map.
    """
    maps: dict[tuple[Tile, bytes], tuple[Any, Members]] = {}
    for operand, members in _formulas():
        if (table := _table(operand)) is not None:
            key = operand.extent, repr(table.shape).encode() + table.tobytes()
            _, known = maps.setdefault(key, (table, {}))
            for member, mnemonics in members.items():
                known.setdefault(member, {}).update(mnemonics)
    for (extent, _), (table, known) in sorted(maps.items(), key=lambda row: row[0][0]):
        yield extent, table, tuple(Member(name, axes, (), tuple(names)) for (name, axes), names in known.items())


def _formulas() -> Sequence[tuple[isa_tables.Operand, Members]]:
    """One operand for each formula of a tile's places, and all that have it."""
    formulas: dict[Any, tuple[isa_tables.Operand, Members]] = {}
    for mnemonic in isa_tables.mnemonics("tcgen05.*"):
        plain = isa_tables.instruction(mnemonic)
        if not any(operand.placed for operand in plain.operands.values()):
            continue
        choices = plain.signature.select
        for words in product(*choices.values()):
            chosen = dict(zip(choices, words, strict=True))
            for operand in isa_tables.instruction(mnemonic, SHIPPED, **chosen).operands.values():
                if operand.placed and _of_tile(operand.extent, chosen, choices):
                    texts = tuple(
                        (name, formula.text) for name, formula in (*operand.let.items(), *operand.maps.items())
                    )
                    used = tuple((name, operand.param[name]) for name in sorted(operand.uses))
                    _, members = formulas.setdefault((operand.extent, texts, used, operand.copies), (operand, {}))
                    members.setdefault((operand.name, operand.axes), {})[mnemonic] = None
    return list(formulas.values())


def _of_tile(tile: Tile, chosen: Mapping[str, Any], choices: Mapping[str, Sequence[Any]]) -> bool:
    """Whether what is chosen for M, N and K are extents of a tile wherever they can be."""
    return all(
        chosen[name] in tile or not any(word in tile for word in choices[name]) for name in CHOSEN if name in chosen
    )


def _table(operand: isa_tables.Operand) -> Any:
    """Return the element at each lane and column.

    None where a place has more coordinates, or an element several places.
    """
    x, y = np.indices(operand.extent)
    where = operand.place(x, y)
    coordinates = [where[name] for name in where if name not in ("lane", "column")]
    if operand.copies > 1 or any(coordinate.any() for coordinate in coordinates):
        return None
    lane, column = where["lane"], where["column"]
    table = np.full((int(lane.max()) + 1, int(column.max()) + 1, 2), -1, dtype=np.int64)
    table[lane, column] = np.stack([x, y], axis=-1)
    return table
