# SPDX-License-Identifier: Apache-2.0
"""Instructions that compute on data: sums and products by the opcode tables' formulas, conversions, choices.

A conversion to a narrower type is exact arithmetic's identity, and a narrowing that is remembered with its line. Plain
bits are converted as IEEE says.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from isa_tables.parsing import parse
from isa_tables.semantics import Meaning
from verify.kernel.data.registers import Word
from verify.kernel.data.values import CHOSEN, FREE, MANTISSA, SIZE, Bits, Mask
from verify.kernel.instructions.integers import cut, extended, without_meaning
from verify.kernel.ptx.source import Instruction
from verify.kernel.state.findings import NOT_NAN, Unclear
from verify.kernel.state.machine import Bind, Machine, Run

Floats: TypeAlias = NDArray[np.float64]
PACKED = {"f32x2": "f32", "f16x2": "f16", "bf16x2": "bf16", "e4m3x2": "e4m3", "e5m2x2": "e5m2"}
_PRODUCT = parse("a * b", {"a": False, "b": False}).tree
_RANGE = {"f64": 11, "f32": 8, "tf32": 8, "bf16": 8, "f16": 5, "e5m2": 5, "e4m3": 4}  # bits of the exponent
_WHOLE = {"s8": 8, "u8": 8, "s16": 16, "u16": 16, "s32": 32, "u32": 32, "s64": 64, "u64": 64}


def element(kind: str) -> tuple[str, int]:
    """(type of an element, bytes of the register) of an operand's type.

    >>> element("f16x2"), element("f32")
    (('f16', 4), ('f32', 4))
    """
    return (PACKED[kind], 2 * SIZE[PACKED[kind]]) if kind in PACKED else (kind, SIZE[kind])


def narrowing(kind: str) -> str:
    """The format that arithmetic in a type rounds to, where it is narrower than f32."""
    return kind if MANTISSA.get(kind, 64) < MANTISSA["f32"] else ""


def assumed(meaning: Meaning) -> list[str]:
    """Return what exact arithmetic takes for granted, by the modifiers of an opcode."""
    found = []
    if "ftz" in meaning.words or meaning.words.get("flag") == "ftz":
        found.append("no subnormal number is flushed to zero")
    if meaning.words.get("rounding", "rn") in ("rz", "rm", "rp"):
        found.append(f"rounding is not modelled, and so not its direction: .{meaning.words['rounding']}")
    if "NaN" in meaning.words:
        found.append("no NaN is passed on")
    return found


def field(machine: Machine, one: Instruction, meaning: Meaning) -> Run:
    """Arithmetic by the row's formula, in exact arithmetic."""
    formula = meaning.row.value
    if formula is None:
        raise Unclear(one.line, "the opcode table has no formula for it")
    kind, width = element(meaning.types["d"])
    roles = [role for role, _, _ in meaning.row.operands][1:]
    put, reads = machine.writer(one.operands[0]), [machine.reader(operand) for operand in one.operands[1:]]
    narrows = "" if one.words[0] == "neg" else narrowing(kind)
    values, count, notes = machine.values, width // SIZE[kind], assumed(meaning)

    def run(mask: Mask | None) -> None:
        machine.findings.note(*notes)
        ids = [read().elements(values, kind, width) for read in reads]
        rows = max(map(len, ids))
        flat = [np.broadcast_to(each, (rows, count)).reshape(-1) for each in ids]
        put(Word.of(values.field(formula.tree, roles, flat, kind, narrows).reshape(rows, count), kind), mask)

    return run


def function(machine: Machine, one: Instruction, meaning: Meaning) -> Run:
    """Functions without a known meaning, and minimum, maximum and absolute value, which a comparison chooses."""
    kind, width = element(meaning.types["d"])
    put, reads = machine.writer(one.operands[0]), [machine.reader(operand) for operand in one.operands[1:]]
    name, values = one.words[0], machine.values
    opaque = CHOSEN if name in ("max", "min", "abs") else FREE
    notes = [*assumed(meaning), *([NOT_NAN] if name in ("max", "min") else [])]

    def run(mask: Mask | None) -> None:
        machine.findings.note(*notes)
        ids = [read().elements(values, kind, width) for read in reads]
        put(Word.of(values.apply(name, np.broadcast_arrays(*ids), kind, opaque), kind), mask)

    return run


