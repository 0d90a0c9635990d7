# SPDX-License-Identifier: Apache-2.0
"""What a finding says: an element that differs, which term of the claim is missing, one line for each cause."""

from __future__ import annotations

import pytest

from tests.verify.kernel.test_check import ADD, ADDED, CLAIM, HEAD, PRODUCT, SHARED, TURNED, run_once, run_sum
from tests.verify.kernel.test_lanes import tell
from verify.core.errors import SpecError, UsageError
from verify.kernel.check import LaunchOutcome
from verify.kernel.verdict import case

BLEND = {"claim": "C[i] = alpha * A[i] + beta * C[i]", "scalars": {"alpha": 3, "beta": 0.25}}
OLD = "ld.global.f32 %f4, [%d7]; mov.f32 %f5, 0f40400000; mov.f32 %f6, 0f3E800000; mul.f32 %f3, %f1, %f5;\n"
# A (16x8) row-major, B (n, k): one element a register; lane = 4 * group + t.
TF32 = (
    PRODUCT[: PRODUCT.index("mad.lo.s32 %r4")]
    + """mad.lo.s32 %r4, %r2, 8, %r3; mul.wide.u32 %d4, %r4, 4; add.s64 %d5, %d1, %d4; add.s64 %d6, %d2, %d4;
ld.global.b32 %r10, [%d5]; ld.global.b32 %r11, [%d5+256]; ld.global.b32 %r12, [%d5+16]; ld.global.b32 %r13, [%d5+272];
ld.global.b32 %r14, [%d6]; ld.global.b32 %r15, [%d6+16]; shl.b32 %r5, %r3, 1;
"""
    + PRODUCT[PRODUCT.index("mov.f32 %f5, 0f00000000") :].replace("k16.row.col.f32.f16.f16", "k8.row.col.f32.tf32.tf32")
)
BETA = "fma.rn.f32 %f3, %f4, %f6, %f3;"


def texts(outcome: LaunchOutcome, kind: str) -> list[str]:
    """The texts of the findings of a kind."""
    return [each.text for each in outcome.findings if each.kind == kind]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (OLD, "the term beta*C[i] is missing"),
        (OLD + BETA + BETA, "the term beta*C[i] is added twice"),
        (OLD + f"mul.f32 %f6, %f6, %f6; {BETA}", "beta is applied twice"),
        (OLD + "add.f32 %f3, %f3, %f4;", "beta is not applied"),
        (OLD.replace("mul.f32 %f3, %f1, %f5;", "mul.f32 %f3, %f1, %f5; mul.f32 %f3, %f3, %f5; ") + BETA,
         "alpha is applied twice"),
        (OLD + "neg.f32 %f4, %f4; " + BETA, "the term beta*C[i] has the other sign"),
    ],
)  # fmt: skip
def test_a_change_of_the_claim_that_gives_the_result_is_named(body: str, words: str) -> None:
    assert run_sum(OLD + BETA, **BLEND).status == "VERIFIED"
    outcome = run_sum(body, **BLEND)
    assert outcome.status == "REFUTED" and texts(outcome, "another formula") == [
        f"{words}: that gives all wrong elements"
    ]


def test_a_wrong_element_that_is_no_change_of_the_claim_names_none() -> None:
    outcome = run_sum(OLD + "fma.rn.f32 %f3, %f4, %f2, %f3;", **BLEND)
    assert (
        outcome.status == "REFUTED" and not texts(outcome, "another formula") and not texts(outcome, "tile elsewhere")
    )


def test_a_change_that_leaves_an_index_without_a_sum_is_no_change() -> None:
    """Terms of a sum over k are left out where there is an exponential, and one of them is in no sum."""
    outcome = run_sum("mov.f32 %f3, %f1;", "C[i] = exp(A[i]) * rcp(sum_k exp(B[k]))")
    assert outcome.status == "REFUTED" and not texts(outcome, "another formula")


