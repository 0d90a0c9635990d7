# SPDX-License-Identifier: Apache-2.0
"""Comparisons and choices: predicates of plain bits, and conditions that data decide, which may only choose values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from isa_tables.parsing import parse
from isa_tables.semantics import Meaning
from verify.kernel.data.registers import Condition, Word, word
from verify.kernel.data.values import CHOSEN, SIZE, Bits, Ids, Mask
from verify.kernel.instructions.integers import OPERATIONS, cut, typed, without_meaning
from verify.kernel.ptx.source import WIDTHS, Instruction, Vector
from verify.kernel.state.machine import Bind, Machine, Run

_DIFFERENCE = parse("a - b", {"a": False, "b": False}).tree


def select(machine: Machine, one: Instruction, meaning: Meaning) -> Run:
    """selp: one of two values, by a predicate; by one that data decide, the choice is a value of its own."""
    kind = meaning.types["d"]
    put = machine.writer(one.operands[0])
    first, second, predicate = (machine.reader(operand) for operand in one.operands[1:])
    size = WIDTHS[kind] // 8

    def run(mask: Mask | None) -> None:
        a, b, which = first(), second(), predicate()
        if which.data(mask):
            put(chosen_by_data(machine, a, b, which, kind, mask), mask)
            return
        taken = which.bits != 0
        bits = np.where(taken, cut(a.bits, 8 * size), cut(b.bits, 8 * size))
        if a.plain and b.plain:
            put(Word(bits), mask)
        else:
            put(word(bits, np.where(taken[:, None], a.wide(size), b.wide(size))), mask)

    return run


_RELATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
}  # fmt: skip
_UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}


def compare(machine: Machine, one: Instruction, meaning: Meaning) -> Run:
    """setp: predicates of plain bits; of data, a condition that may choose between values."""
    kind, relation = meaning.words["type"], meaning.words["relation"]
    if relation in _UNSIGNED:
        relation, kind = _UNSIGNED[relation], "u" + kind[1:]
    destination = one.operands[0]
    targets = destination.items if isinstance(destination, Vector) else (destination,)
    puts = [machine.writer(target) for target in targets]
    reads = [machine.reader(operand) for operand in one.operands[1:3]]
    third = machine.reader(one.operands[3]) if len(one.operands) > 3 else None
    combine = meaning.words.get("combine", "")
    apply = _RELATIONS[relation.removesuffix("u") if len(relation) > 2 else relation]

    def run(mask: Mask | None) -> None:
        left, right = (read() for read in reads)
        if left.data(mask) or right.data(mask):
            _data_compared(machine, left, right, kind, relation, third is not None, puts, mask)
            return
        found = apply(_comparable(left.bits, kind), _comparable(right.bits, kind))
        both = [found, ~found]
        if third is not None:
            with_ = machine.numbers(third, mask, "part of a predicate") != 0
            both = [OPERATIONS[combine](each, with_) for each in both]
        for put, each in zip(puts, both, strict=False):
            put(Word(each.astype(np.uint64)), mask)

    return run


def _comparable(bits: Bits, kind: str) -> Any:
    if kind == "f32":
        return bits.astype(np.uint32).view(np.float32)
    if kind == "f64":
        return bits.view(np.float64)
    if kind == "f16":
        return bits.astype(np.uint16).view(np.float16)
    if kind == "bf16":
        return (bits << np.uint64(16)).astype(np.uint32).view(np.float32)
    return typed(bits, kind)


def _data_compared(  # noqa: PLR0913, PLR0917 - what a comparison has
    machine: Machine, left: Word, right: Word, kind: str, relation: str, combined: bool, puts: Sequence[Any],
    mask: Mask | None,
) -> None:  # fmt: skip
    """Write the condition that a comparison of data is."""
    relation = relation[:2]
    if relation in ("eq", "ne") or kind[0] not in "fbs" or combined:
        for put in puts:
            put(without_meaning(machine, [left, right], 1, f"setp.{relation} of data"), mask)
        return
    if relation in ("lt", "ge"):  # left < right is right > left; left >= right is its opposite
        left, right = right, left
    ids: Ids = difference(machine, left, right, kind)
    opposite = relation in ("ge", "le")
    reason = machine.values.reason("a comparison of data decides it")
    labels = np.full((len(ids), 1), reason << 3, np.uint32)
    for number, put in enumerate(puts):
        put(Word(np.zeros(1, np.uint64), labels, Condition(ids, opposite ^ bool(number))), mask)


def difference(machine: Machine, left: Word, right: Word, kind: str) -> Ids:
    """The ids of left - right, compared as a type; bit types hold floats of their width where data are compared."""
    kind = kind if kind[0] == "f" or kind == "bf16" else f"s{WIDTHS[kind]}"
    values = machine.values
    a, b = (each.elements(values, kind, SIZE[kind])[:, 0] for each in (left, right))
    count = max(len(a), len(b))
    return values.field(_DIFFERENCE, ("a", "b"), [np.broadcast_to(each, count) for each in (a, b)], kind)


def chosen_by_data(machine: Machine, a: Word, b: Word, which: Word, kind: str, mask: Mask | None) -> Word:
    """Selp by a comparison of data: one of two values, a function of both and of what is compared."""
    size, values = WIDTHS[kind] // 8, machine.values
    if which.condition is None:
        return without_meaning(machine, [which], size, "a choice by a predicate without a meaning")
    held = [int(label) >> 3 for each in (a, b) if each.labels is not None for label in each.labels[:, 0][:1]]
    name = next((list(SIZE)[int(values.kind[one])] for one in held if one), "f32" if size == 4 else "f16")
    if SIZE[name] != size:
        return without_meaning(machine, [which], size, "a choice by data between parts of values")
    x, y = (each.elements(values, name, size)[:, 0] for each in (a, b))
    if which.condition.opposite:
        x, y = y, x
    zero = np.full(1, values.constant(0, "f32"), np.uint32)
    parts = np.broadcast_arrays(which.condition.ids, zero, x, y)
    return Word.of(values.apply("where", parts, name, CHOSEN)[:, None], name)


BINDS: dict[str, Bind] = {"select": select, "compare": compare}
