# SPDX-License-Identifier: Apache-2.0
"""Does the result of a wait that may fail only lead back to it? `polls(instructions, number)` follows the failure.

How often mbarrier.try_wait fails depends on the schedule. So until it succeeds a kernel may do nothing that another
number of failures would do differently: on the way back there are branches by the result, nanosleep, and instructions
that put the same into registers each time. Or a failure leads to another wait for the same phase, as CUTLASS has it,
and both go on at one place, from where nothing reads what differs.
"""

from __future__ import annotations

from collections.abc import Sequence

from verify.kernel.ptx.source import Address, Immediate, Operand, PtxInstruction, Register, Vector

_STEPS = 64  # of a way back, more than any has
_PLAIN = frozenset("mov selp setp and or xor not add sub mul mad shl shr cvt cvta".split())
_TRUE = {"eq": int.__eq__, "ne": int.__ne__}


def polls(instructions: Sequence[PtxInstruction], number: int) -> bool:
    """Return whether a failure of the wait at this place only leads back to it, or to another one for the same."""
    return _returns(instructions, number) or _waits_again(instructions, number)


def _returns(instructions: Sequence[PtxInstruction], number: int) -> bool:
    """Return whether a failure of the wait at this place only leads back to it."""
    known: dict[int, int] = {index: 0 for index in _registers(instructions[number].operands[0])}
    early: set[int] = set()  # registers that are read before they are written on the way
    written = set(known)
    place, parted = number + 1, False
    for _ in range(_STEPS):
        if place == number:
            return not early & written
        if place >= len(instructions):
            return False
        one = instructions[place]
        goes = _holds(one.guard, known)
        if goes is None:
            return False
        if one.words[0] == "bra":
            parted = parted or one.guard is not None
            place = one.target if goes else place + 1
            continue
        place += 1
        if one.words[0] == "nanosleep" or not goes:
            continue
        again = place <= number  # it was executed on the way to the first wait too
        if one.words[0] not in _PLAIN or one.guard is not None or (parted and not again):
            return False
        for operand in one.operands[1:]:
            early |= {index for index in _registers(operand) if index not in written}
        for index in _registers(one.operands[0]):
            written.add(index)
            known.pop(index, None)
        value = _value(one, known)
        if value is not None and isinstance(one.operands[0], Register):
            known[one.operands[0].index] = value
    return False


def _waits_again(instructions: Sequence[PtxInstruction], number: int) -> bool:
    """Return whether a failure leads to another wait for the same phase, and both go on alike at one place."""
    first, failed = instructions[number], _follow(instructions, number, 0)
    place = failed[-1]
    if place >= len(instructions):
        return False
    second = instructions[place]
    if (second.words, second.guard, second.operands[1:3]) != (first.words, None, first.operands[1:3]):
        return False
    passed, after = _follow(instructions, number, 1), _follow(instructions, place, 1)
    join = next((one for one in after if one in passed), None)
    if join is None or not _returns(instructions, place):
        return False
    ways = [number, *failed, *after[: after.index(join)]], [number, *passed[: passed.index(join)]]
    differ = {index for way in ways for at in way for index in _registers(instructions[at].operands[0])}
    read = {index for operand in first.operands[1:3] for index in _registers(operand)}
    if differ & read or any(_read_early(instructions, way) & differ for way in ways):
        return False
    others = set(range(len(instructions))) - set(ways[0]) - set(ways[1])
    inner = {one for way in ways for one in way} - {number, place}
    if any(instructions[at].words[0] == "brx" or instructions[at].target in inner for at in others):
        return False
    return not differ & {index for at in others for index in _list_read(instructions[at])}


def _follow(instructions: Sequence[PtxInstruction], number: int, value: int) -> list[int]:
    """Return the places after a wait with a result, up to what is no plain instruction, or is decided by other data."""
    known, place = dict.fromkeys(_registers(instructions[number].operands[0]), value), number + 1
    places = []
    for _ in range(_STEPS):
        places.append(place)
        one = instructions[place] if place < len(instructions) else None
        goes = None if one is None else _holds(one.guard, known)
        if one is None or goes is None:
            break
        if one.words[0] == "bra":
            place = one.target if goes else place + 1
            continue
        if goes and one.words[0] not in (*_PLAIN, "nanosleep"):
            break
        place += 1
        if goes and one.operands and isinstance(one.operands[0], Register):
            number_made = _value(one, known)
            known.pop(one.operands[0].index, None)
            known |= {} if number_made is None else {one.operands[0].index: number_made}
    return places


def _list_read(one: PtxInstruction) -> set[int]:
    """Return the registers that an instruction reads, and those of its first operand, which some read too."""
    guard = set() if one.guard is None else {one.guard.index}
    first = one.operands[:1] if one.words[0] not in _PLAIN else ()
    return guard | {index for operand in (*first, *one.operands[1:]) for index in _registers(operand)}


def _read_early(instructions: Sequence[PtxInstruction], way: Sequence[int]) -> set[int]:
    """Return the registers that are read on a way before they are written there."""
    early, written = set[int](), set(_registers(instructions[way[0]].operands[0]))
    for at in way[1:]:
        one = instructions[at]
        first = _registers(one.operands[0]) if one.words[0] != "bra" and one.operands else set()
        early |= (_list_read(one) - (first if one.words[0] == "mbarrier" else set())) - written
        written |= first
    return early


def _registers(operand: Operand) -> set[int]:
    if isinstance(operand, Register):
        return {operand.index}
    if isinstance(operand, Vector):
        return {index for one in operand.items for index in _registers(one)}
    return _registers(operand.base) if isinstance(operand, Address) else set()


def _holds(guard: Register | None, known: dict[int, int]) -> bool | None:
    """Whether an instruction is executed; None where that is not known."""
    if guard is None:
        return True
    return None if guard.index not in known else bool(known[guard.index]) != guard.negated


def _value(one: PtxInstruction, known: dict[int, int]) -> int | None:
    """Return the number that an instruction makes of known ones; None for any other."""
    parts = [
        operand.bits if isinstance(operand, Immediate)
        else known.get(operand.index) if isinstance(operand, Register) and not operand.negated
        else None
        for operand in one.operands[1:]
    ]  # fmt: skip
    head = one.words[0]
    if head == "selp" and parts[-1] is not None:
        return parts[0] if parts[-1] else parts[1]
    if head == "not" and one.words[-1] == "pred" and parts[0] is not None:
        return int(not parts[0])
    if head == "setp" and len(parts) == 2 and one.words[1] in _TRUE and None not in parts:
        return int(_TRUE[one.words[1]](*parts))  # type: ignore[arg-type]
    return parts[0] if head == "mov" else None
