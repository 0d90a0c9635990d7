# SPDX-License-Identifier: Apache-2.0
"""Safety without a claim: right kernels are SAFE, and each has wrong twins that are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.kernels.safety import judge_faults
from tests.kernels import compile as corpus
from tests.messages import OUT_OF_BOUNDS, WRITE_AFTER_READ
from verify.kernel.check import LaunchOutcome, check
from verify.kernel.claims.claim import claim_of
from verify.kernel.claims.claim_file import read_claim
from verify.kernel.safety import check_safety
from verify.kernel.state.findings import Severity

HEAD = """.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 pa, .param .u64 pc)
{
.reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<20>; .reg .f32 %f<9>; .reg .b64 %d<20>;
.shared .align 16 .b8 s[1024];
ld.param.u64 %d1, [pa];
ld.param.u64 %d2, [pc];
mov.u32 %r1, %tid.x;
mul.wide.u32 %d3, %r1, 4;
add.s64 %d4, %d1, %d3;
add.s64 %d5, %d2, %d3;
"""
LAUNCH = {
    "grid": 1, "block": 64, "params": ["A", "C"],
    "arrays": {"A": {"dims": ["64"], "type": "u32"}, "C": {"dims": ["64"], "type": "u32", "out": True}},
}  # fmt: skip
DOUBLE = "ld.global.f32 %f1, [%d4]; add.f32 %f2, %f1, %f1; st.global.f32 [%d5], %f2;"
REVERSE = """ld.global.u32 %r2, [%d4]; mov.u32 %r3, s; shl.b32 %r4, %r1, 2; add.u32 %r5, %r3, %r4;
st.shared.u32 [%r5], %r2;
bar.sync 0;
sub.u32 %r6, 252, %r4; add.u32 %r7, %r3, %r6; ld.shared.u32 %r8, [%r7]; st.global.u32 [%d5], %r8;"""


def safety(body: str, **launch: object) -> LaunchOutcome:
    """The outcome of a kernel of one CTA."""
    (outcome,) = check_safety(f"{HEAD}{body}\nret;\n}}\n", claim_of(LAUNCH | launch, claimed=False), seed=1)
    return outcome


def kinds(outcome: LaunchOutcome) -> set[str]:
    """The kinds of what was found."""
    return {finding.kind for finding in outcome.findings}


@pytest.mark.parametrize("body", [DOUBLE, REVERSE])
def test_a_right_kernel_is_safe(body: str) -> None:
    outcome = safety(body)
    assert (outcome.status, outcome.findings) == ("SAFE", ())


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (DOUBLE.replace("[%d4]", "[%d4+4]"), OUT_OF_BOUNDS),
        (DOUBLE.replace("[%d5]", "[%d4]"), "write to an input"),
        (DOUBLE.replace("[%d5]", "[%d2]"), "race: two writes in global memory"),
        (DOUBLE.replace("%f1, %f1;", "%f1, %f3;"), "value from nowhere"),
        (DOUBLE.replace("[%d4]", "[%d4+2]"), "misaligned access"),
        (REVERSE.replace("bar.sync 0;", ""), "race: read after write"),
        (REVERSE.replace("bar.sync 0;", "setp.lt.u32 %p1, %r1, 16; @%p1 bar.sync 0;"), "barrier by part of a warp"),
        (REVERSE.replace("bar.sync 0;", "setp.lt.u32 %p1, %r1, 32; @%p1 bar.sync 1, 64;"), "stuck threads"),
        (REVERSE.replace("st.shared.u32 [%r5], %r2;", ""), "value from nowhere"),
        (f"trap; {DOUBLE}", "trap"),
        ("mov.u64 %d6, 0; red.global.add.u32 [%d6+-8], 1;", OUT_OF_BOUNDS),
        ("red.global.add.u32 [%d5+4], 1;", OUT_OF_BOUNDS),
        ("red.global.add.u32 [%d5+2], 1;", "misaligned access"),
    ],
)
def test_its_wrong_twins_are_refuted(body: str, kind: str) -> None:
    outcome = safety(body)
    assert outcome.status == "REFUTED" and kind in kinds(outcome), outcome.findings


@pytest.mark.parametrize(
    "body",
    [
        "ld.global.u32 %r2, [%d4]; LOOP: sub.u32 %r2, %r2, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra LOOP;",
        "ld.global.u32 %r2, [%d4]; mul.wide.u32 %d6, %r2, 4; add.s64 %d7, %d1, %d6; ld.global.u32 %r3, [%d7];",
        "ld.global.u32 %r2, [%d4]; bar.sync %r2;",
        "red.global.add.u32 [%d2], 1; ld.relaxed.gpu.global.u32 %r2, [%d2];",
        "frob.u32 %r2, %r3;",
    ],
)
def test_what_data_decide_is_unknown(body: str) -> None:
    outcome = safety(body)
    assert outcome.status == "UNKNOWN" and not outcome.ended
    assert {finding.severity for finding in outcome.findings} == {Severity.UNKNOWN}


def test_a_comparison_that_no_data_change_decides_a_branch() -> None:
    body = "ld.global.u32 %r2, [%d4]; and.b32 %r3, %r2, 255; setp.LT.u32 %p1, %r3, 256; @%p1 bra END; trap; END:"
    assert safety(body.replace("LT", "lt")).status == "SAFE"
    assert safety(body.replace("LT", "lt").replace("256", "255")).status == "UNKNOWN"
    assert safety(body.replace("LT", "gt")).status == "REFUTED"


INDEX = "ld.global.u32 %r2, [%d4]; "
AT = "mul.wide.u32 %d6, %r3, 4; add.s64 %d7, BASE, %d6; "
GATHER = f"{INDEX}and.b32 %r3, %r2, 63; {AT.replace('BASE', '%d1')}ld.global.u32 %r4, [%d7]; st.global.u32 [%d5], %r4;"
CLAMPED = GATHER.replace("and.b32 %r3, %r2, 63;", "max.s32 %r3, %r2, 0; min.s32 %r3, %r3, 63;")
SCATTER = f"{INDEX}and.b32 %r3, %r2, 63; {AT.replace('BASE', '%d2')}red.global.add.u32 [%d7], 1;"
ADDED = """mov.u32 %r3, s; mov.u32 %r4, 0; shl.b32 %r5, %r1, 2; add.u32 %r6, %r3, %r5;
st.shared.u32 [%r6], %r4;
bar.sync 0;
ld.global.u32 %r2, [%d4]; and.b32 %r7, %r2, 252; add.u32 %r8, %r3, %r7; red.shared.add.u32 [%r8], 1;
bar.sync 1;
ld.shared.u32 %r9, [%r6]; st.global.u32 [%d5], %r9;"""


@pytest.mark.parametrize(
    "body", [GATHER, CLAMPED, SCATTER, ADDED, GATHER.replace("global.u32 %r4", "global.nc.u32 %r4")]
)
def test_an_address_that_data_decide_is_safe_within_its_array(body: str) -> None:
    outcome = safety(body)
    assert (outcome.status, outcome.findings) == ("SAFE", ())


@pytest.mark.parametrize(
    "body",
    [
        GATHER.replace(", 63;", ", 64;"),
        CLAMPED.replace("max.s32 %r3, %r2, 0;", "mov.u32 %r3, %r2;"),
        CLAMPED.replace("min.s32 %r3, %r3, 63;", ""),
        CLAMPED.replace("min.s32", "min.u32").replace("63", "64"),
        GATHER.replace("[%d7]", "[%d7+4]"),
        GATHER.replace("%r3, 4;", "%r3, 2;"),
        SCATTER.replace(", 63;", ", 127;"),
        ADDED.replace("252", "255"),
        ADDED.replace("252", "1020").replace("[%r8]", "[%r8+4]"),
    ],
)
def test_an_address_that_may_leave_its_array_or_is_not_aligned_is_unknown(body: str) -> None:
    outcome = safety(body)
    assert outcome.status == "UNKNOWN" and {finding.severity for finding in outcome.findings} == {Severity.UNKNOWN}


@pytest.mark.parametrize("convert", ["and.b32 %r3, %r2, 255; cvt.s8.s32 %r3, %r3;", "cvt.sat.s8.s32 %r3, %r2;"])
def test_a_narrow_signed_result_has_its_sign_in_all_of_a_wider_register(convert: str) -> None:
    body = f"{INDEX}{convert} shr.u32 %r3, %r3, 2; {AT.replace('BASE', '%d1')}ld.global.u32 %r4, [%d7];"
    assert safety(body).status == "UNKNOWN"
    assert safety(body.replace(".s8", ".u8")).status == "SAFE"


NOWHERE = "mov.u32 %r3, 1; WHAT st.global.u32 [%d5], %r3;"


@pytest.mark.parametrize(
    ("what", "status"),
    [
        ("redux.sync.add.s32 %r3, %r12, -1;", "REFUTED"),
        ("vote.sync.ballot.b32 %r3, %p7, -1;", "REFUTED"),
        (f"{INDEX}setp.eq.u32 %p1, %r2, 0; and.pred %p2, %p1, %p7; selp.u32 %r3, 1, 2, %p2;", "REFUTED"),
        ("@%p7", "UNKNOWN"),
    ],
)
def test_what_nobody_wrote_stays_so_through_predicates_and_lanes(what: str, status: str) -> None:
    assert safety(NOWHERE.replace("WHAT", what)).status == status
    assert safety(NOWHERE.replace("WHAT", f"mov.u32 %r12, 0; setp.ne.u32 %p7, %r1, %r1; {what}")).status == "SAFE"


READ_LAST = "@%p1 ld.global.u32 %r5, [%d2+8]; @%p1 st.global.u32 [%d2+8], %r5;"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (
            SCATTER.replace("red.global.add.u32 [%d7], 1", "st.global.u32 [%d7], %r2"),
            "race: a write where data decide",
        ),
        (f"{SCATTER} ld.global.u32 %r5, [%d2];", "race: atomic and plain access"),
        (f"{SCATTER} setp.eq.u32 %p1, %r1, 63; {READ_LAST}", "race: atomic and plain access"),
        (f"setp.eq.u32 %p1, %r1, 5; {READ_LAST} {SCATTER}", "race: atomic and plain access"),
        (SCATTER.replace("BASE", "%d1").replace("add.s64 %d7, %d2", "add.s64 %d7, %d1"), "write to an input"),
        (ADDED.replace("st.shared.u32 [%r6], %r4;", ""), "value from nowhere"),
        (ADDED.replace("bar.sync 0;", ""), "race: atomic and plain access"),
        (ADDED.replace("bar.sync 1;", ""), "race: atomic and plain access"),
        (ADDED.replace("red.shared.add.u32 [%r8], 1", "st.shared.u32 [%r8], %r2"), "race: a write where data decide"),
        (f"{GATHER.replace('%d1, %d6', '%d2, %d6')}", WRITE_AFTER_READ),
    ],
)
def test_accesses_that_data_decide_race_as_others_do(body: str, kind: str) -> None:
    outcome = safety(body)
    assert outcome.status == "REFUTED" and kind in kinds(outcome), outcome.findings


OFFSET = "ld.global.u32 %r2, [%d1]; and.b32 %r3, %r2, 1; mad.lo.u32 %r3, %r3, 64, %r1; "  # the same for all threads
OFFSETS = OFFSET.replace("[%d1]", "[%d4]").replace("64", "1")
TICKET = "atom.global.add.u32 %r2, [%d2], 1; and.b32 %r3, %r2, 63; add.u32 %r3, %r3, 1; "
TURNED = """ld.global.u32 %r2, [%d1]; add.u32 %r3, %r2, %r1; and.b32 %r3, %r3, 63; shl.b32 %r4, %r3, 2; mov.u32 %r5, s;
add.u32 %r6, %r5, %r4; st.shared.u32 [%r6], %r1; bar.sync 0; ld.shared.u32 %r7, [%r6]; st.global.u32 [%d5], %r7;"""


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        (f"{OFFSET}{AT.replace('BASE', '%d2')}st.global.u32 [%d7], %r1;", (OFFSET, OFFSETS)),
        (f"{OFFSET}{AT.replace('BASE', '%d2')}ld.global.u32 %r4, [%d7]; st.global.u32 [%d7], %r4;", (OFFSET, OFFSETS)),
        (f"{TICKET}{AT.replace('BASE', '%d2')}st.global.u32 [%d7], %r1;", None),
        (TURNED, ("[%d1]", "[%d4]")),
    ],
)
def test_threads_that_data_keep_apart_are_not_refuted(body: str, wrong: tuple[str, str] | None) -> None:
    """Each thread's address is an interval; that two of them meet is a race only if some data show it."""
    arrays = {"A": {"dims": ["64"], "type": "u32"}, "C": {"dims": ["129"], "type": "u32", "out": True}}
    outcome = safety(body, arrays=arrays)
    assert outcome.status == "UNKNOWN" and not outcome.ended, outcome.findings
    assert any("no drawn data" in finding.text for finding in outcome.findings)
    assert wrong is None or safety(body.replace(*wrong), arrays=arrays).status == "REFUTED"


def test_a_barrier_orders_atomic_operations_of_one_cta_alone() -> None:
    body = f"{SCATTER} bar.sync 0; setp.eq.u32 %p1, %r1, 7; {READ_LAST}"
    assert safety(body).status == "SAFE"
    assert kinds(safety(body, grid=2)) >= {"race: atomic and plain access"}


WARPS = """mov.u32 %r3, 0; and.b32 %r4, %r1, {lanes}; shl.b32 %r5, %r1, 2; mov.u32 %r6, s; add.s32 %r7, %r6, %r5;
st.shared.u32 [%r7], %r3; bar.sync 0; shl.b32 %r5, %r4, 2; add.s32 %r7, %r6, %r5; red.shared.add.u32 [%r7], 1; {barrier}
ld.shared.u32 %r8, [%r7]; st.global.u32 [%d5], %r8;"""


@pytest.mark.parametrize(
    ("barrier", "most"), [("bar.sync 0;", 64), ("bar.warp.sync -1;", 32), ("bar.warp.sync %r10;", 16), ("", 1)]
)
def test_a_barrier_orders_atomic_operations_of_its_lanes_before_a_read(barrier: str, most: int) -> None:
    """So many lanes add to one number, which each of them reads after the barrier."""
    half = "and.b32 %r9, %r1, 16; mov.u32 %r10, 0xffff; shl.b32 %r10, %r10, %r9; "
    for lanes in (64, 32, 16, 1):
        outcome = safety(WARPS.format(lanes=64 - lanes, barrier=half + barrier))
        assert outcome.status == ("SAFE" if lanes <= most else "REFUTED"), (lanes, outcome.findings)
        assert kinds(outcome) == (set() if lanes <= most else {"race: atomic and plain access"})


@pytest.mark.parametrize("barrier", ["bar.sync 0;", "bar.warp.sync -1;", ""])
def test_a_barrier_of_its_only_warp_orders_a_whole_cta(barrier: str) -> None:
    outcome = safety(f"red.global.add.u32 [%d2], 1; {barrier} ld.global.u32 %r3, [%d2];", block=32)
    assert (outcome.status == "REFUTED") == (not barrier), outcome.findings


def test_a_read_by_several_ctas_is_no_read_of_the_last_one() -> None:
    body = "ld.global.u32 %r2, [%d2]; bar.sync 0; mov.u32 %r3, %ctaid.x; setp.eq.u32 %p1, %r3, 1; "
    body += "setp.eq.u32 %p2, %r1, 0; and.pred %p3, %p1, %p2; @%p3 st.global.u32 [%d2], %r3;"
    assert kinds(safety(body, grid=2)) == {WRITE_AFTER_READ}
    assert safety(body.replace("%ctaid.x", "%nctaid.x")).status == "SAFE"


def test_the_last_of_several_that_add_does_not_know_their_sum_with_a_claim_either() -> None:
    body = "ld.global.f32 %f1, [%d4]; red.global.add.f32 [%d2], %f1; BARRIER setp.eq.u32 %p1, %r1, 63; "
    body += "@%p1 ld.global.f32 %f2, [%d2]; @%p1 st.global.f32 [%d2+4], %f2; ret; }"
    arrays = {
        "A": {"dims": "i", "type": "f32", "offset": 0},
        "C": {"dims": "j", "type": "f32", "offset": 0, "out": True},
    }
    table = {**LAUNCH, "sizes": {"I": 64, "J": 2}, "arrays": arrays, "claim": "C[j] = C[j]"}
    for barrier, races in (("", {"race: read after write in global memory"}), ("bar.sync 0;", set())):
        (outcome,) = check(HEAD + body.replace("BARRIER", barrier), claim_of(table), seed=1)
        assert {finding.kind for finding in outcome.findings if finding.severity is Severity.RACE} == races


def test_a_range_of_the_launch_bounds_an_address() -> None:
    body = GATHER.replace("and.b32 %r3, %r2, 63;", "mov.u32 %r3, %r2;")
    arrays = LAUNCH["arrays"]
    assert isinstance(arrays, dict)
    assert safety(body).status == "UNKNOWN"
    for most, status in ((63, "SAFE"), (64, "UNKNOWN")):
        bounded = {**arrays, "A": {**arrays["A"], "range": [0, most]}}
        assert safety(body, arrays=bounded).status == status


CHOSEN = f"{INDEX}setp.eq.u32 %p1, %r2, 0; mov.u32 %r3, 3; "


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (f"{CHOSEN}@%p1 st.global.u32 [%d5], %r2;", "SAFE"),
        (f"{CHOSEN}@%p1 st.global.u32 [%d2], %r2;", "REFUTED"),
        (f"{CHOSEN}@%p1 st.global.u32 [%d5+4], %r2;", "UNKNOWN"),
        (f"{CHOSEN}@%p1 mov.u32 %r3, 60; {AT.replace('BASE', '%d1')}ld.global.u32 %r4, [%d7];", "SAFE"),
        (f"{CHOSEN}@!%p1 mov.u32 %r3, 70; {AT.replace('BASE', '%d1')}ld.global.u32 %r4, [%d7];", "UNKNOWN"),
        (f"{CHOSEN}@%p1 mov.u32 %r5, 60; st.global.u32 [%d5], %r5;", "REFUTED"),
        (f"{CHOSEN}@%p1 ld.global.u32 %r3, [%d4]; st.global.u32 [%d5], %r3;", "SAFE"),
        (f"{CHOSEN}@%p1 bar.sync 0;", "UNKNOWN"),
        (f"{CHOSEN}mov.u32 %r5, s; @%p1 st.shared.u32 [%r5], %r2; ld.shared.u32 %r6, [%r5];", "REFUTED"),
    ],
)
def test_a_guard_that_data_decide_is_taken_both_ways(body: str, status: str) -> None:
    assert safety(body).status == status, safety(body).findings


