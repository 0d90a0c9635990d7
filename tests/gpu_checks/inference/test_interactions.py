# SPDX-License-Identifier: Apache-2.0
"""The classes of interactions, by value and against their definition."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gpu_checks.inference import interactions
from gpu_checks.machine import Hits
from gpu_checks.model import COLUMN, CONTRACTED, ROW
from tests.messages import OTHER_PRODUCT


def test_classes_that_do_not_make_the_interactions_are_reported():
    a, k = np.divmod(np.arange(8), 2)  # 4 rows, 2 k, 3 columns
    d, b = (3 * x[:, None] + np.arange(3) for x in (a, k))
    table = interactions.Interactions(np.arange(8), d, b)
    counts = {"A": 8, "B": 6, "D": 12}
    labelled = interactions.label(counts, [table])
    assert labelled.notes == () and labelled.labels["A"][:, ROW].tolist() == a.tolist()
    flat = [labelled.labels[x] for x in "ABD"]
    assert interactions.digest([interactions.rebuild(*flat)]) == interactions.digest([table])
    assert interactions.label(counts, [interactions.Interactions(np.arange(1, 8), d[1:], b[1:])]).notes
    swapped = b.copy()
    swapped[1, 1] ^= 1
    assert interactions.label(counts, [replace(table, b=swapped)]).notes
    assert interactions.digest([replace(table, b=swapped)]) != interactions.digest([table])


def test_rows_are_numbered_as_a_has_them_and_columns_as_b_has_them():
    """In order of first appearance, not in that of the elements of D: A and B have rows and columns backwards."""
    row, k = np.repeat([2, 0, 1], 2), np.tile([0, 1], 3)
    d, b = 2 * row[:, None] + np.arange(2), 2 * k[:, None] + np.array([1, 0])
    labelled = interactions.label({"A": 6, "B": 4, "D": 6}, [interactions.Interactions(np.arange(6), d, b)])
    assert labelled.notes == ()
    assert labelled.labels["A"][:, [ROW, CONTRACTED]].tolist() == [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1]]
    assert labelled.labels["B"][:, [COLUMN, CONTRACTED]].tolist() == [[0, 0], [1, 0], [0, 1], [1, 1]]
    assert labelled.labels["D"][:, [ROW, COLUMN]].tolist() == [[1, 1], [1, 0], [2, 1], [2, 0], [0, 1], [0, 0]]


def label_axes(*axes):
    """Up to nine labels with small classes, or none, on some axes."""
    label = st.tuples(*(st.integers(-1, 2) if axis in axes else st.just(-1) for axis in range(4)))
    return st.lists(label, min_size=1, max_size=9).map(np.array)


@given(label_axes(ROW, CONTRACTED), label_axes(COLUMN, CONTRACTED), label_axes(ROW, COLUMN))
def test_interactions_are_rebuilt_from_any_labels_by_their_definition(a, b, d):
    """The last of two slots with one label counts; without a complete row of D and k of B there are no interactions."""
    home = {(m, n): slot for slot, (m, n, _, _) in enumerate(d.tolist()) if m >= 0 and n >= 0}
    partners = {(k, n): slot for slot, (_, n, k, _) in enumerate(b.tolist()) if k >= 0 and n >= 0}
    columns = range(1 + max(0, d[:, COLUMN].max()))
    want = {}
    for slot, (m, _, k, _) in enumerate(a.tolist()):
        if m >= 0 and k >= 0 and all((m, n) in home and (k, n) in partners for n in columns):
            want[slot] = sorted((home[m, n], partners[k, n]) for n in columns)
    rebuilt = interactions.rebuild(a, b, d)
    rows = zip(rebuilt.a.tolist(), rebuilt.d.tolist(), rebuilt.b.tolist(), strict=True)
    assert {slot: list(zip(ds, bs, strict=True)) for slot, ds, bs in rows} == want


def hits(counts, places, codes):
    return Hits(np.array(counts, np.uint32), np.array(places, np.uint16), np.array(codes, np.int32))


def test_elements_with_too_few_too_many_or_strange_interactions_are_reported_and_left_out():
    """Two configurations of three elements, with two interactions each; what follows a count is ignored."""
    seen = hits([2, 1, 0, 3, 2, 2], [[0, 4]] * 6, [[0, 1], [1, 99], [-7, 99], [0, 1], [2, 3], [3, 4]])
    (first, second), notes = interactions.collect(seen, np.array([5, 6, 7]), 4)
    assert (first.a.tolist(), first.d.tolist(), first.b.tolist()) == ([5], [[0, 4]], [[0, 1]])
    assert (second.a.tolist(), second.d.tolist(), second.b.tolist()) == ([6], [[0, 4]], [[2, 3]])
    assert notes == (
        "1 elements of A contribute to more than 2 elements of D",
        "1 elements of A contribute to some elements of D, but not 2",
        f"1 elements of D got {OTHER_PRODUCT}",
    )


def test_places_of_an_image_without_interactions_have_no_label():
    slots, rows, k = np.array([[0, 2], [2, 0]]), np.array([[1, 0], [0, 1]]), np.array([[5, 6], [6, 5]])
    labels, wrong = interactions.transfer(4, slots, rows, k, ROW)
    assert labels.tolist() == [[1, -1, 5, 0], [-1] * 4, [0, -1, 6, 0], [-1] * 4] and wrong == 0
    assert interactions.transfer(4, slots, rows, np.array([[5, 6], [6, 6]]), ROW)[1] == 1
