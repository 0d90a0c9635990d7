# SPDX-License-Identifier: Apache-2.0
"""Conformance of an implementation to the laws, as cases of a report; and inferred preconditions."""

from __future__ import annotations

import importlib.util
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from lanecheck.console.progress import each
from proofs.laws import refutations
from proofs.symbolic import campaign, execution, published_claims
from proofs.symbolic.attempt import Stopped, attempt
from proofs.symbolic.enumerated import LAWS, Enumerated, cases_of, enumerate_cases
from proofs.symbolic.execution import Examined, Operation, Target
from proofs.symbolic.families import InferenceError
from proofs.symbolic.infer import Inferred, infer_conditions
from proofs.symbolic.suite import examine_operations
from verify.core.errors import SpecError, UsageError
from verify.core.files import purpose
from verify.core.names import select
from verify.core.verdict import Property
from verify.laws.properties import CLAIM, DOCUMENTED, LEAST, PATHS, SMALL, LawChecker, OperationResult
from verify.report import Case, Report

BUDGET = 600
"""Seconds for one operation of another implementation at one rank."""
SMALL_SECONDS = 60
"""Seconds for the small layouts of one operation."""


def verify_module(
    module: str | None,
    path: str | None,
    only: Sequence[str],
    rank: int,
    fresh: bool,
    seconds: int = BUDGET,
    quiet: bool = False,
) -> Report:
    """Return the report on every operation of a module (None: our own) at every rank up to `rank`; then on R1 to R9.

    Each function is called on small layouts of every form first; if a call does not end, its paths are not followed.
    For our own operations at rank 3 the recorded results are reported, unless `fresh` executes them anew.
    """
    target = target_of(module, path)
    try:
        recorded = campaign.read_recorded() if target.exact and rank == campaign.RANK and not fresh else {}
    except campaign.EditedError as error:
        raise UsageError(f"{error}, or add --fresh, which does not read it") from error
    steps = list(_steps(target, only, rank, seconds, recorded))
    cases, missing = each(steps, lambda step, _: step[1](), "operations", lambda step: step[0], quiet)
    return Report(tuple(cases), missing=missing)


def _steps(
    target: Target, only: Sequence[str], rank: int, seconds: int, recorded: Mapping[str, Mapping[str, Any]]
) -> Iterator[tuple[str, Callable[[], Case]]]:
    """(name, function that makes its case) of every step of `verify_module`, in order."""
    claims = refutations.catalogue()
    listed = examine_operations(rank, target.exact)
    wanted = _select_names(listed, only)
    missing = [name for name in wanted if name not in claims and not hasattr(target.functions, name)]
    present = [name for name in wanted if name not in claims and name not in missing]
    endless: dict[str, Stopped] = {}
    checker = LawChecker()

    def case(name: str, *rows: Property, outcome: object = None, **more: Any) -> Case:
        code = OperationResult(f"{target.name}: {name}", outcome, **more)
        return Case(code.name, tuple(checker.verdicts(rows, code)))

    def absent(name: str, function: str) -> Case:
        return case(name, PATHS, lacks=f"{target.name} has no function {function}")

    def small(name: str) -> Case:
        outcome = run_by_cases(target, name, min(seconds, SMALL_SECONDS))
        endless.update({name: Stopped(f"not followed: {outcome.why}")} if isinstance(outcome, Stopped) else {})
        return case(f"{name}, small layouts", SMALL, outcome=outcome)

    def follow(operation: Operation) -> Case:
        lacking = [] if target.exact else [f for f in _list_callees(operation) if not hasattr(target.functions, f)]
        if lacking:
            return absent(operation.label, lacking[0])
        kept = recorded.get(operation.label)
        examined: Examined | Stopped
        if operation.name in endless:
            examined = endless[operation.name]
        elif kept is not None:
            examined = campaign.restore_result(operation.label, kept)
        else:
            examined = _examine(target, operation, seconds)
        return case(operation.label, PATHS, LEAST, outcome=examined, operation=operation.name, recorded=bool(kept))

    def decide_claim(name: str) -> Case:
        if not hasattr(target.functions, published_claims.NEEDS[name]):
            return absent(name, published_claims.NEEDS[name])
        search = partial(refutations.search, claims[name], published_claims.Claimed(target))
        outcome = attempt(search, min(seconds, SMALL_SECONDS))
        documented = name in published_claims.DOCUMENTED and not isinstance(outcome, Stopped)
        return case(name, DOCUMENTED if documented else CLAIM, outcome=outcome, published=claims[name])

    yield from ((name, partial(absent, name, name)) for name in missing)
    yield from ((f"{name}, small layouts", partial(small, name)) for name in present)
    yield from ((operation.label, partial(follow, operation)) for operation in listed if operation.name in present)
    yield from ((name, partial(decide_claim, name)) for name in wanted if name in claims)


