# SPDX-License-Identifier: Apache-2.0
"""The cache of evidence of one run: what has the same key is computed once.

A key has the check, the property, and everything that the function reads: texts of layouts, extents, threads, the keys
of the formulas. A cache belongs to one run, which has one budget, one solver and one source of recordings, so live
results of a GPU and recorded ones are never in the same cache. A GPU's results, before anything is compared with them,
are kept where they are read (`verify.evidence.gpu_live`, `verify.evidence.gpu.Recorded`).

Most operands of an atlas are those of another atom too: `verify.evidence.run.Run.verdicts` shares all verdicts on such
an operand at once, by `Property.alike`, whose key has what the claims say in addition.

A key has the text of a layout, not its values. A cache that outlived its run could hide a bug planted in
`Layout.__call__` later, so no cache does.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple, TypeVar, cast

from verify.core.verdict import Check, Evidence

T = TypeVar("T")


class _Given(NamedTuple):
    """Evidence as it was found for a subject, and as later subjects get it: `shared` names that subject."""

    subject: str
    first: tuple[Evidence, ...]
    later: tuple[Evidence, ...]
    whole: bool  # whether none of it was found under another key, for which it may name another subject


@dataclass(slots=True)
class EvidenceCache:
    """The evidence found under each key.

    >>> from verify.core.verdict import Check, Status
    >>> cache, proved = EvidenceCache(), Evidence(Check.ISA, Status.PROVED, "counted")
    >>> [cache.once("key", name, lambda: [proved])[0].shared for name in ("one", "other", "one")]
    ['', 'one', '']
    """

    found: dict[Hashable, object] = field(default_factory=dict)
    # evidence that another process found, until somebody needs it: then it is as if it was found here
    ahead: dict[Hashable, tuple[Evidence, ...]] = field(default_factory=dict)
    _calls: int = 0  # of `once`

    def kept(self, key: Hashable, compute: Callable[[], T]) -> T:
        """The value under a key, computed if it is not there yet."""
        value = self.found.get(key, self)  # one look-up: to hash a key takes as long as most checks
        if value is self:
            value = self.found[key] = compute()
        return cast(T, value)

    def drop(self, check: Check) -> None:
        """Forget what one check found: no later subject asks the same of it."""
        self.found = {
            key: value for key, value in self.found.items() if not (isinstance(key, tuple) and key[0] is check)
        }

    def once(self, key: Hashable, subject: str, compute: Callable[[], Iterable[Evidence]]) -> list[Evidence]:
        """The evidence under a key; `shared` names the subject it was first computed for, where that is another."""

        def given() -> _Given:
            evidence, before = self.ahead.pop(key, None), self._calls
            evidence = tuple(compute()) if evidence is None else evidence
            later = tuple(e._replace(shared=e.shared or subject) for e in evidence)
            return _Given(subject, evidence, later, self._calls == before)

        self._calls += 1
        found = self.kept(key, given)
        return list(found.first if found.subject == subject else found.later)

    def evidence_since(self, known: int) -> dict[Hashable, tuple[Evidence, ...]]:
        """The evidence under keys that were added after the first `known`, for another process's `ahead`.

        Without evidence that was found under further keys: those are among the keys themselves.
        """
        new = islice(self.found.items(), known, None)
        return {key: value.first for key, value in new if isinstance(value, _Given) and value.whole}
