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
    found = TEMPLATES.get((name, len(arguments))) or TEMPLATES.get((name, None))
    return found(*arguments) if found else TypeName(name, arguments)


def call(name: str, arguments: Sequence[Any]) -> Any:
    """Return the value of one of CuTe's functions. Raises Needs and Unread."""
    found = CALLS.get((name, len(arguments))) or CALLS.get((name, None))
    if found is None:
        raise Unread(f"a call of {name or 'a function'}")
    return found(*arguments)


def _tuple(*values: Any) -> tuple[Any, ...]:
    return values


def _last(*values: Any) -> Any:
    if not values:
        raise Unread("a number without a value")
    return values[-1]


def _same(one: Any, other: Any) -> int:
    for symbol in free((one, other)):
        raise Needs(symbol)
    return int(one == other)


def _size(value: Any) -> int:
    shape = value.shape if isinstance(value, Tv) else value
    return prod(map(_size, shape)) if isinstance(shape, tuple) else number(shape)


def _ceil(one: Any, other: Any) -> int:
    if number(other) <= 0:
        raise Unread("a division by zero")
    return -(-number(one) // number(other))


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
    ("round_up", 2): lambda one, other: _ceil(one, other) * number(other),
    ("max", 2): lambda one, other: max(number(one), number(other)),
    ("min", 2): lambda one, other: min(number(one), number(other)),
    **{(name, None): _tuple for name in ("make_shape", "make_stride", "make_tuple")},
    ("make_layout", 1): layout,
    ("make_layout", 2): layout,
}
