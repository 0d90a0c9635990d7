# SPDX-License-Identifier: Apache-2.0
"""The values that flow through a judgement: claims, evidence, counterexamples, verdicts.

A :class:`Claim` is one statement about one subject. Each witness turns it into :class:`Evidence`; `join` makes a
:class:`Verdict` of them. Nothing here evaluates a layout.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple, TypeAlias


class Status(StrEnum):
    """What is known about a claim. Only PROVED and AGREES are a yes."""

    PROVED = "PROVED"  # complete over the stated domain
    AGREES = "AGREES"  # sampled or observed
    REFUTED = "REFUTED"  # with a witness, evaluated again in plain Python
    UNKNOWN = "UNKNOWN"  # the solver gave up
    UNCHECKED = "UNCHECKED"  # no witness here could speak, and why
    VACUOUS = "VACUOUS"  # the assumptions cannot be met: an error
    TAKEN = "TAKEN"  # not stated: filled in from the instruction, so there is nothing to check

    @property
    def confirmed(self) -> bool:
        """Whether this status is a yes."""
        return self in (Status.PROVED, Status.AGREES)


class Check(StrEnum):
    """Who testifies: the ISA's formula, the solver, or recorded and probed hardware."""

    ISA = "isa"
    PROOF = "proof"
    GPU = "gpu"


class Scope(StrEnum):
    """What one claim of a property is about."""

    THREADS = "threads"
    OPERAND = "operand"
    INSTRUCTION = "instruction"
    ATOM = "atom"
    TILING = "tiling"
    MEMORY = "shared memory"


class Stated(NamedTuple):
    """What a property states of one subject: `part` of it (an operand, or "" for the whole), in words.

    `provenance` says where the formulas come from that the claim rests on; empty where it rests on none.
    """

    part: str
    text: str
    provenance: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Property:
    """One property that a claim states: its names and, as a row of a table, how it is checked. Equal by its key.

    Its functions take the subject (an atom, a tiling) and one of the units that its scope is about: an operand, a
    named instruction, or None. A check takes the run first, and returns evidence:

    >>> counted = Evidence(Check.ISA, Status.PROVED, "counted")
    >>> size = Property("size", isa=lambda run, atom, operand: [counted])
    >>> size.by(Check.ISA)(None, None, None) == [counted], size.by(Check.PROOF), size.gpu_alone
    (True, None, False)
    """

    key: str  # its name in code, in snake case
    scope: Scope = Scope.ATOM  # which units it has a claim about: operands, instructions, the whole
    words: str = ""  # its name in reports: the key's words where nothing else is given
    says: Mapping[str, str] = field(default_factory=dict)  # where it applies (mma, copy): what it states there
    states: Callable[[Any, Any], Stated] = lambda subject, operand: Stated("", "")  # the claim about one unit
    applies: Callable[[Any, Any], bool] = lambda subject, operand: True  # whether it is claimed of a unit at all
    isa: CheckFunction | None = None  # what the ISA's formulas, or counting, find
    proof: CheckFunction | None = None  # what the solver finds
    gpu: CheckFunction | None = None  # what GPUs showed, recorded or live
    how: tuple[str, str, str] = ("", "", "")  # the methods of the three checks, for the docs
    needs: tuple[Need, ...] = ()  # why it cannot be checked at all: the first that is not empty
    gaps: Callable[[Any, Any], Iterable[str]] = lambda subject, operand: ()  # what could not be compared besides
    reads: Callable[[Check, Any, Any], Hashable] = lambda check, subject, operand: None  # a check's cache key
    form: bool = False  # of a subject's form: counted from the ISA tables whichever checks are asked for
    required: frozenset[Check] = frozenset()  # the checks that must be made of it before a subject is verified

    def __post_init__(self) -> None:
        object.__setattr__(self, "words", self.words or self.key.replace("_", " "))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Property) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def by(self, check: Check) -> CheckFunction | None:
        """The function that makes one of the three checks; None where there is none."""
        return {Check.ISA: self.isa, Check.PROOF: self.proof, Check.GPU: self.gpu}[check]

    @property
    def gpu_alone(self) -> bool:
        """Whether nothing but a GPU checks it."""
        return self.gpu is not None and self.isa is None and self.proof is None


class Origin(StrEnum):
    """Where a formula of the book comes from, in a word."""

    TEXT = "ISA text"
    CORRECTED = "corrected"  # what the ISA prints is an error, and an erratum says so
    DERIVED = "derived"  # from figures, an analogy, other software: the table says which
    OBSERVED = "observed"  # as a GPU showed: here the book is no witness independent of silicon


