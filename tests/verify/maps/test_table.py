# SPDX-License-Identifier: Apache-2.0
"""CSV and JSON tables are maps; what is none gets one line, with the line of the file."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

import isa_tables
from tests.samples import many
from verify.maps.fragment_map import FragmentMap
from verify.maps.map import Axis, MapError
from verify.maps.table import MAX_BYTES, Columns, from_csv, from_json, read_table

LANE, VALUE, ROW, COL = Axis("lane", 32), Axis("value", 4), Axis("m", 16), Axis("n", 8)
NAMES = {"lane": "lane", "i": "value", "row": "m", "m": "m", "col": "n", "n": "n"}
COLUMNS = Columns((LANE, VALUE), (ROW, COL), NAMES)
C = FragmentMap.from_operand(isa_tables.instruction("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32").operands["C"])


def csv(header: str = "lane,i,row,col") -> str:
    return "\n".join([header, *(",".join(map(str, (*point, *image))) for point, image in C.pairs())])


def test_a_table_is_a_map_with_its_lines() -> None:
    table = from_csv(csv(), "c.csv", COLUMNS)
    assert table == C
    assert table.source((5, 3)) == "c.csv:25"
    assert from_csv(csv("LANE, i, M, N"), "c.csv", COLUMNS) == C
    turned = "\n".join(["col,row,i,lane", *(",".join(map(str, (n, m, i, t))) for (t, i), (m, n) in C.pairs())])
    assert from_csv(f"\ufeff# a comment\n\n{turned}\n".lstrip("\ufeff"), "c.csv", COLUMNS) == C


def test_json_is_rows_or_nested_lists() -> None:
    rows = [{"lane": t, "i": i, "row": m, "col": n} for (t, i), (m, n) in C.pairs()]
    nested = [[list(C(t, i)) for i in range(4)] for t in range(32)]
    assert from_json(json.dumps(rows), "c.json", COLUMNS) == from_json(json.dumps(nested), "c.json", COLUMNS) == C


def test_a_file_is_read_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "c.CSV").write_text(csv(), encoding="utf-8-sig")
    (tmp_path / "c.json").write_text(json.dumps([[[0, 0]]]), encoding="utf-8")
    assert read_table(tmp_path / "c.CSV", COLUMNS) == C
    assert len(read_table(tmp_path / "c.json", COLUMNS)) == 1


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "a line of names (lane, value, m, n) and at least one of numbers are expected"),
        ("lane,i,row,col", "at least one of numbers"),
        ("lane,i,row\n0,0,0", "c.csv:1: no column for n: expected one of col, n"),
        ("lane,i,row,m\n", "c.csv:1: several columns for m"),
        ("lane,i,row,col,x\n", "c.csv:1: unknown column 'x'; known are lane, i, row, m, col, n"),
        ("lane,i,row,col\n0,0,0", "c.csv:2: 3 fields, the header has 4"),
        ("lane,i,row,col\n0,0,0,0\n0,1,1.5,0", "c.csv:3: expected an integer, found '1.5'"),
        ("lane,i,row,col\n0,0,0,9999999999999999999", "c.csv:2: expected an integer"),
        ('lane,i,row,col\n"0,0,0,0', "c.csv:2: unexpected end of data"),
        ("lane,i,row,col\n0,0,\x00,0", "c.csv"),
    ],
)
def test_a_text_that_is_no_table_is_one_line(text: str, problem: str) -> None:
    with pytest.raises(MapError) as raised:
        from_csv(text, "c.csv", COLUMNS)
    assert problem in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "c.json: isn't JSON"),
        ("[" * 100_000, "c.json: isn't JSON"),
        ("9" * 10_000, "c.json: isn't JSON"),
        ("{}", "expected a list of points, found an object"),
        ("[]", "expected a list of points, found list"),
        ("[3]", "c.json: [0]: expected a list by value, found 3"),
        ("[[[0]]]", "c.json: [0, 0]: expected [m, n], found [0]"),
        ("[[[0, 1.0]]]", "c.json: [0, 0]: expected an integer, found 1.0"),
        ("[[[0, true]]]", "expected an integer, found True"),
        ("[[[0, NaN]]]", "expected an integer, found nan"),
        ("[[[0, 9999999999999999999999]]]", "expected an integer"),
        ('[{"lane": 0}]', "c.json: point 0: no column for value"),
        ('[{"lane": 0, "i": 0, "row": 0, "col": 0, "row": 1}]', "c.json: point 0: the key 'row' is there twice"),
        ('[[[0, {"a": 1}]]]', "c.json: [0, 0]: expected an integer, found {'a': 1}"),
        ('[{"lane": 0, "i": 0, "row": 0, "col": 0}, 3]', "c.json: point 1: expected an object, found 3"),
    ],
)
def test_a_json_text_that_is_no_table_is_one_line(text: str, problem: str) -> None:
    with pytest.raises(MapError) as raised:
        from_json(text, "c.json", COLUMNS)
    assert problem in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_file_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    large, binary = tmp_path / "large.csv", tmp_path / "binary.csv"
    large.write_bytes(b"0" * (MAX_BYTES + 1))
    binary.write_bytes(b"\xff\xfe\x00")
    for path, problem in (
        (large, "is over 4 MiB"),
        (binary, "is not UTF-8 text: byte 0"),
        (tmp_path, "cannot be read"),
    ):
        with pytest.raises(MapError, match=problem):
            read_table(path, COLUMNS)
    with pytest.raises(MapError, match="cannot be read"):
        read_table(Path("\x00"), COLUMNS)


def fuzz(count: int, seed: int) -> int:
    """How many changed tables are still maps; each of the others is a MapError of one line."""
    rng = Random(seed)
    table, data = csv(), json.dumps([[list(C(t, i)) for i in range(4)] for t in range(32)])
    read = 0
    for number in range(count):
        text, reader = (table, from_csv) if number % 2 else (data, from_json)
        at = rng.randrange(len(text))
        text = text[:at] + rng.choice([*'0123456789,[]{}"-.x\n\x00é', "", "true"]) + text[at + rng.randrange(1, 3) :]
        try:
            reader(text, "c", COLUMNS)
            read += 1
        except MapError as error:
            assert "\n" not in str(error)
    return read


def test_changed_tables_end_in_a_map_or_a_line() -> None:
    assert fuzz(200, 0) > 10


@pytest.mark.slow
def test_many_changed_tables_end_in_a_map_or_a_line() -> None:
    assert fuzz(many(6_000), 1) > 60
