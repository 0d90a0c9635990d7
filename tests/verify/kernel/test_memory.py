# SPDX-License-Identifier: Apache-2.0
"""What memory does not promise: old bytes by ld.global.nc, bytes of an mbarrier, where a variable lies, other CTAs."""

from __future__ import annotations

import pytest

from tests.verify.kernel.test_asynchronous import run as copied
from tests.verify.kernel.test_bulk import KERNELS, run
from tests.verify.kernel.test_check import ADD, ADDED, HEAD, PRODUCT, SHARED, TURNED, run_once, run_sum
from tests.verify.kernel.test_lanes import tell
from verify.core.errors import SpecError
from verify.kernel.check import LaunchOutcome, check
from verify.kernel.claims.claim import claim_of
from verify.kernel.safety import check_safety
from verify.kernel.state.findings import Severity

TWICE = {**ADDED, "claim": "C[i] = 2 * A[i]"}
WRITTEN = "st.global.f32 [%d7], %f1; {} add.f32 %f3, %f4, %f1;"
OLD = "{} %f4, [%d7]; add.f32 %f3, %f4, %f1;"


def severities(outcome: LaunchOutcome) -> set[tuple[str, Severity]]:
    """The findings as (kind, severity)."""
    return {(each.kind, each.severity) for each in outcome.findings}


def test_ld_global_nc_of_what_the_grid_wrote_is_refuted() -> None:
    """An H100 gave the bytes of before in 32 of 32 runs."""
    read = WRITTEN.format("ld.global.nc.f32 %f4, [%d7];")
    outcome = run_once(ADD.replace("BODY", read), TWICE)
    assert outcome.status == "REFUTED" and ("a stale read", Severity.MEMORY) in severities(outcome)
    assert run_once(ADD.replace("BODY", read.replace(".nc", "")), TWICE).status == "VERIFIED"


def test_a_write_of_what_ld_global_nc_read_breaks_the_letter() -> None:
    claim = {**ADDED, "claim": "C[i] = C[i] + A[i]"}
    outcome = run_once(ADD.replace("BODY", OLD.format("ld.global.nc.f32")), claim)
    assert outcome.status == "VERIFIED"
    assert severities(outcome) == {("a write after ld.global.nc", Severity.LETTER)}
    assert run_once(ADD.replace("BODY", OLD.format("ld.global.f32")), claim).findings == ()


def test_discard_destroys_what_was_there() -> None:
    """C is written, and then a thread of each warp discards its 128 bytes; or before, with a barrier between."""
    discard = "and.b32 %r2, %r1, 31; setp.eq.u32 %p1, %r2, 0; @%p1 discard.global.L2 [%d7], 128; "
    keys = {"arrays": {**ADDED["arrays"], "C": {"dims": "i", "type": "f32", "out": True, "offset": 0}}}
    before = run_sum(f"add.f32 %f3, %f1, %f2; {discard} bar.sync 0;", **keys)
    assert (before.status, before.findings) == ("VERIFIED", ())
    text = ADD.replace("BODY", "add.f32 %f3, %f1, %f2;").replace("ret;", f"bar.sync 0; {discard} ret;")
    outcome = run_once(text, {**ADDED, **keys})
    assert outcome.status == "REFUTED" and "discard has destroyed what was there" in tell(outcome)
    assert "isn't an output" in tell(run_sum(discard.replace("%d7", "%d5") + "add.f32 %f3, %f1, %f2;"))


@pytest.mark.parametrize(("size", "offset", "wrong"), [(8, 8, True), (8, 0, False), (16, 8, True), (0, 8, False)])
def test_the_source_of_a_copy_is_aligned_as_its_size_and_not_as_what_it_reads(
    size: int, offset: int, wrong: bool
) -> None:
    text = PRODUCT.replace(".entry k(", ".shared .align 16 .b8 buf[512];\n.entry k(").replace(
        "ret;",
        f"mov.u32 %r20, buf; shl.b32 %r21, %r1, 4; add.s32 %r20, %r20, %r21; add.s64 %d9, %d1, {offset}; "
        f"mov.u32 %r22, {size}; cp.async.cg.shared.global [%r20], [%d9], 16, %r22; cp.async.wait_all; ret;",
    )
    outcome = run_once(text)
    assert (outcome.status == "REFUTED", "for 16 bytes at once" in tell(outcome)) == (wrong, wrong)


