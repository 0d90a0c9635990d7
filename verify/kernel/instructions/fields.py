# SPDX-License-Identifier: Apache-2.0
"""Instructions that compute on floats: sums and products by the opcode tables' formulas, functions, quotients.

Data are computed in exact arithmetic. Plain bits are computed as IEEE 754 and the ISA say (`rounded`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from isa_tables.formula_parser import parse
from isa_tables.semantics import Meaning
from verify.kernel.data.distinct import sort_distinct
from verify.kernel.data.floats import FORMATS
from verify.kernel.data.registers import Word, settle
from verify.kernel.data.values import CHOSEN, FREE, MANTISSA, SIZE, Bits, Ids, Mask, Values
from verify.kernel.instructions.assumptions import list_assumptions, note_numbers
from verify.kernel.instructions.clamps import saturate
from verify.kernel.instructions.integers import plain, without_meaning
from verify.kernel.instructions.rounded import arithmetic, flags_of, result
from verify.kernel.ptx.source import PtxInstruction
from verify.kernel.state.bound import Run
from verify.kernel.state.findings import NOT_NAN, Unclear
from verify.kernel.state.machine import Bind, Machine

PACKED = {
    "f32x2": "f32", "f16x2": "f16", "bf16x2": "bf16", "e4m3x2": "e4m3", "e5m2x2": "e5m2",
    "u16x2": "u16", "s16x2": "s16",
}  # fmt: skip
_PRODUCT = parse("a * b", {"a": False, "b": False}).tree
_ROUNDINGS = {"rn", "rz", "rm", "rp"}
_ROUNDED = {"min", "max", "abs", "sqrt"}  # functions whose bits the ISA defines


def element(kind: str) -> tuple[str, int]:
    """(type of an element, bytes of the register) of an operand's type.

    >>> element("f16x2"), element("f32")
    (('f16', 4), ('f32', 4))
    """
    return (PACKED[kind], 2 * SIZE[PACKED[kind]]) if kind in PACKED else (kind, SIZE[kind])


def narrowing(kind: str) -> str:
    """Return the format that arithmetic in a type rounds to, where it is narrower than f32."""
    return kind if MANTISSA.get(kind, 64) < MANTISSA["f32"] else ""


def _on_bits(
    machine: Machine, opcode: tuple[str, ...], given: Sequence[Word], kind: str, width: int,
    exactly: Callable[[Sequence[Ids]], Ids], mask: Mask | None,
) -> Word | None:  # fmt: skip
    """Return the result on plain bits; None where an operand is data, or the ISA does not say how it is rounded."""
    values, (head, *flags) = machine.values, opcode
    plain = [settle(each, values) for each in given]
    if "approx" in flags or "full" in flags or any(each.data(mask) for each in plain):
        return None
    loose = head in ("add", "sub", "mul") and not _ROUNDINGS & set(flags)
    if loose and head != "mul" and any(_fusible(values, each, mask) for each in given):
        return None  # ptxas may make one fma of it and of the product before it
    made = result(values, given, plain, kind, kind, width, partial(arithmetic, head, kind, tuple(flags)), exactly, mask,
                  f"the NaN of {head}.{kind} is unspecified")  # fmt: skip
    if loose and head == "mul" and made.labels is not None:
        values.contracted.update(int(each) for each in sort_distinct(made.labels >> np.uint32(3)))
    return made


def _fusible(values: Values, source: Word, mask: Mask | None) -> bool:
    """Whether a register holds a rounded product whose instruction does not forbid that it is fused with a sum."""
    if not values.contracted or source.labels is None:
        return False
    labels = source.labels if mask is None or len(source.labels) == 1 else source.labels[mask]
    return any(int(each) in values.contracted for each in sort_distinct(labels >> np.uint32(3)))


def field(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """Arithmetic by the row's formula, in exact arithmetic."""
    formula = meaning.row.value
    if formula is None:
        raise Unclear(inst.line, "the opcode table has no formula for it")
    kind, width = element(meaning.types["d"])
    roles = [role for role, _, _ in meaning.row.operands][1:]
    put, reads = machine.writer(inst.operands[0]), [machine.reader(operand) for operand in inst.operands[1:]]
    head, flags, notes = meaning.head, flags_of(meaning), list_assumptions(meaning)
    narrows = "" if head == "neg" else narrowing(kind)
    values, count = machine.values, width // SIZE[kind]

    def exactly(ids: Sequence[Ids]) -> Ids:
        return values.field(formula.tree, roles, ids, kind, narrows)

    def execute(mask: Mask | None) -> None:
        sources = [read() for read in reads]
        bits = _on_bits(machine, (head, *flags), sources, kind, width, exactly, mask)
        if bits is not None:
            put(bits, mask)
        else:
            machine.findings.note(*notes)
            if head != "neg":
                note_numbers(machine, head, sources, kind, width, mask)
            ids = [each.elements(values, kind, width) for each in sources]
            rows = max(map(len, ids))
            flat = (each if each.shape == (rows, count) else np.broadcast_to(each, (rows, count)) for each in ids)
            made = exactly([each.reshape(-1) for each in flat]).reshape(rows, count)
            if "sat" in flags:
                made = saturate(machine, made, kind, kind, mask)
            if "relu" in flags:
                made = values.apply("relu", [made], kind, CHOSEN)
            put(Word.of(made, kind), mask)

    return execute


