# SPDX-License-Identifier: Apache-2.0
"""`python -m gpu_checks.laws`: the laws of the layout algebra checked on every small case, on a GPU or with numpy.

A third check beside two solvers: the statement of each law is evaluated on a whole grid of integers, by array
arithmetic that shares nothing with the layouts or the proofs. It is complete within its bounds and says nothing of
larger integers. Where a law speaks of any function, some are tried.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from gpu_checks import command
from gpu_checks.command import Interrupted, guard_exit
from gpu_checks.device.cuda import array_module, device_info
from gpu_checks.model import DeviceInfo, Unavailable
from gpu_checks.recordings_io.lines import check_gpu, files, read_each, with_digest
from gpu_checks.statements import ArrayLaw, laws
from lanecheck.console.command import parser as parser_of
from lanecheck.console.exits import Exit
from lanecheck.console.outputs import reserve_file, write_file
from lanecheck.console.progress import Progress, each

SCHEMA = 2
RECORDINGS = Path(__file__).parent / "recordings" / "laws"
CHUNK = 1 << 22  # points of a grid that are evaluated at once: some 30 MB for each array
ON_GPU, ON_CPU = 10_000_000, 200_000  # points at which a law must apply
MOST = 64  # points of a grid for each case that is wanted: a law that applies more rarely gets fewer cases
MANY = 1000  # cases: fewer, where more were wanted, say nothing of a law


@dataclass(frozen=True, slots=True)
class Campaign:
    """What a run found: `cases` is where the law applied, `failures` where it did not hold."""

    law: str  # its name in the catalogue
    text: str  # the digest of its statement
    bounds: Mapping[str, tuple[int, int]]  # axis -> the least and the greatest place that was tried
    points: int  # of the grid
    cases: int  # points where the law applied
    failures: int  # of these, where it did not hold
    first: Mapping[str, int] | None  # axis -> value at the first of them, in the order of the grid
    seconds: float  # that the grid took
    gpu: str | None = None  # where it was recorded; None for numpy


def campaign(law: ArrayLaw, least: int, xp: Any) -> Campaign:
    """Check a law on growing grids until it has applied to at least ``least`` points, and report the last grid.

    The grid has as many places on each axis, and at most `MOST` points for each case that is wanted. The first failing
    point, in the order of the grid, is kept.
    """
    started = time.perf_counter()
    count = len(law.axes)
    edge = max(2, round(least ** (1 / count)))
    while True:
        outcome = _grid(law, edge, xp, started)
        after = edge * 5 // 4 + 1
        if outcome.cases >= least or outcome.failures or after**count > MOST * least:
            return outcome
        edge = after


def _grid(law: ArrayLaw, edge: int, xp: Any, started: float) -> Campaign:
    bounds = law.bounds(edge)
    total = edge ** len(bounds)
    cases = failures = 0
    first: dict[str, int] | None = None
    for start in range(0, total, CHUNK):
        place = xp.arange(start, min(start + CHUNK, total), dtype=xp.int64)
        point = dict(_places(place, edge, bounds))
        applies, holds, variables = law.test(xp, point)
        wrong = applies & ~holds
        cases += int(applies.sum())
        count = int(wrong.sum())
        failures += count
        if count and first is None:
            at = int(wrong.argmax())
            first = {x: int(values[at]) for x, values in variables.items()}
    return Campaign(law.name, law.digest, bounds, total, cases, failures, first, time.perf_counter() - started)


def _places(number: Any, edge: int, bounds: Mapping[str, tuple[int, int]]) -> Iterator[tuple[str, Any]]:
    """Yield the places on each axis of the points with some numbers."""
    for axis, (low, _) in bounds.items():
        yield axis, number % edge + low
        number = number // edge


def main(argv: Sequence[str] | None = None) -> int:
    """Run the campaigns; returns the exit code."""
    parser = parser_of("python -m gpu_checks.laws", __doc__, "'COMPOSE_*' --cpu")
    help_of_names = "a law of `lanecheck laws --list`, or a pattern such as 'SWIZZLE_*'; all when none is named"
    parser.add_argument("names", nargs="*", metavar="LAW", help=help_of_names)
    parser.add_argument("--cpu", action="store_true", help="numpy, and a smaller bound")
    parser.add_argument("--cases", type=int, metavar="N", help=f"at least so many ({ON_GPU} on a GPU, {ON_CPU} else)")
    parser.add_argument("-o", "--output", type=reserve_file, metavar="FILE", help="append one JSON line per law there")
    return guard_exit("gpu_checks.laws", lambda: _run_laws(parser.parse_args(argv)))


def _run_laws(options: argparse.Namespace) -> int:
    chosen = _choose(options.names)
    if options.cases is not None and options.cases < 1:
        raise ValueError(f"--cases {options.cases}: at least 1")
    info = None if options.cpu else device_info()
    if isinstance(info, Unavailable):
        command.show(f"{len(chosen)} law{'s' * (len(chosen) > 1)}  UNCHECKED  {info.reason}; --cpu uses numpy")
        return Exit.UNDECIDED
    xp = array_module(on_gpu=not options.cpu)
    least = options.cases or (ON_CPU if options.cpu else ON_GPU)
    words = set()

    def run_law(law: ArrayLaw, shown: Progress) -> None:
        result = campaign(law, least, xp)
        word = "REFUTED" if result.failures else "AGREES" if result.cases >= min(least, MANY) else "UNCHECKED"
        words.add(word)
        with shown.aside():
            command.show(f"{law.name:<24} {word:<9} {result.cases} cases, {result.seconds:.2f} s")
            if result.first:
                command.show(f"  {result.first}")
        if options.output:
            _record(options.output, result, info, xp)

    _, missing = each(chosen, run_law, "laws", lambda law: law.name)
    if missing:
        raise Interrupted(missing, len(chosen))
    return Exit.REFUTED if "REFUTED" in words else Exit.UNDECIDED if "UNCHECKED" in words else Exit.OK


def _choose(patterns: Sequence[str]) -> Sequence[ArrayLaw]:
    """Return the laws that some names or patterns mean; all for none. Raises ValueError where one means no law."""
    known = laws()
    chosen: dict[str, ArrayLaw] = {}
    for pattern in patterns or ["*"]:
        named = {name: law for name, law in known.items() if fnmatchcase(name, pattern)}
        if not named:
            near = get_close_matches(pattern.upper(), known, 3) or list(known)[:3]
            raise ValueError(f"no law is named {pattern!r}; near it: {', '.join(near)} (lanecheck laws --list: all)")
        chosen |= named
    return tuple(chosen.values())


def _record(file: Path, result: Campaign, info: DeviceInfo | None, xp: Any) -> None:
    where = {"gpu": info.gpu, "sm": info.sm, "driver": info.driver} if info else {"gpu": None}
    stamp = {
        "schema": SCHEMA,
        "arrays": f"{xp.__name__} {xp.__version__}",
        "date": datetime.now(UTC).date().isoformat(),
    }
    before = file.read_bytes() if file.is_file() else b""  # a pipe is only written to
    write_file(file, before + f"{with_digest(json.dumps(stamp | asdict(result) | where))}\n".encode())


@cache
def read_shipped() -> Mapping[str, Campaign]:
    """Return the shipped campaigns of GPUs on today's statements, by the name of the law."""
    today = laws()
    return {
        recorded.law: recorded
        for recorded in recordings_of_laws()
        if recorded.gpu and recorded.law in today and recorded.text == today[recorded.law].digest
    }


def recordings_of_laws(place: Path = RECORDINGS) -> tuple[Campaign, ...]:
    """Every recorded campaign. RecordingError for a malformed line, with its file and number."""
    return tuple(recorded for path in files(place) for recorded in read_each(path, SCHEMA, _read_campaign))


def _read_campaign(data: Mapping[str, Any]) -> Campaign:
    if data["gpu"] is not None:
        check_gpu(data["gpu"], data["sm"])
    return Campaign(**{field.name: data[field.name] for field in fields(Campaign)})


if __name__ == "__main__":
    raise SystemExit(main())
