# SPDX-License-Identifier: Apache-2.0
"""Pictures of index arithmetic, tables and bases: the elements of each operand with their lanes, beside the ISA's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from verify.atom.checker import permutations
from verify.core.verdict import Verdict
from verify.index.bind import BoundIndex, IndexOperand
from verify.index.whole import bound, maps_of
from verify.maps.fragment_map import MapError
from verify.pictures import maps
from verify.pictures.atoms import PLACES
from verify.pictures.picture import Panel, Picture


def of_index(subject: BoundIndex, verdicts: Sequence[Verdict]) -> Picture:
    """The picture of an entry with what the verdicts found wrong."""
    panels: list[Panel] = []
    notes: list[str] = []
    for part in subject.parts:
        wrong = [one for one in verdicts if one.claim.part == part.name and one.counterexample is not None]
        texts = [(one, one.counterexample) for one in wrong if one.counterexample is not None]
        notes += [f"{part.name} {one.status}: {'; '.join([at.statement, *at.damage])}" for one, at in texts]
        try:
            panels.append(_panel(part, texts[0][1].inputs if texts else {}))
        except MapError as error:
            notes.append(f"{part.name} is not drawn: {error}")
    if len(subject.parts) > 2 and (whole := maps_of(subject)):
        panels += permutations(bound(subject, whole), verdicts)
    return Picture(subject.name, tuple(panels), notes=tuple(notes), shades="thread")


def _panel(part: IndexOperand, wrong: Mapping[str, int]) -> Panel:
    """The operand by the user's map, and by the ISA's where they differ; lanes that do not contribute are left out."""
    if part.in_memory:
        raise MapError(f"it is in {part.operand.space}, only registers are")
    found, wanted = part.found.inverse() if part.inverse else part.found, part.wanted
    if wanted is not None and not wanted.total:
        found = found.restricted(wanted.images)
    point = tuple(wrong.get(axis.word, -1) for axis in found.inputs)
    element = tuple(wrong.get(axis.word, -1) for axis in found.outputs)
    marked = {image for one in (found, wanted) if one is not None for image in one.at(*point)} | {element}
    place = PLACES.get(part.name, (1, 1))
    return maps.tile(part.name, found, wanted, copies=part.operand.copies, marked=marked, place=place)
