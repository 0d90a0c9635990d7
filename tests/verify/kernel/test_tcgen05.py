# SPDX-License-Identifier: Apache-2.0
"""tcgen05 of one CTA: a kernel with Tensor Memory, its wrong twins, and the rules of order that it may break."""

from __future__ import annotations

import re
import tomllib

import numpy as np
import pytest

from tests.kernels.compile import COMPILED
from tests.messages import UNORDERED
from tests.verify.kernel.states import bind_instruction
from tests.verify.kernel.test_check import ADD, ADDED, run_once
from verify.kernel.check import LaunchOutcome, check
from verify.kernel.claims.claim import claim_of
from verify.kernel.state.tensor_memory import COLUMNS, LANES, TensorMemory

TEXT = (COMPILED / "tcgen05_32.ptx").read_text()
CLAIM = tomllib.loads((COMPILED / "tcgen05_32.toml").read_text()) | {"sizes": {"M": 128, "N": 64, "K": 128}}
MATRIX = 4611756662049538048  # of a descriptor: 128-byte swizzle, LBO 16, SBO 1024


def run(old: str, new: str, strict: bool = False, many: int = 1) -> LaunchOutcome:
    """The outcome of one CTA, a pattern of the text exchanged so many times."""
    text, count = re.subn(old, new, TEXT, count=many)
    assert count == many or not old
    (outcome,) = check(text, claim_of(CLAIM), seed=3, strict=strict)
    return outcome


def test_a_product_in_tensor_memory_is_verified_by_the_letter_too() -> None:
    outcome = run("", "", strict=True)
    assert (outcome.status, outcome.findings) == ("VERIFIED", ())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (rf", {MATRIX};", f", {MATRIX - (2 << 61)};", "shared memory, A["),  # no swizzle
        (rf"(%rd5, %rd27, ){MATRIX};|(%rd5, %rd28, ){MATRIX};", rf"\g<2>{MATRIX + 1};", "A[m=0,k="),
        (r"%rd5, %rd6, (%r\d+)", r"%rd5, %rd8, \1", "the kernel alone doesn't say which"),
        (r"setp.ne.u32 p, (%r189), 0", r"setp.eq.u32 p, \1, 0", "lacks k = "),
        (r"(mma\S+ )\[%r4\], %rd9", r"\1[%r4+16], %rd9", "lacks k = "),
        (r"\[(%r\d+)\];(\s+// end inline asm\s+// begin inline asm\s+tcgen05.wait::ld)", r"[\1+1];\2", "C[m="),
        (r"(tcgen05.ld\S+ \{[^}]*\}, \[%r\d+)\]", r"\1+2097152]", "of a warpgroup has lanes"),
        (r"(tcgen05.alloc.*), 128", r"\1, 32", "not allocated"),
        (r"(tcgen05.dealloc.*), 128", r"\1, 64", "no allocation gave 64 columns"),
        (r"tcgen05.commit.*", "", "wait for an mbarrier for ever"),
        (
            r"fence.proxy.async;(\s+// end inline asm\s+)bar.sync \s*0;",
            r"fence.proxy.async;\1",
            UNORDERED,
        ),
    ],
)
def test_a_wrong_twin_is_refuted(old: str, new: str, words: str) -> None:
    outcome = run(old, new)
    assert outcome.status == "REFUTED"
    assert any(words in finding.text for finding in outcome.findings), outcome.findings


GIVE_UP = "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;"
SECOND = "{ .reg .pred q; .reg .b32 w; mov.u32 w, %tid.x; shr.u32 w, w, 5; setp.ne.u32 q, w, 1; @q bra OVER; "


@pytest.mark.parametrize(
    ("old", "new", "status"),
    [
        (GIVE_UP, "", "VERIFIED"),
        (r"(tcgen05.alloc.*;)", GIVE_UP + r" \1", "REFUTED"),
        (r"(fence::after_thread_sync;)", rf"\1 {SECOND}{GIVE_UP} OVER: }}", "VERIFIED"),
        (r"(fence::before_thread_sync;)", rf"\1 {SECOND}{GIVE_UP} OVER: }}", "REFUTED"),  # of warp 1, unordered
    ],
)
def test_a_cta_that_has_given_up_allocating_allocates_no_more(old: str, new: str, status: str) -> None:
    outcome = run(old, new)
    assert outcome.status == status, outcome.findings
    assert all("may allocate no more" in finding.text for finding in outcome.findings)


