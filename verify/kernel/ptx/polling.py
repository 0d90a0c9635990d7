# SPDX-License-Identifier: Apache-2.0
"""Does the result of a wait that may fail only lead back to it? `polls(instructions, number)` follows the failures.

How often mbarrier.try_wait fails depends on the schedule. So until it succeeds a kernel may do nothing that another
number of failures would do differently: all ways of a failure lead to the wait, or to another one for the same phase,
over branches, nanosleep, and instructions that write registers; where waits are several, all go on at one place. What
a register holds that was written on such a way may depend on the number of failures (a count of tries, a clock), and
then nothing but those ways reads it. It does not where it is written anew just before each wait, of what no failure
changes, or by what follows the success, of its result alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from verify.kernel.ptx.source import Address, Immediate, Operand, PtxInstruction, Register, Symbol, Vector

_STEPS = 512  # of all ways back, more than any wait has
_PLAIN = frozenset("mov selp setp and or xor not add sub mul mad shl shr cvt cvta min max".split())
_WAITS = ("try_wait", "test_wait")
_TRUE = {"eq": int.__eq__, "ne": int.__ne__}
Known = Mapping[int, int]  # the numbers in registers, where they are known


class _Ways(NamedTuple):
    """The ways from failures of waits for one phase back to one of them."""

    waits: list[int]
    inner: set[int]  # places on a way, without the waits


def polls(instructions: Sequence[PtxInstruction], number: int) -> bool:
    """Return whether failures of the wait at this place only lead back to it, or to another one for the same."""
    ways = _find_ways(instructions, number)
    if ways is None:
        return False
    after = [_follow_success(instructions, wait) for wait in ways.waits]
    end = next((at for at in after[0] if at not in ways.inner and all(at in places for places in after)), None)
    if end is None:
        return False
    after = [places[: places.index(end)] for places in after]
    pairs = list(zip(ways.waits, after, strict=True))
    inside = {*ways.inner, *ways.waits, *(at for places in after for at in places)}
    changed = {index for at in inside for index in _list_written(instructions[at])}
    fresh = _find_fresh(instructions, ways, changed)
    told = [_read_results(instructions, *pair) for pair in pairs]
    clean = {index for index, value in told[0].items() if all(results.get(index) == value for results in told)}
    open_ = changed - fresh - clean  # what may depend on the number of failures
    outside = (inst for at, inst in enumerate(instructions) if at not in inside)
    return (
        not any(open_.intersection(_list_read(inst)) for inst in outside)
        and not any(_needs(instructions, wait) & (changed - fresh) for wait in ways.waits)
        and all(_reads_results(instructions, *pair, changed - fresh) for pair in pairs)
        and all(_keeps(instructions, at, clean, open_) for at in ways.inner)
    )


def _find_ways(instructions: Sequence[PtxInstruction], number: int) -> _Ways | None:
    """Return the ways back from the failures of a wait, and of those that it leads to; None if one leads elsewhere."""
    waits, inner = [number], set[int]()
    for wait in waits:
        ways = _follow_failure(instructions, wait)
        if ways is None:
            return None
        if not all(place == number or _is_same(instructions[number], instructions[place]) for place in ways[0]):
            return None
        waits += [place for place in ways[0] if place not in waits]
        inner |= ways[1]
    return _Ways(waits, inner)


def _is_same(wait: PtxInstruction, candidate: PtxInstruction) -> bool:
    """Return whether another wait is for the same phase, in all threads."""
    return candidate.words == wait.words and candidate.guard is None and candidate.operands[1:3] == wait.operands[1:3]


def _follow_failure(instructions: Sequence[PtxInstruction], wait: int) -> tuple[set[int], set[int]] | None:
    """Return the waits to which a failure leads, and the places between; None for any other way."""
    waits, inner, known = set[int](), set[int](), dict.fromkeys(_registers(instructions[wait].operands[0]), 0)
    done = set[tuple[int, tuple[tuple[int, int], ...]]]()
    ways: list[tuple[int, dict[int, int], frozenset[int]]] = [(wait + 1, known, frozenset())]
    while ways:
        place, known, passed = ways.pop()
        if place >= len(instructions) or place in passed or len(done) > _STEPS:
            return None  # an end, or a loop without a wait
        inst = instructions[place]
        if inst.words[0] == "mbarrier" and inst.words[1] in _WAITS:
            waits.add(place)
            continue
        if inst.words[0] not in (*_PLAIN, "bra", "nanosleep"):
            return None
        state = place, tuple(sorted(known.items()))
        inner.add(place)
        if state not in done:
            done.add(state)
            ways += [(to, now, passed | {place}) for to, now in _step(inst, place, known)]
    return waits, inner


def _step(inst: PtxInstruction, place: int, known: Known) -> Iterator[tuple[int, dict[int, int]]]:
    """Yield where an instruction leads, and what is known there; both ways of a branch of which nothing is known."""
    goes = _holds(inst.guard, known)
    if inst.words[0] == "bra":
        if goes is not False:
            yield inst.target, dict(known)
        if goes is not True:
            yield place + 1, dict(known)
        return
    now = dict(known)
    if goes is not False and inst.words[0] != "nanosleep":
        value = _value(inst, known) if goes else None
        for index in _list_written(inst):
            now.pop(index, None)
            if value is not None:
                now[index] = value
    yield place + 1, now


def _follow_success(instructions: Sequence[PtxInstruction], wait: int) -> list[int]:
    """Return the places after the success of a wait, up to what isn't a plain instruction, or other data decide."""
    known, place, places = dict.fromkeys(_registers(instructions[wait].operands[0]), 1), wait + 1, list[int]()
    while place not in places:
        places.append(place)
        if place >= len(instructions) or instructions[place].words[0] not in (*_PLAIN, "bra"):
            break
        ways = list(_step(instructions[place], place, known))
        if len(ways) > 1:
            break
        ((place, known),) = ways
    return places


