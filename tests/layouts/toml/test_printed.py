# SPDX-License-Identifier: Apache-2.0
"""The printed block of a TiledMMA, of C++ and of the CuTe DSL, is read as an atom's file."""

from __future__ import annotations

from pathlib import Path

import pytest

from layouts.atoms import AtomFileError, load
from layouts.toml.printed import as_toml

DSL = """Tiled MMA
  Thr Layout VMNK: (32,2,2,1):(1,32,64,0)
  Permutation MNK: (32:1,32:1,16:1)
MMA Atom
  ThrID:           32:1
  Shape MNK:       (16,8,16)
  TV Layout A:     ((4,8),(2,2,2)):((32,1),(16,8,128))
  TV Layout B:     ((4,8),(2,2)):((16,1),(8,64))
  TV Layout C:     ((4,8),(2,2)):((32,1),(16,8))
"""
CPP = """TiledMMA
  ThrLayoutVMNK:  (_32,_2,_2,_1):(_1,_32,_64,_0)
  PermutationMNK: (_,_,_)
MMA_Atom
  ThrID:      _32:_1
  Shape_MNK:  (_16,_8,_16)
  LayoutA_TV: ((_4,_8),(_2,_2,_2)):((_32,_1),(_16,_8,_128))
  LayoutB_TV: ((_4,_8),(_2,_2)):((_16,_1),(_8,_64))
  LayoutC_TV: ((_4,_8),(_2,_2)):((_32,_1),(_16,_8))
"""


def write_text(folder: Path, text: str) -> Path:
    path = folder / "printed.txt"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("text", [DSL, CPP, DSL.replace("\n", "\r\n"), f"\n\nprint(tiled_mma)\n{DSL}\ndone"])
def test_a_block_is_an_atom(text: str, tmp_path: Path) -> None:
    (atom,) = load(write_text(tmp_path, text))
    assert (atom.name, atom.ptx) == ("printed", None)
    assert atom.shape == (16, 8, 16)
    assert atom.operands["C"].replace("_", "") == "((4,8),(2,2)):((32,1),(16,8))"


def test_a_line_names_the_instruction(tmp_path: Path) -> None:
    (atom,) = load(write_text(tmp_path, f"{DSL}  PTX: mma.x\n"))
    assert atom.ptx == ("mma.x",)


def test_several_blocks_are_numbered(tmp_path: Path) -> None:
    assert [atom.name for atom in load(write_text(tmp_path, DSL + CPP))] == ["printed", "printed 2"]


def test_an_error_has_the_line_of_the_text(tmp_path: Path) -> None:
    with pytest.raises(AtomFileError, match=r"printed\.txt:8:\d+: printed\.B: cannot read"):
        load(write_text(tmp_path, DSL.replace("(16,1),(8,64)", "(16,1,(8,64)")))
    wrong = DSL.replace("(16,1),(8,64)", "(16,1),(8,?)")
    for before, line in (("", 8), (DSL, 17)):  # a block before it shifts no line
        with pytest.raises(AtomFileError) as raised:
            load(write_text(tmp_path, before + wrong))
        assert raised.value.place[0] == line
        printed, caret = raised.value.caret_lines.splitlines()
        assert printed.strip() == "TV Layout B:     ((4,8),(2,2)):((16,1),(8,?))"
        assert printed[caret.index("^") :] == "?))"
    with pytest.raises(AtomFileError, match="C: missing"):
        load(write_text(tmp_path, "\n".join(DSL.splitlines()[:-1])))


def test_any_other_text_is_left_as_it_is() -> None:
    for text in ('["mine"]\nptx = "mma.x"', "", "MMA Atom of mine", "x\ny"):
        assert as_toml(text, "mine") == (text, [])


def test_hostile_lines_stay_in_their_strings() -> None:
    toml = as_toml('MMA Atom\n  ThrID: 32:1"\nA = "x\\\n  Shape MNK: (1,\x00"', 'na"me')[0]
    assert toml.splitlines()[0] == '["na\\"me"]'
    assert 'thr = "32:1\\""' in toml
    assert "\x00" not in toml
