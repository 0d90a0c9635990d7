# SPDX-License-Identifier: Apache-2.0
"""The library's TiledMMA at every point of a tiling, as arrays, compared with the definition.

Each is a map, which `verify.maps.search` searches: its block is of arrays, its `at` plain integers for one thread. If
the two differ, that is a bug in Lanecheck, and the tiling is not refuted.

`numbered`    whether the threads of all atoms are different, and numbered as defined
`equals`      whether a (thread, value) layout is the atom's, tiled
`partition`   whether the threads' partitions give each element its number of owners
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from math import prod
from typing import TypeAlias

import numpy as np

from layouts import Layout, LayoutError, batched, size
from layouts.tensor import Tensor
from verify.core.digits import digits, image, walk, written_out
from verify.core.verdict import Check, Counterexample, Evidence, Proposal, finding
from verify.core.wording import owners
from verify.maps import search
from verify.maps.array_map import ArrayMap
from verify.maps.blocks import EvaluationMismatch
from verify.maps.map import Axis, Map, Point
from verify.maps.strided import StridedMap
from verify.tiling import gemm, reference
from verify.tiling.bind import TiledOperand, Tiling
from verify.tiling.spec import TilingSpec

Table: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.int64]]"


def check_numbering(run: object, tiling: Tiling, _: None) -> list[Evidence]:
    """Evidence that no two places of the atoms are one thread, and that threads are numbered as defined."""
    vmnk = tiling.mma.thr_layout_vmnk
    m = _map_threads(tiling, batched.batch(vmnk).values(), lambda index: image(vmnk, index), "library")
    try:
        wrong = _find_shared_thread(vmnk, m) or _find_misnumbered(tiling, m)
    except EvaluationMismatch as fault:
        wrong = fault.counterexample
    return [finding(Check.ISA, wrong, "enumeration", len(m), "numpy")]


def _map_threads(tiling: Tiling, numbers: Table, number: Callable[[int], int], who: str) -> ArrayMap:
    """Return the map of each place of the atoms to its thread."""
    places, threads = (Axis("index", numbers.size), Axis("value", 1)), (Axis("thread", 1 + int(numbers.max())),)
    return ArrayMap((who, tiling.cache_key()), places, (numbers,), threads, lambda index, _: (number(index),))


def _find_shared_thread(vmnk: Layout, m: Map) -> Counterexample | None:
    """Return the first thread that is at two places."""
    collision = search.locate_collision(m)
    if collision is None:
        return None
    first, second = collision.first[0], collision.second[0]
    return Counterexample(
        {"first": first, "second": second},
        f"{place_in_words(vmnk, first)} and {place_in_words(vmnk, second)} are both thread {collision.image}",
        damage=(f"{collision.extra} of {len(m)} threads are duplicates",),
        reproduced=collision.reproduced,
    )


def _find_misnumbered(tiling: Tiling, m: Map) -> Counterexample | None:
    """Return the first thread whose number in the library differs from the definition."""
    vmnk = tiling.mma.thr_layout_vmnk
    shape = (tiling.subject.threads, *tiling.atoms)
    expected = _map_threads(
        tiling,
        reference.threads(tiling).ravel(order="F"),
        lambda index: reference.thread(tiling, tuple(digits(shape, index))),
        "definition",
    )
    if len(expected) != len(m):
        statement = f"{len(m)} threads are numbered, not {len(expected)}"
        again = size(vmnk) == len(m) and tiling.threads == len(expected)
        return Counterexample({"threads": len(m)}, statement, reproduced=again)
    difference = search.locate_difference(m, expected)
    if difference is None:
        return None
    (first, _), ((got,), (right,)) = difference.point, (side(*difference.point) for side in (m, expected))
    return Counterexample(
        {"index": first},
        f"{place_in_words(vmnk, first)} is thread {got}, expected {right}",
        damage=(f"{difference.wrong} of {len(expected)} threads differ",),
        reproduced=difference.reproduced,
    )


def place_in_words(vmnk: Layout, index: int) -> str:
    """Return the thread of an atom, and the atom, that an index into (V, M, N, K) names."""
    thread, *atom = digits(map(size, vmnk), index)
    return f"T{thread} of atom ({','.join(map(str, atom))})"


def equals(run: object, tiling: Tiling, tiled: TiledOperand) -> list[Evidence]:
    """Evidence that a layout is the atom's, tiled, at every thread and value."""
    m = StridedMap(tiled.layout, (Axis("element", prod(tiled.extent(tiling.covered_shape))),))
    try:
        wrong = _unequal(tiling, tiled, m)
    except EvaluationMismatch as fault:
        wrong = fault.counterexample
    return [finding(Check.ISA, wrong, "enumeration", len(m), "numpy")]


