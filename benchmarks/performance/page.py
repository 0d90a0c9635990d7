# SPDX-License-Identifier: Apache-2.0
"""docs/performance.md, from `measured.json` and `recorded.toml`: the same data give the same page."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from benchmarks.absolute import SAMPLES
from benchmarks.campaign import ALL, GATES, JOBS
from benchmarks.gpu import TARGETS
from benchmarks.paired import PAIRS
from benchmarks.performance.growth import TOLERANCE, Range, growth
from benchmarks.performance.libraries import HERE, OPERATIONS, ROOT
from benchmarks.performance.measure import ROW, measured
from verify.atom.selection import MANY

MEASURED = HERE / "measured.json"
RECORDED = HERE / "recorded.toml"
PAGE = ROOT / "docs" / "performance.md"
TOP = """# Performance

Written by `python -m benchmarks --write --python FILE`, where FILE is a Python that has the other libraries. They get
the same inputs in one run, each in a process of its own; their results are compared before any time is taken.

Every figure is a ratio to a baseline that is measured in turns with it, of CPU seconds unless its column is of
something else: the median of {pairs} pairs, and their lower quartile in brackets. Where {pairs} pairs would take more
than {allowance:g} s there are fewer, and their number is given; one call that would take longer is not measured. Other
work on the same machine changes ratios little. Seconds are given for one named GPU alone, in the last section. No
figure of this page has a limit: those that have one are measured by `make bench`.

Below each table is how its columns grow: the slope of a line through all points, of the time of the whole input over
its size, both axes logarithmic; then the slope from one size to another. A range of sizes is as long as the slopes of
its steps, each to a size at least twice as large, are all within 1 ± {tolerance:g}, and **linear**, or all below, or
all above. A slope below 1 is that of work which is done once for any size.
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

`lanecheck atlas` on 1 to all atoms, each set spread over all: by the checks isa and proof, and with recordings
too. The baseline is a process that imports numpy and z3. CPU time is of all processes together, and is more than the
time by the clock where two processes work: from {processes} atoms on, on two cores that are free. Memory is the most at
any time, as PSS of all processes together: a page of memory that several share counts once. A row may take
{allowance:g} s by the clock, one pair however long it takes. `python -m benchmarks atlas` limits time by the clock, in
{pairs} pairs, and memory.
"""
CAMPAIGNS = """## Campaigns

