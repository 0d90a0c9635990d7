# SPDX-License-Identifier: Apache-2.0
"""A user's file: what an entry may leave out, how all errors of a file are reported, and which command reads it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from layouts import LayoutError
from layouts.atoms import Atom, IncompleteAtom, load
from layouts.tiled.atom import MmaAtom
from verify.atom import command as atom
from verify.binding.completion import complete_atom
from verify.movement import command as movement
from verify.tiling import command as tiling

MMA = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"


MINIMAL = f"""["MIN"]
ptx = "{MMA}"
A = "((4,8),(2,2,2)):((32,1),(16,8,128))"
B = "((4,8),(2,2)):((16,1),(8,64))"
C = "((4,8),(2,2)):((32,1),(16,8))"
"""


FULL = MINIMAL + 'shape = [16, 8, 16]\nthr = "32:1"\ntypes = { D = "f32", A = "f16", B = "f16", C = "f32" }\n'


TILING = '["t"]\natom = "SM80_16x8x16_F32F16F16F32_TN"\n'


MOVEMENT = '["m"]\nshared = "(32,8):(8,1)"\naccess = "(32,8):(1,32)"\nelement = 16\n'


def run(capsys: pytest.CaptureFixture[str], path: Path, text: str, *options: str) -> tuple[int, str, str]:
    """The exit code, output and errors of `verify.atom` on a file with this text."""
    path = path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    code = atom.main([str(path), *options])
    captured = capsys.readouterr()
    return code, captured.out, captured.err.replace(str(path), "F")


def test_a_tiling_of_an_entry_with_gaps_names_them(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(MINIMAL, encoding="utf-8")
    (entry,) = load(path)
    assert isinstance(entry, IncompleteAtom)
    with pytest.raises(LayoutError, match="MIN leaves shape, thr, types to its instruction"):
        MmaAtom.of(entry)
    whole = complete_atom(entry)
    assert isinstance(whole, Atom) and MmaAtom.of(whole).shape == (16, 8, 16)


def test_names_and_files_mix_and_capitals_do_not_count(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, tmp_path, MINIMAL + FULL.replace("MIN", "OTHER"), "other", "--list")
    assert (code, out) == (0, "OTHER\n")
    assert atom.main(["sm80_16x8x16_f32f16f16f32_tn", "--list"]) == 0
    assert capsys.readouterr().out == "SM80_16x8x16_F32F16F16F32_TN\n"
    assert atom.main([str(tmp_path / "absent.toml")]) == 2
    assert "absent.toml: cannot be read: No such file" in capsys.readouterr().err


@pytest.mark.parametrize("tuple_", ["2x2x1", "2,2,1", "(2,2,1)"])
def test_a_tuple_of_numbers_is_read_in_every_spelling(
    tuple_: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["--atom", "SM80_16x8x16_F32F16F16F32_TN", "--tile", "64x64x32", "--list", "--atoms-layout"]
    assert tiling.main([*line, tuple_]) == 0
    path = tmp_path / "mine.toml"
    path.write_text(f'{TILING}atoms_layout = "{tuple_}"\n', encoding="utf-8")
    assert tiling.main([str(path), "--list"]) == 0
    path.write_text(FULL.replace("[16, 8, 16]", '"16x8x16"'), encoding="utf-8")
    assert [atom.shape for atom in load(path) if isinstance(atom, Atom)] == [(16, 8, 16)]
    assert capsys.readouterr().err == ""


EMPTY = [
    ["--atoms-layout", "():()"],
    ["--permutation", "_,():(),_"],
    ["--smem-a", "():()"],
    ["--smem-a", "Sw<1,1,1> o ():()"],
    ["--tile", "()"],
]


@pytest.mark.parametrize("option", EMPTY, ids=" ".join)
def test_an_empty_mode_is_no_fault_of_ours(option: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert tiling.main(["--atom", "SM80_16x8x16_F32F16F16F32_TN", *option]) in (0, 2)
    assert "internal error" not in capsys.readouterr().err


def list_refuted(capsys: pytest.CaptureFixture[str], path: Path, text: str) -> list[tuple[str, str, str]]:
    """The refuted claims of the one atom of a file: part, property and reason, in the order of the report."""
    code, out, _ = run(capsys, path, text, "--format", "json")
    assert code == 1
    verdicts = json.loads(out)["subjects"][0]["verdicts"]
    return [
        (v["part"], v["property"], v["counterexample"]["statement"] + "|" + (v["counterexample"]["repair"] or ""))
        for v in verdicts
        if v["status"] == "REFUTED"
    ]


THREADS = {"(4,8):(8,1)": "permutes the lanes", "(2,16):(16,1)": "permutes the lanes", "16:1": "has 16 threads, not 32"}


@pytest.mark.long
@pytest.mark.parametrize("thr", THREADS)
def test_wrong_threads_are_the_fault_alone(thr: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (fault,) = list_refuted(capsys, tmp_path, FULL.replace("32:1", thr))
    assert fault[:2] == ("thr", "threads")
    assert fault[2].startswith(f"{thr} {THREADS[thr]}: with 32:1 A, B, C are the instruction's")
    also = list_refuted(capsys, tmp_path, FULL.replace("32:1", thr).replace("(16,8,128)", "(8,16,128)"))
    assert {"A", "B", "C"} <= {part for part, _, _ in also}  # A is wrong in any order


def test_operands_and_threads_permuted_alike_are_right(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = FULL.replace("32:1", "(8,4):(4,1)").replace("((4,8),(2,2,2)):((32,1)", "((8,4),(2,2,2)):((1,32)")
    text = text.replace("((4,8),(2,2)):((16,1)", "((8,4),(2,2)):((1,16)")
    text = text.replace("((4,8),(2,2)):((32,1)", "((8,4),(2,2)):((1,32)")
    assert run(capsys, tmp_path, text, "--checks", "isa")[0] == 0


@pytest.mark.long
@pytest.mark.parametrize("shape", ["[16, 8, 8]", "[16, 16, 16]", "[8, 16, 16]"])
def test_a_wrong_shape_is_reported_first_and_once(
    shape: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    faults = list_refuted(capsys, tmp_path, FULL.replace("[16, 8, 16]", shape))
    claimed = shape.strip("[]").replace(", ", "x")
    assert [(part, why) for part, _, why in faults] == [
        ("shape", f"shape is {claimed}, the instruction's is 16x8x16|give shape = [16, 8, 16]")
    ]
    out = run(capsys, tmp_path, FULL.replace("[16, 8, 16]", shape))[1]
    assert "shape" in out.splitlines()[0] and f"extents {claimed}" not in out


def test_an_atom_with_two_owners_of_each_element_should_state_copies(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = FULL.replace(f'ptx = "{MMA}"', "ptx = []")
    assert run(capsys, tmp_path, text, "--checks", "isa", "--allow-unchecked")[0] == 0
    twice = text.replace("((4,8),(2,2)):((16,1),(8,64))", "((4,8),(2,2,2)):((16,1),(8,64,0))")
    kinds = {kind: why for part, kind, why in list_refuted(capsys, tmp_path, twice) if part == "B"}
    assert kinds["size"] == "the layout has 32 threads x 8 values, its tile 32 x 4|"
    assert "each element has 2 owners: `copies = { B = 2 }` states that" in run(capsys, tmp_path, twice)[1]
    assert run(capsys, tmp_path, twice + "copies = { B = 2 }\n", "--checks", "isa", "--allow-unchecked")[0] == 0
    uneven = text.replace("((4,8),(2,2)):((16,1),(8,64))", "((4,8),(2,2,2)):((16,1),(8,64,1))")
    assert all("copies" not in why for _, _, why in list_refuted(capsys, tmp_path, uneven))


def test_every_layout_of_a_movement_that_cannot_be_read_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('["m"]\nshared = "(32,8):(8,"\naccess = "(32"\nelement = 16\nwidht = 3\n', encoding="utf-8")
    assert movement.main([str(path)]) == 2
    err = capsys.readouterr().err
    assert [f"mine.toml:{place}: m." in err for place in ("2:21", "3:14", "5:1")] == [True] * 3