def _unequal(tiling: Tiling, tiled: TiledOperand, m: StridedMap) -> Counterexample | None:
    """Return the first thread and value whose element differs from that of the atom, tiled."""
    layout, wanted = tiled.layout, reference.elements(tiling, tiled)

    def own(agree: int) -> tuple[Proposal, ...]:
        text, agreement = str(tiled.layout_tv), f"{wanted.size} of {wanted.size} agree (now {agree})"
        return (Proposal(f"the tiled MMA's own: {text}      {agreement}", partial(_claim_layout, tiled.name, text)),)

    if m.extents != wanted.shape:
        threads, values = m.extents
        statement = f"it has {threads} threads x {values} values, the tiling {wanted.shape[0]} x {wanted.shape[1]}"
        again = tuple(map(size, layout)) == m.extents
        return Counterexample({"threads": threads}, statement, proposals=own(0), reproduced=again)
    difference = search.locate_difference(m, _map_tiled_atom(tiling, tiled, m, wanted))
    if difference is None:
        return None
    thread, value = difference.point
    got, right = walk(layout, thread, value), int(wanted[thread, value])
    part = tiled.part._replace(extent=tiled.extent(tiling.covered_shape))
    return Counterexample(
        {"thread": thread, "value": value},
        f"T{thread} V{value}: layout {part.show(got)}, tiled atom {part.show(right)}",
        f"{written_out(layout, thread, value)} = {got}, not {right}",
        extent="unique" if difference.wrong == 1 else "smallest",
        damage=(f"{difference.wrong} of {len(m)} points disagree",),
        proposals=own(len(m) - difference.wrong),
        unique=difference.wrong == 1,
        reproduced=difference.reproduced,
    )


def _map_tiled_atom(tiling: Tiling, tiled: TiledOperand, m: StridedMap, wanted: Table) -> ArrayMap:
    """Return the map of the definition; an idle thread, which has none, has what the layout gives it."""
    (own,) = m.block(0, len(m))
    repeats = (tiled.part.values, *tiled.repeats(tiling.covered_shape))

    def locate(thread: int, value: int) -> Point:
        place = reference.place_of(tiling, thread)
        if place is None:
            return m(thread, value)
        return (reference.element(tiling, tiled, tiling.covered_shape, (*place, *digits(repeats, value))),)

    table = np.where(wanted >= 0, wanted, own.reshape(wanted.shape))
    return ArrayMap(("tiled atom", tiling.cache_key(tiled)), m.inputs, (table,), m.outputs, locate)


def _claim_layout(operand: str, text: str, spec: TilingSpec) -> TilingSpec:
    """Return the spec with another claimed layout of an operand."""
    return replace(spec, claimed={**spec.claimed, operand: text})


def partition(run: object, tiling: Tiling, tiled: TiledOperand) -> list[Evidence]:
    """Evidence that each element of the given tile has its number of owners in the threads' partitions."""
    x, y = tiled.extent(tiling.tile)
    table = gemm.partitions(tiling, tiled, Tensor(None, Layout((x, y))))
    try:
        wrong = _find_partition_fault(tiling, tiled, table) or _elsewhere(tiling, tiled, table)
    except EvaluationMismatch as fault:
        wrong = fault.counterexample
    return [finding(Check.ISA, wrong, "enumeration", table.size, "numpy")]


