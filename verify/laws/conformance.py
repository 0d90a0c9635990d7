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

from lanecheck_console.progress import each
from proofs.laws import refutations
from proofs.laws.refutations import Refutation
from proofs.symbolic import campaign, conformance, execution
from proofs.symbolic.attempt import Stopped, attempted
from proofs.symbolic.enumerated import REQUIRED, Enumerated, cases_of, enumerated
from proofs.symbolic.execution import Examined, Operation, Target
from proofs.symbolic.families import InferenceError
from proofs.symbolic.infer import Inferred, inferred
from proofs.symbolic.suite import examined
from verify.core.errors import SpecError
from verify.core.files import purpose
from verify.core.names import select
from verify.core.verdict import Check, Claim, Counterexample, Evidence, Status, Verdict, join
from verify.laws import properties
from verify.report import Case, Report

BUDGET = 600
"""Seconds for one operation of another implementation at one rank."""
SMALL = 60
"""Seconds for the small layouts of one operation."""
LEAST = {
    "coalesce": "leaves the fewest modes",
    "complement": "goes no further than the cotarget makes it",
    "right_inverse": "finds every value of a compact layout",
}
"""What is checked on small layouts only, not on paths."""


def verify_module(
    module: str | None,
    path: str | None,
    only: Sequence[str],
    rank: int,
    fresh: bool,
    seconds: int = BUDGET,
    quiet: bool = False,
) -> Report:
    """The report on every operation of a module (None: our own) at every rank up to `rank`; then on R1 to R9.

    Each function is called on small layouts of every form first; if a call does not end, its paths are not followed.
    For our own operations at rank 3 the recorded results are reported, unless `fresh` executes them anew.
    """
    target = target_of(module, path)
    recorded = campaign.recorded() if target.exact and rank == campaign.RANK and not fresh else {}
    steps = list(_steps(target, only, rank, seconds, recorded))
    found, missing = each(steps, lambda step, _: step[1](), "operations", lambda step: step[0], quiet)
    return Report(tuple(case for cases in found for case in cases), missing=missing)


def _steps(
    target: Target, only: Sequence[str], rank: int, seconds: int, recorded: Mapping[str, Mapping[str, Any]]
) -> Iterator[tuple[str, Callable[[], list[Case]]]]:
    """(name, function that makes its cases) of every step of `verify_module`, in order."""
    claims = refutations.catalogue()
    listed = examined(rank, target.exact)
    wanted = _wanted(listed, only)
    missing = [name for name in wanted if name not in claims and not hasattr(target.functions, name)]
    present = [name for name in wanted if name not in claims and name not in missing]
    endless: dict[str, Stopped] = {}

    def small(name: str) -> list[Case]:
        found = run_by_cases(target, name, min(seconds, SMALL))
        endless.update({name: Stopped(f"not followed: {found.why}")} if isinstance(found, Stopped) else {})
        return [Case(f"{target.name}: {name}, small layouts", (_small(target, name, found),))]

    def followed(operation: Operation) -> list[Case]:
        kept = recorded.get(operation.label)
        found: Examined | Stopped
        if operation.name in endless:
            found = endless[operation.name]
        else:
            found = _examined(target, operation, seconds) if kept is None else campaign.restored(operation.label, kept)
        verdicts = (_verdict(target, operation, found, bool(kept)), *_least(target, operation))
        return [Case(f"{target.name}: {operation.label}", verdicts)]

    def absent(name: str, function: str) -> list[Case]:
        return [_absent(target, name, function)]

    yield from ((name, partial(absent, name, name)) for name in missing)
    yield from ((f"{name}, small layouts", partial(small, name)) for name in present)
    for operation in (one for one in listed if one.name in present):
        lacking = [] if target.exact else [f for f in _called(operation) if not hasattr(target.functions, f)]
        step = partial(absent, operation.label, lacking[0]) if lacking else partial(followed, operation)
        yield operation.label, step
    for name in (name for name in wanted if name in claims):
        yield name, lambda name=name: [_claim(target, claims[name], min(seconds, SMALL))]  # type: ignore[misc]


