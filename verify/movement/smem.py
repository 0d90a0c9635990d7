# SPDX-License-Identifier: Apache-2.0
"""Accesses of shared memory: within it, whole, aligned, written elements disjoint, for every base.

A thread accesses its values `width` bits at a time. Byte addresses are swizzle(base + layout(thread, step)); they are
enumerated at base 0, and proved at every base below the size of shared memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

import proofs
from layouts import Swizzle, size
from verify.core.digits import walks
from verify.core.verdict import Check, Counterexample, Evidence, Proposal, Statement, finding
from verify.evidence.proof import as_evidence
from verify.evidence.run import Run
from verify.maps import search
from verify.maps.array_map import ArrayMap
from verify.maps.blocks import EvaluationMismatch
from verify.maps.map import Axis, Point
from verify.movement import conflict_free
from verify.movement.smem_access import BYTE, CAPACITY, WIDTHS, SmemAccess, Table


def room(run: object, _: object, access: SmemAccess) -> list[Evidence]:
    """Return the evidence that a CTA can have as much shared memory as the tile spans, from its base on.

    The largest place is asked for, not the first that is too large, so no search of maps answers it.
    """
    places = access.places.values()
    base, most, last = access.base or 0, access.capacity, int(places.argmax())
    needed = base + (int(places[last]) + 1) * access.element // BYTE
    wrong = None
    if needed > most:
        more = [arch for arch, kib in CAPACITY.items() if kib * 1024 >= needed]
        spans = f"ends at byte {needed}" if base else f"spans {needed} bytes"
        statement = f"the tile {spans}; a CTA has {most} ({CAPACITY[access.arch]} KiB) on {access.arch}"
        words = f"--arch {more[0]}, which has {CAPACITY[more[0]]} KiB" if more else ""
        arch = (Proposal(words, partial(replace, arch=more[0])),) if more else ()
        again = access.place(last) == int(places[last])
        wrong = Counterexample({"bytes": needed, "most": most}, statement, reproduced=again, proposals=arch)
    return [finding(Check.ISA, wrong, "exhaustive", places.size, "numpy")]


def room_proved(run: Run, _: object, access: SmemAccess) -> list[Evidence]:
    """Return the proof that every element of the tile lies in shared memory."""
    outcome = proofs.prove_room(access.for_solver(), access.base or 0, access.capacity, run.budget, run.solver)
    return [as_evidence(outcome, lambda at: f"index {at['index']} of the tile lies at byte {at['byte']}")]


def base_claim(_: object, access: SmemAccess) -> Statement:
    """Return the claim that the base is a multiple of what the accesses need."""
    return Statement("", f"base {access.base} is a multiple of {_unit(access)}")


def base(run: object, _: object, access: SmemAccess) -> list[Evidence]:
    """Evidence that the base is such a multiple."""
    given, unit, wrong = access.base or 0, access.unit, None
    if given % unit:
        statement, rest = f"base {given} isn't a multiple of {_unit(access)}", f"{given} mod {unit} = {given % unit}"
        below = given // unit * unit
        aligned = tuple(Proposal(f"--base {byte}", partial(replace, base=byte)) for byte in (below, below + unit))
        wrong = Counterexample({"base": given}, statement, rest, proposals=aligned)
    return [finding(Check.ISA, wrong, "counted", 1)]


def _unit(access: SmemAccess) -> str:
    """Say what a base must be a multiple of, and why."""
    return f"{access.unit} bytes, " + ("the swizzle's period" if access.swizzle.bits else "the width")


def whole_claim(_: object, access: SmemAccess) -> Statement:
    """Return the claim that each access is of neighbouring elements, at a multiple of its width."""
    each = f"each access of {access.width} bits to {access.memory} memory is {access.vector} neighbouring elements"
    bases = f"at a multiple of the width, for every base that is a multiple of {access.unit} bytes"
    return Statement("global" if access.memory == "global" else "", f"{each}, {bases}")


def whole(run: object, _: object, access: SmemAccess) -> list[Evidence]:
    """Evidence of every access at base 0: all bases are alike, multiples of the width and of the swizzle's period."""
    m, expected = _map_elements(access), _map_neighbours(access)
    try:
        difference, wrong = search.locate_difference(m, expected), None
    except EvaluationMismatch as fault:
        difference, wrong = None, fault.counterexample
    if difference is not None:
        thread, value = difference.point
        start = value - value % access.vector
        here, first = access.offset(thread, value), access.offset(thread, start)
        statement = f"T{thread} V{start} lies at element {first}, which isn't a multiple of {access.vector}"
        if value > start:
            expected_at = f"V{start} at {first}: expected {value - start} further on"
            statement = f"T{thread} V{value} lies at element {here}, {expected_at}"
        widths = [w for w in sorted(WIDTHS[access.how], reverse=True) if access.element <= w < access.width]
        narrower = (candidate for candidate in (replace(access, width=w) for w in widths) if _is_whole(candidate))
        widest = next((candidate.width for candidate in narrower), 0)
        alone = f"accesses of {widest} bits are whole"
        wrong = Counterexample(
            {"thread": thread, "value": value},
            statement,
            extent="smallest",
            damage=(alone,) if widest else (),
            proposals=(Proposal(f"--width {widest}", partial(replace, width=widest)),) if widest else (),
            reproduced=difference.reproduced,
        )
    return [finding(Check.ISA, wrong, "exhaustive", len(m), "numpy")]


