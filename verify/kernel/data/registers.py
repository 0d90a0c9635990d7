# SPDX-License-Identifier: Apache-2.0
"""What a register holds in every thread: bits, and for data a label on each byte: which byte of which value it is.

A `Word` has the bits of all threads (one number where all have the same), and labels `id * 8 + byte`, 0 where the bits
are plain. Moves, shifts by bytes and permutations of bytes move labels; `elements` reads whole values back. A value of
another type is a conversion where the bits say so: bf16 is the upper half of f32, e5m2 the upper byte of f16.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from verify.kernel.data.distinct import sort_distinct
from verify.kernel.data.quotients import floor_quotient, scale
from verify.kernel.data.values import BITS, CODE, FIRST, LIMITS, SIZE, Bits, Ids, Mask, Values

_SHIFTS = np.arange(16, dtype=np.uint64) * np.uint64(8)  # to each byte of the widest register, .b128 (PTX 5.2.1)
_BYTE = np.arange(16, dtype=np.uint32)
_ZERO, _NOWHERE = np.zeros(1, np.uint64), np.zeros(1, bool)
_KIND_SIZE = np.array([SIZE[kind] for kind in CODE], np.uint8)
_WIDER = {"bf16": "f32", "tf32": "f32", "f16": "f32", "e5m2": "f16"}
UPPER = {"f32": "bf16", "f16": "e5m2"}  # type -> the type that its upper half is
_SAME = ({"f32", "tf32"}, {"s64", "u64"}, {"s32", "u32"}, {"s16", "u16"}, {"s8", "u8"})  # of one set of bits
ROOM = 8  # bytes of the bits of a register


class Condition(NamedTuple):
    """The comparison of data that a predicate is, thread by thread: left > right, or its opposite.

    An id below FIRST is a reason why the predicate has no meaning; it passes on to what the predicate chooses.
    """

    ids: Ids  # (threads or 1,): of left - right; 0 where plain bits decide
    opposite: Mask  # (threads or 1,): left <= right


class Word:
    """A register's contents in all threads; arrays have one row where every thread has the same.

    One that is made of whole values gets labels when they are asked for: most are only read as values again.
    """

    __slots__ = ("_labels", "_parts", "_there", "bits", "condition", "ids", "kind", "tile")

    def __init__(self, bits: Bits, labels: Ids | None = None, condition: Condition | None = None) -> None:
        self.bits = bits  # (threads or 1,): the plain bytes, 0 where a byte is data
        self._labels = labels
        self.condition = condition  # of a predicate that data decide, where it has labels
        self.kind, self.ids = "", labels  # the type and (threads or 1, values) of the whole values that it is made of
        self.tile: Any = None  # the matrix of which it is the first register, as it was last read
        self._parts: dict[tuple[str, int], Ids] = {}
        self._there: Mask | None = None  # in which threads (threads or 1) data are in it, once that was asked for

    @classmethod
    def of(cls, ids: Ids, kind: str) -> Word:
        """Return the register that holds whole values, `ids` (threads, values)."""
        made = cls(_ZERO)
        made.kind, made.ids = kind, ids
        made._parts[kind, made.width] = ids
        return made

    @property
    def plain(self) -> bool:
        """Whether it has plain bits alone."""
        return self.ids is None

    @property
    def width(self) -> int:
        """The bytes that have labels."""
        return 0 if self.ids is None else self.ids.shape[1] * (SIZE[self.kind] if self.kind else 1)

    @property
    def labels(self) -> Ids | None:
        """The labels (threads or 1, bytes), or None for plain bits."""
        if self._labels is None and self.ids is not None:
            labels = (self.ids[:, :, None] << np.uint32(3)) + _BYTE[: SIZE[self.kind]]
            labels[self.ids == BITS] = 0
            self._labels = labels.reshape(len(self.ids), -1)
        return self._labels

    def wide(self, count: int) -> Ids:
        """Return the labels of the lowest bytes, zeros for plain bits and for bytes that it does not have."""
        labels = self.labels
        if labels is None:
            return np.zeros((1, count), np.uint32)
        have = labels.shape[1]
        if have >= count:
            return labels[:, :count]
        wider = np.zeros((len(labels), count), np.uint32)  # np.pad takes several times as long
        wider[:, :have] = labels
        return wider

    def data(self, mask: Mask | None) -> bool:
        """Whether any of these threads, of which there is one at least, has data in it."""
        if self.ids is None:
            return False
        there = find_decided(self)
        return bool(there.any() if mask is None or len(there) == 1 else there[mask].any())

    def elements(self, values: Values, kind: str, width: int) -> Ids:
        """Return the ids (threads or 1, values) that it holds as values of a type, in a register of so many bytes."""
        if (kind, width) not in self._parts:
            opaque = values.join_bytes(self.bits, self.wide(width), SIZE[kind]) if values.opaque else None
            self._parts[kind, width] = elements(self, values, kind, width) if opaque is None else opaque
        return self._parts[kind, width]


def condition_of(predicate: Word) -> Condition:
    """Return the condition of a predicate; without a comparison its labels are the reasons that it has none."""
    if predicate.condition is not None:
        return predicate.condition
    ids = np.zeros(1, np.uint32) if predicate.labels is None else predicate.labels[:, 0] >> np.uint32(3)
    return Condition(ids, np.zeros(1, bool))


def merge_predicate(new: Word, old: Word, mask: Mask) -> Condition | None:
    """Return the condition of a register that is written in some threads; None if it isn't a predicate of data."""
    if new.condition is None and old.condition is None:
        return None
    there, before = condition_of(new), condition_of(old)
    return Condition(np.where(mask, there.ids, before.ids), np.where(mask, there.opposite, before.opposite))


