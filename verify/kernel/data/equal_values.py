# SPDX-License-Identifier: Apache-2.0
"""Labels of bytes that hold equal values under different numbers, as threads write that compute the same."""

from __future__ import annotations

import numpy as np

from verify.kernel.data.distinct import sort_distinct
from verify.kernel.data.histories import BEFORE, LATELY, NAN, join_histories
from verify.kernel.data.values import FIRST, OUTSIDE, UNWRITTEN, Ids, Mask, Values

NEARLY = "write of values that are equal but for how they were rounded"  # the kind of a race, which is not decided


def find_equal(values: Values, old: Ids, new: Ids, most: int = LATELY) -> Mask:
    """Find labels that are the same byte of one value, or of two that are equal in exact arithmetic.

    Those have one type and a meaning, and went through no narrower format but as the last step of both; or before it,
    if `most` is BEFORE: then they are equal but for how they were rounded, unless that is a part of the values.
    """
    most = BEFORE if values.rounding else most
    if values.opaque:  # one id is not one value
        return np.asarray((old | new) == 0)
    equal: Mask = np.asarray(old == new)
    old_ids, new_ids = old >> np.uint32(3), new >> np.uint32(3)
    apart = ~equal & (old_ids >= FIRST) & (new_ids >= FIRST) & ((old ^ new) & np.uint32(7) == 0)
    if apart.any():
        values.flush()
        a, b = old_ids[apart], new_ids[apart]
        alike = (values.kind[a] == values.kind[b]) & values.equal(values.residues[:, a], values.residues[:, b])
        alike &= values.marks("level", a) == values.marks("level", b)
        causes = values.marks("cause", a)
        alike &= (causes == values.marks("cause", b)) & np.isin(causes, [0, *values.poles])  # 1/0 is 1/0 in both
        for name, highest in (("slot", 0), ("rounded", most)):
            marks = values.marks(name, a)
            alike &= (marks == values.marks(name, b)) & (marks <= highest)
        both = (values.marks("cause", a) == NAN) & (values.marks("cause", b) == NAN)  # as of a row that is all masked
        equal[apart] = alike | both & (values.kind[a] == values.kind[b])
    return equal


def find_unknown(values: Values, old: Ids, new: Ids) -> Mask:
    """Find labels of which one at least is of a value without a meaning: whether they are equal isn't known."""
    unknown = np.zeros(old.shape, bool)
    if values.opaque:
        return unknown
    known = [0, UNWRITTEN, OUTSIDE, NAN, *values.poles]
    for labels in (old, new):
        ids = labels >> np.uint32(3)
        made = ids >= FIRST
        unknown[~made] |= ~np.isin(ids[~made], known)
        unknown[made] |= ~np.isin(values.marks("cause", ids[made]), known)
    return unknown


def join_labels(values: Values, old: Ids, new: Ids, where: Mask) -> Ids:
    """Return the labels `new`; somewhere, if `old` are of equal values, those of values with the histories of both."""
    apart = where & (old != new)
    if not apart.any():
        return new
    values.flush()
    pairs, place = np.unique(new[apart] >> np.uint32(3), return_inverse=True)
    numbers = sort_distinct(values.history[np.concatenate([old[apart], new[apart]]) >> np.uint32(3)])
    first = values.new(len(pairs), 0)
    span = slice(first, values.top)
    for name in ("kind", "sample", "signs"):
        getattr(values, name)[span] = getattr(values, name)[pairs]
    values.residues[:, span] = values.residues[:, pairs]
    values.history[span] = values.histories.number(
        join_histories([values.histories[int(number)] for number in numbers])
    )
    labels = new.copy()
    labels[apart] = (first + place.reshape(-1)).astype(np.uint32) << np.uint32(3) | new[apart] & np.uint32(7)
    return labels
