# SPDX-License-Identifier: Apache-2.0
"""Whole kernels, right and wrong: one warp multiplies by mma.sync, threads add and compare, and bugs are planted."""

from collections.abc import Callable
from itertools import product

import pytest

import isa_tables
from tests.messages import OUT_OF_BOUNDS, WRITE_AFTER_READ
from verify.core.errors import SpecError, UsageError
from verify.kernel.check import LaunchOutcome, check
from verify.kernel.claims.claim import claim_of
from verify.kernel.state.findings import Severity

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc)\n{\n"
REGISTERS = ".reg .pred %p<4>; .reg .b16 %h<9>; .reg .b32 %r<30>; .reg .f32 %f<20>; .reg .b64 %d<20>;\n"
POINTERS = "ld.param.u64 %d1, [pa];\nld.param.u64 %d2, [pb];\nld.param.u64 %d3, [pc];\nmov.u32 %r1, %tid.x;\n"
OPERANDS = "{%f1,%f2,%f3,%f4}, {%r10,%r11,%r12,%r13}, {%r14,%r15}, {%f5,%f6,%f7,%f8};\n"
MMA = f"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {OPERANDS}"
# A (16x16) row-major, B column-major (n, k): 32-bit loads of two elements; lane = 4 * group + t.
PRODUCT = f"""{HEAD}{REGISTERS}{POINTERS}
shr.u32 %r2, %r1, 2; and.b32 %r3, %r1, 3;
mad.lo.s32 %r4, %r2, 16, 0; shl.b32 %r5, %r3, 1; add.s32 %r4, %r4, %r5;
mul.wide.u32 %d4, %r4, 2; add.s64 %d5, %d1, %d4; add.s64 %d6, %d2, %d4;
ld.global.b32 %r10, [%d5];
ld.global.b32 %r11, [%d5+256];
ld.global.b32 %r12, [%d5+16];
ld.global.b32 %r13, [%d5+272];
ld.global.b32 %r14, [%d6];
ld.global.b32 %r15, [%d6+16];
mov.f32 %f5, 0f00000000; mov.f32 %f6, %f5; mov.f32 %f7, %f5; mov.f32 %f8, %f5;
{MMA}
mad.lo.s32 %r6, %r2, 8, %r5; mul.wide.u32 %d7, %r6, 4; add.s64 %d8, %d3, %d7;
st.global.v2.f32 [%d8], {{%f1, %f2}};
st.global.v2.f32 [%d8+256], {{%f3, %f4}};
ret;
}}
"""
CLAIM = {
    "grid": 1,
    "block": 32,
    "sizes": {"M": 16, "N": 8, "K": 16},
    "claim": "C[m,n] = sum_k A[m,k]*B[n,k]",
    "params": ["A", "B", "C"],
    "arrays": {
        "A": {"dims": "mk", "type": "f16", "strides": ["K", 1]},
        "B": {"dims": "nk", "type": "f16", "strides": ["K", 1]},
        "C": {"dims": "mn", "type": "f32", "strides": ["N", 1], "out": True},
    },
}
# One thread for each of 64 elements: x, y and what is made of them.
ADD = f"""{HEAD}{REGISTERS}{POINTERS}
mul.wide.u32 %d4, %r1, 4; add.s64 %d5, %d1, %d4; add.s64 %d6, %d2, %d4; add.s64 %d7, %d3, %d4;
ld.global.f32 %f1, [%d5]; ld.global.f32 %f2, [%d6];
BODY
st.global.f32 [%d7], %f3;
ret;
}}
"""
ADDED = {
    **CLAIM,
    "block": 64,
    "sizes": {"I": 64},
    "claim": "C[i] = A[i] + B[i]",
    "arrays": {name: {"dims": "i", "type": "f32", "out": name == "C"} for name in "ABC"},
}


def run_once(ptx: str, claim: dict = CLAIM, **options: object) -> LaunchOutcome:
    (outcome,) = check(ptx, claim_of(claim), **options)
    return outcome


def run_sum(body: str, claim: str = ADDED["claim"], **keys: object) -> LaunchOutcome:
    return run_once(ADD.replace("BODY", body), {**ADDED, "claim": claim, **keys})


def test_an_index_that_leaves_an_array_by_one_element_is_refused() -> None:
    with pytest.raises(SpecError, match=r"the index i\+1 of A leaves its 64 values"):
        run_sum("add.f32 %f3, %f1, %f2;", "C[i] = A[i+1] + B[i]")
    arrays = {**ADDED["arrays"], "A": {"dims": "j", "type": "f32"}}
    outcome = run_sum("add.f32 %f3, %f1, %f2;", "C[i] = A[i+1] + B[i]", sizes={"I": 64, "J": 65}, arrays=arrays)
    assert outcome.status == "REFUTED"  # it adds A[i]


def test_a_product_is_verified() -> None:
    outcome = run_once(PRODUCT)
    assert (outcome.status, outcome.findings, outcome.compared) == ("VERIFIED", (), 128)
    assert 0 < outcome.bound < 2**-60 and not outcome.never_ran
    assert (outcome.output["C"] == outcome.expected["C"]).all() and outcome.output["C"].any()


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("ld.global.b32 %r11, [%d5+256]", "ld.global.b32 %r11, [%d5+16]"),
        ("{%r14,%r15}", "{%r15,%r14}"),
        ("{%r10,%r11,%r12,%r13}", "{%r10,%r12,%r11,%r13}"),
        ("st.global.v2.f32 [%d8+256]", "st.global.v2.f32 [%d8]"),
        ("and.b32 %r3, %r1, 3", "and.b32 %r3, %r1, 1"),
        ("{%f3, %f4}", "{%f4, %f3}"),
        ("mul.wide.u32 %d7, %r6, 4", "mul.wide.u32 %d7, %r6, 8"),
    ],
)
def test_a_planted_bug_is_refuted(right: str, wrong: str) -> None:
    assert PRODUCT.count(right) == 1
    assert run_once(PRODUCT.replace(right, wrong)).status == "REFUTED"


