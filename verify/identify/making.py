# SPDX-License-Identifier: Apache-2.0
"""Makes the lines of `verify.identify.catalogue` from the formulas of the ISA tables.

Operands with the same element at every (lane, value) have one map, however their formulas are written.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

import isa_tables
from gpu_checks.device import cache
from isa_tables.tables import SHIPPED
from layouts.fit import modes_of
from verify.binding.coordinates import SWAPPED
from verify.identify import places
from verify.identify.groups import MEMORY, REGISTERS, Group, Member, Piece, numbers

MATRICES = ("D", "C", "A", "B")
Found = dict[tuple[Any, ...], dict[tuple[Any, ...], list[str]]]  # map -> operand -> mnemonics


def keep_text(name: str) -> str:
    """Return the lines of that digest as they are kept on disk, made and kept if they are not yet."""
    kept = cache.fetch(name)
    if kept is None:
        kept = text().encode()
        cache.keep(name, kept)
    return kept.decode()


def text() -> str:
    """Every map of the ISA tables as the lines of a `Catalogue`."""
    lines = [(f"{REGISTERS} {group.lanes}x{group.values}", group) for group in in_registers()]
    lines += [(f"{MEMORY} {group.extent[0]}x{group.extent[1]}", group) for group in in_memory()]
    names = sorted({name for _, group in lines for member in group.members for name in member.mnemonics})
    number = {name: at for at, name in enumerate(names)}
    return "".join([f"{' '.join(names)}\n", *(f"{start} {line(group, number)}\n" for start, group in lines)])


def line(group: Group, number: Mapping[str, int]) -> str:
    """Return a map as a line, without its first two words; `number` has the numbers of the mnemonics."""
    members = [(*member[:3], [number[name] for name in member.mnemonics]) for member in group.members]
    x, y = group.pieces
    return json.dumps(
        {
            "size": [group.lanes, group.values],
            "extent": group.extent,
            "swapped": group.swapped,
            "holds": pieces(group.holds),
            "x": x,
            "y": y,
            "members": members,
        },
        separators=(",", ":"),
    )


def pieces(listed: Sequence[int]) -> list[Piece]:
    """Numbers as pieces: one where they are a layout's values added to the first, else those of each half.

    >>> pieces([5, 6, 9, 10]), pieces([0, 1, 5, 4])
    ([(5, [2, 2], [1, 4])], [(0, [2], [1]), (5, [2], [-1])])
    """
    if not listed:
        return []
    shape, stride = modes_of([number - listed[0] for number in listed])
    whole: list[Piece] = [(listed[0], shape, stride)]
    half = len(listed) // 2
    return whole if numbers(whole) == list(listed) else [*pieces(listed[:half]), *pieces(listed[half:])]


def group_of(points: Any, holds: Any, extent: tuple[int, int], swapped: bool, members: Iterable[Member]) -> Group:
    """Return the group of an array of points [lane, value, coordinate]."""
    lanes, values, _ = points.shape
    x, y = (pieces(points[holds][..., axis].ravel().tolist()) for axis in (0, 1))
    return Group(lanes, values, extent, swapped, tuple(members), tuple(np.flatnonzero(holds).tolist()), (x, y))


def in_registers() -> list[Group]:
    """Every map of an operand in registers."""
    groups: Found = {}
    evaluated: dict[tuple[Any, ...], bytes] = {}
    operands: dict[tuple[Any, ...], isa_tables.Operand] = {}
    for mnemonic in isa_tables.mnemonics("*"):
        for select, operand in _operands(mnemonic):
            formulas = _formulas(operand)
            if formulas not in evaluated:
                points, holds = _points(operand)
                evaluated[formulas] = np.where(holds[:, None, None], points, -1).tobytes()
            swapped = operand.name in SWAPPED
            extent = _order_pair(operand.extent, swapped)
            key = operand.lanes, operand.values, extent, swapped, evaluated[formulas]
            operands.setdefault(key, operand)
            members = groups.setdefault(key, {})
            members.setdefault((operand.name, _order_pair(operand.axes, swapped), select), []).append(mnemonic)
    listed = []
    for key, members in groups.items():
        _, _, extent, swapped, _ = key
        points, holds = _points(operands[key])
        listed.append(group_of(points[..., :: -1 if swapped else 1], holds, extent, swapped, _members(members)))
    return sorted(listed, key=lambda group: (group.lanes, group.values, group.extent, group.members))


def in_memory() -> list[Group]:
    """Every map of an operand in tensor memory; lanes of it without an element do not contribute."""
    groups = []
    for extent, table, members in places.tables():
        holds = (table >= 0).all(axis=(1, 2))
        if not holds.any() or (table[~holds] >= 0).any():
            raise ValueError(f"a lane of {members} has elements in some columns alone: they would not be compared")
        groups.append(group_of(table, holds, extent, False, members))
    return groups


def _members(operands: Mapping[tuple[Any, ...], list[str]]) -> list[Member]:
    """Return the operands of a map: those of a product, then scales, metadata, the registers of loads and stores."""

    def order(member: Member) -> tuple[Any, ...]:
        return MATRICES.index(member.operand) if member.operand in MATRICES else len(MATRICES), member

    return sorted(
        (Member(operand, axes, select, tuple(names)) for (operand, axes, select), names in operands.items()), key=order
    )


def _operands(mnemonic: str) -> Iterator[tuple[tuple[tuple[str, str | int], ...], isa_tables.Operand]]:
    """Yield the operands in registers with a formula, for each choice of the assembly text on which one depends."""
    plain = isa_tables.instruction(mnemonic)
    seen = set()
    for words in product(*plain.signature.select.values()):
        chosen = dict(zip(plain.signature.select, words, strict=True))
        instruction = isa_tables.instruction(mnemonic, SHIPPED, **chosen) if chosen else plain
        for operand in instruction.operands.values():
            if operand.space != "reg" or operand.placed or operand.unspecified or not operand.maps:
                continue
            used = _list_used_parameters(operand) | {f"{operand.name}_space"}
            needed = tuple((name, word) for name, word in chosen.items() if name in used)
            if (operand.name, needed) not in seen:
                seen.add((operand.name, needed))
                yield needed, operand


def _list_used_parameters(operand: isa_tables.Operand) -> frozenset[str]:
    """Return the parameters on which a map depends, and on which the lanes do that contribute."""
    formulas = (*operand.maps.values(), *operand.let.values())
    return frozenset().union(*(formula.names for formula in formulas))


def _formulas(operand: isa_tables.Operand) -> tuple[Any, ...]:
    """Equal for operands with the same formulas."""
    texts = tuple((name, formula.text) for name, formula in (*operand.let.items(), *operand.maps.items()))
    used = tuple((name, operand.param[name]) for name in sorted(_list_used_parameters(operand) & operand.param.keys()))
    return operand.lanes, operand.values, operand.extent, texts, used


def _points(operand: isa_tables.Operand) -> tuple[Any, Any]:
    """Return the element (row, column) of each lane and value, evaluated; and which lanes contribute."""
    lane = np.arange(operand.lanes)
    located = operand.locate(lane[:, None], np.arange(operand.values)[None, :])
    return np.stack(located, axis=-1), np.broadcast_to(operand.holds(lane), lane.shape)


def _order_pair(pair: tuple[Any, Any], swapped: bool) -> tuple[Any, Any]:
    return (pair[1], pair[0]) if swapped else pair