def quotient(machine: Machine, one: Instruction, meaning: Meaning) -> Run:
    """Rcp and div: a divisor that is a number is multiplied by its inverse, another is a function of it."""
    kind, width = element(meaning.types["d"])
    put, reads = machine.writer(one.operands[0]), [machine.reader(operand) for operand in one.operands[1:]]
    values, divides, notes = machine.values, one.words[0] == "div", assumed(meaning)

    def run(mask: Mask | None) -> None:
        machine.findings.note(*notes)
        ids = [read().elements(values, kind, width) for read in reads]
        inverse = values.inverse(ids[-1], kind)
        if divides:
            a, b = np.broadcast_arrays(ids[0], inverse)
            inverse = values.field(_PRODUCT, ("a", "b"), [a.ravel(), b.ravel()], kind).reshape(a.shape)
        put(Word.of(inverse, kind), mask)

    return run


def convert(machine: Machine, one: Instruction, meaning: Meaning) -> Run:
    """cvt: the value stays, its type changes; two sources are packed, the first above."""
    to, source = meaning.words["to"], meaning.words["from"]
    put, reads = machine.writer(one.operands[0]), [machine.reader(operand) for operand in one.operands[1:]]
    rounding = meaning.words.get("rounding", "")
    target, width = element(to)
    kind, size = element(source)
    clamps, notes = "relu" in meaning.words, assumed(meaning)
    clamps = clamps or "sat" in one.words

    def run(mask: Mask | None) -> None:
        found = [read() for read in reads]
        if not any(each.data(mask) for each in found):
            parts = [converted(each.bits, kind, target, rounding) for each in reversed(found)]
            if any(part is None for part in parts) or (to in PACKED and len(parts) == 1):
                reason = machine.values.reason(f"{one.opcode} of plain bits has no meaning here")
                put(Word(np.zeros(1, np.uint64), np.full((1, width), reason << 3, np.uint32)), mask)
                return
            bits = np.zeros(1, np.uint64)
            for place, part in enumerate(parts):
                bits = bits | (np.zeros(1, np.uint64) if part is None else part << np.uint64(8 * SIZE[target] * place))
            put(Word(bits), mask)
            return
        whole = kind in _WHOLE and target in _WHOLE
        if whole and not _is_value(machine, found[0], kind):
            put(_moved(machine, found[0], kind, target), mask)
            return
        if clamps or not _keeps(kind, target, rounding):
            put(without_meaning(machine, found, width, f"{one.opcode} of data"), mask)
            return
        machine.findings.note(*notes)
        values = machine.values
        ids = [each.elements(values, kind, size) for each in reversed(found)]
        joined = np.concatenate(np.broadcast_arrays(*ids), 1) if len(ids) > 1 else ids[0]
        put(Word.of(values.copy(joined, target, _narrows(kind, target)), target), mask)

    return run


def _is_value(machine: Machine, found: Word, kind: str) -> bool:
    """Whether a register holds whole numbers of a type or of its width and sign, not other bytes that are moved."""
    first = found.wide(SIZE[kind])[:, 0]
    kinds = machine.values.kind[(first >> np.uint32(3))[(first > 0)]]
    alike = [name for name in _names(kinds) if name[:1] == kind[0] and SIZE[name] == SIZE[kind]]
    return bool(len(kinds)) and len(alike) == len(_names(kinds))


def _names(codes: NDArray[np.uint8]) -> list[str]:
    return [list(SIZE)[int(code)] for code in np.unique(codes)]


