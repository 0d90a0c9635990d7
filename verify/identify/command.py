# SPDX-License-Identifier: Apache-2.0
"""`lanecheck identify MAP`: which operands of which instructions a map is, and its other forms."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from lanecheck.console.command import add_execution
from layouts.text import numbers
from verify.atom import selection
from verify.cli import arguments, ending, output
from verify.core.errors import Exit, UsageError
from verify.identify import query, report
from verify.index import spec
from verify.maps.synthesis import FORMS

if TYPE_CHECKING:
    from verify.identify.query import Query

DESCRIPTION = """Identify a map: which operands of which instructions of the PTX ISA it equals, is the transpose of, or
relabels by one permutation of an axis; else to which it is nearest. MAP is a layout of (lane, value) in any spelling,
F2 bases, a table (CSV, JSON, or AMD's of registers), or an operand of an atom, as SM80_16x8x16_F32F16F16F32_TN:A; or
give --row and --col, or inversely --lane and --value with --tile, expressions as `lanecheck index` has. A function
FILE.py::NAME needs --values, and is called in a child process. Only operands in registers are compared; of --lane and
--column with --tile those in tensor memory.

--as also writes the map in other forms, each read again and compared at every point; or says what prevents the form.
Exit code 0: it equals, transposes or relabels an operand; 1: none."""
EXAMPLE = '"((4,8),(2,2)):((32,1),(16,8))" --as all'
EXPRESSIONS = ("row", "col", "lane", "value", "column", "lang", "type", "values", "let", "python")
WARP = 32


def main(argv: Sequence[str] | None = None) -> int:
    """Identify the map that the arguments give; returns the exit code."""
    return ending.run_guarded(_main, argv)


def _main(argv: Sequence[str] | None) -> Exit:
    parser = _parser()
    options = parser.parse_args(argv)

    identified = report.identify_map(_query(options), _forms(options.form))
    if options.format == "json":
        output.write(report.as_json(identified), options.output)
    else:
        text = report.as_text(identified, options.quiet, options.verbose)
        output.write(text if options.quiet else output.wrap_report(text, options.output), options.output)
    return identified.exit()


def _forms(name: str | None) -> Sequence[str]:
    """Return the forms that --as names."""
    if name == "all":
        return FORMS
    return [name] if name else []


def _parser() -> argparse.ArgumentParser:
    parser = arguments.parser("lanecheck identify", DESCRIPTION, EXAMPLE, formats=("text", "json"))
    parser.add_argument("map", nargs="?", metavar="MAP", help="a layout, F2 bases, a table, or ATOM:OPERAND")
    parser.add_argument("--tile", metavar="MxN", help="rows x columns, such as 16x8: of a layout, or of an inverse map")
    parser.add_argument("--as", dest="form", choices=("layout", "bases", "c", "all"), help="also write it in this form")
    parser.add_argument(
        "--atoms", action="append", default=[], metavar="FILE", help="the TOML file that has ATOM; repeatable"
    )
    parser.add_argument(
        "--lanes", type=arguments.positive, default=WARP, metavar="N", help="lanes of --row and --col (default: 32)"
    )
    add_execution(parser)
    keys = spec.options()
    for name in EXPRESSIONS:
        known = (
            "values of a lane, 4, or their loops, the outermost first: i=2, j=2"
            if name == "values"
            else keys[name].help
        )
        if name == "let":
            parser.add_argument("--let", metavar="NAME=TEXT", help=known, action="append")
        else:
            parser.add_argument(f"--{name}", metavar=name.upper(), help=known)
    return parser


def _query(options: argparse.Namespace) -> Query:
    """Return the map of the arguments."""
    given = {name: value for name in EXPRESSIONS if (value := getattr(options, name)) is not None}
    known = spec.options()
    values = {name: known[name].parse_value(value) for name, value in given.items()}
    called = options.map is not None and spec.FUNCTION.fullmatch(options.map) is not None
    if options.map is not None:
        if surplus := next((name for name in given if not called or name not in ("values", "python")), ""):
            raise UsageError(f"--{surplus}: {options.map:.60} is a map already; give one or the other")
        if not called:
            return query.of_text(options.map, _pool(options), _tile(options.tile))
    if {"lane", "value", "column"} & given.keys():
        words = _words(given, ("lane", "value", "column"))
        if "column" in given and options.form:
            raise UsageError("--as: a map of tensor memory has no other form")
        return query.of_inverse(spec.OperandSpec(**values), _tile(options.tile), words)
    if options.tile is not None:
        raise UsageError("--tile: is for a layout or an inverse map; expressions name rows and columns")
    if called:
        arguments.check_execution(options.allow_exec)
        function = spec.OperandSpec(function=options.map, python=values.get("python", ""))
        return query.of_spec(function, options.lanes, options.map, values.get("values", ""))
    if not given:
        raise UsageError("which map? Give MAP, or --row, --col and --values")
    return query.of_spec(spec.OperandSpec(**values), options.lanes, _words(given, ("row", "col")))


def _words(given: Mapping[str, str], names: Sequence[str]) -> str:
    return " ".join(f"--{name} {shlex.quote(str(value))}" for name, value in given.items() if name in names)


def _tile(text: str | None) -> tuple[int, int] | None:
    """Return the two extents of --tile."""
    if text is None:
        return None

    extents = numbers(text) or []
    if len(extents) != 2 or 0 in extents:
        raise UsageError(f"--tile {text!r}: it should be two positive extents such as 16x8")
    return extents[0], extents[1]


def _pool(options: argparse.Namespace) -> object:
    """Return the atoms of the user's files; None without any."""
    if not options.atoms:
        return None

    return selection.pool(options.atoms)[0]
