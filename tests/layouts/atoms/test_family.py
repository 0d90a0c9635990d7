# SPDX-License-Identifier: Apache-2.0
"""An entry with parameters gives an atom for each choice; what does not fit is rejected with key and reason."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layouts.atoms import Atom, AtomFileError, load
from layouts.toml.template import TemplateError, evaluate, fill, names

GOOD = """\
["MINE_64x{N}x16_{T}"]
params = { N = [8, 24, 256], T = ["f16", "bf16"] }
ptx    = ["wgmma.mma_async.sync.aligned.m64n{N}k16.f32.{T}.{T}"]
shape  = [64, "{N}", 16]
thr    = "128:1"
types  = { D = "f32", A = "{T}", B = "{T}", C = "f32" }
A      = "((4,8,4),(2,2,2)):((128,1,16),(64,8,512))"
B      = "(128,({N},16)):(0,(1,{N}))"
C      = "((4,8,4),(2,2,{N//8})):((128,1,16),(64,8,512))"
space  = { B = "smem" }
copies = { B = 128 }
source = "a test"
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text)
    return path


def with_line(key: str, line: str) -> str:
    return "".join(line + "\n" if old.split("=")[0].strip() == key else old for old in GOOD.splitlines(keepends=True))


def test_a_family_is_every_choice_of_its_parameters(tmp_path: Path) -> None:
    atoms = load(write(tmp_path, GOOD))
    assert [atom.name for atom in atoms] == [f"MINE_64x{n}x16_{t}" for n in (8, 24, 256) for t in ("f16", "bf16")]
    for atom in atoms:
        assert isinstance(atom, Atom)
        n, t = atom.params["N"], atom.params["T"]
        assert isinstance(n, int)
        assert atom.shape == (64, n, 16)
        assert atom.ptx == (f"wgmma.mma_async.sync.aligned.m64n{n}k16.f32.{t}.{t}",)
        assert atom.types == {"D": "f32", "A": t, "B": t, "C": "f32"}
        assert atom.operands["B"] == f"(128,({n},16)):(0,(1,{n}))"
        assert atom.operands["C"] == f"((4,8,4),(2,2,{n // 8})):((128,1,16),(64,8,512))"
        assert (atom.space, atom.copies) == ({"B": "smem"}, {"B": 128})
        assert atom.family is not None
        assert atom.family.name == "MINE_64x{N}x16_{T}"
        assert atom.family.read_name(atom.name) == {"N": str(n), "T": t}
        assert atom.family.read_name("MINE_64x99x16_s8") == {"N": "99", "T": "s8"}
        assert atom.family.read_name("MINE_64x8") is None


