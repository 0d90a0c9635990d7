# SPDX-License-Identifier: Apache-2.0
"""CUTLASS's pycute."""

import pycute


def one_at_a_time(shape, stride):
    layout = pycute.Layout(shape, stride)
    return lambda: [layout(i) for i in range(layout.size())]


EVALUATE = {"one at a time": one_at_a_time}
OPERATIONS = {
    name: getattr(pycute, name) for name in ("composition", "complement", "right_inverse", "coalesce", "logical_divide")
}


def layout(shape, stride, space):
    return pycute.Layout(shape, stride)


def plain(layout):
    return layout.shape, layout.stride
