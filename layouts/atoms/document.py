# SPDX-License-Identifier: Apache-2.0
"""A TOML file as plain data, within bounds of size and depth."""

from __future__ import annotations

import tomllib
from pathlib import Path

from layouts.atoms.atom import AtomFileError

MAX_BYTES = 1 << 20
MAX_DEPTH = 64
MAX_DOTS = 1000


def read(path: Path) -> dict[str, object]:
    """The tables of a TOML file.

    Raises AtomFileError when the file cannot be read, is over 1 MiB, is not TOML in UTF-8 or nests deeper than 64.
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
    return parse(raw, file)


def parse(raw: bytes, file: str) -> dict[str, object]:
    """The tables of a TOML text; `file` is named in errors.

    >>> parse(b"x.y = 1", "x.toml")
    {'x': {'y': 1}}

    Raises AtomFileError.
    """
    too_deep = AtomFileError(file, "", f"nested deeper than {MAX_DEPTH}")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise AtomFileError(file, "", f"is not UTF-8: byte {error.start} is {raw[error.start]:#04x}") from error
    # tomllib needs quadratic time for a key of very many parts.
    for number, line in enumerate(text.splitlines(), 1):
        if line.count(".") > MAX_DOTS:
            raise AtomFileError(file, "", f"line {number} has more than {MAX_DOTS} dots")
    try:
        tables = tomllib.loads(text)
    except RecursionError:
        raise too_deep from None
    except ValueError as error:  # TOMLDecodeError, and an int() of too many digits
        raise AtomFileError(file, "", f"is not TOML: {error}") from error
    if deeper(tables, MAX_DEPTH):
        raise too_deep
    return tables


def deeper(document: dict[str, object], limit: int) -> bool:
    """Whether tables and arrays, the document not counted, stand more than `limit` levels inside each other."""
    level: list[object] = [document]
    for _ in range(limit + 1):
        level = [inner for outer in level for inner in containers(outer)]
        if not level:
            return False
    return True


def containers(outer: object) -> list[object]:
    """The tables and arrays directly inside a table or an array."""
    items = outer.values() if isinstance(outer, dict) else outer if isinstance(outer, list) else ()
    return [item for item in items if isinstance(item, (dict, list))]
