# SPDX-License-Identifier: Apache-2.0
"""Index arithmetic bound to the ISA tables: each operand's map, evaluated, beside the operand's own."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import isa_tables
from isa_tables.tables import SHIPPED
from layouts.pasted import from_object
from layouts.toml.entry import Entry
from verify.binding.coordinates import codomain
from verify.binding.relabelling import order
from verify.core.errors import SpecError
from verify.core.files import as_keys, open_document
from verify.index import memory
from verify.index.spec import IndexSpec, OperandSpec, of_entry, options
from verify.maps import bases, called, short_names, table
from verify.maps.expression import IndexFunction
from verify.maps.fragment_map import FragmentMap
from verify.maps.map import Axis, MapError, MapOrigin
from verify.maps.operand import COLUMNS, ROWS, coordinates, elements, word
from verify.maps.strided import of_layout
from verify.maps.tree import ExpressionError

if TYPE_CHECKING:
    from layouts.toml.tables import ReadTables

HOLDERS = {"m": ("A", "C"), "n": ("B", "C"), "k": ("A", "B")}


@dataclass(frozen=True)
class IndexOperand:
    """One operand: the map that its user gives, and that of the ISA tables."""

    name: str  # A, B, C, ...
    spec: OperandSpec  # as its user gives it
    operand: isa_tables.Operand  # of the ISA tables
    section: str  # of the PTX ISA
    given: FragmentMap  # the user's, from (lane, value) or (row, column): of memory from (row, column) or a place
    wanted: FragmentMap | None  # the ISA's; None where `no_formula` says why there is none
    no_formula: str = ""  # why the ISA tables have no map for it
    relabelled: str = ""  # by which declared permutations `wanted` differs from the ISA's
    function: IndexFunction | None = None  # the expressions, where it is given by some

    @property
    def inverse(self) -> bool:
        """Whether the map is given from elements to lanes and values; of memory, from places to elements."""
        if self.in_memory and self.wanted is not None:
            return self.given.inputs != self.wanted.inputs
        return self.given.inputs[0].name != "lane"

    @property
    def in_memory(self) -> bool:
        """Whether the operand is in tensor memory or shared memory."""
        return memory.holds(self.operand)

    @property
    def text(self) -> str:
        """The map in a line: its expressions, its bases, or its file."""
        return str(self.given.origin)


@dataclass(frozen=True)
class BoundIndex:
    """An instruction with the maps of some of its operands."""

    spec: IndexSpec
    instruction: isa_tables.Instruction
    made: tuple[IndexOperand, ...] = ()  # the operands with their maps; empty for those that functions give

    @cached_property
    def parts(self) -> tuple[IndexOperand, ...]:
        """The operands with their maps; functions are called when this is read first, and may raise SpecError."""
        return self.made or _parts(self.spec, self.instruction)

    @property
    def name(self) -> str:
        """The entry's name."""
        return self.spec.name


def read_indices(path: Path) -> ReadTables[BoundIndex]:
    """Return the entries of a file that can be read, and all errors of the others."""
    from layouts.toml.tables import tables

    def bind_entry(entry: Entry) -> list[BoundIndex]:
        with as_keys(entry):
            return [bind(of_entry(entry))]

    return tables(open_document(path, "index"), "index arithmetic", options(), bind_entry)


def bind(spec: IndexSpec) -> BoundIndex:
    """Return the maps of a spec; raises SpecError for what the ISA tables lack and for a map that cannot be evaluated.

    No function is called.
    """
    instruction = _instruction(spec.ptx, spec.select, [*spec.operands])
    for name in spec.operands:
        _with_map(spec.ptx, name, instruction, name if len(spec.operands) > 1 else "operand")
    return BoundIndex(spec, instruction, () if spec.runs_code else _parts(spec, instruction))


def _parts(spec: IndexSpec, instruction: isa_tables.Instruction) -> tuple[IndexOperand, ...]:
    several = len(spec.operands) > 1
    parts = [_operand(spec, name, given, instruction, several) for name, given in spec.operands.items()]
    return _relabel_operands(spec, parts) if spec.relabel else tuple(parts)


