# SPDX-License-Identifier: Apache-2.0
"""The SMT-LIB problems of a law: its obligations, its non-vacuity, and its mutants.

The problem of an obligation or a mutant is satisfiable exactly when that is false; the problem of non-vacuity, exactly
when the hypotheses are satisfiable. The text is the same for every solver.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from proofs.laws.formula import Node, conjunction, evaluate, smt, text, walk
from proofs.laws.law import Law

NEAR = (3, 6, 12, 40)
"""Counterexamples to mutants are searched with all variables within these distances of 0 first."""


@dataclass(frozen=True, slots=True)
class Obligation:
    """Assumptions as (name in an unsat core, comment, formula), and the goal that they must imply."""

    law: Law
    name: str
    assumptions: tuple[tuple[str, str, Node], ...]
    goal: Node

    def smt(self) -> str:
        """Return the problem that is unsatisfiable exactly when the obligation holds, without (check-sat)."""
        lines = [f"; {self.name}", *_head(self.law)]
        for label, comment, node in self.assumptions:
            lines += [f"; {comment}", f"(assert (! {smt(node, self.law.bits)} :named {label}))"]
        return "\n".join([*lines, f"; not: {text(self.goal)}", f"(assert (not {smt(self.goal, self.law.bits)}))", ""])


def obligations(law: Law) -> tuple[Obligation, ...]:
    """Return the cuts, each of which may use the cuts before it, and then the law itself.

    >>> from proofs.laws.decide import list_shipped
    >>> [obligation.name for obligation in obligations(list_shipped()["MRAD"])]
    ['MRAD.cut0', 'MRAD']
    """
    known = [(f"kind.{x}", text(node), node) for x, node in law.domain]
    known += [(f"hyp.{i}", text(node), node) for i, node in enumerate(law.hyps)]
    known += [(f"hint.{i}", hint.instance, hint.formula) for i, hint in enumerate(law.hints)]
    cuts = []
    for i, cut in enumerate(law.cuts):
        cuts.append(Obligation(law, f"{law.name}.cut{i}", tuple(known), cut))
        known.append((f"cut.{i}", f"cut {i}: {text(cut)}", cut))
    return (*cuts, Obligation(law, law.name, tuple(known), conjunction(law.goal)))


@dataclass(frozen=True, slots=True)
class SatQuery:
    """Formulas to be satisfied: a counterexample to a mutant, or a model of the hypotheses of a law."""

    law: Law
    why: str
    formulas: tuple[Node, ...]

    def smt(self, extra: Sequence[Node] = ()) -> str:
        """Return the text, without (check-sat)."""
        return "\n".join([*_head(self.law), self.body(extra)])

    def body(self, extra: Sequence[Node] = ()) -> str:
        """Return the text after the declarations.

        Every application of a function has a name, so a model has its value.
        """
        bits = self.law.bits
        lines = [f"(assert {smt(node, bits)})" for node in (*self.formulas, *extra)]
        for i, application in enumerate(self.applications()):
            lines.append(f"(define-fun app.{i} () Int {smt(application, bits)})")
            lines += [f"(define-fun app.{i}.{j} () Int {smt(x, bits)})" for j, x in enumerate(application[2:])]
        return "\n".join([*lines, ""])

    def applications(self) -> list[tuple[str | Node, ...]]:
        """Return the different applications of uninterpreted functions."""
        nodes = (n for f in self.formulas for n in walk(f))
        return list(dict.fromkeys(n for n in nodes if isinstance(n, tuple) and n[0] == "call"))

    def names(self) -> tuple[str, ...]:
        """Return the names whose values make up a model: variables, applications and their arguments."""
        named = [f"app.{i}{j}" for i, a in enumerate(self.applications()) for j in ("", *_places(len(a) - 2))]
        return (*self.law.variables, *named)

    def holds(self, model: Mapping[str, int]) -> bool:
        """Whether every formula is true in the model, in plain Python, with functions as tables."""
        tables: dict[str, dict[tuple[int, ...], int]] = {name: {} for name in self.law.functions}
        for i, application in enumerate(self.applications()):
            arguments = tuple(model[f"app.{i}{j}"] for j in _places(len(application) - 2))
            tables[str(application[1])][arguments] = model[f"app.{i}"]
        functions = {name: (lambda *x, table=table: table[x]) for name, table in tables.items()}
        return all(bool(evaluate(node, model, functions, self.law.bits)) for node in self.formulas)

    def spell_model(self, model: Mapping[str, int]) -> str:
        """Return the model in one line: the values of the variables, then of the functions."""
        parts = [f"{x}={model[x]}" for x in self.law.variables]
        for i, application in enumerate(self.applications()):
            arguments = ",".join(str(model[f"app.{i}{j}"]) for j in _places(len(application) - 2))
            parts.append(f"{application[1]}({arguments})={model[f'app.{i}']}")
        return ", ".join(dict.fromkeys(parts))


def _places(count: int) -> tuple[str, ...]:
    return tuple(f".{j}" for j in range(count))


def nonvacuity(law: Law) -> SatQuery:
    """Return the query for the hypotheses and the goal: without a model the law is vacuous."""
    return SatQuery(law, "hypotheses", (*(node for _, node in law.domain), *law.hyps, conjunction(law.goal)))


def denial(law: Law) -> SatQuery:
    """Return the query for the hypotheses and the negated goal: satisfiable exactly when the law is false."""
    return SatQuery(
        law, "the law itself", (*(node for _, node in law.domain), *law.hyps, ("not", conjunction(law.goal)))
    )


def interesting(law: Law, level: int) -> list[Node]:
    """Conditions that make a model readable, more at a lower level: small numbers, extents over 1, nothing 0 or 1."""
    if law.bits is not None:
        return [("<=", x, 1 << 16 if x in law.integer[:1] else 8) for x in law.integer] if level < 3 else []
    wishes: list[Node] = [("<=", x, 64) for x in law.positive]
    if level < 3:
        wishes += [(">=", x, 2) for x in law.positive]
    if level < 2:
        wishes += [("!=", x, 0) for x in (*law.natural, *law.integer)]
    if level < 1:
        wishes += [("!=", x, unit) for x in (*law.natural, *law.integer) for unit in (1, -1)]
        wishes += [("!=", *law.positive)] * (len(law.positive) > 1)
    return wishes


def mutants(law: Law) -> Iterator[SatQuery]:
    """Yield the queries that must be satisfiable: without a hypothesis, declared mutants, with a part of the goal
    changed.

    The range of a variable is dropped too, except for divisors: division by 0 has no meaning. A part of the goal that a
    declared mutant changes is not changed again.

    >>> from proofs.laws.decide import list_shipped
    >>> [mutant.why for mutant in mutants(list_shipped()["MONO"])]
    ['c of any sign', 'without a <= b', 'strict']
    """
    inside, goal = tuple(node for _, node in law.domain), conjunction(law.goal)
    for x, _ in law.domain:
        if x not in law.divisors:
            rest = tuple(node for y, node in law.domain if y != x)
            yield SatQuery(law, f"{x} of any sign", (*rest, *law.hyps, ("not", goal)))
    for i, hyp in enumerate(law.hyps):
        rest = (*inside, *law.hyps[:i], *law.hyps[i + 1 :])
        yield SatQuery(law, f"without {text(hyp)}", (*rest, ("not", goal)))
    for mutant in law.mutants:
        yield SatQuery(law, mutant.why, (*inside, *mutant.hyps, ("not", conjunction(mutant.goal))))
    for part in law.goal:
        if all(part in mutant.goal for mutant in law.mutants):
            wrong = off_by_one(part)
            yield SatQuery(law, f"instead of its goal: {text(wrong)}", (*inside, *law.hyps, ("not", wrong)))


_TIGHTER = {"<": "-", "<=": "-", ">": "+", ">=": "+"}


def off_by_one(part: Node) -> Node:
    """Return a part of a goal made wrong: an equation or a bound by one, any other formula by its negation.

    >>> text(off_by_one(("==", "x", "y"))), text(off_by_one(("<", "x", 3)))
    ('x == y + 1', 'x < 3 - 1')
    """
    if isinstance(part, tuple) and part[0] == "==":
        return ("==", part[1], ("+", part[2], 1))
    if isinstance(part, tuple) and part[0] in _TIGHTER:
        return (part[0], part[1], (_TIGHTER[str(part[0])], part[2], 1))
    return ("not", part)


def near(law: Law, distance: int) -> list[Node]:
    """Return the conditions that every variable lies within a distance of 0."""
    if law.bits is not None:
        return [("<=", x, distance) for x in law.variables]
    return [node for x in law.variables for node in ((">=", x, -distance), ("<=", x, distance))]


def _head(law: Law) -> Iterator[str]:
    sort = "Int" if law.bits is None else f"(_ BitVec {law.bits})"
    yield "(set-logic ALL)"
    for name, arity in law.functions.items():
        yield f"(declare-fun {name} ({' '.join([sort] * arity)}) {sort})"
    yield from (f"(declare-const {x} {sort})" for x in law.variables)
