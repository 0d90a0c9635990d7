# SPDX-License-Identifier: Apache-2.0
"""The mutation campaign: how many wrong atoms each check refutes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from random import Random

import proofs
from lanecheck.console.progress import each
from layouts.atoms import AnyAtom, Atom
from layouts.int_tuple import leaves
from layouts.text import parse_shape_stride
from verify.atom.checker import AtomChecker, prepare_atom
from verify.atom.properties import EQUALS, IN_BOUNDS, OWNERSHIP, RELATION
from verify.core.verdict import Check, Evidence, Property, Status, Verdict
from verify.evidence.gpu_shared_memory import free, refutable
from verify.mutate.mutants import Mutant, distinct, joint_mutants, mutants
from verify.report import cut_short

INTRINSIC = (IN_BOUNDS, OWNERSHIP)
WHOLE = ("", "bytes")  # the parts of the claim that a recording confirms or refutes
COUNTED = (*INTRINSIC, EQUALS, RELATION)
SEED = 3  # of the sample that is mutated of each family
LARGEST = 1 << 13  # points of a copy that the seed may choose: its mutants are evaluated in plain integers
COLUMNS = ("isa", "z3", "recording", "intrinsic")
CHECKS = COLUMNS[:3]  # "intrinsic" counts properties that need no instruction


@dataclass(slots=True)
class Score:
    """How many mutants each column of COLUMNS checked and refuted.

    `equivalent` mutants are the same function as their origin, at every point. `checked` counts the mutants that a
    column has evidence on: a recording has it for instructions that a GPU ran, and for operands in registers.
    """

    layouts: int = 0  # different layouts of operands that were mutated
    mutants: int = 0  # of one operand, that are another function than their origin
    equivalent: int = 0  # mutants that are the same function as their origin, at every point
    checked: Counter[str] = field(default_factory=Counter)  # column -> mutants that it has evidence on
    refuted: Counter[str] = field(default_factory=Counter)  # column -> mutants that it refutes
    joint: int = 0  # mutants of two operands whose rows, columns or k are relabelled alike
    joint_checked: int = 0  # joint mutants that are compared with a recording
    joint_related: int = 0  # joint mutants whose relation agrees with it, as it must
    joint_refuted: int = 0  # joint mutants that the ISA tables refute, as they must
    survivors: list[str] = field(default_factory=list)  # each mutant that is not refuted, with the check, in words
    missing: int = 0  # origins whose mutants an interruption left unchecked, all or some of them

    @property
    def complete(self) -> bool:
        """Whether every check gave evidence and no mutant survived."""
        return not (self.missing or self.without_evidence or self.has_survivor)

    @property
    def has_survivor(self) -> bool:
        """Whether a mutant was not refuted by a check that applies, or a joint mutant has another outcome than it must.

        isa and z3 apply to every mutant. A joint mutant is refuted by isa, and keeps the relation of a recording.
        """
        singles = all(self.checked[check] == self.refuted[check] for check in CHECKS)
        whole = self.checked["isa"] == self.checked["z3"] == self.mutants
        joint = self.joint_related == self.joint_checked and self.joint_refuted == self.joint
        return not (singles and whole and joint)

    @property
    def without_evidence(self) -> list[str]:
        """The checks that have no evidence on any mutant."""
        return [check for check in CHECKS if not self.checked[check]]

    def lines(self) -> list[str]:
        """Return the score in words, the verdict last."""
        lines = [
            f"{self.mutants + self.equivalent} mutants of {self.layouts} distinct operand layouts, "
            f"{self.equivalent} of them the same function",
        ]
        for column in COLUMNS:
            checked, refuted = self.checked[column], self.refuted[column]
            share = 100 * refuted / checked if checked else 0.0
            lines.append(f"  refuted by {column:<10} {refuted:>5} of {checked:<5} {share:6.1f} %")
        lines.append(
            f"{self.joint} joint mutants: the relation holds for {self.joint_related} of {self.joint_checked}, "
            f"isa refutes {self.joint_refuted} of {self.joint}"
        )
        if self.missing:
            lines.append(cut_short(self.missing, "origin"))
        if self.has_survivor:
            return [*lines, "SOME MUTANT SURVIVES"]
        if self.missing:
            return lines
        none = ", ".join(self.without_evidence)
        return [*lines, f"INCOMPLETE: no evidence from {none}" if none else "every mutant is refuted"]

    def as_dict(self) -> dict[str, object]:
        """Return the score as plain data, `"schema": 2`."""
        return {
            "schema": 2,
            "layouts": self.layouts,
            "mutants": self.mutants,
            "equivalent": self.equivalent,
            "checked": {column: self.checked[column] for column in COLUMNS},
            "refuted": {column: self.refuted[column] for column in COLUMNS},
            "joint": {
                "mutants": self.joint,
                "checked": self.joint_checked,
                "relation_holds": self.joint_related,
                "refuted_by_isa": self.joint_refuted,
            },
            "survivors": self.survivors,
            "missing": self.missing,
            "complete": self.complete,
        }


def sample_atoms(atoms: Sequence[AnyAtom], seed: int = SEED) -> list[AnyAtom]:
    """Every MMA atom without a family; from each family its smallest member and one that the seed chooses.

    Copies whose instructions differ only in their count (.x1, .x2 and so on) are such a family too. The oldest
    architecture comes first.
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
        drawn = Random(seed).choice(
            [atom for atom in listed if isinstance(atom, Atom) or _extent(atom) <= LARGEST] or [least]
        )
        chosen += [least] if drawn.name == least.name else [least, drawn]
    return sorted(chosen, key=lambda atom: int((re.findall(r"\d+", atom.name) or ["0"])[0]))


