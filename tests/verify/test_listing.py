# SPDX-License-Identifier: Apache-2.0
"""`lanecheck list`: every kind, a registered one too, and names by a part or a glob."""

from __future__ import annotations

import json

import pytest

from tests.messages import NO_KIND
from tests.verify.toy import TOY
from verify import kinds
from verify.__main__ import main

ATOM = "SM80_16x8x16_F32F16F16F32_TN"
MMA = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"


def test_without_a_pattern_it_lists_the_kinds(capsys: pytest.CaptureFixture[str]) -> None:
    with kinds.register(TOY):
        assert main(["list"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert [line.split()[0] for line in lines] == [kind.name for kind in kinds.all()]
    assert any(line.startswith("atom ") and line.endswith(" names") for line in lines)
    assert "rotation     a TOML file of rotations" in lines


def test_a_pattern_is_a_part_of_a_name_or_a_glob(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "16X8x16_f32f16", "--kind", "atom"]) == 0
    assert ATOM in capsys.readouterr().out.splitlines()
    assert main(["list", "mma.sync*m16n8k16*", "f32.f16"]) == 0
    assert capsys.readouterr().out.splitlines() == [MMA]
    assert main(["list", "ldsm", "ldmatrix", "--format", "json"]) == 2
    capsys.readouterr()
    assert main(["list", "x4", "trans", "--format", "json"]) == 0
    assert "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16" in json.loads(capsys.readouterr().out)["instructions"]


def test_a_pattern_is_a_short_name_of_an_instruction(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "mma.m16n8k16.f32.f16", "sync.aligned"]) == 0
    assert MMA in capsys.readouterr().out.splitlines()
    assert main(["list", "mma.m16n8k9"]) == 2


def test_names_of_several_kinds_have_heads(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "tr"]) == 0
    out = capsys.readouterr().out
    assert "atoms:\n" in out and "projects:\n  triton\n" in out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["tritom"], "no name has 'tritom' in it; nearest: triton"),
        (["triton", "zz9"], "no name has 'zz9' in it"),
        (["--kind", "tiling"], "tilings have no names: they are given by files or texts"),
        (["--kind", "tilings"], f"{NO_KIND} 'tilings'"),
    ],
)
def test_nothing_is_one_line(words: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", *words]) == 2
    out, err = capsys.readouterr()
    assert out == "" and says in err and err.count("\n") == 1