def test_a_tile_that_is_stored_elsewhere_is_named_with_its_cta() -> None:
    """CTA (x, y) takes the rows of y and the columns of x; it stores them the other way round."""
    text = ADD.replace("mul.wide.u32 %d4, %r1, 4;", """mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ctaid.y;
and.b32 %r4, %r1, 3;
shr.u32 %r5, %r1, 2; mad.lo.u32 %r6, %r3, 4, %r5; mad.lo.u32 %r7, %r2, 4, %r4; mad.lo.u32 %r8, %r6, 8, %r7;
mul.wide.u32 %d4, %r8, 4; mad.lo.u32 %r6, ROW, 4, %r5; mad.lo.u32 %r7, COL, 4, %r4; mad.lo.u32 %r8, %r6, 8, %r7;
mul.wide.u32 %d9, %r8, 4;""").replace("add.s64 %d7, %d3, %d4;", "add.s64 %d7, %d3, %d9;")  # fmt: skip
    text = text.replace("BODY", "add.f32 %f3, %f1, %f2;")
    arrays = {name: {"dims": "mn", "type": "f32", "strides": [8, 1], "out": name == "C"} for name in "ABC"}
    claim = {**ADDED, "grid": [2, 2], "block": 16, "sizes": {"M": 8, "N": 8}, "claim": "C[m,n] = A[m,n] + B[m,n]"}
    right = run_once(text.replace("ROW", "%r3").replace("COL", "%r2"), {**claim, "arrays": arrays})
    assert right.status == "VERIFIED"
    outcome = run_once(text.replace("ROW", "%r2").replace("COL", "%r3"), {**claim, "arrays": arrays})
    assert texts(outcome, "tile elsewhere") == [
        "CTA (1,0) stores the tile of C that belongs at (0,1) at (1,0), in tiles of 4x4"
    ]


def test_one_wrong_element_is_no_tile() -> None:
    """Thread 5 stores what belongs to element 4: a value that stands elsewhere by itself isn't a tile that moved."""
    text = ADD.replace("BODY", "add.f32 %f3, %f1, %f2; shfl.sync.up.b32 %f4, %f3, 1, 0, -1; mov.u32 %r2, %tid.x;\n"
                       "setp.eq.u32 %p1, %r2, 5; selp.f32 %f3, %f4, %f3, %p1;")  # fmt: skip
    outcome = run_once(text, ADDED)
    assert outcome.status == "REFUTED" and texts(outcome, "wrong element") and not texts(outcome, "tile elsewhere")


def test_the_example_is_an_element_whose_number_differs() -> None:
    """2 A and A + B are the same number where A and B happen to be equal on the sample."""
    for seed in (15, 19):
        outcome = run_once(ADD.replace("BODY", "add.f32 %f3, %f1, %f1;"), ADDED, seed=seed)
        (text,) = texts(outcome, "wrong element")
        got, wanted = text.partition(" is ")[2].partition(" on the sample")[0].split(", and should be ")
        assert got != wanted, text


def test_an_address_below_an_array_is_a_negative_byte_of_it() -> None:
    outcome = run_sum("ld.global.f32 %f4, [%d2+-16]; add.f32 %f3, %f1, %f2; mov.f32 %f5, %f4;".replace("+-", "-"),
                  arrays={**ADDED["arrays"], "B": {"dims": "i", "type": "f32", "offset": 0}})  # fmt: skip
    assert "B[-4] of 64" in tell(outcome), tell(outcome)
    local = ADD.replace(HEAD, f"{HEAD}.local .align 4 .b8 depot[16];\n").replace(
        "BODY", "mov.u64 %d9, depot; ld.local.f32 %f4, [%d9-16]; add.f32 %f3, %f1, %f2;"
    )
    assert "byte -16 of local memory" in tell(run_once(local, ADDED)), tell(run_once(local, ADDED))


def test_one_cause_at_several_lines_is_one_line() -> None:
    body = "cvt.rn.f16.f32 %h1, %f1;\ncvt.f32.f16 %f4, %h1;\nadd.f32 %f3, %f4, %f2;\n"
    again = body + "cvt.rn.f16.f32 %h1, %f3;\ncvt.f32.f16 %f4, %h1;\nadd.f32 %f3, %f4, %f4;\nsub.f32 %f3, %f3, %f4;\n"
    outcome = run_sum(again)
    verdict = next(each for each in case(outcome, "", False, "").verdicts if each.claim.prop.key == "precision")
    assert 'if the claim says accumulate = "f16"' in str(verdict)
    unknown = run_sum("frob.f32 %f3, %f1;\nfrob.f32 %f3, %f2;\nfrob.f32 %f4, %f2;\nblob %r9;\n")
    assert len(unknown.findings) == 4
    verdict = next(each for each in case(unknown, "", False, "").verdicts if each.claim.prop.key == "values")
    assert "frob.f32 %f3, %f1 (also at lines 15, 16)" in str(verdict) and "frob.f32 %f3, %f2" not in str(verdict)
    assert "the opcode blob" in str(verdict)