def _extent(atom: AnyAtom) -> int:
    """How large a member of a family is: the extents of its product, or the points of a copy's larger side."""
    if isinstance(atom, Atom):
        return prod(atom.shape)
    return max(prod(leaves(parse_shape_stride(text)[0])) for text in atom.operands.values())


@dataclass(frozen=True, slots=True)
class Checkers:
    """The checkers of mutants: of `isa` and `gpu`, and of z3, which stops at the first counterexample of a mutant."""

    observers: AtomChecker = field(default_factory=lambda: AtomChecker(frozenset({Check.ISA, Check.GPU})))
    prover: AtomChecker = field(
        default_factory=lambda: AtomChecker(frozenset({Check.PROOF}), loaded=proofs.Solver(counted=0))
    )

    def verify(self, mutant: Mutant, proof: bool = False) -> list[Verdict]:
        """Return the verdicts that are counted: on a mutant's changed operands and the relation.

        Z3 decides equality only.
        """
        subject, parts = prepare_atom(mutant.atom), (*mutant.parts, *WHOLE)
        verdicts = self.observers.judge(subject, lambda claim: claim.prop in COUNTED and claim.part in parts)
        if proof:
            verdicts += self.prover.judge(subject, lambda claim: claim.prop == EQUALS and claim.part in parts)
        return verdicts


def campaign(atoms: Sequence[AnyAtom], quiet: bool = False) -> Score:
    """Mutate every distinct operand layout of some atoms, families sampled, and count what each check refutes."""
    score, bench = Score(), Checkers()
    origins = distinct(sample_atoms(atoms))
    score.layouts = len(origins)
    products = {atom.name: atom for atom, _ in origins if isinstance(atom, Atom)}

    def count(step: tuple[AnyAtom, str], _: object) -> None:
        atom, operand = step
        if operand:
            for mutant in mutants(atom, operand):
                score_one(score, bench, atom, operand, mutant)
        elif isinstance(atom, Atom):
            for mutant in joint_mutants(atom):
                _joint(score, bench, mutant)

    steps = [*origins, *((atom, "") for atom in products.values())]  # an atom as a whole: its joint mutants
    _, score.missing = each(
        steps, count, "origins of mutants", lambda step: f"{step[0].name} {step[1]}".rstrip(), quiet
    )
    return score


def score_one(score: Score, bench: Checkers, origin: AnyAtom, operand: str, mutant: Mutant) -> None:
    """Count a mutant of one operand: equivalent, or killed by what refutes it, or a survivor."""
    if mutant.same:
        score.equivalent += 1
        return
    verdicts = bench.verify(mutant, proof=True)
    score.mutants += 1  # only now: an interruption may come while it is checked
    mine = [v for v in verdicts if v.claim.part in mutant.parts]
    evidence = {
        "isa": _give_evidence(mine, EQUALS, Check.ISA),
        "z3": _give_evidence(mine, EQUALS, Check.PROOF),
        "recording": _give_evidence(verdicts, RELATION, Check.GPU) if refutable(origin, operand) else [],
        "intrinsic": [e for prop in INTRINSIC for e in _give_evidence(mine, prop, Check.ISA)],
    }
    for column, given in evidence.items():
        if given:
            refuted = any(e.status is Status.REFUTED for e in given)
            score.checked[column] += 1
            score.refuted[column] += refuted
            if not refuted and column != "intrinsic":
                how = "SURVIVES" if any(e.status.confirmed for e in given) else "UNDECIDED by"  # the solver gave up
                score.survivors.append(f"{mutant.origin} {operand}  {how} {column}: {mutant.what}")
        elif column in ("isa", "z3"):
            score.survivors.append(f"{mutant.origin} {operand}  UNCHECKED by {column}: {mutant.what}")


def _joint(score: Score, bench: Checkers, mutant: Mutant) -> None:
    verdicts = bench.verify(mutant)
    changed = [v for v in verdicts if v.claim.part in mutant.parts]
    by_isa = _give_evidence(changed, EQUALS, Check.ISA)
    if not by_isa:
        return
    score.joint += 1
    related = _give_evidence(verdicts, RELATION, Check.GPU)
    if related and isinstance(mutant.atom, Atom) and free(mutant.atom, mutant.parts):
        score.joint_checked += 1
        score.joint_related += all(e.status is Status.AGREES for e in related)
    refuted = any(e.status is Status.REFUTED for e in by_isa)
    score.joint_refuted += refuted
    if not refuted:
        score.survivors.append(f"{mutant.origin}  SURVIVES isa: {mutant.what}")


def _give_evidence(verdicts: Sequence[Verdict], prop: Property, check: Check) -> list[Evidence]:
    """Return the evidence of a check on the claims of a property, UNCHECKED left out."""
    return [
        e
        for v in verdicts
        if v.claim.prop == prop
        for e in v.evidence
        if e.check is check and e.status is not Status.UNCHECKED
    ]