def run_by_cases(target: Target, name: str, seconds: float) -> Enumerated | Stopped:
    """The result on small layouts; a single call that takes most of the time is reported as one that does not end."""
    cases_of(name)  # drawn before the time runs
    call, begun = "", 0.0

    def begin(now: str) -> None:
        nonlocal call, begun
        call, begun = now, time.monotonic()

    found = attempted(lambda: enumerated(target, name, begin), seconds)
    if not isinstance(found, Stopped) or not call:
        return found
    if time.monotonic() - begun > seconds / 2:
        return Stopped(f"{call} does not end: cut off after {seconds:g} s (--budget)")
    return Stopped(f"{found.why}, at {call}")


def _called(operation: Operation) -> tuple[str, ...]:
    """The functions of a module that an operation calls besides its own."""
    return ("complement", "size") if operation.label.startswith("logical_divide") and "N:r" in operation.label else ()


def _examined(target: Target, operation: Operation, seconds: int) -> Examined | Stopped:
    """The result of executing an operation; an exception is caught only from a module of others."""
    if target.exact:
        return execution.examine(target, operation)
    return attempted(lambda: execution.examine(target, operation), seconds)


def listing(module: str | None, path: str | None, only: Sequence[str], rank: int) -> str:
    """What `verify_module` would execute and search, one line each."""
    listed = examined(rank, target_of(module, path).exact)
    wanted = _wanted(listed, only)
    claims = {name: claim for name, claim in refutations.catalogue().items() if name in wanted}
    lines = [f"{name}, small layouts" for name in wanted if name in REQUIRED]
    lines += [o.label for o in listed if o.name in wanted]
    return "".join(f"{line}\n" for line in [*lines, *(f"{name:<4} {claims[name].claim}" for name in claims)])


def _wanted(listed: Sequence[Operation], only: Sequence[str]) -> list[str]:
    """The names of the operations and published claims that --only selects; all of them without it."""
    known = [*dict.fromkeys(o.name for o in listed), *refutations.catalogue()]
    return select(only, known, "operation") if only else known


def _claim(target: Target, refutation: Refutation, seconds: int) -> Case:
    """Whether an implementation has the error of a published claim, searched smallest first."""
    function = conformance.NEEDS[refutation.name]
    if not hasattr(target.functions, function):
        return _absent(target, refutation.name, function)
    found = attempted(lambda: refutations.search(refutation, conformance.Claimed(target)), seconds)
    subject = f"{target.name}: {refutation.name}"
    cases = refutations.searched(refutation)
    if refutation.name in conformance.DOCUMENTED and not isinstance(found, Stopped):
        claim = Claim(subject, "", properties.REFUTED, f"false: {refutation.claim} ({refutation.source})")
        status = Status.PROVED if found else Status.UNKNOWN
        text = found.reason if found else f"no counterexample among {cases} cases"
        return Case(subject, (join(claim, [Evidence(Check.PROOF, status, f"counterexample: {text}", reason=text)]),))
    claim = Claim(subject, "", properties.CLAIM, f"does not go wrong where this is claimed: {refutation.claim}")
    if isinstance(found, Stopped):
        evidence = Evidence(Check.PROOF, Status.UNKNOWN, "", reason=found.why)
    elif found is None:
        evidence = Evidence(Check.PROOF, Status.AGREES, f"{cases} cases, right or rejected", cases)
    else:
        wrong = Counterexample({}, found.reason, damage=(f"holds instead: {refutation.repair}",))
        evidence = Evidence(Check.PROOF, Status.REFUTED, f"{cases} cases, smallest first", counterexample=wrong)
    return Case(subject, (join(claim, [evidence]),))


def target_of(module: str | None, path: str | None) -> Target:
    """The implementation that a module or a file names; without either, `layouts`."""
    if module is None:
        return execution.ours()
    if os.path.isfile(module):
        suggestion = (
            purpose(Path(module)) if module.endswith(".toml") else "a file: give its name alone, its folder by --path"
        )
        raise SpecError("module", f"{module}: {suggestion}")
    found = attempted(lambda: execution.foreign(module, path), SMALL)
    if isinstance(found, Stopped):
        raise SpecError("module", f"{module}{f' in {path}' if path else ''}: {found.why}")
    return found