def test_a_narrowing_to_tf32_names_the_type_that_allows_it() -> None:
    claim = {**CLAIM, "sizes": {"M": 16, "N": 8, "K": 8}}
    arrays = {name: {**CLAIM["arrays"][name], "type": "f32"} for name in "ABC"}  # type: ignore[index]
    outcome = run_once(TF32, {**claim, "arrays": arrays})
    assert [each.kind for each in outcome.findings] == ["narrowing"] * len(outcome.findings) != []
    assert 'if the claim says type = "tf32" of A and B' in tell(outcome)
    allowed = {name: {**CLAIM["arrays"][name], "type": "f32" if name == "C" else "tf32"} for name in "ABC"}  # type: ignore[index]
    assert run_once(TF32, {**claim, "arrays": allowed}).status == "VERIFIED"


def test_races_of_one_cause_are_one_line() -> None:
    """Two reads of what other threads wrote, with no barrier between: the second line is named behind the first."""
    racing = SHARED.replace("bar.sync 0;", "").replace(
        "st.global.f32 [%d7], %f2;", "ld.shared.f32 %f2, [%r5];\nst.global.f32 [%d7], %f2;"
    )
    outcome = run_once(racing, TURNED)
    assert len([each for each in outcome.findings if each.kind == "race: read after write"]) == 2
    verdict = next(each for each in case(outcome, "", False, "").verdicts if each.claim.prop.key == "order")
    assert "line 18: race: read after write" in str(verdict) and "(also at line 19)" in str(verdict)
    assert "line 19: race" not in str(verdict)


EX2 = "ex2.approx.f32 %f4, %f1; mov.f32 %f5, 0f3F800001; "


@pytest.mark.parametrize(
    ("body", "claim", "got", "wanted"),
    [
        (f"{EX2}mul.f32 %f3, %f4, %f5;", "ex2(A[i])", "ex2(A[i=0])*1.0000001", "ex2(A[i=0])"),
        (f"{EX2}mul.f32 %f3, %f1, %f5; ex2.approx.f32 %f3, %f3;", "ex2(a * A[i])", "ex2(A[i=0]*1.0000001)",
         "ex2(1.0000002*A[i=0])"),
        (f"{EX2}fma.rn.f32 %f3, %f4, %f2, %f5; sub.f32 %f3, %f3, %f1;", "ex2(A[i]) * B[i] - (A[i] - 1)",
         "ex2(A[i=0])*B[i=0] + 1.0000001 - A[i=0]", "ex2(A[i=0])*B[i=0] - (A[i=0] - 1)"),
        ("max.f32 %f4, %f1, %f2; ex2.approx.f32 %f3, %f4;", "where(A[i] > B[i], ex2(A[i]), ex2(B[i]))",
         "ex2(max(A[i=0], B[i=0]))", "where(A[i=0] > B[i=0], ex2(A[i=0]), ex2(B[i=0]))"),
    ],
    ids=["a factor", "in a function", "sums", "a choice"],
)  # fmt: skip
def test_functions_that_may_differ_are_shown_with_their_constants(body: str, claim: str, got: str, wanted: str) -> None:
    outcome = run_sum(body, f"C[i] = {claim}", scalars={"a": 1.0000002})
    assert outcome.status == "UNKNOWN", tell(outcome)
    assert texts(outcome, "functions") == [
        "C[i=0] and 63 others are functions that were not shown to be equal or different: the kernel computes "
        f"{got}, and the claim is {wanted}"
    ]


