# SPDX-License-Identifier: Apache-2.0
"""The positions of the keys of a TOML text, which `tomllib` does not give.

The text is scanned once: headers, keys, and as much of the values as is needed to find their ends. In a text that is
TOML every key is found; in one that is not, those before the offset where the scan stops (`stopped`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TypeAlias

Path: TypeAlias = "tuple[str | int, ...]"

DEEPEST = 128  # arrays and inline tables inside each other
BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")  # between statements and inside brackets
SPACE = re.compile(r"[ \t]*")
BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
BASIC = re.compile(r'"(?:[^"\\\n]|\\[^\n])*"')
LITERAL = re.compile(r"'[^'\n]*'")
LONG_BASIC = re.compile(r'"""(?:[^"\\]|\\.|"(?!""))*""""{0,2}', re.DOTALL)
LONG_LITERAL = re.compile(r"'''(?:[^']|'(?!''))*''''{0,2}", re.DOTALL)
BARE_VALUE = re.compile(r"[^\s,\[\]{}#\"'=](?:[^\n,\[\]{}#\"'=]*)")
REST = re.compile(r"[ \t]*(?:#[^\n]*)?(?=\r?\n|\Z)")


class _ScanError(Exception):
    """The scan cannot continue."""

    def __init__(self, at: int) -> None:
        self.at = at


@dataclass(slots=True)
class Places:
    """The offsets at which keys, items of arrays and their values begin, and those of keys' values end.

    Blanks behind a number or a word are part of it. A path names tables and keys from the document inwards; an item of
    an array is its number. `heads` are the offsets of the headers with their paths, in the order of the text; `stopped`
    is where the scan stopped, if it did.
    """

    text: str  # that is scanned
    keys: dict[Path, int] = field(default_factory=dict)  # where keys and items begin
    values: dict[Path, int] = field(default_factory=dict)  # where the values of keys and items begin
    ends: dict[Path, int] = field(default_factory=dict)  # where the values of keys end
    heads: list[tuple[int, Path]] = field(default_factory=list)  # where headers begin
    stopped: int | None = None  # where the scan did, if not at the end

    def at(self, offset: int) -> tuple[int, int]:
        r"""Return the line and the column of an offset, counted from 1.

        >>> Places("a = 1\nb = 2").at(8)
        (2, 3)
        """
        return self.text.count("\n", 0, offset) + 1, offset - self.text.rfind("\n", 0, offset)

    def line(self, number: int) -> str:
        """Return a line of the text, without its end."""
        return self.text.split("\n", number)[number - 1].rstrip("\r")

    def find(self, path: Path) -> int | None:
        """Return the offset of a key, or of the nearest table around it that has an offset; None where none has."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.keys:
                return self.keys[path[:length]]
        return None


def places(text: str) -> Places:
    r"""Return the positions of the keys of a text.

    >>> walked = places('["a.b"]\ne = { f = [1, 2] }')
    >>> {path[1:]: walked.at(offset) for path, offset in walked.keys.items()}
    {(): (1, 2), ('e',): (2, 1), ('e', 'f'): (2, 7), ('e', 'f', 0): (2, 12), ('e', 'f', 1): (2, 15)}
    """
    walk = _Walk(Places(text))
    try:
        walk.document()
    except _ScanError as stop:
        walk.places.stopped = stop.at
    return walk.places


class _Walk:
    """A scanner: a text and the position up to which it is scanned."""

    def __init__(self, places: Places) -> None:
        self.places, self.text, self.at = places, places.text, 0
        self.counts: dict[Path, int] = {}  # of arrays of tables

    def sees(self, mark: str) -> bool:
        return self.text.startswith(mark, self.at)

    def skip(self, pattern: re.Pattern[str]) -> str:
        """Move past the pattern's match at this position, and return it."""
        match = pattern.match(self.text, self.at)
        if match is None:
            raise _ScanError(self.at)
        self.at = match.end()
        return match[0]

    def expect(self, mark: str) -> None:
        if not self.sees(mark):
            raise _ScanError(self.at)
        self.at += len(mark)

    def document(self) -> None:
        table: Path = ()
        self.skip(BLANK)
        while self.at < len(self.text):
            if self.sees("["):
                table = self.header()
            else:
                self.statement(table, 0)
            self.skip(REST)
            self.skip(BLANK)

    def header(self) -> Path:
        start, several = self.at, self.sees("[[")
        self.expect("[[" if several else "[")
        self.skip(SPACE)
        parts = self.read_dotted()
        self.expect("]]" if several else "]")
        path: Path = ()
        for position, (word, offset) in enumerate(parts):
            path, last = (*path, word), position == len(parts) - 1
            if last and several:
                self.counts[path] = self.counts.get(path, 0) + 1
            if last and not several:
                self.places.keys[path] = offset  # also where a table inside it came first
            self.places.keys.setdefault(path, offset)
            if path in self.counts and (several or not last):
                path = (*path, self.counts[path] - 1)
                self.places.keys.setdefault(path, offset)
        self.places.heads.append((start, path))
        return path

    def read_dotted(self) -> list[tuple[str, int]]:
        """Return the parts of a key, each with its offset, and the blanks behind it."""
        parts = [self.key()]
        self.skip(SPACE)
        while self.sees("."):
            self.at += 1
            self.skip(SPACE)
            parts.append(self.key())
            self.skip(SPACE)
        return parts

    def key(self) -> tuple[str, int]:
        start = self.at
        if self.sees('"'):
            quoted = self.skip(BASIC)
            return (_unescape(quoted, start) if "\\" in quoted else quoted[1:-1]), start
        if self.sees("'"):
            return self.skip(LITERAL)[1:-1], start
        return self.skip(BARE_KEY), start

    def statement(self, table: Path, depth: int) -> None:
        """Read a key with its value."""
        path = table
        for word, offset in self.read_dotted():
            path = (*path, word)
            self.places.keys.setdefault(path, offset)
        self.expect("=")
        self.skip(SPACE)
        self.value(path, depth)
        self.places.ends[path] = self.at

    def value(self, path: Path, depth: int) -> None:
        start = self.places.values[path] = self.at
        if depth > DEEPEST:
            raise _ScanError(start)
        for mark, pattern in (('"""', LONG_BASIC), ("'''", LONG_LITERAL), ('"', BASIC), ("'", LITERAL)):
            if self.sees(mark):
                self.skip(pattern)
                return
        if not (self.sees("[") or self.sees("{")):
            self.skip(BARE_VALUE)
            return
        try:
            self.array(path, depth + 1) if self.sees("[") else self.table(path, depth + 1)
        except _ScanError as stop:  # for an unclosed bracket, the offset where it is opened
            opened = stop.at == len(self.text) or "\n" in self.text[start : stop.at]
            raise _ScanError(start if opened else stop.at) from None

    def array(self, path: Path, depth: int) -> None:
        self.expect("[")
        self.skip(BLANK)
        count = 0
        while not self.sees("]"):
            self.places.keys[(*path, count)] = self.at
            self.value((*path, count), depth)
            count += 1
            self.skip(BLANK)
            if not self.sees("]"):
                self.expect(",")
                self.skip(BLANK)
        self.expect("]")

    def table(self, path: Path, depth: int) -> None:
        self.expect("{")
        self.skip(BLANK)
        while not self.sees("}"):
            self.statement(path, depth)
            self.skip(BLANK)
            if not self.sees("}"):
                self.expect(",")
                self.skip(BLANK)
        self.expect("}")


def _unescape(quoted: str, at: int) -> str:
    """Return the text of a quoted key with escapes."""
    try:
        import tomllib

        return str(tomllib.loads(f"key = {quoted}")["key"])
    except ValueError:
        raise _ScanError(at) from None
