# SPDX-License-Identifier: Apache-2.0
"""Bulk copies: a CTA of 32 threads fills a box of 8 x 16 f32 in shared memory, and the copy engine stores it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.isa_tables.test_sections import SECTIONS
from tests.messages import UNORDERED
from verify.kernel.check import LaunchOutcome, check
from verify.kernel.claims.claim import claim_of
from verify.kernel.safety import check_safety

HEAD = """.version 8.0
.target sm_90a
.address_size 64
.entry copy(.param .u64 A, .param .align 64 .b8 map[128], .param .u64 C)
{
.reg .pred %p<4>; .reg .b32 %r<30>; .reg .f32 %f<9>; .reg .b64 %d<20>;
.shared .align 128 .b8 tile[512];
.shared .align 8 .b8 bar[8];
mov.u32 %r1, %tid.x; mov.u32 %r2, tile; mov.u32 %r3, bar; setp.ne.u32 %p1, %r1, 0;
mov.u32 %r10, %ctaid.x; mul.wide.u32 %d4, %r10, 512; shl.b32 %r11, %r10, 4;
"""
# Each thread copies 16 bytes of A, in which the tiles of 512 bytes follow each other, to shared memory.
FILL = """ld.param.u64 %d1, [A]; add.s64 %d1, %d1, %d4; mul.wide.u32 %d5, %r1, 16; add.s64 %d1, %d1, %d5;
ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%d1];
shl.b32 %r4, %r1, 4; add.s32 %r5, %r2, %r4; st.shared.v4.f32 [%r5], {%f1, %f2, %f3, %f4};
fence.proxy.async.shared::cta;
bar.sync 0;
@%p1 bra END;
"""
STORE = "mov.b64 %d2, map; cvta.param.u64 %d3, %d2;\n"
STORE += "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%d3, {0, %r11}], [%r2];\n"
COMMIT = "cp.async.bulk.commit_group;\n"
WAITS = COMMIT + "cp.async.bulk.wait_group.read 0;\n"
END = "END:\nret;\n}\n"
PIECES = (
    "ld.param.u64 %d6, [C]; add.s64 %d6, %d6, %d4;\ncp.async.bulk.global.shared::cta.bulk_group [%d6], [%r2], 512;\n"
)
# The copy engine fetches the tile, and the thread that waits for it sends it on.
FETCH = """@%p1 bra END;
mbarrier.init.shared::cta.b64 [%r3], 1;
ld.param.u64 %d1, [A]; add.s64 %d1, %d1, %d4;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 512;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%d1], 512, [%r3];
WAIT:
mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 0;
@!%p2 bra WAIT;
"""
KERNELS = {
    "box": HEAD + FILL + STORE + WAITS + END,
    "piece": HEAD + FILL + PIECES + WAITS + END,
    "fetched": HEAD + FETCH + PIECES + WAITS + END,
}
ARRAYS = {
    "A": {"dims": "mk", "type": "f32", "strides": [8, 1]},
    "C": {"dims": "mk", "type": "f32", "strides": [12, 1], "out": True},
}


def run(name: str, old: str = "", new: str = "", m: int = 32) -> LaunchOutcome:
    """The outcome of a kernel, one part of its text exchanged."""
    assert old in KERNELS[name]
    arrays: dict[str, Any] = ARRAYS if name == "box" else {**ARRAYS, "C": {**ARRAYS["C"], "strides": [8, 1]}}
    claim = {"grid": 2, "block": 32, "sizes": {"M": m, "K": 8}, "claim": "C[m,k] = A[m,k]"}
    params = ["A", {"map": "C", "box": [8, 16]}, "C"]
    text = KERNELS[name].replace(old, new) if old else KERNELS[name]
    (outcome,) = check(text, claim_of(claim | {"params": params, "arrays": arrays}), seed=3)
    return outcome


@pytest.mark.parametrize("name", KERNELS)
def test_a_copy_is_verified(name: str) -> None:
    outcome = run(name)
    assert (outcome.status, outcome.findings) == ("VERIFIED", ())


@pytest.mark.parametrize(
    ("name", "old", "new", "words"),
    [
        ("box", "{0, %r11}", "{0, %r10}", "C[m="),
        ("box", "[%r2];", "[%r2+16];", "no multiple of 128"),
        ("box", "bar.sync 0;", "", UNORDERED),
        ("box", "cp.async.bulk.wait_group.read 0;", "st.shared.f32 [%r2], %f1;", "may still read"),
        ("piece", "[%r2], 512", "[%r2], 256", "never written"),
        ("piece", "[%r2], 512", "[%r2+8], 512", "multiples of 16"),
        ("piece", "[%d6], [%r2], 512", "[%d6], [%r2], 528", "bytes"),
        ("fetched", "[%d1], 512", "[%d1], 496", "wait for an mbarrier for ever"),
        (
            "fetched",
            "WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 0;\n@!%p2 bra WAIT;",
            "",
            "not waited",
        ),
    ],
)
def test_a_wrong_twin_is_refuted(name: str, old: str, new: str, words: str) -> None:
    outcome = run(name, old, new)
    assert outcome.status == "REFUTED"
    assert any(words in finding.text for finding in outcome.findings), outcome.findings


@pytest.mark.parametrize(
    ("old", "kind", "subject"),
    [
        ("fence.proxy.async.shared::cta;", "no proxy fence", "Async Proxy"),
        (WAITS, "bulk copy on its way", "cp.async.bulk.wait_group"),
    ],
)
def test_a_rule_of_order_is_a_warning_that_cites_its_section(old: str, kind: str, subject: str) -> None:
    outcome = run("box", old, "")
    assert outcome.status == "VERIFIED" and [finding.kind for finding in outcome.findings] == [kind]
    assert SECTIONS[outcome.findings[0].section] == subject


def test_a_box_is_cut_at_the_end_of_the_array() -> None:
    """The second CTA's box has four rows of C and twelve beyond it; A has as many rows as C."""
    outcome = run("box", "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%d1];",
                "shl.b32 %r20, %r10, 5; add.s32 %r20, %r20, %r1; setp.lt.u32 %p3, %r20, 40;\n"
                "@%p3 ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%d1];", m=20)  # fmt: skip
    assert (outcome.status, outcome.findings) == ("VERIFIED", ())


