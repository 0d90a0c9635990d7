# SPDX-License-Identifier: Apache-2.0
"""Bad input of the atlas's kinds of atom: one line that names the file, the key and the numbers, exit 2."""

from pathlib import Path

import pytest

import isa_tables
from verify.atlas import command as atlas
from verify.atom import command as atom
from verify.cli import ending

COPY = """\
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
FAMILY = """\
["MINE_64x{N}x16"]
params = { N = [8, 16] }
ptx    = ["wgmma.mma_async.sync.aligned.m64n{N}k16.f16.f16.f16"]
shape  = [64, "{N}", 16]
thr    = "128:1"
types  = { D = "f16", A = "f16", B = "f16", C = "f16" }
A      = "(128,(64,16)):(0,(1,64))"
B      = "(128,({N},16)):(0,(1,{N}))"
C      = "((4,8,4),(2,2,{N//8})):((128,1,16),(64,8,512))"
space  = { A = "smem", B = "smem" }
source = "a test"
"""
STORE = """\
["MINE"]
ptx    = ["stmatrix.sync.aligned.m8n8.x2.shared.b16"]
thr    = "32:1"
Src    = "(32,(32,2)):(32,(1,1024))"
Dst    = "((16,2),128):((128,0),1)"
Ref    = "(32,(32,2)):(32,(1,1024))"
space  = { Src = "reg", Dst = "smem" }
copies = { Dst = 2 }
source = "a test"
"""
EXTRA = 'E = "((2,2,8,4),(16,2)):((0,1024,1,16),(64,8))"\nsource'
WRONG = [
    (COPY, "Src = 2 }", "Src = 3 }", "MINE.copies.Src: 4096 points of Src do not divide by 3"),
    (COPY, "Src = 16,", "Src = 24,", "MINE.bits.Src: 128 bits per thread do not pack elements of 24 bits"),
    (
        STORE,
        "copies",
        'adapter = { name = "x", bytes = [1, 0] }\ncopies',
        "MINE.adapter: permutes bytes of registers, Dst is",
    ),
    (COPY, "Dst = 16 }", "Dst = 0 }", "MINE.bits.Dst: it should be at least 1, found 0"),
    (COPY, "copies = { Src", "copies = { E", "MINE.copies.E: unknown key"),
    (FAMILY, "N = [8, 16]", "N = [8, 12]", "MINE_64x12x16.C: {N//8}: 12 is not divisible by 8"),
    (FAMILY, "N = [8, 16]", "N = []", "MINE_64x{N}x16.params.N: expected an array"),
    (FAMILY, "N = [8, 16]", "N = [8, 8]", "params.N: a value is listed twice"),
    (FAMILY, "{ N =", "{ M =", "{N} in a name must be a parameter"),
    (FAMILY, "source", EXTRA, "MINE_64x8x16.E: wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 has no operand E"),
    (FAMILY, 'A = "smem"', 'A = "disk"', "MINE_64x8x16.space.A: expected one of reg, smem, tmem"),
    (FAMILY, "space ", "copies = { A = 3 }\nspace ", "MINE_64x8x16.copies.A: 131072 points of A do not divide by 3"),
    (FAMILY, "space ", "copies = { SFA = 2 }\nspace ", "copies.SFA: the atom has no operand SFA"),
]


@pytest.mark.parametrize("command", [atom.main, atlas.main], ids=["atom", "atlas"])
@pytest.mark.parametrize(("text", "old", "new", "said"), WRONG, ids=[row[3].split(":")[0] for row in WRONG])
def test_a_wrong_entry_ends_with_one_line_and_no_traceback(
    command: object, text: str, old: str, new: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert callable(command) and old in text
    path = tmp_path / "mine.toml"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    assert command(["--atoms", str(path)]) == 2
    captured = capsys.readouterr()
    errors = captured.err.count("lanecheck: ")  # one, or one for each atom that its instruction rejects
    assert captured.out == "" and 1 <= errors <= 2
    assert str(path) in captured.err and said in captured.err


@pytest.mark.parametrize("text", [COPY, STORE, FAMILY])
def test_the_unchanged_entries_are_verified(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    assert atom.main(["--atoms", str(path), "-q"]) == 0
    assert "refuted" not in capsys.readouterr().out


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("SM90_64x12x16_F32F16F16_SS", "N = 12 is not one of 8, 16, 24, 32"),
        ("SM90_64x264x16_F32F16F16_SS", "N = 264 is not one of 8, 16, 24"),
        ("SM90_64x40x32_S32S8S8_SS_TN", "N = 40 is not one of 8, 16, 24, 32, 48"),
    ],
)
def test_a_family_has_no_such_member(name: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert atom.main([name]) == 2
    captured = capsys.readouterr()
    assert said in captured.err and len(captured.err.splitlines()) == 1


@pytest.mark.parametrize("command", [atom.main, atlas.main], ids=["atom", "atlas"])
def test_a_family_of_ones_own_has_no_such_member(
    command: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(FAMILY, encoding="utf-8")
    assert callable(command) and command(["--atoms", str(path), "MINE_64x24x16"]) == 2
    assert capsys.readouterr().err == "lanecheck: MINE_64x24x16: N = 24 is not one of 8, 16 of MINE_64x{N}x16\n"


@pytest.mark.parametrize(("old", "new"), [("values = 4", "values = 3"), ("ma  = 1", "ma = ="), ("ID + 8", "ID +* 8")])
def test_a_badly_written_table_is_one_line(
    old: str, new: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An instruction is a file that users may add: its errors are printed like those of their atoms."""
    shipped = Path(isa_tables.__file__).parent / "ptx" / "mma_m16n8k8_16b.toml"
    table = tmp_path / shipped.name
    table.write_text(shipped.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
    wanted = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"
    assert ending.run_guarded(lambda _: bool(isa_tables.instruction(wanted, tmp_path)), None) == 2
    line = capsys.readouterr().err
    assert line.startswith(f"lanecheck: {table}:") and line.count("lanecheck: ") == 1