COPIED = ADD.replace(".entry k(", ".shared .align 16 .b8 buf[1024];\n.entry k(").replace(
    "BODY",
    "mov.u32 %r20, buf; shl.b32 %r21, %r1, 2; add.s32 %r20, %r20, %r21; "
    "cp.async.ca.shared.global [%r20], [%d5], 4; cp.async.wait_all; ld.shared.f32 %f4, [%r20]; add.f32 %f3, %f4, %f2;",
)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (".ca", ".cg", "a cp.async.cg copies 16 bytes, not 4"),
        ("[%d5], 4;", "[%d5], 12;", "a cp.async.ca copies 4 or 8 or 16 bytes, not 12"),
    ],
)
def test_a_copy_has_a_size_that_its_cache_allows(old: str, new: str, words: str) -> None:
    assert run_once(COPIED, ADDED).status == "VERIFIED"
    outcome = run_once(COPIED.replace(old, new), ADDED)
    assert outcome.status == "UNKNOWN" and words in tell(outcome)


@pytest.mark.parametrize(("size", "status"), [(0, "VERIFIED"), (4, "UNKNOWN")])
def test_the_address_of_a_copy_of_no_bytes_may_be_anything(size: int, status: str) -> None:
    """A pipelined kernel prefetches past its last tile: a remainder by zero, of which it copies nothing."""
    past = (
        f"mov.u32 %r22, {size}; mov.u32 %r23, 0; rem.u32 %r23, %r1, %r23; mul.wide.u32 %d9, %r23, 4; "
        "add.s64 %d9, %d5, %d9; cp.async.ca.shared.global [%r20], [%d9], 4, %r22;"
    )
    text = COPIED.replace("cp.async.ca.shared.global [%r20], [%d5], 4;", past)
    assert run_once(text, {**ADDED, "claim": "C[i] = B[i]"}).status == status


TWO = SHARED.replace("xor.b32 %r5, %r2, 252;", "mov.u32 %r5, %r2;").replace("bar.sync 0;", "bar.sync 0; //here")


def test_what_lies_between_two_variables_belongs_to_none() -> None:
    """`next` has 16 bytes and lies behind `buf`; a kernel that counts on the byte after `buf` is wrong."""
    two = TWO.replace("buf[256];", "buf[256];\n.shared .align 16 .b8 next[16];")
    assert run_once(two, TURNED).status == "VERIFIED"
    beyond = two.replace("//here", "\nmov.u32 %r9, 7; st.shared.u32 [%r3+256], %r9;")
    outcome = run_once(beyond, TURNED)
    assert outcome.status == "REFUTED" and "which are in no variable; buf has 1040 to 1295" in tell(outcome), tell(
        outcome
    )
    wide = two.replace("//here", "\nst.shared.v2.u32 [%r3+252], {%r1, %r1};")
    assert "bytes 1292 to 1299 of shared memory" in tell(run_once(wide, TURNED))
    inside = two.replace("//here", "\nmov.u32 %r9, next; setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 [%r9+12], %r1;")
    assert run_once(inside, TURNED).status == "VERIFIED"


