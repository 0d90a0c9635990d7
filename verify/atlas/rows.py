# SPDX-License-Identifier: Apache-2.0
"""The atlas: atoms counted by instruction, with the outcome of each check and the origin of the ISA's formulas.

A row counts in the atoms one at a time and keeps no verdict, so that the whole registry fits in little memory.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TypeAlias

import gpu_checks
from isa_tables.errors import IsaError
from isa_tables.mnemonic import is_shape, list_parts
from isa_tables.schema import WIDTH
from isa_tables.signature import find
from lanecheck.console.progress import Progress, each
from layouts.atoms import AnyAtom
from verify.atlas.without_atom import NoAtom, bind_own
from verify.atom.checker import AtomChecker
from verify.atom.pool import pool_atoms
from verify.binding.bound import BoundMaps
from verify.cli.batch import attempt
from verify.cli.ending import complain
from verify.core.errors import Exit
from verify.core.verdict import Check, Origin, Status, origin
from verify.report import Case, Failure, Report
from verify.report.expectation import find_surprise

Verify: TypeAlias = "Callable[[AnyAtom | str], Case]"
COMPUTED = "no matrix instruction"
UNNAMED = "no instruction named"
MNEMONIC = re.compile(r"'?\w[\w.:]*\.[\w.:]*\w'?")


class CheckOutcome(StrEnum):
    """The result of one check of an atom, over the claims that require this check."""

    VERIFIED = "verified"
    PART = "in part"  # some claims are verified, on others the check has no evidence
    REFUTED = "refuted"
    UNKNOWN = "unknown"
    UNCHECKED = "unchecked"


@dataclass(frozen=True, slots=True)
class Refuted:
    """A refuted claim of an atom: its operand (`part`), its counterexample, and whether it is a known defect."""

    name: str
    part: str
    claim: str
    statement: str
    known: bool


@dataclass(slots=True)
class AtlasRow:
    """The atoms of one instruction, counted."""

    instruction: str  # its family, and its shape where it has one: mma.sync m16n8k16
    family: str  # as mma.sync or wgmma
    atoms: int = 0  # how many issue it
    verdicts: Counter[str] = field(default_factory=Counter)  # status of an atom -> how many atoms have it
    outcomes: dict[Check, Counter[CheckOutcome]] = field(
        default_factory=dict
    )  # check -> outcome -> how many atoms have it
    # check -> reason why it has no evidence -> how many atoms
    reasons: dict[Check, Counter[str]] = field(default_factory=dict)
    # operand -> where its formulas come from, as the keys of a dict
    provenance: dict[str, dict[str, None]] = field(default_factory=dict)
    sources: dict[str, None] = field(default_factory=dict)  # the recordings that gave evidence
    adapters: Counter[str] = field(default_factory=Counter)  # how copies rearrange registers after the instruction
    refuted: list[Refuted] = field(default_factory=list)  # its refuted atoms, in the order in which they were verified
    surprises: dict[str, str] = field(default_factory=dict)  # atoms that are not as their entries expect
    # status of a claim -> how many claims of its atoms have it
    claims: Counter[Status] = field(default_factory=Counter)
    shared: int = 0  # pieces of evidence computed for another atom with an equal operand and formula
    evidence: int = 0  # how many pieces of evidence there are in all
    _noted: set[tuple[str, str]] = field(default_factory=set, init=False, repr=False, compare=False)  # in `provenance`

    def add(self, case: Case, mnemonics: Sequence[str], checks: Iterable[Check]) -> None:
        """Count in an atom that issues these instructions."""
        self.atoms += 1
        self.verdicts[case.headline] += 1
        if case.adapter:
            self.adapters[case.adapter] += 1
        if how := find_surprise(case, expect_known=True):
            self.surprises[case.name] = how
        self._count(case, mnemonics, checks)
        for verdict in case.verdicts:
            if verdict.status.refuted or (case.contradiction and case.contradicts(verdict)):
                statement = verdict.counterexample.statement if verdict.counterexample else verdict.reason
                wrong = Refuted(case.name, verdict.claim.part, verdict.claim.text, statement, case.as_known)
                self.refuted.append(wrong)

    def leave_open(self, none: NoAtom, checks: Iterable[Check], observed: bool) -> None:
        """Count in an instruction that nothing can be compared with; `observed` says whether a GPU was recorded."""
        self.atoms += 1
        self.verdicts["UNSPECIFIED" if none.unspecified else "UNCHECKED"] += 1
        for check in checks:
            noted = "observed, with nothing to compare: " if observed and check is Check.GPU else ""
            self.outcomes.setdefault(check, Counter())[CheckOutcome.UNCHECKED] += 1
            self.reasons.setdefault(check, Counter())[noted + none.reason] += 1

    def absorb(self, row: AtlasRow) -> None:
        """Count another row's atoms in."""
        self.atoms += row.atoms
        self.shared += row.shared
        self.evidence += row.evidence
        self.verdicts.update(row.verdicts)
        self.claims.update(row.claims)
        self.adapters.update(row.adapters)
        self.sources |= row.sources
        self.refuted += row.refuted
        self.surprises |= row.surprises
        for check, counts in row.outcomes.items():
            self.outcomes.setdefault(check, Counter()).update(counts)
        for check, reasons in row.reasons.items():
            self.reasons.setdefault(check, Counter()).update(reasons)
        for operand, texts in row.provenance.items():
            self.provenance.setdefault(operand, {}).update(texts)

    def origins(self) -> dict[str, tuple[Origin, ...]]:
        """Return the origins of each operand's formulas in the ISA tables, a word for each."""
        return {operand: origin(" | ".join(texts)) for operand, texts in self.provenance.items()}

    def _count(self, case: Case, mnemonics: Sequence[str], checks: Iterable[Check]) -> None:
        """Count in the claims and their evidence: the outcome of each check, the reasons of what it has none on."""
        given = {check: set[Status]() for check in Check}  # by a check that is required, or refutes
        missing = {check: dict[str, list[str]]() for check in Check}  # reason -> operands
        unchecked, gpu, noted, shared = Status.UNCHECKED, Check.GPU, self._noted, 0
        for claim, status, evidence, *_ in case.verdicts:
            self.claims[status] += 1
            if claim.part and claim.provenance and (claim.part, claim.provenance) not in noted:
                noted.add((claim.part, claim.provenance))
                self.provenance.setdefault(claim.part, {}).update(dict.fromkeys(claim.provenance.split(" | ")))
            required = claim.prop.required
            self.evidence += len(evidence)
            for piece in evidence:
                check, outcome = piece.check, piece.status
                if piece.shared:
                    shared += 1
                if check in required and outcome is unchecked:
                    missing[check].setdefault(piece.reason, []).append(claim.part)
                elif check in required or outcome.refuted:
                    given[check].add(outcome)
                if check is gpu and piece.method:
                    self.sources[piece.method] = None
        self.shared += shared
        for check in checks:
            self.outcomes.setdefault(check, Counter())[_outcome(given[check], bool(missing[check]))] += 1
            if missing[check]:
                self.reasons.setdefault(check, Counter())[_why(missing[check], mnemonics)] += 1


