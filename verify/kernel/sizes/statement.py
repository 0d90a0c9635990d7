# SPDX-License-Identifier: Apache-2.0
"""What is to be proved for all sizes: the claim with symbols for its sizes and strides, and its preconditions.

`state(table)` reads a claim's table. A size whose divisor is given, K % 16 == 0, is 16 times a symbol. A stride that is
a new name is a symbol of its own, at least as large as the row that it steps over; one that is an expression of sizes
is that expression. `Statement.region` has the facts of one class of trips, and `launch` the numbers of its sample.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import lcm
from typing import Any

from proofs.smt.inequalities import Inequalities
from verify.core.errors import SpecError
from verify.kernel.claims import expression
from verify.kernel.claims.claim import KernelClaim, claim_of
from verify.kernel.claims.every import GivenSizes, strides_of
from verify.kernel.claims.expression import Apply, ClaimNumber, Element, Node, Sum
from verify.kernel.sizes.forms import Linear, NotLifted, Polynomial
from verify.kernel.sizes.grid import OutputAxis, read_axes
from verify.kernel.sizes.region import SizeRegion, times, total, value

AXES = ("cx", "cy", "cz")
CHOICES = ("relu", "abs", "max", "min", "where")  # functions that a claim may apply to its sum
# The most CTAs of a grid (CUDA C++ Programming Guide, technical specifications): no launch has more, so a size that
# needs more is no counterexample.
MOST = (1 << 31) - 1  # in x; the largest s32 too
MOST_YZ = 65535  # in y and z, by the same table
AHEAD = 4  # trips by which a pipeline may compute addresses before it reads there
INNER = 1  # the CTA of the sample, in each direction of a grid of 3
OWN = (*AXES, "j", "J")  # symbols of every proof: CTAs and rounds. C[i,j] has a size J, which then has another symbol


@dataclass
class AllSizes:
    """A claim for all sizes."""

    table: Mapping[str, Any]  # of the claim, its sizes and strides still to be filled in
    target: Element  # of the claim: what it is about
    value: Node  # and what that should be
    axes: tuple[OutputAxis, ...]  # of the output's indices
    summed: tuple[str, str]  # the index that is summed, and its size
    divisors: Mapping[str, int]  # of sizes and strides
    strides: Mapping[str, tuple[str, ...]]  # array -> a name or expression for each index
    names: tuple[str, ...]  # of sizes
    extents: Mapping[str, tuple[str, ...]]  # array -> the sizes of its indices
    given: tuple[str, ...]  # as the claim has them
    step: int = 0  # elements of the summed index in one trip
    bounds: list[Linear] = field(default_factory=list)  # of `given`
    cta: tuple[int, int, int] = (0, 0, 0)  # of the sample: that of the second tile in each direction
    tiles: dict[str, Polynomial] = field(default_factory=dict)  # index -> the number of the CTA's tile

    @property
    def shares_axis(self) -> bool:
        """Whether one axis of the grid has the tiles of several indices."""
        return len({axis.number for axis in self.axes}) < len(self.axes)

    # ---- forms

    def size(self, name: str) -> Polynomial:
        """Return the form of a size, or of a stride with a name."""
        return Polynomial.symbol(self.symbol(name)) * Polynomial.number(self.divisors.get(name, 1))

    def symbol(self, name: str) -> str:
        """Return the symbol of a size or stride: its name, or with a divisor that of the quotient."""
        return f"{name}'" if self.divisors.get(name, 1) > 1 or name in OWN else name

    def symbols(self, numbers: Mapping[str, int]) -> dict[str, int]:
        """Return the values of the symbols, of numbers for the names; SpecError where a divisor does not divide."""
        values = {}
        for name, number in numbers.items():
            by = self.divisors.get(name, 1)
            if number % by:
                raise SpecError("given", f"{name} % {by} == 0 does not hold of {name} = {number}")
            values[self.symbol(name)] = number // by
        return values

    def form(self, text: object) -> Polynomial:
        """Return the form of an expression of sizes: sums, differences and products."""
        if isinstance(text, int):
            return Polynomial.number(text)
        return self._form(text if isinstance(text, ast.AST) else ast.parse(str(text), mode="eval").body)

    def _form(self, node: ast.AST) -> Polynomial:
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return Polynomial.number(node.value)
        if isinstance(node, ast.Name):
            if node.id not in (*self.names, *self.stride_names()):
                raise SpecError("given", f"no size is named {node.id!r}")
            return self.size(node.id)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub | ast.Mult):
            left, right = self._form(node.left), self._form(node.right)
            if isinstance(node.op, ast.Mult):
                return left * right
            return left + right if isinstance(node.op, ast.Add) else left - right
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and 0 <= getattr(node.right, "value", -1) < 63:
            power = node.right.value  # type: ignore[attr-defined]
            return Polynomial.number(1) if not power else self._form(node.left) * self._form(
                ast.BinOp(node.left, node.op, ast.Constant(power - 1)))  # fmt: skip
        raise SpecError("given", f"{ast.unparse(node)!r}: for all sizes only + - * ** of sizes and integers are read")

    def stride(self, array: str) -> tuple[Polynomial, ...]:
        """Return the strides of an array."""
        return tuple(self.form(stride) for stride in self.strides[array])

    def stride_names(self) -> tuple[str, ...]:
        """Return the names of strides that are symbols."""
        every = dict.fromkeys(stride for strides in self.strides.values() for stride in strides)
        return tuple(name for name in every if name.isidentifier() and name not in self.names)

    # ---- numbers

    def numbers(self, trips: int) -> dict[str, int]:
        """Return the sizes and strides of the sample that has so many trips of whole tiles."""
        numbers = {axis.size: 3 * lcm(axis.tile, self.divisors.get(axis.size, 1)) for axis in self.axes}
        numbers[self.summed[1]] = self.step * trips
        rows = self.rows_of_strides()
        for place, name in enumerate(self.stride_names()):
            by = lcm(self.divisors.get(name, 1), 1)
            least = max(numbers[rows[name]], 16)
            numbers[name] = -(-least // by) * by + by * (2 * place + 3)
        return numbers

    def rows_of_strides(self) -> dict[str, str]:
        """Return by the name of a stride the size of the index whose stride is 1 beside it."""
        rows = {}
        for array, strides in self.strides.items():
            unit = [size for size, stride in zip(self.extents[array], strides, strict=True) if stride == "1"]
            for stride in strides:
                if stride in self.stride_names():
                    if len(unit) != 1 or len(strides) != 2:
                        raise SpecError(f"arrays.{array}.strides", "for all sizes, one stride is 1 and one is a name")
                    rows[stride] = unit[0]
        return rows

    def launch(self, numbers: Mapping[str, int]) -> KernelClaim:
        """Return the claim at given sizes and strides."""
        return claim_of(self.fill_in(numbers))

    def fill_in(self, numbers: Mapping[str, int]) -> dict[str, Any]:
        """Return the claim's table at given sizes and strides."""
        table: dict[str, Any] = {key: held for key, held in self.table.items() if key not in ("given", "tiles")}
        strides = {
            name: [int(stride) if stride.isdigit() else stride for stride in each]
            for name, each in self.strides.items()
        }
        table["arrays"] = {name: {**array, "strides": strides[name]} for name, array in self.table["arrays"].items()}
        table["sizes"] = {name: numbers[name] for name in (*self.names, *self.stride_names())}
        return table

    def parameter(self, given: Any) -> Polynomial | None:
        """Return the form of a parameter; None for one that no size changes."""
        if isinstance(given, Mapping):
            self._check_table(given)
        if not isinstance(given, str):
            return None
        if given in self.table["arrays"]:
            return Polynomial.symbol(given)
        for name in self.table["arrays"]:
            if given.lower() == f"ld{name}".lower() and given not in (*self.names, *self.stride_names()):
                leading = [stride for stride in self.stride(name) if stride.symbolic or int(stride.constant[0]) != 1]
                return leading[0] if leading else None
        if given in self.table.get("scalars", {}):
            return None
        return self.form(given)

    def _check_table(self, given: Mapping[str, Any]) -> None:
        """Accept a parameter that no size changes; NotLifted for a struct or a tensor map."""
        held = given.get("value")
        fixed = "value" in given and (not isinstance(held, str) or held in self.table.get("scalars", {}))
        if not given.get("unused") and not fixed:
            what = "a tensor map (TMA)" if "map" in given else "a struct" if "struct" in given else "this"
            raise NotLifted(0, f"{what} has no meaning for all sizes yet, as a parameter: {dict(given)!r:.60}")

    # ---- facts

    def slack(self) -> dict[str, int]:
        """Return by size how far beyond it an address may be computed, where nothing is read: two tiles, four trips."""
        return {**{axis.size: 2 * axis.tile for axis in self.axes}, self.summed[1]: AHEAD * self.step}

    def preconditions(self) -> list[tuple[str, Linear]]:
        """Return the facts that no address of 32 bits wraps, in words too: (rows + two tiles) * stride + row < 2^31."""
        facts = []
        tiles = self.slack()
        for array, strides in self.strides.items():
            if len(strides) != 2:
                continue
            for place, stride in enumerate(self.stride(array)):
                if not stride.symbolic:
                    continue
                rows, row = self.extents[array][place], self.extents[array][1 - place]
                form = (
                    (self.size(rows) + Polynomial.number(tiles[rows])) * stride
                    + self.size(row)
                    + Polynomial.number(tiles[row])
                )
                text = f"({rows} + {tiles[rows]})*{self.strides[array][place]} + {row} + {tiles[row]} < 2**31"
                facts.append((text, total({(): MOST}, times(form.thread(0), -1))))
        return facts

    def implied_facts(self, empty: bool = False) -> list[Linear]:
        """Return what the preconditions imply of a stride with a name, which is at least 1: rows and row are small.

        A stride that is at least a row without elements may be 0.
        """
        tiles = self.slack()
        facts = []
        for array, strides in self.strides.items():
            for place, stride in enumerate(strides):
                if stride in self.stride_names():
                    rows, row = self.extents[array][place], self.extents[array][1 - place]
                    if empty and row == self.summed[1]:
                        continue
                    form = self.size(rows) + self.size(row) + Polynomial.number(tiles[rows] + tiles[row])
                    facts.append(total({(): MOST}, times(form.thread(0), -1)))
        return facts

    def facts(self, empty: bool = False) -> list[Linear]:
        """Return what is true of every size and CTA of a launch: extents, strides, and the grid.

        Each size is at least 1; if the sum is `empty` the summed one may be 0.
        """
        facts: list[Linear] = [
            total(self.size(name).thread(0), {(): 0 if empty and name == self.summed[1] else -1}) for name in self.names
        ]
        for name, row in self.rows_of_strides().items():
            facts.append(total(self.size(name).thread(0), times(self.size(row).thread(0), -1)))
        for axis in self.axes:
            cta, size = (AXES[axis.number],), self.size(axis.size).thread(0)
            facts.append({cta: 1})
            if not self.shares_axis:
                facts.append(total(size, {cta: -axis.tile, (): -1 if axis.rounds_up else -axis.tile}))
            if axis.number:
                facts.append({cta: -1, (): MOST_YZ - 1})
        return facts + self.bounds

    def add_grid(self, region: SizeRegion) -> None:
        """Add that a CTA's number is below the product of the numbers of tiles, where one axis has those of several."""
        product = Polynomial.number(1)
        for axis in self.axes if self.shares_axis else ():
            more = Polynomial.number(axis.tile - 1 if axis.rounds_up else 0)
            region.extents[axis.index] = region.floor(self.size(axis.size) + more, axis.tile)
            product *= region.extents[axis.index]
            if not region.is_positive(region.extents[axis.index]):
                raise NotLifted(0, f"the grid may have no tile in {axis.index}")
            region.add(total(region.extents[axis.index].thread(0), {(): -1}))
        if self.shares_axis:
            cta, most = (AXES[self.axes[0].number],), MOST_YZ if self.axes[0].number else MOST
            region.add(total(product.thread(0), {cta: -1, (): -1}))
            region.add(total({(): most}, times(product.thread(0), -1)))

    def region(self, trips: int, numbers: Mapping[str, int], period: int = 0, rounds: str = "") -> SizeRegion:
        """Return the region of exactly so many trips, of none for an empty sum; with a period, of trips + period*J.

        `rounds` is "tail" for that, and "step" for a round j < J of the induction: with the lower bound on the summed
        size alone, for all rounds but the last see more trips.
        """
        size = self.size(self.summed[1]).thread(0)
        growth: Linear = {("J",): self.step * period} if rounds else {}
        region = self.whole_region(numbers, empty=not trips)
        if rounds:
            region.sample["J"] = 1 if rounds == "step" else 0
            region.add({("J",): 1})
            region.growths = [Polynomial.symbol("J") * Polynomial.number(period)]
        if rounds == "step":
            region.sample["j"] = 0
            region.add({("j",): 1})
            region.add({("J",): 1, ("j",): -1, (): -1})
        region.add(total(size, times(growth, -1), {(): -self.step * (trips - 1) - 1}))
        if rounds != "step":
            region.add(total({(): self.step * trips}, growth, times(size, -1)))
        return region

    def whole_region(self, numbers: Mapping[str, int], empty: bool = False) -> SizeRegion:
        """Return the region of every number of trips, or of an `empty` sum."""
        sample = {**self.symbols(numbers), **dict(zip(AXES, self.cta, strict=True))}
        factors = sorted({name for array in self.strides for each in self.stride(array) for key in each.terms
                          for name in key})  # fmt: skip
        for text, fact in zip(
            (condition for condition in self.given if "%" not in condition), self.bounds, strict=True
        ):
            if value(fact, sample) < 0:
                raise SpecError("given", f"{text} is false at the sample, {numbers}")
        region = SizeRegion([], factors, sample)
        for _, fact in self.preconditions():
            region.add(fact, multiplied=False)
        for fact in self.implied_facts(empty):
            region.add(fact, multiplied=False)
        for fact in self.facts(empty):
            region.add(fact)
        self._check(region)
        self.add_grid(region)
        return region

    def _check(self, region: SizeRegion) -> None:
        """Raise NotLifted unless the grid has every tile, each factor is at least 0, and no stride is below its row."""
        for axis in self.axes:
            if not axis.rounds_up and self.divisors.get(axis.size, 1) % axis.tile:
                text = f"{axis.size} // {axis.tile} CTAs leave the rest of {axis.size} out"
                raise NotLifted(0, f"{text}: cdiv, or {axis.size} % {axis.tile} == 0 given")
        plain = Inequalities(region.facts)
        for factor in region.factors:
            if plain.derive({(factor,): 1}) is None:
                raise NotLifted(0, f"{factor} is not shown to be at least 0")
        for array, strides in self.strides.items():
            for place, stride in enumerate(self.stride(array)):
                if strides[place] == "1" or len(strides) == 1:
                    continue
                row = self.size(self.extents[array][1 - place])
                if not region.holds((stride - row).thread(0)):
                    raise NotLifted(0, f"the stride {strides[place]} of {array} may be smaller than a row")


