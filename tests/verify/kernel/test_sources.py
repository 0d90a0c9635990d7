# SPDX-License-Identifier: Apache-2.0
"""Where a kernel comes from: files, texts, objects, the claim itself; and what is said of anything else."""

import os
import shutil
import stat
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.messages import NO_CLAIM
from verify.check.command import main as check
from verify.core.errors import UsageError
from verify.kernel.command import main
from verify.kernel.kind import report_kernel
from verify.kernel.report import verify_kernel
from verify.kernel.sources import find_source

EXAMPLES = Path(__file__).parents[3] / "examples" / "kernel"
PTX, CLAIM = str(EXAMPLES / "matmul.ptx"), str(EXAMPLES / "matmul.toml")
SMALL = {"M": 64, "N": 64, "K": 32}
JIT = "import triton\n@triton.jit\ndef gemm(a, BM: tl.constexpr, BK: tl.constexpr = 4): pass\ndef other(): pass\n"


def statuses(*given: Any, **options: Any) -> list[str]:
    return [case.status for case in verify_kernel(*given, seed=1, **options).cases]


@pytest.mark.long
def test_a_text_and_an_object_with_ptx_are_kernels() -> None:
    text = Path(PTX).read_text()
    kernels: list[object] = [PTX, text, SimpleNamespace(__ptx__=text), SimpleNamespace(__ptx__=lambda: text)]
    kernels.append(SimpleNamespace(asm={"ptx": text}))
    kernels += [text.encode() + b"\0", text + "\0"]  # as NVRTC gives it
    for kernel in kernels:
        assert statuses(kernel, CLAIM, sizes=SMALL) == ["VERIFIED"]
    wrong = Path(EXAMPLES / "wrong.ptx").read_text()
    assert statuses(SimpleNamespace(__ptx__=wrong), CLAIM, sizes={**SMALL, "K": 64}) == ["REFUTED"]


def test_sizes_take_the_place_of_the_claims() -> None:
    report = verify_kernel(PTX, CLAIM, sizes=[SMALL, {**SMALL, "M": 100}], seed=1)
    assert [case.name for case in report.cases] == ["matmul M=64 N=64 K=32", "matmul M=100 N=64 K=32"]


@pytest.mark.long
def test_a_target_is_compared_with_that_of_the_ptx() -> None:
    assert statuses(PTX, CLAIM, sizes=SMALL, target="sm_80") == ["VERIFIED"]
    with pytest.raises(UsageError, match="the PTX is for sm_80, not sm_90a"):
        verify_kernel(PTX, CLAIM, target="sm_90a")


@pytest.mark.long
def test_a_claim_names_its_kernel(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "k").mkdir()
    (tmp_path / "k" / "matmul.ptx").write_text(Path(PTX).read_text())
    claim = tmp_path / "matmul.toml"
    claim.write_text('ptx = "k/matmul.ptx"\n' + Path(CLAIM).read_text())
    assert main(["--claim", str(claim), "--seed", "1"]) == 0
    assert "2 verified" in capsys.readouterr().out
    claim.write_text('ptx = "k/none.ptx"\n' + Path(CLAIM).read_text())
    assert main(["--claim", str(claim)]) == 2
    assert "none.ptx: No such file" in capsys.readouterr().err


