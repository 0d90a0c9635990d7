# SPDX-License-Identifier: Apache-2.0
"""Places by offset and strides: what is said of them is what a comparison of all of them says, on random views."""

import random

import numpy as np
import pytest

from verify.capture.places import Unchecked, ViewPlaces


def draw(rng: random.Random) -> ViewPlaces:
    """Return a view of up to three indices: dense, strided, transposed, broadcast or reversed."""
    shape = [rng.choice((1, 2, 3, 4, 6)) for _ in range(rng.randint(1, 3))]
    strides, reach = [], rng.choice((1, 1, 2))
    for extent in reversed(shape):
        strides.append(rng.choice((reach, reach, reach, 0, reach + 1, -reach)))
        reach *= extent
    if rng.random() < 0.3:
        rng.shuffle(strides)
    return ViewPlaces(rng.choice((0, 30)), shape, strides[::-1])


def list_all(view: ViewPlaces) -> ViewPlaces:
    return ViewPlaces.of_list(view.each)


@pytest.mark.parametrize("seed", range(8))
def test_offset_and_strides_say_what_the_lists_say(seed: int) -> None:
    rng = random.Random(seed)
    views = [draw(rng) for _ in range(60)]
    hits = {"same": 0, "set": 0, "meets": 0, "moved": 0, "fit": 0}
    for view in views:
        assert view.distinct == len(set(view.each.tolist()))
        assert view.span == (view.each.min(), view.each.max())
        for second in rng.sample(views, 20):
            same = np.array_equal(view.each, second.each)
            assert view.is_same(second) == view.is_same(list_all(second)) == same
            assert view.has_same_set(second) == (set(view.each.tolist()) == set(second.each.tolist()))
            assert view.meets(second) == bool(set(view.each.tolist()) & set(second.each.tolist()))
            hits["same"] += same
            hits["set"] += view.has_same_set(second)
            hits["meets"] += view.meets(second)
    for view, own, theirs in (rng.choices(views, k=3) for _ in range(2000)):
        if len(own) != len(theirs):
            assert view.relocate(own, theirs) is None
            continue
        if own.distinct < len(own):
            continue
        table = dict(zip(own.each.tolist(), theirs.each.tolist(), strict=True))
        outcome, inside = view.relocate(own, theirs), set(view.each.tolist()) <= table.keys()
        assert (outcome is not None) == inside
        if outcome is not None:
            assert outcome.each.tolist() == [table[place] for place in view.each.tolist()]
            hits["moved"] += 1
    for view in views:
        for shape in {view.shape, (len(view),), view.shape[::-1], (1, *view.shape), (len(view) // 2, 2)}:
            if np.prod(shape) == len(view):
                outcome, listed = view.fit(shape), list_all(view).fit(shape)
                assert (outcome is None) == (listed is None)
                if outcome is not None:
                    assert np.array_equal(ViewPlaces(outcome[2], outcome[0], outcome[1]).each, view.each)
                    hits["fit"] += 1
    assert all(hits.values()), hits


def test_a_tensor_of_a_benchmark_is_not_listed() -> None:
    whole = ViewPlaces(0, (1 << 14, 1 << 14), (1 << 14, 1))
    flat = ViewPlaces(0, (1 << 28,), (1,))
    turned = ViewPlaces(0, (1 << 14, 1 << 14), (1, 1 << 14))
    assert whole.is_same(flat) and not whole.is_same(turned) and whole.has_same_set(turned)
    assert turned.relocate(whole, flat).fit(turned.shape) == (turned.shape, turned.strides, 0)  # type: ignore[union-attr]
    assert flat.fit(whole.shape) == (whole.shape, whole.strides, 0)
    with pytest.raises(Unchecked, match="more than 16777216 elements"):
        _ = ViewPlaces(0, (1 << 14, 1 << 14), (1, 1)).distinct
