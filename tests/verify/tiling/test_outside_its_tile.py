# SPDX-License-Identifier: Apache-2.0
"""`lanecheck tiling` on an atom that leaves its tile, and on an internal error: other tilings are verified."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from layouts.atoms import Atom
from tests.messages import TRACEBACK
from tests.verify.tiling.command import F16, run
from verify.tiling import bind, command, properties
from verify.tiling.bind import Tiling
from verify.tiling.spec import TilingSpec

OUTSIDE = {
    "(16,64)": (2, 2, 128, "(m=0, n=8)", 32),
    "(16,-8)": (0, 2, -8, "(m=8, n=-1)", 8),
}


def own(path: Path, strides: str = "(16,8)") -> str:
    """A file with README's atom of one's own, its accumulators' value strides as given."""
    path.write_text(
        '["mine"]\nshape = [16, 8, 16]\nthr = "32:1"\ntypes = { D = "f32", A = "f16", B = "f16", C = "f32" }\n'
        'A = "((4,8),(2,2,2)):((32,1),(16,8,128))"\nB = "((4,8),(2,2)):((16,1),(8,64))"\n'
        f'C = "((4,8),(2,2)):((32,1),{strides})"\nsource = "mine"\n'
    )
    return str(path)


NO_PLAIN = {  # layouts of C that are read point by point, and the plain ones that are the same maps
    "((4,8),(2,2)):((2@1,1@0),(1@1,8@0))": "((4,8),(2,2)):((32,1),(16,8)) is the same map and would do",
    "((4,8),(2,2)):((32@0,1@0),(16@0,8@0))": "it is the map of no plain layout",  # it leaves the tile
    "Sw<1,4,2> o 0 o ((4,8),(2,2)):((32,1),(16,8))": "it is the map of no plain layout",
}


