# SPDX-License-Identifier: Apache-2.0
"""Which (thread, value) are in the cells of a picture: of an operand that is kept whole, and of a window alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from verify import verify_atom
from verify.layout import command as layout
from verify.maps import blocks
from verify.maps.map import Map
from verify.pictures import elements
from verify.pictures.picture import WHOLE, Picture, Window

LAYOUTS = {
    "plain": "(128,128):(128,1)",
    "swizzled": "Sw<3,0,4> o (128,128):(128,1)",
    "coordinates": "(128,128):(1@1,1@0)",
    "several owners": "(128,128):(1,64)",
    "before the tile": "(128,128):(-1,128)",
    "beyond the tile": "(128,128):(2@0,1@1)",
    "coordinates before the tile": "(128,(2,64)):(1@0,(-3@0,2@1))",
}


def draw(text: str, window: Window) -> Picture:
    (case,) = layout.onto_tile(text, (128, 128)).cases
    assert case.picture is not None
    return case.picture(window)


@pytest.mark.long
@pytest.mark.parametrize("text", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("rows", [range(3, 5), range(120, 128)])
def test_a_window_of_a_large_operand_is_that_of_one_that_is_kept_whole(
    text: str, rows: range, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = draw(text, WHOLE)
    monkeypatch.setattr(elements, "LARGEST", 1 << 13)
    cropped = draw(text, (rows, range(60, 70)))
    assert cropped.panels[0].cells == whole.panels[0].crop(rows, range(60, 70)).cells
    assert cropped.notes == whole.notes


@pytest.mark.parametrize("text", ["(4,4):(-1@0,1@1)", "(4,4):(1@0,4@0)", "(4,4):(1@0,-1@1)"])
def test_coordinates_outside_the_tile_have_no_cell(text: str) -> None:
    """(m=4, n=0) of a 4x4 tile is not the element 4, which is (m=0, n=1)."""
    (case,) = layout.onto_tile(text, (4, 4)).cases
    assert case.picture is not None
    picture = case.picture(WHOLE)
    (panel,) = picture.panels
    assert sum(bool(cell.lines) for cell in panel.every()) == 4
    assert picture.notes[0].endswith("and 9 more")


IN_MEMORY = """
["mine"]
ptx = "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16"
shape = [64, 64, 16]
thr = "128:1"
A = "(128,(64,16)):(0,(1,64))"
B = "(128,(64,16)):(0@0,(1@0,8@1))"
C = "((4,8,4),(2,2,8)):((128,1,16),(64,8,512))"
space = { A = "smem", B = "smem" }
"""


@pytest.mark.long
def test_an_operand_in_memory_whose_coordinates_leave_the_tile_is_drawn(tmp_path: Path) -> None:
    """Every thread has the same values, so one is drawn; k=16 and beyond are outside."""
    path = tmp_path / "mine.toml"
    path.write_text(IN_MEMORY, encoding="utf-8")
    (case,) = verify_atom(path).cases
    assert case.picture is not None
    panel = next(panel for panel in case.picture(WHOLE).panels if panel.name == "B")
    assert panel.heading.endswith(", by every thread")
    assert sum(bool(cell.lines) for cell in panel.every()) == 64 * 2  # k = 0 and 8


def test_a_block_that_plain_integers_do_not_give_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    (case,) = layout.onto_tile("(128,128):(128,1)", (128, 128)).cases
    assert case.picture is not None
    monkeypatch.setattr(elements, "LARGEST", 1 << 13)
    right = blocks.read_block

    def wrong(m: Map, start: int, stop: int) -> object:
        x, y = (column.copy() for column in right(m, start, stop))
        x[513], y[513] = 7, 0  # T4 V1, not one of the points that are evaluated again
        return x, y

    monkeypatch.setattr(blocks, "read_block", wrong)
    with pytest.raises(blocks.EvaluationMismatch, match="T4 V1: 513 by itself, 7 among all points"):
        case.picture((range(8), None))
