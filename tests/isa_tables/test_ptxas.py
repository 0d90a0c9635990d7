# SPDX-License-Identifier: Apache-2.0
"""The tables against NVIDIA's assembler: mnemonics, register counts and targets (ptxas does not know layouts)."""

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
MORE_TARGETS = (
    *("sm_75", "sm_80", "sm_89", "sm_90a", "sm_100a", "sm_100f", "sm_103a", "sm_103f", "sm_110a", "sm_110f"),
    *("sm_120a", "sm_121a"),
)
VERSION = (9, 0)  # of PTX, for what needs more than 8.8; ptxas 13.0 knows it
# the names in `asm` that aren't operands: a predicate, addresses, descriptors
NAMED = ".reg .pred p; .reg .b32 taddr, idesc, tmeta, sfa, sfb; .reg .b64 adesc, bdesc, sdesc, addr;"
SINGLE = ("E", "SFA", "SFB", "RED")  # one register, without braces


def release() -> tuple[int, int] | None:
    """The release of the ptxas that is installed."""
    if shutil.which("ptxas") is None:
        return None
    banner = subprocess.run(["ptxas", "--version"], capture_output=True, text=True, check=True).stdout
    match = re.search(r"release (\d+)\.(\d+)", banner)
    return (int(match[1]), int(match[2])) if match else (0, 0)


def missing_ptxas() -> str | None:
    installed = release()
    if installed is None:
        return "ptxas is not installed"
    return None if installed >= NEEDED else f"ptxas {installed[0]}.{installed[1]} is older than {NEEDED[0]}.{NEEDED[1]}"


MISSING = missing_ptxas()
pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("ptxas"),  # its fixtures are made once a run
    pytest.mark.skipif(MISSING is not None, reason=f"needs ptxas: {MISSING}"),
]


def kernel(number: int, s: Signature, extra: str = "") -> str:
    """A kernel of the instruction alone, with one register too many for operand `extra`."""
    declared, operands = [NAMED], s.asm
    for name, fragment in s.operands.items():
        count = fragment.regs + (name == extra)
        declared.append(f".reg .{fragment.reg_type} %{name}<{count}>;")
        registers = ", ".join(f"%{name}{j}" for j in range(count))
        bare = s.lanes == 1 or fragment.space != "reg" or name in ("E", "SFA", "SFB", "RED") or "movm" in s.family
        operands = operands.replace(f"{{{name}}}", registers if bare else f"{{{registers}}}")
    body = "\n".join([*declared, f"{s.mnemonic} {operands};", "ret;"])
    return f".visible .entry k{number}()\n{{\n{body}\n}}\n"