def function(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """Functions without a known meaning, and minimum, maximum and absolute value, which a comparison chooses."""
    kind, width = element(meaning.types["d"])
    put, reads = machine.writer(inst.operands[0]), [machine.reader(operand) for operand in inst.operands[1:]]
    name, values, flags = meaning.head, machine.values, flags_of(meaning)
    opaque = CHOSEN if name in ("max", "min", "abs") else FREE
    notes = [*list_assumptions(meaning), *([NOT_NAN] if name in ("max", "min") else [])]

    def exactly(ids: Sequence[Ids]) -> Ids:
        return values.apply(name, np.broadcast_arrays(*ids), kind, opaque)

    def execute(mask: Mask | None) -> None:
        sources = [read() for read in reads]
        bits = _on_bits(machine, (name, *flags), sources, kind, width, exactly, mask) if name in _ROUNDED else None
        if bits is None and "xorsign.abs" in flags:
            bits = without_meaning(machine, sources, width, f"the sign of {inst.opcode} of data")
        if bits is None:
            machine.findings.note(*notes)
            bits = Word.of(exactly([each.elements(values, kind, width) for each in sources]), kind)
        put(bits, mask)

    return execute


def quotient(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """Rcp and div: a divisor that is a number is multiplied by its inverse, another is a function of it."""
    kind, width = element(meaning.types["d"])
    put, reads = machine.writer(inst.operands[0]), [machine.reader(operand) for operand in inst.operands[1:]]
    values, divides = machine.values, meaning.head == "div"
    flags, notes = flags_of(meaning), list_assumptions(meaning)

    def exactly(ids: Sequence[Ids]) -> Ids:
        inverse = values.inverse(ids[-1], kind)
        if not divides:
            return inverse
        a, b = np.broadcast_arrays(ids[0], inverse)
        return values.field(_PRODUCT, ("a", "b"), [a.ravel(), b.ravel()], kind).reshape(a.shape)

    def execute(mask: Mask | None) -> None:
        sources = [read() for read in reads]
        bits = _on_bits(machine, (meaning.head, *flags), sources, kind, width, exactly, mask)
        if bits is None:
            machine.findings.note(*notes)
            bits = Word.of(exactly([each.elements(values, kind, width) for each in sources]), kind)
        put(bits, mask)

    return execute


def _copied_sign(meaning: Meaning, sign: Bits, value: Bits) -> Bits:
    top = np.uint64(FORMATS[meaning.words["type"]].sign)
    return (value & ~top) | (sign & top)


def _test_class(meaning: Meaning, bits: Bits) -> Bits:
    """testp: the exponent and the fraction say what a float is."""
    of, tested = FORMATS[meaning.words["type"]], meaning.words["property"]
    size = bits & np.uint64(of.sign - 1)
    infinity, least = np.uint64(of.infinity), np.uint64(1 << of.fraction)
    subnormal = (size > 0) & (size < least)
    holds = {
        "finite": size < infinity, "infinite": size == infinity, "number": size <= infinity,
        "notanumber": size > infinity, "normal": (size < infinity) & ~subnormal, "subnormal": subnormal,
    }[tested]  # fmt: skip
    return np.asarray(holds.astype(np.uint64))


BINDS: dict[str, Bind] = {
    "copysign": plain(_copied_sign, "the sign of one value in another"),
    "test": plain(_test_class, "a test of what a float is, of data"),
    "field": field,
    "extremum": function,
    "function": function,
    "quotient": quotient,
}
