# SPDX-License-Identifier: Apache-2.0
"""Linear inequalities over monomials, each proved by a Farkas certificate that is checked in exact arithmetic.

A `Linear` is a sum of integers times monomials, such as 64*cx*lda - lda + 5; an inequality says that one is at least 0.
`Inequalities.derive` asks z3 for numbers, all at least 0, by which the facts are multiplied so that their sum differs
from the goal by a constant above -1. `is_certificate` computes that sum again with Python's fractions: z3's word is
not trusted. What is true of rationals only by rounding is not found, so a missing certificate says nothing.

>>> facts = Inequalities([{("M",): 1, ("x",): -64, (): -1}, {("x",): 1}])  # 64 x < M, x >= 0
>>> facts.derive({("M",): 1, (): -1})  # so M >= 1
{0: Fraction(1, 1), 1: Fraction(64, 1)}
>>> facts.derive({("M",): 1, (): -2}) is None
True
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from fractions import Fraction
from math import prod
from typing import TypeAlias

from proofs.smt.libz3 import Context, Z3Error

Monomial: TypeAlias = tuple[str, ...]
Linear: TypeAlias = Mapping[Monomial, int]
Multipliers: TypeAlias = dict[int, Fraction]  # number of a fact -> what it is multiplied by

_VALUE = re.compile(r"\(l(\d+)\s+(?:\(/\s*([\d.]+)\s+([\d.]+)\)|([\d.]+))\)")
_Key: TypeAlias = tuple[tuple[Monomial, int], ...]  # of a sum: its terms in order
_TIMEOUT = 5000  # milliseconds of one question
_MOST = 100_000  # answers that are kept
_UNLIMITED = 2**32 - 1  # z3's default of :timeout


# Regions of sizes ask the same of almost the same facts. A certificate by facts is good wherever these are among the
# facts, and is checked again there; that there is none was found for exactly these facts.
_proved: dict[_Key, tuple[tuple[_Key, Fraction], ...]] = {}
_failed: set[tuple[frozenset[_Key], _Key]] = set()


class Inequalities:
    """Facts: linear sums that are at least 0."""

    def __init__(self, facts: Iterable[Linear]) -> None:
        self.facts: list[Linear] = list(facts)
        self._context: Context | None = None
        self._known: dict[Monomial, str] = {}
        self._numbers: dict[_Key, int] = {}  # fact -> its number
        self._whole: frozenset[_Key] | None = None  # all facts

    def add(self, fact: Linear) -> None:
        """Add a fact."""
        self.facts.append(fact)
        self._context = self._whole = None

    def derive(self, goal: Linear, extra: Sequence[Linear] = ()) -> Multipliers | None:
        """Return multipliers that prove goal >= 0 from the facts and from `extra` ones; None if none are found."""
        if extra:
            return self._derive(goal, extra)
        if self._whole is None:
            self._numbers = {_key(fact): number for number, fact in enumerate(self.facts)}
            self._whole = frozenset(self._numbers)
        key = _key(goal)
        kept = _proved.get(key, ())
        if kept and all(fact in self._numbers for fact, _ in kept):
            multipliers: Multipliers | None = {self._numbers[fact]: by for fact, by in kept}
            if multipliers is not None and is_certificate(self.facts, goal, multipliers):
                return multipliers
        if (self._whole, key) in _failed:
            return None
        multipliers = self._derive(goal, ())
        for answers in (_proved, _failed):
            if len(answers) > _MOST:
                answers.clear()
        if multipliers is None:
            _failed.add((self._whole, key))
        else:
            _proved[key] = tuple((_key(self.facts[number]), by) for number, by in multipliers.items())
        return multipliers

    def _derive(self, goal: Linear, extra: Sequence[Linear]) -> Multipliers | None:
        facts = [*self.facts, *extra]
        known = {monomial for fact in facts for monomial in fact}
        if any(number and monomial and monomial not in known for monomial, number in goal.items()):
            return None
        try:
            with _limit_time(self._prepare(), _TIMEOUT):
                answer = self._ask(goal, extra)
        except Z3Error:  # no model to ask for: unsat, or the budget ran out
            self._context = None
            return None
        if not answer.startswith("sat"):
            return None
        multipliers = {}
        for number, above, below, plain in _VALUE.findall(answer):
            value = Fraction(above) / Fraction(below) if above else Fraction(plain)
            if value:
                multipliers[int(number)] = value
        return multipliers if is_certificate(facts, goal, multipliers) else None

    def _prepare(self) -> Context:
        """Return the context that knows the facts."""
        if self._context is None:
            self._context = Context()
            monomials = {monomial for fact in self.facts for monomial in fact} | {()}
            self._known = {monomial: f"e{number}" for number, monomial in enumerate(sorted(monomials))}
            text = [*_declarations(range(len(self.facts)))]
            text += [f"(define-fun {name} () Real {_sum(self.facts, monomial, 0)})"
                     for monomial, name in self._known.items()]  # fmt: skip
            self._context.evaluate("".join(text))
        return self._context

    def _ask(self, goal: Linear, extra: Sequence[Linear]) -> str:
        first = len(self.facts)
        text = ["(push)", *_declarations(range(first, first + len(extra)))]
        monomials = {*self._known, *(monomial for fact in extra for monomial in fact), *goal, ()}
        for monomial in sorted(monomials):
            sums = f"(+ {self._known.get(monomial, '0.0')} {_sum(extra, monomial, first)})"
            wanted = f"{goal.get(monomial, 0)}.0".replace("-", "- ")
            wanted = f"({wanted})" if wanted[0] == "-" else wanted
            text.append(f"(assert (= {sums} {wanted}))" if monomial else f"(assert (> (- {wanted} {sums}) (- 1.0)))")
        names = " ".join(f"l{number}" for number in range(first + len(extra)))
        return self._prepare().evaluate("".join([*text, "(check-sat)", f"(get-value ({names}))(pop)"]))


def _key(part: Linear) -> _Key:
    return tuple(sorted((monomial, number) for monomial, number in part.items() if number))


@contextmanager
def _limit_time(context: Context, milliseconds: int) -> Iterator[None]:
    """Bound the time of each question to a context.

    Options of SMT-LIB text are z3's own, not a context's: the budget of an earlier proof would end this one, and this
    one's time a later proof, so neither is left.
    """
    context.evaluate(f"(set-option :rlimit 0)(set-option :timeout {milliseconds})")
    try:
        yield
    finally:
        context.evaluate(f"(set-option :timeout {_UNLIMITED})")


def is_certificate(facts: Sequence[Linear], goal: Linear, multipliers: Mapping[int, Fraction]) -> bool:
    """Return whether goal - sum of multiplier * fact is a constant above -1, and no multiplier is negative.

    The goal is an integer where the symbols are, so it is then at least 0 wherever all facts are.

    >>> is_certificate([{("x",): 2}], {("x",): 1}, {0: Fraction(1, 2)})
    True
    >>> is_certificate([{("x",): 2}], {("x",): 1, (): -1}, {0: Fraction(1, 2)})
    False
    """
    rest: dict[Monomial, Fraction] = {monomial: Fraction(number) for monomial, number in goal.items()}
    for place, by in multipliers.items():
        if by < 0 or not 0 <= place < len(facts):
            return False
        for monomial, number in facts[place].items():
            rest[monomial] = rest.get(monomial, Fraction(0)) - by * number
    constant = rest.pop((), Fraction(0))
    return constant > -1 and not any(rest.values())


def _declarations(numbers: Iterable[int]) -> list[str]:
    return [f"(declare-const l{number} Real)(assert (>= l{number} 0.0))" for number in numbers]


def _sum(facts: Sequence[Linear], monomial: Monomial, first: int) -> str:
    parts = []
    for number, fact in enumerate(facts, first):
        if by := fact.get(monomial, 0):
            parts.append(f"(* {f'(- {-by}.0)' if by < 0 else f'{by}.0'} l{number})")
    return f"(+ 0.0 {' '.join(parts)})" if parts else "0.0"


def find_point(facts: Sequence[Linear], least: Sequence[str], milliseconds: int = 3000) -> dict[str, int] | None:
    """Return integers for the symbols at which every fact is at least 0, the symbols of `least` as small as found.

    Monomials are products here. Each fact is computed again in plain Python; None where z3 gives up, or none are.

    >>> find_point([{("x", "y"): 1, (): -6}, {("x",): 1}, {("y",): 1}, {("x",): -1, (): 2}], ["y"])
    {'x': 2, 'y': 3}
    """
    symbols = sorted({name for fact in facts for monomial in fact for name in monomial})
    text = [f"(declare-const |{name}| Int)" for name in symbols]
    text += [f"(assert (>= {_polynomial(fact)} 0))" for fact in facts]
    context, point = Context(), None
    with suppress(Z3Error), _limit_time(context, milliseconds):
        context.evaluate("".join(text))
        point = _point(context, symbols, "")
        for name in least if point is not None else ():
            low, high = 0, point[name]  # type: ignore[index]
            while low < high:
                middle = (low + high) // 2
                smaller = _point(context, symbols, f"(assert (<= |{name}| {middle}))")
                if smaller is None:
                    low = middle + 1
                else:
                    point, high = smaller, smaller[name]
            context.evaluate(f"(assert (<= |{name}| {high}))")
    if point is None or any(_value(fact, point) < 0 for fact in facts):
        return None
    return point


def _point(context: Context, symbols: Sequence[str], more: str) -> dict[str, int] | None:
    answer = context.evaluate(f"(push){more}(check-sat)")
    point = None
    if answer.startswith("sat"):
        listed = context.evaluate(f"(get-value ({' '.join(f'|{name}|' for name in symbols)}))")
        numbers = re.findall(r"\(\|?([^\s|()]+)\|?\s+(?:\(-\s*(\d+)\)|(\d+))\)", listed)
        point = {name: -int(below) if below else int(above) for name, below, above in numbers}
    context.evaluate("(pop)")
    return point if point is not None and len(point) == len(symbols) else None


def _polynomial(fact: Linear) -> str:
    parts = [f"(* {number if number >= 0 else f'(- {-number})'} {' '.join(f'|{name}|' for name in monomial)} 1)"
             for monomial, number in fact.items()]  # fmt: skip
    return f"(+ 0 {' '.join(parts)})"


def _value(fact: Linear, point: Mapping[str, int]) -> int:
    return sum(number * prod(point[name] for name in monomial) for monomial, number in fact.items())
