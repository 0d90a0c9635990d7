# SPDX-License-Identifier: Apache-2.0
"""A user's function as a black box: every form that it may have, on the host by g++ and on a GPU."""

from __future__ import annotations

import ctypes
import importlib.util
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from gpu_checks import Unavailable
from gpu_checks.discover.found_map import FoundMap
from gpu_checks.discover.function import FileFunction, check_runs, discover_map

FILE = Path(__file__).with_name("functions.cu")
FORMS = ["as_int2", "as_struct", "mine::as_tuple", "by_reference<8>", "by_unsigned", "by_pointer", "of_the_thread"]
WRONG = {
    "unset": "unset: the row of lane 3, i 0 is not set",
    "negative": "negative: the row of lane 0, i 0 is negative",
}
LAYOUT = "((4,8),(2,2)):((32,1),(16,8))"
HOST = """
#include <cstdio>
#define __device__
#define __host__
#define __global__
struct int2 { int x, y; };
static int2 make_int2(int x, int y) { return {x, y}; }
static struct { int x; } threadIdx;
"""
MAIN = """
int main() {
  static long long found[32 * 4 * 2];
  for (threadIdx.x = 0; threadIdx.x < 32; ++threadIdx.x) lanecheck_discover_all(found);
  for (long long one : found) printf("%lld ", one);
}
"""


def on_the_host(name: str, folder: Path) -> FoundMap:
    """The map that g++ makes of a function, in place of a GPU. ValueError with the compiler's first error."""
    source, program = folder / "host.cpp", folder / "host"
    source.write_text(HOST + FileFunction(FILE, name, 32, 4).text() + MAIN, encoding="utf-8")
    built = subprocess.run(["g++", "-std=c++17", "-o", program, source], capture_output=True, text=True, check=False)
    if built.returncode:
        raise ValueError(next(line for line in built.stderr.splitlines() if "error" in line))
    shown = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    table = np.array(list(map(int, shown.split()))).reshape(32, 4, 2)
    return check_runs(name, table, table)


needs_a_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="no g++")


@pytest.mark.slow
@needs_a_compiler
@pytest.mark.parametrize("name", FORMS)
def test_every_form_of_a_function_is_called(name: str, tmp_path: Path) -> None:
    assert on_the_host(name, tmp_path).layout() == (LAYOUT, "")


@pytest.mark.slow
@needs_a_compiler
@pytest.mark.parametrize(("name", "why"), WRONG.items())
def test_what_is_no_map_is_rejected(name: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=why):
        on_the_host(name, tmp_path)


@pytest.mark.slow
@needs_a_compiler
@pytest.mark.parametrize("name", ["one_number", "no_such_function"])
def test_another_form_is_rejected_with_those_that_there_are(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"{name}: expected a function .int lane, int i. that returns int2"):
        on_the_host(name, tmp_path)


def nvrtc_log(text: str, options: tuple[str, ...]) -> str:
    """What NVRTC prints of a text for sm_90a, empty where it compiles; skipped where no wheel of it is installed."""
    spec = importlib.util.find_spec("nvidia")
    places = [Path(place) for place in spec.submodule_search_locations or ()] if spec else []
    libraries = sorted(
        library for place in places for library in place.rglob("libnvrtc.so.*") if "alt" not in library.name
    )
    if not libraries:
        pytest.skip("no NVRTC: pip install nvidia-cuda-nvrtc")
    for builtins in libraries[0].parent.glob("libnvrtc-builtins.so.*"):
        ctypes.CDLL(str(builtins))
    nvrtc, program, size = ctypes.CDLL(str(libraries[0])), ctypes.c_void_p(), ctypes.c_size_t()
    given = [word.encode() for word in ("-arch=sm_90a", "-std=c++17", *options)]
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"probe.cu", 0, None, None)
    code = nvrtc.nvrtcCompileProgram(program, len(given), (ctypes.c_char_p * len(given))(*given))
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    return log.value.decode() if code else ""


@pytest.mark.slow
@pytest.mark.parametrize("name", [*FORMS, "trap", "endless"])
def test_every_form_compiles_with_nvrtc_without_a_gpu(name: str) -> None:
    function = FileFunction(FILE, name, 32, 4)
    assert nvrtc_log(function.text(), function.options()) == ""


@pytest.mark.slow
def test_another_form_does_not_compile_with_nvrtc() -> None:
    function = FileFunction(FILE, "one_number", 32, 4)
    assert "one_number: expected a function (int lane, int i)" in nvrtc_log(function.text(), function.options())


def test_runs_that_differ_are_no_map() -> None:
    table = np.zeros((32, 4, 2), np.int64)
    second = table.copy()
    second[7, 2, 1] = 1
    with pytest.raises(ValueError, match="f isn't a function of lane and i: the column of lane 7, i 2 differs"):
        check_runs("f", table, second)


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (FileFunction(FILE, "f();trap", 32, 4), "isn't a name of a function"),
        (FileFunction(FILE, "f", 2048, 4), "2048 lanes of 4 values"),
        (FileFunction(Path("none.cu"), "f", 32, 4), "none.cu cannot be read: No such file"),
        (FileFunction(Path("/dev/zero"), "f", 32, 4), "is no CUDA text of at most 4 MiB"),
    ],
)
def test_what_is_no_function_of_a_file_is_rejected(function: FileFunction, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        function.text()


def test_folders_of_headers_are_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "include" / "cccl").mkdir(parents=True)
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    options = FileFunction(FILE, "f", 32, 4, ("mine",), ("X=1",)).options()
    assert options[1:3] == (f"-I{FILE.parent}", "-Imine") and options[-1] == "-DX=1"
    assert f"-I{tmp_path}/include" in options and f"-I{tmp_path}/include/cccl" in options


def test_errors_of_the_user_s_text_have_its_lines() -> None:
    first, _, rest = FileFunction(FILE, "as_int2", 32, 4).text().partition("\n")
    assert first == f'#line 1 "{FILE}"' and rest.startswith(FILE.read_text(encoding="utf-8"))


@pytest.mark.gpu
@pytest.mark.parametrize("name", FORMS)
def test_every_form_is_called_on_a_gpu(name: str) -> None:
    operand_map = discover_map(FileFunction(FILE, name, 32, 4), 60)
    assert isinstance(operand_map, FoundMap) and operand_map.layout() == (LAYOUT, "")


@pytest.mark.gpu
@pytest.mark.parametrize(("name", "why"), [*WRONG.items(), ("one_number", "one_number: expected a function")])
def test_what_is_no_map_is_rejected_on_a_gpu(name: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        discover_map(FileFunction(FILE, name, 32, 4), 60)


@pytest.mark.gpu
def test_a_function_that_traps_or_never_ends_costs_its_process_alone() -> None:
    trap = discover_map(FileFunction(FILE, "trap", 32, 4), 60)
    assert isinstance(trap, Unavailable) and "launch failure" in trap.reason.lower().replace(
        "launchfail", "launch fail"
    )
    endless = discover_map(FileFunction(FILE, "endless", 32, 4), 8)
    assert isinstance(endless, Unavailable) and endless.reason.startswith("no answer within 8 s")
    assert isinstance(discover_map(FileFunction(FILE, "as_int2", 32, 4), 60), FoundMap)