@pytest.mark.long
def test_every_claim_of_several_is_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The last one alone was: a wrong claim before a right one passed."""
    for name, scale in (("wrong", "2 * "), ("right", "")):
        text = Path(CLAIM).read_text().replace('"C[m,n] = sum_k', f'"C[m,n] = {scale}sum_k')
        (tmp_path / f"{name}.toml").write_text(f'ptx = "{Path(CLAIM).with_suffix(".ptx").resolve()}"\n{text}')
    files = [str(tmp_path / f"{name}.toml") for name in ("wrong", "right")]
    for words in (files, files[::-1]):
        assert check([*words, "--seed", "1"]) == 1
        assert "4 subjects: 2 verified, 2 refuted" in capsys.readouterr().out
    assert main([str(Path(CLAIM).with_suffix(".ptx")), "--claim", files[0], "--claim", files[1]]) == 2
    assert "with 2 claims: give one claim" in capsys.readouterr().err


def test_a_claim_that_names_two_kernels_or_none(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="names no kernel"):
        verify_kernel(None, CLAIM)
    claim = tmp_path / "two.toml"
    claim.write_text('ptx = "a.ptx"\n' + Path(CLAIM).read_text() + '[triton]\nfunction = "a.py::f"\n')
    with pytest.raises(UsageError, match="names two kernels"):
        verify_kernel(None, claim)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["gemm.py", "--claim", "gemm.toml"], "gemm.py: name a function of it: gemm.py::gemm"),
        (["gemm.py::nope", "--claim", "gemm.toml"], "gemm.py has no 'nope'; it has gemm, other"),
        (["gemm.py::gemm", "--claim", "gemm.toml"], "gemm has constants without a value: constants = { BM = … }"),
        (["gemm.py::gemm", "--claim", "lower.toml"], "constants = { BM = … }; bm is given: case matters"),
        (["matmul.ptx"], f"{NO_CLAIM} Give --claim"),
        (["gemm.toml"], "gemm.toml isn't PTX: this is the claim of a kernel"),
        (["C[m,n] = A[m,n]"], "C[m,n] = A[m,n]: this is a claim's text, not a file; write it as claim = "),
        (["matmul.ptx", "--claim", "C[m,n] = A[m,n]"], "this is a claim's text, not a file; write it as claim = "),
        (["gemm.toml", "--claim", "matmul.ptx"], "gemm.toml isn't PTX: this is the claim of a kernel"),
        (["matmul.ptx", "--claim", "gemm.py::gemm"], "gemm.py::gemm is a kernel, not a claim"),
        (["matmul.ptx", "--claim", "grid.toml"], "grid: this key is missing: the CTAs of the launch"),
        (["gemm.py::gemm", "--claim", "jit.toml"], "grid: this key is missing: the CTAs of the launch"),
        (["matmul.ptx", "--claim", "case.toml"], "no array, size or scalar is named 'a'; 'A' is: case matters"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_the_way_out(
    arguments: list[str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    text = Path(CLAIM).read_text()
    Path("gemm.py").write_text(JIT)
    Path("matmul.ptx").write_text(Path(PTX).read_text())
    Path("gemm.toml").write_text(text + '[triton]\ntarget = "sm_80"\n')
    Path("grid.toml").write_text(text.replace("grid ", "# grid "))
    jit = '[triton]\ntarget = "sm_80"\nconstants = { BM = 64 }\n'
    Path("lower.toml").write_text(text + jit.replace("BM", "bm"))
    Path("jit.toml").write_text(text.replace("grid ", "# grid ") + jit)
    Path("case.toml").write_text(text.replace('params = ["A"', 'params = ["a"'))
    assert main([*arguments, "--allow-exec"]) == 2
    assert words in capsys.readouterr().err


def test_in_ci_ones_own_code_must_be_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CI", "true")
    claim = tmp_path / "gemm.toml"
    (tmp_path / "gemm.py").write_text(JIT)
    claim.write_text(Path(CLAIM).read_text() + '[triton]\nfunction = "gemm.py::gemm"\n')
    for arguments in (["--claim", str(claim)], [f"{tmp_path / 'gemm.py'}::gemm", "--claim", str(claim)]):
        assert main(arguments) == 2
        text = " ".join(capsys.readouterr().err.split())
        assert f"{tmp_path / 'gemm.py'} will be imported and run; in CI, allow that with --allow-exec" in text
    with pytest.raises(UsageError, match="imported and run; in CI, allow that with --lanecheck-allow-exec"):
        report_kernel([str(claim)], allowed_by="--lanecheck-allow-exec")  # as the file of a claim is a test


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (({"claim": "C[m,n] = A[m,n]"},), "the first argument is a table, as a claim is: give the kernel first"),
        (({"claim": "C[m,n] = A[m,n]"}, PTX), "the first argument is a table, as a claim is: give the kernel first"),
        ((CLAIM,), "matmul.toml is a claim: give the kernel before it, or claim = "),
        ((PTX,), "what does it compute[?] Give the claim, a TOML file or its table"),
    ],
)
def test_arguments_in_another_order_are_named(given: tuple[Any, ...], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        verify_kernel(*given)


def test_an_object_that_is_no_kernel() -> None:
    with pytest.raises(UsageError, match="found an object of type int"):
        verify_kernel(3, CLAIM)


def test_a_function_of_triton_is_its_file_and_name() -> None:
    """An autotuner has the function, which has Python's."""

    def gemm() -> None: ...

    jitted = SimpleNamespace(fn=SimpleNamespace(fn=gemm))
    assert find_source(jitted, {}, "", "").name == f"{__file__}::gemm"


