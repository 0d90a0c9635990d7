# SPDX-License-Identifier: Apache-2.0
"""Pictures of a layout alone: on its tile, and beside another layout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from verify.core.verdict import Counterexample, Verdict
from verify.layout.properties import LayoutOnTile
from verify.layout.reading import map_pair, read_small
from verify.pictures import maps
from verify.pictures.operands import Drawn, draw_operands
from verify.pictures.picture import WHOLE, Picture, Window
from verify.pictures.picture import choose_shown as list_shown


def draw_on_tile(laid: LayoutOnTile, verdicts: Sequence[Verdict], window: Window) -> Picture:
    """Return the picture of a layout on its tile: it isn't an operand of an instruction, and is compared with none."""
    picture = draw_operands(laid.name, [Drawn(laid.part, verdicts=verdicts, window=window)])
    panels = (replace(panel, captions=()) for panel in picture.panels)
    return replace(picture, panels=tuple(panels))


def draw_difference(text: str, against: str, wrong: Counterexample | None, window: Window) -> Picture:
    """Return the picture of what a layout gives each point, and what another gives it where that differs.

    If it is too large to be shown whole, and no window is chosen, the counterexample is in it.
    """
    mine, theirs = map_pair(read_small(text), read_small(against))
    if window == WHOLE:
        threads, values = (axis.extent for axis in mine.inputs)
        (rows, columns), at = list_shown((threads, values)), wrong.inputs if wrong is not None else {}
        thread, value = at.get("thread", 0), at.get("value", 0)
        window = (
            range(thread if thread not in rows else 0, threads),
            range(value if value not in columns else 0, values),
        )
    panel = maps.table("", mine, f"{text} at each point", wanted=theirs, window=window)
    return Picture(text, (panel,), shades="thread", expected=f"what {against} has there")
