# SPDX-License-Identifier: Apache-2.0
"""The atlas: atoms counted by their instruction, what each witness said of them, and where the book's words come from.

A row folds in the atoms one at a time and keeps no verdict, so that the whole registry fits in little memory.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from isa_tables.errors import IsaError
from isa_tables.mnemonic import is_shape, said
from isa_tables.schema import WIDTH
from isa_tables.signature import find, signature
from layouts.atoms import AnyAtom
from proofs.progress import Progress, each
from verify.atlas.unclaimed import Silent, as_atom
from verify.atom.checker import AtomChecker
from verify.cli.batch import attempt
from verify.cli.ending import complain
from verify.core.errors import Exit
from verify.core.verdict import Check, Origin, Status, Verdict, origin
from verify.report import Case, Failure, Report

COMPUTED = "no matrix instruction"
UNNAMED = "no instruction stated"
MNEMONIC = re.compile(r"'?\w[\w.:]*\.[\w.:]*\w'?")


class Told(StrEnum):
    """What a witness said of an atom, on the claims that it has to speak on."""

    STANDS = "stands"
    PART = "in part"  # some of them stand, on others it was silent
    REFUTED = "refuted"
    UNKNOWN = "unknown"
    UNCHECKED = "unchecked"


@dataclass(frozen=True, slots=True)
class Refuted:
    """An atom that does not stand: in which part, how it was told, and whether that was known before."""

    name: str
    part: str
    claim: str
    statement: str
    known: bool


@dataclass(slots=True)
class Row:
    """The atoms of one instruction.

    `told[witness]` counts the atoms by what the witness said, `reasons[witness]` those on which it was silent by the
    reason; `provenance[operand]` says where the book's formulas come from.
    """

    instruction: str  # its family, and its shape where it has one: mma.sync m16n8k16
    family: str  # as mma.sync or wgmma
    atoms: int = 0  # how many issue it
    verdicts: Counter[str] = field(default_factory=Counter)  # status of an atom -> how many atoms have it
    told: dict[Check, Counter[Told]] = field(default_factory=dict)  # check -> outcome -> how many atoms have it
    # check -> reason for which it gave no evidence -> how many atoms
    reasons: dict[Check, Counter[str]] = field(default_factory=dict)
    # operand -> where its formulas come from, as the keys of a dict
    provenance: dict[str, dict[str, None]] = field(default_factory=dict)
    sources: dict[str, None] = field(default_factory=dict)  # the recordings that spoke
    adapters: Counter[str] = field(default_factory=Counter)  # what copies do after the instruction
    refuted: list[Refuted] = field(default_factory=list)  # its refuted atoms, in the order in which they were verified
    surprises: dict[str, str] = field(default_factory=dict)  # atoms that are not as their entries expect
    # status of a claim -> how many claims of its atoms have it
    claims: Counter[Status] = field(default_factory=Counter)
    shared: int = 0  # pieces of evidence that were given on another atom with the same operand and formula
    evidence: int = 0  # how many pieces of evidence there are in all

    def add(self, case: Case, mnemonics: Sequence[str], checks: Iterable[Check]) -> None:
        """Count an atom in, which issues these instructions."""
        self.atoms += 1
        self.verdicts[case.headline] += 1
        self.adapters.update(filter(None, [case.adapter]))
        self.claims.update(verdict.status for verdict in case.verdicts)
        if how := case.surprise(expect_known=True):
            self.surprises[case.name] = how
        for check in checks:
            self._hear(check, case, mnemonics)
        for verdict in case.verdicts:
            self._note(verdict, case)

    def leave_open(self, silent: Silent, checks: Iterable[Check], observed: bool) -> None:
        """Count an instruction in of which the book says nothing that could be judged; a GPU may have been observed."""
        self.atoms += 1
        self.verdicts["UNSPECIFIED" if silent.unspecified else "UNCHECKED"] += 1
        for check in checks:
            seen = "observed, with nothing to compare: " if observed and check is Check.GPU else ""
            self.told.setdefault(check, Counter())[Told.UNCHECKED] += 1
            self.reasons.setdefault(check, Counter())[seen + silent.reason] += 1

    def absorb(self, other: Row) -> None:
        """Count another row's atoms in."""
        self.atoms += other.atoms
        self.shared += other.shared
        self.evidence += other.evidence
        self.verdicts.update(other.verdicts)
        self.claims.update(other.claims)
        self.adapters.update(other.adapters)
        self.sources |= other.sources
        self.refuted += other.refuted
        self.surprises |= other.surprises
        for check, counts in other.told.items():
            self.told.setdefault(check, Counter()).update(counts)
        for check, reasons in other.reasons.items():
            self.reasons.setdefault(check, Counter()).update(reasons)
        for operand, told in other.provenance.items():
            self.provenance.setdefault(operand, {}).update(told)

    def origins(self) -> dict[str, tuple[Origin, ...]]:
        """Where the book's formulas of each operand come from, in a word each."""
        return {operand: origin(" | ".join(told)) for operand, told in self.provenance.items()}

    def _hear(self, check: Check, case: Case, mnemonics: Sequence[str]) -> None:
        spoken, silent = Counter[Status](), dict[str, list[str]]()
        for verdict in case.verdicts:
            about = check in verdict.claim.prop.required
            for evidence in verdict.evidence:
                if evidence.check is not check:
                    continue
                if about and evidence.status is Status.UNCHECKED:
                    silent.setdefault(evidence.reason, []).append(verdict.claim.part)
                elif about or evidence.status is Status.REFUTED:
                    spoken[evidence.status] += 1
                if check is Check.GPU and evidence.method:
                    self.sources[evidence.method] = None
        self.told.setdefault(check, Counter())[_in_a_word(spoken, bool(silent))] += 1
        if silent:
            self.reasons.setdefault(check, Counter())[_why(silent, mnemonics)] += 1

    def _note(self, verdict: Verdict, case: Case) -> None:
        claim = verdict.claim
        if claim.part and claim.provenance:
            self.provenance.setdefault(claim.part, {}).update(dict.fromkeys(claim.provenance.split(" | ")))
        self.evidence += len(verdict.evidence)
        self.shared += sum(bool(evidence.shared) for evidence in verdict.evidence)
        if verdict.status is Status.REFUTED or case.contradicts(verdict):
            statement = verdict.counterexample.statement if verdict.counterexample else verdict.reason
            self.refuted.append(Refuted(case.name, claim.part, claim.text, statement, case.as_known))


