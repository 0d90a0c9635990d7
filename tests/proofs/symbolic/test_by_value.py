# SPDX-License-Identifier: Apache-2.0
"""The helpers of proofs and refutations, each on a few values: formulas, definitions, models."""

from __future__ import annotations

import math
import sys
from types import SimpleNamespace

import pytest

from proofs import definitions
from proofs.laws import published, refutations
from proofs.laws.decide import list_shipped
from proofs.laws.formula import evaluate
from proofs.laws.problem import SatQuery
from proofs.laws.solve import satisfy
from proofs.symbolic import enumerated, families, infer, loops, operations, pathwise, runs
from proofs.symbolic.infer import infer_conditions
from proofs.symbolic.symbolic_int import InputSpace, Path, SymInt, _fold, negate  # seam: a definition

A = (6, 2), (1, 100)


def test_a_mode_that_goes_on_into_the_next_one_is_split_as_published() -> None:
    """A(2k) for k < 6 is 0, 2, 4, 100, 102, 104; for k < 3 it ends in the first mode."""
    assert published.compose_mode(A, 6, 2) == published.cute_fold(A, 6, 2, "divides") == ((3, 2), (2, 100))
    assert published.compose_mode(A, 3, 2) == published.cute_fold(A, 3, 2, "divides") == ((3,), (2,))


def test_a_complement_decided_by_its_modes_names_the_first_value_that_does_not_grow() -> None:
    """(2,3):(5,5) takes 0, 5, 5, ...: the value at 2 is the one at 1; (3,3):(1,2) repeats its value 2 at 3."""
    # seam: a definition
    assert definitions._complement_by_modes([(4, 1)], 100, [(2, 5), (3, 5)]) == "R(2) = 5 is not above R(1) = 5"
    # seam: a definition
    assert definitions._complement_by_modes([(4, 9)], 100, [(3, 1), (3, 2)]) == "R(3) = 2 is not above R(2) = 2"


def test_a_mode_of_stride_0_does_not_overlap_its_complement() -> None:
    """(2,2):(0,1) takes the values 0 and 1, each twice: 2:2 completes it to [0, 4), however many values are listed."""
    assert definitions.complement([(2, 0), (2, 1)], 4, [(2, 2)]) == ""
    assert definitions.complement([(2, 0), (2, 1)], 4, [(2, 1)]) == "A and R overlap: some A(i) + R(j) is taken twice"
    large = definitions.MOST
    assert definitions.complement([(2, 0), (large, 1)], 4 * large, [(4, large)]) == ""
    assert "is no A(i) + R(j)" in definitions.complement([(2, 0), (large, 1)], 4 * large, [(2, large)])


def test_a_path_that_no_sample_takes_keeps_all_its_modes() -> None:
    """Their order is not known there, so they stay in place, the first one included."""
    path = Path(InputSpace(("s", "d", "t", "e"), (), ()), [])
    assert pathwise.sorted_modes(path, [("s", "d"), ("t", "e")]) == [0, 1]


def test_a_result_of_the_right_rank_may_still_have_other_extents() -> None:
    assert enumerated.refines((2, (2, 2)), (2, 4))
    assert not enumerated.refines((2, 3), (2, 4))
    assert not enumerated.refines((3, 4), (2, 4))
    assert not enumerated.refines((2, 4, 1), (2, 4))


def test_only_a_negative_of_a_negative_is_the_number_itself() -> None:
    """0 - (0 - x) is x; 0 - (1 - x) is x - 1."""
    assert _fold("-", 0, ("-", 0, "x")) == "x"
    assert _fold("-", 0, ("-", 1, "x")) == ("-", 0, ("-", 1, "x"))
    assert _fold("+", 0, ("-", 0, "x")) == ("-", 0, "x")


def test_the_opposite_of_a_comparison_compares_the_same() -> None:
    assert negate(("<", "x", 3)) == (">=", "x", 3)
    assert (negate(0), negate(1)) == (1, 0)


def test_a_contradiction_as_a_goal_is_never_true() -> None:
    """A contradiction is proved by a goal that is false: if the goal were true, every path would prove it."""
    assert evaluate(loops._ends(2).goal, {}, {}) is False  # seam: a definition
    assert evaluate(loops._alike([(2, 1)], []), {}, {}) is False  # seam: a definition


def test_a_digit_carries_where_it_is_its_extent_and_not_before() -> None:
    """2:1 uses one digit of an extent of 2, which is all it has; 3:1 takes 2 steps until it carries, and 1 is left."""
    runs = {"n.0.0": 2, "q.0.0": 1, "m.0.0": 0, "n.0.1": 1, "q.0.1": 1, "m.0.1": 0}
    fits, carries = pathwise.carrying([2], [(2, 1)]), pathwise.carrying([2], [(3, 1)])
    assert all(evaluate(fact, runs, {}) for fact in fits.assumed)
    assert evaluate(fits.goal, runs, {}) is False
    left = {**runs, "m.0.0": 1}
    assert all(evaluate(fact, left, {}) for fact in carries.assumed)
    assert evaluate(carries.goal, left, {}) is True


