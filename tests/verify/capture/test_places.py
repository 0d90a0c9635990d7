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


def list_all(one: ViewPlaces) -> ViewPlaces:
    return ViewPlaces.of_list(one.each)


@pytest.mark.parametrize("seed", range(8))
def test_offset_and_strides_say_what_the_lists_say(seed: int) -> None:
    rng = random.Random(seed)
    views = [draw(rng) for _ in range(60)]
    hits = {"same": 0, "set": 0, "meets": 0, "moved": 0, "fit": 0}
    for one in views:
        assert one.distinct == len(set(one.each.tolist()))
        assert one.span == (one.each.min(), one.each.max())
        for other in rng.sample(views, 20):
            same = np.array_equal(one.each, other.each)
            assert one.is_same(other) == one.is_same(list_all(other)) == same
            assert one.has_same_set(other) == (set(one.each.tolist()) == set(other.each.tolist()))
            assert one.meets(other) == bool(set(one.each.tolist()) & set(other.each.tolist()))
            hits["same"] += same
            hits["set"] += one.has_same_set(other)
            hits["meets"] += one.meets(other)
    for one, own, theirs in (rng.choices(views, k=3) for _ in range(2000)):
        if len(own) != len(theirs):
            assert one.relocate(own, theirs) is None
            continue
        if own.distinct < len(own):
            continue
        table = dict(zip(own.each.tolist(), theirs.each.tolist(), strict=True))
        found, inside = one.relocate(own, theirs), set(one.each.tolist()) <= table.keys()
        assert (found is not None) == inside
        if found is not None:
            assert found.each.tolist() == [table[place] for place in one.each.tolist()]
            hits["moved"] += 1
    for one in views:
        for shape in {one.shape, (len(one),), one.shape[::-1], (1, *one.shape), (len(one) // 2, 2)}:
            if np.prod(shape) == len(one):
                found, listed = one.fit(shape), list_all(one).fit(shape)
                assert (found is None) == (listed is None)
                if found is not None:
                    assert np.array_equal(ViewPlaces(found[2], found[0], found[1]).each, one.each)
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
