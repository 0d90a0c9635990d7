# SPDX-License-Identifier: Apache-2.0
"""A region of sizes: inequalities that all sizes of it satisfy, and what they decide of forms and conditions.

Each fact is also multiplied by each stride, which is never negative: so the products of sizes in addresses are bounded
by linear reasoning over monomials. Every answer "yes" has a certificate that was checked in exact arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import gcd, prod

import numpy as np
from numpy.typing import NDArray

from proofs.smt.inequalities import Inequalities
from verify.kernel.sizes.forms import AllOf, Condition, Equal, Fixed, Less, Linear, Monomial, NotLifted, Polynomial

OPEN = -1  # of a decision: neither true nor false in the whole region


def total(*parts: Mapping[Monomial, int]) -> Linear:
    """Return the sum of polynomials."""
    found: Linear = {}
    for part in parts:
        for monomial, number in part.items():
            found[monomial] = found.get(monomial, 0) + number
    return {monomial: number for monomial, number in found.items() if number}


def times(part: Mapping[Monomial, int], by: int = 1, more: Monomial = ()) -> Linear:
    """Return a polynomial times a number and a product of symbols."""
    return {tuple(sorted(monomial + more)): number * by for monomial, number in part.items()}


def value(part: Mapping[Monomial, int], symbols: Mapping[str, int]) -> int:
    """Return the value of a polynomial."""
    return sum(number * prod(symbols[name] for name in monomial) for monomial, number in part.items())


def tighten(part: Mapping[Monomial, int]) -> Linear:
    """Return part >= 0 divided by what divides all coefficients with a symbol; the constant is rounded down.

    >>> tighten({("M",): 64, ("x",): -64, (): -1})
    {('M',): 1, ('x',): -1, (): -1}
    """
    by = gcd(*(number for monomial, number in part.items() if monomial))
    return {monomial: number // by for monomial, number in part.items()} if by > 1 else dict(part)


class SizeRegion:
    """Facts about sizes, with a sample that satisfies them; `asked` and `proved` count the questions to z3."""

    def __init__(self, facts: Iterable[Linear], factors: Sequence[str], sample: Mapping[str, int]) -> None:
        self.factors, self.sample = tuple(factors), dict(sample)
        self.facts: list[Linear] = []
        self.inequalities = Inequalities([])
        self.asked = self.proved = 0
        self.growths: list[Polynomial] = []  # by which the number of trips may differ from the sample's
        self.quotients: dict[str, tuple[Polynomial, int]] = {}  # symbol -> what it is the quotient of, and by what
        self._signs: dict[str, bool] = {}  # symbol -> whether it is proved to be at least 0
        self._least: dict[tuple[tuple[Monomial, int], ...], tuple[int, int | None]] = {}
        for fact in facts:
            self.add(fact)

    def add(self, fact: Mapping[Monomial, int], multiplied: bool = True) -> None:
        """Add that a polynomial is at least 0; NotLifted if the sample contradicts it."""
        fact = tighten(fact)
        if value(fact, self.sample) < 0:
            raise NotLifted(0, "no sizes satisfy what is given, or the sample does not", str(Polynomial.of(fact)))
        self.facts.append(fact)
        for each in self._products(fact, multiplied):
            self.inequalities.add(each)
        self._least.clear()
        self._signs.clear()

    def _products(self, fact: Linear, multiplied: bool = True) -> list[Linear]:
        return [fact, *(times(fact, 1, (factor,)) for factor in self.factors if multiplied)]

    def holds(self, goal: Mapping[Monomial, int], extra: Sequence[Linear] = ()) -> bool:
        """Return whether goal >= 0 is proved for the region, or for the part of it where all of `extra` are >= 0."""
        goal = tighten(goal)
        constant = goal.get((), 0)
        symbols = tuple(sorted((key, number) for key, number in goal.items() if key and number))
        if not symbols or (constant >= 0 and self._never_negative(goal)):
            return constant >= 0
        if extra:
            more = [product for each in extra for product in self._products(tighten(each))]
            self.asked += 1
            found = self.inequalities.derive(goal, more) is not None
            self.proved += found
            return found
        proved, failed = self._least.get(symbols, (None, None))  # the least constant proved, the greatest that failed
        if proved is not None and constant >= proved:
            return True
        if failed is not None and constant <= failed:
            return False
        self.asked += 1
        found = self.inequalities.derive(goal) is not None
        self.proved += found
        self._least[symbols] = (constant, failed) if found else (proved, constant)  # type: ignore[assignment]
        return found

    def _never_negative(self, goal: Mapping[Monomial, int]) -> bool:
        """Return whether all coefficients, and all symbols in the region, are at least 0."""
        if any(number < 0 for number in goal.values()):
            return False
        for name in {name for monomial in goal for name in monomial}:
            if name not in self._signs:
                self.asked += 1
                self._signs[name] = self.inequalities.derive({(name,): 1}) is not None
                self.proved += self._signs[name]
            if not self._signs[name]:
                return False
        return True

    def within(self, form: Polynomial, low: int, high: int) -> bool:
        """Return whether low <= form < high is proved in every thread."""
        most = {monomial: int(each.max()) for monomial, each in form.terms.items()}
        least = {monomial: int(each.min()) for monomial, each in form.terms.items()}
        if form.rows > 1 and self._signs_known(form):  # one polynomial below all threads', and one above
            if self.holds(total(least, {(): -low})) and self.holds(total({(): high - 1}, times(most, -1))):
                return True
        constants = np.broadcast_to(form.constant, form.rows)
        for symbols, threads in form.groups():
            smallest, largest = int(constants[threads].min()), int(constants[threads].max())
            above = {**symbols, (): smallest - low}
            below = {**times(symbols, -1), (): high - 1 - largest}
            if not (self.holds(above) and self.holds(below)):
                return False
        return True

    def _signs_known(self, form: Polynomial) -> bool:
        return self._never_negative({monomial: 1 for monomial in form.terms})

    def quotient(self, form: Polynomial, divisor: int) -> Polynomial:
        """Return the symbol q of floor(form / divisor), of a form that is the same in all threads.

        It is defined by divisor * q <= form < divisor * (q + 1).
        """
        part = form.thread(0)
        name = f"[{form}]//{divisor}".replace(" ", "")
        if name not in self.quotients:
            self.quotients[name] = form, divisor
            self.sample[name] = value(part, self.sample) // divisor
            self.add(total(part, {(name,): -divisor}))
            self.add(total(times(part, -1), {(name,): divisor, (): divisor - 1}))
        return Polynomial.symbol(name)

    def equal(self, form: Polynomial, other: Polynomial, of: SizeRegion, width: int) -> bool:
        """Return whether a form of another region is proved to be equal here, modulo 2^width."""
        for name in {name for key in form.terms for name in key} & of.quotients.keys():
            self.quotient(*of.quotients[name])
        return self.within((form - other).modulo(width), 0, 1)

    def decide(self, condition: Condition) -> NDArray[np.int64]:
        """Return 1, 0 or OPEN for each thread, or one for all: whether a condition is true in the whole region."""
        if isinstance(condition, Fixed):
            return condition.mask.astype(np.int64)
        if isinstance(condition, Less):
            return self._sign(condition.form)
        if isinstance(condition, Equal):
            above, below = self._sign(-condition.form), self._sign(condition.form)  # 0 < form, form < 0
            same = np.where((above == 0) & (below == 0), 1, np.where((above == 1) | (below == 1), 0, OPEN))
            return same if condition.equal else np.where(same == OPEN, OPEN, 1 - same)
        first, second = (self.decide(part) for part in condition.parts)
        ends = 0 if isinstance(condition, AllOf) else 1
        open_ = (first == OPEN) | (second == OPEN)
        return np.where((first == ends) | (second == ends), ends, np.where(open_, OPEN, 1 - ends))

    def _sign(self, form: Polynomial) -> NDArray[np.int64]:
        """Return whether a form is below 0."""
        rows = form.rows
        constants, found = np.broadcast_to(form.constant, rows), np.full(rows, OPEN, np.int64)
        for symbols, threads in form.groups():
            at = value(symbols, self.sample)
            for constant in np.unique(constants[threads]):
                here = threads & (constants == constant)
                if at + int(constant) < 0:
                    if self.holds({**times(symbols, -1), (): -int(constant) - 1}):
                        found[here] = 1
                elif self.holds({**symbols, (): int(constant)}):
                    found[here] = 0
        return found
