# SPDX-License-Identifier: Apache-2.0
"""Is what a kernel computes a small change of its claim? A term that is missing, a scalar twice, a tile elsewhere.

Each change is evaluated at the points of the run: at one wrong element, and where it gives that one, at all. It is
named if it gives every wrong element that was written; one that gives the right ones too comes first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from verify.core.errors import SpecError
from verify.kernel.blocks import BlockEvaluation
from verify.kernel.changes import list_changes
from verify.kernel.claims.expression import Node
from verify.kernel.comparison import Comparison, read_tensors
from verify.kernel.data import levels
from verify.kernel.data.distinct import sort_distinct
from verify.kernel.data.floats import decode
from verify.kernel.data.values import CODE
from verify.kernel.interpretation import Interpretation
from verify.kernel.masks import list_masked
from verify.kernel.state.findings import Finding, Severity

Ints = NDArray[np.int64]


def near_misses(run: Interpretation, comparison: Comparison) -> list[Finding]:
    """Return the first change of the claim that gives what the kernel computes, if there is one."""
    wrong = np.flatnonzero(comparison.wrong & comparison.written)
    if not len(wrong):
        return []
    if text := name_change(run, comparison, _list_all(run)):
        return [Finding("another formula", Severity.VALUE, 0, f"{text}: that gives all wrong elements")]
    got = run.values.residues[:, comparison.ids[wrong]].astype(np.uint64)
    text = _elsewhere(run, comparison, wrong, got)
    return [Finding("tile elsewhere", Severity.VALUE, 0, text)] if text else []


def _list_all(run: Interpretation) -> Iterator[tuple[str, Node]]:
    """Yield every change of the claim in words."""
    launch = run.launch
    yield from list_changes(launch.value, launch)
    if run.values.pairs:
        numbers = [decode(bits, "f32") for bits, kind in run.values.constants if kind == CODE["f32"]]
        yield from list_masked(launch.value, launch, [number for number in numbers if number is not None])


def name_change(run: Interpretation, comparison: Comparison, changes: Iterator[tuple[str, Node]]) -> str:
    """Return the first change of the claim that gives what a run computed, in words; one for all elements if any is."""
    wrong, good = np.flatnonzero(comparison.wrong & comparison.written), ""
    known = _find_known(comparison)
    got = run.values.residues[:, comparison.ids].astype(np.uint64)
    first = comparison.first_wrong()
    first = first if comparison.written[first] else int(wrong[0])
    arrays, tried = read_tensors(run, run.launch.value), {run.launch.value}
    for text, value in changes:
        if value in tried:
            continue
        tried.add(value)
        try:
            element = comparison.evaluate_element(arrays, value, first, BlockEvaluation)
            if not run.values.equal(element, got[:, first : first + 1]).all():
                continue
            made = comparison.evaluate_claim(run, value, run.launch.scalars, BlockEvaluation)
        except SpecError:  # a change of the text that has no value
            continue
        same = run.values.equal(np.asarray(made.residues, np.uint64), got)
        if same[known].all():
            return text
        good = good or (text if same[wrong].all() else "")
    return good


def _find_known(comparison: Comparison) -> NDArray[np.bool_]:
    """Return which elements were written and have a number."""
    values, ids = comparison.values, comparison.ids
    clear = (values.marks("cause", ids) == 0) & (values.marks("level", ids) == levels.FINITE)
    return np.asarray(clear & comparison.written & comparison.judged | comparison.wrong & comparison.written)


@dataclass(frozen=True, slots=True)
class _Tile:
    """A block of consecutive indices of the output."""

    first: tuple[int, ...]
    extent: tuple[int, ...]

    @property
    def place(self) -> str:
        """Its number of each index, in tiles of its extent."""
        return f"({','.join(str(low // size) for low, size in zip(self.first, self.extent, strict=True))})"


def _tile(elements: Ints, shape: tuple[int, ...]) -> _Tile | None:
    """Return the block that some elements are; None if they are none."""
    where = np.unravel_index(elements, shape)
    first = tuple(int(axis.min()) for axis in where)
    extent = tuple(int(axis.max()) - low + 1 for axis, low in zip(where, first, strict=True))
    return _Tile(first, extent) if int(np.prod(extent)) == len(sort_distinct(elements)) else None


def _elsewhere(run: Interpretation, comparison: Comparison, wrong: Ints, got: NDArray[np.uint64]) -> str:
    """Return which CTA's tile holds the values of another place, in words."""
    stored, shape = comparison.region.stored, comparison.array.shape
    assert stored is not None
    home = np.asarray(comparison.residues[0], np.uint64) << np.uint64(32) | np.asarray(
        comparison.residues[1], np.uint64
    )
    order = np.argsort(home)
    keys = got[0] << np.uint64(32) | got[1]
    at = order[np.minimum(np.searchsorted(home, keys, sorter=order), len(order) - 1)]
    ctas = stored.writer[comparison.region.places[wrong] * comparison.region.size] // run.machine.threads
    for cta in sort_distinct(ctas):
        mine = ctas == cta
        if mine.sum() == 1 or not (home[at[mine]] == keys[mine]).all():  # one value, as 0, stands elsewhere by chance
            continue
        here, there = _tile(wrong[mine], shape), _tile(at[mine], shape)
        shift = np.subtract(np.unravel_index(at[mine], shape), np.unravel_index(wrong[mine], shape))
        if here and there and here.place != there.place and (shift == shift[:, :1]).all():
            x, y, _ = run.launch.grid
            number = f"({int(cta) % x},{int(cta) // x % y})" if run.launch.grid[2] == 1 else str(int(cta))
            size = "x".join(map(str, here.extent))
            text = f"CTA {number} stores the tile of {comparison.name} that belongs at {there.place} at {here.place}"
            return f"{text}, in tiles of {size}"
    return ""
