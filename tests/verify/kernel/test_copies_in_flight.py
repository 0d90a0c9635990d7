# SPDX-License-Identifier: Apache-2.0
"""Sums of wgmma that are copied before the wait, as Triton does with sums in f16: a warning, if nothing uses a copy."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import gpu_checks
from benchmarks.kernels.silicon import drawn, job, packed, rounded, unpacked
from gpu_checks import Unavailable
from gpu_checks.compiled import check_target, run_all
from gpu_checks.model import Unsupported
from tests.verify.kernel.test_lanes import tell
from verify.kernel.check import LaunchOutcome, check
from verify.kernel.claims.claim_file import read_claim
from verify.kernel.ptx.parse import parse_kernel
from verify.kernel.state.findings import Severity

HOME = Path(__file__).parent
TEXT = (HOME / "half_sums_90.ptx").read_text()
WAIT = "wgmma.wait_group.sync.aligned 0;"
COPY = "mov.b32 \t{%rs7, %rs8}, %r69;"
TWINS = {  # what stands behind the copies -> something that may execute before the sums are there
    "wait for all but one": (WAIT, "wgmma.wait_group.sync.aligned 1;"),
    "no wait": (WAIT, ""),
    "a copy is added": (COPY, f"{COPY} add.f16 %rs1, %rs1, %rs2;"),
    "a copy is stored": (COPY, f"{COPY} st.global.b16 [%rd1], %rs1;"),
    "a copy is overwritten": (COPY, f"{COPY} mov.b16 %rs1, 0;"),
    "the sum is overwritten": (COPY, f"{COPY} mov.b32 %r69, 0;"),
    "the sum is added": (COPY, f"{COPY} add.f16x2 %r66, %r66, %r67;"),
    "a copy decides a branch": (COPY, f"{COPY} setp.ne.b16 %p1, %rs1, 0;"),
}


def run(old: str = "", new: str = "", strict: bool = False) -> LaunchOutcome:
    """The outcome, one part of the text exchanged."""
    assert old in TEXT
    (found,) = check(TEXT.replace(old, new, 1), read_claim(HOME / "half_sums_90.toml"), seed=1, strict=strict)
    return found


def test_copies_that_are_used_after_the_wait_are_a_warning() -> None:
    found = run()
    assert found.status == "VERIFIED", tell(found)
    assert {(one.kind, one.severity) for one in found.findings} == {("copy of a register in flight", Severity.LETTER)}
    assert run(strict=True).status == "REFUTED"


def test_a_copy_of_a_copy_is_one() -> None:
    again = "mov.b16 %rs20, %rs1;"
    text = TEXT.replace(COPY, f"{COPY} {again}").replace(".reg .b16 \t%rs<9>", ".reg .b16 \t%rs<29>")
    claim = read_claim(HOME / "half_sums_90.toml")
    assert check(text, claim, seed=1)[0].status == "VERIFIED"
    early = check(text.replace(again, f"{again} add.f16 %rs21, %rs20, %rs20;"), claim, seed=1)[0]
    assert [one.kind for one in early.findings if one.severity is Severity.RACE] == ["register in flight"]


@pytest.mark.long
@pytest.mark.parametrize("twin", TWINS)
def test_what_is_used_before_the_wait_is_refuted(twin: str) -> None:
    found = run(*TWINS[twin])
    assert found.status == "REFUTED", tell(found)
    assert "register in flight" in {one.kind for one in found.findings}, tell(found)


@pytest.mark.skipif(shutil.which("ptxas") is None, reason="ptxas is not installed")
@pytest.mark.parametrize("twin", ["", "no wait", "a copy is added"])
def test_ptxas_inserts_the_wait(twin: str, tmp_path: Path) -> None:
    """It says so in C7517, and SASS has the wait between the product and the first register of it that is read."""
    (tmp_path / "kernel.ptx").write_text(TEXT.replace(*TWINS[twin]) if twin else TEXT)
    command = ["ptxas", "-arch=sm_90a", "-v", "-o", "kernel.cubin", "kernel.ptx"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert re.search(r"C7517.*to allow use of registers defined by GMMA", done.stderr + done.stdout)


@pytest.mark.gpu
@pytest.mark.parametrize("twin", ["", "a copy is added and dropped", "no wait"])
def test_a_gpu_finds_the_sums_in_the_copies(twin: str) -> None:
    """With no wait at all they are right too: it is the compiler that keeps the order, of every reader."""
    texts = {"": TEXT, "no wait": TEXT.replace(*TWINS["no wait"])}
    text = texts.get(twin, TEXT.replace(COPY, f"{COPY} add.f16 %rs9, %rs1, %rs2;").replace("%rs<9>", "%rs<19>"))
    here = gpu_checks.device_info()
    try:
        check_target(text, here.sm, here.gpu)
    except Unsupported as reason:
        pytest.skip(str(reason))
    claim = read_claim(HOME / "half_sums_90.toml")
    (launch,) = claim.launches
    target = launch.array("C")
    for seed in range(8):
        samples = drawn(launch, seed=seed)
        made = job(parse_kernel(text, claim.kernel), text, launch, samples)
        (found,) = run_all([made])
        assert not isinstance(found, Unavailable), found
        wanted = samples["A"] @ samples["B"]
        assert (unpacked(target, found[launch.arrays.index(target)]) == rounded(target, wanted)).all()
    assert (unpacked(target, packed(target, wanted)) == wanted).all()
