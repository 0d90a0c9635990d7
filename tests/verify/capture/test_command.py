# SPDX-License-Identifier: Apache-2.0
"""`lanecheck check FILE.py`: which files are scripts, how they are run, and how their benchmarks are cut."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.messages import NOT_DECISIVE
from verify.capture.command import is_script
from verify.capture.recording.device import run_benchmarks

ABSENT = [name for name in ("torch", "triton") if importlib.util.find_spec(name) is None]
SCRIPT = """
import argparse
import torch
import triton
import triton.language as tl
import triton.profiler as proton
import triton.profiler.viewer as proton_viewer

@triton.jit
def double(x, out, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + o, tl.load(x + o, mask=o < n) * 2, mask=o < n)

proton.start("double", hook="triton")
parser = argparse.ArgumentParser()
parser.add_argument("--n", type=int, default=70)
n = parser.parse_args().n
x = torch.rand(n, device="cuda")
out = torch.empty_like(x)
with proton.scope("once"):
    pass
proton.finalize()
tree, metrics = proton_viewer.parse(["time/ms"], "double.hatchet")
double[(3,)](x, out, 70, BLOCK=32)
print("right" if torch.allclose(out, x * 3) else "wrong")
double[(3,)](x, out, 70, BLOCK=32)
if __name__ == "__main__":
    assert torch.allclose(out, x + x)
"""


def test_a_script_imports_triton_and_has_no_claim(tmp_path: Path) -> None:
    (tmp_path / "gemm.py").write_text(SCRIPT)
    (tmp_path / "map.py").write_text("def f(lane): return lane\n")
    (tmp_path / "torn.py").write_text("import triton\n(\n")
    gemm = str(tmp_path / "gemm.py")
    assert is_script([gemm]) and is_script([gemm, "--target", "sm_80"])
    assert not is_script([gemm, "--claim", "gemm.toml"]) and not is_script([f"{gemm}::double"])
    assert not is_script([str(tmp_path / "map.py")]) and not is_script([str(tmp_path / "torn.py")])
    assert not is_script([str(tmp_path / "none.py")]) and not is_script([])


def test_a_benchmark_is_one_call_for_each_line() -> None:
    calls = []
    benchmark = SimpleNamespace(
        x_names=["M", "N"], x_vals=[64, 128], line_arg="by", line_vals=["a", "b"], args={"k": 1}
    )
    mark = SimpleNamespace(fn=lambda **given: calls.append(given), benchmarks=[benchmark])
    run_benchmarks(mark, print_data=True, show_plots=True, save_path=".")
    assert calls == [{"M": 64, "N": 64, "by": "a", "k": 1}, {"M": 64, "N": 64, "by": "b", "k": 1}]


def run(folder: Path, *words: str) -> tuple[int, str]:
    (folder / "gemm.py").write_text(SCRIPT)
    command = [sys.executable, "-m", "lanecheck", "check", "gemm.py", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.skipif(bool(ABSENT), reason="torch or Triton is not installed (no GPU is needed)")
def test_a_script_is_run_as_a_test_is(tmp_path: Path) -> None:
    """Only what it asserts is compared: printing that a comparison differs isn't a failure."""
    code, text = run(tmp_path, "--seed", "1", "--allow-exec")
    assert code == 0, text
    assert "PASSED gemm.py::script[launch 2: values]" in text
    assert "1 compared, 1 safety only, 0 not captured; for sm_90a, without a GPU; seed 1" in text
    line = SCRIPT[: SCRIPT.index('print("right"')].count("\n") + 1
    assert f"the test {NOT_DECISIVE} (gemm.py:{line})" in text


def test_code_is_run_in_ci_if_that_is_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    code, text = run(tmp_path)
    assert code == 2
    assert "--allow-exec" in text and text.count("\n") == 1
