# SPDX-License-Identifier: Apache-2.0
"""The verdicts of a comparison with a lock: each function is the one that was reviewed, and no subject came or went."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from verify.core.verdict import Check, Counterexample, Evidence, Property, Scope, Statement, add_replay, finding
from verify.evidence.run import Run
from verify.lock.functions import Subject
from verify.lock.lockfile import Locked
from verify.maps import search
from verify.maps.changes import change
from verify.maps.fragment_map import FragmentMap
from verify.report import Alone, Case

LOCK = "lock"  # the sort of subject, in `Property.says`


class ComparedPart(NamedTuple):
    """What a subject is in one respect, now and in the lock."""

    part: str  # an operand, or a key of what isn't a function; "" for whether the subject is in both
    wrong: Counterexample | None  # how the two differ
    points: int = 1  # that were compared


@dataclass(frozen=True)
class ComparedSubject:
    """A subject of a file or of a lock, with each of its parts in both."""

    name: str
    file: str
    lock: str
    parts: tuple[ComparedPart, ...]


def _compare(_: Run, __: ComparedSubject, compared: ComparedPart) -> list[Evidence]:
    return [finding(Check.ISA, compared.wrong, search.METHOD, compared.points, "plain integers")]


LOCKED = Property(
    "locked",
    scope=Scope.OPERAND,
    says={LOCK: "each function is the one that was reviewed"},
    states=lambda subject, compared: Statement(compared.part, f"is as {subject.lock} has it"),
    isa=_compare,
    how=("by enumeration", "", ""),
    required=frozenset({Check.ISA}),
)
LISTED = Property(
    "listed",
    says={LOCK: "the subject is in its file and in the lock"},
    states=lambda subject, _: Statement("", f"is in {subject.file} and in {subject.lock}"),
    isa=_compare,
    how=("by its name", "", ""),
    required=frozenset({Check.ISA}),
)
PROPERTIES = (LISTED, LOCKED)


class LockChecker(Run):
    """One run over the properties of what a lock keeps."""

    def units(self, subject: ComparedSubject, scope: str) -> Sequence[ComparedPart]:
        """Return the parts that have a function; or, for the whole, whether the subject is in both."""
        return [part for part in subject.parts if bool(part.part) == (scope == Scope.OPERAND)]


@dataclass(frozen=True)
class LockComparison:
    """The subjects of files beside those of a lock."""

    lock: str  # its path
    now: Sequence[Subject]
    locked: Sequence[Locked]
    points: int = 8  # how many are shown of a change

    def cases(self) -> list[tuple[Subject | Locked, Case]]:
        """Each subject of the files with its verdicts, then each that only the lock has."""
        before = {(kept.file, kept.name): kept for kept in self.locked}
        after = {(subject.file, subject.name) for subject in self.now}
        gone = [kept for key, kept in before.items() if key not in after]
        cases: list[tuple[Subject | Locked, Case]] = []
        for subject in self.now:
            locked = before.get((subject.file, subject.name))
            if locked is not None:
                cases.append((subject, self._compare_case(subject, locked)))
                continue
            old = next((kept for kept in gone if _alike(kept, subject)), None)
            if old is not None:
                gone.remove(old)
            how = f"renamed: the lock has it as {old.name} of {old.file}" if old else "added: the lock has it not"
            cases.append((subject, self._case_of_listing(subject, how)))
        return cases + [(kept, self._case_of_listing(kept, "missing: only the lock has it")) for kept in gone]

    def _case_of_listing(self, subject: Subject | Locked, how: str) -> Case:
        return self._case(subject, [ComparedPart("", Counterexample({}, how))])

    def _compare_case(self, now: Subject, locked: Locked) -> Case:
        parts = []
        for key in dict.fromkeys((*locked.says, *now.says)):
            was, is_ = (side.says.get(key, "nothing") for side in (locked, now))
            parts.append(ComparedPart(key, None if was == is_ else Counterexample({}, f"was {was}, now {is_}")))
        for operand in dict.fromkeys((*locked.maps, *now.maps)):
            old, new = locked.maps.get(operand), now.maps.get(operand)
            if old is None or new is None:
                parts.append(ComparedPart(operand, Counterexample({}, "added" if old is None else "missing")))
            else:
                parts.append(ComparedPart(operand, _difference(old, new, self.points), len(new)))
        return replace(self._case(now, parts), alone=Alone(f"as {self.lock} has it", "the lock"))

    def _case(self, subject: Subject | Locked, parts: Sequence[ComparedPart]) -> Case:
        """Return the case of a subject with these parts."""
        compared = ComparedSubject(subject.name, subject.file, self.lock, tuple(parts))
        replay = shlex.join(["lanecheck", "lock", "--check", "--lock", self.lock])
        verdicts = LockChecker(frozenset({Check.ISA})).verdicts(PROPERTIES, compared)
        return Case(subject.name, tuple(add_replay(verdict, lambda: replay) for verdict in verdicts))


def _alike(locked: Locked, now: Subject) -> bool:
    """Whether a subject of the lock is, but for its name, the same."""
    return (dict(locked.says), dict(locked.maps)) == (dict(now.says), dict(now.maps))


def _difference(old: FragmentMap, new: FragmentMap, points: int) -> Counterexample | None:
    difference = change(old, new, points)
    if difference is None:
        return None
    names = [axis.name for axis in new.inputs]
    return Counterexample(
        dict(zip(names, difference.point, strict=True)),
        difference.statement,
        damage=difference.lines,
        unique=len(search.list_differences(new, old)) == 1,
    )
