# SPDX-License-Identifier: Apache-2.0
"""What the instructions that compute integers do to forms, by `sizes` and the class of their row in the opcode tables.

A row without `sizes` is refused. An effect asks for the operands that it understands; a form in any other operand, or
in an instruction without an effect, is refused when the instruction reads it. Sums, differences and products follow the
row's formula. A number's bits are taken as the form's exact value only after the form was proved to lie within the
type's range.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeAlias

import numpy as np

from isa_tables.formula import BinaryOperation, Constant, Identifier, Tree
from isa_tables.semantics import Meaning
from verify.kernel.ptx.source import WIDTHS, Operand, PtxInstruction, Register, Vector
from verify.kernel.sizes.forms import (
    Alternative,
    AnyOf,
    Condition,
    Content,
    Equal,
    Less,
    NotLifted,
    Numbers,
    Polynomial,
    both,
    negate,
)
from verify.kernel.sizes.region import OPEN, SizeRegion


class EffectReader(Protocol):
    """What an effect asks of the shadow of a run."""

    region: SizeRegion

    def content(self, operand: Operand, width: int) -> Content | None:
        """Return the content of an operand; None for data."""

    def refuse(self, step: str, form: object = "", conditions: Sequence[Condition] = ()) -> NotLifted:
        """Return the refusal of the instruction that is executed."""


Made: TypeAlias = list[tuple[Operand, Content, int]]  # destination, content, bits
Effect: TypeAlias = Callable[[EffectReader, PtxInstruction, Meaning], Made]


def form_of(reader: EffectReader, operand: Operand, width: int) -> Polynomial:
    """Return the form of an operand; NotLifted for data and for a choice that is open."""
    content = reader.content(operand, width)
    if not isinstance(content, Polynomial):
        raise reader.refuse(
            "an operand that is neither a number nor a form", content if content is not None else "data"
        )
    return content


def condition_of(reader: EffectReader, operand: Operand) -> Condition:
    """Return the condition that a predicate is."""
    content = reader.content(operand, 1)
    if content is None or isinstance(content, Polynomial | Alternative):
        raise reader.refuse("a predicate that data decide")
    return content


def exact(reader: EffectReader, form: Polynomial, kind: str) -> Polynomial:
    """Return the form whose exact value is the number of a type that the bits are; NotLifted if it may wrap."""
    width, signed = WIDTHS[kind], kind[0] != "u"
    if any((abs(each) >> 62).any() for each in form.terms.values()):
        raise reader.refuse("a number above 2^62", form)  # differences of two would wrap
    if not form.symbolic:
        form = form.modulo(width)
        if signed:
            return form
        numbers = form.constant & ((1 << width) - 1) if width < 64 else form.constant
        if (numbers < 0).any():
            raise reader.refuse("a number above 2^62", form)
        return Polynomial.number(numbers)
    low, high = (-(1 << (width - 1)), 1 << (width - 1)) if signed else (0, 1 << width)
    if not reader.region.within(form, low, high):
        outside = [Less(form - Polynomial.number(low)), Less(Polynomial.number(high - 1) - form)] if width < 64 else []
        raise reader.refuse(f"not shown to lie within {kind}, and it is used as a number of that type", form, outside)
    return form


def integer(reader: EffectReader, instruction: PtxInstruction, meaning: Meaning) -> Made:
    """Follow the row's formula if it has sums and products alone; min and max if the region decides them."""
    roles = [role for role, _, _ in meaning.row.operands]
    kinds = [meaning.types[role] for role in roles]
    width, formula = WIDTHS[kinds[0]], meaning.row.value
    if formula is None:
        raise reader.refuse(f"{instruction.opcode} of a form")
    given = {}
    for role, kind, operand in zip(roles[1:], kinds[1:], instruction.operands[1:], strict=True):
        form = form_of(reader, operand, WIDTHS[kind])
        given[role] = exact(reader, form, kind) if WIDTHS[kind] < width else form
    if meaning.row.sizes == "exact":
        return [
            (
                instruction.operands[0],
                _extremum(reader, meaning.head, [given[role] for role in roles[1:]], kinds[0]),
                width,
            )
        ]
    return [(instruction.operands[0], _ring(reader, instruction, formula.tree, given).modulo(width), width)]


