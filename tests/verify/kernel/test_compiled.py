# SPDX-License-Identifier: Apache-2.0
"""`module.py::function`: what a launch specialises, and errors in one line; with Triton at hand, a whole run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from verify.core.errors import UsageError
from verify.kernel.claims.claim import claim_of
from verify.kernel.claims.compiled import arguments, specialise
from verify.kernel.command import main

CLAIM = """grid = ["cdiv(I, 64)"]
sizes = { I = 200, ONE = 1 }
claim = "C[i] = alpha * A[i]"
scalars = { alpha = 2.0 }
params = ["A", "C", "I", "ONE", "alpha"]
[arrays]
A = { dims = "i", type = "f16", offset = 4 }
C = { dims = "i", type = "f32", out = true }
[triton]
target = "sm_80"
constants = { BLOCK = 64 }
"""
SOURCE = """import triton
import triton.language as tl

@triton.jit
def scale(a, c, count, step, alpha, BLOCK: tl.constexpr):
    at = (tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)) * step
    tl.store(c + at, tl.load(a + at, mask=at < count).to(tl.float32) * alpha, mask=at < count)
"""


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    (tmp_path / "k.py").write_text(SOURCE)
    (tmp_path / "k.toml").write_text(CLAIM)
    return [f"{tmp_path / 'k.py'}::scale", "--claim", str(tmp_path / "k.toml"), "--allow-exec"]


def test_a_launch_specialises_ones_and_multiples_of_sixteen() -> None:
    import tomllib

    table = tomllib.loads(CLAIM)
    del table["triton"]
    (launch,) = claim_of({**table, "block": 32}).launches
    assert specialise(launch) == {
        "types": ["*fp16", "*fp32", "i32", "i32", "fp32"],
        "ones": [False, False, False, True, False],
        "divisible": [False, True, False, False, False],  # A begins at byte 8; 200 = 8 * 25
    }


def test_without_triton_or_a_function_the_error_is_one_line(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    nothing = [*files, "--python", "/nowhere/python"]
    assert main(nothing) == 2 and capsys.readouterr().err.count("\n") == 1
    assert main(["absent.py::scale", *files[1:]]) == 2 and capsys.readouterr().err.count("\n") == 1
    for target in ("gfx90a", "sm_9000"):
        Path(files[2]).write_text(CLAIM.replace('"sm_80"', f'"{target}"'))
        assert main(files) == 2
        assert "triton.target: expected one of sm_75, sm_80, sm_86" in (told := capsys.readouterr().err), told


@pytest.mark.parametrize("instead", ["", 'triton = "sm_80"\n', "triton = 80\n"])
def test_a_claim_without_the_table_of_a_compilation_is_rejected_by_its_key(
    instead: str, files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    head, _, _ = CLAIM.partition("[triton]")
    Path(files[2]).write_text(instead + head)
    assert main(files) == 2
    error = capsys.readouterr().err
    assert "triton: expected a table, as { target" in error and error.count("\n") == 1


@pytest.mark.slow
def test_a_triton_function_is_verified_and_its_specialisation_is_named(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    python = os.environ.get("TRITON_PYTHON", sys.executable)
    code = main([*files, "--python", python])
    if "No module named 'triton'" in (printed := capsys.readouterr()).err:
        pytest.skip("no Triton: the variable TRITON_PYTHON names an interpreter that has it")
    assert code == 0 and "for sm_80, 4 warps, 3 stages, BLOCK = 64; 16 divides c" in " ".join(printed.out.split())


MATMUL = """import triton
import triton.language as tl

@triton.jit
def mm(a_ptr, B, ptr_c, M, N, K, stride_am, stride_ak, ldb, ldc,
       BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr = 32):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for step in range(tl.cdiv(K, BK)):
        k = step * BK + tl.arange(0, BK)
        rows, columns = (m[:, None] < M) & (k[None, :] < K), (k[:, None] < K) & (n[None, :] < N)
        x = tl.load(a_ptr + m[:, None] * stride_am + k[None, :] * stride_ak, mask=rows, other=0.0)
        y = tl.load(B + k[:, None] * ldb + n[None, :], mask=columns, other=0.0)
        total = tl.dot(x, y, total)
    tl.store(ptr_c + m[:, None] * ldc + n[None, :], total, mask=(m[:, None] < M) & (n[None, :] < N))
