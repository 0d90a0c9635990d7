# SPDX-License-Identifier: Apache-2.0
"""Statements about an instruction's fragments, against the ISA tables. A check returns "" or a counterexample."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import Any

import isa_tables
import proofs
from isa_tables import Instruction, Operand
from isa_tables.signature import signature
from layouts import Layout, complement, size
from layouts.atoms import Atom, registry
from tests.ledger.expression import compute
from tests.ledger.on_layouts import differ
from verify.atom.checker import AtomChecker
from verify.atom.properties import RELATION
from verify.core.verdict import Check, Status

CELL = re.compile(r"T(\d+)V(\d+)")
Locate = Callable[[int, int], tuple[int, int]]


@lru_cache
def in_isa(mnemonic: str) -> Instruction:
    """The instruction of a mnemonic in the ISA tables, cached."""
    return isa_tables.instruction(mnemonic)


def compared(operand: Operand, claimed: Locate) -> str:
    """The first difference of a claimed map (lane, value) -> (row, col) from the ISA's, and how many there are."""
    points = [(lane, i) for lane in range(operand.lanes) for i in range(operand.values)]
    wrong = [at for at in points if claimed(*at) != operand.locate(*at)]
    if not wrong:
        return ""
    lane, i = wrong[0]
    difference = f"T{lane} V{i} holds {operand.locate(lane, i)}, not {claimed(lane, i)}"
    return f"{difference}; {len(wrong)} of {len(points)} differ"


def formula(instruction: str, operand: str, row: str, col: str) -> str:
    """Formulas of `lane` and `i` for the row and column of an operand, at every lane and value, and onto the tile."""
    isa = in_isa(instruction).operands[operand]
    return compared(isa, lambda lane, i: (compute(row, lane=lane, i=i), compute(col, lane=lane, i=i)))


def proved(instruction: str, operand: str, row: str, col: str, layout: str, thr: str = "32:1") -> str:
    """z3 proves the formulas of `lane` and `i` equal to a CuTe layout (A m + M*k, B n + N*k, C m + M*n)."""
    isa = in_isa(instruction).operands[operand]
    extent = isa.extent[::-1] if operand == "B" else isa.extent

    def locate(lane: Any, i: Any) -> tuple[Any, Any]:
        at = _term(row, lane, i), _term(col, lane, i)
        return at[::-1] if operand == "B" else at

    threads = Layout.parse(thr)
    fragment = proofs.OperandLayout(Layout.parse(layout), extent, threads, complement(threads, 32), locate, 1)
    if size(Layout.parse(layout)) != extent[0] * extent[1]:
        return f"{layout} has {size(Layout.parse(layout))} points for {extent[0]}x{extent[1]}"
    outcome = proofs.prove_equals(fragment)
    if outcome.status == "unsat":
        return ""
    point = outcome.model or {}
    return f"{outcome.status} at " + ", ".join(f"{name} {point[name]}" for name in ("thread", "value") if name in point)


def _term(text: str, lane: Any, i: Any) -> Any:
    """The formula on symbolic terms: the only conditional of the ledger is on the half of the lanes."""
    body, _, rest = text.partition(" if ")
    if not rest:
        return compute(text, lane=lane, i=i)
    test, _, otherwise = rest.partition(" else ")
    condition = compute(test, lane=lane, i=i)
    return isa_tables.where(condition, compute(body, lane=lane, i=i), compute(otherwise, lane=lane, i=i))


