# SPDX-License-Identifier: Apache-2.0
"""Bank conflicts of accesses: enumerated at every base within a word, proved for all bases, measured on a GPU."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import proofs
from gpu_checks.banks.command import LEAST, BankObservation
from layouts import Swizzle, size
from layouts.bank_conflicts import LANES, WORD, Access, AccessKind, BankConflict, Wavefronts, best_swizzle
from verify.core.verdict import Check, Counterexample, Evidence, Proposal, Statement, Status, finding, leave_unchecked
from verify.evidence.gpu_runs import observations
from verify.evidence.proof import as_evidence
from verify.evidence.run import Run
from verify.movement.smem_access import BYTE, MATRICES, PLAIN, SmemAccess


def claim(_: object, access: SmemAccess) -> Statement:
    """Return the claim that accesses are free of bank conflicts."""
    through = f" through {access.swizzle} of elements" if access.swizzle.bits else ""
    text = f"no two lanes of a {access.how} of {access.width} bits conflict in a bank{through}"
    return Statement("", f"{text}, for every base that is a multiple of {access.unit} bytes")


def enumerate_accesses(run: object, _: object, access: SmemAccess) -> list[Evidence]:
    """Examine each access at each base within a word, by the model of banks: whole words shift all banks alike.

    Two lanes conflict by different words of one bank, in one phase: no question about one map, so no search asks it.
    """
    started = time.perf_counter()
    each = [single for base in range(0, WORD, min(access.unit, WORD)) for single in access.accesses(base)]
    wavefronts = [_split_phases(single) for single in each]
    total = sum(single.through(PLAIN).total for single in access.accesses())
    first = next(((number, split.conflict) for number, split in enumerate(wavefronts) if split.conflict), None)
    wrong = None if first is None else _conflicting(access, *first, wavefronts)
    method, seconds = f"every base within a word; at base 0, {total} wavefronts", time.perf_counter() - started
    return [finding(Check.ISA, wrong, method, len(wavefronts), "numpy", seconds=seconds)]


def _split_phases(access: Access) -> Wavefronts:
    """Wavefronts with no phases merged: an access without conflicts then has none with merged phases either."""
    merges = access.operation is AccessKind.LOAD
    return (replace(access, operation=AccessKind.STORE) if merges else access).through(PLAIN)


def _conflicting(
    access: SmemAccess, number: int, conflict: BankConflict, wavefronts: Sequence[Wavefronts]
) -> Counterexample:
    """Two threads that conflict in a bank, in the access of this number, counted from the first base on."""
    here, there = conflict.words
    warps = len(range(0, size(access.threads[0]), LANES))
    turn, start = number // warps, number % warps * LANES
    first, second = (start + lane for lane in conflict.lanes)
    steps = size(access.threads[1]) // access.vector
    base, step = divmod(turn, steps)
    warp = range(start, min(start + LANES, size(access.threads[0])))
    where = f"in access {step}" + (f", at base {base * access.unit}" if base else "")
    based = wavefronts[base * steps * warps : (base + 1) * steps * warps]
    total, least = sum(f.total for f in based), sum(len(f.phases) for f in based)
    swizzle, free, line = search([access])
    return Counterexample(
        {"thread": first, "other": second, "step": step, "bank": conflict.bank},
        f"{_in_words((first, second), conflict.bank, conflict.words)} {where}",
        f"{here} mod 32 = {there} mod 32 = {conflict.bank}",
        extent=f"a {max(f.degree for f in wavefronts)}-way conflict",
        damage=(f"{total} wavefronts where {least} would do",),
        proposals=(Proposal(line, partial(_swizzle_smem, swizzle)),) if free and swizzle.bits else (),
        reproduced=here % 32 == there % 32 == conflict.bank
        and (here != there or access.operation is AccessKind.COPY)
        and _split_phases(access.access(warp, step, base * access.unit)).conflict == conflict,
    )


def _swizzle_smem(swizzle: Swizzle, spec: Any) -> Any:
    """Return the spec of accesses with another swizzle of its elements."""
    return replace(spec, shared=spec.shared._replace(swizzle=swizzle))


def _in_words(threads: tuple[int, int], bank: int, words: tuple[int, int]) -> str:
    """Return the statement that two threads conflict in a bank."""
    (first, second), (here, there) = threads, words
    if here == there:
        return f"T{first} and T{second} both write word {here} of bank {bank}, and copies do not share a word"
    return f"T{first} and T{second} access words {here} and {there} of bank {bank}"


def prove(run: Run, _: object, access: SmemAccess) -> list[Evidence]:
    """Return the proof that accesses are free of conflicts at every base."""

    def statement(at: Mapping[str, int]) -> str:
        conflict = _in_words((at["lane"], at["lane2"]), at["bank"], (at["word"], at["word2"]))
        return f"{conflict} at base {at['base'] * access.unit}"

    question = access.for_solver()
    return [
        as_evidence(proofs.prove_conflict_free(question, run.budget, run.solver), statement, f"{question.bases} bases")
    ]


def find_measurement(run: object, _: object, access: SmemAccess) -> list[Evidence]:
    """Return the evidence of a GPU, where these same addresses were measured on it."""
    recorded = observations()
    known: dict[object, BankObservation] = {
        (o.pattern.operation, o.pattern.bits, o.pattern.addresses): o for o in recorded
    }
    excess, where = [], ""
    for single in access.accesses():
        operation = f"{access.how}.x{max(1, len(single.addresses) // 8)}" if access.how in MATRICES else access.how
        observation = known.get((operation, single.bits, single.addresses))
        phases, least = len(_split_phases(single).phases), LEAST.get(access.how, 0)
        if observation is None:
            of = f"the model was, on {len(recorded)} patterns" if recorded else "no pattern was"
            return [leave_unchecked(Check.GPU, f"these addresses were not measured; {of}")]
        if len(single.through(PLAIN).phases) < phases:
            merged = f"{observation.wavefronts} wavefronts were measured for {phases} phases"
            return [leave_unchecked(Check.GPU, f"phases of this load merge: {merged}")]
        if phases < least == observation.wavefronts:
            few = f"takes the time of at least {least} wavefronts; these have {phases}"
            return [leave_unchecked(Check.GPU, f"a {access.how} {few}")]
        excess.append(observation.wavefronts - phases)
        where = f"measured on {observation.device.gpu}, {observation.device.sm}, driver {observation.device.driver}"
    status = Status.REFUTED if any(excess) else Status.AGREES
    wrong = Counterexample({}, f"{sum(excess)} wavefronts too many were measured") if any(excess) else None
    return [Evidence(Check.GPU, status, where, len(excess), "gpu_checks", counterexample=wrong)]


def search(accesses: Sequence[SmemAccess]) -> tuple[Swizzle, bool, str]:
    """Find the smallest swizzle under which accesses, without their own swizzles, take the fewest wavefronts.

    With it: whether no access has a conflict under it, and the line that says so.
    """
    best = best_swizzle([single for access in accesses for single in replace(access, swizzle=PLAIN).accesses()])
    shrunk = (accesses[0].element // BYTE).bit_length() - 1
    swizzle = Swizzle(best.swizzle.bits, best.swizzle.base - shrunk, best.swizzle.shift)
    total = sum(best.totals)
    outcome = f"no conflict, {total} wavefronts"
    if not best.free:
        outcome = f"the best there is, {total} wavefronts where {total - best.excess} would do without conflicts"
    return swizzle, best.free, f"{swizzle} of elements: {outcome}"
