# SPDX-License-Identifier: Apache-2.0
"""CuTe's own templates and functions, of which the headers of traits make layouts.

>>> print(template("Layout", (template("Shape", (4, 8)),)), template("Int", (16,)), call("round_up", [20, 16]))
(4,8):(1,4) 16 32
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

from verify.scan.values import Needs, Tv, TypeName, Unread, bits, free, layout, number


def template(name: str, arguments: tuple[Any, ...]) -> Any:
    """Return the value of one of CuTe's templates; of any other the type of that name. Raises Needs and Unread."""
    meaning = TEMPLATES.get((name, len(arguments))) or TEMPLATES.get((name, None))
    return meaning(*arguments) if meaning else TypeName(name, arguments)


def call(name: str, arguments: Sequence[Any]) -> Any:
    """Return the value of one of CuTe's functions. Raises Needs and Unread."""
    meaning = CALLS.get((name, len(arguments))) or CALLS.get((name, None))
    if meaning is None:
        raise Unread(f"a call of {name or 'a function'}")
    return meaning(*arguments)


def _tuple(*values: Any) -> tuple[Any, ...]:
    return values


def _last(*values: Any) -> Any:
    if not values:
        raise Unread("a number without a value")
    return values[-1]


def _same(left: Any, right: Any) -> int:
    for symbol in free((left, right)):
        raise Needs(symbol)
    return int(left == right)


def _size(value: Any) -> int:
    shape = value.shape if isinstance(value, Tv) else value
    return prod(map(_size, shape)) if isinstance(shape, tuple) else number(shape)


def _ceil(dividend: Any, divisor: Any) -> int:
    if number(divisor) <= 0:
        raise Unread("a division by zero")
    return -(-number(dividend) // number(divisor))


Known = Mapping[tuple[str, int | None], Callable[..., Any]]  # by name and number of arguments; None: any
TEMPLATES: Known = {
    ("Layout", 1): layout,
    ("Layout", 2): layout,
    **{(name, None): _tuple for name in ("Shape", "Stride", "Step", "Coord", "Tile", "tuple")},
    **{(name, None): _last for name in ("Int", "C", "integral_constant", "constant", "Integral")},
    **{(name, 1): bits for name in ("sizeof_bits", "sizeof_bits_v")},
    **{(name, 2): _same for name in ("is_same", "is_same_v")},
    **{(name, 1): _last for name in ("remove_cvref_t", "remove_const_t", "static_cast")},
}
OWN = frozenset(name for name, _ in TEMPLATES)  # declared in namespace cute, they are CuTe's
CALLS: Known = {
    **{(name, 1): number for name in ("int", "int32_t", "uint32_t", "bool", "size_t", "static_cast")},
    ("size", 1): _size,
    ("ceil_div", 2): _ceil,
    ("round_up", 2): lambda value, multiple: _ceil(value, multiple) * number(multiple),
    ("max", 2): lambda left, right: max(number(left), number(right)),
    ("min", 2): lambda left, right: min(number(left), number(right)),
    **{(name, None): _tuple for name in ("make_shape", "make_stride", "make_tuple")},
    ("make_layout", 1): layout,
    ("make_layout", 2): layout,
}
