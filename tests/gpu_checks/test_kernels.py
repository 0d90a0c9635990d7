# SPDX-License-Identifier: Apache-2.0
"""The CUDA text of the probes: what it says, and that NVIDIA's compiler takes all of it."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace

import pytest

from gpu_checks.kernels import MATRIX_SOURCES, module
from isa_tables.signature import mnemonics, runs_on, signature

EVERY = [signature(name) for name in mnemonics()]
LETTERS = {"b32": "r", "s32": "r", "f32": "f", "f64": "d"}


@pytest.mark.parametrize("s", EVERY, ids=lambda s: s.mnemonic)
def test_the_instruction_is_issued_with_the_registers_of_its_signature(s):
    text = module([s])
    (line,) = re.findall(r'asm volatile\("(.*);"', text)
    assert line.startswith(s.mnemonic + " ")
    numbers = [int(n) for n in re.findall(r"%(\d+)", line)]
    assert numbers == list(range(sum(f.regs for f in s.operands.values())))
    groups = re.findall(r"\{([^}]*)\}", line)
    assert [g.count("%") for g in groups] == ([f.regs for f in s.operands.values()] if s.lanes > 1 else [])
    outputs, inputs = re.search(r': (".*)\n +: (".*)\);', text).groups()
    given = [(operand, LETTERS[f.reg_type]) for operand, f in s.operands.items() for _ in range(f.regs)]
    assert re.findall(r'"=(\w)"', outputs) == [letter for operand, letter in given if operand == "D"]
    assert re.findall(r'"(\w)"\(', inputs) == [letter for operand, letter in given if operand != "D"]
    assert [c for c in re.findall(r"\b([abc])\[\d+\]", inputs)] == sorted(re.findall(r"\b([abc])\[\d+\]", inputs))


def test_a_module_keeps_its_instructions_apart():
    text = module(EVERY[:3])
    for index, s in enumerate(EVERY[:3]):
        assert f"namespace probe_{index} {{\n// {s.mnemonic}\n" in text
        assert f" relation_{index}(" in text and f" run_{index}(" in text
    assert text.count("asm volatile") == 3


@pytest.mark.parametrize("s", EVERY[::7], ids=lambda s: s.mnemonic)
def test_shape_tile_and_multiplicity_leave_no_trace_in_the_text(s):
    # So no map of elements can be in it: the text knows registers, packing and types alone.
    blind = {name: replace(f, extent=(0, 0), copies=99) for name, f in s.operands.items()}
    assert module([replace(s, shape=(0, 0, 0), products=99, operands=blind)]) == module([s])


def missing_nvcc():
    if shutil.which("nvcc") is None:
        return "nvcc is not installed"
    banner = subprocess.run(["nvcc", "--version"], capture_output=True, text=True, check=False).stdout
    release = re.search(r"release (\d+)\.(\d+)", banner)
    found = (int(release[1]), int(release[2])) if release else (0, 0)
    return None if found >= (13, 0) else f"nvcc is {found[0]}.{found[1]}, older than 13.0"


NO_NVCC = missing_nvcc()


@pytest.mark.slow
@pytest.mark.skipif(NO_NVCC is not None, reason=f"needs nvcc: {NO_NVCC}")
@pytest.mark.parametrize("target", ["sm_90a", "sm_120a"])
def test_every_kernel_assembles(target, tmp_path):
    here = [s for s in EVERY if runs_on(s, target)]
    if target == "sm_120a":  # the rest is done for sm_90a
        here = [s for s in here if not runs_on(s, "sm_90a")]
    assert here
    for name, text in {"probes": module(here), **MATRIX_SOURCES}.items():
        source = tmp_path / f"{name}.cu"
        source.write_text(text)
        command = ["nvcc", f"-arch={target}", "-std=c++17", "-cubin", str(source), "-o", str(tmp_path / "cubin")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:2000]
