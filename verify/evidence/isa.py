# SPDX-License-Identifier: Apache-2.0
"""The check `isa`: the PTX ISA's formulas, compared with an operand's map at every point of its domain.

The map is searched in `verify.maps.search`, whatever it is: a layout, plain or not, or a map that is given point by
point. A layout that two evaluations of ours have differently is a contradiction (`verify.maps.strided`).

`in_bounds`, `ownership`                    findings on a map, of an atom, a tiling or a layout alone: the method, how
                                            many points, the smallest counterexample or None
`fragment_size`, `equals`, `inverse_holds`  findings on an operand of an atom
`compare_points`                            a finding as evidence
`same_function` evidence on two layouts: whether they are equal at every point
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from layouts import Layout, LayoutError, batched, right_inverse, size
from layouts.arrays import np
from verify.core.digits import image, lane_of, read_layout_text, walk, written_out
from verify.core.verdict import Check, Counterexample, Evidence, Status, finding
from verify.maps import blocks, search
from verify.maps.map import Axis, IsaFormula, Map, has_arrays
from verify.maps.strided import StridedMap

if TYPE_CHECKING:
    from verify.binding.axes import OperandFormula
    from verify.binding.bound import BoundMaps
    from verify.binding.operand import BoundOperand

Table: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.int64]]"
ENGINE = "Python"
Finding = tuple[str, int, Counterexample | None]  # method, points, counterexample


def compare_points(find: Callable[[], Finding], m: Map) -> Evidence:
    """Return a finding at every point of a map, as evidence.

    >>> from verify.binding.atom import prepare
    >>> from layouts.atoms import registry
    >>> atom = prepare(registry()["SM80_16x8x16_F32F16F16F32_TN"])
    >>> evidence = compare_points(lambda: equals(atom, atom.parts[2]), atom.parts[2].points)
    >>> evidence.status.value, evidence.method, evidence.points
    ('PROVED', 'exhaustive', 128)
    """
    started = time.perf_counter()
    method, points, wrong = find()
    seconds = time.perf_counter() - started
    return finding(Check.ISA, wrong, method, points, engine(m), seconds=seconds)


def engine(m: Map) -> str:
    """Return what evaluates a map: plain integers, or blocks of arrays as well."""
    return ENGINE if m.searchable else "plain integers"


def _plain(m: Map) -> Layout | None:
    return m.plain if isinstance(m, StridedMap) else None


def _method(m: Map) -> str:
    return search.METHOD if _plain(m) is None else "exhaustive"


def form(method: str, *faults: str, points: int = 1) -> Evidence:
    """Return the evidence on the form of a subject: faults refute it, empty ones do not count.

    >>> form("counted", "").status.value, form("counted", "3 threads, 4 wanted").counterexample.statement
    ('PROVED', '3 threads, 4 wanted')
    """
    first, *rest = [*filter(None, faults), ""]
    wrong = Counterexample({}, first, damage=tuple(rest[:-1])) if first else None
    return finding(Check.ISA, wrong, method, points)


def read_again(text: str, layout: Layout) -> list[Evidence]:
    """Return the evidence that a second parser reads a text as the same layout."""
    fault = f"a second reading of {text} differs from {layout}"
    again = [] if read_layout_text(text) == (layout.shape, layout.stride) else [form("read again", fault)]
    return [form("parsed", ""), *again]


def evaluate(layout: Layout, kept: dict[Hashable, Any] | None = None) -> Table:
    """Evaluate the layout at every (thread, value): an array [thread][value], `BoundMaps.tables` if it is there.

    >>> evaluate(Layout.parse("(2,4):(4,1)")).tolist()
    [[0, 1, 2, 3], [4, 5, 6, 7]]
    """
    kept = {} if kept is None else kept
    if layout not in kept:
        kept[layout] = batched.table(layout)
    table: Table = kept[layout]
    return table


def computed_rows(table: Table) -> tuple[Table, int]:
    """Return the rows of a table that are computed, and how often the table repeats them."""
    return (table, 1) if table.strides[0] else (table[:1], len(table))


def fragment_size(subject: BoundMaps, part: BoundOperand) -> Finding:
    """Find whether a map has as many threads and values as its fragment, or as its tile needs."""
    m, wanted = part.points, subject.expect_extents(part)
    if part.layout is None:
        names = (axis.name for axis in m.inputs)
        return search.METHOD, len(m), search.find_size_fault(m, tuple(map(Axis, names, wanted)))
    threads, values = part.domain
    if (threads, values) == wanted:
        return "counted", threads * values, None
    expects = "the ISA" if part.formulas else "its tile"
    statement = f"the layout has {threads} threads x {values} values, {expects} {wanted[0]} x {wanted[1]}"
    often = 0 if part.formulas else _equal_owners(m, part)
    stated = f"each element has {often} owners: `copies = {{ {part.name} = {often} }}` states that"
    wrong = Counterexample({"threads": threads, "values": values}, statement, damage=(stated,) if often > 1 else ())
    return "counted", threads * values, wrong


def _equal_owners(m: Map, part: BoundOperand) -> int:
    """Return the number of owners of each element; 0 if it differs between elements or the layout leaves the tile."""
    try:
        counts = search.count_owners(m, part.extent[0] * part.extent[1])
    except blocks.EvaluationMismatch:
        return 0
    return int(counts[0]) if (counts == counts[0]).all() and counts.sum() == len(m) else 0


def in_bounds(m: Map) -> Finding:
    """Find whether no (thread, value) is at an element outside the tile."""
    return _method(m), len(m), _with_sums(m, search.find_out_of_bounds(m))


def ownership(m: Map, copies: int) -> Finding:
    """Find whether each element of the tile has so many owners."""
    return _method(m), len(m), _with_sums(m, search.find_owner_fault(m, copies))


def _with_sums(m: Map, wrong: Counterexample | None) -> Counterexample | None:
    """Return what is wrong with a map, the sums of a plain layout written out."""
    plain = _plain(m)
    if wrong is None or plain is None or "thread" not in wrong.inputs:
        return wrong
    at = list(wrong.inputs.values())
    point, *rest = zip(at[::2], at[1::2], strict=True)
    sums = [written_out(plain, *point), str(walk(plain, *point)), *(written_out(plain, *place) for place in rest)]
    return wrong._replace(arithmetic=" = ".join(sums))


def equals(subject: BoundMaps, part: BoundOperand) -> Finding:
    """Find whether L(t, v) = ISA(thr(t) + rep(q), v) for every thread t, replica q and value v, by every formula.

    >>> from verify.binding.atom import prepare
    >>> from layouts.atoms import registry
    >>> atom = prepare(registry()["SM80_16x8x16_F32F16F16F32_TN"])
    >>> wrong = atom.parts[2].of_layout(Layout.parse("((4,8),(2,2)):((32,1),(8,16))"))
    >>> method, points, difference = equals(atom, wrong)
    >>> method, points, difference.statement
    ('exhaustive', 128, 'T0 V1: layout (m=8, n=0), ISA (m=0, n=1)')
    """
    m, (threads, values), wanted = part.points, part.domain, subject.expect_extents(part)
    if (threads, values) != wanted:  # nothing is evaluated: a layout may have more points than an instruction
        statement = f"the {m.noun} has {threads} x {values} points, the ISA {wanted[0]} x {wanted[1]}"
        return _method(m), threads * values, Counterexample({"threads": threads}, statement)
    if (misread := _misread_lane(subject)) is not None:
        return _method(m), threads * values, misread
    cases = [(formula, replica) for formula in part.formulas for replica in range(subject.rep_size)]
    points = len(m) * len(cases)
    for formula, replica in cases:
        locate = formula.locate if len(m.outputs) > 1 else partial(_number, formula, part.extent[0])
        expected = IsaFormula(locate, formula.key, lanes_of(subject, replica), values, m.outputs)
        try:
            difference = search.locate_difference(m, expected) or search.locate_stray(m)  # then the formula strays too
        except blocks.EvaluationMismatch as fault:
            return _method(m), points, fault.counterexample
        if difference is not None:
            return _method(m), points, _unequal(part, m, expected, formula, difference)
    return _method(m), points, None


def _number(formula: OperandFormula, width: int, lane: Any, value: Any) -> tuple[Any]:
    """Return the only coordinate of a formula's bit."""
    x, y = formula.locate(lane, value)
    return (x + width * y,)


