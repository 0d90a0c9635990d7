# SPDX-License-Identifier: Apache-2.0
"""A launch of PTX text: its target, the bytes of its parameters, and a GPU that is not there."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from gpu_checks import DeviceInfo, Unavailable, compiled, device_info
from gpu_checks.compiled import Pointer, RunCompiled, TensorMapParameter, check_target, run_all
from gpu_checks.model import Unsupported
from tests.gpu_checks.simulated import INFO

PTX = """.version 8.0
.target sm_80
.address_size 64
.visible .entry twice(.param .u64 x, .param .u32 n)
{
  .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p;
  mov.u32 %r1, %tid.x; ld.param.u32 %r2, [n]; setp.ge.u32 %p, %r1, %r2; @%p bra OUT;
  ld.param.u64 %rd1, [x]; cvta.to.global.u64 %rd1, %rd1; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2;
  ld.global.u32 %r3, [%rd1]; shl.b32 %r3, %r3, 1; st.global.u32 [%rd1], %r3;
OUT: ret;
}
"""
MEMORY = (np.arange(64, dtype=np.uint32).view(np.uint8),)
JOB = RunCompiled(PTX, "twice", (1,), (32,), 0, MEMORY, (Pointer(0, 16), (30).to_bytes(4, "little")))


@pytest.mark.parametrize(
    ("target", "sm", "runs"),
    [
        ("sm_80", "sm_90a", True),
        ("sm_90", "sm_90a", True),
        ("sm_90a", "sm_90a", True),
        ("sm_90a", "sm_100a", False),
        ("sm_100", "sm_90a", False),
        ("sm_100f", "sm_103a", True),
        ("sm_100f", "sm_120a", False),
    ],
)
def test_the_target_decides_where_a_kernel_runs(target, sm, runs):
    text = PTX.replace("sm_80", target)
    if runs:
        assert check_target(text, sm, "GPU") is None
    else:
        with pytest.raises(Unsupported, match=f"the kernel is for {target}; GPU is {sm}"):
            check_target(text, sm, "GPU")


def test_a_text_without_a_target_is_no_ptx():
    with pytest.raises(Unsupported, match=r"no \.target"):
        check_target("// nothing", "sm_90a", "GPU")


def test_parameters_are_bytes(monkeypatch):
    assert JOB.bytes_of([4096]) == [(4112).to_bytes(8, "little"), b"\x1e\0\0\0"]
    asked = []
    # seam: the driver's encoding
    monkeypatch.setattr(compiled, "_encode", lambda parameter, address: asked.append((parameter, address)) or b"map")
    tensor = TensorMapParameter(0, 32, "f16", (8, 4), (16,), (8, 2), "none")
    job = RunCompiled(PTX, "twice", (1,), (32,), 0, MEMORY, (tensor,))
    assert job.bytes_of([4096]) == [b"map"] and asked == [(tensor, 4128)]


def test_a_module_gets_the_text_and_the_launch(monkeypatch):
    called = []
    module = SimpleNamespace(call=lambda *words: called.append(words) or ["memory"])
    monkeypatch.setattr(compiled, "load", lambda text: called.append(text) or module)
    assert JOB.on(SimpleNamespace(machine=SimpleNamespace(info=INFO))) == ["memory"]
    assert called[0] == PTX.encode() + b"\0"
    assert called[1][:3] == ("twice", ((1,), (32,), 0), MEMORY)


def test_without_a_gpu_there_is_a_reason():
    if isinstance(device_info(), DeviceInfo):
        pytest.skip("there is a GPU")
    (outcome,) = run_all([JOB])
    assert isinstance(outcome, Unavailable) and outcome.reason


@pytest.mark.gpu
def test_a_gpu_doubles_what_is_behind_the_pointer():
    (outcome,) = run_all([JOB])
    assert not isinstance(outcome, Unavailable), outcome
    expected = np.arange(64)
    expected[4:34] *= 2
    assert outcome[0].view(np.uint32).tolist() == expected.tolist()
