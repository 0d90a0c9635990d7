# SPDX-License-Identifier: Apache-2.0
"""The meaning of opcodes, as rows of `isa_tables/opcodes/*.toml`: spelling, operands, class, and a formula.

A spelling is an opcode's words; `{name}` is one of the row's list of that name, `?` after a word makes it optional, and
a last `*` is any words. What has no row has no meaning: a kernel that uses it is rejected.

>>> found = meaning("mad.wide.s32")
>>> found.types, found.row.value.text, found.row.meaning
({'d': 's64', 'a': 's32', 'b': 's32', 'c': 's64'}, 'a * b + c', 'integer')
>>> meaning("mad.strange") is None
True
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any

from isa_tables import schema, tables
from isa_tables.errors import TableError
from isa_tables.formula import Formula
from isa_tables.parsing import parse_in

SHIPPED = Path(__file__).parent / "opcodes"
_WIDE = {"u16": "u32", "u32": "u64", "s16": "s32", "s32": "s64"}
_PART = re.compile(r"(\{(\w+)\}|[\w:]+|\*)(\??)")


@dataclass(frozen=True, eq=False)
class Row:
    """One row: the opcodes of one spelling."""

    spelling: str  # as the file has it
    section: str  # of the ISA
    meaning: str  # its class: which code of an interpreter executes it
    operands: tuple[tuple[str, str, bool], ...]  # (role, type or the name of a list of types, whether optional)
    value: Formula | None  # of the operands by role
    words: Mapping[str, tuple[str, ...]]  # the lists that the spelling names
    lanes: int  # threads that must execute it together: 1, 32 or 128
    note: str  # what a reader should know besides

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The pattern of its opcodes; a kernel needs few of them."""
        return _pattern(self.spelling, self.words)

    def begins(self) -> set[str]:
        """The first words of its opcodes."""
        first = self.spelling.partition(".")[0]
        return {word.partition(".")[0] for word in (self.words[first[1:-1]] if first[0] == "{" else (first,))}


@dataclass(frozen=True, slots=True, eq=False)
class Meaning:
    """One opcode by its row: the words that it chooses, and the types of its operands."""

    row: Row
    words: Mapping[str, str]  # the name of a list -> the word of this opcode; optional ones that it lacks are left out
    types: Mapping[str, str]  # role -> type; a role without one is left out


def rows(folder: Path = SHIPPED) -> tuple[Row, ...]:
    """Every row of a folder's files; raises TableError where a file breaks its schema."""
    return tuple(row for path in sorted(folder.glob("*.toml")) for row in _read(str(path), tables.text_of(path)))


@cache
def _shipped() -> tuple[Row, ...]:
    return rows()


@cache
def _by_first_word() -> Mapping[str, Sequence[Row]]:
    found: dict[str, list[Row]] = {}
    for row in _shipped():
        for word in row.begins():
            found.setdefault(word, []).append(row)
    return found


@lru_cache(maxsize=4096)
def meaning(opcode: str) -> Meaning | None:
    """The meaning of an opcode with its modifiers; None where no row has it."""
    for row in _by_first_word().get(opcode.partition(".")[0], ()):
        found = row.pattern.fullmatch(opcode)
        if found:
            words = {name: word for name, word in found.groupdict().items() if word}
            types = {role: type_of(kind, words) for role, kind, _ in row.operands}
            return Meaning(row, words, {role: kind for role, kind in types.items() if kind})
    return None


def type_of(kind: str, words: Mapping[str, str]) -> str:
    """Return the type of an operand whose row gives `kind`, if the opcode has these words; "" if it has none."""
    if kind == "wide":
        return _WIDE[words["type"]]
    return words.get(kind, "" if kind in ("type", "") else kind)


@lru_cache(maxsize=64)
def _read(file: str, text: str) -> tuple[Row, ...]:
    data = tables.parsed(file, text)
    kinds = schema.keys()["opcodes"]
    schema.check(data, kinds, file, "", tuple(kinds))
    tables.check_schema(data, file)
    return tuple(_row(file, f"opcode[{number}]", entry) for number, entry in enumerate(data["opcode"]))


def _row(file: str, key: str, entry: Mapping[str, Any]) -> Row:
    kinds = schema.keys()["opcode"]
    named = set(re.findall(r"\{(\w+)\}", entry["spelling"] if isinstance(entry.get("spelling"), str) else ""))
    plain = {name: value for name, value in entry.items() if name not in named}
    schema.check(plain, kinds, file, key, ("spelling", "section", "operands", "class"))
    words = {}
    for name in named:
        if not schema.KINDS["texts"].holds(entry.get(name)):
            raise TableError(file, f"{key}.{name}", "the spelling names this list of words, and there is none")
        words[name] = tuple(entry[name])
    operands = tuple(_operand(text) for text in entry["operands"])
    value = None
    if "value" in entry:
        names = {role: False for role, _, _ in operands}
        value = parse_in(file, f"{key}.value", entry["value"], names, {})
    spelling = entry["spelling"]
    lanes = entry.get("lanes", 1)
    return Row(spelling, entry["section"], entry["class"], operands, value, words, lanes, entry.get("note", ""))


def _operand(text: str) -> tuple[str, str, bool]:
    role, _, kind = text.partition(":")
    return role.rstrip("?"), kind or "type", role.endswith("?")


def _pattern(spelling: str, words: Mapping[str, tuple[str, ...]]) -> re.Pattern[str]:
    text = ""
    for place, part in enumerate(spelling.split(".")):
        whole, name, optional = _PART.fullmatch(part).groups()  # type: ignore[union-attr]
        choice = f"(?P<{name}>{'|'.join(map(re.escape, words[name]))})" if name else re.escape(whole)
        choice = ".*" if whole == "*" else choice
        text += f"(?:{choice})" if not place else f"(?:\\.{choice}){optional}"
    return re.compile(text)
