# SPDX-License-Identifier: Apache-2.0
"""What cannot be a tiling, refused in one line that says which number is wrong and which would do."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from layouts import Layout, LayoutError, size
from layouts.atoms import Atom
from verify.core.digits import digits, every
from verify.core.errors import SpecError
from verify.tiling.spec import AS_IT_IS, AXES, TilingSpec
from verify.tiling.suggest import (
    THREADS,
    Build,
    along_one_axis,
    builds,
    nearest_atoms,
    permutations_in_order,
    straightened,
    tiler_in_place,
)

ELEMENTS = 1 << 22  # of an operand's tile: more are not enumerated


def check_threads(stated: TilingSpec, atom: Atom, per_atom: int, build: Build) -> None:
    """Refuse more threads than a CTA has, and atoms that share a number."""
    threads = per_atom * prod(stated.counts)
    if threads > THREADS:
        times = "x".join(map(str, stated.counts))
        raise stated.error(
            "atoms_layout",
            f"{times} atoms of {per_atom} thread{'s' * (per_atom > 1)} each make {threads} threads, a CTA has at most "
            f"{THREADS}: at most {THREADS // per_atom} atoms of {atom.name} would do",
        )
    atoms = stated.atoms_layout
    numbers = every(atoms.shape, atoms.stride)
    twice = next((at for at, number in enumerate(numbers) if number in numbers[:at]), None)
    low = min(range(len(numbers)), key=numbers.__getitem__)
    if twice is not None:
        pair = f"{_place(stated, numbers.index(numbers[twice]))} and {_place(stated, twice)}"
        raise _atoms_refused(stated, f"{atoms}: atoms {pair} are both number {numbers[twice]}", build)
    if numbers[low] < 0:
        raise _atoms_refused(stated, f"{atoms}: atom {_place(stated, low)} has the number {numbers[low]}", build)


def check_atoms(stated: TilingSpec, atom: Atom, build: Build) -> None:
    """Refuse atoms of which no TiledMMA is made, however they are permuted."""
    try:
        threads = build(replace(stated, permutation=AS_IT_IS)).size
    except LayoutError as error:
        raise _unnumbered(stated, atom, error, build) from error
    check_numbers(stated, atom, threads, build)


def check_numbers(stated: TilingSpec, atom: Atom, threads: int, build: Build) -> None:
    """Refuse threads with numbers that a CTA does not have."""
    if threads > THREADS:
        why = f"threads are numbered up to {threads - 1}, a CTA has at most {THREADS}"
        raise _atoms_refused(stated, f"{stated.atoms_layout} of {atom.name}: {why}", build)


def _unnumbered(stated: TilingSpec, atom: Atom, error: LayoutError, build: Build) -> SpecError:
    """Holes in the atoms' numbers, or counts that leave lanes between the atoms'."""
    atoms, between = stated.atoms_layout, f"cannot be numbered between the lanes {atom.thr} of {atom.name}"
    if straight := straightened(stated, build):
        return stated.error("atoms_layout", f"{atoms} leaves holes that no layout fills; {straight} would do")
    if one := along_one_axis(stated, build):
        axis, near = one
        count = stated.counts[axis]
        why = f"{atoms}: {count} atom{'s' * (count > 1)} along {AXES[axis]} {between}"
        return stated.error("atoms_layout", f"{why}; {_either(near)} would do")
    if near := nearest_atoms(stated, build):
        return stated.error("atoms_layout", f"{atoms}: the atoms {between}; {_either(near)} would do")
    return stated.error("", f"{stated.atom}: {error}")


def _atoms_refused(stated: TilingSpec, why: str, build: Build) -> SpecError:
    near = nearest_atoms(stated, build)
    return stated.error("atoms_layout", f"{why}; {_either(near)} would do" if near else why)


def check_permutation(stated: TilingSpec, atom: Atom, axis: int, build: Build) -> None:
    """Refuse a permutation that the atoms do not divide, or that leaves a coordinate out."""
    tiler, count = stated.permutation[axis], stated.counts[axis]
    if tiler is None:
        return
    extent, unit = size(tiler) if isinstance(tiler, Layout) else tiler, atom.shape[axis] * count
    if extent % unit:
        why = f"{_count(count, atom.shape[axis], axis)} need{'s' * (count == 1)} a multiple of {unit}"
        has = f" has {extent} position{'s' * (extent > 1)}" if isinstance(tiler, Layout) else ""
        raise stated.error("permutation", f"{AXES[axis]} = {tiler}{has}, {why}: {_near(extent, unit)}")
    if isinstance(tiler, Layout):
        _check_cover(stated, axis, tiler, build)


def _check_cover(stated: TilingSpec, axis: int, tiler: Layout, build: Build) -> None:
    """A permutation's positions must be the coordinates 0 .. extent-1, each once."""
    extent = size(tiler)
    reached = every(tiler.shape, tiler.stride)
    missing = sorted(set(range(extent)) - set(reached))
    if missing:
        outside = next((at for at in reached if not 0 <= at < extent), None)
        why = f"{AXES[axis]} = {tiler} does not cover 0..{extent - 1}: coordinate {missing[0]} is nobody's"
        why += ", another has two positions" if outside is None else f", {outside} is outside"
        raise stated.error("permutation", f"{why}; {tiler_in_place(stated, axis, tiler, build)} would do")


def check_tile(stated: TilingSpec, tile: tuple[int, int, int], unit: tuple[int, int, int]) -> None:
    """Refuse a tile that one tiled MMA does not divide, and one too large to be enumerated."""
    for axis, extent, step in zip(AXES, tile, unit, strict=True):
        if extent % step:
            raise stated.error(
                "tile",
                f"{axis} = {extent} is not a multiple of {step}, what one tiled MMA of {stated.atom} covers: "
                f"{_near(extent, step)}",
            )
    m, n, k = tile
    if (most := max(m * n, n * k, m * k)) > ELEMENTS:
        raise stated.error("tile", f"{m},{n},{k} has an operand of {most} elements: at most {ELEMENTS} would do")


def uncut(stated: TilingSpec, error: LayoutError, build: Build) -> SpecError:
    """Why no TiledMMA is made of numbers that fit each other, and the nearest statement of which one is made.

    What is dealt out must again be a layout: a permutation whose modes the atoms cut across has none.
    """
    for axes, permutation in permutations_in_order(stated):
        if builds(replace(stated, permutation=permutation), build):
            given = ", ".join(f"{AXES[axis]} = {stated.permutation[axis]}" for axis in axes)
            cut = " and ".join(f"{stated.counts[axis]} along {AXES[axis]}" for axis in axes)
            instead = ", ".join(f"{AXES[axis]} = {permutation[axis]}" for axis in axes)
            why = f"{given}: atoms of {stated.atom}, {cut}, cut across its modes, and no strides tell what each has"
            return stated.error("permutation", f"{why}; {instead}, in order, would do")
    return stated.error("", f"{stated.atom}: {error}")


def _either(atoms: list[Layout]) -> str:
    return " or ".join(map(str, atoms))


def _place(stated: TilingSpec, index: int) -> str:
    return f"({','.join(map(str, digits(stated.counts, index)))})"


def _count(count: int, extent: int, axis: int) -> str:
    return f"{count} atom{'s' * (count > 1)} of {extent} along {AXES[axis]}"


def _near(extent: int, step: int) -> str:
    """The multiples on both sides."""
    below = extent // step * step
    return f"{below} or {below + step} would do" if below else f"{step} would do"
