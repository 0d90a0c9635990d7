# SPDX-License-Identifier: Apache-2.0
"""A line of a recordings file: a JSON object whose last field is the digest of the text before it.

The digest shows that a line was damaged or edited. It is no signature: a line that is changed on purpose
can get a new digest.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b, sha256
from pathlib import Path
from typing import Any, TypeVar

from gpu_checks.recordings_io.capabilities import mismatch
from gpu_checks.recordings_io.errors import RecordingError
from gpu_checks.recordings_io.manifest import check_content, check_folder

T = TypeVar("T")
_SIZE = 8  # bytes of a digest
_FIELD, _END = ', "digest": "', '"}'
_LENGTH = len(_FIELD) + 2 * _SIZE + len(_END)
_KEEP = 16  # characters of an id
ANEW = "record it anew"


def with_digest(line: str) -> str:
    """Return the text of a JSON object, with its digest as its last field."""
    return line[:-1] + _field(line[:-1])


def without_digest(line: str) -> str:
    """Return the text of a JSON object as it was before it got its digest.

    Raises ValueError where the digest is not there or wrong.

    >>> without_digest(with_digest('{"a": 1}'))
    '{"a": 1}'
    """
    check_end(line)
    body = line[:-_LENGTH]
    if line[-_LENGTH:] != _field(body):
        raise ValueError(f"the digest is not that of the line, which was damaged or edited: {ANEW}")
    return body + "}"


def check_end(line: str) -> None:
    """ValueError for a line that does not end where a digest does: the digest itself is not checked."""
    if not (line.endswith(_END) and line[-_LENGTH:].startswith(_FIELD)):
        raise ValueError(f"the line does not end with its digest (recordings had none before, or it was cut): {ANEW}")


def _field(body: str) -> str:
    return f"{_FIELD}{blake2b(body.encode(), digest_size=_SIZE).hexdigest()}{_END}"


def parse_line(line: str) -> dict[str, Any]:
    """Return the fields of a line but its digest, which is checked; ValueError for anything that is no such line."""
    text = without_digest(line)
    try:
        value = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON: {error}") from error
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    return value


def identity(body: Mapping[str, Any]) -> str:
    """Return the id of a table, a list of images or a premise: the start of the SHA-256 of its JSON."""
    text = json.dumps(body, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()[:_KEEP]


def rows(path: Path, schema: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each line of a file that has no header: its number, and its fields but the schema and the digest."""
    for number, line in enumerate(text_of(path), 1):
        try:
            fields = parse_line(line)
            if (version := fields.pop("schema", None)) != schema:
                raise ValueError(f"schema is {version!r}, not {schema}")
        except ValueError as error:
            raise RecordingError(f"{path}:{number}: {error}") from error
        yield number, fields


def read_each(path: Path, schema: int, read: Callable[[dict[str, Any]], T]) -> Iterator[T]:
    """Yield the value of each line of a file without a header.

    Raises RecordingError where `read` fails, with the line's number.
    """
    for number, fields in rows(path, schema):
        try:
            yield read(fields)
        except KeyError as missing:
            raise RecordingError(f"{path}:{number}: {missing.args[0]} is missing") from missing
        except (ArithmeticError, TypeError, ValueError) as error:
            raise RecordingError(f"{path}:{number}: {error}") from error


def files(place: Path) -> list[Path]:
    """Return the recordings files of a folder, or the one that is named; RecordingError where there is neither.

    Also if a folder of shipped recordings hasn't the files that it should have.
    """
    check_folder(place)
    if not place.exists():
        raise RecordingError(f"{place}: no such file or folder")
    return sorted(place.glob("*.jsonl")) if place.is_dir() else [place]


def text_of(path: Path, largest: int = 16 * 2**20) -> list[str]:
    """Return the lines of a file.

    Raises RecordingError for one that is no text, cannot be opened, is larger or has a line cut.
    """
    try:
        if (size := path.stat().st_size) > largest:
            raise RecordingError(f"{path}: {size} bytes, more than {largest}")
        content = path.read_bytes()
        check_content(path, content)
        text = content.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RecordingError(f"{path}: cannot be read: {error}") from error
    lines = text.splitlines()
    if text and not text.endswith("\n"):
        why = "the last line does not end: it was cut, or is still being written"
        raise RecordingError(f"{path}:{len(lines)}: {why}: {ANEW}")
    return lines


def check_gpu(gpu: str, sm: str) -> None:
    """ValueError for a GPU that cannot have that architecture."""
    if why := mismatch(gpu, sm):
        raise ValueError(why)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object.

    Raises ValueError where a key occurs twice, for only one of two tables under one name could be meant.
    """
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a key occurs twice")
    return fields
