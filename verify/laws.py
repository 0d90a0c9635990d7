# SPDX-License-Identifier: Apache-2.0
"""`python -m verify.laws [NAME…]`: the laws of the layout algebra, proved for all extents and all ranks."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from verify import cli

if TYPE_CHECKING:
    from verify.report import Report

DESCRIPTION = """Prove the laws of the layout algebra over unbounded integers, with every law that a proof rests on;
show that their hypotheses can be met and that each mutant breaks them. R1 to R9 are published claims that are false.
NAME is an exact name, a prefix that ends at `_`, or a glob. With --module, hold another implementation to the laws
instead: every path of its functions for layouts of small rank, all integers symbolic."""


def main(argv: Sequence[str] | None = None) -> int:
    """Judge the laws that the arguments name; returns the exit code."""
    return cli.guarded(_main, argv)


def _main(argv: Sequence[str] | None) -> int:
    options = _parser().parse_args(argv)
    if options.infer:
        return _infer(options)
    if options.module or options.code:
        report = _code(options)
    else:
        from verify import law_report

        names = law_report.names(options.open)
        chosen = cli.select(options.names, law_report.names(True), "law") if options.names else list(names)
        if options.list or options.explain:
            shown = (
                law_report.explain(cli.select(options.explain, law_report.names(True), "law"))
                if options.explain
                else ""
            )
            cli.write(shown or law_report.listing(chosen), options.output)
            return cli.Exit.STANDS
        report = law_report.judge(chosen, _engines(options), options.seeds, options.jobs, bool(options.require))
    cli.report(report, options)
    return report.exit()


def _parser() -> argparse.ArgumentParser:
    parser = cli.parser("python -m verify.laws", DESCRIPTION)
    parser.add_argument("names", nargs="*", metavar="NAME", help="laws, or R1 … R9; all of them when none is named")
    parser.add_argument("--list", action="store_true", help="print the names and statements instead of judging")
    parser.add_argument(
        "--explain", action="append", metavar="NAME", help="print a law, its proof's steps and its mutants"
    )
    parser.add_argument(
        "--open", action="store_true", help="tell the statements that nobody has proved too, as UNKNOWN"
    )
    parser.add_argument("--solver", choices=("z3", "cvc5", "both"), default="both", help="who proves (default: both)")
    parser.add_argument("--seeds", type=_positive, default=1, metavar="N", help="prove with N random seeds each")
    parser.add_argument("--jobs", type=_positive, default=None, metavar="N", help="processes (default: one per core)")
    parser.add_argument("--require", action="append", default=[], choices=("recheck",), help="one solver is not enough")
    _add_code(parser)
    _add_infer(parser)
    return parser


def _add_code(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--code", action="store_true", help="execute our own operations symbolically")
    parser.add_argument(
        "--module", metavar="NAME", help="execute this module's operations symbolically, such as pycute"
    )
    parser.add_argument("--path", metavar="DIR", help="where the module lies; it is imported, so it must be trusted")
    parser.add_argument(
        "--only", action="append", default=[], metavar="OP", help="with --code or --module: this operation, or R1 … R9"
    )
    parser.add_argument(
        "--rank",
        type=_positive,
        default=2,
        metavar="N",
        help="with --code or --module: up to this rank; at 3 --code tells what is recorded",
    )
    parser.add_argument("--fresh", action="store_true", help="with --code --rank 3: execute anew, in half an hour")


def _add_infer(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--infer", metavar="OP", help="print the exact condition under which OP is right, with numbers")
    parser.add_argument(
        "--shape", metavar="LAYOUT", help="with --infer: a shape (all strides) or layout, a letter for what may vary"
    )
    parser.add_argument("--by", metavar="LAYOUT", help="with --infer: the right-hand layout, or complement's cotarget")
    parser.add_argument(
        "--budget",
        type=_positive,
        default=20,
        metavar="S",
        help="with --infer: follow paths for S seconds (default: 20)",
    )


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not positive")
    return value


def _engines(options: argparse.Namespace) -> tuple[str, ...]:
    """Who proves. A missing second solver is said in the report, not passed over."""
    return ("z3", "cvc5") if options.solver == "both" else (options.solver,)


def _code(options: argparse.Namespace) -> Report:
    from verify.law_code import judge

    if options.path and not options.module:
        raise cli.UsageError("--path says where a --module lies: name it")
    return judge(options.module, options.path, options.only, options.rank, options.fresh)


def _infer(options: argparse.Namespace) -> int:
    from verify.law_code import infer

    if not options.shape:
        raise cli.UsageError("--infer needs --shape, such as (4,8), (M,8) or (M,8):(1,d)")

    def tell(line: str) -> None:
        if not options.quiet:
            print(line, file=sys.stderr, flush=True)

    found = infer(options.infer, options.shape, options.by, options.budget, tell)
    cli.write(found.told, options.output)
    return cli.Exit.STANDS if found.exact else cli.Exit.UNKNOWN


if __name__ == "__main__":
    raise SystemExit(main())
