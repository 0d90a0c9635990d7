# SPDX-License-Identifier: Apache-2.0
"""Floating-point arithmetic on plain bits, rounded as IEEE 754 and the PTX ISA say: in integers, a number at a time.

A finite `FloatNumber` is (-1)^negative * significand * 2^exponent, and a little more where `sticky` says that digits
below were dropped. `unpack` reads bits, `add` to `root` compute, `pack` rounds once. Where the ISA leaves a NaN's
payload open, it is the one that an H100 returned: all ones but the sign in f32 and narrower types, an operand's in f64.

>>> third = divide(unpack(0x3F800000, "f32"), unpack(0x40400000, "f32"))
>>> [hex(pack(third, "f32", rounding)[0]) for rounding in ("rn", "rz", "rp")]
['0x3eaaaaab', '0x3eaaaaaa', '0x3eaaaaab']
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import isqrt
from typing import NamedTuple

FINITE, INFINITE, NAN = range(3)
_PAYLOAD = 52  # bits of a NaN's payload while it is computed: f64 has the most
_DIGITS = 66  # of a quotient or root, more than any format has and two to round by


class Format(NamedTuple):
    """A format of floats: the bits of its exponent and fraction, zeros below, and its canonical NaN."""

    exponent: int
    fraction: int
    nan: int
    below: int = 0
    infinite: bool = True  # False: the largest exponent has numbers, and one NaN

    @property
    def least(self) -> int:
        """The exponent of the last digit of a subnormal number."""
        return 2 - (1 << (self.exponent - 1)) - self.fraction

    @property
    def sign(self) -> int:
        """The bit of the sign."""
        return 1 << (self.exponent + self.fraction + self.below)

    @property
    def infinity(self) -> int:
        """The bits of infinity; of the NaN in a format without one."""
        return ((1 << self.exponent) - 1 << self.fraction) | (0 if self.infinite else (1 << self.fraction) - 1)

    @property
    def most(self) -> int:
        """The bits of the largest finite number, without zeros below."""
        return self.infinity - 1


# Exponent and fraction: IEEE 754, and PTX ISA 5.2.3 for bf16, tf32, e4m3 and e5m2. An operation of f16, bf16 and f32
# returns the NaN given here, which the ISA calls canonical (9.7.3 and 9.7.4); of f64 GPUs return the quiet one.
FORMATS: Mapping[str, Format] = {
    "f16": Format(5, 10, 0x7FFF),
    "bf16": Format(8, 7, 0x7FFF),
    "f32": Format(8, 23, 0x7FFFFFFF),
    "tf32": Format(8, 10, 0x7FFFFFFF, 13),
    "f64": Format(11, 52, 0xFFF8 << 48),
    "e4m3": Format(4, 3, 0x7F, infinite=False),
    "e5m2": Format(5, 2, 0x7F),
}


def fits(name: str, kind: str) -> bool:
    """Return whether each number of one format is one of another.

    >>> fits("bf16", "tf32"), fits("bf16", "f16"), fits("s8", "f16")
    (True, False, False)
    """
    source, target = FORMATS.get(name), FORMATS.get(kind)
    return (
        source is not None
        and target is not None
        and source.exponent <= target.exponent
        and source.fraction <= target.fraction
    )


class FloatNumber(NamedTuple):
    """A number, an infinity or a NaN; `significand` of a NaN is its payload, 0 where it was made by an operation."""

    kind: int
    negative: bool
    significand: int = 0
    exponent: int = 0
    sticky: bool = False


INVALID = FloatNumber(NAN, True)  # of an operation without a result, such as 0 * infinity
ZERO, ONE = FloatNumber(FINITE, False), FloatNumber(FINITE, False, 1)


def unpack(bits: int, name: str, flush: bool = False) -> FloatNumber:
    """Read bits of a format; `flush` reads a subnormal number as zero of its sign."""
    of = FORMATS[name]
    negative, bits = bool(bits & of.sign), (bits & (of.sign - 1)) >> of.below
    field, fraction = bits >> of.fraction, bits & ((1 << of.fraction) - 1)
    if bits > of.most:
        if of.infinite and not fraction:
            return FloatNumber(INFINITE, negative)
        return FloatNumber(NAN, negative, fraction << (_PAYLOAD - of.fraction) or 1)
    if not field:
        return FloatNumber(FINITE, negative, 0 if flush else fraction, of.least)
    return FloatNumber(FINITE, negative, fraction | 1 << of.fraction, of.least + field - 1)


def decode(bits: int, kind: str) -> Fraction | None:
    """Return the number that bits are in a type of integers or floats; None for an infinity or NaN.

    >>> decode(0x3C00, "f16"), decode(0xBF80, "bf16"), decode(0xFF, "s8"), decode(0x7E, "e4m3")
    (Fraction(1, 1), Fraction(-1, 1), Fraction(-1, 1), Fraction(448, 1))
    """
    if kind[0] in "su":
        width = int(kind[1:])
        bits &= (1 << width) - 1
        return Fraction(bits - (1 << width if kind[0] == "s" and bits >> (width - 1) else 0))
    number = unpack(bits, "f32" if kind == "tf32" else kind)  # what a tf32 register has below its digits is kept
    if number.kind != FINITE:
        return None
    return Fraction(-number.significand if number.negative else number.significand) * Fraction(2) ** number.exponent


def largest(kind: str) -> Fraction:
    """Return the largest finite number of a format.

    >>> largest("f16"), largest("e4m3")
    (Fraction(65504, 1), Fraction(448, 1))
    """
    number = decode(FORMATS[kind].most << FORMATS[kind].below, kind)
    assert number is not None
    return number


def of_integer(number: int) -> FloatNumber:
    """Return an integer as a number."""
    return FloatNumber(FINITE, number < 0, abs(number))


def negate(a: FloatNumber) -> FloatNumber:
    """Return -a."""
    return a._replace(negative=not a.negative)


def _first_nan(*operands: FloatNumber) -> FloatNumber | None:
    """Return the NaN that a result is: the first one among the operands, one with a payload before others."""
    nans = [operand for operand in operands if operand.kind == NAN]
    return max(nans, key=lambda nan: nan.significand > 0) if nans else None


def add(a: FloatNumber, b: FloatNumber, rounding: str) -> FloatNumber:
    """Return a + b; a sum that cancels is +0, and -0 where it is rounded down."""
    nan = _first_nan(a, b)
    if nan is not None:
        return nan
    if INFINITE in (a.kind, b.kind):
        if a.kind == b.kind and a.negative != b.negative:
            return INVALID
        return a if a.kind == INFINITE else b
    exponent = min(a.exponent, b.exponent)
    total = sum(
        (-term.significand if term.negative else term.significand) << (term.exponent - exponent) for term in (a, b)
    )
    negative = total < 0 if total else a.negative if a.negative == b.negative else rounding == "rm"
    return FloatNumber(FINITE, negative, abs(total), exponent)


def multiply(a: FloatNumber, b: FloatNumber) -> FloatNumber:
    """Return a * b."""
    nan = _first_nan(a, b)
    if nan is not None:
        return nan
    negative = a.negative != b.negative
    if INFINITE in (a.kind, b.kind):
        zero = any(factor.kind == FINITE and not factor.significand for factor in (a, b))
        return INVALID if zero else FloatNumber(INFINITE, negative)
    return FloatNumber(FINITE, negative, a.significand * b.significand, a.exponent + b.exponent)


def divide(a: FloatNumber, b: FloatNumber) -> FloatNumber:
    """Return a / b."""
    nan = _first_nan(a, b)
    if nan is not None:
        return nan
    negative = a.negative != b.negative
    if a.kind == INFINITE or (b.kind == FINITE and not b.significand):
        invalid = b.kind == INFINITE or (a.kind == FINITE and not a.significand)
        return INVALID if invalid else FloatNumber(INFINITE, negative)
    if b.kind == INFINITE or not a.significand:
        return FloatNumber(FINITE, negative)
    shift = max(_DIGITS + b.significand.bit_length() - a.significand.bit_length(), 0)
    quotient, rest = divmod(a.significand << shift, b.significand)
    return FloatNumber(FINITE, negative, quotient, a.exponent - b.exponent - shift, bool(rest))


def root(a: FloatNumber) -> FloatNumber:
    """Return the square root of a; that of -0 is -0."""
    if a.kind == NAN or (a.kind == FINITE and not a.significand):
        return a
    if a.negative:
        return INVALID
    if a.kind == INFINITE:
        return a
    shift = max(2 * _DIGITS - a.significand.bit_length(), 0)
    shift += (a.exponent - shift) % 2
    digits = isqrt(a.significand << shift)
    return FloatNumber(FINITE, False, digits, (a.exponent - shift) // 2, digits * digits != a.significand << shift)


def is_less(a: FloatNumber, b: FloatNumber) -> bool:
    """Return whether a < b, of numbers and infinities; -0 is below +0."""
    if INFINITE in (a.kind, b.kind):
        ranks = [(-1 if number.negative else 1) if number.kind == INFINITE else 0 for number in (a, b)]
        return ranks[0] < ranks[1]
    exponent = min(a.exponent, b.exponent)
    x, y = (
        (-number.significand if number.negative else number.significand) << (number.exponent - exponent)
        for number in (a, b)
    )
    return bool(x < y) or (x == y == 0 and a.negative and not b.negative)


def to_integer(a: FloatNumber, rounding: str) -> tuple[int, bool]:
    """Round a finite number to an integer by rn, rz, rm or rp, and say whether it was one."""
    if a.exponent >= 0:
        kept, exact = a.significand << a.exponent, not a.sticky
    else:
        kept, exact = _round(a, -a.exponent, rounding)
    return (-kept if a.negative else kept), exact


def _round(a: FloatNumber, shift: int, rounding: str) -> tuple[int, bool]:
    """Return the significand without its last digits, rounded, and whether they were zeros."""
    kept, rest = a.significand >> shift, a.significand & ((1 << shift) - 1)
    half = 1 << (shift - 1)
    if not rest and not a.sticky:
        return kept, True
    if rounding == "rn":
        up = rest > half or (rest == half and (a.sticky or kept & 1 == 1))
    else:
        up = rest >= half if rounding == "rna" else rounding == ("rm" if a.negative else "rp")
    return kept + up, False


def pack(
    a: FloatNumber, name: str, rounding: str = "rn", flush: bool = False, finite: bool = False, payload: bool = False
) -> tuple[int, bool]:
    """Round a number to a format, and say whether it is equal to what it was.

    `flush` makes a subnormal result zero of its sign; `finite` makes the largest number of what is beyond it;
    `payload` keeps the payload of a NaN, and its sign.
    """
    of = FORMATS[name]
    sign = of.sign if a.negative else 0
    if a.kind == NAN:
        return (_packed_nan(a, of) if payload and a.significand else of.nan), True
    largest = of.most << of.below | sign
    if a.kind == INFINITE:
        return (largest, False) if finite or not of.infinite else (of.infinity << of.below | sign, True)
    if not a.significand:
        return sign, True
    last = max(a.exponent + a.significand.bit_length() - 1 - of.fraction, of.least)  # the exponent of the last digit
    shift = last - a.exponent
    kept, exact = (a.significand << -shift, not a.sticky) if shift <= 0 else _round(a, shift, rounding)
    if kept >> of.fraction:  # one that carries into the next power of two has the next exponent by itself
        kept += (last - of.least) << of.fraction
    elif flush:
        return sign, False
    if kept > of.most:
        away = {"rz": False, "rm": a.negative, "rp": not a.negative}.get(rounding, True)
        return (of.infinity << of.below | sign if away and of.infinite and not finite else largest), False
    return kept << of.below | sign, exact


def _packed_nan(a: FloatNumber, of: Format) -> int:
    """Return a NaN with the first digits of a payload, made quiet."""
    sign, quiet = of.sign if a.negative else 0, 1 << (of.fraction - 1)
    return sign | of.infinity | quiet | a.significand >> (_PAYLOAD - of.fraction)
