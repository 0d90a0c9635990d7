# SPDX-License-Identifier: Apache-2.0
"""A hand-over in registers: one instruction leaves in each lane the values that the next one wants there.

    rows(r) + columns(c) = wanted(lane, v)      with (r, c) = given(lane, order(v)), for every lane and value v

`given` and `wanted` are formulas of the ISA. `rows` is the element of the tile with which the r-th row of a matrix load
starts, `columns` how far apart its elements are, `order` the value of `given` that becomes value v. What a spec leaves
out is read off at powers of two; where the values so read form no layout, the equation fails. It is evaluated at every
lane and value, proved for symbolic ones, and its two instructions are looked up in the kernels that a GPU ran.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

import proofs
from layouts import Layout, batched, from_samples, size
from verify.core.digits import image
from verify.core.errors import SpecError
from verify.core.verdict import Check, Counterexample, Evidence, Proposal, Statement, Status, finding, leave_unchecked
from verify.evidence.gpu_runs import runs
from verify.evidence.proof import as_evidence
from verify.evidence.run import Run
from verify.maps import search
from verify.maps.array_map import ArrayMap
from verify.maps.blocks import EvaluationMismatch
from verify.maps.map import Axis
from verify.movement.register_operand import RegisterOperand, register_operand
from verify.movement.smem_access import Table

ONE = Layout(1)
LARGEST = 1 << 62  # elements: a tile has any number of them here


@dataclass(frozen=True, slots=True)
class HandOver:
    """Two operands in registers, and how one becomes the other.

    The rows of a store are compared as those of a load: `given` is the store's operand, `wanted` what fills it.
    """

    given: RegisterOperand  # (lane, value) -> (row, column): the source operand, or a store's own
    wanted: RegisterOperand  # (lane, value) -> element: what has to be there
    rows: Layout = ONE  # row -> number of the element that it starts with
    columns: Layout = ONE  # column -> distance from the start of the row, in elements
    order: Layout = ONE  # value of the destination operand -> value of the source operand
    derived: bool = True  # the spec has no rows, values, tiles or times
    major: str = ""  # of the tile in memory, where the spec has it

    @property
    def miscount(self) -> str:
        """Why the operands cannot be compared value by value; empty when they can."""
        given, wanted = self.given, self.wanted
        if given.lanes != wanted.lanes:
            return f"{given.mnemonic} has {given.lanes} lanes, {wanted.mnemonic} {wanted.lanes}"
        if given.values != wanted.values:
            mine, yours = f"{given.values} values of {given.bits} bits in each lane", f"has {wanted.values}"
            return f"{given.mnemonic} has {mine}, {wanted.operand} of {wanted.mnemonic} {yours}"
        return ""

    @property
    def store(self) -> bool:
        """Whether the rows are those of a store, whose registers the other instruction fills."""
        return self.given.mnemonic.startswith("stmatrix")

    @property
    def provenance(self) -> str:
        """The provenance of both formulas."""
        return " | ".join(dict.fromkeys((self.given.provenance, self.wanted.provenance)))

    @property
    def along(self) -> str:
        """The axis of the tile along which the elements of a row of memory lie; empty where there is none."""
        (x, y), parts = self.wanted.axes, self.wanted.parts
        step = int(self.columns(parts)) if size(self.columns) > parts else 0
        straight = all(self.columns(c) == c // parts * step + c % parts for c in range(size(self.columns)))
        return {parts: x, self.wanted.extent[0]: y}.get(step, "") if straight else ""

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes along which the rows may run: that of the major, or any axis where there is no major."""
        if self.major == "MN":
            return (next(axis for axis in self.wanted.axes if axis != "k"),)
        return (self.major.lower(),) if self.major else self.wanted.axes

    def place(self, rows: Layout | None = None, order: Layout | None = None) -> HandOver:
        """Return the hand-over with rows, columns and order, those left out read off; unchanged where counts differ."""
        given, wanted, (x, y) = self.given, self.wanted, self.given.extent
        if self.miscount:
            return self
        if not given.rows:  # the order of registers is that of the first lane
            left = [tuple(map(int, given.locate(0, value))) for value in range(given.values)]
            right = [tuple(map(int, wanted.locate(0, value))) for value in range(wanted.values)]
            read = from_samples(len(right), lambda value: left.index(right[value]) if right[value] in left else 0)
            return replace(self, rows=Layout(x, 1), columns=Layout(y, wanted.extent[0]), order=order or read)
        order = order or Layout(wanted.values)
        lanes, values = np.arange(wanted.lanes)[:, None], np.arange(wanted.values)[None, :]
        chosen = np.array([image(order, value) for value in range(wanted.values)])
        place = np.zeros((x, y), np.int64)  # the number of the element that each place of a row in memory has
        place[given.locate(lanes, chosen)] = wanted.number(lanes, values)
        parts = wanted.parts  # of an element: they are neighbours in memory, whatever their registers
        columns = from_samples(y, lambda c: int(place[0, c]) if c >= parts else c)
        rows = rows or from_samples(x, lambda r: int(place[r, 0]))
        return replace(self, rows=rows, columns=columns, order=order)


