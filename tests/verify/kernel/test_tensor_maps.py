# SPDX-License-Identifier: Apache-2.0
"""Tensor maps that a kernel makes: the copy of test_asynchronous, its map a field at a time."""

from __future__ import annotations

import pytest

from tests.messages import UNORDERED
from tests.verify.kernel.test_asynchronous import CLAIM, COPY
from verify.kernel.check import LaunchOutcome, check
from verify.kernel.claims.claim import claim_of

FIELDS = {"rank": "1", "elemtype": "7", "swizzle_mode": "0"}
AXES = {"box_dim": ("8", "16"), "global_dim": ("8", "32"), "element_stride": ("1", "1")}
REPLACE = "@!%p1 tensormap.replace.tile.{}.shared::cta.b1024.{} [%r20], {};\n"
# Each CTA has its map in 128 bytes of the scratch array W.
MAKES = (
    "mov.u32 %r20, made; ld.param.u64 %d8, [A]; ld.param.u64 %d2, [W]; mov.u32 %r10, %ctaid.x;\n"
    "mul.wide.u32 %d9, %r10, 128; add.s64 %d2, %d2, %d9;\n"
    + REPLACE.format("global_address", "b64", "%d8")
    + "".join(REPLACE.format(name, "b32", value) for name, value in FIELDS.items())
    + "".join(REPLACE.format(name, "b32", f"{axis}, {pair[axis]}") for name, pair in AXES.items() for axis in (0, 1))
    + REPLACE.format("global_stride", "b64", "0, 48")
    + "bar.warp.sync -1;\n"
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d2], [%r20], 128;\n"
    "fence.proxy.tensormap::generic.acquire.gpu [%d2], 128;\n"
)
TEXT = (
    COPY.replace(".param .align 64 .b8 map[128],", ".param .u64 A, .param .u64 W,")
    .replace("mov.b64 %d1, map;\ncvta.param.u64 %d2, %d1;\n", "")
    .replace("START:", f"START:\n{MAKES}")
    .replace(".shared .align 8 .b8 bar[8];", ".shared .align 8 .b8 bar[8]; .shared .align 128 .b8 made[128];")
)


def run(old: str = "", new: str = "", count: int = 1) -> LaunchOutcome:
    """The outcome of the copy, one part of its text exchanged."""
    assert old in TEXT
    scratch = {"dims": "x", "type": "u8", "strides": [1], "scratch": True}
    arrays = {"A": {**CLAIM["arrays"]["A"], "offset": 16}, "C": CLAIM["arrays"]["C"], "W": scratch}  # type: ignore[index]
    claim = CLAIM | {"params": ["A", "W", "C"], "sizes": {"M": 32, "K": 8, "X": 256}, "arrays": arrays}
    (outcome,) = check(TEXT.replace(old, new, count), claim_of(claim), seed=3)
    return outcome


def test_a_map_that_the_kernel_makes_is_the_claims() -> None:
    outcome = run()
    assert (outcome.status, outcome.findings) == ("VERIFIED", ())


@pytest.mark.long
@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("0, 48;", "0, 32;", "C[m="),
        ("0, 48;", "0, 40;", "multiples of 16"),
        (
            "0, 8;\n@!%p1 tensormap.replace.tile.box_dim",
            "0, 4;\n@!%p1 tensormap.replace.tile.box_dim",
            "wait for an mbarrier",
        ),
        (REPLACE.format("global_dim", "b32", "1, 32"), REPLACE.format("global_dim", "b32", "1, 20"), "C[m="),
        (REPLACE.format("global_dim", "b32", "1, 32"), REPLACE.format("global_dim", "b32", "1, 48"), ""),
        ("bar.warp.sync -1;", "", UNORDERED),
        ("add.s64 %d2, %d2, %d9;", "add.s64 %d8, %d8, %d9;", "another thread writes too"),
        ("mul.wide.u32 %d9, %r10, 128;", "mul.wide.u32 %d9, %r10, 256;", "W["),
    ],
)
def test_a_wrong_twin_is_refuted(old: str, new: str, words: str) -> None:
    outcome = run(old, new)
    assert outcome.status == ("REFUTED" if words else "VERIFIED")  # rows beyond the end that no box has change nothing
    assert not words or any(words in finding.text for finding in outcome.findings), outcome.findings


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (REPLACE.format("global_stride", "b64", "0, 48"), "", "has no global_stride"),
        (REPLACE.format("elemtype", "b32", "7"), REPLACE.format("elemtype", "b32", "77"), "its type or swizzle"),
        ("shared::cta.b1024.b32 [%r20], 1, 1;", "shared::cta.b1024.b32 [%r20], 1, 2;", "element_stride"),
        ("[%d2], [%r20], 128;", "[%d2], [%r2], 128;", "that the kernel does not make"),
    ],
)  # fmt: skip
def test_what_a_map_lacks_is_named(old: str, new: str, words: str) -> None:
    outcome = run(old, new)
    assert outcome.status == "UNKNOWN"
    assert any(words in finding.text for finding in outcome.findings), outcome.findings


def test_a_fence_that_is_missing_is_a_warning() -> None:
    outcome = run("fence.proxy.tensormap::generic.acquire.gpu [%d2], 128;\n", "")
    assert outcome.status == "VERIFIED" and [finding.kind for finding in outcome.findings] == ["no tensor map fence"]
