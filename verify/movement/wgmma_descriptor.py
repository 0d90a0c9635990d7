# SPDX-License-Identifier: Apache-2.0
"""wgmma's operands in shared memory: which matrix descriptor, if any, describes a layout.

    address(mn, k; swizzle, major, LBO, SBO) = swizzle(bytes * layout(mn, k)), for every element of the tile

The left side is the formula of the ISA; LBO and SBO are read off where the formula has each of them once. For a K-major
tile that is wider than its swizzle, W elements, each part of that width has a start address of its own:

    address(mn, k mod W) + start(k div W)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

import isa_tables
import proofs
from isa_tables.smem import Layouts, read_layouts
from layouts import Layout, LayoutError, Swizzle, batched, logical_divide, size
from verify.core.digits import image, walk
from verify.core.verdict import Check, Counterexample, Evidence, Proposal, Statement, finding
from verify.evidence.proof import as_evidence
from verify.evidence.run import Run
from verify.maps import search
from verify.maps.array_map import ArrayMap
from verify.maps.blocks import EvaluationMismatch
from verify.maps.map import Axis
from verify.movement.smem_access import BYTE, SmemAccess, Table, scale

NAMES = {Swizzle(0, 0, 0): "none", Swizzle(1, 4, 3): "32B", Swizzle(2, 4, 3): "64B", Swizzle(3, 4, 3): "128B"}

CHUNK = 16  # bytes: start addresses are multiples of it
ONE_START = Layout(1, 0)
FEW = 3  # start addresses that are listed besides the last


@dataclass(frozen=True, slots=True)
class SharedOperand:
    """An operand of wgmma in shared memory, and its descriptor's given fields."""

    access: SmemAccess  # of the tile (mn, k) -> element, in chunks
    majors: tuple[str, ...]  # K or MN: the given one, or those that wgmma has for such elements
    steps: tuple[int, int]  # along mn and k of which the tile must be a multiple
    lbo: int | None = None  # bytes; read off where absent, as sbo
    sbo: int | None = None

    @property
    def grid(self) -> tuple[Table, Table]:
        """Every mn, and every k."""
        mn, k = (size(mode) for mode in self.access.tile)
        return np.arange(mn)[:, None], np.arange(k)[None, :]

    @property
    def bytes(self) -> Table:
        """The byte at which each element (mn, k) lies, before the swizzle."""
        addresses: Table = batched.table(self.access.tile) * self.access.element // BYTE
        return addresses

    def byte(self, mn: int, k: int) -> int:
        """One of `bytes`, in plain integers."""
        return int(walk(self.access.tile, mn, k)) * self.access.element // BYTE


