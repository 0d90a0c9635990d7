# SPDX-License-Identifier: Apache-2.0
"""An instruction with the maps of its elements: which (row, col) of the tile lane l holds as value i.

Main declarations: `instruction(mnemonic)` looks one up and returns an `Instruction`, whose `operands` are `Operand`s
with `locate` (registers), `place` (Tensor Memory) and `address` (shared memory).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from isa_tables import tables
from isa_tables.entries import OperandEntry, entries
from isa_tables.errors import IsaError, TableError
from isa_tables.formula import Formula, evaluate
from isa_tables.formula_parser import parse_in
from isa_tables.signature import NOTHING, Fragment, Signature, find, signature_of

_VALUE = "i"
_COPY = "copy"
_WARP = 32  # lanes: WARP_SZ of the PTX ISA


@dataclass(frozen=True, kw_only=True)  # without slots, so that what follows from the fields is kept
class Operand(Fragment):
    """One operand: a fragment with its map, locate(lane, i) = (row, col), and the ISA's own formula behind it.

    In registers, lane and value name an element of the tile; `holds(lane)` says whether the instruction reads or
    writes it there. In memory every lane sees the whole tile: `place` (Tensor Memory) and `layouts` (shared
    memory) give the address of an element instead.

    A family's formulas are read with its parameters as constants. `uses` names those that the map depends on:
    where it is empty, the map is one function for the whole family, and its members differ only in `counts`
    (values, rows, cols, ...): `d.count("values", N=n)`, for an int or a term n.

        >>> d = instruction("wgmma.mma_async.sync.aligned.m64n24k16.f32.f16.f16").operands["D"]
        >>> sorted(d.uses), d.counts["values"], d.count("values", N=256), d.values
        ([], 'N // 2', 128, 12)
    """

    name: str  # D, A, B, C, E, SFA, ...
    lanes: int  # threads that share the instruction
    let: Mapping[str, Formula]  # named parts of the formulas, in order
    maps: Mapping[str, Formula]  # formulas by key: row, col and holds, or the coordinates of `place`
    placed: bool  # whether the maps go from the tile to the space, not from lane and value to the tile
    layouts: str | None  # the file of address maps of an operand in shared memory
    majors: tuple[str, ...]  # and the majors that it may have there
    unspecified: bool  # the ISA leaves the map open
    unmapped: str  # why the table has no map; empty where it has one
    provenance: str  # "ISA text", "corrected", "derived: from what" or "observed: what showed it"
    printed: Mapping[str, str]  # of a corrected formula: what the ISA prints
    erratum: str | None  # of a corrected formula: what is wrong in the ISA
    file: str  # the table that it was read from
    param: Mapping[str, int]  # the instruction's parameters and selections that formulas may use
    counts: Mapping[str, int | str]  # the numbers of the fragment as the table has them, formulas of the parameters

    @property
    def row(self) -> Formula:
        """The formula of the first coordinate. Raises IsaError where (lane, i) has no map."""
        return self._formula_of("row")

    @property
    def col(self) -> Formula:
        """The formula of the second coordinate. Raises IsaError where (lane, i) has no map."""
        return self._formula_of("col")

    @cached_property
    def uses(self) -> frozenset[str]:
        """The parameters and selections that the map depends on; those of `holds` are not counted."""
        names = frozenset().union(*(formula.names for key, formula in self.maps.items() if key != "holds"))
        for name, formula in reversed(list(self.let.items())):
            names |= formula.names if name in names else frozenset()
        return names & self.param.keys()

    @cached_property
    def formulas(self) -> str:
        """The formulas of (lane, i) in one line, as the table writes them. Raises IsaError as `row` does."""
        named = [*self.let.items(), ("row", self.row), ("col", self.col)]
        return "; ".join(f"{name} = {formula.text}" for name, formula in named)

    def count(self, key: str, **param: Any) -> Any:
        """One of the `counts` for these values of the parameters; by default, this instruction's."""
        names = {**self.param, **param}
        text = str(self.counts[key])
        return evaluate(parse_in(self.file, f"{self.name}.{key}", text, dict.fromkeys(names, False), {}).tree, names)

    def _formula_of(self, key: str) -> Formula:
        if self.unspecified:
            raise IsaError(f"{self.name}: the ISA leaves unspecified which element a lane and value hold")
        if key not in self.maps:
            raise IsaError(f"{self.name} is in {self.space}, every lane sees all of it: use `place` or `address`")
        return self.maps[key]

    def locate(self, lane: Any, i: Any) -> tuple[Any, Any]:
        """(row, col) of the element that a lane has as value i: A (m, k), B (k, n), C and D (m, n), others as `axes`.

        Ints give ints; arrays of integers give int64 arrays of the broadcast shape; terms that overload
        Python's operators give terms. Raises IsaError for a lane or value that does not exist, and where the
        operand has no such map. The result has no meaning for a lane where `holds` is false.
        """
        row, col = self.row, self.col
        ends = {lane_name(self.lanes): (lane, self.lanes), _VALUE: (i, self.values)}
        values, shape = self._values(ends)
        return _shape_result(evaluate(row.tree, values), shape), _shape_result(evaluate(col.tree, values), shape)

    def holds(self, lane: Any) -> Any:
        """Whether a lane contributes: a bool, an array of bools, or a condition over terms."""
        if "holds" not in self.maps:
            return _shape_result(True, getattr(lane, "shape", None))
        values, shape = self._values({lane_name(self.lanes): (lane, self.lanes)})
        return _shape_result(evaluate(self.maps["holds"].tree, values), shape)

    def place(self, row: Any, col: Any, copy: Any = 0) -> dict[str, Any]:
        """Return the coordinates of an element in Tensor Memory by name; arrays and terms as in `locate`.

        An element may have several places: `copy` is the number of one of them, 0 to copies - 1.

            >>> scaled = instruction("tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale", SFA_ID=2)
            >>> scaled.operands["SFA"].place(40, 0, copy=3)
            {'cta': 0, 'lane': 104, 'column': 1, 'byte': 2}
        """
        if not self.placed:
            raise IsaError(f"{self.name} is in {self.space}, without formulas for the place of an element")
        ends = self._ends(row, col)
        values, shape = self._values({**ends, _COPY: (copy, self.copies)})
        return {key: _shape_result(evaluate(formula.tree, values), shape) for key, formula in self.maps.items()}

    def cta(self, row: Any, col: Any) -> Any:
        """Return the number of the CTA that has an element in its memory; arrays and terms as in `locate`.

        >>> b = instruction("tcgen05.mma.cta_group::2.kind::f16", M=256, N=64).operands["B"]
        >>> b.cta(0, 31), b.cta(0, 32)
        (0, 1)
        """
        ends = self._ends(row, col)
        values, shape = self._values({**ends, **({_COPY: (0, self.copies)} if self.placed else {})})
        return _shape_result(evaluate(self.maps["cta"].tree, values) if "cta" in self.maps else 0, shape)

    def address(self, row: Any, col: Any, swizzle: str, major: str, **strides: Any) -> Any:
        """Return the shared-memory address of an element, in bytes; see `smem.Layouts.address`.

        Raises IsaError for an operand that is not in shared memory, and for a swizzle or major it cannot have.
        """
        from isa_tables import smem

        if self.layouts is None or major not in self.majors:
            has = f"{self.space}, with major {' or '.join(self.majors)}" if self.majors else self.space
            raise IsaError(f"{self.name} is in {has}: no {major}-major address maps")
        ends = self._ends(row, col)
        values, shape = _prepare(ends)
        inner = next(axis for axis in ends if axis.startswith("k"))
        (outer,) = ends.keys() - {inner}
        where = smem.read_layouts(self.layouts).address(
            values[outer], values[inner], self.bits, swizzle, major, **strides
        )
        return _shape_result(where, shape)

    def _ends(self, row: Any, col: Any) -> dict[str, tuple[Any, int]]:
        """Return the coordinates of an element by their names, each with its extent."""
        return dict(zip(names_of(self.axes), zip((row, col), self.extent, strict=True), strict=True))

    def _values(self, ends: Mapping[str, tuple[Any, int]]) -> tuple[dict[str, Any], tuple[int, ...] | None]:
        values, shape = _prepare(ends)
        known = {*self.param, *values}
        for name, formula in self.let.items():
            if formula.names <= known:
                values[name] = evaluate(formula.tree, values)
                known.add(name)
        return values, shape

    def as_printed(self) -> Operand:
        """Return the operand with the ISA's printed formulas in place of the corrected ones.

        Raises TableError when the printed text isn't a formula.
        """
        names = {
            lane_name(self.lanes): False,
            _VALUE: False,
            **{name: formula.signed for name, formula in self.let.items()},
        }
        formulas = {
            key: parse_in(self.file, f"{self.name}.printed.{key}", text, names, self.param)
            for key, text in self.printed.items()
        }
        return replace(self, maps={**self.maps, **formulas})

    def text(self) -> str:
        """Return the formulas as the ISA prints them: one line per piece, its condition to the right.

        >>> print(instruction("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32").operands["A"].text())
        row = groupID       if i == 0
              groupID + 8   otherwise
        col = threadID_in_group
        i = 0..1, groupID = %laneid >> 2, threadID_in_group = %laneid % 4
        """
        if self.unspecified:
            return f"unspecified by the ISA\ni = 0..{self.values - 1}"
        if self.unmapped:
            return f"in {self.space}: {self.unmapped}"
        if self.layouts is not None:
            share = f", in CTA {self.maps['cta'].text}" if "cta" in self.maps else ""
            return f"in {self.space}, {'- or '.join(self.majors)}-major, by the address maps of {self.layouts}{share}"
        mentioned = frozenset().union(*(formula.names for formula in (*self.let.values(), *self.maps.values())))
        ranges = [f"{name} = {formula.text}" for name, formula in self.let.items() if name in mentioned]
        if not self.placed:
            ranges = [f"i = 0..{self.values - 1}", *ranges]
        lines = [line for key, formula in self.maps.items() for line in formula.lines(key)]
        return "\n".join([*lines, ", ".join(ranges)]).rstrip("\n")


