# SPDX-License-Identifier: Apache-2.0
"""The ISA tables against everything that was recorded, and errors planted in the tables."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gpu_checks import recordings
from isa_tables.signature import signature
from tests.gpu_checks.isa_against_recordings import HOME, Tally, compare, compare_move

LIBRARY = recordings()
FAMILY = {name: signature(name).family for name in LIBRARY}


def compare_family(family: str, home: Path = HOME, only: str = "") -> Tally:
    """All recordings of a family whose mnemonics match, against the tables of a folder."""
    tally = Tally()
    for name in LIBRARY:
        if FAMILY[name] == family and re.search(only, name):
            for recording in LIBRARY[name]:
                compare(recording, home, tally)
    return tally


@pytest.mark.slow
@pytest.mark.parametrize("family", sorted(set(FAMILY.values())))
def test_the_isa_tables_are_what_was_recorded(family: str) -> None:
    tally = compare_family(family)
    assert tally.points and tally.wrong == {}


def test_moves_are_as_the_isa_tables_have_them() -> None:
    tally = Tally()
    for name in LIBRARY.moves:
        for recorded in LIBRARY.moves[name]:
            compare_move(recorded, HOME, tally)
    assert tally.wrong == {} and set(tally.points) == {"bytes", "addresses"}


DENSE, SPARSE, WIDE, THIN = "mma.sync", "mma.sp.sync", "wgmma.mma_async.sync", "wgmma.mma_async.sp.sync"
# family, file of the tables, its text, the planted text
PLANTED = [
    ("dp4a", "ptx/dp4a", 'col    = "i"', 'col    = "3 - i"'),
    ("dp2a", "ptx/dp2a", 'row    = "i"', 'row    = "1 - i"'),
    (DENSE, "ptx/mma_m16n8k16_16b", 'col    = "groupID"', 'col    = "groupID ^ 1"'),
    (DENSE, "ptx/mma_m16n8k256_b1", "+ (i & 0x1F) if i < 64", "+ i if i < 64"),  # as the ISA prints it
    (DENSE, "ptx/mma_m8n8k4_f64", '(threadID_in_group * 2) + (i & 0x1)"', '(threadID_in_group * 2) + 1 - i"'),
    (DENSE, "ptx/mma_m8n8k4_16b", 'col  = "i if %laneid < 16 else i+4"', 'col  = "i if %laneid >= 16 else i+4"'),
    (SPARSE, "ptx/mma.sp_m16n8k16_16b", "threadID_in_group == F", "threadID_in_group == 3 - F"),
    (SPARSE, "ptx/mma.sp_m16n8k16_16b", "9 = [1, 2]", "9 = [2, 3]"),
    (SPARSE, "ptx/mma.sp_m16n8k8_tf32", "+ 8 * (i // 16)", "+ 8 * (1 - i // 16)"),
    (WIDE, "ptx/wgmma_m64nNk16_16b", "+ 8 * (i // 2 % 2)", "+ 8 * (1 - i // 2 % 2)"),
    (WIDE, "ptx/wgmma_m64nNk32_8b", "threadID_in_group * 4 + i % 4", "threadID_in_group * 4 + 3 - i % 4"),
    (WIDE, "memory/wgmma", ">> 7) & 3) << 4", ">> 7) & 1) << 4"),
    (WIDE, "memory/wgmma", "mn % 8 * 16 + mn // 8 * sbo", "(mn % 8 ^ 1) * 16 + mn // 8 * sbo"),
    (THIN, "ptx/wgmma.sp_m64nNk64_8b", "32 * (threadID_in_group // 2) + i", "32 * (threadID_in_group // 2) + (i ^ 4)"),
    (THIN, "ptx/wgmma.sp_m64nNk32_16b", "threadID_in_group // 2 == F", "threadID_in_group % 2 == F"),
    (THIN, "ptx/wgmma.sp_m64nNk32_16b", "+ i % 2 + 8 * (i // 4)", "+ (1 - i % 2) + 8 * (i // 4)"),
    (THIN, "ptx/wgmma.sp_m64nNk16_tf32", "14 = [1]", "14 = [0]"),
]
MOVED = [
    (
        "ptx/ldmatrix_m8n8",
        'row  = "8 * (i // 2) + 2 * threadID_in_group + i % 2"',
        'row  = "2 * threadID_in_group + i"',
    ),
    ("ptx/stmatrix_m8n8", 'col    = "2 * threadID_in_group + i % 2"', 'col    = "2 * threadID_in_group + 1 - i % 2"'),
    ("ptx/stmatrix_m8n8", "%laneid < 8 * num", "%laneid < 4 * num"),
    ("ptx/movmatrix_m8n8", 'row    = "2 * threadID_in_group + i"', 'row    = "2 * threadID_in_group + 1 - i"'),
]


def change_tables(folder: Path, file: str, *changes: tuple[str, str]) -> Path:
    """A copy of the tables with other words in one file."""
    for part in ("ptx", "memory"):
        shutil.copytree(HOME / part, folder / part, dirs_exist_ok=True)
    path = folder / f"{file}.toml"
    text = path.read_text()
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    path.write_text(text)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(("family", "file", "old", "new"), PLANTED)
def test_a_planted_error_is_contradicted(family: str, file: str, old: str, new: str, tmp_path: Path) -> None:
    only = r"m64n8k.*(f16.f16.f16|e4m3.e4m3|tf32)$" if family in (WIDE, THIN) else ""
    assert compare_family(family, change_tables(tmp_path, file, (old, new)), only).wrong


@pytest.mark.parametrize(("file", "old", "new"), MOVED)
def test_a_planted_error_of_a_move_is_contradicted(file: str, old: str, new: str, tmp_path: Path) -> None:
    home, tally = change_tables(tmp_path, file, (old, new)), Tally()
    for name in LIBRARY.moves:
        compare_move(LIBRARY.moves[name][0], home, tally)
    assert tally.wrong


@pytest.mark.parametrize("name", [".m16n8k16.row.col.f32.f16", ".m64n8k32.f32.f16.f16"])
def test_a_gpu_that_ignores_the_selector_or_takes_another_lanes_metadata_is_contradicted(name: str) -> None:
    (recording,) = next(LIBRARY[mnemonic] for mnemonic in LIBRARY if name in mnemonic and ".sp." in mnemonic)
    rulers = recording.metadata.rulers
    rotated = {f: np.roll(ruler, 1, axis=0) for f, ruler in rulers.items()}
    for wrong in (dict.fromkeys(rulers, rulers[0]), rotated):
        tally = Tally()
        compare(replace(recording, metadata=recording.metadata._replace(rulers=wrong)), HOME, tally)
        assert set(tally.wrong) == {"rulers"}


@pytest.mark.long
def test_metadata_by_analogy_is_contradicted_as_the_gpu_contradicted_it(tmp_path: Path) -> None:
    """With the bits of two rows in a lane, as 16-bit elements have them, 12288 of 60416 rulers are wrong."""
    by_analogy = (
        ('"groupID + 8 * (threadID_in_group % 2)"', '"groupID + 8 * (i // 16)"'),
        ('col    = "i"', 'col    = "16 * (threadID_in_group % 2) + i % 16"'),
    )
    for file in ("mma.sp_m16n8k32_8b", "mma.sp_m16n8k64_4b"):
        change_tables(tmp_path / file, f"ptx/{file}", *by_analogy)
    shutil.copy(tmp_path / "mma.sp_m16n8k64_4b/ptx/mma.sp_m16n8k64_4b.toml", tmp_path / "mma.sp_m16n8k32_8b/ptx")
    both = [compare_family(f, tmp_path / "mma.sp_m16n8k32_8b") for f in (SPARSE, "mma.sp::ordered_metadata.sync")]
    assert sum(tally.points["rulers"] for tally in both) == 60416
    assert [set(tally.wrong) for tally in both] == [{"rulers"}] * 2
    assert sum(tally.wrong["rulers"] for tally in both) == 12288
