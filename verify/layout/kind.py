# SPDX-License-Identifier: Apache-2.0
"""Layouts as a kind of subject: one layout as a map onto a tile, as an operand of an instruction, or as another one."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from verify.core.errors import SpecError, UsageError
from verify.core.verdict import Check
from verify.kind import LIKELY, Drawing, Kind, PropertyTable, Recognition, Reported, Resources
from verify.report import Report

if TYPE_CHECKING:
    from verify.pictures.picture import Picture, Window
    from verify.report import Case

SPELLING = re.compile(r"\s*(?:[\d(\[_]|Sw?<|cute::Layout|cute::make_|make_|Layout|ComposedLayout|Shape|[!#\"])")


@dataclass(frozen=True)
class LayoutQuestion:
    """A layout, and what it is compared with: its tile, another layout, or an operand of an instruction."""

    name: str  # its text
    onto: tuple[int, int] | None = None
    equals: str | None = None
    ptx: str | None = None
    operand: str | None = None


def recognize_spelling(text: str) -> Recognition | None:
    """Return a recognition of a text that begins as layouts do."""
    return Recognition(LIKELY, "it begins as a layout") if SPELLING.match(text) else None


def bind_keys(keys: Mapping[str, Any]) -> LayoutQuestion:
    """Return the question of the arguments of `verify_layout`. Raises UsageError, and SpecError if it asks nothing."""
    from verify.layout.reading import check_operand

    onto, equals, ptx, operand = (keys[name] for name in ("onto", "equals", "ptx", "operand"))
    check_operand(ptx, operand)
    if (onto is None and ptx is None) == (equals is None):
        raise SpecError("", "verify_layout: give onto or equals, one of the two; or ptx and operand")
    text = text_of(keys["layout"])
    if equals is not None:
        return LayoutQuestion(text, equals=text_of(equals))
    tile = (onto, 1) if isinstance(onto, int) else onto
    if onto is not None and not (
        isinstance(tile, tuple) and len(tile) == 2 and all(type(extent) is int and extent > 0 for extent in tile)
    ):
        raise SpecError("onto", f"verify_layout: expected a tile such as (16, 8) or 128, found {onto!r:.60}")
    return LayoutQuestion(text, tile, ptx=ptx, operand=operand)


def text_of(layout: object) -> str:
    """Return the text of a layout, or of an object of the CuTe DSL, pycute or tensor-layouts. Raises UsageError."""
    from layouts import LayoutError
    from layouts.pasted import from_object
    from verify.layout.reading import plain

    if isinstance(layout, str):
        return layout
    try:
        parsed = from_object(layout)
    except LayoutError as error:
        raise UsageError(str(error)) from error
    return str(parsed) if plain(parsed) or not hasattr(parsed, "stride") else str(layout)


def verifier(resources: Resources) -> Callable[[LayoutQuestion], Case]:
    """Return what answers one question after the other."""
    from verify.layout.command import compare, onto_tile

    checks = resources.checks & {Check.ISA, Check.PROOF}

    def answer(asked: LayoutQuestion) -> Case:
        if asked.equals is not None:
            report = compare(asked.name, asked.equals)
        elif asked.ptx is not None:
            from verify.layout.product import of_operand

            report = of_operand(asked.name, asked.ptx, asked.operand or "", asked.onto, checks)
        else:
            report = onto_tile(asked.name, asked.onto or (1, 1), checks)
        return report.cases[0]

    return answer


def report_layouts(
    what: Sequence[str],
    *,
    onto: tuple[int, int] | int | None = None,
    equals: object | None = None,
    ptx: str | None = None,
    operand: str | None = None,
    allow_exec: bool = False,
) -> Report:
    """Return the verdicts on layouts, each compared as the options say. Raises SpecError if they say nothing."""
    keys = {"onto": onto, "equals": equals, "ptx": ptx, "operand": operand}
    answer = verifier(Resources())
    return Report(tuple(answer(bind_keys({"layout": text, **keys})) for text in what))


def draw(text: str, options: Namespace) -> Picture | Case:
    """Draw a layout as the options of `show` say."""
    from verify.layout.drawing import of_options

    return of_options(text, options)


def redraw(reported: Reported, resources: Resources, window: Window) -> Picture | None:
    """Draw the layout of a report; None for another subject, which has layouts."""
    from verify.layout.drawing import of_report

    return None if reported.layouts else of_report(reported, window)


def tables() -> Sequence[PropertyTable]:
    """Return the properties of a layout alone; as an operand it has those of an atom's."""
    from verify.layout.properties import LAYOUT as SORT
    from verify.layout.properties import PROPERTIES

    return (PropertyTable("own-maps/layouts.md", SORT, PROPERTIES),)


LAYOUT: Kind[LayoutQuestion] = Kind(
    name="layout",
    singular="a layout",
    plural="layouts",
    argument="a layout in quotes",
    example=("((4,8),(2,2)):((32,1),(16,8))", "--onto", "16x8"),
    command="verify.layout.command",
    spelled=recognize_spelling,
    from_keys=bind_keys,
    report=report_layouts,
    verifier=verifier,
    tables=tables,
    redraw=redraw,
    drawing=Drawing(draw, ("onto", "ptx", "table", "banks")),
)
