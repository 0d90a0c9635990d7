# SPDX-License-Identifier: Apache-2.0
"""The verdicts on wgmma's operands in shared memory: which matrix descriptor, if any, describes a layout.

    address(mn, k; swizzle, major, LBO, SBO) = swizzle(bytes * layout(mn, k)), for every element of the tile

The left side is the formula of the ISA; LBO and SBO are read off where the formula has each of them once. For a K-major
tile that is wider than its swizzle, W elements, each part of that width has a start address of its own:

    address(mn, k mod W) + start(k div W)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

import isa_tables
import proofs
from isa_tables.smem import Layouts
from isa_tables.smem import read as read_layouts
from layouts import Layout, LayoutError, Swizzle, logical_divide, size
from verify.core.digits import image
from verify.core.verdict import Claim, Counterexample, Evidence, Verdict, join
from verify.movement.properties import DESCRIBED, STEPS, Table, compared, exhaustive, proved
from verify.movement.smem import placed
from verify.movement.smem_access import BYTE, DescribedOperand, SmemAccess, scaled

NAMES = {Swizzle(0, 0, 0): "none", Swizzle(1, 4, 3): "32B", Swizzle(2, 4, 3): "64B", Swizzle(3, 4, 3): "128B"}

CHUNK = 16  # bytes: start addresses are multiples of it
ONE_START = Layout(1, 0)
FEW = 3  # start addresses that are listed besides the last


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of a descriptor, and its start addresses in bytes, one for every `width` elements along k."""

    swizzle: str  # none, 32B, 64B or 128B
    major: str  # K or MN
    lbo: int = 0  # leading dimension byte offset
    sbo: int = 0  # stride dimension byte offset
    width: int = 0  # 0: one start address for the whole tile
    starts: Layout = ONE_START  # k divided by `width` -> byte of the start address

    def words(self) -> str:
        """The fields, as printed."""
        return f"{self.major}-major, swizzle {self.swizzle}, LBO {self.lbo}, SBO {self.sbo} bytes"

    def begins(self) -> str:
        """The start addresses, as printed; empty where the tile has one."""
        if not self.width:
            return ""
        bytes_ = [str(image(self.starts, part)) for part in range(size(self.starts))]
        shown = ", ".join([*bytes_[:FEW], *[".."] * (len(bytes_) > FEW + 1), *bytes_[FEW:][-1:]])
        return f", from a start address for each {self.width} along k (bytes {shown})"

    def address(self, table: Layouts, mn: Any, k: Any, bits: int) -> Any:
        """The byte of element (mn, k), by the ISA's formula."""
        if not self.width:
            return table.address(mn, k, bits, self.swizzle, self.major, lbo=self.lbo, sbo=self.sbo)
        part = table.address(mn, k % self.width, bits, self.swizzle, self.major, lbo=self.lbo, sbo=self.sbo)
        return part + image(self.starts, k // self.width)


@dataclass(frozen=True, slots=True)
class Fitted:
    """A descriptor's fields, fitted to a layout."""

    fields: Fields
    bad: Table  # coordinates at which the descriptor and the layout differ
    word: int  # the descriptor at address 0
    overflow: str  # why there is no such word; empty where there is one


def verdicts(operand: DescribedOperand, budget: int, solver: proofs.Solver) -> list[Verdict]:
    """The verdicts on an operand: the tile fits in shared memory, is whole steps, and has a descriptor."""
    unit = max(operand.access.unit, CHUNK)
    return [*placed(operand.access, unit, budget, solver), _steps(operand), _described(operand, budget, solver)]


def _steps(operand: DescribedOperand) -> Verdict:
    """The verdict on whole instructions: the tile is a multiple of wgmma's steps."""
    access, steps = operand.access, operand.steps
    step = " x ".join(map(str, steps))
    claim = Claim(access.name, "", STEPS, f"wgmma takes the tile (mn, k) in whole steps of {step} elements")
    wrong = None
    for axis, mode, least in zip(("mn", "k"), access.plain, steps, strict=True):
        whole = size(mode)
        if whole % least:
            near = [n for n in (whole // least * least, -(-whole // least) * least) if n]
            text = f"the tile has {whole} along {axis}, of which wgmma takes {least} elements of {access.element} bits"
            wrong = Counterexample(
                {axis: whole},
                f"{text} and multiples of it",
                f"{whole} mod {least} = {whole % least}",
                repair=f"{' or '.join(map(str, near))} along {axis}",
                replay=access.replay,
            )
            break
    return join(claim, [compared(wrong, "counted", 2)])


def _described(operand: DescribedOperand, budget: int, solver: proofs.Solver) -> Verdict:
    """The verdict on the descriptor, with the major and offsets of the spec where it has them."""
    access, table = operand.access, read_layouts("wgmma")
    cited = f"PTX ISA {table.section} ({table.provenance})"
    name = NAMES.get(access.bytes if access.swizzle.bits else Swizzle(0, 0, 0))
    if name is None:
        text = f"the layout is that of a matrix descriptor, {cited}"
        statement = f"{access.bytes} of bytes is not a swizzle of a descriptor; these are {', '.join(map(str, NAMES))}"
        wrong = Counterexample({}, statement, replay=access.replay)
        return join(_claim(access, text, table), [compared(wrong, "compared", 1)])
    fitted = partial(_fitted, access, table, name)
    read = min((fitted(major, None, None) for major in operand.majors), key=lambda one: len(one.bad))
    best = min((fitted(major, operand.lbo, operand.sbo) for major in operand.majors), key=lambda one: len(one.bad))
    text = f"the layout is that of the descriptor {best.fields.words()}{best.fields.begins()}, {cited}"
    mine = read.fields.words()
    repair = "" if len(read.bad) or read.overflow or mine == best.fields.words() else mine
    fault = best.overflow or _shared(access)
    evidence = [_enumerated(access, table, best, fault, repair)]
    if not fault:  # the solver is given the place of single elements alone
        evidence.append(_proof(access, table, best.fields, budget, solver))
    return join(_claim(access, text, table), evidence)


def _claim(access: SmemAccess, text: str, table: Layouts) -> Claim:
    return Claim(access.name, "", DESCRIBED, text, table.provenance)


def _grid(access: SmemAccess) -> tuple[Table, Table]:
    mn, k = (size(mode) for mode in access.plain)
    return np.arange(mn)[:, None], np.arange(k)[None, :]


def _addresses(access: SmemAccess) -> Table:
    mn, k = _grid(access)
    found: Table = np.asarray(access.bytes(np.asarray(access.plain(mn, k)) * access.element // BYTE))
    return found


def _fitted(access: SmemAccess, table: Layouts, name: str, major: str, lbo: int | None, sbo: int | None) -> Fitted:
    """The descriptor of a major, with the offsets given, or else read off where LBO and SBO first occur."""
    (mn, k), fields = _grid(access), Fields(name, major, 0, 0, *_parted(access, major))

    def plain(lbo: int, sbo: int) -> Table:
        bytes_ = replace(fields, lbo=lbo, sbo=sbo).address(table, mn, k, access.element)
        found: Table = np.asarray(access.bytes(np.asarray(bytes_)))
        return np.broadcast_to(found, (mn.size, k.size))

    zero, wanted = plain(0, 0), np.asarray(access.bytes(_addresses(access)))
    unit = 1 << 20  # above every other part of an address, outside the swizzle's fields
    leading, stride = (plain(unit, 0) - zero) // unit, (plain(0, unit) - zero) // unit

    def read_off(mine: Table, other: Table) -> int:
        places = np.argwhere((mine == 1) & (other == 0))
        return max(0, int((wanted - zero)[tuple(places[0])])) if len(places) else 0

    lbo = read_off(leading, stride) if lbo is None else lbo
    sbo = read_off(stride, leading) if sbo is None else sbo
    word, overflow = 0, ""
    try:
        word = table.descriptor(start=0, lbo=lbo, sbo=sbo, swizzle=name)
    except isa_tables.IsaError as error:
        overflow = str(error)
    return Fitted(replace(fields, lbo=lbo, sbo=sbo), np.argwhere(plain(lbo, sbo) != wanted), word, overflow)


def _parted(access: SmemAccess, major: str) -> tuple[int, Layout]:
    """The swizzle's width along k, and where each part of that width starts; of any other tile, 0 and one start.

    A part must start at a multiple of the swizzle's period: elsewhere the swizzle would differ.
    """
    mode, width = access.plain[1], (CHUNK << access.swizzle.bits) * BYTE // access.element
    if major != "K" or not access.swizzle.bits or size(mode) <= width or size(mode) % width:
        return 0, ONE_START
    try:
        starts = logical_divide(mode, Layout(width))[1]
    except LayoutError:  # there are no strides from part to part
        return 0, ONE_START
    starts = Layout(starts.shape, scaled(starts.stride, access.element // BYTE))
    if any(image(starts, part) % access.bytes.period for part in range(size(starts))):
        return 0, ONE_START
    return width, starts


def _enumerated(access: SmemAccess, table: Layouts, best: Fitted, fault: str, repair: str) -> Evidence:
    mn, k = _grid(access)
    points, at, damage = mn.size * k.size, {}, []
    if len(best.bad):
        row, column = (int(c) for c in best.bad[0])
        theirs = int(best.fields.address(table, row, column, access.element))
        fault = (
            f"(mn={row}, k={column}) lies at byte {int(_addresses(access)[row, column])}, by the descriptor at {theirs}"
        )
        at, damage = {"mn": row, "k": column}, [f"{len(best.bad)} of {points} elements lie elsewhere"]
    if not fault:
        return compared(None, f"exhaustive; at address 0 the descriptor is {best.word:#018x}", points, "numpy")
    extent = "smallest" if at else ""
    wrong = Counterexample(at, fault, extent=extent, damage=tuple(damage), repair=repair, replay=access.replay)
    return exhaustive(wrong, points)


def _shared(access: SmemAccess) -> str:
    """The statement that two elements lie at one address; empty where each has its own."""
    flat = _addresses(access).ravel(order="F")
    _, first, group = np.unique(flat, return_index=True, return_inverse=True)
    again = np.flatnonzero(first[group] != np.arange(len(flat)))
    if not len(again):
        return ""
    rows = size(access.plain[0])
    one, other = (divmod(int(i), rows) for i in (first[group[again[0]]], again[0]))
    here, there = (f"(mn={mn}, k={k})" for k, mn in (one, other))
    return f"{here} and {there} both lie at byte {int(flat[again[0]])}"


def _proof(access: SmemAccess, table: Layouts, fields: Fields, budget: int, solver: proofs.Solver) -> Evidence:
    """Evidence of the solver, from the layout's shape and stride; both addresses are taken before the swizzle."""
    from proofs.layout.movement import HandOver, prove_hand_over

    swizzle = access.bytes

    def wanted(mn: Any, k: Any) -> Any:
        address = fields.address(table, mn, k, access.element)
        return address ^ ((address & swizzle.yyy_mask) >> swizzle.shift) if swizzle.bits else address

    def statement(at: Mapping[str, int]) -> str:
        where = f"lies at {at['place']}, by the descriptor at {at['wanted']}, unswizzled"
        return f"(mn={at['lane']}, k={at['value']}) {where}"

    bytes_ = access.element // BYTE
    rows, columns = (Layout(mode.shape, scaled(mode.stride, bytes_)) for mode in access.plain)
    over = HandOver(lambda mn, k: (mn, k), rows, columns, wanted, Layout(size(columns)), size(rows))
    return proved(prove_hand_over(over, budget, solver), statement)