def test_a_store_where_data_decide_is_of_the_threads_that_store_alone() -> None:
    """The others hold nothing in the register: with the branch, only thread 0 has the 1 that it stores."""
    store = "setp.ne.u32 %p1, %r1, 0; @%p1 bra END; mov.u32 %r10, 1; st.shared.u32 [%r8], %r10; END:"
    outcome = safety(ADDED.replace("red.shared.add.u32 [%r8], 1;", store))
    assert (outcome.status, outcome.findings) == ("SAFE", ())


@pytest.mark.long
def test_what_may_not_have_been_written_is_not_read() -> None:
    body = f"{CHOSEN}mov.u32 %r5, s; shl.b32 %r6, %r1, 2; add.u32 %r5, %r5, %r6; @%p1 st.shared.u32 [%r5], %r2; "
    body += "ld.shared.u32 %r6, [%r5]; st.global.u32 [%d5], %r6;"
    assert kinds(safety(body)) == {"value from nowhere"}
    assert safety(body.replace("@%p1 st", "st.shared.u32 [%r5], %r3; @%p1 st")).status == "SAFE"


@pytest.mark.long
@pytest.mark.parametrize("name", ["triton_ragged", "mma_relu"])
def test_a_compiled_kernel_is_safe_and_without_its_first_barrier_it_is_not(name: str) -> None:
    path = corpus.COMPILED / f"{name}.ptx"
    text, launch = path.read_text(), read_claim(path.with_suffix(".toml"), claimed=False)
    (outcome,) = check_safety(text, launch, seed=1)
    assert (outcome.status, outcome.findings) == ("SAFE", ())
    lines = text.splitlines()
    barrier = next(number for number, line in enumerate(lines) if "bar.sync" in line)
    (outcome,) = check_safety("\n".join([*lines[:barrier], *lines[barrier + 1 :]]), launch, seed=1)
    assert outcome.status == "REFUTED" and {finding.severity for finding in outcome.findings} == {Severity.RACE}


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(corpus.COMPILED.glob("*.ptx")), ids=lambda path: path.stem)
def test_every_kept_kernel_is_safe(path: Path) -> None:
    for outcome in check_safety(path.read_text(), read_claim(path.with_suffix(".toml"), claimed=False), seed=1):
        assert outcome.status == "SAFE" and {finding.severity for finding in outcome.findings} <= {Severity.EQUAL}