def test_a_variable_has_its_alignment_and_no_other() -> None:
    """The element of thread t lies at t ^ (the address's bits 7 to 9): right for a variable of .align 1024 alone."""
    swizzle = """shr.u32 %r6, %r4, 3; and.b32 %r6, %r6, 112; xor.b32 %r4, %r4, %r6; st.shared.f32 [%r4], %f1;
bar.sync 0; shr.u32 %r6, %r2, 3; and.b32 %r6, %r6, 112; xor.b32 %r5, %r2, %r6;"""
    text = SHARED.replace("st.shared.f32 [%r4], %f1;\nbar.sync 0;\nxor.b32 %r5, %r2, 252;", swizzle)
    assert run_once(text.replace(".align 16", ".align 1024"), TURNED).status == "VERIFIED"
    assert run_once(text.replace(".align 16", ".align 128"), TURNED).status == "REFUTED"


def test_a_wide_access_of_a_narrow_variable_rests_on_its_place() -> None:
    """Compilers and GPUs put it at 16 bytes: a warning."""
    wide = "\nmov.u32 %r9, buf; setp.eq.u32 %p1, %r1, 0; @%p1 ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r9];"
    text = TWO.replace("//here", wide).replace(".align 16", ".align 4")
    outcome = run_once(text, TURNED)
    assert outcome.status == "VERIFIED" and severities(outcome) == {("alignment by placement", Severity.LETTER)}
    assert run_once(text.replace(".align 4 ", ".align 16 "), TURNED).findings == ()


DYNAMIC = SHARED.replace(".shared .align 16 .b8 buf[256];", ".extern .shared .align 16 .b8 buf[];")


@pytest.mark.parametrize(
    ("keys", "static", "status", "align"),
    [
        ({}, False, "VERIFIED", 1024),
        ({}, True, "REFUTED", 16),
        ({"smem_align": 1024}, True, "VERIFIED", 1024),
        ({"smem_align": 128}, False, "REFUTED", 128),
    ],
)
def test_dynamic_memory_has_the_alignment_that_the_claim_says(
    keys: dict[str, int], static: bool, status: str, align: int
) -> None:
    """As it begins where the CTA's memory does if there is no other; the verdict says which alignment it is of."""
    swizzle = """shr.u32 %r6, %r4, 3; and.b32 %r6, %r6, 112; xor.b32 %r4, %r4, %r6; st.shared.f32 [%r4], %f1;
bar.sync 0; shr.u32 %r6, %r2, 3; and.b32 %r6, %r6, 112; xor.b32 %r5, %r2, %r6;"""
    text = DYNAMIC.replace("st.shared.f32 [%r4], %f1;\nbar.sync 0;\nxor.b32 %r5, %r2, 252;", swizzle)
    text = text.replace(".extern", ".shared .align 8 .b8 other[8];\n.extern") if static else text
    outcome = run_once(text, {**TURNED, "smem": 256, **keys})
    assert outcome.status == status and f"dynamic shared memory at a multiple of {align} (smem_align)" in outcome.domain


def test_a_wide_access_of_narrow_dynamic_memory_rests_on_its_place() -> None:
    """If other variables come before it; alone, it begins where the CTA's memory does."""
    wide = "\nmov.u32 %r9, buf; setp.eq.u32 %p1, %r1, 0; @%p1 ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r9];"
    text = (
        DYNAMIC.replace("ret;", f"{wide} ret;")
        .replace("%r2, 252", "%r2, 0")
        .replace(".align 16 .b8 buf", ".align 4 .b8 buf")
    )
    second = text.replace(".extern", ".shared .align 4 .b8 other[4];\n.extern")
    assert run_once(text, {**TURNED, "smem": 256}).findings == ()
    outcome = run_once(second, {**TURNED, "smem": 256})
    assert outcome.status == "VERIFIED" and severities(outcome) == {("alignment by placement", Severity.LETTER)}
    assert run_once(second, {**TURNED, "smem": 256, "smem_align": 16}).findings == ()
    assert "buf has no bytes: the claim's smem says how many" in tell(run_once(text, TURNED))


@pytest.mark.parametrize("given", [3, 0, -16, "16", True, 1 << 30])
def test_an_alignment_that_is_none_is_an_error(given: object) -> None:
    with pytest.raises(SpecError, match="smem_align"):
        run_once(DYNAMIC, {**TURNED, "smem": 256, "smem_align": given})


