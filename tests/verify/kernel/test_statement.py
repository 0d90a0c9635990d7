# SPDX-License-Identifier: Apache-2.0
"""Each precondition of a theorem is needed: without it the kernel isn't proved, and where it is false it is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from tests.verify.kernel import plain, small
from verify.core.errors import SpecError
from verify.kernel.check import check
from verify.kernel.claims.claim import claim_of
from verify.kernel.sizes.forms import NotLifted
from verify.kernel.sizes.refute import find_sizes
from verify.kernel.sizes.region import times, total
from verify.kernel.sizes.statement import AllSizes, state
from verify.kernel.sizes.theorem import prove

SEED = 3
LAST = "@%p7 st.global.f32 [%rd21], %f1;"
WRAPS = {"lda": {"M": 12, "N": 8, "K": 4}, "ldb": {"M": 4, "N": 8, "K": 12}, "ldc": {"M": 12, "N": 8, "K": 4}}


@pytest.mark.long
@pytest.mark.parametrize("number", range(3))
def test_without_the_bound_of_a_product_of_sizes_nothing_is_proved(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    preconditions, implied = AllSizes.preconditions, AllSizes.implied_facts

    def leave_out(facts: list[Any]) -> list[Any]:
        return facts[:number] + facts[number + 1 :]

    monkeypatch.setattr(AllSizes, "preconditions", lambda self: leave_out(preconditions(self)))
    monkeypatch.setattr(AllSizes, "implied_facts", lambda self, empty: leave_out(implied(self, empty)))
    with pytest.raises(NotLifted, match="not shown to lie within s32"):
        prove(small.PTX, small.claim(), seed=SEED)


@pytest.mark.parametrize("stride", ["lda", "ldc"])
def test_where_a_product_wraps_the_kernel_is_wrong(stride: str) -> None:
    """Rows 2^28 and more elements apart: the last begins beyond 2^31."""
    statement = state(small.claim())
    sizes = {**WRAPS[stride], "lda": 16, "ldb": 16, "ldc": 16, stride: 1 << 28}
    (outcome,) = check(small.PTX, statement.launch(sizes), seed=SEED)
    assert outcome.status == "REFUTED"


@pytest.mark.parametrize("stride", ["lda", "ldb", "ldc"])
def test_a_stride_may_not_be_less_than_its_row(stride: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without that precondition nothing is proved; a launch that breaks it has no meaning, as rows overlap."""
    rows = AllSizes.rows_of_strides
    facts = AllSizes.facts

    def leave_out(self: AllSizes, empty: bool) -> list[Any]:
        least = total(self.size(stride).thread(0), times(self.size(rows(self)[stride]).thread(0), -1))
        return [fact for fact in facts(self, empty) if fact != least]

    sizes = {"M": 12, "N": 16, "K": 6, "lda": 16, "ldb": 16, "ldc": 16, stride: 4}
    with pytest.raises(SpecError, match=r"two elements of . have the same place"):
        state(small.claim()).launch(sizes)
    monkeypatch.setattr(AllSizes, "facts", leave_out)
    with pytest.raises(NotLifted, match=f"the stride {stride} of .*than a row|{stride} is not shown to be at least 0"):
        prove(small.PTX, small.claim(), seed=SEED)


@pytest.mark.parametrize("grid", [["cdiv(M,8)", "cdiv(N,8)", 1], ["cdiv(M,4)", "N//8", 1]])
def test_another_grid_than_the_launch_has_is_neither_proved_nor_right(grid: list[str]) -> None:
    """Tiles of eight rows are half empty; N // 8 leaves the last columns out."""
    table = small.claim(grid=grid)
    with pytest.raises(NotLifted, match=r"sums are in no register|leave the rest of N out"):
        prove(small.PTX, table, seed=SEED)
    (outcome,) = check(small.PTX, claim_of({**table, "sizes": {"M": 12, "N": 17, "K": 6}}), seed=SEED)
    assert outcome.status == "REFUTED"


def test_an_output_that_is_an_input_is_not_proved() -> None:
    """Arrays are disjoint: what is stored into A is read by other CTAs."""
    with pytest.raises(NotLifted, match="A has other indices in the claim than its dims"):
        prove(small.PTX, small.claim(claim="A[m,n] = sum_k A[m,k]*B[k,n]"), seed=SEED)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["K", "N", "lda", "ldb", "ldc"])
def test_without_a_divisor_the_pipeline_is_not_proved(name: str) -> None:
    given = [condition for condition in plain.GIVEN if not condition.startswith(f"{name} ")]
    with pytest.raises(NotLifted):
        prove(plain.PTX, plain.claim(given), seed=SEED)


@pytest.mark.long
@pytest.mark.parametrize("sizes", [{"K": 44}, {"N": 76}, {"lda": 92}, {"ldb": 100}, {"ldc": 102}])
def test_where_a_divisor_does_not_divide_the_pipeline_is_wrong(sizes: dict[str, int]) -> None:
    held = {"M": 80, "N": 80, "K": 48, "lda": 96, "ldb": 96, "ldc": 96, **sizes}
    with pytest.raises(SpecError, match="does not hold"):
        state(plain.claim()).symbols(held)
    statement = state(plain.claim(()))
    (outcome,) = check(plain.PTX, statement.launch(held), seed=SEED)
    assert outcome.status == "REFUTED"


