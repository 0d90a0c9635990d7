# SPDX-License-Identifier: Apache-2.0
"""Proofs for all sizes of a small kernel, and of wrong ones: each was proved once, or differs in one thing alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.verify.kernel import small
from verify.kernel.check import check
from verify.kernel.claims.claim import claim_of
from verify.kernel.command import main
from verify.kernel.report import verify_kernel
from verify.kernel.sizes.forms import NotLifted
from verify.kernel.sizes.theorem import prove
from verify.report import Report, as_github, as_html, as_junit, as_sarif, as_text

SEED = 3
LAST = "@%p7 st.global.f32 [%rd21], %f1;"
ADDS = "mov.b32 %f40, 0f00000000;\n @%p7 ld.global.f32 %f40, [%rd21];\n add.f32 %f1, %f1, %f40;\n " + LAST
INSIDE = "@!%p7 bra $end;\n ld.global.f32 %f40, [%rd21];\n add.f32 %f1, %f1, %f40;\n st.global.f32 [%rd21], %f1;\n$end:"
RELU = "max.f32 %f1, %f1, 0f00000000;\n " + LAST
SUM = "sum_k A[m,k]*B[k,n]"
ABS, MIN = (f"{line}\n {LAST}" for line in ("abs.f32 %f1, %f1;", "min.f32 %f1, %f1, 0f00000000;"))


@pytest.mark.long
@pytest.mark.parametrize(
    ("ends", "claimed"),
    [(ADDS, f"{SUM} + C[m,n]"), (INSIDE, f"{SUM} + C[m,n]"), (RELU, f"relu({SUM})")],
)
def test_what_is_done_with_the_sum_is_proved(ends: str, claimed: str) -> None:
    theorem = prove(small.PTX.replace(LAST, ends), small.claim(claim=f"C[m,n] = {claimed}"), seed=SEED)
    assert theorem.period == 1


@pytest.mark.long
@pytest.mark.parametrize(
    ("ends", "claimed", "why"),
    [
        (ADDS, SUM, "another value"),
        (
            ADDS.replace("[%rd21];\n add", "[%rd21+32];\n add"),
            f"{SUM} + C[m,n]",
            "another mask than its bounds|outside of the CTA",
        ),
        (INSIDE.replace("bra $end;\n", "bra $end;\n add.s64 %rd21, %rd21, 32;\n"), f"{SUM} + C[m,n]", "C"),
        (LAST, f"relu({SUM})", "another value"),
        (RELU, SUM, "another value"),
        (LAST, "sum_k relu(A[m,k]*B[k,n])", "relu in a claim has no meaning"),
    ],
)
def test_another_end_is_not_proved(ends: str, claimed: str, why: str) -> None:
    with pytest.raises(NotLifted, match=why):
        prove(small.PTX.replace(LAST, ends), small.claim(claim=f"C[m,n] = {claimed}"), seed=SEED)


THROUGH_SHARED = """mov.u32 %r40, pool;
 shl.b32 %r41, %r7, 2;
 add.s32 %r41, %r40, %r41;
 st.shared.f32 [%r41], %f1;
 bar.warp.sync -1;
 @!%p7 bra $end;
 ld.shared.f32 %f40, [%r41];
 st.global.f32 [%rd21], %f40;
