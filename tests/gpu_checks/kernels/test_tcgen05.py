# SPDX-License-Identifier: Apache-2.0
"""The kernels of tcgen05.mma, cp and ld.red: their text, that they assemble, that nothing is recorded of them."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace

import pytest

from gpu_checks.kernels import tensor_memory
from gpu_checks.kernels.modules import has_kernels, module, probe_of
from gpu_checks.kernels.tcgen05 import fits, names
from gpu_checks.model import Unsupported
from gpu_checks.record import Bench, record
from gpu_checks.recordings_io.reader import recordings
from isa_tables.signature import mnemonics, runs_on, signature
from tests.cases import each
from tests.gpu_checks.kernels.test_modules import NO_NVCC, is_known
from tests.gpu_checks.simulated import INFO, Simulated

PLAIN = [s for s in map(signature, mnemonics("tcgen05*")) if not tensor_memory.fits(s)]
FROM_TENSOR_MEMORY = [signature(s.mnemonic, A_space="tmem") for s in PLAIN if "A_space" in s.select]
SPLIT = [signature(s.mnemonic, immHalfSplitoff=1) for s in PLAIN if "immHalfSplitoff" in s.select][:1]
EVERY = PLAIN + FROM_TENSOR_MEMORY + SPLIT
FAMILIES = {s.family for s in PLAIN} - {"tcgen05.ld.red.sync"}
# what a constraint is of, as the kernel writes it: an address in Tensor Memory, a descriptor, a number
TMEM, SMEM, NUMBER = '"r"(start + (u32)given[{}])', '"l"(home + given[{}])', '"r"((u32)given[{}])'


def label(s):
    return f"{s.mnemonic} {s.asm}"


def read_issued(s):
    """The line of the instruction: what precedes it, its operand list, its outputs and its inputs."""
    pattern = rf'"{{ (.*){re.escape(s.mnemonic)} (.*?);(?: tcgen05\.wait::ld\.sync\.aligned;)? }}" : (.*) : (.*) : "mem'
    (issued,) = re.findall(pattern, module([s]).replace(" : : ", " :  : "))
    return issued


def in_full(s, operands, outputs, inputs):
    """The operand list with each number replaced by what it is of, and p by the register it is made from."""
    expected = [part for part in (*outputs.split(", "), *inputs.split(", ")) if part]
    return re.sub(r"%(\d+)", lambda n: expected[int(n[1])], operands), len(expected)


def write_expected(s):
    """The same, from the signature: its operand list with every name replaced by its value."""
    registers, given = [], []

    def written(name):
        fragment = s.operands.get(name)
        space = fragment.space if fragment else s.addresses.get(name, "number")
        if space == "reg":
            own = [f'"=r"(r[{len(registers) + r}])' for r in range(fragment.regs)]
            registers.extend(own)
            return "{" + ", ".join(own) + "}" if name == "R" else own[0]
        assert fragment is None or fragment.reg_type == {"tmem": "b32", "smem": "b64"}[space]
        given.append(name)
        return {"tmem": TMEM, "smem": SMEM, "number": NUMBER}[space].format(len(given) - 1)

    return re.sub(r"\{([A-Z]+)\}|([a-z]\w*)", lambda n: written(n[1] or n[2]), s.asm), registers, given


@each("s", EVERY, ids=label)
def test_the_instruction_is_issued_with_the_registers_of_its_signature(s):
    before, operands, outputs, inputs = read_issued(s)
    want, registers, given = write_expected(s)
    if "p" in given:
        (number,) = re.fullmatch(r"\.reg \.pred p; setp\.ne\.u32 p, %(\d+), 0; ", before).groups()
        operands = re.sub(r"\bp$", f"%{number}", operands)
    else:
        assert before == ""
    assert in_full(s, operands, outputs, inputs) == (want, len(registers) + len(given))
    assert tuple(given) == names(s) and f"given += blockIdx.x * {len(given)};" in module([s])
    assert len(registers) == sum(f.regs for f in s.operands.values() if f.space == "reg")


@each("s", EVERY, ids=label)
def test_the_kernel_uses_one_cta_group_and_gives_back_what_it_allocates(s):
    text = module([s])
    group = re.search(r"cta_group::(\d)", s.mnemonic)
    groups = re.findall(r"cta_group::(\d)", text)
    assert set(groups) == {group[1] if group else "1"} == {str(s.ctas)}
    assert f"__cluster_dims__({s.ctas}, 1, 1)" in text and f'"h"((u16){2**s.ctas - 1})' in text
    order = ["alloc", "relinquish_alloc_permit", "st", "wait::st", "commit", "ld", "dealloc"]
    listed = re.findall(r"tcgen05\.(alloc|relinquish_alloc_permit|st|wait::st|commit|ld|dealloc)\b(?!\.red)", text)
    assert listed == order
    assert text.index("tcgen05.wait::st") < text.rindex(s.mnemonic) < text.index("tcgen05.commit")
    assert f"rank == 0 && thread < {s.lanes})" in text


@each("s", EVERY[::5], ids=label)
def test_shape_and_tile_leave_no_trace_in_the_text(s):
    # So no map of elements can be in it: the text knows registers, spaces and the operand list alone.
    blind = {name: replace(f, extent=(0, 0), values=0, copies=1) for name, f in s.operands.items()}
    bare = replace(s, shape=(0, 0, 0), operands=blind, sparsity=None, chosen={}, select={}, types=())
    assert module([bare]) == module([s])


def test_every_tcgen05_instruction_has_kernels_of_one_kind():
    for s in map(signature, mnemonics("*")):
        assert not (fits(s) and probe_of(s))
        assert fits(s) == (s.mnemonic.startswith("tcgen05") and not tensor_memory.fits(s))
        assert has_kernels(s) or not s.mnemonic.startswith("tcgen05")


@each("s", EVERY[::5], ids=label)
def test_a_gpu_that_could_run_it_is_rejected_because_no_probe_reads_it(s):
    sm = next(sm for sm in ("sm_100a", "sm_103a") if runs_on(s, sm))
    machine = Simulated({}, info=INFO._replace(sm=sm))
    why = re.escape(f"{s.family}: its kernels assemble, but there is no probe that reads them yet")
    with pytest.raises(Unsupported, match=f"^{why}$"):
        record(Bench(machine), s, trials=1, seed=0)
    assert machine.runs == []


@each("s", EVERY[::5], ids=label)
def test_another_gpu_is_rejected_with_the_needed_target(s):
    machine = Simulated({})
    with pytest.raises(Unsupported, match=rf"^needs {' or '.join(s.targets)}; Simulated is sm_90a$"):
        record(Bench(machine), s, trials=1, seed=0)
    assert machine.runs == []


def test_there_are_no_recordings_of_them():
    recorded = set(recordings())
    assert recorded and not recorded & {s.mnemonic for s in EVERY}


def assemble(signatures, target, folder):
    source = folder / "tensor.cu"
    source.write_text(module(signatures))
    command = ["nvcc", f"-arch={target}", "-std=c++17", "-Ofc=mid", "-cubin", str(source), "-o", str(folder / "cubin")]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def is_sampled(s):
    """All of mma and cp; of ld.red, which differ in their registers' number alone, the least and the most."""
    return "RED" not in s.operands or s.operands["R"].regs in (2, 128)


