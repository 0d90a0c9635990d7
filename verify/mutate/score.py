# SPDX-License-Identifier: Apache-2.0
"""The mutation campaign: which witness refutes how many wrong atoms."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from random import Random

import proofs
from layouts.atoms import AnyAtom, Atom
from layouts.int_tuple import leaves
from layouts.text import parse_shape_stride
from proofs.progress import each
from verify.atom.checker import AtomChecker, prepared
from verify.atom.properties import EQUALS, IN_BOUNDS, OWNERSHIP, RELATION
from verify.core.verdict import Check, Evidence, Property, Status, Verdict
from verify.evidence.gpu_shared_memory import free, refutable
from verify.mutate.mutants import Mutant, distinct, joint_mutants, mutants, same_function
from verify.report import cut_short

INTRINSIC = (IN_BOUNDS, OWNERSHIP)
WHOLE = ("", "bytes")  # the parts of the claim on what was recorded
COUNTED = (*INTRINSIC, EQUALS, RELATION)
SEED = 3  # of the sample that is mutated of each family
LARGEST = 1 << 13  # points of a copy that the seed may choose: its mutants are walked in plain integers
JUDGES = ("isa", "z3", "recording", "intrinsic")


@dataclass(slots=True)
class Score:
    """Mutants by judge. `equivalent` ones are the same function as their origin, at every point.

    `asked` counts the mutants a judge could speak on: a recording speaks only for instructions that a GPU ran, and of
    operands in registers.
    """

    layouts: int = 0
    mutants: int = 0
    equivalent: int = 0
    asked: Counter[str] = field(default_factory=Counter)
    refuted: Counter[str] = field(default_factory=Counter)
    joint: int = 0
    joint_asked: int = 0
    joint_related: int = 0
    joint_refuted: int = 0
    survivors: list[str] = field(default_factory=list)
    missing: int = 0  # origins of mutants that an interruption left unjudged, or not wholly judged

    @property
    def complete(self) -> bool:
        """Whether book and z3 refuted all, a recording all it could speak on, and joint mutants fared as they must."""
        return not (self.missing or self.silent or self.survived)

    @property
    def survived(self) -> bool:
        """Whether a mutant was not refuted by a judge who had to, or a joint mutant fared otherwise than it must."""
        singles = all(self.asked[judge] == self.refuted[judge] for judge in JUDGES[:3])
        heard = self.asked["isa"] == self.asked["z3"] == self.mutants
        joint = self.joint_related == self.joint_asked and self.joint_refuted == self.joint
        return not (singles and heard and joint)

    @property
    def silent(self) -> list[str]:
        """The witnesses that never spoke."""
        return [judge for judge in JUDGES[:3] if not self.asked[judge]]

    def lines(self) -> list[str]:
        """The score in words, the verdict last."""
        told = [
            f"{self.mutants + self.equivalent} mutants of {self.layouts} distinct operand layouts, "
            f"{self.equivalent} of them the same function",
        ]
        for judge in JUDGES:
            asked, refuted = self.asked[judge], self.refuted[judge]
            share = 100 * refuted / asked if asked else 0.0
            told.append(f"  refuted by {judge:<10} {refuted:>5} of {asked:<5} {share:6.1f} %")
        told.append(
            f"{self.joint} joint mutants: the relation holds for {self.joint_related} of {self.joint_asked}, "
            f"the book refutes {self.joint_refuted} of {self.joint}"
        )
        if self.missing:
            told.append(cut_short(self.missing, "origin"))
        if self.survived:
            return [*told, "SOME MUTANT SURVIVES"]
        if self.missing:
            return told
        return [
            *told,
            f"INCOMPLETE: {', '.join(self.silent)} never spoke" if self.silent else "every mutant is refuted",
        ]

    def as_dict(self) -> dict[str, object]:
        """The score as plain data, `"schema": 1`."""
        return {
            "schema": 1,
            "layouts": self.layouts,
            "mutants": self.mutants,
            "equivalent": self.equivalent,
            "asked": {judge: self.asked[judge] for judge in JUDGES},
            "refuted": {judge: self.refuted[judge] for judge in JUDGES},
            "joint": {
                "mutants": self.joint,
                "asked": self.joint_asked,
                "relation_holds": self.joint_related,
                "refuted_by_book": self.joint_refuted,
            },
            "survivors": self.survivors,
            "missing": self.missing,
            "complete": self.complete,
        }


def sampled(atoms: Sequence[AnyAtom], seed: int = SEED) -> list[AnyAtom]:
    """MMA atoms as they are, oldest first; of a family the smallest member and one that the seed chooses.

    Copies by an instruction that differ in its count alone (.x1, .x2 and so on) are such a family too.
    """
    chosen: list[AnyAtom] = []
    members: dict[str, list[AnyAtom]] = {}
    for atom in atoms:
        if atom.family is None and isinstance(atom, Atom):
            chosen.append(atom)
        else:
            counted = re.sub(r"\.x\d+", ".xN", " ".join(atom.mnemonics))
            members.setdefault(counted if atom.family is None else atom.family.name, []).append(atom)
    for listed in members.values():
        least = min(listed, key=_extent)
        other = Random(seed).choice(
            [atom for atom in listed if isinstance(atom, Atom) or _extent(atom) <= LARGEST] or [least]
        )
        chosen += [least] if other.name == least.name else [least, other]
    return sorted(chosen, key=lambda atom: int((re.findall(r"\d+", atom.name) or ["0"])[0]))


def _extent(atom: AnyAtom) -> int:
    """How large a member of a family is: the extents of its product, or the points of a copy's larger side."""
    if isinstance(atom, Atom):
        return prod(atom.shape)
    return max(prod(leaves(parse_shape_stride(text)[0])) for text in atom.operands.values())


