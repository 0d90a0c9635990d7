# SPDX-License-Identifier: Apache-2.0
"""Integer instructions: arithmetic by the formulas of the opcode tables, counts and fields of bits.

Main declarations: `integer`, `divide`, `plain`. On data, sums and products are arithmetic on values, shifts to the
right and divisions by a number are quotients; any other operation gives a value without a meaning, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isa_tables.formula import BinaryOperation, Constant, Identifier, Tree, evaluate
from isa_tables.formula_parser import parse
from isa_tables.semantics import Meaning
from verify.kernel.data.distinct import sort_distinct
from verify.kernel.data.quotients import divide_toward_zero, floor_quotient, remainder
from verify.kernel.data.registers import Word, find_decided, settle, word
from verify.kernel.data.values import CHOSEN, LIMITS, SIZE, Bits, Ids, Mask, Values
from verify.kernel.ptx.source import WIDTHS, Operand, PtxInstruction, Register
from verify.kernel.state.bound import Run
from verify.kernel.state.findings import Unclear
from verify.kernel.state.machine import Bind, Machine

Signed = NDArray[np.int64]
_PRODUCT, _SUM = (parse(text, {"a": False, "b": False}).tree for text in ("a * b", "a + b"))
MOST_NUMBERS = 64  # that differ by thread: amounts of a shift, divisors
_RING = frozenset(("+", "-", "*"))


def keep_bits(bits: Bits, width: int) -> Bits:
    """Return the lowest bits of numbers."""
    return bits if width >= 64 else bits & np.uint64((1 << width) - 1)


def extend_sign(bits: Bits, width: int) -> Signed:
    """Numbers of so many bits, as signed ones."""
    signed = bits.view(np.int64)
    return signed if width >= 64 else (signed << (64 - width)) >> (64 - width)


def as_type(bits: Bits, kind: str) -> Bits | Signed:
    """Numbers as their type has them."""
    width = WIDTHS[kind]
    return extend_sign(bits, width) if kind[0] == "s" else keep_bits(bits, width)


def register_width(machine: Machine, operand: Operand) -> int:
    """Return the bits of a destination's register."""
    return WIDTHS[machine.kernel.registers[operand.index]] if isinstance(operand, Register) else 0


def _ring(tree: Tree, more: Collection[str] = ()) -> bool:
    """Whether a formula is made of sums and products alone, and of `more` by a constant."""
    if isinstance(tree, BinaryOperation):
        known = tree.op in _RING or (tree.op in more and isinstance(tree.right, Constant))
        return known and _ring(tree.left, more) and _ring(tree.right, more)
    return isinstance(tree, Identifier | Constant)


