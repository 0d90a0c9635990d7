# SPDX-License-Identifier: Apache-2.0
"""CuTe DSL's MMA atoms of one warp and of a warpgroup: their (thread, value) layouts, called inside a jitted function.

An element of A is m + M*k, of B n + N*k, of C m + M*n. What a wgmma reads from shared memory has no lanes, and is left
out.
"""

import os
from functools import partial

os.environ["CUTE_DSL_ARCH"] = "sm_90a"  # wgmma is made for no other

import cutlass
from cutlass import cute
from cutlass.cute.nvgpu import warp, warpgroup

PROJECT = "nvidia-cutlass-dsl"
TYPES = {
    "f16": cutlass.Float16,
    "bf16": cutlass.BFloat16,
    "f32": cutlass.Float32,
    "e4m3": cutlass.Float8E4M3FN,
    "e5m2": cutlass.Float8E5M2,
    "s8": cutlass.Int8,
    "u8": cutlass.Uint8,
    "s32": cutlass.Int32,
}


def maps():
    """Yield A, B and C of every atom of a warp; D, and A in registers, of wgmma."""
    for name, result, k in (
        ("f16", "f32", 16),
        ("f16", "f32", 8),
        ("f16", "f16", 16),
        ("f16", "f16", 8),
        ("bf16", "f32", 16),
        ("bf16", "f32", 8),
        ("tf32", "f32", 8),
        ("tf32", "f32", 4),
        ("e4m3", "f32", 32),
        ("e5m2", "f32", 32),
        ("e4m3", "f16", 32),
        ("e4m3", "f32", 16),
    ):
        for operand in "ABC":
            yield f"warp {name} to {result}, k = {k}, {operand}", partial(of_warp, name, result, k, operand)
    for n in range(8, 257, 8):
        yield f"warpgroup f16, n = {n}, D", partial(of_warpgroup, "f16", "f32", n, 16, "D")
    for name, result, k in (("f16", "f32", 16), ("bf16", "f32", 16), ("e4m3", "f32", 32), ("s8", "s32", 32)):
        yield f"warpgroup {name} A in registers", partial(of_warpgroup, name, result, 64, k, "A")


def of_warp(name, result, k, operand):
    """Return an operand of an mma.sync."""
    shape = (16, 8, k)

    def build():
        if name == "tf32":
            return warp.MmaTF32Op(shape)
        kind = warp.MmaFP8Op if name.startswith("e") else warp.MmaF16BF16Op
        return kind(TYPES[name], TYPES[result], shape)

    ptx = f"mma.sync.aligned.m16n8k{k}.row.col.{result}.{name}.{name}.{result}"
    return {**fragment(build, operand, shape), "source": "cute/nvgpu/warp/mma.py", "ptx": ptx, "operand": operand}


def of_warpgroup(name, result, n, k, operand):
    """D, or A in registers, of a wgmma."""

    def build():
        major = (warpgroup.OperandMajorMode.K,) * 2
        where = warpgroup.OperandSource.RMEM if operand == "A" else warpgroup.OperandSource.SMEM
        if name in ("f16", "bf16"):
            return warpgroup.MmaF16BF16Op(TYPES[name], TYPES[result], (64, n, k), where, *major)
        kind = warpgroup.MmaI8Op if name == "s8" else warpgroup.MmaF8Op
        return kind(TYPES[name], TYPES[name], TYPES[result], (64, n, k), where, *major)

    ptx = f"wgmma.mma_async.sync.aligned.m64n{n}k{k}.{result}.{name}.{name}"
    described = fragment(build, "C" if operand == "D" else operand, (64, n, k))
    select = {"A_space": "reg"} if operand == "A" else {}
    return {**described, "source": "cute/nvgpu/warpgroup/mma.py", "ptx": ptx, "operand": operand, "select": select}


def fragment(build, operand, shape):
    """Return the map of an operand of the atom of an operation; its layout is called for every (thread, value)."""
    m, n, k = shape
    elements = {}

    @cute.jit
    def read_layout():
        layout = getattr(cute.make_mma_atom(build()), f"tv_layout_{operand}")
        elements["sizes"] = cute.size(layout, mode=[0]), cute.size(layout, mode=[1])
        for thread in cutlass.range_constexpr(elements["sizes"][0]):
            for value in cutlass.range_constexpr(elements["sizes"][1]):
                elements[thread, value] = layout((thread, value))

    read_layout()
    outputs = {"A": (("m", m), ("k", k)), "B": (("n", n), ("k", k)), "C": (("m", m), ("n", n))}[operand]
    rows = outputs[0][1]
    threads, values = elements["sizes"]
    return {
        "inputs": (("lane", threads), ("value", values)),
        "outputs": outputs,
        "of": lambda lane, value: (elements[lane, value] % rows, elements[lane, value] // rows),
    }
