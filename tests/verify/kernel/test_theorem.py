# SPDX-License-Identifier: Apache-2.0
"""Proofs for all sizes of one kernel, and of wrong ones that default sizes accept: none of these is proved."""

from __future__ import annotations

import pytest

from tests.verify.kernel import plain, small
from verify.core.errors import SpecError
from verify.kernel.check import check
from verify.kernel.claims.claim import claim_of
from verify.kernel.sizes.forms import NotLifted
from verify.kernel.sizes.theorem import Theorem, prove

SEED = 3
QUICK = ("offset_24_bits",)  # refused before the loop; the others are too slow for every run
DEFAULT_SIZES_REFUTE = {"through_shared_memory", "columns_too_many"}


@pytest.fixture(scope="module")
def theorem() -> Theorem:
    return prove(plain.PTX, plain.claim(), seed=SEED)


@pytest.mark.long
def test_a_kernel_is_proved_for_all_sizes(theorem: Theorem) -> None:
    """Three stages, of which one lies in registers: the period is 2."""
    assert (theorem.first, theorem.period, theorem.alone) == (1, 2, 3)
    assert theorem.runs == 1 + 1 + 2 + 3 + 1 and theorem.empty == ""  # the last for K = 0
    assert 0 < theorem.proved <= theorem.asked
    assert theorem.checked > 1000 and theorem.loads > 100 and theorem.bound < 1e-9


@pytest.mark.long
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in plain.TWINS]
)
def test_no_wrong_kernel_is_proved(name: str) -> None:
    with pytest.raises(NotLifted):
        prove(plain.twin(name), plain.claim(), seed=SEED)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in plain.TWINS if name not in DEFAULT_SIZES_REFUTE])
def test_default_sizes_accept_these_wrong_kernels(name: str) -> None:
    assert {outcome.status for outcome in check(plain.twin(name), claim_of(plain.claim()), seed=SEED)} == {"VERIFIED"}


@pytest.mark.slow
def test_alignment_that_is_not_given_is_not_assumed() -> None:
    """Without N % 16 the columns of B are not aligned for 16 bytes at once, or their mask is wrong."""
    with pytest.raises(NotLifted):
        prove(plain.PTX, plain.claim([condition for condition in plain.GIVEN if condition[0] != "N"]), seed=SEED)


@pytest.mark.long
@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (["M < 100"], "is false at the sample"),
        (["X % 16 == 0"], "no size is named 'X'"),
        (["M < X"], "no size is named 'X'"),
        (["M + 1"], "one comparison"),
        (["M % 0 == 0"], "a divisor from 1"),
        (["M % 16 == 1"], "expected < <= > >= or NAME % NUMBER == 0"),
    ],
)
def test_what_is_given_must_be_about_sizes_and_true_of_the_sample(given: list[str], problem: str) -> None:
    with pytest.raises(SpecError, match=problem):
        prove(plain.PTX, plain.claim([*plain.GIVEN, *given]), seed=SEED)


@pytest.mark.parametrize(
    ("key", "held", "problem"),
    [
        ("smem", "K*512", "shared memory whose size depends on sizes"),
        ("block", ["M"], "a block that depends on sizes"),
        ("grid", ["cdiv(M,64)*cdiv(N,64)", 1, 1], "no CTA of the sample stores"),
        ("claim", "C[m,n] = sum_k exp(A[m,k])*B[k,n]", "ex2 in a claim"),
        (
            "params",
            [{"struct": "Q", "values": ["A"]}, *plain.claim()["params"][1:]],
            "has no meaning for all sizes yet",
        ),
    ],
)
def test_what_has_no_proof_yet_is_refused_by_name(key: str, held: object, problem: str) -> None:
    with pytest.raises((NotLifted, SpecError), match=problem):
        prove(plain.PTX, {**plain.claim(), key: held}, seed=SEED)


WGMMA = [f"{name} % 64 == 0" for name in ("M", "N", "K", "lda", "ldb", "ldc")]


@pytest.mark.slow
def test_a_kernel_with_wgmma_is_proved_in_whole_tiles() -> None:
    ptx = (plain.COMPILED / "wgmma.ptx").read_text(encoding="utf-8")
    theorem = prove(ptx, plain.claim(WGMMA, "wgmma"), seed=SEED)
    assert (theorem.period, theorem.alone) == (1, 3)


