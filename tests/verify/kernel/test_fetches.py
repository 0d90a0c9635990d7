# SPDX-License-Identifier: Apache-2.0
"""Asynchronous work ends out of order: what one mbarrier, group or thread says of its own, it says of no other."""

from __future__ import annotations

from typing import Any

import pytest

from tests.messages import OTHER_PHASE, WRITE_AFTER_READ
from tests.verify.kernel.test_bulk import COMMIT, FILL, HEAD
from verify.kernel.check import LaunchOutcome, check
from verify.kernel.claims.claim import claim_of

START = """.version 8.0
.target sm_90a
.address_size 64
.entry k(.param .u64 A, .param .u64 C, .param .u64 D)
{
.reg .pred %p<8>; .reg .b32 %r<30>; .reg .f32 %f<9>; .reg .b64 %d<20>;
.shared .align 128 .b8 tile[1024];
.shared .align 8 .b8 bar[16];
mov.u32 %r1, %tid.x; mov.u32 %r2, tile; mov.u32 %r3, bar; setp.ne.u32 %p1, %r1, 0; setp.ne.u32 %p5, %r1, 32;
ld.param.u64 %d1, [A]; ld.param.u64 %d2, [C]; ld.param.u64 %d3, [D]; mul.wide.u32 %d5, %r1, 4;
shl.b32 %r4, %r1, 2; add.s32 %r5, %r2, %r4; add.s64 %d2, %d2, %d5; mov.f32 %f4, 0f00000000;
@!%p1 mbarrier.init.shared::cta.b64 [%r3], 1;
@!%p1 mbarrier.init.shared::cta.b64 [%r3+8], 1;
bar.sync 0;
"""


def load(to: int, barrier: int, guard: str = "!%p1", source: str = "%d1") -> str:
    """Return what loads 256 bytes into the tile, counted by one of the two mbarriers."""
    lines = f"mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3+{barrier}], 256;\n"
    lines += "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
    lines += f"[%r2+{to}], [{source}], 256, [%r3+{barrier}];"
    return "".join(f"@{guard} {line}\n" for line in lines.split("\n"))


def wait(label: str, barrier: int, parity: int = 0) -> str:
    return f"{label}: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3+{barrier}], {parity};\n@!%p2 bra {label};\n"


def run(body: str, claim: str = "C[i] = A[i]") -> LaunchOutcome:
    arrays: dict[str, Any] = {name: {"dims": "i", "type": "f32", "out": name == "C"} for name in "AC"}
    arrays["D"] = {"dims": "i", "type": "f32", "scratch": True}
    table = {"grid": 1, "block": 64, "sizes": {"I": 64}, "claim": claim, "params": ["A", "C", "D"], "arrays": arrays}
    (outcome,) = check(f"{START}{body}ret;\n}}\n", claim_of(table), seed=3)
    return outcome


BOTH = load(0, 0) + load(256, 8)
TAKE, ZERO = "ld.shared.f32 %f1, [%r5];\nst.global.f32 [%d2], %f1;\n", "st.shared.f32 [%r5], %f4;\n"
SECOND = TAKE.replace("[%r5]", "[%r5+256]")


@pytest.mark.parametrize(
    ("body", "right"),
    [
        (BOTH + wait("W", 0) + wait("X", 8) + TAKE, True),
        (BOTH + wait("X", 8) + TAKE + wait("W", 0), False),
        (load(0, 0) + load(256, 8, "!%p5") + wait("X", 8) + TAKE + wait("W", 0), False),
        (BOTH + wait("X", 8) + SECOND + wait("W", 0), True),
        (BOTH + wait("X", 8) + ZERO + wait("W", 0) + wait("Y", 8) + SECOND, False),
        (BOTH + wait("X", 8) + load(0, 8) + wait("Y", 8, 1) + TAKE + wait("W", 0), False),
        (f"{BOTH}@!%p1 bra ONE;\nbra MET;\nONE:\n{wait('W', 0)}{wait('X', 8)}MET: bar.sync 0;\n{TAKE}", True),
        (f"{BOTH}@!%p1 bra ONE;\nbra MET;\nONE:\n{wait('X', 8)}MET: bar.sync 0;\n{TAKE}", False),
    ],
)
def test_a_wait_for_one_mbarrier_is_none_for_the_loads_of_another(body: str, right: bool) -> None:
    outcome = run(body)
    assert outcome.status == ("VERIFIED" if right else "REFUTED"), outcome.findings
    assert right or "tensor load not waited for" in {finding.kind for finding in outcome.findings}


