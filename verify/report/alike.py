# SPDX-License-Identifier: Apache-2.0
"""Cases that differ in their sizes alone and have one cause: a report tells it once."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable

from verify.report import Case


def group_alike(cases: Iterable[Case]) -> list[list[Case]]:
    """Return cases, those of one family whose verdicts and words are alike together, in the order of the first."""
    groups: dict[Hashable, list[Case]] = {}
    for number, case in enumerate(cases):
        groups.setdefault(_resemblance(case) if case.family else number, []).append(case)
    return list(groups.values())


def name_sizes(case: Case) -> str:
    """Return the part of a case's name by which it differs from others of its family."""
    return case.name.removeprefix(case.family).strip()


def _resemblance(case: Case) -> Hashable:
    """Return what cases that have one cause share: their family, verdicts, causes, and words but for numbers."""
    words = ((v.counterexample.statement if v.counterexample else v.reason) for v in case.verdicts)
    parts = ((v.claim.part, v.claim.prop.key, v.status) for v in case.verdicts)
    causes = tuple(v.counterexample.causes for v in case.verdicts if v.counterexample is not None)
    return case.family, case.headline, tuple(parts), tuple(re.sub(r"\d+", "#", each) for each in words), causes
