# SPDX-License-Identifier: Apache-2.0
"""A region of sizes: inequalities that all sizes of it satisfy, and what they decide of forms and conditions.

Each fact is also multiplied by each stride, which is never negative: so the products of sizes in addresses are bounded
by linear reasoning over monomials. Every answer "yes" has a certificate that was checked in exact arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2s
from itertools import product
from math import gcd, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proofs.smt.inequalities import Inequalities
from verify.kernel.sizes.forms import AllOf, Condition, Equal, Fixed, Less, Linear, Monomial, NotLifted, Polynomial

MOST_CASES = 3  # choices between two forms, of which every combination is looked at
OPEN = -1  # of a decision: neither true nor false in the whole region


def total(*parts: Mapping[Monomial, int]) -> Linear:
    """Return the sum of polynomials."""
    terms: Linear = {}
    for part in parts:
        for monomial, number in part.items():
            terms[monomial] = terms.get(monomial, 0) + number
    return {monomial: number for monomial, number in terms.items() if number}


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


@dataclass(frozen=True, eq=False)
class DefinedSymbol:
    """A number made of two forms that isn't a polynomial of them: a symbol stands for it."""

    kind: str  # "//", "%", "min" or "max"
    left: Polynomial
    right: Polynomial
    scale: int = 1  # of a remainder: both forms were divided by it

    @property
    def name(self) -> str:
        """The symbol: of a remainder, which each thread has of its own number, with a digest of these numbers."""
        right = str(self.right) if not self.right.symbolic else f"[{self.right}]"
        text = f"[{self.left}]{self.kind}{right}".replace(" ", "")
        if self.kind != "%":
            return text
        numbers = b"".join(self.left.terms[key].tobytes() for key in sorted(self.left.terms))
        return f"{text}#{blake2s(numbers, digest_size=12).hexdigest()}"

    def value(self, symbols: Mapping[str, Any]) -> Any:
        """Return its value: a number, or of a remainder one for each thread."""
        left, right = self.left.value(symbols), self.right.value(symbols)
        if self.kind == "%":
            return left % right
        first, second = int(left[0]), int(right[0])
        return (
            first // second if self.kind == "//" else min(first, second) if self.kind == "min" else max(first, second)
        )


