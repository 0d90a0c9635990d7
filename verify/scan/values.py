# SPDX-License-Identifier: Apache-2.0
"""The values of C++ types and constants: integers, tuples, layouts, named types, parameters without a value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from layouts import Layout, LayoutError
from verify.scan.declarations import Item

BITS = {
    "void": 0,
    "bool": 8,
    "char": 8,
    "float": 32,
    "double": 64,
    "int": 32,
    "unsigned": 32,
    "half_t": 16,
    "bfloat16_t": 16,
    "tfloat32_t": 32,
    "float_e4m3_t": 8,
    "float_e5m2_t": 8,
    "float_ue4m3_t": 8,
    "float_ue8m0_t": 8,
    "float_e3m2_t": 6,
    "float_e2m3_t": 6,
    "float_e2m1_t": 4,
    "type_erased_dynamic_float8_t": 8,
    "type_erased_dynamic_float6_t": 6,
    "type_erased_dynamic_float4_t": 4,
    **{f"{sign}int{bits}_t": bits for bits in (4, 8, 16, 32, 64, 128, 256) for sign in ("", "u")},
    **{f"{sign}int{bits}b_t": bits for bits in (1, 2, 4) for sign in ("", "u")},
}


class Unread(Exception):
    """A type or constant that cannot be evaluated; the message says why."""


class Needs(Exception):
    """A parameter of a template whose value is needed."""

    def __init__(self, symbol: TemplateParameter, width: bool = False) -> None:
        super().__init__(f"the value of the template parameter {symbol.name} is needed")
        self.symbol, self.width = symbol, width  # whether only its width is needed


@dataclass(frozen=True, slots=True)
class TemplateParameter:
    """A parameter of a template without a value."""

    name: str
    typed: bool  # whether it is a type
    pack: bool = False

    def __str__(self) -> str:
        return f"{self.name}..." if self.pack else self.name


@dataclass(frozen=True, slots=True)
class TypeName:
    """A type by its name, perhaps with template arguments; `struct` where it is declared among the headers."""

    name: str
    arguments: tuple[Any, ...] = ()
    struct: Item | None = None

    def __str__(self) -> str:
        return f"{self.name}<{', '.join(map(show_value, self.arguments))}>" if self.arguments else self.name


@dataclass(frozen=True, slots=True)
class Tv:
    """A layout by its shape and stride, which need not be congruent."""

    shape: Any
    stride: Any

    def __str__(self) -> str:
        return f"{show_value(self.shape)}:{show_value(self.stride)}"


def show_value(value: Any) -> str:
    """Return a value as it is printed.

    >>> show_value(((4, 8), 2)), show_value(Tv((4, 8), (8, 1))), show_value((16,))
    ('((4,8),2)', '(4,8):(8,1)', '(16)')
    """
    return f"({','.join(map(show_value, value))})" if isinstance(value, tuple) else str(value)


def free(value: Any) -> Iterator[TemplateParameter]:
    """Yield the parameters without a value in a value."""
    if isinstance(value, TemplateParameter):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from free(part)
    elif isinstance(value, TypeName):
        yield from free(value.arguments)


def number(value: Any) -> int:
    """Return a value as an integer. Raises Needs and Unread."""
    if isinstance(value, TemplateParameter):
        raise Needs(value)
    if not isinstance(value, int):
        raise Unread(f"{show_value(value):.60} isn't a number")
    return value


def layout(shape: Any, stride: Any = None) -> Tv:
    """Return the layout of a shape and a stride; compact, leftmost fastest, without a stride.

    Raises Needs and Unread.
    """
    numbers(shape)
    if stride is None:
        try:
            return Tv(shape, Layout(shape).stride)
        except LayoutError as error:
            raise Unread(str(error)) from error
    numbers(stride)
    return Tv(shape, stride)


def numbers(value: Any) -> None:
    """Raise Needs or Unread unless a value is a number or a tuple of such."""
    if isinstance(value, tuple):
        for part in value:
            numbers(part)
    else:
        number(value)


def bits(value: Any) -> int:
    """Return the width of a type. Raises Needs and Unread.

    >>> bits(TypeName("half_t")), bits(TypeName("complex", (TypeName("double"),)))
    (16, 128)
    """
    if isinstance(value, TemplateParameter):
        raise Needs(value, width=True)
    if isinstance(value, TypeName):
        if value.name == "complex" and value.arguments:
            return 2 * bits(value.arguments[0])
        if value.name in ("uint_bit_t", "int_bit_t") and value.arguments and isinstance(value.arguments[0], int):
            return value.arguments[0]
        if value.name in BITS:
            return BITS[value.name]
    raise Unread(f"the width of {show_value(value):.60} is not known")
