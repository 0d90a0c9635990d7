# SPDX-License-Identifier: Apache-2.0
"""An atom's way through the house: prepare it, ask every witness about every claim, join what they say."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

import gpu_checks
import layouts.atoms
import proofs
from layouts import Layout, size
from layouts.atoms import AnyAtom, CopyAtom
from layouts.atoms.reading import Stated
from verify.atom.copies import copy_claims, fits_copy, prepare_copy, same_bits
from verify.atom.copy_gpu import moved
from verify.atom.mnemonic import fits
from verify.atom.properties import claims, taken
from verify.binding.atom import Part, Subject, prepare, spoken
from verify.binding.completion import completed, in_order
from verify.core.digits import lane_of, read
from verify.core.verdict import Claim, Counterexample, Evidence, Kind, Status, Verdict, Witness, join
from verify.evidence import gpu, isa, proof, proof_family
from verify.report import Case

SILICON_KINDS = (Kind.RELATION, Kind.EQUALS_ABSOLUTE)


@dataclass(frozen=True, slots=True)
class Given:
    """Evidence as it was given on a subject, and as it is handed to later ones: naming that subject."""

    subject: str
    first: tuple[Evidence, ...]
    later: tuple[Evidence, ...]


@dataclass(slots=True)
class Court:
    """The witnesses that are heard, their budget, and the evidence already given.

    Evidence for the same layout and formula is computed once; later claims carry it with `shared` naming the subject
    for which it was computed.
    """

    witnesses: frozenset[Witness] = frozenset(Witness)
    budget: int = proofs.BUDGET
    lookup: gpu.Lookup = field(default_factory=lambda: gpu.Recorded(gpu_checks.recordings()))
    multiply: Callable[[Subject], list[Evidence]] | None = None  # products on this machine's GPU
    given: dict[tuple[object, ...], Given] = field(default_factory=dict)
    solver: proofs.Solver | None = None  # loaded with the first proof, then used again
    options: str = ""  # those of the command under which other silicon is heard than what is shipped

    def judge(self, atom: Stated, wanted: Callable[[Claim[Kind]], bool] = lambda _: True) -> list[Verdict]:
        """The verdict on every wanted claim of an atom. Its form is always checked, whoever else is heard.

        What follows from a claim that is not wanted is not heard either.
        """
        subject = prepared(atom)
        copied = isinstance(subject.atom, CopyAtom)
        verdicts = [verdict for verdict in taken(subject.atom) if wanted(verdict.claim)]
        for claim in filter(wanted, copy_claims(subject) if copied else claims(subject)):
            verdicts.append(_with_replay(join(claim, self._hear(claim, subject, verdicts)), subject.atom, self.options))
        return verdicts

    def case(self, entry: Stated) -> Case:
        """All verdicts on an atom, with what its entry says of it."""
        atom = completed(entry)
        return Case(
            atom.name,
            tuple(self.judge(atom)),
            known_defect=atom.known_defect or "",
            layouts=tuple(atom.operands.items()),
            adapter=adapter(atom),
            expect=atom.expect or "",
            issues_nothing=atom.ptx == (),
        )

    def _hear(self, claim: Claim[Kind], subject: Subject, before: list[Verdict]) -> Iterable[Evidence]:
        if claim.part == "shape":
            return [_form(Status.REFUTED, "compared", subject.shape_fault)]
        if claim.part == "thr":
            return of_each(subject, threads_number_lanes)
        if claim.kind.per_operand and claim.part in subject.unsaid:
            return self._silence(claim.kind, unsaid(subject, claim.part))
        part = next((p for p in subject.parts if p.name == claim.part), None)
        if part is None:
            return self._whole(claim, subject, before)
        if claim.kind is Kind.WELL_FORMED:
            return well_formed(part)
        heard = of_each(subject, lambda view: self._operand(claim, view, before))
        if claim.kind is Kind.EQUALS and subject.by is not None:
            heard += [silent for why in subject.uncompared for silent in self._silence(claim.kind, why)]
        return heard

    def _operand(self, claim: Claim[Kind], subject: Subject, before: list[Verdict]) -> list[Evidence]:
        """What is heard on one operand, as one instruction sees it."""
        part = next(p for p in subject.parts if p.name == claim.part)
        missing = missing_premise(claim.kind, subject, part) or follows_from(claim, before)
        return self._silence(claim.kind, missing) if missing else self.operand(claim, subject, part)

    def _silence(self, kind: Kind, why: str) -> list[Evidence]:
        return [Evidence(witness, Status.UNCHECKED, "", reason=why) for witness in self._cpu(kind)]

    def operand(self, claim: Claim[Kind], subject: Subject, part: Part) -> list[Evidence]:
        """The book's and the solver's evidence on one operand, computed once for equal questions."""
        heard: list[Evidence] = []
        for witness in self._cpu(claim.kind):
            key = self._question(witness, claim.kind, subject, part)
            heard += self._once(
                key, f"{claim.subject} {part.name}", self._testimony(witness, claim.kind, subject, part)
            )
        return heard

    def _question(self, witness: Witness, kind: Kind, subject: Subject, part: Part) -> tuple[object, ...]:
        where = (part.axes, part.extent, subject.atom.thr, subject.lanes, subject.multiplicity(part))
        return (witness, kind, part.text, *where, part.said)

    def _testimony(
        self, witness: Witness, kind: Kind, subject: Subject, part: Part
    ) -> Callable[[], tuple[Evidence, ...]]:
        def testify() -> tuple[Evidence, ...]:
            if witness is Witness.BOOK:
                return (isa.testify(kind, subject, part),)
            whole = self._of_family(kind, subject, part)
            if whole:
                return whole
            follows = kind in (Kind.IN_BOUNDS, Kind.RIGHT_INVERSE) and subject.multiplicity(part) == 1
            if follows and self._owned(subject, part):
                return (Evidence(Witness.PROOF, Status.PROVED, "follows from 'owns'"),)
            found = proof.testify(kind, subject, part, self.budget, self._solver())
            if kind is Kind.OWNS:
                return (found, *proof.certificate(part, subject.multiplicity(part)))
            return (found,)

        return testify

    def _of_family(self, kind: Kind, subject: Subject, part: Part) -> tuple[Evidence, ...]:
        """The solver's evidence for all members of a family at once; empty where each is asked by itself."""
        scope = proof_family.scope(subject, part)
        if scope is None:
            return ()

        def ask() -> tuple[Evidence, ...]:
            found = proof_family.testify(kind, subject, part, self.budget, self._solver())
            return () if found is None else (found,)

        return tuple(self._once((Witness.PROOF, kind, scope), f"{subject.atom.name} {part.name}", ask))

    def _owned(self, subject: Subject, part: Part) -> bool:
        """Whether the solver proved ownership; asked once, also before that claim has its turn."""
        key = self._question(Witness.PROOF, Kind.OWNS, subject, part)
        testify = self._testimony(Witness.PROOF, Kind.OWNS, subject, part)
        return self._once(key, f"{subject.atom.name} {part.name}", testify)[0].status is Status.PROVED

    def _whole(self, claim: Claim[Kind], subject: Subject, before: list[Verdict]) -> Iterable[Evidence]:
        if claim.kind in SILICON_KINDS and subject.shape_fault:
            why = f"the shape is at fault: {subject.shape_fault}"
            return [Evidence(w, Status.UNCHECKED, "", reason=why) for w in self.witnesses & {Witness.SILICON}]
        if claim.kind in SILICON_KINDS:
            return self._observed(claim.kind, subject) if Witness.SILICON in self.witnesses else []
        if claim.kind is Kind.TILING:
            return self._tiling(subject, before) if Witness.PROOF in self.witnesses else []
        if claim.kind is Kind.SAME_BITS:
            return self._same_bits(subject) if Witness.BOOK in self.witnesses else []
        if claim.kind is Kind.SIGNATURE:
            return self._signature(subject, sum(v.claim.kind is Kind.SIGNATURE for v in before))
        return of_each(subject, lambda view: self._product(view, before))

    def _same_bits(self, subject: Subject) -> Iterable[Evidence]:
        texts = (Kind.SAME_BITS, *(part.text for part in subject.parts))
        return self._once(texts, subject.atom.name, lambda: (same_bits(subject),))

    def _signature(self, subject: Subject, position: int) -> Iterable[Evidence]:
        """The evidence on the atom's instruction at a position; on none, the reason."""
        if not subject.named:
            return [Evidence(Witness.BOOK, Status.UNCHECKED, "", reason=subject.no_book)]
        named = subject.named[position]
        if isinstance(subject.atom, CopyAtom):
            return [fits_copy(subject, subject.atom, named)]
        heard = [fits(subject, named)]
        if named.instruction is not None and Witness.PROOF in self.witnesses:
            proved = proof.one_product(subject.seen_by(named.instruction), self.budget, self._solver())
            refuted = heard[0].status is Status.REFUTED  # in whatever respect: the solver speaks of the products alone
            heard += [e for e in proved if not refuted or e.status is Status.REFUTED]
        return heard

    def _observed(self, kind: Kind, subject: Subject) -> Iterable[Evidence]:
        """What GPUs showed of every instruction that the atom names, or why of one nothing can be looked up."""
        if subject.by is None:
            return [gpu.unchecked(subject.no_book)]
        heard = of_each(subject, lambda view: self._silicon(kind, view))
        silent = [*subject.uncompared, *(unsaid(subject, operand) for operand in subject.unsaid)]
        return heard + [gpu.unchecked(why) for why in silent]

    def _silicon(self, kind: Kind, subject: Subject) -> list[Evidence]:
        maps = tuple((part.text, part.extent) for part in subject.parts)
        spaces = tuple(subject.atom.space.items())
        mnemonic = spoken(subject.instruction)
        if isinstance(subject.atom, CopyAtom):
            key = (Witness.SILICON, kind, maps, spaces, subject.atom.thr, subject.atom.adapter, mnemonic)
            atom = subject.atom
            return self._once(key, atom.name, lambda: tuple(moved(subject, atom, self.lookup)))
        ask = gpu.relation if kind is Kind.RELATION else gpu.absolute
        return self._once(
            (Witness.SILICON, kind, maps, spaces, subject.atom.thr, mnemonic),
            subject.atom.name,
            lambda: tuple(ask(subject, self.lookup)),
        )

    def _tiling(self, subject: Subject, before: list[Verdict]) -> Iterable[Evidence]:
        premise = unproved(before, Kind.OWNS)
        if premise:
            why = f"its premise does not stand: {premise}"
            return [Evidence(Witness.PROOF, Status.UNCHECKED, "", reason=why)]
        return self._once(
            (Kind.TILING,),
            subject.atom.name,
            lambda: (proof.tiling(self.budget),),
        )

    def _product(self, subject: Subject, before: list[Verdict]) -> list[Evidence]:
        premise = unproved(before, Kind.SIZE) or unproved(before, Kind.IN_BOUNDS)
        why = f"its premise does not stand: {premise}" if premise else subject.no_book
        why = why or (f"the threads are at fault: {subject.thr_fault}" if subject.thr_fault else "")
        why = why or next((part.silence for part in subject.parts if part.silence), "")
        if why:
            return [Evidence(Witness.BOOK, Status.UNCHECKED, "", reason=why)] if Witness.BOOK in self.witnesses else []
        maps = tuple((part.text, part.extent, part.said) for part in subject.parts)
        key = (Kind.PRODUCT, maps, tuple(subject.atom.space.items()), subject.atom.thr)
        heard = list[Evidence]()
        if Witness.BOOK in self.witnesses:
            heard += self._once(key, subject.atom.name, lambda: (isa.product(subject),))
        if self.multiply is not None:
            heard += self.multiply(subject)
        return heard

    def _once(
        self, key: tuple[object, ...], subject: str, testify: Callable[[], tuple[Evidence, ...]]
    ) -> list[Evidence]:
        given = self.given.get(key)
        if given is None:
            evidence = testify()
            given = Given(subject, evidence, tuple(replace(e, shared=e.shared or subject) for e in evidence))
            self.given[key] = given
        return list(given.first if given.subject == subject else given.later)

    def _solver(self) -> proofs.Solver:
        self.solver = self.solver or proofs.Solver()
        return self.solver

    def _cpu(self, kind: Kind) -> list[Witness]:
        """Who is asked about an operand. Its size is form, which the book always counts."""
        if kind is Kind.SIZE:
            return [Witness.BOOK]
        return [w for w in (Witness.BOOK, Witness.PROOF) if w in self.witnesses]


