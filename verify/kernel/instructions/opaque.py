# SPDX-License-Identifier: Apache-2.0
"""Instructions on opaque data: what a run without a claim does where an operand is data.

Threads whose operands are plain bits execute the instruction as ever. In the others its result is data in an interval
that holds every number which the instruction can give, and is lost if an operand is. An instruction without a rule
here gives any number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from isa_tables.semantics import Meaning
from verify.kernel.data import intervals
from verify.kernel.data.intervals import Interval, Reach, fill_ones, number_range, of_mask, of_number, settle, zeros_of
from verify.kernel.data.opaque import DATA, OpaqueValues, OperandRows, lost_of
from verify.kernel.data.registers import Word, find_decided, word
from verify.kernel.data.values import FIRST, UNWRITTEN, Ids, Mask
from verify.kernel.instructions.comparisons import read_relation
from verify.kernel.instructions.integers import register_width
from verify.kernel.ptx.source import WIDTHS, PtxInstruction, Vector
from verify.kernel.state.bound import Run
from verify.kernel.state.copies import Octets
from verify.kernel.state.findings import Unclear
from verify.kernel.state.lanes import WARP
from verify.kernel.state.machine import Machine

Rule = Callable[[Sequence[Interval]], Interval]
# Types whose values are integers or bare bits: PTX ISA 5.2.1.
_INTEGERS = frozenset(f"{letter}{width}" for letter in "bus" for width in (8, 16, 32, 64))
_LANES = frozenset({"vote", "reduce", "match"})


def guard_data(machine: Machine, inst: PtxInstruction, meaning: Meaning, run: Run) -> Run:
    """Return an instruction that computes registers, so that it takes opaque data too."""
    name, values = meaning.row.meaning, machine.values
    if not isinstance(values, OpaqueValues) or len(inst.operands) < 2:
        return run
    if meaning.types.get("d") == "pred" and name == "bitwise":
        return run
    if name in _LANES:
        return _of_lanes(machine, values, inst, run, max(WIDTHS.get(meaning.types.get("d", ""), 32) // 8, 1))
    guard = {"select": _select, "compare": _compare, "permute": _permute}.get(name, _compute)
    return guard(machine, values, inst, meaning, run)


def split_threads(machine: Machine, mask: Mask | None, data: Mask, run: Run) -> Mask | None:
    """Run an instruction in the threads without data; return the others, or None if there are none."""
    if len(data) == 1 and not data[0]:
        run(mask)
        return None
    there = np.ones(machine.count, bool) if mask is None else mask
    if len(data) == 1:
        return there
    with_data = there & data
    if not with_data.any():
        run(mask)
        return None
    rest = there & ~data
    if rest.any():
        run(rest)
    return with_data


def _compute(machine: Machine, values: OpaqueValues, inst: PtxInstruction, meaning: Meaning, run: Run) -> Run:
    """Return an instruction whose result is a number in an interval."""
    roles = [role for role, _, _ in meaning.row.operands]
    kinds = {role: meaning.types.get(role, "") for role in roles}
    destination, *sources = inst.operands
    outputs = destination.items if isinstance(destination, Vector) else (destination,)
    puts = [machine.writer(each) for each in outputs]
    inputs = [each for operand in sources for each in (operand.items if isinstance(operand, Vector) else (operand,))]
    reads = [machine.reader(each) for each in inputs]
    width = WIDTHS.get(kinds[roles[0]], 64)
    if meaning.row.meaning == "convert" and kinds[roles[0]][0] == "s":  # a wider register gets the sign above
        width = max(width, register_width(machine, outputs[0]))
    rule = _rule(inst, meaning, [kinds[role] for role in roles], width) if len(inputs) == len(sources) else None
    sizes = [max(WIDTHS.get(kinds.get(role, ""), 64) // 8, 1) for role in roles[1:]]
    rule = None if len(puts) > 1 else rule
    carries = [machine.carry, machine.carry + 1] if meaning.row.meaning == "carry" else []
    taken = [carries[head.startswith("sub")]] if carries and (head := meaning.head).endswith("c") else []

    def execute(mask: Mask | None) -> None:
        words = [read() for read in reads] + [machine.register(each) for each in taken]
        data = reduce(np.logical_or, map(find_decided, words))
        with_data = split_threads(machine, mask, data, run)
        if with_data is None:
            return
        if rule is None:
            lost = reduce(np.maximum, map(values.lost_in, words))
            place = np.zeros(len(lost), np.intp)
            made = values.register([of_mask(fill_ones(max(width, 8)))], place, lost, max(width // 8, 1), machine.count)
        else:
            rows = [values.rows(each, size) for each, size in zip(words, sizes, strict=True)]
            made = _apply(values, rule, rows, max(width // 8, 1), machine.count, with_data)
        target = None if with_data.all() else with_data
        for put in puts:
            put(made, target)
        if carries and "cc" in inst.words:
            for each in carries:
                machine.write(each, machine.unknown("is a carry of data", 8), target)

    return execute


def _permute(machine: Machine, values: OpaqueValues, inst: PtxInstruction, meaning: Meaning, run: Run) -> Run:
    """Bind prmt: it moves bytes, of data too; if data choose them, its result is any number."""
    choose, read = _compute(machine, values, inst, meaning, run), machine.reader(inst.operands[-1])
    return lambda mask: choose(mask) if read().data(mask) else run(mask)


def _apply(values: OpaqueValues, rule: Rule, rows: Sequence[OperandRows], size: int, count: int, there: Mask) -> Word:
    """Apply a rule to each different tuple of operands."""
    stack = np.stack(np.broadcast_arrays(*(column for each in rows for column in each[:3])))
    lost = np.maximum.reduce(np.broadcast_arrays(*(each.lost for each in rows)))
    if stack.shape[1] > 1:  # the threads that do not execute it get what the first that does gets
        stack = np.where(there, stack, stack[:, int(there.argmax())][:, None])
        lost = np.where(there, np.broadcast_to(lost, count), np.uint32(0))
    if (stack == stack[:, :1]).all():
        distinct, place = stack[:, :1], np.zeros(stack.shape[1], np.intp)
    else:
        distinct, place = np.unique(stack, axis=1, return_inverse=True)
        place = place.reshape(-1)
    outcomes = []
    for column in distinct.T.tolist():
        parts = [Interval(*column[at : at + 3]) for at in range(0, len(column), 3)]
        outcomes.append(rule(parts))
    if len(lost) != len(place):
        lost, place = np.broadcast_arrays(lost, place)
    return values.register(outcomes, place, lost, size, count)


def _rule(inst: PtxInstruction, meaning: Meaning, kinds: Sequence[str], room: int) -> Rule | None:
    """Return the rule of an instruction with a result of `room` bits; None if nothing is known of it."""
    name, head, target = meaning.row.meaning, meaning.head, kinds[0]
    if not set(kinds) <= _INTEGERS or {"sat", "relu"} & set(inst.words):
        return None
    width, kind = WIDTHS[target], kinds[1] if len(kinds) > 1 else target
    if name == "integer":
        return _integer(meaning, head, kinds)
    if name == "bitwise" and head == "not":
        return lambda parts: settle(~(parts[0].start + parts[0].extent), parts[0].extent, fill_ones(width), width)
    if (name == "count" and head not in ("popc", "clz", "bfind")) or (name == "extract" and target[0] != "u"):
        return None
    rules: dict[str, Rule] = {
        "bitwise": lambda parts: intervals.bitwise(head, parts[0], parts[1], width),
        "shift": lambda parts: _shift(parts, head == "shl", target, width),
        "convert": lambda parts: _convert(_convert(parts[0], kind, width), target, room),
        "divide": lambda parts: _divide(parts, target, head == "rem"),
        "count": lambda parts: settle(
            -(head == "bfind"), WIDTHS[kind], fill_ones(width) if head == "bfind" else 127, width
        ),
        "extract": lambda parts: _extract(parts, width),
        "insert": lambda parts: _insert(parts, width),
    }
    return rules.get(name)


def _integer(meaning: Meaning, head: str, kinds: Sequence[str]) -> Rule | None:
    """Return the rule of arithmetic by the row's formula."""
    width, formula = WIDTHS[kinds[0]], meaning.row.value
    if head in ("min", "max"):
        return lambda parts: intervals.clamp(head, parts[0], parts[1], kinds[0])
    if head == "abs":
        return lambda parts: intervals.absolute(parts[0], kinds[0])
    if formula is None or not intervals.is_polynomial(formula.tree):
        return None
    tree, roles = formula.tree, [role for role, _, _ in meaning.row.operands][1:]
    wraps = intervals.is_ring(tree) and all(WIDTHS[kind] >= width for kind in kinds[1:])

    def compute(parts: Sequence[Interval]) -> Interval:
        ways = [_ways(each, kind, wraps) for each, kind in zip(parts, kinds[1:], strict=True)]
        both = (dict(zip(roles, each, strict=True)) for each in zip(*ways, strict=True))
        return min((intervals.compute(tree, named, width) for named in both), key=lambda each: each.extent)

    return compute