@pytest.mark.parametrize(("lanes", "status"), [(0, "VERIFIED"), (1, "UNKNOWN")])
def test_a_mask_of_lanes_that_leaves_out_none_changes_nothing(lanes: int, status: str) -> None:
    """CUTLASS gives tcgen05.mma four registers of zeros."""
    with_mask = f"{{ .reg .b32 z; mov.b32 z, {lanes}; \\1, {{z, z, z, z}}, p; }}"
    outcome = run(r"(tcgen05.mma\S+ \[%r4\], %rd\d+, %rd\d+, %r191), p;", with_mask, many=4)
    assert outcome.status == status, outcome.findings
    assert all("leaves out lanes" in each.text for each in outcome.findings)


@pytest.mark.long
def test_a_wrong_twin_and_a_broken_rule_are_found() -> None:
    outcome = run(r"(mma\S+ )\[%r4\], %rd9", r"\1[%r4], %rd7")
    assert outcome.status == "REFUTED" and outcome.findings[0].text.startswith("tcgen05.mma of CTA 0")
    assert run(r"fence.proxy.async;", "").findings[0].kind == "no proxy fence"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        (r"fence.proxy.async;", "", "no proxy fence"),
        (r"tcgen05.wait::ld.sync.aligned;", "", "no tcgen05.wait::ld"),
        (r"tcgen05.dealloc.*", "", "Tensor Memory is not deallocated"),
    ],
)
def test_a_rule_of_order_is_a_warning_and_an_error_if_strict(old: str, new: str, kind: str) -> None:
    outcome = run(old, new)
    assert outcome.status == "VERIFIED" and kind in {finding.kind for finding in outcome.findings}, outcome.findings
    assert run(old, new, strict=True).status == "REFUTED"


LAST = r"tcgen05.fence::before_thread_sync;(?=[^;]*bar.sync[^;]*;[^;]*tcgen05.fence::after[^;]*;[^;]*@%p15)"
# Thread 0 has the next product written over the sums, and all wait for it.
NEXT = """{ .reg .pred q; setp.ne.u32 q, %r1, 0; @q bra OVER;
tcgen05.mma.cta_group::1.kind::f16 [%r4], %rd9, %rd10, %r191, q;
tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r194];
OVER: MORE: mbarrier.try_wait.parity.shared::cta.b64 q, [%r194], 0; @!q bra MORE; }
tcgen05.fence::before_thread_sync;"""


PRODUCT = "tcgen05.mma.cta_group::1.kind::f16 [%r4], %rd9, %rd10, %r191, p;"
FREED = r"bar.sync \s*0;(?=[^;]*tcgen05.fence::after[^;]*;[^;]*@%p15)"


@pytest.mark.long
@pytest.mark.parametrize(("freed", "status"), [("bar.sync 0;", "VERIFIED"), ("", "REFUTED")], ids=["ordered", "not"])
def test_a_late_waiter_is_a_warning_though_a_deallocation_comes_after_a_load_that_nobody_waited_for(
    freed: str, status: str
) -> None:
    """Warps 1 to 3 may see the second phase alone, which writes nothing; as in CuTe's second tutorial for Blackwell."""
    text, count = re.subn(FREED, freed, re.sub(LAST, NEXT.replace(PRODUCT.replace("p;", "q;"), ""), TEXT))
    text, waits = re.subn(r"tcgen05.wait::ld[^;]*;", "", text)
    assert (count, waits > 0) == (1, True)
    (outcome,) = check(text, claim_of(CLAIM), seed=3)
    kinds = {finding.kind: str(finding.severity) for finding in outcome.findings}
    assert outcome.status == status, outcome.findings
    assert kinds["no tcgen05.wait::ld"] == "letter"
    assert kinds["a waiter a phase late"] == ("letter" if freed else "race")
    assert kinds.get("after a tcgen05.ld") == (None if freed else "race")


@pytest.mark.long
def test_a_waiter_a_phase_late_that_reads_tensor_memory_before_the_next_product_is_refuted() -> None:
    """Warps 1 to 3 wait for a product and load it; nothing orders that before the product after it."""
    outcome = run(LAST, NEXT)
    kinds = {finding.kind: str(finding.severity) for finding in outcome.findings}
    assert outcome.status == "REFUTED" and kinds["a waiter a phase late"] == "race", kinds
    assert "after a tcgen05.ld" in kinds
    right = run(LAST, f"bar.sync 0; {NEXT}")
    assert (right.status, right.findings) == ("VERIFIED", ())


