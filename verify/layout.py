# SPDX-License-Identifier: Apache-2.0
"""`python -m verify.layout LAYOUT`: verify one layout as a map onto a tile, or as the same function as another."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from verify.cli import arguments, ending, output
from verify.core.errors import UsageError

if TYPE_CHECKING:
    from layouts import Layout
    from verify.report import Report

DESCRIPTION = """Verify one layout, such as "((4,8),8):((32,1),8)": does it stay inside the tile MxN (element x + M*y),
and has every element of the tile one owner? A layout of rank 2 is read as (thread, value); any other as one index.
Or, with --equals: is it the same function as another layout, however both are written?"""
LARGEST = 1 << 24
EXAMPLE = '"((4,8),(2,2)):((32,1),(16,8))" --onto 16x8'


def main(argv: Sequence[str] | None = None) -> int:
    """Verify the layout that the arguments give; returns the exit code."""
    return ending.guarded(_main, argv)


def _main(argv: Sequence[str] | None) -> int:
    parser = arguments.parser("python -m verify.layout", DESCRIPTION, EXAMPLE)
    parser.add_argument(
        "layout", nargs="?", metavar="LAYOUT", help='the layout, quoted: "((4,8),(2,2)):((32,1),(16,8))"'
    )
    parser.add_argument("--onto", metavar="MxN", help="the tile, such as 16x8, or its size")
    parser.add_argument("--equals", metavar="OTHER", help="a layout: do both give every (thread, value) the same?")
    options = parser.parse_args(argv)
    _check(options)
    from lanecheck_console.progress import Progress

    other = options.equals
    with Progress(1, "layout", options.quiet) as shown:
        shown.begin(options.layout)
        report = onto_tile(options.layout, _extent(options.onto)) if other is None else compare(options.layout, other)
    return output.report(report, options)


def _check(options: argparse.Namespace) -> None:
    """Raise UsageError unless there is a layout and just one of --onto and --equals."""
    text = options.layout
    if text is None:
        raise UsageError("which layout? Give LAYOUT, quoted, with --onto MxN or --equals OTHER")
    if options.onto is None and options.equals is None:
        _parsed(text)
        raise UsageError(f"{text}: verify what? Give --onto MxN, the tile, or --equals OTHER, another layout")
    if options.onto is not None and options.equals is not None:
        raise UsageError("--onto and --equals: give one of them")


def _extent(text: str) -> tuple[int, int]:
    """The two extents of the tile; a size alone is a tile of one column."""
    from layouts.atoms.entry import numbers

    found = numbers(text) or [0]
    if 0 in found or len(found) > 2:
        raise UsageError(f"--onto {text!r}: it should be two positive extents such as 16x8, or one size")
    extent = found[0], found[1] if len(found) == 2 else 1
    if extent[0] * extent[1] > LARGEST:
        raise UsageError(f"--onto {text!r}: the tile has more than 2^24 elements, too many to enumerate")
    return extent


def _no_layout(text: str, problem: str) -> str:
    """Why a text is no layout; for a file, which command reads it."""
    if not os.path.isfile(text):
        return problem
    from verify.core.files import purpose

    return f"{text} is no layout: {purpose(Path(text))}"


def onto_tile(text: str, extent: tuple[int, int]) -> Report:
    """The verdicts on a layout as a map onto a tile, by enumeration and by the solver."""
    from layouts import LayoutError, ProfileError, cosize, parse_layout, size
    from layouts.atoms import Atom
    from verify.atom.checker import AtomChecker
    from verify.atom.properties import IN_BOUNDS, OWNERSHIP, WELL_FORMED
    from verify.binding.atom import BoundAtom, BoundOperand
    from verify.core.verdict import Check, Claim, join
    from verify.evidence import isa
    from verify.report import Case, Report

    read, fault = None, ""
    try:
        read = parse_layout(text)
    except ProfileError as error:
        fault = str(error)
    except LayoutError as error:
        raise UsageError(_no_layout(text, str(error))) from error
    layout = None if read is None else as_thread_value(read)
    if layout is not None and max(size(layout), cosize(layout)) > LARGEST:
        raise UsageError(f"{text!r}: more than 2^24 points or values, too many to enumerate")
    part = BoundOperand("C", text, layout, fault, extent, ())
    threads = size(layout[0]) if layout is not None else 1
    atom = Atom(name=text, ptx=None, shape=(*extent, 1), thr=f"{threads}:1", types={}, operands={"C": text})
    subject = BoundAtom(atom, parse_layout(atom.thr), parse_layout("1:0"), "", threads, (part,), ())
    checker = AtomChecker(frozenset({Check.ISA, Check.PROOF}))
    form = Claim(text, "", WELL_FORMED, "is a layout with congruent profiles")
    verdicts = [join(form, isa.parsed(replace(part, layout=read)))]
    for row, claim in (
        (IN_BOUNDS, f"stays inside {extent[0]}x{extent[1]}"),
        (OWNERSHIP, f"gives each element of {extent[0]}x{extent[1]} one owner"),
    ):
        if layout is not None:
            verdicts.append(join(Claim(text, "", row, claim), checker.evidence(row, subject, part)))
    return Report((Case(text, tuple(verdicts)),))


def compare(text: str, other: str) -> Report:
    """The verdict on two layouts as functions: shapes may differ in trivial and merged modes, values may not."""
    from verify.atom.properties import EQUALS
    from verify.core.verdict import Claim, join
    from verify.evidence.isa import same_function
    from verify.report import Case, Report

    layouts = [as_thread_value(_parsed(each)) for each in (text, other)]
    claim = Claim(text, "", EQUALS, f"is the same function as {other}")
    return Report((Case(text, (join(claim, [same_function(*layouts)]),)),))


def _parsed(text: str) -> Layout:
    from layouts import LayoutError, cosize, parse_layout, size

    try:
        layout = parse_layout(text)
    except LayoutError as error:
        raise UsageError(_no_layout(text, str(error))) from error
    if max(size(layout), cosize(layout)) > LARGEST:
        raise UsageError(f"{text!r}: more than 2^24 points or values, too many to enumerate")
    return layout


def as_thread_value(layout: Layout) -> Layout:
    """A layout of rank 2 as it is; any other as (index, 1 value)."""
    if isinstance(layout.shape, tuple) and len(layout.shape) == 2:
        return layout
    return type(layout)((layout.shape, 1), (layout.stride, 0))


if __name__ == "__main__":
    ending.as_process(main)
