# SPDX-License-Identifier: Apache-2.0
"""Ours: `Layout.__call__` for one index after the other, and the engine of `layouts.batched`."""

import numpy as np

from layouts import Layout, coalesce, complement, composition, logical_divide, right_inverse, size
from layouts.batched import batch


def one_at_a_time(shape, stride):
    """Every value, by a call for each index."""
    layout = Layout(shape, stride)
    return lambda: [layout(i) for i in range(size(layout))]


def batched(shape, stride):
    """Every value as one array; what the engine prepares of a layout is prepared each time."""
    layout = Layout(shape, stride)
    return lambda: batch(layout).values()


def blocks(shape, stride):
    """Every value, in arrays of a bounded size, as checks use them."""
    layout = Layout(shape, stride)
    return lambda: Visited(layout)


class Visited:
    """All values of a layout, visited block by block; joined only for the comparison."""

    def __init__(self, layout):
        self.layout = layout
        for _ in batch(layout).blocks():
            pass

    def whole(self):
        return np.concatenate([values.astype(np.int64) for _, values in batch(self.layout).blocks()])


EVALUATE = {"one at a time": one_at_a_time, "batched": batched, "batched, in blocks": blocks}
OPERATIONS = {
    "composition": composition,
    "complement": complement,
    "right_inverse": right_inverse,
    "coalesce": coalesce,
    "logical_divide": logical_divide,
}


def layout(shape, stride, space):
    return Layout(shape, stride)


def plain(layout):
    return layout.shape, layout.stride