def _why(missing: Mapping[str, Sequence[str]], mnemonics: Iterable[str]) -> str:
    """Return the reasons for missing evidence, each with its operands, without hints.

    The atom's own mnemonic is not named.
    """
    own = [list_parts(mnemonic) for mnemonic in mnemonics]
    grouped: dict[str, list[str]] = {}
    for reason, parts in missing.items():
        for clause in reason.split("; nearest")[0].split("; "):
            text = MNEMONIC.sub(
                lambda match: "this instruction" if list_parts(match[0].strip("'")) in own else match[0], clause
            )
            grouped.setdefault(text, []).extend(filter(None, parts))
    return "; ".join(", ".join(dict.fromkeys(parts)) + ": " * bool(parts) + text for text, parts in grouped.items())


def _outcome(given: set[Status], missing: bool) -> CheckOutcome:
    if given & {Status.REFUTED, Status.VACUOUS}:
        return CheckOutcome.REFUTED
    if Status.UNKNOWN in given:
        return CheckOutcome.UNKNOWN
    if not given:
        return CheckOutcome.UNCHECKED
    return CheckOutcome.PART if missing else CheckOutcome.VERIFIED


@dataclass(frozen=True, slots=True)
class Atlas:
    """The rows of atoms and of instructions without an atom, with the exit code of the whole run."""

    rows: tuple[AtlasRow, ...]
    checks: tuple[Check, ...]
    exit: Exit
    without_atom: tuple[AtlasRow, ...] = ()
    missing: int = 0  # atoms and instructions that an interruption left without a verdict

    def total(self) -> AtlasRow:
        """All rows of atoms as one."""
        return join_rows("total", self.rows)

    def total_without_atom(self) -> AtlasRow:
        """All rows of instructions without an atom as one."""
        return join_rows("total without an atom", self.without_atom)

    def by_family(self) -> Atlas:
        """Return the same atlas with one row for each family of instructions."""
        return replace(self, rows=_by_family(self.rows), without_atom=_by_family(self.without_atom))


def _by_family(rows: Iterable[AtlasRow]) -> tuple[AtlasRow, ...]:
    grouped: dict[str, list[AtlasRow]] = {}
    for row in rows:
        grouped.setdefault(row.family, []).append(row)
    return tuple(join_rows(family, rows) for family, rows in sorted(grouped.items()))


def join_rows(name: str, rows: Iterable[AtlasRow]) -> AtlasRow:
    """Rows counted together as one row of that name."""
    whole = AtlasRow(name, name)
    for row in rows:
        whole.absorb(row)
    return whole


