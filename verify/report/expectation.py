# SPDX-License-Identifier: Apache-2.0
"""What an entry expects of the verdicts on it: a known defect, or that nothing can be compared.

The verdicts of a :class:`Case` are found without it. Together they decide what fails a run, and what is a surprise.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from verify.core.verdict import Scope, Status, Verdict

if TYPE_CHECKING:
    from verify.report import Case


@dataclass(frozen=True)
class Expectation:
    """What an entry states about the verdicts on it; by default nothing."""

    known_defect: str = ""  # the parts that are refuted, a colon, and why
    unchecked: str = ""  # "UNCHECKED: why" if nothing can be compared
    issues_nothing: bool = False  # whether it issues no matrix instruction (`ptx = []`)

    @property
    def excuse(self) -> str:
        """Why UNCHECKED isn't a failure of the subject; empty if it is one."""
        if self.issues_nothing:
            return "without a matrix instruction"
        return "as expected" if self.unchecked else ""

    @cached_property
    def defective_parts(self) -> frozenset[str]:
        """The parts that the known defect names: operands, and `ptx`, which is the atom as a whole."""
        return frozenset(part.strip() for part in self.known_defect.partition(":")[0].split(","))

    def is_defect_found(self, verdicts: Iterable[Verdict], right: Collection[str]) -> bool:
        """Whether just the parts are refuted that the known defect names, and none of these is `right`.

        Nothing may be decided of a named part, if no check was requested that could. If an operand is right, its defect
        is gone; a wrong operand makes the atom as a whole wrong too.
        """
        if not self.known_defect:
            return False
        refuted = {v.claim.part or "ptx" for v in verdicts if v.status.refuted}
        return bool(refuted) and refuted <= self.defective_parts and not (set(right) - refuted) & self.defective_parts

    def list_sound(self, verdicts: Iterable[Verdict]) -> list[Verdict]:
        """Return the verdicts that state what the operands without a known defect are, and the instructions."""
        return [] if "ptx" in self.defective_parts else [v for v in verdicts if self._is_sound(v)]

    def _is_sound(self, verdict: Verdict) -> bool:
        prop, part = verdict.claim.prop, verdict.claim.part
        if prop.scope == Scope.INSTRUCTION:
            return True
        return bool(prop.required and prop.scope != Scope.ATOM and part and part not in self.defective_parts)


NOTHING_EXPECTED = Expectation()


def find_surprise(case: Case, expect_known: bool) -> str:
    """Return how a case differs from what its entry expects; empty if it does not."""
    expects = case.expects
    if expect_known and expects.known_defect and not case.as_known:
        return "is not refuted in just the parts of its known defect"
    if not expects.unchecked or (case.gap if case.as_known else case.status == Status.UNCHECKED):
        return ""
    what = "has every operand beside its known defect checked" if case.as_known else f"is {case.status}"
    return f"{what}, its entry expects UNCHECKED"


def write_surprise(name: str, how: str) -> str:
    """Return a line about an atom that is not what its entry expects."""
    return f"{name}  SURPRISE: it {how}"