def origin(provenance: str) -> tuple[Origin, ...]:
    """The origins that a provenance names, in the order of :class:`Origin`.

    >>> [o.value for o in origin("ISA text | derived: figures; CUTLASS")]
    ['ISA text', 'derived']
    >>> [o.value for o in origin("observed: which fields rule which rows as an NVIDIA H200 showed")]
    ['observed']
    """
    found = {Origin(text.partition(":")[0]) for text in provenance.split(" | ") if text}
    return tuple(o for o in Origin if o in found)


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement: `subject` (an atom), `part` (an operand, or "" for the whole), its property and its wording.

    `provenance` says where the formulas come from that it rests on; empty where it rests on none.
    """

    subject: str
    part: str
    prop: Property
    text: str
    provenance: str = ""


@dataclass(frozen=True, slots=True)
class Counterexample:
    """Why a claim is false, told from the smallest witness outwards.

    `reproduced` says that plain integer arithmetic, without the code under test, gave the same values.
    """

    inputs: Mapping[str, int]  # variable -> value: the smallest point at which the claim is false
    statement: str  # what is wrong there, in a sentence
    arithmetic: str = ""  # the layout at the point, written out
    extent: str = ""  # "unique", "smallest", or which of how many it is
    damage: tuple[str, ...] = ()  # how many points are wrong, and what else follows
    isa: str = ""  # the ISA's formula, as its text has it
    repair: str = ""  # a layout or value for which the claim is true; empty where none was found
    replay: str = ""  # the command that finds it again
    unique: bool = False  # whether it is the only one
    reproduced: bool = True  # whether plain integer arithmetic, without the code under test, gave the same values


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one witness says of one claim, how it knows, and over how many points.

    `applies` is False where an UNCHECKED is no gap: the check does not exist for this claim, as where no GPU was
    recorded. `recording` is the file and line of the recording that spoke.
    """

    check: Check  # which check found it
    status: Status  # what it found
    method: str  # how, in words: exhaustive, bit-vectors, the recording's GPU
    points: int = 0  # how many points it covers; 0 where they are not counted
    engine: str = ""  # name and version of the solver, or what compared
    reason: str = ""  # why there is no evidence, or what was left out
    seconds: float = field(default=0.0, compare=False)  # the time it took
    shared: str = ""  # the subject on which it was found; empty where on this one
    artifact: str = field(default="", compare=False, repr=False)  # the SMT-LIB 2 text of the problem
    counterexample: Counterexample | None = None  # where the status is REFUTED
    applies: bool = True  # False where UNCHECKED is no gap: the check does not exist for the claim
    recording: str = field(default="", compare=False)  # file and line of the recording that it rests on


@dataclass(frozen=True, slots=True)
class Verdict:
    """A claim with all that was heard on it."""

    claim: Claim
    status: Status
    evidence: tuple[Evidence, ...]
    counterexample: Counterexample | None = None
    reason: str = ""

    @property
    def contradiction(self) -> bool:
        """Whether two witnesses disagree, or plain arithmetic does not reproduce a counterexample."""
        refuted = any(e.status is Status.REFUTED for e in self.evidence)
        if refuted and any(e.status.confirmed for e in self.evidence):
            return True
        return any(e.counterexample is not None and not e.counterexample.reproduced for e in self.evidence)


CheckFunction: TypeAlias = Callable[[Any, Any, Any], list[Evidence]]  # of (run, subject, operand)
Need: TypeAlias = Callable[[Any, Any, Sequence[Verdict]], str]  # of (subject, operand, the verdicts before)


def join(claim: Claim, evidence: Iterable[Evidence]) -> Verdict:
    """Join the witnesses' evidence: refuted by any, else vacuous, else unknown, else proved, else agrees.

    A claim that nobody could speak on is UNCHECKED with every reason given; it never counts as a yes.

    >>> claim = Claim("atom", "A", Property("equals"), "equals the ISA")
    >>> book = Evidence(Check.ISA, Status.PROVED, "exhaustive")
    >>> join(claim, [book, Evidence(Check.PROOF, Status.UNKNOWN, "bit-vectors")]).status.value
    'UNKNOWN'
    """
    heard = tuple(evidence)
    spoke = [e for e in heard if e.status is not Status.UNCHECKED]
    if not spoke:
        why = "; ".join(dict.fromkeys(e.reason for e in heard if e.reason)) or "no witness was asked"
        return Verdict(claim, Status.UNCHECKED, heard, reason=why)
    statuses = {e.status for e in spoke}
    for status in (Status.REFUTED, Status.VACUOUS, Status.UNKNOWN, Status.PROVED, Status.AGREES):
        if status in statuses:
            first = next(e for e in spoke if e.status is status)
            return Verdict(claim, status, heard, first.counterexample, first.reason)
    raise AssertionError(f"no status in {statuses}")
