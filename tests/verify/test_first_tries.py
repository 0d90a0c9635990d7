# SPDX-License-Identifier: Apache-2.0
"""What new users try first: each wrong line is answered in one line that says the way out."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.messages import NO_CLAIM, TWO_COLONS
from verify.__main__ import main

ROOT = Path(__file__).parents[2]
FILES = {
    "a.cu": "__global__ void k() {}\n",
    "x.py": "def f(lane, i):\n    return lane, i\ndef gemm(lane, i):\n    return lane, i\n",
    "notes.txt": "nothing\n",
}
KERNEL, CLAIM, ATOMS = "kernel/fragment.ptx", "kernel/fragment.toml", "my_atoms.toml"
MMA = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
COMPILED = f"this is a compiled kernel: lanecheck check {KERNEL} --claim CLAIM.toml"
IS_CLAIM = f"this is the claim of a kernel: lanecheck check KERNEL.ptx {CLAIM}"
IS_CUDA = "this is CUDA C++, which nvcc compiles: lanecheck check a.cu CLAIM.toml, or give its index arithmetic"
IS_ATOMS = f"this is a file of atoms: lanecheck check {ATOMS}"
SHAPE = "a shape needs strides, as (4,8):(1,4) or (4,8):(8,1)"
BEGUN = "11 begin so, give one: SM80_16x8x16_F16F16F16F16_TN, SM80_16x8x16_F32F16F16F32_TN, "
NO_CLAIM = f"{NO_CLAIM} Give --claim CLAIM.toml, which `lanecheck init claim CLAIM.toml` begins"
LINES = {
    f"check {KERNEL}": NO_CLAIM,
    "check x.py::f": NO_CLAIM,
    "check none.ptx": "none.ptx: there is no such file",
    "check a.cu": NO_CLAIM,
    "check a.cu::k": NO_CLAIM,
    "check none.cu": "none.cu: there is no such file",
    f"check {KERNEL}::k": NO_CLAIM,
    "show a.cu": f"{IS_CUDA}, `lanecheck index --row … --col …`",
    "index a.cu": IS_CUDA,
    "check ''": "'' names nothing: give a file, a layout in quotes, or a name",
    "scan ''": "'' is the name of no file or folder",
    "lock ''": "'' is the name of no file",
    "check notes.txt": "notes.txt: no command reads this file",
    "check x.py": "x.py: name a function of it: x.py::f, x.py::gemm",
    "check x.py:f": f"x.py:f: {TWO_COLONS} x.py::f",
    "check x.py::gemn": "x.py has no 'gemn'; nearest: gemm",
    "check x.py::q": "x.py has no 'q'; it has f, gemm",
    f"atom {KERNEL}": COMPILED,
    f"tiling {KERNEL}": COMPILED,
    f"index {KERNEL}": COMPILED,
    f"layout {KERNEL}": COMPILED,
    f"identify {KERNEL}": COMPILED,
    f"show {KERNEL}": COMPILED,
    f"lock {KERNEL}": COMPILED,
    f"scan {KERNEL}": COMPILED,
    f"scan {CLAIM}": IS_CLAIM,
    f"scan {ATOMS}": IS_ATOMS,
    "scan a.cu": IS_CUDA,
    "scan x.py": "x.py: name a function of it: x.py::f, x.py::gemm",
    "atom mma.m16n8k16": "`lanecheck check mma.m16n8k16` verifies the atoms that issue it",
    f"atom {CLAIM}": IS_CLAIM,
    f"tiling {CLAIM}": IS_CLAIM,
    f"movement {CLAIM}": IS_CLAIM,
    f"layout {CLAIM}": IS_CLAIM,
    f"identify {CLAIM}": IS_CLAIM,
    f"show {CLAIM}": IS_CLAIM,
    f"lock {CLAIM}": IS_CLAIM,
    f"kernel {ATOMS}": f"{ATOMS} isn't PTX: {IS_ATOMS}",
    f"kernel {KERNEL} --claim {ATOMS}": f"{ATOMS} isn't a claim: {IS_ATOMS}",
    "kernel x.py:f": "two colons: x.py::f",
    "kernel x.py": "name a function of it: x.py::f, x.py::gemm",
    f"index --ptx {MMA} --operand C --function x.py:f": "two colons: x.py::f",
    f"index --ptx {MMA} --operand C --function x.py": "expected FILE.py::function, found 'x.py'",
    f"index --ptx {MMA} --operand C --function x.py::gemn": "x.py has no 'gemn'; nearest: gemm",
    "identify x.py:f": "two colons: x.py::f",
    "identify x.py": "name a function of it: x.py::f, x.py::gemm",
    "show x.py": "name a function of it: x.py::f, x.py::gemm",
    "show '(4,8)'": SHAPE,
    "check '(4,8)'": SHAPE,
    "layout 4": "a shape needs strides, as 4:1",
    "movement --from SM80_16x8x16 --to SM80_16x8x16": BEGUN,
    "identify SM80_16x8x16:B": BEGUN,
    "check SM80_16x8x1": "no atom is named 'SM80_16x8x1'; 13 begin so, give one: SM80_16x8x16_F16F16F16F16_TN, ",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a user's files and our examples, in which the command runs, outside CI."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    for name in ("kernel", ATOMS):
        (tmp_path / name).symlink_to(ROOT / "examples" / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CI", raising=False)
    return tmp_path


@pytest.mark.parametrize("line", LINES)
def test_a_wrong_line_has_a_way_out(line: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(shlex.split(line)) == 2
    out, err = capsys.readouterr()
    assert out == "" and LINES[line] in err
    assert err.startswith("lanecheck: ") and err.count("\n") == 1


@pytest.mark.parametrize("text", ["Layout('(4,8):(1,4)')", 'Layout.parse("(4,8):(1,4)")'])
def test_a_layout_as_python_prints_it_is_read(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", text, "--onto", "32"]) == 0
    assert main(["show", text]) == 0
    assert main(["layout", text, "--equals", "(4,8):(1,4)", "-q"]) == 0
