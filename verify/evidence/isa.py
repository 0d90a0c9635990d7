# SPDX-License-Identifier: Apache-2.0
"""The check `isa`: the PTX ISA's formulas, compared with the layout at every point of its domain.

Layouts are evaluated with `layouts.batched` over whole domains at once, and compared with `Layout.__call__` at the unit
of each digit: where these differ there is a contradiction. A refutation names the smallest point, found by arrays.

`in_bounds`, `equals`   findings on one operand: the method, how many points, the smallest counterexample or None
`compared`            a finding as evidence
`same_function`       evidence on two layouts: whether they are equal at every point
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, TypeAlias

from layouts import Layout, LayoutError, batched, right_inverse, size
from layouts.arrays import np
from verify.binding.atom import BoundAtom, BoundOperand
from verify.binding.coordinates import Formula
from verify.core import search
from verify.core.digits import halves, image, lane_of, modes, read, walk, written_out
from verify.core.verdict import Check, Counterexample, Evidence, Status, finding
from verify.evidence import repair
from verify.maps import findings
from verify.maps.fragment_map import NOWHERE, Axis
from verify.maps.of_layout import searched

Table: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.int64]]"
ENGINE = "Python"
Finding = tuple[str, int, Counterexample | None]  # method, points, counterexample
Search = Literal["in_bounds", "ownership", "equals"]  # of `verify.maps.findings`


def compared(find: Callable[[BoundAtom, BoundOperand], Finding], subject: BoundAtom, part: BoundOperand) -> Evidence:
    """A finding at every point of one operand, as evidence.

    >>> from verify.binding.atom import prepare
    >>> from layouts.atoms import registry
    >>> atom = prepare(registry()["SM80_16x8x16_F32F16F16F32_TN"])
    >>> evidence = compared(equals, atom, atom.parts[2])
    >>> evidence.status.value, evidence.method, evidence.points
    ('PROVED', 'exhaustive', 128)
    """
    started = time.perf_counter()
    method, points, wrong = find(subject, part)
    return finding(Check.ISA, wrong, method, points, ENGINE, seconds=time.perf_counter() - started)


def form(method: str, *faults: str, points: int = 1) -> Evidence:
    """The evidence on the form of a subject: faults refute it, empty ones do not count.

    >>> form("counted", "").status.value, form("counted", "3 threads, 4 wanted").counterexample.statement
    ('PROVED', '3 threads, 4 wanted')
    """
    first, *others = [*filter(None, faults), ""]
    wrong = Counterexample({}, first, damage=tuple(others[:-1])) if first else None
    return finding(Check.ISA, wrong, method, points)


def parsed(part: BoundOperand) -> list[Evidence]:
    """The evidence that a layout parses with congruent profiles, and that a second parser reads the same."""
    layout = part.layout
    if part.map is not None:
        return [form("parsed", "")]
    if layout is None:
        return [form("parsed", part.fault or f"{part.text} is no layout")]
    other = f"a second reading of {part.text} differs from {layout}"
    again = [] if read(part.text) == (layout.shape, layout.stride) else [form("read again", other)]
    return [form("parsed", ""), *again]


def evaluate(layout: Layout, kept: dict[Hashable, Any] | None = None) -> Table:
    """The layout at every (thread, value), as an array [thread][value]; taken from `BoundAtom.tables` if it is there.

    >>> evaluate(Layout.parse("(2,4):(4,1)")).tolist()
    [[0, 1, 2, 3], [4, 5, 6, 7]]
    """
    kept = {} if kept is None else kept
    if layout not in kept:
        kept[layout] = batched.table(layout)
    found: Table = kept[layout]
    return found


def indices(layout: Layout, kept: dict[Hashable, Any]) -> Table:
    """The layout at every index, likewise."""
    if (layout, "indices") not in kept:
        kept[layout, "indices"] = batched.batch(layout).values()
    found: Table = kept[layout, "indices"]
    return found


def computed_rows(table: Table) -> tuple[Table, int]:
    """The rows of a table that are computed, and how often the table repeats them."""
    return (table, 1) if table.strides[0] else (table[:1], len(table))


def fragment_size(subject: BoundAtom, part: BoundOperand) -> Finding:
    """Whether a layout has as many threads and values as its fragment, or as its tile needs."""
    layout = part.parsed
    threads, values = size(layout[0]), size(layout[1])
    wanted = subject.expected(part)
    if (threads, values) == wanted:
        return "counted", threads * values, None
    expects = "the ISA" if part.formulas else "its tile"
    statement = f"the layout has {threads} threads x {values} values, {expects} {wanted[0]} x {wanted[1]}"
    often = 0 if part.formulas else _equal_owners(layout, part)
    stated = f"each element has {often} owners: `copies = {{ {part.name} = {often} }}` states that"
    wrong = Counterexample({"threads": threads, "values": values}, statement, damage=(stated,) if often > 1 else ())
    return "counted", threads * values, wrong


def _equal_owners(layout: Layout, part: BoundOperand) -> int:
    """The number of owners of each element; 0 if it differs between elements or the layout leaves the tile."""
    try:
        counts = search.owners(numbers(layout, {}), part.extent[0] * part.extent[1])
    except search.Misread:
        return 0
    return int(counts[0]) if (counts == counts[0]).all() and counts.sum() == size(layout) else 0


def numbers(layout: Layout, kept: dict[Hashable, Any]) -> search.Numbers:
    """The elements of a layout by blocks: from its table where that is one block, else each block evaluated alone.

    Raises Misread for a table that is wrong.
    """
    threads, values = (size(mode) for mode in layout)
    alike = threads if all(stride == 0 for extent, stride in modes(*halves(layout)[0]) if extent > 1) else 1
    if threads // alike * values > search.BLOCK:
        return search.of_layout(layout, partial(walk, layout))
    if (ours := misread(layout, kept)) is not None:
        raise search.Misread(ours)
    flat = evaluate(layout, kept)[: threads // alike].reshape(-1)
    return search.Numbers(threads, values, lambda start, stop: flat[start:stop], partial(walk, layout), True, alike)


def in_bounds(subject: BoundAtom, part: BoundOperand) -> Finding:
    """Whether no (thread, value) is at an element outside the tile."""
    return "exhaustive", size(part.parsed), _of_operand("in_bounds", subject, part)


def ownership(subject: BoundAtom, part: BoundOperand) -> Finding:
    """Whether each element of the tile has the number of owners that it must have."""
    return "exhaustive", size(part.parsed), _of_operand("ownership", subject, part, subject.multiplicity(part))


def _of_operand(find: Search, subject: BoundAtom, part: BoundOperand, *of: int) -> Counterexample | None:
    """What is wrong with an operand's layout, its sums written out."""
    layout, tile = part.parsed, dict(zip(part.axes, part.extent, strict=False))  # bits have one axis
    wrong = _wrong(find, tile, [(layout, partial(numbers, layout, subject.tables))], *of)
    if wrong is None or "thread" not in wrong.inputs:
        return wrong
    at = list(wrong.inputs.values())
    point, *other = zip(at[::2], at[1::2], strict=True)
    sums = [written_out(layout, *point), str(walk(layout, *point)), *(written_out(layout, *one) for one in other)]
    return wrong._replace(arithmetic=" = ".join(sums))