def state(table: Mapping[str, Any]) -> AllSizes:
    """Return the statement of a claim's table; NotLifted for a claim that has no proof for all sizes yet."""
    target, claimed = expression.read_claim(table["claim"])
    arrays = table["arrays"]
    dims = {name: tuple(array["dims"]) for name, array in arrays.items()}
    order = [*dims.get(target.name, ()), *(dim for each in dims.values() for dim in each)]
    names = tuple(dict.fromkeys(dim.upper() for dim in order))
    _refuse_unproved(table, target, claimed, dims, names)
    given = GivenSizes(table.get("given", ()))
    strides = {name: strides_of(name, array) for name, array in arrays.items()}
    _check_nodes(claimed, table.get("scalars", {}))
    summed = _summed_index(claimed, target)
    axes = read_axes(table["grid"], target, names)
    extents = {name: tuple(dim.upper() for dim in each) for name, each in dims.items()}
    made = AllSizes(
        table, target, claimed, axes, (summed, summed.upper()), given.divisors, strides, names, extents, given.texts
    )
    for name in given.divisors.keys() - {*names, *made.stride_names()}:
        raise SpecError("given", f"no size is named {name!r}")
    for name in arrays.keys() & {*names, *made.stride_names(), *OWN}:
        raise NotLifted(0, f"{name} is an array and a size or stride: give the array another name")
    if not made.shares_axis:
        made.cta = tuple(INNER if number in {axis.number for axis in axes} else 0 for number in range(3))  # type: ignore[assignment]
        made.tiles = {axis.index: Polynomial.symbol(AXES[axis.number]) for axis in axes}
    made.bounds = [
        total((made.form(high) - made.form(low)).thread(0), {(): -strict}) for low, high, strict in given.bounds
    ]
    return made


