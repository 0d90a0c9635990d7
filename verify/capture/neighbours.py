# SPDX-License-Identifier: Apache-2.0
"""Sizes beside those of a launch: what a kernel would do where its test's sizes are whole blocks, as a note.

Nothing launches these sizes, so the host's code is guessed: a number that the kernel is given stands for the extent,
the stride or the count of elements that it equals, and the grid rounds up. Where one number may stand for two things
that would now differ, there is no neighbour. The kernel's code is that of the launch, so 16 still divides what it did.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

STEP = 16  # added to a size: Triton compiles other code for a number that 16 doesn't divide
WHOLE = re.compile(r"even|divis|mask|bound", re.IGNORECASE)  # names of constants that tell whether blocks are whole
LITERAL = re.compile(r"(?<![\w.])\d+(?![\w.])")  # in a claim: it may be a count of elements


@dataclass(frozen=True)
class Neighbour:
    """A launch at other sizes."""

    table: Mapping[str, Any]  # of a claim
    changed: Mapping[str, int]  # the sizes that differ
    literal: bool  # whether the claim has a number that may depend on them
    alone: bool  # whether they are of one extent

    def describe(self) -> str:
        """Return the sizes and the grid in words."""
        sizes = ", ".join(f"{name} = {extent}" for name, extent in self.changed.items())
        grid = list(self.table["grid"])
        while len(grid) > 1 and grid[-1] == 1:
            grid.pop()
        return f"{sizes} (grid {'x'.join(map(str, grid))})"


def list_neighbours(table: Mapping[str, Any], constants: Mapping[str, Any]) -> Iterator[Neighbour]:
    """Yield the launch with all sizes that can be changed, then with one of them each."""
    if any(value is True and WHOLE.search(name) for name, value in constants.items()) or "scratch" in table["arrays"]:
        return
    blocks = sorted({value for value in constants.values() if isinstance(value, int) and value > 1})
    extents = sorted({extent for extent in table["sizes"].values() if can_change(extent, blocks)})
    for chosen in (extents, *([extent] for extent in extents)) if len(extents) > 1 else [extents] * len(extents):
        made = change_sizes(table, blocks, chosen)
        if made is not None:
            yield made


def can_change(extent: int, blocks: Collection[int]) -> bool:
    """Return whether an extent is more than a block that the host may have made of it.

    >>> can_change(256, [64]), can_change(100, [64]), can_change(64, [64]), can_change(48, [64])
    (True, False, False, False)
    """
    return extent > STEP and extent % STEP == 0 and 1 << (extent - 1).bit_length() not in blocks


def change_sizes(table: Mapping[str, Any], blocks: Sequence[int], chosen: Collection[int]) -> Neighbour | None:
    """Return the launch with some extents changed; None if a number or the grid has no one meaning."""
    sizes = {name: size + STEP if size in chosen else size for name, size in table["sizes"].items()}
    numbers: dict[int, set[int]] = {0: {0}, 1: {1}}
    counts: dict[int, set[int]] = {}
    for name, size in table["sizes"].items():
        numbers.setdefault(size, set()).add(sizes[name])
        counts.setdefault(size, set()).add(sizes[name])
    arrays = {}
    for name, array in table["arrays"].items():
        strides = widen_strides(array, table["sizes"], sizes)
        if strides is None:
            return None
        for old, new in zip(array["strides"], strides, strict=True):
            numbers.setdefault(old, set()).add(new)
        old, new = count_elements(array, table["sizes"]), count_elements(array, sizes)
        numbers.setdefault(old, set()).add(new)
        counts.setdefault(old, set()).add(new)
        arrays[name] = {**array, "strides": strides}
    params = [replace_number(param, numbers) for param in table["params"]]
    grid = [replace_extent(extent, counts, blocks) for extent in table["grid"]]
    if None in params or None in grid or (params, grid) == (table["params"], table["grid"]):  # nothing tells the kernel
        return None
    changed = {name: size for name, size in sizes.items() if size != table["sizes"][name]}
    made = {**table, "sizes": sizes, "arrays": arrays, "params": params, "grid": grid}
    return Neighbour(made, changed, LITERAL.search(table["claim"]) is not None, len(chosen) == 1)


def widen_strides(array: Mapping[str, Any], before: Mapping[str, int], after: Mapping[str, int]) -> list[int] | None:
    """Return the strides of a dense array at other sizes; None for an array with gaps.

    >>> widen_strides({"dims": ["m", "k"], "strides": [1, 32]}, {"m": 32, "k": 8}, {"m": 48, "k": 8})
    [1, 48]
    """
    strides, dense, wide = list(array["strides"]), 1, 1
    for axis in sorted(range(len(strides)), key=lambda axis: strides[axis]):
        dim = array["dims"][axis]
        if dim == "1":
            continue
        if strides[axis] != dense:
            return None
        strides[axis], dense, wide = wide, dense * before[dim], wide * after[dim]
    return strides


def count_elements(array: Mapping[str, Any], sizes: Mapping[str, int]) -> int:
    """Return the number of elements of an array."""
    count = 1
    for dim in array["dims"]:
        count *= 1 if dim == "1" else sizes[dim]
    return count


def replace_number(given: Any, numbers: Mapping[int, Collection[int]]) -> Any:
    """Return what a parameter is at other sizes; None if that isn't known."""
    if not isinstance(given, int):
        return given
    meanings = numbers.get(given, ())
    return next(iter(meanings)) if len(meanings) == 1 else None


def replace_extent(given: int, counts: Mapping[int, Collection[int]], blocks: Sequence[int]) -> int | None:
    """Return the extent of a grid at other sizes; None if no count explains it, or several that now differ.

    >>> replace_extent(4, {256: {272}}, [64]), replace_extent(8, {256: {272}, 100: {100}}, [64])
    (5, 10)
    """
    tiles: set[tuple[int, int]] = set()  # (blocks that cover a count, those at other sizes)
    for count, new_counts in counts.items():
        for block in (1, *blocks):
            tiles |= {(-(-count // block), -(-new // block)) for new in new_counts}
    extents = {new for old, new in tiles if old == given}
    extents |= {new_x * new_y for x, new_x in tiles for y, new_y in tiles if x * y == given and x > 1 and y > 1}
    extents |= {given} if given == 1 or given in blocks else set()
    return next(iter(extents)) if len(extents) == 1 else None
