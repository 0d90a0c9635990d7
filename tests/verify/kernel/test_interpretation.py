# SPDX-License-Identifier: Apache-2.0
"""Batches of CTAs: as many as memory has room for, and what is left of the values of one when the next begins."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from typing import Any

import numpy as np
import pytest

from tests.kernels.compile import COMPILED
from tests.verify.kernel.test_signs_and_clamps import TEXT
from verify.kernel import interpretation
from verify.kernel.check import LaunchOutcome, check
from verify.kernel.claims.claim_file import claim_of
from verify.kernel.data.values import FIRST, Values

SIMT = (COMPILED / "simt_tn.ptx").read_text()
CLAIM: dict[str, Any] = tomllib.loads((COMPILED / "simt_tn.toml").read_text())


def run_text(ptx: str) -> LaunchOutcome:
    (outcome,) = check(ptx, claim_of(CLAIM), seed=3)
    return outcome


@pytest.mark.long
@pytest.mark.parametrize("right", [True, False])
def test_small_batches_find_what_one_large_batch_finds(right: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    line = next(line for line in reversed(SIMT.splitlines()) if "fma.rn.f32" in line)
    product = line.replace("fma.rn", "mul").rpartition(",")[0] + ";"  # beta * C is left out
    wrong = SIMT if right else SIMT.replace(line, product)
    whole = run_text(wrong)
    monkeypatch.setattr(interpretation, "FEW", 0)
    monkeypatch.setattr(interpretation, "ROOM", 1)
    parts = run_text(wrong)
    assert parts.status == whole.status == ("VERIFIED" if right else "REFUTED")
    assert parts.steps > whole.steps
    assert parts._replace(steps=0, output={}, expected={}) == whole._replace(steps=0, output={}, expected={})
    assert all(np.array_equal(parts.output[name], whole.output[name]) for name in whole.output)


MANY = TEXT.replace("mov.u32 i,%tid.x;", ".reg .b32 j,n,v; .reg .pred p; mov.u32 i,%tid.x; mov.u32 j,%ctaid.x; "
                    "mov.u32 n,128; mad.lo.u32 i,j,n,i;")  # fmt: skip


@pytest.mark.parametrize(
    ("body", "right", "wrong"),
    [
        ("mul.f32 z,x,0f40200000; add.f32 z,z,0f40600000;", "2.5*A[i] + 3.5", "2.5*A[i] + 2.5"),
        ("mov.b32 v,0f40200000; mov.b32 n,0f40600000; fma.rn.f32 z,x,v,n;", "2.5*A[i] + 3.5", "2.5*A[i] + A[i]"),
        ("ex2.approx.ftz.f32 v,x; mul.f32 z,v,0f40200000; setp.eq.f32 p,z,0fFF800000; selp.f32 z,x,z,p;",
         "2.5*exp2(A[i])", "A[i]"),
        ("mul.f32 v,x,0f40200000; set.gt.f32.f32 z,v,y;", "where(2.5*A[i] > B[i], 1, 0)",
         "where(2.5*A[i] > B[i], 0, 1)"),
        ("mul.f32 v,x,0f40200000; slct.f32.f32 z,v,y,x;", "where(A[i] >= 0, 2.5*A[i], B[i])",
         "where(A[i] > 1, A[i], B[i])"),
    ],
)  # fmt: skip
def test_constants_are_those_of_their_batch(body: str, right: str, wrong: str) -> None:
    """A later batch has other numbers of values: those of its constants too."""
    arrays = {name: {"dims": "i", "type": "f32", "out": name == "C"} for name in "ABC"}
    table = {"grid": 64, "block": 128, "sizes": {"I": 64 * 128}, "params": ["A", "B", "C"], "arrays": arrays}
    for claim, status in ((right, "VERIFIED"), (wrong, "REFUTED")):
        (outcome,) = check(MANY.replace("BODY", body), claim_of({**table, "claim": f"C[i] = {claim}"}), seed=1)
        assert outcome.status == status, outcome.findings


def test_dropped_values_leave_the_rest_as_it_was() -> None:
    values = Values(5)
    inputs = values.variables("f32", np.arange(4.0))
    two = values.constant(0x40000000, "f32")
    values.product(*(np.full((1, 1, 1), number, np.uint32) for number in (inputs, two, inputs)), kind="f32")
    last = values.product(*(np.full((1, 1, 1), number, np.uint32) for number in (inputs + 1, two, two)), kind="f32")
    values.flush()
    before = values.residues[:, [inputs, two, int(last.item())]].copy()
    labels = (last.ravel() << np.uint32(3)) + np.arange(4, dtype=np.uint32)
    values.drop([labels])
    assert values.top == FIRST + 4 + 2
    kept = [inputs, values.constant(0x40000000, "f32"), int(labels[0]) >> 3]
    assert (values.residues[:, kept] == before).all() and (labels & 7).tolist() == [0, 1, 2, 3]
    assert values.sample[kept[2]] == 4.0


@pytest.mark.slow
def test_a_large_kernel_of_single_products_takes_less_than_a_gibibyte() -> None:
    """64 CTAs, each value with a number of its own: 33 million of them.

    The peak is that of the program's own memory: `getrusage` counts that of the process that started it too.
    """
    sizes = {"M": 512, "N": 512, "K": 128}
    code = f"""
import json, tomllib
from verify.kernel.check import check
from verify.kernel.claims.claim_file import claim_of
claim = tomllib.loads(open({str(COMPILED / "simt_tn.toml")!r}).read()) | {{"sizes": {sizes}}}
(found,) = check(open({str(COMPILED / "simt_tn.ptx")!r}).read(), claim_of(claim))
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]
print(json.dumps([found.status, int(peak)]))
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    status, peak = json.loads(done.stdout)
    assert status == "VERIFIED" and peak < 1 << 20  # KiB
