# SPDX-License-Identifier: Apache-2.0
"""bfe, bfi and shf: bits cut out of a register, put into one, or shifted through two; and masks of consecutive bits.

A field of an integer that is data is a number, floor(x / 2^start) modulo 2^count. Of other data whole bytes are moved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from isa_tables.formula_parser import parse
from isa_tables.semantics import Meaning
from verify.kernel.data.histories import History
from verify.kernel.data.quotients import floor_quotient, integers_of, scale
from verify.kernel.data.registers import Word, join_octets, octets, settle, word
from verify.kernel.data.values import SIZE, Bits, Ids, Mask, Values
from verify.kernel.instructions.integers import as_type, by_number, keep_bits, plain, without_meaning
from verify.kernel.ptx.source import WIDTHS, PtxInstruction
from verify.kernel.state.bound import Run
from verify.kernel.state.machine import Bind, Machine

_REST, _SUM = (parse(text, {"a": False, "b": False}).tree for text in ("a - b", "a + b"))


def _extract_bits(meaning: Meaning, source: Bits, position: Bits, length: Bits) -> Bits:
    kind = meaning.words["type"]
    width = WIDTHS[kind]
    value = as_type(source, kind)
    start, count = (position & np.uint64(255)).astype(np.int64), (length & np.uint64(255)).astype(np.int64)
    moved = np.where(start < 64, value.astype(np.int64) >> np.minimum(start, 63), 0 if kind[0] == "u" else value < 0)
    if kind[0] == "u":
        shifted = keep_bits(source, width) >> np.minimum(start, 63).astype(np.uint64)
        moved = np.where(start < width, shifted, np.uint64(0)).view(np.int64)
        keep = np.where(count < 63, (np.int64(1) << np.minimum(count, 62)) - 1, -1)
        return np.asarray(moved & keep).astype(np.uint64)
    moved = value >> np.minimum(start, width - 1)
    room = 64 - np.clip(np.minimum(count, width - np.minimum(start, width)), 0, 64)
    inside = (moved << np.minimum(room, 63)) >> np.minimum(room, 63)
    sign = value >> (width - 1)
    field = np.where(count == 0, 0, np.where(start + count > width, np.where(start >= width, sign, moved), inside))
    return field.astype(np.int64).view(np.uint64)


def _insert_bits(meaning: Meaning, source: Bits, base: Bits, position: Bits, length: Bits) -> Bits:
    width = WIDTHS[meaning.words["type"]]
    start, count = (position & np.uint64(255)), (length & np.uint64(255))
    low_bits = np.where(count >= 64, np.uint64((1 << 64) - 1), (np.uint64(1) << np.minimum(count, 63)) - np.uint64(1))
    safe = np.minimum(start, 63)
    mask = np.where(start < width, low_bits << safe, np.uint64(0))
    return keep_bits((base & ~mask) | ((source << safe) & mask), width)


def _shift_funnel(meaning: Meaning, low: Bits, high: Bits, amount: Bits) -> Bits:
    count = (
        amount & np.uint64(31) if meaning.words["mode"] == "wrap" else np.minimum(keep_bits(amount, 32), np.uint64(32))
    )
    both = keep_bits(low, 32) | keep_bits(high, 32) << np.uint64(32)
    right = meaning.words["direction"] == "r"
    return np.asarray(both >> count if right else (both << count) >> np.uint64(32), np.uint64)


def field_of(values: Values, ids: Ids, start: int, count: int, width: int, room: int) -> Ids:
    """Return the ids of floor(x / 2^start) modulo 2^count, of integers x of `width` bits, as ones of `room` bits."""
    sign = "s" if values.bounds(ids)[0] < 0 else "u"
    kind, shifted = f"{sign}{room}", _shift_down(values, ids, start, f"{sign}{room}", f"{sign}{width}")
    low, high = values.bounds(shifted)
    top = (1 << count) - 1
    if low >= 0 and high <= top:
        return shifted
    above = scale(values, floor_quotient(values, shifted, Fraction(1, 1 << count), kind), Fraction(1 << count), kind)
    return _limit(values, values.field(_REST, ("a", "b"), [shifted, above], kind), 0, top, kind)


def _shift_down(values: Values, ids: Ids, amount: int, kind: str, of: str) -> Ids:
    """Return the ids of floor(x / 2^amount) of integers of one type, as integers of another."""
    if amount:
        return floor_quotient(values, ids, Fraction(1, 1 << amount), kind, of)
    return values.copy(values.whole(ids, of), kind, narrows=False)


def _limit(values: Values, ids: Ids, low: int, high: int, kind: str) -> Ids:
    """Return the ids of values that are known to lie within limits."""

    def limit_history(parts: Sequence[History]) -> History:
        return parts[0]._replace(low=max(parts[0].low, low), high=min(parts[0].high, high))

    return values.with_histories(("field", low, high), ids, limit_history, kind)


def is_one_integer(values: Values, source: Word, size: int, mask: Mask | None) -> bool:
    """Return whether a register of so many bytes holds one integer in each thread, and not bytes of several."""
    labels = source.wide(size)
    if not integers_of(values, labels if mask is None or len(labels) == 1 else labels[mask]):
        return False
    ids = source.elements(values, f"u{8 * size}", size)
    return not any(history.cause for history in values.among(ids if mask is None or len(ids) == 1 else ids[mask]))


def _integer_with(
    values: Values, source: Word, size: int, start: int, count: int, mask: Mask | None
) -> tuple[Ids, int, int] | None:
    """Return the ids of the integers of a register in which a field lies, where it begins in them, and their bits."""
    parts = [(0, size), *((start // 8, many) for many in (1, 2, 4) if many < size)]
    for first, many in (part for part in parts if start + count <= 8 * sum(part) <= 8 * size):
        bits, labels = (
            keep_bits(source.bits >> np.uint64(8 * first), 8 * many),
            source.wide(size)[:, first : first + many],
        )
        part = source if many == size else word(bits, labels)
        if is_one_integer(values, part, many, mask):
            return part.elements(values, f"u{8 * many}", many)[:, 0], start - 8 * first, 8 * many
    return None


def mask_integer(machine: Machine, source: Word, bits: Bits, width: int, mask: Mask | None) -> Word | None:
    """Return an integer and a plain mask of consecutive bits; None for anything else."""
    values, size = machine.values, width // 8

    def by(number: int) -> Word | None:
        start = max((number & -number).bit_length() - 1, 0)
        count = (number >> start).bit_length()
        there = _integer_with(values, source, size, start, count, mask)
        if not number or number >> start != (1 << count) - 1 or there is None:
            return None
        ids, at, of = there
        field = field_of(values, ids, at, count, of, width)
        return Word.of(scale(values, field, Fraction(1 << start), f"s{width}")[:, None], f"s{width}")

    return by_number(machine, keep_bits(bits, width), mask, size, by)


def _on_fields(name: str, compute: Callable[..., Bits], of_data: Callable[..., Word | None]) -> Bind:
    """Return how an instruction is bound whose last operands are plain numbers; `of_data` has its meaning on data."""

    def bind(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
        on_bits = plain(compute, name)(machine, inst, meaning)
        put, reads = machine.writer(inst.operands[0]), [machine.reader(operand) for operand in inst.operands[1:]]
        plains = 1 if len(reads) == 3 and meaning.types.get("b") == "b32" else 2
        size = max(WIDTHS[meaning.types[meaning.row.operands[0][0]]] // 8, 1)

        def execute(mask: Mask | None) -> None:
            sources = [settle(read(), machine.values) for read in reads]
            data, numbers = sources[:-plains], sources[-plains:]
            if not any(each.data(mask) for each in data) or any(each.data(mask) for each in numbers):
                on_bits(mask)
                return
            both = numbers[0].bits & np.uint64(0xFFFFFFFF)
            if plains == 2:
                both = both & np.uint64(255) | (numbers[1].bits & np.uint64(255)) << np.uint64(8)
            made = by_number(machine, both, mask, size, lambda number: of_data(machine, meaning, data, number, mask))
            put(without_meaning(machine, sources, size, name) if made is None else made, mask)

        return execute

    return bind


def _extract(machine: Machine, meaning: Meaning, data: Sequence[Word], number: int, mask: Mask | None) -> Word | None:
    """Return bits cut out of data, extended by zeros or by their sign."""
    kind, values, (source,) = meaning.words["type"], machine.values, data
    size, width, signed = SIZE[kind], WIDTHS[kind], kind[0] == "s"
    start, count = number & 255, number >> 8
    if not count or (start >= width and not signed):
        return Word(np.zeros(1, np.uint64))
    start = min(start, width - 1)
    count = min(count, width - start)
    there = _integer_with(values, source, size, start, count, mask)
    if there is not None:
        ids, at, of = there
        if not signed:
            return Word.of(field_of(values, ids, at, count, of, width)[:, None], kind)
        half = 1 << (count - 1)
        low, high = values.bounds(ids)
        if at + count == of or (-half << at <= low and high < half << at):
            return Word.of(_shift_down(values, ids, at, kind, f"s{of}")[:, None], kind)
        field, top = (field_of(values, ids, *part, of, width) for part in ((at, count), (at + count - 1, 1)))
        made = values.field(_REST, ("a", "b"), [field, scale(values, top, Fraction(1 << count), kind)], kind)
        return Word.of(_limit(values, made, -half, half - 1, kind)[:, None], kind)
    if start % 8 or count % 8 or (signed and count < width):
        return None
    first, many = start // 8, count // 8
    labels, bits = (
        np.zeros((len(source.wide(size)), size), np.uint32),
        keep_bits(source.bits >> np.uint64(start), count),
    )
    labels[:, :many] = source.wide(size)[:, first : first + many]
    return word(bits, labels)


def _insert(machine: Machine, meaning: Meaning, data: Sequence[Word], number: int, mask: Mask | None) -> Word | None:
    """Return the lowest bits of one register put into another."""
    width, values, (source, base) = WIDTHS[meaning.words["type"]], machine.values, data
    size, start, count = width // 8, number & 255, number >> 8
    if start >= width or not count:
        return base
    count = min(count, width - start)
    if not start % 8 and not count % 8:
        first, many = start // 8, count // 8
        rows = max(len(each) for register in data for each in (register.wide(size), register.bits))
        labels, bits = np.zeros((rows, size), np.uint32), np.zeros((rows, size), np.uint64)
        for part, to, at in ((base, slice(size), slice(size)), (source, slice(first, first + many), slice(many))):
            labels[:, to], bits[:, to] = part.wide(size)[:, at], octets(part.bits, size)[:, at]
        return word(join_octets(bits), labels)
    if not all(is_one_integer(values, each, size, mask) for each in data if each.data(mask)):
        return None
    kind = f"s{width}"
    new, old = (each.elements(values, f"u{width}", size)[:, 0] for each in (source, base))
    rows = max(len(new), len(old))
    new, old = np.broadcast_to(new, rows), np.broadcast_to(old, rows)
    gone = scale(values, field_of(values, old, start, count, width, width), Fraction(1 << start), kind)
    put_in = scale(values, field_of(values, new, 0, count, width, width), Fraction(1 << start), kind)
    kept = values.field(_REST, ("a", "b"), [old, gone], kind)
    return Word.of(values.field(_SUM, ("a", "b"), [kept, put_in], kind)[:, None], kind)


def _funnel(machine: Machine, meaning: Meaning, data: Sequence[Word], number: int, mask: Mask | None) -> Word | None:
    """Return 4 of the 8 bytes of two registers; of integers, h 2^(32 - n) + floor(l / 2^n); None for anything else."""
    amount = number & 31 if meaning.words["mode"] == "wrap" else min(number, 32)
    down = amount if meaning.words["direction"] == "r" else 32 - amount
    low, high = data
    if amount % 8:
        if not all(is_one_integer(machine.values, each, 4, mask) for each in data):
            return None
        values = machine.values
        lower = floor_quotient(values, low.elements(values, "u32", 4)[:, 0], Fraction(1, 1 << down), "u32")
        upper = scale(values, high.elements(values, "u32", 4)[:, 0], Fraction(1 << 32 - down), "u32")
        return Word.of(values.field(_SUM, ("a", "b"), np.broadcast_arrays(upper, lower), "u32")[:, None], "u32")
    first = down // 8
    labels = np.concatenate(np.broadcast_arrays(low.wide(4), high.wide(4)), 1)[:, first : first + 4]
    both = keep_bits(low.bits, 32) | keep_bits(high.bits, 32) << np.uint64(32)
    return word(keep_bits(both >> np.uint64(8 * first), 32), labels)


BINDS: dict[str, Bind] = {
    "extract": _on_fields("bits cut out of data", _extract_bits, _extract),
    "insert": _on_fields("bits put into data", _insert_bits, _insert),
    "funnel": _on_fields("a funnel shift of data", _shift_funnel, _funnel),
}
