# SPDX-License-Identifier: Apache-2.0
"""Operations on bits: and, or, xor, not, shifts, prmt. They move whole bytes of data, or change the sign of floats."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isa_tables.semantics import Meaning
from verify.kernel.data.quotients import floor_quotient, integers_of, scale
from verify.kernel.data.registers import Word, combine_predicates, join_octets, negate, octets, settle, word
from verify.kernel.data.values import SIZE, Bits, Ids, Mask, Values
from verify.kernel.instructions.bit_fields import mask_integer
from verify.kernel.instructions.integers import Signed, by_number, extend_sign, keep_bits, plain, without_meaning
from verify.kernel.instructions.signs import sign_changed
from verify.kernel.ptx.source import WIDTHS, PtxInstruction
from verify.kernel.state.bound import Run
from verify.kernel.state.machine import Bind, Machine

OPERATIONS: dict[str, Callable[..., Bits]] = {
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "not": np.bitwise_not,
}  # fmt: skip


def bitwise(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """And, or, xor, not; of data, byte by byte where the other side keeps or clears it."""
    head, kind = inst.words[0], meaning.types["d"]
    width, apply = WIDTHS[kind], OPERATIONS[head]
    put, reads = machine.writer(inst.operands[0]), [machine.reader(operand) for operand in inst.operands[1:]]

    def execute(mask: Mask | None) -> None:
        sources = [settle(read(), machine.values) for read in reads]
        if any(each.data(mask) for each in sources):
            if width == 1:
                reason = machine.values.reason(f"{head} of two predicates that data decide")
                put(
                    negate(sources[0]) if head == "not" else combine_predicates(head, sources[0], sources[1], reason),
                    mask,
                )
            elif head == "not":
                put(
                    without_meaning(
                        machine, sources, width // 8, f"{head} of data", keep_bits(~sources[0].bits, width)
                    ),
                    mask,
                )
            else:
                made = sign_changed(machine.values, head, sources, width // 8, mask)
                if made is None and head == "and":
                    made = _keep_field(machine, sources, width, mask)
                put(_bytewise(machine, head, sources[0], sources[1], width // 8) if made is None else made, mask)
            return
        put(Word(keep_bits(apply(*(each.bits for each in sources)), width)), mask)

    return execute


def _keep_field(machine: Machine, sources: Sequence[Word], width: int, mask: Mask | None) -> Word | None:
    """Return an integer and a mask of consecutive bits that cuts a byte; None for anything else."""
    data, plain = sources if sources[0].data(mask) else sources[::-1]
    parts = octets(plain.bits if mask is None or len(plain.bits) == 1 else plain.bits[mask], width // 8)
    if plain.data(mask) or np.isin(parts, (0, 255)).all():
        return None
    return mask_integer(machine, data, plain.bits, width, mask)


def _bytewise(machine: Machine, head: str, left: Word, right: Word, size: int) -> Word:
    """And, or, xor of registers each byte of which is data on one side at most, or the same on both."""
    labels: list[NDArray[Any]] = [left.wide(size), right.wide(size)]
    plain_bytes: list[NDArray[Any]] = [octets(each.bits, size) for each in (left, right)]
    rows = max(map(len, [*labels, *plain_bytes]))
    made = np.zeros((rows, size), np.uint32)
    good = np.ones((rows, size), bool)
    for mine, theirs in ((0, 1), (1, 0)):
        data, free = labels[mine] > 0, labels[theirs] == 0
        if head == "and":
            keep, clear = free & (plain_bytes[theirs] == 255), free & (plain_bytes[theirs] == 0)
        else:
            keep, clear = free & (plain_bytes[theirs] == 0), np.zeros((1, 1), bool)
        made = np.where(data & keep, labels[mine], made)
        good &= ~data | keep | clear
    same = (labels[0] == labels[1]) & (labels[0] > 0)
    if head in ("and", "or"):
        made, good = np.where(same, labels[0], made), good | same
    if not good.all():
        reason = machine.values.reason(f"{head} within the bytes of data")
        made = np.where(good, made, reason << 3).astype(np.uint32)
    bits = octets(OPERATIONS[head](left.bits, right.bits), size)
    return word(
        join_octets(np.where(made > 0, np.uint64(0), np.broadcast_to(bits, made.shape))), made.astype(np.uint32)
    )


def shift(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """Shifts; of data by plain amounts: of integers as numbers, of other data by whole bytes."""
    left, kind = inst.words[0] == "shl", meaning.types["d"]
    width = WIDTHS[kind]
    put, read, amount = (
        machine.writer(inst.operands[0]),
        machine.reader(inst.operands[1]),
        machine.reader(inst.operands[2]),
    )

    def execute(mask: Mask | None) -> None:
        source = settle(read(), machine.values)
        by = keep_bits(machine.numbers(amount, mask, "the amount of a shift"), 32)
        if source.data(mask):
            put(_shift(machine, source, by, left, width, kind, mask), mask)
            return
        big = by >= width
        safe = np.where(big, np.uint64(0), by)
        if left:
            shifted = np.where(big, np.uint64(0), source.bits << safe)
        elif kind[0] == "s":
            most = np.minimum(by, np.uint64(width - 1)).astype(np.int64)
            shifted = (extend_sign(source.bits, width) >> most).view(np.uint64)
        else:
            shifted = np.where(big, np.uint64(0), keep_bits(source.bits, width) >> safe)
        put(Word(keep_bits(shifted, width)), mask)

    return execute


def _shift(machine: Machine, source: Word, by: Bits, left: bool, width: int, kind: str, mask: Mask | None) -> Word:
    size = width // 8
    made = by_number(machine, by, mask, size, lambda amount: _shift_by(machine, source, amount, left, kind, mask))
    return without_meaning(machine, [source], size, "a shift of data by too many amounts") if made is None else made


def _shift_by(machine: Machine, source: Word, amount: int, left: bool, kind: str, mask: Mask | None) -> Word:
    """Return data shifted by the same amount in all threads."""
    width = WIDTHS[kind]
    size = width // 8
    if amount % 8 or (kind[0] == "s" and not left):
        return _shift_integers(machine, source, amount, left, f"{'s' if kind[0] == 's' else 'u'}{width}", mask)
    count = min(amount // 8, size)
    labels = np.zeros((len(source.wide(size)), size), np.uint32)
    bits = keep_bits(source.bits, width)
    if left:
        labels[:, count:] = source.wide(size)[:, : size - count]
        bits = keep_bits(bits << np.uint64(amount), width) if count < 8 else bits * np.uint64(0)
    else:
        labels[:, : size - count] = source.wide(size)[:, count:]
        bits = bits >> np.uint64(amount) if count < 8 else bits * np.uint64(0)
    return word(bits, labels)


def _shift_integers(machine: Machine, source: Word, amount: int, left: bool, kind: str, mask: Mask | None) -> Word:
    """Integers times a power of two; rounded down to the right, where they must be numbers of their type."""
    values, size = machine.values, SIZE[kind]
    if left and amount >= 8 * size:
        return Word(np.zeros(1, np.uint64))
    held = source.wide(size) if mask is None or len(source.wide(size)) == 1 else source.wide(size)[mask]
    if not integers_of(values, held):
        return without_meaning(machine, [source], size, "a shift that cuts data within a byte")
    ids = source.elements(values, kind, size)[:, 0]
    if left:
        return Word.of(scale(values, ids, Fraction(1 << amount), kind)[:, None], kind)
    made = floor_quotient(values, ids, Fraction(1, 1 << min(amount, 8 * size)), kind)
    return Word.of(made[:, None], kind)


# the modes of prmt: which byte comes to a place, by the two bits of the selector
_PLACES: dict[str, Callable[[Signed, int], Signed]] = {
    "f4e": lambda first, at: first + at,
    "b4e": lambda first, at: (first - at) % 8,
    "rc8": lambda first, at: first,
    "ecl": np.maximum,
    "ecr": np.minimum,
    "rc16": lambda first, at: 2 * (first & 1) + (at & 1),
}


def _extend_signs(machine: Machine, labels: Ids, plain: Bits, picks: Bits) -> Word:
    """Return the numbers of 4 or 2 bytes that prmt makes of smaller ones by repeating their highest bit.

    Any other use of the sign of data has no meaning.
    """
    selector = picks[0].tolist()
    for size in (4, 2) if (picks == picks[0]).all() else ():
        runs = [selector[at : at + size] for at in range(0, 4, size)]
        if all(_is_extension(run) for run in runs):
            made = [_extend(machine.values, labels, plain, run) for run in runs]
            bits, new_labels = (np.concatenate(np.broadcast_arrays(*each), 1) for each in zip(*made, strict=True))
            return word(join_octets(np.where(new_labels > 0, np.uint64(0), bits)), new_labels)
    reason = np.uint32(machine.values.reason("prmt that repeats the sign of data") << 3)
    return Word(np.zeros(1, np.uint64), np.full((len(labels), 4), reason, np.uint32))


def _extend(values: Values, labels: Ids, plain: Bits, run: list[int]) -> tuple[Bits, Ids]:
    """Return the bytes and labels of a number that is extended to as many bytes as there are selectors."""
    count = sum(each < 8 for each in run)
    here = slice(run[0], run[0] + count)
    if count == len(run):
        return plain[:, here], labels[:, here]
    kind, wide = f"s{8 * count}", f"s{8 * len(run)}"
    number = values.whole(word(join_octets(plain[:, here]), labels[:, here]).elements(values, kind, count), kind)
    made = Word.of(values.copy(number, wide, narrows=False), wide).wide(len(run))
    return np.zeros(made.shape, np.uint64), made


def _is_extension(run: list[int]) -> bool:
    """Return whether selectors name one or two bytes in order, and then the sign of the last of them."""
    count = sum(each < 8 for each in run)
    return count in (1, 2) and run == [*range(run[0], run[0] + count), *[8 | run[0] + count - 1] * (len(run) - count)]


def permute(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """prmt: each byte of the result is one of eight, by the same selector in all threads or by thread."""
    put = machine.writer(inst.operands[0])
    reads = [machine.reader(operand) for operand in inst.operands[1:]]
    place_of = _PLACES[meaning.words["mode"]] if "mode" in meaning.words else None

    def execute(mask: Mask | None) -> None:
        low, high = (settle(read(), machine.values) for read in reads[:2])
        selector = keep_bits(machine.numbers(reads[2], mask, "a selector"), 16)
        picks = (selector[:, None] >> (np.arange(4, dtype=np.uint64) * np.uint64(4))) & np.uint64(15)
        if place_of is not None:
            picks = np.stack([place_of((selector & np.uint64(3)).astype(np.int64), at) for at in range(4)], 1)
            picks = picks.astype(np.uint64)
        parts = [
            np.concatenate(np.broadcast_arrays(*pair), 1)
            for pair in ((low.wide(4), high.wide(4)), (octets(low.bits, 4), octets(high.bits, 4)))
        ]
        if (picks & np.uint64(8)).any() and any(each.data(mask) for each in (low, high)):
            put(
                _extend_signs(machine, parts[0], parts[1], picks if mask is None or len(picks) == 1 else picks[mask]),
                mask,
            )
            return
        rows = max(len(parts[0]), len(parts[1]), len(picks))
        place = np.broadcast_to((picks & np.uint64(7)).astype(np.int64), (rows, 4))
        labels = np.take_along_axis(np.broadcast_to(parts[0], (rows, 8)), place, 1)
        taken = np.take_along_axis(np.broadcast_to(parts[1], (rows, 8)), place, 1)
        signs = np.where(taken > 127, np.uint64(255), np.uint64(0))
        taken = np.where(np.broadcast_to(picks, (rows, 4)) > 7, signs, taken)
        put(word(join_octets(taken), labels), mask)

    return execute


def _looked_up(meaning: Meaning, a: Bits, b: Bits, c: Bits, table: Bits) -> Bits:
    number, bits = int(table[0]), np.zeros_like(a + b + c)
    for row in range(8):
        if number >> row & 1:
            bits |= (a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c)
    return bits


BINDS: dict[str, Bind] = {
    "bitwise": bitwise,
    "shift": shift,
    "permute": permute,
    "lookup": plain(_looked_up, "lop3 of data"),
}