def test_the_first_cause_is_named_by_lane_and_register() -> None:
    outcome = run_once(PRODUCT.replace("{%r14,%r15}", "{%r15,%r14}"), seed=1)  # in which C[0,0] differs on the sample
    kinds = {each.kind: each for each in outcome.findings}
    assert (
        "lane 0, B register 0 low half holds B[n=0,k=8]; the instruction wants B[n=0,k=0]"
        in kinds["wrong operand"].text
    )
    assert "it multiplies A[m=0,k=0] by B[n=0,k=8]" in kinds["wrong sum"].text
    assert outcome.cause is not None and outcome.cause.decided
    a, b = outcome.cause.operands
    assert a.holds == a.wants and (b.holds[0][0], b.wants[0][0]) == ("B[n=0,k=8]", "B[n=0,k=0]")


@pytest.mark.parametrize(
    ("right", "wrong", "moved"),
    [
        ("{%r10,%r11,%r12,%r13}", "{%r10,%r12,%r11,%r13}", lambda m, k: (k // 8 != m // 8, (m + 8) % 16, (k + 8) % 16)),
        ("ld.global.b32 %r11, [%d5+256]", "ld.global.b32 %r11, [%d5]", lambda m, k: (m > 7 > k - 1, m - 8, k)),
    ],
    ids=["two registers exchanged", "a register of other rows"],
)
def test_each_slot_of_a_wrong_operand_has_what_it_holds_and_what_the_isa_wants(
    right: str, wrong: str, moved: Callable[[int, int], tuple[bool, int, int]]
) -> None:
    outcome = run_once(PRODUCT.replace(right, wrong))
    assert outcome.cause is not None and outcome.cause.decided
    a, b = outcome.cause.operands
    fragment = isa_tables.instruction(MMA.split(maxsplit=1)[0]).operands["A"]
    for m, k in product(range(16), range(16)):
        differs, row, column = moved(m, k)
        assert a.wants[m][k] == f"A[m={m},k={k}]"
        assert a.holds[m][k] == (f"A[m={row},k={column}]" if differs else a.wants[m][k])
        assert fragment.locate(*a.slots[m][k]) == (m, k)
    assert b.holds == b.wants


def test_a_slot_with_an_element_of_the_other_array_wants_one_of_its_own() -> None:
    outcome = run_once(PRODUCT.replace("ld.global.b32 %r11, [%d5+256]", "ld.global.b32 %r11, [%d6]"))
    assert outcome.cause is not None and outcome.cause.decided
    a, _ = outcome.cause.operands
    assert (a.holds[9][3], a.wants[9][3]) == ("B[n=1,k=3]", "A[m=9,k=3]")
    (text,) = [each.text for each in outcome.findings if each.kind == "wrong operand"]
    assert "A register 1 low half holds B[n=0,k=0]; the instruction wants A[m=8,k=0]" in text
    assert text.endswith("out of place: 64 elements of A")


def test_where_nothing_decides_both_operands_are_named() -> None:
    shifted = PRODUCT.replace("[%d6]", "[%d6+64]").replace("[%d6+16]", "[%d6+80]").replace('"K": 16', "")
    shifted = shifted.replace("mad.lo.s32 %r4, %r2, 16, 0", "mad.lo.s32 %r4, %r2, 32, 0").replace("256]", "512]", 2)
    wide = {**CLAIM, "sizes": {"M": 16, "N": 8, "K": 32}}
    shifted = shifted.replace("[%d6+64]", "[%d6+32]").replace("[%d6+80]", "[%d6+48]").replace("272]", "528]")
    outcome = run_once(shifted, wide)
    (text,) = [each.text for each in outcome.findings if each.kind == "wrong operand"]
    assert ": A holds k = 0..15, B k = 16..31; one of them is loaded from the wrong k" in text
    assert text.endswith("out of place: 256 elements of A or 128 elements of B")
    assert outcome.cause is not None and not outcome.cause.decided
    a, b = outcome.cause.operands
    assert (a.holds[3][4], a.wants[3][4], b.holds[4][3], b.wants[4][3]) == (
        "A[m=3,k=4]", "A[m=3,k=20]", "B[n=3,k=20]", "B[n=3,k=4]",
    )  # fmt: skip


def test_missing_terms_are_named() -> None:
    wide = {**CLAIM, "sizes": {"M": 16, "N": 8, "K": 32}}
    half = PRODUCT.replace("mad.lo.s32 %r4, %r2, 16, 0", "mad.lo.s32 %r4, %r2, 32, 0")
    half = half.replace("[%d5+256]", "[%d5+512]").replace("[%d5+272]", "[%d5+528]")
    (text,) = [each.text for each in run_once(half, wide, seed=1).findings if each.kind == "wrong sum"]
    assert text == "C[m=0,n=0] lacks k = 16..31; the sum has 32 terms"
    twice = PRODUCT.replace(MMA, MMA + MMA.replace("%f5,%f6,%f7,%f8", "%f1,%f2,%f3,%f4"))
    (text,) = [each.text for each in run_once(twice, seed=1).findings if each.kind == "wrong sum"]
    assert "has k = 0..15 twice" in text


def test_a_seed_repeats_a_run_and_another_one_draws_other_primes() -> None:
    first, again, reseeded = (run_once(PRODUCT, seed=seed) for seed in (7, 7, 8))
    assert (first.output["C"] == again.output["C"]).all() and (first.output["C"] != reseeded.output["C"]).any()
    assert run_once(PRODUCT).seed != run_once(PRODUCT).seed


def test_a_factor_that_is_one_modulo_known_primes_is_refuted() -> None:
    """1 + 2147483647 * 2147483629 as a sum and product of constants isn't an identity at random primes."""
    factor = "mov.f64 %d9, 0d41DFFFFFFFC00000; mov.f64 %d10, 0d41DFFFFFFB400000;\n"
    body = factor + "cvt.rn.f32.f64 %f4, %d9; mul.f32 %f4, %f4, %f1; cvt.rn.f32.f64 %f5, %d10;\n"
    assert run_sum(body + "fma.rn.f32 %f1, %f4, %f5, %f1; add.f32 %f3, %f1, %f2;").status == "REFUTED"


def test_a_narrowing_on_the_way_is_a_finding_with_its_line() -> None:
    body = "cvt.rn.f16.f32 %h1, %f1; cvt.f32.f16 %f4, %h1; add.f32 %f3, %f4, %f2;"
    outcome = run_sum(body)
    assert [(finding.severity, finding.kind) for finding in outcome.findings] == [(Severity.PRECISION, "narrowing")]
    assert outcome.status == "REFUTED" and outcome.findings[0].line > 0
    assert run_sum(body, narrow=["f16"]).status == "VERIFIED"


def test_a_conversion_by_moves_is_a_conversion() -> None:
    """bf16 is the upper half of f32: `mov.b32 {0, h}` widens."""
    arrays = {**ADDED["arrays"], "A": {"dims": "i", "type": "bf16"}}
    load = "mul.wide.u32 %d8, %r1, 2; add.s64 %d8, %d1, %d8; ld.global.b16 %h1, [%d8]; mov.b16 %h2, 0;\n"
    outcome = run_once(
        ADD.replace("ld.global.f32 %f1, [%d5];", load).replace(
            "BODY", "mov.b32 %r9, {%h2, %h1}; mov.b32 %f1, %r9; add.f32 %f3, %f1, %f2;"
        ),
        {**ADDED, "arrays": arrays},
    )
    assert outcome.status == "VERIFIED"


def test_activations_are_choices() -> None:
    relu = "C[i] = relu(A[i] + B[i])"
    compare = "add.f32 %f4, %f1, %f2; setp.gt.f32 %p1, %f4, 0f00000000; selp.f32 %f3, %f4, 0f00000000, %p1;"
    assert run_sum("add.f32 %f4, %f1, %f2; max.f32 %f3, %f4, 0f00000000;", relu).status == "VERIFIED"
    assert run_sum(compare, relu).status == "VERIFIED"
    assert run_sum(compare.replace(".gt", ".lt"), relu).status == "REFUTED"
    assert run_sum("max.f32 %f3, %f1, %f2;", "C[i] = max(B[i], A[i])").status == "VERIFIED"
    assert run_sum("max.f32 %f3, %f1, %f2;", "C[i] = min(B[i], A[i])").status == "REFUTED"


def test_what_has_no_meaning_is_listed_before_anything_runs() -> None:
    outcome = run_sum("frob.f32 %f3, %f1; lop3.b32 %r9, %r9, %r9, %r9, 3; blob %r9;")
    assert outcome.status == "UNKNOWN" and outcome.steps == 0
    assert [finding.kind for finding in outcome.findings] == ["no meaning"] * 2
    assert "frob.f32" in outcome.findings[0].text and outcome.findings[0].line < outcome.findings[1].line + 1


def test_data_whose_bits_are_cut_is_unknown_and_never_refuted() -> None:
    outcome = run_sum("mov.b32 %r9, %f1; shr.u32 %r9, %r9, 3; mov.b32 %f4, %r9; add.f32 %f3, %f4, %f2;")
    assert outcome.status == "UNKNOWN"
    assert {finding.severity for finding in outcome.findings} == {Severity.UNKNOWN} and outcome.findings[0].line > 0


def test_a_parameter_that_is_read_and_not_given_is_no_zero() -> None:
    words = "bytes 0 to 7, which the claim does not give; the PTX reads parameters 0, 1, 2"
    for given in (["A", "B"], ["A", "B", {"unused": True}]):
        with pytest.raises(SpecError, match=words) as error:
            run_once(PRODUCT, {**CLAIM, "params": given})
        assert error.value.key == "params[2]"


@pytest.mark.parametrize(("size", "kinds"), [(16, set()), (8, set()), (0, set()), (17, {"size of a copy"})])
def test_a_copy_takes_no_more_bytes_than_it_writes(size: int, kinds: set[str]) -> None:
    """With 17 for 16 an H200 wrote other elements than with 16, in each of 32 runs of five kernels."""
    text = PRODUCT.replace(".entry k(", ".shared .align 16 .b8 buf[512];\n.entry k(").replace(
        "ret;",
        f"mov.u32 %r20, buf; shl.b32 %r21, %r1, 4; add.s32 %r20, %r20, %r21; and.b64 %d9, %d5, -16; "
        f"mov.u32 %r22, {size};"
        "cp.async.cg.shared.global [%r20], [%d9], 16, %r22; cp.async.wait_all; ret;",
    )
    assert {each.kind for each in run_once(text).findings} == kinds


def test_a_kernel_with_less_shared_memory_than_it_takes_is_refuted() -> None:
    """Also with none at all, and by a copy that is wider than what there is."""
    text = PRODUCT.replace(".entry k(", ".extern .shared .b8 buf[];\n.entry k(").replace(
        "ret;", "mov.u32 %r20, buf; cp.async.cg.shared.global [%r20], [%d5], 16; cp.async.wait_all; ret;"
    )
    assert {each.kind for each in run_once(text).findings} >= {"shared memory out of bounds"}


SHARED = f""".version 8.0
.target sm_80
.shared .align 16 .b8 buf[256];
{HEAD.split("64" + chr(10), 1)[1]}{REGISTERS}{POINTERS}
mul.wide.u32 %d4, %r1, 4; add.s64 %d5, %d1, %d4; add.s64 %d7, %d3, %d4;
ld.global.f32 %f1, [%d5];
shl.b32 %r2, %r1, 2; mov.u32 %r3, buf; add.s32 %r4, %r3, %r2;
st.shared.f32 [%r4], %f1;
bar.sync 0;
xor.b32 %r5, %r2, 252; add.s32 %r5, %r3, %r5;
ld.shared.f32 %f2, [%r5];
st.global.f32 [%d7], %f2;
ret;
}}
"""
TURNED = {**ADDED, "claim": "C[i] = A[i]", "params": ["A", "B", "C"]}


def test_shared_memory_is_ordered_by_a_barrier() -> None:
    right = run_once(SHARED, TURNED)
    assert {f.kind for f in right.findings} == {"wrong element"}  # in the other order: the claim is of A[i]
    racing = run_once(SHARED.replace("bar.sync 0;", ""), TURNED)
    assert "race: read after write" in {f.kind for f in racing.findings}
    within = run_once(SHARED.replace("bar.sync 0;", "bar.warp.sync 0xffffffff;").replace("252", "124"), TURNED)
    assert not [f for f in within.findings if f.severity is Severity.RACE]


def test_threads_that_wait_for_ever_are_reported() -> None:
    stuck = SHARED.replace("bar.sync 0;", "setp.lt.u32 %p1, %r1, 32; @%p1 bra $S; bar.sync 1; $S: bar.sync 0;")
    assert "stuck threads" in {f.kind for f in run_once(stuck, TURNED).findings}


def test_an_access_outside_is_named_by_its_element() -> None:
    outcome = run_sum("ld.global.f32 %f4, [%d5+256]; add.f32 %f3, %f1, %f2;")
    (bounds,) = [f for f in outcome.findings if f.kind == OUT_OF_BOUNDS]
    assert "A[64] of 64" in bounds.text and outcome.status == "REFUTED"


@pytest.mark.parametrize(
    "ptx", ["", "garbage", HEAD, PRODUCT[:-30], PRODUCT.replace("%r10", "%q10"), "\0\0", "{" * 999]
)
def test_ptx_that_cannot_be_read_is_one_line(ptx: str) -> None:
    with pytest.raises(UsageError, match=r"line \d+") as caught:
        run_once(ptx)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("key", "value", "named"),
    [
        ("claim", "C[m,n] = sum_k A[m,k]*X[n,k]", "X"),
        ("claim", "C[m,n] = = 3", "column"),
        ("claim", "C[m,n] = beta * A[m,n]", "beta"),
        ("params", ["A", "Q", "C"], "Q"),
        ("grid", "cdiv(Z, 3)", "Z"),
        ("sizes", {"M": 16, "N": 8}, "k"),
        ("colour", 1, "colour"),
        ("arrays", {**CLAIM["arrays"], "C": {**CLAIM["arrays"]["C"], "strides": [-8, 1]}}, "strides from 0 up"),
        ("arrays", {**CLAIM["arrays"], "C": {**CLAIM["arrays"]["C"], "strides": [8, -1]}}, "strides from 0 up"),
    ],
)
def test_a_wrong_claim_names_its_key(key: str, value: object, named: str) -> None:
    with pytest.raises(SpecError, match=named):
        run_once(PRODUCT, {**CLAIM, key: value})


CALLED = """.func (.param .b32 out) twice(.param .b32 x)
{
.reg .f32 %f<4>; .reg .pred %p<2>;
ld.param.f32 %f1, [x];
setp.eq.s32 %p1, 0, 1;
@%p1 ret;
add.f32 %f2, %f1, %f1;
st.param.f32 [out], %f2;
ret;
}
"""


def test_a_call_is_its_functions_body() -> None:
    call = "{ .param .b32 a; .param .b32 r; st.param.f32 [a], %f1; call.uni (r), twice, (a); ld.param.f32 %f4, [r]; }\n"
    text = ADD.replace(".entry", CALLED + ".entry", 1).replace(".visible ", "")
    right = text.replace("BODY", call + "add.f32 %f3, %f4, %f2;")
    doubled = {**ADDED, "claim": "C[i] = 2 * A[i] + B[i]"}
    assert run_once(right, doubled).status == "VERIFIED" and run_once(right, ADDED).status == "REFUTED"
    with pytest.raises(UsageError, match="within each other"):
        run_once(right.replace("ld.param.f32 %f1, [x];", "call.uni (out), twice, (x);"), doubled)


def test_a_choice_of_three_and_a_sum_of_bias_are_read() -> None:
    assert run_sum("fma.rn.f32 %f3, %f1, %f2, %f1;", "C[i] = A[i] * B[i] + A[i]").status == "VERIFIED"
    text = "C[i] = where(A[i] > B[i], 2 * A[i], B[i])"
    body = "add.f32 %f4, %f1, %f1; setp.gt.f32 %p1, %f1, %f2; selp.f32 %f3, %f4, %f2, %p1;"
    assert run_sum(body, text).status == "VERIFIED"
    assert run_sum(body.replace("%f4, %f2, %p1", "%f2, %f4, %p1"), text).status == "REFUTED"


def test_an_output_that_another_cta_reads_before_it_is_written_is_a_race() -> None:
    """CTA 0 reads what CTA 1 writes later: the value is right in this order alone."""
    body = """mov.u32 %r2, %ctaid.x; mul.wide.u32 %d8, %r2, 128; add.s64 %d7, %d7, %d8; sub.s64 %d9, %d7, %d8;
sub.s64 %d9, %d9, %d8; add.s64 %d9, %d9, 128; ld.global.f32 %f4, [%d9]; mul.f32 %f4, %f4, 0f00000000;
add.s64 %d5, %d5, %d8; ld.global.f32 %f1, [%d5]; add.s64 %d6, %d6, %d8; ld.global.f32 %f2, [%d6];
add.f32 %f3, %f1, %f2; fma.rn.f32 %f3, %f4, %f1, %f3;"""
    outcome = run_sum(body, grid=2, block=32)
    assert WRITE_AFTER_READ in {each.kind for each in outcome.findings}
    own = run_sum(body.replace("ld.global.f32 %f4, [%d9]", "ld.global.f32 %f4, [%d7]"), grid=2, block=32)
    assert own.status == "VERIFIED"


def test_threads_that_part_have_conditions_each() -> None:
    """Half of the threads compare with B, half with 0: one form of comparison, two conditions."""
    body = """setp.lt.u32 %p1, %r1, 32;
setp.gt.f32 %p2, %f1, %f2; @%p1 setp.gt.f32 %p2, %f1, 0f00000000; selp.f32 %f3, %f1, %f2, %p2;"""
    lower, upper = "where(A[i] > 0, A[i], B[i])", "where(A[i] > B[i], A[i], B[i])"
    assert run_sum(body, f"C[i] = {lower}").status == "REFUTED" and run_sum(body, f"C[i] = {upper}").status == "REFUTED"
    arrays = {name: {"dims": "i", "type": "f32", "out": name == "C"} for name in "ABC"}
    halves = {"sizes": {"I": 32}, "block": 32, "arrays": arrays}
    assert run_sum(body, f"C[i] = {lower}", **halves).status == "VERIFIED"


def test_a_product_with_too_few_registers_has_no_meaning() -> None:
    outcome = run_once(PRODUCT.replace("{%r14,%r15}", "{%r14}"))
    assert outcome.status == "UNKNOWN" and "B has 1 registers, not 2" in outcome.findings[0].text


def test_the_result_of_one_product_is_an_operand_of_the_next() -> None:
    """D = (A B) E: accumulators of the first product are, in pairs, the registers of A of the second."""
    head = HEAD.replace(".u64 pc)", ".u64 pc, .param .u64 pe)")
    chained = PRODUCT.replace(HEAD, head).replace(
        "mad.lo.s32 %r6, %r2, 8, %r5;",
        """cvt.rn.f16x2.f32 %r16, %f2, %f1; cvt.rn.f16x2.f32 %r17, %f4, %f3;
ld.param.u64 %d9, [pe]; mad.lo.s32 %r18, %r2, 8, %r5; mul.wide.u32 %d10, %r18, 2; add.s64 %d9, %d9, %d10;
ld.global.b32 %r19, [%d9];
mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r16,%r17}, {%r19}, {%f5,%f6,%f7,%f8};
mad.lo.s32 %r6, %r2, 8, %r5;""",
    )
    claim = {
        **CLAIM,
        "sizes": {"M": 16, "N": 8, "K": 16, "P": 8},
        "claim": "C[m,p] = sum_n (sum_k A[m,k]*B[n,k]) * E[p,n]",
        "params": ["A", "B", "C", "E"],
        "arrays": {
            **{name: CLAIM["arrays"][name] for name in "AB"},  # type: ignore[index]
            "C": {"dims": "mp", "type": "f32", "strides": ["P", 1], "out": True},
            "E": {"dims": "pn", "type": "f16", "strides": ["N", 1]},
        },
    }
    assert {each.severity for each in run_once(chained, claim).findings} == {Severity.PRECISION}
    claim["narrow"] = ["f16"]
    assert run_once(chained, claim).status == "VERIFIED"
    swapped = chained.replace("{%r16,%r17}", "{%r17,%r16}")
    assert run_once(swapped, claim).status == "REFUTED"


def test_a_claim_that_hides_a_kind_of_error_is_noted() -> None:
    from verify.kernel.verdict import case

    notes = " ".join(case(run_once(PRODUCT), "", False, "").notes)
    assert "one CTA" in notes and "A and B have the same strides" in notes


def test_a_shuffle_of_half_a_warp_waits_for_that_half_alone() -> None:
    """The lower lanes of each warp exchange their values while the upper ones are elsewhere."""
    body = """and.b32 %r2, %r1, 31; setp.lt.u32 %p1, %r2, 16; mov.f32 %f3, %f1; mov.b32 %r9, %f1;
@!%p1 bra $E;
shfl.sync.bfly.b32 %r9, %r9, 1, 31, 0xffff; mov.b32 %f3, %r9;
$E: add.f32 %f3, %f3, %f2;"""
    outcome = run_sum(body)
    assert "stuck threads" not in {each.kind for each in outcome.findings}
    assert (outcome.output["C"][16:32] == outcome.expected["C"][16:32]).all() and outcome.status == "REFUTED"
    back = "shfl.sync.bfly.b32 %r9, %r9, 1, 31, 0xffff; mov.b32 %f3, %r9;"
    assert run_sum(body.replace(back, f"shfl.sync.bfly.b32 %r9, %r9, 1, 31, 0xffff; {back}")).status == "VERIFIED"
    idle = body.replace("bfly.b32 %r9, %r9, 1,", "bfly.b32 %r9, %r9, 16,")
    assert "value from nowhere" in {each.kind for each in run_sum(idle).findings}


def test_the_inverse_of_a_number_is_a_number() -> None:
    text = "mov.f32 %f4, 0f40400000; rcp.rn.f32 %f5, %f4; rcp.rn.f32 %f6, %f5; div.rn.f32 %f7, %f1, %f6; "
    assert run_sum(text + "fma.rn.f32 %f3, %f7, %f6, %f2;").status == "VERIFIED"
    assert run_sum("mov.f32 %f4, 0f40400000; div.rn.f32 %f3, %f1, %f4;", "C[i] = A[i] / 3").status == "VERIFIED"