WITHOUT_CLAIM = sorted((corpus.HOME / "safe").glob("*.ptx"))


@pytest.mark.long
@pytest.mark.parametrize("path", WITHOUT_CLAIM, ids=lambda path: path.stem)
def test_a_kernel_without_a_claim_is_safe(path: Path) -> None:
    """Elementwise, a reduction, layernorm, histograms with atomics, a gather and a persistent product, by Triton."""
    (outcome,) = check_safety(path.read_text(), read_claim(path.with_suffix(".toml"), claimed=False), seed=1)
    assert outcome.status == "SAFE" and {finding.severity for finding in outcome.findings} <= {Severity.EQUAL}


# Lines of histogram_own whose fault is harmless, and why.
HARMLESS = {
    108: "a barrier after the last access of shared memory",
    114: "the guard leaves out threads that would add the same again: other values, and no other address",
    117: "a barrier before the end",
}


@pytest.mark.long
def test_every_fault_of_a_histogram_is_found_but_harmless_ones() -> None:
    """The faults of all kernels: python -m benchmarks.kernels.safety."""
    fates = [(fault.sort, fault.line, fate) for fault, fate in judge_faults(corpus.HOME / "safe" / "histogram_own.ptx")]
    assert {sort for sort, _, _ in fates} == {"left out", "moved", "unmasked"}
    assert {line for _, line, fate in fates if fate == "SAFE"} == HARMLESS.keys()
    assert [fate for _, line, fate in fates if line not in HARMLESS] == ["refuted"] * 8


