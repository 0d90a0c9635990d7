# SPDX-License-Identifier: Apache-2.0
"""Formulas for the eye: lines of text as the ISA sets them, and LaTeX. Both keep the source spelling."""

from __future__ import annotations

import re
from collections.abc import Mapping

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


def text(let: Mapping[str, Formula], row: Formula, col: Formula, values: int) -> str:
    """The formulas as the ISA sets them: one line per piece, its condition to the right."""
    ranges = [f"i = 0..{values - 1}", *(f"{name} = {f.text}" for name, f in _used(let, row, col).items())]
    return "\n".join([*_lines("row", row), *_lines("col", col), ", ".join(ranges)])


def _used(let: Mapping[str, Formula], row: Formula, col: Formula) -> dict[str, Formula]:
    texts = " ".join(formula.text for formula in (*let.values(), row, col))
    return {name: formula for name, formula in let.items() if re.search(rf"\b{name}\b", texts)}


def _lines(name: str, formula: Formula) -> list[str]:
    if len(formula.pieces) == 1:
        return [f"{name} = {formula.text}"]
    width = max(len(value) for value, _ in formula.pieces)
    lines = [
        f"{value:{width}}   {f'if {condition}' if condition else 'otherwise'}" for value, condition in formula.pieces
    ]
    indent = " " * len(f"{name} = ")
    return [f"{name} = {lines[0]}", *(indent + line for line in lines[1:])]


def latex(let: Mapping[str, Formula], row: Formula, col: Formula) -> str:
    """The formulas as a LaTeX `aligned` block."""
    named = {**_used(let, row, col), "row": row, "col": col}
    lines = [f"{_tokens(name)} &= {_cases(formula)}" for name, formula in named.items()]
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