@pytest.mark.long
@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        (FREED, "", "after a tcgen05.ld"),
        (FREED, "{ .reg .pred p, q; setp.eq.u32 p, %r1, %r1; setp.ne.u32 q, %r1, 0; @q bra OVER; "
                f"{PRODUCT} OVER: bar.sync 0; }}", "tcgen05.mma not waited for"),
        (r"mbarrier.try_wait.*\n@p bra DONE;\nbra AGAIN;", "", "tcgen05.mma not waited for"),
    ],
    ids=["load", "product", "no-wait"],
)  # fmt: skip
def test_a_deallocation_that_nothing_orders_after_the_accesses_is_refuted(old: str, new: str, kind: str) -> None:
    outcome = run(old, new)
    assert outcome.status == "REFUTED" and (kind, "race") in {
        (finding.kind, str(finding.severity)) for finding in outcome.findings
    }


# Warp 0 allocates and stores, warp 4 loads, and warp 0 gives back what both may access.
SHARED = """mov.u32 %r20, start; shr.u32 %r21, %r1, 5; setp.eq.u32 %p1, %r21, 0; setp.eq.u32 %p2, %r21, 4;
@!%p1 bra A; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r20], 32; A: bar.sync 0;
ld.shared.u32 %r22, [start]; @!%p1 bra B; tcgen05.st.sync.aligned.32x32b.x1.b32 [%r22], {%r1};
tcgen05.wait::st.sync.aligned; B: bar.sync 0; @!%p2 bra C; LOAD C: BARRIER @!%p1 bra D; AGAIN
tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r22, 32; D: add.f32 %f3, %f1, %f2;"""
LOAD = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r24}, [%r22]; tcgen05.wait::ld.sync.aligned;"


@pytest.mark.parametrize("again", ["", LOAD], ids=["", "again"])
@pytest.mark.parametrize("barrier", ["bar.sync 0;", ""], ids=["ordered", "not"])
def test_a_load_of_the_warp_that_deallocates_hides_none_of_another_warp(barrier: str, again: str) -> None:
    text = (
        ADD.replace("sm_80", "sm_100a").replace("8.0", "8.7").replace(".entry", ".shared .align 4 .u32 start;\n.entry")
    )
    text = text.replace("BODY", SHARED.replace("LOAD", LOAD).replace("BARRIER", barrier).replace("AGAIN", again))
    arrays = {name: {"dims": "i", "type": "f32", "out": name == "C"} for name in "ABC"}
    outcome = run_once(text, {**ADDED, "block": 256, "sizes": {"I": 256}, "arrays": arrays})
    assert [each.kind for each in outcome.findings] == ([] if barrier else ["after a tcgen05.ld"])
    assert outcome.status == ("VERIFIED" if barrier else "REFUTED")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (r"kind::f16 \[%r4\], %rd3", r"kind::f16.sp [%r4], %rd3", "no meaning for the opcode"),
        (r"cta_group::1.kind::f16", r"cta_group::2.kind::f16", "no meaning for the opcode tcgen05.mma.cta_group::2"),
        (r"(mov.b32 \s*%r191, )\d+", r"\1 135266576", "bits 7-9 (A) of a kind::f16 instruction descriptor are 2"),
    ],
)
def test_what_has_no_meaning_is_named(old: str, new: str, words: str) -> None:
    outcome = run(old, new)
    assert outcome.status == "UNKNOWN"
    assert any(words in finding.text for finding in outcome.findings), outcome.findings


def test_the_column_behind_the_last_is_out_of_bounds_though_all_are_allocated() -> None:
    machine, _ = bind_instruction("mov.b32 %r1, 0;")
    memory = machine.unit(TensorMemory)
    assert memory.allocate(0, COLUMNS) == 0
    zero = np.zeros(1, np.int64)
    assert memory.inside(zero, zero, zero + COLUMNS - 1, zero).all()
    assert not memory.inside(zero, zero, zero + COLUMNS, zero).any()
    assert not memory.inside(zero, zero + LANES, zero, zero).any()
