# SPDX-License-Identifier: Apache-2.0
"""Layouts that the packages themselves make are read as the same layouts: CuTe DSL, pycute, tensor-layouts.

Each package is imported by the interpreter of the variable FOREIGN_PYTHON, or else by this one; pycute, which is in the
source tree of CUTLASS and no package of an index, also from the folder of the variable PYCUTE.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PYTHON = os.environ.get("FOREIGN_PYTHON", sys.executable)
PROGRAMS = {
    "pycute": (
        "from pycute import Layout",
        "show(Layout((4, (2, 4)), (2, (1, 8))), Layout(8, 2))",
        ["(4,(2,4)):(2,(1,8))", "8:2"],
    ),
    "tensor-layouts": (
        "from tensor_layouts import Layout, Swizzle, compose",
        "show(Layout((4, (2, 4)), (2, (1, 8))), compose(Swizzle(2, 3, 3), Layout((8, 32), (32, 1))))",
        ["(4,(2,4)):(2,(1,8))", "Sw<2,3,3> o 0 o (8,32):(32,1)"],
    ),
    "nvidia-cutlass-dsl": (
        "import os; os.environ['CUTE_DSL_ARCH'] = 'sm_90a'\nfrom cutlass import cute",
        "@cute.jit\n"
        "def made():\n"
        "    layout = cute.make_layout((8, 32), stride=(32, 1))\n"
        "    show(cute.make_layout((4, (2, 4)), stride=(2, (1, 8))),\n"
        "         cute.make_composed_layout(cute.make_swizzle(2, 3, 3), 0, layout),\n"
        "         cute.make_identity_layout((4, 8)))\n"
        "made()",
        ["(4,(2,4)):(2,(1,8))", "Sw<2,3,3> o 0 o (8,32):(32,1)", "(4,8):(1@0,1@1)"],
    ),
}
SHOW = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from layouts.pasted import from_object, read_layout
def show(*found):
    print(*(from_object(one) == read_layout(text) for one, text in zip(found, sys.argv[1:], strict=True)))
"""


def run(text: str, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A program of the interpreter that has the packages; a file, as CuTe DSL reads the source of its functions."""
    path = folder / "program.py"
    path.write_text(text, encoding="utf-8")
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    environment |= {"PYTHONPATH": os.environ.get("PYCUTE", "")}
    command = [PYTHON, str(path), *words]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment, check=False)


@pytest.mark.slow
@pytest.mark.parametrize("package", PROGRAMS)
def test_an_object_of_the_package_is_the_layout(package: str, tmp_path: Path) -> None:
    imported, program, texts = PROGRAMS[package]
    absent = run(imported, tmp_path)
    if absent.returncode:
        pytest.skip(f"{PYTHON}: {absent.stderr.strip().splitlines()[-1]}; FOREIGN_PYTHON names another interpreter")
    done = run(f"{imported}\n{SHOW}\n{program}\n", tmp_path, *texts)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True"] * len(texts)
