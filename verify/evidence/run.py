# SPDX-License-Identifier: Apache-2.0
"""One run over a table of properties: every claim, the evidence of the requested checks, the verdict."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any

import proofs
from verify.core.memo import Memo
from verify.core.verdict import (
    Check,
    CheckFunction,
    Claim,
    Evidence,
    Need,
    Property,
    Scope,
    Verdict,
    join,
    leave_unchecked,
)

if TYPE_CHECKING:
    from verify.evidence.gpu import Lookup

Wanted = Callable[[Claim], bool]


def everything(_: Claim) -> bool:
    """Whether a claim is wanted, where all are."""
    return True


def first(*checks: CheckFunction) -> CheckFunction:
    """Return a check that returns the evidence of the first of some checks that has any.

    >>> unmade = [leave_unchecked(Check.ISA, "its counts differ")]
    >>> first(lambda *_: [], lambda *_: unmade)(None, None, None) == unmade
    True
    """

    def check(run: Run, subject: Any, operand: Any) -> list[Evidence]:
        return next(filter(None, (attempt(run, subject, operand) for attempt in checks)), [])

    return check


def needs_confirmed(*premises: Property) -> Need:
    """Return the need that every claim of other properties is confirmed."""

    def need(_: object, __: object, before: Sequence[Verdict]) -> str:
        for premise in premises:
            for verdict in before:
                if verdict.claim.prop.key == premise.key and not verdict.status.confirmed:
                    return f"its premise is not verified: {verdict.claim.part} {premise.words} is {verdict.status}"
        return ""

    return need


def claim_of(row: Property, subject: Any, operand: Any) -> Claim:
    """Return the claim of a property about one unit of a subject."""
    part, text, provenance = row.states(subject, operand)
    return Claim(subject.name, part, row, text, provenance)


def shared_name(subject: str, part: str, scope: str) -> str:
    """Name what shares evidence on a claim: the subject, with the operand if the claim is about one."""
    return f"{subject} {part}" if scope == Scope.OPERAND else subject


@dataclass
class Run:
    """The requested checks, the solver with its budget, the source of recordings, and the evidence found so far.

    A subclass defines the units of each scope.
    """

    checks: frozenset[Check] = frozenset(Check)  # those that are made
    budget: int = proofs.BUDGET  # of one proof, in resource units of z3
    lookup: Lookup | None = None  # recordings of instructions, or a GPU; None for the shipped recordings
    multiply: Callable[[Any], list[Evidence]] | None = None  # products on this machine's GPU
    loaded: proofs.Solver | None = None  # else made with the first proof
    memo: Memo = field(default_factory=Memo, init=False)  # what it has computed
    _source: str = field(default="", init=False)  # of the subjects for which recordings are read
    _made: dict[str, list[Check]] = field(default_factory=dict, init=False)  # the checks of each property

    @cached_property
    def solver(self) -> proofs.Solver:
        """The solver, for one problem after the other."""
        return self.loaded or proofs.Solver()

    @cached_property
    def recordings(self) -> Lookup:
        """The source of recordings of instructions."""
        import gpu_checks
        from verify.evidence.gpu import Recorded

        return self.lookup or Recorded(gpu_checks.recordings())

    def read_for(self, source: str) -> None:
        """Drop the shipped recordings that were read for subjects of another source, but not the evidence by them."""
        if self.lookup is None and source != self._source:
            from gpu_checks.recordings_io.reader import forget_tables

            self.memo.forget_recordings()
            vars(self).pop("recordings", None)
            forget_tables()
        self._source = source

    def units(self, subject: Any, scope: str) -> Sequence[Any]:
        """Return the units of a scope: its claims are about one each."""
        raise NotImplementedError

    def verdicts(self, table: Sequence[Property], subject: Any, wanted: Wanted = everything) -> list[Verdict]:
        """Return the verdict on every wanted claim, in the order of the table: properties of one scope unit by unit."""
        verdicts: list[Verdict] = []
        for scope, of_scope in groupby(table, key=lambda row: row.scope):
            groups = [(alike, tuple(rows)) for alike, rows in groupby(of_scope, key=lambda row: row.alike)]
            for operand in self.units(subject, scope):
                for alike, rows in groups:
                    key = alike(subject, operand) if alike is not None and wanted is everything else None
                    if key is None:
                        self._add(rows, subject, operand, wanted, verdicts)
                    else:
                        self._add_shared((rows, key), subject, operand, verdicts)
        return verdicts

    def _add(
        self, rows: Sequence[Property], subject: Any, operand: Any, wanted: Wanted, verdicts: list[Verdict]
    ) -> None:
        """Add the verdict on every wanted claim about one unit to those on the claims before."""
        for row in rows:
            if row.applies(subject, operand) and (wanted is everything or wanted(claim_of(row, subject, operand))):
                verdicts.append(self.verdict(row, subject, operand, verdicts))

    def verdict(self, row: Property, subject: Any, operand: Any, before: Sequence[Verdict] = ()) -> Verdict:
        """Return the verdict on the claim of one property about one unit: the one place where evidence is joined."""
        joined = join(claim_of(row, subject, operand), self.evidence(row, subject, operand, before))
        place = row.place(subject, operand)
        return joined if place is None else joined._replace(place=place)

    def _add_shared(
        self, key: tuple[Sequence[Property], Hashable], subject: Any, operand: Any, verdicts: list[Verdict]
    ) -> None:
        """Add the verdicts of rows on a unit: those on an equal one, of another subject, with this one's name.

        The verdicts on the second subject are kept: their evidence names the first one, as that on all later.
        """
        name: str = subject.name
        first, kept = self.memo.given.get(key, (name, ()))
        if kept and name != first:
            verdicts += [Verdict(Claim(name, *verdict.claim[1:]), *verdict[1:]) for verdict in kept]
            return
        start = len(verdicts)
        self._add(key[0], subject, operand, everything, verdicts)
        self.memo.given[key] = first, tuple(verdicts[start:]) if name != first else kept

    def evidence(self, row: Property, subject: Any, operand: Any, before: Sequence[Verdict] = ()) -> list[Evidence]:
        """Return the evidence of every requested check, and why some of what the claim is about was not compared."""
        gaps = row.gaps(subject, operand)
        return [*self.find(row, subject, operand, before), *(e for why in gaps for e in self.no_evidence(row, why))]

    def find(self, row: Property, subject: Any, operand: Any, before: Sequence[Verdict]) -> list[Evidence]:
        """Return the evidence of every requested check, or why a property cannot be checked."""
        for need in row.needs:
            if why := need(subject, operand, before):
                return self.no_evidence(row, why)
        return [e for check in self.list_checks(row) for e in self.check(check, row, subject, operand)]

    def check(self, check: Check, row: Property, subject: Any, operand: Any) -> list[Evidence]:
        """Return the evidence of one check, computed once for all subjects with the same key."""
        function, key = row.by(check), row.reads(check, subject, operand)
        if function is None:
            return []
        if key is None:
            return function(self, subject, operand)
        part = operand.name if row.scope == Scope.OPERAND else ""
        name = shared_name(subject.name, part, row.scope)
        evidence = self.memo.get((check, row.key, key), lambda: tuple(function(self, subject, operand)))
        return self.memo.share(evidence, name)

    def list_checks(self, row: Property) -> list[Check]:
        """Return the checks of a property that this run makes."""
        if row.key not in self._made:
            requested = self.checks | {Check.ISA} if row.form else self.checks
            self._made[row.key] = [check for check in Check if row.by(check) is not None and check in requested]
        return self._made[row.key]

    def no_evidence(self, row: Property, why: str) -> list[Evidence]:
        """UNCHECKED for every check of a property, with the reason; for a GPU only if it is the only check."""
        missing = [check for check in self.list_checks(row) if check is not Check.GPU or row.gpu_alone]
        return [leave_unchecked(check, why) for check in missing]
