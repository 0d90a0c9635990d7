# SPDX-License-Identifier: Apache-2.0
"""Specs: dataclasses whose fields are the keys that a user states, each with its help and its parser.

The options of a command and the keys of its TOML tables are made from the same fields. The key is the name of the field
without a trailing underscore, which only distinguishes a name from a keyword of Python: `from_` is the key `from`.
Parsers of values: `text`, `Choice`, `Between`, `Several`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields
from inspect import get_annotations
from typing import Any, NamedTuple, TypeVar

from layouts.toml.entry import kind
from verify.core.errors import SpecError

T = TypeVar("T")


class Key(NamedTuple):
    """What a user states under one key."""

    field: str  # the name of the field
    help: str
    parse: Callable[[object], Any]  # value of the option or of the table's key -> value of the field; raises ValueError
    unit: str  # what an integer counts; empty for a text
    required: bool

    def parse_value(self, value: object) -> Any:
        """Return the value of the field; raise SpecError for a value that is none."""
        return parse_key(self.field.rstrip("_"), self.parse, value)


def key(help: str, parse: Callable[[object], Any], unit: str = "", **default: Any) -> Any:
    """Return a field that a user may state; if absent it is the `default` or `default_factory`, or None without one."""
    return field(**(default or {"default": None}), metadata={"help": help, "parse": parse, "unit": unit})


def require(help: str, parse: Callable[[object], Any], unit: str = "") -> Any:
    """Return a field that a user must state."""
    return key(help, parse, unit, default=MISSING)


def keys(spec: type) -> dict[str, Key]:
    """Return the keys of a spec by name: its own first, then inherited ones.

    >>> @dataclass(frozen=True)
    ... class Spec:
    ...     bits: int = require("bits of an element", int)
    ...     arch: str = key("as sm_90a", str, default="sm_90a")
    >>> [(name, each.help, each.required) for name, each in keys(Spec).items()]
    [('bits', 'bits of an element', True), ('arch', 'as sm_90a', False)]
    """
    attributes = {attribute.name: attribute for attribute in fields(spec) if attribute.metadata}
    order = [name for part in spec.__mro__ for name in get_annotations(part) if name in attributes]
    needed = {
        name for name, attribute in attributes.items() if attribute.default is attribute.default_factory is MISSING
    }
    return {name.rstrip("_"): Key(name, **attributes[name].metadata, required=name in needed) for name in order}


def parse_key(key: str, parse: Callable[[object], T], value: object) -> T:
    """Return the parsed value; a ValueError of the parser becomes a SpecError under the key.

    >>> parse_key("bits", int, "16")
    16
    >>> parse_key("bits", int, "many")
    Traceback (most recent call last):
    verify.core.errors.SpecError: bits: invalid literal for int() with base 10: 'many'
    """
    try:
        return parse(value)
    except ValueError as error:
        raise SpecError(key, str(error)) from error


def text(value: object) -> str:
    """Return the value, a text; raise ValueError for anything else."""
    if not isinstance(value, str):
        raise ValueError(f"expected a text, found {kind(value)}")
    return value


@dataclass(frozen=True, slots=True)
class Choice:
    """A parser of one of some words, or of some numbers of a unit."""

    choices: tuple[str, ...] | tuple[int, ...]
    unit: str = ""

    def __call__(self, value: object) -> Any:
        """Return the choice; raise ValueError for any other value."""
        if value not in self.choices or type(value) is not type(self.choices[0]):
            raise ValueError(f"expected one of {', '.join(map(str, self.choices))}{self.unit}, found {value!r}")
        return value


@dataclass(frozen=True, slots=True)
class Between:
    """A parser of an integer in a range, both ends included."""

    least: int
    most: int
    what: str = ""

    def __call__(self, value: object) -> int:
        """Return the number; raise ValueError for any other value."""
        if type(value) is not int or not self.least <= value <= self.most:
            raise ValueError(f"expected a number {self.what}from {self.least} to {self.most}, found {value!r}")
        return value


@dataclass(frozen=True, slots=True)
class Several:
    """A parser of a list of one value or more, each once: a tuple in the order of the list."""

    each: Choice | Between

    def __call__(self, value: object) -> tuple[Any, ...]:
        """Return the values; raise ValueError where one is wrong, or is there twice."""
        if not isinstance(value, list) or not value:
            raise ValueError(f"expected a list of one value or more, found {value!r}")
        values = tuple(map(self.each, value))
        if len(set(values)) < len(values):
            raise ValueError(f"{next(x for x in values if values.count(x) > 1)!r} is in the list twice")
        return values
