# SPDX-License-Identifier: Apache-2.0
"""The schema of a table file: the keys it may have and the values they may have.

A file has `schema`, `isa` and `section` (what it cites), `lanes`, and optionally `product` (which of several
products a lane works for), `let` (names for all its formulas), `errata`, and `sparsity`: how many `columns` a field
of metadata describes, and for each field the columns `kept`.

`addresses` names the addresses in the assembly text, which are no operands, with the space that each points to; `asm`
says where they are written. `part` says that the ISA has more instructions of the family than the tables.

Its instructions are `[[form]]` tables, or one form's keys at the top: `mnemonic` with {A} for the type of an
operand and {name} for each `param` (a list of words, or of numbers that formulas may use); `operands`, their
names in the order of the assembly text (absent: D, A, B, C); `types`, the combinations of types that go together:
rows of one type for each operand that does not state its own, where a list means each of its members; `targets`;
`ptx`, the first version that has it (absent: `isa`); `spelling`, the types for which the mnemonic has another word;
`select`, what the assembly text chooses and the mnemonic does not have, each with its complete list (a sparsity
selector, M and N of a descriptor); `asm`, the operands as the assembly text writes them, {A} and {name} filled in
(absent: the operands in their order); `ctas`, how many CTAs work together (absent: 1).

Its operands are tables named by capitals, [A], [SFA]; [C] describes D too where there is no [D]. In `space`
"reg" (the default) an operand has `values` elements per lane in `regs` registers, each in `bits` bits, the first
one `shift` bits up; the `extent` of the tile along the two `axes` and the number of `copies` of each element in the
lanes; the formulas `row` and `col`, their `let`, and `holds`, the lanes that contribute, where not all do.
`unspecified` says that the ISA leaves the map open. In `space` "smem" and "tmem" every lane sees the whole tile:
`place` gives the coordinates of an element from those along the axes (and `bits`), and of an element with several
places, from the number `copy` of the place, 0 to `copies` - 1; or `layouts` names the file of address maps, with which
`cta` says which of the CTAs has an element; or `unmapped` says why there is neither. `asm` is the operand in the
assembly text, {A} for its registers (absent: these alone).
Every operand has its `provenance` ("ISA text", "corrected" with `erratum` and `printed`, "derived: from what"
or "observed: what showed it").

Where a descriptor and not the mnemonic chooses the types, an operand's own `type` is only a width, and the tables
`[[descriptor]]` list the `types` that go together, in rows of one type for each of their `operands` (absent: D, A, B),
a list again meaning each of its members; `when` selects instructions, as in a case. Exactly one applies to each.

A number may be written as a text, a formula of the parameters. `[[A.case]]` adds or replaces keys `when` the
operand's own `type`, a parameter or a selection has a given value, or one of a list. Two cases that apply may not
give the same key. A `param` of the file is what all its forms share.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

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


@dataclass(frozen=True, slots=True)
class Kind:
    """A constraint on a value: in words, for messages, and as a predicate."""

    words: str
    holds: Callable[[Any], bool]


def is_int(value: Any) -> bool:
    """Whether a value of a file is a whole number; true and false are none."""
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


TEXT = Kind("a text", _is_text)
TEXTS = Kind("a list of texts", _list_of(_is_text))
TARGETS = Kind(
    'a list such as ["sm_80+"] or ["sm_120a", "sm_120f"]',
    _list_of(lambda item: _is_text(item) and TARGET.fullmatch(item) is not None),
)
COUNT = Kind("a whole number above 0", lambda value: is_int(value) and value > 0)
SIZE = Kind("a whole number above 0 or a formula of it", lambda v: _is_text(v) or COUNT.holds(v))
OFFSET = Kind("a whole number from 0 up or a formula of it", lambda v: _is_text(v) or (is_int(v) and v >= 0))
PAIR = Kind("two whole numbers above 0 or formulas of them", lambda v: _list_of(SIZE.holds)(v) and len(v) == 2)
NAMES = Kind("two names", lambda v: _list_of(_is_text)(v) and len(set(v)) == 2 == len(v))
TRUTH = Kind("true or false", lambda value: isinstance(value, bool))
SPACE = Kind(f"one of {', '.join(SPACES)}", lambda value: value in SPACES)
NAMED_TEXTS = Kind("a table of texts", _table_of(_is_text))
PLACES = Kind(
    f"a table of {', '.join(SPACES)}",
    lambda v: NAMED_TEXTS.holds(v) and all(map(SPACE.holds, v.values())),
)
MAPS = Kind("a table of row and col texts", lambda v: NAMED_TEXTS.holds(v) and v.keys() <= {"row", "col"})
TABLE = Kind("a table", lambda value: isinstance(value, dict))
TABLES = Kind("a list of tables", lambda v: v != [] and _list_of(TABLE.holds)(v))
CHOICES = Kind(
    "a table of lists of words or numbers, none named D, A, B, C or type",
    lambda v: _table_of(_is_choice)(v) and not v.keys() & {*OPERANDS, "type"},
)
CONDITIONS = Kind("a table of words, numbers or lists of them", _table_of(lambda v: _is_word(v) or _is_choice(v)))
_ROW = _list_of(lambda item: _is_text(item) or (item != [] and _list_of(_is_text)(item)))
TYPES = Kind("a list of rows, each of types or lists of types", lambda v: v != [] and _list_of(_ROW)(v))
LISTED = Kind(
    'a list of operands such as ["D", "A", "B"]',
    lambda v: _list_of(_is_text)(v) and v != [] and all(map(OPERAND.fullmatch, v)),
)

FORM: Mapping[str, Kind] = {
    "mnemonic": TEXT,
    "operands": LISTED,
    "types": TYPES,
    "targets": TARGETS,
    "ptx": TEXT,
    "param": CHOICES,
    "spelling": NAMED_TEXTS,
    "select": CHOICES,
    "asm": TEXT,
    "ctas": SIZE,
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
    "sparsity": TABLE,
    "param": CHOICES,
    "addresses": PLACES,
    "part": TRUTH,
    "descriptor": TABLES,
}
DESCRIPTOR: Mapping[str, Kind] = {"when": CONDITIONS, "operands": LISTED, "types": TYPES}
DESCRIBED = ("D", "A", "B")  # operands whose types a descriptor chooses, by default
SPARSITY: Mapping[str, Kind] = {
    "columns": COUNT,
    "kept": Kind("a table of lists of columns", _table_of(_list_of(is_int))),
}
ENTRY: Mapping[str, Kind] = {
    "type": TEXT,
    "space": SPACE,
    "values": SIZE,
    "bits": SIZE,
    "regs": SIZE,
    "reg_type": TEXT,
    "extent": PAIR,
    "axes": NAMES,
    "copies": SIZE,
    "shift": OFFSET,
    "let": NAMED_TEXTS,
    "row": TEXT,
    "col": TEXT,
    "holds": TEXT,
    "place": NAMED_TEXTS,
    "layouts": TEXT,
    "majors": TEXTS,
    "cta": TEXT,
    "unspecified": TRUTH,
    "unmapped": TEXT,
    "asm": TEXT,
    "provenance": TEXT,
    "printed": MAPS,
    "erratum": TEXT,
}
PROVENANCES = ("ISA text", "corrected", "derived", "observed")
SOURCED = ("derived", "observed")  # that name their source


def check(
    table: Mapping[str, Any], kinds: Mapping[str, Kind], file: str, path: str, required: tuple[str, ...] = ()
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
