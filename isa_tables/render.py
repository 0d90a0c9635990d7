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
    used = " ".join(formula.text for formula in (*let.values(), row, col))
    named = ", ".join(
        f"{name} = {formula.text}" for name, formula in let.items() if re.search(rf"\b{name}\b", used)
    )
    lines = [*_lines("row", row), *_lines("col", col)]
    lines.append(f"i = 0..{values - 1}" + (f", {named}" if named else ""))
    return "\n".join(lines)


def _lines(name: str, formula: Formula) -> list[str]:
    if len(formula.pieces) == 1:
        return [f"{name} = {formula.text}"]
    width = max(len(value) for value, _ in formula.pieces)
    starts = [f"{name} = ", *[" " * (len(name) + 3)] * len(formula.pieces)]
    return [
        f"{start}{value:{width}}   {f'if {condition}' if condition else 'otherwise'}"
        for start, (value, condition) in zip(starts, formula.pieces, strict=False)
    ]


def latex(let: Mapping[str, Formula], row: Formula, col: Formula) -> str:
    """The formulas as a LaTeX `aligned` block."""
    used = " ".join(formula.text for formula in (*let.values(), row, col))
    named = {name: formula for name, formula in let.items() if re.search(rf"\b{name}\b", used)}
    lines = [f"{_tokens(name)} &= {_cases(f)}" for name, f in {**named, "row": row, "col": col}.items()]
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
