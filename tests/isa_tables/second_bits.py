# SPDX-License-Identifier: Apache-2.0
"""A second coding of what opcodes do on plain bits, from the text of the PTX ISA, in Python's integers and fractions.

It reads no table and no code of the interpreter. `expected` gives the bits of a result, or None where the ISA leaves
them open. A float is a Fraction with its sign, an infinity or a NaN; a rounding picks one of the two neighbours of an
exact value, by where the value lies between them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import isqrt

FORMATS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "tf32": (8, 10), "f64": (11, 52), "e4m3": (4, 3),
           "e5m2": (5, 2)}  # fmt: skip
CANONICAL = {"f16": 0x7FFF, "bf16": 0x7FFF, "f32": 0x7FFFFFFF, "tf32": 0x7FFFFFFF, "e4m3": 0x7F, "e5m2": 0x7F}
BITS = {"f16": 16, "bf16": 16, "f32": 32, "tf32": 32, "f64": 64, "e4m3": 8, "e5m2": 8, "pred": 1}
PACKED = {"f16x2": "f16", "bf16x2": "bf16", "f32x2": "f32", "e4m3x2": "e4m3", "e5m2x2": "e5m2"}


class Open(Exception):
    """Raised for a result that the ISA leaves open."""


def bits_of(kind: str) -> int:
    if kind in PACKED:
        return 2 * BITS[PACKED[kind]]
    return BITS[kind] if kind in BITS else int(kind[1:])


def is_float(kind: str) -> bool:
    return kind in FORMATS


def whole(bits: int, kind: str) -> int:
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


def written(value: Float, kind: str, rounding: str = "rn", flush: bool = False, finite: bool = False,
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
        return (encoded(largest(kind), kind) if finite or kind == "e4m3" else top) << shift | sign << shift
    if number:
        number = neighbour(number, spacing(number, kind), rounding, value.negative)
    if number > largest(kind):
        stays = rounding in ("rz", "rp" if value.negative else "rm")
        bits = encoded(largest(kind), kind) if stays or finite or kind == "e4m3" else top
        return bits << shift | sign << shift
    if flush and number < Fraction(2) ** (2 - (1 << (exponent_bits - 1))):
        number = Fraction(0)
    return encoded(number, kind) << shift | sign << shift


def encoded(value: Fraction, kind: str) -> int:
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


def clamped(number: int, kind: str) -> int:
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


def saturated(value: Float, words: Sequence[str]) -> Float:
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
        number = whole(bits, source)
        if not is_float(to):
            return clamped(number, to) if "sat" in words else whole(number, to)
        return written(saturated(Float("finite", number < 0, Fraction(abs(number))), words), to, rounding)
    value = read(bits % (1 << bits_of(source)), source, flush and source == "f32")
    if not is_float(to):
        if value.what == "nan":
            return whole(1 << (bits_of(to) - 1), to) if source == "f64" or bits_of(to) == 64 else 0
        if value.what == "inf":
            return limits(to)[not value.negative]
        return clamped(rounded_whole(value.signed, rounding), to)
    if rounding.endswith("i") and value.what == "finite":
        value = Float("finite", value.negative, Fraction(abs(rounded_whole(value.signed, rounding))))
    rounding = "rn" if rounding.endswith("i") else rounding
    double = "f64" in (to, source)
    if value.what == "nan" and to == source and not double and bits != CANONICAL[to] and not set(words) & {
        "sat", "rni", "rzi", "rmi", "rpi"}:  # fmt: skip
        raise Open
    value = saturated(value, words)
    return written(value, to, rounding, flush and to == "f32", "satfinite" in words, double)


# ---- arithmetic of floats


def invalid(kind: str, *operands: Float) -> int:
    """A NaN as a result: canonical, and in f64 the first operand that is one, or that of an invalid operation."""
    if kind != "f64":
        return CANONICAL[kind]
    first = next((each for each in operands if each.what == "nan"), None)
    return 0xFFF8 << 48 if first is None else written(first, kind, payload=True)


def finish(value: Float, kind: str, words: Sequence[str], rounding: str) -> int:
    return written(saturated(value, words), kind, rounding, "ftz" in words)


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
    found = ordered[0 if head == "min" else -1]
    return written(Float(found.what, negative if "xorsign" in words else found.negative, found.value), kind, "rn")


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
        return written(Float(a.what, head == "neg" and not a.negative, a.value), kind, "rn", flush)
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


# ---- comparisons


def related(relation: str, kind: str, flush: bool, left: int, right: int) -> bool:
    if not is_float(kind):
        sort = "u" if relation in ("lo", "ls", "hi", "hs") or kind[0] == "b" else kind[0]
        a, b = whole(left, f"{sort}{kind[1:]}"), whole(right, f"{sort}{kind[1:]}")
        relation = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}.get(relation, relation)
    else:
        x, y = read(left, kind, flush), read(right, kind, flush)
        nan = "nan" in (x.what, y.what)
        if relation in ("num", "nan"):
            return nan == (relation == "nan")
        if nan:
            return relation.endswith("u")
        big = largest(kind) + 1
        a, b = ((big if each.what == "inf" else each.value) * (-1 if each.negative else 1) for each in (x, y))
        relation = relation[:2]
    compare: dict[str, Callable[[], bool]] = {
        "eq": lambda: a == b, "ne": lambda: a != b, "lt": lambda: a < b, "le": lambda: a <= b, "gt": lambda: a > b,
        "ge": lambda: a >= b,
    }  # fmt: skip
    return compare[relation]()


def combine(word: str, first: bool, second: bool) -> bool:
    return {"and": first and second, "or": first or second, "xor": first != second}[word]


# ---- integers


def truncated(a: int, b: int) -> int:
    """A quotient toward zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def low24(bits: int, kind: str) -> int:
    number = bits % (1 << 24)
    return number - (1 << 24) if kind[0] == "s" and number >= 1 << 23 else number