def assembles(kernels: list[str], target: str, folder: Path, version: str = "8.8") -> tuple[bool, str]:
    source = folder / "probe.ptx"
    source.write_text(f".version {version}\n.target {target}\n.address_size 64\n" + "".join(kernels))
    command = ["ptxas", "-arch", target, str(source), "-o", str(folder / "probe.cubin")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stderr


@pytest.mark.parametrize("target", TARGETS)
def test_everything_that_exists_for_a_target_assembles_for_it(target: str, tmp_path: Path) -> None:
    here = [s for s in map(signature, mnemonics()) if runs_on(s, target)]
    assert here
    good, said = assembles([kernel(n, s) for n, s in enumerate(here)], target, tmp_path)
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
def test_what_a_target_lacks_is_rejected_there(mnemonic: str, target: str, tmp_path: Path) -> None:
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
def test_one_register_too_many_is_rejected(mnemonic: str, operand: str, tmp_path: Path) -> None:
    s = signature(mnemonic)
    good, _ = assembles([kernel(0, s, extra=operand)], s.targets[0].replace("70", "75").rstrip("+"), tmp_path)
    assert not good


def sample_signatures() -> list[Signature]:
    """Every instruction that is not dense, wgmma at the smallest, the largest and some N, wmma without its copies."""
    names = [name for name in mnemonics("*") if name not in mnemonics() and not re.search(r"::cta|\.global", name)]
    family = re.compile(r"\.m64n(?!(8|16|24|104|208|256)k)\d+k")
    kept = [signature(name) for name in names if not family.search(name)]
    both = [signature(s.mnemonic, A_space=space) for s in kept for space in s.select.get("A_space", ())[1:]]
    return [s for s in (*kept, *both) if tuple(map(int, s.ptx.split("."))) <= VERSION]


@pytest.fixture(scope="module")
def sampled() -> list[Signature]:
    return sample_signatures()


@pytest.mark.parametrize("target", MORE_TARGETS)
def test_the_other_instructions_assemble_for_their_targets(
    target: str, sampled: list[Signature], tmp_path: Path
) -> None:
    here = [s for s in sampled if runs_on(s, target)]
    assert here
    good, said = assembles([kernel(n, s) for n, s in enumerate(here)], target, tmp_path, "9.0")
    assert good, [line for line in said.splitlines() if "Advisory" not in line][:20]


def test_every_other_mnemonic_exists_for_one_of_these_targets(sampled: list[Signature]) -> None:
    assert [s.mnemonic for s in sampled if not any(runs_on(s, target) for target in MORE_TARGETS)] == []


def test_every_selection_assembles(tmp_path: Path) -> None:
    for name, target in (
        ("mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "sm_80"),
        ("mma.sp.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32", "sm_80"),
        ("mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e2m1.f32.ue8m0", "sm_120a"),
        ("mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0", "sm_120a"),
        ("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16", "sm_90a"),
    ):
        select = signature(name).select
        chosen = [signature(name, **{key: word}) for key, words in select.items() for word in words]
        good, said = assembles([kernel(n, s) for n, s in enumerate(chosen)], target, tmp_path, "9.0")
        assert good, said[:2000]


# a selection or a member that the tables do not have, in the place of one that they have
REJECTED = [
    ("mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "sm_80", "%E0, 0", "%E0, 4"),
    ("mma.sp.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32", "sm_80", "%E0, 0", "%E0, 2"),
    ("mma.sp.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32", "sm_80", "%E0, 0", "%E0, 1"),
    ("mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0", "sm_120a", "{0, 0}", "{1, 0}"),
    ("mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0", "sm_120a", "{0, 0}", "{0, 4}"),
    ("wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16", "sm_90a", "m64n16k16", "m64n12k16"),
    ("wgmma.mma_async.sync.aligned.m64n32k32.s32.s8.s8", "sm_90a", "m64n32k32", "m64n40k32"),
    ("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8", "sm_100a", ".trans", ""),
    ("tcgen05.mma.cta_group::1.kind::i8", "sm_100a", "kind::i8", "kind::i4"),
    ("tcgen05.mma.cta_group::1.kind::mxf4.block_scale", "sm_100a", ".block_scale", ".block_scale.scale_vec::4X"),
    ("tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale", "sm_100a", ".mma", ".mma.ws"),
    ("tcgen05.mma.cta_group::2.kind::mxf4nvf4.block_scale.block16", "sm_100a", ".block16", ""),
    ("tcgen05.cp.cta_group::1.32x128b.warpx4", "sm_100a", ".warpx4", ""),
    ("tcgen05.cp.cta_group::1.128x128b", "sm_100a", "128x128b", "128x128b.warpx4"),
    ("tcgen05.ld.red.sync.aligned.32x32b.x2.max.u32", "sm_103a", ".max", ".max.abs"),
    ("tcgen05.ld.red.sync.aligned.32x32b.x2.max.f32", "sm_103a", "32x32b", "16x64b"),
]


def test_selectors_that_the_isa_lacks_pass_for_one_kind_of_instruction(tmp_path: Path) -> None:
    """Only m16n8k32 .f32.f16.f16.f32 has selectors 0 and 1 and assembles with 2 and 3 (its errata list it)."""
    passed = set()
    for name in mnemonics("mma.sp*"):
        s = signature(name)
        if s.select.get("F") == (0, 1):
            assert "%E0, 0" in kernel(0, s)
            for selector in (2, 3):
                text = kernel(0, s).replace("%E0, 0", f"%E0, {selector}")
                if assembles([text], "sm_80", tmp_path, "9.0")[0]:
                    passed.add((name.rpartition("m16n8")[2], selector))
    assert passed == {("k32.row.col.f32.f16.f16.f32", 2), ("k32.row.col.f32.f16.f16.f32", 3)}


@pytest.mark.parametrize(("mnemonic", "target", "old", "new"), REJECTED)
def test_what_the_tables_lack_is_rejected(mnemonic: str, target: str, old: str, new: str, tmp_path: Path) -> None:
    text = kernel(0, signature(mnemonic))
    assert old in text and assembles([text], target, tmp_path, "9.0")[0]
    assert not assembles([text.replace(old, new, 1)], target, tmp_path, "9.0")[0]


@pytest.mark.parametrize(
    ("mnemonic", "target"),
    [
        ("mma.sp.sync.aligned.m16n8k64.row.col.f32.e4m3.e5m2.f32", "sm_80"),
        ("stmatrix.sync.aligned.m8n8.x1.shared.b16", "sm_89"),
        ("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8", "sm_90a"),
        ("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", "sm_90"),
        ("tcgen05.ld.sync.aligned.32x32b.x1.b32", "sm_120a"),
        ("tcgen05.mma.cta_group::1.kind::i8", "sm_103a"),
        ("tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X", "sm_100f"),
        ("tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16", "sm_120a"),
        ("tcgen05.cp.cta_group::1.4x256b", "sm_120a"),
        ("tcgen05.ld.red.sync.aligned.32x32b.x2.min.s32", "sm_100a"),
    ],
)
def test_what_another_target_lacks_is_rejected_there(mnemonic: str, target: str, tmp_path: Path) -> None:
    assert not runs_on(signature(mnemonic), target)
    assert not assembles([kernel(0, signature(mnemonic))], target, tmp_path, "9.0")[0]


@pytest.mark.parametrize(
    ("mnemonic", "operand", "target"),
    [
        *(("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", name, "sm_80") for name in "DABC"),
        ("wgmma.mma_async.sync.aligned.m64n256k16.f16.f16.f16", "D", "sm_90a"),
        ("ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8", "R", "sm_100a"),
        ("tcgen05.st.sync.aligned.16x256b.x2.unpack::16b.b32", "R", "sm_100a"),
        ("tcgen05.ld.red.sync.aligned.16x32bx2.x4.max.abs.NaN.f32", "R", "sm_103a"),
        ("wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64", "C", "sm_80"),
    ],
)
def test_one_register_more_is_rejected(mnemonic: str, operand: str, target: str, tmp_path: Path) -> None:
    s = signature(mnemonic)
    assert assembles([kernel(0, s)], target, tmp_path, "9.0")[0]
    assert not assembles([kernel(0, s, extra=operand)], target, tmp_path, "9.0")[0]
