# SPDX-License-Identifier: Apache-2.0
"""Registers of wgmma that are used before the wait: ptxas waits for sums itself, and not for operands."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import gpu_checks
from benchmarks.kernels.silicon import drawn, job, rounded, unpacked
from gpu_checks import Unavailable
from gpu_checks.compiled import check_target, run_all
from gpu_checks.model import Unsupported
from tests.verify.kernel.test_lanes import tell
from tests.verify.kernel.test_phases import PARTS, PARTS_CLAIM, STEP
from verify.kernel.check import LaunchOutcome, check
from verify.kernel.claims.claim import KernelClaim, claim_of
from verify.kernel.claims.claim_file import read_claim
from verify.kernel.ptx.parse import parse_kernel
from verify.kernel.state.findings import Severity

HOME = Path(__file__).parent
COMMIT, WAIT, FENCE = (f"wgmma.{words};" for words in ("commit_group.sync.aligned", "wait_group.sync.aligned 0",
                                                   "fence.sync.aligned"))  # fmt: skip
SUMS = "sum in flight", Severity.LETTER
OPERAND = "register in flight", Severity.RACE
NO_FENCE = "no wgmma.fence", Severity.LETTER

# The sums of 64 x 8 elements are in %f0 to %f3, of two steps of k; A is in %r21 to %r24, B in shared memory.
FIRST, SECOND = (STEP.format(*(32 * step + place for place in (0, 512, 16, 528))) for step in range(2))
EARLY = FIRST + SECOND.replace(WAIT, "")  # its last wait is yet to come


def each(text: str) -> str:
    """Write an instruction for each of the four sums: `i` is its number, `j` that of the register for it."""
    return "".join(text.replace("%i", f"%f{at}").replace("%j", f"%f{at + 4}") + "\n" for at in range(4))


DOUBLE, HALVE = each("add.f32 %j, %i, %i;"), each("mul.f32 %i, %j, 0f3F000000;")
CLEAR = each("mov.f32 %i, 0f00000000;")
BLOCKS = f"setp.eq.u32 %p0, %r10, 0; @%p0 bra HERE;\n{DOUBLE} bra.uni THERE;\nHERE: {DOUBLE} THERE:\n"
LOOP = f"""{each("mov.f32 %j, 0f00000000;")} mov.u32 %r28, 0;
AGAIN: {each("add.f32 %j, %j, %i;")} {WAIT} {CLEAR} {FIRST.replace(WAIT, "")}
add.s64 %d1, %d1, 32; add.s64 %d2, %d2, 32;
add.u32 %r28, %r28, 1; setp.lt.u32 %p0, %r28, 2; @%p0 bra AGAIN;
{each("add.f32 %i, %j, %i;")} {WAIT}"""
# Sums that are used before the wait, so that C is right if the use waits.
USES = {
    "read": EARLY + DOUBLE + WAIT + HALVE,
    "never waited for": EARLY + DOUBLE + HALVE,
    "never committed": FIRST + SECOND.replace(COMMIT, "").replace(WAIT, "") + DOUBLE + HALVE,
    "copied": EARLY + each("mov.f32 %j, %i;") + WAIT + each("mov.f32 %i, %j;"),
    "a copy is used": EARLY + each("mov.f32 %j, %i;") + each("add.f32 %i, %j, 0f00000000;") + WAIT,
    "read under a guard": EARLY + "setp.ge.u32 %p0, %r1, 0;\n" + DOUBLE.replace("add", "@%p0 add") + WAIT + HALVE,
    "read in two other blocks": EARLY + BLOCKS + WAIT + HALVE,
    "read in the next trip": LOOP,
    "overwritten": FIRST + SECOND + each("mov.f32 %j, %i;") + CLEAR + EARLY + "mov.f32 %f0, %f4;\n" + WAIT,
    "changed between two wgmma": FIRST.replace(WAIT, "") + DOUBLE + HALVE + WAIT + SECOND,
}
# Of what ptxas doesn't see, or does nothing about.
OPERANDS = {
    "A is overwritten": EARLY + "mov.b32 %r21, 0; mov.b32 %r22, 0;\n" + WAIT + "st.global.b32 [%d1], %r21;\n",
    "A is loaded anew": EARLY + "ld.global.b32 %r21, [%d2];\n" + WAIT + "st.global.b32 [%d1], %r21;\n",
}
SHARED = EARLY + "@%p3 st.shared.b32 [%r18], %r1;\n" + WAIT


def write(steps: str) -> str:
    """Return the kernel with these steps; its 128 threads are one warpgroup."""
    text = PARTS.replace("BEGIN", "").replace("OTHER", "").replace("STEPS", steps).replace("FIRST", "")
    return text.replace("%f<4>", "%f<8>")


def claim() -> KernelClaim:
    return claim_of(PARTS_CLAIM | {"block": 128})


def run(steps: str, strict: bool = False) -> LaunchOutcome:
    (outcome,) = check(write(steps), claim(), seed=1, strict=strict)
    return outcome


def list_kinds(outcome: LaunchOutcome) -> set[tuple[str, Severity]]:
    """Return the findings but those of barriers between warps, which these kernels leave out."""
    return {
        (finding.kind, finding.severity)
        for finding in outcome.findings
        if "by a part of a warpgroup" not in finding.kind
    }


@pytest.mark.parametrize("use", USES)
def test_sums_that_are_used_before_the_wait_are_a_warning(use: str) -> None:
    outcome = run(USES[use])
    assert outcome.status == "VERIFIED", tell(outcome)
    assert SUMS in list_kinds(outcome) <= {SUMS, NO_FENCE}
    assert run(USES[use], strict=True).status == "REFUTED"


def test_sums_that_are_used_after_the_wait_have_no_warning() -> None:
    outcome = run(EARLY + WAIT + DOUBLE + HALVE)
    assert outcome.status == "VERIFIED" and not list_kinds(outcome), tell(outcome)


@pytest.mark.parametrize("use", OPERANDS)
def test_operands_that_are_overwritten_before_the_wait_are_refuted(use: str) -> None:
    outcome = run(OPERANDS[use].replace("st.global.b32 [%d1], %r21;", ""))
    assert outcome.status == "REFUTED" and OPERAND in list_kinds(outcome), tell(outcome)


def test_shared_memory_that_is_overwritten_before_the_wait_is_refuted() -> None:
    outcome = run(SHARED)
    assert outcome.status == "REFUTED" and ("wgmma on its way", Severity.RACE) in list_kinds(outcome), tell(outcome)


def test_a_use_of_sums_waits_for_no_operand() -> None:
    """What the compiler may insert is for the registers that it sees: of shared memory the text itself must say it."""
    outcome = run(EARLY + DOUBLE + "@%p3 st.shared.b32 [%r18], %r1;\n" + WAIT + HALVE)
    assert {SUMS, ("wgmma on its way", Severity.RACE)} <= list_kinds(outcome), tell(outcome)


def test_triton_unpacks_sums_in_f16_before_the_wait() -> None:
    text, given = (HOME / "half_sums_90.ptx").read_text(), read_claim(HOME / "half_sums_90.toml")
    (outcome,) = check(text, given, seed=1)
    assert outcome.status == "VERIFIED" and list_kinds(outcome) == {SUMS}, tell(outcome)
    (outcome,) = check(text.replace(WAIT, ""), given, seed=1)
    assert outcome.status == "REFUTED", "shared memory is written again, and nothing waits"


def assemble(text: str, folder: Path) -> str:
    """Return what ptxas says of a kernel."""
    (folder / "kernel.ptx").write_text(text)
    command = ["ptxas", "-arch=sm_90a", "-v", "-o", "kernel.cubin", "kernel.ptx"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return done.stderr + done.stdout


@pytest.mark.skipif(shutil.which("ptxas") is None, reason="ptxas is not installed")
@pytest.mark.parametrize("use", [use for use in USES if use != "copied"])  # it leaves out such copies
def test_ptxas_inserts_the_wait_for_sums(use: str, tmp_path: Path) -> None:
    """It says so: it waits before the use, C7517, or after each wgmma, C7514 (read), C7515 (written)."""
    assert re.search(r"\(C751[457]\)", assemble(write(USES[use]), tmp_path))


@pytest.mark.skipif(shutil.which("ptxas") is None, reason="ptxas is not installed")
@pytest.mark.parametrize("steps", [*OPERANDS.values(), SHARED], ids=[*OPERANDS, "B is overwritten"])
def test_ptxas_inserts_nothing_for_operands(steps: str, tmp_path: Path) -> None:
    assert not re.search(r"\(C751[4578]\)", assemble(write(steps), tmp_path))


@pytest.mark.gpu
@pytest.mark.parametrize("use", USES)
def test_a_gpu_finds_the_sums(use: str) -> None:
    text, here = write(USES[use]), gpu_checks.device_info()
    try:
        check_target(text, here.sm, here.gpu)
    except Unsupported as reason:
        pytest.skip(str(reason))
    (launch,) = claim().launches
    target = launch.array("C")
    for seed in range(8):
        samples = drawn(launch, seed=seed)
        made = job(parse_kernel(text, claim().kernel), text, launch, samples)
        (answer,) = run_all([made])
        assert not isinstance(answer, Unavailable), answer
        wanted = samples["A"] @ samples["B"].T
        assert (unpacked(target, answer[launch.arrays.index(target)]) == rounded(target, wanted)).all()
        assert np.any(wanted)
