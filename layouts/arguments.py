# SPDX-License-Identifier: Apache-2.0
"""Errors that name the argument which an operation does not take: a composed layout, strides that are coordinates.

The operations read `shape` and `stride` without asking what they were given, because they run in loops. Only when one
fails are its arguments compared with its annotations, so a call that succeeds pays nothing for the message.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from types import MappingProxyType
from typing import Any, TypeVar

from layouts.errors import LayoutError
from layouts.int_tuple import leaves
from layouts.layout import Layout

Function = TypeVar("Function", bound=Callable[..., Any])


def naming_arguments(operation: Function) -> Function:
    """Return the operation, raising LayoutError for an argument of another kind than its annotation.

    An AttributeError or TypeError with arguments that all fit is a bug of ours and passes as it is.

    >>> naming_arguments(lambda layout: layout.stride)(3)  # without annotations everything fits
    Traceback (most recent call last):
    AttributeError: 'int' object has no attribute 'stride'
    """

    @wraps(operation)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return operation(*args, **kwargs)
        except (AttributeError, TypeError) as error:
            fault = _misfit(operation, args, kwargs)
            if not fault:
                raise
            raise LayoutError(fault) from error

    return call  # type: ignore[return-value]


def _misfit(operation: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
    """Return what is wrong with the first argument that does not fit its annotation, else ""."""
    signature = inspect.signature(operation)
    try:
        given = signature.bind(*args, **kwargs).arguments
    except TypeError:  # too many arguments or too few: Python's own message says so
        return ""
    for name, value in given.items():
        parameter = signature.parameters[name]
        several = parameter.kind is inspect.Parameter.VAR_POSITIONAL
        kinds = [kind.strip() for kind in str(parameter.annotation).split("|")]
        for argument in value if several else (value,):
            if all(kind in KINDS and not KINDS[kind][1](argument) for kind in kinds):
                needs = " or ".join(dict.fromkeys(KINDS[kind][0] for kind in kinds))
                return f"{operation.__name__}: {name} must be {needs}, got {_describe(argument)}"
    return ""


def _describe(value: object) -> str:
    """Return the value in words, with the way from it to a layout."""
    if isinstance(value, Layout):
        strides = "" if _is_plain(value) else ", whose strides aren't integers"
        return f"the layout {value}{strides}"
    if hasattr(value, "layout_b"):
        return f"the composed layout {value}, which has no strides (its layout_b has: {value.layout_b})"
    if hasattr(value, "period"):
        return f"the swizzle {value} (composition(swizzle, layout) makes a layout of it)"
    if _is_int_tuple(value):
        return f"{value} (Layout({value}) is the compact layout of this shape)"
    reads = " (Layout.parse reads text)" if isinstance(value, str) else ""
    return f"{type(value).__name__} {value!r}{reads}"


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_int_tuple(value: object) -> bool:
    return all(map(_is_int_tuple, value)) if isinstance(value, tuple) else _is_int(value)


def _is_plain(value: object) -> bool:
    """Whether a value is a layout with integers for strides."""
    return isinstance(value, Layout) and all(isinstance(d, int) for d in leaves(value.stride))


def _is_layout(value: object) -> bool:
    """Whether a value is a plain layout, or a composed one around a plain layout."""
    inner = getattr(value, "layout_b", None)
    return _is_plain(value) if inner is None else _is_layout(inner)


def _is_tiler(value: object) -> bool:
    return (
        all(map(_is_tiler, value)) if isinstance(value, tuple) else value is None or _is_int(value) or _is_plain(value)
    )


def _is_swizzle(value: object) -> bool:
    return hasattr(value, "period")


def _is_coordinate(value: object) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_coordinate, value))
    return value is None or hasattr(value, "__index__") or hasattr(value, "dtype")


A_LAYOUT = "a layout with integer strides"
KINDS: Mapping[str, tuple[str, Callable[[object], bool]]] = MappingProxyType(
    {
        "Layout": (A_LAYOUT, _is_plain),
        "ComposedLayout": ("a composed layout", _is_layout),
        "L": ("a layout with integer strides, composed with a swizzle or not", _is_layout),
        "Inner": (A_LAYOUT, _is_layout),
        "Outer": ("a swizzle", lambda value: _is_layout(value) or _is_swizzle(value)),
        "Recastable": ("a layout or a swizzle", lambda value: _is_layout(value) or _is_swizzle(value)),
        "Swizzle": ("a swizzle", _is_swizzle),
        "Tiler": ("a tiler (a layout, an int, None, or a tuple of them)", _is_tiler),
        "IntTuple": ("an int or a tuple of such", _is_int_tuple),
        "Shaped": (
            "an int, a tuple of such, or a layout",
            lambda value: _is_int_tuple(value) or hasattr(value, "shape"),
        ),
        "Coord": ("a coordinate", _is_coordinate),
        "Slicer": ("a coordinate", _is_coordinate),
        "Sequence[int]": ("a sequence of ints", lambda value: isinstance(value, (list, tuple, range))),
        "F2Matrix": ("an F2 matrix", lambda value: hasattr(value, "columns")),
        "int": ("an int", _is_int),
        "str": ("a text", lambda value: isinstance(value, str)),
        "None": ("None", lambda value: value is None),
    }
)
"""For each word of an annotation: the kind in words, and whether a value is of it. Other words take any value."""
