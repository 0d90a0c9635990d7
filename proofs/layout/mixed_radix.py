# SPDX-License-Identifier: Apache-2.0
"""Mixed-radix numbers over unbounded integers: their digits, split further where needed, and why digits are unique.

A sum of digit * weight determines its digits when each weight divides the next one and each digit is below the ratio of
the two. It is then a mixed-radix number:

    n = d_0 + r_0 * (d_1 + r_1 * (d_2 + ...))        0 <= d_i < r_i

A solver that has to compare two such sums would search over all digits. Instead, one lemma for each ratio r is proved
by itself, "d + r * q determines d and q when 0 <= d < r", and its instances compare the two numbers digit by digit.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from proofs.layout.family import UNBOUNDED, Parametric
from proofs.layout.obligations import Obligations
from proofs.smt.script import Modes
from proofs.smt.sexpr import render
from proofs.smt.term import BoolTerm, Term

LOGIC = "(set-logic QF_UFLIA)"  # no functions, but small problems, and for QF_LIA z3 simplifies at length
HEAD = f"{LOGIC}\n" + "".join(f"(declare-const {name} Int)\n" for name in ("d", "q", "d2", "q2"))


class MixedRadix(NamedTuple):
    """A number as digits, each a term with its weight: n = sum of digit * weight."""

    digits: tuple[tuple[Term, int], ...] = ()

    def plus(self, *summands: tuple[MixedRadix, int]) -> MixedRadix:
        """Return the sum of this number and of others, each times a factor."""
        more = ((digit, weight * factor) for number, factor in summands for digit, weight in number.digits)
        return MixedRadix((*self.digits, *more))


class MixedRadixScript(Parametric):
    """An SMT-LIB script about mixed-radix numbers; it remembers which digits were split."""

    def __init__(self) -> None:
        super().__init__()
        self.ratios: set[int] = set()
        self._parts: dict[str, tuple[Term, Term, int]] = {}

    def spell_assumptions(self) -> str:
        """Return the text of all declarations and assertions so far."""
        return "\n".join([LOGIC, *self._lines, ""])

    def lemmas(self) -> Obligations:
        """Return the lemma, for every ratio r that was used: d + r * q determines d and q when 0 <= d < r."""
        return Obligations(HEAD, {f"digits below {r} are unique": _lemma(r) for r in sorted(self.ratios)}, "true")

    def integer(self, name: str) -> Term:
        """Return a symbolic integer without bounds."""
        self._lines.append(f"(declare-const {name} Int)")
        return Term(name, -UNBOUNDED, UNBOUNDED, None)

    def sum(self, number: MixedRadix) -> Term:
        """Return the number as a term: the sum of digit * weight, in the digits after all splits so far."""
        return self.total(digit * weight for digit, weight in self.split_digits(number).digits)

    def split_digits(self, number: MixedRadix) -> MixedRadix:
        """Return the number with each digit replaced by the digits that it was split into."""
        digits: list[tuple[Term, int]] = []
        for digit, weight in number.digits:
            parts = self._parts.get(str(digit.expr))
            if parts is None:
                digits.append((digit, weight))
            else:
                low, high, radix = parts
                digits += self.split_digits(MixedRadix(((low, weight), (high, weight * radix)))).digits
        return MixedRadix(tuple(digits))

    def divide(self, number: MixedRadix, radix: int, stem: str) -> tuple[MixedRadix, MixedRadix]:
        """Return (number mod radix, number div radix).

        A digit that extends across the radix is split in two there. If the sum of the digits below the radix is then
        less than it, the digits are distributed to the two results; else the results are two new variables with
        number = first + second * radix, the second one unbounded.
        """
        for digit, weight in self.split_digits(number).digits:
            self._cut_at(digit, weight, radix)
        digits = self.split_digits(number).digits
        low = MixedRadix(tuple((digit, weight) for digit, weight in digits if weight % radix))
        high = MixedRadix(tuple((digit, weight // radix) for digit, weight in digits if weight % radix == 0))
        within = self.sum(low)
        if within.lo >= 0 and within.hi < radix:
            return low, high
        first, second = self.variable(f"{stem}m", radix), self.integer(f"{stem}d")
        self.require(self.sum(number) == first + second * radix)
        return MixedRadix(((first, 1),)), MixedRadix(((second, 1),))

    def image_of(self, flat: Modes, number: MixedRadix, stem: str) -> MixedRadix:
        """Return the value of the layout at a number, its last digit unbounded."""
        values: list[tuple[Term, int]] = []
        for j, (extent, stride) in enumerate(flat):
            digit = number
            if j < len(flat) - 1:
                digit, number = self.divide(number, extent, f"{stem}_{j}")
            values += [(part, weight * stride) for part, weight in digit.digits]
        return MixedRadix(tuple(values))

    def alike(self, first: MixedRadix, second: MixedRadix) -> bool:
        """Assert the instances of the lemma for two numbers of the same weights.

        Returns False, and asserts nothing, when these are not the weights of a mixed-radix number.
        """
        pairs = zip(self.split_digits(first).digits, self.split_digits(second).digits, strict=True)
        digits = sorted(((w, a, b) for (a, w), (b, _) in pairs if w), key=lambda digit: digit[0])
        ratios = []
        for (weight, digit, _), (after, _, _) in pairwise(digits):
            if weight < 0 or after % weight or digit.lo < 0 or digit.hi >= after // weight:
                return False
            ratios.append(after // weight)
        self.ratios |= set(ratios)
        _, q, q2 = digits.pop() if digits else (0, self.term(0), self.term(0))
        for (_, a, b), ratio in zip(reversed(digits), reversed(ratios), strict=True):
            same = a + q * ratio == b + q2 * ratio
            self.require((same ^ True) | ((a == b) & (q == q2)))
            q, q2 = a + q * ratio, b + q2 * ratio
        return True

    def differ(self, first: MixedRadix, second: MixedRadix) -> BoolTerm | bool:
        """Return the condition that two numbers with the same weights differ in a digit."""
        condition: BoolTerm | bool = False
        for (a, _), (b, _) in zip(self.split_digits(first).digits, self.split_digits(second).digits, strict=True):
            condition = (a != b) | condition
        return condition

    def _cut_at(self, digit: Term, weight: int, radix: int) -> None:
        extent = digit.hi + 1
        if weight <= 0 or radix % weight or extent >= UNBOUNDED or digit.lo < 0:
            return
        below = radix // weight
        if 1 < below < extent and extent % below == 0:
            low, high = (self.variable(f"{digit.expr}.{n}", s) for n, s in enumerate((below, extent // below)))
            self.require(digit == low + high * below)
            self._parts[str(digit.expr)] = low, high, below


def _lemma(ratio: int) -> str:
    d, q, d2, q2 = (Term(name, -UNBOUNDED, UNBOUNDED, None) for name in ("d", "q", "d2", "q2"))
    digits = (d >= 0) & (d < ratio) & (d2 >= 0) & (d2 < ratio)
    unique = ((digits & (d + q * ratio == d2 + q2 * ratio)) ^ True) | ((d == d2) & (q == q2))
    return render(unique.expr)
