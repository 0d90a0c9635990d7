# SPDX-License-Identifier: Apache-2.0
"""A second coding of what opcodes do on plain bits: integers as numbers, and as bits, bytes and fields."""

from __future__ import annotations

from collections.abc import Sequence

from tests.isa_tables.second_floats import Open, bits_of, clamp, read_integer


def truncate(a: int, b: int) -> int:
    """A quotient toward zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def low24(bits: int, kind: str) -> int:
    number = bits % (1 << 24)
    return number - (1 << 24) if kind[0] == "s" and number >= 1 << 23 else number


def product_part(words: Sequence[str], kind: str, a: int, b: int) -> int:
    """The part of a product that .lo, .hi and .wide name."""
    width = bits_of(kind)
    return a * b >> width if "hi" in words else a * b % (1 << width) if "lo" in words else a * b


def calculate(head: str, words: Sequence[str], kind: str, bits: Sequence[int]) -> int:
    """Arithmetic of integers."""
    a, *rest = (read_integer(each, kind) for each in bits)
    b = rest[0] if rest else 0
    c = read_integer(bits[2], f"{kind[0]}{2 * bits_of(kind)}" if "wide" in words else kind) if len(bits) > 2 else 0
    width = bits_of(kind)
    if head in ("mul24", "mad24"):
        t = low24(bits[0], kind) * low24(bits[1], kind)
        part = t >> 16 if "hi" in words else t
        number = part + c
    elif head in ("div", "rem"):
        if b == 0:
            raise Open
        number = truncate(a, b) if head == "div" else a - b * truncate(a, b)
    else:
        number = {
            "add": lambda: a + b, "sub": lambda: a - b, "mul": lambda: product_part(words, kind, a, b),
            "mad": lambda: product_part(words, kind, a, b) + c, "neg": lambda: -a, "abs": lambda: abs(a),
            "min": lambda: min(a, b), "max": lambda: max(a, b), "sad": lambda: c + abs(a - b),
        }[head]()  # fmt: skip
    if "sat" in words:
        number = clamp(number, kind)
    if "relu" in words:
        number = max(number, 0)
    return number % (1 << (2 * width if "wide" in words else width))


def carry(head: str, words: Sequence[str], kind: str, bits: Sequence[int]) -> tuple[int, int]:
    """Arithmetic with a carry: the result, and the carry or borrow out."""
    width, taken = bits_of(kind), bits[-1] if head.endswith("c") else 0
    a, b = (each % (1 << width) for each in bits[:2])
    if head.startswith("mad"):
        a = product_part(words, kind, read_integer(a, kind), read_integer(b, kind)) % (1 << width)
        b = bits[2] % (1 << width)
    total = a - b - taken if head.startswith("sub") else a + b + taken
    return total % (1 << width), int(not 0 <= total < 1 << width)


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


def insert_field(kind: str, a: int, b: int, c: int, d: int) -> int:
    """bfi, as the ISA's program."""
    width = bits_of(kind)
    position, length = c & 255, d & 255
    bits = b
    for at in range(length):
        if position + at < width:
            bits = bits & ~(1 << (position + at)) | (a >> at & 1 if at < width else 0) << (position + at)
    return bits


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


def permute_bytes(words: Sequence[str], a: int, b: int, c: int) -> int:
    octets, permuted = (a | b << 32).to_bytes(8, "little"), 0
    for at in range(4):
        pick = int(PERMUTED[words[-1]][c & 3][3 - at]) if words[-1] in PERMUTED else c >> (4 * at) & 15
        octet = octets[pick & 7]
        permuted |= (octet if pick < 8 else 255 * (octet >> 7)) << (8 * at)
    return permuted


def parts_of(bits: int, width: int, kind: str) -> list[int]:
    return [read_integer(bits >> at, f"{kind[0]}{width}") for at in range(0, 32, width)]


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
    wanted = "0" if kind[0] == "s" and text[0] == "1" else "1"  # the digit that is looked for, from the top
    place = text.find(wanted)
    return -1 if place < 0 else place if "shiftamt" in words else width - 1 - place


def shift(head: str, words: Sequence[str], kind: str, a: int, b: int, c: int) -> int:
    """shl, shr and shf."""
    width = bits_of(kind)
    if head == "shf":
        count, both = min(c, 32) if "clamp" in words else c & 31, a | b << 32
        return both << count >> 32 if "l" in words else both >> count
    if head == "shl":
        return a << min(b, width)
    return read_integer(a, kind) >> min(b, width)


def bit_operation(head: str, words: Sequence[str], kind: str, bits: Sequence[int]) -> int:  # noqa: PLR0911
    """Everything on integers that is not arithmetic."""
    a, b, c, d = (*bits, 0, 0, 0)[:4]
    if head in ("and", "or", "xor", "not", "cnot"):
        return {"and": a & b, "or": a | b, "xor": a ^ b, "not": ~a, "cnot": int(a == 0)}[head]
    if head in ("shl", "shr", "shf"):
        return shift(head, words, kind, a, b, c)
    if head in ("popc", "clz", "brev", "bfind"):
        return digits_of(head, words, kind, a)
    if head == "lop3":
        rows = ((a >> at & 1) << 2 | (b >> at & 1) << 1 | c >> at & 1 for at in range(32))
        return sum((d >> row & 1) << at for at, row in enumerate(rows))
    if head == "bfe":
        return bit_field(kind, a, b, c)
    if head == "bfi":
        return insert_field(kind, a, b, c, d)
    if head == "prmt":
        return permute_bytes(words, a, b, c)
    if head == "fns":
        return find_bit(a, b, read_integer(c, "s32"))
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
