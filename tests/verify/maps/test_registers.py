# SPDX-License-Identifier: Apache-2.0
"""Tables of registers, as AMD's calculator prints them, are maps; what is none gets one line, with its place."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

import isa_tables
from tests.samples import many
from verify import verify_index
from verify.maps.fragment_map import FragmentMap
from verify.maps.map import Axis, MapError
from verify.maps.table import Columns, read_table

MMA = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
OPERANDS = isa_tables.instruction(MMA).operands
INPUTS = Axis("lane", 32), Axis("value", 4)


def register(value: int, lane: int | None = None, bits: int = 16) -> str:
    """A value's register, of a lane or of all; values of 64 bits are in two."""
    place = f"v[{2 * value + 1}:{2 * value}]" if bits == 64 else f"v{value * bits // 32}"
    low = value * bits % 32
    return place + ("" if lane is None else f"{{{lane}}}") + (f".[{low + bits - 1}:{low}]" if bits < 32 else "")


def by_element(name: str = "B", bits: int = 16) -> list[list[str]]:
    """The table of a matrix: a register in each cell."""
    m = FragmentMap.from_operand(OPERANDS[name])
    rows, cols = m.outputs
    head = [f"{name}[{rows.name.upper()}][{cols.name.upper()}]", *map(str, range(cols.extent))]
    cells = [register(*m.owners(element)[0][::-1], bits) for element in m.inverse().domain]
    return [head, *([str(r), *cells[r * cols.extent : (r + 1) * cols.extent]] for r in range(rows.extent))]


def by_lane(name: str = "B", bits: int = 16) -> list[list[str]]:
    """The table of the lanes: an element in each cell."""
    m = FragmentMap.from_operand(OPERANDS[name])
    head = ["lane", *(register(value, None, bits) for value in range(m.inputs[1].extent))]
    return [
        head,
        *([str(t), *("{}[{}][{}]".format(name, *m(t, v)) for v in range(len(head) - 1))] for t in range(32)),
    ]


def csv(rows: list[list[str]], title: str = "Architecture: X\nInstruction: Y\nBlock 0\n") -> str:
    return title + "\n".join(map(",".join, rows)) + "\n"


def draw(rows: list[list[str]], rule: str) -> str:
    return f"\n{rule}\n".join(f"| {' | '.join(row)} |" for row in rows)


@pytest.mark.parametrize("table", [by_element, by_lane])
@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_every_width_and_drawing_is_the_map(table, bits, tmp_path: Path) -> None:
    rows = table("B", bits)
    wanted = FragmentMap.from_operand(OPERANDS["B"])
    columns = Columns(INPUTS, wanted.outputs, {})
    for number, text in enumerate([csv(rows), csv(rows, ""), draw(rows, "+---+---+"), draw(rows, "|:--|---|")]):
        path = tmp_path / f"{number}.csv"
        path.write_text(text, encoding="utf-8")
        assert read_table(path, columns) == wanted
    assert read_table(path, columns).source((0, 0)) == f"{path}:3"


def test_an_operand_is_verified_by_its_table(tmp_path: Path) -> None:
    path = tmp_path / "c.txt"
    path.write_text(draw(by_element("C", 32), "+--+"), encoding="utf-8")
    assert verify_index(ptx=MMA, operand="C", table=str(path)).exit() == 0
    text = path.read_text().replace("C[M][N]", "C[N][M]")
    path.write_text(text, encoding="utf-8")
    assert verify_index(ptx=MMA, operand="C", table=str(path)).exit() == 1


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("B[K][N],0,1\n", "a table of registers without a register"),
        ("A[M][K],0\n0,v0{0}\n", "c.csv:1: a matrix M x K, expected K x N"),
        ("B[K][N],0\n0,v0{0},v0{1}\n", "c.csv:2: 3 fields, the header has 2"),
        ("B[K][N],0\n0,w0{0}\n", "c.csv:2: expected a register such as v0{16} or v0{16}.[15:0], found 'w0{0}'"),
        ("B[K][N],0\nx,v0{0}\n", "c.csv:2: expected an integer, found 'x'"),
        ("B[K][N],0\n0,v0{0}\nB[K][N],0\n", "c.csv:3: a second block: give the table of one block"),
        ("lane,v0\n0,A[0][0].B1\n", "c.csv:2: a second block, A[0][0].B1"),
        ("lane,v0,w\n0,A[0][0],A[0][1]\n", "c.csv:2: expected a register such as v0 or v0.[15:0], found 'w'"),
        ("lane,v0\n0,3\n", "c.csv:2: expected an element such as A[0][1], found '3'"),
    ],
)
def test_what_is_no_table_is_one_line(text: str, problem: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("c.csv").write_text(text, encoding="utf-8")
    with pytest.raises(MapError) as raised:
        read_table(Path("c.csv"), Columns(INPUTS, (Axis("k", 16), Axis("n", 8)), {}))
    assert problem in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.long
@pytest.mark.parametrize("count", [100, pytest.param(many(1_000), marks=pytest.mark.slow)])
def test_changed_tables_end_in_a_map_or_a_line(count: int, tmp_path: Path) -> None:
    rng, path = Random(count), tmp_path / "b.csv"
    texts, read_ = [csv(by_element()), csv(by_lane()), draw(by_lane(), "+--+")], 0
    for number in range(count):
        text = texts[number % 3]
        at = rng.randrange(len(text))
        path.write_text(text[:at] + rng.choice([*"0123456789,|[]{}:v.x\n", ""]) + text[at + rng.randrange(1, 3) :])
        try:
            read_table(path, Columns(INPUTS, (Axis("k", 16), Axis("n", 8)), {}))
            read_ += 1
        except MapError as error:
            assert "\n" not in str(error)
    assert count // 20 < read_ < count
