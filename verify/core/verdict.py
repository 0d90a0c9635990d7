# SPDX-License-Identifier: Apache-2.0
"""The values that a verification produces: claims, evidence, counterexamples, verdicts.

A :class:`Claim` is one statement about one subject. Each check finds :class:`Evidence` on it; `join` makes a
:class:`Verdict` of the evidence. Nothing here evaluates a layout.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple, TypeAlias


class Status(StrEnum):
    """What is known about a claim. Only PROVED and AGREES confirm it."""

    PROVED = "PROVED"  # complete over the given domain
    AGREES = "AGREES"  # sampled or observed
    REFUTED = "REFUTED"  # with a counterexample, evaluated again in plain Python
    UNKNOWN = "UNKNOWN"  # the solver gave up
    UNCHECKED = "UNCHECKED"  # no check could be made, and why
    VACUOUS = "VACUOUS"  # the premises cannot be met: an error
    RELABELLED = "RELABELLED"  # refuted, but right after one relabelling of m, n or k in both operands that have it
    TAKEN = "TAKEN"  # left out of the entry and taken from the instruction: there is nothing to check

    def __init__(self, word: str) -> None:
        self.confirmed = word in ("PROVED", "AGREES")  # whether this status confirms the claim
        self.refuted = word in ("REFUTED", "RELABELLED")  # whether the claim as it is written is false


class Check(StrEnum):
    """A source of evidence: the formulas of the ISA tables, the solver, or a GPU, recorded or live."""

    ISA = "isa"
    PROOF = "proof"
    GPU = "gpu"


class Scope(StrEnum):
    """The scopes that reports read. A kind may declare any other: a word for what one claim of a property is about."""

    OPERAND = "operand"
    INSTRUCTION = "instruction"
    ATOM = "atom"


class Statement(NamedTuple):
    """What a property states about one `part` of a subject (an operand, or "" for the whole), in words.

    `provenance` is the origin of the formulas that the claim rests on; empty if it rests on none.
    """

    part: str
    text: str
    provenance: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Property:
    """One property that a claim states: its names and, as a row of a table, how it is checked. Equal by key.

    Its functions take the subject (an atom, a tiling) and one unit of its scope: an operand, a named instruction, or
    None. A check takes the run first and returns evidence:

    >>> counted = Evidence(Check.ISA, Status.PROVED, "counted")
    >>> size = Property("size", isa=lambda run, atom, operand: [counted])
    >>> size.by(Check.ISA)(None, None, None) == [counted], size.by(Check.PROOF), size.gpu_alone
    (True, None, False)
    """

    key: str  # its name in code, JSON and JUnit, in snake case
    scope: str = Scope.ATOM  # which units it has a claim about: operands, instructions, the whole
    words: str = ""  # its name in reports: by default the words of the key
    says: Mapping[str, str] = field(default_factory=dict)  # where it applies (mma, copy): what it states there
    states: Callable[[Any, Any], Statement] = lambda subject, operand: Statement("", "")  # the claim about one unit
    applies: Callable[[Any, Any], bool] = lambda subject, operand: True  # whether it is claimed of a unit at all
    place: Callable[[Any, Any], Place | None] = lambda subject, operand: None  # where what it is about is written
    isa: CheckFunction | None = None  # the evidence of the ISA tables' formulas, or of counting
    proof: CheckFunction | None = None  # the evidence of the solver
    gpu: CheckFunction | None = None  # the evidence of GPUs, recorded or live
    how: tuple[str | Mapping[str, str], ...] = ("", "", "")  # the methods of the three checks, for the docs
    needs: tuple[Need, ...] = ()  # reasons why it cannot be checked at all: the first that is not empty
    gaps: Callable[[Any, Any], Iterable[str]] = lambda subject, operand: ()  # what else could not be compared
    reads: Callable[[Check, Any, Any], Hashable] = lambda check, subject, operand: None  # a check's cache key
    # all that its verdicts depend on but the subject's name, if subjects share them; None from it: not this unit's
    alike: Callable[[Any, Any], Hashable] | None = None
    form: bool = False  # about the form of a subject: checked with the ISA tables whichever checks are requested
    required: frozenset[Check] = frozenset()  # the checks without which a subject is not verified

    def __post_init__(self) -> None:
        object.__setattr__(self, "words", self.words or self.key.replace("_", " "))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Property) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def by(self, check: Check) -> CheckFunction | None:
        """Return the function of one of the three checks; None if the property has none."""
        function: CheckFunction | None = getattr(self, check)
        return function

    @property
    def gpu_alone(self) -> bool:
        """Whether a GPU is its only check."""
        return self.gpu is not None and self.isa is None and self.proof is None


class Origin(StrEnum):
    """The origin of a formula in the ISA tables, in a word."""

    TEXT = "ISA text"
    CORRECTED = "corrected"  # the ISA prints an error, and an erratum in the table says so
    DERIVED = "derived"  # from figures, an analogy or other software: the table says which
    OBSERVED = "observed"  # from a GPU: here the checks `isa` and `gpu` are not independent


def origin(provenance: str) -> tuple[Origin, ...]:
    """Return the origins in a provenance, in the order of :class:`Origin`.

    >>> [o.value for o in origin("ISA text | derived: figures; CUTLASS")]
    ['ISA text', 'derived']
    >>> [o.value for o in origin("observed: which fields rule which rows as an NVIDIA H200 showed")]
    ['observed']
    """
    origins = {Origin(text.partition(":")[0]) for text in provenance.split(" | ") if text}
    return tuple(o for o in Origin if o in origins)


class Claim(NamedTuple):
    """One statement about a `subject` (an atom) or a `part` of it (an operand): its property and its wording.

    `part` is "" for the whole. `provenance` is the origin of the formulas that it rests on; empty if it rests on none.
    """

    subject: str
    part: str
    prop: Property
    text: str
    provenance: str = ""


class Place(NamedTuple):
    """Where something is written: a file, with the line and the column counted from 1.

    >>> str(Place("my.hpp", 12, 3))
    'my.hpp:12:3'
    """

    file: str
    line: int
    column: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class Edit(NamedTuple):
    """A change of a file: the text that takes the place of what stands between two places; equal ones insert."""

    begin: Place
    end: Place
    text: str


class Fix(NamedTuple):
    """A repair under which the whole subject is verified, as changes of the file in which the subject is written."""

    words: str  # as the report shows it
    edits: tuple[Edit, ...] = ()  # empty while the file isn't known
    keys: Mapping[str, Any] = {}  # of the entry, with their values: until the file is known


class Proposal(NamedTuple):
    """A change of a subject's spec that may repair it, and its words in a report: `verify.core.verified_repair`."""

    words: str
    change: Callable[[Any], Any]  # spec -> spec
    edits: tuple[Edit, ...] = ()  # the same change in the user's file, if that is known


