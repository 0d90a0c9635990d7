# SPDX-License-Identifier: Apache-2.0
"""`lanecheck kernel KERNEL.ptx --claim gemm.toml`: verify a compiled kernel without a GPU."""

from __future__ import annotations

import argparse
import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lanecheck.console.command import add_execution, forbidden
from lanecheck.console.outputs import write_file
from lanecheck.console.progress import Progress
from verify.cli import arguments, ending, output
from verify.core.errors import UsageError
from verify.core.files import purpose
from verify.core.python_files import find_fault
from verify.core.verdict import Check
from verify.kernel.claims.launch_options import launch_table
from verify.kernel.sources import CUDA, find_code

if TYPE_CHECKING:
    from verify.report import Case, Report

DESCRIPTION = """Verify a compiled kernel, in PTX, without a GPU: every thread of its grid is interpreted, with data as
unknowns, and the ISA tables as the meaning of matrix instructions. Does it compute what the claim says, for all data,
in exact arithmetic? Are all accesses in bounds, ordered, and of memory that was written?
Does any thread wait for ever?"""
EXAMPLE = "gemm.ptx --claim gemm.toml"


def main(argv: Sequence[str] | None = None) -> int:
    """Verify the kernel that the arguments name; returns the exit code."""
    return ending.run_guarded(_main, argv)


def _main(argv: Sequence[str] | None) -> int:
    parser = arguments.parser("lanecheck kernel", DESCRIPTION, EXAMPLE)
    parser.add_argument(
        "kernel",
        metavar="KERNEL",
        nargs="?",
        help="the compiled kernel, a PTX file, FILE.ptx::NAME of several; or MODULE.py::FUNCTION of Triton; else the "
        "claim names it",
    )
    claim = "what it computes, on which arrays: a TOML file; several if each names its kernel"
    parser.add_argument("--claim", metavar="FILE", action="append", help=claim)
    _add_safety(parser)
    parser.add_argument("--seed", type=int, metavar="N", help="the seed of an earlier run, to repeat it")
    parser.add_argument("--budget", type=arguments.positive, metavar="N", help="the instructions that it may execute")
    for_all = "prove it for all sizes too, under the conditions that are printed"
    parser.add_argument("--for-all", action="store_true", help=for_all)
    written = "write a claim file for the sizes at which a proof for all sizes found it wrong"
    parser.add_argument("--write-claim", metavar="FILE", help=written)
    python = "the interpreter that has Triton (this one)"
    parser.add_argument("--python", metavar="FILE", default=sys.executable, help=python)
    add_execution(parser)
    arguments.add_require(parser)
    parser.add_argument("--strict", action="store_true", help="refute what breaks the letter of the ISA too")
    options = parser.parse_args(argv)
    if options.kernel is not None:
        _check_kernel(options.kernel)
    claims = options.claim or [None]
    if len(claims) > 1 and options.kernel is not None:
        raise UsageError(
            f"{options.kernel} with {len(claims)} claims: give one claim, or claims that name their kernels"
        )
    reports = [_report(argparse.Namespace(**vars(options) | {"claim": claim})) for claim in claims]
    cases = tuple(case for report in reports for case in report.cases)
    if options.write_claim:
        _write_claim(options.write_claim, cases)
    return output.report(replace(reports[0], cases=cases, require=frozenset(map(Check, options.require))), options)


def _write_claim(file: str, cases: Sequence[Case]) -> None:
    """Write the claim at which a proof for all sizes was refuted; UsageError if none of the claims is for all sizes."""
    whole = [case.all_sizes for case in cases if case.all_sizes is not None]
    if not whole:
        raise UsageError('--write-claim needs a claim for all sizes: give --for-all, or sizes = "all" in the claim')
    claims = [str(proof["claim"]) for proof in whole if "claim" in proof]
    if claims:
        write_file(file, claims[0])
    else:
        print(f"{file} not written: no sizes were found at which the kernel is wrong", file=sys.stderr)


