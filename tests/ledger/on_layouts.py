# SPDX-License-Identifier: Apache-2.0
"""Statements about layouts and the operations of their algebra, evaluated. A check returns "" or a counterexample."""

from __future__ import annotations

from itertools import product as points
from typing import Any

import numpy as np

import layouts
from layouts import ComposedLayout, Layout, Swizzle, idx2crd, make_layout, size
from layouts.int_tuple import leaves, wrap
from layouts.text import format_int_tuple, parse_int_tuple
from tests.ledger.expression import compute

AnyLayout = Layout | ComposedLayout


def read(text: str, swizzle: list[int] | None = None) -> AnyLayout:
    """A layout of the ledger, after a swizzle where there is one."""
    layout = Layout.parse(text)
    return layout if swizzle is None else ComposedLayout(Swizzle(*swizzle), 0, layout)


def coordinate(given: Any) -> Any:
    """A coordinate of the ledger: lists are tuples, "_" is None."""
    if isinstance(given, list):
        return tuple(map(coordinate, given))
    return None if given == "_" else given


def shown(coord: Any) -> str:
    """A coordinate as CuTe writes it, without the brackets of a single index."""
    return "_" if coord is None else str(coord) if not isinstance(coord, tuple) else f"({','.join(map(shown, coord))})"


def values(layout: str, at: list[Any], are: list[Any]) -> str:
    """L(coordinate) is the number, or with "_" in the coordinate the list of numbers, that is claimed."""
    parsed = read(layout)
    for given, claimed in zip(at, are, strict=True):
        coord = coordinate(given)
        true = parsed(coord)
        if isinstance(true, Layout):
            part, offset = layouts.slice_and_offset(coord, parsed)
            true = [offset + part(i) for i in range(size(part))]
        if true != claimed:
            return f"at {shown(coord)}: {true}, not {claimed}"
    return ""


def table(layout: str, rows: list[list[int]], swizzle: list[int] | None = None) -> str:
    """The two-dimensional picture: entry (i, j) is L(i, j), for every coordinate."""
    parsed, claimed = read(layout, swizzle), np.array(rows)
    extents = tuple(size(mode) for mode in parsed)
    if claimed.shape != extents:
        return f"{claimed.shape[0]}x{claimed.shape[1]} entries for {extents[0]}x{extents[1]}"
    true = np.array([[parsed(i, j) for j in range(extents[1])] for i in range(extents[0])])
    wrong = np.argwhere(true != claimed)
    if not wrong.size:
        return ""
    i, j = map(int, wrong[0])
    return f"({i},{j}): {true[i, j]}, not {claimed[i, j]}; {len(wrong)} of {true.size} differ"


def stored(layout: str, elements: str, memory: str) -> str:
    """The letters, in the order of the index, are in memory as drawn; "." is a place without one."""
    parsed = read(layout)
    place = {parsed(i): letter for i, letter in enumerate(elements)}
    true = "".join(place.get(i, ".") for i in range(layouts.cosize(parsed)))
    return "" if true == memory else f"memory holds {true}, not {memory}"


def equal(a: str, b: str) -> str:
    """Two layouts are one function of the index."""
    return differ(read(a), read(b))


def differ(true: Any, claimed: Any) -> str:
    """The first difference of two functions of the index, the true value first, and how many there are."""
    if size(true) != size(claimed):
        return f"{true} has {size(true)} coordinates, {claimed} has {size(claimed)}"
    wrong = [i for i in range(size(true)) if true(i) != claimed(i)]
    if not wrong:
        return ""
    i = wrong[0]
    return f"{true}: at {i} it is {true(i)}, not {claimed(i)}; {len(wrong)} of {size(true)} differ"


def operation(name: str, arguments: list[Any], result: str, profile: bool = True) -> str:
    """An operation of the algebra gives this layout: the same function, and modes of the same sizes."""
    true, claimed = getattr(layouts, name)(*map(_argument, arguments)), Layout.parse(result)
    sizes = [[size(mode) for mode in x] for x in (true, claimed)]
    if profile and sizes[0] != sizes[1]:
        return f"{true} has modes of {sizes[0]}, {claimed} of {sizes[1]}"
    return differ(true, claimed)


def _argument(given: Any) -> Any:
    if isinstance(given, str):
        return None if given == "_" else Layout.parse(given) if ":" in given else parse_int_tuple(given)
    return tuple(map(_argument, given)) if isinstance(given, list) else given


def number(layout: str, quantity: str, is_: int) -> str:
    """A number of a layout: rank, size, cosize, distinct values, flat modes, or the extent or stride of a mode."""
    parsed = Layout.parse(layout)
    name, _, mode = quantity.partition(" ")
    true = {
        "rank": lambda: layouts.rank(parsed.shape),
        "size": lambda: size(parsed),
        "cosize": lambda: layouts.cosize(parsed),
        "distinct": lambda: len({parsed(i) for i in range(size(parsed))}),
        "strides": lambda: len(leaves(parsed.stride)),
        "extent": lambda: size(parsed[int(mode)]),
        "stride": lambda: wrap(parsed.stride)[int(mode)],
    }[name]()
    return "" if true == is_ else f"{quantity} of {layout} is {format_int_tuple(true)}, not {is_}"


def prints(shape: str, layout: str) -> str:
    """A shape alone makes this layout: compact, the leftmost mode fastest."""
    true = str(Layout(parse_int_tuple(shape)))
    return "" if true == layout.replace("_", "") else f"{true}, not {layout}"