def test_a_long_function_is_cut() -> None:
    """The sum of an mma: its first and its last product; a chain of sums: its last terms."""
    each = "".join(f"ex2.approx.f32 %f{number}, %f{number}; " for number in range(1, 5))
    powers = PRODUCT.replace("st.global.v2.f32 [%d8],", f"{each}st.global.v2.f32 [%d8],")
    claim = {**CLAIM, "claim": "C[m,n] = ex2(1.0000001 * sum_k A[m,k]*B[n,k])"}
    (text,) = texts(run_once(powers, claim), "functions")
    assert "computes ex2(A[m=0,k=0]*B[n=0,k=0] + … + A[m=0,k=15]*B[n=0,k=15])" in text, text
    assert text.endswith("the claim is ex2(1.0000001*(sum_k A[m=0,k]*B[n=0,k]))")
    chain = "mov.f32 %f4, %f2; " + "fma.rn.f32 %f4, %f1, %f2, %f4; " * 100 + "tanh.approx.f32 %f3, %f4;"
    (text,) = texts(run_sum(chain, "C[i] = tanh(100.00001 * A[i] * B[i] + B[i])"), "functions")
    assert "tanh(A[i=0]*B[i=0] + " in text and "…" in text and len(text) < 300, text


def test_a_number_of_a_claim_is_what_a_kernel_holds() -> None:
    """0.1 is no f32: the kernel has the nearest one."""
    body = "mul.f32 %f3, %f1, 0f3DCCCCCD;"
    for keys in ({"claim": "C[i] = 0.1 * A[i]"}, {"claim": "C[i] = a * A[i]", "scalars": {"a": 0.1}}):
        assert run_sum(body, **keys).status == "VERIFIED"
        assert run_sum(body.replace("CCCD", "CCCC"), **keys).status == "REFUTED"
    double = {"arrays": {name: {"dims": "i", "type": "f64", "out": name == "C"} for name in "ABC"}}
    text = ADD.replace("%r1, 4", "%r1, 8").replace(".f32", ".f64").replace("%f", "%q").replace(
        ".reg .b32", ".reg .f64 %q<9>; .reg .b32").replace(".f64 %q<20>", ".f32 %f<20>")  # fmt: skip
    text = text.replace("BODY", "mul.f64 %q3, %q1, 0d3FB999999999999A;")
    assert run_once(text, {**ADDED, **double, "claim": "C[i] = 0.1 * A[i]"}).status == "VERIFIED"
    with pytest.raises(SpecError, match="too large for f32"):
        run_sum(body, claim="C[i] = 1e39 * A[i]")


@pytest.mark.parametrize(
    ("relation", "compare"), [(">=", "lt"), ("<=", "gt"), (">", "le"), ("<", "ge")]
)  # the kernel takes B where it does not hold
def test_where_has_four_relations(relation: str, compare: str) -> None:
    body = f"setp.{compare}.f32 %p1, %f1, %f2; add.f32 %f4, %f1, %f1; selp.f32 %f3, %f2, %f4, %p1;"
    right = f"C[i] = where(A[i] {relation} B[i], 2 * A[i], B[i])"
    assert run_sum(body, right).status == "VERIFIED"
    opposite = {">=": "<", "<=": ">", ">": "<=", "<": ">="}[relation]
    assert run_sum(body, f"C[i] = where(A[i] {opposite} B[i], 2 * A[i], B[i])").status == "REFUTED"


@pytest.mark.parametrize(
    "text", ["where(A[i] > B[i] > C[i], A[i])", "where(A[i], B[i] > A[i], B[i])", "max(A[i] > B[i])"]
)
def test_a_relation_stands_between_the_first_two_arguments_of_where(text: str) -> None:
    with pytest.raises(SpecError, match="expected"):
        run_sum("add.f32 %f3, %f1, %f2;", f"C[i] = {text}")


def test_what_cannot_be_is_one_line() -> None:
    local = ADD.replace(HEAD, f"{HEAD}.local .align 4 .b8 depot[1000000000];\n").replace(
        "BODY", "add.f32 %f3, %f1, %f2;"
    )
    with pytest.raises(UsageError, match="depot has 1000000000 bytes, a thread 524288 of local memory"):
        run_once(local, ADDED)
    with pytest.raises(SpecError, match="an empty list"):
        run_sum("add.f32 %f3, %f1, %f2;", sizes=[])
    shared = ADD.replace(HEAD, f"{HEAD}.shared .align 4 .b8 depot[1000000000];\n").replace(
        "BODY", "add.f32 %f3, %f1, %f2;"
    )
    assert run_once(shared, ADDED).status == "UNKNOWN"
