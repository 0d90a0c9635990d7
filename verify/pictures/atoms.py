# SPDX-License-Identifier: Apache-2.0
"""The picture of an atom: A left, B above, C below right, as CuTe draws them; the operands of a copy side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from layouts import Layout
from verify.binding.bound import BoundMaps
from verify.binding.copy import BYTE, Carried
from verify.core.digits import halves, modes
from verify.core.verdict import Verdict
from verify.evidence.isa import lanes_of
from verify.maps.map import Axis
from verify.maps.strided import of_layout
from verify.pictures import maps
from verify.pictures.operands import Drawn, NumberedFormula, draw_operands
from verify.pictures.picture import WHOLE, Panel, Picture, Window, choose_shown


def of_atom(
    subject: BoundMaps,
    verdicts: Iterable[Verdict] = (),
    status: str = "",
    operands: Sequence[str] = (),
    window: Window = WHOLE,
) -> Picture:
    """Return the picture of an atom, or of some of its operands, with what the verdicts found wrong.

    >>> from layouts.atoms import registry
    >>> from verify.binding.atom import prepare
    >>> picture = of_atom(prepare(registry()["SM80_16x8x16_F32F16F16F32_TN"]))
    >>> [panel.name for panel in picture.panels], picture.panels[2].cells[9][3].lines
    (['A', 'B', 'C'], ('T5', 'V3'))
    """
    all_verdicts = list(verdicts)
    runs = [_find_run(part.layout) for part in subject.parts if part.layout is not None]
    together = grain(subject)
    drawn = [
        Drawn(
            part, subject.multiplicity(part), [verdict for verdict in all_verdicts if verdict.claim.part == part.name],
            tuple(_formulas(subject, part.name)), together, max(runs, default=1), window,
        )
        for part in subject.parts
        if not operands or part.name in operands
    ]  # fmt: skip
    picture = draw_operands(subject.name, drawn, status)
    notes = [f"compared with no instruction: {subject.no_instruction}"] if subject.no_instruction else []
    without_part = [v for v in all_verdicts if v.claim.part not in {part.name for part in subject.parts}]
    notes += [f"{v.status}: {v.counterexample.statement}" for v in without_part if v.counterexample is not None]
    return replace(picture, notes=(*picture.notes, *notes))


def _formulas(subject: BoundMaps, name: str) -> Iterator[NumberedFormula]:
    """Yield the formulas of an operand, of each instruction and replica of the threads."""
    for view in subject.views:
        part = next((part for part in view.parts if part.name == name), None)
        for formula in part.formulas if part is not None and view.thr is not None else ():
            for replica in range(view.rep_size):
                yield NumberedFormula(formula, lanes_of(view, replica))


def grain(subject: BoundMaps) -> int:
    """Return the bits of a copy that stay together by each layout and formula, a power of two; 1 for no copy."""
    if any(len(part.axes) > 1 or part.layout is None for part in subject.parts):
        return 1
    bits = 0
    for view in subject.views:
        for part in view.parts:
            bits |= _find_run(part.layout_of_text)
            for formula in part.formulas:
                if isinstance(formula, Carried):  # an element of the instruction stays together
                    bits |= formula.operand.bits | formula.memory.bits | (BYTE if formula.adapter is not None else 0)
    return bits & -bits


def _find_run(layout: Layout) -> int:
    """Return the largest power of two so that a thread's values are runs of so many bits, each at a multiple of it.

    >>> _find_run(Layout.parse("(32,(32,4)):(32,(1,1024))"))
    32
    """
    threads, values = (list(modes(*half)) for half in halves(layout))
    run, strides = 1, [stride for extent, stride in threads if extent > 1]
    for extent, stride in values:
        if stride == run and len(strides) == sum(extent > 1 for extent, _ in threads):
            run *= extent
        elif extent > 1:
            strides.append(stride)
    bits = run
    for stride in strides:
        bits |= stride
    return bits & -bits


def list_tables(subject: BoundMaps, window: Window = WHOLE) -> Iterator[Panel]:
    """Yield for each operand the elements of each (thread, value)."""
    for number, part in enumerate(part for part in subject.parts if part.well_formed):
        if part.layout is None:
            mapping = part.points
        else:
            tile, points = tuple(map(Axis, part.axes, part.extent)), choose_shown(part.domain, window)
            mapping = of_layout(part.layout, tile, ("thread", "value"), part=points)
        heading = f"{part.name} (thread, value) -> ({', '.join(part.axes)})"
        yield maps.table(part.name, mapping, heading, window=window, place=(number, 0))
