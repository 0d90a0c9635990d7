# SPDX-License-Identifier: Apache-2.0
"""`lanecheck layout LAYOUT`: verify one layout as a map onto a tile, as an operand, or as another one.

`onto_tile`    is it a bijection onto a tile?
`compare`      is it the same function as another layout?

`verify.layout.product` has the third: does an instruction distribute an operand like this?
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Collection, Sequence
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

from lanecheck.console.progress import Progress
from verify.cli import arguments, ending, output
from verify.core.errors import UsageError
from verify.core.verdict import Check
from verify.evidence.cause import MOST, Compared, compare_map, fold_consequences
from verify.evidence.run import Run
from verify.layout.picture import draw_difference, draw_on_tile
from verify.layout.product import of_operand
from verify.layout.properties import IN_TILE, ONE_OWNER, SAME_FUNCTION, TILE_FORM, LayoutPair, bind_onto_tile
from verify.layout.reading import check_operand, read_small, read_tile
from verify.report import Alone, Case, Report

if TYPE_CHECKING:
    from verify.pictures.picture import Picture, Window

DESCRIPTION = """Verify one layout, such as "((4,8),8):((32,1),8)": does it stay inside the tile MxN (element x + M*y),
and has every element of the tile one owner? A layout of rank 2 is read as (thread, value); any other as one index.
With --ptx and --operand: does the instruction distribute this operand like that? Or, with --equals: is it the same
function as another layout, however both are written? Without --ptx no instruction is compared."""
EXAMPLE = '"((4,8),(2,2)):((32,1),(16,8))" --onto 16x8'


def main(argv: Sequence[str] | None = None) -> int:
    """Verify the layout that the arguments give; returns the exit code."""
    return ending.run_guarded(_main, argv)


def _main(argv: Sequence[str] | None) -> int:
    parser = arguments.parser("lanecheck layout", DESCRIPTION, EXAMPLE)
    parser.add_argument(
        "layout", nargs="?", metavar="LAYOUT", help='the layout, quoted: "((4,8),(2,2)):((32,1),(16,8))"'
    )
    parser.add_argument("--onto", metavar="MxN", help="the tile, such as 16x8, or its size")
    parser.add_argument("--ptx", metavar="MNEMONIC", help="an instruction: does it distribute --operand like this?")
    parser.add_argument("--operand", metavar="X", help="which operand of --ptx: A, B, C, E, SFA or SFB")
    parser.add_argument("--equals", metavar="OTHER", help="a layout: do both give every (thread, value) the same?")
    arguments.add_require(parser)
    options = parser.parse_args(argv)
    _check(options)
    against = options.equals
    with Progress(1, "layout", options.quiet) as shown:
        shown.begin(options.layout)
        tile = None if options.onto is None else read_tile(options.onto)
        if against is not None:
            report = compare(options.layout, against)
        elif options.ptx is not None:
            report = of_operand(options.layout, options.ptx, options.operand, tile)
        else:
            report = onto_tile(options.layout, tile or (1, 1))
    return output.report(replace(report, require=frozenset(map(Check, options.require))), options)


def _check(options: argparse.Namespace) -> None:
    """Raise UsageError unless there is a layout, and something that it can be compared with."""
    text = options.layout
    if text is None:
        raise UsageError("which layout? Give LAYOUT, quoted, with --onto MxN or --equals OTHER")
    check_operand(options.ptx, options.operand)
    if options.onto is None and options.equals is None and options.ptx is None:
        read_small(text)
        ways = "--onto MxN (the tile), --ptx MNEMONIC --operand X (an instruction), or --equals OTHER"
        raise UsageError(f"{text}: nothing to check yet: add {ways}")
    for name in ("onto", "ptx"):
        if getattr(options, name) is not None and options.equals is not None:
            raise UsageError(f"--{'onto and --equals' if name == 'onto' else 'equals and --ptx'}: give one of them")


def onto_tile(text: str, extent: tuple[int, int], checks: Collection[Check] | None = None) -> Report:
    """Return the verdicts on a layout as a map onto a tile, by enumeration and by the solver, or by some `checks`."""
    laid = bind_onto_tile(text, extent)
    run, part = Run(frozenset(checks or {Check.ISA, Check.PROOF})), laid.part
    verdicts = [run.verdict(TILE_FORM, laid, part)]
    verdicts += [run.verdict(row, laid, part) for row in (IN_TILE, ONE_OWNER) if part.well_formed]

    def compare_part(_: str) -> Compared | None:
        return compare_map(part.points, 1) if part.well_formed and prod(part.domain) <= MOST else None

    verdicts = fold_consequences(verdicts, compare_part)
    drawn_by = shlex.join(["lanecheck", "show", text, "--onto", laid.tile])
    alone = Alone(f"a bijection onto {laid.tile}", "its tile", "add --ptx … --operand C")

    def draw(window: Window) -> Picture:
        return draw_on_tile(laid, verdicts, window)

    return Report((Case(text, tuple(verdicts), picture=draw, drawn_by=drawn_by, alone=alone),))


def compare(text: str, against: str) -> Report:
    """Return the verdict on two layouts as functions: shapes may differ in trivial and merged modes, values may not."""
    verdict = Run(frozenset({Check.ISA})).verdict(SAME_FUNCTION, LayoutPair(text, against), None)
    drawn_by = shlex.join(["lanecheck", "layout", text, "--equals", against, "--format", "html"])

    def draw(window: Window) -> Picture:
        return draw_difference(text, against, verdict.counterexample, window)

    alone = Alone(f"the same function as {against}", "another layout")
    return Report((Case(text, (verdict,), picture=draw, drawn_by=drawn_by, alone=alone),))
