# SPDX-License-Identifier: Apache-2.0
"""Tilings bound to the ISA tables: a spec's atom is looked up, its numbers are checked, its TiledMMA is built."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import NamedTuple

from layouts import Layout, LayoutError, size
from layouts.atoms import AnyAtom, Atom
from layouts.coords import Index
from layouts.tensor import Tensor
from layouts.tiled import MmaAtom, TiledMMA
from verify.binding.atom import BoundAtom
from verify.binding.atom import prepare as prepare_atom
from verify.binding.bound import thread_value
from verify.binding.operand import BoundOperand, map_layout
from verify.core.digits import modes
from verify.core.errors import SpecError
from verify.core.names import nearest
from verify.maps.map import MapError
from verify.maps.strided import StridedMap
from verify.maps.synthesis import as_layout
from verify.tiling.spec import TilingSpec
from verify.tiling.validate import (
    check_atoms,
    check_numbers,
    check_permutation,
    check_threads,
    check_tile,
    uncut,
)

LIKE = {"E": "A", "SFA": "A", "SFB": "B"}  # metadata and scale factors are distributed as their operand
ALONG = {"A": (0, 2), "B": (1, 2), "C": (0, 1)}  # an operand's axes, as indices of M, N, K


class IllFormed(Exception):
    """An operand of the atom has no (thread, value) layout: there is nothing to tile. It always has a fault."""

    def __init__(self, part: str, text: str, fault: str) -> None:
        if not fault:
            raise ValueError(f"{part} = {text} has no fault: a form without one is proved")
        super().__init__(fault)
        self.part = part
        self.text = text


class OutOfTile(Exception):
    """Operands of the atom name elements outside their own tiles: tiling them distributes nothing."""

    def __init__(self, subject: BoundAtom, parts: tuple[BoundOperand, ...]) -> None:
        super().__init__(", ".join(f"{part.name} = {part.text} leaves {part.tile}" for part in parts))
        self.subject = subject
        self.parts = parts


@dataclass(frozen=True)
class TiledOperand:
    """One operand of a tiling, with its (thread, value) layout: the one that the spec claims, else the tiled MMA's."""

    spec: TilingSpec
    subject: BoundAtom  # the atom
    part: BoundOperand  # the operand of the atom
    mma: TiledMMA  # the TiledMMA in which it is operand `like`
    like: str  # A, B or C

    @property
    def name(self) -> str:
        """The operand's name."""
        return self.part.name

    @property
    def along(self) -> tuple[int, int]:
        """Its axes, as indices of M, N, K."""
        return ALONG[self.like]

    @property
    def copies(self) -> int:
        """Owners of each element in one atom."""
        return self.subject.multiplicity(self.part)

    @property
    def atoms_across(self) -> int:
        """Atoms along the axis that the operand lacks: all of them hold the same elements."""
        (missing,) = {0, 1, 2} - set(self.along)
        return self.spec.counts[missing]

    @property
    def owners(self) -> int:
        """How many (thread, value) hold each element."""
        return self.copies * self.atoms_across

    @cached_property
    def layout_tv(self) -> Layout:
        """(thread, value) -> element of the tile that one tiled MMA covers."""
        layout: Layout = getattr(self.mma, f"layout{self.like}_TV")
        return layout

    def partition(self, thread: Index, tensor: Tensor) -> Tensor:
        """Return a thread's part of a tensor over the operand's tile; for a column of threads, a row for each part."""
        return self.mma.get_slice(thread).partition(self.like, tensor)

    def extent(self, tile: tuple[int, int, int]) -> tuple[int, int]:
        """Return the operand's extent in a tile."""
        return tile[self.along[0]], tile[self.along[1]]

    def repeats(self, tile: tuple[int, int, int]) -> tuple[int, int]:
        """How often the tiled MMA is repeated along the operand's axes to fill a tile."""
        shape, counts = self.subject.mma.shape, self.spec.counts
        x, y = (tile[i] // (shape[i] * counts[i]) for i in self.along)
        return x, y

    @property
    def claimed_text(self) -> str:
        """The text of the claimed layout; empty where the spec claims none."""
        return self.spec.claimed.get(self.name, "")

    @cached_property
    def claimed_layout(self) -> tuple[Layout | None, str]:
        """The layout, or why the claimed text is not one."""
        return thread_value(self.claimed_text) if self.claimed_text else (self.layout_tv, "")

    @property
    def layout(self) -> Layout:
        """The layout. Raises TypeError where it is not well formed."""
        if self.claimed_layout[0] is None:
            raise TypeError(f"{self.claimed_text} is not well formed: {self.claimed_layout[1]}")
        return self.claimed_layout[0]

    @cached_property
    def covered_map(self) -> StridedMap:
        """Return its layout as a map onto the tile that one tiled MMA covers."""
        return map_layout(self.name, self.layout, self.extent(self.spec.cover(self.subject.mma.shape)))

    @property
    def covering(self) -> int:
        """Return the owners of each element in what one tiled MMA covers: threads that only repeat others count too."""
        return self.owners * (size(self.layout_tv[0]) // (self.subject.threads * prod(self.spec.counts)))


class Tiling(NamedTuple):
    """A tiling bound to its atom and its TiledMMA."""

    spec: TilingSpec
    subject: BoundAtom
    mma: TiledMMA
    tile: tuple[int, int, int]
    operands: tuple[TiledOperand, ...]

    @property
    def name(self) -> str:
        """The name that reports give it."""
        return self.spec.name

    @property
    def atoms(self) -> tuple[int, int, int]:
        """Atoms side by side along M, N, K."""
        return self.spec.counts

    @property
    def threads(self) -> int:
        """Threads that hold values."""
        return self.subject.threads * prod(self.atoms)

    @property
    def covered_shape(self) -> tuple[int, int, int]:
        """What one tiled MMA covers, by the spec."""
        return self.spec.cover(self.subject.mma.shape)

    def cache_key(self, *operands: TiledOperand) -> tuple[object, ...]:
        """Return what claims about these operands depend on: equal for tilings that distribute them alike."""
        spec, atom = self.spec, self.subject.mma
        how = (atom.shape, atom.thr, str(spec.atoms_layout), str(spec.permutation), self.tile)
        parts = ((d.name, d.part.text, d.copies, d.claimed_text) for d in operands)
        return (*how, *parts)


def find(spec: TilingSpec, pool: Mapping[str, AnyAtom]) -> Atom:
    """Return the atom that a spec names; raise SpecError with the nearest names."""
    atom = pool.get(spec.atom)
    if atom is None:
        raise spec.error("atom", f"no atom is named {spec.atom!r}{nearest(spec.atom, list(pool), 'atom')}")
    if not isinstance(atom, Atom):
        raise spec.error("atom", f"{atom.name} is a copy atom; a tiling needs an MMA atom")
    return atom


def prepare(spec: TilingSpec, atom: Atom) -> Tiling:
    """Return the tiling of a spec, its numbers checked.

    Raises IllFormed where the atom's layouts are not well formed, OutOfTile where they leave their tiles, SpecError
    where they have a swizzle or coordinates, or where the numbers do not fit each other.
    """
    subject = prepare_atom(atom)
    for part in subject.parts:
        if part.map is not None and part.layout is None:
            raise _given_by_points(spec, part)
    faults = [(part.name, part.text, part.fault) for part in subject.parts if part.layout is None]
    if subject.thr is None:
        faults.append(("thr", atom.thr, subject.thr_fault))
    if faults:
        raise IllFormed(*faults[0])
    if outside := tuple(part for part in subject.parts if leaves_its_tile(part)):
        raise OutOfTile(subject, outside)

    def build(changed: TilingSpec) -> TiledMMA:
        return _build(changed, subject)[0]

    check_threads(spec, atom, subject.threads, build)
    try:
        mma, operands = _build(spec, subject)
    except LayoutError as error:
        check_atoms(spec, atom, build)
        for axis in range(3):
            check_permutation(spec, atom, axis, build)
        raise uncut(spec, error, build) from error
    check_numbers(spec, atom, mma.size, build)
    for operand in operands:
        _check_strides(spec, operand)
    unit = spec.cover(atom.shape)
    tile = spec.tile or unit
    check_tile(spec, tile, unit)
    return Tiling(spec, subject, mma, tile, operands)


def _given_by_points(spec: TilingSpec, part: BoundOperand) -> SpecError:
    """Return the error of a layout behind a swizzle or with coordinates: a TiledMMA has none, so nothing is checked."""
    try:
        same = as_layout(part.points)
    except MapError:
        same = ""
    would = f"{same} is the same map and would do" if same and " o " not in same else "it is the map of no plain layout"
    what = f"{part.name} = {part.text} has a swizzle or coordinates, the layouts of a tiled MMA have none"
    return spec.error("atom" if spec.file else "", f"{spec.atom}: {what}; {would}")


def leaves_its_tile(part: BoundOperand) -> bool:
    """Whether an element is below 0 or beyond the last: the range's ends are sums of each digit's ends."""
    if part.layout is None:
        return False
    ends = [(s - 1) * d for s, d in modes(part.layout.shape, part.layout.stride)]
    return sum(min(end, 0) for end in ends) < 0 or sum(max(end, 0) for end in ends) >= prod(part.extent)


def _check_strides(spec: TilingSpec, tiled: TiledOperand) -> None:
    """Reject an atom that steps across the end of its first axis: in a larger tile it would be no layout."""
    x, y = tiled.extent(spec.cover(tiled.subject.mma.shape))
    try:
        tiled.mma.thrfrg(tiled.like, Layout((x, y), (y + 1, 1)))
    except LayoutError as error:
        first, second = tiled.part.axes
        why = f"{tiled.name} = {tiled.part.text} steps across the end of {first}, {tiled.part.extent[0]}, into {second}"
        text = f"{spec.atom}: {why}, so in a larger tile it isn't a layout"
        raise spec.error("atom" if spec.file else "", text) from error


def _build(spec: TilingSpec, subject: BoundAtom) -> tuple[TiledMMA, tuple[TiledOperand, ...]]:
    """Return the TiledMMA and its operands; raise LayoutError where it or one of its layouts does not exist."""
    whole = TiledMMA(subject.mma, spec.atoms_layout, spec.permutation)
    operands = []
    for part in subject.parts:
        mma, like = whole, LIKE.get(part.name, part.name)
        if like != part.name:
            layouts = {p.name: p.layout for p in subject.parts} | {like: part.layout}
            a, b, c = (layouts[name] for name in "ABC")
            atom = MmaAtom(subject.mma.shape, subject.thr, a, b, c)  # type: ignore[arg-type]
            mma = TiledMMA(atom, spec.atoms_layout, spec.permutation)
        operands.append(TiledOperand(spec, subject, part, mma, like))
        _ = operands[-1].layout_tv  # raises LayoutError where the atom leaves the tile
    return whole, tuple(operands)
