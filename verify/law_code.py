# SPDX-License-Identifier: Apache-2.0
"""An implementation held to the laws, as cases of a report; and preconditions inferred."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Sequence

from proofs.laws import campaign, execution, held, refutations
from proofs.laws.execution import Examined, Operation, Target, Violation
from proofs.laws.families import InferenceError
from proofs.laws.infer import Inferred, inferred
from proofs.laws.refutations import Refutation
from proofs.laws.suite import examined
from verify import cli
from verify.law_report import LawKind
from verify.report import Case, Report
from verify.verdict import Claim, Counterexample, Evidence, Status, Verdict, Witness, join


def judge(module: str | None, path: str | None, only: Sequence[str], rank: int, fresh: bool) -> Report:
    """Every operation of our own or of another module, at every rank up to the given one; then R1 to R9.

    Of our own operations at rank 3 what is recorded is told, unless it is to be found out afresh.
    """
    target = _target(module, path)
    claims = refutations.catalogue()
    listed = list(examined(rank, target.exact))
    wanted = _wanted(listed, only)
    missing = [name for name in wanted if name not in claims and not hasattr(target.functions, name)]
    recorded = campaign.recorded() if target.exact and rank == campaign.RANK and not fresh else {}
    cases = [_absent(target, name, name) for name in missing]
    for operation in listed:
        if operation.name in wanted and operation.name not in missing:
            kept = recorded.get(operation.label)
            found = execution.examine(target, operation) if kept is None else campaign.restored(operation.label, kept)
            cases.append(Case(f"{target.name}: {found.operation}", (_verdict(target, found, kept is not None),)))
    cases += [_claim(target, claims[name]) for name in wanted if name in claims]
    return Report(tuple(cases))


def listing(module: str | None, path: str | None, only: Sequence[str], rank: int) -> str:
    """What `judge` would execute and search, one line each."""
    listed = list(examined(rank, _target(module, path).exact))
    wanted = _wanted(listed, only)
    claims = {name: claim for name, claim in refutations.catalogue().items() if name in wanted}
    lines = [o.label for o in listed if o.name in wanted]
    return "".join(f"{line}\n" for line in [*lines, *(f"{name:<4} {claims[name].claim}" for name in claims)])


def _wanted(listed: Sequence[Operation], only: Sequence[str]) -> list[str]:
    """The names of operations and published claims that are asked for; all where none is."""
    known = [*dict.fromkeys(o.name for o in listed), *refutations.catalogue()]
    return cli.select(only, known, "operation") if only else known


def _claim(target: Target, refutation: Refutation) -> Case:
    """Whether an implementation has the error of a published claim, searched smallest first."""
    function = held.NEEDS[refutation.name]
    if not hasattr(target.functions, function):
        return _absent(target, refutation.name, function)
    found = refutations.search(refutation, held.Held(target))
    subject = f"{target.name}: {refutation.name}"
    cases = refutations.searched(refutation)
    if refutation.name in held.DOCUMENTED:
        claim = Claim(subject, "", LawKind.REFUTED, f"false: {refutation.claim} ({refutation.source})")
        status = Status.PROVED if found else Status.UNKNOWN
        told = found.told if found else f"no counterexample among {cases} cases"
        return Case(subject, (join(claim, [Evidence(Witness.PROOF, status, f"counterexample: {told}", reason=told)]),))
    claim = Claim(subject, "", LawKind.CLAIM, f"does not go wrong where this is claimed: {refutation.claim}")
    if found is None:
        evidence = Evidence(Witness.PROOF, Status.AGREES, f"{cases} cases, right or refused", cases)
    else:
        wrong = Counterexample({}, found.told, damage=(f"holds instead: {refutation.repair}",))
        evidence = Evidence(Witness.PROOF, Status.REFUTED, f"{cases} cases, smallest first", counterexample=wrong)
    return Case(subject, (join(claim, [evidence]),))


def _target(module: str | None, path: str | None) -> Target:
    if module is None:
        return execution.ours()
    try:
        return execution.foreign(module, path)
    except (ImportError, AttributeError) as error:
        where = f" in {path}" if path else ""
        raise cli.UsageError(f"--module {module}{where}: {error}") from error


def _absent(target: Target, name: str, function: str) -> Case:
    claim = Claim(f"{target.name}: {name}", "", LawKind.PATHS, "keeps its definition")
    reason = f"{target.name} has no function {function}"
    return Case(claim.subject, (join(claim, [Evidence(Witness.PROOF, Status.UNCHECKED, "", reason=reason)]),))


def _verdict(target: Target, found: Examined, recorded: bool) -> Verdict:
    told = "recorded: " * recorded + f"{found.paths} paths: {found.proved} proved, {found.refused} refused"
    told += f", {found.outside} of these proved outside the precondition" * bool(found.outside)
    claim = Claim(f"{target.name}: {found.operation}", "", LawKind.PATHS, "keeps its definition on every path")
    return join(claim, list(_evidence(found, told)))


def _evidence(found: Examined, told: str) -> Iterator[Evidence]:
    if found.violations:
        wrong = _counterexample(found.violations)
        method = f"{told}, {len(found.violations)} wrong"
        yield Evidence(Witness.PROOF, Status.REFUTED, method, counterexample=wrong)
    elif found.unknown or found.unexplored:
        left = [f"{found.unexplored} paths not followed"] * bool(found.unexplored)
        yield Evidence(
            Witness.PROOF, Status.UNKNOWN, told, reason="; ".join([*dict.fromkeys(found.unknown), *left][:3])
        )
    else:
        yield Evidence(Witness.PROOF, Status.PROVED, told, found.paths)


def _counterexample(violations: Sequence[Violation]) -> Counterexample:
    first = violations[0]
    others = tuple(f"also {v.inputs} -> {v.returned}: {v.told}" for v in violations[1:4])
    return Counterexample({}, f"{first.inputs} -> {first.returned}: {first.told}", damage=others)


def infer(operation: str, shape: str, by: str | None, seconds: float, tell: Callable[[str], None]) -> Inferred:
    """When an operation is right for a family of layouts, with a witness on each side."""
    if importlib.util.find_spec("z3") is None:
        raise cli.UsageError("--infer needs z3")
    try:
        return inferred(operation, shape, by, seconds, tell)
    except InferenceError as error:
        raise cli.UsageError(str(error)) from error