WAIT = "WAIT:\n"


@pytest.mark.parametrize(
    ("new", "words"),
    [
        ("mov.u32 %r20, 1;\n@!%p1 st.shared.u32 [%r3+4], %r20;\n", "writes shared byte"),
        ("@!%p1 ld.shared.u32 %r20, [%r3+4];\n", "reads shared byte"),
        ("@!%p1 mbarrier.init.shared::cta.b64 [%r3], 1;\n", "which is one already"),
    ],
)
def test_the_bytes_of_an_mbarrier_belong_to_it(new: str, words: str) -> None:
    outcome = copied(WAIT, f"bar.sync 0;\n{new}bar.sync 0;\n{WAIT}")
    assert outcome.status == "REFUTED" and words in tell(outcome), tell(outcome)


@pytest.mark.parametrize(("count", "refuted"), [(0, True), (1 << 20, True), ((1 << 20) - 1, False), (64, False)])
def test_the_count_of_an_mbarrier_is_one_that_it_holds(count: int, refuted: bool) -> None:
    text = (
        ADD.replace("sm_80", "sm_90")
        .replace(".entry k(", ".shared .align 8 .b64 bar;\n.entry k(")
        .replace(
            "BODY",
            "mov.u32 %r20, bar; setp.eq.u32 %p1, %r1, 0; add.f32 %f3, %f1, %f2; "
            f"@%p1 mbarrier.init.shared::cta.b64 [%r20], {count};",
        )
    )
    outcome = run_once(text, ADDED)
    assert (outcome.status == "REFUTED", f"an mbarrier of {count} arrivals" in tell(outcome)) == (refuted, refuted)


def test_memory_of_an_mbarrier_that_is_invalidated_is_free() -> None:
    again = "bar.sync 0;\n@%p1 bra END;\nmbarrier.inval.shared::cta.b64 [%r3];\n{}END:\nret;"
    for use in ("mbarrier.init.shared::cta.b64 [%r3], 1;\n", "st.shared.u32 [%r3], %r1;\n"):
        outcome = copied("ret;", again.format(use))
        assert (outcome.status, outcome.findings) == ("VERIFIED", ())


SPLIT = """mov.u32 %r2, %ctaid.x; mul.wide.u32 %d8, %r2, 256; add.s64 %d5, %d5, %d8;
ld.global.f32 %f1, [%d5]; red.SCOPE.global.add.f32 [%d7], %f1;"""


@pytest.mark.parametrize(
    ("scope", "grid", "status"),
    [("relaxed.gpu", 2, "VERIFIED"), ("relaxed.cta", 2, "REFUTED"), ("relaxed.cta", 1, "VERIFIED")],
)
def test_an_atomic_addition_of_a_cta_is_none_for_another(scope: str, grid: int, status: str) -> None:
    claim = "C[i] = C[i] + sum_j A[j,i]"
    arrays = {**ADDED["arrays"], "A": {"dims": "ji", "type": "f32", "strides": [64, 1]}}
    text = ADD.replace("BODY", SPLIT.replace("SCOPE", scope)).replace("st.global.f32 [%d7], %f3;", "")
    keys = {"grid": grid, "claim": claim, "arrays": arrays, "sizes": {"I": 64, "J": grid}}
    outcome = run_once(text, {**ADDED, **keys})
    assert outcome.status == status, tell(outcome)
    assert ("race: atomics of a CTA" in tell(outcome)) == (status == "REFUTED")


@pytest.mark.parametrize(("offset", "status"), [(0, "VERIFIED"), (16, "VERIFIED"), (4, "REFUTED"), (24, "REFUTED")])
def test_local_memory_is_aligned_too(offset: int, status: str) -> None:
    depot = ADD.replace(HEAD, f"{HEAD}.local .align 16 .b8 depot[32];\n").replace(
        "BODY", f"mov.u64 %d9, depot; st.local.v4.f32 [%d9+{offset % 24}], {{%f1, %f1, %f2, %f2}}; "
        f"ld.local.v2.f32 {{%f4, %f5}}, [%d9+{offset % 24 + offset // 24 * 4}]; add.f32 %f3, %f1, %f2;")  # fmt: skip
    outcome = run_once(depot, ADDED)
    assert outcome.status == status and ("bytes at once" in tell(outcome)) == (status == "REFUTED")


