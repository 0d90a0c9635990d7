# SPDX-License-Identifier: Apache-2.0
"""Suggestions in place of a spec's atoms or permutation: the nearest ones with a TiledMMA."""

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

Build: TypeAlias = Callable[[TilingSpec], TiledMMA]  # raises LayoutError where there is no TiledMMA

THREADS = 1024  # of a CTA at most: CUDA C++ Programming Guide, technical specifications
TRIED = 512  # counts of atoms, nearest first


def builds(spec: TilingSpec, build: Build) -> bool:
    """Whether a spec has a TiledMMA, with no more threads than a CTA has."""
    try:
        return build(spec).size <= THREADS
    except LayoutError:
        return False


def nearest_atoms(spec: TilingSpec, build: Build) -> tuple[int | None, list[Layout]]:
    """Suggestions for the atoms: in order without holes, with another count along one axis, or along several.

    The axis, if there is one, is where another count is nearest; the atoms have the next smaller and the next larger.
    """
    straight = compact_layout(spec.atoms_layout)
    if builds(_atoms(spec, straight), build):
        return None, [straight]
    if nearest := [(axis, near) for axis in range(3) if (near := _counts(spec, axis, build))]:
        return min(nearest, key=lambda pair: min(abs(size(atoms[pair[0]]) - spec.counts[pair[0]]) for atoms in pair[1]))
    counts = sorted(
        product(*(range(1, 2 * count + 2) for count in spec.counts)),
        key=lambda counts: (sum(abs(a - b) for a, b in zip(counts, spec.counts, strict=True)), counts),
    )
    strides = tuple(min(map(abs, leaves(stride))) for stride in wrap(spec.atoms_layout.stride))  # the order of the axes
    tried = (compact_layout(Layout(c, strides)) for c in islice(counts, TRIED))
    return None, [*islice((atoms for atoms in tried if builds(_atoms(spec, atoms), build)), 1)]


def tiler_in_place(spec: TilingSpec, axis: int, tiler: Layout, build: Build) -> str:
    """Return a suggestion for a tiler that does not cover its axis: its modes in their order, else the plain extent."""
    straight = compact_layout(tiler)
    m, n, k = (straight if i == axis else None for i in range(3))
    if builds(replace(spec, permutation=(m, n, k)), build):
        return str(straight)
    return f"{size(tiler)}, in order,"


def permutations_in_order(spec: TilingSpec) -> Iterator[tuple[tuple[int, ...], Permutation]]:
    """Yield the permutation with some layouts replaced by their extents, fewest first, with the axes replaced."""
    for axes in ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)):
        m, n, k = (size(t) if i in axes and isinstance(t, Layout) else t for i, t in enumerate(spec.permutation))
        if (m, n, k) != spec.permutation:
            yield axes, (m, n, k)


def compact_layout(layout: Layout) -> Layout:
    """Return the layout of the same shape whose strides have the same order and leave no hole."""
    shape, stride = leaves(layout.shape), list(leaves(layout.stride))
    filled = 1
    for mode in sorted(range(len(shape)), key=lambda i: (abs(stride[i]), i)):
        stride[mode], filled = filled if shape[mode] > 1 else 0, filled * shape[mode]
    return Layout(layout.shape, unflatten(tuple(stride), layout.shape))


def _atoms(spec: TilingSpec, atoms: Layout) -> TilingSpec:
    return replace(spec, atoms_layout=atoms, permutation=AS_IT_IS)


def _counts(spec: TilingSpec, axis: int, build: Build) -> list[Layout]:
    count, near = spec.counts[axis], []
    most = THREADS * count // prod(spec.counts)
    for numbers in (range(count - 1, 0, -1), range(count + 1, min(most, 4 * count) + 1)):
        layouts = (_with_count(spec.atoms_layout, axis, number) for number in numbers)
        near += [*islice((atoms for atoms in layouts if builds(_atoms(spec, atoms), build)), 1)]
    return near


def _with_count(atoms: Layout, axis: int, count: int) -> Layout:
    """Return the atoms with another count along one axis, in the same order."""
    shape, stride = ([*mode] for mode in (wrap(atoms.shape), wrap(atoms.stride)))
    shape[axis], stride[axis] = count, min(map(abs, leaves(stride[axis])))
    return compact_layout(Layout(tuple(shape), tuple(stride)))
