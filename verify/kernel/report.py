# SPDX-License-Identifier: Apache-2.0
"""The report on a compiled kernel: what the command prints, as a function of Python."""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from verify.core.errors import UsageError
from verify.kernel.check import BUDGET, LaunchOutcome, check
from verify.kernel.claims.claim import KernelClaim, claim_of
from verify.kernel.claims.claim_file import open_claim
from verify.kernel.claims.defaults import close_launch, close_rows
from verify.kernel.claims.every import ALL, with_all
from verify.kernel.kept import keep_ptx
from verify.kernel.mends import Mending
from verify.kernel.ptx.source import PtxError
from verify.kernel.sources import find_source, refuse_claim
from verify.kernel.verdict import case, spell_finding
from verify.report import Case, Report

Sizes: TypeAlias = str | Mapping[str, int] | Sequence[Mapping[str, int]]
SEVERAL = 16  # times the budget, for sizes that z3 names


def verify_kernel(  # noqa: PLR0913 - the options of the command
    kernel: object = None,
    claim: str | Path | Mapping[str, Any] | None = None,
    *,
    sizes: Sizes = "",
    target: str = "",
    seed: int | None = None,
    budget: int | None = None,
    strict: bool = False,
    python: str = sys.executable,
    ticked: Callable[[int], None] = lambda steps: None,
) -> Report:
    """Return the verdicts on a compiled kernel, one case for each launch of its claim.

    `kernel` is a PTX file, the text of one (bytes too, as NVRTC gives it), a compiled object that has it (`__ptx__`, or
    `asm["ptx"]`), a function of Triton or its MODULE.py::FUNCTION, which the interpreter `python` compiles, or CUDA C++
    (a file .cu, or its text), which nvcc compiles. Without it the claim names one, by `ptx` or by `function` of its
    table `triton`.
    `claim` is a TOML file, or its table. `sizes`, a table or several, take the place of its own; "all" asks for a proof
    for all sizes besides, as `sizes = "all"` in the claim does. `target` says for what a kernel is compiled here.
    `budget` bounds the instructions that are executed, `ticked` hears how many were; `strict` refutes what breaks the
    letter of the ISA too.

    >>> report = verify_kernel("examples/kernel/fragment.ptx", "examples/kernel/fragment.toml", seed=1)
    >>> bool(report), report.cases[0].headline
    (False, 'REFUTED')

    Raises UsageError for a file that cannot be read, and SpecError for a claim that is none.
    """
    given = _Given(kernel, refuse_claim(claim, kernel), sizes, target)
    return _verify(given, strict, python, seed=seed, budget=budget or BUDGET, ticked=ticked)


def verify_safety(  # noqa: PLR0913
    kernel: object,
    launch: str | Path | Mapping[str, Any],
    *,
    spelled: str = "",
    seed: int | None = None,
    budget: int | None = None,
    strict: bool = False,
    python: str = sys.executable,
    ticked: Callable[[int], None] = lambda steps: None,
) -> Report:
    """Return whether a compiled kernel is safe to run, one case for each launch; nothing is claimed of its values.

    `launch` is a claim's TOML file or table, whose key `claim` may be missing; `spelled` is how
    a command line gives it, for the replay. The others are those of `verify_kernel`.

    >>> report = verify_safety("examples/kernel/wrong.ptx", "examples/kernel/matmul.toml", seed=1)
    >>> bool(report), report.cases[0].headline
    (True, 'SAFE')

    Raises UsageError for a file that cannot be read, and SpecError for a launch that is none.
    """
    from verify.kernel.safety import check_safety, safety_case  # opaque data, which no claim has

    given = _Given(kernel, refuse_claim(launch, kernel), spelled=spelled)
    options = {"seed": seed, "budget": budget or BUDGET, "ticked": ticked}
    return _verify(given, strict, python, run=check_safety, case_of=safety_case, **options)


class _Given(NamedTuple):
    """What a caller gives: a kernel and its claim."""

    kernel: object
    claim: str | Path | Mapping[str, Any]
    sizes: Sizes = ""
    target: str = ""
    spelled: str = ""  # the claim on a command line, if it isn't `--claim FILE`