def _ring(reader: EffectReader, instruction: PtxInstruction, tree: Tree, given: Mapping[str, Polynomial]) -> Polynomial:
    if isinstance(tree, Constant):
        return Polynomial.number(tree.value)
    if isinstance(tree, Identifier):
        return given[tree.name]
    if isinstance(tree, BinaryOperation) and tree.op in "+-*":
        left, right = (_ring(reader, instruction, part, given) for part in (tree.left, tree.right))
        return left + right if tree.op == "+" else left - right if tree.op == "-" else left * right
    raise reader.refuse(f"{instruction.opcode} of a form")


def _extremum(reader: EffectReader, head: str, forms: list[Polynomial], kind: str) -> Polynomial:
    left, right = (exact(reader, form, kind) for form in forms)
    less = reader.region.decide(Less(left - right))
    if (less == OPEN).all() and left.rows == right.rows == 1 and reader.region.extents:
        return reader.region.extremum(head, left, right)
    if (less == OPEN).any():
        raise reader.refuse(
            f"{head} of two numbers, and sizes decide which",
            f"{left} and {right}",
            [Less(left - right), Less(right - left)],
        )
    first = less == 1 if head == "min" else less == 0
    return left.where(first, right)


def shift(reader: EffectReader, instruction: PtxInstruction, meaning: Meaning) -> Made:
    """Shl multiplies by a power of two; shr divides by one and rounds down."""
    kind = meaning.types["d"]
    width, left = WIDTHS[kind], instruction.words[0] == "shl"
    source, amount = form_of(reader, instruction.operands[1], width), form_of(reader, instruction.operands[2], 32)
    by = amount.constant & 0xFFFFFFFF
    if amount.symbolic or (by >= width).any():
        raise reader.refuse("a shift by a number that sizes decide", amount)
    if left:
        power = (np.uint64(1) << by.astype(np.uint64)).view(np.int64)
        return [(instruction.operands[0], (source * Polynomial.number(power)).modulo(width), width)]
    if (by != by[0]).any():
        raise reader.refuse("a shift to the right by another amount in each thread", source)
    number = exact(reader, source, kind if kind[0] == "s" else f"u{width}")
    return [(instruction.operands[0], divide_by_power(reader, number, int(by[0])), width)]


def divide_by_power(reader: EffectReader, form: Polynomial, by: int) -> Polynomial:
    """Return floor(form / 2^by): exact where 2^by divides the symbols, or where the rest is proved to be below 2^by.

    Of a form that is the same in all threads it may also be a symbol of its own, which two inequalities define.
    """
    divisor, region = 1 << by, reader.region
    if (near := _nearest(reader, form, by)) is not None:
        return near
    divided = {key: each >> by for key, each in form.terms.items() if key and not (each & (divisor - 1)).any()}
    whole = Polynomial(divided)
    rest = form - whole * Polynomial.number(divisor)
    if not rest.symbolic:
        return whole + Polynomial.number(rest.constant >> by)
    at = np.array([int(each) >> by for each in rest.value(region.sample)], np.int64)
    guesses = [Polynomial.number(at), *(Polynomial.number(at) + growth for growth in region.growths)]
    for guess in guesses:
        if region.within(rest - guess * Polynomial.number(divisor), 0, divisor):
            return whole + guess
    if rest.rows == 1:
        return whole + region.quotient(rest, divisor)
    above = [Less(Polynomial.number(divisor * (at + 1) - 1) - form)]
    raise reader.refuse(f"a division by {divisor} whose result is neither fixed nor a form", form, above)


def _nearest(reader: EffectReader, form: Polynomial, by: int) -> Polynomial | None:
    """Return the quotient with each coefficient rounded to the nearest number, if the rest is proved to fit.

    So compilers divide by a constant: x * 0xAAAAAAAB >> 33 is x // 3, and x is 3*j + c.
    """
    if any((abs(each) >> 61).any() for each in form.terms.values()):
        return None  # a sum below might wrap
    half = 1 << by >> 1
    whole = Polynomial({key: (each + half) >> by for key, each in form.terms.items() if key})
    rest = form - whole * Polynomial.number(1 << by)
    constant = Polynomial.number(rest.constant >> by)
    fits = reader.region.within(rest - constant * Polynomial.number(1 << by), 0, 1 << by)
    return whole + constant if fits else None