def lanes_of(subject: BoundMaps, replica: int) -> list[int]:
    """Return the lanes of the logical threads of a replica."""
    thr, rep = subject.numbering
    if "lanes" not in subject.tables:
        subject.tables["lanes"] = [lane_of(thr, thread) for thread in range(subject.threads)]
    first = lane_of(rep, replica)
    return [lane + first for lane in subject.tables["lanes"]]


def _misread_lane(subject: BoundMaps) -> Counterexample | None:
    """Return a thread whose lane is another by arrays than digit by digit; None where there are no arrays."""
    lanes = lanes_of(subject, 0)
    thr, rep = subject.numbering
    among = (batched.batch(thr).values() + lane_of(rep, 0)).tolist() if has_arrays() else lanes
    thread = next((t for t, pair in enumerate(zip(lanes, among, strict=True)) if pair[0] != pair[1]), None)
    if thread is None:
        return None
    where = f"T{thread} is lane {lanes[thread]} by itself, {among[thread]} among all threads"
    return Counterexample(
        {"thread": thread}, f"{where}: two evaluations differ, which is a bug in Lanecheck", reproduced=False
    )


def _unequal(
    part: BoundOperand, m: Map, expected: IsaFormula, formula: OperandFormula, difference: search.Disagreement
) -> Counterexample:
    """Return the smallest point at which one replica of a map differs from the formula, in words."""
    plain = _plain(m)
    if plain is None:
        return search.word_difference(m, expected, "ISA", difference)
    (thread, value), lane = difference.point, expected.lanes[difference.point[0]]
    (row, col), got = formula.locate(lane, value), walk(plain, thread, value)
    right = ", ".join(f"{axis}={at}" for axis, at in zip(part.axes, (row, col), strict=False))
    where = f"T{thread}" if lane == thread else f"T{thread} (lane {lane})"
    beyond = not (0 <= row < part.extent[0] and 0 <= col < part.extent[1])
    return Counterexample(
        {"thread": thread, "lane": lane, "value": value},
        f"{where} V{value}: layout {part.show(got)}, ISA ({right})" + f", outside {part.tile}" * beyond,
        f"{written_out(plain, thread, value)} = {got}, ISA {row} + {col}*{part.extent[0]} = "
        f"{row + part.extent[0] * col}",
        extent="unique" if difference.wrong == 1 else "smallest",
        damage=(f"{difference.wrong} of {difference.points} points disagree",),
        isa=formula.text(),
        unique=difference.wrong == 1,
        reproduced=difference.reproduced,
    )


