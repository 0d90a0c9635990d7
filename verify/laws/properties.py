# SPDX-License-Identifier: Apache-2.0
"""The properties of a law, of a published claim that is false, and of code that is checked against the laws.

`LAWS`      the rows of a law and of a published claim: each solver's result, a model of the hypotheses, the mutants
`CODE`      the rows of an operation of an implementation: `SMALL` layouts, `PATHS`, `CLAIM`, ...
`LawChecker`   the run over either; the tables of docs/laws.md are made from the rows
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from gpu_checks.laws import MANY, read_shipped
from proofs.laws import refutations, solve
from proofs.laws.decide import LawResult
from proofs.laws.formula import evaluate
from proofs.laws.refutations import Refutation
from proofs.laws.solve import Model
from proofs.symbolic.attempt import Stopped
from verify.core.verdict import (
    Check,
    CheckFunction,
    Counterexample,
    Evidence,
    Property,
    Statement,
    Status,
    finding,
    leave_unchecked,
)
from verify.evidence.run import Run

LAW, OPERATION = "law", "operation"
ONE_SOLVER = "cvc5 is not installed: one solver (pip install 'lanecheck[recheck]')"
STATUS = {"unsat": Status.PROVED, "sat": Status.REFUTED, "unknown": Status.UNKNOWN}
SEARCH = "search, smallest first"
LEAST_RESULTS = {
    "coalesce": "leaves the fewest modes",
    "complement": "goes no further than the cotarget makes it",
    "right_inverse": "finds every value of a compact layout",
}
"""What is checked on small layouts only, not on paths."""


@dataclass
class LawChecker(Run):
    """One run over the properties of laws, published claims and operations."""

    engines: Sequence[str] = ("z3",)  # the solvers that are asked for
    seeds: int = 1  # with which each of them proves
    proved: set[str] = field(default_factory=set)  # names of the laws that were verified so far

    def units(self, subject: LawResult | Refutation | OperationResult, scope: str) -> Sequence[None]:
        """Return the subject as a whole, where it is of the scope."""
        scopes = {LawResult: "law", Refutation: "published claim", OperationResult: "operation"}
        return (None,) if scopes[type(subject)] == scope else ()


@dataclass(frozen=True, slots=True)
class OperationResult:
    """What was found on one operation of an implementation, or on a published claim about it."""

    name: str  # of the implementation and the operation
    outcome: Any  # the result, or `Stopped` where there is none
    operation: str = ""  # its name
    recorded: bool = False  # whether the result is a recorded one
    lacks: str = ""  # why it was not executed: a function that the implementation lacks
    published: Refutation | None = None  # the claim, where it is about one


# Laws


def _holds(run: LawChecker, result: LawResult, _: None) -> list[Evidence]:
    """Return what each solver found; a law of which no case is known says nothing, so then no solver confirms it."""
    (met,) = _judge_model(run, result, None)
    evidence = [_by(engine, result, run.seeds) for engine in run.engines]
    if met.status.confirmed:
        return evidence
    why = f"its premise is not verified: that its hypotheses can be met is {met.status}"
    return [leave_unchecked(Check.PROOF, why)._replace(method=e.method) if e.status.confirmed else e for e in evidence]


def _by(engine: str, result: LawResult, seeds: int) -> Evidence:
    """Return the result of one solver."""
    status = result.status(engine)
    if not status:
        return leave_unchecked(Check.PROOF, ONE_SOLVER)._replace(method=engine)
    steps = f"{len(result.tried)} obligation{'s' * (len(result.tried) > 1)}"
    method = f"{engine}, {steps}" + (f", {seeds} seeds" if seeds > 1 else "")
    unknown = ((t, a) for t in result.tried for a in t.answers if a.engine == engine and a.status == "unknown")
    why = next((f"{t.name}: {a.reason}" for t, a in unknown), "")
    model = solve.refute(result.law) if status == "sat" else None
    wrong = Counterexample({}, model.spell(), reproduced=model.is_confirmed) if model else None
    return Evidence(
        Check.PROOF, STATUS[status], method, engine=solve.version(engine), seconds=result.seconds(engine),
        reason=why, counterexample=wrong,
    )  # fmt: skip


def _look_up_campaign(run: object, result: LawResult, _: None) -> list[Evidence]:
    """Return what a GPU found where it evaluated the statement of a law on a grid, as recorded."""
    recorded = read_shipped().get(result.law.name)
    if recorded is None:
        return [leave_unchecked(Check.GPU, "no recorded campaign of this statement on a GPU")]
    if recorded.cases < MANY and not recorded.failures:
        few = f"{recorded.cases} cases of it among the {recorded.points} points of the recorded grid: too few"
        return [leave_unchecked(Check.GPU, few)]
    low, high = min(low for low, _ in recorded.bounds.values()), max(high for _, high in recorded.bounds.values())
    wrong = None
    if recorded.first is not None:
        values = ", ".join(f"{x}={value}" for x, value in recorded.first.items())
        # In plain Python again, but where any function is meant: its values are not recorded.
        plain = not result.law.functions and not evaluate(result.law.implication(), recorded.first, {}, result.law.bits)
        wrong = Counterexample({}, values, reproduced=plain)
    some = "some functions on " if result.law.functions else ""  # the law speaks of any
    method = f"{some}a grid of {low} to {high}, recorded on {recorded.gpu}"
    return [finding(Check.GPU, wrong, method, recorded.cases, status=Status.AGREES, seconds=recorded.seconds)]


def _judge_model(run: object, result: LawResult, _: None) -> list[Evidence]:
    model, status = result.example, Status.UNKNOWN
    if model is not None and model.is_confirmed:
        status = Status.PROVED
    elif model is not None and model.status == "unsat":
        status = Status.VACUOUS
    shown = model.spell() if model else "not tried"
    return [Evidence(Check.PROOF, status, f"model: {shown}", reason="" if status is Status.PROVED else shown)]


def _broken(run: object, result: LawResult, _: None) -> list[Evidence]:
    total = len(result.mutants)
    method = f"{total} counterexamples, each replayed in plain Python"
    evidence = [_mutant(mutant) for mutant in result.mutants if not mutant.is_confirmed]
    return evidence or [finding(Check.PROOF, None, method, total)]


def _mutant(model: Model) -> Evidence:
    """Return the evidence of a mutant without a confirmed counterexample."""
    if model.status == "unknown":
        return Evidence(Check.PROOF, Status.UNKNOWN, model.query.why, reason=f"{model.query.why}: {model.reason}")
    text = f"still true: {model.query.why}" if model.status == "unsat" else f"{model.query.why}: {model.spell()}"
    wrong = Counterexample({}, text, reproduced=model.status == "unsat")
    return Evidence(Check.PROOF, Status.REFUTED, "mutant", reason=text, counterexample=wrong)


def _false(run: LawChecker, refutation: Refutation, _: None) -> list[Evidence]:
    case = refutations.search(refutation)
    evidence = [_counterexample(case, "no counterexample within the bounds of the search")]
    for name in refutation.repaired_by:
        status = Status.PROVED if name in run.proved else Status.UNKNOWN
        evidence.append(Evidence(Check.PROOF, status, f"repaired: {refutation.repair} ({name})", shared=name))
    return evidence


def _counterexample(case: refutations.WrongCase | None, none: str) -> Evidence:
    """Return the evidence of a counterexample to a published claim: UNKNOWN without one, for the reason `none`."""
    if case is None:
        return Evidence(Check.PROOF, Status.UNKNOWN, f"counterexample: {none}", reason=none)
    return Evidence(Check.PROOF, Status.PROVED, f"counterexample: {case.reason}")


# Operations


def _of_result(check: Callable[[OperationResult], Evidence]) -> CheckFunction:
    """Return the check of a result; UNKNOWN where there is none, because the code did not come to an end."""

    def make_evidence(run: object, code: OperationResult, _: None) -> list[Evidence]:
        if isinstance(code.outcome, Stopped):
            return [Evidence(Check.PROOF, Status.UNKNOWN, "", reason=code.outcome.why)]
        return [check(code)]

    return make_evidence


def _small(code: OperationResult) -> Evidence:
    """Return the evidence of small layouts: nested, of ranks to 4, with extents of 1 and strides of 0."""
    enumerated = code.outcome
    method = f"{enumerated.cases} layouts to rank 4, {enumerated.refused} rejected"
    if not enumerated.faults:
        return finding(Check.PROOF, None, method, enumerated.cases, status=Status.AGREES)
    wrong = Counterexample({}, enumerated.faults[0], damage=tuple(f"also {fault}" for fault in enumerated.faults[1:]))
    return finding(Check.PROOF, wrong, f"{method}, {enumerated.wrong} wrong")


def _paths(code: OperationResult) -> Evidence:
    """Return the evidence of every path through the code."""
    examined = code.outcome
    method = (
        "recorded: " * code.recorded + f"{examined.paths} paths: {examined.proved} proved, {examined.refused} rejected"
    )
    method += f", {examined.outside} of these proved outside the precondition" * bool(examined.outside)
    reason = f"nothing was proved: all of its {examined.paths} paths reject their input" * (not examined.proved)
    if examined.violations:
        first, *rest = [f"{v.inputs} -> {v.returned}: {v.fault}" for v in examined.violations[:4]]
        wrong = Counterexample({}, first, damage=tuple(f"also {fault}" for fault in rest))
        return finding(Check.PROOF, wrong, f"{method}, {len(examined.violations)} wrong")
    if examined.unknown or examined.unexplored:
        left = [f"{examined.unexplored} paths not followed"] * bool(examined.unexplored)
        reason = "; ".join([*dict.fromkeys(examined.unknown), *left][:3])
    if reason:
        return Evidence(Check.PROOF, Status.UNKNOWN, method, reason=reason)
    return finding(Check.PROOF, None, method, examined.paths)


def _least(code: OperationResult) -> str:
    return LEAST_RESULTS.get(code.operation, "")


def _find_published(code: OperationResult) -> Refutation:
    if code.published is None:
        raise TypeError(f"{code.name} is about no published claim")
    return code.published


def _check_published(code: OperationResult) -> Evidence:
    """Return the evidence that a published claim does not go wrong in an implementation."""
    published, case = _find_published(code), code.outcome
    cases = refutations.count_cases(published)
    if case is None:
        return finding(Check.PROOF, None, f"{cases} cases, right or rejected", cases, status=Status.AGREES)
    wrong = Counterexample({}, case.reason, damage=(f"holds instead: {published.repair}",))
    return finding(Check.PROOF, wrong, f"{cases} cases, smallest first")


def _state_documented(code: OperationResult) -> Evidence:
    return _counterexample(
        code.outcome, f"no counterexample among {refutations.count_cases(_find_published(code))} cases"
    )


# The table


def _state_refuted(claim: Refutation) -> Statement:
    return Statement("", f"false: {claim.claim} ({claim.source})")


_of_law = partial(Property, scope="law", applies=lambda result, _: not result.law.why_open)
_of_code = partial(Property, scope="operation")

OPEN = _of_law(
    "open",
    says={LAW: "a statement without a proof, with `--open`: always UNKNOWN"},
    states=lambda result, _: Statement("", result.law.statement),
    applies=lambda result, _: bool(result.law.why_open),
    proof=lambda run, result, _: [Evidence(Check.PROOF, Status.UNKNOWN, "open", reason=result.law.why_open)],
    how=("", "none", ""),
)
HOLDS = _of_law(
    "holds",
    says={LAW: "the statement, for all extents, strides and ranks"},
    states=lambda result, _: Statement("", result.law.statement),
    proof=_holds,
    gpu=_look_up_campaign,
    how=("", "z3, and cvc5 where it is installed", "evaluated on a grid, as recorded"),
)
MET = _of_law(
    "not_vacuous",
    says={LAW: "its hypotheses can be met"},
    states=lambda *_: Statement("", "its hypotheses can be met"),
    proof=_judge_model,
    how=("", "a model, confirmed in Python", ""),
)
MUTANTS = _of_law(
    "mutants_broken",
    says={LAW: "each of its mutants is false"},
    states=lambda result, _: Statement("", f"each of its {len(result.mutants)} mutants is false"),
    proof=_broken,
    how=("", "a counterexample each, confirmed in Python", ""),
)
REFUTED = Property(
    "published_claim_refuted",
    "published claim",
    says={LAW: "a published claim is false, and the laws that repair it are proved"},
    states=lambda claim, _: _state_refuted(claim),
    proof=_false,
    how=("", SEARCH, ""),
)
SMALL = _of_code(
    "small_layouts",
    says={OPERATION: "it keeps its definition on small layouts of every form"},
    states=lambda *_: Statement("", "keeps its definition on each of them"),
    proof=_of_result(_small),
    how=("", "executed on each", ""),
)
PATHS = _of_code(
    "every_path",
    says={OPERATION: "it keeps its definition on every path, all integers symbolic"},
    states=lambda *_: Statement("", "keeps its definition on every path"),
    proof=_of_result(_paths),
    how=("", "z3, path by path", ""),
    needs=(lambda code, *_: code.lacks,),
)
LEAST = _of_code(
    "least_result",
    says={OPERATION: "its result is the least or the largest there is: UNCHECKED on paths"},
    states=lambda code, _: Statement("", _least(code)),
    applies=lambda code, _: bool(_least(code)) and not code.lacks,
    proof=lambda _, code, __: [
        leave_unchecked(Check.PROOF, f"that it {_least(code)} is checked on small layouts only", applies=False)
    ],
    how=("", "small layouts only", ""),
)
CLAIM = _of_code(
    "published_claim",
    says={OPERATION: "it does not go wrong where a published claim does"},
    states=lambda code, _: Statement("", f"does not go wrong where this is claimed: {_find_published(code).claim}"),
    proof=_of_result(_check_published),
    how=("", SEARCH, ""),
)
DOCUMENTED = replace(
    REFUTED,
    scope="operation",
    says={OPERATION: "a published claim that is false of a right implementation too is false"},
    states=lambda code, _: _state_refuted(_find_published(code)),
    proof=_of_result(_state_documented),
)
LAWS = (OPEN, HOLDS, MET, MUTANTS, REFUTED)
CODE = (SMALL, PATHS, LEAST, CLAIM, DOCUMENTED)
