# SPDX-License-Identifier: Apache-2.0
"""The reader of a TOML file: its tables as plain data, limited in size and depth, and the position of each key.

A syntax error affects only its own table: that table is left out and the rest is read again, so that one run reports
all errors of a file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from layouts.toml.errors import AtomFileError, Spot
from layouts.toml.places import places
from layouts.toml.printed import PrintedLine, as_toml

if TYPE_CHECKING:
    from layouts.toml.places import Path as Keys
    from layouts.toml.places import Places

# Far above any table that a person writes: they bound what a file of somebody else can cost.
MAX_BYTES = 1 << 20
MAX_DEPTH = 64
MAX_DOTS = 1000
MAX_ERRORS = 20  # errors of syntax in one file: each needs another pass
# Compiled when they are first used: of an error of syntax.
POSITION = r" \(at (?:line (\d+), column (\d+)|end of document)\)"
LOOKS_LIKE_A_HEADER = r"(?m)^[ \t]*\[.*\][ \t]*(?:#.*)?\r?$"


@dataclass(frozen=True)
class Document:
    """The tables of a file, those with an error of syntax left out, and the errors."""

    file: str
    text: str
    tables: dict[str, object]
    errors: tuple[AtomFileError, ...] = ()
    sources: Sequence[PrintedLine] = ()  # of the lines of `text`, where it was made from a printed text

    @cached_property
    def _places(self) -> Places:
        return places(self.text)

    @cached_property
    def _paths(self) -> dict[tuple[str, str], Keys]:
        """The paths by table and dotted key, as messages write them, where this determines the path."""
        named = [((str(path[0]), join_dotted(path[1:])), path) for path in self._places.keys]
        often = Counter(name for name, _ in named)
        return {name: path for name, path in named if often[name] == 1}

    def locate(self, error: AtomFileError) -> AtomFileError:
        """Return the error with line and column: those of its key, or else of the nearest table around it."""
        if error.place is not None or error.spot is None:
            return error
        spot, offset = error.spot, self._offset(error.spot)
        if offset is None:
            return error
        line, column = self._places.at(offset)
        return in_source(
            AtomFileError(error.file, error.key, error.problem, spot, (line, column, self._places.line(line))),
            self.sources,
        )

    def line(self, table: str) -> int:
        """Return the line of a table's header, or of its first key; 1 where none is known."""
        return self.place(table)[0]

    def place(self, table: str, *keys: str) -> tuple[int, int]:
        r"""Line and column of the first of these keys that a table has, else of the table; (1, 1) where none is known.

        >>> document(b'["mine"]\nA = "32:1"', "mine.toml").place("mine", "row", "A")
        (2, 1)
        """
        path = next((self._paths[table, key] for key in keys if (table, key) in self._paths), (table,))
        offset = self._places.find(path)
        line, column = (1, 1) if offset is None else self._places.at(offset)
        return self.sources[line - 1].place(column)[:2] if self.sources else (line, column)

    def _offset(self, spot: Spot) -> int | None:
        key = spot.key
        while key and (spot.root, key) not in self._paths:
            key = key[: max(key.rfind("."), key.rfind("["), 0)]
        path = self._paths.get((spot.root, key), (spot.root,))
        start = self._places.values.get(path)
        if spot.letter >= 0 and start is not None and self.text.startswith(spot.text, start + 1):
            return start + 1 + spot.letter
        return self._places.find(path)


def in_source(error: AtomFileError, sources: Sequence[PrintedLine]) -> AtomFileError:
    """Return the error at its place in the printed text, where the TOML was made from one."""
    if not sources or error.place is None:
        return error
    place = sources[error.place[0] - 1].place(error.place[1])
    return AtomFileError(error.file, error.key, error.problem, error.spot, place)


def join_dotted(path: Keys) -> str:
    """Return a path as messages write it.

    >>> join_dotted(("types", "D")), join_dotted(("ptx", 1))
    ('types.D', 'ptx[1]')
    """
    return "".join(f"[{word}]" if isinstance(word, int) else f".{word}" for word in path).removeprefix(".")


def read_document(path: Path) -> Document:
    """Return the document of a TOML file.

    Raises AtomFileError when the file cannot be read, is over 1 MiB, is not UTF-8 or nests deeper than 64.
    """
    file = str(path)
    try:
        with path.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise AtomFileError(file, "", f"cannot be read: {error.strerror or error}") from error
    except ValueError as error:  # a NUL in the path
        raise AtomFileError(file, "", f"cannot be read: {error}") from error
    if len(raw) > MAX_BYTES:
        raise AtomFileError(file, "", "is over 1 MiB")
    return document(raw, file)


