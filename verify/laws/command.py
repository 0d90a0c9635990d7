# SPDX-License-Identifier: Apache-2.0
"""`lanecheck laws [NAME…]`: the laws of the layout algebra, proved for all extents and all ranks."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict

from lanecheck.console.command import add_execution
from lanecheck.console.progress import Progress
from verify.cli import arguments, ending, output
from verify.core.errors import Exit, UsageError
from verify.core.names import select
from verify.laws import conformance
from verify.laws import report as law_report
from verify.laws.properties import ONE_SOLVER

DESCRIPTION = """Prove the laws of the layout algebra over unbounded integers, with every law that a proof rests on;
show that their hypotheses can be met and that each mutant of a law is false. R1 to R9 are published claims that are
false. NAME is an exact name, a prefix that ends at `_`, or a glob. With --module, check another implementation against
the laws instead: every path of its functions for layouts of small rank, all integers symbolic."""
EXAMPLE = "DIVEQ --solver z3"
STOPS = {
    "infer": ("shape", "by", "budget", "format", "output", "quiet"),
    "list": ("names", "open", "code", "module", "path", "only", "rank", "output"),
    "explain": ("names", "output"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Prove the laws that the arguments name; returns the exit code."""
    return ending.run_guarded(_main, argv)


def _main(argv: Sequence[str] | None) -> int:
    options = arguments.parse(_parser(), argv, STOPS)
    _check(options)
    if options.infer:
        return _infer(options)
    return _code(options) if options.module or options.code else _laws(options)


def _check(options: argparse.Namespace) -> None:
    """UsageError for an option without effect: options for laws and for --code and --module do not mix."""
    code, infer = options.code or options.module, options.infer
    named = options.names or options.explain or options.open
    proving = options.solver or options.seeds or options.require or options.jobs
    for given, allowed, message in (
        (options.code and options.module, False, "--code is our own operations, --module another's: one of them"),
        (infer and options.format not in ("text", "json"), False, f"--infer writes text or json, not {options.format}"),
        (options.only or options.rank or options.fresh, code, "--only, --rank and --fresh go with --code or --module"),
        (options.open and options.names, False, "--open lists them after all laws: it goes without NAME"),
        (options.path, options.module, "--path says where a --module is: name it"),
        (options.shape or options.by, infer, "--shape and --by go with --infer"),
        (options.budget, infer or options.module, "--budget goes with --infer or --module"),
        (named, not code, "NAME, --explain and --open are about laws: with --code or --module use --only"),
        (proving, not code, "--solver, --seeds, --jobs and --require are about laws: z3 does the rest"),
    ):
        if given and not allowed:
            raise UsageError(message)
    if options.module:
        arguments.check_execution(options.allow_exec)


def _laws(options: argparse.Namespace) -> int:
    known = law_report.names(True)
    named = [*(options.explain or ()), *options.names]
    chosen = select(named, known, "law") if named else law_report.names(options.open)
    one_solver = not law_report.has_both()
    if one_solver and options.solver == "cvc5":
        raise UsageError(f"--solver cvc5: {ONE_SOLVER.replace(': one solver', '')}")
    if options.list or options.explain:
        shown = law_report.explain if options.explain else law_report.listing
        output.write(output.wrap_report(shown(chosen), options.output), options.output)
        return Exit.OK
    if one_solver and options.solver != "z3":
        print(f"lanecheck: {ONE_SOLVER}", file=sys.stderr)
    seeds = options.seeds or 1
    # The report names a missing second solver.
    engines = (options.solver,) if options.solver in ("z3", "cvc5") else ("z3", "cvc5")
    report = law_report.verify_laws(chosen, engines, seeds, options.jobs, bool(options.require), options.quiet)
    return output.report(report, options)


def _parser() -> argparse.ArgumentParser:
    parser = arguments.parser("lanecheck laws", DESCRIPTION, EXAMPLE)
    parser.add_argument("names", nargs="*", metavar="NAME", help="laws, or R1 … R9; all of them when none is named")
    parser.add_argument("--list", action="store_true", help="print the names and statements, and stop")
    parser.add_argument(
        "--explain", action="append", metavar="NAME", help="print a law, its proof's steps and its mutants"
    )
    parser.add_argument("--open", action="store_true", help="report the statements without a proof too, as UNKNOWN")
    parser.add_argument("--solver", choices=("z3", "cvc5", "both"), help="which solver proves (default: both)")
    parser.add_argument(
        "--seeds", type=arguments.positive, metavar="N", help="prove with N random seeds each (default: 1)"
    )
    parser.add_argument(
        "--jobs", type=arguments.positive, default=None, metavar="N", help="processes (default: one per core)"
    )
    parser.add_argument("--require", action="append", default=[], choices=("recheck",), help="one solver is not enough")
    _add_code(parser)
    _add_infer(parser)
    return parser


def _add_code(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--code", action="store_true", help="execute our own operations symbolically")
    parser.add_argument(
        "--module", metavar="NAME", help="execute this module's operations symbolically, such as pycute"
    )
    parser.add_argument("--path", metavar="DIR", help="the folder of the module; it is imported, so it must be trusted")
    add_execution(parser)
    parser.add_argument(
        "--only", action="append", default=[], metavar="OP", help="with --code or --module: this operation, or R1 … R9"
    )
    parser.add_argument(
        "--rank",
        type=arguments.positive,
        metavar="N",
        help="with --code or --module: up to this rank (default: 2); at 3 --code reports the recorded results",
    )
    parser.add_argument(
        "--fresh", action="store_true", help="with --code --rank 3: execute anew, in half an hour or more"
    )


def _add_infer(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--infer", metavar="OP", help="print the exact condition under which OP is right, with numbers")
    parser.add_argument(
        "--shape", metavar="LAYOUT", help="with --infer: a shape (all strides) or layout, a letter for what may vary"
    )
    parser.add_argument("--by", metavar="LAYOUT", help="with --infer: the right-hand layout, or complement's cotarget")
    parser.add_argument(
        "--budget",
        type=arguments.positive,
        metavar="S",
        help="seconds to follow paths: with --infer in all (default: 20), with --module an operation (default: 600)",
    )


def _code(options: argparse.Namespace) -> int:
    rank = options.rank or 2
    if options.list:
        listed = conformance.listing(options.module, options.path, options.only, rank)
        output.write(output.wrap_report(listed, options.output), options.output)
        return Exit.OK
    seconds = options.budget or conformance.BUDGET
    report = conformance.verify_module(
        options.module, options.path, options.only, rank, options.fresh, seconds, options.quiet
    )
    return output.report(report, options)


def _infer(options: argparse.Namespace) -> int:
    if not options.shape:
        raise UsageError("--infer needs --shape, such as (4,8), (M,8) or (M,8):(1,d)")

    def say(line: str) -> None:
        if not options.quiet:
            with shown.aside():
                print(line, file=sys.stderr, flush=True)

    with Progress(1, "condition", options.quiet) as shown:
        shown.begin(options.infer)
        inferred = conformance.infer(options.infer, options.shape, options.by, options.budget or 20, say)
    data = {
        "schema": 2,
        "lines": [*inferred.head, inferred.end],
        "exact": inferred.exact,
        "cases": [asdict(way) for way in inferred.cases],
    }
    text = (
        output.wrap_report(inferred.report, options.output)
        if options.format == "text"
        else json.dumps(data, indent=1) + "\n"
    )
    output.write(text, options.output)
    return Exit.OK if inferred.exact else Exit.UNDECIDED
