# SPDX-License-Identifier: Apache-2.0
"""cvt: between integers, between floats, and from one to the other; cvt.pack of two clamped integers.

Plain bits are converted as the ISA says, with every rounding and every flag. Data keep their value: a conversion to a
narrower type of floats is exact arithmetic's identity, and a narrowing that is remembered with its line. A float that
becomes an integer is `rint`, `floor` or `trunc` of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from isa_tables.formula_parser import parse
from isa_tables.semantics import Meaning
from verify.kernel.data import floats
from verify.kernel.data.distinct import sort_distinct
from verify.kernel.data.floats import FINITE, NAN, FloatNumber
from verify.kernel.data.registers import Word, settle, word
from verify.kernel.data.values import CHOSEN, MANTISSA, SIZE, Ids, Mask
from verify.kernel.instructions.assumptions import ACROSS, list_assumptions, note_overflow
from verify.kernel.instructions.clamps import clamp_converted, keep_integer, saturate
from verify.kernel.instructions.fields import element
from verify.kernel.instructions.integers import as_type, extend_sign, keep_bits, register_width, without_meaning
from verify.kernel.instructions.rounded import Result, finish, flags_of, result
from verify.kernel.ptx.source import PtxInstruction
from verify.kernel.state.bound import Run
from verify.kernel.state.machine import Bind, Machine

_OPPOSITE = parse("0 - a", {"a": False}).tree
_RANGE = {
    "f64": 11,
    "f32": 8,
    "tf32": 8,
    "bf16": 8,
    "f16": 5,
    "e5m2": 5,
    "e4m3": 4,
}  # bits of the exponent: PTX ISA 5.2
_CHANGES = {"sat", "rni", "rzi", "rmi", "rpi"}  # what makes a conversion of a type to itself more than a copy
# The bits of each integer type: PTX ISA 5.2.1.
_WHOLE = {"s8": 8, "u8": 8, "s16": 16, "u16": 16, "s32": 32, "u32": 32, "s64": 64, "u64": 64}


@lru_cache(maxsize=1 << 16)
def convert_number(kind: str, target: str, words: tuple[str, ...], bits: int) -> Result:
    """Convert one number's bits; `words` are the rounding and the flags. The bits are open for some NaNs."""
    rounding = next((each for each in words if each[0] == "r" and each != "relu"), "rn")
    if kind in _WHOLE:
        number = bits & ((1 << _WHOLE[kind]) - 1)
        number -= (kind[0] == "s" and number >> (_WHOLE[kind] - 1)) << _WHOLE[kind]
        if target in _WHOLE:
            return _to_integer(number, target) if "sat" in words else _wrap(number, target), True
        return finish(floats.of_integer(number), target, rounding, words)[0], True
    value = floats.unpack(bits, kind, "ftz" in words and kind == "f32")
    if target in _WHOLE:
        return _from_float(value, kind, target, rounding), True
    if rounding.endswith("i"):
        value, rounding = _whole(value, rounding), "rn"
    wide = "f64" in (kind, target)
    made, _ = finish(value, target, rounding, [each for each in words if each != "ftz" or target == "f32"], wide)
    if value.kind == NAN and kind == target and not wide and made != bits and not _CHANGES & set(words):
        return None, True  # a copy, or a NaN of its own: the ISA leaves it open
    return made, True


def _wrap(number: int, target: str) -> int:
    return number & ((1 << _WHOLE[target]) - 1)


def _to_integer(number: int, target: str) -> int:
    """Return the bits of an integer, clamped to the range of its type."""
    width = _WHOLE[target]
    low, high = (-(1 << width - 1), (1 << width - 1) - 1) if target[0] == "s" else (0, (1 << width) - 1)
    return _wrap(min(max(number, low), high), target)


def _from_float(value: FloatNumber, kind: str, target: str, rounding: str) -> int:
    """Return a float as an integer: clamped, and of a NaN 0 or the integer whose highest bit alone is set."""
    if value.kind == NAN:
        return 1 << (_WHOLE[target] - 1) if kind == "f64" or _WHOLE[target] == 64 else 0
    if value.kind != FINITE:
        return _to_integer(-(1 << 64) if value.negative else 1 << 64, target)
    return _to_integer(floats.to_integer(value, rounding.removesuffix("i"))[0], target)