def product_part(words: Sequence[str], kind: str, a: int, b: int) -> int:
    """The part of a product that .lo, .hi and .wide name."""
    width = bits_of(kind)
    return a * b >> width if "hi" in words else a * b % (1 << width) if "lo" in words else a * b


def calculated(head: str, words: Sequence[str], kind: str, bits: Sequence[int]) -> int:
    """Arithmetic of integers."""
    a, *rest = (whole(each, kind) for each in bits)
    b = rest[0] if rest else 0
    c = whole(bits[2], f"{kind[0]}{2 * bits_of(kind)}" if "wide" in words else kind) if len(bits) > 2 else 0
    width = bits_of(kind)
    if head in ("mul24", "mad24"):
        t = low24(bits[0], kind) * low24(bits[1], kind)
        part = t >> 16 if "hi" in words else t
        found = part + c
    elif head in ("div", "rem"):
        if b == 0:
            raise Open
        found = truncated(a, b) if head == "div" else a - b * truncated(a, b)
    else:
        found = {
            "add": lambda: a + b, "sub": lambda: a - b, "mul": lambda: product_part(words, kind, a, b),
            "mad": lambda: product_part(words, kind, a, b) + c, "neg": lambda: -a, "abs": lambda: abs(a),
            "min": lambda: min(a, b), "max": lambda: max(a, b), "sad": lambda: c + abs(a - b),
        }[head]()  # fmt: skip
    if "sat" in words:
        found = clamped(found, kind)
    if "relu" in words:
        found = max(found, 0)
    return found % (1 << (2 * width if "wide" in words else width))


def carried(head: str, words: Sequence[str], kind: str, bits: Sequence[int]) -> tuple[int, int]:
    """Arithmetic with a carry: the result, and the carry or borrow out."""
    width, taken = bits_of(kind), bits[-1] if head.endswith("c") else 0
    a, b = (each % (1 << width) for each in bits[:2])
    if head.startswith("mad"):
        a = product_part(words, kind, whole(a, kind), whole(b, kind)) % (1 << width)
        b = bits[2] % (1 << width)
    found = a - b - taken if head.startswith("sub") else a + b + taken
    return found % (1 << width), int(not 0 <= found < 1 << width)


def find_bit(mask: int, base: int, offset: int) -> int:
    """fns, as the ISA's program."""
    if base > 31:
        raise Open
    if offset == 0:
        return base if mask >> base & 1 else 0xFFFFFFFF
    position, count, step = base, abs(offset) - 1, 1 if offset > 0 else -1
    while 0 <= position < 32:
        if mask >> position & 1:
            if count == 0:
                return position
            count -= 1
        position += step
    return 0xFFFFFFFF


def bit_field(kind: str, a: int, b: int, c: int) -> int:
    """bfe, as the ISA's program."""
    width = bits_of(kind)
    position, length = b & 255, c & 255
    last = min(position + length - 1, width - 1)
    sign = a >> last & 1 if kind[0] == "s" and length else 0
    return sum(
        (a >> (position + at) & 1 if at < length and position + at < width else sign) << at for at in range(width)
    )


def inserted(kind: str, a: int, b: int, c: int, d: int) -> int:
    """bfi, as the ISA's program."""
    width = bits_of(kind)
    position, length = c & 255, d & 255
    found = b
    for at in range(length):
        if position + at < width:
            found = found & ~(1 << (position + at)) | (a >> at & 1 if at < width else 0) << (position + at)
    return found


