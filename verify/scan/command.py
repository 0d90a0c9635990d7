# SPDX-License-Identifier: Apache-2.0
"""`lanecheck scan PATH…`: verify every layout and asm string of a CUTLASS checkout, or of single headers."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from verify.atom import selection
from verify.atom.checker import AtomChecker
from verify.atom.properties import PROPERTIES
from verify.cli import arguments, ending, inputs, output
from verify.cli.batch import check_each
from verify.core.errors import Exit, UsageError
from verify.core.files import purpose
from verify.core.registry import list_kinds
from verify.core.verdict import Check
from verify.report import Failure, Report
from verify.scan import changes
from verify.scan.checker import Scanner, unread
from verify.scan.checkout import at_commit, checkout
from verify.scan.compiler import compare_layouts
from verify.scan.entry import Operations
from verify.scan.report import render

if TYPE_CHECKING:
    from verify.report import Case, Report
    from verify.scan.checkout import Checkout
    from verify.scan.traits import Definition

DESCRIPTION = """Verify the headers of CUTLASS, or of a fork: every definition of MMA_Traits and of Copy_Traits is read
without a compiler, with aliases, inheritance and templates, and each of its layouts is compared with the instruction
that the asm strings of the arch headers issue. Every register of an asm string must be used once, in order, and the
declared arrays must be the registers that it takes. PATH is a checkout, a folder or a header. What cannot be read is
listed with file and line, and is UNCHECKED."""
EXAMPLE = "cutlass/include/cute --expect-known"
OF_CHANGES = ("format", "output", "quiet", "verbose", "max_files")
STOPS = {"diff": OF_CHANGES, "since": ("paths", *OF_CHANGES)}


def main(argv: Sequence[str] | None = None) -> int:
    """Scan the headers that the arguments name; returns the exit code."""
    return ending.run_guarded(_main, argv)


def _parser() -> argparse.ArgumentParser:
    parser = arguments.parser("lanecheck scan", DESCRIPTION, EXAMPLE)
    parser.add_argument("paths", nargs="*", metavar="PATH", help="a checkout, a folder or a header")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="only these operations; a glob")
    parser.add_argument("--checks", default="isa", metavar="C[,C]", help="the checks to make: isa, proof, gpu")
    arguments.add_require(parser)
    parser.add_argument("--expect-known", action="store_true", help="known defects, and only they, must be REFUTED")
    parser.add_argument(
        "--max-files", type=arguments.positive, default=1024, metavar="N",
        help="read at most N headers; if there are more, the rest is UNCHECKED (default: 1024)",
    )  # fmt: skip
    parser.add_argument(
        "--compiler", metavar="CMD", help="compare each layout with what a compiler prints, as `g++ -I DIR`"
    )
    parser.add_argument("--diff", nargs=2, metavar=("OLD", "NEW"), help="show only the maps that changed, and stop")
    parser.add_argument(
        "--since", metavar="TAG", help="show only the maps that changed since a commit of PATH, and stop"
    )
    arguments.add_budget(parser)
    return parser


def _main(argv: Sequence[str] | None) -> int:
    options = arguments.parse(_parser(), argv, STOPS)
    if options.diff or options.since:
        return _changes(options)
    if not options.paths:
        raise UsageError("which headers? Give the PATH of a checkout, a folder or a header")

    suffixes = {".toml", ".py", *(suffix for kind in list_kinds() if kind.name != "header" for suffix in kind.suffixes)}
    if foreign := next((path for path in map(Path, options.paths) if path.suffix in suffixes and path.is_file()), None):
        raise UsageError(f"{foreign}: {purpose(foreign)}")
    read = checkout(options.paths, options.max_files)
    made = verify_headers(
        read, options.paths, only=options.only, checks=selection.checks(options.checks, options.require),
        budget=inputs.budget(options), quiet=options.quiet,
    )  # fmt: skip
    require = frozenset(map(Check, options.require))
    report = output.allowing(replace(made, require=require, expect_known=options.expect_known), options)
    if options.compiler and (code := _compare_with_compiler(read, options.compiler)):
        return code
    if options.format != "text":
        return output.report(report, options)

    text = render(report, read, options.quiet, options.verbose)
    output.write(text if options.quiet else output.wrap_report(text, options.output), options.output)
    return report.exit()


def _compare_with_compiler(read: Checkout, command: str) -> Exit:
    """Compare with a compiler; CONTRADICTION where it prints another layout, UNDECIDED where it compiles not all."""
    comparison = compare_layouts(read, command)
    for layout in comparison.different:
        ending.complain(
            f"{layout.name} {layout.part} is read as {layout.read}, the compiler prints {layout.printed}",
            Exit.CONTRADICTION,
        )
    for error in comparison.errors:
        ending.complain(f"not compiled: {error}", Exit.UNDECIDED)
    same = len(comparison.layouts) - len(comparison.different)
    print(
        f"{command.split(maxsplit=1)[0]}: {same} of {len(comparison.layouts)} layouts are printed as they are read",
        file=sys.stderr,
    )
    return Exit.CONTRADICTION if comparison.different else Exit.UNDECIDED if comparison.errors else Exit.OK


def _changes(options: argparse.Namespace) -> int:
    """Print the maps that differ between two checkouts, or between a commit and the files of today."""
    if options.format not in ("text", "json"):
        raise UsageError(f"--format {options.format}: changes are written as text or json")

    if options.diff:
        old, new = (checkout([path], options.max_files) for path in options.diff)
    elif len(options.paths) == 1:
        old, new = at_commit(options.paths[0], options.since), checkout(options.paths, options.max_files)
    else:
        raise UsageError("--since needs one PATH, a folder of a git checkout")
    for place, why in (*old.stopped, *new.stopped):
        raise UsageError(f"{place.file}: {why}; the changes of a part aren't those of the whole")
    compared = changes.compare_checkouts(old, new)
    text = changes.as_json(compared) if options.format == "json" else changes.as_text(compared, options.verbose)
    output.write(text.splitlines()[-1] + "\n" if options.quiet and options.format == "text" else text, options.output)
    return compared.code


def verify_headers(
    read: Checkout,
    paths: Sequence[str],
    *,
    only: Sequence[str] = (),
    checks: frozenset[Check] = frozenset({Check.ISA}),
    budget: int | None = None,
    quiet: bool = True,
) -> Report:
    """Return the verdicts on the definitions that were read of some paths, or on those that are named."""
    table = tuple(row for row in PROPERTIES if row.key != "product")  # equal maps have equal products
    checker = AtomChecker(checks, table=table) if budget is None else AtomChecker(checks, budget, table=table)
    scanner = Scanner(Operations(read.reader.evaluator), checker, f"lanecheck scan {shlex.join(paths)}")

    def cases(definition: Definition) -> tuple[Case, ...]:
        return tuple(scanner.cases(definition))

    chosen = [part for definition in read.definitions for part in _choose_instances(definition, only)]
    results, missing = check_each(chosen, cases, "definitions", quiet)
    cases_read = [unread(place.file, place, problem) for place, problem in read.problems if not only]
    cases_read += [unread(place.file, place, why) for place, why in read.stopped]
    cases_read += [case for result in results if not isinstance(result, Failure) for case in result]
    cases_read += [case for item in read.operations if not only for case in scanner.alone(item)]
    failures = tuple(result for result in results if isinstance(result, Failure))
    if only and not cases_read:
        raise UsageError(f"no operation is named {', '.join(only)}")
    return Report(tuple(cases_read), missing=missing, failures=failures)


def _choose_instances(definition: Definition, only: Sequence[str]) -> Iterator[Definition]:
    """Yield a definition with those instances that the options name; nothing where there are none."""
    if not only or (definition.problem and _is_wanted(definition.name, only)):
        yield definition
    elif instances := tuple(instance for instance in definition.instances if _is_wanted(instance.name, only)):
        yield replace(definition, instances=instances)


def _is_wanted(name: str, only: Sequence[str]) -> bool:
    return any(name == pattern or fnmatchcase(name, pattern) or name.partition("<")[0] == pattern for pattern in only)