def compare_counts(run: object, _: object, over: HandOver) -> list[Evidence]:
    """Evidence that both instructions have the same lanes and values."""
    given, wanted, wrong = over.given, over.wanted, None
    if over.miscount:
        fills = given.rows and given.lanes == wanted.lanes and not wanted.values % given.values
        often = wanted.values // given.values if fills else 0
        more = Proposal(f"issue it {often} times as often (--times)", lambda spec: _more_often(spec, often))
        at = {"given": given.values, "wanted": wanted.values}
        wrong = Counterexample(at, over.miscount, proposals=(more,) if fills else ())
    return [finding(Check.ISA, wrong, "counted", 1)]


def _more_often(spec: Any, often: int) -> Any:
    """Return the spec of a hand-over whose matrix loads are issued more often."""
    return replace(spec, times=often * (spec.times or 1))


def claim(_: object, over: HandOver) -> Statement:
    """Return the claim that every lane has what it wants, with the rows or the order of the values."""
    given, wanted = over.given, over.wanted
    text = f"{given.mnemonic} leaves in every lane what {wanted.mnemonic} wants as {wanted.operand}"
    if over.store:
        text = f"{given.mnemonic} finds in every lane what {wanted.mnemonic} leaves as {wanted.operand}"
    where = f"value v is the accumulators' value {over.order}, converted where the types differ"
    if given.rows:
        bits = f", counted in {wanted.bits} bits" if wanted.parts > 1 else ""
        along = f" along {over.along}" if over.along else ""
        where = f"row r starts at element {over.rows} of the tile, its elements {over.columns}{along}{bits}"
    return Statement(wanted.operand, text if over.miscount else f"{text}: {where}", over.provenance)


def compare_arrays(run: object, _: object, over: HandOver) -> list[Evidence]:
    """Evidence of both formulas at every lane and value, as arrays."""
    started = time.perf_counter()
    points = over.wanted.lanes * over.wanted.values
    try:
        difference = _locate_difference(over)
        wrong = None if difference is None else _counterexample(over, difference)
    except EvaluationMismatch as fault:
        wrong = fault.counterexample
    return [finding(Check.ISA, wrong, "exhaustive", points, "numpy", seconds=time.perf_counter() - started)]


def _table(layout: Layout, extent: int) -> Table:
    """Return the values at every index below an extent."""
    values: Table = batched.compose(layout, Layout(extent)).values()
    return values


def arriving(over: HandOver) -> Table:
    """Return the number of the element that each (lane, value) gets, as an array [lane][value]."""
    shape = over.wanted.lanes, over.wanted.values
    row, column = over.given.locate(np.arange(shape[0])[:, None], _table(over.order, shape[1]))
    rows, columns = map(_table, (over.rows, over.columns), over.given.extent)
    numbers: Table = rows[np.broadcast_to(row, shape)] + columns[np.broadcast_to(column, shape)]
    return numbers


