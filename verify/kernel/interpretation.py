# SPDX-License-Identifier: Apache-2.0
"""The interpretation of one launch: its arrays as unknowns, its parameters, and its CTAs, a batch at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from verify.core.errors import SpecError
from verify.kernel.claims.expression import LARGEST, functions
from verify.kernel.claims.launch import MAX_ELEMENTS, MAX_PLACES, Array, Launch, sort_axes
from verify.kernel.data.values import CODE, LIMITS, SIZE, Values
from verify.kernel.instructions import handlers
from verify.kernel.ptx.source import Kernel
from verify.kernel.state.findings import WARNINGS, Finding, Findings, Severity, Unclear
from verify.kernel.state.global_memory import Global
from verify.kernel.state.machine import Machine
from verify.kernel.state.order import Ints
from verify.kernel.state.paged import BLOCK, MOST_PLACES, ROWS, PagedRegion
from verify.kernel.state.phases import judge_late
from verify.kernel.state.region import Region, store
from verify.kernel.state.windows import WINDOW

PAGED = 1 << 23  # elements of a launch's arrays beyond which tables of a part have what it touches
MAX_THREADS = 1 << 20  # of a grid of which all CTAs run
THREADS = 1 << 14  # of a batch: more take memory, fewer take time
FEW = 1 << 11  # threads of a grid that is one batch, however much memory it takes
STEPS = 16  # from one end of a range of floats to the other
FEW_NUMBERS, SPREAD = 3, 1000  # of the sample: from -3 to 3; of integers half of them from -1000 to 1000
FINE = 64  # of the sample where exponentials are: from -1 to 1 in such parts
ROOM = 400 << 20  # bytes of the values that a batch may make
Samples: TypeAlias = NDArray[np.float64]


class Missing(Exception):
    """Instructions without a meaning."""

    def __init__(self, findings: list[Finding]) -> None:
        super().__init__("no meaning")
        self.findings = findings


def is_large(launch: Launch) -> bool:
    """Return whether tables of all elements of a launch would take gigabytes."""
    return sum(int(np.prod(array.shape, dtype=object)) for array in launch.arrays) > PAGED


def is_too_large(launch: Launch) -> bool:
    """Return whether not all CTAs of a launch can run, however long they may take."""
    elements = max(int(np.prod(array.shape, dtype=object)) for array in launch.arrays)
    return elements > MAX_ELEMENTS or int(np.prod((*launch.grid, *launch.block), dtype=object)) > MAX_THREADS


def _has_pages(array: Array) -> bool:
    """Return whether the element of a place is found by division, and any number may be one."""
    return sort_axes(array) is not None and array.content is None and array.end <= MOST_PLACES


def list_bases(launch: Launch) -> dict[str, int]:
    """Return the address at which each array of a launch begins."""
    return {
        array.name: ((place + 1) << WINDOW) + array.offset * SIZE[array.kind]
        for place, array in enumerate(launch.arrays)
    }


class Interpretation:
    """The interpretation of one launch."""

    def __init__(
        self, kernel: Kernel, launch: Launch, values: Values, budget: int, samples: Mapping[str, Samples],
        machine: type[Machine] = Machine, regions: Sequence[Region] = (),
    ) -> None:  # fmt: skip
        self.kernel, self.launch, self.values, self.findings = kernel, launch, values, Findings()
        self.paged = bool(launch.ctas) and is_large(launch)
        self.regions = [*regions] or [
            self._page(at, array)
            if self.paged and _has_pages(array)
            else self._region(at, array, samples.get(array.name))
            for at, array in enumerate(launch.arrays)
        ]
        self.earlier = [Interpretation(*pair, values, budget, {}, machine, self.regions) for pair in launch.before]
        self.values.floor = launch.floor if self.values.levels else 0.0
        self.values.allowed = frozenset(launch.narrow) - {"f32"}
        self.values.choices.by_leaves = LARGEST in functions(launch.value)
        self.memory = Global(self.regions, self.values, self.findings)
        bases = list_bases(launch)
        given = {
            name: launch.parameter(variable.number, variable.size, bases)
            for name, variable in kernel.parameters.items()
        }
        if len(launch.params) > len(kernel.parameters):
            raise SpecError("params", f"{len(launch.params)} are given, the kernel has {len(kernel.parameters)}")
        if kernel.block and (*kernel.block, 1, 1)[:3] != (*launch.block, 1, 1)[:3]:
            raise SpecError("block", f"the kernel requires {kernel.block} threads (.reqntid), not {launch.block}")
        if 0 < kernel.most < int(np.prod(launch.block)):
            raise SpecError("block", f"the kernel takes at most {kernel.most} threads (.maxntid), not {launch.block}")
        self.machine = machine(kernel, launch, self.values, self.findings, self.memory, given, budget)
        self.machine.cell = handlers.cell(kernel)
        self.bound, self.done = False, 0  # whether instructions have their meaning; CTAs of a part that ran
        self.paced: Callable[[int, int], bool] = lambda done, total: False  # told of CTAs; whether a part may end

    def _region(self, number: int, array: Array, sample: Samples | None) -> Region:
        """Return an array with its elements as unknowns, or as zeros."""
        if int(np.prod(array.shape, dtype=object)) > MAX_ELEMENTS:
            raise SpecError(
                f"arrays.{array.name}", f"at most {MAX_ELEMENTS} elements in a launch of which all CTAs run"
            )
        places, size = array.places, SIZE[array.kind]
        there = places >= 0
        kept: NDArray[np.int64] | None = None
        last = int(places.max(initial=0))
        if last >= MAX_PLACES:  # the tables have the elements alone, in the order of their places
            kept, places = np.unique(places, return_inverse=True)
            if not there.all():
                kept, places = kept[1:], places - 1
            last = int(places.max())
        owner = np.full(last + 1, -1, np.int64)
        owner[places[there]] = np.flatnonzero(there)
        if sample is not None and sample.shape != array.shape:
            raise SpecError(f"samples.{array.name}", f"has the shape {sample.shape}, not {array.shape}")
        least, most = array.limits or LIMITS.get(array.kind) or (-inf, inf)
        if sample is None:
            sample = self._draw(array)
        elif ((sample < least) | (sample > most)).any() or (array.kind in LIMITS and (sample != np.rint(sample)).any()):
            what = "integers" if array.kind in LIMITS else "numbers"
            raise SpecError(f"samples.{array.name}", f"expected {what} from {least} to {most}")
        sample = np.where(there.reshape(array.shape), sample, 0.0)
        limits = (0, 0) if array.zero else array.limits
        first = self.values.variables(array.kind, np.zeros(array.shape) if array.zero else sample, limits)
        self.values.residues[:, first : first + len(places)] *= there
        region = Region(array, first, owner, places, size, number, kept=kept)
        if array.out or array.scratch or array.content is not None:
            count = len(owner) * size
            labels, plain = np.zeros(count, np.uint32), np.zeros(count, np.uint8)
            if array.content is not None:
                octets = array.content.astype(f"<u{size}").reshape(-1, 1).view(np.uint8)
                plain[places[:, None] * size + np.arange(size)] = octets
            elif not array.zero:
                ids = (first + np.arange(len(places))).astype(np.uint32) << np.uint32(3)
                labels[places[:, None] * size + np.arange(size)] = ids[:, None] + np.arange(size, dtype=np.uint32)
            if array.zero:
                span = slice(first, first + len(places))
                self.values.residues[:, span] = 0
            region.stored = store(labels, plain)
        return region

    def _page(self, number: int, array: Array) -> Region:
        """Return an array whose elements get their unknowns when they are touched."""
        writable, size = array.out or array.scratch, SIZE[array.kind]
        rows = min(ROWS // 4 if writable else ROWS, -(-array.end // BLOCK) * BLOCK)
        first, limits = self.values.new(rows, CODE[array.kind]), (0, 0) if array.zero else array.limits
        self.values.inputs = self.values.top

        def draw(new: Ints) -> None:
            numbers = np.zeros(len(new)) if array.zero else self._draw(array._replace(shape=(len(new),)))
            self.values.give_variables(
                slice(first + int(new[0]), first + int(new[-1]) + 1), array.kind, numbers, limits
            )
            if array.zero:
                self.values.residues[:, first + new] = 0
            elif region.stored is not None:
                labels = ((first + new).astype(np.uint32) << np.uint32(3))[:, None] + np.arange(size, dtype=np.uint32)
                region.stored.labels[new[0] * size : (new[-1] + 1) * size] = labels.ravel()

        region = PagedRegion(
            array, first, np.full(rows, -1, np.int64), np.zeros(0, np.int64), size, number, draw=draw,
            kept=np.zeros(rows, np.int64), blocks=np.zeros(array.end // BLOCK + 1, np.int32),
        )  # fmt: skip
        if writable:
            region.stored = store(np.zeros(rows * size, np.uint32), np.zeros(rows * size, np.uint8))
        return region

    def _draw(self, array: Array) -> Samples:
        """Draw small numbers, and for integers as many larger ones that lie within the array's range."""
        points, drawn = self.values.points, []
        if array.kind not in LIMITS and array.limits is not None:
            low, high = array.limits
            return np.asarray(low + (high - low) * points.draw(STEPS + 1, array.shape) / STEPS)
        if self.values.levels and array.kind not in LIMITS:  # powers of larger numbers leave what doubles hold
            sizes = (1 + points.draw(FINE, array.shape)) / FINE  # no 0, by which nothing is divided
            return np.where(points.draw(2, array.shape) == 0, sizes, -sizes)
        least, most = map(int, array.limits or LIMITS.get(array.kind, (-FEW_NUMBERS, FEW_NUMBERS)))
        for spread in (FEW_NUMBERS, SPREAD) if array.kind in LIMITS else (FEW_NUMBERS,):
            low = max(least, min(-spread, most - 2 * spread))
            high = min(most, max(spread, least + 2 * spread))
            drawn.append(low + points.draw(high - low + 1, array.shape).astype(np.float64))
        return np.where(points.draw(2, array.shape) == 0, drawn[0], drawn[1]) if len(drawn) > 1 else drawn[0]

    # ---- the run

    def finish(self, only: int) -> bool:
        """Run one CTA alone; returns whether it came to its end."""
        try:
            self.interpret(only)
        except (Unclear, Missing):
            return False
        return True

    def _run_earlier(self) -> None:
        """Run the launches before this one: it finds in memory what they left. Unclear if one of them is not right."""
        earlier, self.earlier = self.earlier, []
        for run in earlier:
            run.machine.ticked = self.machine.ticked
            try:
                run.interpret()
            except (Missing, Unclear) as error:
                why = error.findings[0].text if isinstance(error, Missing) else error.problem
                raise Unclear(0, f"in {run.kernel.name}, which was launched before: {why}") from None
            for (kind, _), finding in run.findings.reported.items():
                if finding.severity not in (*WARNINGS, Severity.PRECISION):
                    raise Unclear(0, f"in {run.kernel.name}, which was launched before: {finding.text}")
                self.findings.reported.setdefault((kind, 0), finding._replace(line=0))
            for note in run.findings.notes:
                self.findings.notes.setdefault(note, set()).add(0)
            for region in self.regions:
                if region.stored is not None:
                    region.stored = store(region.stored.labels, region.stored.plain)

    def interpret(self, only: int | None = None) -> None:
        """Interpret all CTAs, a batch at a time, or one of them, or a part; Unclear where the run cannot go on."""
        self._run_earlier()
        if self.launch.ctas and only is None:
            self._run_part()
            return
        x, y, z = self.launch.grid
        if only is None and (threads := x * y * z * self.machine.threads) > MAX_THREADS:
            raise SpecError("grid", f"{threads} threads; at most {MAX_THREADS} in a launch of which all CTAs run")
        ctas = [(i, j, k) for k in range(z) for j in range(y) for i in range(x)]
        if only is not None:
            ctas = ctas[only : only + 1]
        first, per = 0, max(1, THREADS // self.machine.threads)
        if len(ctas) * self.machine.threads > FEW:
            per = 1  # how much memory does one take?
        while first < len(ctas):
            before = self.values.top
            self._run_batch(ctas[first : first + per], first)
            first += per
            self.paced(min(first, len(ctas)), len(ctas))
            if first < len(ctas):
                per = self._next((self.values.top - before) // per)
        self.values.flush()
        judge_late(self.findings)

    @property
    def part(self) -> tuple[int, int] | None:
        """Return (CTAs that ran, CTAs of the launch) if they are fewer."""
        total = int(np.prod(self.launch.grid))
        return (self.done, total) if self.launch.ctas and self.done < total else None

    def _run_part(self) -> None:
        """Interpret the CTAs of a part, one at a time, until `paced` has seen enough or tables are nearly full."""
        x, y, _ = self.launch.grid
        for number in self.launch.ctas:
            before = self.values.top
            self._run_batch([(number % x, number // x % y, number // (x * y))], number)
            self.done += 1
            pages = [region for region in self.regions if isinstance(region, PagedRegion)]
            full = any(page.used + page.used // self.done > page.room for page in pages)
            if self.paced(self.done, len(self.launch.ctas)) or full:
                break
            self._next(self.values.top - before)
        self.values.flush()
        judge_late(self.findings)

    def _run_batch(self, ctas: Sequence[tuple[int, int, int]], first: int) -> None:
        """Interpret some CTAs together; `first` is the number of the first one in the grid."""
        self.machine.start(ctas, first)
        if not self.bound:
            missing = handlers.bind_instructions(self.machine)
            if missing:
                raise Missing(missing)
            self.bound = True
        self.machine.go()

    def _next(self, made: int) -> int:
        """Return the CTAs of the next batch, where one makes so many values; drop those of which nothing is left."""
        self.values.drop([region.stored.labels for region in self.regions if region.stored is not None])
        tables = self.values.residues, self.values.sample, self.values.kind, self.values.history
        width = sum(table[..., :1].nbytes for table in tables)  # of a value: more with pairs of primes
        per = max(1, min(THREADS // self.machine.threads, ROOM // (width * max(made, 1))))
        self.values.reserve(self.values.top + per * made)
        return per