def _whole(value: FloatNumber, rounding: str) -> FloatNumber:
    """Return a float rounded to an integer, its sign kept for a zero."""
    if value.kind != FINITE:
        return value
    number, _ = floats.to_integer(value, rounding.removesuffix("i"))
    return floats.of_integer(number)._replace(negative=value.negative)


def convert(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """cvt: the value stays, its type changes; two sources are packed, the first above."""
    to, source = meaning.words["to"], meaning.words["from"]
    put, reads = machine.writer(inst.operands[0]), [machine.reader(operand) for operand in reversed(inst.operands[1:])]
    rounding, values, notes = meaning.words.get("rounding", ""), machine.values, list_assumptions(meaning)
    target, width = element(to)
    kind, size = element(source)
    words = flags_of(meaning)
    whole = kind in _WHOLE and target in _WHOLE
    compute = partial(convert_number, kind, target, words)
    integral = kind not in _WHOLE and len(rounding) == 3 and rounding[2] == "i"
    narrows = not (integral and target in _WHOLE) and _narrows(kind, target)
    room = register_width(machine, inst.operands[0])

    def exactly(ids: Sequence[Ids]) -> Ids:
        return values.copy(ids[0], target, narrows)

    def execute(mask: Mask | None) -> None:
        given = [read() for read in reads]
        settled = [settle(each, values) for each in given]
        if whole and given[0].plain and "sat" not in words:  # as `convert_number` does, for all threads at once
            bits = as_type(given[0].bits, kind).view(np.uint64)
            put(_extend(Word(keep_bits(bits, 8 * SIZE[target])), target, room), mask)
            return
        if not any(each.data(mask) for each in settled):
            why = f"the NaN of {inst.opcode} is unspecified"
            parts = [
                result(values, [old], [new], kind, target, size, compute, exactly, mask, why)
                for old, new in zip(settled if target in _WHOLE else given, settled, strict=True)
            ]
            put(_extend(_join(parts, width // len(parts)), target, room), mask)
            return
        moves = whole and not _is_value(machine, settled[0], kind)
        if moves and "sat" not in words:
            put(_move(machine, settled[0], kind, target, room), mask)
            return
        if moves:
            put(without_meaning(machine, settled, width, f"{inst.opcode} of data"), mask)
            return
        machine.findings.note(*notes)
        ids = [each.elements(values, kind, size) for each in settled]
        if kind in _WHOLE and (target not in _WHOLE or _WHOLE[target] > _WHOLE[kind] or "sat" in words):
            ids = [values.whole(each, kind) for each in ids]
        both = np.concatenate(np.broadcast_arrays(*ids), 1) if len(ids) > 1 else ids[0]
        if integral:
            both = _round_data(machine, both, kind, rounding[1])
        if integral and target in _WHOLE:
            both = keep_integer(machine, both, kind, target, mask)
        else:
            both = clamp_converted(
                machine, both, kind, target, words, mask
            )  # before it narrows, which is the last step
        if target not in _WHOLE and "satfinite" not in words:
            note_overflow(machine, both, target, mask)
        made = values.copy(both, target, narrows)
        if target in _WHOLE and target[0] == "s" and room > 8 * width:  # extended by its sign, as a number of its type
            put(Word.of(values.copy(values.whole(made, target), f"s{room}", narrows=False), f"s{room}"), mask)
        else:
            put(Word.of(made, target), mask)

    return execute


def _join(parts: Sequence[Word], size: int) -> Word:
    """One register of several, the first one lowest."""
    if len(parts) == 1:
        return parts[0]
    bits = np.zeros(1, np.uint64)
    for place, each in enumerate(parts):
        bits = bits | each.bits << np.uint64(8 * size * place)
    rows = max(len(each.wide(size)) for each in parts)
    labels = [np.broadcast_to(each.wide(size), (rows, size)) for each in parts]
    return word(bits, np.concatenate(labels, 1))


def _extend(source: Word, kind: str, room: int) -> Word:
    """Return a narrow integer in a wider register: signed ones by their sign."""
    width = 8 * SIZE[kind]
    if kind[0] != "s" or room <= width or not source.plain:
        return source
    return Word(keep_bits(extend_sign(source.bits, width).view(np.uint64), room))


def _is_value(machine: Machine, source: Word, kind: str) -> bool:
    """Whether a register holds integers of a type or wider ones, not other bytes that are moved."""
    first = source.wide(SIZE[kind])[:, 0]
    kinds = machine.values.kind[(first >> np.uint32(3))[(first > 0)]]
    alike = [name for name in _names(kinds) if name in _WHOLE and SIZE[name] >= SIZE[kind]]
    return bool(len(kinds)) and len(alike) == len(_names(kinds))


def _names(codes: NDArray[np.uint8]) -> list[str]:
    return [list(SIZE)[int(code)] for code in sort_distinct(codes)]


def _move(machine: Machine, source: Word, kind: str, target: str, room: int) -> Word:
    """Move bytes that are no integer to a register of another width; above them are zeros, or an unknown sign."""
    why = "the sign of bytes of data is repeated"
    if kind[0] == "s" and SIZE[target] > SIZE[kind]:
        return without_meaning(machine, [source], SIZE[target], why)
    size = min(SIZE[kind], SIZE[target])
    signed = target[0] == "s" and room > 8 * SIZE[target]  # the register above a signed type has the sign
    labels = np.zeros((len(source.wide(size)), room // 8 if signed else SIZE[target]), np.uint32)
    labels[:, :size] = source.wide(size)
    bits = keep_bits(source.bits, 8 * size)
    if signed:
        data = labels.any(1)
        labels[data, size:] = np.uint32(machine.values.reason(why) << 3)
        bits = np.where(data, bits, keep_bits(extend_sign(bits, 8 * size).view(np.uint64), room))
    return Word(bits, labels)


def _round_data(machine: Machine, ids: Ids, kind: str, way: str) -> Ids:
    """Return the ids of floats rounded to integers: to the nearest, down, up, or toward zero."""
    values = machine.values
    if (ids >= values.inputs).any():
        machine.findings.note(ACROSS)
    if way != "p":
        return values.apply({"n": "rint", "m": "floor", "z": "trunc"}[way], [ids], kind, CHOSEN)
    opposite = values.field(_OPPOSITE, ("a",), [ids.ravel()], kind).reshape(ids.shape)
    made = values.apply("floor", [opposite], kind, CHOSEN)
    return values.field(_OPPOSITE, ("a",), [made.ravel()], kind).reshape(ids.shape)


def _narrows(kind: str, target: str) -> bool:
    """Whether a conversion may round."""
    if kind in _WHOLE:
        return target not in _WHOLE and MANTISSA.get(target, 64) < 8 * SIZE[kind] - 8  # integers are kept modulo 2^n
    if target in _WHOLE:
        return True
    return MANTISSA[target] < MANTISSA[kind] or _RANGE[target] < _RANGE[kind]


def pack(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """cvt.pack: b and above it a, each clamped to the type; above both the low bits of c, which moves up."""
    target = meaning.words["to"]
    put, reads = machine.writer(inst.operands[0]), [machine.reader(operand) for operand in inst.operands[1:]]
    width = int(target[1:])
    least, most = (-(1 << width - 1), (1 << width - 1) - 1) if target[0] == "s" else (0, (1 << width) - 1)

    def narrow(source: Word, mask: Mask | None) -> Word:
        if not source.data(mask):
            return Word(keep_bits(np.clip(as_type(source.bits, "s32"), least, most).view(np.uint64), width))
        if not _is_value(machine, source, "s32"):
            return without_meaning(machine, [source], width // 8, f"{inst.opcode} of data that aren't integers")
        ids = machine.values.whole(source.elements(machine.values, "s32", SIZE["s32"]), "s32")
        ids = saturate(machine, ids, "s32", target, mask)
        return Word.of(machine.values.copy(ids, target, narrows=False), target)

    def pack_bits(sources: Sequence[Word], mask: Mask | None) -> Word:
        """Pack plain bits: labels are of whole bytes, so data of fewer bits have no meaning."""
        low, high = (narrow(Word(each.bits), None).bits for each in (sources[1], sources[0]))
        bits = keep_bits(low | high << np.uint64(width) | sources[2].bits << np.uint64(2 * width), 32)
        data = any(each.data(mask) for each in sources)
        return without_meaning(machine, sources, 4, f"{inst.opcode} of data", bits) if data else Word(bits)

    def execute(mask: Mask | None) -> None:
        sources = [settle(read(), machine.values) for read in reads]
        if width < 8:
            put(pack_bits(sources, mask), mask)
            return
        parts = [narrow(sources[1], mask), narrow(sources[0], mask)]
        if width == 8:
            parts = [_join(parts, 1), word(keep_bits(sources[2].bits, 16), sources[2].wide(2))]
        put(_join(parts, 2), mask)

    return execute


BINDS: dict[str, Bind] = {"convert": convert, "pack": pack}