def test_wait_group_read_does_not_wait_for_what_is_written() -> None:
    """A thread reads the rows that its bulk copy stores: after wait_group, and not after wait_group.read."""
    wait = "cp.async.bulk.wait_group.read 0;"
    back = "\nld.global.f32 %f4, [%d6+4];\nst.global.f32 [%d6+4], %f4;"
    assert wait in KERNELS["piece"]
    outcome = run("piece", wait, wait + back)
    assert outcome.status == "REFUTED" and "`.read` waits for its source alone" in tell(outcome), tell(outcome)
    for full in ("cp.async.bulk.wait_group 0;", f"{wait}\ncp.async.bulk.wait_group 0;"):
        right = run("piece", wait, full + back)
        assert (right.status, right.findings) == ("VERIFIED", ())
    late = run("piece", wait, "cp.async.bulk.wait_group 1;" + back)
    assert late.status == "REFUTED"


def test_a_proxy_fence_of_global_memory_says_nothing_of_shared_memory() -> None:
    for space, kinds in (("shared::cta", set()), ("global", {"no proxy fence"}), ("shared::cluster", set())):
        outcome = run("box", "fence.proxy.async.shared::cta;", f"fence.proxy.async.{space};")
        assert outcome.status == "VERIFIED" and {each.kind for each in outcome.findings} == kinds
    assert run("box", "fence.proxy.async.shared::cta;", "fence.proxy.async;").findings == ()


@pytest.mark.parametrize(
    ("fence", "kinds"),
    [
        ("", {"no proxy fence"}), ("fence.proxy.async.shared::cta;", {"no proxy fence"}),
        ("fence.proxy.async.global;", set()), ("fence.proxy.async;", set()),
    ],
)  # fmt: skip
def test_a_bulk_copy_of_what_a_thread_wrote_comes_after_a_fence_of_global_memory(fence: str, kinds: set[str]) -> None:
    """Thread 0 stores 16 bytes of A to C; the copy engine takes them from there, and the rest from A."""
    loads = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%d1], 512, [%r3];"
    first = "ld.param.u64 %d6, [C]; add.s64 %d6, %d6, %d4; ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%d1];\n"
    first += f"st.global.v4.f32 [%d6], {{%f1, %f2, %f3, %f4}};\n{fence}\nadd.s32 %r4, %r2, 16; add.s64 %d7, %d1, 16;\n"
    first += loads.replace("[%d1], 512", "[%d6], 16") + loads.replace("[%r2], [%d1], 512", "[%r4], [%d7], 496")
    outcome = run("fetched", loads, first)
    assert outcome.status == "VERIFIED" and {each.kind for each in outcome.findings} == kinds, tell(outcome)


def test_the_lane_that_is_elected_is_not_the_lowest_and_differs() -> None:
    """A kernel that takes it to be lane 0 stores nothing for its element."""
    text = "elect.sync %r20|%p3, 0xffffffff;\nnot.pred %p1, %p3;"
    assert copied("setp.ne.u32 %p1, %r1, 0;", text).status == "VERIFIED"
    wrong = ADD.replace("sm_80", "sm_90").replace(
        "BODY", "add.f32 %f3, %f1, %f2; elect.sync %r20|%p3, -1; and.b32 %r2, %r1, 31; setp.eq.u32 %p2, %r2, 0; "
        "@%p2 mov.f32 %f3, %f2; @%p3 add.f32 %f3, %f1, %f2;")  # fmt: skip
    assert [run_once(wrong, ADDED, seed=seed).status for seed in range(4)] == ["REFUTED"] * 4