def negate(predicate: Word) -> Word:
    """Return the opposite of a predicate, of plain bits or of data."""
    bits = predicate.bits ^ np.uint64(1)
    if predicate.plain:
        return Word(bits)
    here = condition_of(predicate)
    return Word(bits, predicate.labels, Condition(here.ids, ~here.opposite))


def combine_predicates(head: str, left: Word, right: Word, reason: int) -> Word:
    """Return and, or, xor of predicates: a plain one keeps, settles or negates one of data; two of data: `reason`."""
    x, y = left.bits != 0, right.bits != 0
    if left.plain and right.plain:
        return Word({"and": x & y, "or": x | y, "xor": x ^ y}[head].astype(np.uint64))
    a, b, mine, theirs = condition_of(left), condition_of(right), find_decided(left), find_decided(right)
    plain = np.where(mine, y, x)  # the bit of the side that is plain, if one is
    settled = (mine ^ theirs) & ({"and": ~plain, "or": plain, "xor": np.zeros(1, bool)}[head])
    data = (mine | theirs) & ~settled
    ids = np.where(mine & theirs, np.uint32(reason), np.where(mine, a.ids, b.ids))
    opposite = np.where(mine, a.opposite, b.opposite) ^ (plain & (head == "xor"))
    first, second = left.wide(1)[:, 0], right.wide(1)[:, 0]
    known = np.where(
        mine & theirs, np.minimum(first, second), np.where(mine, first, second)
    )  # ids of no value are less
    labels = np.where(data, known, np.uint32(0))[:, None]
    bits = np.where(data, False, np.where(mine | theirs, plain, {"and": x & y, "or": x | y, "xor": x ^ y}[head]))
    return (
        Word(bits.astype(np.uint64), labels, Condition(ids, opposite)) if data.any() else Word(bits.astype(np.uint64))
    )


def find_decided(register: Word) -> Mask:
    """Return in which threads (threads or 1) data decide what a register holds."""
    if register._there is None:
        register._there = _NOWHERE if register.ids is None else np.asarray(register.ids.any(1))
    return register._there


def octets(bits: Bits, count: int) -> Bits:
    """Return the bytes of numbers, lowest first: (threads, count).

    >>> octets(np.array([0x1234], np.uint64), 2).tolist()
    [[52, 18]]
    """
    return (bits[:, None] >> _SHIFTS[:count]) & np.uint64(255)


def join_octets(octets: Bits) -> Bits:
    """Return the numbers of bytes, lowest first."""
    numbers: Bits = (octets.astype(np.uint64) << _SHIFTS[: octets.shape[1]]).sum(1, dtype=np.uint64)
    return numbers


def word(bits: Bits, labels: Ids) -> Word:
    """Return the register of bits and labels; plain where no label is there."""
    if not labels.any():
        return Word(bits)
    return Word(bits, labels)


