# SPDX-License-Identifier: Apache-2.0
"""A second coding of what opcodes do on plain bits: the formats, conversions and the arithmetic of floats.

A float is a Fraction with its sign, an infinity or a NaN; a rounding picks one of the two neighbours of an exact value,
by where the value lies between them. `second_bits` has the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isqrt

FORMATS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "tf32": (8, 10), "f64": (11, 52), "e4m3": (4, 3),
           "e5m2": (5, 2)}  # fmt: skip
CANONICAL = {"f16": 0x7FFF, "bf16": 0x7FFF, "f32": 0x7FFFFFFF, "tf32": 0x7FFFFFFF, "e4m3": 0x7F, "e5m2": 0x7F}
BITS = {"f16": 16, "bf16": 16, "f32": 32, "tf32": 32, "f64": 64, "e4m3": 8, "e5m2": 8, "pred": 1}
PACKED = {
    "f16x2": "f16", "bf16x2": "bf16", "f32x2": "f32", "e4m3x2": "e4m3", "e5m2x2": "e5m2",
    "u16x2": "u16", "s16x2": "s16",
}  # fmt: skip


class Open(Exception):
    """Raised for a result that the ISA leaves open."""


def bits_of(kind: str) -> int:
    if kind in PACKED:
        return 2 * bits_of(PACKED[kind])
    return BITS[kind] if kind in BITS else int(kind[1:])


def is_float(kind: str) -> bool:
    return kind in FORMATS


def read_integer(bits: int, kind: str) -> int:
    """The integer that bits are in a type."""
    width = bits_of(kind)
    bits %= 1 << width
    return bits - (1 << width) if kind[0] == "s" and bits >= 1 << (width - 1) else bits


class Float:
    """A float as the ISA speaks of it: what it is, its sign, and its value where it is finite."""

    def __init__(self, what: str, negative: bool, value: Fraction = Fraction(0), payload: int = 0) -> None:
        self.what, self.negative, self.value, self.payload = what, negative, value, payload

    @property
    def signed(self) -> Fraction:
        return -self.value if self.negative else self.value


def read(bits: int, kind: str, flush: bool = False) -> Float:
    exponent_bits, fraction_bits = FORMATS[kind]
    if kind == "tf32":
        bits >>= 13
    negative = bits >> (exponent_bits + fraction_bits) & 1 == 1
    exponent, fraction = bits >> fraction_bits & ((1 << exponent_bits) - 1), bits & ((1 << fraction_bits) - 1)
    bias = (1 << (exponent_bits - 1)) - 1
    if exponent == (1 << exponent_bits) - 1:
        if kind == "e4m3":
            if fraction == 7:
                return Float("nan", negative)
        elif fraction:
            return Float("nan", negative, payload=fraction << (52 - fraction_bits))
        else:
            return Float("inf", negative)
    if exponent == 0:
        small = Fraction(0) if flush else Fraction(fraction, 1 << fraction_bits) * Fraction(2) ** (1 - bias)
        return Float("finite", negative, small)
    return Float("finite", negative, (1 + Fraction(fraction, 1 << fraction_bits)) * Fraction(2) ** (exponent - bias))


def largest(kind: str) -> Fraction:
    exponent_bits, fraction_bits = FORMATS[kind]
    if kind == "e4m3":
        return Fraction(448)
    return (2 - Fraction(1, 1 << fraction_bits)) * Fraction(2) ** ((1 << (exponent_bits - 1)) - 1)


def spacing(value: Fraction, kind: str) -> Fraction:
    """The distance between neighbours around a positive value."""
    exponent_bits, fraction_bits = FORMATS[kind]
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    if Fraction(2) ** exponent > value:
        exponent -= 1
    return Fraction(2) ** (max(exponent, 2 - (1 << (exponent_bits - 1))) - fraction_bits)


def neighbour(value: Fraction, step: Fraction, rounding: str, negative: bool) -> Fraction:
    """The multiple of a step to which a value that is not negative is rounded."""
    count = value / step
    low = Fraction(count.numerator // count.denominator)
    if low == count:
        return value
    rest = count - low
    if rounding == "rn":
        up = rest > Fraction(1, 2) or (rest == Fraction(1, 2) and low.numerator % 2 == 1)
    elif rounding == "rna":
        up = rest >= Fraction(1, 2)
    else:
        up = rounding == ("rm" if negative else "rp")
    return (low + up) * step


def write_float(value: Float, kind: str, rounding: str = "rn", flush: bool = False, finite: bool = False,
            payload: bool = False) -> int:  # fmt: skip
    exponent_bits, fraction_bits = FORMATS[kind]
    shift = 13 if kind == "tf32" else 0
    sign = value.negative << (exponent_bits + fraction_bits)
    top = ((1 << exponent_bits) - 1) << fraction_bits
    if value.what == "nan":
        if kind == "f64" and not payload:
            raise AssertionError("which NaN of f64 is for the caller")
        if payload:
            return sign | top | 1 << (fraction_bits - 1) | value.payload >> (52 - fraction_bits)
        return CANONICAL[kind]
    number = value.value
    if value.what == "inf":
        return (encode(largest(kind), kind) if finite or kind == "e4m3" else top) << shift | sign << shift
    if number:
        number = neighbour(number, spacing(number, kind), rounding, value.negative)
    if number > largest(kind):
        stays = rounding in ("rz", "rp" if value.negative else "rm")
        bits = encode(largest(kind), kind) if stays or finite or kind == "e4m3" else top
        return bits << shift | sign << shift
    if flush and number < Fraction(2) ** (2 - (1 << (exponent_bits - 1))):
        number = Fraction(0)
    return encode(number, kind) << shift | sign << shift


def encode(value: Fraction, kind: str) -> int:
    """The bits of a positive number of a format."""
    exponent_bits, fraction_bits = FORMATS[kind]
    bias = (1 << (exponent_bits - 1)) - 1
    if not value:
        return 0
    step = spacing(value, kind)
    digits = value / step
    assert digits.denominator == 1
    steps = step / Fraction(2) ** (1 - bias - fraction_bits)  # a power of two
    return digits.numerator + (steps.numerator.bit_length() - 1 << fraction_bits)


# ---- conversions


def limits(kind: str) -> tuple[int, int]:
    width = bits_of(kind)
    return (-(1 << (width - 1)), (1 << (width - 1)) - 1) if kind[0] == "s" else (0, (1 << width) - 1)


def clamp(number: int, kind: str) -> int:
    low, high = limits(kind)
    return low if number < low else high if number > high else number


def rounded_whole(value: Fraction, rounding: str) -> int:
    floor = value.numerator // value.denominator
    if floor == value or rounding == "rmi":
        return floor
    if rounding == "rpi":
        return floor + 1
    if rounding == "rzi":
        return floor + (value < 0)
    rest = value - floor
    return floor + (rest > Fraction(1, 2) or (rest == Fraction(1, 2) and floor % 2 == 1))


def saturate(value: Float, words: Sequence[str]) -> Float:
    """`.sat` clamps to [0, 1], and makes +0 of NaN; `.relu` makes +0 of what is negative."""
    zero = Float("finite", False)
    if "sat" in words:
        if value.what == "nan" or value.negative:
            return zero
        if value.what == "inf" or value.value > 1:
            return Float("finite", False, Fraction(1))
    if "relu" in words and value.what != "nan" and value.negative:
        return zero
    return value


def convert(words: Sequence[str], to: str, source: str, bits: int) -> int:
    rounding = next(
        (each for each in words if each in ("rn", "rz", "rm", "rp", "rna", "rni", "rzi", "rmi", "rpi")), "rn"
    )
    flush = "ftz" in words
    if not is_float(source):
        number = read_integer(bits, source)
        if not is_float(to):
            return clamp(number, to) if "sat" in words else read_integer(number, to)
        return write_float(saturate(Float("finite", number < 0, Fraction(abs(number))), words), to, rounding)
    value = read(bits % (1 << bits_of(source)), source, flush and source == "f32")
    if not is_float(to):
        if value.what == "nan":
            return read_integer(1 << (bits_of(to) - 1), to) if source == "f64" or bits_of(to) == 64 else 0
        if value.what == "inf":
            return limits(to)[not value.negative]
        return clamp(rounded_whole(value.signed, rounding), to)
    if rounding.endswith("i") and value.what == "finite":
        value = Float("finite", value.negative, Fraction(abs(rounded_whole(value.signed, rounding))))
    rounding = "rn" if rounding.endswith("i") else rounding
    double = "f64" in (to, source)
    if value.what == "nan" and to == source and not double and bits != CANONICAL[to] and not set(words) & {
        "sat", "rni", "rzi", "rmi", "rpi"}:  # fmt: skip
        raise Open
    value = saturate(value, words)
    return write_float(value, to, rounding, flush and to == "f32", "satfinite" in words, double)


# ---- arithmetic of floats


def invalid(kind: str, *operands: Float) -> int:
    """A NaN as a result: canonical, and in f64 the first operand that is one, or that of an invalid operation."""
    if kind != "f64":
        return CANONICAL[kind]
    first = next((each for each in operands if each.what == "nan"), None)
    return 0xFFF8 << 48 if first is None else write_float(first, kind, payload=True)


def finish(value: Float, kind: str, words: Sequence[str], rounding: str) -> int:
    return write_float(saturate(value, words), kind, rounding, "ftz" in words)


def nan_result(kind: str, words: Sequence[str], *operands: Float) -> int:
    return 0 if "sat" in words else invalid(kind, *operands)


def total(kind: str, words: Sequence[str], rounding: str, a: Float, b: Float, operands: Sequence[Float]) -> int:
    if "nan" in (a.what, b.what) or (a.what == b.what == "inf" and a.negative != b.negative):
        return nan_result(kind, words, *operands)
    if "inf" in (a.what, b.what):
        return finish(a if a.what == "inf" else b, kind, words, rounding)
    value = a.signed + b.signed
    if value:
        return finish(Float("finite", value < 0, abs(value)), kind, words, rounding)
    return finish(Float("finite", a.negative if a.negative == b.negative else rounding == "rm"), kind, words, rounding)


def times(a: Float, b: Float) -> Float:
    negative = a.negative != b.negative
    if "nan" in (a.what, b.what):
        return Float("nan", False)
    if "inf" in (a.what, b.what):
        zero = any(each.what == "finite" and not each.value for each in (a, b))
        return Float("nan" if zero else "inf", negative)
    return Float("finite", negative, a.value * b.value)


def quotient(kind: str, words: Sequence[str], rounding: str, a: Float, b: Float) -> int:
    negative = a.negative != b.negative
    if "nan" in (a.what, b.what) or a.what == b.what == "inf" or (
        a.what == b.what == "finite" and not a.value and not b.value):  # fmt: skip
        return nan_result(kind, words, a, b)
    if a.what == "inf" or (b.what == "finite" and not b.value):
        return finish(Float("inf", negative), kind, words, rounding)
    if b.what == "inf":
        return finish(Float("finite", negative), kind, words, rounding)
    return finish(Float("finite", negative, a.value / b.value), kind, words, rounding)


def square_root(kind: str, words: Sequence[str], rounding: str, a: Float) -> int:
    if a.what == "nan" or (a.negative and (a.what == "inf" or a.value)):
        return nan_result(kind, words, a)
    if a.what == "inf" or not a.value:
        return finish(a, kind, words, rounding)
    scale = 1 << 600  # a root with so many digits lies between the same neighbours, unless it is exact
    low = Fraction(isqrt(a.value.numerator * a.value.denominator * scale**2), a.value.denominator * scale)
    exact = low * low == a.value
    above = low if exact else low + Fraction(1, a.value.denominator * scale * 2)
    return finish(Float("finite", False, above), kind, words, rounding)


def extremum(head: str, kind: str, words: Sequence[str], a: Float, b: Float) -> int:
    negative = a.negative != b.negative
    if "xorsign" in words:
        a, b = (Float(each.what, False, each.value, each.payload) for each in (a, b))
    numbers = [each for each in (a, b) if each.what != "nan"]
    if not numbers or (len(numbers) == 1 and "NaN" in words):
        return 0xFFF8 << 48 if kind == "f64" else CANONICAL[kind]
    big = largest(kind) + 1
    ordered = sorted(numbers, key=lambda each: (
        (big if each.what == "inf" else each.value) * (-1 if each.negative else 1), not each.negative))  # fmt: skip
    chosen = ordered[0 if head == "min" else -1]
    return write_float(
        Float(chosen.what, negative if "xorsign" in words else chosen.negative, chosen.value), kind, "rn"
    )


def arithmetic(head: str, words: Sequence[str], kind: str, *bits: int) -> int:  # noqa: PLR0911 - one for each opcode
    flush = "ftz" in words
    rounding = next((each for each in words if each in ("rn", "rz", "rm", "rp")), "rn")
    operands = [read(each % (1 << bits_of(kind)), kind, flush) for each in bits]
    a, b = operands[0], operands[-1]
    if head in ("neg", "abs"):
        if a.what == "nan":
            if kind == "f64":
                raise Open
            return CANONICAL[kind]
        return write_float(Float(a.what, head == "neg" and not a.negative, a.value), kind, "rn", flush)
    if head in ("min", "max"):
        return extremum(head, kind, words, a, b)
    if head == "rcp":
        return quotient(kind, words, rounding, Float("finite", False, Fraction(1)), a)
    if head == "div":
        return quotient(kind, words, rounding, a, b)
    if head == "sqrt":
        return square_root(kind, words, rounding, a)
    if head == "mul":
        made = times(a, b)
        return nan_result(kind, words, a, b) if made.what == "nan" else finish(made, kind, words, rounding)
    if head in ("fma", "mad"):
        return total(kind, words, rounding, times(a, operands[1]), b, operands)
    if head == "sub" and b.what != "nan":
        b = Float(b.what, not b.negative, b.value)
    return total(kind, words, rounding, a, b, operands)


def copy_sign(kind: str, a: int, b: int) -> int:
    width = bits_of(kind)
    return b % (1 << (width - 1)) + (a >> (width - 1) << (width - 1))


def property_of(kind: str, tested: str, bits: int) -> int:
    value = read(bits, kind)
    normal = value.what == "finite" and (
        not value.value or value.value >= Fraction(2) ** {"f32": -126, "f64": -1022}[kind]
    )
    return int({"finite": value.what == "finite", "infinite": value.what == "inf", "number": value.what != "nan",
                "notanumber": value.what == "nan", "normal": normal,
                "subnormal": value.what == "finite" and not normal}[tested])  # fmt: skip
