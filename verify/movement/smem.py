# SPDX-License-Identifier: Apache-2.0
"""The verdicts on accesses of shared memory: within it, whole, aligned, written elements disjoint, for every base.

A thread accesses its values `width` bits at a time. Byte addresses are swizzle(base + layout(thread, step)); they are
enumerated at base 0, and proved at every base below the size of shared memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

import proofs
from layouts import ComposedLayout, Swizzle, size
from verify.core.verdict import Check, Claim, Counterexample, Evidence, Status, Verdict, join
from verify.movement import bank_conflicts
from verify.movement.properties import BASE, DISJOINT, ROOM, WHOLE, compared, exhaustive, proved, unchecked
from verify.movement.smem_access import BYTE, CAPACITY, WIDTHS, WRITES, SmemAccess


def verdicts(access: SmemAccess, budget: int, solver: proofs.Solver) -> list[Verdict]:
    """The verdicts on accesses: the tile fits, accesses are whole, then no two lanes conflict in a bank."""
    found = []
    if access.source is not None:
        far = replace(access, tile=access.source, source=None, base=None)
        found.append(_whole(far, "global", budget, solver))
    whole = _whole(access, "shared", budget, solver)
    found += placed(access, access.unit, budget, solver)
    if access.how in WRITES:
        found.append(_disjoint(access, budget, solver))
    if whole.status is Status.REFUTED:
        none = [unchecked(Check.ISA, "the accesses are not whole")]
        return [*found, whole, join(bank_conflicts.claim(access), none)]
    return [*found, whole, bank_conflicts.verdict(access, budget, solver)]


def placed(access: SmemAccess, unit: int, budget: int, solver: proofs.Solver) -> list[Verdict]:
    """The verdicts on the tile's place: in shared memory, and at a multiple of `unit` bytes where its base is given."""
    return [_room(access, budget, solver), *([] if access.base is None else [_based(access, access.base, unit)])]


def _based(access: SmemAccess, base: int, unit: int) -> Verdict:
    """The verdict on the base: a multiple of `unit` bytes."""
    why = "the swizzle's period" if access.swizzle.bits else "the width"
    claim = Claim(access.name, "", BASE, f"base {base} is a multiple of {unit} bytes, {why}")
    wrong, below = None, base // unit * unit
    if base % unit:
        statement, rest = (
            f"base {base} is no multiple of {unit} bytes, {why}",
            f"{base} mod {unit} = {base % unit}",
        )
        repair = f"base {below} or {below + unit}"
        wrong = Counterexample({"base": base}, statement, rest, repair=repair, replay=access.replay)
    return join(claim, [compared(wrong, "counted", 1)])


def _room(access: SmemAccess, budget: int, solver: proofs.Solver) -> Verdict:
    """The verdict on room: a CTA can have as much shared memory as the tile spans, from its base on."""
    from proofs.layout.movement import prove_room

    claim = Claim(access.name, "", ROOM, f"the tile lies in the shared memory that a CTA has on {access.arch}")
    places = np.asarray(access.swizzle(np.asarray(access.plain(np.arange(size(access.plain))))))
    base, most = access.base or 0, access.capacity
    needed = base + (int(places.max()) + 1) * access.element // BYTE
    wrong = None
    if needed > most:
        more = [arch for arch, kib in CAPACITY.items() if kib * 1024 >= needed]
        spans = f"ends at byte {needed}" if base else f"spans {needed} bytes"
        statement = f"the tile {spans}; a CTA has {most} ({CAPACITY[access.arch]} KiB) on {access.arch}"
        repair = f"--arch {more[0]}, which has {CAPACITY[more[0]]} KiB" if more else ""
        wrong = Counterexample({"bytes": needed, "most": most}, statement, repair=repair, replay=access.replay)
    room = proved(
        prove_room(access.for_solver(), base, most, budget, solver),
        lambda at: f"index {at['index']} of the tile lies at byte {at['byte']}",
    )
    return join(claim, [exhaustive(wrong, places.size), room])