def _absent(target: Target, name: str, function: str) -> Case:
    claim = Claim(f"{target.name}: {name}", "", properties.PATHS, "keeps its definition")
    reason = f"{target.name} has no function {function}"
    return Case(claim.subject, (join(claim, [Evidence(Check.PROOF, Status.UNCHECKED, "", reason=reason)]),))


def _small(target: Target, name: str, found: Enumerated | Stopped) -> Verdict:
    """The verdict on a function for small layouts: nested, of ranks to 4, with extents of 1 and strides of 0."""
    claim = Claim(f"{target.name}: {name}, small layouts", "", properties.SMALL, "keeps its definition on each of them")
    if isinstance(found, Stopped):
        return join(claim, [Evidence(Check.PROOF, Status.UNKNOWN, "", reason=found.why)])
    method = f"{found.cases} layouts to rank 4, {found.refused} rejected"
    if found.faults:
        wrong = Counterexample({}, found.faults[0], damage=tuple(f"also {fault}" for fault in found.faults[1:]))
        return join(
            claim, [Evidence(Check.PROOF, Status.REFUTED, f"{method}, {found.wrong} wrong", counterexample=wrong)]
        )
    return join(claim, [Evidence(Check.PROOF, Status.AGREES, method, found.cases)])


def _verdict(target: Target, operation: Operation, found: Examined | Stopped, recorded: bool) -> Verdict:
    claim = Claim(f"{target.name}: {operation.label}", "", properties.PATHS, "keeps its definition on every path")
    if isinstance(found, Stopped):
        return join(claim, [Evidence(Check.PROOF, Status.UNKNOWN, "", reason=found.why)])
    method = "recorded: " * recorded + f"{found.paths} paths: {found.proved} proved, {found.refused} rejected"
    method += f", {found.outside} of these proved outside the precondition" * bool(found.outside)
    return join(claim, list(_evidence(found, method)))


def _least(target: Target, operation: Operation) -> Iterator[Verdict]:
    """The verdict, UNCHECKED, on the least or largest result, which is checked on small layouts only."""
    if operation.name in LEAST:
        claim = Claim(f"{target.name}: {operation.label}", "", properties.LEAST, LEAST[operation.name])
        reason = f"that it {LEAST[operation.name]} is checked on small layouts only"
        yield join(claim, [Evidence(Check.PROOF, Status.UNCHECKED, "", reason=reason, applies=False)])


def _evidence(found: Examined, method: str) -> Iterator[Evidence]:
    if found.violations:
        first, *others = [f"{v.inputs} -> {v.returned}: {v.fault}" for v in found.violations[:4]]
        wrong = Counterexample({}, first, damage=tuple(f"also {other}" for other in others))
        wrongs = f"{method}, {len(found.violations)} wrong"
        yield Evidence(Check.PROOF, Status.REFUTED, wrongs, counterexample=wrong)
    elif found.unknown or found.unexplored:
        left = [f"{found.unexplored} paths not followed"] * bool(found.unexplored)
        yield Evidence(
            Check.PROOF, Status.UNKNOWN, method, reason="; ".join([*dict.fromkeys(found.unknown), *left][:3])
        )
    elif not found.proved:
        reason = f"nothing was proved: all of its {found.paths} paths reject their input"
        yield Evidence(Check.PROOF, Status.UNKNOWN, method, reason=reason)
    else:
        yield Evidence(Check.PROOF, Status.PROVED, method, found.paths)


def infer(operation: str, shape: str, by: str | None, seconds: float, say: Callable[[str], None]) -> Inferred:
    """The exact condition under which an operation is right for a family of layouts, with an example on each side."""
    if importlib.util.find_spec("z3") is None:
        raise SpecError("infer", "needs z3")
    try:
        return inferred(operation, shape, by, seconds, say)
    except InferenceError as error:
        raise SpecError("", str(error)) from error
