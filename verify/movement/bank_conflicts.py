# SPDX-License-Identifier: Apache-2.0
"""Bank conflicts of accesses: enumerated at every base within a word, proved for all bases, measured on a GPU."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import proofs
from gpu_checks.banks.command import LEAST, Observation
from layouts import Swizzle, size
from layouts.banks import LANES, WORD, Access, Operation, Wavefronts, best_swizzle
from verify.core.verdict import Check, Claim, Counterexample, Evidence, Status, Verdict, join
from verify.evidence.recorded import observations
from verify.movement.properties import CONFLICT_FREE, compared, proved, unchecked
from verify.movement.smem_access import BYTE, MATRICES, PLAIN, SmemAccess


def verdict(access: SmemAccess, budget: int, solver: proofs.Solver) -> Verdict:
    """The verdict on whole accesses: no two lanes that are served together conflict in a bank."""
    return join(claim(access), [enumerated(access), _proof(access, budget, solver), _measured(access)])


def claim(access: SmemAccess) -> Claim:
    """The claim that accesses are free of bank conflicts."""
    through = f" through {access.swizzle} of elements" if access.swizzle.bits else ""
    text = f"no two lanes of a {access.how} of {access.width} bits conflict in a bank{through}"
    bases = f"for every base that is a multiple of {access.unit} bytes"
    return Claim(access.name, "", CONFLICT_FREE, f"{text}, {bases}")


def enumerated(access: SmemAccess) -> Evidence:
    """Every access at every base within a word, by the model of banks: a base of whole words shifts all banks alike."""
    started = time.perf_counter()
    each = [one for base in range(0, WORD, min(access.unit, WORD)) for one in access.accesses(base)]
    found = [_unmerged(one) for one in each]
    total = sum(one.through(PLAIN).total for one in access.accesses())
    method, seconds = f"every base within a word; at base 0, {total} wavefronts", time.perf_counter() - started
    number = next((n for n, one in enumerate(found) if one.excess), None)
    if number is None:
        return compared(None, method, len(found), "numpy", seconds)
    wrong = _conflict(access, number, found)
    return Evidence(Check.ISA, Status.REFUTED, method, len(found), "numpy", counterexample=wrong)


def _unmerged(access: Access) -> Wavefronts:
    """Wavefronts with no phases merged: an access without conflicts then has none with merged phases either."""
    merges = access.operation is Operation.LOAD
    return (replace(access, operation=Operation.STORE) if merges else access).through(PLAIN)


def _conflict(access: SmemAccess, number: int, found: Sequence[Wavefronts]) -> Counterexample | None:
    """Two threads that conflict in a bank, in the access of this number, counted from the first base on."""
    conflict = found[number].conflict
    if conflict is None:
        return None
    here, there = conflict.words
    warps = len(range(0, size(access.threads[0]), LANES))
    turn, start = number // warps, number % warps * LANES
    one, other = (start + lane for lane in conflict.lanes)
    steps = size(access.threads[1]) // access.vector
    base, step = divmod(turn, steps)
    where = f"in access {step}" + (f", at base {base * access.unit}" if base else "")
    based = found[base * steps * warps : (base + 1) * steps * warps]
    total, least = sum(f.total for f in based), sum(len(f.phases) for f in based)
    best = search([access])
    return Counterexample(
        {"thread": one, "other": other, "step": step, "bank": conflict.bank},
        f"{_conflict_statement((one, other), conflict.bank, conflict.words)} {where}",
        f"{here} mod 32 = {there} mod 32 = {conflict.bank}",
        extent=f"a {max(f.degree for f in found)}-way conflict",
        damage=(f"{total} wavefronts where {least} would do",),
        repair=f"{best.swizzle} of elements: {best.words}" if best.free and best.swizzle.bits else "",
        replay=access.replay,
        reproduced=here % 32 == there % 32 == conflict.bank and (here != there or access.operation is Operation.COPY),
    )


def _conflict_statement(threads: tuple[int, int], bank: int, words: tuple[int, int]) -> str:
    """The statement that two threads conflict in a bank."""
    (one, other), (here, there) = threads, words
    if here == there:
        return f"T{one} and T{other} both write word {here} of bank {bank}, and copies do not share a word"
    return f"T{one} and T{other} access words {here} and {there} of bank {bank}"


@dataclass(frozen=True, slots=True)
class BestSwizzle:
    """The best swizzle of elements, the wavefronts under it, and the `least` that accesses without conflicts take."""

    swizzle: Swizzle
    total: int
    least: int

    @property
    def free(self) -> bool:
        """Whether no access has a conflict."""
        return self.total == self.least

    @property
    def words(self) -> str:
        """The numbers of wavefronts, as printed."""
        if self.free:
            return f"no conflict, {self.total} wavefronts"
        return f"the best there is, {self.total} wavefronts where {self.least} would do without conflicts"


def search(accesses: Sequence[SmemAccess]) -> BestSwizzle:
    """The smallest swizzle of elements under which accesses, without their own swizzles, take the fewest wavefronts."""
    best = best_swizzle([one for access in accesses for one in replace(access, tile=access.plain).accesses()])
    shrunk = (accesses[0].element // BYTE).bit_length() - 1
    swizzle = Swizzle(best.swizzle.bits, best.swizzle.base - shrunk, best.swizzle.shift)
    return BestSwizzle(swizzle, sum(best.totals), sum(best.totals) - best.excess)


def _proof(access: SmemAccess, budget: int, solver: proofs.Solver) -> Evidence:
    """Evidence of the solver that accesses are free of conflicts at every base."""
    from proofs.layout.movement import prove_conflict_free

    def statement(at: Mapping[str, int]) -> str:
        conflict = _conflict_statement((at["lane"], at["lane2"]), at["bank"], (at["word"], at["word2"]))
        return f"{conflict} at base {at['base'] * access.unit}"

    question = access.for_solver()
    return proved(prove_conflict_free(question, budget, solver), statement, f"{question.bases} bases")


def _measured(access: SmemAccess) -> Evidence:
    """Evidence of a GPU, where these same addresses were measured on it."""
    recorded = observations()
    measured: dict[object, Observation] = {
        (o.pattern.operation, o.pattern.bits, o.pattern.addresses): o for o in recorded
    }
    excess, where = [], ""
    for one in access.accesses():
        operation = f"{access.how}.x{max(1, len(one.addresses) // 8)}" if access.how in MATRICES else access.how
        found = measured.get((operation, one.bits, one.addresses))
        if found is None:
            of = f"the model was, on {len(recorded)} patterns" if recorded else "no pattern was"
            return unchecked(Check.GPU, f"these addresses were not measured; {of}")
        phases = len(_unmerged(one).phases)
        if len(one.through(PLAIN).phases) < phases:
            merged = f"{found.wavefronts} wavefronts were measured for {phases} phases"
            return unchecked(Check.GPU, f"phases of this load merge: {merged}")
        if phases < (least := LEAST.get(access.how, 0)) == found.wavefronts:
            few = f"takes the time of at least {least} wavefronts; these have {phases}"
            return unchecked(Check.GPU, f"a {access.how} {few}")
        excess.append(found.wavefronts - phases)
        where = f"measured on {found.device.gpu}, {found.device.sm}, driver {found.device.driver}"
    status = Status.REFUTED if any(excess) else Status.AGREES
    wrong = Counterexample({}, f"{sum(excess)} wavefronts too many were measured") if any(excess) else None
    return Evidence(Check.GPU, status, where, len(excess), "gpu_checks", counterexample=wrong)
