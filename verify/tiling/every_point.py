# SPDX-License-Identifier: Apache-2.0
"""The library's TiledMMA at every point of a tiling, as arrays, compared with the definition.

Arrays find the first point that is wrong. It is computed again before it is shown, in plain integers and for one
thread: where that gives other values, an evaluation of ours is wrong, and the tiling is not refuted.

`numbered`    whether the threads of all atoms are different, and numbered as defined
`equals`      whether a (thread, value) layout is the atom's, tiled
`partition`   whether the threads' partitions give each element its number of owners
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import prod
from typing import TypeAlias

import numpy as np

from layouts import Layout, LayoutError, batched, size
from layouts.tensor import Tensor
from verify.core.digits import digits, image, walk, written_out
from verify.core.verdict import Check, Counterexample, Evidence, Proposal, finding
from verify.core.wording import owners
from verify.maps.map import Axis
from verify.maps.strided import StridedMap
from verify.tiling import gemm, reference
from verify.tiling.bind import TiledOperand, Tiling
from verify.tiling.spec import TilingSpec

Table: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.int64]]"


def numbered(run: object, tiling: Tiling, _: None) -> list[Evidence]:
    """Evidence that no two places of the atoms are one thread, and that threads are numbered as defined."""
    vmnk = tiling.mma.thr_layout_vmnk
    numbers = batched.batch(vmnk).values()
    order = np.argsort(numbers, kind="stable")
    twice = np.flatnonzero(np.diff(numbers[order]) == 0)
    wrong = None
    if len(twice):
        first, second = (int(order[twice[0] + i]) for i in (0, 1))
        number = int(numbers[first])
        wrong = Counterexample(
            {"first": first, "second": second},
            f"{place_in_words(vmnk, first)} and {place_in_words(vmnk, second)} are both thread {number}",
            damage=(f"{len(numbers) - len(np.unique(numbers))} of {len(numbers)} threads are duplicates",),
            reproduced=image(vmnk, first) == image(vmnk, second) == number,
        )
    return [finding(Check.ISA, wrong or _misnumbered(tiling, numbers), "enumeration", len(numbers), "numpy")]


def _misnumbered(tiling: Tiling, numbers: Table) -> Counterexample | None:
    """The first thread whose number in the library differs from the definition."""
    vmnk = tiling.mma.thr_layout_vmnk
    expected = reference.threads(tiling).ravel(order="F")
    if len(expected) != len(numbers):
        statement = f"{len(numbers)} threads are numbered, not {len(expected)}"
        again = size(vmnk) == len(numbers) and tiling.threads == len(expected)
        return Counterexample({"threads": len(numbers)}, statement, reproduced=again)
    other = np.flatnonzero(expected != numbers)
    if not len(other):
        return None
    first = int(other[0])
    got, right = int(numbers[first]), int(expected[first])
    place = tuple(digits((tiling.subject.threads, *tiling.atoms), first))
    return Counterexample(
        {"index": first},
        f"{place_in_words(vmnk, first)} is thread {got}, expected {right}",
        damage=(f"{len(other)} of {len(expected)} threads differ",),
        reproduced=image(vmnk, first) == got != right == reference.thread(tiling, place),
    )


def place_in_words(vmnk: Layout, index: int) -> str:
    """The thread of an atom, and the atom, that an index into (V, M, N, K) names."""
    thread, *atom = digits(map(size, vmnk), index)
    return f"T{thread} of atom ({','.join(map(str, atom))})"


def equals(run: object, tiling: Tiling, tiled: TiledOperand) -> list[Evidence]:
    """Evidence that a layout is the atom's, tiled, at every thread and value."""
    m = StridedMap(tiled.layout, (Axis("element", prod(tiled.extent(tiling.covered))),))
    table = m.block(0, len(m))[0].reshape(m.extents)
    wrong = m.mismatch() or _unequal(tiling, tiled, table)
    return [finding(Check.ISA, wrong, "enumeration", table.size, "numpy")]