def _wrong(
    find: Search, tile: Mapping[str, int], of: Sequence[tuple[Layout, Callable[[], search.Numbers]]], *options: Any
) -> Counterexample | None:
    """A finding of `verify.maps.findings` on layouts, each with its numbers by blocks."""
    axes = tuple(map(Axis, tile, tile.values()))
    maps = (searched(one, axes, NOWHERE, by) for one, by in of)
    wrong: Counterexample | None = getattr(findings, find)(*maps, *options)
    return wrong


def equals(subject: BoundAtom, part: BoundOperand) -> Finding:
    """Whether L(t, v) = ISA(thr(t) + rep(q), v) for every thread t, replica q and value v, by every formula.

    >>> from verify.binding.atom import prepare
    >>> from layouts.atoms import registry
    >>> atom = prepare(registry()["SM80_16x8x16_F32F16F16F32_TN"])
    >>> wrong = atom.parts[2]._replace(layout=Layout.parse("((4,8),(2,2)):((32,1),(8,16))"))
    >>> method, points, found = equals(atom, wrong)
    >>> method, points, found.statement
    ('exhaustive', 128, 'T0 V1: layout (m=8, n=0), ISA (m=0, n=1)')
    """
    (threads, values), wanted = part.domain, subject.expected(part)
    if (threads, values) != wanted:  # no table is made: a layout may have more points than an instruction
        statement = f"the layout has {threads} x {values} points, the ISA {wanted[0]} x {wanted[1]}"
        return "exhaustive", threads * values, Counterexample({"threads": threads}, statement)
    table = evaluate(part.parsed, subject.tables)
    if (ours := misread(part.parsed, subject.tables)) is not None:
        return "exhaustive", table.size, ours
    cases = [(formula, replica) for formula in part.formulas for replica in range(subject.rep_size)]
    points = table.size * len(cases)
    for formula, replica in cases:
        wrong = _compare(subject, part, formula, replica, table)
        if wrong is not None:
            return "exhaustive", points, wrong
    return "exhaustive", points, None


