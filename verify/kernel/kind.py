# SPDX-License-Identifier: Apache-2.0
"""Compiled kernels as a kind of subject, with the claim that says what one computes."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lanecheck.console.command import forbidden
from verify.core.errors import UsageError
from verify.kernel.claims.keys import is_claim
from verify.kind import SURE, Kind, PropertyTable, Recognition
from verify.report import Report

FUNCTION = re.compile(r".+\.(py|ptx|cu)::\w+")


def recognize_function(text: str) -> Recognition | None:
    """Return a recognition of a function of a Python file, or of a kernel of a file that has several."""
    return Recognition(SURE, "a function of a file") if FUNCTION.fullmatch(text) else None


def describe_file(path: Path) -> str:
    """Return what the file of a kernel or of a claim is, and which command reads it."""
    if path.suffix == ".toml":
        return f"this is the claim of a kernel: lanecheck check KERNEL.ptx {path}"
    if path.suffix == ".cu":
        index = "or give its index arithmetic, `lanecheck index --row … --col …`"
        return f"this is CUDA C++, which nvcc compiles: lanecheck check {path} CLAIM.toml, {index}"
    return f"this is a compiled kernel: lanecheck check {path} --claim CLAIM.toml"


def split(what: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the kernels and the claims among some arguments: a claim alone may name its kernel."""
    kernels = [name for name in what if not name.endswith(".toml")]
    claims = [name for name in what if name not in kernels]
    return kernels, claims


def arguments(what: Sequence[str]) -> Sequence[str]:
    """Return the arguments of the command: a claim is an option of it."""
    kernels, claims = split(what)
    return [*kernels, *(word for claim in claims for word in ("--claim", claim))]


def report_kernel(  # noqa: PLR0913 - the options of the command
    what: Sequence[str],
    *,
    claim: str | Path | Mapping[str, Any] | None = None,
    seed: int | None = None,
    budget: int | None = None,
    strict: bool = False,
    safety: bool = False,
    python: str = sys.executable,
    target: str = "",
    compile_for: str = "",
    allow_exec: bool = False,
    allowed_by: str = "allow_exec=True",
) -> Report:
    """Return the verdicts on a kernel, whose claim is an option or one of the arguments, as `verify_kernel` does.

    With `safety` nothing is claimed of its values, as `verify_safety` does, and the claim gives the launch.
    `compile_for` is the target of what is compiled here; PTX keeps its own, while another `target` is an error.
    """
    from verify.kernel import report, sources

    kernels, claims = split(what)
    if len(kernels) > 1 or len(claims) + (claim is not None) != 1:
        raise UsageError(f"{', '.join(what)}: give one kernel and its claim, as FILE.toml or claim=")
    kernel, asked = next(iter(kernels), None), claims[0] if claim is None else claim
    if forbidden(allow_exec) and (file := sources.find_code(kernel, asked)):
        raise UsageError(f"{file} will be imported and run; in CI, allow that with {allowed_by}")
    if compile_for and not sources.find_name(kernel, asked).partition("::")[0].endswith(".ptx"):
        target = target or compile_for
    if safety:
        return report.verify_safety(kernel, asked, seed=seed, budget=budget, strict=strict, python=python)
    return report.verify_kernel(kernel, asked, seed=seed, budget=budget, strict=strict, python=python, target=target)


def tables() -> Sequence[PropertyTable]:
    """Return the properties of kernels."""
    from verify.kernel import verdict
    from verify.kernel.sizes.verdict import SIZES

    return (PropertyTable("kernel.md", verdict.KERNEL, (*verdict.PROPERTIES, SIZES)),)


KERNEL: Kind[Any] = Kind(
    name="kernel",
    singular="a kernel",
    plural="kernels",
    argument="a kernel with its claim (FILE.ptx; FILE.cu, which nvcc compiles; FILE.py::function of Triton)",
    example=("examples/kernel/matmul.ptx", "examples/kernel/matmul.toml"),
    command="verify.kernel.command",
    arguments=arguments,
    spelled=recognize_function,
    suffixes=(".ptx", ".cu"),
    document=is_claim,
    report=report_kernel,
    says=describe_file,
    template="verify.kernel.claims.template",
    tables=tables,
)