def divide(reader: EffectReader, instruction: PtxInstruction, meaning: Meaning) -> Made:
    """Divide a number that is never negative, or take its remainder, by one of at least 1 that all threads share."""
    kind, region = meaning.words["type"], reader.region
    left, right = (exact(reader, form_of(reader, operand, WIDTHS[kind]), kind) for operand in instruction.operands[1:])
    if not region.within(left, 0, 1 << 62):
        raise reader.refuse("a division of a number that may be below 0", left, [Less(left)])
    if not region.is_positive(right):
        raise reader.refuse("a division by a number that may be below 1", right, [Less(right - Polynomial.number(1))])
    number = int(right.constant[0])
    if not right.symbolic and not number & (number - 1):
        quotient = divide_by_power(reader, left, number.bit_length() - 1)
    elif left.rows == 1:
        quotient = region.quotient(left, right)
    elif meaning.words["head"] == "rem":
        return [(instruction.operands[0], region.remainder(left, right), WIDTHS[kind])]
    else:
        raise reader.refuse("a division of another number in each thread", left)
    form = left - quotient * right if meaning.words["head"] == "rem" else quotient
    return [(instruction.operands[0], form.modulo(WIDTHS[kind]), WIDTHS[kind])]


def bitwise(reader: EffectReader, instruction: PtxInstruction, meaning: Meaning) -> Made:
    """Combine predicates; bits of a number and of a form only where the form's symbols leave those bits alone."""
    head, width = instruction.words[0], WIDTHS[meaning.types["d"]]
    if width == 1:
        parts = [condition_of(reader, operand) for operand in instruction.operands[1:]]
        if head == "not":
            return [(instruction.operands[0], negate(parts[0]), 1)]
        if head == "xor":
            raise reader.refuse("xor of two conditions")
        made = both(*parts) if head == "and" else AnyOf((parts[0], parts[1]))
        return [(instruction.operands[0], made, 1)]
    forms = [form_of(reader, operand, width) for operand in instruction.operands[1:]]
    if head == "not":
        return [(instruction.operands[0], (-forms[0] - Polynomial.number(1)).modulo(width), width)]
    left, right = forms if forms[0].symbolic else reversed(forms)
    if right.symbolic:
        raise reader.refuse(f"{head} of two forms", f"{left} and {right}")
    return [(instruction.operands[0], _combine_bits(reader, head, left, right.constant).modulo(width), width)]


def _combine_bits(reader: EffectReader, head: str, form: Polynomial, bits: Numbers) -> Polynomial:
    """Return and, or, xor of a form and the bits of a number."""
    step = form.divisor()  # the symbols leave all bits below it alone
    low = form.constant & (step - 1)
    if head == "and":
        high = bits | (step - 1)
        if (bits >= 0).all() and (bits < step).all():
            return Polynomial.number(form.constant & bits)
        if (high == -1).all():  # it keeps every bit from `step` on
            return form - Polynomial.number(low - (low & bits))
        if not (bits & (bits + 1)).any() and (bits >= 0).all() and reader.region.within(form, 0, int(bits.min()) + 1):
            return form
    elif (bits >= 0).all() and (bits < step).all():
        return form + Polynomial.number((low | bits if head == "or" else low ^ bits) - low)
    above = [Less(Polynomial.number(bits) - form)] if (bits >= 0).all() else []
    raise reader.refuse(f"{head} of a form whose symbols reach the same bits, a multiple of {step}", form, above)


_RELATIONS: Mapping[str, str] = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}


def compare(reader: EffectReader, instruction: PtxInstruction, meaning: Meaning) -> Made:
    """setp: the sign of a difference, once both sides are exact numbers of the type."""
    kind, relation = meaning.words["type"], meaning.words["relation"]
    if kind[0] == "f" or kind == "bf16" or len(instruction.operands) > 3 or isinstance(instruction.operands[0], Vector):
        raise reader.refuse(f"{instruction.opcode} of a form")
    if relation in _RELATIONS:
        relation, kind = _RELATIONS[relation], "u" + kind[1:]
    kind = "s" + kind[1:] if kind[0] == "b" else kind
    left, right = (exact(reader, form_of(reader, operand, WIDTHS[kind]), kind) for operand in instruction.operands[1:])
    difference = left - right
    made: Condition
    if relation in ("eq", "ne"):
        made = Equal(difference, relation == "eq")
    else:
        made = Less(difference if relation in ("lt", "ge") else -difference)
        made = negate(made) if relation in ("ge", "le") else made
    return [(instruction.operands[0], made, 1)]


