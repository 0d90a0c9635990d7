# SPDX-License-Identifier: Apache-2.0
"""The meaning of opcodes, as rows of `isa_tables/opcodes/*.toml`: spelling, operands, class, and a formula.

A spelling is an opcode's words; `{name}` is one of the row's list of that name, `?` after a word makes it optional, and
a last `*` is the rest of an instruction of isa_tables/ptx, under the name `rest`; the row's `rest` lists its flags.
What has no row has no meaning: a kernel that uses it is rejected. So is a modifier or an operand that no code reads,
unless its row's `no_effect` says why it changes nothing: `NotedWords` notes what is read.

>>> opcode = meaning("mad.wide.s32")
>>> opcode.types, opcode.row.value.text, opcode.row.meaning
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
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from isa_tables import schema, tables
from isa_tables.errors import TableError
from isa_tables.formula import Formula
from isa_tables.formula_parser import parse_in

SHIPPED = Path(__file__).parent / "opcodes"
# What an opcode does to integers that sizes decide, in a proof for all sizes
SIZES = {
    "ring": "sums and products of them by its formula, modulo 2^bits",
    "exact": "needs their exact numbers",
    "bits": "of their bits those that no size changes",
    "choice": "one of two, by a condition",
    "copy": "the same number",
    "access": "an address or a mask of memory",
    "alone": "nothing: no operand depends on sizes; a thread does it by itself",
    "together": "nothing: no operand depends on sizes; all threads come to it, or what it does is compared",
}
_WIDE = {"u16": "u32", "u32": "u64", "s16": "s32", "s32": "s64"}
_REST = {"*": "rest"}
_HEAD = "[[opcode]]"
_WORD = re.compile(r'"([^".]+)')  # the first of each text
_REASON = re.compile(r"9\.7(\.\d+)+, \S.*")


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
    sizes: str = ""  # one of SIZES; "" if a proof for all sizes refuses it

    @cached_property
    def parts(self) -> tuple[tuple[str, tuple[str, ...], bool], ...]:
        """The parts of the spelling: (the name of a list or of an optional word, its words, whether optional)."""
        parts = []
        for part in self.spelling.split("."):
            word = part.rstrip("?")
            optional, listed = part != word, word.startswith("{")
            name = word.strip("{}") if listed else word if optional else _REST.get(word, "")
            parts.append((name, self.words[name] if listed else (word,), optional))
        return tuple(parts)

    @cached_property
    def modifiers(self) -> tuple[str, ...]:
        """The names of its words that leave a choice: an optional one, one of several, the rest."""
        return tuple(
            name for name, words, optional in self.parts if name and (optional or len(words) > 1 or "*" in words)
        )

    def choose(self, opcode: str) -> dict[str, str] | None:
        """Return the words of an opcode by the names of the row's lists; None for an opcode of another row.

        >>> next(row for row in rows() if row.spelling.startswith("mul.wide")).choose("mul.wide.s16")
        {'type': 's16'}
        """
        return _choose_words(self.parts, f".{opcode}", 0)

    def begins(self) -> set[str]:
        """Return the first words of its opcodes."""
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


def unread(opcode: Meaning, words: NotedWords, types: NotedWords) -> list[str]:
    """Return the modifiers of an opcode that nobody has read, without those that change nothing."""
    return [opcode.words[name] for name, roles in _effective(opcode)
            if name not in words.seen and types.seen.isdisjoint(roles)]  # fmt: skip


@lru_cache(maxsize=4096)
def _effective(opcode: Meaning) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the names of modifiers that change something, each with the roles of which it is the type."""
    free, there = opcode.row.no_effect, opcode.words
    return tuple(
        (name, tuple(role for role, kind, _ in opcode.row.operands if kind == name or (name, kind) == ("type", "wide")))
        for name in opcode.row.modifiers
        if name in there and name not in free and there[name] not in free
    )


def rows(folder: Path = SHIPPED) -> tuple[Row, ...]:
    """Every row of a folder's files; raises TableError where a file breaks its schema."""
    return tuple(row for path in sorted(folder.glob("*.toml")) for row in _read_rows(str(path), tables.text_of(path)))


