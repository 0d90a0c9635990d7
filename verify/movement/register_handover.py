# SPDX-License-Identifier: Apache-2.0
"""Hand-overs in registers: what one instruction leaves in a lane is what the next one wants there.

    rows(r) + columns(c) = wanted(lane, v)      with (r, c) = held(lane, source(v)), for every lane and value v

`held` and `wanted` are the book's. `rows` and `columns` say which element of the tile the r-th row of a matrix load
starts with and how far apart its elements are; `source` says which value becomes which. What is not given is read off
at powers of two, and then compared everywhere: where it is no layout, the comparison fails.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import numpy as np

import proofs
from layouts import Layout, from_samples, size
from verify.core.digits import image
from verify.core.errors import UsageError
from verify.core.verdict import Claim, Counterexample, Evidence, Status, Verdict, Witness, join
from verify.evidence.proof import solved
from verify.movement.register_operand import Side, side

Table = np.ndarray[tuple[int, ...], np.dtype[np.int64]]


class MovementKind(Enum):
    """The kinds of claim about data on the way."""

    COUNT = "count"
    HANDED = "handed over"
    MAJOR = "major"
    FITS = "room"
    BASE = "base"
    WHOLE = "whole accesses"
    KEPT = "kept apart"
    CONFLICT_FREE = "free of bank conflicts"
    STEPS = "whole instructions"
    DESCRIBED = "descriptor"

    @property
    def label(self) -> str:
        """The kind as reports write it."""
        return self.value


@dataclass(frozen=True, slots=True)
class Link:
    """A hand-over to be judged: the end that holds, the end that wants, and how the one becomes the other."""

    name: str
    held: Side
    wanted: Side
    rows: Layout
    columns: Layout
    source: Layout
    derived: bool
    replay: str = ""

    @property
    def over(self) -> Any:
        """The same as the solver is given it."""
        from proofs.layout.movement import HandOver

        held, wanted = self.held, self.wanted
        return HandOver(held.locate, self.rows, self.columns, wanted.number, self.source, wanted.lanes)

    @property
    def miscount(self) -> str:
        """Why the ends cannot be compared value by value; empty when they can."""
        return miscount(self.held, self.wanted)

    @property
    def along(self) -> str:
        """The axis of the tile along which the elements of a row of memory lie."""
        (x, y), parts = self.wanted.axes, self.wanted.parts
        step = int(self.columns(parts)) if size(self.columns) > parts else 0
        straight = all(self.columns(c) == c // parts * step + c % parts for c in range(size(self.columns)))
        return {parts: x, self.wanted.extent[0]: y}.get(step, "") if straight else ""

    @property
    def store(self) -> bool:
        """Whether the rows are those of a store: its registers are filled by the other end."""
        return self.held.mnemonic.startswith("stmatrix")

    def wording(self) -> str:
        """The claim in words."""
        held, wanted = self.held, self.wanted
        if not held.rows:
            said = f"{held.mnemonic} leaves in every lane what {wanted.mnemonic} wants as {wanted.operand}"
            return f"{said}: value v is the accumulators' value {self.source}, converted where the types differ"
        said = f"{held.mnemonic} leaves in every lane what {wanted.mnemonic} wants as {wanted.operand}"
        if self.store:
            said = f"{held.mnemonic} finds in every lane what {wanted.mnemonic} leaves as {wanted.operand}"
        counted = f", counted in {wanted.bits} bits" if wanted.parts > 1 else ""
        along = f" along {self.along}" if self.along else ""
        return f"{said}: row r starts at element {self.rows} of the tile, its elements {self.columns}{along}{counted}"


def link(name: str, first: Side, second: Side, given: tuple[Layout | None, Layout | None], replay: str) -> Link:
    """The hand-over between two ends of equal element width and value count; `given` are the rows and the values.

    Of a store the rows are the end that is compared from, as of a load: its registers are what they hold.
    """
    held, wanted = (second, first) if second.rows else (first, second)
    rows, source = given
    derived = rows is None and source is None
    if miscount(held, wanted):
        return Link(name, held, wanted, Layout(1), Layout(1), Layout(1), derived, replay)
    source = source or (Layout(wanted.values) if held.rows else _source(held, wanted))
    if held.rows:
        placed, columns = _placed(held, wanted, source)
        return Link(name, held, wanted, rows or placed, columns, source, derived, replay)
    x, y = held.extent
    return Link(name, held, wanted, rows or Layout(x, 1), Layout(y, wanted.extent[0]), source, derived, replay)


def _table(side: Side, locate: Callable[[Any, Any], Any]) -> Any:
    lanes, values = np.arange(side.lanes)[:, None], np.arange(side.values)[None, :]
    return locate(lanes, values)


def _placed(held: Side, wanted: Side, source: Layout) -> tuple[Layout, Layout]:
    """Where rows start in the tile and how far their elements are apart, as the registers at powers of two say."""
    values = np.asarray(source(np.arange(size(source))))
    row, column = (np.broadcast_to(c, (held.lanes, held.values)) for c in _table(held, held.locate))
    numbers = np.broadcast_to(_table(wanted, wanted.number), (wanted.lanes, wanted.values))
    place: dict[tuple[int, int], int] = {}
    for lane, value in np.ndindex(wanted.lanes, min(wanted.values, len(values))):
        at = int(row[lane, values[value]]), int(column[lane, values[value]])
        place.setdefault(at, int(numbers[lane, value]))
    rows, columns = held.extent
    parts = wanted.parts  # of an element: in memory they are neighbours, whatever the registers say
    return (
        from_samples(rows, lambda r: place.get((r, 0), 0)),
        from_samples(columns, lambda c: place.get((0, c), 0) if c >= parts else c),
    )


def _source(held: Side, wanted: Side) -> Layout:
    """Which value of the first lane of `held` is each of `wanted`: the order in which registers are passed on."""
    where: dict[tuple[int, int], int] = {}
    for value in range(held.values):
        x, y = held.locate(0, value)
        where.setdefault((int(x), int(y)), value)

    def value_of(value: int) -> int:
        x, y = wanted.locate(0, value)
        return where.get((int(x), int(y)), 0)

    return from_samples(wanted.values, value_of)


def judge(link: Link, major: str, placed: bool, budget: int, solver: proofs.Solver) -> list[Verdict]:
    """The verdicts on a hand-over: the counts first, without which nothing else is asked.

    `major` may be empty; `placed` says that the tile's place in shared memory is stated and judged elsewhere.
    """
    held, wanted = link.held, link.wanted
    counted = Claim(
        link.name, "", MovementKind.COUNT, f"{held.mnemonic} has a value for each of {wanted.operand}'s, of one width"
    )
    fault = link.miscount
    found = {"held": held.values, "wanted": wanted.values}
    wrong = Counterexample(found, fault, repair=_issued(held, wanted), replay=link.replay) if fault else None
    status = Status.REFUTED if fault else Status.PROVED
    verdicts = [join(counted, [Evidence(Witness.BOOK, status, "counted", 1, counterexample=wrong)])]
    rests = " | ".join(dict.fromkeys((held.provenance, wanted.provenance)))
    said = Claim(link.name, wanted.operand, MovementKind.HANDED, link.wording(), rests)
    if fault:
        return [*verdicts, join(said, [Evidence(Witness.BOOK, Status.UNCHECKED, "", reason="the counts differ")])]
    handed = join(said, [_book(link), _proof(link, budget, solver), _silicon(link)])
    verdicts.append(handed)
    if not link.held.rows or (placed and not major):
        return verdicts
    lies = f"the axis of {major}-major memory" if major else "an axis of the tile, whichever memory has as neighbours"
    claim = Claim(link.name, "", MovementKind.MAJOR, f"rows of memory run along {lies}", rests)
    axes = (_axis(link, major),) if major else wanted.axes
    evidence = [_major(link, major) if major else _straight(link)]
    if handed.status is Status.PROVED and not handed.contradiction:
        evidence.append(_proof_along(link, axes, budget, solver))
    elif evidence[0].status is Status.PROVED:  # of rows that are not there nothing stands
        evidence = [Evidence(Witness.BOOK, Status.UNCHECKED, "", reason="what is handed over does not stand")]
    return [*verdicts, join(claim, evidence)]


def _issued(held: Side, wanted: Side) -> str:
    """How much more often a matrix load or store would have to be issued, where that fills the other end."""
    if not held.rows or held.lanes != wanted.lanes or wanted.values % held.values:
        return ""
    return f"issued {wanted.values // held.values} times as often (--times)"


def _axis(link: Link, major: str) -> str:
    return next(axis for axis in link.wanted.axes if axis != "k") if major == "MN" else major.lower()


def _straight(link: Link) -> Evidence:
    """Whether the elements of a row are neighbours along any axis: a row is 16 bytes of memory, side by side."""
    if link.along:
        return Evidence(Witness.BOOK, Status.PROVED, "compared", size(link.columns))
    parts, start = link.wanted.parts, link.rows(0)
    shown = [link.wanted.shown(start + link.columns(c)) for c in range(0, size(link.columns), parts)]
    said = f"the first row is {', '.join(shown)}: it runs along no axis, and a row is 16 bytes of memory side by side"
    repair = "where memory has these side by side, say how the tile lies there: --shared"
    wrong = Counterexample({}, said, repair=repair, replay=link.replay)
    return Evidence(Witness.BOOK, Status.REFUTED, "compared", size(link.columns), counterexample=wrong)


def _major(link: Link, major: str) -> Evidence:
    """Whether the elements of a row are neighbours in the tile's memory."""
    axis = _axis(link, major)
    if link.along == axis:
        return Evidence(Witness.BOOK, Status.PROVED, "compared", 1)
    said = (
        f"the rows run along {link.along or 'no axis'}; neighbours in {major}-major memory are neighbours along {axis}"
    )
    wrong = Counterexample({}, said, repair=_turned(link, axis), replay=link.replay)
    return Evidence(Witness.BOOK, Status.REFUTED, "compared", 1, counterexample=wrong)


