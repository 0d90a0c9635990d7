# SPDX-License-Identifier: Apache-2.0
"""Laws as cases of a report: each solver's result, a model of the hypotheses, the mutants' counterexamples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lanecheck_console.progress import each
from proofs.laws import refutations, solve
from proofs.laws.decide import LawResult, decide_laws, shipped
from proofs.laws.explain import explained
from proofs.laws.law import ancestors
from proofs.laws.refutations import Refutation
from proofs.laws.solve import Model
from verify.core.verdict import Check, Claim, Counterexample, Evidence, Status, Verdict, join
from verify.laws import properties
from verify.report import Case, Report

ONE_SOLVER = "cvc5 is not installed: one solver (pip install 'lanecheck[recheck]')"
STATUS = {"unsat": Status.PROVED, "sat": Status.REFUTED, "unknown": Status.UNKNOWN}


def names(with_open: bool) -> list[str]:
    """The names of the laws, then of the refuted claims; with open statements on request."""
    laws = [name for name, law in shipped().items() if with_open or not law.why_open]
    return [*laws, *refutations.catalogue()]


def has_both() -> bool:
    """Whether both solvers are installed."""
    return solve.has_cvc5()


def listing(chosen: Sequence[str]) -> str:
    """The statement of each name, one line each."""
    return "".join(f"{name:<24} {_statement(name)}\n" for name in chosen)


def _statement(name: str) -> str:
    if name in refutations.catalogue():
        return f"REFUTED claim: {refutations.catalogue()[name].claim}"
    law = shipped()[name]
    return f"OPEN: {law.statement}" if law.why_open else law.statement


def explain(chosen: Sequence[str]) -> str:
    """The laws with their proofs' steps and mutants, as text."""
    parts = [
        refutations.explained(refutations.catalogue()[name])
        if name in refutations.catalogue()
        else explained(shipped()[name], shipped())
        for name in chosen
    ]
    return "\n".join(parts)


def verify_laws(
    chosen: Sequence[str],
    engines: Sequence[str],
    seeds: int,
    jobs: int | None,
    require: bool = False,
    quiet: bool = False,
) -> Report:
    """The report on the chosen laws and on every law that their proofs use."""
    laws, claims = shipped(), refutations.catalogue()
    repairs = [law for name in chosen if name in claims for law in claims[name].repaired_by]
    wanted = {name for name in (*chosen, *repairs) if name in laws}
    wanted |= {name for law in wanted for name in ancestors(laws[law], laws)}
    installed = [engine for engine in engines if engine == "z3" or solve.has_cvc5()]
    ordered = [name for name in laws if name in wanted]
    decided = decide_laws(ordered, installed, seeds, jobs or 0)
    proved: set[str] = set()

    def case(name: str, _: object) -> Case:
        if name in claims:
            return Case(name, (_refuted(claims[name], frozenset(proved)),))
        made = Case(name, tuple(_verdicts(next(decided), engines, seeds)))
        proved.update({name} if made.status == "VERIFIED" else ())
        return made

    everything = [
        *ordered,
        *(name for name in chosen if name in claims),
    ]  # the claims last: they name laws that repair them
    cases, missing = each(everything, case, "laws", str, quiet)
    return Report(tuple(cases), frozenset({Check.PROOF}) if require else frozenset(), missing=missing)


def _verdicts(result: LawResult, engines: Sequence[str], seeds: int) -> Iterator[Verdict]:
    law = result.law
    if law.why_open:
        claim = Claim(law.name, "", properties.OPEN, law.statement)
        yield join(claim, [Evidence(Check.PROOF, Status.UNKNOWN, "open", reason=law.why_open)])
        return
    evidence = [_evidence(result, engine, seeds) for engine in engines]
    yield join(Claim(law.name, "", properties.HOLDS, law.statement), evidence)
    yield _met(result)
    yield _broken(result)


def _evidence(result: LawResult, engine: str, seeds: int) -> Evidence:
    status = result.status(engine)
    if not status:
        return Evidence(Check.PROOF, Status.UNCHECKED, engine, reason=ONE_SOLVER)
    steps = f"{len(result.tried)} obligation{'s' * (len(result.tried) > 1)}"
    method = f"{engine}, {steps}" + (f", {seeds} seeds" if seeds > 1 else "")
    why = [
        f"{t.name}: {a.reason}" for t in result.tried for a in t.answers if a.engine == engine and a.status == "unknown"
    ]
    model = solve.refute(result.law) if status == "sat" else None
    wrong = Counterexample({}, model.shown(), reproduced=model.confirmed) if model else None
    return Evidence(
        Check.PROOF, STATUS[status], method, engine=solve.version(engine), seconds=result.seconds(engine),
        reason="; ".join(why[:1]), counterexample=wrong,
    )  # fmt: skip


def _met(result: LawResult) -> Verdict:
    model = result.example
    claim = Claim(result.law.name, "", properties.MET, "its hypotheses can be met")
    status = Status.UNKNOWN
    if model is not None:
        status = Status.PROVED if model.confirmed else Status.VACUOUS if model.status == "unsat" else Status.UNKNOWN
    shown = model.shown() if model else "not tried"
    reason = "" if status is Status.PROVED else shown
    return join(claim, [Evidence(Check.PROOF, status, f"model: {shown}", reason=reason)])


def _broken(result: LawResult) -> Verdict:
    total = len(result.mutants)
    claim = Claim(result.law.name, "", properties.MUTANTS, f"each of its {total} mutants is false")
    evidence = [_mutant(m) for m in result.mutants if not m.confirmed]
    if not evidence:
        method = f"{total} counterexamples, each replayed in plain Python"
        evidence = [Evidence(Check.PROOF, Status.PROVED, method, total)]
    return join(claim, evidence)


def _mutant(model: Model) -> Evidence:
    if model.status == "unknown":
        return Evidence(Check.PROOF, Status.UNKNOWN, model.query.why, reason=f"{model.query.why}: {model.reason}")
    text = f"still true: {model.query.why}" if model.status == "unsat" else f"{model.query.why}: {model.shown()}"
    wrong = Counterexample({}, text, reproduced=model.status == "unsat")
    return Evidence(Check.PROOF, Status.REFUTED, "mutant", reason=text, counterexample=wrong)


def _refuted(refutation: Refutation, proved: frozenset[str]) -> Verdict:
    claim = Claim(refutation.name, "", properties.REFUTED, f"false: {refutation.claim} ({refutation.source})")
    found = refutations.search(refutation)
    status = Status.PROVED if found is not None else Status.UNKNOWN
    reason = found.reason if found is not None else "no counterexample within the bounds of the search"
    evidence = [Evidence(Check.PROOF, status, f"counterexample: {reason}", reason="" if found else reason)]
    for name in refutation.repaired_by:
        status = Status.PROVED if name in proved else Status.UNKNOWN
        evidence.append(Evidence(Check.PROOF, status, f"repaired: {refutation.repair} ({name})", shared=name))
    return join(claim, evidence)