def digits(shape: str, modes: list[str]) -> str:
    """An index splits into the coordinate whose entries these formulas of `x` give."""
    extents = parse_int_tuple(shape)
    for x in range(layouts.product(extents)):
        true = idx2crd(x, extents)
        claimed = tuple(compute(formula, x=x) for formula in modes)
        if true != claimed:
            return f"{x} is {shown(true)}, not {shown(claimed)}"
    return ""


def linear(layout: str, formula: str, names: str) -> str:
    """A formula of the flat digits gives the layout's value, names in the order of the flat modes."""
    parsed = Layout.parse(layout)
    for digit in points(*map(range, leaves(parsed.shape))):
        true = sum(c * d for c, d in zip(digit, leaves(parsed.stride), strict=True))
        claimed = compute(formula, **dict(zip(names.split(), digit, strict=True)))
        if true != claimed:
            return f"at {shown(digit)}: {true}, not {claimed}"
    return ""


def of_index(layout: str, formula: str) -> str:
    """A formula of the index x gives the layout's value."""
    parsed = Layout.parse(layout)
    wrong = [x for x in range(size(parsed)) if parsed(x) != compute(formula, x=x)]
    return f"at {wrong[0]}: {parsed(wrong[0])}, not {compute(formula, x=wrong[0])}" if wrong else ""


def compatible(shape: str, with_: list[str]) -> str:
    """Every coordinate of the shape is one of each layout, of the same index: from the definition, by enumeration."""
    coarse = parse_int_tuple(shape)
    for text in with_:
        fine = Layout.parse(text).shape
        if layouts.product(fine) != layouts.product(coarse) or not _covers(coarse, fine):
            return f"{format_int_tuple(coarse)} has coordinates that {format_int_tuple(fine)} lacks"
    return ""


def _covers(coarse: Any, fine: Any) -> bool:
    if not isinstance(coarse, tuple):
        return bool(layouts.product(fine) == coarse)
    return isinstance(fine, tuple) and len(fine) == len(coarse) and all(map(_covers, coarse, fine))


def no_stride(view: list[list[str]], memory: str, shape: str, known: str) -> str:
    """No integer in place of "?" makes this layout show the view: every stride up to the memory's length is tried."""
    for stride in range(-len(memory), len(memory) + 1):
        layout = Layout(parse_int_tuple(shape), parse_int_tuple(known.replace("?", str(stride))))
        at = [[layout(i, j) for j in range(len(row))] for i, row in enumerate(view)]
        if all(0 <= k < len(memory) and memory[k] == x for r, row in zip(at, view) for k, x in zip(r, row)):  # noqa: B905
            return f"the stride {stride} does"
    return ""


def rearranged(data: list[str], layout: str, rows: list[str]) -> str:
    """Letters of a tensor, columns first, seen through a (thread, value) layout: one row per thread."""
    letters = "".join(line[i] for i in range(len(data[0])) for line in data) + "." * 64
    threads, count = (size(mode) for mode in Layout.parse(layout))
    true = ["".join(letters[Layout.parse(layout)(t, v)] for v in range(count)) for t in range(threads)]
    wrong = [t for t, (x, y) in enumerate(zip(true, rows, strict=True)) if x != y]
    return f"thread {wrong[0]} holds {true[wrong[0]]}, not {rows[wrong[0]]}" if wrong else ""


def tiles(tiler: list[str], shape: list[int], rows: list[int], columns: list[int]) -> str:
    """By-mode tiling of a column-major tensor: the first tile's rows and columns; each element is in one tile."""
    tensor = Layout(tuple(shape))
    divided = layouts.zipped_divide(tensor, tuple(map(Layout.parse, tiler)))
    reached = sorted(divided(i) for i in range(size(divided)))
    if reached != list(range(size(tensor))):
        return f"{divided} does not have each of {size(tensor)} elements once"
    first = [divided(i, 0) for i in range(size(divided[0]))]
    for rest in range(size(divided[1])):
        tile = [divided(i, rest) for i in range(len(first))]
        moved = {(a % shape[0] - b % shape[0], a // shape[0] - b // shape[0]) for a, b in zip(tile, first, strict=True)}
        if len(moved) > 1:
            return f"tile {rest} is not the first one, moved"
    true = sorted({x % shape[0] for x in first}), sorted({x // shape[0] for x in first})
    if len(first) != len(true[0]) * len(true[1]) or true != (rows, columns):
        return f"the first tile has rows {true[0]} and columns {true[1]}"
    return ""


def inverse(layout: str, of: str) -> str:
    """The first layout undoes the second: L(of(x)) = x for every index."""
    left, right = Layout.parse(layout), Layout.parse(of)
    wrong = [x for x in range(size(right)) if left(right(x)) != x]
    return f"at {wrong[0]}: {left(right(wrong[0]))}" if wrong else ""


def product_of(parts: list[str], whole: str) -> str:
    """The layouts are the modes of this layout."""
    return differ(make_layout(*map(Layout.parse, parts)), Layout.parse(whole))


KINDS = {
    check.__name__: check
    for check in (
        values, table, stored, equal, operation, number, prints, digits, linear, of_index, compatible, no_stride,
        rearranged, tiles, inverse, product_of,
    )
}  # fmt: skip
