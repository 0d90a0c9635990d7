# SPDX-License-Identifier: Apache-2.0
"""A tiling made ready for judgement: its atom looked up, its numbers found to fit, its TiledMMA built."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from math import prod

import numpy as np

from layouts import Layout, LayoutError, leaves, size
from layouts.atoms import AnyAtom, Atom
from layouts.coords import Index
from layouts.tensor import Tensor
from layouts.tiled import MmaAtom, TiledMMA
from verify.cli import UsageError, nearest
from verify.subject import Part, Subject
from verify.subject import prepare as prepare_atom
from verify.tiling_stated import AXES, Stated

THREADS = 1024  # of a CTA
ELEMENTS = 1 << 22  # of an operand's tile: more are not enumerated
LIKE = {"E": "A", "SFA": "A", "SFB": "B"}  # metadata and scale factors are dealt out as what they belong to
ALONG = {"A": (0, 2), "B": (1, 2), "C": (0, 1)}  # which of M, N, K an operand's axes are


class TilingKind(Enum):
    """The kinds of claim that a tiling makes beside those of its atom."""

    THREADS = "threads"
    PARTITION = "partition"
    MULTIPLES = "multiples"
    REGISTERS = "registers"
    CALLS = "calls"
    SMEM = "swizzle atom"

    @property
    def label(self) -> str:
        """The kind as reports write it."""
        return self.value


class IllFormed(Exception):
    """An operand of the atom is no (thread, value) layout, so that nothing can be tiled."""

    def __init__(self, part: str, text: str, fault: str) -> None:
        super().__init__(fault)
        self.part = part
        self.text = text


@dataclass(frozen=True, slots=True)
class Dealt:
    """One operand of a tiling. `mma` is the TiledMMA in which it stands as operand `like`: A, B or C."""

    part: Part
    mma: TiledMMA
    like: str
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

    stated: Stated
    subject: Subject
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
        return counts(self.stated)

    @property
    def threads(self) -> int:
        """Threads that work."""
        return self.subject.threads * prod(self.atoms)

    @property
    def covered(self) -> tuple[int, int, int]:
        """What one tiled MMA covers, as stated."""
        return covered(self.stated, self.subject.mma)

    def question(self, *operands: Dealt) -> tuple[object, ...]:
        """What claims about these operands depend on: equal for tilings that deal them out alike."""
        stated, atom = self.stated, self.subject.mma
        how = (atom.shape, atom.thr, str(stated.atoms_layout), str(stated.permutation), self.tile)
        parts = ((d.name, d.part.text, d.copies, stated.claimed.get(d.name, "")) for d in operands)
        return (*how, *parts)


def counts(stated: Stated) -> tuple[int, int, int]:
    """How many atoms stand along M, N, K."""
    m, n, k = (size(mode) for mode in stated.atoms_layout)
    return m, n, k


def covered(stated: Stated, atom: Atom) -> tuple[int, int, int]:
    """What one tiled MMA covers: as many coordinates as a permutation has positions, or as the atoms take."""
    tilers = zip(stated.permutation, atom.shape, counts(stated), strict=True)
    m, n, k = (size(tiler) if isinstance(tiler, Layout) else tiler or each * count for tiler, each, count in tilers)
    return m, n, k


def find(stated: Stated, pool: Mapping[str, AnyAtom]) -> Atom:
    """The atom that a tiling names; raises UsageError with the nearest names."""
    atom = pool.get(stated.atom)
    if atom is None:
        raise _refused(stated, "atom", f"no atom is named {stated.atom!r}{nearest(stated.atom, list(pool))}")
    if not isinstance(atom, Atom):
        raise _refused(stated, "atom", f"{atom.name} is a copy atom; a tiling is of an MMA atom")
    return atom


def prepare(stated: Stated, atom: Atom) -> Tiling:
    """Check the numbers of a tiling and build it.

    Raises IllFormed where the atom's layouts are none, UsageError where the numbers do not fit each other.
    """
    subject = prepare_atom(atom)
    for part in subject.parts:
        if part.layout is None:
            raise IllFormed(part.name, part.text, part.fault)
    if subject.thr is None:
        raise IllFormed("thr", atom.thr, subject.thr_fault)
    _check_threads(stated, atom, subject.threads)
    for axis in range(3):
        _check_permutation(stated, atom, axis)
    try:
        mma = TiledMMA(atom, stated.atoms_layout, stated.permutation)
        dealt = tuple(_dealt(subject, part, mma, stated) for part in subject.parts)
        for operand in dealt:
            operand.layout_tv()
    except LayoutError as error:
        raise _refused(stated, "", f"{atom.name}: {error}") from error
    if mma.size > THREADS:
        why = f"threads are numbered up to {mma.size - 1}, a CTA has at most {THREADS}"
        raise _refused(stated, "atoms_layout", f"{stated.atoms_layout} of {atom.name}: {why}")
    unit = covered(stated, atom)
    tile = stated.tile or unit
    _check_tile(stated, tile, unit)
    return Tiling(stated, subject, mma, tile, dealt)


def _dealt(subject: Subject, part: Part, mma: TiledMMA, stated: Stated) -> Dealt:
    like = LIKE.get(part.name, part.name)
    numbers = subject.multiplicity(part), subject.mma.shape, counts(stated)
    if like == part.name:
        return Dealt(part, mma, like, *numbers)
    layouts = {p.name: p.layout for p in subject.parts} | {like: part.layout}
    atom = MmaAtom(subject.mma.shape, subject.thr, layouts["A"], layouts["B"], layouts["C"])  # type: ignore[arg-type]
    return Dealt(part, TiledMMA(atom, stated.atoms_layout, stated.permutation), like, *numbers)


def _refused(stated: Stated, key: str, problem: str) -> UsageError:
    """What is wrong with a statement, and where it stands."""
    if stated.file:
        return UsageError(f"{stated.file}: {stated.name}{f'.{key}' if key else ''}: {problem}")
    return UsageError(f"--{key.replace('_', '-')}: {problem}" if key else problem)


def _check_threads(stated: Stated, atom: Atom, per_atom: int) -> None:
    counts = [size(mode) for mode in stated.atoms_layout]
    threads = per_atom * prod(counts)
    if threads > THREADS:
        times = "x".join(map(str, counts))
        most = THREADS // per_atom
        raise _refused(
            stated,
            "atoms_layout",
            f"{times} atoms of {per_atom} thread{'s' * (per_atom > 1)} each make {threads} threads, a CTA has at most "
            f"{THREADS}: at most {most} atoms of {atom.name} would do",
        )


def _check_permutation(stated: Stated, atom: Atom, axis: int) -> None:
    tiler, count = stated.permutation[axis], size(stated.atoms_layout[axis])
    if tiler is None:
        return
    extent, unit = size(tiler) if isinstance(tiler, Layout) else tiler, atom.shape[axis] * count
    if extent % unit:
        why = f"{count} atom{'s' * (count > 1)} of {atom.shape[axis]} along {AXES[axis]} need a multiple of {unit}"
        has = f" has {extent} positions" if isinstance(tiler, Layout) else ""
        raise _refused(stated, "permutation", f"{AXES[axis]} = {tiler}{has}, {why}: {_near(extent, unit)}")
    if isinstance(tiler, Layout):
        _check_cover(stated, AXES[axis], tiler)


def _check_cover(stated: Stated, axis: str, tiler: Layout) -> None:
    """A permutation's positions must be the coordinates 0 .. extent-1, each once."""
    extent = size(tiler)
    reached = tiler(np.arange(extent))
    missing = np.setdiff1d(np.arange(extent), reached)
    if len(missing):
        outside = reached[(reached < 0) | (reached >= extent)]
        why = f"{axis} = {tiler} does not cover 0..{extent - 1}: coordinate {missing[0]} is nobody's"
        why += f", {outside[0]} is outside" if len(outside) else ", another has two positions"
        raise _refused(stated, "permutation", f"{why}; {_compacted(tiler)} would do")


def _compacted(tiler: Layout) -> Layout:
    """The layout of the same shape whose strides keep their order and leave no hole."""
    shape, stride = leaves(tiler.shape), list(leaves(tiler.stride))
    reached = 1
    for mode in sorted(range(len(shape)), key=lambda i: (abs(stride[i]), i)):
        stride[mode], reached = reached, reached * shape[mode]
    return Layout(shape[0], stride[0]) if len(shape) == 1 else Layout(shape, tuple(stride))


def _check_tile(stated: Stated, tile: tuple[int, int, int], unit: tuple[int, int, int]) -> None:
    for axis, extent, step in zip(AXES, tile, unit, strict=True):
        if extent % step:
            raise _refused(
                stated,
                "tile",
                f"{axis} = {extent} is not a multiple of {step}, what one tiled MMA of {stated.atom} covers: "
                f"{_near(extent, step)}",
            )
    m, n, k = tile
    if max(m * n, n * k, m * k) > ELEMENTS:
        raise _refused(stated, "tile", f"{m},{n},{k} has an operand of more than {ELEMENTS} elements")


def _near(extent: int, step: int) -> str:
    """The multiples on both sides."""
    below = extent // step * step
    return f"{below} or {below + step} would do" if below else f"{step} would do"
