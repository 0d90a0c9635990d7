# SPDX-License-Identifier: Apache-2.0
"""`lanecheck check FILE.py`: run a script without a GPU, as a test is run, and verify each launch of a kernel in it."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from lanecheck.console.children import start_child
from lanecheck.console.command import add_execution, parser
from verify.cli import arguments, ending
from verify.core.errors import UsageError
from verify.core.python_files import imports_module

DESCRIPTION = """Run a script that launches kernels of Triton, on a machine without a GPU, and verify each launch: its
accesses, order and progress, and its values if the script fails where a comparison with torch differs. A benchmark is
one call."""
EXAMPLE = "test_gemm.py --target sm_90a"
PASSED = ("target", "budget", "configs", "seed", "seconds")  # options that pytest takes too, as --lanecheck-…


def is_script(words: Sequence[str]) -> bool:
    """Return whether the arguments of `check` are a Python file that imports Triton, without a claim for it."""
    files = [word for word in words if word.endswith(".py")]
    claims = any(word.partition("=")[0] in ("--claim", "--safety") for word in words)
    return bool(words) and files == [words[0]] and not claims and imports_module(Path(words[0]), "triton")


def main(argv: Sequence[str] | None = None) -> int:
    """Verify the launches of a script; returns the exit code."""
    return ending.run_guarded(_main, argv)


def _main(argv: Sequence[str] | None) -> int:
    made = parser("lanecheck check", DESCRIPTION, EXAMPLE)
    made.add_argument("script", metavar="FILE.py", help="the script")
    made.add_argument("--target", metavar="TARGET", help="the GPU that kernels are compiled for (sm_90a)")
    made.add_argument("--budget", type=float, metavar="S", help="seconds for one launch (60)")
    made.add_argument("--seconds", type=float, metavar="S", help="seconds to run the script (900)")
    configs = "the configurations of an autotuned kernel that are compared: the first and two others, or all"
    made.add_argument("--configs", choices=("first", "all"), help=configs)
    made.add_argument("--seed", type=int, metavar="N", help="the seed of an earlier run, to repeat it")
    made.add_argument("--require", action="append", default=[], choices=("values",), help="fail without a comparison")
    add_execution(made)
    options = made.parse_args(argv)
    arguments.check_execution(options.allow_exec)
    if importlib.util.find_spec("pytest") is None:
        raise UsageError("scripts are run by pytest, which isn't installed here: pip install pytest")
    words = [f"--lanecheck-{name}={getattr(options, name)}" for name in PASSED if getattr(options, name) is not None]
    words += [f"--lanecheck-require={kind}" for kind in options.require]
    script = Path(options.script).resolve()
    home = str(Path(__file__).parents[2])
    command = [sys.executable, "-m", "pytest", "-q", "-rfsp", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir",
               str(script.parent), "--lanecheck-kernels", "--lanecheck-scripts", *words, str(script)]  # fmt: skip
    path = os.pathsep.join(filter(None, [home, os.environ.get("PYTHONPATH", "")]))
    with start_child(command, Path.cwd(), {**os.environ, "PYTHONPATH": path}, None, None) as child:
        return child.wait()
