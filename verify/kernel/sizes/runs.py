# SPDX-License-Identifier: Apache-2.0
"""One run of one CTA at a sample of a region, with forms: to its end, or from one head of the loop to another.

At a head the registers' forms may be given their growth times a symbol, and the sums so far be replaced by unknowns:
the run then speaks of every number of rounds before that head.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verify.kernel.claims.evaluation import Evaluation, NamedTensor
from verify.kernel.claims.expression import Apply, Element, Node, Sum, elements
from verify.kernel.data.registers import Word, join_octets, word
from verify.kernel.data.values import CODE, FIRST, Ids, Values
from verify.kernel.instructions.integers import extend_sign
from verify.kernel.interpretation import Interpretation
from verify.kernel.ptx.source import WIDTHS, Kernel
from verify.kernel.sizes.accesses import ALIGN, Accesses
from verify.kernel.sizes.forms import Content, NotLifted, Polynomial
from verify.kernel.sizes.lifted import LiftedMachine, go, start
from verify.kernel.sizes.region import SizeRegion
from verify.kernel.sizes.relative import relative
from verify.kernel.sizes.shadow import CTA, Shadow
from verify.kernel.sizes.statement import AllSizes

BUDGET = 300_000  # instructions of one run, as of a batch in `check`; simt_tn executes 39,130
COMPUTED = -1  # the coordinate of a byte that is no element's
_SUMMED = "sum so far"  # the tensor that stands for the sums which a fresh unknown replaces


@dataclass
class Snapshot:
    """The state at one head of the loop."""

    trips: int  # so far
    forms: dict[int, tuple[Content, int]]  # register -> its content, in so many bits
    words: list[Word | None]  # of all registers
    labels: Ids  # of shared memory
    plain: NDArray[np.uint8]  # and its plain bits
    copies: list[tuple[Any, ...]]  # on their way
    rest: dict[str, Any]  # `relative`
    unknown: frozenset[int]  # registers that only a part of the threads may have written
    read: set[int] = field(default_factory=set)  # registers that are read later, before they are overwritten
    sums: dict[int, NDArray[np.int64]] = field(default_factory=dict)  # register -> the elements whose sums it holds


class LiftedRun:
    """One run, and what it showed."""

    def __init__(self, statement: AllSizes, kernel: Kernel, region: SizeRegion, trips: int, seed: int) -> None:
        self.statement, self.region, self.trips = statement, region, trips
        numbers = statement.numbers(trips)
        claim = statement.launch(numbers)
        self.run = Interpretation(kernel, claim.launches[0], Values(seed), BUDGET, {}, LiftedMachine)
        launch = self.run.launch
        self.machine = start(self.run, statement.cta)
        for place, name in enumerate(statement.table["arrays"]):
            array = launch.arrays[place]
            region.sample[name] = ((place + 1) << 40) + array.offset * self.run.regions[place].size
            if region.sample[name] % ALIGN:
                raise NotLifted(0, f"{name} does not begin at a multiple of {ALIGN} bytes")
        sizes = {memory.array.name: memory.size for memory in self.run.regions}
        self.accesses = Accesses(sizes)
        given = statement.table.get("params", ())
        parameters = {}
        for name, variable in kernel.parameters.items():
            form = statement.parameter(given[variable.number]) if variable.number < len(given) else None
            if form is not None and form.symbolic:
                parameters[name] = form
        used = {axis.number for axis in statement.axes}
        ctas = {special: Polynomial.symbol(symbol) if place in used else Polynomial.number(0)
                for place, (special, symbol) in enumerate(CTA.items())}  # fmt: skip
        self.shadow = Shadow(self.machine, region, parameters, ctas, self.accesses.follow)
        self.fresh: NDArray[np.uint32] | None = None  # the unknown for each element of the tile's sums
        self.ended = False
        self.modular: set[tuple[str, str]] = set()  # arrays and indices that are read modulo their size

    # ---- running

    def to_the_end(self, loop: int, head: Callable[[int], None] = lambda trips: None) -> None:
        """Run to the end."""
        self.ended = go(self.machine, self.shadow, loop, head)

    def snapshot(self, trips: int) -> Snapshot:
        """Return the state at this head, and note from now on which registers are read."""
        machine, shared = self.machine, self.machine.shared
        machine.values.flush()
        copies = [_copy(copy, machine) for copy in shared.copies if copy.open.any()]
        made = Snapshot(
            trips, dict(self.shadow.registers), list(machine.registers), shared.labels.copy(), shared.plain.copy(),
            copies, relative(machine), frozenset(self.shadow.unknown),
        )  # fmt: skip
        self.shadow.read_after[trips] = (made.read, set())
        if self.shadow.paths:
            raise NotLifted(machine.findings.line, "not all threads come to the loop's head")
        return made

    def grow(self, growths: Mapping[int, Polynomial], symbol: str) -> None:
        """Add growth * symbol to the forms of registers: the state after that many more rounds."""
        for index, growth in growths.items():
            if growth.symbols - self.region.sample.keys():
                raise NotLifted(
                    0, f"{self.machine.kernel.names[index]} grows by what another region knows", str(growth)
                )
            width = WIDTHS[self.machine.kernel.registers[index]]
            held = self.content(self.shadow.registers, self.machine.registers, index)
            if held is None:
                raise NotLifted(0, f"{self.machine.kernel.names[index]} grows, and holds data at the loop's head")
            self.shadow.registers[index] = (held + growth * Polynomial.symbol(symbol)).modulo(width), width
        self.accesses.moved = True
        self.shadow.pass_head()

    def content(
        self, forms: Mapping[int, tuple[Content, int]], words: list[Word | None], index: int
    ) -> Polynomial | None:
        """Return the form of a register, of a plain one its numbers; None for all else."""
        if index in forms:
            form = forms[index][0]
            return form if isinstance(form, Polynomial) else None
        held, width = words[index], WIDTHS[self.machine.kernel.registers[index]]
        if held is None or not held.plain or width == 1:
            return None
        return Polynomial.number(extend_sign(held.bits.astype(np.uint64), width))

    # ---- sums

    def tile(self) -> tuple[slice, slice]:
        """Return the rows and columns of the output that the CTA has."""
        first, second = self.statement.axes
        return slice(first.tile, 2 * first.tile), slice(second.tile, 2 * second.tile)

    def evaluate_claim(self, node: Node, low: int, high: int) -> NamedTensor:
        """Return the value of a tree on the tile, its sum over the summed index from `low` to `high` alone.

        Where the sums were replaced by unknowns these are added to the sum.
        """
        statement, values = self.statement, self.machine.values
        cuts = dict(zip((axis.index for axis in statement.axes), self.tile(), strict=True))
        cuts[statement.summed[0]] = slice(low, high)
        arrays = {}
        for element in elements(node):
            if element.name == _SUMMED:
                continue
            region = next(region for region in self.run.regions if region.array.name == element.name)
            shape, span = region.array.shape, slice(region.first, region.first + len(region.places))
            part = tuple(cuts[index] for index in element.indices)
            residues = values.residues[:, span].astype(np.uint64).reshape(len(values.primes), *shape)[:, *part]
            arrays[element.name] = NamedTensor(element.indices, residues, values.sample[span].reshape(shape)[part])
        if self.fresh is not None:
            ids = self.fresh
            arrays[_SUMMED] = NamedTensor(
                statement.target.indices, values.residues[:, ids].astype(np.uint64), values.sample[ids]
            )
            node = _with_fresh(node, statement.target.indices)
        launch, target = self.run.launch, statement.target.indices
        extents = {axis.index: axis.tile for axis in statement.axes} | {statement.summed[0]: high - low}
        tensor = Evaluation(values.primes, arrays, launch.scalars, values.choices, extents, launch.sizes)(node)
        residues, sample, _ = tensor.align(target)
        return NamedTensor(target, residues, sample)

    def sum_node(self) -> Sum:
        """Return the sum of the claim."""
        rest: list[Node] = [self.statement.value]
        while rest:
            node = rest.pop()
            if isinstance(node, Sum):
                return node
            rest += node.parts if isinstance(node, Apply) else ()
        raise AssertionError

    def find_sums(self, high: int) -> dict[tuple[int, ...], tuple[int, int]]:
        """Return by residues the element (row, column) of the tile whose sum over all below `high` they are."""
        return self._by_residues(self.evaluate_claim(self.sum_node(), 0, high).residues)

    def find_sums_of_round(self, low: int, high: int) -> dict[tuple[int, ...], tuple[int, int]]:
        """Return by residues the element whose unknown, and the sum from `low` to `high`, they are together."""
        table = self.evaluate_claim(self.sum_node(), low, high).residues
        return self._by_residues(table)

    def find_fresh(self) -> dict[tuple[int, ...], tuple[int, int]]:
        """Return by residues the element whose unknown they are."""
        assert self.fresh is not None
        return self._by_residues(self.machine.values.residues[:, self.fresh].astype(np.uint64))

    def coordinates(self, labels: Ids, more: int = 0) -> NDArray[np.int64]:
        """Return a number for each labelled byte: array, indices and byte, the summed index larger by `more`.

        It is the same in runs of different sizes; COMPUTED for a byte of a value that was computed.
        """
        ids = (labels >> np.uint32(3)).astype(np.int64)
        codes = np.where(ids < FIRST, labels.astype(np.int64), COMPUTED)
        for number, region in enumerate(self.run.regions):
            inside = (ids >= region.first) & (ids < region.first + len(region.places))
            if not inside.any():
                continue
            shape, dims = region.array.shape, self.indices_of(region.array.name)
            place = np.unravel_index(ids[inside] - region.first, shape)
            code = np.full(int(inside.sum()), number + 1, np.int64)
            for at, index in zip(place, dims, strict=True):
                code = (code << 24) + at + (more if index == self.statement.summed[0] else 0)
            codes[inside] = (code << 3) + (labels[inside] & np.uint32(7))
        return codes

    def indices_of(self, array: str) -> tuple[str, ...]:
        """Return the claim's names of the indices of an array."""
        indices = {element.indices for element in elements(self.statement.value) if element.name == array}
        if len(indices) != 1:
            raise NotLifted(0, f"{array} is not in the claim, or with several lists of indices")
        return indices.pop()

    @staticmethod
    def _by_residues(table: NDArray[np.uint64]) -> dict[tuple[int, ...], tuple[int, int]]:
        keys, columns = table.reshape(len(table), -1).T.tolist(), table.shape[2]
        return {tuple(key): divmod(place, columns) for place, key in enumerate(keys)}

    def sums_of(self, held: Word | None, table: Mapping[tuple[int, ...], tuple[int, int]]) -> NDArray[np.int64] | None:
        """Return the elements (threads, values, 2) whose sums a register holds; None if it holds anything else."""
        ids = self._computed_ids(held)
        if ids is None:
            return None
        values = self.machine.values
        different, place = np.unique(ids, return_inverse=True)
        keys = [table.get(tuple(key)) for key in values.residues[:, different].T.tolist()]
        if None in keys:
            return None
        return np.array(keys, np.int64)[place.reshape(ids.shape)]

    def _computed_ids(self, held: Word | None) -> Ids | None:
        """Return the ids of whole values that were computed; None for inputs, bytes and plain numbers."""
        values = self.machine.values
        if held is None or held.plain or not held.kind or held.ids is None:
            return None
        return held.ids if bool((held.ids >= values.inputs).all()) else None

    def replace_sums(self, high: int) -> dict[int, NDArray[np.int64]]:
        """Put an unknown in place of each sum over all below `high` that a register holds; return which it held."""
        held_before: dict[int, NDArray[np.int64]] = {}
        values, machine = self.machine.values, self.machine
        values.flush()
        table = self.find_sums(high)
        rows, columns = (axis.tile for axis in self.statement.axes)
        fresh = np.zeros((rows, columns), np.uint32)
        for index, held in enumerate(machine.registers):
            places = self.sums_of(held, table)
            if places is None or held is None or held.ids is None:
                continue
            held_before[index] = places
            row, column = places[..., 0], places[..., 1]
            new = fresh[row, column] == 0
            missing, first = np.unique((row * columns + column)[new], return_index=True)
            if missing.size:
                fresh.reshape(-1)[missing] = self._unknowns(held.ids[new][first], held.kind)
            machine.registers[index] = Word.of(fresh[row, column], held.kind)
        if not fresh.all():
            raise NotLifted(0, f"{int((fresh == 0).sum())} of {fresh.size} sums are in no register at the loop's head")
        self.fresh = fresh
        return held_before

    def _unknowns(self, old: Ids, kind: str) -> Ids:
        """Return unknowns that have the history of values, and their numbers on the sample.

        Their bounds are those of the sample's sums, and there may be any number of terms: an unknown has none.
        """
        values = self.machine.values
        first = values.new(len(old), CODE[kind])
        made = slice(first, first + len(old))
        for row, prime in zip(values.residues, values.primes, strict=True):
            row[made] = values.points.draw(int(prime), len(old))
        values.history[made] = values.histories.combine(
            [values.history[old]], lambda parts: parts[0]._replace(low=-inf, high=inf)
        )
        values.sample[made] = values.sample[old]
        return np.arange(first, first + len(old), dtype=np.uint32)

    # ---- the output

    def stored_ids(self) -> Ids:
        """Return the ids of the tile's elements after the run."""
        region = next(region for region in self.run.regions if region.array.name == self.statement.target.name)
        stored, size = region.stored, region.size
        assert stored is not None
        places = region.places.reshape(region.array.shape)[self.tile()].ravel()[:, None] * size + np.arange(size)
        held = word(join_octets(stored.plain[places].astype(np.uint64)), stored.labels[places])
        ids = held.elements(self.machine.values, region.array.kind, size).reshape(-1)
        self.machine.values.flush()
        return np.broadcast_to(ids, (len(places),))


def _with_fresh(node: Node, indices: tuple[str, ...]) -> Node:
    """Return a tree in which the unknowns are added to its sum."""
    if isinstance(node, Sum):
        return Apply("+", (Element(_SUMMED, indices), node))
    if isinstance(node, Apply):
        return Apply(node.name, tuple(_with_fresh(part, indices) for part in node.parts))
    return node


def _copy(copy: Any, machine: LiftedMachine) -> tuple[Any, ...]:
    group = copy.group - machine.group[copy.threads]
    held = (copy.threads, copy.cells, copy.places, group, copy.open, copy.labels, copy.plain)
    return tuple(each.copy() for each in held)  # of this head, whatever the run does with its own