def _why(silent: Mapping[str, Sequence[str]], mnemonics: Iterable[str]) -> str:
    """Every reason with the operands that it is about, the atom's own instruction unnamed, without hints."""
    own = [said(mnemonic) for mnemonic in mnemonics]
    told: dict[str, list[str]] = {}
    for reason, parts in silent.items():
        for clause in reason.split("; nearest")[0].split("; "):
            text = MNEMONIC.sub(
                lambda found: "this instruction" if said(found[0].strip("'")) in own else found[0], clause
            )
            told.setdefault(text, []).extend(filter(None, parts))
    return "; ".join(", ".join(dict.fromkeys(parts)) + ": " * bool(parts) + text for text, parts in told.items())


def _in_a_word(spoken: Counter[Status], silent: bool) -> Told:
    for status, told in (
        (Status.REFUTED, Told.REFUTED),
        (Status.VACUOUS, Told.REFUTED),
        (Status.UNKNOWN, Told.UNKNOWN),
    ):
        if spoken[status]:
            return told
    if not spoken:
        return Told.UNCHECKED
    return Told.PART if silent else Told.STANDS


@dataclass(frozen=True, slots=True)
class Atlas:
    """All rows, and what they amount to; `unclaimed` are instructions without an atom, as the book has them."""

    rows: tuple[Row, ...]
    checks: tuple[Check, ...]
    exit: Exit
    unclaimed: tuple[Row, ...] = ()
    missing: int = 0  # atoms and instructions that an interruption left without a verdict

    def total(self) -> Row:
        """All rows of atoms as one."""
        return _joined("total", self.rows)

    def without_atom(self) -> Row:
        """All rows of instructions without an atom as one."""
        return _joined("total without an atom", self.unclaimed)

    def by_family(self) -> Atlas:
        """The same atlas with one row for each family of instructions."""
        return replace(self, rows=_by_family(self.rows), unclaimed=_by_family(self.unclaimed))


