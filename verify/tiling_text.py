# SPDX-License-Identifier: Apache-2.0
"""What a tiling amounts to, in front of its verdicts: threads, registers, instructions, and how often all is held."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from verify.cli import Exit
from verify.report import Case, Report
from verify.tiling_subject import TilingKind
from verify.verdict import Kind

SHOWN = (TilingKind.THREADS, TilingKind.PARTITION, TilingKind.REGISTERS, TilingKind.CALLS, Kind.PRODUCT)
FEW = 8


@dataclass(frozen=True, slots=True)
class Partial(Report):
    """The report on those statements that could be judged: whatever it says, the exit code tells of the others."""

    refused: int = 0
    broken: int = 0  # not judged, by a fault of ours

    def exit(self) -> Exit:
        """As of any report; but 2 where a statement was refused, unless witnesses contradict each other.

        3 where one could not be judged by a fault of ours.
        """
        code = Exit.CONTRADICTION if self.broken else Report.exit(self)
        return Exit.USAGE if self.refused and code is not Exit.CONTRADICTION else code


def render(report: Report, judged: str) -> str:
    """The numbers of each tiling, unless there are many, then the report on them."""
    if len(report.cases) > FEW:
        return judged
    numbers = "".join(f"{line}\n" for case in report.cases for line in _numbers(case))
    return numbers + judged


def _numbers(case: Case) -> Iterator[str]:
    yield case.name
    for verdict in case.verdicts:
        if verdict.claim.kind in SHOWN and verdict.status.stands:
            yield f"  {verdict.claim.text}"
