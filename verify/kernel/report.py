# SPDX-License-Identifier: Apache-2.0
"""The report on a compiled kernel: what the command prints, as a function of Python."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from verify.core.errors import UsageError
from verify.kernel.check import BUDGET, Outcome, check
from verify.kernel.claims.claim import Claim, claim_of
from verify.kernel.claims.claim_file import located, read_claim
from verify.kernel.ptx.source import PtxError
from verify.kernel.safety import check_safety, safety_case
from verify.kernel.verdict import case
from verify.report import Report

MAX_BYTES = 64 << 20


def verify_kernel(
    kernel: str | Path,
    claim: str | Path | Mapping[str, Any],
    *,
    seed: int | None = None,
    budget: int | None = None,
    strict: bool = False,
    python: str = sys.executable,
    ticked: Callable[[int], None] = lambda steps: None,
) -> Report:
    """Return the verdicts on a compiled kernel, one case for each launch of its claim.

    `kernel` is a PTX file, the text of one, or MODULE.py::FUNCTION of Triton, which the interpreter `python` compiles.
    `claim` is a TOML file, or its table. `budget` bounds the instructions that are executed, `ticked` hears how many
    were; `strict` refutes what breaks the letter of the ISA too.

    >>> report = verify_kernel("examples/kernel/fragment.ptx", "examples/kernel/fragment.toml", seed=1)
    >>> bool(report), report.cases[0].headline
    (False, 'REFUTED')

    Raises UsageError for a file that cannot be read, and SpecError for a claim that is none.
    """
    return _verify(kernel, claim, strict, python, seed=seed, budget=budget or BUDGET, ticked=ticked)


def verify_safety(
    kernel: str | Path,
    launch: str | Path | Mapping[str, Any],
    *,
    seed: int | None = None,
    budget: int | None = None,
    strict: bool = False,
    python: str = sys.executable,
    ticked: Callable[[int], None] = lambda steps: None,
) -> Report:
    """Return whether a compiled kernel is safe to run, one case for each launch; nothing is claimed of its values.

    `launch` is a claim's TOML file or table, whose key `claim` may be missing. The others are those of `verify_kernel`.

    >>> report = verify_safety("examples/kernel/wrong.ptx", "examples/kernel/matmul.toml", seed=1)
    >>> bool(report), report.cases[0].headline
    (True, 'SAFE')

    Raises UsageError for a file that cannot be read, and SpecError for a launch that is none.
    """
    return _verify(kernel, launch, strict, python, claimed=False, seed=seed, budget=budget or BUDGET, ticked=ticked)


def _verify(
    kernel: str | Path, claim: str | Path | Mapping[str, Any], strict: bool, python: str, *, claimed: bool = True,
    **options: Any,
) -> Report:  # fmt: skip
    text = str(kernel)
    name = "kernel" if "\n" in text else text
    said = "claim" if isinstance(claim, Mapping) else str(claim)
    words, again = "", f"lanecheck kernel {name}{'' if claimed else ' --safety'} --claim {said}"
    if "::" in name:
        from verify.kernel.claims.compiled import compiled  # starts a process, which a PTX file doesn't need

        ptx, found, words = compiled(name, _path(claim), python)
    else:
        table = isinstance(claim, Mapping)
        found = claim_of(claim, claimed=claimed) if table else read_claim(claim, claimed=claimed)  # type: ignore[arg-type]
        ptx = text if "\n" in text else _text(text)
    run = check if claimed else check_safety
    with nullcontext() if isinstance(claim, Mapping) else located(claim):
        outcomes = _check(run, ptx, found, name, words, strict=strict, **options)
    file, cases = name.partition("::")[0], []
    for one in outcomes:
        replay = f"{again} --seed {one.seed}"
        if claimed:
            cases.append(case(one, found.text, strict, replay, file, words))
        else:
            cases.append(safety_case(one, strict, replay, file, words))
    return Report(tuple(cases))


def _check(
    run: Callable[..., list[Outcome]], ptx: str, claim: Claim, name: str, words: str, **options: Any
) -> list[Outcome]:
    """Check a kernel; raises UsageError, with the file, for PTX that cannot be read."""
    try:
        return run(ptx, claim, **options)
    except PtxError as error:
        place = f"{name}, its PTX, line " if words else f"{name}:"
        raise UsageError(f"{place}{error.line}: {error.problem}") from error


def _path(claim: str | Path | Mapping[str, Any]) -> str:
    if isinstance(claim, Mapping):
        raise UsageError("a function that is compiled here needs its claim as a file, which says how it is compiled")
    return str(claim)


def _text(name: str) -> str:
    """Return the text of a PTX file; raises UsageError in one line."""
    try:
        path = Path(name)
        if path.stat().st_size > MAX_BYTES:
            raise UsageError(f"{name}: a PTX file has at most {MAX_BYTES >> 20} MiB")
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise UsageError(f"cannot read {name}: {error.strerror}") from error
    except (UnicodeDecodeError, ValueError) as error:
        raise UsageError(f"{name}: this is no PTX text: {str(error)[:80]}") from error
