# SPDX-License-Identifier: Apache-2.0
"""JAX's Mosaic GPU: tiled layouts of a warpgroup (`fragmented_array.py`) and those of mma.sync (`mma.py`).

A tiled layout cuts the array into dimensions, of which some are the warp's, some the lane's, and one is the vector in a
register; the others number the registers. `Tiling.untile_indices` says which element it is.
"""

import itertools
import math
from functools import partial

from jax.experimental.mosaic.gpu import fragmented_array as fa
from jax.experimental.mosaic.gpu.mma import MMALayouts
from jaxlib.mlir import ir

PROJECT = "jax"
TYPES = {
    "f16": lambda: ir.F16Type.get(),
    "bf16": lambda: ir.BF16Type.get(),
    "e4m3": lambda: ir.Float8E4M3FNType.get(),
    "e5m2": lambda: ir.Float8E5M2Type.get(),
    "s8": lambda: ir.IntegerType.get_signless(8),
    "s4": lambda: ir.IntegerType.get_signless(4),
}


def maps():
    """Operands of mma.sync for each warp, then A and D of wgmma."""
    for name in TYPES:
        for operand, field in (("A", "lhs"), ("B", "rhs"), ("C", "acc")):
            for warp in range(4):
                yield f"MMALayouts({name}).{field}, warp {warp}", partial(of_mma, name, operand, field, warp)
    for n in range(8, 257, 8):
        yield f"WGMMA_LAYOUT of D, n = {n}", partial(of_wgmma, "WGMMA_LAYOUT", "D", (64, n), wgmma("f16", n, 16))
    for layout, name, k in (
        ("WGMMA_LAYOUT", "f16", 16),
        ("WGMMA_LAYOUT", "bf16", 16),
        ("WGMMA_LAYOUT_8BIT", "e4m3", 32),
        ("WGMMA_LAYOUT_8BIT", "e5m2", 32),
    ):
        yield f"{layout} of A, {name}", partial(of_wgmma, layout, "A", (64, k), wgmma(name, 64, k))
    single = "WGMMA_LAYOUT_ACC_32BIT"  # one register for each value
    yield f"{single} of D, n = 64", partial(of_wgmma, single, "D", (64, 64), wgmma("f16", 64, 16))


def wgmma(name, n, k):
    """Return the mnemonic that `wgmma.py` writes for an f32 accumulator."""
    return f"wgmma.mma_async.sync.aligned.m64n{n}k{k}.f32.{name}.{name}"


def of_mma(name, operand, field, warp):
    """Return an operand of the instruction that each warp issues.

    Its 16 rows are those of the warp's part of the 64.
    """
    with ir.Context():
        layout = getattr(MMALayouts(TYPES[name]()), field)
    k = {"f16": 16, "bf16": 16, "s4": 64}.get(name, 32)
    result = "s32" if name in ("s8", "s4") else "f32"
    shape = {"A": (64, k), "B": (k, 8), "C": (64, 8)}[operand]
    axes = {"A": (("m", 16), ("k", k)), "B": (("k", k), ("n", 8)), "C": (("m", 16), ("n", 8))}[operand]
    first = 0 if operand == "B" else 16 * warp
    values = registers(layout, shape)

    def of(lane, value):
        row, column = element(layout, shape, warp, lane, values[value])
        return row - first, column

    return {
        "source": f"mma.py: MMALayouts.{field}",
        "ptx": f"mma.sync.aligned.m16n8k{k}.row.col.{result}.{name}.{name}.{result}",
        "operand": operand,
        "inputs": (("lane", 32), ("value", len(values))),
        "outputs": axes,
        "of": of,
    }


def of_wgmma(name, operand, shape, ptx):
    """Return A or D of a wgmma, over the 128 threads of a warpgroup."""
    layout = getattr(fa, name)
    values = registers(layout, shape)
    return {
        "source": f"fragmented_array.py: {name}",
        "ptx": ptx,
        "select": {"A_space": "reg"} if operand == "A" else {},
        "operand": operand,
        "inputs": (("lane", 128), ("value", len(values))),
        "outputs": (("m", shape[0]), ("nk"[operand == "A"], shape[1])),
        "of": lambda lane, value: element(layout, shape, lane // 32, lane % 32, values[value]),
    }


def registers(layout, shape):
    """Return the tiled indices of a thread's values, register after register."""
    tiled = layout.registers_shape(shape)
    vector = range(layout.vector_length)
    return [(index, place) for index in itertools.product(*map(range, tiled)) for place in vector]


def element(layout, shape, warp, lane, value):
    """Return the element of an array that one thread has in one of its values."""
    index, place = value
    position = list(index)
    position[layout.vector_dim] += place
    for dimensions, number in ((layout.warp_dims, warp), (layout.lane_dims, lane)):
        sizes = [d.times if isinstance(d, fa.Replicated) else layout.tiled_tiling_shape[d] for d in dimensions]
        for at, d in enumerate(dimensions):
            if not isinstance(d, fa.Replicated):
                position[d] += number // math.prod(sizes[at + 1 :]) % sizes[at]
    return tuple(layout.tiling.untile_indices(tuple(position)))
