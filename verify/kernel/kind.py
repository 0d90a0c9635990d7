# SPDX-License-Identifier: Apache-2.0
"""Compiled kernels as a kind of subject, with the claim that says what one computes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from verify.core.errors import UsageError
from verify.kind import SURE, Kind, PropertyTable, Recognition

FUNCTION = re.compile(r".+\.py::\w+")
OF_CLAIMS = frozenset({"claim", "arrays", "params", "grid", "block"})  # keys at the top of a claim's file


def recognize_function(text: str) -> Recognition | None:
    """Return a recognition of a function of a Python file."""
    return Recognition(SURE, "a function of a file") if FUNCTION.fullmatch(text) else None


def is_claim(tables: Mapping[str, object]) -> bool:
    """Return whether a TOML file is the claim of a kernel."""
    return len(OF_CLAIMS & tables.keys()) > 1


def arguments(what: Sequence[str]) -> Sequence[str]:
    """Return the arguments of the command: a claim is an option of it. Raises UsageError for a claim alone."""
    kernels = [one for one in what if not one.endswith(".toml")]
    claims = [one for one in what if one not in kernels]
    if not kernels:
        raise UsageError(f"{claims[0]} says what a kernel computes: give the kernel too, FILE.ptx or FILE.py::function")
    return [*kernels, *(word for claim in claims for word in ("--claim", claim))]


def tables() -> Sequence[PropertyTable]:
    """Return the properties of kernels."""
    from verify.kernel import verdict

    return (PropertyTable("kernel.md", verdict.KERNEL, verdict.PROPERTIES),)


KERNEL: Kind[Any] = Kind(
    name="kernel",
    one="a kernel",
    plural="kernels",
    argument="a compiled kernel (FILE.ptx, or FILE.py::function of Triton, with its claim)",
    example=("examples/kernel/matmul.ptx", "examples/kernel/matmul.toml"),
    command="verify.kernel.command",
    arguments=arguments,
    spelled=recognize_function,
    suffixes=(".ptx",),
    document=is_claim,
    tables=tables,
)
