# SPDX-License-Identifier: Apache-2.0
"""What a claim does not give: sizes, strides and offsets that hide nothing, printed, and what given ones hide."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from tests.verify.kernel.test_check import ADD, PRODUCT, run_once, run_sum
from tests.verify.kernel.test_check import CLAIM as PRODUCT_CLAIM
from verify.core.errors import SpecError
from verify.kernel.check import check
from verify.kernel.claims.claim import claim_of
from verify.kernel.claims.defaults import list_blind_spots
from verify.kernel.claims.launch import Launch

ARRAYS: dict[str, dict[str, Any]] = {
    "A": {"dims": "mk", "type": "f16"},
    "B": {"dims": "kn", "type": "f16"},
    "C": {"dims": "mn", "type": "f32", "out": True},
}
CLAIM: dict[str, Any] = {
    "grid": ["cdiv(M, 64)", "cdiv(N, 32)"],
    "block": 128,
    "claim": "C[m,n] = sum_k A[m,k]*B[k,n]",
    "arrays": ARRAYS,
}


def launches(**keys: Any) -> tuple[Launch, ...]:
    return claim_of({**CLAIM, **keys}).launches


def test_sizes_are_several_ctas_a_deep_loop_one_step_and_a_ragged_edge() -> None:
    assert [dict(launch.sizes) for launch in launches()] == [
        {"M": 128, "N": 96, "K": 384},
        {"M": 128, "N": 96, "K": 64},
        {"M": 112, "N": 80, "K": 368},
    ]
    assert {launch.grid for launch in launches()} == {(2, 3, 1)}
    assert [launch.sizes["K"] for launch in launches(tiles={"K": 32}, stages=2)] == [4 * 32 + 32, 32, 4 * 32 + 32 - 16]
    assert [launch.sizes["K"] for launch in launches(sizes={"M": 1, "N": 1, "K": 1})] == [1]


def test_a_grid_that_does_not_round_up_gets_no_ragged_edge() -> None:
    chosen = launches(grid=["M // 64", "N // 32"])
    assert [dict(launch.sizes) for launch in chosen] == [{"M": 128, "N": 96, "K": 384}, {"M": 128, "N": 96, "K": 64}]


def test_sizes_are_all_different_also_where_tiles_are_alike() -> None:
    for launch in launches(grid="cdiv(M, 128)*cdiv(N, 64)", tiles={"K": 192}):
        assert len(set(launch.sizes.values())) == 3 and launch.grid[0] >= 4


@pytest.mark.parametrize(
    ("keys", "key"),
    [
        ({"grid": 4}, "sizes"),
        ({"tiles": {"Q": 4}}, "tiles.Q"),
        ({"tiles": {"K": 0}}, "tiles"),
        ({"stages": 0}, "stages"),
    ],
)
def test_what_cannot_be_chosen_is_an_error_at_its_key(keys: dict[str, Any], key: str) -> None:
    with pytest.raises(SpecError) as error:
        launches(**keys)
    assert error.value.key == key


def test_strides_and_first_elements_differ_and_are_printed() -> None:
    for launch in launches():
        rows = [array.strides[0] for array in launch.arrays]
        assert len({*rows, *launch.sizes.values()}) == 6
        assert all(array.offset > 0 for array in launch.arrays)
        assert all(first.offset != second.offset for first, second in pairwise(launch.arrays[:2]))
        assert list(list_blind_spots(launch, alone=False)) == []
    packed = {"dims": "nk", "type": "f16", "strides": ["K", 1]}
    words = "chosen here: strides 32x1 of A, A from element 128, B from element 256, strides 24x1 of C, C from element"
    assert words in run_once(PRODUCT, {**PRODUCT_CLAIM, "arrays": ARRAYS | {"B": packed}}).domain
    assert "chosen here" not in run_once(PRODUCT, _draw_claim()).domain


def _draw_claim() -> dict[str, Any]:
    arrays = {name: {**table, "offset": 0} for name, table in PRODUCT_CLAIM["arrays"].items()}
    return {**PRODUCT_CLAIM, "arrays": arrays}


def test_what_a_claim_hides_is_said() -> None:
    said = run_once(PRODUCT).hidden
    assert said == (
        "one CTA: an error in the index of CTAs is not seen",
        "one table of sizes: a loop of one step, and edges, are seen only where these sizes have them",
        "K and M are 16: one taken for the other is not seen",
        "A and B have the same strides: one taken for the other is not seen",
        "a stride of A is K: one taken for the other is not seen",
        "a stride of B is K: one taken for the other is not seen",
        "a stride of C is N: one taken for the other is not seen",
        "every array ends before 2^32 elements: an offset that wraps at 32 bits is not seen",
    )
    two = launches(sizes=[{"M": 128, "N": 32, "K": 64}, {"M": 64, "N": 96, "K": 80}])
    assert [list(list_blind_spots(launch, alone=False)) for launch in two] == [
        ["2 CTAs: with fewer than 2 x 2 the index of one direction may be wrong"],
        ["3 CTAs: with fewer than 2 x 2 the index of one direction may be wrong"],
    ]


GUARDED = "setp.lt.u32 %p1, %r1, LIMIT; mov.f32 %f3, %f1; @GUARD%p1 mov.f32 %f3, %f1;"


@pytest.mark.parametrize("guard", ["", "!"])
@pytest.mark.parametrize(
    ("limit", "said"), [(0, "never true"), (7, ""), (64, "never false")], ids=["never", "sometimes", "always"]
)
def test_a_guard_that_had_one_value_is_a_blind_spot(guard: str, limit: int, said: str) -> None:
    body = GUARDED.replace("LIMIT", str(limit)).replace("GUARD", guard)
    spots = [text for text in run_sum(body, "C[i] = A[i]").hidden if "setp" in text]
    assert [text.partition(" was ")[2] for text in spots] == ([f"{said} in a guard"] if said else [])
    line = ADD[: ADD.index("BODY")].count("\n") + 1
    assert all(text.startswith(f"the setp of line {line} was") for text in spots)


def test_a_guard_is_a_blind_spot_only_if_no_launch_shows_its_other_value() -> None:
    arrays = {name: {"dims": "i", "type": "f32", "out": name == "C"} for name in "ABC"}
    table = {"grid": 1, "block": 64, "claim": "C[i] = A[i]", "params": ["A", "B", "C", "I"], "arrays": arrays}
    text = ADD.replace(".param .u64 pc", ".param .u64 pc, .param .u32 pi").replace(
        "mul.wide.u32", "EDGE mul.wide.u32", 1
    )
    text = text.replace("EDGE", "ld.param.u32 %r9, [pi]; setp.ge.u32 %p1, %r1, %r9; @%p1 ret;\n")
    text = text.replace("BODY", "mov.f32 %f3, %f1;")
    for sizes, many in (([{"I": 64}], 1), ([{"I": 64}, {"I": 60}], 0), ([{"I": 60}], 0)):
        outcomes = check(text, claim_of({**table, "sizes": sizes}))
        assert [sum("never true" in text for text in outcome.hidden) for outcome in outcomes] == [many] * len(sizes)


def test_a_grid_as_wide_as_it_is_high_is_a_blind_spot() -> None:
    body = "mov.u32 %r9, %ctaid.x; mov.u32 %r10, %ctaid.y; mov.f32 %f3, %f1;"
    arrays = {name: {"dims": "i", "type": "f32", "out": name == "C"} for name in "ABC"}
    for grid, many in (([2, 2], 1), ([2, 3], 0), ([1, 1], 0)):
        (outcome,) = check(
            ADD.replace("BODY", body),
            claim_of({"grid": grid, "block": 64, "sizes": {"I": 64}, "claim": "C[i] = A[i]", "arrays": arrays,
                      "params": ["A", "B", "C"]}),
        )  # fmt: skip
        assert sum("as many CTAs in x as in y" in text for text in outcome.hidden) == many


def test_an_output_that_the_claim_leaves_out_is_named() -> None:
    arrays = {**ARRAYS, "L": {"dims": "m", "type": "f32", "out": True}}
    launch = launches(arrays=arrays)[0]
    assert "the claim is about C alone: what is stored in L is not compared" in list(
        list_blind_spots(launch, alone=False)
    )
