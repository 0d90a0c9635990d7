# SPDX-License-Identifier: Apache-2.0
"""`lanecheck_sizes` of a module of tests: a test has these values while it runs again, and its own afterwards."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lanecheck.kernel_sizes import NamedSizes, SizesError, list_sizes, place_sizes, set_sizes

ROOT = Path(__file__).parents[2]
SUITE = """
import torch, triton, triton.language as tl, pytest
N = 32
lanecheck_sizes = [{"m": 33}, {"m": 40, "N": 64}, {"m": 5000}, {"absent": 3}]
@triton.jit
def kernel(x_ptr, out_ptr, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n) * 2, mask=i < n // 32 * 32)
@pytest.mark.parametrize("m", [64])
def test_it(m):
    assert m < 4096, "too large for this host"
    x = torch.randn(m, N, device="cuda")
    out = torch.empty_like(x)
    kernel[(triton.cdiv(m * N, 64),)](x, out, m * N, 64)
    torch.testing.assert_close(out, x * 2)
@pytest.mark.parametrize("m", [64])
def test_vector(m):
    x = torch.randn(m, device="cuda")
    out = torch.empty_like(x)
    kernel[(triton.cdiv(m, 64),)](x, out, m, 64)
    torch.testing.assert_close(out, x * 2)
"""


def make_item(function: Any, params: dict[str, Any] | None = None, **constants: Any) -> Any:
    """A test as pytest has it."""
    module = SimpleNamespace(__name__="test_x", **constants)
    item = SimpleNamespace(function=function, module=module, nodeid="test_x.py::test")
    if params is not None:
        item.callspec = SimpleNamespace(params=params)
    return item


def test_values_are_given_and_taken_back() -> None:
    def run(m: int, k: int = 3, *, n: int = 4) -> tuple[int, int, int, int]:
        return m, k, n, item.module.SIZE

    params = {"m": 1}
    item = make_item(run, params, SIZE=8)
    table = {"m": 65, "k": 66, "n": 67, "SIZE": 68}
    assert place_sizes(item, table)
    with set_sizes(item, table):
        assert run(**item.callspec.params) == (65, 66, 67, 68)
    assert run(**item.callspec.params) == (1, 3, 4, 8)


@pytest.mark.parametrize("name", ["fixture", "absent", "TEXT", "TRUTH"])
def test_a_test_without_the_name_is_not_run_again(name: str) -> None:
    def run(fixture: int, m: int = 3) -> None: ...

    assert not place_sizes(make_item(run, {}, TEXT="a", TRUTH=True), {"m": 65, name: 3})


@pytest.mark.parametrize("given", [3, [3], [{}], {"m": "a"}, {"m": True}, {"m": -1}, [{"m": 1.5}], {}])
def test_what_is_no_size_is_refused(given: Any) -> None:
    with pytest.raises(SizesError, match="give a table such as"):
        list_sizes(SimpleNamespace(lanecheck_sizes=given))


def test_sizes_that_no_test_has_are_named() -> None:
    sizes = NamedSizes()
    item = make_item(lambda m=3: m, lanecheck_sizes=[{"m": 4}, {"mm": 4}])
    for number, table in enumerate(sizes.read_tables(item)):
        if place_sizes(item, table):
            sizes.place(item, number)
    assert [why for _, why in sizes.complain()] == [
        "lanecheck_sizes: no test that ran has mm, as an argument that parametrize or a default gives"
    ]
    sizes.chosen = True  # by -k, or by its name: the others may have it
    assert not list(sizes.complain())
    wrong = NamedSizes()
    assert wrong.read_tables(make_item(lambda: 0, lanecheck_sizes=7)) == []
    assert [file for file, _ in wrong.complain()] == ["test_x.py"]


@pytest.mark.skipif(
    any(importlib.util.find_spec(package) is None for package in ("torch", "triton")),
    reason="torch and triton are not installed: pip install torch==2.13.0 triton==3.9.0 (no GPU is needed)",
)
def test_a_kernel_that_is_right_at_its_tests_sizes_alone(tmp_path: Path) -> None:
    (tmp_path / "test_x.py").write_text(SUITE)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--lanecheck-kernels", "--lanecheck-seed", "1"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PY_COLORS": "0", "COLUMNS": "200"}
    done = subprocess.run(
        [*command, "-rA", "test_x.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    text = done.stdout
    for line in (
        "PASSED test_x.py::test_it[64][launch 1: values]",
        "PASSED test_x.py::test_it[64][sizes m=33][launch 1: values]",  # 33 * 32 elements
        "PASSED test_x.py::test_vector[64][launch 1: values]",
        "FAILED test_x.py::test_vector[64][sizes m=33][launch 1: values]",
        "element not written: out_ptr[i=32] is never written",
        "UNCHECKED: stops in capture: test_x.py:11: AssertionError: too large for this host",
        "UNCHECKED: lanecheck_sizes: no test that ran has absent",
    ):
        assert line in text, text
    again = [*command, "-rA", "test_x.py::test_vector[64][sizes m=33][launch 1: values]"]
    done = subprocess.run(again, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert "FAILED test_x.py::test_vector[64][sizes m=33][launch 1: values]" in done.stdout, done.stdout
    assert "no test that ran" not in done.stdout
