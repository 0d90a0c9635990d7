# SPDX-License-Identifier: Apache-2.0
"""Functions of subjects: a copy atom's are its maps to bits; a family's members are subjects of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

import layouts.atoms
from layouts.atoms import registry
from tests.verify.atom.test_command import ENTRY, RIGHT_B, user_file
from verify.__main__ import main as lanecheck
from verify.lock.functions import of_file

COPY = """
["MY_LDSM"]
ptx  = ["ldmatrix.sync.aligned.m8n8.x1.shared.b16"]
thr  = "32:1"
Src  = "((8,4),128):((128,0),1)"
Dst  = "(32,(32,1)):(32,(1,0))"
Ref  = "(32,(32,1)):(32,(1,0))"
bits = { Src = 1, Dst = 1 }
"""


def test_a_copy_atom_has_maps_to_bits(tmp_path: Path) -> None:
    entries = of_file(Path(user_file(tmp_path, text=COPY)), "f", registry())
    if entries.errors:
        pytest.fail("; ".join(map(str, entries.errors)))
    (subject,) = entries.items
    assert set(subject.maps) == {"thr", "Src", "Dst"} or set(subject.maps) == {"thr", "Src", "Dst", "Ref"}
    assert subject.maps["Dst"](5, 3) == (163,)


def test_members_of_a_family_are_subjects(tmp_path: Path) -> None:
    text = ENTRY.format(number="{X}", B=RIGHT_B) + "params = { X = [1, 2] }\n"
    entries = of_file(Path(user_file(tmp_path, text=text)), "f", registry())
    assert [(subject.name, subject.table) for subject in entries.items] == [
        ("MINE_1", "MINE_{X}"),
        ("MINE_2", "MINE_{X}"),
    ]
    assert entries.items[0].maps == entries.items[1].maps


def test_a_layout_that_is_not_well_formed_is_locked_as_its_text(tmp_path: Path) -> None:
    text = ENTRY.format(number=0, B="((4,8),(2,2)):((16,1),8)")
    (subject,) = of_file(Path(user_file(tmp_path, text=text)), "f", registry()).items
    assert set(subject.maps) == {"thr", "A", "C"} and subject.says["B"] == "((4,8),(2,2)):((16,1),8)"


@pytest.mark.slow
def test_every_atom_of_an_architecture_is_locked_and_unchanged(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    files = [str(Path(layouts.atoms.__file__).with_name("sm80.toml"))]
    assert lanecheck(["lock", *files, "--lock", str(tmp_path / "a.lock")]) == 0
    assert lanecheck(["lock", "--check", "--lock", str(tmp_path / "a.lock")]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert int(last.split()[0]) > 50 and last.endswith(" 0 not; exit 0")


def test_coordinates_outside_the_tile_are_no_other_element(tmp_path: Path) -> None:
    """Element 32 of 8x16 is (n=0, k=4), and (n=32, k=0) is outside."""
    texts = ("((4,8),(2,2)):((2@1,1@0),(1@1,8@1))", "((4,8),(2,2)):((16@0,1@0),(8@0,64@0))")
    inside, outside = (
        of_file(Path(user_file(tmp_path, text=ENTRY.format(number=0, B=text))), "f", registry()).items[0].maps["B"]
        for text in texts
    )
    assert (inside(1, 0), outside(1, 0)) == ((0, 2), (16, 0))
    assert [n + 8 * k for row in inside.rows() for n, k in row] == [n + 8 * k for row in outside.rows() for n, k in row]
    assert inside != outside
