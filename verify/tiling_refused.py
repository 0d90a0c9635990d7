# SPDX-License-Identifier: Apache-2.0
"""What cannot be a tiling, refused in one line that says which number is wrong and which would do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from math import prod

from layouts import Layout, LayoutError, leaves, size
from layouts.atoms import Atom
from layouts.int_tuple import unflatten, wrap
from verify.arithmetic import every
from verify.cli import UsageError
from verify.tiling_stated import AXES, Stated

THREADS = 1024  # of a CTA
ELEMENTS = 1 << 22  # of an operand's tile: more are not enumerated


def refused(stated: Stated, key: str, problem: str) -> UsageError:
    """What is wrong with a statement, and where it stands."""
    if stated.file:
        return UsageError(f"{stated.file}: {stated.name}{f'.{key}' if key else ''}: {problem}")
    return UsageError(f"--{key.replace('_', '-')}: {problem}" if key else problem)


def check_threads(stated: Stated, atom: Atom, per_atom: int) -> None:
    """Refuse more threads than a CTA has, and atoms that share a number."""
    threads = per_atom * prod(stated.counts)
    if threads > THREADS:
        times = "x".join(map(str, stated.counts))
        raise refused(
            stated,
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
        why = f"atoms {pair} are both number {numbers[twice]}"
    elif numbers[low] < 0:
        why = f"atom {_place(stated, low)} has the number {numbers[low]}"
    else:
        return
    raise refused(stated, "atoms_layout", f"{atoms}: {why}; {compacted(atoms)} would do")


def check_numbers(stated: Stated, atom: Atom, threads: int) -> None:
    """Refuse threads with numbers that a CTA does not have."""
    if threads > THREADS:
        atoms = stated.atoms_layout
        why = f"threads are numbered up to {threads - 1}, a CTA has at most {THREADS}"
        raise refused(stated, "atoms_layout", f"{atoms} of {atom.name}: {why}; {compacted(atoms)} would do")


def check_permutation(stated: Stated, atom: Atom, axis: int) -> None:
    """Refuse a permutation that the atoms do not divide, or that leaves a coordinate out."""
    tiler, count = stated.permutation[axis], stated.counts[axis]
    if tiler is None:
        return
    extent, unit = size(tiler) if isinstance(tiler, Layout) else tiler, atom.shape[axis] * count
    if extent % unit:
        why = f"{_atoms(count, atom.shape[axis], axis)} need a multiple of {unit}"
        has = f" has {extent} positions" if isinstance(tiler, Layout) else ""
        raise refused(stated, "permutation", f"{AXES[axis]} = {tiler}{has}, {why}: {_near(extent, unit)}")
    if isinstance(tiler, Layout):
        _check_cover(stated, AXES[axis], tiler)


def _check_cover(stated: Stated, axis: str, tiler: Layout) -> None:
    """A permutation's positions must be the coordinates 0 .. extent-1, each once."""
    extent = size(tiler)
    reached = every(tiler.shape, tiler.stride)
    missing = sorted(set(range(extent)) - set(reached))
    if missing:
        outside = next((at for at in reached if not 0 <= at < extent), None)
        why = f"{axis} = {tiler} does not cover 0..{extent - 1}: coordinate {missing[0]} is nobody's"
        why += ", another has two positions" if outside is None else f", {outside} is outside"
        raise refused(stated, "permutation", f"{why}; {compacted(tiler)} would do")


def check_tile(stated: Stated, tile: tuple[int, int, int], unit: tuple[int, int, int]) -> None:
    """Refuse a tile that one tiled MMA does not divide, and one too large to be enumerated."""
    for axis, extent, step in zip(AXES, tile, unit, strict=True):
        if extent % step:
            raise refused(
                stated,
                "tile",
                f"{axis} = {extent} is not a multiple of {step}, what one tiled MMA of {stated.atom} covers: "
                f"{_near(extent, step)}",
            )
    m, n, k = tile
    if (most := max(m * n, n * k, m * k)) > ELEMENTS:
        raise refused(stated, "tile", f"{m},{n},{k} has an operand of {most} elements: at most {ELEMENTS} would do")


