# SPDX-License-Identifier: Apache-2.0
"""Symbolic integers with Python's semantics: an SMT-LIB expression, the interval of its values, and its width.

A formula written with Python's operators works on ints and on Terms alike. A Term of width w is a signed bit-vector, a
Term without a width is an unbounded integer. In both cases its value is the Python integer that the formula gives: an
operation whose result could leave the width raises TermOverflow instead of wrapping around.

`Term`      a symbolic integer, with the operators + - * // % << >> & | ^ and comparisons
`BoolTerm`  a symbolic truth value, the result of a comparison
`constant`  an int as a Term
`fits`      whether an int fits a width
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import index
from typing import SupportsIndex, TypeAlias, cast

from proofs.errors import TermError, TermOverflow, UnsupportedTerm
from proofs.smt.sexpr import Sexpr

Number: TypeAlias = "Term | SupportsIndex"
Truth: TypeAlias = "BoolTerm | bool"
LARGEST = 8192
"""The most bits of a number that is written out; a problem with a larger one is rejected."""


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """An integer expression with ``lo <= value <= hi``, of ``width`` bits in two's complement; unbounded for None.

    >>> lane = Term("lane", 0, 31, 16)
    >>> (lane >> 2).expr, (lane % 4 * 8).hi
    (('bvlshr', 'lane', '#x0002'), 24)

    Raises TermOverflow when a value could leave the width. Raises TermError for ``//`` and ``%`` of a possibly negative
    value or by anything but a positive constant, for a shift by anything but a constant, and for ``bool(term)``.
    """

    expr: Sexpr
    lo: int
    hi: int
    width: int | None

    __array_ufunc__ = None  # so a numpy scalar on the left lets the Term on the right compute the operation

    def __post_init__(self) -> None:
        if self.lo > self.hi:
            raise TermError(f"empty interval [{self.lo}, {self.hi}]")
        if not (fits(self.lo, self.width) and fits(self.hi, self.width)):
            needed = 1 + max(self.lo.bit_length(), self.hi.bit_length())
            raise TermOverflow(f"a value of {needed} bits does not fit {self.width or LARGEST}")

    def __bool__(self) -> bool:
        raise TermError("a symbolic value has no truth: write where(c, a, b) in place of if, and compare explicitly")

    def __add__(self, other: Number) -> Term:
        b = self._lift(other)
        return self._make("+", b, (self.lo + b.lo, self.hi + b.hi))

    def __sub__(self, other: Number) -> Term:
        b = self._lift(other)
        return self._make("-", b, (self.lo - b.hi, self.hi - b.lo))

    def __mul__(self, other: Number) -> Term:
        b = self._lift(other)
        corners = [x * y for x in (self.lo, self.hi) for y in (b.lo, b.hi)]
        return self._make("*", b, (min(corners), max(corners)))

    def __radd__(self, other: Number) -> Term:
        return self._lift(other) + self

    def __rsub__(self, other: Number) -> Term:
        return self._lift(other) - self

    def __rmul__(self, other: Number) -> Term:
        return self._lift(other) * self

    def __neg__(self) -> Term:
        return 0 - self

    def __floordiv__(self, other: Number) -> Term:
        c = self._divisor(other, "//")
        if not fits(c, self.width):  # then every value is below the divisor
            return constant(0, self.width)
        interval = (self.lo // c, self.hi // c)
        if self.width is None:
            return Term(("div", self.expr, str(c)), *interval, None)
        if c & (c - 1) == 0:
            return self._make("lshr", self._lift(c.bit_length() - 1), interval)
        return self._make("udiv", self._lift(c), interval)

    def __mod__(self, other: Number) -> Term:
        c = self._divisor(other, "%")
        if not fits(c, self.width):
            return self
        interval = (0, min(self.hi, c - 1))
        if self.width is None:
            return Term(("mod", self.expr, str(c)), *interval, None)
        if c & (c - 1) == 0:
            return self._make("and", self._lift(c - 1), interval)
        return self._make("urem", self._lift(c), interval)

    def __lshift__(self, other: Number) -> Term:
        return self * (1 << _shift(other))

    def __rshift__(self, other: Number) -> Term:
        k = _shift(other)
        if self.width is None:
            return Term(("div", self.expr, str(1 << k)), self.lo >> k, self.hi >> k, None)
        name = "lshr" if self.lo >= 0 else "ashr"
        return self._make(name, self._lift(min(k, self.width - 1)), (self.lo >> k, self.hi >> k))

    def __and__(self, other: Number) -> Term:
        if self.width is None:
            return _mask_bits(self, _mask(other, "&"))
        b = self._lift(other)
        tops = [x.hi for x in (self, b) if x.lo >= 0]
        return self._make("and", b, (0, min(tops)) if tops else _bits_interval(self, b))

    def __or__(self, other: Number) -> Term:
        if self.width is None:
            m = _mask(other, "|")
            return self + m - _mask_bits(self, m)
        b = self._lift(other)
        return self._make("or", b, _bits_interval(self, b))

    def __xor__(self, other: Number) -> Term:
        if self.width is None:
            m = _mask(other, "^")
            return self + m - 2 * _mask_bits(self, m)
        b = self._lift(other)
        return self._make("xor", b, _bits_interval(self, b))

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __lt__(self, other: Number) -> BoolTerm:
        return self._compare("<", other)

    def __le__(self, other: Number) -> BoolTerm:
        return self._compare("<=", other)

    def __gt__(self, other: Number) -> BoolTerm:
        return self._compare(">", other)

    def __ge__(self, other: Number) -> BoolTerm:
        return self._compare(">=", other)

    def __eq__(self, other: object) -> BoolTerm:  # type: ignore[override]
        return self._compare("==", cast("Number", other))

    def __ne__(self, other: object) -> BoolTerm:  # type: ignore[override]
        return self._compare("==", cast("Number", other)) ^ True

    __hash__ = None  # type: ignore[assignment]  # equality is symbolic

    def _lift(self, operand: Number) -> Term:
        if isinstance(operand, Term):
            if operand.width != self.width:
                raise TermError(f"terms of width {self.width} and {operand.width} in one operation")
            return operand
        return constant(index(operand), self.width)

    def _make(self, operator: str, right: Term, interval: tuple[int, int]) -> Term:
        name = operator if self.width is None else _BIT_VECTOR.get(operator, "bv" + operator)
        return Term((name, self.expr, right.expr), *interval, self.width)

    def _divisor(self, divisor: Number, symbol: str) -> int:
        if isinstance(divisor, Term) or index(divisor) <= 0:
            raise TermError(f"{symbol} needs a positive constant on its right")
        if self.lo < 0:
            raise TermError(f"{symbol} of a value in [{self.lo}, {self.hi}]: its left side must not be negative")
        return index(divisor)

    def _compare(self, symbol: str, right: Number) -> BoolTerm:
        if not isinstance(right, Term) and not fits(index(right), self.width):
            return BoolTerm(_truth(_PYTHON[symbol](0, index(right))), self.width)
        b = self._lift(right)
        name = symbol if self.width is None else _BIT_VECTOR[symbol]
        return BoolTerm(("=" if symbol == "==" else name, self.expr, b.expr), self.width)


@dataclass(frozen=True, slots=True, eq=False)
class BoolTerm:
    """A symbolic truth value: ``&`` is and, ``|`` or, ``^ True`` not; ``c.__where__(a, b)`` is a if c holds, else b."""

    expr: Sexpr
    width: int | None

    def __bool__(self) -> bool:
        raise TermError("a symbolic condition has no truth: join conditions with & and |, choose with where(c, a, b)")

    def __and__(self, other: Truth) -> BoolTerm:
        return self._join("and", other)

    def __or__(self, other: Truth) -> BoolTerm:
        return self._join("or", other)

    def __xor__(self, other: Truth) -> BoolTerm:
        if other is True:
            return BoolTerm(("not", self.expr), self.width)
        return self._join("xor", other)

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __where__(self, a: Number, b: Number) -> Term:
        x = a if isinstance(a, Term) else constant(index(a), self.width)
        y = b if isinstance(b, Term) else constant(index(b), self.width)
        if {x.width, y.width} != {self.width}:
            raise TermError(f"where over widths {self.width}, {x.width} and {y.width}")
        return Term(("ite", self.expr, x.expr, y.expr), min(x.lo, y.lo), max(x.hi, y.hi), self.width)

    def _join(self, name: str, right: Truth) -> BoolTerm:
        if isinstance(right, BoolTerm):
            return BoolTerm((name, self.expr, right.expr), self.width)
        if not isinstance(right, bool):
            raise TermError(f"a condition and {right!r}: conditions join with conditions only")
        return BoolTerm((name, self.expr, _truth(right)), self.width)


_BIT_VECTOR = {
    "+": "bvadd", "-": "bvsub", "*": "bvmul",
    "<": "bvslt", "<=": "bvsle", ">": "bvsgt", ">=": "bvsge", "==": "=",
}  # fmt: skip
_PYTHON: dict[str, Callable[[int, int], bool]] = {
    "<": int.__lt__, "<=": int.__le__, ">": int.__gt__, ">=": int.__ge__, "==": int.__eq__,
}  # fmt: skip


def constant(value: int, width: int | None) -> Term:
    """Return the integer ``value`` as a Term.

    >>> constant(-1, 16).expr, constant(-1, None).expr
    ('#xffff', ('-', '1'))
    """
    if width is None:
        return Term(str(value) if value >= 0 else ("-", str(-value)), value, value, None)
    if width % 4:
        raise TermError(f"widths are multiples of 4, not {width}")
    return Term(f"#x{value % (1 << width):0{width // 4}x}", value, value, width)


def fits(value: int, width: int | None) -> bool:
    """Whether ``value`` is a signed number of ``width`` bits; for an unbounded integer, of LARGEST bits."""
    return value.bit_length() < (width or LARGEST)


def _truth(value: bool) -> str:
    return "true" if value else "false"


def _shift(amount: Number) -> int:
    if isinstance(amount, Term) or index(amount) < 0:
        raise TermError("shifts need a constant, not negative, on their right")
    return index(amount)


def _bits_interval(a: Term, b: Term) -> tuple[int, int]:
    """Bounds of any bitwise operation: as many bits as the wider operand has, signed if an operand is."""
    top = 1 << max(x.bit_length() for x in (a.lo, a.hi, b.lo, b.hi))
    return (0 if min(a.lo, b.lo) >= 0 else -top), top - 1


def _mask(operand: Number, symbol: str) -> int:
    if isinstance(operand, Term) or index(operand) < 0:
        raise UnsupportedTerm(f"{symbol} on unbounded integers needs a constant, not negative")
    return index(operand)


def _mask_bits(a: Term, mask: int) -> Term:
    """Bitwise and over the integers: one (a div 2^k) mod 2^n for each run of ones; exact for negative a too."""
    total = constant(0, None)
    while mask:
        start = (mask & -mask).bit_length() - 1
        length = (~(mask >> start) & -~(mask >> start)).bit_length() - 1
        run = ("mod", ("div", a.expr, str(1 << start)), str(1 << length))
        total = total + Term(run, 0, (1 << length) - 1, None) * (1 << start)
        mask &= mask + (1 << start)
    return total
