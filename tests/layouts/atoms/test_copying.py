# SPDX-License-Identifier: Apache-2.0
"""An entry of a copy atom is read as it is written, or rejected with its key named."""

from pathlib import Path

import pytest

from layouts.atoms import Adapter, AtomFileError, CopyAtom, load

GOOD = """\
["MINE"]
ptx    = ["ldmatrix.sync.aligned.m8n8.x2.shared.b16"]
thr    = "32:1"
Src    = "((16,2),128):((128,0),1)"
Dst    = "(32,(32,2)):(32,(1,1024))"
Ref    = "(32,(32,2)):(32,(1,1024))"
space  = { Src = "smem", Dst = "reg" }
bits   = { Src = 16, Dst = 16 }
copies = { Src = 2 }
source = "a test"
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text)
    return path


def with_line(key: str, line: str) -> str:
    return "".join(line + "\n" if old.split("=")[0].strip() == key else old for old in GOOD.splitlines(keepends=True))


def test_an_entry_is_read_as_it_is_written(tmp_path: Path) -> None:
    (atom,) = load(write(tmp_path, GOOD + 'adapter = { name = "swap", bytes = [1, 0] }'))
    assert isinstance(atom, CopyAtom)
    assert atom.operands == {
        "Src": "((16,2),128):((128,0),1)",
        "Dst": "(32,(32,2)):(32,(1,1024))",
        "Ref": "(32,(32,2)):(32,(1,1024))",
    }
    assert atom.space == {"Src": "smem", "Dst": "reg"}
    assert (atom.bits, atom.copies) == ({"Src": 16, "Dst": 16}, {"Src": 2})
    assert atom.adapter == Adapter("swap", (1, 0))


WRONG = [
    ("Src", "", "MINE.Src", "missing"),
    ("Ref", "", "MINE.Ref", "missing"),
    ("space", 'space = { Src = "smem", Dst = "disk" }', "MINE.space.Dst", "expected one of reg, smem, gmem, tmem"),
    ("bits", "bits = { Src = 3 }", "MINE.bits.Src", "128 bits per thread do not pack elements of 3 bits"),
    ("bits", "bits = { Dst = 24 }", "MINE.bits.Dst", "64 bits per thread do not pack elements of 24 bits"),
    ("bits", "bits = { Ref = 8 }", "MINE.bits.Ref", "unknown key"),
    ("bits", 'bits = { Src = "16" }', "MINE.bits.Src", "found a string"),
    ("copies", "copies = { Src = 3 }", "MINE.copies.Src", "4096 points of Src do not divide by 3"),
    ("copies", "copies = { Ref = 2 }", "MINE.copies.Ref", "unknown key"),
    ("source", 'adapter = "swap"\nsource = "x"', "MINE.adapter", "expected a table of name and bytes"),
    ("source", 'adapter = { name = "swap" }\nsource = "x"', "MINE.adapter.bytes", "missing"),
    ("source", 'adapter = { name = "x", bytes = [0, 2] }\nsource = "x"', "MINE.adapter.bytes", "each of 0..n-1 once"),
    ("source", 'adapter = { name = "x", bytes = [0, true] }\nsource = "x"', "MINE.adapter.bytes", "each of 0..n-1"),
    ("source", 'adapter = { name = "x", bytes = [] }\nsource = "x"', "MINE.adapter.bytes", "do not pack"),
    ("source", 'adapter = { name = "x", bytes = [2, 1, 0] }\nsource = "x"', "MINE.adapter.bytes", "groups of 3 bytes"),
    ("source", 'shape = [8, 8, 8]\nsource = "x"', "MINE.shape", "unknown key"),
    ("Dst", 'Dst = "(32,(32,2)):(32,(1,1024)"', "MINE.Dst", "at column"),
]


@pytest.mark.parametrize(("replaced", "line", "key", "problem"), WRONG, ids=map(str, range(len(WRONG))))
def test_what_does_not_fit_is_named(tmp_path: Path, replaced: str, line: str, key: str, problem: str) -> None:
    with pytest.raises(AtomFileError) as caught:
        load(write(tmp_path, with_line(replaced, line)))
    assert caught.value.key == key
    assert problem in caught.value.problem


@pytest.mark.parametrize("key", ["Src", "Dst", "Ref", "thr"])
@pytest.mark.parametrize("swizzle", ["Sw<0,4,3> o ", "S<0,0,0> o 0 o ", "Sw< 0, 4, 3 > o 0 o "])
def test_a_swizzle_of_no_bits_is_the_identity(key: str, swizzle: str, tmp_path: Path) -> None:
    (atom,) = load(write(tmp_path, GOOD))
    line = next(line for line in GOOD.splitlines() if line.startswith(f"{key} "))
    (swizzled,) = load(write(tmp_path, with_line(key, line.replace('"', f'"{swizzle}', 1))))
    assert swizzled == atom


@pytest.mark.parametrize("swizzle", ["Sw<1,4,3> o ", "Sw<0,4,3> o 8 o "])
def test_any_other_swizzle_of_an_operand_of_a_copy_is_rejected(swizzle: str, tmp_path: Path) -> None:
    wrong = GOOD.replace('"((16,2)', f'"{swizzle}((16,2)')
    with pytest.raises(AtomFileError, match="expected a plain layout"):
        load(write(tmp_path, wrong))