"""
SHORT = """grid = ["cdiv(M, BM)", "cdiv(N, BN)"]
claim = "C[m,n] = sum_k A[m,k]*B[k,n]"
[arrays]
A = { dims = "mk", type = "f16" }
B = { dims = "kn", type = "f16" }
C = { dims = "mn", type = "f32", out = true }
[triton]
constants = { BM = 64, BN = 64 }
"""


@pytest.mark.parametrize("inside", [[], ["outer", "inner"]])
def test_a_file_imports_what_lies_beside_it_or_in_its_package(inside: list[str], tmp_path: Path) -> None:
    folder = tmp_path.joinpath(*inside)
    folder.mkdir(parents=True, exist_ok=True)
    for at in range(len(inside)):
        tmp_path.joinpath(*inside[: at + 1], "__init__.py").touch()
    (folder / "helpers.py").write_text("FACTOR = 3\n")
    (folder / "json.py").write_text(f"from {'.' * bool(inside)}helpers import FACTOR\nWHOSE = 'the user'\n")
    code = (
        "import sys; from pathlib import Path; from verify.kernel.claims.triton_child import import_file;"
        "module = import_file(Path(sys.argv[1])); print(module.__name__, module.WHOSE, module.FACTOR)"
    )
    command = [sys.executable, "-c", code, str(folder / "json.py")]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.stdout, run.stderr) == (f"{'.'.join([*inside, 'json'])} the user 3\n", "")


def test_the_arguments_of_a_function_are_read_without_running_it(tmp_path: Path) -> None:
    (tmp_path / "k.py").write_text("raise SystemExit\n" + MATMUL)
    names = arguments(tmp_path / "k.py", "mm")
    assert names == ["a_ptr", "B", "ptr_c", "M", "N", "K", "stride_am", "stride_ak", "ldb", "ldc", "BM", "BN"]
    for name, text in (("other", MATMUL), ("mm", "def mm(")):
        (tmp_path / "k.py").write_text(text)
        with pytest.raises(UsageError):
            arguments(tmp_path / "k.py", name)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["", "sm_90"])
def test_what_the_claim_of_a_triton_function_does_not_give_is_filled_in(
    target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Block, shared memory, parameters, target, sizes and strides: the claim names arrays, and two constants."""
    (tmp_path / "k.py").write_text(MATMUL)
    claim = tmp_path / "k.toml"
    claim.write_text(SHORT + (f'target = "{target}"\n' if target else ""))
    words = [f"{tmp_path / 'k.py'}::mm", "--claim", str(claim), "--allow-exec"]
    words += ["--python", os.environ.get("TRITON_PYTHON", sys.executable)]
    code = main(words)
    if "No module named 'triton'" in (printed := capsys.readouterr()).err:
        pytest.skip("no Triton: the variable TRITON_PYTHON names an interpreter that has it")
    text = " ".join(printed.out.split())
    assert code == 0 and f"for {target or 'sm_80'}, 4 warps, 3 stages, BM = 64, BN = 64;" in text
    assert "mm M=128 N=192 K=384 VERIFIED" in text and "; M=112 N=176 K=368 " in text.partition("so too")[2]
    assert "128 threads, " in text and "chosen here: sizes, strides 400x1 of A" in text
    claim.write_text(claim.read_text().replace("B[k,n]", "B[n,k]").replace('"kn"', '"nk"'))
    assert main(words) == 1
    (tmp_path / "k.py").write_text(MATMUL.replace("B + k[:, None]", "B + (k - step * BK)[:, None]"))
    claim.write_text(SHORT)
    capsys.readouterr()
    assert main([*words, "--format", "github"]) == 1
    at = 1 + next(number for number, line in enumerate(MATMUL.splitlines()) if "tl.dot" in line)
    assert f"::error file={tmp_path / 'k.py'},line={at},col=1,title=mm%3A" in capsys.readouterr().out
    (tmp_path / "k.py").write_text(MATMUL.replace("stride_am", "step_am"))
    assert main(words) == 2
    assert f"{claim}: params[6]: 'step_am': no size is named 'step_am'" in capsys.readouterr().err
