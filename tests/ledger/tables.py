# SPDX-License-Identifier: Apache-2.0
"""What a statement of the ledger says as a table, and what is right: the cells of its two pictures.

`DRAWN` has a function for each kind of check that draws: of the statement it returns the sketches. Most draw one table
twice, from the inputs of the document and from those that are right (`both`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from layouts import Layout, composition, make_layout, size
from layouts.bank_conflicts import BANKS
from tests.ledger.expression import compute
from tests.ledger.ledger import Claim, arguments
from tests.ledger.on_fragments import in_isa
from tests.ledger.on_tilings import fragment, partition, tiled

DOCUMENT, RIGHT = "the document", "right"
ROWS = 16  # of a table that is drawn whole
WIDE = 8  # cells of a row of what is counted, at least
LANES = 8  # that are drawn of an instruction's: the others go on alike
LETTERS = "row", "column"


@dataclass(frozen=True, slots=True)
class Sketch:
    """A table under a title, row by row. An empty cell is nothing; None is where the statement says nothing."""

    title: str
    rows: Sequence[Sequence[str | None]]
    axes: tuple[str, str] = LETTERS
    names: Sequence[str] = ()  # of the rows, in place of their numbers


Draw = Callable[[Claim], tuple[Sketch, ...]]


def both(axes: tuple[str, str], rows: Callable[..., Sequence[Sequence[str | None]]]) -> Draw:
    """Return what draws a table from the inputs of the document, and from those that are right."""

    def draw(claim: Claim) -> tuple[Sketch, ...]:
        said, right = (rows(**arguments(inputs)) for inputs in (claim.given, claim.right))
        return Sketch(DOCUMENT, said, axes), Sketch(RIGHT, right, axes)

    return draw


def only(axes: tuple[str, str], rows: Callable[..., dict[str, list[str]]]) -> Draw:
    """Return what draws what is right alone, in rows with names: the document has a number, or a word."""

    def draw(claim: Claim) -> tuple[Sketch, ...]:
        named = rows(**arguments(claim.right))
        return (Sketch(RIGHT, [*named.values()], axes, [*named]),)

    return draw


def fold(cells: Sequence[object], wide: int) -> list[list[str]]:
    """Return cells in rows that are so wide."""
    return [[str(cell) for cell in cells[i : i + wide]] for i in range(0, len(cells), wide)]


def list_strides(layout: str, quantity: str, is_: int) -> list[list[str]]:
    """List the strides of a layout, with what is said of one of them."""
    strides = [str(stride) for stride in Layout.parse(layout).stride]  # type: ignore[union-attr]
    strides[int(quantity.removeprefix("stride "))] = str(is_)
    return [strides]


def draw_factors(claim: Claim) -> tuple[Sketch, ...]:
    """Draw where A and B lie in memory, the rows of A above those of B."""
    names = [f"{x} {axis}={i}" for x, axis in (("A", "m"), ("B", "n")) for i in range(_extent(claim.given[x.lower()]))]

    def rows(inputs: Any) -> list[list[str]]:
        return [row for x in "ab" for row in list_offsets(inputs[x])]

    return tuple(
        Sketch(title, rows(inputs), ("row", "k"), names)
        for title, inputs in ((DOCUMENT, claim.given), (RIGHT, claim.right))
    )


def _extent(layout: str) -> int:
    return size(Layout.parse(layout)[0])


def list_offsets(layout: str) -> list[list[str]]:
    """List the offsets of a layout with two modes."""
    parsed = Layout.parse(layout)
    return [[str(parsed(i, j)) for j in range(size(parsed[1]))] for i in range(size(parsed[0]))]


def draw_compositions(claim: Claim) -> tuple[Sketch, ...]:
    """Draw both orders of two compositions, of the layouts of the counterexample."""
    a, b, c = _named(claim)
    left, right = composition(composition(a, b), c), composition(a, composition(b, c))
    return _of_index({"(A o B) o C": left, "A o (B o C)": right})


def draw_by_modes(claim: Claim) -> tuple[Sketch, ...]:
    """Draw a composition made mode by mode, and the whole one, of the layouts of the counterexample."""
    a, b = _named(claim)
    apart = make_layout(*(composition(a, mode) for mode in b))
    return _of_index({"(A o B1, A o B2)": apart, "A(B(i))": lambda i: a(b(i))}, size(b))


def draw_division(claim: Claim) -> tuple[Sketch, ...]:
    """Draw a division with the stride that the document gives the rest, and the division."""
    by = re.search(r" by (\S+): (\S+): at", claim.counterexample)
    assert by
    tiler, true = map(Layout.parse, by.groups())
    claimed = make_layout(true[0], Layout(size(true[1]), tiler.stride[0]))
    return _of_index({DOCUMENT: claimed, RIGHT: true})


def _named(claim: Claim) -> list[Layout]:
    return [Layout.parse(text) for text in re.findall(r"[ABC] = (\S+:(?:\([^)]*\)|\d+))", claim.counterexample)]


def _of_index(functions: dict[str, Any], count: int = 0) -> tuple[Sketch, ...]:
    return tuple(
        Sketch(title, [[str(function(i)) for i in range(count or size(function))]], ("", "index"))
        for title, function in functions.items()
    )


def draw_line(claim: Claim) -> tuple[Sketch, ...]:
    """Draw a line of a drawing in the row of its number, and all rows as the ISA has them."""
    isa, drawn = in_isa(claim.given["instruction"]).operands[claim.given["operand"]], claim.given["rows"][0].split()
    at = {isa.locate(t, v): f"T{t}V{v}" for t in range(isa.lanes) for v in range(isa.values)}
    true = [[at[row, column] for column in range(len(drawn))] for row in range(isa.extent[0])]
    said = [drawn if row == claim.given["top"] else [None] * len(drawn) for row in range(len(true))]
    return Sketch(DOCUMENT, said), Sketch(RIGHT, true)


def draw_count(claim: Claim) -> tuple[Sketch, ...]:
    """Draw as many of what is counted as the document says, and as many as there are."""
    axes, things = _things(**arguments(claim.right))
    said = claim.given["is"]
    if isinstance(said, list):
        return Sketch(DOCUMENT, [[*map(str, said)]], axes), Sketch(RIGHT, [[*map(str, claim.right["is"])]], axes)
    if claim.given["quantity"].startswith("f32 bytes"):
        said //= 4
    whole = claim.given.get("tile") or [32, 32]
    if said == whole[0] * whole[1]:
        return _owned_by_one(claim, whole)
    more = [f"T{i}" if axes[1] == "thread" else "more" for i in range(len(things), said)]
    wide = WIDE * -(-max(said, len(things)) // (WIDE * ROWS))
    shown = [*things, *more][:said]
    return Sketch(DOCUMENT, fold(shown, wide), axes), Sketch(RIGHT, fold(things, wide), axes)


def _things(*, atom: str, atoms: str, quantity: str, is_: Any, tile: Any = (), permutation: Any = ()) -> Any:
    """List what is counted, each by its name, and what the axes of such a table are."""
    mma = tiled(atom, atoms, tuple(permutation))
    tile = list(tile or mma.shape_mnk)
    name, _, operand = quantity.partition(" of ")
    if name in ("modes", "values"):
        return ("", "mode" if name == "modes" else "V"), []
    if name == "threads":
        return ("", "thread"), [f"T{t}" for t in range(mma.size)]
    if name == "calls":
        (_, m, k), (_, n, _) = ([size(mode) for mode in partition(mma, x, 0, tile).layout] for x in "AB")
        return ("", "m,n,k"), [f"{i},{j},{s}" for i in range(m) for j in range(n) for s in range(k)]
    held = fragment(mma, {"depths": "A"}.get(name, operand or "C"), 0, tile)
    if name in ("rows", "columns", "depths"):
        return ("", {"rows": "m", "columns": "n", "depths": "k"}[name]), sorted({e[name != "rows"] for e in held})
    return ("", "m,n"), [f"{m},{n}" for m, n in held]


def _owned_by_one(claim: Claim, whole: Sequence[int]) -> tuple[Sketch, ...]:
    """Draw the corner of a tile that the document gives to one thread, and its owners."""
    given = claim.given
    mma = tiled(given["atom"], given["atoms"], tuple(given.get("permutation", ())))
    at = {element: t for t in range(mma.size) for element in fragment(mma, "C", t, list(whole))}
    corner = [[f"T{at[m, n]}" for n in range(16)] for m in range(8)]
    return Sketch(DOCUMENT, [["T0"] * 16] * 8, ("m", "n")), Sketch(RIGHT, corner, ("m", "n"))


def draw_cut(claim: Claim) -> tuple[Sketch, ...]:
    """Draw the rows or columns that a tiling cuts; of one that the document takes for rejected only what is right."""
    said, right = (Sketch(title, _cut(**inputs)) for title, inputs in ((DOCUMENT, claim.given), (RIGHT, claim.right)))
    return (said, right) if claim.given["yes"] else (right,)


def _cut(*, atom: str, atoms: str, permutation: list[Any], tile: list[int], yes: bool) -> list[list[str]]:
    """List rows or columns in lines of as many as the atoms cover, or in the order of a permutation."""
    axis = min(len(permutation), 2) // 2  # M of one mode, else N
    if permutation and isinstance(permutation[axis], str):
        order = Layout.parse(permutation[axis])
        return fold([order(i) for i in range(size(order))], WIDE)
    return fold(range(permutation[axis] if permutation else tile[axis]), tiled(atom, atoms).shape_mnk[axis])


def draw_lines(claim: Claim) -> tuple[Sketch, ...]:
    """Draw as many lines of memory as the document says, and those that are touched, each with its threads."""
    threads = _by_line(**arguments(claim.right))
    said, most = claim.given["touched"], max(claim.given["touched"], len(threads))
    words = ["yes", "no"]
    counted = [words[at >= said] for at in range(most)]
    return _compare(("line", "touched, by"), counted, [words[at >= len(threads)] for at in range(most)], threads)


def _by_line(layout: str, threads: int, value: int, bytes_each: int, line: int, touched: int) -> dict[str, list[str]]:
    """Name the lines of memory, each with the threads that touch it."""
    offset = Layout.parse(layout)
    return _by_place([offset(t, value) * bytes_each // line for t in range(threads)])


def draw_banks(claim: Claim) -> tuple[Sketch, ...]:
    """Draw the banks of f32 with as many threads each as the document says, and with those that access them."""
    layout, threads = Layout.parse(claim.right["layout"]), claim.right["threads"]
    at = _by_place([layout(t, 0) % BANKS for t in range(threads)])
    ways, most = claim.given["ways"], max(threads // claim.given["ways"], len(at))
    real = [str(len(held)) for held in at.values()] + ["0"] * (most - len(at))
    counted = [str(ways)] * (threads // ways)
    return _compare(("bank", "threads"), counted, real, at)


def _compare(
    axes: tuple[str, str], said: list[str], right: list[str], threads: dict[str, list[str]]
) -> tuple[Sketch, ...]:
    """Return what is said of each place, of no thread, and what is right, with the threads."""
    names = [*threads, *["other"] * (len(right) - len(threads))]
    wide = max(map(len, threads.values()))
    held = [*threads.values(), *[[]] * (len(right) - len(threads))]
    return (
        Sketch(DOCUMENT, [[word, *[None] * wide] for word in said], axes, names),
        Sketch(RIGHT, [[word, *who] for word, who in zip(right, held, strict=True)], axes, names),
    )


def _by_place(places: Sequence[int]) -> dict[str, list[str]]:
    return {str(place): [f"T{t}" for t, at in enumerate(places) if at == place] for place in sorted(set(places))}


def list_places(atom: str, atoms: str, formulas: list[str]) -> list[list[str]]:
    """List where the first threads are in the grid, by formulas."""
    return fold([",".join(str(compute(formula, t=t)) for formula in formulas) for t in range(64)], 16)


def draw_runs(claim: Claim) -> tuple[Sketch, ...]:
    """Draw a block's places in memory as one run, and as they are."""
    offsets = list_offsets(claim.given["layout"])
    first, wide = int(offsets[0][0]), len(offsets[0])
    return Sketch(DOCUMENT, fold(range(first, first + wide * len(offsets)), wide)), Sketch(RIGHT, offsets)