def element(operand: Operand, name: str, x: int, order: str) -> tuple[int, int]:
    """The (row, col) of an element's number: row-major in the ISA's matrix, or CuTe's m + M*k, n + N*k, m + M*n."""
    rows, columns = operand.extent
    if order == "row-major":
        return x // columns, x % columns
    return (x // columns, x % columns) if name == "B" else (x % rows, x // rows)


def fragment(instruction: str, operand: str, layout: str, order: str = "cute", thr: str = "") -> str:
    """A (thread, value) layout of element numbers is the ISA's map."""
    isa, claimed = in_isa(instruction).operands[operand], Layout.parse(layout)
    values = size(claimed[1])
    lanes = Layout.parse(thr) if thr else Layout(isa.lanes)
    if (size(claimed[0]), values) != (size(lanes), isa.values):
        return f"{size(claimed[0])} threads x {values} values, the ISA {size(lanes)} x {isa.values}"
    thread = {lanes(t): t for t in range(size(lanes))}
    points = [(lane, i) for lane in thread for i in range(values)]
    at = {p: element(isa, operand, claimed(thread[p[0]], p[1]), order) for p in points}
    wrong = [p for p in points if at[p] != isa.locate(*p)]
    if not wrong:
        return ""
    lane, i = wrong[0]
    difference = f"T{lane} V{i} holds {isa.locate(lane, i)}, not {at[lane, i]}"
    return f"{difference}; {len(wrong)} of {len(points)} differ"


def cells(rows: list[str]) -> dict[tuple[int, int], tuple[int, int]]:
    """A drawing's cells by (row, column): each line lists T..V.. from left to right."""
    drawn = {}
    for i, line in enumerate(rows):
        for j, (t, v) in enumerate(CELL.findall(line)):
            drawn[i, j] = int(t), int(v)
    return drawn


def drawing(instruction: str, operand: str, rows: list[str], top: int = 0, left: int = 0) -> str:
    """A drawing of the operand's matrix: cell (row, col) names a lane and value that hold this element."""
    isa = in_isa(instruction).operands[operand]
    drawn = cells(rows)
    wrong = [
        (at, cell)
        for at, cell in drawn.items()
        if cell[0] >= isa.lanes or cell[1] >= isa.values or isa.locate(*cell) != (at[0] + top, at[1] + left)
    ]
    if not wrong:
        return "" if len(set(drawn.values())) == len(drawn) else "a lane and value are drawn twice"
    (i, j), (lane, value) = wrong[0]
    true = isa.locate(lane, value) if lane < isa.lanes and value < isa.values else "nothing"
    difference = f"T{lane}V{value} holds {true}, not {(i + top, j + left)}"
    return f"{difference}; {len(wrong)} of {len(drawn)} differ"


def drawn_by(rows: list[str], row: str = "", col: str = "", layout: str = "") -> str:
    """A drawing agrees with formulas of `lane` and `i`, or with a layout of row-major element numbers."""
    drawn = cells(rows)
    columns = max(j for _, j in drawn) + 1
    wrong = []
    for at, (lane, i) in drawn.items():
        x = Layout.parse(layout)(lane, i) if layout else 0
        claimed = divmod(x, columns) if layout else (compute(row, lane=lane, i=i), compute(col, lane=lane, i=i))
        if claimed != at:
            wrong.append(f"T{lane}V{i} is drawn at {at}, not {claimed}")
    return f"{wrong[0]}; {len(wrong)} of {len(drawn)} differ" if wrong else ""


def once(rows: list[str], threads: int, values: int) -> str:
    """A drawing shows each value of each thread once."""
    shown = sorted(cells(rows).values())
    wanted = [(t, v) for t in range(threads) for v in range(values)]
    missing = sorted(set(wanted) - set(shown))
    return "" if shown == wanted else f"T{missing[0][0]}V{missing[0][1]} is not drawn" if missing else "drawn twice"


def holds(instruction: str, operand: str, lane: int, elements: list[list[int]], values: list[int] | None = None) -> str:
    """The elements of a lane, value by value: [row, col] each."""
    isa = in_isa(instruction).operands[operand]
    which = list(range(isa.values)) if values is None else values
    true = [isa.locate(lane, i) for i in which]
    claimed = [tuple(pair) for pair in elements]
    wrong = [(i, x) for i, x, y in zip(which, true, claimed, strict=True) if x != y]
    return f"T{lane} V{wrong[0][0]} holds {wrong[0][1]}; {len(wrong)} of {len(true)} differ" if wrong else ""


def along(instruction: str, operand: str, axis: str, formula: str) -> str:
    """A formula of `lane` and `i` for the row alone, or the column alone."""
    isa = in_isa(instruction).operands[operand]
    at = ("row", "col").index(axis)
    points = [(lane, i) for lane in range(isa.lanes) for i in range(isa.values)]
    wrong = [p for p in points if isa.locate(*p)[at] != compute(formula, lane=p[0], i=p[1])]
    if not wrong:
        return ""
    lane, i = wrong[0]
    difference = f"T{lane} V{i} is in {axis} {isa.locate(lane, i)[at]}, not {compute(formula, lane=lane, i=i)}"
    return f"{difference}; {len(wrong)} of {len(points)} differ"


def distances(instruction: str, operand: str, first: int, second: int, by: list[int]) -> str:
    """In every lane, value `second` is this far below and right of value `first`."""
    isa = in_isa(instruction).operands[operand]
    for lane in range(isa.lanes):
        a, b = isa.locate(lane, first), isa.locate(lane, second)
        if (b[0] - a[0], b[1] - a[1]) != tuple(by):
            return f"T{lane}: V{first} at {a}, V{second} at {b}"
    return ""


def store(instruction: str, registers: list[list[str]]) -> str:
    """Register d_i of the accumulators is stored at [row, col], formulas of `lane`."""
    isa = in_isa(instruction).operands["D"]
    if len(registers) != isa.values:
        return f"{len(registers)} registers stored, the ISA has {isa.values}"
    return compared(isa, lambda lane, i: tuple(compute(x, lane=lane) for x in registers[i]))  # type: ignore[arg-type, return-value]


def fact(instruction: str, quantity: str, is_: Any) -> str:
    """A number or word of an instruction: lanes, shape, or of an operand its values, regs, bits, type, extent."""
    isa = in_isa(instruction)
    name, _, operand = quantity.partition(" ")
    if name in ("lanes", "shape", "products"):
        true = getattr(isa.signature, name)
    else:
        true = getattr(isa.signature.operands[operand], name)
    true = list(true) if isinstance(true, tuple) else true
    return "" if true == is_ else f"{quantity} is {true}, not {is_}"


def known(instruction: str) -> str:
    """The ISA has an instruction of this name; for a family that the tables lack it is an error, not a refutation."""
    try:
        in_isa(instruction)
    except isa_tables.NotInIsa:
        return "the ISA has no such instruction"
    return ""


def in_row(instruction: str, operand: str, number: int, cells: str) -> str:
    """A row of the operand's matrix: the lane of each column in turn, "T0 T1 ..", or the value, "V0 V1 .."."""
    isa = in_isa(instruction).operands[operand]
    at = {isa.locate(t, v): (f"T{t}", f"V{v}") for t in range(isa.lanes) for v in range(isa.values)}
    which = "TV".index(cells[0])
    true = [at[number, column][which] for column in range(isa.extent[1])]
    claimed = cells.split()
    if len(claimed) != len(true):
        return f"{len(claimed)} columns, the ISA has {len(true)}"
    wrong = [i for i, (x, y) in enumerate(zip(true, claimed, strict=True)) if x != y]
    return f"({number},{wrong[0]}) is {true[wrong[0]]}'s; {len(wrong)} of {len(true)} differ" if wrong else ""


def participants(instruction: str, computation: int, lanes: list[int]) -> str:
    """The lanes of one of an instruction's independent products, counted from 1."""
    isa = in_isa(instruction)
    true = [lane for lane in range(isa.signature.lanes) if isa.product(lane) == computation - 1]
    return "" if true == lanes else f"lanes {true}"


def same_map(first: str, second: str, operand: str, differs: bool) -> str:
    """Whether two instructions distribute an operand differently."""
    a, b = in_isa(first).operands[operand], in_isa(second).operands[operand]
    if (a.lanes, a.values) != (b.lanes, b.values):
        return "" if differs else f"{a.lanes} lanes x {a.values} values, {b.lanes} x {b.values}"
    return "" if (compared(a, b.locate) != "") == differs else "they are one map" if differs else compared(a, b.locate)


def even_steps(instruction: str, operand: str, mode: str, even: bool, step: int = 0) -> str:
    """Whether, in row-major element numbers, threads (or values) follow one another at one distance, and at which."""
    isa = in_isa(instruction).operands[operand]
    count = isa.lanes if mode == "thread" else isa.values
    at = [isa.locate(*((n, 0) if mode == "thread" else (0, n))) for n in range(count)]
    offsets = [row * isa.extent[1] + col for row, col in at]
    gaps = sorted({b - a for a, b in pairwise(offsets)})
    if (len(gaps) == 1) != even:
        return f"the {mode}s have a distance of {gaps[0]}" if len(gaps) == 1 else f"distances {gaps}"
    return "" if not even or gaps == [step] else f"the {mode}s have a distance of {gaps[0]}, not {step}"


def atom(name: str, part: str, is_: str) -> str:
    """A layout of a registered atom: thr, or that of an operand."""
    entry = registry()[name]
    assert isinstance(entry, Atom)
    return differ(Layout.parse(entry.thr if part == "thr" else entry.operands[part]), Layout.parse(is_))


def observed(name: str, operand: str, layout: str) -> str:
    """With this layout of an operand the registered atom agrees with the recording of a GPU."""
    entry = registry()[name]
    assert isinstance(entry, Atom)
    claimed = replace(entry, name="claimed", operands={**entry.operands, operand: layout}, family=None)
    relation = next(v for v in AtomChecker().verify(claimed) if v.claim.prop == RELATION)
    (recorded,) = (e for e in relation.evidence if e.check is Check.GPU)
    if recorded.status is Status.AGREES:
        return ""
    at = recorded.counterexample.inputs if recorded.counterexample else {}
    where = " ".join(f"{key} {value}" for key, value in at.items() if key in ("lane", "value"))
    return f"{recorded.status.name}: {operand} {where} interacts with other elements".replace("  ", " ")


def warps(family: str) -> str:
    """Every instruction of a family in the ISA tables is for one warp."""
    names = isa_tables.mnemonics(family)
    wrong = [name for name in names if signature(name).lanes != 32]
    if not names:
        raise ValueError(f"the ISA tables have no {family}")
    return f"{wrong[0]} has {signature(wrong[0]).lanes} lanes" if wrong else ""


def bijective(instruction: str, operand: str, row: str, col: str, product: bool = False) -> str:
    """By the formulas each element has one owner, over the lanes of each product where there are several."""
    isa, whole = in_isa(instruction).operands[operand], in_isa(instruction)
    wanted = sorted((r, c) for r in range(isa.extent[0]) for c in range(isa.extent[1]))
    for computation in range(whole.signature.products if product else 1):
        lanes = [t for t in range(isa.lanes) if not product or whole.product(t) == computation]
        places = sorted(
            (compute(row, lane=t, i=i), compute(col, lane=t, i=i)) for t in lanes for i in range(isa.values)
        )
        if places != wanted:
            missing = sorted(set(wanted) - set(places))
            return (
                f"computation {computation + 1}: {missing[0]} has no owner" if missing else "an element has two owners"
            )
    return ""


KINDS = {
    check.__name__: check
    for check in (
        formula, proved, fragment, drawing, drawn_by, once, holds, along, distances, store, fact, known, in_row,
        participants, same_map, observed, even_steps, atom, warps, bijective,
    )
}  # fmt: skip
