# SPDX-License-Identifier: Apache-2.0
"""Maps of tensor memory and shared memory: right ones are verified both ways, wrong ones refuted with the place."""

from __future__ import annotations

from pathlib import Path

import pytest

from verify.index.command import main

D2 = "tcgen05.mma.cta_group::2.kind::f16"
SCALED = "tcgen05.mma.cta_group::1.kind::mxf4.block_scale"
COPY = "tcgen05.cp.cta_group::1.128x128b"
WGMMA = "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16"
SWIZZLED = ["--memory", "swizzle=128B", "--memory", "major=K", "--memory", "sbo=1024"]
BYTE = "m/8*1024 + ((m%8*128 + k*2) ^ (m%8 << 4))"
OF_D = ["--ptx", D2, "--operand", "D", "--select", "N=16", "--lang", "c"]
OF_A = ["--ptx", WGMMA, "--operand", "A", "--lang", "c", *SWIZZLED]


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    """The exit code and what is printed, on stdout and stderr."""
    code = main(words)
    captured = capsys.readouterr()
    return code, " ".join((captured.out + captured.err).replace("\\\n", "").split())


@pytest.mark.long
@pytest.mark.parametrize(
    "words",
    [
        [*OF_D, "--cta", "m/128", "--lane", "m%128", "--column", "n"],
        [*OF_D, "--row", "cta*128 + lane", "--col", "column"],
        ["--ptx", SCALED, "--operand", "SFA", "--lang", "c", "--lane", "row%32 + 32*copy", "--column", "row%128/32",
         "--byte", "col"],
        ["--ptx", COPY, "--operand", "T", "--lang", "python", "--lane", "row", "--column", "col"],
        [*OF_A, "--byte", BYTE],
        [*OF_A, "--row", "byte/1024*8 + byte%1024/128", "--col", "(byte ^ (byte/128%8 << 4))%128/2"],
    ],
)  # fmt: skip
def test_a_right_map_is_verified(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    code, text = run(capsys, *words)
    assert code == 0, text
    assert "claims: 4 proved" in text


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (
            [*OF_D, "--cta", "m/64%2", "--lane", "m%128", "--column", "n"],
            "m 64, n 0: map (cta=1, TMEM lane=64, TMEM column=0), ISA (cta=0, TMEM lane=64, TMEM column=0); "
            "(cta=1, TMEM lane=64, TMEM column=0) belongs to m 192, n 0 cta: 64/64%2 = 1",
        ),
        (
            [*OF_D, "--cta", "m/128", "--lane", "m%128", "--column", "n*2"],
            "m 0, n 1: map (cta=0, TMEM lane=0, TMEM column=2), ISA (cta=0, TMEM lane=0, TMEM column=1)",
        ),
        ([*OF_D, "--row", "lane + cta*64", "--col", "column"], "cta 1, TMEM lane 0, TMEM column 0: map (m=64, n=0)"),
        (
            [
                "--ptx",
                SCALED,
                "--operand",
                "SFA",
                "--lang",
                "c",
                "--lane",
                "row%32",
                "--column",
                "row/32",
                "--byte",
                "col",
            ],
            "m 0, block 0 has one image, 4 wanted",
        ),
        (
            [*OF_A, "--byte", BYTE.replace("<< 4", "<< 3")],
            "m 1, k 0: map (byte=136), ISA (byte=144); (byte=136) belongs to m 1, k 12",
        ),
        ([*OF_A, "--byte", "m/8*1024 + m%8*128 + k"], "m 0, k 1: map (byte=1), ISA (byte=2)"),
    ],
)
def test_a_wrong_map_is_refuted_with_its_place(
    words: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, text = run(capsys, *words)
    assert code == 1
    assert problem in text


def test_two_elements_at_one_place_are_found(capsys: pytest.CaptureFixture[str]) -> None:
    code, text = run(capsys, *OF_D, "--cta", "m/128", "--lane", "m%64", "--column", "n")
    assert code == 1
    both = "m 0, n 0 and m 64, n 0 both have (cta=0, TMEM lane=0, TMEM column=0), which has one owner in the ISA"
    assert both in text
    assert "4096 of 4096 have another number of owners" in text


def test_a_repair_is_in_the_users_own_words(capsys: pytest.CaptureFixture[str]) -> None:
    code, text = run(capsys, *OF_A, "--byte", BYTE.replace("<< 4", "<< 3"))
    assert code == 1
    assert f"repair one constant: byte = {BYTE}" in text


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (
            [*OF_D, "--lane", "m", "--column", "n"],
            "--lane: D is in tensor memory: give cta and lane and column, or inv",
        ),
        ([*OF_D, "--lane", "m", "--value", "n"], "--lane: D is in tensor memory: give cta and lane and column"),
        ([*OF_D, "--row", "i", "--col", "0"], "unknown name 'i': a place of memory has no values"),
        ([*OF_D, "--row", "m", "--column", "n"], "--column: is of an operand in memory, row is given too; write col"),
        ([*OF_D, *SWIZZLED, "--byte", "m"], "--memory: D is in tensor memory: it has no swizzle"),
        ([*OF_A[:-6], "--byte", "m"], "--memory: missing swizzle: A is in shared memory; give memory = {"),
        ([*OF_A, "--memory", "swizzle=7", "--byte", "m"], "--memory: no 7 K-major layout; there are:"),
        ([*OF_A, "--memory", "sbo=-8", "--byte", "m"], "--memory: sbo is a number of bytes, found '-8'"),
        (
            [*OF_A, "--memory", "stride=8", "--byte", "m"],
            "--memory: unknown 'stride': known are swizzle, major, lbo, sbo",
        ),
        (
            ["--ptx", WGMMA, "--operand", "A", *SWIZZLED, "--bases", "{register = [], lane = []}"],
            "--bases: A is in shared memory: give byte, or inversely row",
        ),
        (["--ptx", WGMMA, "--operand", "D", "--byte", "lane"], "--byte: D of wgmma.mma_async.sync.aligned.m64n64k16"),
        (["--ptx", WGMMA, "--operand", "D", *SWIZZLED, "--row", "0", "--col", "0"], "--memory: D of wgmma.mma_async"),
    ],
)
def test_what_is_wrong_is_one_line(words: list[str], problem: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = run(capsys, *words)
    assert code == 2
    assert problem in text


@pytest.mark.long
def test_tables_functions_and_files_have_the_same_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"{m},{n},{m // 128},{m % 128},{n}" for m in range(256) for n in range(16)]
    (tmp_path / "d.csv").write_text("\n".join(["row,col,cta,lane,column", *rows]), encoding="utf-8")
    (tmp_path / "d.py").write_text("def place(m, n): return m // 128, m % 128, n\n", encoding="utf-8")
    path = tmp_path / "maps.toml"
    path.write_text(
        f'["t"]\nptx = "{D2}"\noperand = "D"\ntable = "d.csv"\n'
        f'["f"]\nptx = "{D2}"\noperand = "D"\nfunction = "d.py::place"\n'
        f'["e"]\nptx = "{WGMMA}"\nlang = "c"\nA = {{ byte = "{BYTE}", '
        'memory = { swizzle = "128B", major = "K", sbo = 1024 } }\n',
        encoding="utf-8",
    )
    code, text = run(capsys, str(path), "--allow-exec")
    assert code == 0, text
    assert "3 subjects: 3 verified" in text