def test_arrays_begin_at_a_multiple_of_sixteen_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a kernel that accesses 16 bytes at once nothing is proved without it, and a launch that breaks it is wrong."""
    table = plain.claim()
    sizes = {"M": 80, "N": 80, "K": 48, "lda": 96, "ldb": 96, "ldc": 96}
    filled = state(table).fill_in(sizes)
    arrays = {**filled["arrays"], "A": {**filled["arrays"]["A"], "offset": 4}}
    (outcome,) = check(plain.PTX, claim_of({**filled, "arrays": arrays}), seed=SEED)
    assert outcome.status == "REFUTED" and "misaligned" in outcome.findings[0].kind
    monkeypatch.setattr("verify.kernel.sizes.accesses.ALIGN", 8)
    with pytest.raises(NotLifted, match="accesses 16 bytes at once, not aligned at all sizes"):
        prove(plain.PTX, table, seed=SEED)


@pytest.mark.long
def test_numbers_that_a_claim_gives_are_a_precondition() -> None:
    """A kernel with alpha in its text is proved for that alpha, and is wrong for another one."""
    twice = small.PTX.replace(LAST, f"mul.f32 %f1, %f1, 0f40000000;\n {LAST}")
    claim = "C[m,n] = alpha * sum_k A[m,k]*B[k,n]"
    table = small.claim(claim=claim, scalars={"alpha": 2.0})
    assert prove(twice, table, seed=SEED).period == 1
    thrice = {**table, "scalars": {"alpha": 3.0}}
    with pytest.raises(NotLifted, match="another value than the claim's"):
        prove(twice, thrice, seed=SEED)
    (outcome,) = check(twice, claim_of({**thrice, "sizes": {"M": 5, "N": 9, "K": 3}}), seed=SEED)
    assert outcome.status == "REFUTED"


@pytest.mark.long
def test_a_grid_has_at_most_65535_ctas_in_y(monkeypatch: pytest.MonkeyPatch) -> None:
    """A CTA's number in y has 16 bits for that alone; a larger grid can't be launched."""
    old = "mov.u32 %r11, %ctaid.y;"
    ptx = small.PTX.replace(old, f"{old}\n and.b32 %r11, %r11, 65535;")
    assert ptx != small.PTX and prove(ptx, small.claim(), seed=SEED).period == 1
    monkeypatch.setattr("verify.kernel.sizes.statement.MOST_YZ", 1 << 20)
    with pytest.raises(NotLifted, match="and of a form"):
        prove(ptx, small.claim(), seed=SEED)


def named(rows: str, columns: str, stride: str = "lda") -> dict[str, Any]:
    """Return the small kernel's claim with other names for the indices of the output and the stride of A."""
    arrays = {
        "A": {"dims": f"{rows}k", "type": "f32", "strides": [stride, 1]},
        "B": {"dims": f"k{columns}", "type": "f32"},
        "C": {"dims": rows + columns, "type": "f32", "out": True},
    }
    return small.claim(
        claim=f"C[{rows},{columns}] = sum_k A[{rows},k]*B[k,{columns}]", arrays=arrays,
        grid=[f"cdiv({rows.upper()},4)", f"cdiv({columns.upper()},8)", 1],
        params=["A", "B", "C", rows.upper(), columns.upper(), "K", stride, "ldb", "ldc"],
    )  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize(("rows", "columns", "stride"), [("i", "j", "lda"), ("j", "i", "lda"), ("m", "n", "cx")])
def test_a_size_or_stride_may_have_the_name_of_a_symbol_of_proofs(rows: str, columns: str, stride: str) -> None:
    """The numbers of rounds are J and j in a proof, and CTAs have cx: C[i,j] has a size J."""
    theorem = prove(small.PTX, named(rows, columns, stride), seed=SEED)
    assert theorem.statement.names == (rows.upper(), columns.upper(), "K")


def test_a_wrong_kernel_with_such_names_is_refuted_at_sizes_that_it_has() -> None:
    ptx = small.twin("rows_of_6_bits")
    table = named("j", "i")
    with pytest.raises(NotLifted, match="and of a form") as failed:
        prove(ptx, table, seed=SEED)
    sizes = next(find_sizes(failed.value.statement, failed.value))
    assert sizes.keys() == {"J", "I", "K", "lda", "ldb", "ldc"} and sizes["J"] >= 64


@pytest.mark.parametrize("name", ["N", "ldb", "J"])
def test_an_array_has_another_name_than_sizes_and_strides(name: str) -> None:
    table = small.claim(claim=f"C[m,n] = sum_k {name}[m,k]*B[k,n]", params=[name, *small.claim()["params"][1:]])
    table["arrays"] = {name: table["arrays"]["A"], "B": table["arrays"]["B"], "C": table["arrays"]["C"]}
    with pytest.raises(NotLifted, match=f"{name} is an array and a size or stride"):
        prove(small.PTX, table, seed=SEED)


def test_an_output_with_one_index_is_refused_by_name() -> None:
    arrays = {"A": {"dims": "mk", "type": "f32"}, "B": {"dims": "k", "type": "f32"},
              "C": {"dims": "m", "type": "f32", "out": True}}  # fmt: skip
    table = small.claim(claim="C[m] = sum_k A[m,k]*B[k]", arrays=arrays, grid=["cdiv(M,4)", 1, 1],
                        params=["A", "B", "C", "M", "M", "K", "lda", "K", "K"])  # fmt: skip
    with pytest.raises(
        NotLifted, match=r"only an output with two indices, as C.m,n., has a proof for all sizes yet; C has 1"
    ):
        prove(small.PTX, table, seed=SEED)
