# SPDX-License-Identifier: Apache-2.0
"""Bank conflicts of accesses: enumerated at every base within a word, proved for all bases, as a GPU showed them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import proofs
from gpu_checks.banks.command import LEAST
from layouts import Swizzle, size
from layouts.banks import LANES, WORD, Access, Operation, Wavefronts, best_swizzle
from verify.core.verdict import Claim, Counterexample, Evidence, Status, Verdict, Witness, join
from verify.evidence.proof import solved
from verify.evidence.recorded import observations
from verify.movement.register_handover import MovementKind
from verify.movement.smem_access import BYTE, MATRICES, PLAIN, Reach


def judge(reach: Reach, budget: int, solver: proofs.Solver) -> Verdict:
    """The verdict on accesses that are whole: that no two lanes which are served together meet in a bank."""
    return join(claim(reach), [enumerated(reach), _proof(reach, budget, solver), _silicon(reach)])


def claim(reach: Reach) -> Claim[MovementKind]:
    """What is to be judged."""
    return Claim(reach.name, "", MovementKind.CONFLICT_FREE, _wording(reach))


def _wording(reach: Reach) -> str:
    through = f" through {reach.swizzle} of elements" if reach.swizzle.bits else ""
    bases = f"every base that is a multiple of {reach.unit} bytes"
    return f"no {reach.how} of {reach.width} bits meets another in a bank{through}, for {bases}"


def enumerated(reach: Reach) -> Evidence:
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
    steps = size(reach.threads[1]) // reach.vector
    base, step = divmod(turn, steps)
    where = f"in access {step}" + (f", at base {base * reach.unit}" if base else "")
    based = found[base * steps * warps : (base + 1) * steps * warps]
    total, least = sum(f.total for f in based), sum(len(f.phases) for f in based)
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
    from proofs.layout.movement import prove_conflict_free

    asked = reach.asked()
    outcome = prove_conflict_free(asked, budget, solver)
    wrong = None
    if outcome.model is not None:
        at = outcome.model
        meet = _meeting((at["lane"], at["lane2"]), at["bank"], (at["word"], at["word2"]))
        wrong = Counterexample(dict(at), f"{meet} at base {at['base'] * reach.unit}")
    return solved(outcome, wrong, f"{asked.bases} bases")


def _silicon(reach: Reach) -> Evidence:
    """What a GPU took for just these addresses, where it was measured."""
    recorded = observations()
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
