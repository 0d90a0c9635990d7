# SPDX-License-Identifier: Apache-2.0
"""`lanecheck init`: what it writes can be checked at once, by options or by asking; no file is written over."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from tests.verify.kernel.test_check import ADD
from verify.__main__ import main
from verify.kernel.claims.guess import derive_answers

KERNEL = str(Path(__file__).parents[2] / "examples" / "kernel" / "matmul.ptx")
MMA = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
MAP = ["--ptx", MMA, "--operand", "C", "--row", "lane/4 + 8*(i/2)", "--col", "lane%4*2 + i%2"]
ATOM = ["--ptx", MMA, "--A", "((4,8),(2,2,2)):((32,1),(16,8,128))", "--B", "((4,8),(2,2)):((16,1),(8,64))"]
ATOM += ["--C", "((4,8),(2,2)):((32,1),(16,8))"]
GEMM = {
    "claim": "C[m,n] = sum_k A[m,k]*B[k,n]",
    "types": "A=f16, B = f16 C=f32",
    "grid": "cdiv(M, 64), cdiv(N, 64)",
    "block": "128",
    "params": "A B C M N K lda ldb ldc - -",
    "smem": "16384",
}
CLAIM = [word for key, value in GEMM.items() for word in (f"--{key}", value)]


class Terminal(io.StringIO):
    """Answers, as a user types them."""

    def isatty(self) -> bool:
        return True


def test_a_map_is_written_that_verifies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(tmp_path / "my map.toml")
    assert main(["init", "map", file, *MAP]) == 0
    assert capsys.readouterr().out == f"wrote {file}; now: lanecheck check '{file}'\n"
    assert main(["check", file, "-q"]) == 0


def test_a_claim_is_written_that_verifies(tmp_path: Path) -> None:
    file = str(tmp_path / "gemm.toml")
    assert main(["init", "claim", file, *CLAIM, "--sizes", "M=128 N=192 K=64"]) == 0
    assert main(["check", KERNEL, file, "-q"]) == 0


def test_it_asks_and_asks_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "gemm.toml"
    answers = ["", *GEMM.values(), "M=128 N=192 K=64", ""]
    answers[2:2] = [""]  # a part that is needed
    monkeypatch.setattr("sys.stdin", Terminal("\n".join([*answers, ""])))
    assert main(["init", "claim", str(file)]) == 0
    assert capsys.readouterr().err.count(": this can't be left out\n") == 1
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert main(["init", "claim", str(tmp_path / "again.toml"), *CLAIM, "--sizes", "M=128 N=192 K=64"]) == 0
    assert file.read_text() == (tmp_path / "again.toml").read_text()
    capsys.readouterr()
    wrong = [*answers]
    wrong[3] = "A=f16 C=f32"
    monkeypatch.setattr("sys.stdin", Terminal("\n".join([*wrong, "A=f16 B=f16 C=f32", ""])))
    assert main(["init", "claim", str(tmp_path / "third.toml")]) == 0
    assert "types: give the type of B too" in capsys.readouterr().err
    assert (tmp_path / "third.toml").read_text() == file.read_text()


def test_bare_it_asks_for_what_and_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("atom.toml").write_text("mine")
    answers = ["atoms", "atom", "", "atom.toml", "new.toml", ATOM[1], ATOM[3] + ")", ATOM[5], ATOM[7], "", ATOM[3], ""]
    # atoms isn't a name, atom.toml exists (offered by an empty line it is not), and A has a parenthesis too many
    monkeypatch.setattr("sys.stdin", Terminal("\n".join(answers)))
    assert main(["init"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("  atom   the layouts of an instruction's A, B and C\n") and "what do you have? " in out
    assert out.endswith("wrote new.toml; now: lanecheck check new.toml\n")
    assert err.splitlines()[:3] == [
        "give atom, map or claim; nearest: atom",
        "atom.toml exists, and is left as it is",
        "atom.toml exists, and is left as it is",
    ]
    assert err.splitlines()[3].startswith("A: cannot read ")
    assert Path("atom.toml").read_text() == "mine"
    assert main(["check", "new.toml", "-q"]) == 0


@pytest.mark.parametrize("words", [[], ["atom"], ["atom", "new.toml"], ["claim", "new.toml"]])
def test_it_never_asks_in_ci(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CI", "true")
    typed = Terminal("atom\nnew.toml\n" * 9)
    monkeypatch.setattr("sys.stdin", typed)
    assert main(["init", *words]) == 2
    out, err = capsys.readouterr()
    assert typed.tell() == 0 and out == "" and err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_an_atom_is_written_that_verifies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(tmp_path / "mine.toml")
    assert main(["init", "atom", file, *ATOM]) == 0
    assert main(["check", file, "-q"]) == 0
    assert main(["init", "atom", str(tmp_path / "wrong.toml"), *ATOM[:-1], "((4,8),(2,2)):((32,1),(8,16))"]) == 0
    assert main(["check", str(tmp_path / "wrong.toml"), "-q"]) == 1  # it is read, and refuted


def test_the_kernel_answers_what_its_ptx_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "gemm.toml"
    words = ["--claim", GEMM["claim"], "--grid", GEMM["grid"], "--smem", "16384", "--sizes", "M=128 N=192 K=64"]
    assert main(["init", "claim", str(file), "--kernel", KERNEL, *words]) == 0
    assert capsys.readouterr().out == f"wrote {file}; now: lanecheck check {KERNEL} {file}\n"
    asked = tmp_path / "asked.toml"
    assert main(["init", "claim", str(asked), *CLAIM, "--sizes", "M=128 N=192 K=64"]) == 0
    assert file.read_text().replace('kernel = "matmul"\n', "") == asked.read_text()
    assert main(["check", KERNEL, str(file), "-q"]) == 0


def test_a_kernel_without_leading_dimensions_has_packed_arrays(tmp_path: Path) -> None:
    file, fragment = tmp_path / "mma.toml", KERNEL.replace("matmul", "fragment")
    words = ["--claim", "C[m,n] = sum_k A[m,k]*B[n,k]", "--grid", "1", "--block", "32", "--sizes", "M=16 N=8 K=16"]
    assert main(["init", "claim", str(file), "--kernel", fragment, *words]) == 0
    assert 'A = { dims = "mk", type = "f16", strides = ["K", 1] }' in file.read_text()
    assert main(["check", fragment, str(file), "-q"]) == 1  # it is read; fragment.ptx has a bug, and padded rows


def test_what_the_kernel_says_is_offered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = [KERNEL, GEMM["claim"], "", GEMM["grid"], "", "A B C M N K lda ldb ldc - -", "", "", "", "16384"]
    monkeypatch.setattr("sys.stdin", Terminal("\n".join([*answers, ""])))
    assert main(["init", "claim", str(tmp_path / "gemm.toml")]) == 0
    out, err = capsys.readouterr()
    assert "[A=f16 B=f16 C=f32]: " in out and "[128]: " in out and "[A B C M N K lda ldb ldc - -]: " in out
    assert "smem: matmul has dynamic shared memory: give its bytes" in err


def test_a_file_that_exists_is_left_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("mine")
    assert main(["init", "map", str(file), *MAP]) == 2
    assert "exists, and is left as it is" in capsys.readouterr().err
    assert file.read_text() == "mine"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "init what? Give atom, map or claim, and the FILE to write"),
        (["clam"], "nearest: claim"),
        (["claim"], "which file? Give FILE: lanecheck init claim FILE.toml"),
        (["claim", "new.toml"], "give --claim: what it computes, as C[m,n] = sum_k A[m,k]*B[k,n]"),
        (["claim", "new.toml", "--kernel", "no.ptx", *CLAIM], "--kernel: no.ptx cannot be read: No such file"),
        (
            ["claim", "new.toml", "--kernel", "/dev/null", *CLAIM],
            "--kernel: /dev/null: line 1: no .entry",
        ),
        (
            ["claim", "new.toml", "--kernel", KERNEL + "::f", *CLAIM],
            "no kernels have 'f' in their name; there are",
        ),
        (["claim", "new.toml", "--kernel", KERNEL, *CLAIM[:-2]], "--smem: matmul has dynamic shared memory"),
        (["atom", "new.toml", *ATOM[:-1], "((4,8):1"], "--C: cannot read '((4,8):1'"),
        (["atom", "new.toml", "--ptx", "mma.sync.m1", *ATOM[2:]], "--ptx: "),
        (["atom", "new.toml", *ATOM[:-2]], "give --C: the layout of C"),
        (["map", "new.toml", "--grid", "1"], "--grid: isn't asked of a map; its options are --ptx"),
        (["map", "new.toml", *MAP[:-1], "j"], "--col: unknown name 'j'"),
        (["map", "new.toml", *MAP[:2], "--operand", "Q", *MAP[4:]], "--operand: "),
        (["map", "none/new.toml", *MAP], "cannot write none/new.toml"),
        (["claim", "new.toml", *CLAIM[:2], "--types", "A=f16 B=f16", *CLAIM[4:]], "--types: give the type of C too"),
        (["claim", "new.toml", *CLAIM[:2], "--types", "f16", *CLAIM[4:]], "--types: expected pairs, as A=1 B=2"),
        (["claim", "new.toml", *CLAIM[:2], "--types", "A=f16 B=f16 C=f3", *CLAIM[4:]], "--types: "),
        (["claim", "new.toml", "--claim", "C = A", *CLAIM[2:]], "--claim: "),
    ],
)
def test_what_is_wrong_is_one_line(
    words: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert main(["init", *words]) == 2
    out, err = capsys.readouterr()
    assert out == "" and says in err and err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_the_one_type_of_all_accesses_to_global_memory_is_that_of_every_array(tmp_path: Path) -> None:
    (tmp_path / "add.ptx").write_text(ADD.replace("BODY", "add.f32 %f3, %f1, %f2;"))
    answers = {"kernel": str(tmp_path / "add.ptx"), "claim": "C[i] = A[i] + B[i]"}
    assert derive_answers(answers)["types"] == "A=f32 B=f32 C=f32"
    (tmp_path / "add.ptx").write_text(ADD.replace("BODY", "ld.global.b32 %f3, [%d6];"))
    assert "types" not in derive_answers(answers)
