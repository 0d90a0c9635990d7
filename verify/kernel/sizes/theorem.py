# SPDX-License-Identifier: Apache-2.0
"""The proof of a claim for all sizes: one run for each class of trips, and the induction that joins them.

Trips below T0 are runs of their own. With a period P, the classes of T0 + i + P*J trips, for i < P and every J >= 0,
have the rest. That the state at the loop's head after J rounds is what the runs take it to be is the
induction. All of them together are every K >= 1. K = 0 is a run of its own; where it fails the theorem is about K >= 1.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from verify.core.errors import SpecError
from verify.kernel.chance import ClaimGrowth, bound_chance
from verify.kernel.claims.expression import functions
from verify.kernel.data import levels
from verify.kernel.data.floats import FORMATS
from verify.kernel.data.values import CHOSEN, EXACT, MANTISSA, Values
from verify.kernel.interpretation import Interpretation
from verify.kernel.ptx.parse import parse_kernel
from verify.kernel.ptx.source import Kernel
from verify.kernel.sizes.away import compare_away
from verify.kernel.sizes.bounds import Bounds
from verify.kernel.sizes.forms import NotLifted, Polynomial
from verify.kernel.sizes.induction import FIRSTS, PERIODS, differs, find_period, growths, same_start
from verify.kernel.sizes.lifted import LiftedMachine, RunStopped, go, start
from verify.kernel.sizes.runs import BUDGET, LiftedRun, Snapshot
from verify.kernel.sizes.statement import CHOICES, AllSizes, state
from verify.kernel.sizes.tiles import check_tiles, find_cta, find_tiles
from verify.kernel.state.findings import WARNINGS, Unclear

AHEAD = (3, 4, 6)  # trips that a kernel may be ahead of the loop's head with its copies, tried in turn
PROBES = (32, 128, 512, 2048)  # of the summed size, tried in turn to find the loop that it decides


@dataclass(frozen=True)
class Theorem:
    """What was proved, and by what."""

    statement: AllSizes  # that is proved
    loop: int  # the line of the branch that closes the loop
    head: int  # the line of its first instruction
    first: int  # trips before the head of the induction
    period: int  # trips of a round
    alone: int  # trips that are runs of their own: 1 to `alone`
    runs: int  # interpretations of one CTA
    asked: int  # linear questions
    proved: int  # of these, by a certificate that was checked
    checked: int  # forms that were compared with the interpreter's bits
    loads: int  # accesses whose place and mask were proved
    stores: int  # and global stores
    bound: float  # on the chance that a wrong element went unnoticed in a run
    block: tuple[int, int, int]  # threads of a CTA
    modular: frozenset[tuple[str, str]]  # arrays and indices that are read modulo their size, and have no mask
    empty: str  # why the theorem does not speak of an empty sum; "" if it does


@dataclass
class Proof:
    """A proof under way."""

    statement: AllSizes  # that is to be proved
    kernel: Kernel  # of the PTX
    seed: int  # of the points and primes
    ticked: Callable[[int], None]  # hears how many instructions a run has executed
    loop: int = -1  # the branch that closes the loop over the summed index
    runs: int = 0  # so far
    counts: Counter[str] = field(default_factory=Counter)  # what runs that are over have asked and shown
    away: int = 0  # forms that were compared with the interpreter's bits away from the sample
    bound: float = 0.0  # on the chance that a wrong element went unnoticed in one of them
    modular: set[tuple[str, str]] = field(default_factory=set)  # arrays and indices that are read modulo their size

    def make_run(self, trips: int, sample: int, period: int = 0, rounds: str = "") -> LiftedRun:
        """Return a run of a region, at a sample of so many trips."""
        region = self.statement.region(trips, self.statement.numbers(sample), period, rounds)
        made = LiftedRun(self.statement, self.kernel, region, sample, self.seed)
        made.machine.ticked = self.ticked
        self.runs += 1
        return made

    def close(self, run: LiftedRun) -> None:
        """Count what a run has shown; nothing keeps it then, for each has some 30 MiB."""
        gc.collect()  # the runs before it: a machine and its instructions hold each other
        self.modular |= run.modular
        self.counts += Counter(
            asked=run.region.asked, proved=run.region.proved, checks=run.shadow.checks,
            loads=len(run.accesses.loads), stores=len(run.accesses.stores),
        )  # fmt: skip

    def find_loop(self) -> None:
        """Find the loop over the summed index and the elements of a trip, and which CTA is the sample."""
        statement = self.statement
        if statement.shares_axis:
            statement.step = statement.divisors.get(statement.summed[1], 1)
            statement.cta = find_cta(statement, self.kernel, self.seed)
        self.loop, statement.step = find_loop(self)

    def find_tiles(self) -> None:
        """Find which tile a CTA has if its number does not say so, and prove that each tile has one CTA."""
        if not self.statement.shares_axis:
            return
        run = self.make_run(1, 1)
        run.to_the_end(self.loop)
        check_findings(run)
        self.statement.tiles = find_tiles(run)
        whole = check_tiles(self.statement, self.statement.tiles, run.region)
        self.counts += Counter(asked=whole.asked, proved=whole.proved)
        self.close(run)

    def alone(self, trips: int) -> None:
        """Prove the class of exactly so many trips."""
        run = self.make_run(trips, trips)
        run.to_the_end(self.loop)
        self.check_end(run, Polynomial.number(0), 0)
        self.away += compare_away(run, self.loop, 0, 0)
        self.close(run)

    def check_end(self, run: LiftedRun, growth: Polynomial, low: int) -> None:
        """Raise NotLifted unless a run that ended has right values, places and masks, and found nothing wrong."""
        check_findings(run)
        if not run.ended:
            raise NotLifted(0, "the run did not end")
        bounds = Bounds(run, growth)
        bounds.check_loads()
        bounds.check_stores()
        self.bound = max(self.bound, check_values(run, low))

    def tail(self, trips: int, first: int, period: int, by: Mapping[int, Polynomial]) -> tuple[LiftedRun, Snapshot]:
        """Prove the class of trips + period*J: from the head on, with the state after J rounds."""
        run = self.make_run(trips, trips, period, "tail")
        kept: list[Snapshot] = []

        def head(done: int) -> None:
            if done == first:
                kept.append(self.begin(run, by, "J", first))

        run.to_the_end(self.loop, head)
        if not kept:
            raise NotLifted(0, "the loop has fewer trips than the summed size has steps")
        growth = Polynomial.symbol("J") * Polynomial.number(period * self.statement.step)
        self.check_end(run, growth, first * self.statement.step)
        self.away += compare_away(run, self.loop, first, period)
        return run, kept[0]

    def begin(self, run: LiftedRun, by: Mapping[int, Polynomial], symbol: str, first: int) -> Snapshot:
        """Give the state at the head the growth of any number of rounds; return what it was."""
        kept = run.snapshot(first)
        run.grow(by, symbol)
        kept.sums = run.replace_sums(first * self.statement.step)
        return kept

    def round(
        self, trips: int, first: int, period: int, by: Mapping[int, Polynomial]
    ) -> tuple[LiftedRun, list[Snapshot]]:  # fmt: skip
        """Run one round of the induction, of a kernel with at least trips + period*J trips, j < J."""
        run = self.make_run(trips, trips + period, period, "step")
        kept: list[Snapshot] = []

        def head(done: int) -> None:
            if done == first:
                kept.append(self.begin(run, by, "j", first))
                kept.append(run.snapshot(first))
            elif done == first + period:
                kept.append(run.snapshot(done))
                raise RunStopped

        run.to_the_end(self.loop, head)
        if len(kept) < 3:
            raise NotLifted(0, "the loop has fewer trips than the summed size has steps")
        check_findings(run)
        if run.accesses.stores:
            raise NotLifted(run.accesses.stores[0].line, "a global store in the loop")
        Bounds(run, Polynomial.symbol("j") * Polynomial.number(period * self.statement.step)).check_loads()
        return run, kept


def prove(
    ptx: str,
    table: Mapping[str, Any],
    kernel: str = "",
    *,
    seed: int,
    ticked: Callable[[int], None] = lambda steps: None,
) -> Theorem:
    """Prove a claim for all sizes; NotLifted with the line and the step where that fails.

    `table` is that of the claim; raises SpecError for what it has wrong.
    """
    statement = state(table)
    proof = Proof(statement, parse_kernel(ptx, kernel or table.get("kernel", "")), seed, ticked)
    try:
        return _prove(proof)
    except Unclear as error:
        raise NotLifted(error.line, error.problem) from None
    except NotLifted as error:
        error.statement = statement
        raise


def _prove(proof: Proof) -> Theorem:
    statement = proof.statement
    proof.find_loop()
    proof.find_tiles()
    first, period, by = _fit(proof)
    ahead, step, kept = _round(proof, first, period, by)
    least = first + ahead
    live = set(kept[1].read)
    for trips in range(least, least + period):
        tail, began = proof.tail(trips, first, period, by)
        live |= tail.shadow.read_after[first][0]
        if why := same_start(step, tail, kept[0], began, live):
            raise NotLifted(0, f"the induction and the run of {trips} trips begin with other states", why)
        proof.close(tail)
    if why := differs(step, kept[1], kept[2], period, live):
        raise NotLifted(_line(proof, proof.loop), f"the state does not come again after {period} trips", why)
    proof.close(step)
    block = step.run.launch.block
    del step, tail, kept, began  # before the next runs
    for trips in range(1, least):
        proof.alone(trips)
    empty = why_not_empty(proof)
    instructions, counts = proof.kernel.instructions, proof.counts
    return Theorem(
        statement, instructions[proof.loop].line, instructions[instructions[proof.loop].target].line, first, period,
        least - 1, proof.runs, counts["asked"], counts["proved"], counts["checks"] + proof.away, counts["loads"],
        counts["stores"], proof.bound, block, frozenset(proof.modular), empty,
    )  # fmt: skip


def why_not_empty(proof: Proof) -> str:
    """Return why the claim is not proved where nothing is summed; "" if it is."""
    try:
        proof.alone(0)
    except SpecError:
        return "what is given excludes it"
    except NotLifted as error:
        return str(error)
    except Unclear as error:
        return f"line {error.line}: {error.problem}"
    return ""


def _fit(proof: Proof) -> tuple[int, int, dict[int, Polynomial]]:
    """Return the trips before the head of the induction, those of a round, and by how much registers grow in one."""
    fit = FIRSTS + PERIODS + max(AHEAD)
    run = proof.make_run(fit, fit)
    heads: dict[int, Snapshot] = {}
    outcome: tuple[int, int] | str = "the loop has too few trips"

    def head(done: int) -> None:
        nonlocal outcome
        heads[done] = run.snapshot(done)
        if done > 2:
            outcome = find_period(run, heads, done - 1)
        if not isinstance(outcome, str) or done > FIRSTS + PERIODS:
            raise RunStopped

    run.to_the_end(proof.loop, head)
    if isinstance(outcome, str):
        raise NotLifted(0, f"the state at the loop's head does not come again within {PERIODS} trips", outcome)
    first, period = outcome
    proof.close(run)
    return first, period, growths(run, heads[first], heads[first + period])


def _round(
    proof: Proof, first: int, period: int, by: Mapping[int, Polynomial]
) -> tuple[int, LiftedRun, list[Snapshot]]:
    """Return how far the shortest class is ahead of the head, with the round of the induction at that distance."""
    for ahead in AHEAD:
        try:
            return ahead, *proof.round(first + ahead, first, period, by)
        except NotLifted as error:
            if ahead == AHEAD[-1] or not error.conditions:  # more trips decide a condition, and nothing else
                raise
    raise AssertionError


def _line(proof: Proof, number: int) -> int:
    return proof.kernel.instructions[number].line


def find_loop(proof: Proof) -> tuple[int, int]:
    """Return the branch that closes the loop over the summed index, and the elements of a trip.

    NotLifted unless the summed size changes the trips of one loop, and of others only as they are in it.
    """
    for probe in PROBES:
        rounds, sizes = count_rounds(proof, probe)
        changed = [loop for loop in rounds[0] | rounds[1] if rounds[0].get(loop, 0) != rounds[1].get(loop, 0)]
        if changed and all(rounds[0].get(loop, 0) > 1 for loop in changed):
            break
    spans = {loop: range(proof.kernel.instructions[loop].target, loop + 1) for loop in changed}
    outer = [loop for loop in changed if all(each in spans[loop] and spans[each][0] in spans[loop] for each in changed)]
    summed = proof.statement.summed[1]
    if len(outer) != 1:
        lines = ", ".join(str(_line(proof, loop)) for loop in sorted(changed))
        what = f"{len(changed)} loops (lines {lines})" if changed else "no loop"
        raise NotLifted(0, f"{summed} decides the trips of {what}; a proof needs one round all, no specialised warps")
    more = rounds[1].get(outer[0], 0) - rounds[0].get(outer[0], 0)
    if more <= 0 or (sizes[1] - sizes[0]) % more:
        raise NotLifted(_line(proof, outer[0]), "the trips of the loop do not grow with the summed size")
    return outer[0], (sizes[1] - sizes[0]) // more


def count_rounds(proof: Proof, probe: int) -> tuple[list[dict[int, int]], list[int]]:
    """Return the trips of each loop at two values of the summed size near `probe` and twice that, and these."""
    statement, rounds = proof.statement, []
    statement.step = statement.divisors.get(statement.summed[1], 1)
    sizes = [statement.step * -(-probe * times // statement.step) for times in (1, 2)]
    for size in sizes:
        claim = statement.launch(statement.numbers(size // statement.step))
        run = Interpretation(proof.kernel, claim.launches[0], Values(proof.seed), BUDGET, {}, LiftedMachine)
        machine = start(run, statement.cta)
        go(machine, None, -1, lambda trips: None)
        rounds.append({number: loop.rounds for number, loop in machine.loops.by_branch.items()})
    return rounds, sizes


def check_findings(run: LiftedRun) -> None:
    """Raise NotLifted for anything but a warning that the run found."""
    for finding in run.run.findings.reported.values():
        if finding.severity not in WARNINGS:
            raise NotLifted(finding.line, f"{finding.kind} at the sample ({run.trips} trips)", finding.text)


def check_values(run: LiftedRun, low: int) -> float:
    """Raise NotLifted unless each element of the tile is what is claimed; return the bound on an unnoticed error."""
    statement, values = run.statement, run.machine.values
    ids = run.stored_ids()
    wanted = run.evaluate_claim(statement.value, low, statement.step * run.trips)
    wrong = (values.residues[:, ids] != wanted.residues.reshape(len(wanted.residues), -1)).any(0)
    if wrong.any():
        rows, columns = (axis.tile for axis in statement.axes)
        row, column = divmod(int(wrong.argmax()), columns)
        text = f"{int(wrong.sum())} of {rows * columns} elements of a tile, first row {row}, column {column}"
        raise NotLifted(0, f"another value than the claim's, at {run.trips} trips", text)
    for name in ("cause", "slot", "divided", "level"):
        if (values.marks(name, ids) != (levels.FINITE if name == "level" else 0)).any():
            raise NotLifted(0, "elements of a tile rest on a value without a meaning")
    if (values.marks("opaque", ids) > (CHOSEN if functions(statement.value) & {*CHOICES} else EXACT)).any():
        raise NotLifted(0, "elements of a tile rest on a function that the claim doesn't have")
    kind = next(array.kind for array in run.run.launch.arrays if array.name == statement.target.name)
    absorbed, last = np.unique(values.marks("absorbed", ids)), np.unique(values.marks("narrowed", ids))
    for event in absorbed[absorbed > 0]:
        name, line = values.events[int(event)]
        if name != "f32" or kind == "f64" or kind not in FORMATS:
            raise NotLifted(line, f"a value goes through {name} before it is used further")
    for event in last[last > 0]:
        name, line = values.events[int(event)]
        if name != kind and MANTISSA.get(name, 64) <= MANTISSA.get(kind, 64):
            raise NotLifted(line, f"the result goes through {name}, and the output is {kind}")
    return bound_chance(values, ids, statement.value, ClaimGrowth({}, {})).bound