def test_cuda_is_compiled_by_nvcc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "k.cu"
    file.write_text('extern "C" __global__ void matmul() {}\n')
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match=r"nvcc isn't on the PATH: run `nvcc -ptx -arch=sm_90a .*k.cu`"):
        verify_kernel(file, CLAIM)
    nvcc = tmp_path / "nvcc"
    body = f"#!{sys.executable}\nimport shutil, sys\nassert '-arch=sm_80' in sys.argv\n"
    nvcc.write_text(body + f"shutil.copy({PTX!r}, sys.argv[sys.argv.index('-o') + 1])\n")
    os.chmod(nvcc, nvcc.stat().st_mode | stat.S_IXUSR)
    report = verify_kernel(file, CLAIM, sizes=SMALL, target="sm_80", seed=1)
    assert report.cases[0].status == "VERIFIED"
    assert any("by nvcc for sm_80" in note for note in report.cases[0].notes)
    for text in (file.read_text(), file.read_text().strip()):  # a text of one line is none the less no file
        assert verify_kernel(text, CLAIM, sizes=SMALL, target="sm_80", seed=1).cases[0].status == "VERIFIED"
    nvcc.write_text(f"#!{sys.executable}\nimport sys\nprint('kernel.cu(1): error: no', file=sys.stderr)\nsys.exit(1)\n")
    with pytest.raises(UsageError, match=r"k.cu was not compiled: .*error: no"):
        verify_kernel(file, CLAIM)


@pytest.mark.long
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not on the PATH")
def test_a_finding_in_cuda_is_at_the_line_of_the_users_file_and_quotes_it(tmp_path: Path) -> None:
    file = tmp_path / "mine.cu"
    file.write_text('#include "beside.h"\nextern "C" __global__ void mine(const float* A, float* C) {\n'
                    "  C[threadIdx.x] =\n      A[threadIdx.x + ONE];\n}\n")  # fmt: skip
    (tmp_path / "beside.h").write_text("#define ONE 1\n")
    arrays = {name: {"dims": "i", "type": "f32", "out": name == "C"} for name in "AC"}
    claim = {"grid": 1, "block": 32, "sizes": {"I": 32}, "params": ["A", "C"], "arrays": arrays, "claim": "C[i] = A[i]"}
    report = verify_kernel(file, claim, seed=1)
    assert "mine.cu:4 (PTX line" in report.text() and "4 | A[threadIdx.x + ONE];" in report.text()
    place = next(verdict.place for case in report.cases for verdict in case.verdicts if verdict.status.refuted)
    assert place is not None and (place.file, place.line) == (str(file), 4)
    file.write_text("void f( {}\n")
    with pytest.raises(UsageError, match=r"mine\.cu was not compiled: .*mine\.cu\(1\): error"):
        verify_kernel(file, claim, seed=1)
