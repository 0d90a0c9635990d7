# SPDX-License-Identifier: Apache-2.0
"""An implementation held to the laws, as cases of a report; and preconditions inferred."""

from __future__ import annotations

import importlib.util
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from proofs.laws import refutations
from proofs.laws.refutations import Refutation
from proofs.progress import each
from proofs.symbolic import campaign, conformance, execution
from proofs.symbolic.enumerated import HELD, Enumerated, cases_of, enumerated
from proofs.symbolic.execution import Examined, Operation, Target
from proofs.symbolic.families import InferenceError
from proofs.symbolic.foreign import Stopped, attempted
from proofs.symbolic.infer import Inferred, inferred
from proofs.symbolic.suite import examined
from verify.core.errors import UsageError
from verify.core.files import purpose
from verify.core.names import select
from verify.core.verdict import Check, Claim, Counterexample, Evidence, Status, Verdict, join
from verify.laws import properties
from verify.report import Case, Report

BUDGET = 600
"""Seconds for one operation of another implementation at one rank."""
SMALL = 60
"""Seconds for its small layouts."""
LEAST = {
    "coalesce": "leaves the fewest modes",
    "complement": "goes no further than the cotarget makes it",
    "right_inverse": "finds every value of a compact layout",
}
"""What small layouts are asked for besides, and paths are not."""


def judge(
    module: str | None,
    path: str | None,
    only: Sequence[str],
    rank: int,
    fresh: bool,
    seconds: int = BUDGET,
    quiet: bool = False,
) -> Report:
    """Every operation of our own or of another module, at every rank up to the given one; then R1 to R9.

    First comes a function on small layouts of every form; one that does not end there is not followed. Of our own
    operations at rank 3 what is recorded is told, unless it is to be found out afresh.
    """
    target = _target(module, path)
    recorded = campaign.recorded() if target.exact and rank == campaign.RANK and not fresh else {}
    steps = list(_steps(target, only, rank, seconds, recorded))
    found, missing = each(steps, lambda step, _: step[1](), "operations", lambda step: step[0], quiet)
    return Report(tuple(case for cases in found for case in cases), missing=missing)


def _steps(
    target: Target, only: Sequence[str], rank: int, seconds: int, recorded: Mapping[str, Mapping[str, Any]]
) -> Iterator[tuple[str, Callable[[], list[Case]]]]:
    """What `judge` does, in order: a name, and what makes its cases."""
    claims = refutations.catalogue()
    listed = examined(rank, target.exact)
    wanted = _wanted(listed, only)
    missing = [name for name in wanted if name not in claims and not hasattr(target.functions, name)]
    present = [name for name in wanted if name not in claims and name not in missing]
    endless: dict[str, Stopped] = {}

    def small(name: str) -> list[Case]:
        found = _enumerated(target, name, min(seconds, SMALL))
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


def _enumerated(target: Target, name: str, seconds: float) -> Enumerated | Stopped:
    """What was found on small layouts; a single call that takes most of the time is told as one that does not end."""
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
    """What an operation calls of a module besides its own function."""
    return ("complement", "size") if operation.label.startswith("logical_divide") and "N:r" in operation.label else ()


def _examined(target: Target, operation: Operation, seconds: int) -> Examined | Stopped:
    """What was found out about an operation; a failure of our own is not kept from the reader."""
    if target.exact:
        return execution.examine(target, operation)
    return attempted(lambda: execution.examine(target, operation), seconds)


def listing(module: str | None, path: str | None, only: Sequence[str], rank: int) -> str:
    """What `judge` would execute and search, one line each."""
    listed = examined(rank, _target(module, path).exact)
    wanted = _wanted(listed, only)
    claims = {name: claim for name, claim in refutations.catalogue().items() if name in wanted}
    lines = [f"{name}, small layouts" for name in wanted if name in HELD]
    lines += [o.label for o in listed if o.name in wanted]
    return "".join(f"{line}\n" for line in [*lines, *(f"{name:<4} {claims[name].claim}" for name in claims)])


def _wanted(listed: Sequence[Operation], only: Sequence[str]) -> list[str]:
    """The names of operations and published claims that are asked for; all where none is."""
    known = [*dict.fromkeys(o.name for o in listed), *refutations.catalogue()]
    return select(only, known, "operation") if only else known


def _claim(target: Target, refutation: Refutation, seconds: int) -> Case:
    """Whether an implementation has the error of a published claim, searched smallest first."""
    function = conformance.NEEDS[refutation.name]
    if not hasattr(target.functions, function):
        return _absent(target, refutation.name, function)
    found = attempted(lambda: refutations.search(refutation, conformance.Held(target)), seconds)
    subject = f"{target.name}: {refutation.name}"
    cases = refutations.searched(refutation)
    if refutation.name in conformance.DOCUMENTED and not isinstance(found, Stopped):
        claim = Claim(subject, "", properties.REFUTED, f"false: {refutation.claim} ({refutation.source})")
        status = Status.PROVED if found else Status.UNKNOWN
        told = found.told if found else f"no counterexample among {cases} cases"
        return Case(subject, (join(claim, [Evidence(Check.PROOF, status, f"counterexample: {told}", reason=told)]),))
    claim = Claim(subject, "", properties.CLAIM, f"does not go wrong where this is claimed: {refutation.claim}")
    if isinstance(found, Stopped):
        evidence = Evidence(Check.PROOF, Status.UNKNOWN, "", reason=found.why)
    elif found is None:
        evidence = Evidence(Check.PROOF, Status.AGREES, f"{cases} cases, right or refused", cases)
    else:
        wrong = Counterexample({}, found.told, damage=(f"holds instead: {refutation.repair}",))
        evidence = Evidence(Check.PROOF, Status.REFUTED, f"{cases} cases, smallest first", counterexample=wrong)
    return Case(subject, (join(claim, [evidence]),))


