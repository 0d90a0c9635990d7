# SPDX-License-Identifier: Apache-2.0
"""wgmma's operands in shared memory: which matrix descriptor, if any, says what a layout says.

    address(mn, k; swizzle, major, LBO, SBO) = swizzle(bytes * layout(mn, k)), for every element of the tile

The left side is the book's; LBO and SBO are read off where the book's formula has each of them once. Of a K-major tile
that is wider than its swizzle it is that of k mod the swizzle's width, from a start address for each such part:

    address(mn, k mod W) + start(k div W)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

import isa_tables
import proofs
from isa_tables.smem import Layouts
from isa_tables.smem import read as read_layouts
from layouts import Layout, LayoutError, Swizzle, logical_divide, size
from verify.core.digits import image
from verify.core.verdict import Claim, Counterexample, Evidence, Status, Verdict, Witness, join
from verify.evidence.proof import solved
from verify.movement.register_handover import MovementKind, Table
from verify.movement.smem import lies
from verify.movement.smem_access import BYTE, Reach, scaled

NAMES = {Swizzle(0, 0, 0): "none", Swizzle(1, 4, 3): "32B", Swizzle(2, 4, 3): "64B", Swizzle(3, 4, 3): "128B"}

CHUNK = 16  # bytes of which a start address is a multiple
ONE_START = Layout(1, 0)
FEW = 3  # start addresses that are listed, and the last
FAMILY, LEAST = "wgmma.mma_async.sync", ".m64n8k"  # and the shape qualifier of the least of each type


@cache
def taken(bits: int) -> tuple[tuple[str, ...], tuple[int, int]]:
    """The majors and the steps along mn and k in which wgmma takes operands of elements of some bits, by the book.

    >>> taken(16), taken(8)
    ((('K', 'MN'), (8, 16)), (('K',), (8, 32)))
    """
    least = (name for name in isa_tables.mnemonics(FAMILY) if LEAST in name)
    operands = [isa_tables.instruction(name, A_space="smem").operands["B"] for name in least]
    found = {(operand.majors, (operand.extent[1], operand.extent[0])) for operand in operands if operand.bits == bits}
    (one,) = found
    return one


@dataclass(frozen=True, slots=True)
class Stated:
    """What is stated of a descriptor: its major, K, MN or empty, and its offsets in bytes unless they are read off."""

    major: str = ""
    lbo: int | None = None
    sbo: int | None = None


@dataclass(frozen=True, slots=True)
class Fields:
    """What a descriptor says but for its start, and where it starts: for every `width` elements along k, in bytes."""

    swizzle: str
    major: str
    lbo: int = 0
    sbo: int = 0
    width: int = 0  # of a tile that has one start alone
    starts: Layout = ONE_START

    def said(self) -> str:
        """The fields in words."""
        return f"{self.major}-major, swizzle {self.swizzle}, LBO {self.lbo}, SBO {self.sbo} bytes"

    def begins(self) -> str:
        """Where it starts, in words; empty where a tile has one start alone."""
        if not self.width:
            return ""
        bytes_ = [str(image(self.starts, part)) for part in range(size(self.starts))]
        shown = ", ".join([*bytes_[:FEW], *[".."] * (len(bytes_) > FEW + 1), *bytes_[FEW:][-1:]])
        return f", from a start address for each {self.width} along k (bytes {shown})"

    def address(self, book: Layouts, mn: Any, k: Any, bits: int) -> Any:
        """The byte of element (mn, k), by the book."""
        if not self.width:
            return book.address(mn, k, bits, self.swizzle, self.major, lbo=self.lbo, sbo=self.sbo)
        part = book.address(mn, k % self.width, bits, self.swizzle, self.major, lbo=self.lbo, sbo=self.sbo)
        return part + image(self.starts, k // self.width)


@dataclass(frozen=True, slots=True)
class Described:
    """A descriptor's fields, and where the book leaves the layout, if it does."""

    fields: Fields
    bad: Table  # coordinates that disagree


def judge(reach: Reach, stated: Stated, budget: int, solver: proofs.Solver) -> list[Verdict]:
    """The verdicts on an operand in memory; `reach.tile` is (mn, k) -> element."""
    unit = max(reach.unit, CHUNK)
    return [*lies(reach, unit, budget, solver), _steps(reach), _judge_described(reach, stated, budget, solver)]