def _find_partition_fault(tiling: Tiling, tiled: TiledOperand, table: Table) -> Counterexample | None:
    """Return the first element outside the tile, or else the first with another number of owners."""
    (x, y), threads = tiled.extent(tiling.tile), gemm.threads(tiling)
    part, elements = tiled.part._replace(extent=(x, y)), cache(partial(gemm.elements_of, tiling, tiled))

    def locate(row: int, value: int) -> Point:
        alone = elements(threads[row])
        return (alone[value] if value < len(alone) else -1,)

    inputs = Axis("thread", table.shape[0]), Axis("value", table.shape[1])
    m = ArrayMap(("partition", tiling.cache_key(tiled)), inputs, (table,), (Axis("element", x * y),), locate)
    if stray := search.locate_stray(m):
        row, value = stray.point
        thread, got = threads[row], int(table[row, value])
        return Counterexample(
            {"thread": thread, "value": value},
            f"T{thread} V{value} holds {part.show(got)}, outside {x}x{y}",
            damage=(f"{stray.wrong} of {table.size} points fall outside",),
            reproduced=stray.reproduced,
        )
    miscount = search.locate_miscount(m, tiled.owners)
    if miscount is None:
        return None
    (first,) = miscount.element
    return Counterexample(
        {"element": first},
        f"{part.show(first)} has {owners(miscount.has)}, {tiled.owners} wanted",
        damage=(f"{miscount.wrong} of {x * y} elements do not have {owners(tiled.owners)}",),
        reproduced=miscount.reproduced,
    )


def _elsewhere(tiling: Tiling, tiled: TiledOperand, table: Table) -> Counterexample | None:
    """Return a thread whose partition has an element of another thread's, though numbers of owners are right."""
    try:
        held = gemm.by_atom(tiling, tiled, table)
    except LayoutError as error:
        values = {len(gemm.elements_of(tiling, tiled, thread)) for thread in gemm.threads(tiling)}
        again = (len(gemm.threads(tiling)), *values) == table.shape
        return Counterexample({}, f"a partition does not fit its operand: {error}", reproduced=again)
    elements = cache(partial(gemm.elements_of, tiling, tiled))
    threads, shape = gemm.threads(tiling), held.shape

    def place(value: int, row: int) -> tuple[int, ...]:
        return (*digits(shape[:4], row), *digits(shape[4:], value))

    def hold(value: int, row: int) -> Point:
        alone = elements(threads[row])
        return (alone[value] if value < len(alone) else -1,)

    m = _map_places(tiling, tiled, held, hold)
    wanted = reference.parts(tiling, tiled, tiling.tile)
    expected = _map_places(
        tiling, tiled, wanted, lambda *at: (reference.element(tiling, tiled, tiling.tile, place(*at)),)
    )
    difference = search.locate_difference(m, expected)
    if difference is None:
        return None
    at, ((got,), (right,)) = place(*difference.point), (side(*difference.point) for side in (m, expected))
    thread, part = threads[difference.point[1]], tiled.part._replace(extent=tiled.extent(tiling.tile))
    return Counterexample(
        {"thread": thread, "value": at[4], "rest": at[5], "other rest": at[6]},
        f"T{thread} holds {part.show(got)} where the tiled atom has {part.show(right)}",
        damage=(f"{difference.wrong} of {table.size} points disagree",),
        reproduced=difference.reproduced,
    )


def _map_places(tiling: Tiling, tiled: TiledOperand, elements: Table, locate: Callable[[int, int], Point]) -> ArrayMap:
    """Return the map of each value of each thread, the first value of every thread first, to its element."""
    threads = prod(elements.shape[:4])
    inputs, outputs = (Axis("value", elements.size // threads), Axis("thread", threads)), (Axis("element", 1 << 62),)
    return ArrayMap(("places", tiling.cache_key(tiled)), inputs, (elements.T,), outputs, locate)