def unbuilt(stated: Stated, atom: Atom, error: LayoutError, build: Callable[[Stated], object]) -> UsageError:
    """Why no TiledMMA is made of numbers that fit each other, and the nearest statement of which one is made.

    What is dealt out must again be a layout: a permutation whose modes the atoms cut across has none.
    """
    straight = replace(stated, atoms_layout=compacted(stated.atoms_layout))
    if _builds(straight, build):
        why = f"{stated.atoms_layout} leaves holes that no layout fills; {straight.atoms_layout} would do"
        return refused(stated, "atoms_layout", why)
    for axes in ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)):
        in_order = [size(t) if i in axes and isinstance(t, Layout) else t for i, t in enumerate(stated.permutation)]
        m, n, k = in_order
        if tuple(in_order) != stated.permutation and _builds(replace(stated, permutation=(m, n, k)), build):
            given = ", ".join(f"{AXES[axis]} = {stated.permutation[axis]}" for axis in axes)
            cut = " and ".join(f"{stated.counts[axis]} along {AXES[axis]}" for axis in axes)
            instead = ", ".join(f"{AXES[axis]} = {in_order[axis]}" for axis in axes)
            why = f"{given}: atoms of {stated.atom}, {cut}, cut across its modes, and no strides tell what each has"
            return refused(stated, "permutation", f"{why}; {instead}, in order, would do")
    if not _builds(replace(straight, permutation=(None, None, None)), build):
        found = [(axis, near) for axis in range(3) if (near := _counts(straight, atom, axis, build))]
        if found:
            return _unfilled(stated, atom, *min(found, key=lambda one: _distance(stated, *one)))
    return refused(stated, "", f"{stated.atom}: {error}")


def _unfilled(stated: Stated, atom: Atom, axis: int, near: list[Layout]) -> UsageError:
    """The count along an axis that leaves lanes between the atoms', and the layouts of the counts that do not."""
    count = stated.counts[axis]
    along = f"{count} atom{'s' * (count > 1)} along {AXES[axis]}"
    why = f"{along} cannot be numbered between the lanes {atom.thr} of {atom.name}"
    return refused(stated, "atoms_layout", f"{stated.atoms_layout}: {why}; {' or '.join(map(str, near))} would do")


def _distance(stated: Stated, axis: int, near: list[Layout]) -> int:
    return min(abs(size(atoms[axis]) - stated.counts[axis]) for atoms in near)


def _counts(stated: Stated, atom: Atom, axis: int, build: Callable[[Stated], object]) -> list[Layout]:
    """The atoms with the nearest smaller and larger count along an axis of which a TiledMMA is made, if any."""
    count, near = stated.counts[axis], []
    most = THREADS * count // (size(Layout.parse(atom.thr)) * prod(stated.counts))
    for others in (range(count - 1, 0, -1), range(count + 1, most + 1)):
        found = (replace(stated, atoms_layout=_with_count(stated.atoms_layout, axis, other)) for other in others)
        near += [one.atoms_layout for one in islice((one for one in found if _builds(one, build)), 1)]
    return near


def _with_count(atoms: Layout, axis: int, count: int) -> Layout:
    """So many atoms along one axis, in the same order."""
    shape, stride = ([*mode] for mode in (wrap(atoms.shape), wrap(atoms.stride)))
    shape[axis], stride[axis] = count, min(map(abs, leaves(stride[axis])))
    return compacted(Layout(tuple(shape), tuple(stride)))


def _builds(stated: Stated, build: Callable[[Stated], object]) -> bool:
    try:
        build(stated)
    except LayoutError:
        return False
    return True


def compacted(layout: Layout) -> Layout:
    """The layout of the same shape whose strides keep their order and leave no hole."""
    shape, stride = leaves(layout.shape), list(leaves(layout.stride))
    reached = 1
    for mode in sorted(range(len(shape)), key=lambda i: (abs(stride[i]), i)):
        if shape[mode] > 1:
            stride[mode], reached = reached, reached * shape[mode]
    return Layout(layout.shape, unflatten(tuple(stride), layout.shape))


def _place(stated: Stated, index: int) -> str:
    where = []
    for count in stated.counts:
        index, at = divmod(index, count)
        where.append(str(at))
    return f"({','.join(where)})"


def _atoms(count: int, extent: int, axis: int) -> str:
    return f"{count} atom{'s' * (count > 1)} of {extent} along {AXES[axis]}"


def _near(extent: int, step: int) -> str:
    """The multiples on both sides."""
    below = extent // step * step
    return f"{below} or {below + step} would do" if below else f"{step} would do"