def test_a_fact_follows_where_no_sample_and_no_number_contradicts_it() -> None:
    path = Path(InputSpace(("x",), ((">=", "x", 1),), ()), [], samples=[{"x": 2}])
    facts = (">=", "x", 1), ("<", "x", 3), ("==", "x", 3)
    assert [pathwise.follows(path, fact) for fact in facts] == [True, False, False]


def test_neighbours_that_merge_have_the_product_of_their_extents() -> None:
    path = Path(InputSpace(("x",), (), ()), [], samples=[{"x": 1}])
    (extent, stride), last = pathwise.merge_modes(path, [(2, 1), (3, 2), (1, 5), (4, 7)])
    assert (evaluate(extent, {}, {}), stride, last) == (6, 1, (4, 7))
    assert pathwise.merge_modes(path, [(2, 1), (3, 4)]) == [(2, 1), (3, 4)]


def test_a_mode_of_a_right_inverse_is_a_group_of_modes_with_its_stride() -> None:
    """The right inverse of (2,3):(1,2) is 6:1, a group of two modes; (2,3):(1,4) has none of extent 6."""
    for stride, right in ((2, True), (4, False)):
        (goal,) = pathwise.right_inverted([(2, 1), (3, stride)], [(6, 1)])
        assert evaluate(goal.goal, {}, {}) is right
    (goal,) = pathwise.right_inverted([(2, 1), (3, 2)], [(6, 2)])
    assert evaluate(goal.goal, {}, {}) is False


def test_the_steps_to_a_left_inverse_are_true_of_one() -> None:
    """The left inverse of 4:2 is (2,4):(0,1): odd numbers, which 4:2 never takes, count as the even ones below."""
    path = Path(InputSpace(("x",), (), ()), [], samples=[{"x": 1}])
    (goal,) = pathwise.left_inverted(path, [(4, 2)], [(2, 0), (4, 1)])
    merging, digits = goal.steps
    assert all(evaluate(merging.goal, {"i": i}, {}) for i in range(20))
    assert all(evaluate(step.goal, {"k.0": k}, {}) for step in (goal, digits) for k in range(4))


def test_samples_satisfy_all_that_is_assumed() -> None:
    space = InputSpace.draw_space(("x",), [(">=", "x", 3), ("<=", "x", 5)], lambda source: {"x": source.randint(0, 9)})
    assert sorted(at["x"] for at in space.samples) == [3, 4, 5]


def test_a_layout_goes_as_far_as_its_last_mode_that_counts() -> None:
    assert enumerated._span([(2, 3), (4, 1), (1, 99), (5, 0)]) == 6  # seam: a definition
    assert enumerated._span([(1, 9)]) == 1  # seam: a definition


def test_the_values_of_a_layout_begin_at_0() -> None:
    assert [definitions.representable(values) for values in ([], [0], [5])] == [True, True, False]


def test_a_family_given_by_its_shape_alone_has_one_run_too() -> None:
    assert families.one_run("(M,K)").operation.label == "composition, rank 2: one run"
    assert {name: letter for name, letter in families.one_run("(M,K)").given.items() if letter in "MK"} == {
        "M0": "M",
        "M1": "K",
    }


def test_a_mode_without_runs_has_one_coordinate_or_stays_where_it_is() -> None:
    """Of kind 0: 1:r, or N:0. Any mode of 2 or more steps has runs, or goes back."""
    kinds = [(0, 1, 5), (0, 4, 0), (0, 4, 1), (2, 4, 1), (3, 4, 1), (3, 4, -1), (1, 1, 1)]
    kept = [evaluate(loops._kinds(0, 2), {"p0": p, "N0": n, "r0": r}, {}) for p, n, r in kinds]  # seam: a definition
    assert kept == [True, True, False, True, False, True, False]


@pytest.mark.long
def test_a_composition_in_numbers_is_right_or_rejected_and_the_last_line_says_which() -> None:
    for by, status in (("(3,2):(2,3)", "rejected"), ("3:2", "proved")):
        inferred = infer_conditions("composition", "(6,2):(1,7)", by)
        assert [way.status for way in inferred.cases] == [status]
        assert inferred.end == f"exact: {'right' if status == 'proved' else 'rejected'} in every case"


