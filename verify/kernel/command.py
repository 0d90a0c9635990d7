# SPDX-License-Identifier: Apache-2.0
"""`python -m verify.kernel KERNEL.ptx --claim gemm.toml`: verify a compiled kernel without a GPU."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lanecheck.console.command import add_execution
from verify.cli import arguments, ending, output
from verify.core.errors import UsageError

if TYPE_CHECKING:
    from verify.report import Report

DESCRIPTION = """Verify a compiled kernel, in PTX, without a GPU: every thread of its grid is interpreted, with data as
unknowns, and the ISA tables as the meaning of matrix instructions. Does it compute what the claim says, for all data,
in exact arithmetic? Are all accesses in bounds, ordered, and of memory that was written?
Does any thread wait for ever?"""
EXAMPLE = "gemm.ptx --claim gemm.toml"
MAX_BYTES = 64 << 20


def main(argv: Sequence[str] | None = None) -> int:
    """Verify the kernel that the arguments name; returns the exit code."""
    return ending.guarded(_main, argv)


def _main(argv: Sequence[str] | None) -> int:
    parser = arguments.parser("python -m verify.kernel", DESCRIPTION, EXAMPLE)
    parser.add_argument(
        "kernel", metavar="KERNEL", help="the compiled kernel, a PTX file; or MODULE.py::FUNCTION of Triton"
    )
    parser.add_argument("--claim", metavar="FILE", required=True, help="what it computes, on which arrays: a TOML file")
    parser.add_argument("--seed", type=int, metavar="N", help="the seed of an earlier run, to repeat it")
    parser.add_argument("--budget", type=arguments.positive, metavar="N", help="the instructions that it may execute")
    python = "the interpreter that has Triton (this one)"
    parser.add_argument("--python", metavar="FILE", default=sys.executable, help=python)
    add_execution(parser)
    parser.add_argument("--strict", action="store_true", help="refute what breaks the letter of the ISA too")
    options = parser.parse_args(argv)
    return output.report(_report(options), options)


def _report(options: argparse.Namespace) -> Report:
    from lanecheck.console.progress import Progress
    from verify.kernel.check import BUDGET, check
    from verify.kernel.claims.claim_file import located, read_claim
    from verify.kernel.ptx.source import PtxError
    from verify.kernel.verdict import case
    from verify.report import Report

    words, again = "", f"python -m verify.kernel {options.kernel} --claim {options.claim}"
    if "::" in options.kernel:
        from verify.kernel.claims.compiled import compiled

        arguments.check_execution(options.allow_exec)
        ptx, claim, words = compiled(options.kernel, options.claim, options.python)
    else:
        claim, ptx = read_claim(options.claim), _text(options.kernel)
    with located(options.claim), Progress(1, "kernel", options.quiet) as shown:
        name = Path(options.kernel).name
        shown.begin(name)
        try:
            outcomes = check(
                ptx, claim, seed=options.seed, budget=options.budget or BUDGET, strict=options.strict,
                ticked=lambda steps: shown.begin(f"{name}, {steps} instructions executed"),
            )  # fmt: skip
        except PtxError as error:
            place = f"{options.kernel}, its PTX, line " if words else f"{options.kernel}:"
            raise UsageError(f"{place}{error.line}: {error.problem}") from error
    file = options.kernel.partition("::")[0]
    found = (case(one, claim.text, options.strict, f"{again} --seed {one.seed}", file, words) for one in outcomes)
    return Report(tuple(found))


def _text(name: str) -> str:
    """The text of a PTX file; raises UsageError in one line."""
    try:
        path = Path(name)
        if path.stat().st_size > MAX_BYTES:
            raise UsageError(f"{name}: a PTX file has at most {MAX_BYTES >> 20} MiB")
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise UsageError(f"cannot read {name}: {error.strerror}") from error
    except (UnicodeDecodeError, ValueError) as error:
        raise UsageError(f"{name}: this is no PTX text: {str(error)[:80]}") from error