def test_what_a_lane_waited_for_is_known_to_its_warp_after_a_warp_barrier() -> None:
    """Also if all warps meet, where the clocks of all lanes are joined at once."""
    lane = "and.b32 %r6, %r1, 31; setp.ne.u32 %p6, %r6, 0;\n@!%p6 bra ONE;\nbra MET;\nONE:\n"
    assert run(f"{load(0, 0)}{lane}{wait('W', 0)}MET: bar.warp.sync 0xffffffff;\n{TAKE}").status == "VERIFIED"
    assert run(f"{load(0, 0)}{lane}{wait('W', 0)}MET:\n{TAKE}").status == "REFUTED"


def test_an_arrival_in_the_next_phase_comes_after_the_loads_of_this_one() -> None:
    """Who waited for the second mbarrier alone does not know that the first one's phase is over."""
    again = "@!%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 256;\n" + load(512, 0).split("\n")[1] + "\n"
    ends = wait("W", 0) + wait("Y", 0, 1) + TAKE
    assert OTHER_PHASE in {finding.kind for finding in run(BOTH + wait("X", 8) + again + ends).findings}
    first = BOTH + wait("X", 8) + wait("V", 0) + "bar.sync 0;\n" + again + wait("Y", 0, 1) + TAKE
    assert run(first).status == "VERIFIED"


STORED = "add.s64 %d6, %d3, %d5; add.s64 %d7, %d1, %d5; ld.global.f32 %f3, [%d7]; st.global.f32 [%d6], %f3;\n"
STORED += "fence.proxy.async;\nbar.sync 0;\n"
COPY, OVER = "cp.async.ca.shared.global [%r5], [%d6], 4;\n", "st.global.f32 [%d6], %f4;\n"
OTHER = "xor.b32 %r9, %r1, 32; mul.wide.u32 %d9, %r9, 4; add.s64 %d9, %d3, %d9; st.global.f32 [%d9], %f4;\n"
ALL, FETCH = "cp.async.wait_all;\n", load(0, 0, source="%d3")


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (FETCH + wait("W", 0) + OVER + TAKE, ""),
        (FETCH + "@!%p1 st.global.f32 [%d3], %f4;\n" + wait("W", 0) + TAKE, "tensor load not waited for"),
        (FETCH + "bar.sync 0;\n" + OVER + wait("W", 0) + TAKE, "tensor load not waited for"),
        (FETCH + load(256, 8, source="%d3") + wait("X", 8) + OVER + wait("W", 0) + TAKE, "tensor load not waited for"),
        (COPY + ALL + OVER + TAKE, ""),
        (COPY + OVER + ALL + TAKE, "cp.async not waited for"),
        (COPY + "bar.sync 0;\n" + OTHER + ALL + TAKE, "cp.async not waited for"),
        (COPY + ALL + "bar.sync 0;\n" + OTHER + TAKE, ""),
        (COPY + ALL + OTHER + TAKE, WRITE_AFTER_READ),
    ],
)
def test_the_source_of_a_copy_is_written_when_the_copy_was_waited_for(body: str, kind: str) -> None:
    outcome = run(STORED + body)
    assert outcome.status == ("REFUTED" if kind else "VERIFIED"), outcome.findings
    assert not kind or kind in {finding.kind for finding in outcome.findings}


