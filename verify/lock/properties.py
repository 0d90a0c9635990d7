# SPDX-License-Identifier: Apache-2.0
"""The verdicts of a comparison with a lock: each function is the one that was reviewed, and no subject came or went."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from verify.core.verdict import Check, Claim, Counterexample, Property, Scope, Verdict, finding, join
from verify.lock.functions import Subject
from verify.lock.lockfile import Locked
from verify.maps import findings
from verify.maps.changes import change
from verify.maps.fragment_map import FragmentMap
from verify.report import Alone, Case

LOCKED = Property("locked", scope=Scope.OPERAND, how=("by enumeration", "", ""), required=frozenset({Check.ISA}))
LISTED = Property("listed", how=("by its name", "", ""), required=frozenset({Check.ISA}))


@dataclass(frozen=True)
class Comparison:
    """The subjects of files beside those of a lock."""

    lock: str  # its path
    now: Sequence[Subject]
    locked: Sequence[Locked]
    points: int = 8  # how many are shown of a change

    def cases(self) -> list[tuple[Subject | Locked, Case]]:
        """Each subject of the files with its verdicts, then each that only the lock has."""
        before = {(one.file, one.name): one for one in self.locked}
        after = {(one.file, one.name) for one in self.now}
        gone = [one for key, one in before.items() if key not in after]
        found: list[tuple[Subject | Locked, Case]] = []
        for subject in self.now:
            locked = before.get((subject.file, subject.name))
            if locked is not None:
                found.append((subject, self._compared(subject, locked)))
                continue
            old = next((one for one in gone if _alike(one, subject)), None)
            if old is not None:
                gone.remove(old)
            how = f"renamed: the lock has it as {old.name} of {old.file}" if old else "added: the lock has it not"
            found.append((subject, self._listed(subject, how)))
        return found + [(one, self._listed(one, "missing: only the lock has it")) for one in gone]

    def _listed(self, one: Subject | Locked, how: str) -> Case:
        return Case(one.name, (self._verdict(one, "", Counterexample({}, how)),))

    def _compared(self, now: Subject, locked: Locked) -> Case:
        verdicts = []
        for key in dict.fromkeys((*locked.says, *now.says)):
            was, is_ = (one.says.get(key, "nothing") for one in (locked, now))
            wrong = None if was == is_ else Counterexample({}, f"was {was}, now {is_}")
            verdicts.append(self._verdict(now, key, wrong))
        for operand in dict.fromkeys((*locked.maps, *now.maps)):
            old, new = locked.maps.get(operand), now.maps.get(operand)
            if old is None or new is None:
                verdicts.append(self._verdict(now, operand, Counterexample({}, "added" if old is None else "missing")))
            else:
                verdicts.append(self._verdict(now, operand, _difference(old, new, self.points), len(new)))
        return Case(now.name, tuple(verdicts), alone=Alone(f"as {self.lock} has it", "the lock"))

    def _verdict(self, one: Subject | Locked, part: str, wrong: Counterexample | None, points: int = 1) -> Verdict:
        """The verdict on a part, or on whether the subject is in both."""
        if part:
            claim = Claim(one.name, part, LOCKED, f"is as {self.lock} has it")
        else:
            claim = Claim(one.name, "", LISTED, f"is in {one.file} and in {self.lock}")
        found = join(claim, [finding(Check.ISA, wrong, findings.METHOD, points, "plain integers")])
        if wrong is None or found.counterexample is None:
            return found
        replay = shlex.join(["python", "-m", "verify.lock", "--check", "--lock", self.lock])
        return found._replace(counterexample=found.counterexample._replace(replay=replay))


def _alike(locked: Locked, now: Subject) -> bool:
    """Whether a subject of the lock is, but for its name, the same."""
    return (dict(locked.says), dict(locked.maps)) == (dict(now.says), dict(now.maps))


def _difference(old: FragmentMap, new: FragmentMap, points: int) -> Counterexample | None:
    found = change(old, new, points)
    if found is None:
        return None
    names = [axis.name for axis in new.inputs]
    return Counterexample(
        dict(zip(names, found.point, strict=True)),
        found.statement,
        damage=found.lines,
        unique=len(new.differences(old)) == 1,
    )
