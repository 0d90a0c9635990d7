# SPDX-License-Identifier: Apache-2.0
"""Pictures of tilings have the threads that the ISA's map, repeated by hand, gives each element."""

from __future__ import annotations

from pathlib import Path

import isa_tables
from verify.show import subjects
from verify.show.command import parser


def test_a_tile_has_every_thread_and_the_steps_end_at_one_threads_elements(tmp_path: Path) -> None:
    path = tmp_path / "tile.toml"
    path.write_text('["small"]\natom = "SM80_16x8x8_F32F16F16F32_TN"\natoms_layout = [2, 1, 1]\ntile = [32, 16, 8]\n')
    options = parser().parse_args([str(path)])
    (picture,) = subjects.shown(options).pictures
    (c,) = [panel for panel in picture.panels if panel.name == "C"]
    mma = isa_tables.instruction("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32").operands["C"]
    for lane in range(32):
        for value in range(4):
            row, column = mma.locate(lane, value)
            for warp, repeat in ((0, 0), (1, 0), (0, 1), (1, 1)):  # warps along m, repeated along n
                cell = c.cells[row + 16 * warp][column + 8 * repeat]
                assert cell.lines == (f"T{lane + 32 * warp}", f"V{value + 4 * repeat}") and cell.shade == warp
    (steps,) = subjects.shown(parser().parse_args([str(path), "--thread", "37"])).pictures
    held = {panel.name: sorted(int(cell.text) for cell in panel.every() if cell.marked) for panel in steps.panels}
    mine = sorted(
        16 * r + col for r, row in enumerate(c.cells) for col, cell in enumerate(row) if cell.lines[0] == "T37"
    )
    assert [held[f"C{step}"] for step in range(6)] == [mine] * 6 and len(mine) == 8