def _ways(interval: Interval, kind: str, wraps: bool) -> list[Reach]:
    """Return the numbers of an operand: of its type, or, if the sum wraps, as signed and as unsigned ones."""
    zeros = zeros_of(interval.mask)
    kinds = (f"s{kind[1:]}", f"u{kind[1:]}") if wraps else (kind, kind)
    return [Reach(*number_range(interval, each, WIDTHS[kind]), zeros) for each in kinds]


def _shift(parts: Sequence[Interval], left: bool, kind: str, width: int) -> Interval:
    by = parts[1]
    if by.extent:
        return of_mask(fill_ones(width))
    return intervals.shift(parts[0], by.start & fill_ones(32), left, kind, width)


def _convert(interval: Interval, kind: str, width: int) -> Interval:
    low, high = number_range(interval, kind, WIDTHS[kind])
    mask = interval.mask if low >= 0 else ~fill_ones(zeros_of(interval.mask))
    return settle(low, high - low, mask, width)


def _divide(parts: Sequence[Interval], kind: str, rest: bool) -> Interval:
    width = WIDTHS[kind]
    low, high = number_range(parts[1], kind, width)
    return intervals.divide(parts[0], low, kind, rest) if low == high > 0 else of_mask(fill_ones(width))


def _extract(parts: Sequence[Interval], width: int) -> Interval:
    source, at, length = parts
    if at.extent or length.extent:
        return of_mask(fill_ones(width))
    moved = (source.mask >> min(at.start & 255, width)) & fill_ones(min(length.start & 255, width))
    return of_mask(moved) if moved else of_number(0)


