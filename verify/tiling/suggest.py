# SPDX-License-Identifier: Apache-2.0
"""What would do instead of the atoms or the permutation of a tiling: the nearest of which a TiledMMA is made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice, product
from math import prod
from typing import TypeAlias

from layouts import Layout, LayoutError, leaves, size
from layouts.int_tuple import unflatten, wrap
from layouts.tiled import TiledMMA
from verify.tiling.spec import AS_IT_IS, Permutation, TilingSpec

Build: TypeAlias = Callable[[TilingSpec], TiledMMA]  # raises LayoutError where there is none

THREADS = 1024  # of a CTA
TRIED = 512  # counts of atoms, nearest first


def builds(stated: TilingSpec, build: Build) -> bool:
    """Whether a TiledMMA is made of this, of no more threads than a CTA has."""
    try:
        return build(stated).size <= THREADS
    except LayoutError:
        return False


def straightened(stated: TilingSpec, build: Build) -> Layout | None:
    """The atoms in their order without holes, whatever is permuted; None where that is no tiled MMA either."""
    straight = compacted(stated.atoms_layout)
    return straight if builds(_atoms(stated, straight), build) else None


def along_one_axis(stated: TilingSpec, build: Build) -> tuple[int, list[Layout]] | None:
    """The axis along which another count is nearest, and the atoms with the next smaller and the next larger one."""
    found = [(axis, near) for axis in range(3) if (near := _counts(stated, axis, build))]
    away = [min(abs(size(atoms[axis]) - stated.counts[axis]) for atoms in near) for axis, near in found]
    return found[away.index(min(away))] if found else None


def nearest_atoms(stated: TilingSpec, build: Build) -> list[Layout]:
    """What would do for the atoms, permuted or not: in order, with another count, or with others along several axes."""
    if straight := straightened(stated, build):
        return [straight]
    if one := along_one_axis(stated, build):
        return one[1]
    counts = sorted(product(*(range(1, 2 * count + 2) for count in stated.counts)), key=lambda c: _apart(stated, c))
    strides = tuple(min(map(abs, leaves(stride))) for stride in wrap(stated.atoms_layout.stride))  # the axes as ordered
    tried = (compacted(Layout(c, strides)) for c in islice(counts, TRIED))
    return [*islice((atoms for atoms in tried if builds(_atoms(stated, atoms), build)), 1)]


def tiler_in_place(stated: TilingSpec, axis: int, tiler: Layout, build: Build) -> str:
    """What would do for a tiler that does not cover its axis: its modes in their order, else the plain extent."""
    straight = compacted(tiler)
    m, n, k = (straight if i == axis else None for i in range(3))
    if builds(replace(stated, permutation=(m, n, k)), build):
        return str(straight)
    return f"{size(tiler)}, in order,"


def permutations_in_order(stated: TilingSpec) -> Iterator[tuple[tuple[int, ...], Permutation]]:
    """The permutation with some layouts replaced by their extents, few of them first, and which."""
    for axes in ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)):
        m, n, k = (size(t) if i in axes and isinstance(t, Layout) else t for i, t in enumerate(stated.permutation))
        if (m, n, k) != stated.permutation:
            yield axes, (m, n, k)


def compacted(layout: Layout) -> Layout:
    """The layout of the same shape whose strides keep their order and leave no hole."""
    shape, stride = leaves(layout.shape), list(leaves(layout.stride))
    reached = 1
    for mode in sorted(range(len(shape)), key=lambda i: (abs(stride[i]), i)):
        stride[mode], reached = reached if shape[mode] > 1 else 0, reached * shape[mode]
    return Layout(layout.shape, unflatten(tuple(stride), layout.shape))


def _atoms(stated: TilingSpec, atoms: Layout) -> TilingSpec:
    return replace(stated, atoms_layout=atoms, permutation=AS_IT_IS)


def _counts(stated: TilingSpec, axis: int, build: Build) -> list[Layout]:
    count, near = stated.counts[axis], []
    most = THREADS * count // prod(stated.counts)
    for others in (range(count - 1, 0, -1), range(count + 1, min(most, 4 * count) + 1)):
        found = (_with_count(stated.atoms_layout, axis, other) for other in others)
        near += [*islice((atoms for atoms in found if builds(_atoms(stated, atoms), build)), 1)]
    return near


def _with_count(atoms: Layout, axis: int, count: int) -> Layout:
    """So many atoms along one axis, in the same order."""
    shape, stride = ([*mode] for mode in (wrap(atoms.shape), wrap(atoms.stride)))
    shape[axis], stride[axis] = count, min(map(abs, leaves(stride[axis])))
    return compacted(Layout(tuple(shape), tuple(stride)))


def _apart(stated: TilingSpec, counts: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    return sum(abs(a - b) for a, b in zip(counts, stated.counts, strict=True)), counts
