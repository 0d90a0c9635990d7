# SPDX-License-Identifier: Apache-2.0
"""Pictures of tilings have the threads that the ISA's map, repeated by hand, gives each element."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree.ElementTree import tostring

import isa_tables
from verify.pictures import html
from verify.pictures.picture import Picture
from verify.show import subjects
from verify.show.command import parser


def test_a_tile_has_every_thread_and_the_steps_end_at_one_threads_elements(tmp_path: Path) -> None:
    path = tmp_path / "tile.toml"
    path.write_text('["small"]\natom = "SM80_16x8x8_F32F16F16F32_TN"\natoms_layout = [2, 1, 1]\ntile = [32, 16, 8]\n')
    options = parser().parse_args([str(path)])
    (picture,) = subjects.draw_arguments(options).pictures
    (c,) = [panel for panel in picture.panels if panel.name == "C"]
    mma = isa_tables.instruction("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32").operands["C"]
    for lane in range(32):
        for value in range(4):
            row, column = mma.locate(lane, value)
            for warp, repeat in ((0, 0), (1, 0), (0, 1), (1, 1)):  # warps along m, repeated along n
                cell = c.cells[row + 16 * warp][column + 8 * repeat]
                assert cell.lines == (f"T{lane + 32 * warp}", f"V{value + 4 * repeat}") and cell.shade == warp
    (steps,) = subjects.draw_arguments(parser().parse_args([str(path), "--thread", "37"])).pictures
    held = {panel.name: sorted(int(cell.text) for cell in panel.every() if cell.marked) for panel in steps.panels}
    mine = sorted(
        16 * r + col for r, row in enumerate(c.cells) for col, cell in enumerate(row) if cell.lines[0] == "T37"
    )
    assert [held[f"C{step}"] for step in range(6)] == [mine] * 6 and len(mine) == 8


def draw(path: Path, *words: str) -> Picture:
    (picture,) = subjects.draw_arguments(parser().parse_args([str(path), *words])).pictures
    return picture


def test_a_large_tile_is_its_warps_and_the_threads_of_a_part(tmp_path: Path) -> None:
    path = tmp_path / "tile.toml"
    path.write_text('["large"]\natom = "SM80_16x8x8_F32F16F16F32_TN"\natoms_layout = [2, 1, 1]\ntile = [64, 48, 8]\n')
    panels = {panel.name: panel for panel in draw(path).panels}
    assert [*panels] == ["A", "B", "C", "C part"]
    assert [[cell.text for cell in row] for row in panels["C"].cells] == [["W0"] * 3, ["W1"] * 3] * 2
    assert panels["C"].labels == (("0..15", "16..31", "32..47", "48..63"), ("0..15", "16..31", "32..47"))
    (whole,) = draw(path, "--operand", "C", "--rows", "0:64").panels
    part = panels["C part"]
    assert part.heading == "C: m 0..15, n 0..7" and part.detail and not panels["C"].detail
    assert [[cell.lines for cell in row] for row in part.cells] == [
        [cell.lines for cell in row[:8]] for row in whole.cells[:16]
    ]
    assert all(cell.shade == int(cell.lines[0][1:]) % 8 for cell in part.every())  # by thread: the warp is above
    assert [panel.name for panel in draw(path, "--operand", "C").panels] == ["C", "C part"]


def test_the_part_that_is_drawn_has_the_counterexample_and_no_wrong_block_looks_right(tmp_path: Path) -> None:
    """Both warps have the first 16 rows of each tiled MMA: an element has two owners there, and none elsewhere."""
    path = tmp_path / "tile.toml"
    path.write_text(
        '["wrong"]\natom = "SM80_16x8x8_F32F16F16F32_TN"\natoms_layout = [2, 1, 1]\ntile = [64, 48, 8]\n'
        'C = "((4,8,2),(2,2)):((64,1,0),(32,8))"\n'
    )
    panels = {panel.name: panel for panel in draw(path).panels}
    assert [[cell.fault for cell in row] for row in panels["C"].cells] == [["several"] * 3, ["missing"] * 3] * 2
    assert any(cell.marked for cell in panels["C part"].every())
    assert "256 elements with several owners" in panels["C"].cells[0][0].about


def test_of_a_page_the_parts_are_drawings_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "tile.toml"
    path.write_text('["large"]\natom = "SM80_16x8x8_F32F16F16F32_TN"\natoms_layout = [2, 1, 1]\ntile = [64, 64, 32]\n')
    picture = draw(path)
    made = tostring(html.figure(picture), encoding="unicode")
    whole, parts = made.split('class="lc-parts"')
    assert "W1" in whole and not re.search(r">T\d", whole)
    for heading in ("A: m 0..15, k 0..7", "B: n 0..7, k 0..15", "C: m 0..15, n 0..7"):
        assert f">{heading}<" in parts
    ids = re.findall(r' id="([^"]*)"', made)
    assert len(ids) == len({*ids}) > 8
    assert ", below thread % 8" in picture.legend()[7][1]
