# SPDX-License-Identifier: Apache-2.0
"""The check `isa`: the PTX ISA's formulas, compared with the layout at every point of its domain.

Layouts are evaluated with `layouts.batched` over whole domains at once, and compared with `Layout.__call__` at the unit
of each digit: where these differ there is a contradiction. Where points are few and numpy, which takes longer to load,
is not loaded, `verify.evidence.plain` calls it at every point. A refutation names the smallest point, found by arrays.

`in_bounds`, `equals`   findings on one operand: the method, how many points, the smallest counterexample or None
`compared`            a finding as evidence
`same_function`       evidence on two layouts: whether they are equal at every point
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Hashable
from typing import Any, TypeAlias

from layouts import Layout, LayoutError, batched, right_inverse, size
from layouts.arrays import np
from verify.binding.atom import BoundAtom, BoundOperand
from verify.binding.coordinates import Formula
from verify.core.digits import image, lane_of, read, walk, walks, written_out
from verify.core.verdict import Check, Counterexample, Evidence, Status, finding
from verify.core.wording import describe, owners
from verify.evidence import plain, repair
from verify.evidence.plain import few

Table: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.int64]]"
ENGINE = "Python"  # with numpy or without
Finding = tuple[str, int, Counterexample | None]  # method, points, counterexample


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
    repair = f"give `copies = {{ {part.name} = {often} }}`: each element has {often} owners" if often > 1 else ""
    wrong = Counterexample({"threads": threads, "values": values}, statement, repair=repair)
    return "counted", threads * values, wrong


def _equal_owners(layout: Layout, part: BoundOperand) -> int:
    """The number of owners of each element; 0 if it differs between elements or the layout leaves the tile."""
    table, elements = evaluate(layout), part.extent[0] * part.extent[1]
    if not table.size or table.min() < 0 or table.max() >= elements:
        return 0
    counts = np.bincount(table.ravel(), minlength=elements)
    return int(counts[0]) if (counts == counts[0]).all() else 0


def in_bounds(subject: BoundAtom, part: BoundOperand) -> Finding:
    """Whether no (thread, value) is at an element outside the tile."""
    layout, elements = part.parsed, part.extent[0] * part.extent[1]
    if (found := few(layout)) is not None and 0 <= min(found) <= max(found) < elements:
        return "exhaustive", len(found), None
    table = evaluate(layout, subject.tables)
    rows, _ = computed_rows(table)
    if rows.min(initial=0) >= 0 and rows.max(initial=0) < elements:
        return "exhaustive", table.size, None
    outside = np.argwhere((table < 0) | (table >= elements))
    thread, value = (int(c) for c in outside[0])
    got = int(table[thread, value])
    statement = f"T{thread} V{value} holds element {got} = {part.show(got)}, the tile has 0..{elements - 1}"
    wrong = Counterexample(
        {"thread": thread, "value": value},
        statement,
        f"{written_out(layout, thread, value)} = {got}",
        damage=(f"{len(outside)} of {table.size} points fall outside",),
        unique=len(outside) == 1,
        reproduced=walk(layout, thread, value) == got,
    )
    return "exhaustive", table.size, wrong


def ownership(subject: BoundAtom, part: BoundOperand) -> Finding:
    """Whether each element of the tile has the number of owners that it must have."""
    layout, elements = part.parsed, part.extent[0] * part.extent[1]
    copies = subject.multiplicity(part)
    if (found := few(layout)) is not None and Counter(found) == dict.fromkeys(range(elements), copies):
        return "exhaustive", len(found), None
    table = evaluate(layout, subject.tables)
    rows, times = computed_rows(table)
    within = (rows >= 0) & (rows < elements)
    inside = within.all()
    counts = times * np.bincount(rows.ravel() if inside else rows[within], minlength=elements)
    if inside and (counts == copies).all():
        return "exhaustive", table.size, None
    damage = _missing(part, counts, copies)
    crowded = np.argwhere(np.broadcast_to(within & (counts[np.clip(rows, 0, elements - 1)] > copies), table.shape))
    if len(crowded):
        return "exhaustive", table.size, _collision(part, table, crowded, copies, damage)
    if (counts == copies).all():
        return in_bounds(subject, part)
    first = int(np.argmax(counts < copies))
    count = sum(row.count(first) for row in walks(layout))
    statement = f"{part.show(first)} has {owners(int(counts[first]))}, {copies} wanted"
    wrong = Counterexample({"element": first}, statement, damage=damage, reproduced=count == int(counts[first]))
    return "exhaustive", table.size, wrong


def _missing(part: BoundOperand, counts: Table, copies: int) -> tuple[str, ...]:
    """The elements with too few owners, in words."""
    few = np.flatnonzero(counts < copies)
    if not len(few):
        return ()
    lacking = "no owner" if copies == 1 else f"fewer than {copies} owners"
    points = [(int(e) % part.extent[0], int(e) // part.extent[0]) for e in few]
    return (f"{len(few)} of {counts.size} elements have {lacking}: {describe(points, part.extent, part.axes)}",)


def _collision(
    part: BoundOperand, table: Table, crowded: Table, copies: int, damage: tuple[str, ...]
) -> Counterexample:
    """The smallest two points at the same element."""
    layout = part.parsed
    thread, value = (int(c) for c in crowded[0])
    element = int(table[thread, value])
    others = np.argwhere(table == element)
    other, slot = (int(c) for c in others[1])
    extra = int(table.size - len(np.unique(table))) if copies == 1 else len(crowded)
    return Counterexample(
        {"thread": thread, "value": value, "other thread": other, "other value": slot},
        f"T{thread} V{value} and T{other} V{slot} both hold {part.show(element)}",
        f"{written_out(layout, thread, value)} = {element} = {written_out(layout, other, slot)}",
        extent="the only collision" if extra == 1 else f"smallest of {extra} collisions",
        damage=damage,
        unique=extra == 1,
        reproduced=walk(layout, thread, value) == element == walk(layout, other, slot)
        and sum(row.count(element) for row in walks(layout)) > copies,
    )


def equals(subject: BoundAtom, part: BoundOperand) -> Finding:
    """Whether L(t, v) = ISA(thr(t) + rep(q), v) for every thread t, replica q and value v, by every formula.

    >>> from verify.binding.atom import prepare
    >>> from layouts.atoms import registry
    >>> atom = prepare(registry()["SM80_16x8x16_F32F16F16F32_TN"])
    >>> wrong = atom.parts[2]._replace(layout=Layout.parse("((4,8),(2,2)):((32,1),(8,16))"))
    >>> method, points, found = equals(atom, wrong)
    >>> method, points, found.statement
    ('exhaustive', 128, 'T0 V1: layout (m=8, n=0), ISA (m=0, n=1)')
    >>> found.repair
    'two strides swapped: ((4,8),(2,2)):((32,1),(16,8))      128 of 128 agree (now 64)'
    """
    if points := plain.equals(subject, part):
        return "exhaustive", points, None
    table = evaluate(part.parsed, subject.tables)
    wanted = subject.expected(part)
    if table.shape != wanted:
        statement = f"the layout has {table.shape[0]} x {table.shape[1]} points, the ISA {wanted[0]} x {wanted[1]}"
        again = tuple(map(size, part.parsed)) == table.shape
        fits = repair.find(subject, part)
        sizes = Counterexample({"threads": table.shape[0]}, statement, repair=fits, reproduced=again)
        return "exhaustive", table.size, sizes
    if (ours := called(part.parsed, table)) is not None:
        return "exhaustive", table.size, ours
    cases = [(formula, replica) for formula in part.formulas for replica in range(subject.rep_size)]
    points = table.size * len(cases)
    for formula, replica in cases:
        wrong = _compare(subject, part, formula, replica, table)
        if wrong is not None:
            return "exhaustive", points, wrong
    return "exhaustive", points, None


def called(layout: Layout, table: Table) -> Counterexample | None:
    """Where Layout.__call__ differs from the table of the whole domain, which shows an error of ours.

    A layout is linear in its digits, so the unit of each digit and the last point are compared.

    >>> layout = Layout.parse("(2,4):(4,1)")
    >>> called(layout, evaluate(layout)) is None, called(layout, evaluate(layout) + 1).statement
    (True, 'T1 V0: 4 by itself, 5 among all points: an evaluation of ours is wrong')
    """
    last = table.shape[0] - 1, table.shape[1] - 1
    for thread, value in (*(unit for unit in repair.units(layout) if unit is not None), last):
        if (alone := layout(thread, value)) != (got := int(table[thread, value])):
            statement = f"T{thread} V{value}: {alone} by itself, {got} among all points: an evaluation of ours is wrong"
            return Counterexample({"thread": thread, "value": value}, statement, reproduced=False)
    return None


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
        repair=repair.find(subject, part),
        unique=len(wrong) == 1,
        reproduced=walk(part.parsed, thread, value) == got and (beyond or got != row + part.extent[0] * col),
    )


def same_function(layout: Layout, other: Layout) -> Evidence:
    """The evidence that two (thread, value) layouts agree at every point, however their modes are written.

    >>> first, second = Layout.parse("(4,2):(1,4)"), Layout.parse("(4,2):(2,1)")
    >>> same_function(first, second).counterexample.statement
    'T0 V1: 4 and 1'
    """
    if layout.shape == other.shape and (found := few(layout)) is not None and found == few(other):
        return Evidence(Check.ISA, Status.PROVED, "exhaustive", len(found), ENGINE, _written(layout, other))
    first, second = evaluate(layout), evaluate(other)
    if first.shape != second.shape:
        sizes = [f"{table.shape[0]} x {table.shape[1]}" for table in (first, second)]
        again = [tuple(map(size, each)) for each in (layout, other)] == [first.shape, second.shape]
        wrong = Counterexample({}, f"{layout} has {sizes[0]} points, {other} has {sizes[1]}", reproduced=again)
        return finding(Check.ISA, wrong, "counted")
    unequal = np.argwhere(first != second)
    if not len(unequal):
        if (ours := called(layout, first) or called(other, second)) is not None:
            return finding(Check.ISA, ours, "exhaustive", first.size, ENGINE)
        return Evidence(Check.ISA, Status.PROVED, "exhaustive", first.size, ENGINE, _written(layout, other))
    thread, value = (int(c) for c in unequal[0])
    one, two = int(first[thread, value]), int(second[thread, value])
    wrong = Counterexample(
        {"thread": thread, "value": value},
        f"T{thread} V{value}: {one} and {two}",
        f"{written_out(layout, thread, value)} and {written_out(other, thread, value)}",
        extent="unique" if len(unequal) == 1 else "smallest",
        damage=(f"{len(unequal)} of {first.size} points disagree",),
        reproduced=walk(layout, thread, value) == one != two == walk(other, thread, value),
    )
    return finding(Check.ISA, wrong, "exhaustive", first.size, ENGINE)


def _written(layout: Layout, other: Layout) -> str:
    return "" if layout == other else "written differently, equal at every point"


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
    if plain.inverts(layout, inverse, elements):
        return "exhaustive", elements, None
    first = batched.first_not_inverse(layout, inverse)
    if first is None or first >= elements:
        return "exhaustive", elements, None
    got = image(layout, image(inverse, first))
    statement = f"L(R({first})) = {got} with R = {inverse}"
    return "exhaustive", elements, Counterexample({"element": first}, statement, reproduced=got != first)