def of_each(subject: Subject, hear: Callable[[Subject], Iterable[Evidence]]) -> list[Evidence]:
    """What is heard of an atom as each instruction sees it: all must fit, so those that refute it speak alone, by name.

    That two instructions differ is no contradiction; that two witnesses differ about one is.
    """
    if not subject.others:
        return list(hear(subject))
    heard = [list(hear(view)) for view in subject.views]
    if all(each == heard[0] for each in heard):
        return heard[0]
    refuting = [any(e.status is Status.REFUTED for e in each) for each in heard]
    distinct: list[Evidence] = []
    for view, each, refutes in zip(subject.views, heard, refuting, strict=True):
        for evidence in each if refutes or not any(refuting) else ():
            named = by_name(view, evidence, all(refuting))
            if named not in distinct:
                distinct.append(named)
    return distinct


def by_name(view: Subject, evidence: Evidence, repairable: bool) -> Evidence:
    """Evidence whose counterexample says by which instruction; a repair is none where it would break another."""
    wrong = evidence.counterexample
    if wrong is None:
        return evidence
    told = f"by {spoken(view.instruction)}: {wrong.statement}"
    return replace(evidence, counterexample=replace(wrong, statement=told, repair=wrong.repair if repairable else ""))


def unsaid(subject: Subject, operand: str) -> str:
    """Why nothing can be said of an operand that the atom leaves out."""
    return f"the atom does not say how {operand} is dealt out, which {subject.unsaid[operand]} takes from registers"