WRONG = [
    ("params", "params = 8", "MINE_64x{N}x16_{T}.params", "expected a table of parameters, found an integer"),
    ("params", "params = { }", "MINE_64x{N}x16_{T}.params", "at least one parameter"),
    ("params", 'params = { N = 8, T = ["f16"] }', "params.N", "expected an array"),
    ("params", 'params = { N = [], T = ["f16"] }', "params.N", "expected an array"),
    ("params", 'params = { N = [0], T = ["f16"] }', "params.N", "at least 1, found 0"),
    ("params", 'params = { N = [-8], T = ["f16"] }', "params.N", "at least 1, found -8"),
    ("params", 'params = { N = [16777217], T = ["f16"] }', "params.N", "at most 16777216"),
    ("params", 'params = { N = [8.0], T = ["f16"] }', "params.N", "found a float"),
    ("params", 'params = { N = [true], T = ["f16"] }', "params.N", "found a boolean"),
    ("params", 'params = { N = [8, 8], T = ["f16"] }', "params.N", "is listed twice"),
    ("params", 'params = { N = [8, "f16"], T = ["f16"] }', "params.N", "not both"),
    ("params", 'params = { N = [8], T = ["f 16"] }', "params.T", "a word is letters"),
    ("params", 'params = { N = [8], T = ["f16"], "1" = [1] }', "params.1", "named by letters"),
    ("params", 'params = { N = [8], T = ["f16"], K = [1] }', "params.K", "must occur once in the atom's name"),
    ("params", "params = { N = [8] }", "MINE_64x{N}x16_{T}", "{T} in a name must be a parameter"),
    ("params", f'params = {{ N = {[*range(1, 4098)]}, T = ["f16"] }}', "params", "4097 instances, at most 4096"),
    ("params", 'params = { N = [12], T = ["f16"] }', "MINE_64x12x16_f16.C", "12 is not divisible by 8"),
    ("C", 'C = "(128,{N//0}):(1,128)"', "MINE_64x8x16_f16.C", "8 is not divisible by 0"),
    ("C", 'C = "(128,{K}):(1,128)"', "MINE_64x8x16_f16.C", "no parameter 'K' (there are: N, T)"),
    ("C", 'C = "(128,{N+1}):(1,128)"', "MINE_64x8x16_f16.C", "'+' is neither"),
    ("C", 'C = "(128,{T*2}):(1,128)"', "MINE_64x8x16_f16.C", "a word cannot be computed with"),
    ("C", 'C = "(128,{}):(1,128)"', "MINE_64x8x16_f16.C", "{} is empty"),
    ("C", 'C = "(128,{N*}):(1,128)"', "MINE_64x8x16_f16.C", "ends in an operator"),
    ("C", 'C = "(128,{N 8}):(1,128)"', "MINE_64x8x16_f16.C", "operator"),
    ("C", 'C = "(128,{T}):(1,128)"', "MINE_64x8x16_f16.C", "expected an integer"),
    ("C", 'C = "(128,{999999999*N}):(1,128)"', "MINE_64x8x16_f16.C", "is above 16777216"),
    ("shape", 'shape = [64, "{T}", 16]', "MINE_64x8x16_f16.shape", "N should be an integer, found a string"),
    ("shape", "shape = [4096, 4097, 16]", "MINE_64x8x16_f16.shape", "tiles of more than 16777216 elements"),
    ("copies", "copies = { B = 3 }", "MINE_64x8x16_f16.copies.B", "16384 points of B do not divide by 3"),
    ("copies", "copies = { B = 0 }", "MINE_64x8x16_f16.copies.B", "at least 1"),
    ("copies", "copies = { SFA = 2 }", "MINE_64x8x16_f16.copies.SFA", "has no operand SFA"),
    ("copies", "copies = { X = 2 }", "MINE_64x8x16_f16.copies.X", "unknown key"),
    ("space", 'space = { E = "smem" }', "MINE_64x8x16_f16.space.E", "has no operand E"),
    ("space", 'space = { B = "gmem" }', "MINE_64x8x16_f16.space.B", "expected one of reg, smem, tmem, found 'gmem'"),
    ("space", "space = { B = 1 }", "MINE_64x8x16_f16.space.B", "expected one of"),
    ("space", 'space = "smem"', "MINE_64x8x16_f16.space", "expected a table"),
    ("A", 'A = "(1000000000,4):(4,1)"', "MINE_64x8x16_f16.A", "more than 16777216 points"),
    ("A", 'A = "(4,4):(4,9999999999999)"', "MINE_64x8x16_f16.A", "a stride above 274877906944"),
]


@pytest.mark.parametrize(("replaced", "line", "key", "problem"), WRONG, ids=map(str, range(len(WRONG))))
def test_what_does_not_fit_is_named(tmp_path: Path, replaced: str, line: str, key: str, problem: str) -> None:
    path = write(tmp_path, with_line(replaced, line))
    with pytest.raises(AtomFileError) as caught:
        load(path)
    assert caught.value.file == str(path)
    assert caught.value.key.endswith(key)
    assert problem in caught.value.problem
    assert len(str(caught.value).splitlines()) == 1


def test_two_entries_may_not_give_one_name(tmp_path: Path) -> None:
    plain = GOOD.replace("{N//8}", "1").replace("{N}", "8").replace("{T}", "f16")
    with pytest.raises(AtomFileError, match="MINE_64x8x16_f16: is there twice"):
        load(write(tmp_path, GOOD + plain.replace('params = { N = [8, 24, 256], T = ["f16", "bf16"] }\n', "")))


@given(st.integers(1, 512), st.integers(1, 64), st.integers(1, 64))
def test_expressions_are_read_from_left_to_right(n: int, factor: int, divisor: int) -> None:
    assert evaluate(f"N*{factor}", {"N": n}) == n * factor
    if n * factor % divisor == 0:
        assert evaluate(f" {factor} * N // {divisor} ", {"N": n}) == n * factor // divisor
    else:
        with pytest.raises(TemplateError, match="is not divisible"):
            evaluate(f"{factor}*N//{divisor}", {"N": n})


def test_placeholders_are_found_and_filled() -> None:
    assert names("({M//2},{2048*N},8)") == {"M", "N"}
    assert fill("({M//2},{2048*N},8) {w}", {"M": 64, "N": 2, "w": "e4m3"}) == "(32,4096,8) e4m3"
