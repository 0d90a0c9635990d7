# SPDX-License-Identifier: Apache-2.0
"""The evidence that one run has found: an equal question is answered once.

A key is the check, the property, and everything that the function reads: texts of layouts, extents, threads, the
formulas' own keys. A cache belongs to one run, which has one budget, one solver and one source of recordings: what a
GPU shows live and what was recorded never meet in one. What a GPU answered, before anything is compared with it, is
kept where it is read (`verify.evidence.gpu_live`, `verify.evidence.gpu.Recorded`).

Keys hold the text of a layout and not its values, so a cache that outlived a run would hide a bug planted in
`Layout.__call__` afterwards: none does.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field, replace
from typing import TypeVar, cast

from verify.core.verdict import Evidence

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Given:
    """Evidence as it was given on a subject, and as later subjects get it: naming that one."""

    subject: str
    first: tuple[Evidence, ...]
    later: tuple[Evidence, ...]


@dataclass(slots=True)
class EvidenceCache:
    """What was found under each key.

    >>> from verify.core.verdict import Status, Witness
    >>> cache, proved = EvidenceCache(), Evidence(Check.ISA, Status.PROVED, "counted")
    >>> [cache.once("key", name, lambda: [proved])[0].shared for name in ("one", "other", "one")]
    ['', 'one', '']
    """

    found: dict[Hashable, object] = field(default_factory=dict)

    def kept(self, key: Hashable, compute: Callable[[], T]) -> T:
        """What was computed under a key."""
        if key not in self.found:
            self.found[key] = compute()
        return cast(T, self.found[key])

    def once(self, key: Hashable, subject: str, compute: Callable[[], Iterable[Evidence]]) -> list[Evidence]:
        """The evidence under a key; where another subject was the first to have it, `shared` names that one."""

        def given() -> _Given:
            evidence = tuple(compute())
            return _Given(subject, evidence, tuple(replace(e, shared=e.shared or subject) for e in evidence))

        found = self.kept(key, given)
        return list(found.first if found.subject == subject else found.later)
