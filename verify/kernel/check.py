# SPDX-License-Identifier: Apache-2.0
"""Does a kernel compute what is claimed? `check(ptx, claim)` interprets it for every launch of the claim.

The points and primes are drawn after the PTX is read, from the operating system or from `seed`. An element of the
output is compared with the claim's value by its residues; a kernel is refuted only where every step to a wrong element
has a meaning, and by a number that differs where a comparison chose.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verify.core.errors import SpecError, UsageError
from verify.kernel import handlers
from verify.kernel.choices import Choices
from verify.kernel.claim import Array, Claim, Launch
from verify.kernel.expression import Evaluation, Tensor, elements
from verify.kernel.findings import Finding, Findings, Severity, Unclear
from verify.kernel.machine import Machine
from verify.kernel.memory import WINDOW, Global, Region, Stored
from verify.kernel.parse import Kernel, PtxError, read
from verify.kernel.registers import joined as join_bytes
from verify.kernel.registers import word
from verify.kernel.values import (
    ABSORBED,
    CAUSE,
    EXACT,
    FREE,
    MANTISSA,
    NARROWED,
    OPAQUE,
    SIZE,
    Ids,
    Mask,
    Values,
)

BUDGET = 3_000_000  # instructions of a batch's threads together
THREADS = 1 << 14  # of a batch: more take memory, fewer take time
Samples = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the interpretation of one launch found."""

    status: str  # VERIFIED, REFUTED or UNKNOWN
    findings: tuple[Finding, ...]  # everything that is wrong or unclear
    kernel: str  # its name in the PTX
    sizes: Mapping[str, int]  # of the launch
    seed: int  # of the points and primes
    bound: float  # on the chance that a wrong element went unnoticed
    steps: int  # instructions executed, by any number of threads each
    never_ran: tuple[int, ...]  # lines of instructions that no thread executed
    domain: str  # what the verdict speaks of
    output: Mapping[str, Samples] = field(default_factory=dict)  # what the kernel computes of the samples
    expected: Mapping[str, Samples] = field(default_factory=dict)  # and what the claim says
    compared: int = 0  # elements
    offsets: tuple[tuple[int, int, int], ...] = ()  # (parameter, first byte, bytes) that were read


def check(
    ptx: str,
    claim: Claim,
    *,
    seed: int | None = None,
    budget: int = BUDGET,
    strict: bool = False,
    samples: Mapping[str, Samples] | None = None,
    ticked: Callable[[int], None] = lambda steps: None,
) -> list[Outcome]:
    """One outcome for each launch of the claim; UsageError for PTX that cannot be read, SpecError for the claim."""
    try:
        kernel = read(ptx, claim.kernel)
    except PtxError as error:
        raise UsageError(f"the PTX: {error}") from error
    seed = int.from_bytes(os.urandom(8)) if seed is None else seed
    return [_Launch(kernel, one, seed, budget, samples or {}, ticked).outcome(strict) for one in claim.launches()]


