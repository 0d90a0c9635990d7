# SPDX-License-Identifier: Apache-2.0
"""Pictures of index arithmetic, tables and bases: the elements of each operand with their lanes, beside the ISA's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from verify.atom.checker import permutations
from verify.core.verdict import Verdict
from verify.index.bind import BoundIndex, IndexOperand
from verify.index.whole import bind_whole, maps_of
from verify.maps.map import MapError
from verify.pictures import maps
from verify.pictures.operands import PLACES
from verify.pictures.picture import Panel, Picture, Window

SHADES = {"reg": "thread", "tmem": "lane of tensor memory", "smem": "byte / 16"}


def of_index(subject: BoundIndex, verdicts: Sequence[Verdict], window: Window) -> Picture:
    """Return the picture of an entry with what the verdicts found wrong."""
    panels: list[Panel] = []
    notes: list[str] = []
    for part in subject.parts:
        wrong = [
            verdict for verdict in verdicts if verdict.claim.part == part.name and verdict.counterexample is not None
        ]
        texts = [(verdict, verdict.counterexample) for verdict in wrong if verdict.counterexample is not None]
        notes += [f"{part.name} {verdict.status}: {'; '.join([at.statement, *at.damage])}" for verdict, at in texts]
        try:
            panels.append(_panel(part, texts[0][1].inputs if texts else {}, window))
        except MapError as error:
            notes.append(f"{part.name} is not drawn: {error}")
    if len(subject.parts) > 2 and (whole := maps_of(subject)):
        panels += permutations(bind_whole(subject, whole), verdicts, window)
    spaces = {part.operand.space: SHADES.get(part.operand.space, "place") for part in subject.parts}
    return Picture(subject.name, tuple(panels), notes=tuple(notes), shades=" or ".join(spaces.values()))


def _panel(part: IndexOperand, wrong: Mapping[str, int], window: Window) -> Panel:
    """Return the operand by the user's map, and by the ISA's where they differ.

    Lanes that do not contribute are left out.

    Of one in memory each element has its places.
    """
    mine, wanted, copies = part.given, part.wanted, part.operand.copies
    if part.in_memory and wanted is not None:  # which leads from elements to their places
        copies, wanted = max(map(len, wanted.images.values())), wanted.inverse()
        mine = mine.restrict(wanted.images) if part.inverse else mine.inverse()
    else:
        mine = mine.inverse() if part.inverse else mine
        mine = mine.restrict(wanted.images) if wanted is not None and not wanted.total else mine
    point = tuple(wrong.get(axis.word, -1) for axis in mine.inputs)
    element = tuple(wrong.get(axis.word, -1) for axis in mine.outputs)
    marked = {image for m in (mine, wanted) if m is not None for image in m.at(*point)} | {element}
    place = PLACES.get(part.name, (1, 1))
    return maps.tile(part.name, mine, wanted, copies=copies, marked=marked, window=window, place=place)