SEND = "ld.param.u64 %d{0}, [{1}]; cp.async.bulk.global.shared::cta.bulk_group [%d{0}], [%r2], 512;\n"
C, D = SEND.format(6, "C"), SEND.format(7, "D")
OVERWRITE = "bar.sync 0;\nst.shared.v4.f32 [%r5], {%f1, %f1, %f1, %f1};\n"
READ = "cp.async.bulk.wait_group.read {};\n"


@pytest.mark.parametrize(
    ("first", "second", "right"),
    [
        (C + COMMIT + READ.format(0), "", True),
        (C + COMMIT + READ.format(0), D + COMMIT + READ.format(0), True),
        (C + COMMIT, D + COMMIT + READ.format(0), False),
        (C + COMMIT + READ.format(0), D + COMMIT, False),
        (C + COMMIT + D + COMMIT + READ.format(0), "", True),
        (C + COMMIT + D + COMMIT + READ.format(1), "", False),
        (C + COMMIT + D + READ.format(0), "", False),
        (C + D + COMMIT + READ.format(0), "", True),
        ("", C + COMMIT + D + COMMIT + READ.format(1), False),
    ],
)
def test_each_copy_of_a_tile_is_waited_for_before_it_is_overwritten(first: str, second: str, right: bool) -> None:
    """Thread 0 sends a tile, and thread 1 does; all threads overwrite it."""
    text = HEAD.replace(".param .u64 C)", ".param .u64 C, .param .u64 D)") + FILL.replace("@%p1 bra END;\n", "")
    text += (
        f"setp.ne.u32 %p3, %r1, 1;\n@%p1 bra NEXT;\n{first}NEXT:\n@%p3 bra END;\n{second}END:\n{OVERWRITE}ret;\n}}\n"
    )
    arrays = {name: {"dims": "mk", "type": "f32", "strides": [8, 1], "out": name == "C"} for name in "AC"}
    arrays["D"] = {"dims": "mk", "type": "f32", "strides": [8, 1], "scratch": True}
    table = {"grid": 1, "block": 32, "sizes": {"M": 16, "K": 8}, "claim": "C[m,k] = A[m,k]", "arrays": arrays}
    (outcome,) = check(text, claim_of(table | {"params": ["A", {"unused": True}, "C", "D"]}), seed=3)
    assert outcome.status == ("VERIFIED" if right else "REFUTED"), outcome.findings
    assert right or any("may still read" in finding.text for finding in outcome.findings)