def instruction(atom: AnyAtom) -> tuple[str, str]:
    """(family, row) of an atom's first instruction: the row is the family with its shape, if it has one.

    Instructions of one table that differ only in a parameter of its shape (`m64nNk16`) share a row.
    """
    if not atom.ptx:
        name = UNNAMED if atom.ptx is None else COMPUTED
        return name, name
    return place(atom.ptx[0])


def place(mnemonic: str) -> tuple[str, str]:
    """(family, row) of an instruction: the mnemonic's leading words, and those with its shape."""
    key = list_parts(mnemonic)
    words = mnemonic.split(".")
    family = key.family
    if family == words[0] and len(words) > 1 and words[1] not in WIDTH and not is_shape(words[1]):
        family = ".".join(words[:2])
    try:
        shape = find(mnemonic).shape
    except IsaError:
        shape = key.shape
    return family, " ".join(filter(None, (family, shape)))


@dataclass(slots=True)
class CountedRows:
    """The rows counted so far, by their instruction, with the exit codes of their atoms."""

    rows: dict[str, AtlasRow] = field(default_factory=dict)
    bare: dict[str, AtlasRow] = field(default_factory=dict)  # of instructions without an atom
    exits: set[Exit] = field(default_factory=set)

    def count(
        self, subject: AnyAtom | str, verify: Verify, checker: AtomChecker, allow_unchecked: bool
    ) -> Failure | None:
        """Verify an atom, or an instruction without one, and count it in; returns why that failed."""
        checks = _checks(checker)
        if isinstance(subject, str):
            family, name = place(subject)
            try:
                outcome: Case | NoAtom = verify(subject)
            except NoAtom as none:
                outcome = none
            row = self.bare.setdefault(name, AtlasRow(name, family))
            if isinstance(outcome, NoAtom):
                row.leave_open(outcome, checks, subject in gpu_checks.recordings())
            else:
                self._add(outcome, row, (subject,), checks, True)
            return None

        def count_atom(atom: AnyAtom) -> None:
            case, (family, name) = verify(atom), instruction(atom)
            self._add(case, self.rows.setdefault(name, AtlasRow(name, family)), atom.mnemonics, checks, allow_unchecked)

        failed = attempt(subject, count_atom)
        if isinstance(failed, Failure):
            self.exits.add(failed.code)
        return failed

    def _add(
        self, case: Case, row: AtlasRow, mnemonics: Sequence[str], checks: Sequence[Check], allow_unchecked: bool
    ) -> None:
        row.add(case, mnemonics, checks)
        self.exits.add(Report((case,), expect_known=True, allow_unchecked=allow_unchecked).exit())

    def atlas(self, checks: tuple[Check, ...], missing: int) -> Atlas:
        """Return the atlas: rows in alphabetical order of their instruction, and the exit code of a report.

        Known defects, and only they, may be refuted. An instruction without an atom may be UNCHECKED.
        """
        ranked = (Exit.CONTRADICTION, Exit.USAGE, Exit.REFUTED, Exit.UNDECIDED)
        code = next((code for code in ranked if code in self.exits), Exit.OK if self.rows or self.bare else Exit.EMPTY)
        ordered, beside = (tuple(rows[name] for name in sorted(rows)) for rows in (self.rows, self.bare))
        return Atlas(ordered, checks, Exit.INTERRUPTED if missing else code, beside, missing)


def tabulate(
    atoms: Iterable[AnyAtom],
    checker: AtomChecker,
    without_atom: Iterable[str] = (),
    quiet: bool = False,
    allow_unchecked: bool = False,
    jobs: int = 1,
) -> Atlas:
    """Return the atlas of some atoms, and of instructions without an atom; `jobs` processes, 0 for as many as can work.

    An atom that is rejected, or that ends in an internal error, stops no other.
    """
    counted = CountedRows()
    # those without an atom first: the processes that begin at the end have recordings of their own
    everything: list[AnyAtom | str] = [*without_atom, *atoms]
    with pool_atoms(checker, everything, _entry, jobs) as verify:

        def count(subject: AnyAtom | str, shown: Progress) -> None:
            if failed := counted.count(subject, verify, checker, allow_unchecked):
                with shown.aside():
                    complain(f"lanecheck: {failed.message.splitlines()[0]}", failed.code)

        _, missing = each(everything, count, "instructions", _name, quiet)
    return counted.atlas(_checks(checker), missing)


def _name(subject: AnyAtom | str) -> str:
    return subject if isinstance(subject, str) else subject.name


def _entry(subject: AnyAtom | str) -> AnyAtom | BoundMaps:
    """Return an atom, or an instruction's own maps. Raises NoAtom where it has none."""
    return bind_own(subject) if isinstance(subject, str) else subject


def _checks(checker: AtomChecker) -> tuple[Check, ...]:
    return tuple(check for check in Check if check in checker.checks)
