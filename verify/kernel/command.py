# SPDX-License-Identifier: Apache-2.0
"""`lanecheck kernel KERNEL.ptx --claim gemm.toml`: verify a compiled kernel without a GPU."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from lanecheck.console.command import add_execution
from verify.cli import arguments, ending, output
from verify.core.verdict import Check

if TYPE_CHECKING:
    from verify.report import Report

DESCRIPTION = """Verify a compiled kernel, in PTX, without a GPU: every thread of its grid is interpreted, with data as
unknowns, and the ISA tables as the meaning of matrix instructions. Does it compute what the claim says, for all data,
in exact arithmetic? Are all accesses in bounds, ordered, and of memory that was written?
Does any thread wait for ever?"""
EXAMPLE = "gemm.ptx --claim gemm.toml"


def main(argv: Sequence[str] | None = None) -> int:
    """Verify the kernel that the arguments name; returns the exit code."""
    return ending.guarded(_main, argv)


def _main(argv: Sequence[str] | None) -> int:
    parser = arguments.parser("lanecheck kernel", DESCRIPTION, EXAMPLE)
    parser.add_argument(
        "kernel", metavar="KERNEL", help="the compiled kernel, a PTX file; or MODULE.py::FUNCTION of Triton"
    )
    parser.add_argument("--claim", metavar="FILE", required=True, help="what it computes, on which arrays: a TOML file")
    parser.add_argument("--seed", type=int, metavar="N", help="the seed of an earlier run, to repeat it")
    parser.add_argument("--budget", type=arguments.positive, metavar="N", help="the instructions that it may execute")
    python = "the interpreter that has Triton (this one)"
    parser.add_argument("--python", metavar="FILE", default=sys.executable, help=python)
    add_execution(parser)
    arguments.add_require(parser)
    parser.add_argument("--strict", action="store_true", help="refute what breaks the letter of the ISA too")
    options = parser.parse_args(argv)
    return output.report(replace(_report(options), require=frozenset(map(Check, options.require))), options)


def _report(options: argparse.Namespace) -> Report:
    from lanecheck.console.progress import Progress
    from verify.kernel.report import verify_kernel

    if "::" in options.kernel:
        arguments.check_execution(options.allow_exec)
    with Progress(1, "kernel", options.quiet) as shown:
        name = Path(options.kernel).name
        shown.begin(name)
        return verify_kernel(
            options.kernel, options.claim,
            seed=options.seed, budget=options.budget, strict=options.strict, python=options.python,
            ticked=lambda steps: shown.begin(f"{name}, {steps} instructions executed"),
        )  # fmt: skip
