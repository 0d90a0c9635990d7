# SPDX-License-Identifier: Apache-2.0
"""Candidates for the layout of an operand that is wrong: one stride, two strides, else the ISA's own layout.

A stride is the layout's value at the unit of its digit, so a formula determines the one stride that could repair a
mode: the search is linear in the number of modes, and quadratic for swaps. A candidate equals the formula at every
point. Whether the whole atom is right with it, `verify.atom.repairs` finds out.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple, TypeAlias

from layouts import Layout, batched, fit
from layouts.arrays import np
from verify.binding.bound import BoundMaps
from verify.binding.operand import BoundOperand
from verify.core.digits import every, halves, modes

Table: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.int64]]"


class Candidate(NamedTuple):
    """A layout that may repair an operand, and the words that a report has for it."""

    how: str
    layout: Layout
    agreement: str = ""  # at how many points it agrees, if the given layout has as many

    def __str__(self) -> str:
        return f"{self.how}: {self.layout}{self.agreement}"


def find(part: BoundOperand, wanted: Table) -> Candidate | None:
    """Return a layout that equals the wanted elements at every point and isn't the given one; None without one."""
    layout, points = part.layout, f"{wanted.size} of {wanted.size} agree"
    if layout is not None and wanted.shape == part.domain:
        now = int(np.count_nonzero(batched.table(layout) == wanted))
        if now == wanted.size:
            return None
        for how, candidate in _candidates(layout, wanted):
            if np.array_equal(batched.table(candidate), wanted):
                return Candidate(how, candidate, f"      {points} (now {now})")
    fitted = fit(wanted) if wanted.size else None
    return None if fitted is None or fitted == layout else Candidate(_difference(layout, fitted), fitted)


def _difference(given: Layout | None, right: Layout) -> str:
    """Return in words by how little a layout differs from the right one, modes of extent 1 left out.

    >>> right = Layout.parse("((4,8),(2,2)):((32,1),(16,8))")
    >>> given, unlike = Layout.parse("((4,8),(4,2,1)):((32,1),(16,8,9))"), Layout.parse("(4,1):(1,0)")
    >>> _difference(given, right), _difference(unlike, right)
    ('one extent', "the ISA's layout")
    """
    mine, its = ([[*modes(*half)] for half in halves(layout)] if layout else [] for layout in (given, right))
    (extents, strides), (sizes, steps) = (
        ([n for half in side for n, _ in half if n > 1], [[d for n, d in half if n > 1] for half in side])
        for side in (mine, its)
    )
    wrong = [(n, size) for n, size in zip(extents, sizes, strict=False) if n != size]
    if strides == steps and len(wrong) == 1:
        return "one extent"
    if strides == steps and len(wrong) == 2 and wrong[0] == wrong[1][::-1]:
        return "two extents swapped"
    return "the ISA's layout"


def wanted_table(subject: BoundMaps, part: BoundOperand) -> Table | None:
    """Return the ISA's element at every (logical thread, value); None if formulas or replicas differ."""
    if subject.thr is None or subject.rep is None or not part.formulas:
        return None
    values = part.formulas[0].values
    lanes = np.array(every(subject.thr.shape, subject.thr.stride))[:, None]
    wanted = []
    for formula in part.formulas:
        for replica in range(subject.rep_size):
            x, y = formula.locate(lanes + subject.rep(replica), np.arange(values)[None, :])
            wanted.append(np.broadcast_to(x + part.extent[0] * y, (subject.threads, values)))
    return wanted[0] if all(np.array_equal(table, wanted[0]) for table in wanted) else None


def _candidates(layout: Layout, wanted: Table) -> Iterator[tuple[str, Layout]]:
    strides = [d for _, d in modes(layout.shape, layout.stride)]
    for position, unit in enumerate(units(layout)):
        value = int(wanted[unit] - wanted[0, 0]) if unit is not None else strides[position]
        if value != strides[position]:
            yield "one stride", with_strides(layout, [*strides[:position], value, *strides[position + 1 :]])
    for i, j in combinations(range(len(strides)), 2):
        if strides[i] != strides[j]:
            swapped = list(strides)
            swapped[i], swapped[j] = swapped[j], swapped[i]
            yield "two strides swapped", with_strides(layout, swapped)


def units(layout: Layout) -> Iterator[tuple[int, int] | None]:
    """Yield the (thread, value) at which exactly one digit is one, for each mode; None for a mode of extent one."""
    for half, mode in enumerate(halves(layout)):
        index = 1
        for extent, _ in modes(*mode):
            yield None if extent == 1 else ((index, 0) if half == 0 else (0, index))
            index *= extent


def with_strides(layout: Layout, strides: list[int]) -> Layout:
    """Return the same shape with other strides, given leftmost first.

    >>> str(with_strides(Layout.parse("((4,8),8):((32,1),8)"), [64, 1, 8]))
    '((4,8),8):((64,1),8)'
    """
    supply = iter(strides)

    def fill(shape: object) -> object:
        return tuple(fill(s) for s in shape) if isinstance(shape, tuple) else next(supply)

    return Layout(layout.shape, fill(layout.shape))  # type: ignore[arg-type]
