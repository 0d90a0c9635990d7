# SPDX-License-Identifier: Apache-2.0
"""The picture of an atom: A left, B above, C below right, as CuTe draws them; the operands of a copy side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from verify.binding.atom import BoundAtom
from verify.core.verdict import Verdict
from verify.maps.map import Axis
from verify.maps.strided import of_layout
from verify.pictures import maps
from verify.pictures.operands import Drawn, grain, panel
from verify.pictures.picture import WHOLE, Panel, Picture, Window, shown

PLACES = {"": (0, 0), "A": (1, 0), "B": (0, 1), "C": (1, 1), "E": (2, 0), "SFA": (2, 1), "SFB": (3, 1)}
COPIED = {"Src": (0, 0), "Dst": (0, 1), "Ref": (0, 2)}


def of_atom(
    subject: BoundAtom,
    verdicts: Iterable[Verdict] = (),
    status: str = "",
    operands: Sequence[str] = (),
    window: Window = WHOLE,
) -> Picture:
    """The picture of an atom, or of some of its operands, with what the verdicts found wrong.

    >>> from layouts.atoms import registry
    >>> from verify.binding.atom import prepare
    >>> picture = of_atom(prepare(registry()["SM80_16x8x16_F32F16F16F32_TN"]))
    >>> [panel.name for panel in picture.panels], picture.panels[2].cells[9][3].lines
    (['A', 'B', 'C'], ('T5', 'V3'))
    """
    found = list(verdicts)
    panels, notes, together = [], [], grain(subject)
    for part in subject.parts:
        if operands and part.name not in operands:
            continue
        mine = [verdict for verdict in found if verdict.claim.part == part.name]
        drawn = Drawn(subject, part, mine, together, window)
        if drawn.unfit:
            notes.append(drawn.named(" " if part.well_formed else " = ", drawn.unfit))
        else:
            panels.append(panel(drawn, {**PLACES, **COPIED}[part.name]))
            notes += drawn.beyond()
        notes += drawn.notes()
    if subject.no_instruction:
        notes.append(f"compared with no instruction: {subject.no_instruction}")
    others = [v for v in found if v.claim.part not in {part.name for part in subject.parts}]
    notes += [f"{v.status}: {v.counterexample.statement}" for v in others if v.counterexample is not None]
    return Picture(subject.name, tuple(panels), status, tuple(notes), "thread")


def list_tables(subject: BoundAtom, window: Window = WHOLE) -> Iterator[Panel]:
    """Yield for each operand the elements of each (thread, value)."""
    for number, one in enumerate(one for one in subject.parts if one.well_formed):
        if one.layout is None:
            found = one.points
        else:
            tile, points = tuple(map(Axis, one.axes, one.extent)), shown(one.domain, window)
            found = of_layout(one.layout, tile, ("thread", "value"), part=points)
        heading = f"{one.name} (thread, value) -> ({', '.join(one.axes)})"
        yield maps.table(one.name, found, heading, window=window, place=(number, 0))
