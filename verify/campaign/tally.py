# SPDX-License-Identifier: Apache-2.0
"""What a campaign finds: the cases counted, and the smallest counterexample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True, order=True)
class Wrong:
    """A case that breaks its law; the smallest is the first by size, then by its text."""

    size: int
    case: str
    fault: str  # what is wrong, computed in plain Python


@dataclass(frozen=True, slots=True)
class Tally:
    """How many cases there are of each outcome, and the smallest wrong one. The sum of two is that of all their cases.

    >>> some = Tally(cases=3, confirmed=2, refuted=1, smallest=Wrong(9, "coalesce(2:1)", "-> 1:0: size 1 for 2"))
    >>> (some + Tally(cases=1, unmet=1)).cases, some.whole
    (4, True)
    """

    cases: int = 0  # all that were tried
    confirmed: int = 0  # right at every point
    refuted: int = 0  # wrong at a point
    rejected: int = 0  # the implementation rejects them, or no check had evidence: never a pass
    unmet: int = 0  # the law does not apply, or not at every point: never a pass
    smallest: Wrong | None = None  # of the refuted ones

    def __add__(self, other: Tally) -> Tally:
        wrong = [candidate for candidate in (self.smallest, other.smallest) if candidate is not None]
        counts = {name: getattr(self, name) + getattr(other, name) for name in COUNTS}
        return Tally(**counts, smallest=min(wrong, default=None))

    @property
    def whole(self) -> bool:
        """Whether each case has one outcome, and there is a counterexample where one is wrong."""
        outcomes = (self.confirmed, self.refuted, self.rejected, self.unmet)
        return self.cases == sum(outcomes) and min(outcomes) >= 0 and bool(self.refuted) == (self.smallest is not None)

    def as_dict(self) -> dict[str, Any]:
        """Return the counts as plain data."""
        return asdict(self)

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Tally:
        """Return the reverse of `as_dict`. Raises KeyError, TypeError or ValueError for anything else."""
        wrong = data["smallest"]
        smallest = None if wrong is None else Wrong(int(wrong["size"]), str(wrong["case"]), str(wrong["fault"]))
        counts = {name: int(data[name]) for name in COUNTS}
        tally = cls(**counts, smallest=smallest)
        if not tally.whole:
            raise ValueError("its counts do not agree")
        return tally


COUNTS = ("cases", "confirmed", "refuted", "rejected", "unmet")
