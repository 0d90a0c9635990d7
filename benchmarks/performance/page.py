# SPDX-License-Identifier: Apache-2.0
"""docs/performance.md, from `measured.json` and `recorded.toml`: the same data give the same page."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from benchmarks.paired import PAIRS
from benchmarks.performance.growth import TOLERANCE, Growth, growth
from benchmarks.performance.libraries import HERE, OPERATIONS, ROOT
from benchmarks.performance.measure import measured

MEASURED = HERE / "measured.json"
RECORDED = HERE / "recorded.toml"
PAGE = ROOT / "docs" / "performance.md"
TOP = """# Performance

Written by `python -m benchmarks --write --python FILE`, where FILE is a Python that has the other libraries. They get
the same inputs in one run, each in a process of its own; their results are compared before any time is taken.

Every figure is a ratio of CPU seconds to a baseline that is measured in turns with it: the median of {pairs} pairs, and
their lower quartile in brackets. Where {pairs} pairs would take more than {allowance:g} s there are fewer, and their
number is given; one call that would take longer is not measured. Other work on the same machine changes ratios little.

Below each table is how the time grows: the slope of a line through all points, both axes logarithmic, and the range of
sizes in which the slope from each size to the next, at least twice as large, is within 1 ± {tolerance:g}; then the
slope beyond that range. A slope below 1 is that of work which is done once for any size.
"""
EVALUATION = """## Whole domains

All values of a hierarchical bijection of rank 5, of which no two modes coalesce. The figures are the time of a point as
a multiple of the baseline's: numpy's divmod chain, which computes digit by digit, on {unit:,} points. CuTe DSL's loop
is compiled before it is timed, and writes to an array that is there already.
"""
RANKS = """## Ranks

All {points:,} values of a flat bijection, its modes in reversed order: the same figures, for ranks 1 to 8.
"""
ALGEBRA = """## The algebra

Each operation on layouts of {points:,} points and tilers of half as many, of 1 to 8 modes. The figures are times as
multiples of Lanecheck's on the same inputs, in turns. CuTe DSL computes in C++ while a function is traced, and adds an
operation to the traced program. Triton's LinearLayout has bits in place of modes; it has no complement, no division,
and nothing to coalesce.
"""
ATLAS = """## Atoms

`python -m verify.atlas --checks isa,proof` on 1 to all atoms, each set spread over all. The baseline is a process that
imports numpy and z3: its CPU time, and its resident memory. Both figures are of all processes together; memory that
they share counts once. A row may take {allowance:g} s by the clock, one pair however long it takes.
"""


def write(python: str, seconds: float) -> int:
    """Measure, and write the data and the page; each cell may take so many CPU seconds."""
    MEASURED.write_text(json.dumps(measured(python, seconds), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    PAGE.write_text(rendered(*data()), encoding="utf-8")
    return 0


def data() -> tuple[dict[str, Any], dict[str, Any]]:
    """What the last run has measured, and what was measured elsewhere."""
    return json.loads(MEASURED.read_text(encoding="utf-8")), tomllib.loads(RECORDED.read_text(encoding="utf-8"))


def rendered(found: dict[str, Any], recorded: dict[str, Any]) -> str:
    """The page's text."""
    cells, sizes, allowance = found["cells"], found["inputs"], found["machine"]["allowance"]
    lines = [TOP.format(pairs=PAIRS, allowance=allowance, tolerance=TOLERANCE)]
    lines += [*machine(found["machine"]), *libraries(found["libraries"]), *differences(found["differences"])]
    shown = {
        "evaluation": (EVALUATION, "points", lambda cell: plain(cell, sizes["unit"] / cell["at"])),
        "ranks": (RANKS, "rank", lambda cell: plain(cell, sizes["unit"] / sizes["points"])),
        **{name: (f"### {name}\n", "rank", beside) for name in OPERATIONS},
        "atoms": (ATLAS.format(allowance=3 * allowance), "atoms", plain),
    }
    for name, (words, row, text) in shown.items():
        if name == OPERATIONS[0]:
            lines.append(ALGEBRA.format(**sizes))
        if here := [cell for cell in cells if cell["table"] == name]:
            lines += [words.format(**sizes), *table(here, row, text), ""]
    for title, section in recorded.items():
        lines += record(title, section)
    return "\n".join(lines).rstrip("\n") + "\n"


