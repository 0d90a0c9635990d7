# SPDX-License-Identifier: Apache-2.0
"""Coalesce and filter keep the function, or the image, in the fewest modes."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as hyp

from layouts import Layout, LayoutError, coalesce, filter, filter_zeros, same_function, size
from tests.layouts import strategies as st

SIGNED = st.layouts(low=-12, high=12)


def fewest_modes(values):
    """The number of flat modes of a layout with these values: each mode is as long as its steps are equal."""
    modes = 0
    while len(values) > 1:
        n = next((k for k, v in enumerate(values) if v != k * values[1]), len(values))
        values = values[::n]
        modes += 1
    return max(modes, 1)


@given(hyp.one_of(SIGNED, st.nested_strides(gap=1), st.nested_strides(gap=2, zeros=True)))
def test_coalesce_keeps_the_function_in_the_fewest_modes(layout):
    result = coalesce(layout)
    assert st.table(result).tolist() == st.table(layout).tolist()
    assert not isinstance(result.shape, tuple) or len(result.shape) > 1
    assert all(not isinstance(s, tuple) for s in (result.shape if isinstance(result.shape, tuple) else ()))
    assert len(st.flat(result.shape)) == fewest_modes(st.table(layout).tolist())


@pytest.mark.parametrize(
    ("text", "profile", "result"),
    [
        ("(2,(1,6)):(1,(6,2))", None, "12:1"),
        ("(2,(1,6)):(1,(6,2))", 5, "12:1"),
        ("(1,(1,1)):(7,(8,9))", None, "1:0"),
        ("(4,1):(2,9)", None, "4:2"),
        ("(2,3,2):(0,0,0)", None, "12:0"),
        ("(4,3):(-1,-4)", None, "12:-1"),
        ("(2,(1,6)):(1,(6,2))", (1, 1), "(2,6):(1,2)"),
        ("((2,2),(3,1),5):((1,2),(4,0),7)", (1,), "(4,(3,1),5):(1,(4,0),7)"),
        ("((2,(2,2)),3):((1,(2,4)),8)", ((1, 1), 1), "((2,4),3):((1,2),8)"),
    ],
)
def test_coalescing_by_a_profile_keeps_its_modes(text, profile, result):
    assert str(coalesce(Layout.parse(text), profile)) == result


@given(SIGNED, hyp.data())
def test_coalesce_and_filter_by_profile_work_on_each_mode(layout, data):
    assume(isinstance(layout.shape, tuple))
    modes = data.draw(hyp.integers(0, len(layout)))
    for simplify in (coalesce, filter):
        result = simplify(layout, (1,) * modes)
        assert list(result) == [simplify(layout[i]) if i < modes else layout[i] for i in range(len(layout))]
        with pytest.raises(LayoutError, match="modes"):
            simplify(layout, (1,) * (len(layout) + 1))


@pytest.mark.long
@given(st.layouts(low=-12, high=12), st.layouts(low=-12, high=12), hyp.booleans())
def test_same_function_means_the_same_table(a, b, split):
    assert same_function(a, b) == (st.table(a).tolist() == st.table(b).tolist())
    tail = Layout(((a.shape, 1), (1,)), ((a.stride, 77), (-5,)))
    assert same_function(a, tail)
    nudged = Layout((a.shape, 2), (a.stride, 1000))
    assert not same_function(a, nudged)
    assert not same_function(nudged, Layout((a.shape, 2), (a.stride, 1001)))


@given(st.any_layout())
def test_filter_keeps_the_image_and_drops_the_repetition_of_stride_0(layout):
    result = filter(layout)
    pairs = list(zip(st.flat(layout.shape), st.flat(layout.stride), strict=True))
    assert set(st.table(result)) == set(st.table(layout))
    assert size(result) == st.count(tuple(s for s, d in pairs if d != 0))
    kept = [(s, d) for s, d in pairs if s > 1 and d != 0]
    flat = Layout(tuple(s for s, _ in kept), tuple(d for _, d in kept))
    assert st.table(result).tolist() == st.table(flat).tolist()


@given(SIGNED)
def test_filter_zeros_keeps_the_profile(layout):
    result = filter_zeros(layout)
    assert result.stride == layout.stride
    assert st.flat(result.shape) == [
        1 if d == 0 else s for s, d in zip(st.flat(layout.shape), st.flat(layout.stride), strict=True)
    ]


def test_filter_zeros_by_profile():
    layout = Layout.parse("((2,3),(4,5)):((1,2),(6,24))")
    assert str(filter_zeros(layout, (0, (1, 0)))) == "((1,1),(4,1)):((1,2),(6,24))"
    assert filter_zeros(layout, 7) == layout
    with pytest.raises(LayoutError, match="3 modes"):
        filter_zeros(layout, (0, 0, 0))