def _by_family(rows: Iterable[Row]) -> tuple[Row, ...]:
    grouped: dict[str, list[Row]] = {}
    for row in rows:
        grouped.setdefault(row.family, []).append(row)
    return tuple(_joined(family, rows) for family, rows in sorted(grouped.items()))


def _joined(name: str, rows: Iterable[Row]) -> Row:
    whole = Row(name, name)
    for row in rows:
        whole.absorb(row)
    return whole


def instruction(atom: AnyAtom) -> tuple[str, str]:
    """The family and the row that an atom belongs to: of its instruction, with its shape where it has one.

    The shapes of a family of instructions, which differ in its parameters alone, are one.
    """
    if not atom.ptx:
        name = UNNAMED if atom.ptx is None else COMPUTED
        return name, name
    return place(atom.ptx[0])


def place(mnemonic: str) -> tuple[str, str]:
    """The family and the row of an instruction."""
    key = said(mnemonic)
    words = mnemonic.split(".")
    family = key.family
    if family == words[0] and len(words) > 1 and words[1] not in WIDTH and not is_shape(words[1]):
        family = ".".join(words[:2])
    try:
        shape = find(mnemonic).shape
    except IsaError:
        shape = key.shape
    return family, " ".join(filter(None, (family, shape)))


def tabulate(
    atoms: Iterable[AnyAtom],
    court: AtomChecker,
    unclaimed: Iterable[str] = (),
    quiet: bool = False,
    allow_unchecked: bool = False,
) -> Atlas:
    """The atlas of some atoms, and of instructions that none claims: rows in alphabetical order of their instruction.

    Its exit code is a report's: known defects, and only they, may be refuted. An instruction that no atom claims may be
    UNCHECKED: nobody states anything about it. An atom that is refused, or that we fail at, costs no other.
    """
    rows: dict[str, Row] = {}
    bare: dict[str, Row] = {}
    exits: set[Exit] = set()
    checks = tuple(check for check in Check if check in court.checks)

    def count(one: AnyAtom | str, shown: Progress) -> None:
        if not isinstance(one, str):
            done = attempt(one, lambda atom: _count(atom, instruction(atom), rows, court, exits, allow_unchecked))
            if isinstance(done, Failure):
                exits.add(done.code)
                with shown.aside():
                    complain(f"lanecheck: {done.message.splitlines()[0]}", done.code)
            return
        (family, name), found = place(one), as_atom(one)
        if isinstance(found, Silent):
            observed = isinstance(court.recordings(signature(one)), tuple)
            bare.setdefault(name, Row(name, family)).leave_open(found, checks, observed)
        else:
            _count(found, (family, name), bare, court, exits, allow_unchecked=True)

    everything: list[AnyAtom | str] = [*atoms, *unclaimed]
    _, missing = each(everything, count, "instructions", lambda one: one if isinstance(one, str) else one.name, quiet)
    ranked = (Exit.CONTRADICTION, Exit.USAGE, Exit.REFUTED, Exit.UNDECIDED)
    code = next((code for code in ranked if code in exits), Exit.OK if rows or bare else Exit.EMPTY)
    code = Exit.INTERRUPTED if missing else code
    ordered, beside = (tuple(found[name] for name in sorted(found)) for found in (rows, bare))
    return Atlas(ordered, checks, code, beside, missing)


def _count(
    atom: AnyAtom,
    where: tuple[str, str],
    rows: dict[str, Row],
    court: AtomChecker,
    exits: set[Exit],
    allow_unchecked: bool,
) -> None:
    """Judge an atom and count it in its row."""
    family, name = where
    case = court.case(atom)
    heard = [check for check in Check if check in court.checks]
    rows.setdefault(name, Row(name, family)).add(case, atom.mnemonics, heard)
    exits.add(Report((case,), expect_known=True, allow_unchecked=allow_unchecked).exit())
