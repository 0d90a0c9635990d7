# SPDX-License-Identifier: Apache-2.0
"""Specs: dataclasses whose fields are the keys that a user states, each with its help and its parser.

The options of a command and the keys of its TOML tables are made from the same fields. The key is the name of the field
without a trailing underscore, which only distinguishes a name from a keyword of Python: `from_` is the key `from`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields
from inspect import get_annotations
from typing import Any, TypeVar

from verify.core.errors import SpecError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Key:
    """What a user states under one key."""

    field: str  # the name of the field
    help: str
    parse: Callable[[object], Any]  # value of the option or of the table's key -> value of the field; raises ValueError
    unit: str  # what a whole number counts; empty for a text
    required: bool

    def read(self, value: object) -> Any:
        """The value of the field; raises SpecError for a value that is none."""
        return read(self.field.rstrip("_"), self.parse, value)


def key(help: str, parse: Callable[[object], Any], unit: str = "", **default: Any) -> Any:
    """A field that a user may state; if absent it is the `default` or `default_factory`, or None without one."""
    return field(**(default or {"default": None}), metadata={"help": help, "parse": parse, "unit": unit})


def required(help: str, parse: Callable[[object], Any], unit: str = "") -> Any:
    """A field that a user must state."""
    return key(help, parse, unit, default=MISSING)


def keys(spec: type) -> dict[str, Key]:
    """The keys of a spec by name: its own first, then inherited ones.

    >>> @dataclass(frozen=True)
    ... class Spec:
    ...     bits: int = required("bits of an element", int)
    ...     arch: str = key("as sm_90a", str, default="sm_90a")
    >>> [(name, one.help, one.required) for name, one in keys(Spec).items()]
    [('bits', 'bits of an element', True), ('arch', 'as sm_90a', False)]
    """
    found = {one.name: one for one in fields(spec) if one.metadata}
    order = [name for part in spec.__mro__ for name in get_annotations(part) if name in found]
    needed = {name for name, one in found.items() if one.default is one.default_factory is MISSING}
    return {name.rstrip("_"): Key(name, **found[name].metadata, required=name in needed) for name in order}


def read(key: str, parse: Callable[[object], T], value: object) -> T:
    """The parsed value; a ValueError of the parser becomes a SpecError under the key.

    >>> read("bits", int, "16")
    16
    >>> read("bits", int, "many")
    Traceback (most recent call last):
    verify.core.errors.SpecError: bits: invalid literal for int() with base 10: 'many'
    """
    try:
        return parse(value)
    except ValueError as error:
        raise SpecError(key, str(error)) from error