def _whole(access: SmemAccess, memory: str, budget: int, solver: proofs.Solver) -> Verdict:
    """The verdict on whole accesses: each is of neighbouring elements, at a multiple of its width."""
    from proofs.layout.movement import prove_whole

    each = f"each access of {access.width} bits to {memory} memory is {access.vector} neighbouring elements"
    bases = f"at a multiple of the width, for every base that is a multiple of {access.unit} bytes"

    def statement(at: Mapping[str, int]) -> str:
        where = f"T{at['lane']} V{at['value']} lies at byte {at['here']}, its access begins at byte {at['first']}"
        return f"{where}, at base {at['base'] * access.unit}"

    question = access.for_solver()
    solved = proved(prove_whole(question, budget, solver), statement, f"{question.bases} bases")
    return join(Claim(access.name, "", WHOLE, f"{each}, {bases}"), [_enumerated(access), solved])


def _enumerated(access: SmemAccess) -> Evidence:
    """Evidence of every access at base 0: all bases are alike, multiples of the width and of the swizzle's period."""
    offsets = access.offsets()
    scattered = offsets - offsets[:, :, :1] != np.arange(access.vector)
    bad = np.argwhere(scattered | (offsets[:, :, :1] * access.element % access.width != 0))
    if not len(bad):
        return exhaustive(None, offsets.size)
    thread, step, place = (int(c) for c in bad[0])
    here, first = int(offsets[thread, step, place]), int(offsets[thread, step, 0])
    value = step * access.vector
    statement = f"T{thread} V{value} lies at element {first}, which is no multiple of {access.vector}"
    if here != first + place:
        statement = (
            f"T{thread} V{value + place} lies at element {here}, V{value} at {first}: expected {place} further on"
        )
    at, repair = {"thread": thread, "value": value + place}, ""
    for width in sorted(WIDTHS[access.how], reverse=True):
        if access.element <= width < access.width:
            if _enumerated(replace(access, width=width)).status is Status.PROVED:
                repair = f"accesses of {width} bits are whole"
                break
    return exhaustive(
        Counterexample(at, statement, extent="smallest", repair=repair, replay=access.replay), offsets.size
    )


def _disjoint(access: SmemAccess, budget: int, solver: proofs.Solver) -> Verdict:
    """The verdict on disjoint writes: different elements that are written have different places."""
    from proofs.layout.movement import prove_kept_apart

    def statement(at: Mapping[str, int]) -> str:
        who = f"T{at['lane']} V{at['value']} and T{at['lane2']} V{at['value2']}"
        return f"{who}, elements {at['index']} and {at['index2']} of the tile, are written to byte {at['byte']}"

    claim = Claim(access.name, "", DISJOINT, "different elements that are written have different places")
    overwritten = _overwritten(access)
    wrong = Counterexample({}, overwritten, replay=access.replay) if overwritten else None
    solved = proved(prove_kept_apart(access.for_solver(), budget, solver), statement)
    return join(claim, [exhaustive(wrong, size(access.threads)), solved])


def _overwritten(access: SmemAccess) -> str:
    """The statement that two elements are written to one place; empty where each has its own."""
    threads, values = size(access.threads[0]), size(access.threads[1])
    index = np.asarray(access.threads(np.arange(threads)[:, None], np.arange(values)[None, :])).ravel()
    place = access.offsets().ravel()
    order = np.lexsort((index, place))
    twice = np.flatnonzero((np.diff(place[order]) == 0) & (np.diff(index[order]) != 0))
    if not len(twice):
        return ""
    one, other = (int(index[order[i]]) for i in (twice[0], twice[0] + 1))
    return f"elements {one} and {other} of the tile are both written to element {int(place[order[twice[0]]])}"


def confirmed(accesses: Sequence[SmemAccess], swizzle: Swizzle) -> str:
    """The first fault of accesses through a swizzle, at every base within a word; empty where there is none."""
    for access in accesses:
        through = replace(access, tile=ComposedLayout(swizzle, 0, access.plain) if swizzle.bits else access.plain)
        for evidence in (_enumerated(through), bank_conflicts.enumerated(through)):
            if evidence.counterexample is not None:
                return evidence.counterexample.statement
    return ""
