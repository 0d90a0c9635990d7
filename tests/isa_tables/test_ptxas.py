# SPDX-License-Identifier: Apache-2.0
"""NVIDIA's assembler as a witness of mnemonics, register counts and targets (it knows nothing of layouts)."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from isa_tables import Signature, mnemonics, runs_on
from isa_tables.signature import signature

NEEDED = (12, 9)  # the first release with PTX 8.8, which sm_120f needs
TARGETS = ("sm_75", "sm_80", "sm_89", "sm_90", "sm_120a", "sm_120f")


def missing_ptxas() -> str | None:
    if shutil.which("ptxas") is None:
        return "ptxas is not installed"
    banner = subprocess.run(["ptxas", "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"release (\d+)\.(\d+)", banner)
    release = (int(found[1]), int(found[2])) if found else (0, 0)
    return None if release >= NEEDED else f"ptxas {release[0]}.{release[1]} is older than {NEEDED[0]}.{NEEDED[1]}"


MISSING = missing_ptxas()
pytestmark = pytest.mark.skipif(MISSING is not None, reason=f"needs ptxas: {MISSING}")


def kernel(number: int, found: Signature, extra: str = "") -> str:
    """A kernel that holds nothing but the instruction, with one register too many for operand `extra`."""
    declared, operands = [], []
    for name, fragment in found.operands.items():
        count = fragment.regs + (name == extra)
        declared.append(f".reg .{fragment.reg_type} %{name}<{count}>;")
        registers = ", ".join(f"%{name}{j}" for j in range(count))
        operands.append(registers if found.lanes == 1 else f"{{{registers}}}")
    body = "\n".join([*declared, f"{found.mnemonic} {', '.join(operands)};", "ret;"])
    return f".visible .entry k{number}()\n{{\n{body}\n}}\n"


def assembles(kernels: list[str], target: str, folder: Path) -> tuple[bool, str]:
    source = folder / "probe.ptx"
    source.write_text(f".version 8.8\n.target {target}\n.address_size 64\n" + "".join(kernels))
    command = ["ptxas", "-arch", target, str(source), "-o", str(folder / "probe.cubin")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stderr


@pytest.mark.parametrize("target", TARGETS)
def test_everything_that_exists_for_a_target_assembles_for_it(target: str, tmp_path: Path) -> None:
    here = [found for found in map(signature, mnemonics()) if runs_on(found, target)]
    assert here
    good, said = assembles([kernel(n, found) for n, found in enumerate(here)], target, tmp_path)
    assert good, said[:2000]


def test_every_mnemonic_exists_for_one_of_these_targets() -> None:
    assert [name for name in mnemonics() if not any(runs_on(signature(name), target) for target in TARGETS)] == []


# The oldest target that ptxas still knows and that lacks the instruction.
LACKING = [
    ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "sm_75"),
    ("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.and.popc", "sm_75"),
    ("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64.rz", "sm_89"),
    ("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32", "sm_80"),
    ("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e3m2.f32", "sm_90"),
]


@pytest.mark.parametrize(("mnemonic", "target"), LACKING)
def test_what_a_target_lacks_is_refused_there(mnemonic: str, target: str, tmp_path: Path) -> None:
    assert not runs_on(signature(mnemonic), target)
    good, said = assembles([kernel(0, signature(mnemonic))], target, tmp_path)
    assert not good and ("requires" in said or "not supported" in said), said


@pytest.mark.parametrize("operand", "DABC")
@pytest.mark.parametrize(
    "mnemonic",
    [
        "mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f16",
        "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16",
        "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc",
    ],
)
def test_one_register_too_many_is_refused(mnemonic: str, operand: str, tmp_path: Path) -> None:
    found = signature(mnemonic)
    good, _ = assembles([kernel(0, found, extra=operand)], found.targets[0].replace("70", "75").rstrip("+"), tmp_path)
    assert not good
