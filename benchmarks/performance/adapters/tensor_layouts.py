# SPDX-License-Identifier: Apache-2.0
"""tensor-layouts."""

import tensor_layouts


def one_at_a_time(shape, stride):
    layout = tensor_layouts.Layout(shape, stride)
    points = tensor_layouts.size(layout)
    return lambda: [layout(i) for i in range(points)]


EVALUATE = {"one at a time": one_at_a_time}
OPERATIONS = {
    "composition": tensor_layouts.compose,
    "complement": tensor_layouts.complement,
    "right_inverse": tensor_layouts.right_inverse,
    "coalesce": tensor_layouts.coalesce,
    "logical_divide": tensor_layouts.logical_divide,
}


def layout(shape, stride, space):
    return tensor_layouts.Layout(shape, stride)


def plain(layout):
    return layout.shape, layout.stride