def _steps(reach: Reach) -> Verdict:
    """Whether the tile is whole in what instructions take."""
    extent, (_, steps) = tuple(size(mode) for mode in reach.plain), taken(reach.element)
    step = " x ".join(map(str, steps))
    claim = Claim(reach.name, "", MovementKind.STEPS, f"wgmma takes the tile (mn, k) in whole steps of {step} elements")
    wrong = None
    for axis, whole, least in zip(("mn", "k"), extent, steps, strict=True):
        if whole % least and wrong is None:
            near = [n for n in (whole // least * least, -(-whole // least) * least) if n]
            said = f"the tile has {whole} along {axis}, of which wgmma takes {least} elements of {reach.element} bits"
            wrong = Counterexample(
                {axis: whole},
                f"{said} and multiples of it",
                f"{whole} mod {least} = {whole % least}",
                repair=f"{' or '.join(map(str, near))} along {axis}",
                replay=reach.replay,
            )
    status = Status.REFUTED if wrong else Status.PROVED
    return join(claim, [Evidence(Witness.BOOK, status, "counted", 2, counterexample=wrong)])


def _judge_described(reach: Reach, stated: Stated, budget: int, solver: proofs.Solver) -> Verdict:
    book = read_layouts("wgmma")
    rests = book.provenance
    cited = f"PTX ISA {book.section} ({rests})"
    name = NAMES.get(reach.bytes if reach.swizzle.bits else Swizzle(0, 0, 0))
    if name is None:
        claim = Claim(reach.name, "", MovementKind.DESCRIBED, f"is what a matrix descriptor says, {cited}", rests)
        said = f"{reach.bytes} of bytes is no swizzle of a descriptor; there are {', '.join(map(str, NAMES))}"
        wrong = Counterexample({}, said, replay=reach.replay)
        return join(claim, [Evidence(Witness.BOOK, Status.REFUTED, "compared", 1, counterexample=wrong)])
    majors = [stated.major] if stated.major else taken(reach.element)[0]
    read = min((_described(reach, book, name, Stated(m)) for m in majors), key=lambda d: len(d.bad))
    best = min((_described(reach, book, name, replace(stated, major=m)) for m in majors), key=lambda d: len(d.bad))
    said = f"is what the descriptor {best.fields.said()} says{best.fields.begins()}, {cited}"
    claim = Claim(reach.name, "", MovementKind.DESCRIBED, said, rests)
    mine, other = read.fields.said(), best.fields.said()
    repair = "" if len(read.bad) or _unsaid(book, read) or mine == other else mine
    if _unsaid(book, best) or _shared(reach):  # no question of where single elements lie, which is all that z3 is asked
        return join(claim, [_enumerated(reach, book, best, repair)])
    return join(claim, [_enumerated(reach, book, best, repair), _proof(reach, book, best, budget, solver)])


def _grid(reach: Reach) -> tuple[Table, Table]:
    mn, k = (size(mode) for mode in reach.plain)
    return np.arange(mn)[:, None], np.arange(k)[None, :]


def _addresses(reach: Reach) -> Table:
    mn, k = _grid(reach)
    found: Table = np.asarray(reach.bytes(np.asarray(reach.plain(mn, k)) * reach.element // BYTE))
    return found


def _described(reach: Reach, book: Layouts, name: str, stated: Stated) -> Described:
    """The descriptor of a major with the offsets stated, or else those that agree where LBO and SBO first count."""
    (mn, k), fields = _grid(reach), Fields(name, stated.major, 0, 0, *_parted(reach, stated.major))

    def plain(lbo: int, sbo: int) -> Table:
        bytes_ = replace(fields, lbo=lbo, sbo=sbo).address(book, mn, k, reach.element)
        found: Table = np.asarray(reach.bytes(np.asarray(bytes_)))
        return np.broadcast_to(found, (mn.size, k.size))

    zero, wanted = plain(0, 0), np.asarray(reach.bytes(_addresses(reach)))
    unit = 1 << 20  # above every other part of an address, so that the swizzle's fields stay apart
    leading, stride = (plain(unit, 0) - zero) // unit, (plain(0, unit) - zero) // unit
    found = []
    for mine, other in ((leading, stride), (stride, leading)):
        places = np.argwhere((mine == 1) & (other == 0))
        found.append(int((wanted - zero)[tuple(places[0])]) if len(places) else 0)
    lbo, sbo = (max(0, x) if told is None else told for x, told in zip(found, (stated.lbo, stated.sbo), strict=True))
    bad = np.argwhere(plain(lbo, sbo) != wanted)
    return Described(replace(fields, lbo=lbo, sbo=sbo), bad)


def _parted(reach: Reach, major: str) -> tuple[int, Layout]:
    """The swizzle's width along k and where each such part starts, of a K-major tile of several; else no width.

    A part starts at a multiple of the swizzle's period, or the swizzle would be another there.
    """
    mode, width = reach.plain[1], (CHUNK << reach.swizzle.bits) * BYTE // reach.element
    if major != "K" or not reach.swizzle.bits or size(mode) <= width or size(mode) % width:
        return 0, ONE_START
    try:
        starts = logical_divide(mode, Layout(width))[1]
    except LayoutError:  # no strides tell where parts start
        return 0, ONE_START
    starts = Layout(starts.shape, scaled(starts.stride, reach.element // BYTE))
    if any(image(starts, part) % reach.bytes.period for part in range(size(starts))):
        return 0, ONE_START
    return width, starts


def _enumerated(reach: Reach, book: Layouts, best: Described, repair: str) -> Evidence:
    mn, k = _grid(reach)
    points = mn.size * k.size
    fault, at = _unsaid(book, best) or _shared(reach), {}
    if len(best.bad):
        row, column = (int(c) for c in best.bad[0])
        mine = int(_addresses(reach)[row, column])
        theirs = int(best.fields.address(book, row, column, reach.element))
        fault, at = (
            f"(mn={row}, k={column}) lies at byte {mine}, by the descriptor at {theirs}",
            {"mn": row, "k": column},
        )
    if not fault:
        word = _word(book, best.fields)
        method = f"exhaustive; at address 0 the descriptor is {word:#018x}"
        return Evidence(Witness.BOOK, Status.PROVED, method, points, "numpy")
    damage = (f"{len(best.bad)} of {points} elements lie elsewhere",) if len(best.bad) else ()
    wrong = Counterexample(
        at, fault, extent="smallest" if at else "", damage=damage, repair=repair, replay=reach.replay
    )
    return Evidence(Witness.BOOK, Status.REFUTED, "exhaustive", points, "numpy", counterexample=wrong)


def _shared(reach: Reach) -> str:
    """Two elements that lie at one address; empty where each has its own."""
    flat = _addresses(reach).ravel(order="F")
    _, first, group = np.unique(flat, return_index=True, return_inverse=True)
    again = np.flatnonzero(first[group] != np.arange(len(flat)))
    if not len(again):
        return ""
    rows = size(reach.plain[0])
    one, other = (divmod(int(i), rows) for i in (first[group[again[0]]], again[0]))
    here, there = (f"(mn={mn}, k={k})" for k, mn in (one, other))
    return f"{here} and {there} both lie at byte {int(flat[again[0]])}"


def _word(book: Layouts, fields: Fields) -> int:
    """The descriptor at address 0."""
    return book.descriptor(start=0, lbo=fields.lbo, sbo=fields.sbo, swizzle=fields.swizzle)


def _unsaid(book: Layouts, best: Described) -> str:
    """Why the fields cannot be written into a descriptor; empty when they can."""
    try:
        _word(book, best.fields)
    except isa_tables.IsaError as error:
        return str(error)
    return ""


def _proof(reach: Reach, book: Layouts, best: Described, budget: int, solver: proofs.Solver) -> Evidence:
    """The same for the layout's shape and stride before the solver; both sides are taken before the swizzle."""
    from proofs.layout.movement import HandOver, prove_handed

    swizzle = reach.bytes

    def wanted(mn: Any, k: Any) -> Any:
        address = best.fields.address(book, mn, k, reach.element)
        return address ^ ((address & swizzle.yyy_mask) >> swizzle.shift) if swizzle.bits else address

    rows, columns = (Layout(mode.shape, stride) for mode, stride in zip(reach.plain, _strides(reach), strict=True))
    over = HandOver(lambda mn, k: (mn, k), rows, columns, wanted, Layout(size(columns)), size(rows))
    outcome = prove_handed(over, budget, solver)
    wrong = None
    if outcome.model is not None:
        at = outcome.model
        said = (
            f"(mn={at['lane']}, k={at['value']}) lies at {at['place']}, by the descriptor at {at['wanted']}, unswizzled"
        )
        wrong = Counterexample(dict(at), said)
    return solved(outcome, wrong)


def _strides(reach: Reach) -> Iterator[Any]:
    """The strides of both modes, in bytes."""
    return (scaled(mode.stride, reach.element // BYTE) for mode in reach.plain)
