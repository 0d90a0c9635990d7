# SPDX-License-Identifier: Apache-2.0
"""Proofs for all sizes of kernels with wmma, integers, or wgmma on its way, and of wrong ones made of them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from tests.verify.kernel import plain
from verify.kernel.check import check
from verify.kernel.claims.claim import claim_of
from verify.kernel.ptx.parse import parse_kernel
from verify.kernel.sizes.forms import NotLifted
from verify.kernel.sizes.runs import LiftedRun
from verify.kernel.sizes.statement import state
from verify.kernel.sizes.theorem import prove
from verify.kernel.sizes.verdict import LiftedKernel, lift

SEED = 3
STRIDES = ("lda % 16 == 0", "ldb % 16 == 0", "ldc % 16 == 0")
WMMA = ("M % 32 == 0", "N % 32 == 0", "K % 16 == 0", *STRIDES)
PIPELINE = ("M % 16 == 0", "K % 8 == 0", "N % 16 == 0", *STRIDES)
FLOATS = ".reg .f32 %xf;\n"


def text(name: str, *edits: tuple[str, str]) -> str:
    """Return the PTX of a kept kernel, some words changed."""
    ptx = (plain.COMPILED / f"{name}.ptx").read_text(encoding="utf-8")
    at = ptx.index("{", ptx.index(")", ptx.index(".entry")))
    ptx = ptx[: at + 1] + plain.ROOM + ptx[at + 1 :]
    for old, new in edits:
        assert ptx.count(old) >= 1, old
        ptx = ptx.replace(old, new, 1)
    return ptx


def verified(ptx: str, table: dict[str, Any]) -> set[str]:
    """Return what is said of a kernel at the default sizes."""
    return {outcome.status for outcome in check(ptx, claim_of({**table, "sizes": "all"}), seed=SEED)}


@pytest.mark.slow
def test_a_kernel_with_wmma_is_proved_in_whole_tiles() -> None:
    theorem = prove(text("wmma_f16"), plain.claim(WMMA, "wmma_f16"), seed=SEED)
    assert (theorem.period, theorem.empty) == (1, "") and theorem.stores == 5 * 8  # of the runs to the end


LATE = "shr.u32 %x1, %r29, 12;\n "  # 0 where K < 4096
WMMA_TWINS = {
    "stride_of_12_bits": (
        ("wmma.store", "and.b32 %r32, %r32, 4095;\n wmma.store"), "and of a form",
    ),
    "address_drifts": (
        ("wmma.store", f"{LATE}shl.b32 %x1, %x1, 4;\n cvt.u64.u32 %z1, %x1;\n add.s64 %rd43, %rd43, %z1;\n wmma.store"),
        "C is at",
    ),
    "another_address_in_each_lane": (
        ("wmma.store", f"{LATE}mul.lo.s32 %x1, %x1, %r225;\n shl.b32 %x1, %x1, 4;\n cvt.u64.u32 %z1, %x1;\n "
                       "add.s64 %rd43, %rd43, %z1;\n wmma.store"),
        "an address that is another in each lane",
    ),
    "another_stride_in_each_lane": (
        ("wmma.store", f"{LATE}mad.lo.s32 %r32, %x1, %r225, %r32;\n wmma.store"), "a stride that is another in each",
    ),
    "sum_cleared_late": (
        ("setp.lt.s32 \t%p14",
         "setp.eq.s32 %y1, %r232, 512;\n selp.f32 %f75, 0f00000000, %f75, %y1;\n setp.lt.s32 \t%p14"),
        "sums are in no register at the loop's head",
    ),
    "matrix_in_shared_memory_drifts": (
        ("wmma.load.a", "shr.u32 %x1, %r232, 10;\n shl.b32 %x1, %x1, 5;\n add.s32 %r4, %r4, %x1;\n wmma.load.a"),
        "which depends on sizes|does not come again|is neither fixed",
    ),
    "stored_by_some": (
        ("wmma.store", "setp.lt.s32 %y1, %r29, 4096;\n @%y1 wmma.store"), "a guard that sizes decide",
    ),
    "not_reached_by_all": (
        ("wmma.store", "setp.gt.s32 %y1, %r29, 4096;\n @%y1 bra $END;\n wmma.store"),
        "comes where sizes decide which threads come",
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", WMMA_TWINS)
def test_no_wrong_kernel_with_wmma_is_proved_and_default_sizes_accept_it(name: str) -> None:
    edit, why = WMMA_TWINS[name]
    ptx = text("wmma_f16", edit, ("\tret;", "$END:\n\tret;"))
    table = plain.claim(WMMA, "wmma_f16")
    with pytest.raises(NotLifted, match=why):
        prove(ptx, table, seed=SEED)
    assert verified(ptx, table) == {"VERIFIED"}


@pytest.mark.slow
def test_the_lines_of_a_matrix_are_aligned_at_all_sizes() -> None:
    """Without the divisor of ldc nothing is proved, and where it doesn't divide a store is misaligned."""
    ptx, table = text("wmma_f16"), plain.claim(WMMA[:-1], "wmma_f16")
    with pytest.raises(NotLifted, match="a stride that isn't a multiple of 16 bytes at all sizes"):
        prove(ptx, table, seed=SEED)
    del table["given"]
    arrays = {name: {**array, "strides": [33 if name == "C" else 32, 1]} for name, array in table["arrays"].items()}
    launch = claim_of({**table, "arrays": arrays, "sizes": {"M": 32, "N": 32, "K": 16}})
    (outcome,) = check(ptx, launch, seed=SEED)
    assert outcome.status == "REFUTED" and "misaligned" in outcome.findings[0].kind