def same_function(layout: Layout, second: Layout) -> Evidence:
    """Return the evidence that two (thread, value) layouts agree at every point, however their modes are written.

    >>> first, second = Layout.parse("(4,2):(1,4)"), Layout.parse("(4,2):(2,1)")
    >>> same_function(first, second).counterexample.statement
    'T0 V1: layout element 4, the other element 1; element 4 belongs to T2 V0'
    """
    points, differently = size(layout), "" if layout == second else "written differently, equal at every point"
    axes = (Axis("element", points),)

    def sums(point: tuple[int, ...]) -> str:
        return " and ".join(written_out(side, *point) for side in (layout, second))

    wrong = search.find_difference(StridedMap(layout, axes), StridedMap(second, axes), "the other", sums)
    if wrong is not None:
        return finding(Check.ISA, wrong, "exhaustive", points, ENGINE)
    return Evidence(Check.ISA, Status.PROVED, "exhaustive", points, ENGINE, differently)


def inverse_holds(subject: BoundMaps, part: BoundOperand) -> Finding:
    """Whether L(R(k)) = k for every element k of the tile, with R the right inverse of the layout."""
    if part.layout is None:
        return search.METHOD, len(part.points), search.find_missing_owner(part.points)
    layout, elements = part.layout_of_text, part.extent[0] * part.extent[1]
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
