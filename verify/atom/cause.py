# SPDX-License-Identifier: Apache-2.0
"""Which refutation explains others of an atom: of one operand, and of all operands together."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from verify.binding.bound import BoundMaps
from verify.binding.operand import BoundOperand
from verify.core.digits import lane_of
from verify.core.verdict import Status, Verdict
from verify.evidence.cause import EQUALS, MOST, Compared, Rows, compare_map, fold_consequences

OF_ALL = frozenset({"product", "relation", "equals_absolute"})  # claims that rest on the maps of all operands


def add_causes(subject: BoundMaps, verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Return the verdicts on an atom with their causes."""
    own = () if subject.is_copy else subject.parts  # the formula of a copy depends on its other side
    parts = {part.name: part for part in own if part.well_formed and prod(part.domain) <= MOST}
    return _of_all(fold_consequences(verdicts, lambda name: _compare(subject, parts[name]) if name in parts else None))


def _of_all(verdicts: list[Verdict]) -> list[Verdict]:
    """Return the verdicts on an atom; if one operand alone is wrong, the claims on all of them follow from it."""
    equal = [v for v in verdicts if v.claim.prop.key == EQUALS]
    wrong = [v for v in equal if v.status is Status.REFUTED]
    refuted = [v for v in verdicts if v.status.refuted and v.claim.prop.key not in OF_ALL]
    if len(wrong) != 1 or any(v.claim.part != wrong[0].claim.part for v in refuted):
        return verdicts
    if not all(v.status.confirmed for v in equal if v is not wrong[0]):
        return verdicts
    return [
        v._replace(cause=EQUALS, cause_part=wrong[0].claim.part)
        if v.status is Status.REFUTED and v.claim.prop.key in OF_ALL and not (v.cause or v.contradiction) else v
        for v in verdicts
    ]  # fmt: skip


def _compare(subject: BoundMaps, part: BoundOperand) -> Compared:
    """Return an operand's map beside the only formula that it should equal, if there is just one."""
    wanted: Rows | None = None
    if len(part.formulas) == 1 and not subject.further and subject.thr and part.domain == subject.expect_extents(part):
        lanes = [lane_of(subject.thr, thread) for thread in range(subject.threads)]
        wanted = [[part.formulas[0].locate(lane, value) for value in range(part.values)] for lane in lanes]
    return compare_map(part.points, subject.multiplicity(part), wanted)
