# SPDX-License-Identifier: Apache-2.0
"""A short name is taken where all that it may mean have one map, at every point; else each map is listed once."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

import isa_tables
from verify.__main__ import main
from verify.core.errors import SpecError
from verify.maps.fragment_map import FragmentMap
from verify.maps.map import grid
from verify.maps.short_names import describe, expand, find_instruction

C = '--operand C --lang c --row "lane/4 + 8*(i/2)" --col "lane%4*2 + i%2"'
F32 = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"


def points(mnemonic: str, name: str) -> list[object]:
    """The map of an operand, point by point."""
    m = FragmentMap.from_operand(isa_tables.instruction(mnemonic).operands[name])
    return [m.images[point] for point in grid(m.inputs)]


@pytest.mark.long
@pytest.mark.parametrize(
    ("short", "operand"), [("mma.m16n8k16", "C"), ("mma.m16n8k32.s32", "C"), ("wgmma.m64n64k16", "D")]
)
def test_all_that_it_may_mean_have_one_map(short: str, operand: str) -> None:
    meant = expand(short)
    chosen = find_instruction("ptx", short, [operand], isa_tables.instruction).signature.mnemonic
    assert len(meant) > 1 and chosen == meant[0] and ("f32" in chosen) == any("f32" in name for name in meant)
    assert all(points(name, operand) == points(chosen, operand) for name in meant)


def test_maps_that_differ_are_listed_once_each_f32_first() -> None:
    with pytest.raises(SpecError) as raised:
        find_instruction("ptx", "mma.m16n8k16", ["A"], isa_tables.instruction)
    text = str(raised.value)
    assert text.startswith(f"ptx: A of mma.m16n8k16 may be 3 maps, give one: {F32} (2 more alike), ")
    listed = [word for word in text.replace(",", "").split() if word.startswith("mma.sync")]
    assert len({str(points(name, "A")) for name in listed}) == len(listed) == 3


def test_elements_of_another_width_are_another_map_where_widths_count() -> None:
    name = "mma.m16n8k16.f16.f16"
    assert find_instruction("from", name, ["D"], isa_tables.instruction)
    with pytest.raises(SpecError, match=r"D of mma\.m16n8k16\.f16\.f16 may be 2 maps"):
        find_instruction("from", name, ["D"], isa_tables.instruction, widths=True)


def test_a_mnemonic_is_itself_in_any_order_of_its_words() -> None:
    swapped = "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32.satfinite"
    assert expand(F32) == expand(swapped) == () and describe(F32, ["C"]) == ""


@pytest.mark.parametrize("line", [f"index --ptx mma.m16n8k16 {C}", f"index --ptx {F32} {C}"])
def test_the_report_names_what_it_may_mean(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(shlex.split(line)) == 0
    out = " ".join(capsys.readouterr().out.split())
    said = f"mma.m16n8k16 is {F32}; C has the same map in mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e4m3.f32, "
    assert (said in out) == ("--ptx mma.m16n8k16" in line)


def test_wherever_an_instruction_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "maps.toml"
    assert main(["init", "map", str(file), "--ptx", "mma.m16n8k16", *shlex.split(C)]) == 0
    assert main(["check", str(file), "-q"]) == 0
    layout = ["((4,8),(2,2)):((32,1),(16,8))", "--ptx", "mma.m16n8k16", "--operand", "C"]
    assert main(["layout", *layout]) == 0
    assert main(["show", *layout]) == 0
    assert main(["show", "mma.m16n8k8.f32.f16"]) == 0
    load = "ldmatrix.sync.aligned.m8n8.x4.shared.b16"
    assert main(["movement", "--from", load, "--to", "mma.m16n8k16.f32.f16", "--major", "K"]) == 0
    assert "mma.m16n8k16.f32.f16 is mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (f"index --ptx mma.m16n8k17 {C}", "--ptx: 'mma.m16n8k17': the ISA has no such mma instruction"),
        ("index --ptx mma.m16n8k16 --operand A --row lane --col i", "--ptx: A of mma.m16n8k16 may be 3 maps"),
        ("layout 4:1 --ptx mma.m16n8k16 --operand A", "--ptx: A of mma.m16n8k16 may be 3 maps"),
        ("show mma.m16n8k16", "mma.m16n8k16 may be 3 maps, give one: "),
        ("movement --from ldmatrix.x4 --to mma.m16n8k16.f32.f16 --major K", "--from: R of ldmatrix.x4 may be 3 maps"),
    ],
)
def test_a_name_of_several_maps_is_one_line(line: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(shlex.split(line)) == 2
    out, err = capsys.readouterr()
    assert out == "" and says in err and err.count("\n") == 1