def extended_part(mode: str, kind: str, a: int, b: int) -> int:
    """szext, as the ISA's program."""
    few, large = b & 31, b >= 32 and mode == "clamp"
    mask = 0 if large else -1 << few
    negative = kind == "s32" and few and not large and a >> (few - 1 & 31) & 1
    return a & ~mask | (mask if negative else 0)


def bit_mask(mode: str, a: int, b: int) -> int:
    """bmsk, as the ISA's program."""
    first, count = a & 31, b & 31
    start, end = -1 << first, -1 << (first + count)
    over = first + count >= 32
    if mode == "clamp":
        if a >= 32:
            over, start = True, 0
        over = over or b >= 32
    if over:
        end = 0
    elif count == 0:
        end = -1
    return start & ~end


PERMUTED = {  # mode -> the bytes of the result, highest first, by the two bits of the selector
    "f4e": ("3210", "4321", "5432", "6543"), "b4e": ("5670", "6701", "7012", "0123"),
    "rc8": ("0000", "1111", "2222", "3333"), "ecl": ("3210", "3211", "3222", "3333"),
    "ecr": ("0000", "1110", "2210", "3210"), "rc16": ("1010", "3232", "1010", "3232"),
}  # fmt: skip


def permuted(words: Sequence[str], a: int, b: int, c: int) -> int:
    octets, found = (a | b << 32).to_bytes(8, "little"), 0
    for at in range(4):
        pick = int(PERMUTED[words[-1]][c & 3][3 - at]) if words[-1] in PERMUTED else c >> (4 * at) & 15
        octet = octets[pick & 7]
        found |= (octet if pick < 8 else 255 * (octet >> 7)) << (8 * at)
    return found


def parts_of(bits: int, width: int, kind: str) -> list[int]:
    return [whole(bits >> at, f"{kind[0]}{width}") for at in range(0, 32, width)]


def digits_of(head: str, words: Sequence[str], kind: str, a: int) -> int:
    """popc, clz, brev and bfind."""
    width = bits_of(kind)
    text = f"{a:0{width}b}"
    if head == "popc":
        return text.count("1")
    if head == "clz":
        return width - len(text.lstrip("0"))
    if head == "brev":
        return int(text[::-1], 2)
    other = "0" if kind[0] == "s" and text[0] == "1" else "1"  # the digit that is looked for, from the top
    place = text.find(other)
    return -1 if place < 0 else place if "shiftamt" in words else width - 1 - place


def shifted(head: str, words: Sequence[str], kind: str, a: int, b: int, c: int) -> int:
    """shl, shr and shf."""
    width = bits_of(kind)
    if head == "shf":
        count, both = min(c, 32) if "clamp" in words else c & 31, a | b << 32
        return both << count >> 32 if "l" in words else both >> count
    if head == "shl":
        return a << min(b, width)
    return whole(a, kind) >> min(b, width)


def bit_operation(head: str, words: Sequence[str], kind: str, bits: Sequence[int]) -> int:  # noqa: PLR0911
    """Everything on integers that is not arithmetic."""
    a, b, c, d = (*bits, 0, 0, 0)[:4]
    if head in ("and", "or", "xor", "not", "cnot"):
        return {"and": a & b, "or": a | b, "xor": a ^ b, "not": ~a, "cnot": int(a == 0)}[head]
    if head in ("shl", "shr", "shf"):
        return shifted(head, words, kind, a, b, c)
    if head in ("popc", "clz", "brev", "bfind"):
        return digits_of(head, words, kind, a)
    if head == "lop3":
        rows = ((a >> at & 1) << 2 | (b >> at & 1) << 1 | c >> at & 1 for at in range(32))
        return sum((d >> row & 1) << at for at, row in enumerate(rows))
    if head == "bfe":
        return bit_field(kind, a, b, c)
    if head == "bfi":
        return inserted(kind, a, b, c, d)
    if head == "prmt":
        return permuted(words, a, b, c)
    if head == "fns":
        return find_bit(a, b, whole(c, "s32"))
    return bit_mask(words[0], a, b) if head == "bmsk" else extended_part(words[0], kind, a, b)


def dot(head: str, words: Sequence[str], bits: Sequence[int]) -> int:
    """dp2a and dp4a."""
    octets = parts_of(bits[1], 8, words[-1])
    left = parts_of(bits[0], 8 if head == "dp4a" else 16, words[-2])
    right = octets if head == "dp4a" else octets[:2] if words[0] == "lo" else octets[2:]
    return bits[2] + sum(x * y for x, y in zip(left, right, strict=True))


INTEGERS = {"add", "sub", "mul", "mad", "neg", "abs", "min", "max", "sad", "mul24", "mad24", "div", "rem"}
BITWISE = {"and", "or", "xor", "not", "cnot", "shl", "shr", "shf", "popc", "clz", "brev", "bfind", "lop3", "bfe", "bfi",
           "prmt", "fns", "bmsk", "szext"}  # fmt: skip


