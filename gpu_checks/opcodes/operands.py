# SPDX-License-Identifier: Apache-2.0
"""What the operands of a form hold in each of 128 lanes, so that what the instruction does is defined by the ISA.

Threads that execute an instruction together are in groups, each with a member mask of its own: warp 0 and warp 1 are
whole, warp 2 is two halves, warp 3 is four groups of 8 lanes. A shuffle's segments and distances lie within a group, so
that every source lane executes it.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpu_checks.arrays import np
from gpu_checks.device.cuda import Array
from gpu_checks.opcodes.forms import FormOperand, OpcodeForm
from gpu_checks.opcodes.values import BITS, LANES, column, draw_choices

_SIZES = (32, 32, 16, 8)  # lanes of a group in each warp
_SIZE = np.repeat(np.array(_SIZES), 32)
# A number for each group of lanes, ten from one warp to the next: 0, 10, 20 and 21, 30 to 33.
_GROUP = np.concatenate([np.arange(32) // size + 10 * warp for warp, size in enumerate(_SIZES)])
# Shift amounts and places of bits: the widths of the types 8 to 64, one less and one more, and the ends of 8 bits.
_AMOUNTS = (0, 1, 2, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 40, 47, 48, 63, 64, 65, 127, 128, 255)
# Amounts that need more than the low 8 bits: the ISA clamps some (shl, 9.7.8.7) and masks others (bfe, 9.7.1.19).
_BEYOND = (256, 257, 65536, 2**31, 2**31 + 4, 2**32 - 1)
_EIGHT_BITS = frozenset(("extract", "insert"))  # classes whose positions and lengths the ISA restricts to 8 bits


def guards(form: OpcodeForm) -> tuple[Array, Array]:
    """Return the predicates of `@g` and `@!h`: true and false in whole warps, and mixed; the same within a group."""
    if form.lanes == 32:
        g = np.isin(_GROUP, (0, 20, 30, 33))
        return g.astype(np.uint64), (g | np.isin(_GROUP, (10, 31))).astype(np.uint64)
    mixed_g, mixed_h = (column("pred", place) & np.uint64(1) for place in (6, 7))
    warp = np.arange(LANES) // 32
    g = np.where(warp == 0, 1, np.where(warp == 1, 0, mixed_g)).astype(np.uint64)
    return g, np.where(warp == 0, 1, np.where(warp == 2, 0, mixed_h)).astype(np.uint64)


def columns(form: OpcodeForm, place: int) -> list[Array]:
    """Return what an operand's registers hold: for each of them a word of 64 bits for each lane, or two for 128."""
    part = form.parts[place]
    if form.lanes == 32:
        return [_together(form, part, place)]
    if part.kind == "u32" and _is_amount(form, place):
        eight = form.group in _EIGHT_BITS
        return [draw_choices(_AMOUNTS if eight else (*_AMOUNTS, *_BEYOND), f"{part.role} {place}")]
    if form.group == "divide" and place == 2:
        return [_divisors(form, part)]
    words = max(1, BITS[part.kind] // 64) if part.kind[0] != "f" else 1
    return [column(part.kind if words == 1 else "b64", place + 4 * word) for word in range(part.many * words)]


def _is_amount(form: OpcodeForm, place: int) -> bool:
    """Whether an operand counts bits: it is u32 in a row that is not of u32, or it is not the first source."""
    return form.group in {*_EIGHT_BITS, "shift", "funnel"} and place > 1


def _divisors(form: OpcodeForm, part: FormOperand) -> Array:
    """Return divisors that are not zero, and not -1 for the smallest number: neither quotient is defined."""
    bits = BITS[part.kind]
    limit = np.uint64((1 << bits) - 1)
    divisor, dividend = column(part.kind, 2), column(part.kind, 1) & limit
    nonzero = np.where(divisor & limit == 0, divisor | np.uint64(3), divisor)
    overflows = (nonzero & limit == limit) & (dividend == np.uint64(1 << (bits - 1)))
    return _choose(overflows & (part.kind[0] == "s"), nonzero ^ np.uint64(4), nonzero)


def _together(form: OpcodeForm, part: FormOperand, place: int) -> Array:
    """Return an operand of an instruction that a group of lanes executes together."""
    lane, bit, size = np.arange(LANES), np.uint64(1), _SIZE.astype(np.uint64)
    if part.role == "mask":
        first: Array = (lane % 32 // _SIZE * _SIZE).astype(np.uint64)
        return ((bit << size) - bit) << first
    noise = column("b64", place)
    if part.kind == "pred":  # all true in warp 1 and every third group, all false in some, else mixed
        constant = np.isin(_GROUP, (10, 30))
        return _choose(constant, 1, _choose(np.isin(_GROUP, (20, 31)), 0, noise >> np.uint64(9) & bit))
    if form.group != "shuffle":  # equal in warp 1, few values in warp 2 and 3
        few = np.array([3, 2**31 + 3, 2**32 - 2], np.uint64)[(noise >> np.uint64(5)).astype(np.int64) % 3]
        return _choose(_GROUP == 10, 77, _choose(_GROUP >= 20, few, column("b32", place)))
    if part.role == "b":
        return noise % size
    if part.role == "c":  # the bits of the segment's mask above 8 hold a lane's group together
        within = (32 - _SIZE).astype(np.uint64)
        segment = (noise >> np.uint64(8) & np.uint64(31) & _some(lane, (31, 0, 24, 16, 28))) | within
        usual = 0 if form.words.get("mode") == "up" else 31
        seldom = noise >> np.uint64(20) & np.uint64(3) == 0
        return segment << np.uint64(8) | _choose(seldom, noise >> np.uint64(30) & np.uint64(31), usual)
    return noise


def _choose(condition: Array, yes: Array | int, no: Array | int) -> Array:
    chosen: Array = np.where(condition, yes, no).astype(np.uint64)
    return chosen


def _some(lane: Array, choices: Sequence[int]) -> Array:
    chosen: Array = np.array(choices, np.uint64)[lane % len(choices)]
    return chosen