def _add_safety(parser: argparse.ArgumentParser) -> None:
    """Add the options of a run without a claim."""
    safety = "no claim: is it safe to run, whatever it computes? The launch is that of --claim, or these options say it"
    parser.add_argument("--safety", action="store_true", help=safety)
    parser.add_argument("--grid", metavar="X[,Y[,Z]]", help="with --safety, the CTAs of the launch")
    parser.add_argument("--block", metavar="X[,Y[,Z]]", help="with --safety, the threads of a CTA")
    parser.add_argument("--smem", type=int, metavar="BYTES", help="with --safety, the dynamic shared memory of a CTA")
    param = "with --safety, the next parameter: NAME=TYPE[ELEMENTS], a pointer (const if read alone), or NAME=NUMBER"
    parser.add_argument("--param", action="append", metavar="NAME=…", help=param)


def _launch(options: argparse.Namespace) -> Any:
    """Return the claim's file, or the table of a launch that options give. Raises UsageError if neither is there."""
    own = {name: getattr(options, name) for name in ("grid", "block", "smem", "param")}
    given = [f"--{name}" for name, value in own.items() if value is not None]
    if given and (options.claim or not options.safety):
        raise UsageError(f"{', '.join(given)}: these say the launch of --safety without --claim")
    if options.claim:
        _refuse_text(options.claim)
        return options.claim
    if not options.safety:
        begun = "--claim CLAIM.toml, which `lanecheck init claim CLAIM.toml` begins"
        raise UsageError(f"what does the kernel compute? Give {begun}, or --safety if only safety is asked for")
    if options.grid is None or options.block is None:
        raise UsageError("--safety needs the launch: --claim FILE, or --grid, --block and a --param for each parameter")
    return launch_table(options.grid, options.block, options.smem or 0, options.param or ())


def _spell_launch(options: argparse.Namespace) -> str:
    """Return the options that give the launch, as they may be typed again."""
    words = ["--grid", options.grid, "--block", options.block]
    words += ["--smem", str(options.smem)] if options.smem else []
    return shlex.join([*words, *(word for param in options.param or () for word in ("--param", param))])


def _refuse_text(word: str) -> None:
    """Raise UsageError for the text of a claim where a file is wanted."""
    if re.match(r"\s*\w+\[[^\]]*\]\s*=", word):
        begun = "a TOML file that `lanecheck init claim CLAIM.toml` begins, and give --claim CLAIM.toml"
        raise UsageError(f'{word}: this is a claim\'s text, not a file; write it as claim = "…" into {begun}')


def _check_kernel(kernel: str) -> None:
    """Raise UsageError if the kernel's file is none, or of another kind."""
    _refuse_text(kernel)
    file, _, entry = kernel.partition("::")
    kernel = file if entry and file.endswith((".ptx", *CUDA)) else kernel
    if fault := find_fault(kernel):
        raise UsageError(fault)
    if Path(kernel).suffix not in (".ptx", *CUDA) and Path(kernel).is_file():
        raise UsageError(f"{kernel} isn't PTX: {purpose(Path(kernel))}")
    if "::" not in kernel and not Path(kernel).is_file():
        raise UsageError(f"{kernel}: there is no such file")


def _report(options: argparse.Namespace) -> Report:
    from verify.kernel.report import verify_kernel, verify_safety

    if options.safety and options.for_all:
        raise UsageError("--for-all proves a claim, and --safety has none: leave one of them out")
    launch = _launch(options)
    if forbidden(options.allow_exec) and (file := find_code(options.kernel, launch)):
        raise UsageError(f"{file} will be imported and run; in CI, allow that with --allow-exec")
    with Progress(1, "kernel", options.quiet) as shown:
        name = Path(options.kernel or options.claim).name
        shown.begin(name)
        verify = partial(verify_kernel, sizes="all" if options.for_all else "")
        if options.safety:
            verify = partial(verify_safety, spelled="" if options.claim else _spell_launch(options))
        return verify(
            options.kernel, launch,
            seed=options.seed, budget=options.budget, strict=options.strict, python=options.python,
            ticked=lambda steps: shown.begin(f"{name}, {steps} instructions executed"),
        )  # fmt: skip