def _place(over: HandOver, lane: int, value: int) -> int:
    """Return the number of the element that a value of the given operand has, in plain integers, digit by digit."""
    row, column = over.given.locate(lane, value)
    return int(image(over.rows, int(row)) + image(over.columns, int(column)))


def _locate_difference(over: HandOver) -> search.Disagreement | None:
    """Return the first (lane, value) that gets another element than it wants. Raise EvaluationMismatch."""
    wanted, arrived = over.wanted, arriving(over)
    inputs, elements = (Axis("lane", wanted.lanes), Axis("value", wanted.values)), (Axis("element", LARGEST),)
    numbers = wanted.number(np.arange(wanted.lanes)[:, None], np.arange(wanted.values)[None, :])
    arrives = ArrayMap(
        ("arrives", over),
        inputs,
        (arrived,),
        elements,
        lambda lane, v: (_place(over, lane, int(image(over.order, v))),),
    )
    wants = ArrayMap(
        ("wants", over), inputs, (np.broadcast_to(numbers, arrived.shape),), elements,
        lambda lane, value: (int(wanted.number(lane, value)),),
    )  # fmt: skip
    return search.locate_difference(arrives, wants)


def _counterexample(over: HandOver, differs: search.Disagreement) -> Counterexample:
    """Return what a lane gets as a value, and which lane holds what it wants: in plain integers, digit by digit."""
    given, wanted, place = over.given, over.wanted, partial(_place, over)
    (lane, value), bad = differs.point, differs.wrong
    chosen = image(over.order, value)
    row, column = given.locate(lane, chosen)
    gets, wants = place(lane, chosen), int(wanted.number(lane, value))
    holders = [(t, v) for t in range(given.lanes) for v in range(given.values) if place(t, v) == wants]
    here = [v for t, v in holders if t == lane]
    holding = f"lane {lane} holds it as value {here[0]}" if here else "no lane holds it"
    if holders and not here:
        holding = f"lane {holders[0][0]} holds it as value {holders[0][1]}: no order of the values brings it here"
    return Counterexample(
        {"lane": lane, "value": value},
        f"T{lane} V{value} wants {wanted.spell_element(wants)} and gets {wanted.spell_element(gets)}; {holding}",
        f"{wanted.citation}: {wants}; {given.citation}: value {chosen}, ({row}, {column}), {gets}",
        extent="unique" if bad == 1 else "smallest",
        damage=(f"{bad} of {wanted.lanes * wanted.values} points disagree",),
        unique=bad == 1,
        reproduced=differs.reproduced and gets != wants,
    )


def prove(run: Run, _: object, over: HandOver) -> list[Evidence]:
    """Return the proof of the equation, for symbolic lane and value."""
    return [_proof(run, over, over.columns, ", gets")]


def _proof(run: Run, over: HandOver, columns: Layout, gets: str) -> Evidence:
    """Return the solver's evidence on the equation with some columns."""
    wanted, shown = over.wanted, over.wanted.spell_element
    question = proofs.RegisterHandOver(over.given.locate, over.rows, columns, wanted.number, over.order, wanted.lanes)
    outcome = proofs.prove_hand_over(question, run.budget, run.solver)
    words = "T{lane} V{value} wants"
    return as_evidence(outcome, lambda at: f"{words.format(**at)} {shown(at['wanted'])}{gets} {shown(at['place'])}")


