# SPDX-License-Identifier: Apache-2.0
"""Does the result of a wait that may fail only lead back to it? `polls(instructions, number)` follows the failure.

How often mbarrier.try_wait fails depends on the schedule. So until it succeeds a kernel may do nothing that another
number of failures would do differently: on the way back there are branches by the result, nanosleep, and instructions
that put the same into registers each time.
"""

from __future__ import annotations

from collections.abc import Sequence

from verify.kernel.ptx.source import Address, Immediate, Operand, PtxInstruction, Register, Vector

_STEPS = 64  # of a way back, more than any has
_PLAIN = frozenset("mov selp setp and or xor not add sub mul mad shl shr cvt cvta".split())
_TRUE = {"eq": int.__eq__, "ne": int.__ne__}


def polls(instructions: Sequence[PtxInstruction], number: int) -> bool:
    """Whether a failure of the wait at this place only leads back to it."""
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
