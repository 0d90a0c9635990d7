# SPDX-License-Identifier: Apache-2.0
"""An instruction with the maps of its elements: which (row, col) of the tile lane l holds as value i."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from isa_tables import tables
from isa_tables.errors import IsaError, TableError
from isa_tables.formula import Formula, evaluate
from isa_tables.parsing import FormulaError, parse
from isa_tables.signature import Fragment, Signature, find, signature_of

_LANE, _VALUE = "%laneid", "i"


@dataclass(frozen=True, slots=True)
class Operand:
    """One operand: locate(lane, i) = (row, col), with the ISA's own formula behind it."""

    name: str
    fragment: Fragment
    lanes: int
    let: Mapping[str, Formula]
    row: Formula
    col: Formula
    provenance: str  # "ISA text", "corrected" or "derived: from what"
    printed: Mapping[str, str]  # of a corrected formula: what the ISA prints
    erratum: str | None
    file: str
    param: Mapping[str, int]

    @property
    def values(self) -> int:
        """Elements per lane."""
        return self.fragment.values

    @property
    def bits(self) -> int:
        """Bits of register per element."""
        return self.fragment.bits

    @property
    def regs(self) -> int:
        """Registers per lane."""
        return self.fragment.regs

    @property
    def extent(self) -> tuple[int, int]:
        """Rows and columns of the tile."""
        return self.fragment.extent

    @property
    def copies(self) -> int:
        """How many (lane, i) hold each element."""
        return self.fragment.copies

    def locate(self, lane: Any, i: Any) -> tuple[Any, Any]:
        """Where value i of a lane stands in the tile: A (m, k), B (k, n), C and D (m, n).

        Ints give ints; arrays of whole numbers give int64 arrays of the broadcast shape; any other object
        is asked to compute with itself. Raises IsaError for a lane or value that does not exist.
        """
        names = {_LANE: (lane, self.lanes), _VALUE: (i, self.values)}
        values, shape = _prepare(names)
        for name, formula in self.let.items():
            values[name] = evaluate(formula.tree, values)
        row, col = evaluate(self.row.tree, values), evaluate(self.col.tree, values)
        return _shaped(row, shape), _shaped(col, shape)

    def as_printed(self) -> Operand:
        """The operand with the ISA's printed formulas in place of the corrected ones.

        Raises TableError when what is printed is no formula at all.
        """
        names = {_LANE: False, _VALUE: False, **{name: formula.signed for name, formula in self.let.items()}}
        formulas = {
            key: _parse(self.file, f"{self.name}.printed.{key}", text, names, self.param)
            for key, text in self.printed.items()
        }
        return replace(self, row=formulas.get("row", self.row), col=formulas.get("col", self.col))

    def text(self) -> str:
        """The formulas as lines of text, conditions beside their values, in the table's own spelling."""
        from isa_tables import render

        return render.text(self.let, self.row, self.col, self.values)

    def latex(self) -> str:
        """The formulas in LaTeX, with the same names, brackets and literals."""
        from isa_tables import render

        return render.latex(self.let, self.row, self.col)


@dataclass(frozen=True, slots=True)
class Instruction:
    """What the tables say about one instruction."""

    signature: Signature
    operands: Mapping[str, Operand]  # D, A, B, C
    section: str  # of the PTX ISA
    isa: str  # the PTX ISA version whose section numbers these are
    errata: tuple[str, ...]
    product_formula: Formula

    def product(self, lane: Any) -> Any:
        """Which of the instruction's independent matrix products a lane works for."""
        values, shape = _prepare({_LANE: (lane, self.signature.lanes)})
        return _shaped(evaluate(self.product_formula.tree, values), shape)


def instruction(mnemonic: str, folder: Path = tables.SHIPPED) -> Instruction:
    """Look an instruction up by what its mnemonic says.

    Raises UnknownInstruction, NotInIsa or TableError as `signature.signature` does, and TableError for a
    formula outside the language.

        >>> mma = instruction("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
        >>> mma.operands["A"].locate(5, 6)
        (9, 10)
    """
    variant = find(mnemonic, folder)
    signature = signature_of(variant)
    operands = {name: _operand(name, variant, fragment) for name, fragment in signature.operands.items()}
    table = variant.table
    product = _parse(table.file, "product", table.product, {_LANE: False}, {})
    return Instruction(signature, operands, table.section, table.isa, table.errata, product)


def _operand(name: str, variant: tables.Variant, fragment: Fragment) -> Operand:
    entry, file = tables.entry(variant, name), variant.table.file
    param = {key: word for key, word in variant.param.items() if isinstance(word, int)}
    names = {_LANE: False, _VALUE: False}
    let: dict[str, Formula] = {}
    for key, text in entry.let.items():
        if not key.isidentifier() or key in names or key in param:
            raise TableError(file, f"{entry.key}.let.{key}", "not a new name")
        let[key] = _parse(file, f"{entry.key}.let.{key}", text, names, param)
        names[key] = let[key].signed
    row, col = (
        _parse(file, f"{entry.key}.{key}", text, names, param) for key, text in (("row", entry.row), ("col", entry.col))
    )
    return Operand(
        name,
        fragment,
        variant.table.lanes,
        let,
        row,
        col,
        entry.provenance,
        entry.printed,
        entry.erratum,
        file,
        param,
    )


def _parse(file: str, key: str, text: str, names: Mapping[str, bool], param: Mapping[str, int]) -> Formula:
    try:
        return parse(text, names, param)
    except FormulaError as error:
        raise TableError(file, key, error.reason, error.text, error.column) from None


def _prepare(names: Mapping[str, tuple[Any, int]]) -> tuple[dict[str, Any], tuple[int, ...] | None]:
    """Arrays as int64 and of one shape, every number in its range; the shape if there is any array."""
    arrays = any(hasattr(value, "dtype") for value, _ in names.values())
    for name, (value, end) in names.items():
        if isinstance(value, int) and not 0 <= value < end:
            raise IsaError(f"{name} = {value} is outside 0..{end - 1}")
    if not arrays:
        return {name: value for name, (value, _) in names.items()}, None
    import numpy

    wide = []
    for name, (value, end) in names.items():
        if numpy.asarray(value).dtype.kind not in "iu":
            raise IsaError(f"{name} must be whole numbers, not {numpy.asarray(value).dtype}")
        wide.append(numpy.asarray(value).astype(numpy.int64))
        if wide[-1].size and not (wide[-1].min() >= 0 and wide[-1].max() < end):
            raise IsaError(f"{name} = {wide[-1].min()}..{wide[-1].max()} is outside 0..{end - 1}")
    same = numpy.broadcast_arrays(*wide)
    return dict(zip(names, same, strict=True)), same[0].shape


def _shaped(value: Any, shape: tuple[int, ...] | None) -> Any:
    if shape is None:
        return value
    import numpy

    return numpy.zeros(shape, dtype=numpy.int64) + value