def _moved(machine: Machine, found: Word, kind: str, target: str) -> Word:
    """Bytes that are no whole number, moved to a register of another width; zeros above."""
    if kind[0] == "s" and SIZE[target] > SIZE[kind]:
        return without_meaning(machine, [found], SIZE[target], "the sign of bytes of data is repeated")
    size = min(SIZE[kind], SIZE[target])
    labels = np.zeros((len(found.wide(size)), SIZE[target]), np.uint32)
    labels[:, :size] = found.wide(size)
    return Word(cut(found.bits, 8 * size), labels)


def _keeps(kind: str, target: str, rounding: str) -> bool:
    """Whether a conversion keeps the number, but for rounding."""
    return not (kind not in _WHOLE and target in _WHOLE) and not (
        rounding[1:2] in tuple("nzmp") and rounding.endswith("i")
    )


def _narrows(kind: str, target: str) -> bool:
    """Whether a conversion may round."""
    if kind in _WHOLE:
        return (target in _WHOLE and _WHOLE[target] < _WHOLE[kind]) or MANTISSA.get(target, 64) < 8 * SIZE[kind] - 8
    return MANTISSA[target] < MANTISSA[kind] or _RANGE[target] < _RANGE[kind]


def converted(bits: Bits, kind: str, target: str, rounding: str) -> Bits | None:
    """Plain bits of one type as bits of another; None where this is not modelled."""
    if kind in _WHOLE:
        signed = kind[0] == "s"
        number: NDArray[Any] = extended(bits, 8 * SIZE[kind]) if signed else cut(bits, 8 * SIZE[kind])
        if target in _WHOLE:
            return cut(number.view(np.uint64), 8 * SIZE[target])
        return _written(number.astype(np.float64), target)
    return _from_float(_read(bits, kind), target, rounding)


def _from_float(number: Floats | None, target: str, rounding: str) -> Bits | None:
    if number is None:
        return None
    if target in _WHOLE:
        rounded = {"rzi": np.trunc, "rni": np.rint, "rmi": np.floor, "rpi": np.ceil}.get(rounding)
        if rounded is None or not np.isfinite(number).all():
            return None
        low, high = (-(2.0**63), 2.0**63 - 1024) if target[0] == "s" else (0.0, 2.0**64 - 2048)
        clipped = np.clip(rounded(number), low, high)
        found = clipped.astype(np.int64).view(np.uint64) if target[0] == "s" else clipped.astype(np.uint64)
        return cut(found, 8 * SIZE[target])
    return _written(number, target) if rounding in ("", "rn", "rna") else None


def _read(bits: Bits, kind: str) -> Floats | None:
    if kind == "f16":
        return bits.astype(np.uint16).view(np.float16).astype(np.float64)
    if kind in ("f32", "bf16"):
        shifted = bits << np.uint64(16) if kind == "bf16" else bits
        return shifted.astype(np.uint32).view(np.float32).astype(np.float64)
    return bits.view(np.float64) if kind == "f64" else None


def _written(number: Floats, target: str) -> Bits | None:
    with np.errstate(over="ignore"):
        if target == "f16":
            return number.astype(np.float16).view(np.uint16).astype(np.uint64)
        if target == "f64":
            return number.view(np.uint64)
        if target in ("f32", "bf16", "tf32"):
            single = number.astype(np.float32).view(np.uint32).astype(np.uint64)
            if target == "f32":
                return single
            drop = 16 if target == "bf16" else 13
            even = (single >> np.uint64(drop)) & np.uint64(1)
            kept = (single + np.uint64((1 << (drop - 1)) - 1) + even) >> np.uint64(drop)
            return kept if target == "bf16" else kept << np.uint64(drop)
    if target in ("e4m3", "e5m2") and not number.any():
        return np.zeros(len(number), np.uint64)
    return None


BINDS: dict[str, Bind] = {
    "field": field,
    "extremum": function,
    "function": function,
    "quotient": quotient,
    "convert": convert,
}
