# SPDX-License-Identifier: Apache-2.0
"""`lanecheck index …`: verify the index arithmetic, tables and bases of a kernel against an instruction."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from lanecheck.console.command import add_execution
from verify.cli import arguments, ending, inputs, output
from verify.cli.batch import verify_each
from verify.core.errors import UsageError
from verify.core.verdict import Check, Place
from verify.index import bind, spec
from verify.index.properties import case
from verify.report import Report
from verify.report.loaded import LoadedFiles

if TYPE_CHECKING:
    from verify.index.bind import BoundIndex

DESCRIPTION = """Verify which element of an operand each lane and value has, as a kernel computes it: expressions of C
or Python (--row and --col, or inversely --lane and --value), a table, F2 bases, or a function of a Python file;
compared with the PTX ISA at every lane and value. Or a TOML FILE with several. Texts are parsed, never executed; a
function is called in a child process, which isolates accidents and isn't a sandbox.

names in expressions: lane, laneid, threadIdx.x, tid; i, or the loops of --values; warp in a warpgroup; of an inverse
map row and col; min, max, abs; and what --let defines. Where no language is given, C and Python must agree."""
KEYS = {name: key for name, key in spec.options().items() if name != "relabel"}  # of A, B and C: in a FILE
REPEATED = ("let", "select", "memory")
STOPS = {"list": ("files", "only", *KEYS, "at", "output")}
EXAMPLE = r"""--lang c --operand C --row "lane/4 + 8*(i/2)" \
      --col "lane%4*2 + i%2" \
      --ptx mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"""


def main(argv: Sequence[str] | None = None) -> int:
    """Verify the maps that the arguments give; returns the exit code."""
    return ending.run_guarded(inputs.of_entries(_parser, _entries, _answer, STOPS), argv)


def _parser() -> argparse.ArgumentParser:
    parser = arguments.parser("lanecheck index", DESCRIPTION, EXAMPLE)
    arguments.add_statements(parser, "maps")
    add_execution(parser)
    arguments.add_require(parser)
    for name, key in KEYS.items():
        if name in REPEATED:
            parser.add_argument(f"--{name}", metavar="NAME=TEXT", help=key.help, action="append")
        else:
            parser.add_argument(f"--{name}", metavar=name.upper(), help=key.help)
    parser.add_argument("--at", metavar="FILE:LINE", type=_place, help="where the expressions are written: for reports")
    return parser


def _place(text: str) -> Place:
    """Return a file with a line; raises ArgumentTypeError for anything else."""
    file, colon, line = text.rpartition(":")
    if not (file and colon and line.isascii() and line.isdigit() and 0 < int(line) < 1 << 31):
        raise argparse.ArgumentTypeError(f"expected FILE:LINE, such as kernel.cu:120, found {text!r:.60}")
    return Place(file, int(line))


def _entries(options: argparse.Namespace) -> LoadedFiles[BoundIndex]:
    """Return the entries that the arguments name, in their order."""
    given = {name: value for name in KEYS if (value := getattr(options, name)) is not None}
    if options.files:
        if given:
            raise UsageError(f"--{next(iter(given))}: a FILE has whole entries; give one or the other")
        if options.at:
            raise UsageError("--at is for a map of the command line: a FILE has lines of its own")
        return inputs.load(options.files, bind.read_indices).only(options.only, "map")
    if options.only:
        raise UsageError("--only chooses among the maps of a FILE: give a FILE too")
    if not given:
        raise UsageError("which map? Give --ptx, --operand, --row and --col, or a FILE")
    return LoadedFiles((bind.bind(spec.of_options(given)),))


def _answer(loaded: LoadedFiles[BoundIndex], options: argparse.Namespace) -> int:
    if any(entry.spec.runs_code for entry in loaded.items):
        arguments.check_execution(options.allow_exec)
    if options.files:
        return output.report(
            verify_each(loaded.items, case, "maps", options.require, quiet=options.quiet), options, loaded
        )
    cases = tuple(replace(case(index), place=options.at) for index in loaded.items)  # one map: nothing else is loaded
    return output.report(Report(cases, frozenset(map(Check, options.require))), options)
