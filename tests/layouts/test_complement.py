# SPDX-License-Identifier: Apache-2.0
"""The complement against its definition: disjoint, ordered, covering."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as hyp

from layouts import Layout, LayoutError, complement, cosize, size
from tests.layouts import strategies as st
from tests.messages import NOT_DIVIDING


def without_repetition(layout):
    """The values of the layout with its stride-0 modes at 0."""
    kept = [(s, d) for s, d in zip(st.flat(layout.shape), st.flat(layout.stride), strict=True) if d != 0]
    return st.table(Layout(tuple(s for s, _ in kept), tuple(d for _, d in kept))).tolist()


def assert_complement(layout, target, result):
    own, rest = without_repetition(layout), st.table(result).tolist()
    sums = [x + y for x in own for y in rest]
    assert len(set(sums)) == len(sums), "disjoint"
    assert not set(rest[1:]) & set(st.table(layout).tolist()), "disjoint"
    assert all(x < y for x, y in pairwise(rest)), "ordered"
    assert set(range(target)) <= set(sums), "covering"
    return sums


def floor_fold(layout, target):
    """The table that CuTe's fold gives with floor division at the gaps: right or wrong; None where a gap is 0."""
    modes, reach = [], 1
    pairs = sorted(zip(st.flat(layout.stride), st.flat(layout.shape), strict=True))
    for d, s in [(d, s) for d, s in pairs if s > 1 and d != 0]:
        if d < reach:
            return None
        modes.append((d // reach, reach))
        reach = s * d
    modes.append((-(-target // reach), reach))
    return st.table(Layout(tuple(s for s, _ in modes), tuple(d for _, d in modes))).tolist()


@pytest.mark.long
@given(st.any_layout(max_size=60), hyp.integers(1, 80))
@example(Layout.parse("(2,2):(1,5)"), 20)
@example(Layout.parse("(2,2):(1,5)"), 4)
@example(Layout.parse("(2,2):(1,3)"), 6)
def test_a_complement_satisfies_its_definition_and_is_rejected_only_where_the_fold_does_not(layout, target):
    try:
        result = complement(layout, target)
    except LayoutError:
        rest = floor_fold(layout, target)
        assert rest is None or not set(range(target)) <= {x + y for x in without_repetition(layout) for y in rest}
        return
    assert_complement(layout, target, result)
    assert floor_fold(layout, target) in (None, st.table(result).tolist())  # None: modes interleave above the cotarget


@given(st.nested_strides(zeros=True, max_size=40), hyp.integers(1, 80))
def test_nested_strides_always_have_a_complement_that_fills_whole_periods(layout, target):
    for result, bound in [(complement(layout, target), target), (complement(layout), cosize(layout))]:
        sums = assert_complement(layout, bound, result)
        assert sorted(sums) == list(range(len(sums)))
    if cosize(layout) > 1:
        assert complement(layout) == complement(layout, cosize(layout))


def test_the_default_cotarget_is_the_cosize():
    layout = Layout.parse("(2,2):(1,6)")
    assert complement(layout) == complement(layout, 8) == Layout(3, 2)
    assert complement(layout, 13) == Layout((3, 2), (2, 12))


def test_a_shape_or_a_layout_may_be_the_cotarget():
    layout = Layout(4, 2)
    assert complement(layout, (4, (2, 3))) == complement(layout, Layout((4, 6), (1, 100))) == complement(layout, 24)


@pytest.mark.parametrize(
    ("layout", "target", "result"),
    [
        ("4:1", 24, "6:4"),
        ("6:4", 24, "4:1"),
        ("(4,6):(1,4)", 24, "1:0"),
        ("4:2", 24, "(2,3):(1,8)"),
        ("(2,4):(1,6)", 24, "3:2"),
        ("(2,2):(1,6)", 24, "(3,2):(2,12)"),
        ("4:2", 19, "(2,3):(1,8)"),
        ("1:0", 5, "5:1"),
        ("(3,4):(0,0)", 5, "5:1"),
        ("4:1", 1, "1:0"),
        ("(2,2):(1,5)", 4, "2:2"),
        ("(4,2):(1,0)", 8, "2:4"),
    ],
)
def test_results_are_cute_s(layout, target, result):
    assert str(complement(Layout.parse(layout), target)) == result


@pytest.mark.parametrize(
    ("layout", "target", "reason"),
    [
        ("(2,2):(1,5)", 20, f"2 {NOT_DIVIDING} 5, so 4 cannot be covered"),
        ("(2,2):(1,5)", None, "so 4 cannot be covered"),
        ("(2,2):(1,3)", 6, f"2 {NOT_DIVIDING} 3, so 2 cannot be covered"),
        ("(2,2):(1,1)", 6, r"2:1 has overlapping modes: the smaller strides fill \[0, 2\)"),
        ("(4,2):(1,2)", None, "2:2 has overlapping modes"),
        ("4:-1", 8, "4:-1 has a negative stride"),
        ("4:1", 0, "cotarget must be at least 1, got 0"),
    ],
)
def test_rejections_name_the_numbers(layout, target, reason):
    layout = Layout.parse(layout)
    with pytest.raises(LayoutError, match=reason) as error:
        complement(layout, target)
    assert f"complement of {layout}" in str(error.value)


@given(st.nested_strides(max_size=40), hyp.integers(1, 4))
def test_the_complement_of_a_complement_gives_the_image_back(layout, times):
    period = cosize(layout) * times
    rest = complement(layout, period)
    again = complement(rest, cosize(rest))
    own = set(st.table(layout).tolist())
    assert {x for x in st.table(again).tolist() if x < cosize(rest)} <= own
    assert size(layout) * size(rest) >= period
