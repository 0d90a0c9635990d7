# SPDX-License-Identifier: Apache-2.0
"""Keys of a TOML file get other values, and everything else of it stays; what can't be said so isn't."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping

import pytest

from layouts.toml.changes import change_keys
from layouts.toml.document import document

TABLE = '''# mine
["a"] # one
B = "4:1"   # stride
n = 3   # three
thr = """
32:1"""
types = { A = "f16", B = "f16" }

["b"]
B = "4:1"
'''


def change(text: str, keys: Mapping[str, object]) -> str:
    """Return a text after the changes of table a, the last first; empty if there are none."""
    changes = change_keys(document(text.encode(), "f.toml"), "a", keys)
    lines = text.split("\n")
    for begin, end, new in sorted(changes, reverse=True):
        head, tail = lines[begin[0] - 1][: begin[1] - 1], lines[end[0] - 1][end[1] - 1 :]
        lines[begin[0] - 1 : end[0]] = f"{head}{new}{tail}".split("\n")
    return "\n".join(lines) if changes else ""


@pytest.mark.parametrize(
    ("keys", "old", "new"),
    [
        ({"B": "4:2"}, '"4:1"   # stride', '"4:2"   # stride'),
        ({"n": 4}, "3   # three", "4   # three"),
        ({"thr": "8:1"}, '"""\n32:1"""', '"8:1"'),
        ({"types": {"A": "s8", "B": "u8"}}, '{ A = "f16", B = "f16" }', '{ A = "s8", B = "u8" }'),
        ({"shape": (16, 8)}, "# one\n", "# one\nshape = [16, 8]\n"),
    ],
)
def test_a_key_gets_its_value_and_comments_stay(keys: Mapping[str, object], old: str, new: str) -> None:
    assert change(TABLE, keys) == TABLE.replace(old, new, 1)


def test_several_keys_change_together() -> None:
    text = change(TABLE, {"B": "4:2", "n": 5, "relabel": {"m": "1:1"}})
    assert tomllib.loads(text)["a"] == {**tomllib.loads(TABLE)["a"], "B": "4:2", "n": 5, "relabel": {"m": "1:1"}}


@pytest.mark.parametrize(
    "text",
    [
        '["a"]\nB.x = 1\n',  # the key is a part of others
        '["a"]\nn = 1\n["a".B]\nx = 1\n',  # a table of its own
        "a = { n = 1 }\n",  # the table has no line of its own
        "a.n = 1\n",
        "n = 1\n",  # no such table
        '["a"]\nB = 1\n["b"\n',  # an error elsewhere
        "Tiled MMA\nMMA Atom\n  ThrID: 32:1\n  PTX: mma.x\n",  # a printed text
        '["a"]',  # no line below the header
    ],
)
def test_what_the_file_cannot_say_in_place_is_left(text: str) -> None:
    assert change(text, {"B": "4:2"}) == ""