class FurtherCause(NamedTuple):
    """Something else that makes a claim false, which is wrong by itself."""

    text: str  # a line of the counterexample's damage
    place: Place | None  # where it is written
    causes: tuple[str, ...]  # as those of the counterexample
    general: str  # the text without its example


class Counterexample(NamedTuple):
    """Why a claim is false: the smallest inputs at which it fails, then how large the damage is."""

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
    proposals: tuple[Proposal, ...] = ()  # repairs that are not verified yet: never shown
    causes: tuple[str, ...] = ()  # all that is wrong, without numbers of a run, for a baseline; empty: its words
    further: tuple[FurtherCause, ...] = ()  # that have an alert of their own
    general: tuple[str, ...] = ()  # the statement and the damage without an example, if that depends on sizes


class ProductOperand(NamedTuple):
    """An operand of a matrix product, by rows: the element that each slot holds, and the one that it should hold.

    An element is written with its array: `A[m=0,k=8]`.
    """

    name: str  # A or B
    holds: tuple[tuple[str, ...], ...]  # "" for a computed value
    wants: tuple[tuple[str, ...], ...]  # "" where nothing decides
    slots: tuple[tuple[tuple[int, int], ...], ...] = ()  # (lane, value) of each, (-1, -1) of none; empty in memory
    bits: int = 32  # of an element
    elsewhere: str = "shared memory"  # where it is if not in registers

    def place(self, row: int, column: int) -> str:
        """Return the lane and register of a slot, or where else it is.

        >>> ProductOperand("B", (("",),), (("",),), (((3, 1),),), 16).place(0, 0)
        'lane 3, B register 0 high half'
        """
        if not self.slots:
            return f"{self.elsewhere}, {self.name}[{row},{column}] of the instruction,"
        lane, value = self.slots[row][column]
        if lane < 0:
            return f"{self.name}[{row},{column}] of the instruction, which the metadata leave out,"
        per = max(32 // self.bits, 1)
        part = {1: "", 2: (" low half", " high half")[value % 2]}.get(per, f" byte {value % per}")
        return f"lane {lane}, {self.name} register {value // per}{part}"


class WrongProduct(NamedTuple):
    """The first matrix product of a kernel whose operands do not belong together."""

    line: int  # of the PTX
    instruction: str  # mma or wgmma
    operands: tuple[ProductOperand, ...]  # A and B
    decided: bool  # whether their neighbours say what a slot should hold; else each shows what the other one implies
    text: str = ""  # what is wrong, in words


class Evidence(NamedTuple):
    """The result of one check of one claim, with its method and its number of points.

    Equal where what was found is, however long it took, from whichever text and recording.
    """

    check: Check  # which check found it
    status: Status  # what it found
    method: str  # how, in words: exhaustive, bit-vectors, the recording's GPU
    points: int = 0  # how many points it covers; 0 where they are not counted
    engine: str = ""  # name and version of the solver, or what compared
    reason: str = ""  # why there is no evidence, or what was left out
    seconds: float = 0.0  # the time it took
    shared: str = ""  # the subject on which it was found; empty where on this one
    artifact: str = ""  # the SMT-LIB 2 text of the problem
    counterexample: Counterexample | None = None  # where the status is REFUTED
    applies: bool = True  # False where UNCHECKED isn't a gap: no such check exists, as where no GPU is recorded
    recording: str = ""  # file and line of the recording that it rests on

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Evidence) and self._as_found == other._as_found

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self._as_found)

    @property
    def _as_found(self) -> tuple[object, ...]:
        return tuple(self._replace(seconds=0.0, artifact="", recording=""))


