# SPDX-License-Identifier: Apache-2.0
"""Grids with the tiles of two indices on one axis: which tile a CTA has is proved, and that each has one CTA."""

from __future__ import annotations

import pytest

from tests.verify.kernel import grouped, plain, small
from verify.kernel.check import check
from verify.kernel.claims.claim import claim_of
from verify.kernel.sizes import tiles
from verify.kernel.sizes.forms import NotLifted
from verify.kernel.sizes.theorem import Theorem, prove
from verify.kernel.sizes.verdict import LiftedKernel, lift

SEED = 3


@pytest.fixture(scope="module")
def theorem() -> Theorem:
    return prove(grouped.kernel(), grouped.claim(), seed=SEED)


@pytest.mark.long
def test_grouped_ids_are_proved_and_every_question_has_a_certificate(theorem: Theorem) -> None:
    assert theorem.statement.cta == (3, 0, 0)  # of 3 x 3 tiles, the second row of the first group, second column
    row, column = (str(theorem.statement.tiles[index]) for index in "mn")
    assert column.startswith("[") and column.endswith("min2]") and "[M+3]//4" in column and "[N+7]//8" in column
    assert "2*[cx]//[2*[N+7]//8]" in row
    assert 0 < theorem.proved < theorem.asked


@pytest.mark.long
@pytest.mark.parametrize(("ids", "tile"), [(grouped.ROWS, "[cx]//[[N+7]//8]"), (grouped.COLUMNS, "[cx]//[[M+3]//4]")])
def test_tiles_in_rows_and_in_columns_are_proved(ids: str, tile: str) -> None:
    tiles = prove(grouped.kernel(ids), grouped.claim(), seed=SEED).statement.tiles
    assert tile in {str(form) for form in tiles.values()}


@pytest.mark.long
def test_the_report_prints_the_grid_and_the_tile_of_a_cta() -> None:
    def never(table: object) -> str:
        raise AssertionError(table)

    case = lift(LiftedKernel(grouped.kernel(grouped.ROWS), grouped.claim(), "small", "", "", SEED), never, never)
    assert case.all_sizes is not None
    grid, launch = case.all_sizes["grid"], "cdiv(M, 4) * cdiv(N, 8) CTAs of 32 threads"
    assert grid.startswith(f"{launch}; CTA x has m from 4*([x]//[[N+7]//8]), n from 8*(")
    assert "CTAs in x < 2**31" in case.all_sizes["preconditions"]


@pytest.mark.long
@pytest.mark.parametrize("name", grouped.TWINS)
def test_no_wrong_kernel_is_proved(name: str) -> None:
    with pytest.raises(NotLifted, match=grouped.TWINS[name]["refused"]):
        prove(grouped.twin(name), grouped.claim(), seed=SEED)


@pytest.mark.long
@pytest.mark.parametrize("name", grouped.TWINS)
def test_default_sizes_accept_most_of_these(name: str) -> None:
    statuses = {outcome.status for outcome in check(grouped.twin(name), claim_of(grouped.claim()), seed=SEED)}
    assert (statuses == {"VERIFIED"}) == ("default_sizes_refute" not in grouped.TWINS[name])


@pytest.mark.long
@pytest.mark.parametrize(
    ("lemma", "name"), [("_check_distinct", "group_of_three"), ("_check_inside", "tiles_beyond_the_end")]
)
def test_each_lemma_is_what_refuses_a_wrong_kernel(lemma: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two CTAs of one tile, and a tile that no CTA has, are seen by nothing else."""
    monkeypatch.setattr(tiles, lemma, lambda *given: None)
    assert prove(grouped.twin(name), grouped.claim(), seed=SEED).period == 1


@pytest.mark.parametrize(
    ("grid", "problem"),
    [
        (["cdiv(M,4)*cdiv(N,8)*2", 1, 1], "the grid"),
        (["cdiv(M,4)*cdiv(M,4)", 1, 1], "the grid"),
        (["cdiv(M,4)", "cdiv(N,8)", 3], "split-K"),
        (["cdiv(M,4)*cdiv(K,8)", "cdiv(N,8)", 1], "isn't a size of the output|one axis for several"),
    ],
)
def test_grids_without_a_meaning_are_refused_by_name(grid: list[object], problem: str) -> None:
    with pytest.raises(NotLifted, match=problem):
        prove(small.PTX, small.claim(grid=grid), seed=SEED)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "more"), [("triton_ragged", []), ("triton_f16", ["M % 16 == 0"])])
def test_grouped_ids_of_triton_are_proved(name: str, more: list[str]) -> None:
    given = [*more, "K % 8 == 0", *(f"{each} % 16 == 0" for each in ("N", "lda", "ldb", "ldc"))]
    ptx = (plain.COMPILED / f"{name}.ptx").read_text(encoding="utf-8")
    theorem = prove(ptx, plain.claim(given, name), seed=SEED)
    assert "min2" in str(theorem.statement.tiles["m"]) and theorem.statement.shares_axis