How many cases `lanecheck campaign` decides on {jobs} cores while pycute's own loop decides one: by the clock, on
layouts of at most so many points, all with powers of 2 as strides, in pairs where the operation takes two; a complement
fills so many points, and a product has at most so many, except in the campaign of all laws: there its block and its
tiler have at most so many. Both call the operation for every case. The loop then compares the values one at a time, so
that the campaign gains with their number; on small layouts most of its time is our operation's own. `python -m
benchmarks campaign` has the targets, at least {whole} for all laws at 32 points, and {least} for each law at 1,024.
"""
PROBE = ("date", "commit", "machine", "instructions", "nothing compiled", "kernels kept", "remark")


def write(python: str, seconds: float) -> list[dict[str, Any]]:
    """Measure, and write the data and the page; each cell may take so many CPU seconds. The libraries that it lacks."""
    measurement = measured(python, seconds)
    MEASURED.write_text(json.dumps(measurement, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    refresh()
    return [library for library in measurement["libraries"] if library["missing"]]


def refresh() -> None:
    """Write the page, from the data that are there."""
    PAGE.write_text(rendered(*data()), encoding="utf-8")


def data() -> tuple[dict[str, Any], dict[str, Any]]:
    """What the last run has measured, and what was measured elsewhere."""
    return json.loads(MEASURED.read_text(encoding="utf-8")), tomllib.loads(RECORDED.read_text(encoding="utf-8"))


def rendered(measurement: dict[str, Any], recorded: dict[str, Any]) -> str:
    """The page's text."""
    cells, sizes, allowance = measurement["cells"], measurement["inputs"], measurement["machine"]["allowance"]
    lines = [TOP.format(pairs=PAIRS, allowance=allowance, tolerance=TOLERANCE)]
    lines += [
        *machine(measurement["machine"]),
        *libraries(measurement["libraries"]),
        *differences(measurement["differences"]),
    ]
    shown = {
        "evaluation": (EVALUATION, "points", lambda cell: plain(cell, sizes["unit"] / cell["at"])),
        "ranks": (RANKS, "rank", lambda cell: plain(cell, sizes["unit"] / sizes["points"])),
        **{name: (f"### {name}\n", "rank", beside) for name in OPERATIONS},
        "atoms": (ATLAS.format(allowance=ROW * allowance, pairs=PAIRS, processes=MANY), "atoms", plain),
    }
    for name, (words, row, text) in shown.items():
        if name == OPERATIONS[0]:
            lines.append(ALGEBRA.format(**sizes))
        if here := [cell for cell in cells if cell["table"] == name]:
            lines += [words.format(**sizes), *table(here, row, text), "", *grown(here), ""]
    if here := [cell for cell in cells if cell["table"] == "campaigns"]:
        whole = GATES[ALL].faster[32]
        least = min(gate.faster[1024] for gate in GATES.values() if 1024 in gate.faster)
        lines += [CAMPAIGNS.format(jobs=JOBS, whole=whole, least=least), *table(here, "points", plain), ""]
    lines += probe(recorded)
    return "\n".join(lines).rstrip("\n") + "\n"


def machine(facts: dict[str, Any]) -> Iterator[str]:
    """On what was measured, and when."""
    yield (
        f"Measured on {facts['date']}, in {facts['minutes']:g} minutes: {facts['processor']}, {facts['cores']} cores, "
        f"Python {facts['python']}; the load was {facts['load']:g} processes when it began.\n"
    )


def libraries(listed: Sequence[dict[str, Any]]) -> Iterator[str]:
    """What was compared, and how it is installed."""
    yield from ("| library | version | installed by |", "|---|---|---|")
    for library in listed:
        version = f"**missing**: {code(library['missing'])}" if library["missing"] else library["version"]
        yield f"| {library['name']} | {version} | `{library['install']}` |"
    yield ""


def differences(listed: Sequence[str]) -> Iterator[str]:
    """The results that differ, each with the smallest input."""
    yield "## Agreement\n"
    if not listed:
        yield "All libraries computed the same values on all inputs, as far as they have figures below.\n"
        return
    yield "What a library computes otherwise has no time. The smallest input of each:\n"
    yield from (f"- {code(difference)}" for difference in listed)
    yield ""


def table(cells: Sequence[dict[str, Any]], row: str, shown: Callable[[dict[str, Any]], str]) -> Iterator[str]:
    """A row for each size, a column for each library."""
    columns = list(dict.fromkeys(cell["column"] for cell in cells))
    by_place = {(cell["at"], cell["column"]): cell for cell in cells}
    yield f"| {row} | {' | '.join(columns)} |"
    yield "|--:" * (len(columns) + 1) + "|"
    for at in sorted({cell["at"] for cell in cells}):
        values = [by_place.get((at, column)) for column in columns]
        texts = ["" if value is None else value.get("why") or shown(value) for value in values]
        yield f"| {at:,} | {' | '.join(texts)} |"


def grown(cells: Sequence[dict[str, Any]]) -> Iterator[str]:
    """How each column of a table grows, a row each."""
    yield from ("| | slope | from size to size |", "|---|--:|---|")
    for column in dict.fromkeys(cell["column"] for cell in cells):
        growing = growth([(c["at"], c["median"]) for c in cells if c["column"] == column and "median" in c])
        ranges = "; ".join(map(ranged, growing.ranges)) if growing else "too few sizes"
        yield f"| {column} | {f'{growing.slope:.2f}' if growing else '-'} | {ranges} |"


def ranged(span: Range) -> str:
    """A range of sizes and its slope."""
    words = f"{span.start:,} to {span.stop:,}: {span.slope:.2f}"
    return f"**{words}**" if span.linear else words


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


def probe(recorded: dict[str, Any]) -> Iterator[str]:
    """The section of what was measured on a GPU: a row for each time that it was."""
    limits = "`python -m benchmarks gpu` limits the medians of {} runs to {:g} s and {:g} s.".format(SAMPLES, *TARGETS)
    yield f"## {recorded['title']}\n\n{recorded['what'].strip()} {limits}\n"
    yield f"| {' | '.join(PROBE)} |"
    yield "|---" * len(PROBE) + "|"
    for run in recorded["run"]:
        times = (run.get(f"{what}_wall") for what in ("compiling", "kept"))
        cells = (
            run.get("date", ""), run.get("commit", ""), hardware(run), str(run.get("instructions", "")),
            *map(spread, times), run.get("remark", ""),
        )  # fmt: skip
        yield f"| {' | '.join(cell or '-' for cell in cells)} |"
    yield ""
    yield from (f"- {note}" for note in recorded["notes"])
    yield ""


def hardware(run: dict[str, Any]) -> str:
    """The GPU, the software and the processors of a run."""
    nvrtc = f", NVRTC {run['nvrtc']}" if "nvrtc" in run else ""
    return f"{run['gpu']}, driver {run['driver']}, CUDA {run['cuda']}{nvrtc}, {run['cores']} CPU cores"


def spread(seconds: Sequence[float] | None) -> str:
    """The least and the most of some seconds; nothing of none."""
    return f"{min(seconds):.1f} to {max(seconds):.1f} s" if seconds else ""