class Instruction(NamedTuple):
    """One instruction of the tables, with the maps of its operands."""

    signature: Signature  # types, registers and targets
    operands: Mapping[str, Operand]  # in the order of the assembly text: D, A, B, C, E, ...
    section: str  # of the PTX ISA
    isa: str  # the PTX ISA version whose section numbers these are
    errata: tuple[str, ...]  # what the section prints wrongly or leaves out
    product_formula: Formula  # of a lane: the number of the matrix product that it works for

    def product(self, lane: Any) -> Any:
        """Return the number of the independent matrix product that a lane works for; 0 where there is one product.

        >>> volta = instruction("mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16")
        >>> [lane for lane in range(32) if volta.product(lane) == 1]
        [4, 5, 6, 7, 20, 21, 22, 23]
        """
        values, shape = _prepare({lane_name(self.signature.lanes): (lane, self.signature.lanes)})
        return _shape_result(evaluate(self.product_formula.tree, values), shape)


def instruction(mnemonic: str, folder: Path = tables.SHIPPED, **select: str | int) -> Instruction:
    """Return the instruction of a mnemonic, its qualifiers in any order that means the same.

    `select` chooses what the mnemonic leaves to the assembly text, such as `F=1` or `A_space="reg"`; by default
    it is the first that the table lists (`signature.select` has the lists, `signature.chosen` the choices).

    Raises UnknownInstruction, NotInIsa or TableError as `signature.signature` does, and TableError for a
    formula outside the language.

        >>> mma = instruction("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
        >>> mma.operands["A"].locate(5, 6)
        (9, 10)
        >>> sparse = "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
        >>> [lane for lane in range(8) if instruction(sparse, F=2).operands["E"].holds(lane)]
        [2, 6]
    """
    variant = find(mnemonic, folder, select or NOTHING)
    described = entries(variant)
    signature = signature_of(variant)
    table, numbers = variant.table, tuple(variant.numbers.items())
    operands = {name: _operand(name, entry, table.file, table.lanes, numbers) for name, entry in described.items()}
    product = parse_in(table.file, "product", table.product or "0", {lane_name(table.lanes): False}, {})
    return Instruction(signature, operands, table.section, table.isa, table.errata, product)


