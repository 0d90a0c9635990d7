# SPDX-License-Identifier: Apache-2.0
"""Laws as cases of a report: each solver's result, a model of the hypotheses, the mutants' counterexamples."""

from __future__ import annotations

from collections.abc import Sequence

from lanecheck.console.progress import each
from proofs.laws import refutations, solve
from proofs.laws.decide import decide_laws, list_shipped
from proofs.laws.explain import explain_law
from proofs.laws.law import ancestors
from verify.core.verdict import Check
from verify.laws.properties import LAWS, LawChecker
from verify.report import Case, Report


def names(with_open: bool) -> list[str]:
    """Return the names of the laws, then of the refuted claims; with open statements on request."""
    laws = [name for name, law in list_shipped().items() if with_open or not law.why_open]
    return [*laws, *refutations.catalogue()]


def has_both() -> bool:
    """Whether both solvers are installed."""
    return solve.has_cvc5()


def listing(chosen: Sequence[str]) -> str:
    """Return the statement of each name, one line each."""
    return "".join(f"{name:<24} {_statement(name)}\n" for name in chosen)


def _statement(name: str) -> str:
    if name in refutations.catalogue():
        return f"REFUTED claim: {refutations.catalogue()[name].claim}"
    law = list_shipped()[name]
    return f"OPEN: {law.statement}" if law.why_open else law.statement


def explain(chosen: Sequence[str]) -> str:
    """Return the laws with their proofs' steps and mutants, as text."""
    parts = [
        refutations.explain_refutation(refutations.catalogue()[name])
        if name in refutations.catalogue()
        else explain_law(list_shipped()[name], list_shipped())
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
    """Return the report on the chosen laws and on every law that their proofs use."""
    laws, claims = list_shipped(), refutations.catalogue()
    repairs = [law for name in chosen if name in claims for law in claims[name].repaired_by]
    wanted = {name for name in (*chosen, *repairs) if name in laws}
    wanted |= {name for law in wanted for name in ancestors(laws[law], laws)}
    installed = [engine for engine in engines if engine == "z3" or solve.has_cvc5()]
    ordered = [name for name in laws if name in wanted]
    decided = decide_laws(ordered, installed, seeds, jobs or 0)
    checker = LawChecker(engines=engines, seeds=seeds)

    def case(name: str, _: object) -> Case:
        subject = claims[name] if name in claims else next(decided)
        made = Case(name, tuple(checker.verdicts(LAWS, subject)))
        checker.proved.update({name} if made.status == "VERIFIED" else ())
        return made

    # The claims last: they name laws that repair them.
    everything = [*ordered, *(name for name in chosen if name in claims)]
    cases, missing = each(everything, case, "laws", str, quiet)
    return Report(tuple(cases), frozenset({Check.PROOF}) if require else frozenset(), missing=missing)