@pytest.mark.slow
@pytest.mark.skipif(NO_NVCC is not None, reason=f"needs nvcc: {NO_NVCC}")
@pytest.mark.parametrize("target", ["sm_100a", "sm_103a"])
def test_every_kernel_assembles_for_a_target_of_its_own(target, tmp_path):
    assert all(is_known(s) and (runs_on(s, "sm_100a") or runs_on(s, "sm_103a")) for s in EVERY)
    here = [s for s in EVERY if runs_on(s, target) and is_sampled(s)]
    if target != "sm_100a":  # the rest is done for sm_100a
        here = [s for s in here if not runs_on(s, "sm_100a")]
    assert {s.family for s in here} >= ({"tcgen05.ld.red.sync"} if target == "sm_103a" else FAMILIES)
    done = assemble(here, target, tmp_path)
    assert done.returncode == 0, done.stderr[:2000]


@pytest.mark.slow
@pytest.mark.skipif(NO_NVCC is not None, reason=f"needs nvcc: {NO_NVCC}")
@pytest.mark.parametrize(("stem", "target"), [("tcgen05.mma", "sm_90a"), ("tcgen05.ld.red", "sm_100a")])
def test_the_assembler_rejects_it_for_a_target_without_it(stem, target, tmp_path):
    s = next(s for s in EVERY if s.mnemonic.startswith(stem))
    assert not runs_on(s, target)
    done = assemble([s], target, tmp_path)
    assert done.returncode != 0 and "not supported" in done.stderr, done.stderr[:2000]


@pytest.mark.slow
@pytest.mark.skipif(NO_NVCC is not None, reason=f"needs nvcc: {NO_NVCC}")
@pytest.mark.parametrize("missing", ["idesc, ", "[sfb], ", "[tmeta], "])
def test_the_assembler_rejects_an_operand_list_that_lacks_one(missing, tmp_path):
    s = next(s for s in EVERY if missing in s.asm)
    done = assemble([replace(s, asm=s.asm.replace(missing, ""))], "sm_100a", tmp_path)
    assert done.returncode != 0 and "ptxas" in done.stderr
