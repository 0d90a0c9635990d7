# SPDX-License-Identifier: Apache-2.0
"""tilelang's maps of fragments: plain functions (thread, value) -> (row, column), and their inverses.

The files are imported alone, with empty modules in place of the compiler that they import and do not call: no torch and
no TVM is needed. A tile of 16 columns of B and C is that of two instructions, side by side: values of the first come
first.
"""

import importlib
import importlib.util
import itertools
import re
import sys
from functools import partial
from pathlib import Path
from types import ModuleType

PROJECT = "tilelang"


class Empty(ModuleType):
    """A module with every name: the functions that are called here use none of them."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda value=0, *_: value


SPEC = importlib.util.find_spec("tilelang")
if SPEC is None or SPEC.origin is None:  # not there, or a folder of that name
    raise ModuleNotFoundError(name="tilelang")
ROOT = Path(SPEC.origin).parent
for package, folder in (
    ("tilelang", "."),
    ("tilelang.cuda", "cuda"),
    ("tilelang.cuda.intrinsics", "cuda/intrinsics"),
    ("tilelang.cuda.intrinsics.layout", "cuda/intrinsics/layout"),
    ("tilelang.rocm", "rocm"),
    ("tilelang.rocm.intrinsics", "rocm/intrinsics"),
):
    sys.modules[package] = ModuleType(package)
    sys.modules[package].__path__ = [str(ROOT / folder)]
for stub in ("tvm", "tvm.tirx", "tvm.runtime", "tilelang.language"):
    sys.modules[stub] = Empty(stub)
sys.modules["tilelang"].language = sys.modules["tilelang.language"]

dense = importlib.import_module("tilelang.cuda.intrinsics.layout.mma_layout")
sparse = importlib.import_module("tilelang.cuda.intrinsics.layout.mma_sp_layout")
volta = importlib.import_module("tilelang.cuda.intrinsics.layout.mma_sm70_layout")
matrix_cores = [importlib.import_module(f"tilelang.rocm.intrinsics.{name}") for name in ("mfma_layout", "wmma_layout")]

MMA = "mma.sync.aligned.m16n8k{}.row.col.{}"
F16, TF32, S8 = MMA.format(16, "f32.f16.f16.f32"), MMA.format(8, "f32.tf32.tf32.f32"), MMA.format(32, "s32.s8.s8.s32")
MXF4 = MMA.format(64, "kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0")
SP = "mma.sp::ordered_metadata.sync.aligned.m16n8k{}.row.col.{}"
SP_TF32, SP_F16 = SP.format(16, "f32.tf32.tf32.f32"), SP.format(32, "f32.f16.f16.f32")
SP_S8 = SP.format(64, "s32.s8.s8.s32")

# (module, forward, inverse, instruction, operand, values of a lane, rows, columns)
FRAGMENTS = (
    (dense, "mma_load_a_32x8_to_shared_16x16_layout", "shared_16x16_to_mma_a_32x8_layout", F16, "A", 8, 16, 16),
    (dense, "mma_load_b_32x8_to_shared_16x16_layout", "shared_16x16_to_mma_b_32x8_layout", F16, "B", 8, 16, 16),
    (dense, "mma_store_32x8_to_shared_16x16_layout", "", F16, "C", 8, 16, 16),
    (dense, "mma_32x8_to_shared_16x16_layout", "", F16, "C", 8, 16, 16),
    (dense, "mma_load_a_32x4_to_shared_16x8_layout", "shared_16x8_to_mma_a_32x4_layout", TF32, "A", 4, 16, 8),
    (dense, "mma_load_b_32x4_to_shared_16x8_layout", "shared_16x8_to_mma_b_32x4_layout", TF32, "B", 4, 16, 8),
    (dense, "mma_load_a_32x16_to_shared_16x32_layout", "shared_16x32_to_mma_a_32x16_layout", S8, "A", 16, 16, 32),
    (dense, "mma_load_b_32x16_to_shared_16x32_layout", "shared_16x32_to_mma_b_32x16_layout", S8, "B", 16, 16, 32),
    (dense, "mma_load_a_32x32_to_shared_16x64_layout", "shared_16x64_to_mma_a_32x32_layout", MXF4, "A", 32, 16, 64),
    (dense, "mma_load_b_32x16_to_shared_8x64_layout", "shared_8x64_to_mma_b_32x16_layout", MXF4, "B", 16, 8, 64),
    (
        dense,
        "mma_store_32x2_to_shared_8x8_layout_fp64",
        "",
        "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64",
        "C",
        2,
        8,
        8,
    ),
    (sparse, "mma_sp_load_a_32x4_to_shared_16x16_layout", "shared_16x16_to_mma_sp_layout_sr_a", SP_TF32, "A", 4, 16, 8),
    (sparse, "mma_sp_load_a_32x8_to_shared_16x32_layout", "shared_16x32_to_mma_sp_layout_sr_a", SP_F16, "A", 8, 16, 16),
    (
        sparse,
        "mma_sp_load_a_32x16_to_shared_16x64_layout",
        "shared_16x64_to_mma_sp_layout_sr_a",
        SP_S8,
        "A",
        16,
        16,
        32,
    ),
    (
        sparse,
        "mma_sp_load_b_32x8_to_shared_16x16_layout",
        "shared_16x16_to_mma_sp_layout_sr_b",
        SP_TF32,
        "B",
        8,
        16,
        16,
    ),
    (
        sparse,
        "mma_sp_load_b_32x16_to_shared_16x32_layout",
        "shared_16x32_to_mma_sp_layout_sr_b",
        SP_F16,
        "B",
        16,
        16,
        32,
    ),
    (
        sparse,
        "mma_sp_load_b_32x32_to_shared_16x64_layout",
        "shared_16x64_to_mma_sp_layout_sr_b",
        SP_S8,
        "B",
        32,
        16,
        64,
    ),
)
# (function, instruction, bits of a load, lanes of four that have metadata of their own)
METADATA = (
    ("metadata_16bit_load_32x2_to_shared_16x2_layout_16bit", SP_F16, 16, 2),
    ("metadata_8bit_load_32x4_to_shared_16x4_layout_16bit", SP_F16, 8, 2),
    ("metadata_16bit_load_32x2_to_shared_16x2_layout_32bit", SP_TF32, 16, 2),
    ("metadata_8bit_load_32x4_to_shared_16x8_layout_8bit", SP_S8, 8, 4),
    ("metadata_16bit_load_32x2_to_shared_16x4_layout_8bit", SP_S8, 16, 4),
    ("metadata_32bit_load_32x1_to_shared_16x2_layout_8bit", SP_S8, 32, 4),
)


def maps():
    """Every operand of an instruction; then the maps that have an inverse of tilelang's own."""
    for row in FRAGMENTS:
        yield from instructions(*row)
        if row[2]:
            yield f"{row[1]} and its inverse", partial(with_inverse, *row)
    for name, ptx, bits, lanes in METADATA:
        yield name, partial(metadata, name, ptx, bits, lanes)
    for forward, back in (
        ("mma_load_a_32x4_to_shared_16x4_layout", "shared_16x4_to_mma_a_32x4_layout"),
        ("mma_load_b_32x4_to_shared_4x16_layout", "shared_4x16_to_mma_b_32x4_layout"),
        ("mma_load_b_32x4_to_shared_16x4_layout_trans", "shared_16x4_to_mma_b_32x4_layout_trans"),
    ):
        yield f"sm70 {forward} and its inverse", partial(replicate_map, forward, back)
    for module in matrix_cores:
        for name in vars(module):
            match = re.fullmatch(r"thread_id_shared_access_(\d+)x(\d+)_to_(\d+)x(\d+)_layout_(\w+)", name)
            back = match and "shared_{2}x{3}_to_local_{0}x{1}_layout_{4}".format(*match.groups())
            if back and hasattr(module, back):
                yield name, partial(of_amd, module, name, back, *map(int, match.groups()[:4]))


