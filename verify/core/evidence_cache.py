# SPDX-License-Identifier: Apache-2.0
"""The cache of evidence of one run: what has the same key is computed once.

A key has the check, the property, and everything that the function reads: texts of layouts, extents, threads, the keys
of the formulas. A cache belongs to one run, which has one budget, one solver and one source of recordings, so live
results of a GPU and recorded ones are never in the same cache. A GPU's products, before anything is compared with them,
are kept where they are read (`verify.evidence.gpu_live`, `verify.evidence.gpu.Recorded`).

Most operands of an atlas are those of another atom too: `verify.evidence.run.Run.verdicts` shares all verdicts on such
an operand at once, by `Property.alike`, whose key has what the claims say in addition.

A key has the text of a layout, not its values. A cache that outlived its run could hide a bug planted in
`Layout.__call__` later, so no cache does.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar, cast

from verify.core.verdict import Check, Evidence

T = TypeVar("T")


class Given(NamedTuple):
    """Evidence as it was found for a subject, and as later subjects get it: `shared` names that subject."""

    subject: str
    first: tuple[Evidence, ...]
    later: tuple[Evidence, ...]

    def to(self, subject: str) -> tuple[Evidence, ...]:
        """The evidence as a subject gets it."""
        return self.first if subject == self.subject else self.later


@dataclass(slots=True)
class EvidenceCache:
    """The evidence found under each key.

    >>> from verify.core.verdict import Check, Status
    >>> cache, proved = EvidenceCache(), Evidence(Check.ISA, Status.PROVED, "counted")
    >>> [cache.once("key", name, lambda: [proved])[0].shared for name in ("one", "other", "one")]
    ['', 'one', '']
    """

    evidence: dict[Hashable, Given] = field(default_factory=dict)
    found: dict[Hashable, object] = field(default_factory=dict)  # what else is kept
    # what gives evidence that another process found to the first subject that needs it: then it is as if found here;
    # None where it rests on other evidence than was found here
    ahead: dict[Hashable, Callable[[str], Iterable[Evidence] | None]] = field(default_factory=dict)

    def kept(self, key: Hashable, compute: Callable[[], T]) -> T:
        """The value under a key, computed if it is not there yet."""
        value = self.found.get(key, self)  # one look-up: to hash a key takes as long as most checks
        if value is self:
            value = self.found[key] = compute()
        return cast(T, value)

    def forget(self, check: Check) -> None:
        """Drop what is kept for a check, but the evidence: no later subject needs it."""
        self.found = {
            key: value for key, value in self.found.items() if not (isinstance(key, tuple) and key[0] is check)
        }

    def once(self, key: Hashable, subject: str, compute: Callable[[], Iterable[Evidence]]) -> list[Evidence]:
        """The evidence under a key; `shared` names the subject it was first computed for, where that is another."""
        return list(self.given(key, subject, compute).to(subject))

    def given(self, key: Hashable, subject: str, compute: Callable[[], Iterable[Evidence]]) -> Given:
        """The evidence under a key, with the subject it was first computed for."""
        found = self.evidence.get(key)
        if found is None:
            ahead = self.ahead.pop(key, None)
            known = None if ahead is None else ahead(subject)
            evidence = tuple(compute() if known is None else known)
            later = tuple(e._replace(shared=e.shared or subject) for e in evidence)
            found = self.evidence[key] = Given(subject, evidence, later)
        return found
