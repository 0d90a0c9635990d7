# SPDX-License-Identifier: Apache-2.0
"""A campaign on two cores against a plain loop over CUTLASS's pycute: the same layouts, the same laws.

One campaign has all laws, as a spec has that names none; the others have one law each, at several sizes. The loop
compares all values one at a time, the campaign all cases at once; both call the operation for every case. So the
campaign gains with the number of points: on small layouts most of its time is our operation's own. Where N times
pycute's rate is the target, its loop takes every Nth case of each law, so that a ratio of 1 is N times its rate. `make
bench` installs pycute.
"""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from itertools import count, pairwise
from pathlib import Path
from typing import Any

from benchmarks.absolute import Unmeasured
from benchmarks.paired import Figure, paired
from benchmarks.performance.libraries import PYCUTE
from lanecheck.console.progress import Progress
from proofs.symbolic.enumerated import LAWS
from verify.campaign import executors, results
from verify.campaign.run import CampaignRun
from verify.campaign.spec import LawsSpec
from verify.campaign.tasks import CampaignPart, Implementation, domain_of, parts

JOBS = 2
ALL = "all laws"
EXTENTS = {16: (2, 4, 8), 64: (2, 4, 8, 16), 256: (4, 8, 16), 1024: (8, 16, 32)}  # of the modes, by the points at most


@dataclass(frozen=True, slots=True)
class Gate:
    """The layouts of a campaign, whose strides are powers of 2, and by their points the multiple of pycute's rate.

    The multiples have no divisor in common with the number of layouts: every Nth pair then has each layout, as its
    first and as its second.
    """

    faster: dict[int, int]  # at least
    rank: int
    strides: int  # the number of powers
    extents: tuple[int, ...] = ()  # where not those of EXTENTS
    size: int = 0  # points of an argument, where the result has more


GATES = {
    ALL: Gate({16: 41, 32: 67}, 2, 7, (2, 4, 8, 16, 32)),
    "composition": Gate({16: 13, 64: 27, 256: 53, 1024: 139}, 2, 7),
    "coalesce": Gate({16: 19, 64: 71, 256: 211, 1024: 547}, 3, 16),
    "complement": Gate({1024: 131}, 3, 11, (4, 8, 16, 32)),
    "right_inverse": Gate({1024: 179}, 3, 16),
    "left_inverse": Gate({1024: 53}, 3, 16),
    "logical_divide": Gate({1024: 191}, 2, 7),
    "logical_product": Gate({1024: 59}, 2, 6, (2, 4, 8, 16, 32), 32),
}


def spec_of(checked: str, points: int) -> LawsSpec:
    """All layouts of a rank, in pairs or alone; the largest layout, and the range of a complement, have the points.

    Of logical_product alone the largest result has them.
    """
    gate = GATES[checked]
    return LawsSpec(
        name="powers of 2", kind="laws", laws=tuple(LAWS) if checked == ALL else (checked,), rank=gate.rank,
        size=gate.size or points, extents=gate.extents or EXTENTS[points],
        strides=tuple(1 << n for n in range(gate.strides)),
    )  # fmt: skip


def figures() -> Iterator[Figure]:
    for checked, gate in GATES.items():
        for points, faster in gate.faster.items():
            yield against_pycute(checked, points, faster)


def against_pycute(checked: str, points: int, every: int) -> Figure:
    """A campaign of one or all laws, in turns with pycute's loop over every so many of the same cases.

    Raises Unmeasured.
    """
    try:
        pycute = importlib.import_module("pycute")
    except ImportError:
        raise Unmeasured(f"pycute is not importable ({PYCUTE.install})") from None
    spec = spec_of(checked, points)
    every_part = parts(spec, Implementation())
    loops = [loop(pycute, spec, law, every) for law in spec.laws]
    name = f"{checked}, at most {points} points, {sum(part.cases for part in every_part)} cases"
    with executors.local(JOBS, in_child=True) as (pool, _), tempfile.TemporaryDirectory() as folder:
        base = f"pycute, one case in {every}"
        return paired(name, campaign(every_part, pool, folder), base, lambda: sum(run() for run in loops), 1.0)


