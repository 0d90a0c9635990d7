# SPDX-License-Identifier: Apache-2.0
"""Every map of an operand in registers that the ISA tables have, each once, with the operands that have it.

Thousands of operands have about two hundred maps. `catalogue.cache` has their sizes and operands, so that a search
evaluates formulas of maps of one size alone; it has no points. It is sealed with the digest of the tables, of the code
that made it and of its own content (`lanecheck_console.digests`): any other file is not used, and the list is made
anew, which takes some seconds.

`python -m verify.identify.catalogue` writes the file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import isa_tables
from isa_tables.tables import SHIPPED
from lanecheck_console.digests import name_of, sealed, unsealed
from layouts.arrays import np
from verify.binding.coordinates import SWAPPED

ROOT = Path(__file__).parents[2]
FILE = Path(__file__).with_name("catalogue.cache")
CODE = (
    "isa_tables/*.py",
    "isa_tables/schema.toml",
    "layouts/arrays.py",
    "verify/binding/coordinates.py",
    "verify/identify/catalogue.py",
)  # what makes and reads the list
MATRICES = ("D", "C", "A", "B")
Points = Any  # an int64 array [lane, value, coordinate]


class Member(NamedTuple):
    """An operand of some instructions, which all have one map."""

    operand: str  # D, A, B, C, E, ...
    axes: tuple[str, str]  # of its tile, in the order of an atom's layout: B is (n, k)
    select: tuple[tuple[str, str | int], ...]  # what the assembly text chooses, where the map depends on it
    mnemonics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """One map, and the operands that have it."""

    lanes: int
    values: int  # of each lane
    extent: tuple[int, int]  # of the tile, in the order of an atom's layout
    swapped: bool  # whether the ISA gives (y, x): of B it gives (k, n)
    members: tuple[Member, ...]

    @property
    def operand(self) -> isa_tables.Operand:
        """One operand that has the map, with its formulas."""
        first = self.members[0]
        return isa_tables.instruction(first.mnemonics[0], SHIPPED, **dict(first.select)).operands[first.operand]

    def points(self) -> tuple[Points, Any]:
        """The element (x, y) of each (lane, value), evaluated; and which lanes contribute."""
        operand = self.operand
        lane = np.arange(self.lanes)
        found = operand.locate(lane[:, None], np.arange(self.values)[None, :])
        holds = np.broadcast_to(operand.holds(lane), lane.shape)
        return np.stack(found[::-1] if self.swapped else found, axis=-1), holds


def files() -> Iterator[Path]:
    """All that the list is made from: the shipped ISA tables and the code."""
    yield from sorted(SHIPPED.glob("*.toml"))
    for pattern in CODE:
        yield from sorted(ROOT.glob(pattern))


def name() -> str:
    """The digest of all that the list is made from."""
    return name_of(*(part for path in files() for part in (path.relative_to(ROOT).as_posix(), path.read_bytes())))


def groups() -> Sequence[Group]:
    """Every map of the ISA tables: read, or made anew where the file is not what is made."""
    try:
        content = unsealed(name(), FILE.read_bytes())
    except OSError:
        content = None
    return made() if content is None else _read(content)


def _read(content: bytes) -> list[Group]:
    """The groups of a file that was not changed."""
    data = json.loads(content)
    names = data["mnemonics"]
    return [
        Group(
            one["size"][0],
            one["size"][1],
            tuple(one["extent"]),
            one["swapped"],
            tuple(
                Member(operand, tuple(axes), tuple(map(tuple, select)), tuple(names[number] for number in numbers))
                for operand, axes, select, numbers in one["members"]
            ),
        )
        for one in data["maps"]
    ]


def made() -> list[Group]:
    """Every map of the ISA tables, from their formulas: those with the same element at every (lane, value) are one."""
    found: dict[tuple[Any, ...], dict[tuple[Any, ...], list[str]]] = {}
    evaluated: dict[tuple[Any, ...], bytes] = {}
    for mnemonic in isa_tables.mnemonics("*"):
        for select, operand in _operands(mnemonic):
            key = _formulas(operand)
            if key not in evaluated:
                evaluated[key] = _bytes(operand)
            swapped = operand.name in SWAPPED
            size = (operand.lanes, operand.values, _ordered(operand.extent, swapped), swapped)
            members = found.setdefault((*size, evaluated[key]), {})
            members.setdefault((operand.name, _ordered(operand.axes, swapped), select), []).append(mnemonic)
    listed = [
        Group(lanes, values, extent, swapped, _members(members))
        for (lanes, values, extent, swapped, _), members in found.items()
    ]
    return sorted(listed, key=lambda one: (one.lanes, one.values, one.extent, one.members))


def _members(found: Mapping[tuple[Any, ...], list[str]]) -> tuple[Member, ...]:
    """The operands of a map: those of a product, then scales, metadata, the registers of loads and stores."""

    def order(member: Member) -> tuple[Any, ...]:
        return MATRICES.index(member.operand) if member.operand in MATRICES else len(MATRICES), member

    return tuple(
        sorted(
            (Member(operand, axes, select, tuple(names)) for (operand, axes, select), names in found.items()), key=order
        )
    )


def _operands(mnemonic: str) -> Iterator[tuple[tuple[tuple[str, str | int], ...], isa_tables.Operand]]:
    """The operands in registers with a formula, for each choice of the assembly text on which one depends."""
    plain = isa_tables.instruction(mnemonic)
    seen = set()
    for words in product(*plain.signature.select.values()):
        chosen = dict(zip(plain.signature.select, words, strict=True))
        instruction = isa_tables.instruction(mnemonic, SHIPPED, **chosen) if chosen else plain
        for operand in instruction.operands.values():
            if operand.space != "reg" or operand.placed or operand.unspecified or not operand.maps:
                continue
            used = _used(operand) | {f"{operand.name}_space"}
            needed = tuple((name, word) for name, word in chosen.items() if name in used)
            if (operand.name, needed) not in seen:
                seen.add((operand.name, needed))
                yield needed, operand


def _used(operand: isa_tables.Operand) -> frozenset[str]:
    """The parameters on which a map depends, and on which the lanes do that contribute."""
    formulas = (*operand.maps.values(), *operand.let.values())
    return frozenset().union(*(formula.names for formula in formulas))


def _formulas(operand: isa_tables.Operand) -> tuple[Any, ...]:
    """Equal for operands with the same formulas."""
    texts = tuple((name, formula.text) for name, formula in (*operand.let.items(), *operand.maps.items()))
    used = tuple((name, operand.param[name]) for name in sorted(_used(operand) & operand.param.keys()))
    return operand.lanes, operand.values, operand.extent, texts, used


def _bytes(operand: isa_tables.Operand) -> bytes:
    """The element of every lane that contributes and value, as bytes."""
    lane = np.arange(operand.lanes)
    row, column = operand.locate(lane[:, None], np.arange(operand.values)[None, :])
    holds = np.broadcast_to(operand.holds(lane), lane.shape)[:, None]
    return np.stack([np.where(holds, row, -1), np.where(holds, column, -1)]).astype(np.int64).tobytes()


def _ordered(pair: tuple[Any, Any], swapped: bool) -> tuple[Any, Any]:
    return (pair[1], pair[0]) if swapped else pair


def entry(found: Sequence[Group]) -> bytes:
    """The file of some groups: a line for each map, the mnemonics by their numbers."""
    names = sorted({name for group in found for member in group.members for name in member.mnemonics})
    number = {name: at for at, name in enumerate(names)}
    lines = [
        json.dumps(
            {
                "size": [group.lanes, group.values],
                "extent": group.extent,
                "swapped": group.swapped,
                "members": [(*member[:3], [number[name] for name in member.mnemonics]) for member in group.members],
            },
            separators=(",", ":"),
        )
        for group in found
    ]
    text = f'{{"mnemonics": {json.dumps(names)}, "maps": [\n' + ",\n".join(lines) + "\n]}\n"
    return sealed(name(), text.encode())


if __name__ == "__main__":
    FILE.write_bytes(entry(made()))