def _turned(link: Link, axis: str) -> str:
    """The load or store with .trans, or without it, where its rows then run along the axis; empty elsewhere."""
    name, wanted = link.held.mnemonic, link.wanted
    other = name.replace(".trans", "") if ".trans" in name else name.replace(".shared", ".trans.shared")
    try:
        held = side(other, wanted.operand, not link.store).split(link.held.bits).warps(link.held.lanes)
    except UsageError:
        return ""
    held = held.tiled("row", link.held.extent[0] // held.extent[0])
    rows, columns = _placed(held, wanted, link.source)
    turned = replace(link, held=held, rows=rows, columns=columns)
    if turned.miscount or turned.along != axis or _book(turned).counterexample is not None:
        return ""
    told = f"{name.partition('.')[0]} {'without' if '.trans' in name else 'with'} .trans"
    return told if link.derived else f"{told}, rows {rows}"


def _proof_along(link: Link, axes: tuple[str, ...], budget: int, solver: proofs.Solver) -> Evidence:
    """The hand-over with rows that are straight lines along one of the axes, by the solver: no row is evaluated here.

    It speaks where the hand-over stands, whose rows start where they are said to.
    """
    from proofs.layout.movement import prove_handed

    (x, _), parts = link.wanted.axes, link.wanted.parts
    for axis in axes:
        step = parts if axis == x else link.wanted.extent[0]
        line = Layout((parts, link.held.extent[1] // parts), (1, step))
        outcome = prove_handed(replace(link.over, columns=line), budget, solver)
        if outcome.model is None:
            break
    at = outcome.model
    if at is None:
        return solved(outcome, None)
    wants, lies = link.wanted.shown(at["wanted"]), link.wanted.shown(at["place"])
    said = f"T{at['lane']} V{at['value']} wants {wants}; in a row along {axis} {lies} would be there"
    return solved(outcome, Counterexample(dict(at), said))


def _silicon(link: Link) -> Evidence:
    """A kernel in which the two instructions stood thus, if one was run; its result equalled numpy's."""
    from verify.evidence.recorded import runs

    if not link.derived:
        return Evidence(
            Witness.SILICON, Status.UNCHECKED, "", reason="kernels place rows and values as they are derived"
        )
    named = (_same(link.held.mnemonic), _same(link.wanted.mnemonic), link.wanted.operand)
    for run in runs():
        product, reuse = run.tiling.product.mnemonic, run.tiling.reuse
        stood = [
            (feed.load.mnemonic, product, x) for x, feed in (("A", run.tiling.A), ("B", run.tiling.B)) if feed.load
        ]
        stood += [(product, reuse.product.mnemonic, "A")] if reuse else []
        if run.equal and run.powered and named in [(_same(one), _same(other), x) for one, other, x in stood]:
            gpu = f"{run.device.gpu}, {run.device.sm}, driver {run.device.driver}"
            method = f"kernel {run.tiling.name!r} with both, equal to numpy on {gpu}"
            return Evidence(Witness.SILICON, Status.AGREES, method, run.elements, "gpu_checks")
    why = "no recorded kernel has both instructions in a row"
    return Evidence(Witness.SILICON, Status.UNCHECKED, "", reason=why)


def _same(mnemonic: str) -> frozenset[str]:
    """A mnemonic as the words in it: software writes qualifiers in other orders than the ISA."""
    return frozenset(mnemonic.split("."))


def miscount(held: Side, wanted: Side) -> str:
    """Why two ends cannot be compared value by value; empty when they can."""
    if held.lanes != wanted.lanes:
        return f"{held.mnemonic} has {held.lanes} lanes, {wanted.mnemonic} {wanted.lanes}"
    if held.values != wanted.values:
        mine, yours = f"{held.values} values of {held.bits} bits in each lane", f"has {wanted.values}"
        return f"{held.mnemonic} has {mine}, {wanted.operand} of {wanted.mnemonic} {yours}"
    return ""


def _book(link: Link) -> Evidence:
    """Both formulas at every lane and value, as arrays."""
    started = time.perf_counter()
    held, wanted = link.held, link.wanted
    lanes, values = np.arange(wanted.lanes)[:, None], np.arange(wanted.values)[None, :]
    row, column = held.locate(lanes, np.asarray(link.source(values)))
    place = link.rows(np.broadcast_to(row, (wanted.lanes, wanted.values)))
    place = place + link.columns(np.broadcast_to(column, (wanted.lanes, wanted.values)))
    asked = np.broadcast_to(wanted.number(lanes, values), place.shape)
    bad = np.argwhere(place != asked)
    seconds = time.perf_counter() - started
    if not len(bad):
        return Evidence(Witness.BOOK, Status.PROVED, "exhaustive", place.size, "numpy", seconds=seconds)
    lane, value = (int(c) for c in bad[0])
    wrong = _counterexample(link, lane, value, len(bad), place.size)
    return Evidence(Witness.BOOK, Status.REFUTED, "exhaustive", place.size, "numpy", counterexample=wrong)


def _counterexample(link: Link, lane: int, value: int, bad: int, points: int) -> Counterexample:
    held, wanted = link.held, link.wanted
    source = image(link.source, value)
    row, column = held.locate(lane, source)
    place, asked = image(link.rows, int(row)) + image(link.columns, int(column)), int(wanted.number(lane, value))
    holders = [
        (t, v)
        for t in range(held.lanes)
        for v in range(held.values)
        if sum(image(part, int(c)) for part, c in zip((link.rows, link.columns), held.locate(t, v), strict=True))
        == asked
    ]
    here = [v for t, v in holders if t == lane]
    found = f"lane {lane} holds it as value {here[0]}" if here else "no lane holds it"
    if holders and not here:
        found = f"lane {holders[0][0]} holds it as value {holders[0][1]}: no order of the values brings it here"
    return Counterexample(
        {"lane": lane, "value": value},
        f"T{lane} V{value} wants {wanted.shown(asked)} and gets {wanted.shown(place)}; {found}",
        f"{wanted.citation}: {asked}; {held.citation}: value {source}, ({row}, {column}), {place}",
        extent="unique" if bad == 1 else "smallest",
        damage=(f"{bad} of {points} points disagree",),
        replay=link.replay,
        unique=bad == 1,
        reproduced=place != asked,
    )


def _proof(link: Link, budget: int, solver: proofs.Solver) -> Evidence:
    from proofs.layout.movement import prove_handed

    outcome = prove_handed(link.over, budget, solver)
    wrong = None
    if outcome.model is not None:
        model = outcome.model
        statement = (
            f"T{model['lane']} V{model['value']} wants {link.wanted.shown(model['wanted'])}, "
            f"gets {link.wanted.shown(model['place'])}"
        )
        wrong = Counterexample(dict(model), statement)
    return solved(outcome, wrong)
