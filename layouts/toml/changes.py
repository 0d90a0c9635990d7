# SPDX-License-Identifier: Apache-2.0
"""Changes of a TOML file that give keys of one table other values, and leave all else as its author wrote it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from layouts.toml.document import Document, load
from layouts.toml.places import Places, places

BARE = re.compile(r"[A-Za-z0-9_-]+")


class TextChange(NamedTuple):
    """The text that takes the place of what stands from one line and column up to another; equal ones insert."""

    begin: tuple[int, int]  # line and column, from 1
    end: tuple[int, int]
    text: str


def change_keys(document: Document, table: str, keys: Mapping[str, object]) -> tuple[TextChange, ...]:
    r"""Return the changes that give keys of a table other values; none if the file can't say so in these places.

    A key that is missing becomes a line below the table's header. The changed text is read again: it has these values,
    and everything else is as before.

    >>> from layouts.toml.document import document
    >>> change_keys(document(b'["a"]\nB = "4:1" # mine', "f"), "a", {"B": "4:2", "thr": "32:1"})
    (TextChange(begin=(2, 5), end=(2, 10), text='"4:2"'), TextChange(begin=(2, 1), end=(2, 1), text='thr = "32:1"\n'))
    """
    before = document.tables.get(table)
    if document.sources or document.errors or not isinstance(before, dict):
        return ()  # of a printed text, which isn't TOML
    walked = places(document.text)
    every_span = (_find_span(walked, table, key, value) for key, value in keys.items())
    spans = [span for span in every_span if span is not None]
    if len(spans) < len(keys) or _reparse(_apply(document.text, spans)) != _plain(
        {**document.tables, table: {**before, **keys}}
    ):
        return ()
    return tuple(TextChange(walked.at(start), walked.at(end), text) for start, end, text in spans)


def _find_span(walked: Places, table: str, key: str, value: object) -> tuple[int, int, str] | None:
    """Return where a key's value stands, or the line below the header, with what belongs there."""
    path = (table, key)
    if path in walked.values:
        start, end = walked.values[path], walked.ends[path]
        return start, start + len(walked.text[start:end].rstrip()), write_value(value)
    header = next((offset for offset, head in walked.heads if head == (table,)), None)
    if header is None or path in walked.keys:
        return None
    below = walked.text.find("\n", header) + 1
    return (below, below, f"{_write_key(key)} = {write_value(value)}\n") if below else None


def _apply(text: str, spans: Sequence[tuple[int, int, str]]) -> str:
    for start, end, new in sorted(spans, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _reparse(text: str) -> object:
    try:
        return load(text)
    except ValueError:
        return None


def write_value(value: object) -> str:
    """Return a value as TOML in one line.

    >>> write_value({"A": {"dims": "mk", "out": True}, "n": (1, 2.5)})
    '{ A = { dims = "mk", out = true }, n = [1, 2.5] }'
    """
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_write_key(key)} = {write_value(part)}" for key, part in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(write_value, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _write_key(key: str) -> str:
    return key if BARE.fullmatch(key) else json.dumps(key, ensure_ascii=False)


def _plain(value: object) -> object:
    """Return a value as `tomllib` reads it: tables and lists."""
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    return [*map(_plain, value)] if isinstance(value, (list, tuple)) else value