INIT = "fence.mbarrier_init.release.cluster;"
AFTER = "tcgen05.fence::after_thread_sync;"


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "fences", "kind"),
    [
        ("tma_3", [INIT], ""),  # the proxy fence that follows shows the mbarriers too
        ("tma_3", [INIT, "fence.proxy.async;"], "no fence after mbarrier.init"),
        ("tcgen05_32", [INIT], ""),
        ("tcgen05_32", [AFTER], "no tcgen05.fence"),
    ],
)
def test_a_fence_that_is_missing_is_a_warning_by_the_letter(name: str, fences: list[str], kind: str) -> None:
    path = corpus.COMPILED / f"{name}.ptx"
    text, launch = path.read_text(), read_claim(path.with_suffix(".toml"), claimed=False)
    assert all(fence in text for fence in fences)
    for fence in fences:
        text = text.replace(fence, "")
    outcome = check_safety(text, launch, seed=1)[0]
    assert outcome.status == "SAFE" and kinds(outcome) == ({kind} if kind else set())
    if kind:
        assert check_safety(text, launch, seed=1, strict=True)[0].status == "REFUTED"


@pytest.mark.parametrize(
    ("missing", "fence"), [("", ""), ("before", "before_thread_sync"), ("after", "after_thread_sync")]
)
def test_what_two_warps_do_in_tensor_memory_is_in_order_by_two_fences(missing: str, fence: str) -> None:
    """Warp 0 stores columns of its lanes, and warp 4, which has the same lanes, loads them."""
    body = """.reg .pred %q<4>; .reg .b32 %t<9>; mov.u32 %t0, s; shr.u32 %t1, %r1, 5; setp.eq.u32 %q1, %t1, 0;
setp.eq.u32 %q2, %t1, 4; setp.eq.u32 %q3, %t1, 0;
@%q1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%t0], 32;
bar.sync 0; ld.shared.u32 %t2, [%t0];
@%q1 tcgen05.st.sync.aligned.32x32b.x1.b32 [%t2], {%r1};
@%q1 tcgen05.wait::st.sync.aligned;
tcgen05.fence::before_thread_sync;
bar.sync 0;
tcgen05.fence::after_thread_sync;
@%q2 tcgen05.ld.sync.aligned.32x32b.x1.b32 {%t3}, [%t2];
@%q2 tcgen05.wait::ld.sync.aligned;
tcgen05.fence::before_thread_sync;
bar.sync 0;
tcgen05.fence::after_thread_sync;
@%q1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %t2, 32;"""
    text = HEAD.replace("8.0", "8.6").replace("sm_80", "sm_100a") + body
    if missing:
        text = text.replace(f"tcgen05.fence::{missing}_thread_sync;", "", 1)
    (outcome,) = check_safety(f"{text}\nret;\n}}\n", claim_of(LAUNCH | {"block": 256}, claimed=False), seed=1)
    assert outcome.status == "SAFE"
    assert [finding.text.rpartition("::")[2] for finding in outcome.findings] == ([fence] if fence else []), (
        outcome.findings
    )


