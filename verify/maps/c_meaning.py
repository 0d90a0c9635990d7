# SPDX-License-Identifier: Apache-2.0
"""The meaning of C: an expression as a function with C's types, promotions, wrap and undefined behaviour.

Small types are promoted to int, an operation takes place in the common type of its operands, unsigned values wrap, and
what C leaves undefined is an `Undefined`: signed overflow, a shift by the width, a division by zero. Source: ISO C11,
6.3.1 and 6.5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from verify.maps.tree import Binary, Call, Cast, Compare, ExpressionError, Name, Number, Ternary, Tree, Unary, nodes

Values: TypeAlias = "Mapping[str, int]"
Function: TypeAlias = Callable[[Values], int]


class Undefined(ArithmeticError):
    """What an expression leaves undefined at a point, or a language reports as an error there."""


class Type(NamedTuple):
    """A type of C: its width and sign. `bool` has one bit."""

    name: str
    bits: int
    signed: bool

    def wrap(self, value: int) -> int:
        """Return the value that a conversion to this type gives."""
        if self.bits == 1:
            return int(value != 0)
        value &= (1 << self.bits) - 1
        return value - (1 << self.bits) if self.signed and value >> (self.bits - 1) else value

    def fits(self, value: int) -> bool:
        """Whether the type has a value."""
        return self.wrap(value) == value


INT, UNSIGNED = Type("int", 32, True), Type("unsigned", 32, False)
INT64, UINT64 = Type("int64", 64, True), Type("uint64", 64, False)
TYPES = {
    kind.name: kind
    for kind in (
        INT, UNSIGNED, INT64, UINT64, Type("bool", 1, False),
        Type("int8", 8, True), Type("uint8", 8, False), Type("int16", 16, True), Type("uint16", 16, False),
    )
}  # fmt: skip
Meaning: TypeAlias = tuple[Type, Function]
COMPARED: Mapping[str, Callable[[int, int], bool]] = {
    "<": int.__lt__, "<=": int.__le__, ">": int.__gt__, ">=": int.__ge__, "==": int.__eq__, "!=": int.__ne__,
}  # fmt: skip
COMPUTED: Mapping[str, Callable[[int, int], int]] = {
    "+": int.__add__, "-": int.__sub__, "*": int.__mul__, "&": int.__and__, "|": int.__or__, "^": int.__xor__,
}  # fmt: skip


def promote(type_: Type) -> Type:
    """Return the type in which a value of a type is computed with: at least int."""
    return INT if type_.bits < 32 else type_


def common(a: Type, b: Type) -> Type:
    """Return the type of an operation on two types: the wider; of two as wide, the unsigned one.

    >>> common(TYPES["uint8"], TYPES["int16"]).name, common(INT, UNSIGNED).name, common(UNSIGNED, INT64).name
    ('int', 'unsigned', 'int64')
    """
    a, b = promote(a), promote(b)
    return max(a, b, key=lambda kind: (kind.bits, not kind.signed))


def meaning(tree: Tree, types: Mapping[str, Type], text: str) -> Meaning:
    """Return the type of an expression and its value as a function of the values of its names.

    >>> from verify.maps.syntax import C, parse
    >>> type_, value = meaning(parse("lane / 4 - 1", C).result, {"lane": UNSIGNED}, "")
    >>> type_.name, value({"lane": 3}), value({"lane": 9})
    ('unsigned', 4294967295, 1)

    Raises ExpressionError for a name without a type and a literal that no type has; the function raises Undefined.
    """
    if isinstance(tree, Number):
        return _literal(tree, text)
    if isinstance(tree, Name):
        name = tree.name
        if name not in types:
            raise ExpressionError(f"unknown name {name!r}", text, tree.start)
        return types[name], lambda values: values[name]
    parts = [meaning(part, types, text) for part in tree.parts]
    words = " ".join(text[tree.start : tree.end].split())
    match tree:
        case Cast(type=word):
            typed = _cast(TYPES[word], parts[0][1])
        case Ternary():
            typed = _choice(*parts)
        case Unary(op=op):
            typed = _unary(op, parts[0], words)
        case Binary(op=op):
            typed = _binary(op, parts[0], parts[1], words)
        case Call(function=function):
            typed = _call(function, parts, words)
        case Compare():
            raise TypeError("a chained comparison is Python's")
    return typed


def _cast(type_: Type, value: Function) -> Meaning:
    return type_, lambda values: type_.wrap(value(values))


def _choice(test: Meaning, then: Meaning, otherwise: Meaning) -> Meaning:
    """Return the value of one of two expressions in their common type; the other is not evaluated."""
    (_, chosen), (a, first), (b, second) = test, then, otherwise
    result = common(a, b)
    return result, lambda values: result.wrap(first(values) if chosen(values) else second(values))


def _literal(number: Number, text: str) -> Meaning:
    """Return the first type of C's list that has the value: unsigned ones for hexadecimal digits or a suffix u."""
    value, suffix = number.value, number.suffix
    listed = [INT64, UINT64] if "ll" in suffix else [INT, UNSIGNED, INT64, UINT64]
    unsigned = [kind for kind in listed if not kind.signed]
    signed = [kind for kind in listed if kind.signed]
    allowed = unsigned if "u" in suffix else signed if number.decimal else listed
    kind = next((kind for kind in allowed if kind.fits(value)), None)
    if kind is None:
        raise ExpressionError(f"the literal {value} has no type: it is too large", text, number.start)
    return kind, lambda _: value