class SizeRegion:
    """Facts about sizes, with a sample that satisfies them; `asked` and `proved` count the questions to z3."""

    def __init__(self, facts: Iterable[Linear], factors: Sequence[str], sample: Mapping[str, int]) -> None:
        self.factors, self.sample = tuple(factors), dict(sample)
        self.facts: list[Linear] = []
        self.inequalities = Inequalities([])
        self.asked = self.proved = 0
        self.growths: list[Polynomial] = []  # by which the number of trips may differ from the sample's
        self.atoms: dict[str, DefinedSymbol] = {}  # symbol -> what it stands for, in the order in which they were made
        self.extents: dict[str, Polynomial] = {}  # index -> its tiles, where one axis of the grid has those of several
        self.cases: list[tuple[Linear, Linear]] = []  # of which one is at least 0: what min and max are
        self._signs: dict[str, bool] = {}  # symbol -> whether it is proved to be at least 0
        self._least: dict[tuple[tuple[Monomial, int], ...], tuple[int, int | None]] = {}
        for fact in facts:
            self.add(fact)

    def add(self, fact: Mapping[Monomial, int], multiplied: bool = True) -> None:
        """Add that a polynomial is at least 0; NotLifted if the sample contradicts it."""
        fact = tighten(fact)
        if np.any(np.asarray(value(fact, self.sample)) < 0):
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
            is_proved = self.inequalities.derive(goal, more) is not None
            self.proved += is_proved
            return is_proved
        proved, failed = self._least.get(symbols, (None, None))  # the least constant proved, the greatest that failed
        if proved is not None and constant >= proved:
            return True
        if failed is not None and constant <= failed:
            return False
        self.asked += 1
        is_proved = self.inequalities.derive(goal) is not None
        self.proved += is_proved
        self._least[symbols] = (constant, failed) if is_proved else (proved, constant)  # type: ignore[assignment]
        return is_proved

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

    # ---- numbers that aren't polynomials

    def floor(self, form: Polynomial, by: int) -> Polynomial:
        """Divide a form that is the same in all threads, and round down; terms that `by` divides need no symbol."""
        whole = Polynomial({key: each // by for key, each in form.terms.items() if key and not (each % by).any()})
        rest = form - whole * Polynomial.number(by)
        return whole + (self.quotient(rest, by) if rest.symbolic else Polynomial.number(rest.constant // by))

    def quotient(self, form: Polynomial, divisor: int | Polynomial) -> Polynomial:
        """Return the symbol q of floor(form / divisor), of forms that are the same in all threads.

        It is defined by divisor * q <= form < divisor * (q + 1). A divisor with a symbol must be shown to be at least
        1, and the form then not to be negative.
        """
        by = divisor if isinstance(divisor, Polynomial) else Polynomial.number(divisor)
        atom = DefinedSymbol("//", form, by)
        if self._make(atom):
            symbol = Polynomial.symbol(atom.name)
            facts = [form - by * symbol, by * symbol + by - Polynomial.number(1) - form]
            if by.symbolic:
                least = Polynomial.of(tighten((by - Polynomial.number(1)).thread(0)))
                facts += [symbol, least * symbol]
            for fact in facts:
                self.add(fact.thread(0))
            for extent in self.extents.values() if by.symbolic else ():
                self.learn((extent - symbol).thread(0), -1)
        return Polynomial.symbol(atom.name)

    def remainder(self, form: Polynomial, modulus: Polynomial) -> Polynomial:
        """Return the form of form mod modulus in each thread, of a form that is not negative and a modulus above 0.

        Its symbol has another value in each thread, and what is known of it is true in all of them.
        """
        scale = gcd(
            *(int(number) for each in (form, modulus) for key in each.terms for number in np.unique(each.terms[key]))
        )
        left, right = (
            Polynomial({key: numbers // scale for key, numbers in each.terms.items()}) for each in (form, modulus)
        )
        atom = DefinedSymbol("%", left, right, scale)
        if self._make(atom):
            self.add({(atom.name,): 1})
            self.add(total(atom.right.thread(0), {(atom.name,): -1, (): -1}))
        return Polynomial.symbol(atom.name) * Polynomial.number(scale)

    def extremum(self, kind: str, left: Polynomial, right: Polynomial) -> Polynomial:
        """Return the symbol of the smaller or larger of two forms that are the same in all threads."""
        atom = DefinedSymbol(kind, left, right)
        if self._make(atom):
            symbol, sign = Polynomial.symbol(atom.name), Polynomial.number(1 if kind == "min" else -1)
            first, second = (((each - symbol) * sign).thread(0) for each in (left, right))
            self.add(first)
            self.add(second)
            self.cases.append((times(first, -1), times(second, -1)))
            self.is_positive(symbol)  # a fact from here on, if it is
        return Polynomial.symbol(atom.name)

    def _make(self, atom: DefinedSymbol) -> bool:
        """Give an atom its value at the sample; return whether it is new."""
        if atom.name in self.atoms:
            return False
        if any(self.atoms[name].kind == "%" for name in (atom.left.symbols | atom.right.symbols) & self.atoms.keys()):
            raise NotLifted(0, "a quotient of remainders has no meaning for all sizes yet", atom.name)
        self.atoms[atom.name] = atom
        self.sample[atom.name] = atom.value(self.sample)
        return True

    def made_of(self, symbol: str) -> frozenset[str]:
        """Return the atoms that a symbol decides, or another atom that it decides."""
        symbols = {symbol}
        for name, atom in self.atoms.items():
            if symbols & (atom.left.symbols | atom.right.symbols):
                symbols.add(name)
        return frozenset(symbols - {symbol})

    def adopt(self, symbols: Iterable[str], of: SizeRegion) -> None:
        """Make the atoms of another region that are among some symbols, and those that they are made of."""
        for name in sorted(of.atoms.keys() & set(symbols), key=list(of.atoms).index):
            atom = of.atoms[name]
            self.adopt(atom.left.symbols | atom.right.symbols, of)
            if atom.kind == "//":
                if atom.right.symbolic and not (self.is_positive(atom.right) and self.within(atom.left, 0, 1 << 62)):
                    raise NotLifted(0, "a quotient that another region knows", name)
                self.quotient(atom.left, atom.right)
            elif atom.kind == "%":
                raise NotLifted(0, "a remainder that another region knows", name)
            else:
                self.extremum(atom.kind, atom.left, atom.right)

    def is_positive(self, form: Polynomial) -> bool:
        """Return whether a form that is the same in all threads is at least 1; keep it as a fact."""
        return form.rows == 1 and self.learn(form.thread(0), -1)

    def learn(self, part: Linear, more: int) -> bool:
        """Return whether part + more >= 0, by cases too; a fact that was not linear is kept."""
        goal = total(part, {(): more})
        if self.holds(goal):
            return True
        if not self._holds_by_cases(goal):
            return False
        self.add(goal)
        return True

    def _holds_by_cases(self, goal: Linear) -> bool:
        """Return whether the opposite is a contradiction in every case, once multiplied by the numbers of tiles.

        That is what linear reasoning lacks: 8*q*n <= x < m*n and 8*q >= m, times n, contradict each other.
        """
        if len(self.cases) > MOST_CASES:
            return False
        by = [name for each in self.extents.values() for name in each.symbols if self.holds({(name,): 1})]
        by += [name for name, atom in self.atoms.items() if atom.kind == "min" and self.holds({(name,): 1})]
        opposite = total(times(goal, -1), {(): -1})
        for chosen in product(*self.cases):
            parts = [tighten(each) for each in (opposite, *chosen)]
            extra = [more for part in parts for more in (part, *(times(part, 1, (name,)) for name in by))]
            self.asked += 1
            if self.inequalities.derive({(): -1}, extra) is None:
                return False
            self.proved += 1
        return bool(by)

    def equal(self, form: Polynomial, own: Polynomial, of: SizeRegion, width: int) -> bool:
        """Return whether a form of another region is proved to be equal here, modulo 2^width."""
        self.adopt(form.symbols, of)
        return self.within((form - own).modulo(width), 0, 1)

    # ---- conditions

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
        constants, signs = np.broadcast_to(form.constant, rows), np.full(rows, OPEN, np.int64)
        for symbols, threads in form.groups():
            at = np.min(value(symbols, self.sample))
            for constant in np.unique(constants[threads]):
                here = threads & (constants == constant)
                if at + int(constant) < 0:
                    if self.holds({**times(symbols, -1), (): -int(constant) - 1}):
                        signs[here] = 1
                elif self.holds({**symbols, (): int(constant)}):
                    signs[here] = 0
        return signs
