# SPDX-License-Identifier: Apache-2.0
"""docs/museum.md, from the files of this folder: `python -m tests.museum.page --write`."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "museum.md"
INTRODUCTION = """# Maps that were wrong

Defects of published code, each with a minimal case of ours and its repair. Tests run the commands of every numbered
section: the first is refuted with the words below it, the second is verified. Where a report is about more than a map,
the case here is the map.

`python -m tests.museum.page --write` makes this page from the files of `tests/museum`.
"""
ATOMS = """
## Atoms

The shipped layouts are in `tests/museum/wrong.toml`, the repaired ones in `tests/museum/right.toml`:

```
lanecheck atom --atoms tests/museum/wrong.toml     # refuted
lanecheck atom --atoms tests/museum/right.toml     # verified
```

| # | atom | where |
|---|---|---|
"""

TILINGS = """
## Tilings

In `tests/verify/tiling/wrong.toml`, each before its repaired twin:

| # | where |
|---|---|
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A report of a map, with the commands on its minimal case, each without `lanecheck `."""

    where: str  # repository and number
    number: int  # in the museum
    verified: str  # the command on the repaired map
    refuted: str = ""  # the command on the wrong map; none of a false alarm
    wrong: str = ""  # what was wrong
    says: str = ""  # the counterexample in what the command prints
    repair: str = ""
    false_alarm: str = ""  # what was reported, of a map that is right


def reports() -> list[Report]:
    """The reports of reports.toml, by their numbers."""
    tables = tomllib.loads((HERE / "reports.toml").read_text(encoding="utf-8"))
    return sorted((Report(where=where, **table) for where, table in tables.items()), key=lambda report: report.number)


REPORTS = reports()


def page() -> str:
    """The whole page."""
    return "".join([INTRODUCTION, *map(_section, REPORTS), ATOMS, *_atoms(), TILINGS, *_tilings()])


def _section(report: Report) -> str:
    head = f"\n## {report.number}. {report.where}\n\n"
    if report.false_alarm:
        return f"{head}A false alarm. {report.false_alarm}\nBoth are the same function:\n\n{_command(report.verified)}"
    refuted = _command(report.refuted, report.says)
    return f"{head}{report.wrong}\n\n{refuted}\nRepair: {report.repair}\n\n{_command(report.verified)}"


def _command(words: str, says: str = "") -> str:
    """A command as its reader types it, with what it prints."""
    return f"```\nlanecheck {words.strip()}\n{f'    {says}{chr(10)}' if says else ''}```\n"


def _atoms() -> Iterator[str]:
    """A row for each wrong atom."""
    for name, table in tomllib.loads((HERE / "wrong.toml").read_text(encoding="utf-8")).items():
        number, _, atom = name.partition(": ")
        source = table["source"].replace("*", "\\*")  # a product, no emphasis
        yield f"| {number} | `{atom}` | {source} |\n"


def _tilings() -> Iterator[str]:
    """A row for each wrong tiling."""
    text = (HERE.parent / "verify" / "tiling" / "wrong.toml").read_text(encoding="utf-8")
    for number, where in re.findall(r'^\["museum_(\d+)"\]  # (.+)$', text, re.MULTILINE):
        yield f"| {number} | {where} |\n"


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        raise SystemExit("python -m tests.museum.page --write")
    PAGE.write_text(page(), encoding="utf-8")