def machine(found: dict[str, Any]) -> Iterator[str]:
    """On what was measured, and when."""
    yield (
        f"Measured on {found['date']}, in {found['minutes']:g} minutes: {found['processor']}, {found['cores']} cores, "
        f"Python {found['python']}; the load was {found['load']:g} processes when it began.\n"
    )


def libraries(found: Sequence[dict[str, Any]]) -> Iterator[str]:
    """What was compared, and how to install what is missing."""
    yield from ("| library | version | |", "|---|---|---|")
    for one in found:
        why = f"**missing**: {code(one['missing'])}. `{one['install']}` installs it" if one["missing"] else ""
        yield f"| {one['name']} | {one['version'] or '-'} | {why} |".replace("|  |", "| |")
    yield ""


def differences(found: Sequence[str]) -> Iterator[str]:
    """The results that differ, each with the smallest input."""
    yield "## Agreement\n"
    if not found:
        yield "All libraries computed the same values on all inputs, as far as they have figures below.\n"
        return
    yield "What a library computes otherwise has no time. The smallest input of each:\n"
    yield from (f"- {code(one)}" for one in found)
    yield ""


def table(cells: Sequence[dict[str, Any]], row: str, shown: Callable[[dict[str, Any]], str]) -> Iterator[str]:
    """A row for each size, a column for each library, and how its time grows."""
    columns = list(dict.fromkeys(cell["column"] for cell in cells))
    found = {(cell["at"], cell["column"]): cell for cell in cells}
    yield f"| {row} | {' | '.join(columns)} |"
    yield "|--:" * (len(columns) + 1) + "|"
    for at in sorted({cell["at"] for cell in cells}):
        values = [found.get((at, column)) for column in columns]
        texts = ["" if one is None else one.get("why") or shown(one) for one in values]
        yield f"| {at:,} | {' | '.join(texts)} |"
    points = ([(c["at"], c["median"]) for c in cells if c["column"] == column and "median" in c] for column in columns)
    slopes, ranges = zip(*(grown(growth(one)) for one in points), strict=True)
    yield f"| slope | {' | '.join(slopes)} |"
    yield f"| linear | {' | '.join(ranges)} |"


def grown(found: Growth | None) -> tuple[str, str]:
    """The slope, and where it is 1."""
    if found is None:
        return "-", "too few sizes"
    slope = f"{found.slope:.2f}"
    if found.linear is None:
        return slope, f"nowhere: {min(found.steps):.2f} to {max(found.steps):.2f}"
    low, high = found.linear
    beyond = "" if found.after is None else f", then {found.after:.2f}"
    return slope, f"{low:,} to {high:,}{beyond}"


def plain(cell: dict[str, Any], factor: float = 1.0) -> str:
    """A figure: its median, the lower quartile, and how many pairs where there are fewer."""
    fewer = "" if cell["pairs"] >= PAIRS else f" of {cell['pairs']}"
    return f"{number(cell['median'] * factor)} ({number(cell['quartile'] * factor)}){fewer}"


def beside(cell: dict[str, Any]) -> str:
    """A figure of an operation, as a multiple of ours."""
    return "1" if cell["column"] == "Lanecheck" else plain(cell["ours"])


def number(value: float) -> str:
    """A figure with two digits, or with all before the point."""
    return f"{value:.0f}" if value >= 10 else f"{value:.1f}" if value >= 1 else f"{value:.2g}"


def code(text: str) -> str:
    """A message that Markdown does not read."""
    return "`" + text.replace("`", "'").replace("|", "/") + "`"


def record(title: str, found: dict[str, Any]) -> Iterator[str]:
    """A section of what was measured elsewhere."""
    yield f"## {title}\n"
    yield f"{found['what'].strip()} Measured on {found['date']}: {found['machine']}.\n"
    yield f"| {' | '.join(found['columns'])} |".replace("|  |", "| |")
    yield "|---" * len(found["columns"]) + "|"
    yield from (f"| {' | '.join(row)} |".replace("|  |", "| |") for row in found["rows"])
    yield ""
    yield from (f"- {one}" for one in found["notes"])
    yield ""
