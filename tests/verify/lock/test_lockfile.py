# SPDX-License-Identifier: Apache-2.0
"""Locks: what is written is read again, point by point; what isn't a lock ends in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from verify.core.errors import UsageError
from verify.lock.functions import Subject
from verify.lock.lockfile import read_lock, write
from verify.maps.fragment_map import FragmentMap
from verify.maps.map import Axis

LANE, VALUE, M, N = Axis("lane", 4), Axis("value", 2), Axis("m", 4), Axis("n", 2)
GOOD = 'schema = 1\n["f"."s"."C"]\nmap = "lane 4, value 2 -> m 4, n 2"\n'
MAPS = {
    "plain": FragmentMap.tabulate(lambda t, v: (t, v), [LANE, VALUE], [M, N]),
    "partial": FragmentMap.tabulate(lambda t, v: (t, v) if t else None, [LANE, VALUE], [M, N]),
    "outside": FragmentMap.tabulate(lambda t, v: (t + 9, -v), [LANE, VALUE], [M, N]),
    "several": FragmentMap.from_pairs([LANE, VALUE], [M, N], [((0, 0), (1, 1)), ((0, 0), (2, 0)), ((3, 1), (0, 0))]),
    "of a byte": FragmentMap.tabulate(lambda b: (b, 0) if b % 2 else None, [Axis("byte", 4)], [M, N]),
    "of a place": FragmentMap.tabulate(
        lambda c, t, v: (t, v), [Axis("cta", 2), Axis("TMEM lane", 4), Axis("TMEM column", 2)], [M, N]
    ),
    "one axis": FragmentMap.tabulate(lambda t, v: t ^ v, [LANE, VALUE], [M]),
}


@pytest.mark.parametrize("name", MAPS)
def test_what_is_written_is_read_again(name: str, tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    subject = Subject('a "quoted" é\\name', "a b/c.toml", "", {"ptx": "x; y", "smem A": "8:1"}, {name: MAPS[name]})
    path.write_text(write([subject]), encoding="utf-8")
    (locked,) = read_lock(path)
    assert (locked.name, locked.file, locked.says) == (subject.name, subject.file, subject.says)
    assert locked.maps == {name: MAPS[name]}
    assert write([Subject(locked.name, locked.file, "", locked.says, locked.maps)]) == path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "expected schema = 1"),
        ("schema = 2", "expected schema = 1"),
        ("schema = 1\n<<<<<<< ours\n", "isn't a lock: Invalid"),
        ("schema = 1\nf = 3", "f: expected a table, found 3"),
        ('schema = 1\n["f"."s"]\nC = 3', "expected map, such as"),
        (GOOD, "expected map, such as"),
        (GOOD + 'layout = "8:1"\npoints = []', "expected map, such as"),
        (GOOD + 'layout = "(4,3):(1,4)"', "layout: has other extents than"),
        (GOOD + 'layout = "(4"', "layout: cannot read"),
        (GOOD + 'points = ["0,0 1,1"]', "points: expected a list of 4 lines"),
        (GOOD + 'points = ["0,0 1,1", "0,0", "-", "-"]', "points: line 1 has 1 points, not 2"),
        (GOOD + 'points = ["0,0 1", "- -", "- -", "- -"]', "points: expected 2 numbers with commas, found '1'"),
    ],
)
def test_what_is_no_lock_is_one_line(text: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as error:
        read_lock(path)
    assert why in str(error.value) and "\n" not in str(error.value)