def _verify(
    given: _Given, strict: bool, python: str, *, run: Callable[..., list[LaunchOutcome]] = check,
    case_of: Callable[..., Case] | None = None, **options: Any,
) -> Report:  # fmt: skip
    """Return the report of a claim, or of what `run` finds without one, whose cases are `case_of` the outcomes."""
    claim, claimed = given.claim, case_of is None
    file_of_claim = "" if isinstance(claim, Mapping) else str(claim)
    with nullcontext(dict(claim)) if isinstance(claim, Mapping) else open_claim(claim) as read:
        table = _with_sizes(read, given.sizes)
        source = find_source(given.kernel, table, file_of_claim, given.target)
        table |= {"kernel": source.entry} if source.entry else {}
        if source.function:
            from verify.kernel.claims.compiled import (
                compile_function,  # starts a process, which a PTX file doesn't need
            )

            if given.target:
                table["triton"] = {**table.get("triton", {}), "target": given.target}
            ptx, parsed, words = compile_function(source.name, table, python)
        else:
            ptx, parsed, words = source.ptx, claim_of(table, file_of_claim, claimed=claimed), source.compiled
        if options["seed"] is None and os.environ.get("CI"):  # a run is as the one before, and so are its alerts
            options["seed"] = zlib.crc32(ptx.encode())
        spelled = given.spelled or f"--claim {file_of_claim or 'claim'}"
        again = f"lanecheck kernel {source.name}{'' if claimed else ' --safety'} {spelled}"
        outcomes = _check(run, ptx, parsed, source.name, words, strict=strict, **options)
        if words and any(finding.line for outcome in outcomes for finding in outcome.findings):
            words = f"{words}; {keep_ptx(ptx, source.name)}"
        whole = _for_all(ptx, parsed, source.name, again, outcomes, options) if claimed else []
    file, cases, good = source.name.partition("::")[0], [], {"VERIFIED", "SAFE"}
    again_with = {**options, "seed": outcomes[0].seed, "strict": strict, **({"briefly": True} if claimed else {})}

    @cache
    def confirms(changed: str, closed: bool = False) -> bool:
        every = (close_launch(launch, table) if closed else launch for launch in parsed.launches)
        launches = (parsed._replace(launches=(launch,)) for launch in every)  # the first wrong one is enough
        try:
            return all(outcome.status in good for alone in launches for outcome in run(changed, alone, **again_with))
        except PtxError:
            return False

    own = file if not words and Path(file).is_file() else ""
    mending = Mending(ptx, confirms, own, outcomes[0].kernel, parsed.launches[0], "verified" if claimed else "SAFE")
    for outcome in outcomes:
        replay = f"{again} --seed {outcome.seed}"
        if case_of is None:
            cases.append(case(outcome, parsed.text, strict, replay, file, words, mending))
        else:
            cases.append(case_of(outcome, strict, replay, file, words, mending))
    if any(outcome.status == "REFUTED" for outcome in outcomes) and close_rows(table) and confirms(ptx, closed=True):
        cases = [replace(made, notes=(_suggest_strides(table, mending.good), *made.notes)) for made in cases]
    return Report((*cases, *whole))


def _suggest_strides(table: Mapping[str, Any], good: str) -> str:
    """Return which strides a claim may lack, under which its kernel is right."""
    closed = close_rows(table)
    spelled = {
        name: ", ".join(f'"{each}"' if isinstance(each, str) else "1" for each in closed[name]) for name in closed
    }
    ways = " and ".join(f"strides = [{strides}] of {name}" for name, strides in spelled.items())
    chosen = f"of {' and '.join(closed)} aren't in the claim, so rows with gaps were chosen; without gaps the kernel"
    return f"strides  {chosen} is {good}: if that is meant, say {ways}"


def _with_sizes(table: Mapping[str, Any], sizes: Sizes) -> dict[str, Any]:
    """Return a claim's table with other sizes, or for all sizes too if they are "all"."""
    if isinstance(sizes, Mapping):
        return {**table, "sizes": dict(sizes)}
    if not isinstance(sizes, str):
        return {**table, "sizes": [dict(chosen) for chosen in sizes]}
    if sizes not in ("", ALL):
        raise UsageError(f'sizes={sizes!r}: expected "all", a table of sizes, or several')
    return dict(with_all(table) if sizes else table)


def _for_all(
    ptx: str, claim: KernelClaim, name: str, again: str, outcomes: list[LaunchOutcome], options: Mapping[str, Any]
) -> list[Case]:
    """Return the case for all sizes, if the claim asks for it."""
    if claim.for_all is None:
        return []
    from verify.kernel.sizes.verdict import LiftedKernel, lift  # a dozen modules, which one table of sizes doesn't need

    seed, kernel, file = outcomes[0].seed, outcomes[0].kernel, name.partition("::")[0]
    subject = LiftedKernel(ptx, claim.for_all, kernel, file, f"{again} --for-all", seed)

    def check_at(table: Mapping[str, Any]) -> LaunchOutcome:
        return check(ptx, claim_of(table), seed=seed, budget=SEVERAL * options["budget"])[0]

    return [lift(subject, check_at, lambda outcome: spell_finding(outcome.findings[0]), options["ticked"])]


def _check(
    run: Callable[..., list[LaunchOutcome]], ptx: str, claim: KernelClaim, name: str, words: str, **options: Any
) -> list[LaunchOutcome]:
    """Check a kernel; raises UsageError, with the file, for PTX that cannot be read."""
    try:
        return run(ptx, claim, **options)
    except PtxError as error:
        file, _, entry = name.partition("::")
        place = f"{file}, its PTX, line " if words else f"{file}:"
        several = "several kernels" in error.problem and not entry and Path(file).is_file()
        way = f"; {file}::NAME chooses one" if several else ""
        raise UsageError(f"{place}{error.line}: {error.problem}{way}") from error