def document(raw: bytes, file: str) -> Document:
    """Return the document of a TOML text, `file` named in errors.

    Raises AtomFileError unless it is UTF-8, at most 64 deep.
    """
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise AtomFileError(file, "", f"is not UTF-8: byte {error.start} is {raw[error.start]:#04x}") from error
    # tomllib needs quadratic time for a key of very many parts.
    for number, line in enumerate(text.splitlines(), 1):
        if line.count(".") > MAX_DOTS:
            raise AtomFileError(file, "", f"line {number} has more than {MAX_DOTS} dots")
    text, sources = as_toml(text, Path(file).stem)
    reading = _Reading(file, text.replace("\r\n", "\n"))
    tables = reading.tables()
    if deeper(tables, MAX_DEPTH):
        raise AtomFileError(file, "", f"nested deeper than {MAX_DEPTH}")
    errors = tuple(in_source(error, sources) for error in reading.errors)
    return Document(file, reading.text, tables, errors, sources)


def parse(raw: bytes, file: str) -> dict[str, object]:
    """Return the tables of a TOML text; `file` is named in errors.

    >>> parse(b"x.y = 1", "x.toml")
    {'x': {'y': 1}}

    Raises AtomFileError.
    """
    parsed = document(raw, file)
    if parsed.errors:
        raise parsed.errors[0]
    return parsed.tables


@dataclass(slots=True)
class _Reading:
    """A text that is parsed repeatedly: each part with an error is replaced by blank lines until none is left."""

    file: str
    text: str
    errors: list[AtomFileError] = field(default_factory=list)
    spoiled: set[str] = field(default_factory=set)

    def tables(self) -> dict[str, object]:
        """Return the tables that have no error."""
        while True:
            try:
                tables = load(self.text)
                return {name: table for name, table in tables.items() if name not in self.spoiled}
            except RecursionError:
                break  # raised outside: an error whose context has a thousand frames cannot be pickled by Dask
            except ValueError as error:  # TOMLDecodeError, and an int() of too many digits
                self.leave_out(str(error))
            if len(self.errors) == MAX_ERRORS:
                return {}
        raise AtomFileError(self.file, "", f"nested deeper than {MAX_DEPTH}")

    def leave_out(self, problem: str) -> None:
        """Record an error of syntax, and replace by blank lines the text between the headers around it."""
        walked = places(self.text)
        position = re.search(POSITION, problem)
        at = self._offset(position, walked, problem.startswith("Unclosed"))
        starts = [offset for offset, _ in walked.heads]
        if walked.stopped is not None:
            looked = re.compile(LOOKS_LIKE_A_HEADER).finditer(self.text, min(len(self.text), walked.stopped + 1))
            starts += [match.start() for match in looked]
        if position is None:  # the message has no position: the first part that fails by itself
            at = next((a for a, b in zip([0, *starts], [*starts, None], strict=True) if _fails(self.text[a:b])), 0)
        begin = max((start for start in starts if start <= at), default=0)
        end = min((start for start in starts if start > at), default=len(self.text))
        self.spoiled |= {str(path[0]) for offset, path in walked.heads if begin <= offset < end}
        line, column = walked.at(at)
        place = line, column, walked.line(line)
        said = problem if position is None or position[1] is None else problem[: position.start()]
        self.errors.append(AtomFileError(self.file, "", f"is not TOML: {said}", None, place))
        kept = "".join(c for c in self.text[begin:end] if c == "\n")
        self.text = self.text[:begin] + kept + self.text[end:]

    def _offset(self, position: re.Match[str] | None, walked: Places, unclosed: bool) -> int:
        """Return the offset of the error; for an unclosed bracket or string, where it is opened."""
        if walked.stopped is not None and (unclosed or position is None or position[1] is None):
            return walked.stopped
        if position is None or position[1] is None:
            return len(self.text.rstrip())
        before = self.text.split("\n", int(position[1]) - 1)[: int(position[1]) - 1]
        return min(len(self.text), sum(len(line) + 1 for line in before) + int(position[2]) - 1)


def load(text: str) -> dict[str, Any]:
    """Return the tables of a TOML text. Raises ValueError."""
    import tomllib  # with what it loads 6 ms: not for those who open no file

    return tomllib.loads(text)


def _fails(text: str) -> bool:
    try:
        load(text)
    except ValueError:
        return True
    return False


def deeper(tables: dict[str, object], limit: int) -> bool:
    """Whether tables and arrays nest more than `limit` levels deep, the document not counted."""
    level: list[object] = [tables]
    for _ in range(limit + 1):
        level = [inner for outer in level for inner in containers(outer)]
        if not level:
            return False
    return True


def containers(outer: object) -> list[object]:
    """Return the tables and arrays directly inside a table or an array."""
    items = outer.values() if isinstance(outer, dict) else outer if isinstance(outer, list) else ()
    return [item for item in items if isinstance(item, (dict, list))]