@pytest.mark.parametrize("layout", NO_PLAIN)
def test_an_atom_with_a_swizzle_or_coordinates_is_rejected(
    layout: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A TiledMMA is made of plain layouts: none of its claims would be checked."""
    atoms = own(tmp_path / "atoms.toml")
    Path(atoms).write_text(Path(atoms).read_text().replace("((4,8),(2,2)):((32,1),(16,8))", layout))
    code, out, err = run(capsys, "--atoms", atoms, "--atom", "mine", "--atoms-layout", "2,2,1")
    what = f"C = {layout} has a swizzle or coordinates, the layouts of a tiled MMA have none"
    assert (code, out) == (2, "") and err == f"lanecheck: mine: {what}; {NO_PLAIN[layout]}\n"


def test_what_is_ill_formed_has_a_fault() -> None:
    with pytest.raises(ValueError, match="C = 1:1 has no fault"):
        bind.IllFormed("C", "1:1", "")


@pytest.mark.parametrize("strides", OUTSIDE)
@pytest.mark.parametrize("words", [[], ["--atoms-layout", "2,2,1"], ["--permutation", "_,(8,2):(1,8),_"]])
def test_an_atom_that_leaves_its_tile_is_refuted(
    strides: str, words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The smallest (thread, value) outside, counted out here; no stride, below or beyond, wraps around the tile."""
    thread, value, element, shown, count = OUTSIDE[strides]
    far, step = 16, int(strides[1:-1].split(",")[1])
    elements = {(t, v): t % 4 * 32 + t // 4 + v % 2 * far + v // 2 * step for t in range(32) for v in range(4)}
    outside = [at for at, e in sorted(elements.items()) if not 0 <= e < 128]
    assert (outside[0], elements[outside[0]], len(outside)) == ((thread, value), element, count)
    atoms = own(tmp_path / "atoms.toml", strides)
    code, out, err = run(capsys, "--atoms", atoms, "--atom", "mine", *words)
    assert (code, err) == (1, "")
    assert "mine  C  REFUTED   the atom's layout stays inside 16x8 (m,n)      exhaustive, 128 points\n" in out
    assert f"  T{thread} V{value} holds {shown}, outside 16x8      " in out
    assert f"  {count} of 128 points fall outside\n" in out and "also proof REFUTED" in out
    code, out, err = run(capsys, "--atoms", atoms, "--atom", "mine", *words, "--explain")
    assert (code, out, err.count("\n"), "leaves 16x8 (m,n)" in err) == (2, "", 1, True)


def test_an_atom_that_leaves_its_tile_costs_no_other_tiling(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "three.toml"
    tables = {"first": F16, "wrong": "mine", "last": F16}
    path.write_text("".join(f'[{name}]\natom = "{atom}"\n' for name, atom in tables.items()))
    atoms = own(tmp_path / "atoms.toml", "(16,-8)")
    code, out, err = run(capsys, str(path), "--atoms", atoms)
    assert (code, err) == (1, "")
    assert [name for name in tables if re.search(rf"^{name} +VERIFIED ", out, re.MULTILINE)] == ["first", "last"]
    line = next(line for line in out.splitlines() if line.startswith("  replay"))
    code, out, err = run(capsys, *shlex.split(line.partition("lanecheck tiling ")[2]))
    assert (code, err, "wrong  C  REFUTED   " in out) == (1, "", True)


def test_an_internal_error_costs_one_tiling(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is an internal error of that tiling, and exit 3 at the end: the others are verified, in every format."""
    path = tmp_path / "three.toml"
    path.write_text("".join(f'[{name}]\natom = "{F16}"\n' for name in ("first", "broken", "last")))
    right = properties.prepare

    def failing(spec: TilingSpec, atom: Atom) -> Tiling:
        if spec.name == "broken":
            raise IndexError("list index out of range")
        return right(spec, atom)

    monkeypatch.setattr(properties, "prepare", failing)
    monkeypatch.setattr(bind, "prepare", failing)
    monkeypatch.setattr(command, "prepare", failing)
    monkeypatch.delenv("LANECHECK_TRACEBACK", raising=False)
    expected = "lanecheck: internal error, broken was not verified: IndexError: list index out of range"
    code, out, err = run(capsys, str(path), "--format", "json")
    document = json.loads(out)
    assert (code, document["exit"], [subject["name"] for subject in document["subjects"]]) == (3, 3, ["first", "last"])
    assert err == f"{expected} {TRACEBACK}\n"
    assert run(capsys, str(path))[1].endswith("; exit 3\n")
    code, out, err = run(capsys, str(path), "--explain")
    assert (code, out.count(": 1x1x1 atom of"), err.startswith(expected)) == (3, 2, True)
    code, out, err = run(capsys, str(path), "--only", "broken")
    assert (code, out, err.startswith(expected)) == (3, "", True)


ACROSS = (
    '["mine"]\nptx = []\nshape = [3, 8, 4]\nthr = "1:1"\ntypes = { D = "f32", A = "f16", B = "f16", C = "f32" }\n'
    'A = "(1,12):(0,1)"\nB = "(1,32):(0,1)"\nC = "(1,(4,6)):(0,(1,4))"\nsource = "mine"\n'
)


@pytest.mark.parametrize("options", [[], ["--explain"], ["--atoms-layout", "1,2,1", "--tile", "96,96,96"]])
def test_an_atom_that_steps_across_its_rows_is_rejected(
    options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By itself (1,(4,6)) has each element of 3x8 once; in a larger tile its modes have no strides."""
    path = tmp_path / "across.toml"
    path.write_text(ACROSS)
    why = "C = (1,(4,6)):(0,(1,4)) steps across the end of m, 3, into n, so in a larger tile it isn't a layout"
    assert run(capsys, "--atoms", str(path), "--atom", "mine", *options) == (2, "", f"lanecheck: mine: {why}\n")
    path.write_text(ACROSS.replace("(4,6)):(0,(1,4))", "(3,8)):(0,(1,3))"))
    assert run(capsys, "--atoms", str(path), "--atom", "mine", *options)[0] == 0