class _Entry(NamedTuple):
    """A row of a shipped file as text: a kernel's opcodes need few of them."""

    words: frozenset[str]  # that each of its opcodes has
    file: str
    number: int  # of the row in it
    text: str  # TOML, without its first line


@cache
def _read_shipped() -> Mapping[str, Sequence[_Entry]]:
    """Return the shipped rows by each word with which an opcode of theirs may begin.

    That is a word of the first line, which is the spelling, or of any line if the spelling begins with a list.
    """
    rows: dict[str, list[_Entry]] = {}
    for path in sorted(SHIPPED.glob("*.toml")):
        for number, text in enumerate(_entries(tables.text_of(path))):
            first = text.partition("\n")[0]
            words = first[first.index('"') + 1 : -1].split(".")
            needed = frozenset(word for word in words if word[-1] not in "}?*")
            for word in {*_WORD.findall(text if words[0][0] == "{" else first)}:
                rows.setdefault(word, []).append(_Entry(needed, str(path), number, text))
    return rows


@lru_cache(maxsize=4096)
def meaning(opcode: str) -> Meaning | None:
    """Return the meaning of an opcode with its modifiers; None where no row has it."""
    there = opcode.split(".")
    for entry in _read_shipped().get(there[0], ()):
        if entry.words.issubset(there):
            row = _row(entry.file, entry.number, entry.text)
            words = row.choose(opcode)
            if words is not None:
                types = {role: type_of(kind, words) for role, kind, _ in row.operands}
                return Meaning(row, words, {role: kind for role, kind in types.items() if kind})
    return None


def type_of(kind: str, words: Mapping[str, str]) -> str:
    """Return the type of an operand whose row gives `kind`, if the opcode has these words; "" if it has none."""
    if kind == "wide":
        return _WIDE[words["type"]]
    return words.get(kind, "" if kind in ("type", "") else kind)


@lru_cache(maxsize=64)
def _read_rows(file: str, text: str) -> tuple[Row, ...]:
    data = tables.parse_tables(file, text)
    kinds = schema.keys()["opcodes"]
    schema.check(data, kinds, file, "", tuple(kinds))
    tables.check_schema(data, file)
    entries = _entries(text)
    if len(entries) != len(data["opcode"]):
        raise TableError(file, "opcode", f"{_HEAD} has a line of its own before each row")
    return tuple(_row(file, number, entry) for number, entry in enumerate(entries))


def _entries(text: str) -> list[str]:
    """Return the TOML of a file's rows, each without its first line."""
    return text.split(f"\n{_HEAD}\n")[1:]


@lru_cache(maxsize=1024)
def _row(file: str, number: int, text: str) -> Row:
    (entry,) = tables.parse_tables(file, f"{_HEAD}\n{text}")["opcode"]
    key = f"opcode[{number}]"
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
    sizes = entry.get("sizes", "")
    if sizes and sizes not in SIZES:
        raise TableError(file, f"{key}.sizes", f"{sizes!r} is none of {', '.join(SIZES)}")
    row = Row(spelling, entry["section"], entry["class"], operands, value, words, lanes, free, note, rest, lost, sizes)
    there = {*row.modifiers, *(role for role, _, _ in operands), *chain(*words.values())} if free else set()
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


def _choose_words(parts: tuple[tuple[str, tuple[str, ...], bool], ...], text: str, at: int) -> dict[str, str] | None:
    """Return the words that the parts of a spelling from one on have in what is left of an opcode, if it has them."""
    if at == len(parts):
        return None if text else {}
    name, words, optional = parts[at]
    if words == ("*",):  # the last one
        return {name: text[1:]} if text[1:] else None
    for word in words:
        end = len(word) + 1
        if text.startswith(word, 1) and (len(text) == end or text[end] == "."):
            rest = _choose_words(parts, text[end:], at + 1)
            if rest is not None:
                return {name: word, **rest} if name else rest
    return _choose_words(parts, text, at + 1) if optional else None
