# SPDX-License-Identifier: Apache-2.0
"""`module.py::function`: what a launch specialises, and errors in one line; with Triton at hand, a whole run."""

import os
import sys
from pathlib import Path

import pytest

from verify.kernel.claim import claim_of
from verify.kernel.command import main
from verify.kernel.compiled import specialised

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
    assert specialised(launch) == {
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
    Path(files[2]).write_text(CLAIM.replace('"sm_80"', '"gfx90a"'))
    assert main(files) == 2 and "sm_80" in capsys.readouterr().err


@pytest.mark.slow
def test_a_triton_function_is_verified_and_its_specialisation_is_named(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    python = os.environ.get("TRITON_PYTHON", sys.executable)
    code = main([*files, "--python", python])
    if "No module named 'triton'" in (printed := capsys.readouterr()).err:
        pytest.skip("no Triton: the variable TRITON_PYTHON names an interpreter that has it")
    assert code == 0 and "for sm_80, 4 warps, 3 stages, BLOCK = 64; 16 divides c" in " ".join(printed.out.split())
