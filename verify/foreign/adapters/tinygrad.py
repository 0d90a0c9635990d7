# SPDX-License-Identifier: Apache-2.0
"""tinygrad's tensor cores (`codegen/opt/tc.py`): a permutation of the bits of lane and value.

Axes of size 2 have names: l are the bits of the lane, u and r those of the value; `opts` says which of them is a bit of
n (u0, l0: dimension 0) or of m. For A and B, `_remaps` says which axis of the problem each physical one holds; axes of
the other dimension are not in the operand. r are the bits of k.

A second copy is in `runtime/ops_python.py`, which computes in Python what a GPU would: functions inside a method, which
are taken from its source. `a_elem(x, k, row, _)` is x[value][lane], so it is the inverse map.
"""

import ast
import inspect
from functools import partial

from tinygrad.codegen.opt import tc
from tinygrad.runtime import ops_python

PROJECT = "tinygrad"
NAMES = {"half": "f16", "__bf16": "bf16", "float": "f32", "float8_e4m3": "e4m3", "float8_e5m2": "e5m2", "int": "s32"}


def maps():
    """Yield A, B and C of every tensor core."""
    for group in ("cuda_81616", "cuda_81632_f8", "cuda_8168_f16", "cuda_8168_tf32"):
        for core in getattr(tc, group):
            for operand in "ABC":
                yield f"{group} {name(core)} {operand}", partial(of_cuda, group, core, operand)
    for types, functions in list_emulated():
        for operand in "ABC":
            yield f"ops_python {types} {operand}", partial(of_emulated, types, functions, operand)
    for group in ("amd_rdna3", "amd_rdna4", "amd_cdna_161616", "amd_cdna_161632", "amd_cdna_1616128"):
        for core in getattr(tc, group):
            for operand in "ABC":
                yield f"{group} {name(core)} {operand}", partial(of_amd, group, core, operand)


def name(core):
    """Return the types of a core."""
    given, result = (
        NAMES.get(kind.name, kind.name.replace("signed char", "s8")) for kind in (core.dtype_in, core.dtype_out)
    )
    return f"{given} to {result}"


def of_cuda(group, core, operand):
    """Return an operand of an mma.sync, by the mnemonic that tinygrad's CUDA renderer writes."""
    n, m, k = core.dims
    given, result = ("tf32" if group.endswith("tf32") else NAMES[core.dtype_in.name], NAMES[core.dtype_out.name])
    ptx = f"mma.sync.aligned.m{m}n{n}k{k}.row.col.{result}.{given}.{given}.{result}"
    return {**fragment(core, operand), "source": f"codegen/opt/tc.py: {group}", "ptx": ptx, "operand": operand}


def of_amd(group, core, operand):
    """Return an operand of a matrix core of AMD's."""
    source = f"codegen/opt/tc.py: {group}"
    return {**fragment(core, operand), "source": source, "note": "an instruction of AMD's"}


EMULATED = {  # the branch for its dims and type -> what it emulates
    "dims == (8, 16, 16)": "m16n8k16.row.col.f32.f16.f16.f32",
    "dims == (8, 16, 32)": "m16n8k32.row.col.f32.e4m3.e4m3.f32",
    "dims == (8, 16, 8) and dtype_in == dtypes.half": "m16n8k8.row.col.f32.f16.f16.f32",
    "dims == (8, 16, 8) and dtype_in == dtypes.float": "m16n8k8.row.col.f32.tf32.tf32.f32",
}


def list_emulated():
    """(instruction, its functions) of every branch for CUDA of the emulator; the functions by their names."""
    tree = ast.parse(inspect.getsource(ops_python))
    branches = [node for node in ast.walk(tree) if isinstance(node, ast.If)]
    cuda = next(branch for branch in branches if ast.unparse(branch.test) == "device == 'CUDA'")
    for branch in branches:
        if ast.unparse(branch.test) in EMULATED:
            own = [node for node in [*cuda.body, *branch.body] if isinstance(node, ast.FunctionDef)]
            names = {}
            exec(compile(ast.Module(own, []), "ops_python.py", "exec"), names)
            yield EMULATED[ast.unparse(branch.test)], names


class LanePlaces:
    """What has (lane, value) at [value][lane]."""

    def __init__(self, *value):
        self.value = value

    def __getitem__(self, index):
        return (index, *self.value) if self.value else LanePlaces(index)


def of_emulated(types, functions, operand):
    """Return an operand of the emulator: A, B: (row, column) -> (lane, value), C: its inverse."""
    k = int(types.partition(".")[0].partition("k")[2])
    tile = {"A": (("m", 16), ("k", k)), "B": (("k", k), ("n", 8)), "C": (("m", 16), ("n", 8))}[operand]
    place = (("lane", 32), ("value", tile[0][1] * tile[1][1] // 32))
    of = {
        "A": lambda row, k: functions["a_elem"](LanePlaces(), k, row, 0),
        "B": lambda k, col: functions["b_elem"](LanePlaces(), col, k, 0),
        "C": lambda lane, value: functions["c_map"](lane, value)[::-1],
    }[operand]
    inputs, outputs = (place, tile) if operand == "C" else (tile, place)
    source, ptx = "runtime/ops_python.py", f"mma.sync.aligned.{types}"
    return {"source": source, "ptx": ptx, "operand": operand, "inputs": inputs, "outputs": outputs, "of": of}


def fragment(core, operand):
    """Return the map (lane, value) -> element of an operand."""
    lanes = [f"l{i}" for i in range(len(core.get_local_axes()))]
    values = core.base_upcast_axes()[::-1]
    bits = bit_of(core)
    remap = {axis: axis for axis in [*lanes, *values]} if operand == "C" else core._remaps()["AB".index(operand)]
    kept = [axis for axis in values if bits[remap[axis]][0] in {"A": "mk", "B": "nk", "C": "mn"}[operand]]
    n, m, k = core.dims
    outputs = {"A": (("m", m), ("k", k)), "B": (("k", k), ("n", n)), "C": (("m", m), ("n", n))}[operand]

    def of(lane, value):
        element = dict.fromkeys("mnk", 0)
        for axes, index in ((lanes, lane), (kept, value)):
            for bit, axis in enumerate(axes):
                dimension, place = bits[remap[axis]]
                element[dimension] += (index >> bit & 1) << place
        return tuple(element[axis] for axis, _ in outputs)

    return {"inputs": (("lane", 1 << len(lanes)), ("value", 1 << len(kept))), "outputs": outputs, "of": of}


def bit_of(core):
    """Axis of the problem -> (dimension, bit of its index)."""
    counts, bits = dict.fromkeys("ul01", 0), {}
    for opt in core.opts:
        bits[f"{opt[0]}{counts[opt[0]]}"] = ("nm"[int(opt[1])], counts[opt[1]])
        counts[opt[0]] += 1
        counts[opt[1]] += 1
    return {**bits, **{f"r{i}": ("k", i) for i in range(len(core.get_reduce_axes()))}}