def run_by_cases(target: Target, name: str, seconds: float) -> Enumerated | Stopped:
    """Return the result on small layouts.

    A single call that takes most of the time is reported as one that does not end.
    """
    cases_of(name)  # drawn before the time runs
    call, begun = "", 0.0

    def begin(now: str) -> None:
        nonlocal call, begun
        call, begun = now, time.monotonic()

    outcome = attempt(lambda: enumerate_cases(target, name, begin), seconds)
    if not isinstance(outcome, Stopped) or not call:
        return outcome
    if time.monotonic() - begun > seconds / 2:
        return Stopped(f"{call} does not end: cut off after {seconds:g} s (--budget)")
    return Stopped(f"{outcome.why}, at {call}")


def _list_callees(operation: Operation) -> tuple[str, ...]:
    """Return the functions of a module that an operation calls besides its own."""
    return ("complement", "size") if operation.label.startswith("logical_divide") and "N:r" in operation.label else ()


def _examine(target: Target, operation: Operation, seconds: int) -> Examined | Stopped:
    """Return the result of executing an operation; an exception is caught only from a module of others."""
    if target.exact:
        return execution.examine(target, operation)
    return attempt(lambda: execution.examine(target, operation), seconds)


def listing(module: str | None, path: str | None, only: Sequence[str], rank: int) -> str:
    """Return what `verify_module` would execute and search, one line each."""
    listed = examine_operations(rank, target_of(module, path).exact)
    wanted = _select_names(listed, only)
    claims = {name: claim for name, claim in refutations.catalogue().items() if name in wanted}
    lines = [f"{name}, small layouts" for name in wanted if name in LAWS]
    lines += [o.label for o in listed if o.name in wanted]
    return "".join(f"{line}\n" for line in [*lines, *(f"{name:<4} {claims[name].claim}" for name in claims)])


def _select_names(listed: Sequence[Operation], only: Sequence[str]) -> list[str]:
    """Return the names of the operations and published claims that --only selects; all of them without it."""
    known = [*dict.fromkeys(o.name for o in listed), *refutations.catalogue()]
    return select(only, known, "operation") if only else known


def target_of(module: str | None, path: str | None) -> Target:
    """Return the implementation that a module or a file names; without either, `layouts`."""
    if module is None:
        return execution.ours()
    check_module(module)
    target = attempt(lambda: execution.foreign(module, path), SMALL_SECONDS)
    if isinstance(target, Stopped):
        raise SpecError("module", f"{module}{f' in {path}' if path else ''}: {target.why}")
    return target


def check_module(module: str) -> None:
    """SpecError where the name of a module is that of a file."""
    if os.path.isfile(module):
        suggestion = (
            purpose(Path(module)) if module.endswith(".toml") else "a file: give its name alone, its folder by --path"
        )
        raise SpecError("module", f"{module}: {suggestion}")


def infer(operation: str, shape: str, by: str | None, seconds: float, say: Callable[[str], None]) -> Inferred:
    """Return the exact condition under which an operation is right for some layouts, with an example on each side."""
    if importlib.util.find_spec("z3") is None:
        raise SpecError("infer", "needs z3")
    try:
        return infer_conditions(operation, shape, by, seconds, say)
    except InferenceError as error:
        raise SpecError("", str(error)) from error