@dataclass(frozen=True, slots=True)
class Bench:
    """The courts that mutants come before. That a mutant falls matters to z3, not at how many points it does."""

    observers: AtomChecker = field(default_factory=lambda: AtomChecker(frozenset({Check.ISA, Check.GPU})))
    prover: AtomChecker = field(
        default_factory=lambda: AtomChecker(frozenset({Check.PROOF}), loaded=proofs.Solver(counted=0))
    )

    def judge(self, mutant: Mutant, proof: bool = False) -> list[Verdict]:
        """What is counted of a mutant: claims on its changed operands and the relation, by z3 equality alone."""
        parts = (*mutant.parts, *WHOLE)
        heard = self.observers.verify(mutant.atom, lambda claim: claim.prop in COUNTED and claim.part in parts)
        if proof:
            heard += self.prover.verify(mutant.atom, lambda claim: claim.prop == EQUALS and claim.part in parts)
        return heard


def campaign(atoms: Sequence[AnyAtom], quiet: bool = False) -> Score:
    """Mutate every distinct operand layout of some atoms, families sampled, and let each judge speak."""
    score, bench = Score(), Bench()
    origins = distinct(sampled(atoms))
    score.layouts = len(origins)
    products = {atom.name: atom for atom, _ in origins if isinstance(atom, Atom)}

    def judge(step: tuple[AnyAtom, str], _: object) -> None:
        atom, operand = step
        if operand:
            for mutant in mutants(atom, operand):
                _single(score, bench, atom, operand, mutant)
        elif isinstance(atom, Atom):
            for mutant in joint_mutants(atom):
                _joint(score, bench, mutant)

    steps = [*origins, *((atom, "") for atom in products.values())]  # an atom as a whole: its joint mutants
    _, score.missing = each(
        steps, judge, "origins of mutants", lambda step: f"{step[0].name} {step[1]}".rstrip(), quiet
    )
    return score


def _single(score: Score, bench: Bench, origin: AnyAtom, operand: str, mutant: Mutant) -> None:
    parts = [next(p for p in prepared(a).parts if p.name == operand) for a in (origin, mutant.atom)]
    if same_function(parts[0], parts[1]):
        score.equivalent += 1
        return
    verdicts = bench.judge(mutant, proof=True)
    score.mutants += 1  # once it was judged: an interruption comes meanwhile
    mine = [v for v in verdicts if v.claim.part in mutant.parts]
    answers = {
        "isa": _said(mine, EQUALS, Check.ISA),
        "z3": _said(mine, EQUALS, Check.PROOF),
        "recording": _said(verdicts, RELATION, Check.GPU) if refutable(origin, operand) else [],
        "intrinsic": [e for kind in INTRINSIC for e in _said(mine, kind, Check.ISA)],
    }
    for judge, said in answers.items():
        if said:
            refuted = any(e.status is Status.REFUTED for e in said)
            score.asked[judge] += 1
            score.refuted[judge] += refuted
            if not refuted and judge != "intrinsic":
                score.survivors.append(f"{mutant.origin} {operand}  SURVIVES {judge}: {mutant.what}")
        elif judge in ("isa", "z3"):
            score.survivors.append(f"{mutant.origin} {operand}  UNHEARD by {judge}: {mutant.what}")


def _joint(score: Score, bench: Bench, mutant: Mutant) -> None:
    verdicts = bench.judge(mutant)
    changed = [v for v in verdicts if v.claim.part in mutant.parts]
    by_book = _said(changed, EQUALS, Check.ISA)
    if not by_book:
        return
    score.joint += 1
    related = _said(verdicts, RELATION, Check.GPU)
    if related and isinstance(mutant.atom, Atom) and free(mutant.atom, mutant.parts):
        score.joint_asked += 1
        score.joint_related += all(e.status is Status.AGREES for e in related)
    refuted = any(e.status is Status.REFUTED for e in by_book)
    score.joint_refuted += refuted
    if not refuted:
        score.survivors.append(f"{mutant.origin}  SURVIVES book: {mutant.what}")


def _said(verdicts: Sequence[Verdict], kind: Property, check: Check) -> list[Evidence]:
    """What a witness said on a kind of claim, silence left out."""
    return [
        e
        for v in verdicts
        if v.claim.prop == kind
        for e in v.evidence
        if e.check is check and e.status is not Status.UNCHECKED
    ]
