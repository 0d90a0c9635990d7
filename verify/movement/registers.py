# SPDX-License-Identifier: Apache-2.0
"""The verdicts on a hand-over in registers: values are as many, each is the one that is wanted, rows run along an axis.

The equation of `verify.movement.register_handover` is compared everywhere, proved for symbolic lanes and values, and
looked for among the kernels that a GPU ran.
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
    """The verdicts on a hand-over: the counts first, without which nothing else is compared."""
    held, wanted = over.held, over.wanted
    counted = f"{held.mnemonic} has a value for each of {wanted.operand}'s, of one width"
    found = [join(Claim(over.name, "", COUNT, counted), [_count(over)])]
    rests = " | ".join(dict.fromkeys((held.provenance, wanted.provenance)))
    claim = Claim(over.name, wanted.operand, HAND_OVER, _wording(over), rests)
    if over.miscount:
        return [*found, join(claim, [unchecked(Check.ISA, "the counts differ")])]
    handed = join(claim, [_compared(over), _proof(over, budget, solver), _recorded(over)])
    found.append(handed)
    if not held.rows or (over.access and not over.major):  # the rows of a placed tile are accesses
        return found
    lies = (
        f"the axis of {over.major}-major memory"
        if over.major
        else "an axis of the tile, whichever memory has as neighbours"
    )
    claim = Claim(over.name, "", MAJOR, f"rows of memory run along {lies}", rests)
    evidence = [_major(over)]
    if handed.status is Status.PROVED and not handed.contradiction:
        evidence.append(_proof_along(over, budget, solver))
    elif evidence[0].status is Status.PROVED:  # of rows that are not there nothing is proved
        evidence = [unchecked(Check.ISA, "what is handed over does not stand")]
    return [*found, join(claim, evidence)]


def _count(over: HandOver) -> Evidence:
    held, wanted = over.held, over.wanted
    if not over.miscount:
        return compared(None, "counted", 1)
    fills = held.rows and held.lanes == wanted.lanes and not wanted.values % held.values
    repair = f"issued {wanted.values // held.values} times as often (--times)" if fills else ""
    at = {"held": held.values, "wanted": wanted.values}
    return compared(Counterexample(at, over.miscount, repair=repair, replay=over.replay), "counted", 1)


def _wording(over: HandOver) -> str:
    """The claim in words."""
    held, wanted = over.held, over.wanted
    said = f"{held.mnemonic} leaves in every lane what {wanted.mnemonic} wants as {wanted.operand}"
    if not held.rows:
        return f"{said}: value v is the accumulators' value {over.source}, converted where the types differ"
    if over.store:
        said = f"{held.mnemonic} finds in every lane what {wanted.mnemonic} leaves as {wanted.operand}"
    counted = f", counted in {wanted.bits} bits" if wanted.parts > 1 else ""
    along = f" along {over.along}" if over.along else ""
    return f"{said}: row r starts at element {over.rows} of the tile, its elements {over.columns}{along}{counted}"


def _compared(over: HandOver) -> Evidence:
    """Both formulas at every lane and value, as arrays."""
    started = time.perf_counter()
    wanted, shape = over.wanted, (over.wanted.lanes, over.wanted.values)
    lanes, values = np.arange(shape[0])[:, None], np.arange(shape[1])[None, :]
    row, column = over.held.locate(lanes, np.asarray(over.source(values)))
    place = over.rows(np.broadcast_to(row, shape)) + over.columns(np.broadcast_to(column, shape))
    bad = np.argwhere(place != np.broadcast_to(wanted.number(lanes, values), shape))
    if not len(bad):
        return compared(None, "exhaustive", place.size, "numpy", time.perf_counter() - started)
    lane, value = (int(c) for c in bad[0])
    return compared(_counterexample(over, lane, value, len(bad)), "exhaustive", place.size, "numpy")


def _counterexample(over: HandOver, lane: int, value: int, bad: int) -> Counterexample:
    """What a lane gets as a value, who holds what it wants: in plain integers, digit by digit."""
    held, wanted = over.held, over.wanted

    def place(lane: int, value: int) -> int:
        row, column = held.locate(lane, value)
        return int(image(over.rows, int(row)) + image(over.columns, int(column)))

    source = image(over.source, value)
    row, column = held.locate(lane, source)
    gets, wants = place(lane, source), int(wanted.number(lane, value))
    holders = [(t, v) for t in range(held.lanes) for v in range(held.values) if place(t, v) == wants]
    here = [v for t, v in holders if t == lane]
    found = f"lane {lane} holds it as value {here[0]}" if here else "no lane holds it"
    if holders and not here:
        found = f"lane {holders[0][0]} holds it as value {holders[0][1]}: no order of the values brings it here"
    return Counterexample(
        {"lane": lane, "value": value},
        f"T{lane} V{value} wants {wanted.shown(wants)} and gets {wanted.shown(gets)}; {found}",
        f"{wanted.citation}: {wants}; {held.citation}: value {source}, ({row}, {column}), {gets}",
        extent="unique" if bad == 1 else "smallest",
        damage=(f"{bad} of {wanted.lanes * wanted.values} points disagree",),
        replay=over.replay,
        unique=bad == 1,
        reproduced=gets != wants,
    )


def _posed(over: HandOver, columns: Layout) -> Any:
    """The hand-over as the solver is given it."""
    from proofs.layout.movement import HandOver as Posed

    return Posed(over.held.locate, over.rows, columns, over.wanted.number, over.source, over.wanted.lanes)


def _proof(over: HandOver, budget: int, solver: proofs.Solver) -> Evidence:
    """The equation for symbolic lane and value."""
    from proofs.layout.movement import prove_handed

    shown = over.wanted.shown
    return proved(
        prove_handed(_posed(over, over.columns), budget, solver),
        lambda at: f"T{at['lane']} V{at['value']} wants {shown(at['wanted'])}, gets {shown(at['place'])}",
    )


def _recorded(over: HandOver) -> Evidence:
    """A recorded kernel with the two instructions in a row whose result equalled numpy's, where there is one."""
    if not over.derived:
        return unchecked(Check.GPU, "kernels place rows and values as they are derived")
    named = (_same(over.held.mnemonic), _same(over.wanted.mnemonic), over.wanted.operand)
    for run in runs():
        product, reuse = run.tiling.product.mnemonic, run.tiling.reuse
        stood = [
            (feed.load.mnemonic, product, x) for x, feed in (("A", run.tiling.A), ("B", run.tiling.B)) if feed.load
        ]
        stood += [(product, reuse.product.mnemonic, "A")] if reuse else []
        if run.equal and run.powered and named in [(_same(one), _same(other), x) for one, other, x in stood]:
            gpu = f"{run.device.gpu}, {run.device.sm}, driver {run.device.driver}"
            method = f"kernel {run.tiling.name!r} with both, equal to numpy on {gpu}"
            return Evidence(Check.GPU, Status.AGREES, method, run.elements, "gpu_checks")
    return unchecked(Check.GPU, "no recorded kernel has both instructions in a row")


