# SPDX-License-Identifier: Apache-2.0
"""The picture of a matrix product whose operands do not belong together: what each slot holds, and should hold."""

from __future__ import annotations

import re
from collections.abc import Iterator

from verify.core.verdict import ProductOperand, WrongProduct
from verify.pictures.picture import WHOLE, Cell, Panel, Picture, Window, grid

ELEMENT = re.compile(r"(\w+)\[(.*)\]")
AXES = {"A": ("m", "k"), "B": ("k", "n")}
PLACES = {"A": (0, 0), "B": (0, 1)}


def of_product(title: str, wrong: WrongProduct, status: str = "", window: Window = WHOLE) -> Picture:
    """Return a product's operands by their slots, side by side, each slot with the element it holds and wants.

    >>> rows = (("A[m=0,k=8]", "A[m=0,k=1]"),), (("A[m=0,k=0]", "A[m=0,k=1]"),)
    >>> A = ProductOperand("A", *rows, (((0, 0), (0, 1)),), 16)
    >>> panel = of_product("kernel", WrongProduct(7, "mma", (A,), True)).panels[0]
    >>> panel.heading, [(cell.text, cell.expected) for cell in panel.every()]
    ('A 1x2 (m,k) holds A[m,k]', [('0,8', '0,0'), ('0,1', '')])
    """
    first = next((operand.name for operand in wrong.operands if next(_differing(operand), None)), "")
    panels = tuple(
        _panel(operand, wrong, operand.name == first and wrong.decided, window) for operand in wrong.operands
    )
    wants = "what the instruction wants" if wrong.decided else "what the other operand implies: one of the two is wrong"
    return Picture(title, panels, status, (wrong.text,), "lane", marked="the slot that is named", expected=wants)


def _panel(operand: ProductOperand, wrong: WrongProduct, named: bool, window: Window) -> Panel:
    """Return an operand by its slots; elements of its array are written by their indices, as the heading says."""
    usual = _usual(operand)
    differing = dict.fromkeys(_differing(operand))
    marked = next(iter(differing), None) if named else None

    def at(row: int, column: int) -> Cell:
        holds, wants = operand.holds[row][column], operand.wants[row][column]
        about = [f"{operand.place(row, column)} holds {holds or 'a computed value'}"]
        about += [f"{'the instruction wants' if wrong.decided else 'the other operand implies'} {wants}"] * bool(wants)
        lane = operand.slots[row][column][0] if operand.slots else -1
        expected = _short(wants, usual) if (row, column) in differing else ""
        text = _short(holds, usual) if holds else "computed" if lane >= 0 or not operand.slots else ""
        return Cell(
            (text,),
            lane % 8 if lane >= 0 else -1,
            expected=expected,
            marked=(row, column) == marked,
            about=tuple(about),
        )

    rows, columns = len(operand.holds), len(operand.holds[0])
    axes = AXES[operand.name]
    heading = f"{operand.name} {rows}x{columns} ({','.join(axes)}) holds {usual}"
    return grid(operand.name, heading, axes, (rows, columns), at, window=window, place=PLACES[operand.name])


def _differing(operand: ProductOperand) -> Iterator[tuple[int, int]]:
    """Yield the slots that hold another element than they should."""
    for row, (holds, wants) in enumerate(zip(operand.holds, operand.wants, strict=True)):
        for column, (held, wanted) in enumerate(zip(holds, wants, strict=True)):
            if held and wanted and held != wanted:
                yield row, column


def _usual(operand: ProductOperand) -> str:
    """Return the array that the first element is of, with the names of its indices: A[m,k]."""
    match = next((ELEMENT.fullmatch(element) for row in operand.holds for element in row if element), None)
    if match is None:
        return "computed values"
    return f"{match[1]}[{','.join(index.partition('=')[0] for index in match[2].split(','))}]"


def _short(element: str, usual: str) -> str:
    """Return an element by its indices alone where it is of the usual array."""
    match = ELEMENT.fullmatch(element)
    if match is None:
        return element
    names, numbers = zip(*(index.split("=") for index in match[2].split(",")), strict=True)
    written = ",".join(numbers)
    return written if f"{match[1]}[{','.join(names)}]" == usual else f"{match[1]}[{written}]"
