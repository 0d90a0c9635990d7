# SPDX-License-Identifier: Apache-2.0
"""In bounds, equals, right inverse and one product, compared with enumeration by their definitions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import proofs
from layouts import Layout
from proofs import OperandLayout, Outcome
from tests.proofs.layout.brute import ONE, different, evaluate_all, fragment, mutants, outside, tv, tv_layouts

Locate = Callable[[Any, Any], tuple[Any, Any]]


def where(c: Any, a: Any, b: Any) -> Any:
    return (a if c else b) if isinstance(c, bool) else c.__where__(a, b)


def a_16x8x16(lane: Any, i: Any) -> tuple[Any, Any]:
    """(m, k) of A of m16n8k16 with 16-bit elements, piecewise as in the ISA."""
    group, t = lane >> 2, lane % 4
    top = (i < 2) | ((i >= 4) & (i < 6))
    return where(top, group, group + 8), where(i < 4, t * 2 + (i & 1), t * 2 + (i & 1) + 8)


def c_16x8(lane: Any, i: Any) -> tuple[Any, Any]:
    return (lane >> 2) + 8 * (i >> 1), (lane % 4) * 2 + (i & 1)


def b_8x32_4bit(lane: Any, i: Any) -> tuple[Any, Any]:
    return lane >> 2, (lane % 4) * 8 + i


def c_volta_f32(lane: Any, i: Any) -> tuple[Any, Any]:
    return (lane & 1) + (i & 2) + 4 * (lane // 16), (i & 4) + (lane & 2) + (i & 1)


def thirds(lane: Any, i: Any) -> tuple[Any, Any]:
    return lane % 3 + 3 * i, lane // 3


RIGHT = {
    "A 16x16": fragment("((4,8),(2,2,2)):((32,1),(16,8,128))", (16, 16), a_16x8x16),
    "C 16x8": fragment("((4,8),(2,2)):((32,1),(16,8))", (16, 8), c_16x8),
    "B 8x32": fragment("((4,8),8):((64,1),8)", (8, 32), b_8x32_4bit),
    "C Volta": fragment("((2,2,2),(2,2,2)):((1,16,4),(8,2,32))", (8, 8), c_volta_f32, thr="(4,2):(1,16)", rep="4:4"),
    "thirds": fragment("((3,5),2):((1,6),3)", (6, 5), thirds),
}


def check(outcome: Outcome, f: OperandLayout, bad: list[tuple[int, int]]) -> None:
    if not bad:
        assert (outcome.status, outcome.model, outcome.bad) == ("unsat", None, None)
        return
    assert outcome.status == "sat"
    assert outcome.model is not None
    assert (outcome.model["thread"], outcome.model["value"]) == min(bad), "smallest thread, then value"
    assert outcome.model["element"] == tv(f.layout)[min(bad)]
    assert outcome.bad == len(bad)
    assert outcome.unique == (len(bad) == 1)


@pytest.mark.parametrize("name", RIGHT)
def test_the_layouts_of_the_isa_are_proved(name: str) -> None:
    f = RIGHT[name]
    assert not different(f) and not outside(f)
    check(proofs.prove_in_bounds(f), f, [])
    check(proofs.prove_equals(f), f, [])


@pytest.mark.slow
@pytest.mark.parametrize("name", RIGHT)
def test_the_proof_of_every_mutant_agrees_with_enumeration(name: str) -> None:
    f, solver = RIGHT[name], proofs.Solver()
    refuted = 0
    for layout in mutants(f.layout):
        threads = len(tv(layout)) // len({v for _, v in tv(layout)})
        dropped_threads = threads != len(evaluate_all(f.thr))
        g = OperandLayout(layout, f.extent, f.thr, f.rep, f.locate, f.copies)
        check(proofs.prove_in_bounds(g, solver=solver), g, outside(g))
        if dropped_threads:
            with pytest.raises(proofs.ProblemError, match="threads"):
                proofs.prove_equals(g)
            continue
        outcome = proofs.prove_equals(g, solver=solver)
        check(outcome, g, different(g))
        refuted += outcome.status == "sat"
    assert refuted >= 10


@pytest.mark.long
@given(tv_layouts(), st.integers(1, 9), st.integers(1, 9))
def test_in_bounds_agrees_with_enumeration(layout: Layout, rows: int, columns: int) -> None:
    f = OperandLayout(layout, (rows, columns), ONE, ONE, None, 1)
    check(proofs.prove_in_bounds(f), f, outside(f))


@pytest.mark.long
@given(tv_layouts(), st.integers(1, 8), st.integers(1, 8), st.integers(0, 3), st.sampled_from(["1:0", "2:1", "3:4"]))
def test_equals_agrees_with_enumeration(layout: Layout, rows: int, columns: int, kind: int, rep: str) -> None:
    formulas: list[Locate] = [
        lambda lane, i: (lane % rows, i % columns),
        lambda lane, i: (lane % rows, lane // rows + 0 * i),
        lambda lane, i: (where(i < 2, 0, lane) % rows, 0),
        lambda lane, i: ((lane ^ i) & 1, (lane | 2) >> 2),
    ]
    threads = len(evaluate_all(layout[0]))
    f = OperandLayout(layout, (rows, columns), Layout(threads), Layout.parse(rep), formulas[kind], 1)
    check(proofs.prove_equals(f), f, different(f))


def test_a_replica_that_disagrees_is_found_and_counted_once_per_point() -> None:
    f = RIGHT["C Volta"]

    def periodic(lane: Any, i: Any) -> tuple[Any, Any]:
        return c_volta_f32(lane % 8 + lane // 16 * 16, i)

    g = OperandLayout(f.layout, f.extent, f.thr, Layout.parse("2:8"), periodic, 1)
    check(proofs.prove_equals(g), g, [])
    wrong = OperandLayout(f.layout, f.extent, f.thr, Layout.parse("2:3"), c_volta_f32, 1)
    check(proofs.prove_equals(wrong), wrong, different(wrong))
    model = proofs.prove_equals(wrong).model
    assert model is not None and model["replica"] == 1


def test_a_formula_that_leaves_the_tile_does_not_equal_an_index_that_wraps_round() -> None:
    f = fragment("(4,2):(1,4)", (4, 2), lambda lane, i: (lane + 4 * i, 0))  # x + 4*y is right, x is not
    check(proofs.prove_equals(f), f, different(f))
    assert proofs.prove_equals(f).bad == 4


def test_wide_strides_are_proved_wider_never_wrapped() -> None:
    f = fragment("(32,2):(65536,1)", (16, 8), lambda lane, i: (0 * lane + i, 0 * lane))
    outcome = proofs.prove_in_bounds(f)
    check(outcome, f, outside(f))
    assert outcome.method == "bit-vectors, 24 bits", "modulo 2^16 every element would be 0 or 1"
    check(proofs.prove_equals(f), f, different(f))


def test_numbers_beyond_every_width_are_unknown_with_the_reason() -> None:
    for sizes, stride in (((4, 2), 1 << 600), ((3, 2), 1 << 9000)):
        huge = OperandLayout(Layout(sizes, (stride, 1)), (16, 8), ONE, ONE, None, 1)
        outcome = proofs.prove_in_bounds(huge)
        assert (outcome.status, outcome.model) == ("unknown", None)
        assert "512 bits" in outcome.reason


def test_one_unlike_point_is_unique() -> None:
    f = fragment("(2,2):(2,1)", (2, 2), lambda lane, i: (where(lane + i < 2, i, 0), lane))
    outcome = proofs.prove_equals(f)
    assert (outcome.bad, outcome.unique) == (1, True)
    assert outcome.model == {"thread": 1, "value": 1, "replica": 0, "lane": 1, "element": 3, "x": 0, "y": 1}


@pytest.mark.parametrize(
    ("inverse", "bad"),
    [
        ("(8,2,2,2,4):(4,64,32,128,1)", 0),
        ("(8,2,2,2,4):(4,64,32,128,2)", 192),
        ("8:4", 248),
        ("(8,2,2,2,4,2):(4,64,32,128,1,0)", 256),
        ("(8,2,2,2,4):(4,64,32,-128,1)", 128),
        ("(8,2,2,4,2):(4,64,32,2,-1)", 192),
    ],
)  # fmt: skip
def test_a_right_inverse_is_proved_or_refuted_as_enumeration_says(inverse: str, bad: int) -> None:
    layout = Layout.parse("((4,8),(2,2,2)):((32,1),(16,8,128))")
    f = fragment(str(layout), (16, 16))
    right = Layout.parse(inverse)
    there, back = evaluate_all(layout), evaluate_all(right)
    wrong = [k for k in range(max(256, len(back)))
             if not (k < min(256, len(back)) and 0 <= back[k] < 256 and there[back[k]] == k)]  # fmt: skip
    outcome = proofs.prove_right_inverse(f, right)
    if not wrong:
        assert outcome.status == "unsat" and bad == 0
        return
    assert outcome.status == "sat" and outcome.model is not None
    assert (outcome.model["k"], outcome.bad) == (wrong[0], len(wrong))


@pytest.mark.slow
@given(tv_layouts(), tv_layouts(), st.integers(1, 40))
def test_right_inverse_agrees_with_enumeration(layout: Layout, right: Layout, elements: int) -> None:
    there, back = evaluate_all(layout), evaluate_all(right)

    def good(k: int) -> bool:
        return k < min(elements, len(back)) and 0 <= back[k] < len(there) and there[back[k]] == k

    wrong = [k for k in range(max(elements, len(back))) if not good(k)]
    outcome = proofs.prove_right_inverse(OperandLayout(layout, (elements, 1), ONE, ONE, None, 1), right)
    assert outcome.status == ("sat" if wrong else "unsat")
    if outcome.model is not None:
        assert (outcome.model["k"], outcome.bad) == (wrong[0], len(wrong))


def test_a_right_inverse_that_ends_early_is_refuted_where_it_ends() -> None:
    f = fragment("(8,1):(1,0)", (8, 1))
    outcome = proofs.prove_right_inverse(f, Layout.parse("4:1"))  # beyond index 3 it would go on, were it defined
    assert (outcome.status, outcome.model, outcome.bad) == ("sat", {"k": 4}, 4)


def test_an_operand_of_two_products_is_refuted_with_the_thread() -> None:
    f = RIGHT["C Volta"]
    assert proofs.prove_product(f, lambda lane: lane % 16 // 4).status == "unsat"
    split = OperandLayout(f.layout, f.extent, Layout.parse("(4,2):(1,4)"), ONE, None, 1)
    outcome = proofs.prove_product(split, lambda lane: lane % 16 // 4)
    assert outcome.model == {"thread": 4, "replica": 0, "lane": 4, "product": 1, "product0": 0}
    assert outcome.bad == 4


@pytest.mark.parametrize(
    ("layout", "elements", "copies", "expected"),
    [
        ("(3,2,2):(1,3,0)", 6, 2, ("unsat", "integers, digit by digit", None)),
        ("(4,2,2):(1,4,0)", 8, 2, ("unsat", "bit-vectors, 12 bits", None)),
        ("(3,2):(1,2)", 6, 1, ("sat", "integer digits", {"index": 2, "index2": 3, "element": 2})),
        ("(2,2):(1,1)", 4, 1, ("sat", "bit-vectors, 12 bits", {"index": 1, "index2": 2, "element": 1})),
        ("(3,2):(1,3)", 6, 2, ("sat", "counting", {"index": 0, "element": 0, "owners": 1})),
    ],
)
def test_the_number_of_owners_of_each_element(layout: str, elements: int, copies: int, expected: object) -> None:
    """Extents that aren't powers of two are proved digit by digit, which also refutes a wrong number of owners."""
    outcome = proofs.prove_bijective(Layout.parse(layout), (elements,), copies)
    assert (outcome.status, outcome.method, outcome.model) == expected


def test_malformed_problems_are_rejected_with_the_reason() -> None:
    with pytest.raises(proofs.ProblemError, match="two modes"):
        OperandLayout(Layout.parse("4:1"), (2, 2), ONE, ONE, None, 1)
    with pytest.raises(proofs.ProblemError, match="positive"):
        fragment("(4,1):(1,0)", (0, 2))
    for extents in ((0,), (4, 0)):
        with pytest.raises(proofs.ProblemError, match="positive"):
            proofs.prove_bijective(Layout(4), extents)
    with pytest.raises(proofs.ProblemError, match="no formula"):
        proofs.prove_equals(fragment("(4,1):(1,0)", (2, 2)))
    with pytest.raises(proofs.ProblemError, match="below 0"):
        proofs.prove_equals(fragment("(4,1):(1,0)", (2, 2), c_16x8, thr="4:-1"))
