# SPDX-License-Identifier: Apache-2.0
"""Pictures of a report that `--format json` wrote: its atoms with its verdicts; nothing is checked again.

An atom of the report is the entry of the registry, or of `--atoms FILE`, that has its name and its layouts. Without
such an entry its layouts are drawn alone, onto the tiles that the report's claims name. Of a subject that a report does
not have, such as the access of a movement, it names the command that draws it.
"""

from __future__ import annotations

import json
import re
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from layouts import Layout, LayoutError, size
from verify import kinds
from verify.binding.axes import AXES
from verify.binding.bound import thread_value
from verify.binding.operand import BoundOperand, map_layout
from verify.core.errors import Exit, UsageError
from verify.core.verdict import Claim, Counterexample, ProductOperand, Property, Status, Verdict, WrongProduct
from verify.kind import Reported, Resources
from verify.pictures import maps, points
from verify.pictures.operands import Drawn, draw_operands
from verify.pictures.picture import MOST, Panel, Picture, Window
from verify.pictures.products import of_product
from verify.report.as_json import SCHEMA
from verify.report.loaded import LoadedFiles
from verify.show.options import window

# of an atom and of a tiling: the claim from which an operand's tile and number of owners are read
RELABELLED = re.compile(r"([mnk])' = (\S{1,400}) of \1\b")
OWNERS = re.compile(r"gives each element of (\d{1,6})x(\d{1,6}) \(\w+,\w+\) (one|\d{1,6}) owners?\b")


def of_report(path: Path, own: LoadedFiles[Any], options: Namespace) -> tuple[list[Picture], Exit]:
    """Return the pictures of the subjects of a report, and its exit code. Raise UsageError for any other file."""
    document = _read_report(path)
    subjects = [subject for subject in document["subjects"] if not options.only or subject["name"] in options.only]
    if not subjects:
        raise UsageError(f"{path}: it has no subject{' of this name' * bool(options.only)} to draw")
    resources = Resources(atoms={atom.name: atom for atom in own.items} or None)
    return [_of_subject(subject, resources, options) for subject in subjects], Exit(document["exit"])


