# SPDX-License-Identifier: Apache-2.0
"""The numbers of a tiling, printed before its verdicts: threads, registers, instructions, owners of elements."""

from __future__ import annotations

from collections.abc import Iterator

from verify.report import Case, Report
from verify.tiling.properties import CALLS, PARTITION, PRODUCT, REGISTERS, THREADS

SHOWN = (THREADS, PARTITION, REGISTERS, CALLS, PRODUCT)
FEW = 8  # tilings: of more, the numbers would not fit a screen


def render(report: Report, verdicts: str) -> str:
    """Return the numbers of each tiling, unless there are many tilings, and then the verdicts."""
    if len(report.cases) > FEW:
        return verdicts
    numbers = "".join(f"{line}\n" for case in report.cases for line in _numbers(case))
    return numbers + verdicts


def _numbers(case: Case) -> Iterator[str]:
    yield case.name
    for verdict in case.verdicts:
        if verdict.claim.prop in SHOWN and verdict.status.confirmed:
            yield f"  {verdict.claim.text}"