@lru_cache(maxsize=1 << 13)
def _operand(name: str, entry: OperandEntry, file: str, lanes: int, numbers: tuple[tuple[str, int], ...]) -> Operand:
    """Return an operand, made once for all instructions that share its entry and have the same numbers."""
    param = dict(numbers)
    coordinates = [lane_name(lanes), _VALUE]
    if entry.placed or entry.layouts:
        coordinates = [*names_of(entry.fragment.axes), *([_COPY] if entry.placed else [])]
    names = dict.fromkeys(coordinates, False)
    let: dict[str, Formula] = {}
    for key, text in entry.let.items() if entry.maps else ():
        if not key.isidentifier() or key in names or key in param:
            raise TableError(file, f"{entry.key}.let.{key}", "must be an identifier that is not a name already")
        let[key] = parse_in(file, f"{entry.key}.let.{key}", text, names, param)
        names[key] = let[key].signed
    constants = {"bits": entry.fragment.bits, **param}
    of_lane = {key: signed for key, signed in names.items() if key != _VALUE}  # `holds` is a condition of the lane
    maps = {
        key: parse_in(file, f"{entry.key}.{key}", text, of_lane if key == "holds" else names, constants)
        for key, text in entry.maps.items()
    }
    return Operand(
        name=name,
        **{field.name: getattr(entry.fragment, field.name) for field in fields(Fragment)},
        lanes=lanes,
        let=let,
        maps=maps,
        placed=entry.placed,
        layouts=entry.layouts,
        majors=entry.majors,
        unspecified=entry.unspecified,
        unmapped=entry.unmapped,
        provenance=entry.provenance,
        printed=entry.printed,
        erratum=entry.erratum,
        file=file,
        param=param,
        counts=entry.counts,
    )


