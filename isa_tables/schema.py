# SPDX-License-Identifier: Apache-2.0
"""The schema of a table file: which keys it may have and what each must hold.

A file has `schema`, `isa` and `section` (what it cites), `lanes`, and optionally `product` (which of several
products a lane works for), `let` (names for all its formulas) and `errata`.

Its instructions are `[[form]]` tables, or one form's keys at the top: `mnemonic` with {D} {A} {B} {C} for the
types and {name} for each `param` (a list of words, or of numbers that formulas may use); `types`, rows of
[D, A, B, C] where a list means each of its members; `targets`; `ptx`, the first version that has it (absent:
`isa`); `spelling`, where the mnemonic names a type otherwise.

Its operands are [A], [B] and [C], which describes D too: `values` elements per lane in `regs` registers, each
in `bits` bits, the first one `shift` bits up; `extent` of the tile and how many `copies` of each element the
lanes hold; the formulas `row` and `col`, their `let`; `provenance` ("ISA text", "corrected" with `erratum` and
`printed`, or "derived: from what"). `[[A.case]]` adds or replaces keys `when` the operand's own `type` or a
parameter has a given value, or one of a list. An operand may have at most one case that applies.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from isa_tables.errors import TableError

OPERANDS = ("D", "A", "B", "C")  # in the order of the assembly text

TARGET = re.compile(r"sm_(\d+)([af+])")  # sm_80+, sm_120a, sm_120f

# PTX element types and the bits that carry information
WIDTH: Mapping[str, int] = {
    **{"f64": 64, "f32": 32, "tf32": 32, "s32": 32, "u32": 32},
    **{"f16": 16, "bf16": 16, "s16": 16, "u16": 16},
    **{"s8": 8, "u8": 8, "e4m3": 8, "e5m2": 8, "e3m2": 6, "e2m3": 6},
    **{"s4": 4, "u4": 4, "e2m1": 4, "b1": 1},
}


@dataclass(frozen=True, slots=True)
class Kind:
    """What a value must be, in words and as a test."""

    words: str
    holds: Callable[[Any], bool]


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _list_of(test: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(test, value))


def _table_of(test: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, dict) and all(map(test, value.values()))


def _is_word(value: Any) -> bool:
    return _is_int(value) or _is_text(value)


def _is_choice(value: Any) -> bool:
    return isinstance(value, list) and value != [] and all(map(_is_word, value))


def _is_row(value: Any) -> bool:
    types = _list_of(lambda item: _is_text(item) or (item != [] and _list_of(_is_text)(item)))
    return types(value) and len(value) == len(OPERANDS)


def _are_params(value: Any) -> bool:
    return _table_of(_is_choice)(value) and not value.keys() & {*OPERANDS, "type"}


TEXT = Kind("a text", _is_text)
TEXTS = Kind("a list of texts", _list_of(_is_text))
TARGETS = Kind(
    'a list such as ["sm_80+"] or ["sm_120a", "sm_120f"]',
    _list_of(lambda item: _is_text(item) and TARGET.fullmatch(item) is not None),
)
COUNT = Kind("a whole number above 0", lambda value: _is_int(value) and value > 0)
OFFSET = Kind("a whole number from 0 up", lambda value: _is_int(value) and value >= 0)
PAIR = Kind("two whole numbers above 0", lambda v: _list_of(COUNT.holds)(v) and len(v) == len(("row", "col")))
NAMED_TEXTS = Kind("a table of texts", _table_of(_is_text))
MAPS = Kind("a table of row and col texts", lambda v: NAMED_TEXTS.holds(v) and v.keys() <= {"row", "col"})
TABLE = Kind("a table", lambda value: isinstance(value, dict))
TABLES = Kind("a list of tables", lambda v: v != [] and _list_of(TABLE.holds)(v))
CHOICES = Kind("a table of lists of words or numbers, none named D, A, B, C or type", _are_params)
CONDITIONS = Kind("a table of words, numbers or lists of them", _table_of(lambda v: _is_word(v) or _is_choice(v)))
TYPES = Kind("a list of [D, A, B, C], each a type or a list of types", lambda v: v != [] and _list_of(_is_row)(v))

FORM: Mapping[str, Kind] = {
    "mnemonic": TEXT,
    "types": TYPES,
    "targets": TARGETS,
    "ptx": TEXT,
    "param": CHOICES,
    "spelling": NAMED_TEXTS,
}
FILE: Mapping[str, Kind] = {
    "schema": COUNT,
    "isa": TEXT,
    "section": TEXT,
    "lanes": COUNT,
    "product": TEXT,
    "let": NAMED_TEXTS,
    "errata": TEXTS,
    "form": TABLES,
    **dict.fromkeys(("A", "B", "C"), TABLE),
}
ENTRY: Mapping[str, Kind] = {
    "values": COUNT,
    "bits": COUNT,
    "regs": COUNT,
    "extent": PAIR,
    "copies": COUNT,
    "shift": OFFSET,
    "let": NAMED_TEXTS,
    "row": TEXT,
    "col": TEXT,
    "provenance": TEXT,
    "printed": MAPS,
    "erratum": TEXT,
}
PROVENANCES = ("ISA text", "corrected", "derived")


def check(
    table: Mapping[str, Any], kinds: Mapping[str, Kind], file: str, path: str, required: tuple[str, ...] = ()
) -> None:
    """Raise TableError for a key that is unknown, missing or of the wrong kind."""
    prefix = f"{path}." if path else ""
    for key, value in table.items():
        if key not in kinds:
            raise TableError(file, prefix + key, f"unknown key (known here: {', '.join(kinds)})")
        if not kinds[key].holds(value):
            raise TableError(file, prefix + key, f"must be {kinds[key].words}, not {value!r:.60}")
    for key in required:
        if key not in table:
            raise TableError(file, prefix + key, "this key is missing")
