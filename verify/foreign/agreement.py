# SPDX-License-Identifier: Apache-2.0
"""The page of agreement: what each map of each project was found to be, as Markdown.

A map that is there for every N, or for each warp, has one row. Maps of instructions that the ISA tables lack are
counted by their reason.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from verify.core.errors import SpecError
from verify.core.verdict import Status, Verdict
from verify.index import bind
from verify.maps.answers import ForeignMap, MissingMap
from verify.maps.relabelling import is_identity, permutation, spell_permutation
from verify.report import Case

HEAD = """# What other projects' maps are

Each project's own functions were called for every lane and value, in an interpreter with the released package, and the
result was compared with the PTX ISA at every point, and with the project's own inverse where it has one. *equal*: the
same element everywhere. *relabelled*: the same after one permutation of one axis, which is written as a layout.
*wrong*: with the smallest counterexample and the repair; [reports](reports/README.md) have the cause. *not compared*:
counted by the reason. [How it is done, and what it does not cover](foreign.md).

This page is made by `lanecheck foreign --agreement docs/agreement.md …`.
"""
SERIES = (  # what is one row: every N of a wgmma, every warp
    (re.compile(r"\bn = \d+"), "n = N"),
    (re.compile(r"\bm64n\d+k"), "m64nNk"),
    (re.compile(r"_64x\d+x"), "_64xNx"),
    (re.compile(r"\bwarp \d+"), "each warp"),
)


@dataclass(frozen=True, slots=True)
class AgreementRow:
    """A map as the page shows it."""

    name: str
    operand: str  # with its instruction; empty where it is a whole tile
    result: str
    order: int  # wrong ones first


def page(results: Sequence[tuple[str, ForeignMap | MissingMap, Case]]) -> str:
    """Return the page on some maps: of (project and version, map, its verdicts)."""
    projects = dict.fromkeys(project for project, _, _ in results)
    parts = [HEAD, _all(results)]
    for project in sorted(projects, key=str.lower):
        parts.append(_section(project, [(m, case) for name, m, case in results if name == project]))
    return "\n".join(parts)


def _all(results: Sequence[tuple[str, ForeignMap | MissingMap, Case]]) -> str:
    """How many maps of all projects have each result."""
    return f"All projects: {_count(len(results), 'map')}: {_tally([(m, case) for _, m, case in results], True)}.\n"


def _section(project: str, results: Sequence[tuple[ForeignMap | MissingMap, Case]]) -> str:
    compared = [(m, case) for m, case in results if isinstance(m, ForeignMap) and _is_compared(case)]
    rows = Counter(_row(m, case) for m, case in compared)
    lines = [f"## {project}", "", f"{_count(len(results), 'map')}: {_tally(results)}.", ""]
    if rows:
        lines += ["| map | operand | result |", "|---|---|---|"]
        for row, count in sorted(rows.items(), key=lambda item: item[0].order):
            several = f" ({count} maps)" if count > 1 else ""
            lines.append(f"| `{row.name}`{several} | {row.operand} | {row.result} |")
        lines.append("")
    why = Counter(_reason(case) for _, case in results if case.status == Status.UNCHECKED)
    lines += [f"- {_count(count, 'map')} not compared with the ISA: {reason}" for reason, count in why.items()]
    return "\n".join([*lines, ""] if why else lines)


def _is_compared(case: Case) -> bool:
    return case.status != Status.UNCHECKED


def _row(foreign: ForeignMap, case: Case) -> AgreementRow:
    wrong = _wrong(case.verdicts)
    name, ptx = (_series(text) for text in (foreign.name, foreign.ptx))
    operand = f"{foreign.operand} of `{ptx}`" if foreign.ptx else ""
    if wrong is not None and wrong.counterexample is not None:
        shown = wrong.counterexample
        against = "the ISA" if wrong.claim.prop.key != "own_inverse" else "its own inverse"
        damage = f" ({shown.damage[0]})" if shown.damage else ""
        repair = f"; repair: {_escape(shown.repair)}" if shown.repair else ""
        if numbers := find_permutation(foreign):
            return AgreementRow(name, operand, f"**relabelled**: {numbers}{damage}", 1)
        return AgreementRow(
            name, operand, f"**wrong**, against {against}: {_escape(shown.statement)}{damage}{repair}", 0
        )
    return AgreementRow(name, operand, "equal" if foreign.ptx else "agrees with its own inverse", 2)


def find_permutation(foreign: ForeignMap) -> str:
    """Return the permutation of one axis by which a map differs from the ISA's, as `k' = LAYOUT`.

    Empty where none does.
    """
    if not foreign.ptx:
        return ""
    try:
        (part,) = bind.of_map(foreign.map, foreign.ptx, foreign.operand, foreign.select).parts
    except SpecError:
        return ""
    if part.wanted is None or part.given.images.keys() != part.wanted.images.keys() or not part.given.functional:
        return ""
    pairs = [(part.given(*point), part.wanted(*point)) for point in part.wanted.domain]
    for at, axis in enumerate(part.wanted.outputs):
        numbers = permutation((mine[at] for mine, _ in pairs), (theirs[at] for _, theirs in pairs), axis.extent)
        if numbers and not is_identity(numbers) and all(mine[1 - at] == theirs[1 - at] for mine, theirs in pairs):
            return f"where the ISA has {axis.name}, it has {axis.name}' = {spell_permutation(numbers)}"
    return ""


def _wrong(verdicts: Iterable[Verdict]) -> Verdict | None:
    """Return the refutation to show: that by the ISA's formula before others."""
    refuted = [verdict for verdict in verdicts if verdict.status is Status.REFUTED]
    return min(refuted, key=lambda verdict: verdict.claim.prop.key != "equals_isa", default=None)


def _escape(text: str) -> str:
    """Return a text in which Markdown takes no product for emphasis."""
    return text.replace("*", "\\*")


def _series(text: str) -> str:
    for pattern, general in SERIES:
        text = pattern.sub(general, text)
    return text


def _reason(case: Case) -> str:
    reason = next(verdict.reason for verdict in case.verdicts if verdict.status is Status.UNCHECKED)
    name, _, rest = reason.partition(": ")
    if rest.startswith("the ISA has no such"):
        return f"the ISA has no {name}"
    return f"the ISA tables have no {name}" if "is not in the tables" in rest else reason


def _tally(results: Sequence[tuple[ForeignMap | MissingMap, Case]], every: bool = False) -> str:
    """How many maps are right, relabelled, wrong and not compared; `every` names those too that none is."""
    counts: Counter[str] = Counter()
    for m, case in results:
        word = {"VERIFIED": "right", Status.UNCHECKED: "not compared"}.get(case.status, "wrong")
        counts["relabelled" if word == "wrong" and isinstance(m, ForeignMap) and find_permutation(m) else word] += 1
    words = ("right", "relabelled", "wrong", "not compared")
    return ", ".join(f"{counts[word]} {word}" for word in words if counts[word] or every)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