def campaign(every_part: Sequence[CampaignPart], pool: Executor, folder: str) -> Callable[[], object]:
    """A whole run, each time with a new file of results; the processes are there already."""
    files = (Path(folder, f"{every_part[0].key}-{n}.jsonl") for n in count())

    def run() -> object:
        with results.open_results(next(files)) as kept:
            whole = CampaignRun(every_part, kept, Implementation())
            whole.go(pool, lambda: JOBS, Progress(whole.cases, "cases", quiet=True), lambda *_: None)
            assert len(kept.tallies) == sum(len(part.tasks) for part in every_part)
            return None

    return run


def loop(pycute: Any, spec: LawsSpec, law: str, every: int) -> Callable[[], int]:
    """pycute's own loop over some cases of a law: how many results are wrong; what it rejects is left out.

    Two of our requirements it does not check, to its own favour: that a complement is no larger than it must be, and
    that copies follow one another in the order of the tiler.
    """
    domain, second = domain_of(spec), LAWS[law].second
    width = len(domain) if second == "layout" else 1
    chosen = [divmod(n, width) for n in range(0, len(domain) * width, every)]
    cases = [(domain[a], *([domain[b]] * (second == "layout"))) for a, b in chosen]
    cotarget = [spec.size] * (second == "cotarget")
    operation, wrong = getattr(pycute, law), WRONG[law]

    def run() -> int:
        mistakes = 0
        for case in cases:
            arguments = [*(pycute.Layout(*layout) for layout in case), *cotarget]
            try:
                result = operation(*arguments)
            except (AssertionError, ZeroDivisionError):
                continue
            mistakes += wrong(pycute.size, *arguments, result)
        return mistakes

    return run


def coalesced(size: Any, a: Any, r: Any) -> bool:
    return any(a(i) != r(i) for i in range(size(a)))


def composed(size: Any, a: Any, b: Any, r: Any) -> bool:
    points = size(a)
    for k in range(size(b)):
        x = b(k)
        if x < points and r(k) != a(x):
            return True
    return False


def complemented(size: Any, a: Any, target: int, r: Any) -> bool:
    rest = [r(j) for j in range(size(r))]
    sums = [a(i) + y for i in range(size(a)) for y in rest]
    taken = set(sums)
    if len(taken) < len(sums) or any(y <= x for x, y in pairwise(rest)):
        return True
    return any(x not in taken for x in range(target))


def right_inverted(size: Any, a: Any, r: Any) -> bool:
    if any(a(r(k)) != k for k in range(size(r))):
        return True
    return size(r) < size(a) and {a(i) for i in range(size(a))} == set(range(size(a)))


def left_inverted(size: Any, a: Any, r: Any) -> bool:
    return any(r(a(k)) != k for k in range(size(a)))


def divided(size: Any, a: Any, tiler: Any, r: Any) -> bool:
    if composed(size, a, tiler, r[0]):
        return True
    return not {a(i) for i in range(size(a))} <= {r(i) for i in range(size(r))}


def multiplied(size: Any, a: Any, tiler: Any, r: Any) -> bool:
    if coalesced(size, a, r[0]):
        return True
    once = all(len({x(i) for i in range(size(x))}) == size(x) for x in (a, tiler))
    return once and len({r(i) for i in range(size(r))}) < size(r)


WRONG: dict[str, Callable[..., bool]] = {
    "coalesce": coalesced, "composition": composed, "complement": complemented, "right_inverse": right_inverted,
    "left_inverse": left_inverted, "logical_divide": divided, "logical_product": multiplied,
}  # fmt: skip
"""Whether a result of pycute is wrong, one value at a time; of pycute's size, the arguments and the result."""
