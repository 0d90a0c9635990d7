# SPDX-License-Identifier: Apache-2.0
"""Copies by an instruction of a user's own table: another parameter is another cache key, for every check."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from isa_tables import tables
from tests.isa_tables.planting import plant_table
from verify.atom import command as atom

TEXT = (tables.SHIPPED / "ldmatrix_m8n8.toml").read_text()
ROW = 'row    = "8 * (i // 2) + groupID"'
NAMED = "ldmatrix.sync.aligned.m8n8.x{num}{trans}{ss}.{R}"
COPY = """["{name}"]
ptx    = ["ldmatrix.sync.aligned.m8n8.x4.shared.{flag}b16"]
thr    = "32:1"
Src    = "(32,128):(128,1)"
Dst    = "{dst}"
Ref    = "{dst}"
space  = {{ Src = "smem", Dst = "reg" }}
source = "a test"
"""
EVEN = "(32,(32,4)):(32,(1,1024))"


def with_row(row: str, param: str, flag: str) -> str:
    """ldmatrix.m8n8 with another row for each parameter or selection."""
    assert ROW in TEXT
    text = TEXT.replace(ROW, f'row    = "{row}"').replace(NAMED, NAMED.replace(".{R}", f".{flag}{{R}}"))
    return text.replace("param    = {", param)


@pytest.mark.long
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_instructions_whose_parameters_differ_share_no_evidence(
    order: tuple[int, int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both formulas have one text; `odd` exchanges neighbouring rows, so the layout is wrong where it is 1."""
    row = "8 * (i // 2) + (groupID ^ odd)"
    text = with_row(row, "param    = { odd = [0, 1], ", "odd{odd}.")
    file = tmp_path / "atoms.toml"
    file.write_text("".join(COPY.format(name=f"WITH_{odd}", flag=f"odd{odd}.", dst=EVEN) for odd in order))
    with plant_table(tmp_path / "ldmatrix_m8n8_new.toml", text):
        assert atom.main(["--atoms", str(file)]) == 1
    output = capsys.readouterr().out
    heads = re.findall(r"^WITH_(\d) +(?:\w+ +)?(VERIFIED|REFUTED)", output, re.MULTILINE)
    assert heads == [(str(odd), ("VERIFIED", "REFUTED")[odd]) for odd in order]
    assert "also proof REFUTED" in output


def test_what_the_text_selects_and_the_atom_leaves_open_is_unchecked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = "8 * (i // 2) + (groupID ^ odd)"
    text = with_row(row, "select   = { odd = [0, 1] }\nparam    = { x = [1], ", "x{x}.")
    file = tmp_path / "atoms.toml"
    file.write_text(COPY.format(name="OPEN", flag="x1.", dst=EVEN))
    with plant_table(tmp_path / "ldmatrix_m8n8_new.toml", text):
        assert atom.main(["--atoms", str(file), "--require", "isa"]) == 4
    output = capsys.readouterr().out
    assert "UNCHECKED" in output
    assert "the bits that it moves depend on odd, which the atom leaves open" in output
