# SPDX-License-Identifier: Apache-2.0
"""FlyDSL's MMA atoms of AMD's instructions: the (thread, value) layouts that its compiler's types print.

An element of A is m + M*k, of B n + N*k, of C m + M*n.
"""

import ast
import re
from functools import partial

from flydsl._mlir import ir
from flydsl._mlir._mlir_libs import _mlirDialectsFly as fly
from flydsl._mlir._mlir_libs import _mlirDialectsFlyROCDL as rocdl

PROJECT = "flydsl"
F16 = ("f16", "f16", "f32")
ATOMS = (
    ("MmaOpCDNA3_MFMAType", 16, 16, 16, F16),
    ("MmaOpCDNA3_MFMAType", 16, 16, 16, ("bf16", "bf16", "f32")),
    ("MmaOpCDNA3_MFMAType", 32, 32, 8, F16),
    ("MmaOpCDNA3_MFMAType", 32, 32, 8, ("bf16", "bf16", "f32")),
    ("MmaOpCDNA3_MFMAType", 16, 16, 4, ("f32", "f32", "f32")),
    ("MmaOpCDNA3_MFMAType", 32, 32, 2, ("f32", "f32", "f32")),
    ("MmaOpCDNA3_MFMAType", 16, 16, 32, F16),
    ("MmaOpGFX11_WMMAType", 16, 16, 16, F16),
    ("MmaOpGFX120X_WMMAType", 16, 16, 16, F16),
    ("MmaOpGFX1250_WMMAType", 16, 16, 32, F16),
)


def maps():
    """Yield A, B and C of every atom."""
    for kind, m, n, k, types in ATOMS:
        for operand in "ABC":
            name = f"{kind.removeprefix('MmaOp').removesuffix('Type')} {m}x{n}x{k} {' '.join(types)} {operand}"
            yield name, partial(fragment, kind, m, n, k, types, operand)


def fragment(kind, m, n, k, types, operand):
    """Return the map of one operand."""
    with ir.Context() as context, ir.Location.unknown():
        context.allow_unregistered_dialects = True
        operation = getattr(rocdl, kind).get(m, n, k, *(ir.Type.parse(name) for name in types))
        text = str(getattr(fly.MmaAtomType.get(operation), f"tv_layout_{operand.lower()}"))
    shape, stride = (ast.literal_eval(part) for part in re.search(r"layout<(.+):(.+)>", text).groups())
    outputs = {"A": (("m", m), ("k", k)), "B": (("n", n), ("k", k)), "C": (("m", m), ("n", n))}[operand]
    rows = outputs[0][1]

    def of(lane, value):
        element = offset(shape[0], stride[0], lane)[0] + offset(shape[1], stride[1], value)[0]
        return element % rows, element // rows

    return {
        "source": text[:200],
        "note": "an instruction of AMD's",
        "inputs": (("lane", size(shape[0])), ("value", size(shape[1]))),
        "outputs": outputs,
        "of": of,
    }


def size(shape):
    """Return the number of coordinates of a shape."""
    if isinstance(shape, int):
        return shape
    product = 1
    for mode in shape:
        product *= size(mode)
    return product


def offset(shape, stride, index):
    """Return (the layout's offset at an index, what of the index lies beyond the shape)."""
    if isinstance(shape, int):
        return index % shape * stride, index // shape
    total = 0
    for mode, step in zip(shape, stride):
        part, index = offset(mode, step, index)
        total += part
    return total, index
