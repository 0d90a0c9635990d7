# SPDX-License-Identifier: Apache-2.0
"""Validation of specs: an error is one line with the wrong number and one that would do."""

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
    builds,
    nearest_atoms,
    permutations_in_order,
    tiler_in_place,
)

ELEMENTS = 1 << 22  # of an operand's tile at most


def check_threads(spec: TilingSpec, atom: Atom, per_atom: int, build: Build) -> None:
    """Reject more threads than a CTA has, and atoms that share a number."""
    threads = per_atom * prod(spec.counts)
    if threads > THREADS:
        times = "x".join(map(str, spec.counts))
        raise spec.error(
            "atoms_layout",
            f"{times} atoms of {per_atom} thread{'s' * (per_atom > 1)} each make {threads} threads, a CTA has at most "
            f"{THREADS}: at most {THREADS // per_atom} atoms of {atom.name} would do",
        )
    atoms = spec.atoms_layout
    numbers = every(atoms.shape, atoms.stride)
    twice = next((at for at, number in enumerate(numbers) if number in numbers[:at]), None)
    low = min(range(len(numbers)), key=numbers.__getitem__)
    if twice is not None:
        pair = f"{_place(spec, numbers.index(numbers[twice]))} and {_place(spec, twice)}"
        raise _atoms_rejected(spec, f"{atoms}: atoms {pair} are both number {numbers[twice]}", build)
    if numbers[low] < 0:
        raise _atoms_rejected(spec, f"{atoms}: atom {_place(spec, low)} has the number {numbers[low]}", build)


def check_atoms(spec: TilingSpec, atom: Atom, build: Build) -> None:
    """Reject atoms that have no TiledMMA under any permutation."""
    try:
        threads = build(replace(spec, permutation=AS_IT_IS)).size
    except LayoutError as error:
        raise _describe_holes(spec, atom, error, build) from error
    check_numbers(spec, atom, threads, build)


def check_numbers(spec: TilingSpec, atom: Atom, threads: int, build: Build) -> None:
    """Reject threads with numbers that a CTA does not have."""
    if threads > THREADS:
        why = f"threads are numbered up to {threads - 1}, a CTA has at most {THREADS}"
        raise _atoms_rejected(spec, f"{spec.atoms_layout} of {atom.name}: {why}", build)


def _describe_holes(spec: TilingSpec, atom: Atom, error: LayoutError, build: Build) -> SpecError:
    """Return the error of holes in the atoms' numbers, or of counts that leave lanes between the atoms."""
    atoms, between = spec.atoms_layout, f"cannot be numbered between the lanes {atom.thr} of {atom.name}"
    axis, near = nearest_atoms(spec, build)
    if not near:
        return spec.error("", f"{spec.atom}: {error}")
    if axis is not None:
        why = f": {spec.counts[axis]} atom{'s' * (spec.counts[axis] > 1)} along {AXES[axis]} {between}"
    else:
        straight = near[0].shape == atoms.shape
        why = " leaves holes that no layout can fill" if straight else f": the atoms {between}"
    return spec.error("atoms_layout", f"{atoms}{why}; {_either(near)} would do")


def _atoms_rejected(spec: TilingSpec, why: str, build: Build) -> SpecError:
    _, near = nearest_atoms(spec, build)
    return spec.error("atoms_layout", f"{why}; {_either(near)} would do" if near else why)


def check_permutation(spec: TilingSpec, atom: Atom, axis: int, build: Build) -> None:
    """Reject a permutation that the atoms do not divide, or that leaves a coordinate out."""
    tiler, count = spec.permutation[axis], spec.counts[axis]
    if tiler is None:
        return
    extent, unit = size(tiler) if isinstance(tiler, Layout) else tiler, atom.shape[axis] * count
    if extent % unit:
        why = f"{_count(count, atom.shape[axis], axis)} need{'s' * (count == 1)} a multiple of {unit}"
        has = f" has {extent} position{'s' * (extent > 1)}" if isinstance(tiler, Layout) else ""
        raise spec.error("permutation", f"{AXES[axis]} = {tiler}{has}, {why}: {_near(extent, unit)}")
    if not isinstance(tiler, Layout):
        return
    covered = every(tiler.shape, tiler.stride)
    missing = sorted(set(range(extent)) - set(covered))
    if missing:
        outside = next((at for at in covered if not 0 <= at < extent), None)
        why = f"{AXES[axis]} = {tiler} does not cover 0..{extent - 1}: coordinate {missing[0]} has no position"
        why += ", another has two positions" if outside is None else f", {outside} is outside"
        raise spec.error("permutation", f"{why}; {tiler_in_place(spec, axis, tiler, build)} would do")


def check_tile(spec: TilingSpec, tile: tuple[int, int, int], unit: tuple[int, int, int]) -> None:
    """Reject a tile that one tiled MMA does not divide, and a tile too large to enumerate."""
    for axis, extent, step in zip(AXES, tile, unit, strict=True):
        if extent % step:
            raise spec.error(
                "tile",
                f"{axis} = {extent} is not a multiple of {step}, what one tiled MMA of {spec.atom} covers: "
                f"{_near(extent, step)}",
            )
    m, n, k = tile
    if (most := max(m * n, n * k, m * k)) > ELEMENTS:
        raise spec.error("tile", f"{m},{n},{k} has an operand of {most} elements: at most {ELEMENTS} would do")


def uncut(spec: TilingSpec, error: LayoutError, build: Build) -> SpecError:
    """Return the error of numbers that fit each other but have no TiledMMA, with the nearest spec that has one.

    A thread's part must be a layout: where the atoms cut across the modes of a permutation, it is none.
    """
    for axes, permutation in permutations_in_order(spec):
        if builds(replace(spec, permutation=permutation), build):
            given = ", ".join(f"{AXES[axis]} = {spec.permutation[axis]}" for axis in axes)
            cut = " and ".join(f"{spec.counts[axis]} along {AXES[axis]}" for axis in axes)
            suggestion = ", ".join(f"{AXES[axis]} = {permutation[axis]}" for axis in axes)
            why = f"{given}: atoms of {spec.atom}, {cut}, cut across its modes, so a thread's part isn't a layout"
            return spec.error("permutation", f"{why}; {suggestion}, in order, would do")
    return spec.error("", f"{spec.atom}: {error}")


def _either(atoms: list[Layout]) -> str:
    return " or ".join(map(str, atoms))


def _place(spec: TilingSpec, index: int) -> str:
    return f"({','.join(map(str, digits(spec.counts, index)))})"


def _count(count: int, extent: int, axis: int) -> str:
    return f"{count} atom{'s' * (count > 1)} of {extent} along {AXES[axis]}"


def _near(extent: int, step: int) -> str:
    """Return the nearest multiples of a step, below and above."""
    below = extent // step * step
    return f"{below} or {below + step} would do" if below else f"{step} would do"
