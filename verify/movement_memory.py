# SPDX-License-Identifier: Apache-2.0
"""Accesses of shared memory: whole, aligned, and free of bank conflicts for every base address that is aligned.

A thread's values are taken `width` bits at a time. Byte addresses are swizzle(base + layout(thread, step)); by
enumeration they are judged at base 0, by the solver at every base below the size of shared memory.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

import proofs
from gpu_checks.banks import LEAST, recordings_of_banks
from layouts import ComposedLayout, Layout, LayoutError, Swizzle, size
from layouts.banks import LANES, PHASE, WORD, Access, Operation, Wavefronts, best_swizzle
from layouts.int_tuple import IntTuple
from verify.movement_registers import MovementKind, Table
from verify.proof import solved
from verify.verdict import Claim, Counterexample, Evidence, Status, Verdict, Witness, join

if TYPE_CHECKING:
    from proofs.movement import Access as Asked

SHARED = 227 * 1024  # bytes of shared memory that a CTA can have on sm_90
WIDTHS: Mapping[str, tuple[int, ...]] = {  # how shared memory is accessed -> bits that one access can have
    "load": tuple(PHASE),
    "store": tuple(PHASE),
    "cp.async": (32, 64, 128),
    "ldmatrix": (128,),
    "stmatrix": (128,),
}
MATRICES = ("ldmatrix", "stmatrix")
BYTE = 8
WRITES = ("store", "cp.async", "stmatrix")
PLAIN = Swizzle(0, 0, 0)


@dataclass(frozen=True, slots=True)
class Reach:
    """Accesses to be judged.

    tile     index in the tile -> element of shared memory, a swizzle of it or not
    threads  (thread, value) -> index in the tile
    element  bits of an element; width  bits that a thread asks for at once
    source   index in the tile -> element of global memory that is copied from or to, where it is stated
    """

    name: str
    tile: Layout | ComposedLayout
    threads: Layout
    element: int
    width: int
    how: str = "load"
    replay: str = ""
    source: Layout | None = None

    @property
    def swizzle(self) -> Swizzle:
        """The swizzle, of elements; of no bits where there is none."""
        outer = self.tile.layout_a if isinstance(self.tile, ComposedLayout) else None
        return outer if isinstance(outer, Swizzle) else PLAIN

    @property
    def plain(self) -> Layout:
        """The tile before the swizzle."""
        inner = self.tile.layout_b if isinstance(self.tile, ComposedLayout) else self.tile
        if not isinstance(inner, Layout):
            raise LayoutError(f"{self.tile} is no swizzle of a layout")
        return inner

    @property
    def vector(self) -> int:
        """Elements of one access."""
        return self.width // self.element

    @property
    def bytes(self) -> Swizzle:
        """The swizzle, of bytes."""
        s = self.swizzle
        return Swizzle(s.bits, s.base + (self.element // BYTE).bit_length() - 1, s.shift)

    @property
    def unit(self) -> int:
        """Bases are multiples of this many bytes: the swizzle's period, or the width where there is none."""
        return self.bytes.period if self.swizzle.bits else self.width // BYTE

    def offsets(self) -> Table:
        """The element of shared memory of each (thread, access, place in the access), from base 0."""
        threads, values = size(self.threads[0]), size(self.threads[1])
        index = self.threads(np.arange(threads)[:, None], np.arange(values)[None, :])
        found: Table = np.asarray(self.swizzle(np.asarray(self.plain(index))))
        return found.reshape(threads, values // self.vector, self.vector)

    def accesses(self, base: int = 0) -> list[Access]:
        """Every access of every warp, in bytes from a base on."""
        first = base + self.offsets()[:, :, 0] * (self.element // BYTE)
        rows = (first[start : start + LANES, step].tolist() for step in range(first.shape[1]) for start in self._warps)
        return [Access(tuple(row), self.width, self.operation) for row in rows]

    @property
    def operation(self) -> Operation:
        """Who asks, for the banks: a row of a matrix is as a store of its width, whichever way it goes."""
        return Operation.STORE if self.how in MATRICES else Operation(self.how)

    @property
    def _warps(self) -> range:
        return range(0, size(self.threads[0]), LANES)


def judge(reach: Reach, budget: int, solver: proofs.Solver) -> list[Verdict]:
    """The verdicts on accesses: that they are whole, then that no two lanes meet in a bank."""
    source = [] if reach.source is None else [replace(reach, tile=reach.source, source=None)]
    far = [_judge_whole(one, "global", budget, solver) for one in source]
    whole = _judge_whole(reach, "shared", budget, solver)
    far += [_kept(reach, budget, solver)] if reach.how in WRITES else []
    free = Claim(reach.name, "", MovementKind.CONFLICT_FREE, _wording(reach))
    if whole.status is Status.REFUTED:
        why = "the accesses are not whole"
        return [*far, whole, join(free, [Evidence(Witness.BOOK, Status.UNCHECKED, "", reason=why)])]
    return [*far, whole, join(free, [_enumerated(reach), _proof(reach, budget, solver), _silicon(reach)])]


def _judge_whole(reach: Reach, memory: str, budget: int, solver: proofs.Solver) -> Verdict:
    each = f"each access of {reach.width} bits to {memory} memory is {reach.vector} neighbouring elements"
    bases = f"at a multiple of the width, for every base that is a multiple of {reach.unit} bytes"
    claim = Claim(reach.name, "", MovementKind.WHOLE, f"{each}, {bases}")
    return join(claim, [_whole(reach), _proof_whole(reach, budget, solver)])


def _wording(reach: Reach) -> str:
    through = f" through {reach.swizzle} of elements" if reach.swizzle.bits else ""
    bases = f"every base that is a multiple of {reach.unit} bytes"
    return f"no {reach.how} of {reach.width} bits meets another in a bank{through}, for {bases}"


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
        for evidence in (_whole(through), _enumerated(through)):
            if evidence.counterexample is not None:
                return evidence.counterexample.statement
    return ""


def _narrower(reach: Reach) -> str:
    """The widest access that would be whole, if there is one."""
    for width in sorted(WIDTHS[reach.how], reverse=True):
        if reach.element <= width < reach.width and _whole(replace(reach, width=width)).status is Status.PROVED:
            return f"accesses of {width} bits are whole"
    return ""


def _enumerated(reach: Reach) -> Evidence:
    """Every access at every base within a word, by the model of the banks: whole words move all banks alike."""
    started = time.perf_counter()
    accesses = [access for base in range(0, WORD, min(reach.unit, WORD)) for access in reach.accesses(base)]
    found = [_apart(access) for access in accesses]
    excess = sum(one.excess for one in found)
    total = sum(access.through(PLAIN).total for access in reach.accesses())
    method = f"every base within a word; at base 0, {total} wavefronts"
    seconds = time.perf_counter() - started
    if not excess:
        return Evidence(Witness.BOOK, Status.PROVED, method, len(found), "numpy", seconds=seconds)
    number = next(n for n, one in enumerate(found) if one.excess)
    wrong = _conflict(reach, accesses, number, found)
    return Evidence(Witness.BOOK, Status.REFUTED, method, len(found), "numpy", counterexample=wrong)


def _apart(access: Access) -> Wavefronts:
    """Phase by phase, whether or not a load would merge them: what is free so is free of conflicts either way."""
    merges = access.operation is Operation.LOAD
    return (replace(access, operation=Operation.STORE) if merges else access).through(PLAIN)


def _conflict(
    reach: Reach, accesses: Sequence[Access], number: int, found: Sequence[Wavefronts]
) -> Counterexample | None:
    conflict = found[number].conflict
    if conflict is None:
        return None
    (one, other), (here, there) = conflict.lanes, conflict.words
    warps = len(range(0, size(reach.threads[0]), LANES))
    turn, start = number // warps, number % warps * LANES
    base, step = divmod(turn, size(reach.threads[1]) // reach.vector)
    where = f"in access {step}" + (f", at base {base * reach.unit}" if base else "")
    total, least = sum(f.total for f in found), sum(len(f.phases) for f in found)
    return Counterexample(
        {"thread": start + one, "other": start + other, "step": step, "bank": conflict.bank},
        f"{_meeting((start + one, start + other), conflict.bank, (here, there))} {where}",
        f"{here} mod 32 = {there} mod 32 = {conflict.bank}",
        extent=f"a {max(f.degree for f in found)}-way conflict",
        damage=(f"{total} wavefronts where {least} would do",),
        repair=_repair(reach),
        replay=reach.replay,
        reproduced=here % 32 == there % 32 == conflict.bank and (here != there or reach.operation is Operation.COPY),
    )


def _meeting(threads: tuple[int, int], bank: int, words: tuple[int, int]) -> str:
    """Two threads that a bank cannot serve at once, in words."""
    (one, other), (here, there) = threads, words
    if here == there:
        return f"T{one} and T{other} both write word {here} of bank {bank}, and copies share none"
    return f"T{one} and T{other} ask bank {bank} for words {here} and {there}"


def _repair(reach: Reach) -> str:
    best = searched([reach])
    return f"{best.swizzle} of elements: {best.said}" if best.free and best.swizzle.bits else ""


@dataclass(frozen=True, slots=True)
class Found:
    """What the search came to: the best swizzle of elements, and the wavefronts under it where `least` would do."""

    swizzle: Swizzle
    total: int
    least: int

    @property
    def free(self) -> bool:
        """Whether no access has a conflict."""
        return self.total == self.least

    @property
    def said(self) -> str:
        """The figures in words."""
        if self.free:
            return f"no conflict, {self.total} wavefronts"
        return f"the best there is, {self.total} wavefronts where {self.least} would do without conflicts"


def searched(reaches: Sequence[Reach]) -> Found:
    """The smallest swizzle of elements under which the accesses, stripped of theirs, take the fewest wavefronts."""
    bare = [replace(reach, tile=reach.plain) for reach in reaches]
    best = best_swizzle([one for reach in bare for one in reach.accesses()])
    shrunk = (reaches[0].element // BYTE).bit_length() - 1
    swizzle = Swizzle(best.swizzle.bits, best.swizzle.base - shrunk, best.swizzle.shift)
    return Found(swizzle, sum(best.totals), sum(best.totals) - best.excess)


def _proof(reach: Reach, budget: int, solver: proofs.Solver) -> Evidence:
    """Freedom from conflicts at every base, by the solver."""
    from proofs.movement import prove_conflict_free

    asked = _asked(reach)
    outcome = prove_conflict_free(asked, budget, solver)
    wrong = None
    if outcome.model is not None:
        at = outcome.model
        meet = _meeting((at["lane"], at["lane2"]), at["bank"], (at["word"], at["word2"]))
        wrong = Counterexample(dict(at), f"{meet} at base {at['base'] * reach.unit}")
    return solved(outcome, wrong, f"{asked.bases} bases")


def _proof_whole(reach: Reach, budget: int, solver: proofs.Solver) -> Evidence:
    """Whole accesses at every base, by the solver."""
    from proofs.movement import prove_whole

    asked = _asked(reach)
    outcome = prove_whole(asked, budget, solver)
    wrong = None
    if outcome.model is not None:
        at = outcome.model
        said = f"T{at['lane']} V{at['value']} lies at byte {at['here']}, its access begins at byte {at['first']}"
        wrong = Counterexample(dict(at), f"{said}, at base {at['base'] * reach.unit}")
    return solved(outcome, wrong, f"{asked.bases} bases")


def _proof_kept(reach: Reach, budget: int, solver: proofs.Solver) -> Evidence:
    """A place of its own for every element that is written, by the solver."""
    from proofs.movement import prove_kept_apart

    outcome = prove_kept_apart(_asked(reach), budget, solver)
    wrong = None
    if outcome.model is not None:
        at = outcome.model
        who = f"T{at['lane']} V{at['value']} and T{at['lane2']} V{at['value2']}"
        said = f"{who}, elements {at['index']} and {at['index2']} of the tile, are written to byte {at['byte']}"
        wrong = Counterexample(dict(at), said)
    return solved(outcome, wrong)


def _asked(reach: Reach) -> Asked:
    """The accesses as the solver is given them: layouts as they were stated, none computed from another."""
    from proofs import movement

    phase, bases, shared = PHASE[reach.width], max(1, SHARED // reach.unit), reach.operation is not Operation.COPY
    return movement.Access(
        reach.threads,
        reach.plain,
        reach.element // BYTE,
        reach.width,
        phase,
        reach.bytes,
        bases,
        reach.unit,
        shared,
    )


def scaled(stride: IntTuple, factor: int) -> IntTuple:
    """Every stride times a factor."""
    return tuple(scaled(d, factor) for d in stride) if isinstance(stride, tuple) else stride * factor


def _silicon(reach: Reach) -> Evidence:
    """What a GPU took for just these addresses, where it was measured."""
    recorded = recordings_of_banks()
    measured = {(o.pattern.operation, o.pattern.bits, o.pattern.addresses): o for o in recorded}
    seen, where = [], ""
    for access in reach.accesses():
        found = next((measured[key] for key in _keys(access, reach.how) if key in measured), None)
        if found is None:
            of = f"the rule was, on {len(recorded)} patterns" if recorded else "nothing was"
            return Evidence(Witness.SILICON, Status.UNCHECKED, "", reason=f"these addresses were not measured; {of}")
        phases = len(_apart(access).phases)
        if len(access.through(PLAIN).phases) < phases:
            why = f"phases of this load merge: {found.wavefronts} wavefronts were measured for {phases} phases"
            return Evidence(Witness.SILICON, Status.UNCHECKED, "", reason=why)
        if phases < (least := LEAST.get(reach.how, 0)) == found.wavefronts:
            why = f"a {reach.how} takes the time of {least} wavefronts, however few it has; these have {phases}"
            return Evidence(Witness.SILICON, Status.UNCHECKED, "", reason=why)
        seen.append(found.wavefronts - phases)
        where = f"measured on {found.device.gpu}, {found.device.sm}, driver {found.device.driver}"
    status = Status.REFUTED if any(seen) else Status.AGREES
    wrong = Counterexample({}, f"{sum(seen)} wavefronts too many were measured") if any(seen) else None
    return Evidence(Witness.SILICON, status, where, len(seen), "gpu_checks", counterexample=wrong)


def _keys(access: Access, how: str) -> Iterator[tuple[str, int, tuple[int | None, ...]]]:
    operation = f"{how}.x{max(1, len(access.addresses) // 8)}" if how in MATRICES else how
    yield operation, access.bits, access.addresses