def instructions(module, forward, inverse, ptx, operand, values, rows, columns):
    """Yield the maps of each instruction of a tile, one or two of 8 columns of B and C: forward, and read back."""
    halves = 2 if operand != "A" and 16 == (rows if operand == "B" else columns) else 1
    n = {"A": None, "B": 0, "C": 1}[operand]  # the axis of n
    axes = {"A": ("m", "k stored" if module is sparse else "k"), "B": ("n", "k"), "C": ("m", "n")}[operand]
    extents = [8 if at == n else extent for at, extent in enumerate((rows, columns))]
    each = values // halves
    for half in range(halves):
        which = f", {('first', 'second')[half]} instruction" if halves > 1 else ""

        def element(image, half=half):
            return tuple(index - 8 * half if at == n else index for at, index in enumerate(image))

        def of(lane, value, half=half, element=element):
            return element(getattr(module, forward)(lane, value + half * each))

        def read_back(half=half, element=element):
            places = {}
            for tile in itertools.product(range(rows), range(columns)):
                lane, value = getattr(module, inverse)(*tile)
                if value // each == half:
                    places.setdefault((lane, value % each), []).append(element(tile))
            return lambda lane, value: places.get((lane, value), [])

        def describe(name, function):
            return {
                "source": f"{module.__name__.split('.')[-1]}.py: {name}",
                "ptx": ptx,
                "operand": operand,
                "inputs": (("lane", 32), ("value", each)),
                "outputs": tuple(zip(axes, extents)),
                "of": function,
            }

        yield f"{forward}{which}", partial(describe, forward, of)
        if inverse:
            yield f"{inverse}{which}", lambda describe=describe, back=read_back: describe(inverse, back())