def _refuse_unproved(
    table: Mapping[str, Any], target: Element, claimed: Node, dims: Mapping[str, tuple[str, ...]], names: Sequence[str]
) -> None:
    """Raise NotLifted for what a claim may say at given sizes, and no proof for all sizes covers yet."""
    for element in (target, *expression.elements(claimed)):
        if element.name not in dims or element.indices != dims[element.name]:
            raise NotLifted(0, f"{element.name} has other indices in the claim than its dims: no proof yet")
    if any(not name.isidentifier() for name in names):
        raise NotLifted(0, "an index with a fixed extent has no meaning for all sizes yet")
    for name, array in table["arrays"].items():
        used = [key for key in ("sparse", "metadata", "scratch", "zero", "range") if array.get(key)]
        if used:
            raise NotLifted(0, f"{name}: {used[0]} has no meaning for all sizes yet")
    if not isinstance(table.get("smem", 0), int):
        raise NotLifted(0, "shared memory whose size depends on sizes has no meaning yet")
    block = table["block"] if isinstance(table["block"], list) else [table["block"]]
    if not all(isinstance(extent, int) for extent in block):
        raise NotLifted(0, "a block that depends on sizes has no meaning yet")
    if any(len(each) > 2 for each in dims.values()):
        raise NotLifted(0, "an array with more than two indices, as batches have, has no meaning for all sizes yet")
    if len(target.indices) != 2:
        many = f"{target.name} has {len(target.indices)}"
        raise NotLifted(0, f"only an output with two indices, as C[m,n], has a proof for all sizes yet; {many}")


