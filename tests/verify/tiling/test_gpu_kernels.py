# SPDX-License-Identifier: Apache-2.0
"""`lanecheck export`: shipped tilings are those derived today, a user's are exported or rejected."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_checks.banks.command import patterns
from gpu_checks.tilings import tilings
from gpu_checks.tilings.runner import draw, hash_of
from tests.gpu_checks.tilings import tiled_machine
from tests.gpu_checks.tilings.test_tilings import block
from tests.messages import RANGE_FROM_1
from verify.tiling import gpu_kernels
from verify.tiling.gpu_kernels import compare_run, list_shipped, main

DERIVED = list(list_shipped())


@pytest.mark.long
def test_the_shipped_tilings_are_the_ones_derived_today():
    """Else write them anew with `lanecheck export -o`, and record those whose kernels differ."""
    assert [tiling.name for tiling in DERIVED] == [tiling.name for tiling in tilings()]
    for derived, tiling in zip(DERIVED, tilings(), strict=True):
        assert derived == tiling and hash_of(derived) == hash_of(tiling)


def test_the_model_of_bank_conflicts_is_what_the_gpu_showed_in_every_pattern():
    pairs = list(compare_run())
    assert [observed.pattern for observed, _ in pairs] == list(patterns())
    assert [(observed.pattern.name, model) for observed, model in pairs] == [
        (observed.pattern.name, observed.wavefronts) for observed, _ in pairs
    ]


def test_a_wrong_model_is_reported_with_both_numbers(capsys, monkeypatch):
    first, _ = next(compare_run())
    monkeypatch.setattr(gpu_kernels, "compare_run", lambda: [(first, 3)])
    assert main([]) == 1
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "0 of 1 access patterns take the wavefronts that layouts counts",
        "  load 32, stride 1: 3, observed 1",
    ]


def test_the_command_compares_what_is_shipped_with_what_is_derived(capsys):
    assert main([]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "31 of 31 shipped tilings are those derived today",
        "31 of 31 recorded runs equal numpy, with the kernels of today",
        f"{len(patterns())} of {len(patterns())} access patterns take the wavefronts that layouts counts",
    ]


def test_a_tiling_that_differs_is_named(capsys, monkeypatch):
    changed = DERIVED[0]._replace(name="other")
    monkeypatch.setattr(gpu_kernels, "list_shipped", lambda: [changed, *DERIVED[1:]])
    assert main([]) == 1
    assert capsys.readouterr().out.splitlines()[:2] == [
        f"{len(DERIVED) - 1} of {len(DERIVED)} shipped tilings are those derived today",
        "  other",
    ]


GIVEN = """
[mine]
atom = "SM80_16x8x16_F32F16F16F32_TN"
atoms_layout = "2,2,1"
permutation = "_,(8,2,2):(1,16,8),_"
tile = "64,64,64"
smem = { A = "Sw<3,3,3> o (8,64):(64,1)" }
[scalar]
atom = "UniversalFMA<float,float,float,float>"
atoms_layout = "16,4,1"
"""


def test_tilings_that_a_user_gives_are_exported(tmp_path):
    (tmp_path / "mine.toml").write_text(GIVEN)
    assert main([str(tmp_path / "mine.toml"), "-o", str(tmp_path / "mine.jsonl")]) == 0
    mine, scalar = tilings(tmp_path / "mine.jsonl")
    assert (mine.name, mine.threads, mine.A.shared.swizzle) == ("mine", 128, (3, 3, 3))
    assert (scalar.threads, scalar.product.tile) == (64, (16, 4, 1))
    for tiling in (mine, scalar):
        matrices = draw(tiling, 3)
        assert np.array_equal(tiled_machine.block(tiling, matrices, 1, 1), block(tiling, matrices))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('tile = "64,64,64"', 'tile = "64,48,64"', "mine: N = 48 of B isn't a multiple of the tile's 32"),
        ("SM80_16x8x16_F32F16F16F32_TN", "SM80_16x8x16_F32F16F16F32_TM", "no atom is named"),
        ("(8,64):(64,1)", "(8,128):(128,1)", "mine: "),
        ("atom =", "atoms =", "mine"),
    ],
)
def test_what_cannot_be_exported_is_an_error_of_one_line(tmp_path, capsys, old, new, expected):
    (tmp_path / "mine.toml").write_text(GIVEN.replace(old, new))
    assert main([str(tmp_path / "mine.toml")]) == 2
    out, err = capsys.readouterr()
    assert out == "" and expected in err and len(err.splitlines()) == 1


WAYS = [
    (["--major", "A=MN"], ("MN", "K"), ("", ""), None),
    (["--major", "B=MN", "--ldmatrix", "A", "--ldmatrix", "B"], ("K", "MN"), ("x4.m8n8", "x4.trans.m8n8"), None),
    (["--ldmatrix", "B", "--size", "100,67,72"], ("K", "K"), ("", "x4.m8n8"), (28, 61, 56)),
]


@pytest.mark.parametrize(("words", "majors", "loads", "short"), WAYS)
def test_a_user_says_how_operands_lie_who_reads_them_and_where_the_matrices_end(tmp_path, words, majors, loads, short):
    (tmp_path / "mine.toml").write_text(GIVEN.partition("[scalar]")[0].replace("smem", "# smem"))
    assert main([str(tmp_path / "mine.toml"), *words, "-o", str(tmp_path / "mine.jsonl")]) == 0
    (mine,) = tilings(tmp_path / "mine.jsonl")
    assert (mine.A.major, mine.B.major) == majors and mine.short == short
    for feed, shape in zip((mine.A, mine.B), loads, strict=True):
        assert (feed.load is None) if not shape else f"aligned.{shape}." in feed.load.mnemonic
    matrices = draw(mine, 3)
    assert np.array_equal(tiled_machine.block(mine, matrices, 1, 1), block(mine, matrices))


@pytest.mark.parametrize(
    ("major", "tile", "swizzle"),
    [("K", "64,64,64", 3), ("K", "64,64,32", 2), ("K", "64,64,16", 1), ("MN", "64,64,32", 3), ("MN", "64,96,32", 2)],
)
def test_shared_memory_that_is_not_given_is_what_wgmma_reads(tmp_path, major, tile, swizzle):
    atom = f"SM90_64x{tile.split(',')[1]}x16_F32F16F16_SS"
    (tmp_path / "mine.toml").write_text(f'[mine]\natom = "{atom}"\ntile = "{tile}"\n')
    assert main([str(tmp_path / "mine.toml"), "--major", f"B={major}", "-o", str(tmp_path / "mine.jsonl")]) == 0
    (mine,) = tilings(tmp_path / "mine.jsonl")
    assert mine.B.shared.swizzle == (swizzle, 3, 3)
    matrices = draw(mine, 3)
    assert np.array_equal(tiled_machine.block(mine, matrices, 1, 1), block(mine, matrices))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--major", "C=MN"], "--major C=MN: expected A=K, A=MN, B=K or B=MN, each operand once"),
        (["--major", "A=K", "--major", "A=MN"], "each operand once"),
        (["--size", "1,2"], "expected three extents for M, N, K, found 2"),
        (["--size", "0,64,64"], f"{RANGE_FROM_1} 65536, found '0'"),
    ],
)
def test_wrong_options_are_errors_of_one_line(tmp_path, capsys, words, expected):
    (tmp_path / "mine.toml").write_text(GIVEN)
    assert main([str(tmp_path / "mine.toml"), *words]) == 2
    out, err = capsys.readouterr()
    assert out == "" and expected in err and len(err.splitlines()) == 1
    assert main(words) == 2
    assert "for the tilings of a FILE: give a FILE too" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("atom", "words", "expected"),
    [
        (
            "SM80_16x8x32_S32S8S8S32_TN",
            ["--ldmatrix", "A"],
            "ldmatrix is exported for elements of 16 bits, not of 8",
        ),
        ("SM80_16x8x64_S32S4S4S32_TN", [], "elements of 4 bits, as A's are, have no address of their own"),
        ("SM90_64x64x16_F32F16F16_SS", ["--ldmatrix", "A"], "itself: ldmatrix cannot be used"),
        ("SM90_64x64x32_S32S8S8_SS_TN", ["--major", "B=MN"], "reads K-major matrices; A and B are K and MN-major"),
        ("SM90_64x8x8_F32TF32TF32_SS_TN", ["--major", "B=MN"], "reads K-major matrices"),
        ("SM70_8x8x4_F32F16F16F32_TN", [], "the instructions multiply 1024 pairs of elements; the tile"),
    ],
)
def test_tilings_without_a_kernel_are_errors_with_the_reason(tmp_path, capsys, atom, words, expected):
    (tmp_path / "mine.toml").write_text(f'[mine]\natom = "{atom}"\n')
    assert main([str(tmp_path / "mine.toml"), *words]) == 2
    out, err = capsys.readouterr()
    assert out == "" and expected in err and len(err.splitlines()) == 1