def _target(module: str | None, path: str | None) -> Target:
    if module is None:
        return execution.ours()
    if os.path.isfile(module):
        instead = (
            purpose(Path(module)) if module.endswith(".toml") else "a file: give its name alone, its folder by --path"
        )
        raise UsageError(f"--module {module}: {instead}")
    found = attempted(lambda: execution.foreign(module, path), SMALL)
    if isinstance(found, Stopped):
        raise UsageError(f"--module {module}" + f" in {path}" * bool(path) + f": {found.why}")
    return found


def _absent(target: Target, name: str, function: str) -> Case:
    claim = Claim(f"{target.name}: {name}", "", properties.PATHS, "keeps its definition")
    reason = f"{target.name} has no function {function}"
    return Case(claim.subject, (join(claim, [Evidence(Check.PROOF, Status.UNCHECKED, "", reason=reason)]),))


def _small(target: Target, name: str, found: Enumerated | Stopped) -> Verdict:
    """A function on small layouts: nested, of ranks to 4, with extents of 1 and strides of 0."""
    claim = Claim(f"{target.name}: {name}, small layouts", "", properties.SMALL, "keeps its definition on each of them")
    if isinstance(found, Stopped):
        return join(claim, [Evidence(Check.PROOF, Status.UNKNOWN, "", reason=found.why)])
    told = f"{found.cases} layouts to rank 4, {found.refused} refused"
    if found.faults:
        wrong = Counterexample({}, found.faults[0], damage=tuple(f"also {fault}" for fault in found.faults[1:]))
        return join(
            claim, [Evidence(Check.PROOF, Status.REFUTED, f"{told}, {found.wrong} wrong", counterexample=wrong)]
        )
    return join(claim, [Evidence(Check.PROOF, Status.AGREES, told, found.cases)])


def _verdict(target: Target, operation: Operation, found: Examined | Stopped, recorded: bool) -> Verdict:
    claim = Claim(f"{target.name}: {operation.label}", "", properties.PATHS, "keeps its definition on every path")
    if isinstance(found, Stopped):
        return join(claim, [Evidence(Check.PROOF, Status.UNKNOWN, "", reason=found.why)])
    told = "recorded: " * recorded + f"{found.paths} paths: {found.proved} proved, {found.refused} refused"
    told += f", {found.outside} of these proved outside the precondition" * bool(found.outside)
    return join(claim, list(_evidence(found, told)))


def _least(target: Target, operation: Operation) -> Iterator[Verdict]:
    """That a path says nothing about the least or largest result, where there is one."""
    if operation.name in LEAST:
        claim = Claim(f"{target.name}: {operation.label}", "", properties.LEAST, LEAST[operation.name])
        reason = f"that it {LEAST[operation.name]} is asked of small layouts alone"
        yield join(claim, [Evidence(Check.PROOF, Status.UNCHECKED, "", reason=reason, applies=False)])


def _evidence(found: Examined, told: str) -> Iterator[Evidence]:
    if found.violations:
        first, *others = [f"{v.inputs} -> {v.returned}: {v.fault}" for v in found.violations[:4]]
        wrong = Counterexample({}, first, damage=tuple(f"also {other}" for other in others))
        method = f"{told}, {len(found.violations)} wrong"
        yield Evidence(Check.PROOF, Status.REFUTED, method, counterexample=wrong)
    elif found.unknown or found.unexplored:
        left = [f"{found.unexplored} paths not followed"] * bool(found.unexplored)
        yield Evidence(Check.PROOF, Status.UNKNOWN, told, reason="; ".join([*dict.fromkeys(found.unknown), *left][:3]))
    elif not found.proved:
        reason = f"nothing was proved: all of its {found.paths} paths are refused"
        yield Evidence(Check.PROOF, Status.UNKNOWN, told, reason=reason)
    else:
        yield Evidence(Check.PROOF, Status.PROVED, told, found.paths)


def infer(operation: str, shape: str, by: str | None, seconds: float, tell: Callable[[str], None]) -> Inferred:
    """When an operation is right for a family of layouts, with a witness on each side."""
    if importlib.util.find_spec("z3") is None:
        raise UsageError("--infer needs z3")
    try:
        return inferred(operation, shape, by, seconds, tell)
    except InferenceError as error:
        raise UsageError(str(error)) from error
