# SPDX-License-Identifier: Apache-2.0
"""Small repairs of a wrong layout, found by search and checked at every point.

A stride is the layout's value at the unit of its digit, so a formula determines the one stride that could repair a
mode: the search is linear in the number of modes, and quadratic for swaps.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import TypeAlias

from layouts import Layout, batched, fit
from layouts.arrays import np
from verify.binding.atom import BoundAtom, BoundOperand
from verify.core.digits import every, halves, modes

Table: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.int64]]"


def find(subject: BoundAtom, part: BoundOperand) -> str:
    """A repair by one stride or by a swap of two, with the number of points that agree; empty if there is none."""
    layout = part.layout
    if layout is None or not part.formulas:
        return ""
    wanted = wanted_table(subject, part)
    if wanted is None or wanted.shape != part.domain:
        return _isa_layout(wanted)
    table = batched.table(layout)
    now = int(np.count_nonzero(table == wanted))
    for how, candidate in _candidates(layout, wanted):
        if np.array_equal(batched.table(candidate), wanted):
            return f"{how}: {candidate}      {wanted.size} of {wanted.size} agree (now {now})"
    return _isa_layout(wanted)


def wanted_table(subject: BoundAtom, part: BoundOperand) -> Table | None:
    """The ISA's element at every (logical thread, value); None if formulas or replicas differ."""
    if subject.thr is None or subject.rep is None:
        return None
    values = part.formulas[0].values
    lanes = np.array(every(subject.thr.shape, subject.thr.stride))[:, None]
    wanted = []
    for formula in part.formulas:
        for replica in range(subject.rep_size):
            x, y = formula.locate(lanes + subject.rep(replica), np.arange(values)[None, :])
            wanted.append(np.broadcast_to(x + part.extent[0] * y, (subject.threads, values)))
    return wanted[0] if all(np.array_equal(other, wanted[0]) for other in wanted) else None


def _candidates(layout: Layout, wanted: Table) -> Iterator[tuple[str, Layout]]:
    strides = [d for _, d in modes(layout.shape, layout.stride)]
    for position, unit in enumerate(units(layout)):
        value = int(wanted[unit] - wanted[0, 0]) if unit is not None else strides[position]
        if value != strides[position]:
            yield "one stride", with_strides(layout, [*strides[:position], value, *strides[position + 1 :]])
    for i, j in combinations(range(len(strides)), 2):
        swapped = list(strides)
        swapped[i], swapped[j] = swapped[j], swapped[i]
        yield "two strides swapped", with_strides(layout, swapped)


def units(layout: Layout) -> Iterator[tuple[int, int] | None]:
    """The (thread, value) at which exactly one digit is one, for each mode; None for a mode of extent one."""
    for half, mode in enumerate(halves(layout)):
        index = 1
        for extent, _ in modes(*mode):
            yield None if extent == 1 else ((index, 0) if half == 0 else (0, index))
            index *= extent


def with_strides(layout: Layout, strides: list[int]) -> Layout:
    """The same shape with other strides, given leftmost first.

    >>> str(with_strides(Layout.parse("((4,8),8):((32,1),8)"), [64, 1, 8]))
    '((4,8),8):((64,1),8)'
    """
    supply = iter(strides)

    def fill(shape: object) -> object:
        return tuple(fill(s) for s in shape) if isinstance(shape, tuple) else next(supply)

    return Layout(layout.shape, fill(layout.shape))  # type: ignore[arg-type]


def _isa_layout(wanted: Table | None) -> str:
    """The layout of the ISA's formula, with extents that are powers of two; empty if it has none."""
    found = fit(wanted) if wanted is not None and all(n.bit_count() == 1 for n in wanted.shape) else None
    return f"the ISA's layout: {found}" if found is not None else ""
