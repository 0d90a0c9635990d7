# SPDX-License-Identifier: Apache-2.0
"""`python -m gpu_checks.laws`: the laws of the layout algebra checked on every small case, on a GPU or with numpy.

A third check beside two solvers: each law is evaluated from its definition on a whole grid of integers, by array
arithmetic that shares nothing with the layouts or the proofs. It is complete within its bounds and says nothing of
larger integers.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from math import prod
from pathlib import Path
from typing import Any

from gpu_checks import command
from gpu_checks.command import Interrupted, guard_exit
from gpu_checks.device.cuda import array_module, device_info
from gpu_checks.model import DeviceInfo, Unavailable
from gpu_checks.recordings_io.lines import check_gpu, files, read_each, with_digest
from lanecheck.console.command import parser as parser_of
from lanecheck.console.exits import Exit
from lanecheck.console.outputs import reserve_file, write_file
from lanecheck.console.progress import Progress, each

SCHEMA = 1
RECORDINGS = Path(__file__).parent / "recordings" / "laws"
CHUNK = 1 << 22
ON_GPU, ON_CPU = 10_000_000, 200_000


@dataclass(frozen=True, slots=True)
class ArrayLaw:
    """A law as a test on arrays: for integers below the bounds, where it applies and whether it holds there.

    ``names`` are the variables, ``lowest`` their least values, ``test(xp, *variables)`` gives (applies, holds).
    """

    names: tuple[str, ...]
    lowest: tuple[int, ...]
    test: Callable[..., tuple[Any, Any]]


@dataclass(frozen=True, slots=True)
class Campaign:
    """What a run found: `cases` is where the law applied, `failures` where it did not hold."""

    law: str  # its name in LAWS
    bounds: Mapping[str, tuple[int, int]]  # variable -> the least and the greatest value that was tried
    points: int  # of the grid
    cases: int  # points where the law applied
    failures: int  # of these, where it did not hold
    first: Mapping[str, int] | None  # variable -> value at the first of them, in the order of the grid
    seconds: float  # that the grid took


def _composition(xp: Any, m: Any, n: Any, r: Any, k: Any) -> tuple[Any, Any]:
    """Compare R(k) with A(r k): A = (m, *):(1, 1009), B = n:r, which is skipped, fits or is split."""
    skip = r % m == 0
    fits = ~skip & ((n - 1) * r < m)
    step = m // xp.minimum(r, m)
    splits = ~skip & ~fits & (m % r == 0) & (n % xp.maximum(step, 1) == 0)
    split = k % xp.maximum(step, 1) * r + k // xp.maximum(step, 1) * 1009
    result = xp.where(skip, k * (r // m) * 1009, xp.where(fits, k * r, split))
    x = r * k
    return (k < n) & (skip | fits | splits), result == x % m + x // m * 1009


def _runs(xp: Any, m: Any, n: Any, r: Any, k: Any) -> tuple[Any, Any]:
    """Compare R(k) with A(r k) where no run carries: A = (m, *):(1, 1009), B = n:r in runs until the digit carries."""
    digit = r % m
    steps = xp.where(digit > 0, xp.minimum(n, -(-m // xp.maximum(digit, 1))), n)
    rest, after = n // steps, r * steps
    fits = (n % steps == 0) & ((steps - 1) * digit + (rest - 1) * (after % m) < m)
    values = [y % m + y // m * 1009 for y in (r, after, r * k)]
    return (k < n) & fits, k % steps * values[0] + k // steps * values[1] == values[2]


def _no_carry(xp: Any, m: Any, x: Any, y: Any, d: Any) -> tuple[Any, Any]:
    """Compare A(x + y) with A(x) + A(y) where no digit carries, A = (m, *):(d, 1009)."""
    both, left, right = (z % m * d + z // m * 1009 for z in (x + y, x, y))
    return x % m + y % m < m, both == left + right


def _carry(xp: Any, m: Any, x: Any, y: Any, p: Any) -> tuple[Any, Any]:
    """Compare A(x + y) with A(x) + A(y), plus what p carries, less m, where a digit of A = (p, m, *):(0, 1, 0) carries.

    At most 1 is carried into it, and m is 2 or more where two digits carry: so A does not distribute over x + y.
    """
    both, left, right = (z // p % m for z in (x + y, x, y))
    into = (x % p + y % p) // p
    return left + right >= m, both == left + right + into - m


def _complement(xp: Any, n: Any, d: Any, j: Any, i: Any) -> tuple[Any, Any]:
    """Find i and j from A(i) + A*(j), and that A* grows: A = n:d, A* = (d, *):(1, n d)."""
    star = j % d + j // d * (n * d)
    after = (j + 1) % d + (j + 1) // d * (n * d)
    y = i * d + star
    return i < n, (y // d % n == i) & (y % d + y // d // n * d == j) & (star < after)


def _divide(xp: Any, n: Any, d: Any, g: Any, y: Any) -> tuple[Any, Any]:
    """Compare every index below n d g with tile(i) + rest(j) for digits in range."""
    i, a, b = y // d % n, y % d, y // d // n
    return y < n * d * g, (i * d + a + b * (n * d) == y) & (b < g)


def _product(xp: Any, n: Any, d: Any, c: Any, i: Any) -> tuple[Any, Any]:
    """Find i and c from the value of (A, A* o B), A = n:d and the injective B(c) = 3 c + 1."""
    b = 3 * c + 1
    y = i * d + b % d + b // d * (n * d)
    back = y % d + y // d // n * d
    return i < n, (y // d % n == i) & (back == b) & ((back - 1) // 3 == c)


def _right_inverse(xp: Any, s: Any, t: Any, u: Any, k: Any) -> tuple[Any, Any]:
    """Compare L(R(k)) with k: L = (s,t,u):(t,1,s t), R = (t,s,u):(s,1,s t)."""
    x = k % t * s + k // t % s + k // (t * s) * (s * t)
    return k < s * t * u, x % s * t + x // s % t + x // (s * t) * (s * t) == k


def _left_inverse(xp: Any, s: Any, u: Any, v: Any, k: Any) -> tuple[Any, Any]:
    """L = (s,*):(u, u v), s <= v: R(L(k)) = k with R = (u,v,*):(0,1,s)."""
    y = k % s * u + k // s * (u * v)
    return s <= v, y // u % v + y // u // v * s == k


def _swizzle(xp: Any, b: Any, m: Any, s: Any, x: Any) -> tuple[Any, Any]:
    """Swizzle<b,m,s>, s >= b: an involution that keeps the bits outside [m, m+b)."""
    mask = ((1 << b) - 1) << (m + s)
    once = x ^ ((x & mask) >> s)
    twice = once ^ ((once & mask) >> s)
    return s >= b, (twice == x) & (((once ^ x) & ~(((1 << b) - 1) << m)) == 0)


LAWS: Mapping[str, ArrayLaw] = {
    "composition": ArrayLaw(("M", "N", "r", "k"), (1, 1, 1, 0), _composition),
    "runs": ArrayLaw(("M", "N", "r", "k"), (1, 1, 1, 0), _runs),
    "distribution": ArrayLaw(("M", "x", "y", "d"), (1, 0, 0, 0), _no_carry),
    "carry": ArrayLaw(("M", "x", "y", "P"), (1, 0, 0, 1), _carry),
    "complement": ArrayLaw(("N", "d", "j", "i"), (1, 1, 0, 0), _complement),
    "divide": ArrayLaw(("N", "d", "g", "y"), (1, 1, 1, 0), _divide),
    "product": ArrayLaw(("N", "d", "c", "i"), (1, 1, 0, 0), _product),
    "right_inverse": ArrayLaw(("s", "t", "u", "k"), (1, 1, 1, 0), _right_inverse),
    "left_inverse": ArrayLaw(("s", "u", "v", "k"), (1, 1, 1, 0), _left_inverse),
    "swizzle": ArrayLaw(("B", "M", "S", "x"), (0, 0, 0, 0), _swizzle),
}


def campaign(name: str, least: int, xp: Any) -> Campaign:
    """Check a law on growing grids until it has applied to at least ``least`` points, and report the last grid.

    The smallest failing point, in the order of the grid, is kept. The swizzle's address grows, its parameters are
    bounded by 8 bits each.
    """
    started = time.perf_counter()
    edge = max(4, round(least**0.25))
    while True:
        extents = (9, 9, 9, max(1, edge**4 // 729)) if name == "swizzle" else (edge,) * 4
        found = _grid(name, extents, xp, started)
        if found.cases >= least or found.failures:
            return found
        edge = edge * 5 // 4 + 1


def _grid(name: str, extents: tuple[int, ...], xp: Any, started: float) -> Campaign:
    law = LAWS[name]
    total = prod(extents)
    cases = failures = 0
    first: dict[str, int] | None = None
    for start in range(0, total, CHUNK):
        point = xp.arange(start, min(start + CHUNK, total), dtype=xp.int64)
        variables = list(_variables(point, extents, law.lowest))
        applies, holds = law.test(xp, *variables)
        wrong = applies & ~holds
        cases += int(applies.sum())
        count = int(wrong.sum())
        failures += count
        if count and first is None:
            at = int(wrong.argmax())
            first = {x: int(v[at]) for x, v in zip(law.names, variables, strict=True)}
    bounds = {x: (low, low + e - 1) for x, low, e in zip(law.names, law.lowest, extents, strict=True)}
    return Campaign(name, bounds, total, cases, failures, first, time.perf_counter() - started)


def _variables(point: Any, extents: Sequence[int], lowest: Sequence[int]) -> Iterator[Any]:
    for extent, low in zip(extents, lowest, strict=True):
        yield point % extent + low
        point = point // extent


def main(argv: Sequence[str] | None = None) -> int:
    """Run the campaigns; returns the exit code."""
    parser = parser_of("python -m gpu_checks.laws", __doc__, "composition --cpu")
    parser.add_argument("names", nargs="*", metavar="LAW", help=f"of {', '.join(LAWS)}; all when none is named")
    parser.add_argument("--cpu", action="store_true", help="numpy, and a smaller bound")
    parser.add_argument("--cases", type=int, metavar="N", help=f"at least so many ({ON_GPU} on a GPU, {ON_CPU} else)")
    parser.add_argument("-o", "--output", type=reserve_file, metavar="FILE", help="append one JSON line per law there")
    return guard_exit("gpu_checks.laws", lambda: _run_laws(parser.parse_args(argv)))


def _run_laws(options: argparse.Namespace) -> int:
    unknown = [name for name in options.names if name not in LAWS]
    if unknown:
        raise ValueError(f"no law is named {unknown[0]!r}; one of {', '.join(LAWS)}")
    if options.cases is not None and options.cases < 1:
        raise ValueError(f"--cases {options.cases}: at least 1")
    found = None if options.cpu else device_info()
    if isinstance(found, Unavailable):
        command.show(f"{len(options.names or LAWS)} laws  UNCHECKED  {found.reason}; --cpu uses numpy")
        return Exit.UNDECIDED
    xp = array_module(on_gpu=not options.cpu)
    names, least = options.names or list(LAWS), options.cases or (ON_CPU if options.cpu else ON_GPU)
    failed = []

    def run_law(name: str, shown: Progress) -> None:
        result = campaign(name, least, xp)
        failed.extend([name] * bool(result.failures))
        word = "REFUTED" if result.failures else "AGREES"
        with shown.aside():
            command.show(f"{name:<14} {word:<8} {result.cases} cases, {result.seconds:.2f} s")
            if result.first:
                command.show(f"  {result.first}")
        if options.output:
            _record(options.output, result, found, xp)

    _, missing = each(names, run_law, "laws", str)
    if missing:
        raise Interrupted(missing, len(names))
    return Exit.REFUTED if failed else Exit.OK


def _record(file: Path, result: Campaign, found: DeviceInfo | None, xp: Any) -> None:
    where = {"gpu": found.gpu, "sm": found.sm, "driver": found.driver} if found else {"gpu": None}
    stamp = {
        "schema": SCHEMA,
        "arrays": f"{xp.__name__} {xp.__version__}",
        "date": datetime.now(UTC).date().isoformat(),
    }
    before = file.read_bytes() if file.is_file() else b""  # a pipe is only written to
    write_file(file, before + f"{with_digest(json.dumps(stamp | where | asdict(result)))}\n".encode())


def recordings_of_laws(place: Path = RECORDINGS) -> tuple[Campaign, ...]:
    """Every recorded campaign. RecordingError for a malformed line, with its file and number."""
    return tuple(one for path in files(place) for one in read_each(path, SCHEMA, _read_campaign))


def _read_campaign(data: Mapping[str, Any]) -> Campaign:
    if data["gpu"] is not None:
        check_gpu(data["gpu"], data["sm"])
    return Campaign(**{field.name: data[field.name] for field in fields(Campaign)})


if __name__ == "__main__":
    raise SystemExit(main())