def _relabel_operands(spec: IndexSpec, parts: Sequence[IndexOperand]) -> tuple[IndexOperand, ...]:
    """Return the operands beside the ISA's maps, numbered as declared.

    Raises SpecError unless A, B and C have each axis.
    """
    given = {part.name: part for part in parts}
    whole = {"A": given.get("A"), "B": given.get("B"), "C": given.get("C", given.get("D"))}
    extents: dict[str, dict[str, int]] = {}
    for name, part in whole.items():
        if part is None or part.inverse:
            raise SpecError("relabel", f"is checked across A, B and C: give {name} too, from lane and value")
        extents[name] = {axis.name: axis.extent for axis in part.given.outputs}
    for axis, text in spec.relabel.items():
        for name in HOLDERS[axis]:
            if not order(text, extents[name].get(axis, 0)):
                has = (
                    f"0..{extents[name][axis] - 1}, its {axis}" if axis in extents[name] else f"its {axis}: it has none"
                )
                raise SpecError(f"relabel.{axis}", f"{text} isn't a permutation, for {name}, of {has}")
    return tuple(_number_operand(part, spec.relabel) for part in parts)


def _number_operand(part: IndexOperand, relabel: Mapping[str, str]) -> IndexOperand:
    """Return an operand beside the ISA's map with its coordinates numbered by layouts."""
    wanted = part.wanted
    if wanted is None:
        return part
    numbers = [order(relabel[axis.name], axis.extent) if axis.name in relabel else () for axis in wanted.outputs]
    images = {
        point: tuple(
            tuple(order_of[c] if order_of else c for order_of, c in zip(numbers, image, strict=True))
            for image in several
        )
        for point, several in wanted.images.items()
    }
    axes = [axis.name for axis in wanted.outputs if axis.name in relabel]
    words = "".join(f", {axis} relabelled by {relabel[axis]}" for axis in axes)
    return replace(part, wanted=replace(wanted, images=images), relabelled=words)


def of_map(given: object, ptx: str, operand: str, select: Mapping[str, str | int]) -> BoundIndex:
    """Return a map of one operand as an entry: a FragmentMap, a function of lane and value, or a (lane, value) layout.

    A function returns (row, col). A layout is a text or an object of any library; its values are those of an atom: of B
    n + N*k. Raises SpecError.
    """
    instruction = _instruction(ptx, select, [operand])
    tables = _with_map(ptx, operand, instruction, "operand")
    if memory.holds(tables):
        raise SpecError("operand", f"{operand} of {ptx} is in {tables.space}; give expressions, a table or a function")
    tile = tuple(map(Axis, tables.axes, tables.extent))
    names = [axis.name for axis in tile]
    try:
        if not isinstance(given, FragmentMap):
            plain = callable(given) and not hasattr(given, "shape")  # a layout can be called too
            given = _tabulate(given, tables, tile) if plain else _laid_out(given, operand, tile)
        given = given.orient(("lane", "value"))
        given = replace(given.reorder(("lane", "value"), names), outputs=tile)
    except (MapError, ValueError) as error:
        wanted = f"expected a map (lane, value) -> ({', '.join(names)}), in this or the other direction"
        raise SpecError(operand, f"{wanted}: {error}") from error
    spec = IndexSpec(f"{ptx} {operand}", "", ptx, {operand: OperandSpec()}, select)
    return BoundIndex(spec, instruction, (_part(operand, OperandSpec(), tables, instruction, given),))


def _tabulate(function: Any, tables: isa_tables.Operand, tile: tuple[Axis, ...]) -> FragmentMap:
    origin = MapOrigin(getattr(function, "__qualname__", type(function).__name__))
    inputs = coordinates(tables.lanes, tables.values).inputs

    def image(*point: int) -> Any:
        try:
            return function(*point)
        except Exception as error:
            where = ", ".join(f"{axis.word} {c}" for axis, c in zip(inputs, point, strict=True))
            raise MapError(f"{origin} at {where}: {type(error).__name__}: {error}") from error

    return FragmentMap.tabulate(image, inputs, tile, origin)


def _laid_out(layout: object, operand: str, tile: tuple[Axis, ...]) -> FragmentMap:
    """Return the map of a layout, whose first axis of B is n, as atoms have it."""
    return of_layout(from_object(layout), codomain(operand, *tile))


