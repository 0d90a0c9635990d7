# SPDX-License-Identifier: Apache-2.0
"""The picture of an instruction of the PTX ISA: where the tables have each element, in registers and tensor memory."""

from __future__ import annotations

from dataclasses import replace

import isa_tables
from verify.core.errors import UsageError
from verify.maps import short_names
from verify.maps.fragment_map import FragmentMap
from verify.maps.map import MapError
from verify.pictures import maps
from verify.pictures.picture import WHOLE, Panel, Picture, Window

DESCRIBED = "a matrix descriptor says: draw a movement with `descriptor`, or a map with `memory`"
PLACES = {"A": (1, 0), "B": (0, 1), "D": (1, 1), "C": (1, 2)}


def of_instruction(mnemonic: str, window: Window = WHOLE) -> Picture:
    """Return the operands of a mnemonic that the tables map; UsageError for one that they do not have.

    >>> picture = of_instruction("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
    >>> [panel.name for panel in picture.panels], picture.panels[0].cells[9][3].text
    (['D', 'A', 'B', 'C'], 'T5 V3')
    """
    try:
        instruction = short_names.find_instruction("", mnemonic, (), isa_tables.instruction)
    except isa_tables.IsaError as error:
        raise UsageError(str(error)) from error
    panels: list[Panel] = []
    notes: list[str] = [
        f"PTX ISA {instruction.section}",
        *filter(None, [short_names.describe(mnemonic, [*instruction.operands])]),
    ]
    for number, (name, operand) in enumerate(instruction.operands.items()):
        place = PLACES.get(name, (2 + number // 3, number % 3))
        if operand.layouts is not None:
            notes.append(f"{name} is {operand.text()}: which one, {DESCRIBED}")
            continue
        try:
            points = FragmentMap.from_operand(operand)
        except (isa_tables.IsaError, MapError) as error:
            notes.append(f"{name} is not drawn: {error}")
            continue
        panels.append(_panel(name, operand, points, place, window))
    return Picture(mnemonic, tuple(panels), notes=tuple(notes), shades="thread")


def _panel(
    name: str, operand: isa_tables.Operand, points: FragmentMap, place: tuple[int, int], window: Window
) -> Panel:
    """Return the owners of an operand's elements in registers, or the elements of each place in tensor memory."""
    lines = tuple(f"  {line}" for line in operand.text().splitlines())
    if not operand.placed:
        panel = maps.tile(name, points, copies=operand.copies, window=window, place=place)
        return replace(panel, captions=(f"{name}:", *lines))
    return replace(maps.memory(name, points, window, place), captions=(f"{name} in {operand.space}:", *lines))
