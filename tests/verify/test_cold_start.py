# SPDX-License-Identifier: Apache-2.0
"""What a command does not load: z3 and CuPy, unless it proves or asks a GPU; and --help loads next to nothing."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import sys
from importlib import import_module
code = import_module(sys.argv[1]).main(sys.argv[3:])
assert code == 0, code
print(*[name for name in sys.argv[2].split(",") if name in sys.modules], file=sys.stderr)
"""
MAP = "((4,8),(2,2)):((32,1),(16,8))"
SWIZZLED = "Sw<1,0,4> o (32,4):(1,32)"
ROW, COL = "lane/4 + 8*(i/2)", "lane%4*2 + i%2"
PLACES = ["--lang", "c", "--lane", "row", "--column", "col", "--tile", "128x64"]
TILING = ["--atom", "SM80_16x8x16_F32F16F16F32_TN", "--atoms-layout", "2,2,1", "--tile", "128,128,32", "-q"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("without", "command", "words"),
    [
        ("argparse,dataclasses,inspect,importlib.metadata,numpy,pathlib", "verify.__main__", ["--help"]),
        ("argparse,dataclasses,inspect,importlib.metadata,numpy,pathlib", "verify.__main__", ["--version"]),
        ("z3,cupy", "verify.layout.command", [MAP, "--onto", "16x8"]),
        ("z3,cupy", "verify.layout.command", [MAP, "--equals", "((4,8),(2,2)):((32,1),(16,8))"]),
        ("z3,cupy", "verify.layout.command", [SWIZZLED, "--onto", "16x8"]),
        ("z3,cupy", "verify.layout.command", [SWIZZLED, "--equals", SWIZZLED]),
        ("z3,cupy", "verify.layout.command", ["Sw<2,1,3> o (128,128):(128,1)", "--onto", "128x128"]),
        ("z3,cupy", "verify.layout.command", ["(128,128):(128,1)", "--onto", "128x128"]),
        ("z3,cupy", "verify.layout.command", ["(2,64,128):(1,2,128)", "--onto", "128x128"]),
        ("z3,cupy", "verify.layout.command", ["(64,64):(64,1)", "--equals", "(64,(8,8)):(64,(1,8))"]),
        ("z3,cupy", "verify.layout.command", ["(16,8):(1@0,1@1)", "--onto", "16x8"]),
        ("z3,cupy", "verify.atom.command", ["SM80_16x8x16_F32F16F16F32_TN", "-q"]),
        ("z3,cupy", "verify.tiling.command", TILING),
        ("z3,cupy", "verify.show.command", ["SM80_16x8x16_F32F16F16F32_TN"]),
        ("z3,cupy", "verify.show.command", ["SM80_16x8x16_F32F16F16F32_TN", "--svg"]),
        ("z3,cupy", "verify.show.command", ["(8,8):(8,1)"]),
        ("z3,cupy", "verify.show.command", ["(128,128):(128,1)", "--onto", "128x128", "--svg"]),
        ("z3,cupy", "verify.show.command", ["Sw<2,1,3> o (128,128):(128,1)"]),
        ("z3,cupy", "verify.identify.command", [MAP]),
        ("z3,cupy", "verify.identify.command", ["--lang", "c", "--row", ROW, "--col", COL, "--values", "4"]),
        ("z3,cupy", "verify.identify.command", [MAP, "--as", "layout"]),
        ("z3,cupy", "verify.identify.command", PLACES),
        ("gpu_checks.model", "verify.atom.command", ["SM61_DP4A", "-q", "--checks", "isa,proof"]),
    ],
)
def test_a_command_loads_only_what_it_uses(without: str, command: str, words: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, command, without, *words], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr.strip()) == (0, "")
