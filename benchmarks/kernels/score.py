# SPDX-License-Identifier: Apache-2.0
"""The score: how many edits of each kernel and class were refuted, accepted for which reason, and left.

It is kept as a record beside this file, of which the page is made: `python -m benchmarks.kernels score --page FILE`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from benchmarks.kernels.fates import COLUMNS, READ, Fate
from benchmarks.kernels.readings import find_reading

RECORD = Path(__file__).with_suffix(".json")
ATTENTION = Path(__file__).with_name("attention.json")  # the record of the edits of docs/attention.md
MARKS = "<!-- score -->", "<!-- /score -->"  # of the page: what lies between is made of the record
EDITS = "<!-- edits -->", "<!-- /edits -->"  # the same of docs/attention.md
Cell: TypeAlias = tuple[str, str, str]  # kernel, class, column
# of a finding: numbers, registers, elements
_PLACE = re.compile(
    r"(?<![\w.])[-+]?(?:0x[0-9a-f]+|\d+)|%\w+|\w+\[[^\]]*\]"
)  # of a finding: numbers, registers, elements
_CAUSES = 6  # for which verdicts are open, that are listed


@dataclass(frozen=True, slots=True)
class KernelScore:
    """What became of the edits of a campaign."""

    counts: Mapping[Cell, int]
    causes: Mapping[str, int]  # for which verdicts are UNKNOWN: the finding without its numbers
    read: Mapping[str, Sequence[str]]  # a reason that was read by hand: the edits that have it
    left: Sequence[str]  # edits, in words

    def total(self, at: int = 0, name: str = "") -> int:
        """Return how many edits have a name as their kernel, class or column; all if none is given."""
        return sum(count for cell, count in self.counts.items() if not name or cell[at] == name)

    def names(self, at: int) -> list[str]:
        """Return the names of kernels, classes or columns."""
        return sorted({cell[at] for cell in self.counts})


def count_fates(fates: Iterable[Fate]) -> KernelScore:
    """Return the score of some fates; what ptxas rejects is not counted."""
    every = sorted((kept for kept in fates if kept.counted), key=lambda kept: (kept.kernel, kept.edit.line))
    read: dict[str, list[str]] = {}
    for fate in every:
        if fate.column == READ:
            read.setdefault(find_reading(fate.kernel, fate.edit), []).append(_in_words(fate))
    causes = Counter(_PLACE.sub("#", kept.finding.split(": ", 1)[-1]) for kept in every if kept.status == "UNKNOWN")
    counts = Counter((kept.kernel, kept.edit.sort, kept.column) for kept in every)
    return KernelScore(counts, causes, read, [_in_words(kept) for kept in every if kept.open])


def _in_words(fate: Fate) -> str:
    old, new = (" ".join(text.split()) for text in (fate.edit.old, fate.edit.new))
    return (
        f"`{fate.kernel}.ptx:{fate.edit.line}` {fate.edit.sort}: `{old}` > `{new or '(nothing)'}` {fate.gpu}".rstrip()
    )


def write_score(score: KernelScore, path: Path = RECORD) -> None:
    """Write a score as a record, from which it is read again."""
    table: dict[str, dict[str, dict[str, int]]] = {}
    for (kernel, sort, column), count in sorted(score.counts.items()):
        table.setdefault(kernel, {}).setdefault(sort, {})[column] = count
    lines = [f"  {json.dumps(kernel)}: {json.dumps(sorts)}" for kernel, sorts in table.items()]
    parts = {"causes": dict(score.causes), "read": {**score.read}, "left": list(score.left)}
    rest = "".join(f",\n{json.dumps(name)}: {json.dumps(part, indent=1)}" for name, part in parts.items())
    path.write_text('{"counts": {\n' + ",\n".join(lines) + "\n}" + rest + "\n}\n", encoding="utf-8")


def read_score(path: Path = RECORD) -> KernelScore:
    """Return the score of a record."""
    data = json.loads(path.read_text(encoding="utf-8"))
    counts = {
        (kernel, sort, column): count
        for kernel, sorts in data["counts"].items() for sort, columns in sorts.items()
        for column, count in columns.items()
    }  # fmt: skip
    return KernelScore(counts, data["causes"], data["read"], data["left"])


def page(score: KernelScore) -> Iterator[str]:
    """Yield the size of the sample, the tables by kernel and by class, open causes, and every edit without a reason."""
    total, sizes = score.total(), [score.total(0, name) for name in score.names(0)]
    yield (
        f"{total} edits of {len(sizes)} kernels, from {min(sizes)} to {max(sizes)} of each: "
        + ", ".join(
            f"{score.total(2, column)} {word} ({_share(score.total(2, column), total)})"
            for column, word in (("REFUTED", "refuted"), ("UNKNOWN", "unknown"), ("open", "left without a reason"))
        )
        + "."
    )
    used = [column for column in COLUMNS if column == "open" or score.total(2, column)]
    for at, title in enumerate(("kernel", "class")):
        yield from ("", f"| {title} | edits | " + " | ".join(COLUMNS[column] for column in used) + " |")
        yield "|---|" + "---:|" * (len(used) + 1)
        for name in [*score.names(at), ""]:
            cells = [sum(count for cell, count in score.counts.items() if cell[2] == column and name in ("", cell[at]))
                     for column in used]  # fmt: skip
            yield f"| {name or 'all'} | {sum(cells)} | " + " | ".join(map(str, cells)) + " |"
    yield from ("", "For what most of the unknown ones are open:", "")
    for cause, count in Counter(score.causes).most_common(_CAUSES):
        yield f"- {count}: " + (f"`{cause}`" if "*" in cause else cause)
    yield from ("", "What was read by hand:", "")
    for reason, edits in score.read.items():
        yield f"- {reason}"
        yield from (f"    - {edit}" for edit in edits)
    yield from ("", f"Without a reason: {len(score.left)}.", "")
    yield from (f"- {edit}" for edit in score.left)


def _share(part: int, whole: int) -> str:
    return f"{100 * part / max(whole, 1):.1f} %"


def write_page(path: Path, lines: Iterable[str], marks: tuple[str, str] = MARKS) -> None:
    """Put lines between the marks of a page; raise ValueError if it has none."""
    text = path.read_text(encoding="utf-8")
    if not all(mark in text for mark in marks):
        raise ValueError(f"{path} has no lines {marks[0]} and {marks[1]}")
    before, _, rest = text.partition(marks[0])
    made = f"{before}{marks[0]}\n\n" + "\n".join(lines).rstrip() + f"\n\n{marks[1]}{rest.partition(marks[1])[2]}"
    path.write_text(made, encoding="utf-8")