@pytest.mark.parametrize("safety", [False, True], ids=["claim", "safety"])
@pytest.mark.parametrize("bit", [1, 16])
def test_a_kernel_that_is_right_for_half_of_the_elected_lanes_is_refuted(bit: int, safety: bool) -> None:
    """The lane that a seed draws may be of the right half: then the opposite one of a second run is not."""
    text = ADD.replace("sm_80", "sm_90").replace(
        "BODY", "add.f32 %f3, %f1, %f2; elect.sync %r20|%p3, -1; @!%p3 bra ON; not.b32 %r2, %r1; "
        "and.b32 %r2, %r2, BIT; setp.ne.u32 %p3, %r2, 0; ON: @%p3 FAIL")  # fmt: skip
    text = text.replace("FAIL", "st.global.f32 [%d7+256], %f3;" if safety else "mov.f32 %f3, %f1;")
    assert run_one(text.replace("BIT", "0"), 0, safety).status in {"VERIFIED", "SAFE"}
    outcomes = [run_one(text.replace("BIT", str(bit)), seed, safety) for seed in range(6)]
    assert [each.status for each in outcomes] == ["REFUTED"] * 6
    notes = [" ".join(note for note, _ in each.notes) for each in outcomes]
    assert {"elect.sync chooses another lane" in each for each in notes} == {True, False}


def run_one(text: str, seed: int, safety: bool) -> LaunchOutcome:
    """The outcome with a claim, or without one."""
    claim = claim_of(ADDED)
    (outcome,) = check_safety(text, claim, seed=seed) if safety else check(text, claim, seed=seed)
    return outcome


WILD = {  # shared memory by %d9, and by its low half alone
    "st.shared": ("st.shared.f32 [%d9], %f1;", "ld.shared.f32 %f4, [%r9];"),
    "ld.shared": ("st.shared.f32 [%r9], %f1;", "ld.shared.f32 %f4, [%d9];"),
    "cp.async": ("cp.async.ca.shared.global [%d9], [%d5], 4; cp.async.wait_all;", "ld.shared.f32 %f4, [%r9];"),
    "stmatrix": (
        "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%d8], {%f1}; bar.warp.sync 0xffffffff;",
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%f4}, [%r8]; bar.warp.sync 0xffffffff;",
    ),
    "ldmatrix": (
        "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r8], {%f1}; bar.warp.sync 0xffffffff;",
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%f4}, [%d8]; bar.warp.sync 0xffffffff;",
    ),
}


@pytest.mark.parametrize("way", WILD)
def test_an_address_of_global_memory_is_none_of_shared_memory(way: str) -> None:
    """A shared address has 32 bits: what lies above them was not looked at."""
    text = ADD.replace(".entry k(", ".shared .align 16 .b8 buf[4096];\n.entry k(").replace(
        "BODY",
        "mov.u32 %r9, buf; shl.b32 %r8, %r1, 4; add.s32 %r8, %r9, %r8; shl.b32 %r10, %r1, 2; add.s32 %r9, %r9, %r10; "
        "HIGH cvt.u64.u32 %d8, %r8; cvt.u64.u32 %d9, %r9; add.s64 %d8, %d8, %d10; add.s64 %d9, %d9, %d10; "
        f"{' '.join(WILD[way])} add.f32 %f3, %f4, %f2;",
    )
    right = run_once(text.replace("HIGH", "mov.b64 %d10, 0;"), ADDED)
    assert (right.status, right.findings) == ("VERIFIED", ())
    wild = run_once(text.replace("HIGH", "and.b64 %d10, %d1, 0xffffff0000000000;"), ADDED)
    assert wild.status != "VERIFIED" and "is not in shared memory" in tell(wild)


BOTH = (*WILD["stmatrix"], "mbarrier.init.shared.b64 [%d9], 1; mbarrier.inval.shared.b64 [%d9];")