def test_a_division_and_a_product_have_two_modes() -> None:
    assert enumerated._two(((2, 3), (1, 2))) == ([(2, 1)], [(3, 2)])  # seam: a definition
    # seam: a definition
    assert enumerated._two(((2, 3, 4), (1, 2, 6))) == enumerated._two((2, 1)) == "it has not two modes"


def test_a_wish_that_cannot_be_satisfied_is_dropped() -> None:
    law = list_shipped()["DIVDEF"]
    wish = [[("<", "P", 0)]]
    model = satisfy(SatQuery(law, "P is 3", (("==", "P", 3),)), wish)
    assert (model.status, model.is_confirmed, model.values["P"]) == ("sat", True, 3)
    assert satisfy(SatQuery(law, "P is 3 and 4", (("==", "P", 3), ("==", "P", 4))), wish).status == "unsat"


def test_a_division_takes_the_tile_from_where_the_tiler_says() -> None:
    """8:2 by 2:4 is (2,4):(8,2); where the tiler leaves the layout, as 2:4 does 4:1, the tile may lie anywhere."""
    assert enumerated._check_divide((8, 2), (2, 4), ((2, 4), (8, 2))) == ""  # seam: a definition
    # seam: a definition
    assert enumerated._check_divide((8, 2), (2, 4), ((2, 4), (2, 8))) == "R(1, 0) = 2, A(T(1)) = A(4) = 8"
    assert enumerated._check_divide((4, 1), (2, 4), ((2, 4), (7, 1))) == ""  # seam: a definition


def test_a_run_is_rejected_where_it_does_not_divide_its_mode_or_carries_with_what_is_used() -> None:
    """Of steps of 1 in (4,...): four until a digit carries, which is 4 of 6, or 4 of 8; one used digit is too many."""
    refuses = runs.composition_run(2).refuses
    assert refuses is not None
    outside = next(iter(refuses(Path(InputSpace(("N",), (), ()), [], samples=[{"N": 1}]))))
    cases = [(6, 0), (8, 0), (8, 1)]
    refused = [evaluate(outside.goal, {"M0": 4, "r": 1, "N": n, "u0": used}, {}) for n, used in cases]
    assert (outside.why, refused) == ("outside", [True, False, True])


def test_a_refutation_is_searched_among_small_numbers_first() -> None:
    sums = [s + n + r for ((s, _), _), ((n,), (r,)) in refutations._pairs(1)]  # seam: a definition
    assert len(sums) == 5 * 2 * 4 and sums == sorted(sums) and sums[0] == 2 + 2 + 1


def test_neighbours_of_a_coalesced_layout_do_not_merge() -> None:
    wide = [(">=", "M0", 2), (">=", "M1", 2)]
    assert operations.canonical("MD", 2) == [*wide, ("!=", "D1", ("*", "M0", "D0"))]


def test_a_layout_has_as_many_strides_as_extents() -> None:
    with pytest.raises(families.InferenceError, match=r"--by \(4,M\):\(1,d,2\): 2 extents and 3 strides"):
        families._lists("(4,M):(1,d,2)", "--by")  # seam: a definition


def test_the_contract_of_a_run_has_its_value_and_the_used_digits() -> None:
    """In (4,2):(1,9): two steps of 1 from 0 use up to the digit 2; from an index beyond what is used all is allowed."""
    start, run = loops.InductionState("x", 0, ["u"]), loops.ModeRun(0, 0, "n", "v", ["w"])
    contract = loops._contract([(4, 1), (2, 9)], start, "k", "s", run)  # seam: a definition
    right = {"x": 0, "k": 2, "s": 1, "v": 1, "u": 0, "w": 2}
    changes: list[dict[str, int]] = [{}, {"w": 1}, {"k": 4}, {"v": 2}, {"x": 3}, {"x": 3, "v": 2}]
    allowed = [evaluate(contract, {**right, **change}, {}) for change in changes]
    assert allowed == [True, False, False, False, True, False]


def test_the_int_value_of_a_symbolic_integer_is_1() -> None:
    """Its hash is that of 1 too: one value for all, the same in every run."""
    assert [(int.__add__(SymInt(x), 0), hash(SymInt(x))) for x in ("x", "y")] == [(1, hash(1))] * 2


@pytest.mark.long
def test_paths_after_the_time_limit_are_counted_as_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock passes the limit when one path is decided: the others are open, so the condition is not exact."""
    family = families.family("coalesce", "(s,t)", None)
    whole = infer._conditions(family, math.inf)  # seam: a goal
    ticks = iter([0.0, math.inf])
    monkeypatch.setattr(infer, "time", SimpleNamespace(monotonic=lambda: next(ticks)))
    conditions = infer._conditions(family, sys.float_info.max)  # seam: a goal
    assert (len(conditions.ways), conditions.left, whole.left) == (1, len(whole.ways) - 1, 0)
    assert conditions.left > 1