def _unequal(tiling: Tiling, tiled: TiledOperand, table: Table) -> Counterexample | None:
    """The first thread and value whose element differs from that of the atom, tiled."""
    layout, wanted = tiled.layout, reference.elements(tiling, tiled)

    def own(agree: int) -> tuple[Proposal, ...]:
        text, agreement = str(tiled.layout_tv), f"{wanted.size} of {wanted.size} agree (now {agree})"
        return (Proposal(f"the tiled MMA's own: {text}      {agreement}", partial(_claim_layout, tiled.name, text)),)

    if table.shape != wanted.shape:
        threads, values = table.shape
        statement = f"it has {threads} threads x {values} values, the tiling {wanted.shape[0]} x {wanted.shape[1]}"
        again = tuple(map(size, layout)) == table.shape
        return Counterexample({"threads": threads}, statement, proposals=own(0), reproduced=again)
    bad = np.argwhere((table != wanted) & (wanted >= 0))
    if not len(bad):
        return None
    thread, value = (int(c) for c in bad[0])
    got, right = int(table[thread, value]), int(wanted[thread, value])
    part = tiled.part._replace(extent=tiled.extent(tiling.covered))
    place = reference.place_of(tiling, thread)
    within = digits((tiled.part.values, *tiled.repeats(tiling.covered)), value)
    defined = place is not None and reference.element(tiling, tiled, tiling.covered, (*place, *within)) == right
    return Counterexample(
        {"thread": thread, "value": value},
        f"T{thread} V{value}: layout {part.show(got)}, tiled atom {part.show(right)}",
        f"{written_out(layout, thread, value)} = {got}, not {right}",
        extent="unique" if len(bad) == 1 else "smallest",
        damage=(f"{len(bad)} of {table.size} points disagree",),
        proposals=own(table.size - len(bad)),
        unique=len(bad) == 1,
        reproduced=defined and walk(layout, thread, value) == got != right,
    )


def _claim_layout(operand: str, text: str, spec: TilingSpec) -> TilingSpec:
    """The spec with another claimed layout of an operand."""
    return replace(spec, claimed={**spec.claimed, operand: text})


def partition(run: object, tiling: Tiling, tiled: TiledOperand) -> list[Evidence]:
    """Evidence that each element of the given tile has its number of owners in the threads' partitions."""
    x, y = tiled.extent(tiling.tile)
    table = gemm.partitions(tiling, tiled, Tensor(None, Layout((x, y))))
    outside = np.argwhere((table < 0) | (table >= x * y))
    counts = np.bincount(table[(table >= 0) & (table < x * y)], minlength=x * y)
    bad = np.flatnonzero(counts != tiled.owners)
    wrong = None
    if len(outside):
        row, value = (int(c) for c in outside[0])
        thread, got, part = gemm.threads(tiling)[row], int(table[row, value]), tiled.part._replace(extent=(x, y))
        wrong = Counterexample(
            {"thread": thread, "value": value},
            f"T{thread} V{value} holds {part.show(got)}, outside {x}x{y}",
            damage=(f"{len(outside)} of {table.size} points fall outside",),
            reproduced=gemm.elements_of(tiling, tiled, thread)[value : value + 1] == [got],
        )
    elif len(bad):
        part, first = tiled.part._replace(extent=(x, y)), int(bad[0])
        count = int(counts[first])
        again = sum(gemm.elements_of(tiling, tiled, thread).count(first) for thread in gemm.threads(tiling))
        wrong = Counterexample(
            {"element": first},
            f"{part.show(first)} has {owners(count)}, {tiled.owners} wanted",
            damage=(f"{len(bad)} of {x * y} elements do not have {owners(tiled.owners)}",),
            reproduced=again == count,
        )
    return [finding(Check.ISA, wrong or _elsewhere(tiling, tiled, table), "enumeration", table.size, "numpy")]


def _elsewhere(tiling: Tiling, tiled: TiledOperand, table: Table) -> Counterexample | None:
    """A thread whose partition has an element of another thread's, though numbers of owners are right."""
    wanted = reference.parts(tiling, tiled, tiling.tile)
    try:
        found = gemm.by_atom(tiling, tiled, table)
    except LayoutError as error:
        values = {len(gemm.elements_of(tiling, tiled, thread)) for thread in gemm.threads(tiling)}
        again = (len(gemm.threads(tiling)), *values) == table.shape
        return Counterexample({}, f"a partition does not fit its operand: {error}", reproduced=again)
    differ = found != wanted
    if not differ.any():
        return None
    bad = np.argwhere(differ.T)  # the first thread's first value first
    at = tuple(int(c) for c in bad[0][::-1])
    thread, got, right = reference.thread(tiling, at), int(found[at]), int(wanted[at])
    part, (rests, _) = tiled.part._replace(extent=tiled.extent(tiling.tile)), tiled.repeats(tiling.tile)
    value = at[4] + tiled.part.values * (at[5] + rests * at[6])  # of the partition
    again = gemm.elements_of(tiling, tiled, thread)[value : value + 1] == [got]
    return Counterexample(
        {"thread": thread, "value": at[4], "rest": at[5], "other rest": at[6]},
        f"T{thread} holds {part.show(got)} where the tiled atom has {part.show(right)}",
        damage=(f"{len(bad)} of {table.size} points disagree",),
        reproduced=again and got != right == reference.element(tiling, tiled, tiling.tile, at),
    )
