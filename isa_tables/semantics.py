# SPDX-License-Identifier: Apache-2.0
"""The meaning of opcodes, as rows of `isa_tables/opcodes/*.toml`: spelling, operands, class, and a formula.

A spelling is an opcode's words; `{name}` is one of the row's list of that name, `?` after a word makes it optional, and
a last `*` is the rest of an instruction of isa_tables/ptx, under the name `rest`; the row's `rest` lists its flags.
What has no row has no meaning: a kernel that uses it is rejected. So is a modifier or an operand that no code reads,
unless its row's `no_effect` says why it changes nothing: `NotedWords` notes what is read.

>>> found = meaning("mad.wide.s32")
>>> found.types, found.row.value.text, found.row.meaning
({'d': 's64', 'a': 's32', 'b': 's32', 'c': 's64'}, 'a * b + c', 'integer')
>>> meaning("mad.strange") is None
True
>>> meaning("setp.lt.ftz.f32").words
{'relation': 'lt', 'ftz': 'ftz', 'type': 'f32'}
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
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
_REST = {"*": "rest"}
_REASON = re.compile(r"9\.7(\.\d+)+, \S.*")
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
    no_effect: Mapping[str, str]  # modifier or operand that changes nothing -> ISA section, and why
    note: str  # what a reader should know besides
    rest: tuple[str, ...] = ()  # the flags that the words of a last * may have
    loses_guard: tuple[str, ...] = ()  # `list` or `list:word`: forms whose guard GPUs were seen not to keep

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The pattern of its opcodes; a kernel needs few of them."""
        return _pattern(self.spelling, self.words)

    @cached_property
    def modifiers(self) -> tuple[str, ...]:
        """The names of its words that leave a choice: an optional one, one of several, the rest."""
        parts = [_PART.fullmatch(part) for part in self.spelling.split(".")]
        named = [(found[2] or _REST.get(found[1], found[1]), bool(found[3])) for found in parts if found]
        several = {name for name, listed in self.words.items() if len(listed) > 1} | set(_REST.values())
        return tuple(name for name, optional in named if optional or name in several)

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

    @property
    def loses_guard(self) -> bool:
        """Whether a GPU was seen to change its destination in lanes whose guard is false."""
        split = (each.partition(":") for each in self.row.loses_guard)
        return any(self.words.get(name) == word if word else name in self.words for name, _, word in split)

    @property
    def head(self) -> str:
        """The first word of the opcode."""
        first = self.row.spelling.partition(".")[0]
        return self.words[first[1:-1]] if first[0] == "{" else first


class NotedWords(Mapping[str, str]):
    """A mapping that notes which of its keys are asked for."""

    def __init__(self, content: Mapping[str, str]) -> None:
        self._content = content
        self.seen: set[str] = set()

    def __getitem__(self, key: str) -> str:
        self.seen.add(key)
        return self._content[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._content)

    def __len__(self) -> int:
        return len(self._content)


def unread(found: Meaning, words: NotedWords, types: NotedWords) -> list[str]:
    """Return the modifiers of an opcode that nobody has read, without those that change nothing."""
    return [found.words[name] for name, roles in _effective(found)
            if name not in words.seen and types.seen.isdisjoint(roles)]  # fmt: skip


@lru_cache(maxsize=4096)
def _effective(found: Meaning) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the names of modifiers that change something, each with the roles of which it is the type."""
    free, there = found.row.no_effect, found.words
    return tuple(
        (name, tuple(role for role, kind, _ in found.row.operands if kind == name or (name, kind) == ("type", "wide")))
        for name in found.row.modifiers
        if name in there and name not in free and there[name] not in free
    )


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
    lanes, free = entry.get("lanes", 1), entry.get("no_effect", {})
    note, lost = entry.get("note", ""), tuple(entry.get("loses_guard", ()))
    rest = tuple(entry.get("rest", ()))
    if bool(rest) != spelling.endswith(".*"):
        raise TableError(file, f"{key}.rest", "the flags that a last * of the spelling may have, and only those")
    row = Row(spelling, entry["section"], entry["class"], operands, value, words, lanes, free, note, rest, lost)
    there = {*row.modifiers, *(role for role, _, _ in operands), *(each for one in words.values() for each in one)}
    for name, reason in free.items():
        if name not in there:
            raise TableError(file, f"{key}.no_effect.{name}", "the spelling has no such modifier, and no such operand")
        if not _REASON.fullmatch(reason):
            raise TableError(file, f"{key}.no_effect.{name}", 'expected a section and why, as "9.7.9.8, speed alone"')
    for each in lost:
        name, _, word = each.partition(":")
        if name not in words or (word and word not in words[name]):
            raise TableError(file, f"{key}.loses_guard", f"{each!r} isn't one of the spelling's lists or words")
    return row


def _operand(text: str) -> tuple[str, str, bool]:
    role, _, kind = text.partition(":")
    return role.rstrip("?"), kind or "type", role.endswith("?")


def _pattern(spelling: str, words: Mapping[str, tuple[str, ...]]) -> re.Pattern[str]:
    text = ""
    for place, part in enumerate(spelling.split(".")):
        whole, name, optional = _PART.fullmatch(part).groups()  # type: ignore[union-attr]
        choice = "|".join(map(re.escape, words[name])) if name else ".*" if whole == "*" else re.escape(whole)
        name = name or (whole if optional else _REST.get(whole))
        choice = f"(?P<{name}>{choice})" if name else choice
        text += f"(?:{choice})" if not place else f"(?:\\.{choice}){optional}"
    return re.compile(text)
