# SPDX-License-Identifier: Apache-2.0
"""The memo of one run: what it has computed, by everything that the result depends on.

A key of evidence has the check, the property, and everything that the function reads: texts of layouts, extents,
threads, the keys of the formulas. A memo belongs to one run, which has one budget, one solver and one source of
recordings, so live results of a GPU and recorded ones are never in the same memo. A key has the text of a layout, not
its values, so a memo that outlived its run could hide a bug that is planted in `Layout.__call__` later.

Memoized evidence holds no names. `share` adds them where evidence is given to a subject: what was given to another
subject of the same group before says so, by that subject's name. A group is one part of a run, whichever process
verifies it (`verify.atom.pool`), so a report does not depend on the number of processes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from verify.core.verdict import Evidence

T = TypeVar("T")


@dataclass(slots=True)
class Memo:
    """The results of a run by their keys, and what the subjects of the present group were given.

    >>> from verify.core.verdict import Check, Status
    >>> memo, proved = Memo(), (Evidence(Check.ISA, Status.PROVED, "counted"),)
    >>> [memo.share(memo.get("key", lambda: proved), name)[0].shared for name in ("one", "other", "one")]
    ['', 'one', '']
    """

    values: dict[Hashable, Any] = field(default_factory=dict)
    recorded: dict[Hashable, Any] = field(default_factory=dict)  # the same, of what is read of recordings
    # by the identity of evidence, its first subject with the evidence as others get it; by rows and key of a unit, its
    # first subject with the verdicts on the second
    given: dict[Hashable, tuple[str, Any]] = field(default_factory=dict)

    def get(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Return the value under a key, computed if it is not there yet."""
        return _get(self.values, key, compute)

    def get_recorded(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Return the value under a key, of what only the subjects of one source of recordings need."""
        return _get(self.recorded, key, compute)

    def forget_recordings(self) -> None:
        """Drop what was read of recordings, but not the evidence by them: no subject of another source needs it."""
        self.recorded.clear()

    def begin_group(self) -> None:
        """Forget what subjects were given, but not what was computed."""
        self.given.clear()

    def share(self, memoized: Iterable[Evidence], subject: str) -> list[Evidence]:
        """Return memoized evidence as a subject gets it: `shared` names the group's first subject, if it is another."""
        return [self._share(evidence, subject) for evidence in memoized]

    def _share(self, evidence: Evidence, subject: str) -> Evidence:
        first, later = self.given.get(id(evidence)) or self.given.setdefault(id(evidence), (subject, None))
        if first == subject:
            return evidence
        if later is None:
            later = evidence._replace(shared=first)
            self.given[id(evidence)] = first, later
        return cast(Evidence, later)


def _get(kept: dict[Hashable, Any], key: Hashable, compute: Callable[[], T]) -> T:
    """Return the value under a key, computed if it is not there yet."""
    value = kept.get(key, kept)  # one look-up: to hash a key takes as long as most checks
    if value is kept:
        value = kept[key] = compute()
    return cast(T, value)