def _summed_index(value: Node, target: Element) -> str:
    """Return the one index that is summed, of a product with an element that has it."""
    sums = [node for node in _nodes(value) if isinstance(node, Sum)]
    if len(sums) != 1 or any(isinstance(node, Sum) for node in _nodes(sums[0].body)):
        raise NotLifted(0, "the claim has no sum, or several: no proof for all sizes yet")
    factors, index = expression.list_factors(sums[0].body), sums[0].index
    if not any(isinstance(factor, Element) and index in factor.indices for factor in factors):
        raise NotLifted(0, f"sum_{index} has no factor that is an element with the index {index}")
    for node in _nodes(value):
        if isinstance(node, Element) and not set(node.indices) <= {*target.indices, index}:
            raise NotLifted(0, f"{node.name} has an index that is neither the output's nor summed")
    return index


def _check_nodes(value: Node, scalars: Mapping[str, Any]) -> None:
    """Raise NotLifted for a claim that is more than sums and products, and choices of what was summed.

    Where a mask is false an element is 0, so its product is; what is done with a sum is done where it is stored alone.
    """
    summed = {id(inner) for each in _nodes(value) if isinstance(each, Sum) for inner in _nodes(each.body)}
    for node in _nodes(value):
        allowed = ("+", "-", "*") if id(node) in summed else ("+", "-", "*", *CHOICES)
        if isinstance(node, Apply) and node.name not in allowed:
            raise NotLifted(0, f"{node.name} in a claim has no meaning for all sizes yet")
        if not isinstance(node, Apply | Sum | Element | ClaimNumber) and getattr(node, "name", None) not in scalars:
            raise NotLifted(0, f"{getattr(node, 'name', '-inf')} in a claim has no meaning for all sizes yet")


def _nodes(node: Node) -> list[Node]:
    parts = [node.body] if isinstance(node, Sum) else node.parts if isinstance(node, Apply) else ()
    return [node, *(inner for part in parts for inner in _nodes(part))]