@pytest.mark.parametrize(("offset", "status"), [("4", "SAFE"), ("%t1", "UNKNOWN")])
def test_the_half_of_a_store_to_tensor_memory_is_at_a_number(offset: str, status: str) -> None:
    body = f""".reg .b32 %t<9>; mov.u32 %t0, s; mov.u32 %t1, 4;
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%t0], 32;
bar.sync 0; ld.shared.u32 %t2, [%t0];
tcgen05.st.sync.aligned.16x32bx2.x1.b32 [%t2], {offset}, {{%r1}};
tcgen05.wait::st.sync.aligned;
tcgen05.dealloc.cta_group::1.sync.aligned.b32 %t2, 32;"""
    text = HEAD.replace("8.0", "8.6").replace("sm_80", "sm_100a") + body
    (outcome,) = check_safety(f"{text}\nret;\n}}\n", claim_of(LAUNCH | {"block": 32}, claimed=False), seed=1)
    assert outcome.status == status, outcome.findings
    assert status == "SAFE" or "offset of the second half" in outcome.findings[0].text


@pytest.mark.parametrize(("most", "status"), [(252, "SAFE"), (508, "UNKNOWN")])
def test_bytes_that_data_choose_are_any_number(most: int, status: str) -> None:
    """Triton looks fp4 up in a register by `prmt`, whose selector is the data."""
    outcome = safety(
        f"ld.global.u32 %r2, [%d4]; prmt.b32 %r3, 1234, 5678, %r2; and.b32 %r3, %r3, {most}; cvt.u64.u32 %d6, %r3; "
        "add.s64 %d6, %d1, %d6; ld.global.u8 %r4, [%d6]; st.global.u32 [%d5], %r4;"
    )
    assert outcome.status == status, outcome.findings
