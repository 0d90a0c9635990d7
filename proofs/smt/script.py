# SPDX-License-Identifier: Apache-2.0
"""A builder of one SMT-LIB problem: variables, definitions, the negated claim, and its text."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import TypeAlias

from proofs.smt.sexpr import render
from proofs.smt.term import BoolTerm, Number, Term, constant

Modes: TypeAlias = tuple[tuple[int, int], ...]
"""Flat modes (extent, stride); the first one varies fastest."""
WIDTHS = (12, 16, 24, 32, 64, 128, 256, 512)  # bits: 12 take z3 half the time of 16


class Script:
    """A problem over ``width``-bit vectors, or over unbounded integers for width None.

    >>> s = Script(16)
    >>> t = s.variable("t", 8)
    >>> print(s.refuting(s.image(((2, 4), (4, 1)), t) < 8), end="")
    (set-logic QF_BV)
    (declare-const t (_ BitVec 16))
    (assert (bvult t #x0008))
    (assert (not (bvslt (bvadd (bvmul (bvand t #x0001) #x0004) (bvlshr t #x0001)) #x0008)))
    """

    def __init__(self, width: int | None) -> None:
        self.width = width
        self._lines: list[str] = []
        self._digits: dict[tuple[str, tuple[int, ...]], list[Term]] = {}
        self._sizes: dict[str, int] = {}

    def variable(self, name: str, size: int) -> Term:
        """Return a symbolic integer in [0, size)."""
        term = Term(name, 0, size - 1, self.width)
        self._lines.append(f"(declare-const {name} {self._sort()})")
        below = ("<" if self.width is None else "bvult", name, self.term(size).expr)
        self._lines.append(f"(assert {render(below)})")
        if self.width is None:
            self._lines.append(f"(assert (<= 0 {name}))")
        self._sizes[name] = size
        return term

    def define(self, name: str, value: Number) -> Term:
        """``value`` under a name of its own, which makes the text readable."""
        term = self.term(value)
        self._lines.append(f"(define-fun {name} () {self._sort()} {render(term.expr)})")
        return Term(name, term.lo, term.hi, term.width)

    def term(self, value: Number) -> Term:
        """``value`` as a term of this problem's width."""
        return value if isinstance(value, Term) else constant(value.__index__(), self.width)

    def image(self, flat: Modes, index: Term) -> Term:
        """Return the value of the layout at ``index``: the sum of digit * stride; the leftmost digit varies fastest."""
        parts = zip(self.digits(flat, index), flat, strict=True)
        return self.total(digit if stride == 1 else digit * stride for digit, (_, stride) in parts)

    def total(self, terms: Iterable[Term]) -> Term:
        """Return the sum of any number of terms."""
        first, *rest = [*terms] or [self.term(0)]
        for term in rest:
            first = first + term
        return first

    def digits(self, flat: Modes, index: Term) -> list[Term]:
        """Return the mixed-radix digits of ``index``: (index // before) % extent, the last one without the remainder.

        Over the integers the digits of a variable are variables too, with one linear equation between them: solvers
        decide that far sooner than division and remainder.
        """
        sizes = tuple(s for s, _ in flat)
        if self.width is None and len(sizes) > 1 and isinstance(index.expr, str):
            if self._sizes.get(index.expr) == prod(sizes):
                return self._fresh_digits(index.expr, sizes)
        out = []
        prefix = 1
        for i, s in enumerate(sizes):
            rest = index if prefix == 1 else index // prefix
            out.append(rest if i == len(sizes) - 1 else rest % s)
            prefix *= s
        return out

    def _fresh_digits(self, name: str, sizes: tuple[int, ...]) -> list[Term]:
        known = self._digits.get((name, sizes))
        if known is not None:
            return known
        stem = f"{name}.{len(self._digits)}"
        digits = [self.variable(f"{stem}.{i}", s) for i, s in enumerate(sizes)]
        total = self.total(digit * prod(sizes[:i]) for i, digit in enumerate(digits))
        self._lines.append(f"(assert (= {name} {render(total.expr)}))")
        self._digits[name, sizes] = digits
        return digits

    def refuting(self, claim: BoolTerm) -> str:
        """Return the text of the problem, without (check-sat): satisfiable exactly when ``claim`` fails somewhere."""
        logic = "QF_LIA" if self.width is None else "QF_BV"
        return "\n".join([f"(set-logic {logic})", *self._lines, f"(assert (not {render(claim.expr)}))", ""])

    def _sort(self) -> str:
        return "Int" if self.width is None else f"(_ BitVec {self.width})"


def encodings(layouts: Iterable[Modes]) -> tuple[int | None, ...]:
    """Return the widths to try in order: only bit-vectors when their digits are fields of bits, else integers (None)
    first.

    They are where every extent but a layout's last is a power of two: nothing is divided by the last.
    """
    fields = all(power_of_two(s) for modes in layouts for s, _ in modes[:-1])
    return WIDTHS if fields else (None, *WIDTHS)


def power_of_two(extent: int) -> bool:
    """Whether an extent, which is at least 1, is a power of two."""
    return extent & (extent - 1) == 0


def conjunction(conditions: Iterable[BoolTerm]) -> BoolTerm:
    """Return the conjunction of one or more conditions."""
    first, *rest = conditions
    for condition in rest:
        first = first & condition
    return first
