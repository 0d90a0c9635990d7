# SPDX-License-Identifier: Apache-2.0
"""docs/atoms.md: each of its entries is verified as printed, and its table of an instruction is the shipped one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import isa_tables
from layouts.atoms import copying, mma
from verify.atom import command as atom

TEXT = (Path(__file__).parents[2] / "docs" / "atoms.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)


def test_the_entries_are_verified(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("\n".join(block for block in BLOCKS if block.startswith('["')), encoding="utf-8")
    assert atom.main(["--atoms", str(path), "-q", "--require", "isa"]) == 0
    assert capsys.readouterr().out.startswith("7 subjects: 7 verified; ")


def test_the_instruction_is_the_shipped_one() -> None:
    shipped = (Path(isa_tables.__file__).parent / "ptx" / "mma_m16n8k4_tf32.toml").read_text(encoding="utf-8")
    assert next(block for block in BLOCKS if block.startswith("schema")) in shipped


def test_every_key_is_explained() -> None:
    keys = {*mma.REQUIRED, *mma.OPTIONAL, *copying.REQUIRED, *copying.OPTIONAL, "params"}
    assert not {key for key in keys if f"`{key}" not in TEXT and f"\n{key:<6} =" not in TEXT}
