# SPDX-License-Identifier: Apache-2.0
"""A tiling made ready for judgement: its atom looked up, its numbers found to fit, its TiledMMA built."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

from layouts import Layout, LayoutError, size
from layouts.atoms import AnyAtom, Atom
from layouts.coords import Index
from layouts.tensor import Tensor
from layouts.tiled import MmaAtom, TiledMMA
from verify.binding.atom import BoundAtom, BoundOperand, thread_value
from verify.binding.atom import prepare as prepare_atom
from verify.core.digits import modes
from verify.core.names import nearest
from verify.tiling.spec import TilingSpec
from verify.tiling.validate import (
    check_atoms,
    check_numbers,
    check_permutation,
    check_threads,
    check_tile,
    uncut,
)

LIKE = {"E": "A", "SFA": "A", "SFB": "B"}  # metadata and scale factors are dealt out as what they belong to
ALONG = {"A": (0, 2), "B": (1, 2), "C": (0, 1)}  # which of M, N, K an operand's axes are


class IllFormed(Exception):
    """An operand of the atom is no (thread, value) layout, so that nothing can be tiled."""

    def __init__(self, part: str, text: str, fault: str) -> None:
        super().__init__(fault)
        self.part = part
        self.text = text


class OutOfTile(Exception):
    """Operands of the atom name elements outside their own tiles, so that nothing is dealt out by tiling them."""

    def __init__(self, subject: BoundAtom, parts: tuple[BoundOperand, ...]) -> None:
        super().__init__(", ".join(f"{part.name} = {part.text} leaves {part.tile}" for part in parts))
        self.subject = subject
        self.parts = parts


@dataclass(frozen=True, slots=True)
class Dealt:
    """One operand of a tiling. `mma` is the TiledMMA in which it stands as operand `like`: A, B or C."""

    part: BoundOperand  # the operand of the atom
    mma: TiledMMA  # the TiledMMA in which it is operand `like`
    like: str  # A, B or C
    copies: int  # how often the atom itself holds each element
    shape: tuple[int, int, int]  # of the atom
    counts: tuple[int, int, int]  # of atoms along M, N, K

    @property
    def name(self) -> str:
        """The operand's name."""
        return self.part.name

    @property
    def along(self) -> tuple[int, int]:
        """Which of M, N, K its axes are."""
        return ALONG[self.like]

    @property
    def others(self) -> int:
        """Atoms along the axis that it lacks: all of them hold the same."""
        (missing,) = {0, 1, 2} - set(self.along)
        return self.counts[missing]

    @property
    def held(self) -> int:
        """How many (thread, value) hold each element."""
        return self.copies * self.others

    def layout_tv(self) -> Layout:
        """(thread, value) -> element of the tile that one tiled MMA covers."""
        found: Layout = getattr(self.mma, f"layout{self.like}_TV")
        return found

    def partition(self, thread: Index, tensor: Tensor) -> Tensor:
        """A thread's part of a tensor over the operand's tile, or of a column of threads the rows of their parts."""
        part: Tensor = getattr(self.mma.get_slice(thread), f"partition_{self.like}")(tensor)
        return part

    def extent(self, tile: tuple[int, int, int]) -> tuple[int, int]:
        """The operand's part of a tile."""
        return tile[self.along[0]], tile[self.along[1]]

    def repeats(self, tile: tuple[int, int, int]) -> tuple[int, int]:
        """How often the atoms are repeated along its axes to fill a tile."""
        x, y = (tile[i] // (self.shape[i] * self.counts[i]) for i in self.along)
        return x, y


@dataclass(frozen=True, slots=True)
class Tiling:
    """A tiling with everything that its claims are about."""

    stated: TilingSpec
    subject: BoundAtom
    mma: TiledMMA
    tile: tuple[int, int, int]
    dealt: tuple[Dealt, ...]

    @property
    def name(self) -> str:
        """The name that reports give it."""
        return self.stated.name

    @property
    def atoms(self) -> tuple[int, int, int]:
        """Atoms side by side along M, N, K."""
        return self.stated.counts

    @property
    def threads(self) -> int:
        """Threads that work."""
        return self.subject.threads * prod(self.atoms)

    @property
    def covered(self) -> tuple[int, int, int]:
        """What one tiled MMA covers, as stated."""
        return self.stated.covered(self.subject.mma.shape)

    def question(self, *operands: Dealt) -> tuple[object, ...]:
        """What claims about these operands depend on: equal for tilings that deal them out alike."""
        stated, atom = self.stated, self.subject.mma
        how = (atom.shape, atom.thr, str(stated.atoms_layout), str(stated.permutation), self.tile)
        parts = ((d.name, d.part.text, d.copies, stated.claimed.get(d.name, "")) for d in operands)
        return (*how, *parts)


@dataclass(frozen=True)
class Operand:
    """One operand of a tiling, with the (thread, value) layout that is claimed of it, or else is the tiled MMA's."""

    tiling: Tiling
    dealt: Dealt

    @property
    def name(self) -> str:
        """The operand's name."""
        return self.dealt.name

    @property
    def claimed(self) -> str:
        """The layout's text where one is claimed; empty where none is."""
        return self.tiling.stated.claimed.get(self.name, "")

    @cached_property
    def read(self) -> tuple[Layout | None, str]:
        """The layout, or why what is claimed is none."""
        return thread_value(self.claimed) if self.claimed else (self.dealt.layout_tv(), "")

    @property
    def layout(self) -> Layout:
        """The layout. Raises TypeError where it is not well formed."""
        if self.read[0] is None:
            raise TypeError(f"{self.claimed} is not well formed: {self.read[1]}")
        return self.read[0]

    @cached_property
    def whole(self) -> tuple[BoundAtom, BoundOperand]:
        """The operand of one tiled MMA as that of an atom: the claims about its layout are those of an atom's."""
        tiling, dealt, layout = self.tiling, self.dealt, self.layout
        threads = size(dealt.layout_tv()[0])
        atom = replace(tiling.subject.mma, copies={dealt.name: dealt.held * (threads // tiling.threads)})
        part = BoundOperand(dealt.name, str(layout), layout, "", dealt.extent(tiling.covered), ())
        held = size(layout[0])
        return BoundAtom(atom, Layout(held, 1), Layout(1, 0), "", held, (part,), ()), part


def find(stated: TilingSpec, pool: Mapping[str, AnyAtom]) -> Atom:
    """The atom that a tiling names; raises SpecError with the nearest names."""
    atom = pool.get(stated.atom)
    if atom is None:
        raise stated.error("atom", f"no atom is named {stated.atom!r}{nearest(stated.atom, list(pool), 'atom')}")
    if not isinstance(atom, Atom):
        raise stated.error("atom", f"{atom.name} is a copy atom; a tiling is of an MMA atom")
    return atom


def prepare(stated: TilingSpec, atom: Atom) -> Tiling:
    """Check the numbers of a tiling and build it.

    Raises IllFormed where the atom's layouts are none, OutOfTile where they leave their tiles, SpecError where the
    numbers do not fit each other.
    """
    subject = prepare_atom(atom)
    for part in subject.parts:
        if part.layout is None:
            raise IllFormed(part.name, part.text, part.fault)
    if subject.thr is None:
        raise IllFormed("thr", atom.thr, subject.thr_fault)
    if outside := tuple(part for part in subject.parts if _leaves_its_tile(part)):
        raise OutOfTile(subject, outside)

    def build(other: TilingSpec) -> TiledMMA:
        return _built(other, subject)[0]

    check_threads(stated, atom, subject.threads, build)
    try:
        mma, dealt = _built(stated, subject)
    except LayoutError as error:
        check_atoms(stated, atom, build)
        for axis in range(3):
            check_permutation(stated, atom, axis, build)
        raise uncut(stated, error, build) from error
    check_numbers(stated, atom, mma.size, build)
    for operand in dealt:
        _check_strides(stated, operand)
    unit = stated.covered(atom.shape)
    tile = stated.tile or unit
    check_tile(stated, tile, unit)
    return Tiling(stated, subject, mma, tile, dealt)


def _leaves_its_tile(part: BoundOperand) -> bool:
    """Whether an element is below 0 or beyond the last: each digit alone decides its end of the range."""
    if part.layout is None:
        return False
    ends = [(s - 1) * d for s, d in modes(part.layout.shape, part.layout.stride)]
    return sum(min(end, 0) for end in ends) < 0 or sum(max(end, 0) for end in ends) >= prod(part.extent)


def _check_strides(stated: TilingSpec, dealt: Dealt) -> None:
    """Refuse an atom that steps across the end of its first axis: no strides tell who has what of a larger tile."""
    x, y = (stated.covered(dealt.shape)[axis] for axis in dealt.along)
    try:
        dealt.mma.thrfrg(dealt.like, Layout((x, y), (y + 1, 1)))
    except LayoutError as error:
        first, second = dealt.part.axes
        why = f"{dealt.name} = {dealt.part.text} steps across the end of {first}, {dealt.part.extent[0]}, into {second}"
        told = f"{stated.atom}: {why}, and no strides tell what it has of a larger tile"
        raise stated.error("atom" if stated.file else "", told) from error


def _built(stated: TilingSpec, subject: BoundAtom) -> tuple[TiledMMA, tuple[Dealt, ...]]:
    """The TiledMMA and its operands; raises LayoutError where it or one of its layouts cannot be."""
    mma = TiledMMA(subject.mma, stated.atoms_layout, stated.permutation)
    dealt = tuple(_dealt(subject, part, mma, stated) for part in subject.parts)
    for operand in dealt:
        operand.layout_tv()
    return mma, dealt


def _dealt(subject: BoundAtom, part: BoundOperand, mma: TiledMMA, stated: TilingSpec) -> Dealt:
    like = LIKE.get(part.name, part.name)
    numbers = subject.multiplicity(part), subject.mma.shape, stated.counts
    if like == part.name:
        return Dealt(part, mma, like, *numbers)
    layouts = {p.name: p.layout for p in subject.parts} | {like: part.layout}
    atom = MmaAtom(subject.mma.shape, subject.thr, layouts["A"], layouts["B"], layouts["C"])  # type: ignore[arg-type]
    return Dealt(part, TiledMMA(atom, stated.atoms_layout, stated.permutation), like, *numbers)
