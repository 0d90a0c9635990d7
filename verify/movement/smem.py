# SPDX-License-Identifier: Apache-2.0
"""Accesses of shared memory: within it, whole, aligned, and what is written kept apart, for every base address.

A thread's values are taken `width` bits at a time. Byte addresses are swizzle(base + layout(thread, step)); by
enumeration they are judged at base 0, by the solver at every base below the size of shared memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

import proofs
from layouts import ComposedLayout, Swizzle, size
from verify.core.verdict import Claim, Counterexample, Evidence, Status, Verdict, Witness, join
from verify.evidence.proof import solved
from verify.movement import bank_conflicts
from verify.movement.register_handover import MovementKind
from verify.movement.smem_access import BYTE, CAPACITY, WIDTHS, WRITES, Reach


def judge(reach: Reach, budget: int, solver: proofs.Solver) -> list[Verdict]:
    """The verdicts on accesses: that there is room, that they are whole, then that no two lanes meet in a bank."""
    source = [] if reach.source is None else [replace(reach, tile=reach.source, source=None, base=None)]
    far = [_judge_whole(one, "global", budget, solver) for one in source]
    whole = _judge_whole(reach, "shared", budget, solver)
    far += [*lies(reach, reach.unit, budget, solver), *([_kept(reach, budget, solver)] if reach.how in WRITES else [])]
    if whole.status is Status.REFUTED:
        why = "the accesses are not whole"
        free = join(bank_conflicts.claim(reach), [Evidence(Witness.BOOK, Status.UNCHECKED, "", reason=why)])
        return [*far, whole, free]
    return [*far, whole, bank_conflicts.judge(reach, budget, solver)]


def lies(reach: Reach, unit: int, budget: int, solver: proofs.Solver) -> list[Verdict]:
    """Where the tile lies: in shared memory, and at a multiple of `unit` bytes where its base is stated."""
    return [_fits(reach, budget, solver), *([] if reach.base is None else [_based(reach, reach.base, unit)])]


def _based(reach: Reach, base: int, unit: int) -> Verdict:
    """Whether the tile starts where it may."""
    why = "the swizzle's period" if reach.swizzle.bits else "the width"
    claim = Claim(reach.name, "", MovementKind.BASE, f"base {base} is a multiple of {unit} bytes, {why}")
    wrong, below = None, base // unit * unit
    if base % unit:
        said, rest = f"base {base} is no multiple of {unit} bytes, {why}", f"{base} mod {unit} = {base % unit}"
        wrong = Counterexample(
            {"base": base}, said, rest, repair=f"base {below} or {below + unit}", replay=reach.replay
        )
    status = Status.REFUTED if wrong else Status.PROVED
    return join(claim, [Evidence(Witness.BOOK, status, "counted", 1, counterexample=wrong)])


def _fits(reach: Reach, budget: int, solver: proofs.Solver) -> Verdict:
    """Whether a CTA can have as much shared memory as the tile spans, from its base on."""
    room = f"the tile lies in the shared memory that a CTA has on {reach.arch}"
    claim = Claim(reach.name, "", MovementKind.FITS, room)
    places = np.asarray(reach.swizzle(np.asarray(reach.plain(np.arange(size(reach.plain))))))
    base, most = reach.base or 0, reach.capacity
    needed = base + (int(places.max()) + 1) * reach.element // BYTE
    wrong = None
    if needed > most:
        more = [arch for arch, kib in CAPACITY.items() if kib * 1024 >= needed]
        spans = f"ends at byte {needed}" if base else f"spans {needed} bytes"
        said = f"the tile {spans}; a CTA has {most} ({CAPACITY[reach.arch]} KiB) on {reach.arch}"
        repair = f"--arch {more[0]}, which has {CAPACITY[more[0]]} KiB" if more else ""
        wrong = Counterexample({"bytes": needed, "most": most}, said, repair=repair, replay=reach.replay)
    status = Status.REFUTED if wrong else Status.PROVED
    book = Evidence(Witness.BOOK, status, "exhaustive", places.size, "numpy", counterexample=wrong)
    return join(claim, [book, _proof_fits(reach, base, budget, solver)])


def _proof_fits(reach: Reach, base: int, budget: int, solver: proofs.Solver) -> Evidence:
    """Room for every element, by the solver."""
    from proofs.layout.movement import prove_room

    outcome = prove_room(reach.asked(), base, reach.capacity, budget, solver)
    wrong = None
    if outcome.model is not None:
        at = outcome.model
        wrong = Counterexample(dict(at), f"index {at['index']} of the tile lies at byte {at['byte']}")
    return solved(outcome, wrong)


def _judge_whole(reach: Reach, memory: str, budget: int, solver: proofs.Solver) -> Verdict:
    each = f"each access of {reach.width} bits to {memory} memory is {reach.vector} neighbouring elements"
    bases = f"at a multiple of the width, for every base that is a multiple of {reach.unit} bytes"
    claim = Claim(reach.name, "", MovementKind.WHOLE, f"{each}, {bases}")
    return join(claim, [_whole(reach), _proof_whole(reach, budget, solver)])


def _whole(reach: Reach) -> Evidence:
    offsets = reach.offsets()
    apart = offsets - offsets[:, :, :1] != np.arange(reach.vector)
    bad = np.argwhere(apart | (offsets[:, :, :1] * reach.element % reach.width != 0))
    if not len(bad):  # bases are multiples of the width and of the swizzle's period: they change nothing
        return Evidence(Witness.BOOK, Status.PROVED, "exhaustive", offsets.size, "numpy")
    thread, step, place = (int(c) for c in bad[0])
    here, first = int(offsets[thread, step, place]), int(offsets[thread, step, 0])
    value = step * reach.vector
    said = f"T{thread} V{value} lies at element {first}, which is no multiple of {reach.vector}"
    if here != first + place:
        said = f"T{thread} V{value + place} lies at element {here}, V{value} at {first}: {place} further on is wanted"
    at = {"thread": thread, "value": value + place}
    wrong = Counterexample(at, said, extent="smallest", repair=_narrower(reach), replay=reach.replay)
    return Evidence(Witness.BOOK, Status.REFUTED, "exhaustive", offsets.size, "numpy", counterexample=wrong)


def _kept(reach: Reach, budget: int, solver: proofs.Solver) -> Verdict:
    """Whether every element that is written has a place of its own."""
    claim = Claim(reach.name, "", MovementKind.KEPT, "elements that are written have places of their own")
    lost, points = _overwritten(reach), size(reach.threads)
    wrong = Counterexample({}, lost, replay=reach.replay) if lost else None
    status = Status.REFUTED if lost else Status.PROVED
    book = Evidence(Witness.BOOK, status, "exhaustive", points, "numpy", counterexample=wrong)
    return join(claim, [book, _proof_kept(reach, budget, solver)])


def _overwritten(reach: Reach) -> str:
    """Two elements of the tile that are written to one place; empty where each has its own."""
    threads, values = size(reach.threads[0]), size(reach.threads[1])
    index = np.asarray(reach.threads(np.arange(threads)[:, None], np.arange(values)[None, :])).ravel()
    place = reach.offsets().ravel()
    order = np.lexsort((index, place))
    twice = np.flatnonzero((np.diff(place[order]) == 0) & (np.diff(index[order]) != 0))
    if not len(twice):
        return ""
    one, other = (int(index[order[i]]) for i in (twice[0], twice[0] + 1))
    return f"elements {one} and {other} of the tile are both written to element {int(place[order[twice[0]]])}"


def confirmed(reaches: Sequence[Reach], swizzle: Swizzle) -> str:
    """Why accesses through a swizzle do not stand after all, at every base within a word; empty when they do."""
    for reach in reaches:
        through = replace(reach, tile=ComposedLayout(swizzle, 0, reach.plain) if swizzle.bits else reach.plain)
        for evidence in (_whole(through), bank_conflicts.enumerated(through)):
            if evidence.counterexample is not None:
                return evidence.counterexample.statement
    return ""


def _narrower(reach: Reach) -> str:
    """The widest access that would be whole, if there is one."""
    for width in sorted(WIDTHS[reach.how], reverse=True):
        if reach.element <= width < reach.width and _whole(replace(reach, width=width)).status is Status.PROVED:
            return f"accesses of {width} bits are whole"
    return ""


def _proof_whole(reach: Reach, budget: int, solver: proofs.Solver) -> Evidence:
    """Whole accesses at every base, by the solver."""
    from proofs.layout.movement import prove_whole

    asked = reach.asked()
    outcome = prove_whole(asked, budget, solver)
    wrong = None
    if outcome.model is not None:
        at = outcome.model
        said = f"T{at['lane']} V{at['value']} lies at byte {at['here']}, its access begins at byte {at['first']}"
        wrong = Counterexample(dict(at), f"{said}, at base {at['base'] * reach.unit}")
    return solved(outcome, wrong, f"{asked.bases} bases")


def _proof_kept(reach: Reach, budget: int, solver: proofs.Solver) -> Evidence:
    """A place of its own for every element that is written, by the solver."""
    from proofs.layout.movement import prove_kept_apart

    outcome = prove_kept_apart(reach.asked(), budget, solver)
    wrong = None
    if outcome.model is not None:
        at = outcome.model
        who = f"T{at['lane']} V{at['value']} and T{at['lane2']} V{at['value2']}"
        said = f"{who}, elements {at['index']} and {at['index2']} of the tile, are written to byte {at['byte']}"
        wrong = Counterexample(dict(at), said)
    return solved(outcome, wrong)
