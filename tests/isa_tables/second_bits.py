# SPDX-License-Identifier: Apache-2.0
"""A second coding of what opcodes do on plain bits, from the text of the PTX ISA, in Python's integers and fractions.

It reads no table and no code of the interpreter. `expected` gives the bits of a result, or None where the ISA leaves
them open. Floats are in `second_floats`, integers in `second_integers`; comparisons and the choice by opcode here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.isa_tables.second_floats import (
    PACKED,
    arithmetic,
    bits_of,
    clamp,
    convert,
    copy_sign,
    is_float,
    largest,
    limits,
    property_of,
    read,
    read_integer,
)
from tests.isa_tables.second_integers import BITWISE, INTEGERS, bit_operation, calculate, carry, dot

# ---- comparisons


def is_related(relation: str, kind: str, flush: bool, left: int, right: int) -> bool:
    if not is_float(kind):
        sort = "u" if relation in ("lo", "ls", "hi", "hs") or kind[0] == "b" else kind[0]
        a, b = read_integer(left, f"{sort}{kind[1:]}"), read_integer(right, f"{sort}{kind[1:]}")
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


def convert_each(words: Sequence[str], operands: Sequence[int]) -> int:
    """Convert each element of a register, or two sources into one."""
    to, source = words[-2:]
    if to in PACKED and source not in PACKED:  # two sources: the first one above
        part = PACKED[to]
        high, low = (convert(words, part, source, each) for each in operands)
        return high << bits_of(part) | low
    return lanewise(lambda bits: convert(words, PACKED.get(to, to), PACKED.get(source, source), bits), source, to,
                    operands)  # fmt: skip


def pack_clamped(kind: str, a: int, b: int, c: int = 0) -> int:
    """Pack two clamped integers, as the ISA's program does: bit by bit."""
    size = bits_of(kind)
    ta, tb = (clamp(read_integer(each, "s32"), kind) for each in (a, b))
    fields = [tb >> at & 1 for at in range(size)] + [ta >> at & 1 for at in range(size)]
    fields += [c >> at & 1 for at in range(32 - 2 * size)]
    return sum(bit << at for at, bit in enumerate(fields))


# ---- by opcode


def lanewise(compute: Callable[..., int], kind: str, target: str, operands: Sequence[int]) -> int:
    """An operation on each element of packed registers."""
    count = 2 if kind in PACKED else 1
    width, room = bits_of(kind) // count, bits_of(target) // count
    parts = [compute(*(each >> (place * width) & ((1 << width) - 1) for each in operands)) for place in range(count)]
    return sum(part << (place * room) for place, part in enumerate(parts))


def compute_expected(opcode: str, operands: Sequence[int]) -> int:
    """The bits of a register of 16 bits or of the result's type; raises Open where the ISA leaves them open."""
    name, _, extra = opcode.partition(" ")
    head, *words = name.split(".")
    if head in ("addc", "subc", "madc") or "cc" in words:
        return carry(head, words, words[-1], operands)[extra == "carry"]
    return compute_result(name, [*operands, int(extra, 0)] if extra else operands) % (1 << room_of(name))


def room_of(opcode: str) -> int:
    """The bits of the narrowest register that can hold a result."""
    head, *words = opcode.split(".")
    words = words or ["b32"]
    if head in ("setp", "testp"):
        return 16
    if head in ("popc", "clz", "bfind", "dp2a", "dp4a", "prmt", "shf", "lop3", "fns") or "pack" in words:
        return 32
    result = words[-2] if head in ("cvt", "set", "slct") else words[-1]
    return 1 if result == "pred" else max(16, bits_of(result)) * (2 if "wide" in words else 1)


def compute_result(opcode: str, operands: Sequence[int]) -> int:  # noqa: PLR0911 - a branch for each family
    """The result of an instruction as a number, negative ones too."""
    head, *words = opcode.split(".")
    kind = words[-1]
    if head in INTEGERS and not is_float(PACKED.get(kind, kind)):
        if kind in PACKED:
            return lanewise(lambda *bits: calculate(head, words, PACKED[kind], bits), kind, kind, operands)
        return calculate(head, words, kind, operands)
    if head in BITWISE:
        return bit_operation(head, words, "b32" if head in ("prmt", "lop3", "fns") else kind, operands)
    if head in ("dp2a", "dp4a"):
        return dot(head, words, operands)
    if head == "selp":
        return operands[0] if operands[2] else operands[1]
    if head == "slct":
        sign = read(operands[2], "f32", "ftz" in words).signed if kind == "f32" else read_integer(operands[2], "s32")
        nan = kind == "f32" and read(operands[2], "f32").what == "nan"
        infinite = kind == "f32" and read(operands[2], "f32").what == "inf" and operands[2] >> 31
        return operands[0] if sign >= 0 and not nan and not infinite else operands[1]
    if head == "set":
        holds = is_related(words[0], kind, "ftz" in words, *operands[:2])
        if words[1] in ("and", "or", "xor"):
            holds = combine(words[1], holds, bool(operands[2]))
        return (0x3F800000 if words[-2] == "f32" else 0xFFFFFFFF) * holds
    if head == "cvt":
        return pack_clamped(words[2], *operands) if words[0] == "pack" else convert_each(words, operands)
    if head == "copysign":
        return copy_sign(kind, *operands)
    if head == "testp":
        return property_of(kind, words[0], *operands)
    if head == "setp":
        holds = is_related(words[0], kind, "ftz" in words, *operands[:2])
        return int(combine(words[1], holds, bool(operands[2] & 1)) if words[1] in ("and", "or", "xor") else holds)
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