def lane_name(lanes: int) -> str:
    """Return the name of the lane in formulas: %laneid of a warp, `thread` of a warpgroup."""
    return "%laneid" if lanes <= _WARP else "thread"


def names_of(axes: tuple[str, str]) -> tuple[str, str]:
    """Return the names of the coordinates in formulas: "k stored" is k_stored."""
    return axes[0].replace(" ", "_"), axes[1].replace(" ", "_")


def _prepare(names: Mapping[str, tuple[Any, int]]) -> tuple[dict[str, Any], tuple[int, ...] | None]:
    """Return the arguments and their common shape, if any: arrays as int64, each number checked to be in its range.

    An array keeps its own shape: what depends on the lane alone is computed once for each lane.
    """
    given, arrays = {}, False
    for name, (value, end) in names.items():
        if isinstance(value, int) and not 0 <= value < end:
            raise IsaError(f"{name} = {value} is outside 0..{end - 1}")
        given[name], arrays = value, arrays or hasattr(value, "dtype")
    if not arrays:
        return given, None
    import numpy

    for name, (value, end) in names.items():
        wide = numpy.asarray(value)
        if wide.dtype.kind not in "iu":
            raise IsaError(f"{name} must be integers, not {wide.dtype}")
        given[name] = wide = wide.astype(numpy.int64, copy=False)
        if wide.size and not (wide.min() >= 0 and wide.max() < end):
            raise IsaError(f"{name} = {wide.min()}..{wide.max()} is outside 0..{end - 1}")
    return given, numpy.broadcast_shapes(*(wide.shape for wide in given.values()))


def _shape_result(value: Any, shape: tuple[int, ...] | None) -> Any:
    """Return a result as a new array of its arguments' shape, int64 or bool; without a shape, as it is."""
    if shape is None:
        return value
    import numpy

    condition = numpy.asarray(value).dtype == bool
    return numpy.array(numpy.broadcast_to(value, shape), dtype=bool if condition else numpy.int64)