# ---- by opcode


def lanewise(compute: Callable[..., int], kind: str, target: str, operands: Sequence[int]) -> int:
    """An operation on each element of packed registers."""
    count = 2 if kind in PACKED else 1
    width, room = bits_of(kind) // count, bits_of(target) // count
    parts = [compute(*(each >> (place * width) & ((1 << width) - 1) for each in operands)) for place in range(count)]
    return sum(part << (place * room) for place, part in enumerate(parts))


def expected(opcode: str, operands: Sequence[int]) -> int:
    """The bits of a register of 16 bits or of the result's type; raises Open where the ISA leaves them open."""
    name, _, extra = opcode.partition(" ")
    head, *words = name.split(".")
    if head in ("addc", "subc", "madc") or "cc" in words:
        return carried(head, words, words[-1], operands)[extra == "carry"]
    return computed(name, [*operands, int(extra, 0)] if extra else operands) % (1 << room_of(name))


def room_of(opcode: str) -> int:
    """The bits of the narrowest register that can hold a result."""
    head, *words = opcode.split(".")
    words = words or ["b32"]
    if head in ("setp", "testp"):
        return 16
    if head in ("popc", "clz", "bfind", "dp2a", "dp4a", "prmt", "shf", "lop3", "fns"):
        return 32
    result = words[-2] if head in ("cvt", "set", "slct") else words[-1]
    return 1 if result == "pred" else max(16, bits_of(result)) * (2 if "wide" in words else 1)


def computed(opcode: str, operands: Sequence[int]) -> int:  # noqa: PLR0911 - a branch for each family
    """The result of an instruction as a number, negative ones too."""
    head, *words = opcode.split(".")
    kind = words[-1]
    if head in INTEGERS and not is_float(PACKED.get(kind, kind)):
        return calculated(head, words, kind, operands)
    if head in BITWISE:
        return bit_operation(head, words, "b32" if head in ("prmt", "lop3", "fns") else kind, operands)
    if head in ("dp2a", "dp4a"):
        return dot(head, words, operands)
    if head == "selp":
        return operands[0] if operands[2] else operands[1]
    if head == "slct":
        sign = read(operands[2], "f32", "ftz" in words).signed if kind == "f32" else whole(operands[2], "s32")
        nan = kind == "f32" and read(operands[2], "f32").what == "nan"
        infinite = kind == "f32" and read(operands[2], "f32").what == "inf" and operands[2] >> 31
        return operands[0] if sign >= 0 and not nan and not infinite else operands[1]
    if head == "set":
        found = related(words[0], kind, "ftz" in words, *operands[:2])
        if words[1] in ("and", "or", "xor"):
            found = combine(words[1], found, bool(operands[2]))
        return (0x3F800000 if words[-2] == "f32" else 0xFFFFFFFF) * found
    if head == "cvt":
        to, source = words[-2:]
        if to in PACKED and source not in PACKED:  # two sources: the first one above
            part = PACKED[to]
            high, low = (convert(words, part, source, each) for each in operands)
            return high << bits_of(part) | low
        return lanewise(lambda bits: convert(words, PACKED.get(to, to), PACKED.get(source, source), bits), source, to,
                        operands)  # fmt: skip
    if head == "copysign":
        return copy_sign(kind, *operands)
    if head == "testp":
        return property_of(kind, words[0], *operands)
    if head == "setp":
        found = related(words[0], kind, "ftz" in words, *operands[:2])
        return int(combine(words[1], found, bool(operands[2] & 1)) if words[1] in ("and", "or", "xor") else found)
    return lanewise(lambda *bits: arithmetic(head, words, PACKED.get(kind, kind), *bits), kind, kind, operands)


def is_legal(opcode: str) -> bool:
    """Whether the ISA has a conversion: which ones need a rounding, and which may be saturated or flushed."""
    head, *words = opcode.split(".")
    if head != "cvt":
        return True
    to, source = words[-2:]
    rounding = next((each for each in words if each[0] == "r" and each != "relu"), "")
    if not is_float(PACKED.get(to, to)) and not is_float(source):
        low, high = limits(source)
        return "sat" not in words or not (limits(to)[0] <= low and high <= limits(to)[1])
    if "ftz" in words and "f32" not in (to, source):
        return False
    if to in ("f16", "bf16", "f32", "f64") and is_float(source):
        order = {"f16": {"f32", "f64"}, "bf16": {"f32", "f64"}, "f32": {"f64"}, "f64": set()}
        if to == source:
            return rounding == "" or rounding.endswith("i")
        return rounding == "" if to in order[source] else rounding in ("rn", "rz", "rm", "rp")
    return True
