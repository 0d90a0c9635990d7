# SPDX-License-Identifier: Apache-2.0
"""An atom's way through the house: prepare it, ask every witness about every claim, join what they say."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

import gpu_checks
import proofs
from layouts.atoms import Atom
from verify import book, proof, silicon
from verify.claims import claims
from verify.signature import fits
from verify.subject import Part, Subject, prepare
from verify.verdict import Claim, Counterexample, Evidence, Kind, Status, Verdict, Witness, join

SILICON_KINDS = (Kind.RELATION, Kind.EQUALS_ABSOLUTE)


@dataclass(slots=True)
class Court:
    """The witnesses that are heard, their budget, and the evidence already given.

    Evidence for the same layout and formula is computed once; later claims carry it with `shared` naming the subject
    for which it was computed.
    """

    witnesses: frozenset[Witness] = frozenset(Witness)
    budget: int = proofs.BUDGET
    lookup: silicon.Lookup = field(default_factory=lambda: silicon.Recorded(gpu_checks.recordings()))
    multiply: Callable[[Subject], list[Evidence]] | None = None  # products on this machine's GPU
    given: dict[tuple[object, ...], tuple[str, tuple[Evidence, ...]]] = field(default_factory=dict)

    def judge(self, atom: Atom) -> list[Verdict]:
        """The verdict on every claim of an atom."""
        subject = prepare(atom)
        verdicts: list[Verdict] = []
        for claim in claims(subject):
            evidence = self._hear(claim, subject, verdicts)
            verdicts.append(join(claim, evidence))
        return verdicts

    def _hear(self, claim: Claim, subject: Subject, before: list[Verdict]) -> Iterable[Evidence]:
        part = next((p for p in subject.parts if p.name == claim.part), None)
        if part is None:
            return self._whole(claim.kind, subject, before)
        if claim.kind is Kind.WELL_FORMED:
            return [well_formed(part)] if Witness.BOOK in self.witnesses else []
        missing = missing_premise(claim.kind, subject, part) or follows_from(claim, before)
        if missing:
            return [Evidence(witness, Status.UNCHECKED, "", reason=missing) for witness in self._cpu()]
        return self.operand(claim, subject, part)

    def operand(self, claim: Claim, subject: Subject, part: Part) -> list[Evidence]:
        """The book's and the solver's evidence on one operand, computed once for equal questions."""
        key = (part.text, part.extent, subject.atom.thr, subject.lanes, subject.multiplicity(part))
        formulas = tuple(formula.key for formula in part.formulas)
        heard: list[Evidence] = []
        if Witness.BOOK in self.witnesses:
            heard += self._once(
                (Witness.BOOK, claim.kind, *key, formulas),
                f"{claim.subject} {part.name}",
                lambda: (book.testify(claim.kind, subject, part),),
            )
        if Witness.PROOF in self.witnesses and claim.kind is not Kind.SIZE:
            heard += self._once(
                (Witness.PROOF, claim.kind, *key, formulas),
                f"{claim.subject} {part.name}",
                lambda: (proof.testify(claim.kind, subject, part, self.budget),),
            )
        return heard

    def _whole(self, kind: Kind, subject: Subject, before: list[Verdict]) -> Iterable[Evidence]:
        if kind in SILICON_KINDS:
            return self._silicon(kind, subject) if Witness.SILICON in self.witnesses else []
        if kind is Kind.TILING:
            return self._tiling(subject, before) if Witness.PROOF in self.witnesses else []
        if kind is Kind.SIGNATURE:
            return [fits(subject)] if Witness.BOOK in self.witnesses else []
        return self._product(subject, before)

    def _silicon(self, kind: Kind, subject: Subject) -> Iterable[Evidence]:
        maps = tuple((part.text, part.extent) for part in subject.parts)
        mnemonics = tuple(i.signature.mnemonic for i in subject.instructions)
        if not mnemonics:
            why = subject.no_book or subject.not_in_isa
            return [Evidence(Witness.SILICON, Status.UNCHECKED, "", reason=why)]
        ask = silicon.relation if kind is Kind.RELATION else silicon.absolute
        return self._once(
            (Witness.SILICON, kind, maps, subject.atom.thr, mnemonics),
            subject.atom.name,
            lambda: tuple(ask(subject, self.lookup)),
        )

    def _tiling(self, subject: Subject, before: list[Verdict]) -> Iterable[Evidence]:
        premise = unproved(before, Kind.OWNS)
        if premise:
            why = f"its premise does not stand: {premise}"
            return [Evidence(Witness.PROOF, Status.UNCHECKED, "", reason=why)]
        return self._once(
            (Kind.TILING, subject.atom.shape), subject.atom.name, lambda: (proof.tiling(subject, self.budget),)
        )

    def _product(self, subject: Subject, before: list[Verdict]) -> Iterable[Evidence]:
        premise = unproved(before, Kind.SIZE) or unproved(before, Kind.IN_BOUNDS)
        why = f"its premise does not stand: {premise}" if premise else subject.no_book or subject.not_in_isa
        if why:
            return [Evidence(Witness.BOOK, Status.UNCHECKED, "", reason=why)] if Witness.BOOK in self.witnesses else []
        maps = tuple((part.text, part.extent, tuple(f.key for f in part.formulas)) for part in subject.parts)
        key, heard = (Kind.PRODUCT, maps, subject.atom.thr), list[Evidence]()
        if Witness.BOOK in self.witnesses:
            heard += self._once(key, subject.atom.name, lambda: (book.product(subject),))
        if self.multiply is not None:
            heard += self.multiply(subject)
        return heard

    def _once(
        self, key: tuple[object, ...], subject: str, testify: Callable[[], tuple[Evidence, ...]]
    ) -> list[Evidence]:
        if key in self.given:
            first, evidence = self.given[key]
            return [replace(e, shared=first) for e in evidence]
        evidence = testify()
        self.given[key] = (subject, evidence)
        return list(evidence)

    def _cpu(self) -> list[Witness]:
        return [w for w in (Witness.BOOK, Witness.PROOF) if w in self.witnesses]


def well_formed(part: Part) -> Evidence:
    """The first claim: the layout parses and the profiles of shape and stride agree."""
    if part.layout is not None:
        return Evidence(Witness.BOOK, Status.PROVED, "parsed", 1)
    wrong = Counterexample({}, part.fault)
    return Evidence(Witness.BOOK, Status.REFUTED, "parsed", 1, counterexample=wrong)


def missing_premise(kind: Kind, subject: Subject, part: Part) -> str:
    """Why a claim about an operand cannot be judged at all; empty when it can."""
    if part.layout is None:
        return "the layout is not well formed"
    if kind is Kind.EQUALS and not part.formulas:
        return subject.no_book or subject.not_in_isa
    if subject.thr is None or subject.rep is None:
        return f"threads {subject.atom.thr}: {subject.thr_fault}"
    return ""


def follows_from(claim: Claim, before: list[Verdict]) -> str:
    """Why a claim is not heard: it follows from a refuted one. Without an owner for each element no inverse exists."""
    if claim.kind is not Kind.RIGHT_INVERSE:
        return ""
    owns = next(v for v in before if v.claim.part == claim.part and v.claim.kind is Kind.OWNS)
    return "it fails with 'owns', from which it follows" if owns.status is Status.REFUTED else ""


def unproved(verdicts: list[Verdict], kind: Kind) -> str:
    """The first claim of a kind that does not stand, named; empty when all stand."""
    for verdict in verdicts:
        if verdict.claim.kind is kind and not verdict.status.stands:
            return f"{verdict.claim.part} {kind.label} is {verdict.status}"
    return ""
