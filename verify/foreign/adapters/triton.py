# SPDX-License-Identifier: Apache-2.0
"""Triton's layouts of mma.sync and wgmma, as the linear layout (F2 bases) that its compiler makes of each.

`to_linear_layout` of the compiler's Gluon builder gives, for each bit of register, lane and warp, the element that this
bit adds by xor. A `DotOperandLayout` has an operand of its parent's instruction, k_width values of it in 32 bits.
"""

from functools import partial

from triton._C.libtriton import gluon_ir, ir
from triton.experimental.gluon.language import _layouts as layouts

PROJECT = "triton"
# (bits of an element, k of one mma.sync, its type, its accumulator)
MMA_V2 = (
    (16, 16, "f16", "f32"),
    (16, 16, "f16", "f16"),
    (16, 16, "bf16", "f32"),
    (32, 8, "tf32", "f32"),
    (8, 32, "s8", "s32"),
    (8, 32, "e4m3", "f32"),
    (8, 32, "e5m2", "f32"),
)


def maps():
    """Yield A, B and C of mma.sync (version 2); D of wgmma, A in registers (version 3)."""
    for bits, k, name, result in MMA_V2:
        for operand in "ABC":
            yield f"mma v2 {operand} {name} to {result}", partial(mma, bits, k, name, result, operand)
    for n in (8, 16, 32, 64, 128, 256):  # a linear layout has powers of two
        yield f"mma v3 D, n = {n}", partial(wgmma, n, 16, "f16", "D")
    for k, name in ((16, "f16"), (16, "bf16"), (8, "tf32"), (32, "e4m3"), (32, "e5m2")):
        yield f"mma v3 A {name}", partial(wgmma, 64, k, name, "A")


def mma(bits, k, name, result, operand):
    """Return an operand of one mma.sync."""
    parent = layouts.NVMMADistributedLayout(version=[2, 0], warps_per_cta=[1, 1], instr_shape=[16, 8])
    layout, outputs = parent, (("m", 16), ("n", 8))
    if operand != "C":
        layout = layouts.DotOperandLayout(operand_index="AB".index(operand), parent=parent, k_width=32 // bits)
        outputs = (("m", 16), ("k", k)) if operand == "A" else (("k", k), ("n", 8))
    ptx = f"mma.sync.aligned.m16n8k{k}.row.col.{result}.{name}.{name}.{result}"
    return {**linear(layout, outputs), "source": "NVMMADistributedLayout version 2", "ptx": ptx, "operand": operand}


def wgmma(n, k, name, operand):
    """D, or A in registers, of one wgmma with f32 accumulators."""
    parent = layouts.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, n, k])
    layout, outputs = parent, (("m", 64), ("n", n))
    if operand == "A":
        layout = layouts.DotOperandLayout(operand_index=0, parent=parent, k_width=k // 8)
        outputs = ("m", 64), ("k", k)
    ptx = f"wgmma.mma_async.sync.aligned.m64n{n}k{k}.f32.{name}.{name}"
    described = {"source": "NVMMADistributedLayout version 3", "ptx": ptx, "operand": operand}
    return {**linear(layout, outputs), **described, "select": {"A_space": "reg"} if operand == "A" else {}}


def linear(layout, outputs):
    """Return the map of a layout's bases; the threads of several warps are counted through."""
    context = ir.context()
    ir.load_dialects(context)
    builder = gluon_ir.GluonOpBuilder(context)
    converted = builder.to_linear_layout(layout._to_ir(builder), [extent for _, extent in outputs])
    registers, lanes = converted.reg_bases, [*converted.lane_bases, *converted.warp_bases]

    def of(lane, value):
        image = [0] * len(outputs)
        for bases, index in ((registers, value), (lanes, lane)):
            for bit, basis in enumerate(bases):
                if index >> bit & 1:
                    image = [a ^ b for a, b in zip(image, basis)]
        return tuple(image)

    inputs = (("lane", 1 << len(lanes)), ("value", 1 << len(registers)))
    return {"inputs": inputs, "outputs": outputs, "of": of}
