# SPDX-License-Identifier: Apache-2.0
"""What a command does not load: each of these takes longer than the command's own work."""

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
RARE = "layouts.composed,layouts.atoms.places,proofs.layout.mixed_radix,gpu_checks.recording"
SEARCH = "numpy,z3,tomllib,isa_tables.instructions,verify.identify.making,verify.maps.findings"
ROW, COL = "lane/4 + 8*(i/2)", "lane%4*2 + i%2"
PLACES = ["--lang", "c", "--lane", "row", "--column", "col", "--tile", "128x64"]
TILING = ["--atom", "SM80_16x8x16_F32F16F16F32_TN", "--atoms-layout", "2,2,1", "--tile", "128,128,32", "-q"]


@pytest.mark.parametrize(
    ("without", "command", "words"),
    [
        ("argparse,dataclasses,inspect,importlib.metadata,numpy,pathlib", "verify.__main__", ["--help"]),
        ("argparse,dataclasses,inspect,importlib.metadata,numpy,pathlib", "verify.__main__", ["--version"]),
        ("numpy,z3,tomllib,gpu_checks.model", "verify.layout", [MAP, "--onto", "16x8"]),
        ("numpy,z3,tomllib,gpu_checks.model", "verify.layout", [MAP, "--equals", "((4,8),(2,2)):((32,1),(16,8))"]),
        ("numpy,z3,tomllib,gpu_checks.model", "verify.layout", [SWIZZLED, "--onto", "16x8"]),
        ("numpy,z3,tomllib,gpu_checks.model", "verify.layout", [SWIZZLED, "--equals", SWIZZLED]),
        ("numpy,z3,tomllib,gpu_checks.model", "verify.layout", ["Sw<2,1,3> o (128,128):(128,1)", "--onto", "128x128"]),
        ("numpy,z3,tomllib,gpu_checks.model", "verify.layout", ["(128,128):(128,1)", "--onto", "128x128"]),
        ("numpy,z3,tomllib,gpu_checks.model", "verify.layout", ["(2,64,128):(1,2,128)", "--onto", "128x128"]),
        ("numpy,z3,tomllib,gpu_checks.model", "verify.layout", ["(64,64):(64,1)", "--equals", "(64,(8,8)):(64,(1,8))"]),
        ("numpy,z3,tomllib,gpu_checks.model", "verify.layout", ["(16,8):(1@0,1@1)", "--onto", "16x8"]),
        (f"numpy,z3,heapq,random,{RARE}", "verify.atom.command", ["SM80_16x8x16_F32F16F16F32_TN", "-q"]),
        ("z3,random,gpu_checks.recording,layouts.tiled.tiled_copy", "verify.tiling.command", TILING),
        ("numpy,z3,cupy,xml", "verify.show.command", ["SM80_16x8x16_F32F16F16F32_TN"]),
        ("numpy,z3,cupy", "verify.show.command", ["SM80_16x8x16_F32F16F16F32_TN", "--svg"]),
        ("numpy,z3,cupy,xml", "verify.show.command", ["(8,8):(8,1)"]),
        ("numpy,z3,cupy", "verify.show.command", ["(128,128):(128,1)", "--onto", "128x128", "--svg"]),
        ("numpy,z3,cupy,xml", "verify.show.command", ["Sw<2,1,3> o (128,128):(128,1)"]),
        (f"{SEARCH},isa_tables.formula", "verify.identify.command", [MAP]),
        (SEARCH, "verify.identify.command", ["--lang", "c", "--row", ROW, "--col", COL, "--values", "4"]),
        (SEARCH, "verify.identify.command", [MAP, "--as", "layout"]),
        (f"{SEARCH},layouts.atoms", "verify.identify.command", PLACES),
        ("gpu_checks.model", "verify.atom.command", ["SM61_DP4A", "-q", "--checks", "isa,proof"]),
    ],
)
def test_a_command_loads_only_what_it_uses(without: str, command: str, words: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, command, without, *words], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr.strip()) == (0, "")
