# SPDX-License-Identifier: Apache-2.0
"""Integers of a kernel as polynomials over sizes, strides, CTA ids and trips: the form of a register.

A `Polynomial` has a coefficient for each monomial and thread. A register of w bits holds the form's value modulo 2^w,
at all sizes of a region, so sums, differences and products of forms need no proof. The coefficients are int64, which
wrap modulo 2^64. A register may also hold a `Condition` on forms (a predicate), or an `Alternative` of two forms.

>>> x = Polynomial.symbol("cx") * Polynomial.number(64) + Polynomial.number(np.array([0, 1]))
>>> str(x), x.thread(1), x.value({"cx": 2}).tolist()
('64*cx + 0..1', {('cx',): 64, (): 1}, [128, 129])
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import gcd, prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from verify.kernel.data.values import Mask

Monomial: TypeAlias = tuple[str, ...]
Linear: TypeAlias = dict[Monomial, int]
Numbers: TypeAlias = NDArray[np.int64]


class NotLifted(Exception):
    """A step that is not proved for all sizes: the line, the step, and the form or condition that stopped it."""

    def __init__(
        self, line: int, step: str, form: str = "", conditions: Sequence[Condition] = (), region: Any = None
    ) -> None:  # fmt: skip
        super().__init__((f"line {line}: " if line else "") + step + (f": {form}" if form else ""))
        self.line, self.step, self.form = line, step, form
        self.conditions = tuple(
            conditions
        )  # sizes at which one is not what it is at the sample may show a wrong result
        self.region = region  # of which the step speaks
        self.statement: Any = None  # that was to be proved, once it is known


class Polynomial:
    """A polynomial; each coefficient is an array with one number for each thread, or one for all."""

    __slots__ = ("terms",)

    def __init__(self, terms: Mapping[Monomial, Numbers]) -> None:
        self.terms = {monomial: each for monomial, each in terms.items() if monomial == () or each.any()}
        self.terms.setdefault((), np.zeros(1, np.int64))

    @classmethod
    def number(cls, value: Any) -> Polynomial:
        """Return the form of a number, or of one number for each thread."""
        return cls({(): np.atleast_1d(np.asarray(value)).astype(np.int64)})

    @classmethod
    def symbol(cls, name: str) -> Polynomial:
        """Return the form of one symbol."""
        return cls({(name,): np.ones(1, np.int64)})

    @classmethod
    def of(cls, linear: Mapping[Monomial, int]) -> Polynomial:
        """Return the form that is the same polynomial in every thread."""
        return cls({monomial: np.array([number], np.int64) for monomial, number in linear.items()})

    @property
    def constant(self) -> Numbers:
        """The coefficient without symbols."""
        return self.terms[()]

    @property
    def symbolic(self) -> bool:
        """Whether it has a symbol."""
        return len(self.terms) > 1

    @property
    def symbols(self) -> frozenset[str]:
        """The symbols that it has."""
        return frozenset(name for key in self.terms for name in key)

    @property
    def rows(self) -> int:
        """The threads that it distinguishes, or 1."""
        return max(map(len, self.terms.values()))

    def __add__(self, other: Polynomial) -> Polynomial:
        terms = dict(self.terms)
        for monomial, each in other.terms.items():
            terms[monomial] = terms[monomial] + each if monomial in terms else each
        return Polynomial(terms)

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self + other * Polynomial.number(-1)

    def __mul__(self, other: Polynomial) -> Polynomial:
        terms: dict[Monomial, Numbers] = {}
        for left, a in self.terms.items():
            for right, b in other.terms.items():
                monomial = tuple(sorted(left + right))
                terms[monomial] = terms[monomial] + a * b if monomial in terms else a * b
        return Polynomial(terms)

    def __neg__(self) -> Polynomial:
        return self * Polynomial.number(-1)

    def modulo(self, width: int) -> Polynomial:
        """Return the same number modulo 2^width, its coefficients as small as they can be."""
        if width >= 64:
            return self
        half, whole = 1 << (width - 1), (1 << width) - 1
        return Polynomial({monomial: ((each + half) & whole) - half for monomial, each in self.terms.items()})

    def value(self, symbols: Mapping[str, int]) -> NDArray[Any]:
        """Return its exact value in each thread, as Python integers."""
        values: NDArray[Any] = np.zeros(1, object)
        for monomial, each in self.terms.items():
            values = values + each.astype(object) * prod(symbols[name] for name in monomial)
        return values

    def thread(self, number: int) -> Linear:
        """Return the polynomial of one thread."""
        terms = {key: int(each[number if len(each) > 1 else 0]) for key, each in self.terms.items()}
        return {key: each for key, each in terms.items() if each}

    def groups(self) -> Iterator[tuple[Linear, Mask]]:
        """Yield the different polynomials without their constants, with the threads that have each."""
        rows = self.rows
        keys = [key for key in self.terms if key]
        if not keys:
            yield {}, np.ones(rows, bool)
            return
        table = np.stack([np.broadcast_to(self.terms[key], rows) for key in keys])
        different, place = np.unique(table, axis=1, return_inverse=True)
        for column in range(different.shape[1]):
            numbers = {key: int(each) for key, each in zip(keys, different[:, column], strict=True) if each}
            yield numbers, np.asarray(place.ravel() == column)

    def replace(self, name: str, by: Polynomial) -> Polynomial:
        """Return the form with another in place of a symbol."""
        form = Polynomial({key: each for key, each in self.terms.items() if name not in key})
        for key, each in self.terms.items():
            if name in key:
                part = Polynomial({tuple(symbol for symbol in key if symbol != name): each})
                for _ in range(key.count(name)):
                    part = part * by
                form += part
        return form

    def where(self, mask: Mask, otherwise: Polynomial) -> Polynomial:
        """Return this form in the threads of a mask, the other one elsewhere."""
        zero = np.zeros(1, np.int64)
        keys = [*self.terms, *(key for key in otherwise.terms if key not in self.terms)]
        return Polynomial(
            {key: np.where(mask, self.terms.get(key, zero), otherwise.terms.get(key, zero)) for key in keys}
        )

    def same(self, form: Polynomial, width: int = 64) -> bool:
        """Return whether both are one polynomial modulo 2^width in every thread."""
        return not any(each.any() for each in (self - form).modulo(width).terms.values())

    def divisor(self) -> int:
        """Return the largest power of two that divides every coefficient with a symbol; 2^63 if there is none."""
        divisor = 0
        for key, each in self.terms.items():
            if key:
                divisor = gcd(divisor, *(abs(int(number)) for number in np.unique(each)))
        return divisor & -divisor if divisor else 1 << 63

    def __str__(self) -> str:
        parts = []
        for key, each in sorted(self.terms.items(), key=lambda term: (-len(term[0]), term[0])):
            low, high = int(each.min()), int(each.max())
            number = str(low) if low == high else f"{low}..{high}"
            if key:
                parts.append("*".join(key if low == high == 1 else (number, *key)))
            elif low or high:
                parts.append(number)
        return " + ".join(parts).replace("+ -", "- ") or "0"


@dataclass(frozen=True, eq=False)
class Less:
    """form < 0."""

    form: Polynomial


@dataclass(frozen=True, eq=False)
class Equal:
    """form = 0, or form != 0 if not `equal`."""

    form: Polynomial
    equal: bool


@dataclass(frozen=True, eq=False)
class AllOf:
    """Both conditions."""

    parts: tuple[Condition, Condition]


@dataclass(frozen=True, eq=False)
class AnyOf:
    """One of two conditions, or both."""

    parts: tuple[Condition, Condition]


@dataclass(frozen=True, eq=False)
class Fixed:
    """A condition that no size changes: known for each thread, or one for all."""

    mask: Mask


Condition: TypeAlias = Less | Equal | AllOf | AnyOf | Fixed
ALWAYS = Fixed(np.ones(1, bool))


@dataclass(frozen=True, eq=False)
class Alternative:
    """One of two forms, by a condition that is open."""

    condition: Condition
    then: Polynomial | Alternative
    otherwise: Polynomial | Alternative


Content: TypeAlias = Polynomial | Condition | Alternative


def negate(condition: Condition) -> Condition:
    """Return the opposite of a condition; of form < 0 it is -form - 1 < 0.

    >>> str(negate(Less(Polynomial.symbol("x"))).form)
    '-1*x - 1'
    """
    if isinstance(condition, Less):
        return Less(-condition.form - Polynomial.number(1))
    if isinstance(condition, Equal):
        return Equal(condition.form, not condition.equal)
    if isinstance(condition, Fixed):
        return Fixed(~condition.mask)
    first, second = (negate(part) for part in condition.parts)
    return AnyOf((first, second)) if isinstance(condition, AllOf) else AllOf((first, second))


def both(first: Condition, second: Condition) -> Condition:
    """Return that two conditions are true; one that is always true is left out."""
    for condition, partner in ((first, second), (second, first)):
        if isinstance(condition, Fixed) and condition.mask.all():
            return partner
    return AllOf((first, second))


def truth(condition: Condition, symbols: Mapping[str, int]) -> Mask:
    """Return whether a condition is true at given sizes, for each thread or one for all."""
    if isinstance(condition, Fixed):
        return condition.mask
    if isinstance(condition, Less):
        return np.asarray(condition.form.value(symbols) < 0, bool)
    if isinstance(condition, Equal):
        return np.asarray((condition.form.value(symbols) == 0) == condition.equal, bool)
    first, second = (truth(part, symbols) for part in condition.parts)
    return first & second if isinstance(condition, AllOf) else first | second


def alike(left: Content | None, right: Content | None, width: int = 64) -> bool:
    """Return whether two contents are the same, part by part."""
    if left is right:
        return True
    if type(left) is not type(right) or left is None or right is None:
        return False
    if isinstance(left, Polynomial):
        return left.same(right, width)  # type: ignore[arg-type]
    if isinstance(left, Fixed):
        return bool(np.array_equal(left.mask, right.mask))  # type: ignore[union-attr]
    if isinstance(left, Equal) and left.equal != right.equal:  # type: ignore[union-attr]
        return False
    parts = zip(_parts(left), _parts(right), strict=True)
    return all(
        alike(left_part, right_part, width if isinstance(left, Alternative) else 64) for left_part, right_part in parts
    )


def _parts(content: Content) -> tuple[Content, ...]:
    if isinstance(content, Less | Equal):
        return (content.form,)
    if isinstance(content, Alternative):
        return content.condition, content.then, content.otherwise
    return content.parts if isinstance(content, AllOf | AnyOf) else ()


def substitute(content: Content, name: str, by: Polynomial) -> Content:
    """Return a content with a form in place of a symbol."""
    if isinstance(content, Polynomial):
        return content.replace(name, by)
    if isinstance(content, Less):
        return Less(content.form.replace(name, by))
    if isinstance(content, Equal):
        return Equal(content.form.replace(name, by), content.equal)
    if isinstance(content, Alternative):
        parts = [substitute(part, name, by) for part in (content.condition, content.then, content.otherwise)]
        return Alternative(*parts)  # type: ignore[arg-type]
    if isinstance(content, AllOf | AnyOf):
        return type(content)(tuple(substitute(part, name, by) for part in content.parts))  # type: ignore[arg-type]
    return content


def symbols_in(content: Content) -> frozenset[str]:
    """Return the symbols of a content, those of its parts too."""
    if isinstance(content, Polynomial):
        return content.symbols
    return frozenset().union(*(symbols_in(part) for part in _parts(content)))


def conditions_in(content: object) -> list[Condition]:
    """Return the conditions of a condition or a choice, its parts too."""
    if isinstance(content, Alternative):
        parts = (content.condition, content.then, content.otherwise)
        return [condition for part in parts for condition in conditions_in(part)]
    if isinstance(content, AllOf | AnyOf):
        return [condition for part in content.parts for condition in conditions_in(part)]
    return [content] if isinstance(content, Less | Equal) else []


def describe(condition: Content) -> str:
    """Return a condition in words."""
    if isinstance(condition, Less):
        return f"{condition.form} < 0"
    if isinstance(condition, Equal):
        return f"{condition.form} {'=' if condition.equal else '!='} 0"
    if isinstance(condition, Fixed):
        return "a condition on threads alone"
    if isinstance(condition, AllOf | AnyOf):
        word = " and " if isinstance(condition, AllOf) else " or "
        return "(" + word.join(describe(part) for part in condition.parts) + ")"
    if isinstance(condition, Alternative):
        return f"({describe(condition.then)} if {describe(condition.condition)} else {describe(condition.otherwise)})"
    return str(condition)
