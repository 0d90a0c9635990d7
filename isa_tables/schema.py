# SPDX-License-Identifier: Apache-2.0
"""The schema of table files: `schema.toml` has the keys with their meaning, this module the kinds of values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from isa_tables.errors import TableError, together

OPERANDS = ("D", "A", "B", "C")  # in the order of the assembly text, unless a form says otherwise
AXES: Mapping[str, tuple[str, str]] = {"A": ("m", "k"), "B": ("k", "n"), "C": ("m", "n"), "D": ("m", "n")}
SPACES = ("reg", "smem", "gmem", "tmem")

TARGET = re.compile(r"sm_(\d+)([af+])")  # sm_80+, sm_120a, sm_120f
NAME = re.compile(r"[A-Za-z_]\w*")  # in a formula
OPERAND = re.compile(r"[A-Z][A-Z0-9]*")  # D, SFA

# PTX element types and the bits that carry information
WIDTH: Mapping[str, int] = {
    **{"f64": 64, "f32": 32, "tf32": 32, "s32": 32, "u32": 32, "b32": 32},
    **{"f16": 16, "bf16": 16, "s16": 16, "u16": 16, "b16": 16},
    **{"s8": 8, "u8": 8, "b8": 8, "e4m3": 8, "e5m2": 8, "ue8m0": 8, "ue4m3": 8, "e3m2": 6, "e2m3": 6},
    **{"s4": 4, "u4": 4, "e2m1": 4, "b1": 1, "b6x16_p32": 6, "b4x16_p64": 4},
}


class Constraint(NamedTuple):
    """A constraint on a value: in words, for messages, and as a predicate."""

    words: str
    holds: Callable[[Any], bool]


def is_int(value: Any) -> bool:
    """Whether a value of a file is an integer; true and false are none."""
    return isinstance(value, int) and not isinstance(value, bool)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _list_of(test: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(test, value))


def _table_of(test: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, dict) and all(map(test, value.values()))


def _is_word(value: Any) -> bool:
    return is_int(value) or _is_text(value)


def _is_choice(value: Any) -> bool:
    return isinstance(value, list) and value != [] and all(map(_is_word, value))


_is_texts = _list_of(_is_text)
_is_row = _list_of(lambda item: _is_text(item) or (item != [] and _is_texts(item)))


def _is_size(value: Any) -> bool:
    return _is_text(value) or (is_int(value) and value > 0)


KINDS: Mapping[str, Constraint] = {
    "text": Constraint("a text", _is_text),
    "texts": Constraint("a list of texts", _is_texts),
    "targets": Constraint(
        'a list such as ["sm_80+"] or ["sm_120a", "sm_120f"]',
        _list_of(lambda item: _is_text(item) and TARGET.fullmatch(item) is not None),
    ),
    "count": Constraint("an integer above 0", lambda v: is_int(v) and v > 0),
    "size": Constraint("an integer above 0 or a formula of it", _is_size),
    "offset": Constraint("an integer from 0 up or a formula of it", lambda v: _is_text(v) or (is_int(v) and v >= 0)),
    "code": Constraint("an integer from 0 up", lambda v: is_int(v) and v >= 0),
    "bit": Constraint("a bit of the descriptor, 0 to 63", lambda v: is_int(v) and 0 <= v < 64),
    "pair": Constraint("two integers above 0 or formulas of them", lambda v: _list_of(_is_size)(v) and len(v) == 2),
    "names": Constraint("two names", lambda v: _is_texts(v) and len(set(v)) == 2 == len(v)),
    "truth": Constraint("true or false", lambda v: isinstance(v, bool)),
    "space": Constraint(f"one of {', '.join(SPACES)}", lambda v: v in SPACES),
    "named texts": Constraint("a table of texts", _table_of(_is_text)),
    "named lists": Constraint("a table of lists of texts", _table_of(_is_texts)),
    "places": Constraint(f"a table of {', '.join(SPACES)}", _table_of(lambda v: _is_text(v) and v in SPACES)),
    "maps": Constraint("a table of row and col texts", lambda v: _table_of(_is_text)(v) and v.keys() <= {"row", "col"}),
    "table": Constraint("a table", lambda v: isinstance(v, dict)),
    "tables": Constraint("a list of tables", lambda v: v != [] and _list_of(lambda entry: isinstance(entry, dict))(v)),
    "choices": Constraint(
        "a table of lists of words or numbers, none named D, A, B, C or type",
        lambda v: _table_of(_is_choice)(v) and not v.keys() & {*OPERANDS, "type"},
    ),
    "conditions": Constraint(
        "a table of words, numbers or lists of them", _table_of(lambda v: _is_word(v) or _is_choice(v))
    ),
    "types": Constraint("a list of rows, each of types or lists of types", lambda v: v != [] and _list_of(_is_row)(v)),
    "operands": Constraint(
        'a list of operands such as ["D", "A", "B"]',
        lambda v: _is_texts(v) and v != [] and all(map(OPERAND.fullmatch, v)),
    ),
    "columns": Constraint("a table of lists of columns", _table_of(_list_of(is_int))),
}
DESCRIBED = ("D", "A", "B")  # operands whose types a descriptor chooses, by default
PROVENANCES = ("ISA text", "corrected", "derived", "observed")
SOURCED = ("derived", "observed")  # that name their source


@cache
def keys() -> Mapping[str, Mapping[str, Constraint]]:
    """By table of `schema.toml`: key -> the kind of its values; read once."""
    import tomllib

    text = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    return {table: {key: KINDS[kind] for key, kind in kinds.items()} for table, kinds in tomllib.loads(text).items()}


def check(
    table: Mapping[str, Any], kinds: Mapping[str, Constraint], file: str, path: str, required: tuple[str, ...] = ()
) -> None:
    """Raise TableError, with all errors, for unknown or missing keys and values that break their constraint."""
    prefix = f"{path}." if path else ""
    errors = []
    for key, value in table.items():
        if key not in kinds:
            errors.append(TableError(file, prefix + key, f"unknown key (known here: {', '.join(kinds)})"))
        elif not kinds[key].holds(value):
            errors.append(TableError(file, prefix + key, f"must be {kinds[key].words}, not {value!r:.60}"))
    errors += [TableError(file, prefix + key, "this key is missing") for key in required if key not in table]
    if errors:
        raise together(errors)


def require(table: Mapping[str, Any], file: str, path: str, keys: Iterable[str]) -> None:
    """Raise TableError for a key that is missing."""
    for key in keys:
        if key not in table:
            raise TableError(file, f"{path}.{key}" if path else key, "this key is missing")