def _operand(
    spec: IndexSpec, name: str, given: OperandSpec, instruction: isa_tables.Instruction, several: bool
) -> IndexOperand:
    operand = instruction.operands[name]
    tile, under = tuple(map(Axis, operand.axes, operand.extent)), f"{name}." if several else ""
    try:
        if memory.holds(operand):
            wanted = memory.reference(operand, given.memory)
            mine, function = memory.map_of(given, operand, wanted, spec.folder)
            return IndexOperand(name, given, operand, instruction.section, mine, wanted, function=function)
        if misplaced := next((key for key in given.form if key in memory.ONLY), "memory" if given.memory else ""):
            raise SpecError(misplaced, f"{name} of {spec.ptx} is in registers: give row and col, or lane and value")
        mine, function = map_of(given, operand.lanes, operand.values, tile, spec.folder)
    except SpecError as error:
        raise SpecError(f"{under}{error.key}", error.problem) from error
    except (ExpressionError, MapError) as error:
        raise SpecError(f"{under}{_at_fault(given, error)}", str(error)) from error
    return replace(_part(name, given, operand, instruction, mine), function=function)


def _instruction(ptx: str, select: Mapping[str, str | int], operands: Collection[str]) -> isa_tables.Instruction:
    try:
        return short_names.find_instruction(
            "ptx", ptx, operands, lambda mnemonic: isa_tables.instruction(mnemonic, SHIPPED, **select)
        )
    except isa_tables.IsaError as error:
        raise SpecError("ptx", str(error).splitlines()[0]) from error


def _with_map(ptx: str, name: str, instruction: isa_tables.Instruction, key: str) -> isa_tables.Operand:
    """Return an operand of the ISA tables; raises SpecError for one that there is not, or that has no map there."""
    if name not in instruction.operands:
        raise SpecError(key, f"{ptx} has no operand {name}: it has {', '.join(instruction.operands)}")
    operand = instruction.operands[name]
    if not (operand.unspecified or "row" in operand.maps or memory.holds(operand)):
        raise SpecError(key, f"{name} of {ptx} is in {operand.space}: {operand.unmapped or 'the tables have no map'}")
    return operand


def _part(
    name: str, given: OperandSpec, operand: isa_tables.Operand, instruction: isa_tables.Instruction, mine: FragmentMap
) -> IndexOperand:
    """Return an operand's map beside that of the ISA tables, or why they have none."""
    if operand.unspecified:
        why = f"PTX ISA {instruction.section} leaves {name} unspecified"
        return IndexOperand(name, given, operand, instruction.section, mine, None, why)
    return IndexOperand(name, given, operand, instruction.section, mine, FragmentMap.from_operand(operand))


def _at_fault(given: OperandSpec, error: Exception) -> str:
    """Return the key whose value an error is about: that with a syntax error's text, or the form's first."""
    if isinstance(error, ExpressionError):
        if error.text in given.let.values():
            return "let"
        return next((name for name in given.form if getattr(given, name) == error.text), given.form[0])
    return given.form[0]


def map_of(
    given: OperandSpec, lanes: int, values: int, tile: tuple[Axis, ...], folder: Path
) -> tuple[FragmentMap, IndexFunction | None]:
    """Return the user's map, with the expressions if it is given by some; raises ExpressionError and MapError."""
    names = coordinates(lanes, values, given.values)
    if given.bases is not None:
        return bases.of_operand(bases.read_bases(given.bases), tile, MapOrigin(given.bases)), None
    if given.table is not None:
        return table.read_table(folder / given.table, table.Columns(names.inputs, tile, columns(tile))), None
    if given.runs_code:
        sides = (names.inputs, tile) if given.function is not None else (tile, names.inputs)
        return called.of_function(given.function or given.inverse or "", *sides, folder, given.python), None
    axes = names.inputs if given.lane is not None else tile
    texts = {axis.name: str(getattr(given, key)) for axis, key in zip(axes, given.form, strict=True)}
    words = "; ".join(f"{key}: {getattr(given, key)}" for key in given.form)
    if given.let:
        words = "; ".join([*(f"{name}: {text}" for name, text in given.let.items()), words])
    function = IndexFunction(
        texts, axes, elements(tile) if given.lane is not None else names, given.let, MapOrigin(" ".join(words.split()))
    )
    return function.map(given.lang, given.type), function


def columns(tile: tuple[Axis, ...]) -> Mapping[str, str]:
    """Return the names of a table's columns."""
    lanes = dict.fromkeys(("lane", "laneid", "thread", "tid", "t"), "lane")
    values = dict.fromkeys(("value", "i", "v"), "value")
    rows = dict.fromkeys((*ROWS, word(tile[0].name)), tile[0].name)
    return {**lanes, **values, **rows, **dict.fromkeys((*COLUMNS, word(tile[1].name)), tile[1].name)}
