# SPDX-License-Identifier: Apache-2.0
"""Positions of keys: every key is found at its offset, compared with tomllib, however keys are written."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, reject
from hypothesis import strategies as st

from layouts.toml.document import document
from layouts.toml.places import places

ROOT = Path(__file__).parents[3]


def paths(value: object, before: tuple[object, ...] = ()) -> set[tuple[object, ...]]:
    """Every key of a document and every item of an array, by its path."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    inside = {(*before, key): inner for key, inner in items}
    return set(inside).union(*(paths(inner, path) for path, inner in inside.items()))


def check(text: str) -> None:
    """Compare the places of a TOML text with tomllib: the same paths, and at each offset that key."""
    walked, tables = places(text), tomllib.loads(text)
    assert walked.stopped is None
    assert set(walked.keys) == paths(tables)
    for path, offset in walked.keys.items():
        if isinstance(path[-1], str):
            assert key_at(text, offset) == path[-1]
    for path, offset in walked.values.items():
        value: Any = tables
        for key in path:
            value = value[key]
        assert text[offset] in {str: "\"'", list: "[", dict: "{"}.get(type(value), "0123456789-tfin")


def key_at(text: str, offset: int) -> str:
    """The key at an offset of a text."""
    word = next(match for match in (BARE.match(text, offset), QUOTED.match(text, offset)) if match)[0]
    if "\\" in word:
        return next(iter(tomllib.loads(f"{word} = 1")))
    return word[1:-1] if word[0] in "\"'" else word


BARE, QUOTED = re.compile(r"[A-Za-z0-9_-]+"), re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'")
WORDS = st.sampled_from(["a", "b", "A-1", "c.d", "e f", "[g]", "=", "#", "'", "ü", "x\\y", "{", "", "types", "0"])
BLANKS = st.sampled_from(["", " ", "\t", "  "])
GAPS = st.sampled_from(["", " ", "\n", " # [no] = header\n", "\r\n"])


@st.composite
def keys(draw: st.DrawFn, word: str) -> str:
    """A key, bare, or quoted in one of several ways."""
    quoted = word.replace("\\", "\\\\").replace('"', '\\"')
    written = [f'"{quoted}"', '"' + "".join(f"\\u{ord(c):04x}" for c in word) + '"']
    written += [f"'{word}'"] if "'" not in word else []
    written += [word] if word.replace("-", "").isalnum() and word.isascii() else []
    return draw(st.sampled_from(written))


SHORT = [
    '"x"',
    "'['",
    '"]"',
    '"a = 1 # no"',
    '""',
    '"\\""',
    "1",
    "-0x1f",
    "1.5e3",
    "true",
    "1979-05-27 07:32:00",
    "inf",
]
LONG = ['"""\n[a]\nb = "1"\n"""', "'''\n[a]\nb = 1'''", '"""x\\""""', '""""a""""', "''''b'''''", '""""""']
SCALARS = st.sampled_from([*SHORT, *LONG])


@st.composite
def values(draw: st.DrawFn, depth: int = 3) -> str:
    """A value with arrays and inline tables in it, laid out at random."""
    shape = draw(st.sampled_from(["scalar", "scalar", "array", "table"])) if depth else "scalar"
    if shape == "scalar":
        return draw(SCALARS)
    if shape == "array":
        items = [draw(GAPS) + draw(values(depth - 1)) + draw(GAPS) for _ in range(draw(st.integers(0, 3)))]
        comma = "," if items and draw(st.booleans()) else ""
        return "[" + ",".join(items) + comma + draw(GAPS) + "]"
    words = draw(st.lists(WORDS, unique=True, max_size=3))
    return "{" + ",".join([draw(statements(word, depth - 1)) for word in words]) + draw(BLANKS) + "}"