def draw_blocks(claim: Claim) -> tuple[Sketch, ...]:
    """Draw a matrix in blocks of 16 x 16: the document has an owner of each."""
    given = claim.given
    owned = {
        (compute(m, t=t) // 16, compute(n, t=t) // 16)
        for t in range(given["threads"]) for m in given["rows"] for n in given["columns"]
    }  # fmt: skip
    true = [["owned" if (m, n) in owned else "no owner" for n in range(16)] for m in range(16)]
    return (
        Sketch(DOCUMENT, [["owned"] * 16] * 16, ("m / 16", "n / 16")),
        Sketch(RIGHT, true, ("m / 16", "n / 16")),
    )


def list_along_axis(instruction: str, operand: str, axis: str, formula: str) -> list[list[str]]:
    """List the row or column of each lane and value, by a formula."""
    values = in_isa(instruction).operands[operand].values
    return [[str(compute(formula, lane=t, i=i)) for i in range(values)] for t in range(LANES)]


def list_pairs(instruction: str, operand: str, first: int, second: int, by: list[int]) -> list[list[str]]:
    """List the elements of two values of each lane, the second by its distance from the first."""
    isa = in_isa(instruction).operands[operand]
    at = [isa.locate(t, first) for t in range(LANES)]
    return [[f"{row},{column}", f"{row + by[0]},{column + by[1]}"] for row, column in at]


def list_digits(shape: str, modes: list[str]) -> list[list[str]]:
    """List the coordinate of each thread, by formulas."""
    return fold([",".join(str(compute(mode, x=x)) for mode in modes) for x in range(32)], 8)


def list_offsets_by_formula(layout: str, formula: str) -> list[list[str]]:
    """List the offset of each thread (row) and value, by a formula of the index."""
    threads, values = (size(mode) for mode in Layout.parse(layout))
    return [[str(compute(formula, x=t + threads * v)) for v in range(values)] for t in range(LANES)]


def list_elements(instruction: str, operand: str, row: str, col: str) -> list[list[str]]:
    """List the element of each lane and value, by formulas."""
    values = in_isa(instruction).operands[operand].values
    at = [[(compute(row, lane=t, i=i), compute(col, lane=t, i=i)) for i in range(values)] for t in range(LANES)]
    return [[f"{m},{n}" for m, n in line] for line in at]


def list_stored(instruction: str, registers: list[list[str]]) -> list[list[str]]:
    """List where each lane stores each register."""
    return [[",".join(str(compute(formula, lane=t)) for formula in at) for at in registers] for t in range(LANES)]


def draw_instructions(claim: Claim) -> tuple[Sketch, ...]:
    """Draw an operand of both instructions."""
    drawn = []
    for mnemonic in (claim.given["first"], claim.given["second"]):
        isa = in_isa(mnemonic).operands[claim.given["operand"]]
        at = [[isa.locate(t, i) for i in range(isa.values)] for t in range(LANES)]
        rows = [[f"{m},{n}" for m, n in line] for line in at]
        drawn.append(Sketch(f"{claim.given['operand']} of {mnemonic.split('.')[3]}", rows, ("T", "V")))
    return tuple(drawn)


def list_starts(instruction: str, operand: str, mode: str, even: bool, step: int = 0) -> dict[str, list[str]]:
    """Name the threads in eights, with the row-major number of each one's first element."""
    isa = in_isa(instruction).operands[operand]
    at = [isa.locate(t, 0) for t in range(isa.lanes)]
    rows = fold([row * isa.extent[1] + column for row, column in at], WIDE)
    return {f"T{WIDE * i}": row for i, row in enumerate(rows)}


def list_fragment(name: str, part: str, is_: str) -> list[list[str]]:
    """List the elements of the first threads by a layout."""
    return list_offsets(is_)[:LANES]


DRAWN: dict[str, Draw] = {
    "number": both(("", "mode"), list_strides),
    "multiply": draw_factors,
    "associative": draw_compositions,
    "distributes": draw_by_modes,
    "scaled_strides": draw_division,
    "drawing": draw_line,
    "count": draw_count,
    "accepted": draw_cut,
    "lines": draw_lines,
    "bank_conflicts": draw_banks,
    "coordinates": both(("", "thread"), list_places),
    "runs": draw_runs,
    "covered": draw_blocks,
    "along": both(("T", "V"), list_along_axis),
    "distances": both(("T", "V"), list_pairs),
    "digits": both(("", "thread"), list_digits),
    "of_index": both(("T", "V"), list_offsets_by_formula),
    "formula": both(("T", "V"), list_elements),
    "store": both(("T", "register"), list_stored),
    "same_map": draw_instructions,
    "even_steps": only(("", "thread"), list_starts),
    "atom": both(("T", "V"), list_fragment),
}
