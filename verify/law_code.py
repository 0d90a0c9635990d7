# SPDX-License-Identifier: Apache-2.0
"""An implementation held to the laws, as cases of a report; and preconditions inferred."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Sequence

from proofs.laws import execution
from proofs.laws.execution import Examined, Target, Violation
from proofs.laws.infer import InferenceError, inferred
from proofs.laws.operations import operations
from verify import cli
from verify.law_report import LawKind
from verify.report import Case, Report
from verify.verdict import Claim, Counterexample, Evidence, Status, Verdict, Witness, join


def judge(module: str | None, path: str | None, only: Sequence[str], rank: int) -> Report:
    """Every operation of our own or of another module, at every rank up to the given one."""
    listed = list(operations(rank))
    known = list(dict.fromkeys(o.name for o in listed))
    wanted = cli.select(only, known, "operation") if only else known
    target = _target(module, path)
    missing = [name for name in wanted if not hasattr(target.functions, name)]
    cases = [_absent(target, name) for name in missing]
    for operation in listed:
        if operation.name in wanted and operation.name not in missing:
            found = execution.examine(target, operation)
            cases.append(Case(f"{target.name}: {found.operation}", (_verdict(target, found),)))
    return Report(tuple(cases))


def _target(module: str | None, path: str | None) -> Target:
    if module is None:
        return execution.ours()
    try:
        return execution.foreign(module, path)
    except (ImportError, AttributeError) as error:
        where = f" in {path}" if path else ""
        raise cli.UsageError(f"--module {module}{where}: {error}") from error


def _absent(target: Target, name: str) -> Case:
    claim = Claim(f"{target.name}: {name}", "", LawKind.PATHS, "keeps its definition")
    reason = f"{target.name} has no function of that name"
    return Case(claim.subject, (join(claim, [Evidence(Witness.PROOF, Status.UNCHECKED, "", reason=reason)]),))


def _verdict(target: Target, found: Examined) -> Verdict:
    told = f"{found.paths} paths: {found.proved} proved, {found.refused} refused"
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


def infer(operation: str, shape: str, by: str | None) -> str:
    """When an operation is right for a family of layouts, with a witness on each side."""
    if importlib.util.find_spec("z3") is None:
        raise cli.UsageError("--infer needs z3")
    try:
        return inferred(operation, shape, by)
    except InferenceError as error:
        raise cli.UsageError(str(error)) from error