@st.composite
def statements(draw: st.DrawFn, word: str, depth: int = 3) -> str:
    """A key, dotted or not, with its value."""
    rest = draw(st.lists(WORDS, max_size=2))
    parts = [draw(keys(part)) for part in [word, *rest]]
    dots = [draw(BLANKS) + "." + draw(BLANKS) for _ in rest] + [""]
    key = "".join(part + dot for part, dot in zip(parts, dots, strict=True))
    return draw(BLANKS) + key + draw(BLANKS) + "=" + draw(BLANKS) + draw(values(depth))


@st.composite
def texts(draw: st.DrawFn) -> str:
    """A document: statements, headers, arrays of tables, comments and blank lines."""
    lines = [draw(statements(word)) for word in draw(st.lists(WORDS, unique=True, max_size=2))]
    for _ in range(draw(st.integers(0, 4))):
        parts = [draw(keys(word)) for word in draw(st.lists(WORDS, min_size=1, max_size=3))]
        left, right = draw(st.sampled_from([("[", "]"), ("[[", "]]")]))
        lines.append(left + draw(BLANKS) + ".".join(parts) + draw(BLANKS) + right)
        lines += [draw(statements(word)) for word in draw(st.lists(WORDS, unique=True, max_size=3))]
    ends = st.sampled_from(["\n", "\r\n", " # c = [\n", "\n\n"])
    return "".join(line + draw(ends) for line in lines)


@given(texts())
@example("[[a]]\nb = 1\n[a.c]\nd = 1\n[[a]]\nb = 2\n[[a.e]]\n[a.e.f]\ng = 1\n[[a.e]]\nh = 2\n")
@example("[a.b]\nc = 1\n[a]\nd = 2\n")
def test_every_key_of_a_generated_text_is_found_at_its_offset(text: str) -> None:
    try:
        tomllib.loads(text)
    except ValueError:  # a repeated key, and the like: then the scan must end, nothing else
        places(text)
        reject()
    check(text)


@pytest.mark.long
def test_every_key_of_the_files_here_is_found_at_its_offset() -> None:
    files = [
        file for folder in ("layouts", "isa_tables", "examples", "tests") for file in (ROOT / folder).rglob("*.toml")
    ]
    assert len(files) > 50
    for file in files:
        check(file.read_text(encoding="utf-8"))


@given(st.text(alphabet="ab.[]{}=\"'#\n\r ,\\1", max_size=60))
def test_the_scan_of_any_text_ends(text: str) -> None:
    assert places(text).stopped is None or 0 <= (places(text).stopped or 0) <= len(text)


BROKEN = [
    ('["A"]\nx = [\n\n["B"]\ny = 1\n', {"B"}, [(2, 5)]),
    ('["A"]\nx = 1\n["B"]\ny = "\n["C"]\nz = 1\n', {"A", "C"}, [(4, 6)]),
    ('["A"]\nx = """\n["B"]\ny = 1\n', {"B"}, [(2, 5)]),
    ('["A"]\nx == 1\n["B"]\ny = {\n["C"]\nz = 0\n["C"]\n', set(), [(2, 4), (4, 6), (7, 5)]),
    ('x = = 1\n["B"]\ny = 1\n', {"B"}, [(1, 5)]),
    ('["A"]\r\nx = 1 2\r\n["B"]\r\n', {"B"}, [(2, 7)]),
    ('["A"]\nt = { a = 1\n["B"]\ny = 1\n', {"B"}, [(2, 5)]),
    ('["A"]\nx = """\n["no"]\n"""\ny = \n["B"]\ny = 1\n', {"B"}, [(5, 5)]),
    (f'["A"]\nx = {"9" * 5000}\n["B"]\ny = 1\n', {"B"}, [(1, 1)]),
]


@pytest.mark.parametrize(("text", "read", "at"), BROKEN, ids=map(str, range(len(BROKEN))))
def test_an_error_of_syntax_affects_its_own_table_only(text: str, read: set[str], at: list[tuple[int, int]]) -> None:
    read_document = document(text.encode(), "f")
    assert set(read_document.tables) == read
    assert [error.place[:2] for error in read_document.errors if error.place] == at
    assert all("is not TOML" in str(error) for error in read_document.errors)
