# SPDX-License-Identifier: Apache-2.0
"""Numbers by their digits, over unbounded integers: cut finer where a radix asks for it, and why they are unique.

A sum of digit times weight determines its digits where each weight divides the next one and no digit reaches the ratio
of the two: a numeral

    n = d_0 + r_0 * (d_1 + r_1 * (d_2 + ...))        0 <= d_i < r_i

A solver that is left alone with two such sums searches the digits. One lemma for each ratio, proved by itself, and its
instances along the two numerals spare it that: every step is then a consequence of the one before.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from proofs.layout.family import UNBOUNDED, Parametric
from proofs.layout.tiling import Part
from proofs.smt.script import Modes
from proofs.smt.sexpr import render
from proofs.smt.term import Condition, Term

HEAD = "(set-logic QF_LIA)\n" + "".join(f"(declare-const {name} Int)\n" for name in ("d", "q", "d2", "q2"))


@dataclass(frozen=True, slots=True)
class Numeral:
    """A number by its digits: each a variable with its weight."""

    digits: tuple[tuple[Term, int], ...] = ()

    def plus(self, *others: tuple[Numeral, int]) -> Numeral:
        """The sum with others, each times a factor."""
        more = ((digit, weight * factor) for other, factor in others for digit, weight in other.digits)
        return Numeral((*self.digits, *more))


class Numerals(Parametric):
    """A problem about numbers given by digits."""

    def __init__(self) -> None:
        super().__init__()
        self.ratios: set[int] = set()
        self._parts: dict[str, tuple[Term, Term, int]] = {}

    def assumed(self) -> str:
        """The text up to here."""
        return "\n".join(["(set-logic QF_LIA)", *self._lines, ""])

    def lemmas(self) -> Part:
        """That d + r * q determines d and q where 0 <= d < r, for every ratio r that was used."""
        return Part(HEAD, {f"digits below {r} are unique": _lemma(r) for r in sorted(self.ratios)}, "true")

    def integer(self, name: str) -> Term:
        """A symbolic integer without bounds."""
        self._lines.append(f"(declare-const {name} Int)")
        return Term(name, -UNBOUNDED, UNBOUNDED, None)

    def sum(self, number: Numeral) -> Term:
        """The sum of digit times weight, in the digits that the number has by now."""
        return self.total(digit * weight for digit, weight in self.cut(number).digits)

    def cut(self, number: Numeral) -> Numeral:
        """The number with its digits replaced by those that they were cut into."""
        found: list[tuple[Term, int]] = []
        for digit, weight in number.digits:
            parts = self._parts.get(str(digit.expr))
            if parts is None:
                found.append((digit, weight))
            else:
                low, high, radix = parts
                found += self.cut(Numeral(((low, weight), (high, weight * radix)))).digits
        return Numeral(tuple(found))

    def parted(self, number: Numeral, radix: int, stem: str) -> tuple[Numeral, Numeral]:
        """(number mod radix, number div radix).

        Digits that stand across the radix are cut in two there. Where the lower ones then stay below it, these are
        digits already; else two variables tied to the number, the second of them without bounds.
        """
        for digit, weight in self.cut(number).digits:
            self._cut_at(digit, weight, radix)
        digits = self.cut(number).digits
        low = Numeral(tuple((digit, weight) for digit, weight in digits if weight % radix))
        high = Numeral(tuple((digit, weight // radix) for digit, weight in digits if weight % radix == 0))
        within = self.sum(low)
        if within.lo >= 0 and within.hi < radix:
            return low, high
        first, second = self.variable(f"{stem}m", radix), self.integer(f"{stem}d")
        self.require(self.sum(number) == first + second * radix)
        return Numeral(((first, 1),)), Numeral(((second, 1),))

    def image_of(self, flat: Modes, number: Numeral, stem: str) -> Numeral:
        """The layout's value at a number, its last digit unbounded."""
        values: list[tuple[Term, int]] = []
        for j, (extent, stride) in enumerate(flat):
            digit = number
            if j < len(flat) - 1:
                digit, number = self.parted(number, extent, f"{stem}_{j}")
            values += [(part, weight * stride) for part, weight in digit.digits]
        return Numeral(tuple(values))

    def alike(self, first: Numeral, second: Numeral) -> bool:
        """Assert the lemma's instances along two numerals of one form; False, and nothing, where they are none."""
        pairs = zip(self.cut(first).digits, self.cut(second).digits, strict=True)
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

    def differ(self, first: Numeral, second: Numeral) -> Condition | bool:
        """That two numbers of one form differ in a digit."""
        found: Condition | bool = False
        for (a, _), (b, _) in zip(self.cut(first).digits, self.cut(second).digits, strict=True):
            found = (a != b) | found
        return found

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