def _unary(op: str, operand: Meaning, words: str) -> Meaning:
    type_, value = operand
    if op == "!":
        return INT, lambda values: int(value(values) == 0)
    result = promote(type_)
    if op == "~":
        return result, lambda values: result.wrap(~value(values))
    if op == "+":
        return result, value
    return result, lambda values: _in(result, -value(values), words)


def _in(type_: Type, value: int, words: str) -> int:
    """Return a result in its type: wrapped if unsigned, Undefined if signed and too large."""
    if type_.fits(value):
        return value
    if type_.signed:
        raise Undefined(f"signed overflow in {words}: {value} does not fit {type_.name}")
    return type_.wrap(value)


def _binary(op: str, left: Meaning, right: Meaning, words: str) -> Meaning:
    (a, first), (b, second) = left, right
    if op == "&&":
        return INT, lambda values: int(first(values) != 0 and second(values) != 0)
    if op == "||":
        return INT, lambda values: int(first(values) != 0 or second(values) != 0)
    if op in ("<<", ">>"):
        return _shift(op, (promote(a), first), second, words)
    type_ = common(a, b)
    wrap = type_.wrap
    if op in COMPARED:
        compare = COMPARED[op]
        return INT, lambda values: int(compare(wrap(first(values)), wrap(second(values))))
    if op in COMPUTED:
        compute = COMPUTED[op]
        return type_, lambda values: _in(type_, compute(wrap(first(values)), wrap(second(values))), words)

    def divide(values: Values) -> int:
        x, y = wrap(first(values)), wrap(second(values))
        if y == 0:
            raise Undefined(f"division by zero in {words}")
        quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)  # toward zero, unlike Python's
        _in(type_, quotient, words)  # the lowest number by -1
        return quotient if op == "/" else x - quotient * y

    return type_, divide


def _shift(op: str, left: Meaning, by: Function, words: str) -> Meaning:
    """Shift in the type of the left operand: by 0 to the width less one, and no negative number to the left."""
    type_, value = left

    def shift(values: Values) -> int:
        x, count = value(values), by(values)
        if not 0 <= count < type_.bits:
            raise Undefined(f"a shift by {count} in {words}: {type_.name} has {type_.bits} bits")
        if op == ">>":
            return x >> count
        if x < 0:
            raise Undefined(f"a shift of the negative number {x} to the left in {words}")
        return _in(type_, x << count, words)

    return type_, shift


def _call(function: str, arguments: list[Meaning], words: str) -> Meaning:
    """Return C's abs, which takes an int, or CUDA's min and max, in the common type of their arguments."""
    if function == "abs":
        value = arguments[0][1]
        return INT, lambda values: _in(INT, abs(INT.wrap(value(values))), words)
    (a, first), (b, second) = arguments
    result = common(a, b)
    choose: Any = {"min": min, "max": max}[function]
    return result, lambda values: choose(result.wrap(first(values)), result.wrap(second(values)))


def remarks(tree: Tree, types: Mapping[str, Type], text: str) -> Iterator[str]:
    """Yield a warning for each call of abs that C and CUDA C++ read differently."""
    for node in nodes(tree):
        if not isinstance(node, Call) or node.function != "abs":
            continue
        type_ = promote(meaning(node.arguments[0], types, text)[0])
        if type_ == INT:
            continue
        words = " ".join(text[node.start : node.end].split())
        cuda = f"has an abs of {type_.bits} bits" if type_.signed else "has no abs of it and rejects the call"
        yield f"{words}: the argument is {type_.name}; C's abs converts it to int, CUDA C++ {cuda}: write abs((int)…)"
