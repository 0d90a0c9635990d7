# SPDX-License-Identifier: Apache-2.0
"""The maps of an instruction's operands, bound to it: what every property, cause and picture reads.

A layout that --ptx names, index arithmetic and the ISA's own formulas are no more than this. An atom has its entry too
(`verify.binding.atom`). Nothing is refuted here: what does not parse is kept as a reason for the claims.

`BoundMaps`      the maps, bound to one instruction
`bind_maps`      maps that are no atom's, bound to theirs
`bind_operand`   one operand, beside its formulas
`threads`        the numbering of lanes
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from math import prod
from types import MappingProxyType
from typing import Any, Self

import isa_tables
from layouts import Layout, LayoutError, complement, cosize, size
from layouts.atoms import Adapter
from verify.binding.axes import AXES, OperandFormula
from verify.binding.completion import EXTRA, FRAGMENTS, fragment_of
from verify.binding.coordinates import formulas
from verify.binding.operand import BoundOperand, map_layout
from verify.binding.relabelling import relabel_formula
from verify.core.digits import lane_of
from verify.maps.map import Map
from verify.maps.strided import of_text

LARGEST = 1 << 62  # values of 64-bit integers, with room for one sum


@dataclass(frozen=True, kw_only=True)  # without slots, so that what follows from the fields is kept
class BoundMaps:
    """The maps of operands, bound to one instruction; `further` are the same maps bound to each further one.

    `thr` and `rep` are None, and `thr_fault` has the reason, unless thr(t) + rep(q) is every lane once.
    """

    name: str  # of the subject, in claims
    thr_text: str  # logical thread -> lane, as it is written
    thr: Layout | None  # the same, parsed
    rep: Layout | None  # replica -> lane offset
    thr_fault: str = ""  # why the threads do not number the lanes; empty where they do
    # threads that issue the instruction, or CTAs of tcgen05; the logical threads where there is no instruction
    lanes: int
    parts: tuple[BoundOperand, ...]  # in the order of the report
    shape: tuple[int, ...] = ()  # M, N and K of a product; empty for a copy, whose maps number bits
    space: Mapping[str, str] = field(default_factory=dict)  # operand -> reg, smem, gmem or tmem; absent: reg
    copies: Mapping[str, int] = field(default_factory=dict)  # operand -> how many owners each element or bit has
    relabel: Mapping[str, str] = field(default_factory=dict)  # m, n or k -> layout: its number of the ISA's
    adapter: Adapter | None = None  # of a copy, the permutation of bytes after the instruction
    by: isa_tables.Instruction | None = None  # the instruction of the formulas and of the number of lanes
    no_instruction: str = ""  # why there is none; empty where there is one
    uncompared_reasons: tuple[str, ...] = ()  # why further instructions cannot be compared with the maps
    shape_fault: str = ""  # how the shape differs from that of the only instruction; empty if it does not
    further: tuple[Self, ...] = ()  # the same maps bound to each further instruction
    # of its layouts: their values at every point, for the checks of these maps; later ones see errors planted since
    tables: dict[Hashable, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def numbering(self) -> tuple[Layout, Layout]:
        """`thr` and `rep`. Raises TypeError if they do not number every lane once."""
        if self.thr is None or self.rep is None:
            raise TypeError(f"{self.thr_text} is not well formed: {self.thr_fault}")
        return self.thr, self.rep

    @property
    def is_copy(self) -> bool:
        """Whether the maps number bits that are copied, in place of elements of matrices."""
        return not self.shape

    @property
    def views(self) -> tuple[Self, ...]:
        """The maps bound to each of their instructions in the ISA tables; unbound if they have none."""
        return (self, *self.further)

    @property
    def instruction(self) -> isa_tables.Instruction:
        """The instruction that the maps are bound to. Raises TypeError if there is none."""
        if self.by is None:
            raise TypeError(f"{self.name}: {self.no_instruction}")
        return self.by

    def seen_by(self, instruction: isa_tables.Instruction) -> Self:
        """Return the maps bound to one of their instructions."""
        return next(view for view in self.views if view.by and mnemonic_of(view.by) == mnemonic_of(instruction))

    @cached_property
    def omitted_operands(self) -> dict[str, str]:
        """The operands in registers of an instruction that are not given, each with its mnemonic."""
        given = {part.name for part in self.parts}
        return {
            name: mnemonic_of(view.by)
            for view in self.views
            for name in EXTRA
            if view.by and name in view.by.operands and view.by.operands[name].space == "reg"
            if name not in given
        }

    @property
    def threads(self) -> int:
        """Logical threads: the size of `thr`."""
        return 0 if self.thr is None else size(self.thr)

    @cached_property
    def rep_size(self) -> int:
        """Replicas: how often the logical threads fit into the lanes."""
        return 0 if self.rep is None else size(self.rep)

    def multiplicity(self, part: BoundOperand) -> int:
        """Return the number of owners of each element among the logical threads: by the formula, or as is stated.

        The formula counts over all lanes, which the replicas share. Without a formula and a statement it is one; for
        a tile in memory that every thread addresses as a whole, the number of threads.
        """
        if not part.formulas or self.rep is None:
            in_memory = not self.is_copy and self.space.get(part.name, "reg") != "reg"
            whole = in_memory and part.values == prod(part.extent)
            return self.copies.get(part.name, max(1, self.threads) if whole else 1)
        return max(1, part.formulas[0].copies // self.rep_size)

    def expect_extents(self, part: BoundOperand) -> tuple[int, int]:
        """Return (logical threads, values per thread) that the operand must have.

        With a formula: its values per lane. Without one: so many that each element has its given number of owners.
        """
        if part.formulas:
            return self.threads, part.formulas[0].values
        points = part.extent[0] * part.extent[1] * self.multiplicity(part)
        return self.threads, max(1, points // max(1, self.threads))


def extent_of(name: str, shape: tuple[int, ...]) -> tuple[int, int]:
    """Return the extents of the tile of a product's operand.

    >>> extent_of("B", (16, 8, 32))
    (8, 32)
    """
    x, y = ("mnk".index(axis) for axis in AXES[name])
    return shape[x], shape[y]


def bind_maps(
    name: str,
    instruction: isa_tables.Instruction,
    thr_text: str,
    given: Mapping[str, tuple[str, Map | None, str]],
    relabel: Mapping[str, str] = MappingProxyType({}),
) -> BoundMaps:
    """Return the maps of some operands of a product, each (text, map or None, why there is none), bound to it."""
    lanes, thr, rep, thr_fault = threads(thr_text, issuers(instruction))
    shape = instruction.signature.shape
    placed = {operand: fragment_of(instruction.signature, operand) for operand in given}
    return BoundMaps(
        name=name,
        thr_text=thr_text,
        thr=thr,
        rep=rep,
        thr_fault=thr_fault,
        lanes=lanes,
        parts=tuple(
            bind_operand(operand, *of, extent_of(operand, shape), instruction, relabel) for operand, of in given.items()
        ),
        shape=shape,
        space={
            operand: fragment.space
            for operand, fragment in placed.items()
            if fragment is not None and fragment.space != "reg"
        },
        relabel=relabel,
        by=instruction,
    )


def bind_operand(
    name: str,
    text: str,
    points: Map | None,
    fault: str,
    extent: tuple[int, int],
    instruction: isa_tables.Instruction | None,
    relabel: Mapping[str, str],
) -> BoundOperand:
    """Return an operand of a product with its map, or why it has none, beside the formulas of an instruction."""
    by_key, no_formula = ({}, "") if instruction is None else _formulas(name, instruction, extent)
    distinct = tuple(relabel_formula(formula, relabel, name, extent) for formula in by_key.values())
    keys = tuple(formula.key for formula in distinct)
    return BoundOperand(name, text, points, fault, extent, distinct, no_formula, keys)


def mnemonic_of(instruction: isa_tables.Instruction) -> str:
    """Return the mnemonic of an instruction, as the ISA tables write it."""
    return instruction.signature.mnemonic


def thread_value(text: str) -> tuple[Layout | None, str]:
    """Return a (thread, value) layout, or None and why the text is none.

    >>> thread_value("(32,4):(1,32)")
    (Layout.parse('(32,4):(1,32)'), '')
    >>> thread_value("8:1")
    (None, '8:1 has rank 1, a (thread, value) layout has 2')
    """
    layout, fault = _parse_layout(text, Layout.parse)
    if layout is not None and len(layout) != 2:
        return None, f"{text} has rank {len(layout)}, a (thread, value) layout has 2"
    return layout, fault


@lru_cache(maxsize=4096)  # the parser is part of the key: a bug planted in Layout.parse shows in texts read before
def _parse_layout(text: str, parse: Callable[[str], Layout]) -> tuple[Layout | None, str]:
    """Return the layout, or None and why the text is none; other texts were rejected when the file was read."""
    try:
        layout = parse(text)
    except LayoutError as error:
        return None, str(error)
    if cosize(layout) > LARGEST:
        return None, f"{text} goes up to {cosize(layout)}, more than 2^62"
    return layout, ""


def read_map(name: str, text: str, extent: tuple[int, int]) -> tuple[Map | None, str]:
    """Return the map of an operand's text, plain or with swizzles or coordinate strides; None, and why it has none."""
    layout, fault = thread_value(text)
    if layout is not None:
        return map_layout(name, layout, extent), ""
    return of_text(text, fault, dict(zip(AXES[name], extent, strict=True)))


