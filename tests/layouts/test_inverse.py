# SPDX-License-Identifier: Apache-2.0
"""Right and left inverses against their definitions."""

from itertools import pairwise

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as hyp

from layouts import Layout, LayoutError, coalesce, left_inverse, right_inverse, size
from tests.layouts import strategies as st
from tests.messages import NOT_DIVIDING

SIGNED = st.layouts(low=-8, high=20)


def repeats_only_by_stride_0(layout):
    """Whether the layout takes each value once when its stride-0 modes are left at 0."""
    pairs = zip(st.flat(layout.shape), st.flat(layout.stride), strict=True)
    kept = [(s, d) for s, d in pairs if d != 0]
    values = st.table(Layout(tuple(s for s, _ in kept), tuple(d for _, d in kept))).tolist()
    return len(set(values)) == len(values)


@given(st.any_layout() | SIGNED)
@example(Layout.parse("(2,4):(1,1)"))
@example(Layout.parse("(2,4,16):(1,1,2)"))
def test_a_right_inverse_finds_an_index_for_each_value(layout):
    values, indices = st.table(layout).tolist(), st.table(right_inverse(layout)).tolist()
    assert [values[x] for x in indices] == list(range(len(indices)))


@given(st.any_layout())
def test_a_right_inverse_is_maximal_where_only_stride_0_repeats(layout):
    assume(repeats_only_by_stride_0(layout))
    assert size(right_inverse(layout)) not in set(st.table(layout).tolist())


@given(st.nested_strides(gap=1, zeros=True))
def test_a_right_inverse_of_a_compact_layout_takes_all_its_values(layout):
    assert size(right_inverse(layout)) == len(set(st.table(layout).tolist()))


@given(hyp.lists(hyp.tuples(hyp.integers(2, 4), hyp.sampled_from([0, 1, 1, 2, 3, 4, 6, 8, 12])), max_size=5))
@example([(3, 2), (2, 1), (5, 1)])
def test_a_right_inverse_is_the_longest_chain_of_modes_where_strides_tie(modes):
    flat = coalesce(Layout(tuple(s for s, _ in modes), tuple(d for _, d in modes)))
    pairs = list(zip(st.flat(flat.shape), st.flat(flat.stride), strict=True))

    def longest(end):
        return max((longest(end * s) for s, d in pairs if d == end and s > 1), default=end)

    assert size(right_inverse(flat)) == longest(1)


@pytest.mark.parametrize(
    ("layout", "result"),
    [
        ("(4,(2,2)):(2,(1,16))", "(2,4):(4,1)"),
        ("(4,8):(8,1)", "(8,4):(4,1)"),
        ("(4,8):(1,4)", "32:1"),
        ("(4,8):(1,5)", "4:1"),
        ("(3,4):(0,1)", "4:3"),
        ("4:2", "1:0"),
        ("4:-1", "1:0"),
        ("1:7", "1:0"),
        ("(2,4):(1,1)", "4:2"),
        ("(2,4,16):(1,1,2)", "(2,16):(1,8)"),
        ("((4,8),(2,2)):((32,1),(16,8))", "(8,2,2,4):(4,64,32,1)"),
    ],
)
def test_a_right_inverse_is_the_expected_layout(layout, result):
    assert str(right_inverse(Layout.parse(layout))) == result


@given(st.nested_strides() | st.any_layout() | SIGNED)
@example(Layout.parse("(4,8):(1,5)"))
@example(Layout.parse("(2,2):(2,3)"))
def test_a_left_inverse_gives_the_index_back_and_is_rejected_only_without_its_conditions(layout):
    """Rejected exactly where a stride is below 1, does not divide the next, or two modes overlap."""
    pairs = zip(st.flat(coalesce(layout).stride), st.flat(coalesce(layout).shape), strict=True)
    modes = sorted((d, s) for d, s in pairs if s > 1)
    holds = all(d > 0 for d, _ in modes) and all(e % d == 0 and s * d <= e for (d, s), (e, _) in pairwise(modes))
    try:
        result = left_inverse(layout)
    except LayoutError:
        assert not holds
        return
    assert holds
    assert [st.value_at(result, x) for x in st.table(layout).tolist()] == list(range(size(layout)))


@pytest.mark.parametrize(
    ("layout", "result"),
    [
        ("(4,8):(1,5)", "(5,8):(1,4)"),
        ("(4,8):(8,1)", "(8,4):(4,1)"),
        ("4:2", "(2,4):(0,1)"),
        ("8:1", "8:1"),
        ("1:7", "1:0"),
        ("(2,4):(1,6)", "(6,4):(1,2)"),
    ],
)
def test_a_left_inverse_is_the_expected_layout(layout, result):
    assert str(left_inverse(Layout.parse(layout))) == result


@pytest.mark.parametrize(
    ("layout", "reason"),
    [
        ("(2,2):(2,3)", "modes 2:2 and 2:3 overlap"),
        ("(4,2):(1,2)", "modes 4:1 and 2:2 overlap"),
        ("(2,2):(2,5)", f"stride 2 {NOT_DIVIDING} 5"),
        ("(4,2):(1,0)", "mode 2:0 needs a stride of at least 1"),
        ("4:-1", "mode 4:-1 needs a stride of at least 1"),
        ("(2,2):(1,1)", "modes 2:1 and 2:1 overlap"),
        ("(4,2):(3,10)", "modes 4:3 and 2:10 overlap"),
    ],
)
def test_left_inverse_rejections_name_the_numbers(layout, reason):
    with pytest.raises(LayoutError, match=reason):
        left_inverse(Layout.parse(layout))


@given(st.nested_strides(gap=1))
def test_of_a_bijection_both_inverses_are_the_inverse(layout):
    values = st.table(layout).tolist()
    for inverse in (left_inverse(layout), right_inverse(layout)):
        assert st.table(inverse).tolist() == [values.index(k) for k in range(len(values))]
