# SPDX-License-Identifier: Apache-2.0
"""Comparisons and choices: predicates of plain bits, and conditions that data decide, which may only choose values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from isa_tables.formula_parser import parse
from isa_tables.semantics import Meaning
from verify.kernel.data import levels
from verify.kernel.data.floats import FORMATS
from verify.kernel.data.quotients import integers_of
from verify.kernel.data.registers import (
    Condition,
    Word,
    combine_predicates,
    condition_of,
    find_decided,
    negate,
    settle,
    word,
)
from verify.kernel.data.values import CHOSEN, FIRST, LIMITS, SIZE, Bits, Ids, Mask, Values
from verify.kernel.instructions.integers import as_type, keep_bits, without_meaning
from verify.kernel.instructions.rounded import as_floats
from verify.kernel.ptx.source import WIDTHS, PtxInstruction, Vector
from verify.kernel.state.bound import Read, Run
from verify.kernel.state.findings import FLUSHED, NOT_NAN, Unclear
from verify.kernel.state.machine import Bind, Machine

_DIFFERENCE = parse("a - b", {"a": False, "b": False}).tree


def select(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """selp: one of two values, by a predicate; by one that data decide, the choice is a value of its own."""
    kind = meaning.types["d"]
    put = machine.writer(inst.operands[0])
    first, second, predicate = (machine.reader(operand) for operand in inst.operands[1:])

    def execute(mask: Mask | None) -> None:
        put(_choose(machine, first(), second(), predicate(), kind, mask), mask)

    return execute


def _choose(machine: Machine, a: Word, b: Word, which: Word, kind: str, mask: Mask | None) -> Word:
    """Return one of two values of a type, by a predicate that plain bits or data decide, thread by thread."""
    by_data, size = find_decided(which), WIDTHS[kind] // 8
    if which.data(mask) and (by_data.all() if mask is None or len(by_data) == 1 else by_data[mask].all()):
        return chosen_by_data(machine, a, b, which, kind)
    taken = which.bits != 0
    bits = np.where(taken, keep_bits(a.bits, 8 * size), keep_bits(b.bits, 8 * size))
    if a.plain and b.plain and not which.data(mask):
        return Word(bits)
    labels = np.where(taken[:, None], a.wide(size), b.wide(size))
    if which.data(mask):  # in some of the threads, in others plain bits decide
        made = chosen_by_data(machine, a, b, which, kind)
        labels = np.where(by_data[:, None], made.wide(size), labels)
        bits = np.where(by_data, made.bits, bits)
    return word(bits, labels)


_RELATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
    "num": lambda a, b: np.ones_like(a, bool), "nan": lambda a, b: np.zeros_like(a, bool),
}  # fmt: skip
_UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}


class SetpForm(NamedTuple):
    """What `setp` and `set` compare, and where the result goes."""

    name: str  # as for signed numbers: lt, not lo
    kind: str  # the type of both sides
    flushes: bool  # whether a subnormal number counts as zero
    reads: tuple[Read, Read]  # the left side and the right
    puts: tuple[Callable[[Word, Mask | None], None], ...]  # a second destination takes the opposite
    combine: str  # the operation that takes a third predicate, if there is one
    third: Read | None  # that predicate

    def combine_with_third(self, machine: Machine, predicate: Word) -> Word:
        """Return a predicate combined with the third one; it has no meaning if data decide both."""
        if self.third is None:
            return predicate
        reason = machine.values.reason(f"{self.name}.{self.combine} of two predicates that data decide")
        return combine_predicates(self.combine, predicate, self.third(), reason)

    def write(self, machine: Machine, predicate: Word, mask: Mask | None) -> None:
        """Write the predicate of a comparison, and its opposite if that is asked for."""
        both = (predicate, negate(predicate))[: len(self.puts)]
        made = [self.combine_with_third(machine, each) for each in both]
        for put, each in zip(self.puts, made, strict=True):
            put(each, mask)


def read_relation(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> SetpForm:
    """Return what a `setp` or `set` compares; Unclear if a third predicate or its operation is missing."""
    kind, name = meaning.words["type"], meaning.words["relation"]
    if name in _UNSIGNED:
        name, kind = _UNSIGNED[name], "u" + kind[1:]
    destination = inst.operands[0]
    targets = destination.items if isinstance(destination, Vector) else (destination,)
    left, right, *third = (machine.reader(operand) for operand in inst.operands[1:])
    combine = meaning.words.get("combine", "")
    if bool(combine) != bool(third):
        raise Unclear(inst.line, f"a {inst.words[0]} has a third predicate and the operation that takes it, or neither")
    return SetpForm(
        name, kind, "ftz" in meaning.words, (left, right), tuple(map(machine.writer, targets)), combine,
        third[0] if third else None,
    )  # fmt: skip


def compare(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """setp: predicates of plain bits; of data, a condition that may choose between values."""
    of = read_relation(machine, inst, meaning)
    by_bits = _by_bits(of.name, of.kind, of.flushes)

    def execute(mask: Mask | None) -> None:
        predicate = _compare(machine, [read() for read in of.reads], of.kind, of.name, by_bits, of.flushes, mask)
        of.write(machine, predicate, mask)

    return execute


def compare_set(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """set: a comparison as a number, all ones or 1.0 where it is true."""
    of = read_relation(machine, inst, meaning)
    by_bits, (put,) = _by_bits(of.name, of.kind, of.flushes), of.puts
    to = "f32" if meaning.types["d"] == "f32" else "s32"  # all ones are -1: what neg makes 1 of
    true = 0x3F800000 if to == "f32" else 0xFFFFFFFF

    def execute(mask: Mask | None) -> None:
        predicate = _compare(machine, [read() for read in of.reads], of.kind, of.name, by_bits, of.flushes, mask)
        chosen = machine.constant(true), machine.constant(0)
        put(_choose(machine, *chosen, of.combine_with_third(machine, predicate), to, mask), mask)

    return execute


def sign_select(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """slct: the first of two values where the third one is not negative, else the second."""
    kind, to, flushes = meaning.types["c"], meaning.types["d"], "ftz" in meaning.words
    put, by_bits = machine.writer(inst.operands[0]), _by_bits("ge", kind, flushes)
    first, second, third = (machine.reader(operand) for operand in inst.operands[1:])

    def execute(mask: Mask | None) -> None:
        which = _compare(machine, [third(), machine.constant(0)], kind, "ge", by_bits, flushes, mask)
        put(_choose(machine, first(), second(), which, to, mask), mask)

    return execute


def _compare(
    machine: Machine, given: Sequence[Word], kind: str, relation: str, by_bits: Callable[[Bits, Bits], Mask],
    flushes: bool, mask: Mask | None,
) -> Word:  # fmt: skip
    """Return the predicate that a comparison is, of plain bits or of data."""
    left, right = (settle(each, machine.values) for each in given)
    plain = Word(by_bits(left.bits, right.bits).astype(np.uint64))
    if not (left.data(mask) or right.data(mask)):
        return plain
    machine.findings.note(*([FLUSHED] if flushes else []))
    return _data_compared(machine, given[0], given[1], kind, relation, plain)


def _by_bits(relation: str, kind: str, flush: bool) -> Callable[[Bits, Bits], Mask]:
    """Return a relation of plain bits; an ordered one of floats is false of a NaN, an unordered one true."""
    unordered = relation.endswith("u") or relation == "nan"
    apply = _RELATIONS[relation.removesuffix("u")]

    def compare(left: Bits, right: Bits) -> Mask:
        a, b = (_comparable(each, kind, flush) for each in (left, right))
        holds = np.asarray(apply(a, b))
        if a.dtype.kind != "f":
            return holds
        nan = np.isnan(a) | np.isnan(b)
        return np.asarray(holds | nan if unordered else holds & ~nan)

    return compare


def _comparable(bits: Bits, kind: str, flush: bool) -> Any:
    """Return bits as the numbers that a relation compares; `.ftz` makes a subnormal one a zero."""
    if kind not in FORMATS:
        return as_type(bits, kind)
    numbers = as_floats(bits, kind)
    of = FORMATS[kind]
    return np.where(np.abs(numbers) < 2.0 ** (of.least + of.fraction), 0.0, numbers) if flush else numbers


def _data_compared(machine: Machine, left: Word, right: Word, kind: str, relation: str, plain: Word) -> Word:
    """Return the predicate that a comparison of data is; `plain` has it where both sides are plain bits."""
    relation = relation.removesuffix("u")
    predicate = _compared_as_numbers(machine, left, right, kind, relation, plain)
    if kind not in FORMATS or kind not in SIZE or not (machine.values.levels or relation in ("num", "nan")):
        return predicate
    known, truth = compare_known(machine.values, left, right, kind, relation)
    if not known.any():
        return predicate
    machine.findings.note(NOT_NAN)
    here, labels = condition_of(predicate), np.where(known[:, None], np.uint32(0), predicate.wide(1))
    bits = np.where(known, truth.astype(np.uint64), predicate.bits)
    ids, opposite = np.where(known, np.uint32(0), here.ids), np.broadcast_to(here.opposite, known.shape)
    return Word(bits, labels, Condition(ids, opposite)) if labels.any() else Word(bits)


def compare_known(values: Values, left: Word, right: Word, kind: str, relation: str) -> tuple[Mask, Mask]:
    """Return in which threads a relation of floats is decided for all data, and what it is there.

    Infinities and signs decide an order. What has a meaning is a number: no NaN is among the data that are compared.
    """
    ids = np.broadcast_arrays(*(each.elements(values, kind, SIZE[kind])[:, 0] for each in (left, right)))
    values.flush()
    a, b = ids
    clear = (values.marks("cause", a) == 0) & (values.marks("cause", b) == 0)
    if relation in ("num", "nan"):
        return clear, np.full(clear.shape, relation == "num")
    left_level, right_level = (_RANK[values.marks("level", each)] for each in ids)
    sign, against = (values.marks("sign", each) for each in ids)
    zero, nil = (_is_zero(values, each) for each in ids)
    order = np.sign(left_level - right_level)
    known = (order != 0) | (left_level == right_level) & ((left_level != 0) | (a == b))
    above = (sign == levels.POSITIVE) & nil & (left_level == 0)
    below = (against == levels.POSITIVE) & zero & (right_level == 0)
    order = np.where(above, 1, np.where(below, -1, order))
    return (known | above | below) & clear, np.asarray(_RELATIONS[relation](order, 0))


_RANK = np.array([0, -1, 1, 0])  # of a level in the order of numbers


def _is_zero(values: Values, ids: Ids) -> Mask:
    """Return which values are the number 0 for all data."""
    constant = (values.marks("degree", ids) == 0) & (values.marks("level", ids) == levels.FINITE)
    return np.asarray(constant & (values.residues[:, ids] == 0).all(0))


def _compared_as_numbers(machine: Machine, left: Word, right: Word, kind: str, relation: str, plain: Word) -> Word:
    """Return the predicate that a comparison of data is, as a condition on a difference of numbers."""
    data = find_decided(left) | find_decided(right)
    reason = np.uint32(machine.values.reason("a comparison of data decides it") << 3)
    labels = np.where(data, reason, np.uint32(0))[:, None]
    if relation in ("eq", "ne") and (apart := _apart(machine, left, right, kind)) is not None:
        return Word(np.where(data, np.uint64(0), plain.bits), labels, Condition(apart, np.array([relation == "eq"])))
    if relation in ("eq", "ne", "num", "nan") or kind not in SIZE:  # bits have no order
        return without_meaning(machine, [left, right], 1, f"setp.{relation} of data", plain.bits)
    if relation in ("lt", "ge"):  # left < right is right > left; left >= right is its opposite
        left, right = right, left
    if kind not in LIMITS:
        machine.findings.note(NOT_NAN)
    ids: Ids = difference(machine, left, right, kind)
    opposite = relation in ("ge", "le")
    return Word(np.where(data, np.uint64(0), plain.bits), labels, Condition(ids, np.array([opposite])))


def _apart(machine: Machine, left: Word, right: Word, kind: str) -> Ids | None:
    """Return |left - right| of integers whose bits are equal only if the numbers are; None for other data."""
    values, width = machine.values, WIDTHS[kind]
    if kind in FORMATS or not all(integers_of(values, each.wide(width // 8)) for each in (left, right)):
        return None
    kind = f"s{width}"
    apart = _subtract(machine, left, right, kind, numbers=False)
    used = f"the bits of two integers are compared: the numbers may differ by less than {1 << width}"
    apart = values.within(apart, 1 - (1 << width), (1 << width) - 1, used, kind)
    return values.apply("abs", [apart], kind, CHOSEN)


def difference(machine: Machine, left: Word, right: Word, kind: str) -> Ids:
    """Return the ids of left - right, compared as numbers of a type."""
    return _subtract(machine, left, right, kind, numbers=kind in LIMITS)


def _subtract(machine: Machine, left: Word, right: Word, kind: str, *, numbers: bool) -> Ids:
    """Return the ids of left - right, of numbers of a type or of bits."""
    values = machine.values
    a, b = (each.elements(values, kind, SIZE[kind])[:, 0] for each in (left, right))
    if numbers:
        a, b = (values.whole(each, kind) for each in (a, b))
    count = max(len(a), len(b))
    return values.field(_DIFFERENCE, ("a", "b"), [np.broadcast_to(each, count) for each in (a, b)], kind)


def chosen_by_data(machine: Machine, a: Word, b: Word, which: Word, kind: str) -> Word:
    """Selp by a comparison of data: one of two values, a function of both and of what is compared."""
    size, values, here = WIDTHS[kind] // 8, machine.values, condition_of(which)
    held = [each.labels[each.labels[:, 0] > 0, 0] >> np.uint32(3) for each in (a, b) if each.labels is not None]
    ids = [int(each[0]) for each in held if len(each)]
    name = next((list(SIZE)[int(values.kind[index])] for index in ids if index >= FIRST), _plain_kind(a, b, kind))
    if SIZE[name] != size:
        return without_meaning(machine, [which], size, "a choice by data between parts of values")
    x, y = (each.elements(values, name, size)[:, 0] for each in (a, b))
    zero = np.full(1, values.constant(0, "f32"), np.uint32)
    chosen, alternative = np.where(here.opposite, y, x), np.where(here.opposite, x, y)
    parts = np.broadcast_arrays(here.ids, zero, chosen, alternative)
    return Word.of(values.apply("where", parts, name, CHOSEN)[:, None], name)


def _plain_kind(a: Word, b: Word, kind: str) -> str:
    """Return the type of two plain values between which data choose: integers if they would be no normal floats."""
    size = WIDTHS[kind] // 8
    if kind in SIZE:
        return kind
    least = max(int(each.bits.max()) for each in (a, b))
    small = 0 < least < 1 << (FORMATS["f32"].fraction if size == 4 else 8)
    return f"s{WIDTHS[kind]}" if small or size not in (2, 4) else "f32" if size == 4 else "f16"


BINDS: dict[str, Bind] = {"select": select, "compare": compare, "set": compare_set, "sign_select": sign_select}