def threads(text: str, lanes: int) -> tuple[int, Layout | None, Layout | None, str]:
    """Return the lanes with `thr` and `rep`, or why there are none; cached by the text.

    >>> threads("4:8", 32)  # four quarters of a warp, of eight replicas
    (32, Layout.parse('4:8'), Layout.parse('8:1'), '')
    >>> threads("64:1", 32)[3]
    '64:1 numbers 64 threads up to lane 63, there are lanes 0..31'
    """
    return _threads(text, lanes, Layout.parse)


@lru_cache(maxsize=64)  # the parser is part of the key, as above
def _threads(text: str, lanes: int, parse: Callable[[str], Layout]) -> tuple[int, Layout | None, Layout | None, str]:
    """Return (lanes, thr, rep, ""), or no layouts and why thr and its complement do not number the lanes once.

    Without an instruction there are as many lanes as logical threads.
    """
    thr, fault = _parse_layout(text, parse)
    if thr is None:
        return lanes, None, None, fault
    lanes = lanes or size(thr)
    if size(thr) > lanes or cosize(thr) > lanes:
        problem = f"numbers {size(thr)} threads up to lane {cosize(thr) - 1}"
        return lanes, None, None, f"{text} {problem}, there are lanes 0..{lanes - 1}"
    try:
        rep = complement(thr, lanes)
    except LayoutError as error:
        return lanes, None, None, f"{text} leaves lanes that no replica fills: {error}"
    reached = sorted(lane_of(thr, t) + lane_of(rep, q) for t in range(size(thr)) for q in range(size(rep)))
    if reached != list(range(lanes)):
        return lanes, None, None, f"{text} with replicas {rep} does not number the {lanes} lanes once"
    return lanes, thr, rep, ""


def issuers(instruction: isa_tables.Instruction) -> int:
    """Return the threads of an instruction; one for each CTA where two CTAs work together."""
    return instruction.signature.lanes * instruction.signature.ctas


def _formulas(
    name: str, instruction: isa_tables.Instruction, extent: tuple[int, int]
) -> tuple[dict[tuple[object, ...], OperandFormula], str]:
    """Return the distinct formulas of an operand in an instruction, by key, or why there are none."""
    names = [fragment for fragment in FRAGMENTS.get(name, (name,)) if fragment in instruction.operands]
    if not names:
        return {}, f"the ISA tables do not describe {name} of {mnemonic_of(instruction)}"
    distinct: dict[tuple[object, ...], OperandFormula] = {}
    no_formula = ""
    for fragment in names:
        several, no_formula = formulas(name, instruction, instruction.operands[fragment], extent)
        for formula in several:
            distinct.setdefault(formula.key, formula)
    return distinct, no_formula