def called(layout: Layout, among: Callable[[int, int], int]) -> Counterexample | None:
    """Where Layout.__call__ differs from what all points together have there, which shows an error of ours.

    A layout is linear in its digits, so the unit of each digit and the last point are compared.

    >>> layout = Layout.parse("(2,4):(4,1)")
    >>> called(layout, evaluate(layout).item) is None, called(layout, (evaluate(layout) + 1).item).statement
    (True, 'T1 V0: 4 by itself, 5 among all points: an evaluation of ours is wrong')
    """
    last = size(layout[0]) - 1, size(layout[1]) - 1
    for thread, value in (*(unit for unit in repair.units(layout) if unit is not None), last):
        if (alone := layout(thread, value)) != (got := among(thread, value)):
            return search.misread(thread, value, alone, got)
    return None


def misread(layout: Layout, kept: dict[Hashable, Any]) -> Counterexample | None:
    """Where the table of a layout is wrong, by `called`; kept like the table."""
    if (layout, "misread") not in kept:
        kept[layout, "misread"] = called(layout, evaluate(layout, kept).item)
    found: Counterexample | None = kept[layout, "misread"]
    return found


def _compare(
    subject: BoundAtom, part: BoundOperand, formula: Formula, replica: int, table: Table
) -> Counterexample | None:
    """The smallest point at which one replica of the layout differs from the formula."""
    thr, rep = subject.numbering
    lanes = indices(thr, subject.tables)[:, None] + rep(replica)
    x, y = formula.locate(lanes, np.arange(table.shape[1])[None, :])
    inside = all(0 <= np.min(c) and np.max(c) < end for c, end in zip((x, y), part.extent, strict=True))
    if inside and (table == x + part.extent[0] * y).all():
        return None
    bad = (table != x + part.extent[0] * y) | (x < 0) | (x >= part.extent[0]) | (y < 0) | (y >= part.extent[1])
    wrong = np.argwhere(bad)
    thread, value = (int(c) for c in wrong[0])
    got, lane = int(table[thread, value]), lane_of(thr, thread) + lane_of(rep, replica)
    row, col = formula.locate(lane, value)
    right = ", ".join(f"{axis}={at}" for axis, at in zip(part.axes, (row, col), strict=False))
    where = f"T{thread}" if lane == thread else f"T{thread} (lane {lane})"
    beyond = not (0 <= row < part.extent[0] and 0 <= col < part.extent[1])
    return Counterexample(
        {"thread": thread, "lane": lane, "value": value},
        f"{where} V{value}: layout {part.show(got)}, ISA ({right})" + f", outside {part.tile}" * beyond,
        f"{written_out(part.parsed, thread, value)} = {got}, ISA {row} + {col}*{part.extent[0]} = "
        f"{row + part.extent[0] * col}",
        extent="unique" if len(wrong) == 1 else "smallest",
        damage=(f"{len(wrong)} of {table.size} points disagree",),
        isa=formula.text(),
        unique=len(wrong) == 1,
        reproduced=walk(part.parsed, thread, value) == got and (beyond or got != row + part.extent[0] * col),
    )


def same_function(layout: Layout, other: Layout) -> Evidence:
    """The evidence that two (thread, value) layouts agree at every point, however their modes are written.

    >>> first, second = Layout.parse("(4,2):(1,4)"), Layout.parse("(4,2):(2,1)")
    >>> same_function(first, second).counterexample.statement
    'T0 V1: layout element 4, the other element 1; element 4 belongs to T2 V0'
    """
    points, differently = size(layout), "" if layout == other else "written differently, equal at every point"
    both = [(one, partial(search.of_layout, one, partial(walk, one))) for one in (layout, other)]

    def sums(point: tuple[int, ...]) -> str:
        return " and ".join(written_out(one, *point) for one in (layout, other))

    wrong = _wrong("equals", {"element": points}, both, "the other", sums)
    wrong = wrong or next(filter(None, (called(one, by().item) for one, by in both)), None)
    if wrong is not None:
        return finding(Check.ISA, wrong, "exhaustive", points, ENGINE)
    return Evidence(Check.ISA, Status.PROVED, "exhaustive", points, ENGINE, differently)


def inverse_holds(subject: BoundAtom, part: BoundOperand) -> Finding:
    """Whether L(R(k)) = k for every element k of the tile, with R the right inverse of the layout."""
    layout, elements = part.parsed, part.extent[0] * part.extent[1]
    try:
        inverse = right_inverse(layout)
    except LayoutError as error:
        return "exhaustive", elements, Counterexample({}, f"it has no right inverse: {error}")
    covered = size(inverse)
    if covered < elements:
        statement = f"its right inverse {inverse} covers {covered} of {elements} elements"
        return "exhaustive", elements, Counterexample({"covered": covered}, statement)
    first = batched.first_not_inverse(layout, inverse)
    if first is None or first >= elements:
        return "exhaustive", elements, None
    got = image(layout, image(inverse, first))
    statement = f"L(R({first})) = {got} with R = {inverse}"
    return "exhaustive", elements, Counterexample({"element": first}, statement, reproduced=got != first)
