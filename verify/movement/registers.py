# SPDX-License-Identifier: Apache-2.0
"""The verdicts on a hand-over in registers: equal counts, each value the one that is wanted, rows along an axis.

The equation of `verify.movement.register_handover` is evaluated at every lane and value, proved for symbolic ones, and
its two instructions are looked up in the kernels that a GPU ran.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import proofs
from layouts import Layout, size
from verify.core.digits import image
from verify.core.verdict import Check, Claim, Counterexample, Evidence, Status, Verdict, join
from verify.evidence.recorded import runs
from verify.movement.properties import COUNT, HAND_OVER, MAJOR, compared, proved, unchecked
from verify.movement.register_handover import HandOver


def verdicts(over: HandOver, budget: int, solver: proofs.Solver) -> list[Verdict]:
    """The verdicts on a hand-over: on the counts first; where they differ, nothing else is compared."""
    given, wanted = over.given, over.wanted
    counted = f"{given.mnemonic} has as many values as {wanted.operand}, of the same width"
    found = [join(Claim(over.name, "", COUNT, counted), [_count(over)])]
    provenance = " | ".join(dict.fromkeys((given.provenance, wanted.provenance)))
    claim = Claim(over.name, wanted.operand, HAND_OVER, _text(over), provenance)
    if over.miscount:
        return [*found, join(claim, [unchecked(Check.ISA, "the counts differ")])]
    hand_over = join(claim, [_compared(over), _proof(over, budget, solver), _recorded(over)])
    found.append(hand_over)
    if not given.rows or (over.access and not over.major):  # with a layout in memory, rows are checked as accesses
        return found
    memory = f"the axis of {over.major}-major memory" if over.major else "one axis of the tile"
    claim = Claim(over.name, "", MAJOR, f"rows of memory run along {memory}", provenance)
    evidence = [_major(over)]
    if hand_over.status is Status.PROVED and not hand_over.contradiction:
        evidence.append(_proof_along(over, budget, solver))
    elif evidence[0].status is Status.PROVED:  # nothing is proved of rows without a hand-over
        evidence = [unchecked(Check.ISA, "the hand-over is not proved")]
    return [*found, join(claim, evidence)]


def _count(over: HandOver) -> Evidence:
    given, wanted = over.given, over.wanted
    if not over.miscount:
        return compared(None, "counted", 1)
    fills = given.rows and given.lanes == wanted.lanes and not wanted.values % given.values
    repair = f"issue it {wanted.values // given.values} times as often (--times)" if fills else ""
    at = {"given": given.values, "wanted": wanted.values}
    return compared(Counterexample(at, over.miscount, repair=repair, replay=over.replay), "counted", 1)


def _text(over: HandOver) -> str:
    """The claim, as printed."""
    given, wanted = over.given, over.wanted
    text = f"{given.mnemonic} leaves in every lane what {wanted.mnemonic} wants as {wanted.operand}"
    if not given.rows:
        return f"{text}: value v is the accumulators' value {over.order}, converted where the types differ"
    if over.store:
        text = f"{given.mnemonic} finds in every lane what {wanted.mnemonic} leaves as {wanted.operand}"
    counted = f", counted in {wanted.bits} bits" if wanted.parts > 1 else ""
    along = f" along {over.along}" if over.along else ""
    return f"{text}: row r starts at element {over.rows} of the tile, its elements {over.columns}{along}{counted}"


def _compared(over: HandOver) -> Evidence:
    """Both formulas at every lane and value, as arrays."""
    started = time.perf_counter()
    wanted, shape = over.wanted, (over.wanted.lanes, over.wanted.values)
    lanes, values = np.arange(shape[0])[:, None], np.arange(shape[1])[None, :]
    row, column = over.given.locate(lanes, np.asarray(over.order(values)))
    place = over.rows(np.broadcast_to(row, shape)) + over.columns(np.broadcast_to(column, shape))
    bad = np.argwhere(place != np.broadcast_to(wanted.number(lanes, values), shape))
    if not len(bad):
        return compared(None, "exhaustive", place.size, "numpy", time.perf_counter() - started)
    lane, value = (int(c) for c in bad[0])
    return compared(_counterexample(over, lane, value, len(bad)), "exhaustive", place.size, "numpy")


def _counterexample(over: HandOver, lane: int, value: int, bad: int) -> Counterexample:
    """What a lane gets as a value, and which lane holds what it wants: in plain integers, digit by digit."""
    given, wanted = over.given, over.wanted

    def place(lane: int, value: int) -> int:
        row, column = given.locate(lane, value)
        return int(image(over.rows, int(row)) + image(over.columns, int(column)))

    chosen = image(over.order, value)
    row, column = given.locate(lane, chosen)
    gets, wants = place(lane, chosen), int(wanted.number(lane, value))
    holders = [(t, v) for t in range(given.lanes) for v in range(given.values) if place(t, v) == wants]
    here = [v for t, v in holders if t == lane]
    found = f"lane {lane} holds it as value {here[0]}" if here else "no lane holds it"
    if holders and not here:
        found = f"lane {holders[0][0]} holds it as value {holders[0][1]}: no order of the values brings it here"
    return Counterexample(
        {"lane": lane, "value": value},
        f"T{lane} V{value} wants {wanted.shown(wants)} and gets {wanted.shown(gets)}; {found}",
        f"{wanted.citation}: {wants}; {given.citation}: value {chosen}, ({row}, {column}), {gets}",
        extent="unique" if bad == 1 else "smallest",
        damage=(f"{bad} of {wanted.lanes * wanted.values} points disagree",),
        replay=over.replay,
        unique=bad == 1,
        reproduced=gets != wants,
    )


def _for_solver(over: HandOver, columns: Layout) -> Any:
    """The hand-over as the solver's input."""
    from proofs.layout.movement import HandOver as SolverHandOver

    return SolverHandOver(over.given.locate, over.rows, columns, over.wanted.number, over.order, over.wanted.lanes)