def _insert(parts: Sequence[Interval], width: int) -> Interval:
    new, old, at, count = parts
    if at.extent or count.extent:
        return of_mask(fill_ones(width))
    return intervals.insert(new, old, at.start & 255, count.start & 255, width)


def _select(machine: Machine, values: OpaqueValues, inst: PtxInstruction, meaning: Meaning, run: Run) -> Run:
    """selp: by a predicate that is data, either of its two values."""
    kind = meaning.types["d"]
    width = WIDTHS[kind]
    put = machine.writer(inst.operands[0])
    reads = [machine.reader(operand) for operand in inst.operands[1:]]

    def execute(mask: Mask | None) -> None:
        *either, predicate = (read() for read in reads)
        with_data = split_threads(machine, mask, find_decided(predicate), run)
        if with_data is None:
            return
        rows = [values.rows(each, max(width // 8, 1)) for each in either]
        doubt, first, second = np.broadcast_arrays(values.rows(predicate, 1).lost, *(each.lost for each in rows))
        both = np.where((first > 0) & (second > 0), np.maximum(first, second), np.uint32(0))
        # One of the two has no value: the data that choose it may be those for which nobody wrote the other.
        lost = np.where(both == np.maximum(first, second), both, np.uint32(values.maybe))
        rows = [each._replace(lost=np.maximum(lost, doubt)) for each in rows]
        made = _apply(values, lambda parts: intervals.hull(parts[0], parts[1], width), rows, max(width // 8, 1),
                      machine.count, with_data)  # fmt: skip
        put(made, None if with_data.all() else with_data)

    return execute


def _compare(machine: Machine, values: OpaqueValues, inst: PtxInstruction, meaning: Meaning, run: Run) -> Run:
    """setp: what a comparison says of all numbers of two intervals; data if that depends on the number."""
    of = read_relation(machine, inst, meaning)
    size = WIDTHS[of.kind] // 8

    def decide(parts: Sequence[Interval]) -> Interval:
        says = intervals.compare(of.name, parts[0], parts[1], of.kind) if of.kind in _INTEGERS else None
        return of_mask(1) if says is None else of_number(int(says))

    def execute(mask: Mask | None) -> None:
        words = [read() for read in of.reads]
        data = np.logical_or(*map(find_decided, words))
        with_data = split_threads(machine, mask, data, run)
        if with_data is None:
            return
        answer = _apply(values, decide, [values.rows(each, size) for each in words], 1, machine.count, with_data)
        of.write(machine, _predicate(answer), None if with_data.all() else with_data)

    return execute


def _predicate(answer: Word) -> Word:
    """Return a predicate of one bit, without bits where data decide it."""
    if answer.plain:
        return answer
    labels: NDArray[np.uint32] = answer.wide(1)
    return word(np.where(labels[:, 0] > 0, np.uint64(0), answer.bits & np.uint64(1)), labels)


def _of_lanes(machine: Machine, values: OpaqueValues, inst: PtxInstruction, run: Run, width: int) -> Run:
    """Return an instruction of several lanes, a vote or a sum: its result is data in warps where an operand is data."""
    destination = inst.operands[0]
    puts = [machine.writer(each) for each in (destination.items if isinstance(destination, Vector) else (destination,))]
    read = machine.reader(inst.operands[1])

    def execute(mask: Mask | None) -> None:
        source = read()
        there = np.ones(machine.count, bool) if mask is None else mask
        data = (np.broadcast_to(find_decided(source), machine.count) & there).reshape(-1, WARP).any(1).repeat(WARP)
        with_data = split_threads(machine, mask, data, run)
        if with_data is None:
            return
        lost = np.where(there, values.lost_in(source), np.uint32(0)).reshape(-1, WARP).max(1).repeat(WARP)
        whole = [of_mask(fill_ones(8 * width))]
        made = values.register(whole, np.zeros(machine.count, np.intp), lost, width, machine.count)
        for put in puts:
            put(made, None if with_data.all() else with_data)

    return execute


def run_unsure(machine: Machine, number: int, mask: Mask | None) -> None:
    """Run an instruction that data decide whether to execute: registers hold what they held, or its result."""
    before, unsure, guard = list(machine.registers), machine.unsure, machine.kernel.instructions[number].guard
    assert unsure is not None and guard is not None
    predicate = machine.register(guard.index)
    if (lost := unsure & (predicate.wide(1)[:, 0] < FIRST << 3)).any():
        machine.unclear(predicate, lost, "the guard of an instruction")
    local = (machine.local.labels.copy(), machine.local.plain.copy()) if machine.local else None
    machine.bound[number].run(mask)
    for index, (old, new) in enumerate(zip(before, machine.registers, strict=True)):
        if new is not None and new is not old:
            machine.registers[index] = join_registers(machine, index, old, new, unsure)
    if local is not None:
        join_bytes((machine.local.labels, machine.local.plain), local)
    machine.unsure = None


def join_registers(machine: Machine, index: int, old: Word | None, new: Word | None, unsure: Mask) -> Word:
    """Return a register that holds either of two values in some threads, and the new one in the others."""
    values = machine.values
    kind = machine.kernel.registers[index] if index < len(machine.kernel.registers) else "b64"
    if not isinstance(values, OpaqueValues) or WIDTHS[kind] > 64:
        raise Unclear(machine.findings.line, f"data decide what a register of type {kind} holds")
    empty = Word(np.zeros(1, np.uint64), np.full((1, 8), UNWRITTEN << 3, np.uint32))
    old, new = (empty if each is None else each for each in (old, new))
    size = max(WIDTHS[kind] // 8, 1)
    rows = [values.rows(each, size) for each in (old, new)]
    made = _apply(values, lambda parts: intervals.hull(parts[0], parts[1], 8 * size), rows, size, machine.count, unsure)
    bits = np.where(unsure, made.bits, new.bits)
    return word(bits, np.where(unsure[:, None], made.wide(8), new.wide(8)))


def join_bytes(memory: tuple[Ids, Octets], earlier: tuple[Ids, Octets]) -> None:
    """Let each byte of a memory, by its label and its plain bits, hold either of two values."""
    labels, plain = memory
    differ = (labels != earlier[0]) | (plain != earlier[1])
    if differ.any():
        either = np.maximum(*(lost_of(each[differ] >> np.uint32(3)) for each in (labels, earlier[0])))
        labels[differ] = np.where(either > 0, either, np.uint32(DATA)) << np.uint32(3)
        plain[differ] = 0