@pytest.mark.parametrize("space", [".shared", ""])
@pytest.mark.parametrize("generic", [True, False])
def test_an_address_is_of_the_space_that_the_instruction_names(generic: bool, space: str) -> None:
    """Without `.shared` an address is generic; an offset there breaks the letter, a generic one for an offset is wrong.

    Of an mbarrier, of stmatrix and of ldmatrix.
    """
    store, load, barrier = (each.replace("%r8", "%d8").replace(".shared", space) for each in BOTH)
    move = "cvta.shared.u64 %d8, %d8; cvta.shared.u64 %d9, %d9;" if generic else ""
    text = ADD.replace("sm_80", "sm_90").replace(
        ".entry k(", ".shared .align 16 .b8 buf[4096];\n.shared .align 8 .b8 bar[8];\n.entry k("
    ).replace(
        "BODY",
        "mov.u64 %d8, buf; mul.wide.u32 %d10, %r1, 16; add.s64 %d8, %d8, %d10; mov.u64 %d9, bar;\n"
        f"{move} {store}\n{load}\nsetp.eq.u32 %p1, %r1, 0; @!%p1 bra ON;\n{barrier}\n"
        "ON: add.f32 %f3, %f4, %f2;",
    )  # fmt: skip
    outcome = run_once(text, ADDED)
    if generic != (not space):
        kind, severity, status = (
            ("a generic address as an offset", Severity.MEMORY, "REFUTED") if generic
            else ("an offset as a generic address", Severity.LETTER, "VERIFIED")
        )  # fmt: skip
        assert severities(outcome) == {(kind, severity)} and outcome.status == status
        assert len({each.line for each in outcome.findings}) == 3
        assert ("cvta.to.shared" if generic else "write .shared") in tell(outcome)
    else:
        assert (outcome.status, outcome.findings) == ("VERIFIED", ()), tell(outcome)


def test_a_generic_address_is_no_offset_in_shared_or_local_memory() -> None:
    """A wrong one is refuted: ld.shared and st.local take what cvta gives back."""
    for space, name in (("shared", "buf"), ("local", "depot")):
        variables = ".local .align 16 .b8 depot[4096]; .shared .align 16 .b8 buf[4096];\n"
        text = ADD.replace(HEAD, HEAD + variables).replace(
            "BODY",
            f"mov.u64 %d9, {name}; cvta.{space}.u64 %d9, %d9; BACK mul.wide.u32 %d10, %r1, 4; add.s64 %d9, %d9, %d10; "
            f"st.{space}.f32 [%d9], %f1; ld.{space}.f32 %f4, [%d9]; add.f32 %f3, %f4, %f2;",
        )
        right = run_once(text.replace("BACK", f"cvta.to.{space}.u64 %d9, %d9;"), ADDED)
        assert (right.status, right.findings) == ("VERIFIED", ())
        wrong = run_once(text.replace("BACK", ""), ADDED)
        assert wrong.status == "REFUTED" and f"cvta.to.{space}" in tell(wrong)


def test_an_address_of_global_memory_is_none_of_local_memory() -> None:
    body = (
        ".local .align 16 .b8 stack[16]; mov.u64 %d9, stack; HIGH add.s64 %d8, %d9, %d10; "
        "st.local.f32 [%d9], %f1; ld.local.f32 %f4, [%d8]; add.f32 %f3, %f4, %f2;"
    )
    assert run_sum(body.replace("HIGH", "mov.b64 %d10, 0;")).status == "VERIFIED"
    wild = run_sum(body.replace("HIGH", "and.b64 %d10, %d1, 0xffffff0000000000;"))
    assert wild.status != "VERIFIED" and "is not in local memory" in tell(wild)


@pytest.mark.parametrize("place", ["pa+-4", "pa+8"])
def test_what_lies_before_or_behind_a_parameter_is_not_given(place: str) -> None:
    with pytest.raises(SpecError, match="which the claim does not give"):
        run_sum(f"ld.param.u32 %r9, [{place}]; add.f32 %f3, %f1, %f2;")