@pytest.mark.long
@pytest.mark.parametrize(
    ("given", "wait", "why"),
    [
        (WGMMA, "1", "wgmma on its way at the sample"),
        ([condition for condition in WGMMA if condition[0] != "M"], "0", "leave the rest of M out"),
    ],
)
def test_wgmma_that_nobody_waits_for_and_parts_of_tiles_are_not_proved(given: list[str], wait: str, why: str) -> None:
    ptx = (plain.COMPILED / "wgmma.ptx").read_text(encoding="utf-8")
    old = "wgmma.wait_group.sync.aligned 0;"
    assert old in ptx
    with pytest.raises(NotLifted, match=why):
        prove(ptx.replace(old, old.replace("0;", f"{wait};")), plain.claim(given, "wgmma"), seed=SEED)


@pytest.mark.slow
def test_a_pipeline_that_divides_its_trips_by_a_constant_is_proved() -> None:
    """Its stage is the trip modulo 3, by a multiplication; its trips are a quotient that no form of K is."""
    ptx = (plain.COMPILED / "pipeline_3.ptx").read_text(encoding="utf-8")
    theorem = prove(ptx, plain.claim(("K % 8 == 0", "lda % 8 == 0", "ldb % 8 == 0"), "pipeline_3"), seed=SEED)
    assert theorem.period == 3
    wrong = ptx.replace("%rd206, %r978, -1431655765;", "%rd206, %r978, -1431633920;")  # wrong from trip 2^17 on
    with pytest.raises(NotLifted):
        prove(wrong, plain.claim(("K % 8 == 0", "lda % 8 == 0", "ldb % 8 == 0"), "pipeline_3"), seed=SEED)


@pytest.mark.long
@pytest.mark.parametrize(
    ("missing", "said"), [("lda", "lda % 8 == 0"), ("ldb", "ldb % 8 == 0"), ("ldc", "ldc % 4 == 0")]
)
def test_the_divisor_that_an_aligned_access_needs_is_proposed(missing: str, said: str) -> None:
    with pytest.raises(NotLifted, match=rf"not aligned at all sizes \(`given` may say {said}\)"):
        prove(
            plain.PTX,
            plain.claim([condition for condition in plain.GIVEN if not condition.startswith(missing)]),
            seed=SEED,
        )


def test_an_access_of_a_part_of_an_element_ends_a_proof() -> None:
    """It is aligned to elements, and half as wide as one."""
    load = "@%p1 ld.global.f32 %f2, [%rd5];"
    assert small.PTX.count(load) == 1
    half = small.PTX.replace(load, f"mov.b16 %h1, 0;\n\t@%p1 ld.global.b16 %h1, [%rd5];\n\t{load}")
    half = half.replace(".reg .pred %p<20>;", ".reg .pred %p<20>; .reg .b16 %h<2>;")
    with pytest.raises(NotLifted, match="an access of parts of elements of A"):
        prove(half, small.claim(), seed=SEED)


COLUMNS = "setp.lt.s32 %p2, %r15, %r2;"


@pytest.mark.long
@pytest.mark.parametrize(("bits", "by"), [(1, 2), (2, 4)])
def test_the_divisor_with_which_a_mask_is_the_bounds_is_proposed(bits: int, by: int) -> None:
    """A mask of whole pairs or fours of columns is right if N is a multiple of these."""
    assert small.PTX.count(COLUMNS) == 1
    ptx = small.PTX.replace(COLUMNS, f"and.b32 %r40, %r15, {-1 << bits};\n\tsetp.lt.s32 %p2, %r40, %r2;")
    with pytest.raises(NotLifted, match=rf"another mask than its bounds \(`given` may say N % {by} == 0\)"):
        prove(ptx, small.claim(), seed=SEED)
    assert prove(ptx, small.claim(given=[f"N % {by} == 0"]), seed=SEED).period == 1
    (outcome,) = check(ptx, claim_of(small.claim(sizes={"M": 4, "N": 9, "K": 2})), seed=SEED)
    assert outcome.status == "REFUTED"


def test_no_divisor_is_proposed_where_none_makes_a_mask_right() -> None:
    ptx = small.PTX.replace(COLUMNS, f"add.s32 %r40, %r2, -8;\n\t{COLUMNS.replace('%r2;', '%r40;')}")
    with pytest.raises(NotLifted, match="another mask than its bounds: "):
        prove(ptx, small.claim(), seed=SEED)


@pytest.mark.slow
def test_what_triton_knew_of_a_size_is_proposed() -> None:
    """It masks 16 rows at once where M was said to be a multiple of 16."""
    given = ["K % 8 == 0", *plain.GIVEN[1:]]
    ptx = (plain.COMPILED / "triton_90.ptx").read_text(encoding="utf-8")
    with pytest.raises(NotLifted, match=r"`given` may say M % 16 == 0"):
        prove(ptx, plain.claim(given, "triton_90"), seed=SEED)
