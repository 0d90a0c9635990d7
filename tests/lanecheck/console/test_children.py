# SPDX-License-Identifier: Apache-2.0
"""The supervised child: users' code runs in no other process, and nothing of it is left."""

import ast
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lanecheck.console.children import (
    MARK,
    MEMORY,
    WRITTEN,
    describe_end,
    find_marked,
    read_last_lines,
    run_child,
    start_child,
)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits and /proc are Linux's")
ROOT = Path(__file__).parents[3]
STARTS = re.compile(
    r"subprocess\.(run|Popen|call|check_call|check_output)|"
    r"os\.(fork|forkpty|system|popen|posix_spawnp?|exec\w+|spawn\w+)|.*\b(ProcessPoolExecutor|Process)"
)
RUNS = re.compile(r"(.*\.)?(exec_module|run_path|run_module|exec|eval)")
OTHERS = {  # what starts a process in another way, and why it runs no code of users
    "lanecheck/console/children.py": "the supervised child itself",
    "lanecheck/console/processes.py": "the pool of our own processes",
    "verify/maps/child.py": "in the supervised child: a fork for each map",
    "verify/kernel/nvcc.py": "nvcc compiles, and runs nothing",
    "verify/scan/checkout.py": "git",
    "gpu_checks/worker.py": "our own probe, on a GPU",
    "gpu_checks/opcodes/rejected.py": "ptxas",
    "gpu_checks/device/sass.py": "the disassembler",
    "gpu_checks/device/cuda.py": "nvidia-smi",
}
IN_A_CHILD = {  # what executes code of users, each a program of the supervised child
    "verify/maps/child.py",
    "verify/maps/function_adapter.py",
    "verify/kernel/claims/triton_child.py",
    "verify/foreign/adapters/tinygrad.py",
    "verify/foreign/adapters/tvm.py",
    "lanecheck/kernel_recording.py",
}
USERS = {  # who runs code of users
    "verify/maps/isolation.py",
    "verify/kernel/claims/compiled.py",
    "verify/scan/compiler.py",
    "verify/capture/command.py",
    "lanecheck/kernel_tests.py",
}


def test_users_code_runs_in_the_supervised_child_alone() -> None:
    starts, runs, users = set(), set(), set()
    for package in ("lanecheck", "verify", "proofs", "gpu_checks", "layouts", "isa_tables"):
        for path in (ROOT / package).rglob("*.py"):
            name, text = path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
            if not re.search(r"subprocess|\bos\.|Process|exec|eval\(|run_path|run_child|start_child", text):
                continue
            calls = [ast.unparse(call.func) for call in ast.walk(ast.parse(text)) if isinstance(call, ast.Call)]
            starts |= {name} if any(STARTS.fullmatch(call) for call in calls) else set()
            runs |= {name} if any(RUNS.fullmatch(call) for call in calls) else set()
            users |= {name} if {"run_child", "start_child"} & set(calls) else set()
    assert (starts, runs) == (set(OTHERS), IN_A_CHILD)
    assert users - {"lanecheck/console/children.py"} == USERS


@pytest.mark.parametrize("call", ["subprocess.run", "os.fork", "os.execv", "context.Process", "os.posix_spawn"])
def test_the_test_sees_what_starts_a_process(call: str) -> None:
    assert STARTS.fullmatch(call)


def run(tmp_path: Path, code: str, seconds: float = 30) -> int:
    return run_child([sys.executable, "-c", code], seconds, tmp_path, os.environ, tmp_path / "output")


def test_a_child_has_its_output_and_its_exit_code(tmp_path: Path) -> None:
    given = tmp_path / "given"
    given.write_text("question")
    code = "import sys; print(sys.stdin.read()[::-1], flush=True); print('why', file=sys.stderr); raise SystemExit(5)"
    command = [sys.executable, "-c", code]
    assert run_child(command, 30, tmp_path, {}, tmp_path / "output", tmp_path / "errors", given) == 5
    assert read_last_lines(tmp_path / "output") == ["noitseuq"]
    assert describe_end(5, read_last_lines(tmp_path / "errors")) == "its process ended with exit code 5: why"


def test_a_child_that_is_killed_says_so(tmp_path: Path) -> None:
    code = run(tmp_path, "import os; print('last words', flush=True); os.abort()")
    assert describe_end(code, read_last_lines(tmp_path / "output")) == "its process ended with signal 6: last words"


@pytest.mark.long
def test_a_child_has_limits_of_memory_and_of_what_it_writes(tmp_path: Path) -> None:
    code = "import time, resource as r; time.sleep(0.2); print(*(r.getrlimit(x)[0] for x in (r.RLIMIT_CORE, "
    assert run(tmp_path, code + "r.RLIMIT_DATA, r.RLIMIT_FSIZE)))") == 0
    core, memory, written = map(int, read_last_lines(tmp_path / "output")[0].split())
    assert core == 0 and 0 < memory <= MEMORY and 0 < written <= WRITTEN
    code = f"import time; time.sleep(0.2)\nfound = bytearray({MEMORY + 1})"
    assert run(tmp_path, code) == 1 and read_last_lines(tmp_path / "output")[-1] == "MemoryError"


@pytest.mark.long
def test_a_child_that_takes_too_long_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    daemon = "import os, time; os.setsid(); time.sleep(60)"
    code = f"import subprocess, sys, os, time; subprocess.Popen([sys.executable, '-c', {daemon!r}]); "
    code += f"print(os.environ[{MARK!r}], flush=True); time.sleep(60)"
    started = time.monotonic()
    with pytest.raises(subprocess.TimeoutExpired):
        run(tmp_path, code, 1)
    (marks,) = read_last_lines(tmp_path / "output")
    assert not find_marked(marks.rpartition(":")[2])
    assert time.monotonic() - started < 30


def test_a_childs_child_is_found_by_both_marks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MARK, "outer")
    with start_child([sys.executable, "-c", "import time; time.sleep(60)"], tmp_path, os.environ) as child:
        time.sleep(0.2)
        assert find_marked("outer") == [child.pid]
    assert not find_marked("outer")


def test_a_program_that_is_not_there_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        run_child(["/no/program"], 1, tmp_path, {}, tmp_path / "output")