def _read_results(instructions: Sequence[PtxInstruction], wait: int, places: Iterable[int]) -> Known:
    """Return what registers hold after a success, those whose numbers its result says."""
    known = dict.fromkeys(_registers(instructions[wait].operands[0]), 1)
    for place in places:
        _, known = next(_step(instructions[place], place, known))
    return known


def _reads_results(instructions: Sequence[PtxInstruction], wait: int, places: Iterable[int], open_: set[int]) -> bool:
    """Return whether what follows a success reads nothing that failures changed, before it is written anew."""
    left = open_ - _registers(instructions[wait].operands[0])
    for place in places:
        if left.intersection(_list_read(instructions[place])):
            return False
        left = left - _list_written(instructions[place])
    return True


def _find_fresh(instructions: Sequence[PtxInstruction], ways: _Ways, changed: set[int]) -> set[int]:
    """Return the registers that are written just before each wait that reads them, always the same."""
    heads = [at for wait in ways.waits for at in _list_head(instructions, wait, ways.inner)]
    texts = {index: {_text(instructions[at]) for at in ways.inner if index in _list_written(instructions[at])}
             for index in changed}  # fmt: skip
    outside = {index for at in ways.inner if at not in heads for index in _list_written(instructions[at])}
    fresh: set[int] = set()
    for at in heads:
        inst = instructions[at]
        special = any(isinstance(operand, Symbol) and operand.name.startswith("%") for operand in inst.operands)
        if inst.guard or special or _list_read(inst) & (changed - fresh):
            continue
        fresh |= {index for index in _list_written(inst) if index not in outside and len(texts[index]) == 1}
    return fresh


def _list_head(instructions: Sequence[PtxInstruction], wait: int, inner: set[int]) -> list[int]:
    """Return the places just before a wait that are always executed before it, and in this order."""
    targets = {inst.target for inst in instructions if inst.words[0] == "bra"}
    first = wait
    while first - 1 in inner and instructions[first - 1].words[0] in _PLAIN and first not in targets:
        first -= 1
    return list(range(first, wait))


def _keeps(instructions: Sequence[PtxInstruction], place: int, clean: set[int], open_: set[int]) -> bool:
    """Return whether an instruction on a way back writes no result that depends on the number of failures."""
    inst = instructions[place]
    return not clean.intersection(_list_written(inst)) or not open_.intersection(_list_read(inst))


def _needs(instructions: Sequence[PtxInstruction], wait: int) -> set[int]:
    """Return the registers that say whether and for what a wait waits."""
    inst = instructions[wait]
    guard = set() if inst.guard is None else {inst.guard.index}
    return guard | {index for operand in inst.operands[1:3] for index in _registers(operand)}


def _list_read(inst: PtxInstruction) -> set[int]:
    """Return the registers that an instruction reads, and those of its first operand if that may be a source."""
    guard = set() if inst.guard is None else {inst.guard.index}
    writes = inst.words[0] in _PLAIN or (inst.words[0] == "mbarrier" and inst.words[1] in _WAITS)
    first = () if writes else inst.operands[:1]
    return guard | {index for operand in (*first, *inst.operands[1:]) for index in _registers(operand)}


def _list_written(inst: PtxInstruction) -> set[int]:
    """Return the registers that a plain instruction or a wait writes."""
    return _registers(inst.operands[0]) if inst.operands and inst.words[0] not in ("bra", "nanosleep") else set()


def _text(inst: PtxInstruction) -> tuple[object, ...]:
    return inst.words, inst.operands[1:]


def _registers(operand: Operand) -> set[int]:
    if isinstance(operand, Register):
        return {operand.index}
    if isinstance(operand, Vector):
        return {index for part in operand.items for index in _registers(part)}
    return _registers(operand.base) if isinstance(operand, Address) else set()


def _holds(guard: Register | None, known: Known) -> bool | None:
    """Whether an instruction is executed; None where that is not known."""
    if guard is None:
        return True
    return None if guard.index not in known else bool(known[guard.index]) != guard.negated


def _value(inst: PtxInstruction, known: Known) -> int | None:
    """Return the number that an instruction makes of known ones; None for any other."""
    parts = [
        operand.bits if isinstance(operand, Immediate)
        else known.get(operand.index) if isinstance(operand, Register) and not operand.negated
        else None
        for operand in inst.operands[1:]
    ]  # fmt: skip
    head = inst.words[0]
    if head == "selp" and parts[-1] is not None:
        return parts[0] if parts[-1] else parts[1]
    if head == "not" and inst.words[-1] == "pred" and parts[0] is not None:
        return int(not parts[0])
    if head == "setp" and len(parts) == 2 and inst.words[1] in _TRUE and None not in parts:
        return int(_TRUE[inst.words[1]](*parts))  # type: ignore[arg-type]
    return parts[0] if head == "mov" else None