def widest(values: Values, plain: Bits, labels: Ids) -> Word:
    """Return a register of more bytes than `bits` has room for: plain bytes above them have no meaning, unless zero."""
    rows = max(len(plain), len(labels))
    above = np.arange(plain.shape[1]) >= ROOM
    lost = np.broadcast_to((plain > 0) & above, (rows, plain.shape[1])) & (labels == 0)
    if lost.any():
        reason = values.reason("is in the upper half of 128 plain bits")
        labels = np.where(lost, np.uint32(reason << 3), labels)
    return word(join_octets(plain[:, :ROOM]), labels)


def settle(register: Word, values: Values) -> Word:
    """Return a register with plain bits in the threads in which all its values are numbers whose bits are known."""
    if not values.rounded or register.labels is None or register.width > 8:
        return register
    labels = register.wide(8)
    ids, place = np.unique(labels >> np.uint32(3), return_inverse=True)
    known = np.array([int(each) in values.rounded or each == BITS for each in ids])
    if not known.any() or not ids.any():
        return register
    bits = np.array([values.rounded.get(int(each), 0) for each in ids], np.uint64)[place.reshape(labels.shape)]
    within = (labels & np.uint32(7)).astype(np.uint64) << np.uint64(3)
    plain = join_octets(np.where(labels > 0, (bits >> within) & np.uint64(255), octets(register.bits, 8)))
    rows = known[place.reshape(labels.shape)].all(1)
    settled = word(np.where(rows, plain, register.bits), np.where(rows[:, None], np.uint32(0), register.labels))
    settled.condition = register.condition
    return settled


