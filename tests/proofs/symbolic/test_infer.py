# SPDX-License-Identifier: Apache-2.0
"""Inferred preconditions: exact conditions for families of layouts, and one line for an impossible request."""

from __future__ import annotations

import math
import re

import pytest

from layouts import Layout, LayoutError, ceil_div, complement, composition, logical_divide, logical_product
from proofs import definitions
from proofs.symbolic import families, infer
from proofs.symbolic.families import InferenceError
from proofs.symbolic.infer import infer_conditions

pytestmark = pytest.mark.slow


def test_the_condition_of_a_composition_is_inferred() -> None:
    output = infer_conditions("composition", "(6,2)", "N:2").report
    assert "rejected when 3 < N and N % 3 != 0" in output
    assert "proved   when N % 3 == 0" in output
    assert "such as composition((6,2):(0,1), 4:2)" in output


def test_a_pair_of_layouts_is_on_one_side() -> None:
    assert "rejected when always" in infer_conditions("composition", "(6,2):(1,7)", "(3,2):(2,3)").report
    assert "rejected" not in infer_conditions("composition", "(6,2):(1,7)", "3:2").report


@pytest.mark.parametrize(
    ("by", "expected"), [("(2,2):(1,2)", "right in every case"), ("(2,3):(1,2)", "right in every case"),
                     ("(2,2,2):(1,2,4)", "rejected in every case")],
)  # fmt: skip
def test_a_pair_of_rank_3_is_on_one_side(by: str, expected: str) -> None:
    """In A = (2,3,4), (2,2) uses the digits 1 and 1 of the extents 2 and 3, (2,3) uses all of both, and 4 carries."""
    inferred = infer_conditions("composition", "(2,3,4):(1,5,77)", by)
    assert (inferred.end, [way.when for way in inferred.cases]) == (f"exact: {expected}", [()])
    assert is_right("composition", "(2,3,4):(1,5,77)", by) == expected.startswith("right")


def test_one_letter_in_rank_3_has_its_own_condition() -> None:
    """(2,3,4) o (N,2):(1,3) is compared with the definition at every N."""
    inferred = infer_conditions("composition", "(2,3,4):(1,5,77)", "(N,2):(1,3)")
    assert inferred.exact
    for n in range(2, 20):
        ways = {way.status for way in inferred.cases if all(eval(c, {"N": n, "ceildiv": ceil_div}) for c in way.when)}
        assert ways == {"proved" if is_right("composition", "(2,3,4):(1,5,77)", f"({n},2):(1,3)") else "rejected"}, n


def test_a_letter_that_occurs_twice_is_one_number() -> None:
    """(M,M) o 2:r: where M = 3 fits r = 1, both extents are 3; two letters allow others."""
    output = infer_conditions("composition", "(M,M)", "2:1").report
    pairs = re.findall(r"composition\(\((\d+),(\d+)\)", output)
    assert pairs
    assert all(m == k for m, k in pairs)


