# SPDX-License-Identifier: Apache-2.0
"""A layout as a tuple of modes: the result is compared with plain tuple surgery on its modes."""

import pytest
from hypothesis import given
from hypothesis import strategies as hyp

from layouts import (
    Layout,
    LayoutError,
    ProfileError,
    append,
    flatten,
    group,
    prepend,
    replace,
    select,
    take,
    unflatten,
)
from tests.layouts import strategies as st

SIGNED = st.layouts(low=-12)


def modes_of(layout):
    """(shape, stride) of each top-level mode."""
    if not isinstance(layout.shape, tuple):
        return [(layout.shape, layout.stride)]
    return list(zip(layout.shape, layout.stride, strict=True))


@given(SIGNED)
def test_flattening_keeps_the_modes_and_unflattening_nests_them_again(layout):
    flat = flatten(layout)
    assert st.flat(flat.shape) == st.flat(layout.shape)
    assert st.flat(flat.stride) == st.flat(layout.stride)
    assert all(not isinstance(s, tuple) for s, _ in modes_of(flat))
    assert unflatten(flat, layout.shape) == layout
    with pytest.raises(ProfileError, match="cannot nest"):
        unflatten(flat, (layout.shape, 1))


@given(SIGNED, hyp.data())
def test_group_and_take_a_range_of_modes(layout, data):
    begin = data.draw(hyp.integers(0, len(layout)))
    end = data.draw(hyp.integers(begin, len(layout)))
    modes = modes_of(layout)
    if begin == end:
        assert group(layout, begin, end) == layout
        with pytest.raises(LayoutError, match="at least one mode"):
            take(layout, begin, end)
        return
    taken = take(layout, begin, end)
    assert isinstance(taken.shape, tuple)
    assert modes_of(taken) == modes[begin:end]
    grouped = group(layout, begin, end)
    assert modes_of(grouped) == [*modes[:begin], (taken.shape, taken.stride), *modes[end:]]
    assert st.table(grouped).tolist() == st.table(layout).tolist()


@given(SIGNED, hyp.data())
def test_select_and_replace_pick_modes(layout, data):
    picks = data.draw(hyp.lists(hyp.integers(0, len(layout) - 1), max_size=4))
    modes = modes_of(layout)
    assert modes_of(select(layout, picks)) == [modes[i] for i in picks]
    new = data.draw(SIGNED)
    at = data.draw(hyp.integers(0, len(layout) - 1))
    modes[at] = (new.shape, new.stride)
    replaced = replace(layout, at, new)
    assert (modes_of(replaced) == modes) if isinstance(layout.shape, tuple) else (replaced == new)


@given(SIGNED, SIGNED, hyp.integers(0, 3))
def test_append_and_prepend_add_modes(layout, mode, more):
    modes, new = modes_of(layout), (mode.shape, mode.stride)
    assert modes_of(append(layout, mode)) == [*modes, new]
    assert modes_of(prepend(layout, mode)) == [new, *modes]
    wanted = len(layout) + more
    assert append(layout, mode, layout_rank := len(layout)) == layout
    assert prepend(layout, mode, layout_rank) == layout
    if more:
        assert modes_of(append(layout, mode, wanted)) == modes + [new] * more
        assert modes_of(prepend(layout, mode, wanted)) == [new] * more + modes
        assert modes_of(append(layout, up_to_rank=wanted)) == modes + [(1, 0)] * more


def test_bad_modes_are_rejected():
    layout = Layout((2, 3), (1, 2))
    for call, problem in [
        (lambda: group(layout, 1, 3), "2 modes, 1 .. 3 isn't a range"),
        (lambda: group(layout, -1, 1), "a range of them"),
        (lambda: take(layout, 2, 1), "a range of them"),
        (lambda: select(layout, (0, 2)), "modes 0 .. 1, not 2"),
        (lambda: replace(layout, -1, layout), "modes 0 .. 1, not -1"),
        (lambda: append(layout, up_to_rank=1), "more than the 1 asked for"),
    ]:
        with pytest.raises(LayoutError, match=problem):
            call()
    assert replace(Layout(8, 2), 0, layout) == layout