class _Launch:
    """The interpretation of one launch."""

    def __init__(
        self, kernel: Kernel, launch: Launch, seed: int, budget: int, samples: Mapping[str, Samples],
        ticked: Callable[[int], None],
    ) -> None:  # fmt: skip
        self.kernel, self.launch, self.seed = kernel, launch, seed
        self.values, self.findings = Values(seed), Findings()
        self.values.allowed = frozenset(launch.narrow) - {"f32"}
        self.regions = [self._region(one, samples.get(one.name)) for one in launch.arrays]
        self.memory = Global(self.regions, self.values, self.findings)
        bases = {
            one.name: ((place + 1) << WINDOW) + one.offset * SIZE[one.kind] for place, one in enumerate(launch.arrays)
        }
        given = {
            name: launch.parameter(variable.number, variable.size, bases)
            for name, variable in kernel.parameters.items()
        }
        if len(launch.params) > len(kernel.parameters):
            raise SpecError("params", f"{len(launch.params)} are given, the kernel has {len(kernel.parameters)}")
        if kernel.block and int(np.prod(kernel.block)) != int(np.prod(launch.block)):
            raise SpecError("block", f"the kernel requires {kernel.block} threads (.reqntid), not {launch.block}")
        self.machine = Machine(kernel, launch, self.values, self.findings, self.memory, given, budget)
        self.machine.cell = handlers.cell(kernel)
        self.machine.ticked = ticked

    def _region(self, array: Array, sample: Samples | None) -> Region:
        """An array with its elements as unknowns, or as zeros."""
        places, size = array.places, SIZE[array.kind]
        owner = np.full(int(places.max()) + 1, -1, np.int64)
        owner[places] = np.arange(len(places))
        if sample is not None and sample.shape != array.shape:
            raise SpecError(f"samples.{array.name}", f"has the shape {sample.shape}, not {array.shape}")
        if sample is None:
            low = 0 if array.kind[0] == "u" else -3
            sample = self.values.points.integers(low, 4, array.shape).astype(np.float64)
        first = self.values.variables(array.kind, np.zeros(array.shape) if array.zero else sample)
        region = Region(array, first, owner, places, size)
        if array.out or array.scratch:
            count = len(owner) * size
            labels = np.zeros(count, np.uint32)
            if not array.zero:
                ids = (first + np.arange(len(places))).astype(np.uint32) << np.uint32(3)
                labels[places[:, None] * size + np.arange(size)] = ids[:, None] + np.arange(size, dtype=np.uint32)
            if array.zero:
                span = slice(first, first + len(places))
                self.values.residues[:, span] = 0
            nobody = np.full(count, -1, np.int64)
            region.stored = Stored(labels, np.zeros(count, np.uint8), nobody, nobody.copy(), np.zeros(count, bool))
        return region

    # ---- the run

    def run(self) -> None:
        """Interpret all CTAs, a batch at a time; Unclear where the run cannot go on."""
        x, y, z = self.launch.grid
        ctas = [(i, j, k) for k in range(z) for j in range(y) for i in range(x)]
        per = max(1, THREADS // self.machine.threads)
        for first in range(0, len(ctas), per):
            self.machine.start(ctas[first : first + per], first)
            if not first:
                missing = handlers.bound(self.machine)
                if missing:
                    raise _Missing(missing)
            self.machine.go()
            if self.machine.shared.copies:
                pass  # copies that nobody waited for and nobody read are no error
        self.values.flush()

    def outcome(self, strict: bool) -> Outcome:
        """Run, compare, and say what was found."""
        extra: list[Finding] = []
        output: dict[str, Samples] = {}
        expected: dict[str, Samples] = {}
        bound, compared = 0.0, 0
        try:
            self.run()
        except _Missing as missing:
            extra += missing.findings
        except Unclear as error:
            extra.append(Finding("no meaning", Severity.UNKNOWN, error.line, error.problem))
        else:
            comparison = Comparison(self)
            extra += comparison.findings
            output, expected = {comparison.name: comparison.sample}, {comparison.name: comparison.wanted}
            bound, compared = comparison.bound, comparison.compared
        found = (*self.findings.found.values(), *extra)
        ran = self.machine.ran
        lines = [one.line for one, done in zip(self.kernel.instructions, ran, strict=True) if not done]
        return Outcome(
            status=_status(found, strict), findings=found, kernel=self.kernel.name, sizes=self.launch.sizes,
            seed=self.seed, bound=bound, steps=self.machine.steps, never_ran=tuple(lines), domain=self._domain(),
            output=output, expected=expected, compared=compared, offsets=tuple(sorted(self.machine.offsets_read)),
        )  # fmt: skip

    def _domain(self) -> str:
        """What one verdict speaks of."""
        sizes = ", ".join(f"{name} = {value}" for name, value in self.launch.sizes.items())
        grid = "x".join(map(str, self.launch.grid))
        block = "x".join(map(str, (one for one in self.launch.block if one > 1))) or "1"
        return f"{sizes}; grid {grid} of {block} threads; all data, in exact arithmetic; not rounding, not SASS"


class _Missing(Exception):
    """Instructions without a meaning."""

    def __init__(self, findings: list[Finding]) -> None:
        super().__init__("no meaning")
        self.findings = findings


def _status(findings: tuple[Finding, ...], strict: bool) -> str:
    """REFUTED by a finding that refutes, else UNKNOWN, else VERIFIED; a letter of the ISA refutes only if strict."""
    severities = {one.severity for one in findings}
    if severities - {Severity.UNKNOWN, Severity.LETTER} or (strict and Severity.LETTER in severities):
        return "REFUTED"
    return "UNKNOWN" if Severity.UNKNOWN in severities else "VERIFIED"


class Comparison:
    """The claim's target array after the run, against the claim's value."""

    def __init__(self, of: _Launch) -> None:
        self.values, self.launch, self.line = of.values, of.launch, 0
        region = next(one for one in of.regions if one.array.name == of.launch.target.name)
        self.region, self.array, self.name = region, region.array, region.array.name
        self.findings: list[Finding] = []
        self.ids = self._stored()
        self.values.flush()
        wanted = self._wanted(of)
        self.residues, self.wanted = wanted.residues, wanted.sample.reshape(self.array.shape)
        self.sample = self.values.sample[self.ids].reshape(self.array.shape)
        self.compared = self.ids.size
        self.bound = self.values.chance(self.ids)
        stored = region.stored
        assert stored is not None
        self.written: Mask = stored.writer[region.places * region.size] >= 0
        self._compare()
        if not self.wrong.any():
            self._precision()

    def _stored(self) -> Ids:
        """The ids of the array's elements after the run."""
        region, size = self.region, self.region.size
        assert region.stored is not None
        places = region.places[:, None] * size + np.arange(size)
        held = word(join_bytes(region.stored.plain[places].astype(np.uint64)), region.stored.labels[places])
        found: Ids = held.elements(self.values, self.array.kind, size).reshape(-1)
        return np.broadcast_to(found, (len(places),)) if len(found) == 1 else found

    def _wanted(self, of: _Launch) -> Tensor:
        values, launch = self.values, self.launch
        arrays = {}
        for element in elements(launch.value):
            region = next(one for one in of.regions if one.array.name == element.name)
            span, shape = slice(region.first, region.first + len(region.places)), region.array.shape
            sample = values.sample[span] if not region.array.zero else np.zeros(len(region.places))
            residues = values.residues[:, span].reshape(-1, *shape)
            arrays[element.name] = Tensor(element.indices, residues, sample.reshape(shape))
        choose: Choices = values.choices
        found = Evaluation([int(p) for p in values.primes], arrays, launch.scalars, choose)(launch.value)
        residues, sample = found.residues, found.sample
        missing = [name for name in launch.target.indices if name not in found.dims]
        dims = found.dims + tuple(missing)
        residues = residues.reshape(*residues.shape, *[1] * len(missing))
        sample = sample.reshape(*sample.shape, *[1] * len(missing))
        order = [dims.index(name) for name in launch.target.indices]
        shape = self.array.shape
        residues = np.broadcast_to(residues.transpose(0, *(axis + 1 for axis in order)), (len(residues), *shape))
        return Tensor(
            launch.target.indices, residues.reshape(len(residues), -1), np.broadcast_to(sample.transpose(order), shape)
        )

    def _compare(self) -> None:
        values, ids = self.values, self.ids
        causes = values.marks[CAUSE, ids]
        clear = causes == 0
        differs = (values.residues[:, ids] != self.residues).any(0)
        opaque = values.marks[OPAQUE, ids]
        sample, wanted = self.sample.ravel(), self.wanted.ravel()
        tolerance = np.where(opaque == FREE, 1e-3 * (1 + np.abs(wanted)), 1e-6 * (1 + np.abs(wanted)))
        shown = np.abs(sample - wanted) > tolerance
        certain = differs & clear & ((opaque == EXACT) | shown)
        self.wrong: Mask = certain | (~self.written & differs)
        if self.wrong.any():
            self._say_wrong()
        open_ = ~clear & self.written
        for cause in np.unique(causes[open_]):
            self._say_open(int(cause), int(np.flatnonzero(open_ & (causes == cause))[0]), int((causes == cause).sum()))
        vague = differs & clear & ~self.wrong
        if vague.any():
            first = self.array.element(int(np.flatnonzero(vague)[0]))
            text = (
                f"{first} and {int(vague.sum()) - 1} others are functions that were not shown to be equal or different"
            )
            self.findings.append(Finding("functions", Severity.UNKNOWN, 0, text))

    def _say_wrong(self) -> None:
        many, first = int(self.wrong.sum()), int(np.flatnonzero(self.wrong)[0])
        if not self.written[first]:
            absent = int((~self.written).sum())
            text = f"{self.array.element(first)} is never written; {absent} of {self.compared} elements are not"
            self.findings.append(Finding("element not written", Severity.VALUE, 0, text))
            return
        text = f"{self.array.element(first)} is {_number(self.sample.flat[first])}, and should be "
        text += f"{_number(self.wanted.flat[first])} on the sample; {many} of {self.compared} elements are wrong"
        self.findings.append(Finding("wrong element", Severity.VALUE, 0, text))

    def _say_open(self, cause: int, first: int, many: int) -> None:
        line, text = self.values.causes[cause]
        where = f"{self.array.element(first)} and {many - 1} others"
        if cause < 3:
            found = Finding("value from nowhere", Severity.MEMORY, line, f"{where} come from a value that {text}")
        else:
            found = Finding("no meaning", Severity.UNKNOWN, line, f"{where} depend on it: {text}")
        self.findings.append(found)

    def _precision(self) -> None:
        """Report narrowings before the last step, and a last one to another format than the output's."""
        values, kind = self.values, self.array.kind
        absorbed, last = values.marks[ABSORBED, self.ids], values.marks[NARROWED, self.ids]
        for event in np.unique(absorbed[absorbed > 0]):
            name, line = values.events[int(event)]
            text = (
                f"a value goes through {name} before it is used further; one narrowing to {kind} at the end is allowed"
            )
            self.findings.append(Finding("narrowing", Severity.PRECISION, line, text))
        for event in np.unique(last[last > 0]):
            name, line = values.events[int(event)]
            if name != kind and MANTISSA.get(name, 64) <= MANTISSA.get(kind, 64):
                text = f"the result goes through {name}, and the output is {kind}"
                self.findings.append(Finding("narrowing", Severity.PRECISION, line, text))


def _number(value: Any) -> str:
    return f"{float(value):g}"