def finding(
    check: Check,
    wrong: Counterexample | None,
    method: str,
    points: int = 0,
    engine: str = "",
    status: Status = Status.PROVED,
    seconds: float = 0.0,
) -> Evidence:
    """Return the evidence of a check: REFUTED by a counterexample, or this `status` where it found none."""
    status = status if wrong is None else Status.REFUTED
    return Evidence(check, status, method, points, engine, seconds=seconds, counterexample=wrong)


class Verdict(NamedTuple):
    """A claim, its status, and all evidence on it."""

    claim: Claim  # the statement
    status: Status  # what all evidence on it amounts to
    evidence: tuple[Evidence, ...]  # what each check found
    counterexample: Counterexample | None = None  # where the status is REFUTED or RELABELLED
    reason: str = ""  # why it is UNCHECKED or UNKNOWN
    place: Place | None = None  # where what it is about is written
    cause: str = ""  # the key of the property whose refutation explains this one
    cause_part: str | None = None  # the part which that claim is about; None if it is this claim's own
    fixes: tuple[Fix, ...] = ()  # repairs that were verified, as changes of the user's file

    @property
    def explained_by(self) -> tuple[str, str]:
        """The part and the property's key of the claim that explains this one; empty keys explain nothing."""
        return (self.claim.part if self.cause_part is None else self.cause_part), self.cause

    @property
    def contradiction(self) -> bool:
        """Whether two checks disagree, or plain arithmetic does not reproduce a counterexample."""
        refuted = confirmed = False
        for e in self.evidence:
            wrong, status = e.counterexample, e.status
            if wrong is not None and not wrong.reproduced:
                return True
            refuted = refuted or status.refuted
            confirmed = confirmed or status.confirmed
        return refuted and confirmed


def leave_unchecked(check: Check, reason: str, applies: bool = True) -> Evidence:
    """Return that there is no evidence, and why; `applies` is False if that isn't a gap."""
    return Evidence(check, Status.UNCHECKED, "", reason=reason, applies=applies)


def add_replay(verdict: Verdict, command: Callable[[], str]) -> Verdict:
    """Return the verdict, with the command that finds its counterexample again, if it has one without."""
    wrong = verdict.counterexample
    if wrong is None or wrong.replay:
        return verdict
    return verdict._replace(counterexample=wrong._replace(replay=command()))


CheckFunction: TypeAlias = Callable[[Any, Any, Any], list[Evidence]]  # of (run, subject, operand)
Need: TypeAlias = Callable[[Any, Any, Sequence[Verdict]], str]  # of (subject, operand, the verdicts before)


RANKED = (Status.REFUTED, Status.VACUOUS, Status.UNKNOWN, Status.PROVED, Status.AGREES)  # of evidence, the worst first


def join(claim: Claim, evidence: Iterable[Evidence]) -> Verdict:
    """Return the verdict on a claim by all its evidence: REFUTED if any is, else VACUOUS, UNKNOWN, PROVED, AGREES.

    A claim without evidence is UNCHECKED, with every reason; that never confirms it.

    >>> claim = Claim("atom", "A", Property("equals"), "equals the ISA")
    >>> proved = Evidence(Check.ISA, Status.PROVED, "exhaustive")
    >>> join(claim, [proved, Evidence(Check.PROOF, Status.UNKNOWN, "bit-vectors")]).status.value
    'UNKNOWN'
    """
    collected = tuple(evidence)
    made = [e for e in collected if e.status is not Status.UNCHECKED]
    if not made:
        why = "; ".join(dict.fromkeys(e.reason for e in collected if e.reason)) or "no check was requested"
        return Verdict(claim, Status.UNCHECKED, collected, reason=why)
    for status in RANKED:
        for e in made:
            if e.status is status:
                return Verdict(claim, status, collected, e.counterexample, e.reason)
    raise AssertionError(f"no status in {made}")