def _proof(over: HandOver, budget: int, solver: proofs.Solver) -> Evidence:
    """Evidence of the solver on the equation, for symbolic lane and value."""
    from proofs.layout.movement import prove_hand_over

    shown = over.wanted.shown
    return proved(
        prove_hand_over(_for_solver(over, over.columns), budget, solver),
        lambda at: f"T{at['lane']} V{at['value']} wants {shown(at['wanted'])}, gets {shown(at['place'])}",
    )


def _recorded(over: HandOver) -> Evidence:
    """Evidence of a GPU: a recorded kernel with the two instructions in a row, whose result equalled numpy's."""
    if not over.derived:
        return unchecked(Check.GPU, "recorded kernels have rows and values as derived, not as given here")
    named = (_same(over.given.mnemonic), _same(over.wanted.mnemonic), over.wanted.operand)
    for run in runs():
        product, reuse = run.tiling.product.mnemonic, run.tiling.reuse
        pairs = [
            (feed.load.mnemonic, product, x) for x, feed in (("A", run.tiling.A), ("B", run.tiling.B)) if feed.load
        ]
        pairs += [(product, reuse.product.mnemonic, "A")] if reuse else []
        if run.equal and run.powered and named in [(_same(one), _same(other), x) for one, other, x in pairs]:
            gpu = f"{run.device.gpu}, {run.device.sm}, driver {run.device.driver}"
            method = f"kernel {run.tiling.name!r} with both, equal to numpy on {gpu}"
            return Evidence(Check.GPU, Status.AGREES, method, run.elements, "gpu_checks")
    return unchecked(Check.GPU, "no recorded kernel has both instructions in a row")


def _same(mnemonic: str) -> frozenset[str]:
    """The set of words of a mnemonic: software writes qualifiers in other orders than the ISA."""
    return frozenset(mnemonic.split("."))


def _axes(over: HandOver) -> tuple[str, ...]:
    """The axes along which the rows may run: that of the major, or any axis where there is no major."""
    if over.major == "MN":
        return (next(axis for axis in over.wanted.axes if axis != "k"),)
    return (over.major.lower(),) if over.major else over.wanted.axes


def _major(over: HandOver) -> Evidence:
    """Evidence that the elements of a row are neighbours in memory: a row is 16 consecutive bytes."""
    points = 1 if over.major else size(over.columns)
    if over.along in _axes(over):
        return compared(None, "compared", points)
    if over.major:
        (axis,) = _axes(over)
        lies = f"neighbours in {over.major}-major memory are neighbours along {axis}"
        statement, repair = f"the rows run along {over.along or 'no axis'}; {lies}", _turned(over, axis)
    else:
        start, columns = over.rows(0), range(0, points, over.wanted.parts)
        shown = ", ".join(over.wanted.shown(start + over.columns(c)) for c in columns)
        statement = f"the first row is {shown}: it runs along no axis, and a row is 16 consecutive bytes of memory"
        repair = "where memory has these side by side, give the tile's layout there: --shared"
    return compared(Counterexample({}, statement, repair=repair, replay=over.replay), "compared", points)


def _turned(over: HandOver, axis: str) -> str:
    """The load or store with .trans, or without it, where its rows then run along the axis; else empty."""
    turned = over.turned()
    if turned is None or turned.miscount or turned.along != axis or _compared(turned).counterexample is not None:
        return ""
    name = over.given.mnemonic
    change = f"{name.partition('.')[0]} {'without' if '.trans' in name else 'with'} .trans"
    return change if over.derived else f"{change}, rows {turned.rows}"


def _proof_along(over: HandOver, budget: int, solver: proofs.Solver) -> Evidence:
    """Evidence of the solver: the hand-over with rows that are straight lines along an axis. No row is evaluated here.

    Called where the hand-over is proved, so that rows are known to start where they should.
    """
    from proofs.layout.movement import prove_hand_over

    wanted, parts, shown = over.wanted, over.wanted.parts, over.wanted.shown
    for axis in _axes(over):
        step = parts if axis == wanted.axes[0] else wanted.extent[0]
        line = Layout((parts, over.given.extent[1] // parts), (1, step))
        outcome = prove_hand_over(_for_solver(over, line), budget, solver)
        if outcome.model is None:
            break
    straight = f"in a row along {axis}"
    return proved(
        outcome,
        lambda at: f"T{at['lane']} V{at['value']} wants {shown(at['wanted'])}; {straight} it gets {shown(at['place'])}",
    )