def prepared(entry: Stated) -> Subject:
    """An atom of either sort, made ready for judgement."""
    atom = completed(entry)
    return prepare_copy(atom) if isinstance(atom, CopyAtom) else blamed(prepare(atom))


def blamed(subject: Subject) -> Subject:
    """The subject with its threads at fault, where with those of the instruction all operands would be right."""
    right = "" if subject.by is None or subject.others else in_order(subject.by)
    if not right or subject.thr is None or subject.shape_fault or subject.mma.thr == right:
        return subject
    own, lanes = _lanes(subject.thr), _lanes(Layout.parse(right))
    if (own != lanes and len(own) == len(lanes)) or _all_equal(subject):
        return subject
    if not _all_equal(prepare(replace(subject.mma, thr=right))):
        return subject
    names = ", ".join(part.name for part in subject.parts if part.formulas)
    how = "permutes the lanes" if own == lanes else f"has {len(own)} threads, not {len(lanes)}"
    fault = f"{subject.mma.thr} {how}: with {right} {names} are the instruction's"
    return replace(subject, thr=None, rep=None, thr_fault=fault, permuted=True)


def _lanes(thr: Layout) -> list[int]:
    """The lanes that threads are numbered to, in their order."""
    return sorted(lane_of(thr, thread) for thread in range(size(thr)))


