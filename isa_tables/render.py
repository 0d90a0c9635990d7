# SPDX-License-Identifier: Apache-2.0
"""Formulas for a reader: lines of text as the ISA prints them, and LaTeX, with the names and literals of the source."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Protocol

from isa_tables.formula import Formula

_TOKEN = re.compile(r"%laneid|[A-Za-z_]\w*|\d\w*|//|<<|>>|[<>=!]=|\S")
_LATEX: Mapping[str, str] = {
    "*": r"\cdot",
    "//": r"\mathbin{/\!/}",
    "%": r"\bmod",
    "&": r"\mathbin{\&}",
    "|": r"\mathbin{|}",
    "^": r"\oplus",
    "<<": r"\ll",
    ">>": r"\gg",
    "<=": r"\le",
    ">=": r"\ge",
    "==": "=",
    "!=": r"\ne",
    "and": r"\land",
    "or": r"\lor",
    "not": r"\lnot",
    "if": r"\text{ if }",
    "else": r"\text{ else }",
    "i": "i",
    "%laneid": r"\mathtt{\%laneid}",
}


class Operand(Protocol):
    """The fields of an operand that are shown; `instructions.Operand` has their meaning."""

    @property
    def unspecified(self) -> bool:
        """Whether the ISA leaves the map of its elements open."""
        ...

    @property
    def unmapped(self) -> str:
        """Why its elements have no formula; empty where they have one."""
        ...

    @property
    def space(self) -> str:
        """reg, smem or tmem."""
        ...

    @property
    def layouts(self) -> object:
        """The address maps of an operand in shared memory."""
        ...

    @property
    def majors(self) -> tuple[str, ...]:
        """The majors that it may have there."""
        ...

    @property
    def placed(self) -> bool:
        """Whether its maps give places in memory, not in lanes."""
        ...

    @property
    def values(self) -> int:
        """How many elements a lane holds."""
        ...

    @property
    def let(self) -> Mapping[str, Formula]:
        """Named parts of the formulas."""
        ...

    @property
    def maps(self) -> Mapping[str, Formula]:
        """The formula of each coordinate."""
        ...


def text(operand: Operand) -> str:
    """The formulas as the ISA prints them: one line per piece, its condition to the right.

    >>> from isa_tables import instruction
    >>> print(text(instruction("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32").operands["A"]))
    row = groupID       if i == 0
          groupID + 8   otherwise
    col = threadID_in_group
    i = 0..1, groupID = %laneid >> 2, threadID_in_group = %laneid % 4
    """
    if operand.unspecified:
        return f"unspecified by the ISA\ni = 0..{operand.values - 1}"
    if operand.unmapped:
        return f"in {operand.space}: {operand.unmapped}"
    if operand.layouts is not None:
        share = f", in CTA {operand.maps['cta'].text}" if "cta" in operand.maps else ""
        majors = "- or ".join(operand.majors)
        return f"in {operand.space}, {majors}-major, by the address maps of {operand.layouts}{share}"
    ranges = [f"{name} = {formula.text}" for name, formula in _used(operand).items()]
    if not operand.placed:
        ranges = [f"i = 0..{operand.values - 1}", *ranges]
    lines = [line for key, formula in operand.maps.items() for line in _lines(key, formula)]
    return "\n".join([*lines, ", ".join(ranges)]).rstrip("\n")


def _used(operand: Operand) -> dict[str, Formula]:
    texts = " ".join(formula.text for formula in (*operand.let.values(), *operand.maps.values()))
    return {name: formula for name, formula in operand.let.items() if re.search(rf"\b{name}\b", texts)}


def _lines(name: str, formula: Formula) -> list[str]:
    if len(formula.pieces) == 1:
        return [f"{name} = {formula.text}"]
    width = max(len(value) for value, _ in formula.pieces)
    lines = [
        f"{value:{width}}   {f'if {condition}' if condition else 'otherwise'}" for value, condition in formula.pieces
    ]
    indent = " " * len(f"{name} = ")
    return [f"{name} = {lines[0]}", *(indent + line for line in lines[1:])]


def latex(operand: Operand) -> str:
    """The formulas as a LaTeX `aligned` block; a text in words where the operand has no formulas."""
    if not operand.maps or operand.layouts is not None:
        return r"\text{" + text(operand).splitlines()[0] + "}"
    lines = [f"{_tokens(name)} &= {_cases(formula)}" for name, formula in {**_used(operand), **operand.maps}.items()]
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"


def _cases(formula: Formula) -> str:
    if len(formula.pieces) == 1:
        return _tokens(formula.text)
    rows = [
        f"{_tokens(value)} & " + (rf"\text{{if }} {_tokens(condition)}" if condition else r"\text{otherwise}")
        for value, condition in formula.pieces
    ]
    return "\\begin{cases} " + r" \\ ".join(rows) + " \\end{cases}"


def _tokens(source: str) -> str:
    return " ".join(map(_symbol, _TOKEN.findall(source)))


def _symbol(token: str) -> str:
    if token in _LATEX:
        return _LATEX[token]
    if token[0].isalpha() or token[0] == "_":
        return r"\mathit{" + token.replace("_", r"\_") + "}"
    if token.startswith("0") and len(token) > 1:
        return r"\mathtt{" + token + "}"
    return token
