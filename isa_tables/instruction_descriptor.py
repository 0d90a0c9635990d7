# SPDX-License-Identifier: Apache-2.0
"""The instruction descriptor of tcgen05.mma: the register that chooses its extents and the types of its operands.

Its fields are in `isa_tables/descriptors/tcgen05_mma.toml`; `schema.toml` has the keys.

>>> word = encode("f16", D="f32", A="bf16", B="bf16", M=128, N=64)
>>> hex(word), decode("f16", word)["A"], decode("f16", word)["N"]
('0x8100490', 'bf16', 64)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from isa_tables import schema, tables
from isa_tables.errors import IsaError, TableError
from isa_tables.formula import Formula, evaluate
from isa_tables.formula_parser import parse_in

SHIPPED = Path(__file__).parent / "descriptors" / "tcgen05_mma.toml"
_WIDTH = 32  # bits of an instruction descriptor: PTX ISA 9.7.16.4.2

Word = int | str


@dataclass(frozen=True, slots=True)
class BitField:
    """Bits low..high of the descriptor, which mean a number or, for each kind, a word."""

    name: str
    low: int
    high: int
    number: Formula | None
    words: Mapping[str, Mapping[int, str]]  # kind -> code -> word

    def meaning(self, kind: str) -> Mapping[int, Word]:
        """Every code that a kind allows, with what it means."""
        if self.number is None:
            return self.words.get(kind, {0: "no"})
        return {code: evaluate(self.number.tree, {"x": code}) for code in range(1 << self.high - self.low + 1)}


@dataclass(frozen=True, slots=True)
class Parts:
    """The fields of one file."""

    file: str
    section: str
    kinds: tuple[str, ...]
    parts: tuple[BitField, ...]


def decode(kind: str, word: int, path: Path = SHIPPED) -> dict[str, Word]:
    """Return what a descriptor chooses, by the name of the field.

    Raises IsaError for codes and bits that mean nothing.
    """
    chosen: dict[str, Word] = {}
    for part in _of(kind, path).parts:
        code = word >> part.low & (1 << part.high - part.low + 1) - 1
        word &= ~(code << part.low)
        meaning = part.meaning(kind)
        if code not in meaning:
            known = ", ".join(f"{number} ({what})" for number, what in meaning.items())
            place = f"bits {part.low}-{part.high} ({part.name})"
            raise IsaError(f"{place} of a kind::{kind} instruction descriptor are {code}; they may be {known}")
        chosen[part.name] = meaning[code]
    if word:
        raise IsaError(f"the instruction descriptor has bits outside its fields: {word:#x}")
    return chosen


def encode(kind: str, path: Path = SHIPPED, **chosen: Word) -> int:
    """Return the descriptor of these choices, all others the first that the kind allows.

    Raises IsaError for any it lacks.
    """
    fields = _of(kind, path)
    if unknown := chosen.keys() - {part.name for part in fields.parts}:
        raise IsaError(f"an instruction descriptor does not choose {', '.join(sorted(unknown))}")
    word = 0
    for part in fields.parts:
        codes = {what: code for code, what in part.meaning(kind).items()}
        what = chosen.get(part.name, next(iter(codes)))
        if what not in codes:
            raise IsaError(f"{part.name} = {what} is none of a kind::{kind} instruction descriptor")
        word |= codes[what] << part.low
    return word


def _of(kind: str, path: Path) -> Parts:
    fields = read_fields(path)
    if kind not in fields.kinds:
        raise IsaError(f"no kind::{kind} here; there are: {', '.join(fields.kinds)}")
    return fields


def read_fields(path: Path = SHIPPED) -> Parts:
    """Return the fields of a file. Raises TableError where it breaks its schema."""
    return _read_fields(str(path), tables.text_of(path))


@lru_cache(maxsize=16)
def _read_fields(file: str, text: str) -> Parts:
    data = tables.parse_tables(file, text)
    schema.check(data, schema.keys()["instruction"], file, "", tuple(schema.keys()["instruction"]))
    tables.check_schema(data, file)
    for number, entry in enumerate(data["part"]):
        schema.check(entry, schema.keys()["part"], file, f"part[{number}]", ("name", "low", "high"))
    fields = Parts(file, data["section"], tuple(data["kinds"]), tuple(_part(file, entry) for entry in data["part"]))
    taken: set[int] = set()
    for part in fields.parts:
        bits = set(range(part.low, part.high + 1))
        if not bits or bits & taken or part.high >= _WIDTH:
            raise TableError(file, f"part.{part.name}", f"bits {part.low} to {part.high} are empty, taken or outside")
        taken |= bits
    return fields


def _part(file: str, entry: Mapping[str, Any]) -> BitField:
    key = f"part.{entry['name']}"
    if ("number" in entry) == ("words" in entry):
        raise TableError(file, key, "exactly one of number and words is needed")
    most = 1 << entry["high"] - entry["low"] + 1 if entry["high"] >= entry["low"] else 0
    words: dict[str, dict[int, str]] = {}
    for kind, codes in entry.get("words", {}).items():
        if not isinstance(codes, dict) or not codes:
            raise TableError(file, f"{key}.words.{kind}", "must be a table of codes")
        for code, word in codes.items():
            if not (code.isdecimal() and int(code) < most and isinstance(word, str)):
                raise TableError(file, f"{key}.words.{kind}.{code}", f"must be a code below {most} and a text")
        words[kind] = {int(code): word for code, word in codes.items()}
    formula = parse_in(file, f"{key}.number", entry["number"], {"x": False}, {}) if "number" in entry else None
    return BitField(entry["name"], entry["low"], entry["high"], formula, words)