def _map_elements(access: SmemAccess) -> ArrayMap:
    """Return the map of each (thread, value) to its element of memory, from base 0."""
    return _map_values(access, access.offsets(), lambda thread, value: (access.offset(thread, value),))


def _map_neighbours(access: SmemAccess) -> ArrayMap:
    """Return the map of each (thread, value) to its place in an access of neighbours at a multiple of the width."""
    vector = access.vector
    first = access.offsets()[:, :, :1] // vector * vector

    def locate(thread: int, value: int) -> Point:
        return (access.offset(thread, value - value % vector) // vector * vector + value % vector,)

    return _map_values(access, first + np.arange(vector), locate)


def _map_values(access: SmemAccess, elements: Table, locate: Callable[[int, int], Point]) -> ArrayMap:
    """Return the map of an array [thread][access][place], and of what is at one thread and value."""
    inputs = Axis("thread", len(elements)), Axis("value", elements[0].size)
    return ArrayMap(access, inputs, (elements,), (Axis("element", 1 + int(elements.max())),), locate)


def _is_whole(access: SmemAccess) -> bool:
    """Return whether each access is of neighbours, at a multiple of its width."""
    return search.locate_difference(_map_elements(access), _map_neighbours(access)) is None


def whole_proved(run: Run, _: object, access: SmemAccess) -> list[Evidence]:
    """Return the proof for every base, lane and value."""
    question, words = access.for_solver(), "T{lane} V{value} lies at byte {here}, its access begins at byte {first}"
    outcome = proofs.prove_whole(question, run.budget, run.solver)
    bases = f"{question.bases} bases"
    return [as_evidence(outcome, lambda at: f"{words.format(**at)}, at base {at['base'] * access.unit}", bases)]


def disjoint(run: object, _: object, access: SmemAccess) -> list[Evidence]:
    """Evidence that no two elements that are written have one place."""
    index, first = np.unique(access.indices().ravel(), return_index=True)  # an element may be written twice
    place = access.offsets().ravel()[first]
    m = ArrayMap(
        access, (Axis("index", len(index)),), (place,), (Axis("element", 1 + int(place.max())),),
        lambda number: (int(access.place(int(index[number]))),),
    )  # fmt: skip
    try:
        collision, wrong = search.locate_collision(m), None
    except EvaluationMismatch as fault:
        collision, wrong = None, fault.counterexample
    if collision is not None:
        left, right = (int(index[point[0]]) for point in (collision.first, collision.second))
        written = {index for row in walks(access.threads) for index in row}
        wrong = Counterexample(
            {},
            f"elements {left} and {right} of the tile are both written to element {collision.image}",
            reproduced=collision.reproduced and {left, right} <= written,
        )
    return [finding(Check.ISA, wrong, "exhaustive", size(access.threads), "numpy")]


def disjoint_proved(run: Run, _: object, access: SmemAccess) -> list[Evidence]:
    """Return the proof that two elements at one place are the same element."""
    words = "T{lane} V{value} and T{lane2} V{value2}, elements {index} and {index2} of the tile, are written to byte "
    outcome = proofs.prove_disjoint(access.for_solver(), run.budget, run.solver)
    return [as_evidence(outcome, lambda at: words.format(**at) + str(at["byte"]))]


def find_fault(accesses: Sequence[SmemAccess], swizzle: Swizzle) -> str:
    """Return the first fault of accesses through a swizzle, at every base within a word; empty where there is none."""
    for access in accesses:
        through = replace(access, swizzle=swizzle)
        for evidence in (*whole(None, None, through), *conflict_free.enumerate_accesses(None, None, through)):
            if evidence.counterexample is not None:
                return evidence.counterexample.statement
    return ""