def select(reader: EffectReader, instruction: PtxInstruction, meaning: Meaning) -> Made:
    """selp: the form that the region decides, thread by thread, or a choice."""
    width = WIDTHS[meaning.types["d"]]
    condition = condition_of(reader, instruction.operands[3])
    parts = [reader.content(operand, width) for operand in instruction.operands[1:3]]
    then, otherwise = parts
    decided = reader.region.decide(condition)
    if (
        (then is None or (isinstance(then, Polynomial) and not then.symbolic))
        and otherwise is None
        and (decided != OPEN).all()
    ):
        return []  # data, and the same choice at all sizes
    if not all(isinstance(part, Polynomial | Alternative) for part in parts):
        raise reader.refuse("selp between data by a condition on sizes", condition)
    if (decided != OPEN).all():
        if (decided == 1).all() or (decided == 0).all():
            return [(instruction.operands[0], then if (decided == 1).all() else otherwise, width)]  # type: ignore[list-item]
        if isinstance(then, Polynomial) and isinstance(otherwise, Polynomial):
            return [(instruction.operands[0], then.where(decided == 1, otherwise), width)]
    return [(instruction.operands[0], Alternative(condition, then, otherwise), width)]  # type: ignore[arg-type]


def convert(reader: EffectReader, instruction: PtxInstruction, meaning: Meaning) -> Made:
    """Cvt between integers: a wider type takes the exact number, a narrower one its lowest bits."""
    to, source = meaning.words["to"], meaning.words["from"]
    destination = instruction.operands[0]
    if (
        to[0] not in "us"
        or source[0] not in "us"
        or "sat" in instruction.words
        or not isinstance(destination, Register)
    ):
        raise reader.refuse(f"{instruction.opcode} of a form")
    form = form_of(reader, instruction.operands[1], WIDTHS[source])
    if WIDTHS[to] > WIDTHS[source]:
        form = exact(reader, form, source)
    return [(destination, form.modulo(WIDTHS[to]), WIDTHS[to])]


def move(reader: EffectReader, instruction: PtxInstruction, meaning: Meaning) -> Made:
    """Mov of a whole register."""
    if any(isinstance(operand, Vector) for operand in instruction.operands):
        raise reader.refuse("a form is cut into parts or made of them")
    width = WIDTHS[meaning.types["d"]]
    content = reader.content(instruction.operands[1], width)
    if content is None:
        raise reader.refuse("mov of data and a form")
    return [(instruction.operands[0], content, width)]


def address(reader: EffectReader, instruction: PtxInstruction, meaning: Meaning) -> Made:
    """Cvta of global memory, whose addresses are generic ones."""
    if meaning.words["space"] != "global":
        raise reader.refuse(f"{instruction.opcode} of a form")
    return [(instruction.operands[0], form_of(reader, instruction.operands[1], 64), 64)]


def extract(reader: EffectReader, instruction: PtxInstruction, meaning: Meaning) -> Made:
    """Bfe of bits that the symbols leave alone."""
    kind = meaning.words["type"]
    form, first, count = (
        form_of(reader, operand, width)
        for operand, width in zip(instruction.operands[1:], (WIDTHS[kind], 32, 32), strict=True)
    )
    end = (first.constant & 255) + (count.constant & 255)
    if first.symbolic or count.symbolic or kind != "u32" or (1 << int(end.max())) > form.divisor():
        raise reader.refuse("bfe of bits that sizes decide", form)
    bits = (form.constant >> (first.constant & 255)) & ((1 << (count.constant & 255)) - 1)
    return [(instruction.operands[0], Polynomial.number(bits), WIDTHS[kind])]


# by the class of a row whose `sizes` says that it has one
EFFECTS: Mapping[str, Effect] = {
    "integer": integer,
    "shift": shift,
    "divide": divide,
    "bitwise": bitwise,
    "compare": compare,
    "select": select,
    "convert": convert,
    "move": move,
    "address": address,
    "extract": extract,
}
