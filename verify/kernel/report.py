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
from verify.kernel.claims.every import ALL, with_all
from verify.kernel.ptx.source import PtxError
from verify.kernel.safety import check_safety, safety_case
from verify.kernel.sizes.verdict import LiftedKernel, lift
from verify.kernel.verdict import case, said
from verify.report import Case, Report

MAX_BYTES = 64 << 20
SEVERAL = 16  # times the budget, for sizes that z3 names


def verify_kernel(  # noqa: PLR0913 - the options of the command
    kernel: str | Path,
    claim: str | Path | Mapping[str, Any],
    *,
    seed: int | None = None,
    budget: int | None = None,
    strict: bool = False,
    python: str = sys.executable,
    sizes: str = "",
    ticked: Callable[[int], None] = lambda steps: None,
) -> Report:
    """Return the verdicts on a compiled kernel, one case for each launch of its claim.

    `kernel` is a PTX file, the text of one, or MODULE.py::FUNCTION of Triton, which the interpreter `python` compiles.
    `claim` is a TOML file, or its table. `budget` bounds the instructions that are executed, `ticked` hears how many
    were; `strict` refutes what breaks the letter of the ISA too. `sizes="all"` asks for a proof for all sizes besides,
    as `sizes = "all"` in the claim does.

    >>> report = verify_kernel("examples/kernel/fragment.ptx", "examples/kernel/fragment.toml", seed=1)
    >>> bool(report), report.cases[0].headline
    (False, 'REFUTED')

    Raises UsageError for a file that cannot be read, and SpecError for a claim that is none.
    """
    return _verify(kernel, claim, strict, python, sizes=sizes, seed=seed, budget=budget or BUDGET, ticked=ticked)


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
    sizes: str = "", **options: Any,
) -> Report:  # fmt: skip
    text = str(kernel)
    name = "kernel" if "\n" in text else text
    file_of_claim = "claim" if isinstance(claim, Mapping) else str(claim)
    words, again = "", f"lanecheck kernel {name}{'' if claimed else ' --safety'} --claim {file_of_claim}"
    if "::" in name:
        from verify.kernel.claims.compiled import compiled  # starts a process, which a PTX file doesn't need

        ptx, found, words = compiled(name, _path(claim), python)
    else:
        found = _claim(claim, sizes, claimed)
        ptx = text if "\n" in text else _text(text)
    run = check if claimed else check_safety
    with nullcontext() if isinstance(claim, Mapping) else located(claim):
        outcomes = _check(run, ptx, found, name, words, strict=strict, **options)
        whole = _for_all(ptx, found, name, again, outcomes, options) if claimed else []
    file, cases = name.partition("::")[0], []
    for one in outcomes:
        replay = f"{again} --seed {one.seed}"
        if claimed:
            cases.append(case(one, found.text, strict, replay, file, words))
        else:
            cases.append(safety_case(one, strict, replay, file, words))
    return Report((*cases, *whole))


def _claim(claim: str | Path | Mapping[str, Any], sizes: str, claimed: bool) -> Claim:
    """Return the claim, for all sizes too if `sizes` is "all"."""
    if sizes not in ("", ALL):
        raise UsageError(f'sizes={sizes!r}: expected "all"')
    if not sizes:
        if isinstance(claim, Mapping):
            return claim_of(claim, claimed=claimed)
        return read_claim(claim, claimed=claimed)
    with nullcontext(claim) if isinstance(claim, Mapping) else located(claim) as table:
        return claim_of(with_all(table), "" if isinstance(claim, Mapping) else str(claim))


def _for_all(
    ptx: str, claim: Claim, name: str, again: str, outcomes: list[Outcome], options: Mapping[str, Any]
) -> list[Case]:
    """Return the case for all sizes, if the claim asks for it."""
    if claim.for_all is None:
        return []
    seed, kernel, file = outcomes[0].seed, outcomes[0].kernel, name.partition("::")[0]
    subject = LiftedKernel(ptx, claim.for_all, kernel, file, f"{again} --for-all", seed)

    def check_at(table: Mapping[str, Any]) -> Outcome:
        return check(ptx, claim_of(table), seed=seed, budget=SEVERAL * options["budget"])[0]

    return [lift(subject, check_at, lambda outcome: said(outcome.findings[0]), options["ticked"])]


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