def with_inverse(module, forward, inverse, ptx, operand, values, rows, columns):
    """Return the whole map, and its inverse as tilelang has it."""
    return {
        "source": f"{module.__name__.split('.')[-1]}.py: {forward}, {inverse}",
        "inputs": (("lane", 32), ("value", values)),
        "outputs": (("row", rows), ("column", columns)),
        "of": getattr(module, forward),
        "back": getattr(module, inverse),
    }


def metadata(name, ptx, bits, lanes):
    """Return the bits of a row's metadata in the register of each lane: loads of `bits` bits, the first in the lowest.

    `lanes` of each four have metadata of their own; with the selector 0 they are the first.
    """
    function = getattr(sparse, name)

    def of(lane, bit):
        row, column = function(lane, bit // bits)
        return row, column * bits + bit % bits

    return {
        "source": f"mma_sp_layout.py: {name}",
        "ptx": ptx,
        "operand": "E",
        "inputs": (("lane", 32), ("value", 32)),
        "outputs": (("m", 16), ("bit", 32 * 32 * lanes // 4 // 16)),
        "of": of,
    }


def replicate_map(forward, back):
    """Return a map of two lanes for each element; its inverse takes their number."""
    rows, columns = (int(n) for n in re.search(r"shared_(\d+)x(\d+)", forward).groups())
    inverse = getattr(volta, back)
    return {
        "source": f"mma_sm70_layout.py: {forward}, {back}",
        "inputs": (("lane", 32), ("value", 4)),
        "outputs": (("row", rows), ("column", columns)),
        "of": getattr(volta, forward),
        "back": lambda row, column: [inverse(row, column, copy) for copy in range(2)],
    }


def of_amd(module, forward, back, lanes, values, rows, columns):
    """Return a map of a matrix core of AMD's, with tilelang's own inverse.

    B's tile is k x n or, in other names, n x k.
    """
    if getattr(module, forward)(lanes - 1, values - 1)[0] >= rows:
        rows, columns = columns, rows
    return {
        "source": f"{module.__name__.split('.')[-1]}.py: {forward}, {back}",
        "note": "an instruction of AMD's",
        "inputs": (("lane", lanes), ("value", values)),
        "outputs": (("row", rows), ("column", columns)),
        "of": getattr(module, forward),
        "back": getattr(module, back),
    }
