# SPDX-License-Identifier: Apache-2.0
"""A second look at the forms of a run, at other sizes, strides and another CTA of the same region.

At the sample a wrong rule may give the right number: min(x, y) -> x passes where x is the smaller. So each form is
compared with the interpreter's bits at sizes away from the sample too. It is a test of Lanecheck's own rules, not a
part of the proof: what differs ends the proof.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import lcm

import numpy as np

from verify.kernel.data.values import Mask, Values
from verify.kernel.interpretation import Interpretation
from verify.kernel.sizes.forms import Content, NotLifted
from verify.kernel.sizes.lifted import LiftedMachine, go, start
from verify.kernel.sizes.runs import BUDGET, LiftedRun
from verify.kernel.sizes.shadow import evaluate
from verify.kernel.sizes.statement import AXES, AllSizes
from verify.kernel.state.bound import Run

GROUPS = 8  # tiles that one direction has more than the sample: so many rows or columns of them may be a group
Key = tuple[bool, int, int]  # after the head of the induction, instruction, how often it was executed since


def compare_away(run: LiftedRun, loop: int, first: int, period: int) -> int:
    """Compare the forms of a run with the bits of another one; return how many. NotLifted where one differs.

    With a period the other run has one round more than the sample before the head of the induction.
    """
    statement, rounds = run.statement, 1 if period else 0
    numbers = choose_ragged(statement, run.trips + period, rounds)
    claim = statement.launch(numbers)
    ragged = Interpretation(run.machine.kernel, claim.launches[0], Values(0), BUDGET, {}, LiftedMachine)
    grid, cta = ragged.launch.grid, [0, 0, 0]
    for axis in statement.axes:
        cta[axis.number] = grid[axis.number] - 1
    machine = start(ragged, (cta[0], cta[1], cta[2]))
    symbols = {**statement.symbols(numbers), **{AXES[axis.number]: cta[axis.number] for axis in statement.axes}}
    symbols |= {"J": rounds}
    for place, name in enumerate(statement.table["arrays"]):
        symbols[name] = ((place + 1) << 40) + ragged.launch.arrays[place].offset * ragged.regions[place].size
    for name, atom in run.region.atoms.items():
        symbols[name] = atom.value(symbols)
    made = {key: form for key, form in run.shadow.made.items() if key[1] not in run.shadow.parted}
    watched = _WatchedStores(made, machine, symbols)
    machine.bound = [bound._replace(run=watched.wrap(number, bound.run)) for number, bound in enumerate(machine.bound)]

    def head(trips: int) -> None:
        if period and trips == first:
            watched.stop()
        if period and trips == first + period * rounds:
            watched.go_on()

    go(machine, None, loop, head)
    return watched.compared


def choose_ragged(statement: AllSizes, trips: int, rounds: int) -> dict[str, int]:
    """Return sizes and strides away from the sample: so many trips, every last tile with a part of its elements."""
    numbers = statement.numbers(trips)
    for place, axis in enumerate(statement.axes):
        by = statement.divisors.get(axis.size, 1)
        if statement.shares_axis and not place:
            numbers[axis.size] += GROUPS * lcm(axis.tile, by)
        if axis.rounds_up and by < axis.tile:
            numbers[axis.size] -= (axis.tile // 2) // by * by
    size, by = statement.summed[1], statement.divisors.get(statement.summed[1], 1)
    if trips:
        numbers[size] -= min(statement.step - 1, statement.step // 2) // by * by
    for place, (name, row) in enumerate(statement.rows_of_strides().items()):
        by = statement.divisors.get(name, 1)
        numbers[name] = max(numbers[name], -(-numbers[row] // by) * by) + by * (3 + place + rounds)
    return numbers


class _WatchedStores:
    """The forms that are compared, and how far the other run is."""

    def __init__(
        self, made: Mapping[Key, tuple[int, Content, int]], machine: LiftedMachine, symbols: Mapping[str, int]
    ) -> None:
        self.made, self.machine, self.symbols = made, machine, symbols
        self.after, self.running, self.compared = False, True, 0
        self.counts: Counter[int] = Counter()

    def stop(self) -> None:
        """Leave out what comes now: rounds that the sample does not have."""
        self.running = False

    def go_on(self) -> None:
        """Compare what comes after the head of the induction."""
        self.after, self.running = True, True
        self.counts.clear()

    def wrap(self, number: int, execute: Run) -> Run:
        """Return a function that executes an instruction and compares what it wrote."""

        def execute_and_compare(mask: Mask | None) -> None:
            execute(mask)
            if self.running:
                self.counts[number] += 1
                self._compare((self.after, number, self.counts[number]), mask)

        return execute_and_compare

    def _compare(self, key: Key, mask: Mask | None) -> None:
        if key not in self.made:
            return
        index, content, width = self.made[key]
        machine, held = self.machine, self.machine.registers[index]
        assert held is not None
        here = np.ones(machine.count, bool) if mask is None else mask.copy()
        here[machine.real :] = False
        bits = np.broadcast_to(held.bits, machine.count).astype(object)
        wrong = (np.broadcast_to(evaluate(content, self.symbols), machine.count) - bits) % (1 << min(width, 64)) != 0
        self.compared += 1
        if not held.plain or wrong[here].any():
            instruction = machine.kernel.instructions[key[1]]
            sizes = ", ".join(f"{name} = {number}" for name, number in self.symbols.items() if name[0] != "[")
            raise NotLifted(
                instruction.line,
                f"{instruction.text[:80]} has a form that is wrong at {sizes}: a bug of Lanecheck",
                str(content),
            )
