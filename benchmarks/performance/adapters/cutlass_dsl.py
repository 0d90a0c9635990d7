# SPDX-License-Identifier: Apache-2.0
"""CuTe DSL: its operations while a function is traced; its values by a loop that it has compiled for the CPU.

The loop is compiled before it is timed.
"""

import os

os.environ.setdefault("CUTE_DSL_ARCH", "sm_90a")

import cutlass
import numpy as np
from cutlass import cute
from cutlass.cute.runtime import from_dlpack

made = {}  # (shape, stride) -> (the compiled loop, its array)


def compiled(shape, stride):
    if (shape, stride) not in made:

        @cute.jit
        def fill(out: cute.Tensor, points: cutlass.Int32):
            layout = cute.make_layout(shape, stride=stride)
            for i in cutlass.range(points):
                out[i] = cutlass.Int64(layout(i))

        points = int(np.prod(leaves(shape)))
        values = np.zeros(points, dtype=np.int64)
        tensor = from_dlpack(values)
        made.clear()
        made[shape, stride] = cute.compile(fill, tensor, points), tensor, points, values
    run, tensor, points, values = made[shape, stride]

    def body():
        run(tensor, points)
        return values

    return body


def leaves(modes):
    return [leaf for mode in modes for leaf in leaves(mode)] if isinstance(modes, tuple) else [modes]


EVALUATE = {"compiled for the CPU": compiled}
OPERATIONS = {
    name: getattr(cute, name) for name in ("composition", "complement", "right_inverse", "coalesce", "logical_divide")
}


def within(body):
    """Call a function while a jitted one is traced."""
    returned = []

    @cute.jit
    def trace():
        returned.append(body())

    trace()
    return returned[0]


def layout(shape, stride, space):
    return cute.make_layout(shape, stride=stride)


def plain(layout):
    return layout.shape, layout.stride