def _all_equal(subject: Subject) -> bool:
    """Whether all operands of which the ISA tables have formulas equal them."""
    parts = [part for part in subject.parts if part.formulas]
    if not parts or any(part.layout is None or part.domain != subject.expected(part) for part in parts):
        return False
    return all(isa.testify(Kind.EQUALS, subject, part).status.stands for part in parts)


def adapter(atom: AnyAtom) -> str:
    """What a copy does to its registers after the instruction, by name; empty where it does nothing."""
    return atom.adapter.name if isinstance(atom, CopyAtom) and atom.adapter is not None else ""


def well_formed(part: Part) -> list[Evidence]:
    """The first claim: the layout parses and its profiles agree, and a second reading finds the same numbers."""
    layout = part.layout
    if layout is None:
        return [_form(Status.REFUTED, "parsed", part.fault)]
    heard = [_form(Status.PROVED, "parsed", "")]
    if read(part.text) != (layout.shape, layout.stride):
        heard.append(_form(Status.REFUTED, "read again", f"a second reading of {part.text} differs from {layout}"))
    return heard


def threads_number_lanes(subject: Subject) -> list[Evidence]:
    """That thr(t) + rep(q) is every lane once, walked in plain integers when the atom was prepared."""
    return [_form(Status.REFUTED if subject.thr is None else Status.PROVED, "walked", subject.thr_fault)]


def _form(status: Status, method: str, fault: str) -> Evidence:
    wrong = Counterexample({}, fault) if status is Status.REFUTED else None
    return Evidence(Witness.BOOK, status, method, 1, counterexample=wrong)


def _with_replay(verdict: Verdict, atom: AnyAtom, options: str) -> Verdict:
    """The verdict with the command that gives it again, when it is a refutation."""
    wrong = verdict.counterexample
    if wrong is None or wrong.replay:
        return verdict
    return replace(verdict, counterexample=replace(wrong, replay=command(atom, options)))


def command(atom: AnyAtom, options: str) -> str:
    """The command that judges an atom again, by the same silicon."""
    shipped = Path(atom.file).parent == Path(layouts.atoms.__file__).parent
    source = "" if shipped or not atom.file else f"--atoms {shlex.quote(atom.file)} "
    dashes = "-- " if atom.name.startswith("-") else ""
    return f"python -m verify.atom {source}{options}{dashes}{shlex.quote(atom.name)}"


def missing_premise(kind: Kind, subject: Subject, part: Part) -> str:
    """Why a claim about an operand cannot be judged at all; empty when it can."""
    if part.layout is None:
        return "the layout is not well formed"
    if subject.shape_fault:
        return f"the shape is at fault: {subject.shape_fault}"
    if subject.thr_fault:
        return f"the threads are at fault: {subject.thr_fault}"
    if kind is Kind.EQUALS and not part.formulas:
        return subject.no_book or part.silence
    return ""


def follows_from(claim: Claim[Kind], before: list[Verdict]) -> str:
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