def _same(mnemonic: str) -> frozenset[str]:
    """A mnemonic as the words in it: software writes qualifiers in other orders than the ISA."""
    return frozenset(mnemonic.split("."))


def _axes(over: HandOver) -> tuple[str, ...]:
    """The axes along which the rows may run: that of the major, or any where there is none."""
    if over.major == "MN":
        return (next(axis for axis in over.wanted.axes if axis != "k"),)
    return (over.major.lower(),) if over.major else over.wanted.axes


def _major(over: HandOver) -> Evidence:
    """Whether the elements of a row are neighbours in memory: a row is 16 bytes of it, side by side."""
    points = 1 if over.major else size(over.columns)
    if over.along in _axes(over):
        return compared(None, "compared", points)
    if over.major:
        (axis,) = _axes(over)
        lies = f"neighbours in {over.major}-major memory are neighbours along {axis}"
        said, repair = f"the rows run along {over.along or 'no axis'}; {lies}", _turned(over, axis)
    else:
        start, columns = over.rows(0), range(0, points, over.wanted.parts)
        shown = ", ".join(over.wanted.shown(start + over.columns(c)) for c in columns)
        said = f"the first row is {shown}: it runs along no axis, and a row is 16 bytes of memory side by side"
        repair = "where memory has these side by side, say how the tile lies there: --shared"
    return compared(Counterexample({}, said, repair=repair, replay=over.replay), "compared", points)


def _turned(over: HandOver, axis: str) -> str:
    """The load or store with .trans, or without it, where its rows then run along the axis; empty elsewhere."""
    turned = over.turned()
    if turned is None or turned.miscount or turned.along != axis or _compared(turned).counterexample is not None:
        return ""
    name = over.held.mnemonic
    change = f"{name.partition('.')[0]} {'without' if '.trans' in name else 'with'} .trans"
    return change if over.derived else f"{change}, rows {turned.rows}"


def _proof_along(over: HandOver, budget: int, solver: proofs.Solver) -> Evidence:
    """The hand-over with rows that are straight lines along one of the axes, by the solver: no row is evaluated here.

    It is made where the hand-over is proved, so that rows are known to start where they should.
    """
    from proofs.layout.movement import prove_handed

    wanted, parts, shown = over.wanted, over.wanted.parts, over.wanted.shown
    for axis in _axes(over):
        step = parts if axis == wanted.axes[0] else wanted.extent[0]
        line = Layout((parts, over.held.extent[1] // parts), (1, step))
        outcome = prove_handed(_posed(over, line), budget, solver)
        if outcome.model is None:
            break
    lies = f"in a row along {axis}"
    return proved(
        outcome,
        lambda at: (
            f"T{at['lane']} V{at['value']} wants {shown(at['wanted'])}; {lies} {shown(at['place'])} would be there"
        ),
    )