def elements(register: Word, values: Values, kind: str, width: int) -> Ids:
    """Return the ids of a register's values of a type; plain bits become constants."""
    size = SIZE[kind]
    if kind[0] in "su":
        register = settle(register, values)
    if register.plain:
        return constants(values, register.bits, kind, width // size)
    labels = register.wide(width)
    threads = len(labels)
    parts = labels.reshape(threads, width // size, size)
    ids = parts[..., 0] >> np.uint32(3)
    if size > 1:
        fits = parts == (ids << np.uint32(3))[..., None] + _BYTE[:size]
        whole, plain = fits.all(2), ~parts.any(2)
    else:
        whole, plain = (parts[..., 0] & np.uint32(7)) == 0, parts[..., 0] == 0
    code = values.kind[ids]
    if whole.all() and (code == CODE[kind]).all():
        return ids
    right = plain | (ids < FIRST) & (ids > 0) | whole & (code == CODE[kind])
    results = ids.copy()
    if plain.any():
        bits = constants(values, register.bits, kind, width // size)
        results = np.where(plain, bits, results)
    if not right.all():
        shape = results.shape
        odd = ~right
        there = octets(register.bits, min(width, ROOM)) > 0  # bytes that are not zero
        stray = np.zeros(labels.shape, bool)
        stray[:, :ROOM] = there if len(there) <= threads else there.any(0)
        stray &= labels == 0
        results[odd] = _convert(values, kind, parts[odd], ids[odd], whole[odd], stray.reshape(parts.shape)[odd])
        assert results.shape == shape
    return results.astype(np.uint32)


def _convert(values: Values, kind: str, parts: Ids, ids: Ids, whole: Mask, stray: Mask) -> Ids:
    """Values of a type that lie there as another: conversions by the bits, or a reason why there is no meaning.

    `stray` has the plain bytes that are not zero, which no conversion has.
    """
    converted = np.zeros(len(ids), np.uint32)
    for code in sort_distinct(values.kind[ids[whole]]):
        here = whole & (values.kind[ids] == code)
        converted[here] = _retype(values, kind, list(CODE)[code], ids[here])
    rest = ~whole
    if not rest.any():
        return converted
    clean = ~stray.any(1)
    size = SIZE[kind]
    top = parts[:, size // 2 :] if size > 1 else parts
    upper = top[:, 0] >> np.uint32(3)
    half = max(size // 2, 1)
    run = (upper << np.uint32(3))[:, None] + _BYTE[:half]
    low_plain = ~parts[:, : size // 2].any(1) if size > 1 else np.zeros(len(parts), bool)
    names = values.kind[upper]
    for narrow, wide in (("bf16", "f32"), ("e5m2", "f16")):
        if kind == wide:  # the upper half of a wider type, with zeros below
            here = rest & clean & low_plain & (top == run).all(1) & (names == CODE[narrow])
            converted[here] = values.copy(upper[here], kind, narrows=False)
            rest = rest & ~here
        if kind == narrow:  # a wider value's upper half: it is cut off, which rounds
            cut = (ids << np.uint32(3))[:, None] + size + _BYTE[:size]
            here = rest & (parts == cut).all(1) & (values.kind[ids] == CODE[wide])
            converted[here] = values.copy(ids[here], kind, narrows=True)
            rest = rest & ~here
    if kind in LIMITS:
        rest &= ~_zero_extended(values, kind, parts, rest & clean, converted)
        rest &= ~_move_bytes(values, kind, parts, rest & clean, converted)
    low = (parts & np.uint32(7) == _BYTE[: parts.shape[1]]) & (parts >> np.uint32(3) < FIRST) & (parts > 0)
    reserved = rest & low.any(1)  # one byte without a meaning makes the whole without one
    converted[reserved] = (np.where(low, parts, 0).max(1) >> np.uint32(3))[reserved]
    rest = rest & ~reserved
    if rest.any():
        converted[rest] = values.reason(f"bytes of different values, or in another order, are used as one {kind}")
    return converted


def _retype(values: Values, kind: str, name: str, ids: Ids) -> Ids | int:
    """Values of one type as another: the same number if the bits say so, or a reason why there is no meaning."""
    if {kind, name} <= LIMITS.keys() and SIZE[name] > SIZE[kind]:  # the lowest bytes of an integer
        return values.copy(ids, kind, narrows=False)
    if SIZE[name] != SIZE[kind]:
        return values.reason(f"{SIZE[kind]} bytes that begin with a value of type {name} are read as {kind}")
    if any({kind, name} <= same for same in _SAME):
        return values.copy(ids, kind, narrows=kind == "tf32")
    if all(int(each) in values.rounded for each in ids):
        return np.array([values.constant(values.rounded[int(each)], kind) for each in ids], np.uint32)
    return values.reason(f"the bits of a value of type {name} are used as {kind}")


def _zero_extended(values: Values, kind: str, parts: Ids, among: Mask, converted: Ids) -> Mask:
    """Find integers that are smaller ones with zeros above."""
    size, first, done = SIZE[kind], parts[:, 0] >> np.uint32(3), np.zeros(len(parts), bool)
    for name in ("u8", "u16", "u32"):
        if SIZE[name] < size:
            run = np.where(_BYTE[:size] < SIZE[name], (first << np.uint32(3))[:, None] + _BYTE[:size], 0)
            integers = [CODE[each] for each in LIMITS if SIZE[each] >= SIZE[name]]
            here = among & ~done & (parts == run).all(1) & np.isin(values.kind[first], integers)
            if here.any():
                narrow = values.copy(first[here], name, narrows=False)
                converted[here] = values.copy(values.whole(narrow, name), kind, narrows=False)
            done |= here
    return done


def _move_bytes(values: Values, kind: str, parts: Ids, among: Mask, converted: Ids) -> Mask:
    """Find integers of this size that were shifted by whole bytes, with zeros behind them."""
    size, done, unsigned = SIZE[kind], np.zeros(len(parts), bool), f"u{8 * SIZE[kind]}"
    for count in range(1, size):
        for down, at, first in ((True, slice(size - count), 0), (False, slice(count, size), count)):
            ids = parts[:, first] >> np.uint32(3)
            run = np.zeros(parts.shape, np.uint32)
            run[:, at] = (ids << np.uint32(3))[:, None] + _BYTE[: size - count] + np.uint32(count if down else 0)
            there = np.isin(values.kind[ids], [CODE[each] for each in LIMITS if SIZE[each] == size])
            here = among & ~done & (parts == run).all(1) & there
            if here.any():
                moved = ids[here]
                factor = Fraction(1, 1 << 8 * count) if down else Fraction(1 << 8 * count)
                converted[here] = (floor_quotient if down else scale)(values, moved, factor, unsigned)
            done |= here
    return done


def constants(values: Values, bits: Bits, kind: str, count: int) -> Ids:
    """Return the ids (threads or 1, count) of the numbers that plain bits are."""
    size = SIZE[kind]
    shifts = np.arange(count, dtype=np.uint64) * np.uint64(8 * size)
    mask = np.uint64((1 << (8 * size)) - 1)
    parts = (bits[:, None] >> shifts) & mask
    first = parts.flat[0]
    if (parts == first).all():
        return np.full(parts.shape, values.constant(int(first), kind), np.uint32)
    unique, inverse = np.unique(parts, return_inverse=True)
    ids = np.array([values.constant(int(number), kind) for number in unique], np.uint32)
    return np.asarray(ids[inverse.reshape(parts.shape)])