REDUCES = {
    "piece": KERNELS["piece"].replace(
        "cp.async.bulk.global.shared::cta.bulk_group", "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32"
    ),
    "box": KERNELS["box"].replace(
        "cp.async.bulk.tensor.2d.global.shared::cta.", "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add."
    ),
}
PLAIN = "END:\nld.param.u64 %d9, [C]; mul.wide.u32 %d8, %r1, 4; add.s64 %d9, %d9, %d8; "


def add(name: str, old: str = "", new: str = "") -> LaunchOutcome:
    """Check a kernel whose two CTAs both add to the first tile of C, one part of its text exchanged."""
    text = REDUCES[name].replace(
        "mul.wide.u32 %d4, %r10, 512; shl.b32 %r11, %r10, 4;", "mov.b64 %d4, 0; mov.b32 %r11, 0;"
    )
    assert old in text
    launch = {"grid": 2, "block": 32, "sizes": {"M": 16, "K": 8}, "params": ["A", {"map": "C", "box": [8, 16]}, "C"]}
    arrays: dict[str, Any] = {**ARRAYS, "C": {**ARRAYS["C"], "strides": [8, 1]}}
    text = text.replace(old, new) if old else text
    (outcome,) = check_safety(text, claim_of(launch | {"arrays": arrays}, claimed=False), seed=3)
    return outcome


@pytest.mark.parametrize("name", REDUCES)
def test_a_bulk_reduction_of_several_ctas_is_safe(name: str) -> None:
    outcome = add(name)
    assert (outcome.status, outcome.findings) == ("SAFE", ())
    assert add(name, END, PLAIN + "red.global.add.u32 [%d9], 1;\nret;\n}\n").status == "SAFE"


@pytest.mark.parametrize("name", REDUCES)
@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("cp.async.bulk.wait_group.read 0;", "st.shared.f32 [%r2], %f1;", "may still read"),
        ("bar.sync 0;", "", UNORDERED),
        (END, PLAIN + "ld.global.u32 %r20, [%d9];\nret;\n}\n", "which other threads change atomically"),
        (END, PLAIN + "st.global.u32 [%d9], %r1;\nret;\n}\n", "which other threads change atomically"),
        ("st.shared.v4.f32 [%r5], {%f1, %f2, %f3, %f4};", "", "nobody has written"),
    ],
)
def test_a_wrong_bulk_reduction_is_refuted(name: str, old: str, new: str, words: str) -> None:
    outcome = add(name, old, new)
    assert outcome.status == "REFUTED", outcome.findings
    assert any(words in finding.text for finding in outcome.findings), outcome.findings


@pytest.mark.parametrize("given", ["and.f32", "add.s64", "add.f16", "min.f32", "inc.u64", "min.noftz.f16"])
def test_a_bulk_reduction_of_a_type_that_its_action_does_not_have_has_no_meaning(given: str) -> None:
    outcome = add("piece", "bulk_group.add.f32", f"bulk_group.{given}")
    assert outcome.status == "UNKNOWN" and "no meaning for the opcode cp.reduce.async.bulk" in str(outcome), outcome


@pytest.mark.parametrize(("wait", "status"), [("wait_group 0", "SAFE"), ("wait_group.read 0", "REFUTED")])
def test_what_a_bulk_reduction_changed_is_read_after_a_wait_for_all_of_it(wait: str, status: str) -> None:
    text = (
        REDUCES["piece"]
        .replace("wait_group.read 0", wait)
        .replace(END, f"{PLAIN}ld.global.u32 %r20, [%d9];\nret;\n}}\n")
    )
    text = text.replace("@%p1 bra END;", "@%p1 bra OVER;").replace("END:\n", "OVER: bar.sync 0;\n")
    launch = {"grid": 2, "block": 32, "sizes": {"M": 32, "K": 8}, "params": ["A", {"map": "C", "box": [8, 16]}, "C"]}
    arrays: dict[str, Any] = {**ARRAYS, "C": {**ARRAYS["C"], "strides": [8, 1]}}
    text = text.replace("add.s64 %d9, %d9, %d8;", "add.s64 %d9, %d9, %d8; add.s64 %d9, %d9, %d4;")
    assert check_safety(text, claim_of(launch | {"arrays": arrays}, claimed=False), seed=3)[0].status == status


def test_a_bulk_reduction_has_no_meaning_with_a_claim() -> None:
    claim = {"grid": 1, "block": 32, "sizes": {"M": 16, "K": 8}, "claim": "C[m,k] = A[m,k]", "arrays": ARRAYS}
    (outcome,) = check(REDUCES["piece"], claim_of(claim | {"params": ["A", {"map": "C", "box": [8, 16]}, "C"]}), seed=3)
    assert outcome.status == "UNKNOWN" and "without a claim alone" in outcome.findings[0].text