# A warpgroup multiplies 64 x 16 by 16 x 8 elements of f16 twice, both times from the same tiles, each thread adds both
# results; tiles have no swizzle, core matrices of 8 rows are 128 bytes apart in k and 256 in m.
TWICE = """.version 8.0
.target sm_90a
.address_size 64
.entry k(.param .u64 A, .param .u64 B, .param .u64 C)
{
.reg .pred %p<8>; .reg .b32 %r<60>; .reg .f32 %f<20>; .reg .b64 %d<30>;
.shared .align 1024 .b8 ta[2048]; .shared .align 1024 .b8 tb[256];
mov.u32 %r1, %tid.x; ld.param.u64 %d1, [A]; ld.param.u64 %d2, [B]; ld.param.u64 %d3, [C];
shr.u32 %r2, %r1, 1; and.b32 %r3, %r1, 1; shr.u32 %r8, %r2, 3; shl.b32 %r8, %r8, 8; shl.b32 %r9, %r3, 7;
add.s32 %r8, %r8, %r9; and.b32 %r9, %r2, 7; shl.b32 %r9, %r9, 4; add.s32 %r8, %r8, %r9;
mov.u32 %r10, ta; add.s32 %r11, %r10, %r8; mov.u32 %r12, tb; add.s32 %r13, %r12, %r8; setp.lt.u32 %p1, %r1, 16;
mul.wide.u32 %d4, %r1, 16; add.s64 %d5, %d2, %d4; add.s64 %d4, %d1, %d4;
ld.global.v4.b32 {%r4, %r5, %r6, %r7}, [%d4]; st.shared.v4.b32 [%r11], {%r4, %r5, %r6, %r7};
@%p1 ld.global.v4.b32 {%r4, %r5, %r6, %r7}, [%d5]; @%p1 st.shared.v4.b32 [%r13], {%r4, %r5, %r6, %r7};
fence.proxy.async.shared::cta;
bar.sync 0;
shr.u32 %r14, %r10, 4; cvt.u64.u32 %d6, %r14; or.b64 %d6, %d6, DESCRIPTOR;
shr.u32 %r15, %r12, 4; cvt.u64.u32 %d7, %r15; or.b64 %d7, %d7, DESCRIPTOR;
mov.f32 %f1, 0f00000000; mov.f32 %f2, %f1; mov.f32 %f3, %f1; mov.f32 %f4, %f1;
mov.f32 %f5, %f1; mov.f32 %f6, %f1; mov.f32 %f7, %f1; mov.f32 %f8, %f1;
wgmma.fence.sync.aligned;
BODY
add.f32 %f1, %f1, %f5; add.f32 %f2, %f2, %f6; add.f32 %f3, %f3, %f7; add.f32 %f4, %f4, %f8;
shr.u32 %r20, %r1, 5; shl.b32 %r20, %r20, 4; and.b32 %r21, %r1, 31; shr.u32 %r22, %r21, 2; add.s32 %r20, %r20, %r22;
and.b32 %r23, %r21, 3; shl.b32 %r23, %r23, 1; shl.b32 %r24, %r20, 3; add.s32 %r24, %r24, %r23;
mul.wide.u32 %d8, %r24, 4; add.s64 %d8, %d3, %d8;
st.global.v2.f32 [%d8], {%f1, %f2}; st.global.v2.f32 [%d8+256], {%f3, %f4};
ret;
}
""".replace("DESCRIPTOR", str(128 >> 4 << 16 | 256 >> 4 << 32))
FIRST = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %d6, %d7, 1, 1, 1, 0, 0;\n"
NEXT, CLOSE = FIRST.replace("{%f1, %f2, %f3, %f4}", "{%f5, %f6, %f7, %f8}"), "wgmma.commit_group.sync.aligned;\n"
DONE, ALL_DONE = (f"wgmma.wait_group.sync.aligned {keep};\n" for keep in (1, 0))
CLEAR = "bar.sync 0;\nst.shared.v4.b32 [%r11], {%r1, %r1, %r1, %r1};\n"


@pytest.mark.parametrize(
    ("body", "right"),
    [
        (FIRST + CLOSE + NEXT + CLOSE + ALL_DONE + CLEAR, True),
        (FIRST + NEXT + CLOSE + ALL_DONE + CLEAR, True),
        (FIRST + CLOSE + NEXT + CLOSE + DONE + CLEAR + ALL_DONE, False),
        (FIRST + CLOSE + NEXT + ALL_DONE + CLEAR + CLOSE + ALL_DONE, False),
    ],
)
def test_a_tile_that_two_wgmma_read_is_free_when_both_were_waited_for(body: str, right: bool) -> None:
    arrays: dict[str, Any] = {name: {"dims": f"{name}k", "type": "f16", "strides": [16, 1]} for name in "mn"}
    arrays = {"A": arrays["m"], "B": arrays["n"], "C": {"dims": "mn", "type": "f32", "strides": [8, 1], "out": True}}
    table = {"grid": 1, "block": 128, "sizes": {"M": 64, "N": 8, "K": 16}, "params": ["A", "B", "C"], "arrays": arrays}
    claim = claim_of(table | {"claim": "C[m,n] = 2 * sum_k A[m,k]*B[n,k]"})
    (outcome,) = check(TWICE.replace("BODY", body), claim, seed=3)
    assert outcome.status == ("VERIFIED" if right else "REFUTED"), outcome.findings
    assert right or "wgmma on its way" in {finding.kind for finding in outcome.findings}