def integer(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """Arithmetic by the row's formula."""
    put, reads = machine.writer(inst.operands[0]), [machine.reader(operand) for operand in inst.operands[1:]]
    compute = bind_formula(machine, inst, meaning, [meaning.types[role] for role, _, _ in meaning.row.operands])
    return lambda mask: put(compute([read() for read in reads], mask), mask)


def bind_formula(
    machine: Machine, inst: PtxInstruction, meaning: Meaning, types: Sequence[str]
) -> Callable[[Sequence[Word], Mask | None], Word]:
    """Return the function of a row's formula: from operands of these types, behind the result's, to the result."""
    formula = meaning.row.value
    if formula is None:
        raise Unclear(inst.line, "the opcode table has no formula for it")
    roles, width = [role for role, _, _ in meaning.row.operands], WIDTHS[types[0]]
    low, high = _limits(inst, types[0])
    tree, ring, head = formula.tree, _ring(formula.tree), meaning.head
    on_data = tree if _ring(tree, (">>",)) else None
    same = ring and low is None and all(WIDTHS[kind] >= width for kind in types[1:])  # upper bits do not matter

    def compute(operands: Sequence[Word], mask: Mask | None) -> Word:
        sources = [settle(each, machine.values) for each in operands]
        if any(each.data(mask) for each in sources):
            if head in ("min", "max", "abs"):
                made = extremum_of_data(machine, head, sources, types[0])
                return _clamp(machine, made, types[0]) if low == 0 else made
            if low is None:
                return _on_data(machine, sources, types, roles, on_data)
            # a clamp is the identity if the operands and the result are shown to lie within the type
            bounded = [_as_number(machine, each, kind) for each, kind in zip(sources, types[1:], strict=True)]
            made = _on_data(machine, bounded, types, roles, tree if ring else None)
            return _as_number(machine, made, types[0])
        if same:
            named: dict[str, Any] = {role: each.bits for role, each in zip(roles[1:], sources, strict=True)}
        else:
            numbers = (as_type(each.bits, kind) for each, kind in zip(sources, types[1:], strict=True))
            named = dict(zip(roles[1:], numbers, strict=True))
        result = evaluate(tree, named)
        if low is not None:
            result = np.clip(result, low, high)
        return Word(keep_bits(np.asarray(result).astype(np.uint64, copy=False), width))

    return compute


def _limits(inst: PtxInstruction, kind: str) -> tuple[int | None, int | None]:
    """Return the range to which an instruction clamps: of its type for `.sat`, of what is not negative for `.relu`."""
    half = 1 << (WIDTHS[kind] - 1)
    if "sat" in inst.words:
        return -half, half - 1
    return (0, half - 1) if "relu" in inst.words else (None, None)


def _clamp(machine: Machine, made: Word, kind: str) -> Word:
    """Return the larger one of data and 0."""
    name, values = f"s{WIDTHS[kind]}", machine.values
    return Word.of(values.apply("relu", [made.elements(values, name, SIZE[kind])], name, CHOSEN), name)


def _as_number(machine: Machine, operand: Word, kind: str) -> Word:
    """Use data as a number of a type: without a meaning where their bound lies outside of it."""
    name, values = f"s{WIDTHS[kind]}", machine.values
    return Word.of(values.whole(operand.elements(values, name, SIZE[kind])[:, 0], kind)[:, None], name)


def _on_data(
    machine: Machine, sources: Sequence[Word], types: Sequence[str], roles: Sequence[str], tree: Tree | None
) -> Word:  # fmt: skip
    """Add and multiply integers that are data, modulo 2^n; otherwise return a value without a meaning."""
    values, width = machine.values, WIDTHS[types[0]]
    kind = f"s{width}"  # bits are a number modulo 2^n: the sign is a matter of who uses them as a number
    if tree is None or not all(name in LIMITS and WIDTHS[name] <= width for name in types):
        return without_meaning(machine, sources, width // 8, "an integer operation on data")
    if _ring(tree):
        ids = [_whole(machine, each, name, width) for each, name in zip(sources, types[1:], strict=True)]
    else:
        ids = [values.whole(each.elements(values, name, SIZE[name])[:, 0], name)
               for each, name in zip(sources, types[1:], strict=True)]  # fmt: skip
    count = max(map(len, ids))
    named = {role: np.broadcast_to(each, count) for role, each in zip(roles[1:], ids, strict=True)}
    return Word.of(_compute(values, tree, named, kind, f"{types[1][0]}64")[:, None], kind)


def _compute(values: Values, tree: Tree, named: Mapping[str, Ids], kind: str, wide: str, shift: int = 0) -> Ids:
    """Compute sums, products and shifts to the right, times 2^-shift, on integers; `wide` is the type of a product."""
    if isinstance(tree, BinaryOperation) and tree.op == ">>" and isinstance(tree.right, Constant):
        return _compute(values, tree.left, named, kind, wide, shift + tree.right.value)
    if not _ring(tree):
        assert isinstance(tree, BinaryOperation)
        parts = [_compute(values, part, named, kind, wide) for part in (tree.left, tree.right)]
        made = values.field(BinaryOperation(tree.op, Identifier("a"), Identifier("b")), ("a", "b"), parts, kind)
    else:
        factor = _factor(values, tree, named)
        if shift and factor is not None:
            return floor_quotient(values, named[factor[0]], factor[1] / (1 << shift), kind, wide)
        made = values.field(tree, tuple(named), list(named.values()), kind)
    return floor_quotient(values, made, Fraction(1, 1 << shift), kind, wide) if shift else made


def _factor(values: Values, tree: Tree, named: Mapping[str, Ids]) -> tuple[str, Fraction] | None:
    """Return (role, number) of a product of an operand and a number that is the same in all threads."""
    if (
        isinstance(tree, BinaryOperation)
        and tree.op == "*"
        and isinstance(tree.left, Identifier)
        and isinstance(tree.right, Identifier)
    ):
        for data, factor in ((tree.left.name, tree.right.name), (tree.right.name, tree.left.name)):
            ids = sort_distinct(named[factor])
            if len(ids) == 1 and not any(history.degree for history in values.among(ids)):
                return data, Fraction(float(values.sample[ids[0]]))
    return None


def _whole(machine: Machine, operand: Word, kind: str, width: int) -> Ids:
    """Return the ids of integers; those that a wider result needs as numbers must lie within their type."""
    values = machine.values
    if WIDTHS[kind] == width:
        return operand.elements(values, f"s{width}", width // 8)[:, 0]
    return values.whole(operand.elements(values, kind, SIZE[kind])[:, 0], kind)


def extremum_of_data(machine: Machine, head: str, sources: Sequence[Word], kind: str) -> Word:
    """min, max and abs of integers that are data, as numbers of their type."""
    values = machine.values
    ids = [values.whole(each.elements(values, kind, SIZE[kind])[:, 0], kind) for each in sources]
    made = values.apply(head, np.broadcast_arrays(*ids), f"s{WIDTHS[kind]}", CHOSEN)
    return Word.of(made[:, None], f"s{WIDTHS[kind]}")


def without_meaning(
    machine: Machine, sources: Sequence[Word], size: int, why: str, bits: Bits | None = None
) -> Word:  # fmt: skip
    """Return a result that has no meaning where an operand is data; earlier reasons are kept.

    In threads whose operands are plain it is `bits`, and without these it has no meaning there either.
    """
    reason = machine.values.reason(why)
    rows = max(len(each.labels) if each.labels is not None else 1 for each in sources)
    rows = rows if bits is None else max(rows, len(bits))
    data = np.full(rows, bits is None)
    earlier = np.zeros(rows, np.uint32)
    for each in sources:
        if each.labels is not None:
            data = data | each.labels.any(1)
            ids = (each.labels >> np.uint32(3)).max(1)
            earlier = np.maximum(earlier, np.where(ids < len(machine.values.causes), ids, 0))
    ids = np.where(data, np.where(earlier > 0, earlier, reason), 0).astype(np.uint32)
    labels = np.repeat((ids << np.uint32(3))[:, None], max(size, 1), 1)
    return Word(np.zeros(1, np.uint64) if bits is None else np.where(data, np.uint64(0), bits), labels)


def by_number(
    machine: Machine, numbers: NDArray[Any], mask: Mask | None, size: int, compute: Callable[[int], Word | None]
) -> Word | None:
    """Return what a function makes of a plain number, in the threads that have it; None if it makes nothing of one."""
    different = sort_distinct(numbers if mask is None or len(numbers) == 1 else numbers[mask])
    if len(different) > MOST_NUMBERS:
        return None
    parts = [(number, compute(int(number))) for number in different]
    if len(parts) == 1:
        return parts[0][1]
    bits, labels = np.zeros(machine.count, np.uint64), np.zeros((machine.count, size), np.uint32)
    for number, made in parts:
        if made is None:
            return None
        here = np.broadcast_to(numbers == number, machine.count)
        bits, labels = np.where(here, made.bits, bits), np.where(here[:, None], made.wide(size), labels)
    return word(bits, labels)


def plain(compute: Callable[..., Bits], why: str, is_open: Callable[..., Mask] | None = None) -> Bind:
    """Instructions on plain bits alone: `compute(meaning, *operands)`; on data they have no meaning.

    `is_open(*operands)` says for which operands the ISA leaves the result open.
    """

    def bind(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
        kinds = [meaning.types[role] for role, _, _ in meaning.row.operands]
        put, reads = machine.writer(inst.operands[0]), [machine.reader(operand) for operand in inst.operands[1:]]
        compute(meaning, *[np.zeros(1, np.uint64)] * len(reads))  # asks for all modifiers, before anything runs
        size = max(WIDTHS[kinds[0]] // 8, 1)

        def execute(mask: Mask | None) -> None:
            sources = [settle(read(), machine.values) for read in reads]
            bits = keep_bits(compute(meaning, *(each.bits for each in sources)), WIDTHS[kinds[0]])
            data = any(each.data(mask) for each in sources)
            made = without_meaning(machine, sources, size, why, bits) if data else Word(bits)
            unspecified = is_open(*(each.bits for each in sources)) if is_open is not None else np.zeros(1, bool)
            unspecified = unspecified & ~find_decided(made)
            if not unspecified.any():
                put(made, mask)
                return
            reason = machine.values.reason(f"the result of {inst.opcode} of these operands is unspecified")
            labels = np.where(unspecified[:, None], np.uint32(reason << 3), made.wide(size))
            put(word(np.where(unspecified, np.uint64(0), made.bits), labels), mask)

        return execute

    return bind


def divide(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """Divisions and remainders; of data, by plain numbers."""
    on_bits = plain(_divide, "a division of integers by data", lambda a, b: b == 0)(machine, inst, meaning)
    put, reads = machine.writer(inst.operands[0]), [machine.reader(operand) for operand in inst.operands[1:]]
    kind, values, remains = meaning.words["type"], machine.values, meaning.words["head"] == "rem"

    def by(left: Word, divisor: int) -> Word | None:
        if not divisor:
            return None
        ids = left.elements(values, kind, SIZE[kind])[:, 0]
        made = divide_toward_zero(values, ids, Fraction(1, divisor), kind)
        if remains:
            made = remainder(values, ids, made, divisor, kind)
        return Word.of(made[:, None], kind)

    def execute(mask: Mask | None) -> None:
        left, right = (settle(read(), values) for read in reads)
        divisors = as_type(right.bits, kind)
        if left.data(mask) and not right.data(mask):
            made = by_number(machine, divisors, mask, SIZE[kind], partial(by, left))
            if made is not None:
                put(made, mask)
                return
        on_bits(mask)

    return execute


def _divide(meaning: Meaning, left: Bits, right: Bits) -> Bits:
    kind = meaning.words["type"]
    a, b = as_type(left, kind), as_type(right, kind)
    safe = np.where(b == 0, 1, b).astype(a.dtype)
    if kind[0] == "u":
        quotient, rest = a // safe, a % safe
    else:
        safe = np.where(safe == -1, 1, safe)  # the quotient of the least number by -1 isn't a number of the type
        quotient = a // safe
        rest = a - quotient * safe
        up = (rest != 0) & ((a < 0) != (safe < 0))  # numpy rounds down, the ISA toward zero
        quotient, rest = np.where(up, quotient + 1, quotient), np.where(up, rest - safe, rest)
        quotient = np.where(b == -1, np.negative(a), quotient)
    return (quotient if meaning.words["head"] == "div" else rest).astype(np.uint64)


def high_half(left: Bits, right: Bits, kind: str) -> Bits:
    """Return the upper half of products of 128 bits."""
    a, b = np.broadcast_arrays(*(as_type(each, kind) for each in (left, right)))
    return np.array([(int(x) * int(y) >> 64) % (1 << 64) for x, y in zip(a, b, strict=True)], np.uint64)


def multiply_high(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """Return the upper half of products of 128 bits; of data and a plain number it is a quotient rounded down."""
    on_bits = plain(_high, "the upper half of a product of 128 bits of data and data")(machine, inst, meaning)
    put, reads = machine.writer(inst.operands[0]), [machine.reader(operand) for operand in inst.operands[1:]]
    kind, values = meaning.types["a"], machine.values

    def by(data: Word, number: int) -> Word:
        ids = data.elements(values, kind, SIZE[kind])[:, 0]
        return Word.of(floor_quotient(values, ids, Fraction(number, 1 << 64), kind)[:, None], kind)

    def execute(mask: Mask | None) -> None:
        sources = [settle(read(), values) for read in reads]
        data = [each.data(mask) for each in sources]
        if sum(data) == 1 and len(sources) == 2:
            numbers = as_type(sources[data.index(False)].bits, kind)
            made = by_number(machine, numbers, mask, SIZE[kind], partial(by, sources[data.index(True)]))
            if made is not None:
                put(made, mask)
                return
        on_bits(mask)

    return execute


def _high(meaning: Meaning, left: Bits, right: Bits, *addend: Bits) -> Bits:
    upper = high_half(left, right, meaning.types["a"])
    return upper + addend[0] if addend else upper


def count_bits(meaning: Meaning, bits: Bits) -> Bits:
    """Return what popc, brev, clz and bfind make of plain bits."""
    kind = meaning.words["type"]
    width, shifts = WIDTHS[kind], "shiftamt" in meaning.words
    if kind[0] == "s":  # bfind: of a negative number the highest bit that differs from its sign
        bits = np.where(extend_sign(bits, width) < 0, ~bits, bits)
    digits = (keep_bits(bits, width)[:, None] >> np.arange(width, dtype=np.uint64)) & np.uint64(1)
    head = meaning.words.get("head", meaning.row.spelling.split(".")[0])
    if head == "popc":
        return np.asarray(digits.sum(1, dtype=np.uint64))
    if head == "brev":
        return np.asarray((digits[:, ::-1] << np.arange(width, dtype=np.uint64)).sum(1, dtype=np.uint64))
    top = np.where(digits.any(1), width - 1 - np.argmax(digits[:, ::-1], 1), -1)
    if head == "clz" or shifts:
        top = np.where((top < 0) & shifts, top, width - 1 - top)
    return top.astype(np.int64).view(np.uint64)


def _product24(meaning: Meaning, left: Bits, right: Bits, *addend: Bits) -> Bits:
    """mul24 and mad24: bits 31 to 0 or 47 to 16 of a product of 24 bits, and an addend, clamped by sat."""
    kind = meaning.words["type"]
    a, b = (extend_sign(each, 24) if kind[0] == "s" else keep_bits(each, 24) for each in (left, right))
    product = a * b >> (16 if meaning.words["half"] == "hi" else 0)
    total = product + as_type(addend[0], kind) if addend else product
    if "sat" in meaning.words:
        total = np.clip(total, -(1 << 31), (1 << 31) - 1)
    return total.astype(np.uint64)


def product24(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """mul24 and mad24; of data that are numbers of 24 bits, the low half or the upper one of their product."""
    on_bits = plain(_product24, "a product of 24 bits of data, clamped")(machine, inst, meaning)
    put, reads = machine.writer(inst.operands[0]), [machine.reader(operand) for operand in inst.operands[1:]]
    kind, values = meaning.words["type"], machine.values
    high, clamps = meaning.words["half"] == "hi", "sat" in meaning.words
    limits = (-(1 << 23), (1 << 23) - 1) if kind[0] == "s" else (0, (1 << 24) - 1)

    def execute(mask: Mask | None) -> None:
        sources = [settle(read(), values) for read in reads]
        if clamps or not any(each.data(mask) for each in sources):
            on_bits(mask)
            return
        ids = [each.elements(values, kind, 4)[:, 0] for each in sources]
        used = f"an integer is used as one of 24 bits, from {limits[0]} to {limits[1]}"
        factors = [np.broadcast_to(values.within(each, *limits, used, kind), max(map(len, ids))) for each in ids[:2]]
        made = values.field(_PRODUCT, ("a", "b"), factors, kind)
        if high:
            made = floor_quotient(values, made, Fraction(1, 1 << 16), kind, f"{kind[0]}64")
        if len(ids) > 2:
            made = values.field(_SUM, ("a", "b"), [made, np.broadcast_to(ids[2], made.shape)], kind)
        put(Word.of(made[:, None], kind), mask)

    return execute


def _mask(meaning: Meaning, a: Bits, b: Bits) -> Bits:
    """szext: the lowest b bits of a, extended; bmsk: a mask of b bits from bit a on."""
    clamps, five = meaning.words["mode"] == "clamp", np.uint64(31)
    a, b = np.broadcast_arrays(keep_bits(a, 32), keep_bits(b, 32))
    count = b & five
    if meaning.types["d"] == "b32":
        first, over = a & five, (a > five) | (b > five) if clamps else np.zeros(len(a), bool)
        past = ((a & five) + count > five) | over
        full = np.uint64(0xFFFFFFFF)
        below, above = (
            keep_bits(full << first, 32),
            np.where(past, np.uint64(0), keep_bits(full << (first + count), 32)),
        )
        return np.where(clamps & (a > five), np.uint64(0), below & ~above)
    whole = clamps & (b > five)
    kept = np.where(whole, a, a & ((np.uint64(1) << count) - np.uint64(1)))
    if meaning.types["d"][0] == "s":
        sign = np.where(whole | (count == 0), np.uint64(0), (a >> ((count - np.uint64(1)) & five)) & np.uint64(1))
        kept = np.where(sign > 0, kept | ~((np.uint64(1) << count) - np.uint64(1)), kept)
    return keep_bits(kept, 32)


def _found_bit(meaning: Meaning, mask: Bits, base: Bits, offset: Bits) -> Bits:
    """fns: the place of the n-th set bit from a base on, upward or downward."""
    chosen = []
    for bits, first, number in zip(
        *np.broadcast_arrays(keep_bits(mask, 32), keep_bits(base, 32), extend_sign(offset, 32)), strict=True
    ):
        start, steps = min(int(first), 31), int(number)  # above 31 it is undefined
        places = range(start, start + 1) if not steps else range(start, 32) if steps > 0 else range(start, -1, -1)
        there = [place for place in places if place < 32 and int(bits) >> place & 1]
        wanted = max(abs(steps), 1)
        chosen.append(there[wanted - 1] if len(there) >= wanted else 0xFFFFFFFF)
    return np.array(chosen, np.uint64)


BINDS: dict[str, Bind] = {
    "integer": integer,
    "divide": divide,
    "high": multiply_high,
    "product24": product24,
    "mask": plain(_mask, "a mask or an extension by data"),
    "count_from": plain(_found_bit, "a count of bits of data", lambda mask, base, offset: keep_bits(base, 32) > 31),
    "count": plain(count_bits, "a count of bits of data"),
}