@dataclass(frozen=True, slots=True, eq=False)
class FittedDescriptor:
    """The descriptor that is fitted to an operand's layout, with start addresses for every `width` elements along k."""

    operand: SharedOperand  # to whose layout it is fitted
    table: Layouts  # of the ISA
    swizzle: str = ""  # none, 32B, 64B or 128B; empty where the operand's swizzle is no descriptor's
    major: str = ""  # K or MN
    width: int = 0  # 0: one start address for the whole tile
    starts: Layout = ONE_START  # k divided by `width` -> byte of the start address
    lbo: int = 0  # leading dimension byte offset
    sbo: int = 0  # stride dimension byte offset
    bad: int = 0  # how many elements lie elsewhere than the descriptor has them
    first: tuple[int, int] = (0, 0)  # (mn, k) of the first of them
    word: int = 0  # the descriptor at address 0
    fault: str = ""  # why no descriptor can describe it: its swizzle, an offset, two elements at one byte
    fault_again: bool = True  # whether plain integers find the fault, too

    @property
    def fields(self) -> str:
        """The fields, as printed."""
        return f"{self.major}-major, swizzle {self.swizzle}, LBO {self.lbo}, SBO {self.sbo} bytes"

    @property
    def bytes_of_first(self) -> tuple[int, int]:
        """Where the first wrong element lies, and where the descriptor has it, in plain integers."""
        return int(self.operand.access.bytes(self.operand.byte(*self.first))), int(self.address(*self.first))

    @property
    def is_reproduced(self) -> bool:
        """Whether plain integers find it wrong, too."""
        mine, theirs = self.bytes_of_first
        return mine != theirs if self.bad else bool(self.fault) and self.fault_again

    def address(self, mn: Any, k: Any) -> Any:
        """Return the byte of element (mn, k), by the ISA's formula."""
        offsets = {"lbo": self.lbo, "sbo": self.sbo}
        inner = k % self.width if self.width else k
        start = image(self.starts, k // self.width) if self.width else 0
        return start + self.table.address(mn, inner, self.operand.access.element, self.swizzle, self.major, **offsets)


def fit(operand: SharedOperand) -> FittedDescriptor:
    """Return the descriptor of fewest differences, with the major and offsets of the spec where it has them."""
    return min(_candidates(operand), key=lambda candidate: (candidate.bad, bool(candidate.fault)))


def _candidates(operand: SharedOperand) -> list[FittedDescriptor]:
    """List the descriptors of each major that the operand may have; without fields where it has no such swizzle."""
    table, access = read_layouts("wgmma"), operand.access
    name = NAMES.get(access.bytes if access.swizzle.bits else Swizzle(0, 0, 0))
    if name is None:
        fault = f"{access.bytes} of bytes is not a swizzle of a descriptor; these are {', '.join(map(str, NAMES))}"
        return [FittedDescriptor(operand, table, fault=fault)]
    return [
        _fit_offsets(FittedDescriptor(operand, table, name, major, *_split_along_k(access, major)))
        for major in operand.majors
    ]


def _split_along_k(access: SmemAccess, major: str) -> tuple[int, Layout]:
    """Return the swizzle's width along k, and where each part of that width starts; of any other tile, 0 and one start.

    A part must start at a multiple of the swizzle's period: elsewhere the swizzle would differ.
    """
    mode, width = access.tile[1], (CHUNK << access.swizzle.bits) * BYTE // access.element
    if major != "K" or not access.swizzle.bits or size(mode) <= width or size(mode) % width:
        return 0, ONE_START
    try:
        starts = logical_divide(mode, Layout(width))[1]
    except LayoutError:  # there are no strides from part to part
        return 0, ONE_START
    starts = Layout(starts.shape, scale(starts.stride, access.element // BYTE))
    if any(image(starts, part) % access.bytes.period for part in range(size(starts))):
        return 0, ONE_START
    return width, starts


def _fit_offsets(bare: FittedDescriptor) -> FittedDescriptor:
    """Return the descriptor with the offsets given, or else read off where LBO and SBO first occur."""
    operand, (mn, k) = bare.operand, bare.operand.grid

    def find_differences(lbo: int, sbo: int) -> Table:
        addresses: Table = np.asarray(operand.access.bytes(np.asarray(replace(bare, lbo=lbo, sbo=sbo).address(mn, k))))
        return np.broadcast_to(addresses, (mn.size, k.size))

    zero, wanted = find_differences(0, 0), operand.bytes
    unit = 1 << 20  # above every other part of an address, outside the swizzle's fields
    leading, stride = (find_differences(unit, 0) - zero) // unit, (find_differences(0, unit) - zero) // unit

    def read_off(mine: Table, theirs: Table) -> int:
        places = np.argwhere((mine == 1) & (theirs == 0))
        at = (int(places[0][0]), int(places[0][1])) if len(places) else None
        return 0 if at is None else max(0, operand.byte(*at) - int(zero[at]))

    lbo = read_off(leading, stride) if operand.lbo is None else operand.lbo
    sbo = read_off(stride, leading) if operand.sbo is None else operand.sbo
    word, (fault, again) = 0, _find_shared_address(operand)
    try:
        word = bare.table.descriptor(start=0, lbo=lbo, sbo=sbo, swizzle=bare.swizzle)
    except isa_tables.IsaError as error:
        fault, again = str(error), True
    fitted = replace(bare, lbo=lbo, sbo=sbo, word=word, fault=fault, fault_again=again)
    try:
        difference = _locate_difference(fitted, wanted, find_differences(lbo, sbo))
    except EvaluationMismatch as mismatch:
        return replace(fitted, fault=mismatch.counterexample.statement, fault_again=False)
    if difference is None:
        return fitted
    return replace(fitted, bad=difference.wrong, first=(difference.point[0], difference.point[1]))


def _locate_difference(fitted: FittedDescriptor, bytes_: Table, described: Table) -> search.Disagreement | None:
    """Return the first element that a descriptor has elsewhere, before the swizzle. Raise EvaluationMismatch."""
    operand, (mn, k) = fitted.operand, bytes_.shape
    inputs, memory = (Axis("mn", mn), Axis("k", k)), (Axis("byte", 1 + int(max(bytes_.max(), described.max()))),)

    def describe(*at: int) -> tuple[int]:
        return (int(operand.access.bytes(int(fitted.address(*at)))),)

    lies = ArrayMap(("lies", operand), inputs, (bytes_,), memory, lambda *at: (operand.byte(*at),))
    has = (operand, fitted.swizzle, fitted.major, fitted.width, fitted.starts, fitted.lbo, fitted.sbo)
    return search.locate_difference(lies, ArrayMap(has, inputs, (described,), memory, describe))


def _find_shared_address(operand: SharedOperand) -> tuple[str, bool]:
    """State that two elements lie at one address, and whether plain integers agree; empty where none do."""
    bytes_ = operand.access.bytes(operand.bytes)
    inputs, memory = (Axis("k", bytes_.shape[1]), Axis("mn", bytes_.shape[0])), (Axis("byte", 1 + int(bytes_.max())),)
    m = ArrayMap(
        ("is at", operand), inputs, (bytes_.T,), memory, lambda k, mn: (int(operand.access.bytes(operand.byte(mn, k))),)
    )
    try:
        collision = search.locate_collision(m)
    except EvaluationMismatch as mismatch:
        return mismatch.counterexample.statement, False
    if collision is None:
        return "", True
    here, there = (f"(mn={mn}, k={k})" for k, mn in (collision.first, collision.second))
    return f"{here} and {there} both lie at byte {collision.image}", collision.reproduced


def steps_claim(_: object, fitted: FittedDescriptor) -> Statement:
    """Return the claim that the tile is a multiple of wgmma's steps."""
    step = " x ".join(map(str, fitted.operand.steps))
    return Statement("", f"wgmma takes the tile (mn, k) in whole steps of {step} elements")


def steps(run: object, _: object, fitted: FittedDescriptor) -> list[Evidence]:
    """Evidence that both extents are multiples of the step."""
    access, wrong = fitted.operand.access, None
    for axis, mode, least in zip(("mn", "k"), access.tile, fitted.operand.steps, strict=True):
        whole = size(mode)
        if whole % least and wrong is None:
            near = [n for n in (whole // least * least, -(-whole // least) * least) if n]
            text = f"the tile has {whole} along {axis}, of which wgmma takes {least} elements of {access.element} bits"
            wrong = Counterexample(
                {axis: whole},
                f"{text} and multiples of it",
                f"{whole} mod {least} = {whole % least}",
                damage=(f"the nearest that it takes: {' or '.join(map(str, near))} along {axis}",),
            )
    return [finding(Check.ISA, wrong, "counted", 2)]


def claim(_: object, fitted: FittedDescriptor) -> Statement:
    """Return the claim that the layout is that of a descriptor, with its fields and its start addresses."""
    named = f"the descriptor {fitted.fields}" if fitted.swizzle else "a matrix descriptor"
    if fitted.width:
        starts = [str(image(fitted.starts, part)) for part in range(size(fitted.starts))]
        shown = ", ".join([*starts[:FEW], *[".."] * (len(starts) > FEW + 1), *starts[FEW:][-1:]])
        named += f", from a start address for each {fitted.width} along k (bytes {shown})"
    section, provenance = fitted.table.section, fitted.table.provenance
    return Statement("", f"the layout is that of {named}, PTX ISA {section} ({provenance})", provenance)


def compare_addresses(run: object, _: object, fitted: FittedDescriptor) -> list[Evidence]:
    """Evidence that every element lies where the descriptor has it, each at a byte of its own."""
    operand, fault, points = fitted.operand, fitted.fault, size(fitted.operand.access.tile)
    if not fitted.swizzle:
        return [finding(Check.ISA, Counterexample({}, fault), "compared", 1)]
    if not fitted.bad and not fault:
        method = f"exhaustive; at address 0 the descriptor is {fitted.word:#018x}"
        return [finding(Check.ISA, None, method, points, "numpy")]
    read = fit(replace(operand, lbo=None, sbo=None))
    given = partial(replace, lbo=read.lbo, sbo=read.sbo)
    proposals = () if read.bad or read.fault or read.fields == fitted.fields else (Proposal(read.fields, given),)
    # a descriptor of another major fits no better
    again = all(candidate.is_reproduced for candidate in _candidates(operand))
    wrong = Counterexample({}, fault, reproduced=again, proposals=proposals)
    if fitted.bad:
        (row, column), (mine, theirs) = fitted.first, fitted.bytes_of_first
        wrong = Counterexample(
            {"mn": row, "k": column},
            f"(mn={row}, k={column}) lies at byte {mine}, by the descriptor at {theirs}",
            extent="smallest",
            damage=(f"{fitted.bad} of {points} elements lie elsewhere",),
            reproduced=again,
            proposals=proposals,
        )
    return [finding(Check.ISA, wrong, "exhaustive", points, "numpy")]


def prove(run: Run, _: object, fitted: FittedDescriptor) -> list[Evidence]:
    """Return the proof from the layout's shape and stride; both addresses are taken before the swizzle.

    The solver is given the place of single elements alone: it finds no second element at an address.
    """
    if fitted.fault:
        return []
    access = fitted.operand.access
    swizzle, bytes_ = access.bytes, access.element // BYTE

    def expect_address(mn: Any, k: Any) -> Any:
        address = fitted.address(mn, k)
        return address ^ ((address & swizzle.yyy_mask) >> swizzle.shift) if swizzle.bits else address

    rows, columns = (Layout(mode.shape, scale(mode.stride, bytes_)) for mode in access.tile)
    over = proofs.RegisterHandOver(
        lambda mn, k: (mn, k), rows, columns, expect_address, Layout(size(columns)), size(rows)
    )
    words = "(mn={lane}, k={value}) lies at {place}, by the descriptor at {wanted}, unswizzled"
    return [as_evidence(proofs.prove_hand_over(over, run.budget, run.solver), lambda at: words.format(**at))]
