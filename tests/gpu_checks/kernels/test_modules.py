# SPDX-License-Identifier: Apache-2.0
"""The CUDA text of the probes: its content, and that NVIDIA's compiler accepts all of it."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from dataclasses import replace

import pytest

from gpu_checks.kernels.digit_coded import families
from gpu_checks.kernels.modules import module, probe_of
from isa_tables.signature import mnemonics, runs_on, signature
from tests.cases import each

EVERY = [signature(name) for name in mnemonics()]
KINDS = ("mxf8f6f4", "mxf4", "mxf4nvf4")
LETTERS = {"b32": "r", "s32": "r", "f32": "f", "f64": "d"}


@each("s", EVERY, ids=lambda s: s.mnemonic)
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


def test_a_module_keeps_its_instructions_separate():
    text = module(EVERY[:3])
    for index, s in enumerate(EVERY[:3]):
        assert f"namespace probe_{index} {{\n// {s.mnemonic}\n" in text
        assert f" relation_{index}(" in text and f" run_{index}(" in text
    assert text.count("asm volatile") == 3


@each("s", EVERY[::7], ids=lambda s: s.mnemonic)
def test_shape_and_tile_leave_no_trace_in_the_text(s):
    # So no map of elements can be in it: the text knows registers, packing and types alone.
    blind = {name: replace(f, extent=(0, 0)) for name, f in s.operands.items()}
    assert module([replace(s, shape=(0, 0, 0), operands=blind)]) == module([s])


SPARSE = [signature(name) for name in mnemonics("mma.sp*") if "block_scale" not in name]
WIDE = [signature(name) for name in mnemonics("wgmma.mma_async.sync") if ".m64n24k" in name]


@each("s", SPARSE, ids=lambda s: s.mnemonic)
def test_a_sparse_instruction_is_issued_once_for_each_selector(s):
    first, *lines = re.findall(r'asm volatile\("(mma.*);"', module([s]))
    assert [line.rpartition(", ")[2] for line in lines] == [str(f) for f in s.select["F"]] and first == lines[0]
    assert all(line.startswith(s.mnemonic + " {") for line in lines)


def test_a_selector_of_ones_own_is_issued_as_it_is():
    s = SPARSE[0]
    text = module([replace(s, select={}, chosen={"F": 7}, asm=s.asm.rpartition(", ")[0] + ", 7")])
    assert [line.rpartition(", ")[2] for line in re.findall(r'asm volatile\("(mma.*);"', text)] == ["7", "7"]


@pytest.mark.parametrize("s", WIDE, ids=lambda s: s.mnemonic)
def test_wgmma_is_issued_with_a_from_registers_and_from_memory_and_in_every_major(s):
    first, *lines = re.findall(r"(wgmma.mma_async.*?); wgmma.commit", module([s]))
    assert first == lines[0]
    wide = s.operands["A"].bits == 16
    tails = [line.partition(", p")[2] for line in lines]
    scales = ", 1, 1" if s.operands["D"].type != "s32" else ""
    assert tails == ([f"{scales}{t}" for t in (", 0", ", 0, 0", ", 1", ", 1, 0")] if wide else [scales] * 2)
    assert [line.count("{") for line in lines] == [2, 1, 2, 1][: len(lines)]


THIN = [signature(name) for name in mnemonics("wgmma.mma_async.sp.sync") if ".m64n64k" in name]


@pytest.mark.parametrize("s", THIN, ids=lambda s: s.mnemonic)
def test_sparse_wgmma_is_issued_with_every_selector_and_in_every_major_with_the_first(s):
    first, *lines = re.findall(r"(wgmma.mma_async.*?); wgmma.commit", module([s]))
    assert first == lines[0]
    bits = s.operands["A"].bits
    scales = ", 1, 1" if s.operands["D"].type != "s32" else ""
    majors = ("", "") if bits != 16 else (", 0", ", 0, 0")
    turned = (", 1", ", 1, 0") if bits == 16 else ()
    tails = [(selector, tail) for selector in s.select["F"] for tail in (*majors, *(turned if selector == 0 else ()))]
    assert [line.partition(", p")[2] for line in lines] == [scales + tail for _, tail in tails]
    for line, (selector, _) in zip(lines, tails, strict=True):
        metadata = 1 + (4 if line.count("{") == 2 else 1) + 1  # behind D's address, A and B's descriptor
        assert f", %{metadata - 1}, %{metadata}, {selector}, p" in line


@pytest.mark.parametrize("s", [*WIDE[::5], *THIN[::5]], ids=lambda s: s.mnemonic)
def test_accumulators_are_loaded_and_stored_where_the_kernel_keeps_them(s):
    """In `run` word w of a lane is at w of global memory, loaded before; in digit-coded ones at w * 128 of shared."""
    regs, (run, *coded) = s.operands["D"].regs, re.findall(r"setp.eq.u32 p, 0, 0; (.*?)\);", module([s]), re.S)
    for text, step, space in [(run, 4, "global"), *((kernel, 4 * 128, "shared") for kernel in coded)]:
        stored = {f"d{r}": str(step * r) for r in range(regs)}
        assert {name: at for at, name in re.findall(rf"st.{space}.b32 \[%0\+(\d+)\], (d\d+);", text)} == stored
        loads = space == "global"
        assert dict(re.findall(r"ld.global.b32 (d\d+), \[%0\+(\d+)\];", text)) == (stored if loads else {})
        assert re.findall(r"mov.b32 (d\d+), 0;", text) == ([] if loads else list(stored))


def test_instructions_that_differ_in_n_alone_share_their_digit_coded_kernels():
    names = [n for n in mnemonics("wgmma.mma_async.sync") if re.search(r"m64n(8|24|256)k16.f32.(f16|bf16)", n)]
    kin = families([signature(n) for n in names])
    assert [len(family) for family in kin] == [3, 3]
    text = module([s for family in kin for s in family])
    for number, family in enumerate(kin):
        for form in range(4):
            body = text.partition(f"namespace coded_{number}_{form} ")[2].partition('extern "C"')[0]
            assert re.findall(r"// (wgmma\S+)", body) == [s.mnemonic for s in family]
    assert text.count("__global__") == len(names) + 2 * 4


def test_what_is_neither_a_product_nor_a_move_has_no_probe():
    for name in (
        "tcgen05.mma.cta_group::1.kind::f16",
        "tcgen05.cp.cta_group::1.4x256b",
        "wmma.load.a.sync.aligned.row.m16n16k16.f16",
    ):
        assert probe_of(signature(name)) is None


def nvcc_release():
    """(major, minor) of the nvcc that is installed, (0, 0) without one."""
    if shutil.which("nvcc") is None:
        return 0, 0
    banner = subprocess.run(["nvcc", "--version"], capture_output=True, text=True, check=False).stdout
    release = re.search(r"release (\d+)\.(\d+)", banner)
    return (int(release[1]), int(release[2])) if release else (0, 0)


NVCC = nvcc_release()
NO_NVCC = None if NVCC >= (13, 0) else f"nvcc is {NVCC[0]}.{NVCC[1]}, older than 13.0" if any(NVCC) else "not installed"
ISA_OF_13_0 = ("9.0", *(f"{major}.{minor}" for major in range(1, 9) for minor in range(10)))
PTX = (9, NVCC[1]) if NVCC[0] == 13 else (9, 0)  # the ISA that it knows


@pytest.mark.slow
@pytest.mark.skipif(NO_NVCC is not None, reason=f"needs nvcc: {NO_NVCC}")
@pytest.mark.parametrize("target", ["sm_90a", "sm_100a", "sm_120a"])
def test_every_kernel_assembles(target, tmp_path):
    here = [
        s for s in map(signature, mnemonics("*")) if probe_of(s) and is_known(s) and runs_on(s, target) and small(s)
    ]
    if target != "sm_90a":  # the rest is done for sm_90a
        here = [s for s in here if not runs_on(s, "sm_90a")]
    assert here
    source = tmp_path / "probes.cu"
    source.write_text(module(here))
    options = [f"-arch={target}", "-std=c++17", "-Ofc=max"]
    command = ["nvcc", *options, "-cubin", str(source), "-o", str(tmp_path / "cubin")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]


def is_known(s):
    """Whether the installed nvcc has the instruction: 13.0 has PTX ISA 9.0, 13.1 has 9.1."""
    return tuple(map(int, s.ptx.split("."))) <= PTX


def test_all_kernels_but_two_are_of_the_ptx_isa_that_nvcc_13_0_has():
    """Those two ptxas 13.5 takes; and so does the test above, with an nvcc that is newer."""
    scaled = "kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue8m0"
    later = {m for m in mnemonics("*") if probe_of(signature(m)) and signature(m).ptx not in ISA_OF_13_0}
    sparse = f"mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.{scaled}"
    assert later == {f"mma.sync.aligned.m16n8k64.row.col.{scaled}", sparse}


def small(s):
    """Of wgmma, which differs in N alone, the least of each type, of dense ones the largest too; so of tcgen05."""
    if s.lanes == 128:
        return s.shape[1] in ((8, 256) if s.sparsity is None else (8,))
    return not s.family.startswith("tcgen05") or s.operands["R"].regs in (1, 2, 4, 128)


def test_what_needs_a_newer_gpu_has_kernels_to_assemble():
    """The families of sm_100a and sm_120a that the test above compiles."""
    later = [s for s in map(signature, mnemonics("*")) if not runs_on(s, "sm_90a") and probe_of(s)]
    counts = Counter(s.family for s in later)
    scaled = [f"mma{sp}.sync.kind::{kind}.block_scale" for sp in ("", ".sp::ordered_metadata") for kind in KINDS]
    plain = ["mma.sync.kind::f8f6f4", "mma.sp::ordered_metadata.sync.kind::f8f6f4", "mma.sp::ordered_metadata.sync"]
    moves, tensor = {"ldmatrix.sync", "stmatrix.sync"}, {"tcgen05.ld.sync", "tcgen05.st.sync"}
    assert set(counts) == {*scaled, *plain, *moves, *tensor}
    assert {s.family for s in later if runs_on(s, "sm_120a")} == {*scaled, *plain, *moves}
    assert {s.family for s in later if runs_on(s, "sm_100a")} == moves | tensor


TENSOR = [signature(m) for f in ("ld", "st") for m in mnemonics(f"tcgen05.{f}.sync")]


@each("s", TENSOR, ids=lambda s: s.mnemonic)
def test_a_move_to_tensor_memory_is_issued_once_and_waited_for(s):
    (line,) = re.findall(rf'asm volatile\("({re.escape(s.mnemonic)} [^"]*wait[^"]*)" : ', module([s]))
    does = s.mnemonic[8:10]
    assert line.endswith(f"; tcgen05.wait::{does}.sync.aligned;")
    (group,) = re.findall(r"\{([^}]*)\}", line)
    assert group.count("%") == s.operands["R"].regs and f"[%{s.operands['R'].regs}]" in line
    assert ("bx2" in s.mnemonic) == (", 128" in line)