def _read_report(path: Path) -> Mapping[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not JSON: {error}") from error
    if not isinstance(document, dict) or document.get("schema") != SCHEMA or "subjects" not in document:
        raise UsageError(f"{path}: expected a report with schema {SCHEMA}, as `lanecheck atom --format json` writes it")
    try:
        for subject in document["subjects"]:
            str(subject["name"]), dict(subject["layouts"])
            list(_verdicts(subject)), _product(subject)
        Exit(document["exit"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"{path}: a report that was changed: {type(error).__name__}: {error}") from error
    return document


def _verdicts(subject: Mapping[str, Any]) -> Iterator[Verdict]:
    """Yield the verdicts of a subject, as far as pictures show them."""
    for verdict in subject["verdicts"]:
        wrong = verdict["counterexample"]
        counterexample = None
        if wrong is not None:
            inputs = {str(name): int(value) for name, value in wrong["inputs"].items()}
            statement, arithmetic, extent = (str(wrong[key] or "") for key in ("statement", "arithmetic", "extent"))
            counterexample = Counterexample(inputs, statement, arithmetic, extent, tuple(map(str, wrong["damage"])))
        claim = Claim(
            str(subject["name"]), str(verdict["part"]), Property(str(verdict["property"])), str(verdict["claim"])
        )
        yield Verdict(claim, Status(verdict["status"]), (), counterexample)


def _product(subject: Mapping[str, Any]) -> WrongProduct | None:
    """Return the wrong product of a kernel, if the subject has one. Raise ValueError for one that is not whole."""
    wrong = subject.get("wrong_product")
    if wrong is None:
        return None
    operands = tuple(map(_product_operand, wrong["operands"]))
    return WrongProduct(
        int(wrong["line"]), str(wrong["instruction"]), operands, bool(wrong["decided"]), str(wrong["text"])
    )


def _product_operand(operand: Mapping[str, Any]) -> ProductOperand:
    def rows(key: str) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple("" if element == "-" else element for element in row.split()) for row in operand[key])

    def slot(text: str) -> tuple[int, int]:
        lane, value = map(int, text.split(".")) if text else (-1, -1)
        return lane, value

    holds, wants = rows("holds"), rows("wants")
    slots = tuple(tuple(map(slot, row)) for row in rows("slots")) if "slots" in operand else ()
    sizes = {tuple(map(len, matrix)) for matrix in (holds, wants, slots or holds)}
    if len(sizes) != 1 or len(set(*sizes)) != 1 or set(*sizes) == {0} or operand["name"] not in ("A", "B"):
        raise ValueError("an operand should be A or B, with as many slots in each row of what it holds and wants")
    return ProductOperand(
        operand["name"], holds, wants, slots, int(operand.get("bits", 32)), str(operand.get("elsewhere", ""))
    )


def _of_subject(subject: Mapping[str, Any], resources: Resources, options: Namespace) -> Picture:
    """Return the picture of a kernel's wrong product, an atom, a layout or layouts alone; or what draws it."""
    verdicts, status, name = (
        list(_verdicts(subject)),
        str(subject.get("headline", subject["status"])),
        str(subject["name"]),
    )
    if wrong := _product(subject):
        return of_product(name, wrong, status, window(options))
    reported = Reported(name, dict(subject["layouts"]), verdicts)
    for redraw in (kind.redraw for kind in kinds.all() if kind.redraw is not None):
        if picture := redraw(reported, resources, window(options)):
            return replace(picture, status=status)
    alone, left = _list_operands(subject, verdicts, window(options))
    if not alone:
        command = f"`{subject['drawn_by']}`" if "drawn_by" in subject else "the command that it is of, with its file,"
        return Picture(name, (), status, (f"its report has not what it is drawn from: {command} draws it",))
    drawing = draw_operands(name, alone, status)
    without_part = [verdict for verdict in verdicts if verdict.claim.part not in {drawn.part.name for drawn in alone}]
    left += [
        f"{verdict.status}: {verdict.counterexample.statement}"
        for verdict in without_part
        if verdict.counterexample is not None
    ]
    panels = (*drawing.panels, *_permutations(verdicts, window(options)))
    missing = "the ISA's owners are not in a report: --atoms FILE adds those of an entry"
    return replace(drawing, panels=panels, notes=(*drawing.notes, missing, *left))


def _permutations(verdicts: Sequence[Verdict], part: Window) -> Iterator[Panel]:
    """Yield the relabelling that the counterexamples state, as the permutation of each axis."""
    stated = [
        line for verdict in verdicts if verdict.counterexample is not None for line in verdict.counterexample.damage
    ]
    permutations = {hit[1]: hit[2] for line in stated if (hit := RELABELLED.match(line))}
    for number, (axis, text) in enumerate(permutations.items()):
        with suppress(LayoutError):
            if size(layout := Layout.parse(text)) <= MOST:
                yield maps.permutation(axis, points.values(layout, range(size(layout))), text, part, (4 + number, 0))


def _list_operands(
    subject: Mapping[str, Any], verdicts: Sequence[Verdict], window: Window
) -> tuple[list[Drawn], list[str]]:
    """Return the layouts of a subject, each onto the tile of its claims; and what has no picture."""
    drawn, left = [], []
    for name, text in subject["layouts"].items():
        layout, fault = thread_value(text) if isinstance(text, str) else (None, "no text")
        mine = [verdict for verdict in verdicts if verdict.claim.part == name]
        match = next((hit for verdict in mine if (hit := OWNERS.search(verdict.claim.text))), None)
        if name not in AXES or match is None or layout is None:
            left.append(f"{name} = {text} is not drawn: its report has no tile of a (thread, value) layout")
            continue
        extent = int(match[1]), int(match[2])
        part = BoundOperand(name, text, map_layout(name, layout, extent), fault, extent, ())
        drawn.append(Drawn(part, 1 if match[3] == "one" else int(match[3]), mine, window=window))
    return drawn, left