def test_a_composition_that_does_not_end_in_time_is_decided_run_by_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The load of the machine does not matter: the first attempt times out, the second has unlimited time."""
    answers = [infer._Found((), 1), infer._conditions(families.one_run("(M,K)"), math.inf)]  # seam: a goal
    monkeypatch.setattr(infer, "_conditions", lambda family, until: answers.pop(0))  # seam: a goal
    inferred = infer_conditions("composition", "(M,K)", "(N,P):(r,q)")
    assert inferred.exact
    assert "so run by run" in inferred.report
    assert "  where M >= 2, K >= 2, D1 != M * D0, u0 >= 0, N >= 2, r >= 1, u0 < M" in inferred.head
    assert "rejected" in inferred.report


def test_paths_that_remain_after_the_time_limit_are_unknown() -> None:
    slow = infer_conditions("complement", "(M,K,L)", None, seconds=0.2)
    assert not slow.exact
    assert slow.report.splitlines()[-1].startswith("UNKNOWN")


@pytest.mark.parametrize(
    ("operation", "shape", "by", "expected"),
    [
        ("complement", "2", None, "right in every case"),
        ("left_inverse", "(4,8)", None, "rejected in all others"),
        ("right_inverse", "(4,8)", None, "right in every case"),
        ("logical_divide", "(4,6)", "N:2", "rejected in all others"),
        ("logical_product", "4", "2:r", "exact"),
        ("complement", "(2,2):(1,d)", "12", "rejected in all others"),
        ("left_inverse", "(4,8):(1,d)", None, "rejected in all others"),
        ("coalesce", "(4,s)", None, "right in every case"),
    ],
)
def test_every_operation_has_its_exact_condition(operation: str, shape: str, by: str | None, expected: str) -> None:
    inferred = infer_conditions(operation, shape, by, seconds=300)  # a busy machine is no other answer
    assert inferred.exact
    assert expected in inferred.report.splitlines()[-1]


def test_an_unknown_operation_is_rejected() -> None:
    with pytest.raises(InferenceError, match="known: coalesce"):
        infer_conditions("recast", "(4,8)", None)


@pytest.mark.parametrize(
    ("operation", "shape", "by", "expected"),
    [
        ("composition", "", "N:r", "neither a shape nor a layout"),
        ("composition", "(4,-M)", "N:r", "neither a shape nor a layout"),
        ("composition", "4 8", "N:r", "neither a shape nor a layout"),
        ("composition", "((2,2),3):((1,2),4", "N:r", "neither a shape nor a layout"),
        ("composition", "((2,2),3):(1,(2,4))", "N:r", "nested differently"),
        ("composition", "(4,8)", None, "goes by a layout"),
        ("composition", "(4,8):1", "N:r", "2 extents and 1 strides"),
        ("composition", "(4,8)", "(3,2)", "not a layout"),
        ("composition", "(2,M):(1,2)", "N:r", "2:1 and M:2 are one mode"),
        ("composition", "(0,4)", "N:r", "at least 1, got 0"),
        ("composition", "(4,8)", "", "neither a shape nor a layout"),
        ("composition", "(2,2,2,2)", "N:r", "at most 3 modes"),
        ("complement", "0", None, "at least 1, got 0"),
        ("complement", "4", "-2", "at least 1, got -2"),
        ("complement", "(M,M):(0,1)", "4:1", "isn't a cotarget"),
        ("left_inverse", "(4,8)", "(2,3):(1,2)", "its shape alone"),
        ("logical_divide", "(4,8)", "(2,3):(1,2)", "one mode N:r"),
        ("left_inverse", "(4,d0)", None, "the letter d0 is taken"),
    ],
)
def test_a_malformed_family_is_rejected_in_one_line(operation: str, shape: str, by: str | None, expected: str) -> None:
    with pytest.raises(InferenceError, match=re.escape(expected)) as rejected:
        infer_conditions(operation, shape, by)
    assert "\n" not in str(rejected.value)


GIVEN = [
    ("composition", "(5,5):(1,7)", "1:7"),
    ("composition", "(5,5):(1,7)", "5:0"),
    ("composition", "(5,5):(1,7)", "(5,2):(0,3)"),
    ("composition", "(5,5):(1,7)", "4:-1"),
    ("composition", "(5,5):(1,7)", "1:-1"),
    ("composition", "(2,4):(1,2)", "3:1"),
    ("composition", "(1,4):(9,3)", "8"),
    ("composition", "(4,1):(1,9)", "8:1"),
    ("composition", "(6,2):(1,7)", "(3,2):(2,3)"),
    ("logical_divide", "(4,6):(1,9)", "1:1"),
    ("logical_divide", "(4,6):(1,9)", "3:0"),
    ("logical_divide", "(4,6):(1,9)", "3:-1"),
    ("logical_divide", "(4,1):(1,9)", "2:1"),
    ("logical_product", "(4,6):(6,1)", "1:1"),
    ("logical_product", "(4,6):(6,1)", "3:0"),
    ("logical_product", "4:1", "3:-2"),
    ("logical_product", "4:-1", "3:2"),
    ("logical_product", "(4,1):(0,5)", "3:2"),
]


def is_right(operation: str, shape: str, by: str) -> bool:
    """Whether the call returns a result; that of a composition is compared with the definition."""
    a, b = Layout.parse(shape), Layout.parse(by if ":" in by else f"{by}:1")
    call = {"composition": composition, "logical_divide": logical_divide, "logical_product": logical_product}[operation]
    try:
        returned = call(a, b)
    except LayoutError:
        return False
    flat = [definitions.flat((x.shape, x.stride)) for x in (a, b, returned)]
    assert operation != "composition" or definitions.composition(*flat) == ""
    return True


@pytest.mark.parametrize(("operation", "shape", "by"), GIVEN)
def test_what_is_given_in_numbers_is_right_or_rejected(operation: str, shape: str, by: str) -> None:
    """Extents of 1, strides of 0 and below, modes that merge: the answer is that of the call itself."""
    inferred = infer_conditions(operation, shape, by)
    assert inferred.exact
    expected = "exact: right in every case" if is_right(operation, shape, by) else "exact: rejected in every case"
    assert inferred.report.splitlines()[-1] == expected


@pytest.mark.parametrize(
    ("shape", "expected"), [("(4,8):(1,-4)", "rejected in every case"), ("(1,8):(-3,1)", "right in")]
)
def test_a_negative_stride_is_answered(shape: str, expected: str) -> None:
    a = Layout.parse(shape)
    assert expected in infer_conditions("complement", shape, "64").report.splitlines()[-1]
    if expected.startswith("right"):
        assert complement(a, 64) == Layout(8, 8)
    else:
        with pytest.raises(LayoutError):
            complement(a, 64)


def test_assumptions_about_letters_are_printed() -> None:
    lines = infer_conditions("composition", "(6,2)", "N:2").report.splitlines()
    assert lines[1] == "  where D1 != 6 * D0, N >= 2"
    assert "where" not in infer_conditions("composition", "(6,2):(1,7)", "3:2").report


def test_nested_modes_are_flattened() -> None:
    """A profile isn't a condition: the cases are those of the flat layouts."""
    nested = infer_conditions("composition", "((2, 3),2):((4,9),2)", "((N)):((2))")
    assert nested.exact
    assert nested.cases == infer_conditions("composition", "(2,3,2):(4,9,2)", "N:2").cases


def test_merged_modes_are_printed() -> None:
    assert "its modes merged: 8:1" in infer_conditions("composition", "(2,4):(1,2)", "N:r").report
    assert "extents of 1 left out: (2,4)" in infer_conditions("composition", "(2,1,4)", "2:r").report