def find_recording(run: object, _: object, over: HandOver) -> list[Evidence]:
    """Return a GPU's evidence: a recorded kernel with both instructions in a row, whose result equalled numpy's."""
    if not over.derived:
        return [leave_unchecked(Check.GPU, "recorded kernels have rows and values as derived, not as given here")]

    def words(mnemonic: str) -> frozenset[str]:  # software writes qualifiers in other orders than the ISA
        return frozenset(mnemonic.split("."))

    named = (words(over.given.mnemonic), words(over.wanted.mnemonic), over.wanted.operand)
    for recorded in runs():
        product, reuse = recorded.tiling.product.mnemonic, recorded.tiling.reuse
        pairs = [
            (feed.load.mnemonic, product, x)
            for x, feed in (("A", recorded.tiling.A), ("B", recorded.tiling.B))
            if feed.load
        ]
        pairs += [(product, reuse.product.mnemonic, "A")] if reuse else []
        if (
            recorded.equal
            and recorded.finds_controls
            and named in [(words(first), words(second), x) for first, second, x in pairs]
        ):
            gpu = f"{recorded.device.gpu}, {recorded.device.sm}, driver {recorded.device.driver}"
            method = f"kernel {recorded.tiling.name!r} with both, equal to numpy on {gpu}"
            return [Evidence(Check.GPU, Status.AGREES, method, recorded.elements, "gpu_checks")]
    return [leave_unchecked(Check.GPU, "no recorded kernel has both instructions in a row")]


def major_claim(_: object, over: HandOver) -> Statement:
    """Return the claim that the elements of a row are neighbours in memory: a row is 16 consecutive bytes."""
    memory = f"the axis of {over.major}-major memory" if over.major else "one axis of the tile"
    return Statement("", f"rows of memory run along {memory}", over.provenance)


def major(run: object, _: object, over: HandOver) -> list[Evidence]:
    """Evidence of every element of a row."""
    wrong, points = None, 1 if over.major else size(over.columns)
    if over.along not in over.axes:
        if over.major:
            (axis,) = over.axes
            lies = f"neighbours in {over.major}-major memory are neighbours along {axis}"
            statement = f"the rows run along {over.along or 'no axis'}; {lies}"
            wrong = Counterexample({}, statement, proposals=_propose_trans(over, axis))
        else:
            start, columns = over.rows(0), range(0, points, over.wanted.parts)
            shown = ", ".join(over.wanted.spell_element(start + over.columns(c)) for c in columns)
            statement = f"the first row is {shown}: it runs along no axis, and a row is 16 consecutive bytes of memory"
            beside = "where memory has these side by side, give the tile's layout there: --shared"
            wrong = Counterexample({}, statement, damage=(beside,))
    return [finding(Check.ISA, wrong, "compared", points)]


def _propose_trans(over: HandOver, axis: str) -> tuple[Proposal, ...]:
    """Return the load or store with .trans, or without it, where its rows then run along the axis; else none."""
    name, given = over.given.mnemonic, over.given
    transposed = ".trans" in name
    toggled = name.replace(".trans", "") if transposed else name.replace(".shared", ".trans.shared")
    try:
        candidate = register_operand("from", toggled, "").split(given.bits)
    except SpecError:
        return ()
    candidate = candidate.tile("row", given.lanes // candidate.lanes, warps=True)
    candidate = candidate.tile("row", given.extent[0] // candidate.extent[0])
    turned = replace(over, given=candidate).place(order=over.order)
    if turned.miscount or turned.along != axis or _locate_difference(turned) is not None:
        return ()
    change = f"{name.partition('.')[0]} {'without' if transposed else 'with'} .trans"
    key, rows = "to" if over.store else "from_", None if over.derived else turned.rows
    words = change if over.derived else f"{change}, rows {turned.rows}"
    return (Proposal(words, lambda spec: replace(spec, rows=rows, **{key: toggled})),)


def major_proved(run: Run, _: object, over: HandOver) -> list[Evidence]:
    """Return the proof of the hand-over with rows that are straight lines along an axis. No row is evaluated here.

    It needs a hand-over that is proved: then rows start where they should.
    """
    wanted = over.wanted
    for axis in over.axes:
        step = wanted.parts if axis == wanted.axes[0] else wanted.extent[0]
        line = Layout((wanted.parts, over.given.extent[1] // wanted.parts), (1, step))
        proof = _proof(run, over, line, f"; in a row along {axis} it gets")
        if proof.counterexample is None:
            break
    return [proof]