@pytest.mark.slow
def test_a_product_of_integers_is_proved_modulo_the_width_of_its_sums() -> None:
    case = lift(LiftedKernel(text("mma_s8"), plain.claim((), "mma_s8"), "mma", "", "", SEED), lambda table: None, str)
    assert case.all_sizes is not None and case.all_sizes["lifted"] == "yes"
    assert case.all_sizes["domain"].startswith("integers, each sum modulo 2^32")


def as_floats(ptx: str) -> str:
    """Return a kernel that stores its sums of integers as floats: numbers, and not bits modulo 2^32."""
    made, count = re.subn(
        r"st\.global\.u32 \t(\[[^\]]*\]), (%r\d+);", r"cvt.rn.f32.s32 %xf, \2;\n st.global.f32 \1, %xf;", ptx
    )
    assert count == 32
    return made.replace(plain.ROOM, plain.ROOM + FLOATS, 1)


@pytest.mark.slow
@pytest.mark.parametrize("used", ["as_floats", "satfinite"])
def test_sums_of_integers_that_are_used_as_numbers_are_not_proved(used: str) -> None:
    """Short sums lie in s32, and the default sizes are VERIFIED; from K = 2^17 on they may not."""
    ptx, table = text("mma_s8"), plain.claim((), "mma_s8")
    if used == "as_floats":
        ptx, table["arrays"]["C"]["type"] = as_floats(ptx), "f32"
    else:
        ptx = ptx.replace(".row.col.s32", ".row.col.satfinite.s32")
    assert verified(ptx, table) == {"VERIFIED"}
    with pytest.raises(NotLifted, match=r"rest on a value without a meaning|a sum whose history changes"):
        prove(ptx, table, seed=SEED)


@pytest.mark.slow
def test_a_pipeline_whose_wgmma_is_waited_for_a_trip_later_is_proved() -> None:
    theorem = prove(text("triton_90"), plain.claim(PIPELINE, "triton_90"), seed=SEED)
    assert theorem.period == 3


STAGE, BARRIER = "selp.b32 \t%r232, 0, %r129, %p16;", "\tbar.sync \t0;\n\tadd.s32 \t%r113"
PIPELINE_TWINS = {
    "stage_late": (
        STAGE, f"{STAGE}\n setp.gt.s32 %y1, %r230, 511;\n selp.b32 %r232, 0, %r232, %y1;",
    ),
    "stage_read_late": (
        "shl.b32 \t%r122, %r231, 12;",
        "setp.gt.s32 %y1, %r230, 511;\n selp.b32 %r231, 0, %r231, %y1;\n shl.b32 \t%r122, %r231, 12;",
    ),
    "barrier_skipped_late": (BARRIER, BARRIER.replace("bar.sync", "setp.lt.s32 %y1, %r230, 512;\n @%y1 bar.sync")),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", PIPELINE_TWINS)
def test_no_wrong_pipeline_of_wgmma_is_proved(name: str) -> None:
    ptx, table = text("triton_90", PIPELINE_TWINS[name]), plain.claim(PIPELINE, "triton_90")
    with pytest.raises(NotLifted):
        prove(ptx, table, seed=SEED)
    assert verified(ptx, table) == {"VERIFIED"}


@pytest.mark.long
@pytest.mark.parametrize("layout", ["row", "col"])
def test_each_element_of_a_matrix_is_followed_where_its_lane_stores_it(layout: str) -> None:
    """The form of each place, at the sample, is where the interpreter's thread wrote; columns have other places."""
    table = plain.claim(WMMA, "wmma_f16")
    statement = state(table)
    statement.step = 16
    ptx = text("wmma_f16", ("wmma.store.d.sync.aligned.row", f"wmma.store.d.sync.aligned.{layout}"))
    kernel = parse_kernel(ptx, "wmma_product")
    run = LiftedRun(statement, kernel, statement.region(1, statement.numbers(1)), 1, SEED)
    run.to_the_end(-1)
    region = next(candidate for candidate in run.run.regions if candidate.stored is not None)
    assert region.stored is not None and (region.stored.writer >= 0).any()
    wrote = np.where(region.stored.writer >= 0, region.stored.writer % 128, -1)  # threads of the CTA
    for access in run.accesses.stores:
        places = np.broadcast_to(access.offset.value(run.region.sample), run.machine.count).astype(np.int64)
        at = places[access.threads] + region.array.offset * region.size
        assert (wrote[at] == access.threads).all()
        wrote[at[:, None] + np.arange(access.count)] = -1
    assert (wrote < 0).all()  # and nothing else was written