$end:"""


@pytest.mark.long
def test_a_masked_end_through_shared_memory_is_proved() -> None:
    assert prove(small.PTX.replace(LAST, THROUGH_SHARED), small.claim(), seed=SEED).period == 1


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("%f40, [%r41]", "%f40, [%r40]", "another value"),
        (
            "st.global.f32 [%rd21], %f40;\n$end:",
            "$end:\n @%p7 st.global.f32 [%rd21], %f40;",
            "only a part of the threads",
        ),
        (" ld.shared", " st.shared.f32 [%r41], %f1;\n ld.shared", "writes under a mask that sizes decide"),
    ],
)
def test_what_a_masked_end_reads_is_its_own_and_ends_with_it(old: str, new: str, why: str) -> None:
    assert old in THROUGH_SHARED
    with pytest.raises(NotLifted, match=why):
        prove(small.PTX.replace(LAST, THROUGH_SHARED.replace(old, new)), small.claim(), seed=SEED)


POSITIVE = "setp.gt.f32 %p10, %f1, 0f00000000;\n selp.f32 %f1, 0f3F800000, 0f00000000, %p10;\n " + LAST


@pytest.mark.long
def test_where_of_the_sum_is_proved_and_its_opposite_is_not() -> None:
    ends = small.PTX.replace(LAST, POSITIVE)
    assert prove(ends, small.claim(claim=f"C[m,n] = where({SUM} > 0, 1, 0)"), seed=SEED).period == 1
    for condition in (f"{SUM} >= 0, 1, 0", f"{SUM} > 0, 0, 1"):
        with pytest.raises(NotLifted, match="another value"):
            prove(ends, small.claim(claim=f"C[m,n] = where({condition})"), seed=SEED)


@pytest.mark.slow
@pytest.mark.parametrize(("ends", "claimed"), [(ABS, f"abs({SUM})"), (MIN, f"min({SUM}, 0)")], ids=["abs", "min"])
def test_abs_and_min_of_the_sum_are_proved_and_max_is_neither(ends: str, claimed: str) -> None:
    table = small.claim(claim=f"C[m,n] = {claimed}")
    assert prove(small.PTX.replace(LAST, ends), table, seed=SEED).period == 1
    with pytest.raises(NotLifted, match="another value"):
        prove(small.PTX.replace(LAST, RELU), table, seed=SEED)


@pytest.mark.long
def test_a_loop_of_plain_loads_is_proved_for_all_sizes_without_a_divisor() -> None:
    theorem = prove(small.PTX, small.claim(), seed=SEED)
    assert (theorem.first, theorem.period, theorem.alone) == (1, 1, 3)


BEHIND = "\tadd.s64 %rd5, %rd1, %rd4;"


@pytest.mark.long
@pytest.mark.parametrize(
    ("offset", "wrong"), [("-12", "-8"), ("+-12", "+-8"), ("+18446744073709551604", "+18446744073709551608")]
)
def test_an_offset_below_zero_is_proved_and_another_is_not(offset: str, wrong: str) -> None:
    """The pointer of A is 16 bytes ahead."""
    ahead = small.PTX.replace(BEHIND, f"{BEHIND}\n\tadd.s64 %rd5, %rd5, 16;").replace("%f2, [%rd5]", "%f2, [%rd5-16]")
    assert ahead.count("[%rd5+4]") == 1 and ahead.count("[%rd5-16]") == 1
    assert prove(ahead.replace("[%rd5+4]", f"[%rd5{offset}]"), small.claim(), seed=SEED).period == 1
    with pytest.raises(NotLifted):
        prove(ahead.replace("[%rd5+4]", f"[%rd5{wrong}]"), small.claim(), seed=SEED)


@pytest.mark.long
@pytest.mark.parametrize("name", small.TWINS)
def test_no_wrong_kernel_is_proved(name: str) -> None:
    with pytest.raises(NotLifted, match=small.TWINS[name]["refused"]):
        prove(small.twin(name), small.claim(), seed=SEED)


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name, twin in small.TWINS.items() if "default_sizes_refute" not in twin])
def test_default_sizes_accept_these_wrong_kernels(name: str) -> None:
    assert {outcome.status for outcome in check(small.twin(name), claim_of(small.claim()), seed=SEED)} == {"VERIFIED"}


WRONG_AT_SIZES = [name for name, twin in small.TWINS.items() if "refuted" in twin]
QUICK = ("rows_of_6_bits", "tail_dropped_late")


@pytest.mark.long
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in WRONG_AT_SIZES]
)
def test_sizes_that_z3_names_refute_and_the_claim_file_replays_it(name: str, tmp_path: Path) -> None:
    kernel = tmp_path / "small.ptx"
    kernel.write_text(small.twin(name), encoding="utf-8")
    at_defaults, whole = verify_kernel(str(kernel), small.claim(), sizes="all", seed=SEED).cases[::3]
    assert at_defaults.status == "VERIFIED" and whole.all_sizes is not None
    assert whole.all_sizes["lifted"] == "refuted"
    claim = tmp_path / "again.toml"
    claim.write_text(whole.all_sizes["claim"], encoding="utf-8")
    again = verify_kernel(str(kernel), str(claim), seed=SEED)
    assert [case.status for case in again.cases] == ["REFUTED"]


@pytest.fixture(scope="module")
def not_lifted(tmp_path_factory: pytest.TempPathFactory) -> Report:
    kernel = tmp_path_factory.mktemp("kernel") / "small.ptx"
    kernel.write_text(small.twin("zero_at_the_sample"), encoding="utf-8")
    return verify_kernel(str(kernel), small.claim(sizes={"M": 5, "N": 9, "K": 3}), sizes="all", seed=SEED)


@pytest.mark.long
def test_a_report_has_the_theorem(tmp_path: Path) -> None:
    kernel = tmp_path / "small.ptx"
    kernel.write_text(small.PTX, encoding="utf-8")
    *at_sizes, whole = verify_kernel(
        str(kernel), small.claim(sizes={"M": 5, "N": 9, "K": 3}), sizes="all", seed=SEED
    ).cases
    fields = whole.all_sizes
    assert fields is not None and fields["lifted"] == "yes" and {case.status for case in at_sizes} == {"VERIFIED"}
    assert whole.headline == "PROVED FOR ALL SIZES" and fields["period"] == 1
    assert {"theorem", "preconditions", "grid", "trips", "masks", "obligations"} <= fields.keys()
    assert "(M + 8)*lda + K + 8 < 2**31" in fields["preconditions"]
    assert "PROVED FOR ALL SIZES" in whole.text()


@pytest.mark.long
def test_a_report_has_the_reason_why_there_is_no_theorem(not_lifted: Report) -> None:
    *at_sizes, whole = not_lifted.cases
    fields = whole.all_sizes
    assert fields is not None and fields["lifted"] == "no"
    assert {case.status for case in at_sizes} == {"VERIFIED"}  # which the other verdict doesn't weaken
    assert whole.headline == "NOT LIFTED" and fields["line"] == 59
    assert "does not hold 0" in fields["step"] and "K" in fields["form"]
    with pytest.raises(AssertionError, match="NOT LIFTED"):  # what pytest prints
        not_lifted.check()


@pytest.mark.parametrize("name", ["text", "html", "junit", "sarif", "github"])
def test_every_format_says_not_lifted_beside_what_was_verified(name: str, not_lifted: Report) -> None:
    render = {
        "text": as_text.render, "html": as_html.render, "junit": as_junit.render, "sarif": as_sarif.render,
        "github": as_github.render,
    }[name]  # fmt: skip
    said = " ".join(render(not_lifted).split())
    assert "NOT LIFTED" in said and "line 59" in said and "all M, N, K" in said
    assert "all M, N, K &gt;= 1 UNKNOWN" not in said and "all M, N, K >= 1 UNKNOWN" not in said


@pytest.mark.long
def test_sizes_that_refute_are_written_as_a_claim(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    again = tmp_path / "again.toml"
    files = _write_kernel(tmp_path, "tail_dropped_late")
    assert main([*files, "--write-claim", str(again)]) == 1
    assert "--write-claim" in capsys.readouterr().out
    assert main([files[0], "--claim", str(again)]) == 1


def test_without_a_claim_for_all_sizes_none_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    again = tmp_path / "again.toml"
    files = _write_kernel(tmp_path, "zero_at_the_sample", sizes="{ M = 5, N = 9, K = 3 }")
    assert main([*files, "--write-claim", str(again)]) == 2
    assert "--for-all" in capsys.readouterr().err and not again.exists()


@pytest.mark.slow
def test_no_claim_is_written_where_no_sizes_are_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    again = tmp_path / "again.toml"
    assert main([*_write_kernel(tmp_path, "zero_at_the_sample"), "--write-claim", str(again)]) == 4
    assert "not written" in capsys.readouterr().err and not again.exists()


def _write_kernel(folder: Path, name: str, sizes: str = '[{ M = 5, N = 9, K = 3 }, "all"]') -> list[str]:
    """Write a wrong kernel and its claim; the words of the command that verifies it."""
    kernel, claim = folder / "small.ptx", folder / "small.toml"
    kernel.write_text(small.twin(name), encoding="utf-8")
    claim.write_text(small.CLAIM.replace('"all"', sizes), encoding="utf-8")
    return [str(kernel), "--claim", str(claim), "--seed", str(SEED)]
