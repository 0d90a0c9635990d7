# SPDX-License-Identifier: Apache-2.0
"""TVM's maps for mma.sync (`tensor_intrin/cuda.py`): from an element of a tile to its (thread, value).

The functions are taken from the file's text, so that neither TVM's library nor its imports are needed. A tile of 16
columns is that of two instructions, side by side.
"""

import ast
import importlib.util
from functools import partial
from pathlib import Path

PROJECT = "tvm"
DISTRIBUTION = "apache-tvm"
PLACES = ("s_tir/tensor_intrin/cuda.py", "tir/tensor_intrin/cuda.py")
F16, S8 = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32"
# (map from an element, map back, rows, columns, values of a lane, (operand, instruction, axes of a row and a column))
MAPS = (
    ("shared_16x16_to_ldmatrix_32x8_layout", "ldmatrix_32x8_to_shared_16x16_layout", 16, 16, 8, "A", F16, "mk"),
    ("shared_16x16_to_ldmatrix_32x8_layout", "ldmatrix_32x8_to_shared_16x16_layout", 16, 16, 8, "C", F16, "mn"),
    ("shared_16x32_to_ldmatrix_32x16_layout", "", 16, 32, 16, "A", S8, "mk"),
    ("shared_32x16_to_ldmatrix_32x16_layout", "", 32, 16, 16, "B", S8, "kn"),
)


def functions():
    """Return the file, and its functions that are arithmetic alone."""
    spec = importlib.util.find_spec("tvm")
    if spec is None or spec.origin is None:  # not there, or a folder of that name
        raise ModuleNotFoundError(name="tvm")
    root = Path(spec.origin).parent
    path = next((root / place for place in PLACES if (root / place).is_file()), None)
    if path is None:
        raise FileNotFoundError(f"the tvm installed here has no {PLACES[-1].removeprefix('tir/')}")
    wanted = {name for row in MAPS for name in row[:2]}
    tree = ast.parse(path.read_text())
    kept = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name in wanted]
    namespace = {}
    exec(compile(ast.Module(kept, []), str(path), "exec"), namespace)
    return path, namespace


def maps():
    """Each map of an operand, for each instruction of its tile; then the maps with their inverses."""
    path, namespace = functions()
    for name, back, rows, columns, values, operand, ptx, axes in MAPS:
        halves = 1 if operand == "A" else 2
        for half in range(halves):
            which = f", {('first', 'second')[half]} instruction" if halves > 1 else ""
            whole = (path, namespace[name], (rows, columns), values)
            yield f"{name} as {operand}{which}", partial(fragment, *whole, operand, ptx, axes, half, halves)
        if back:
            sizes = (rows, columns), values
            yield (
                f"{back} and its inverse, as {operand}",
                partial(with_inverse, path, namespace[back], namespace[name], *sizes),
            )


def with_inverse(path, function, inverse, extents, values):
    """Return a whole map, and its inverse as TVM has it."""
    return {
        "source": f"{path.name}: {function.__name__}, {inverse.__name__}",
        "inputs": (("lane", 32), ("value", values)),
        "outputs": tuple(zip(("row", "column"), extents)),
        "of": function,
        "back": inverse,
    }


def fragment(path, function, tile, values, operand, ptx, axes, half, halves):
    """Return the map (lane, value) -> element of one instruction, read backwards from the function of elements."""
    each = values // halves
    rows, columns = tile
    extents = [8 if axis == "n" else extent for axis, extent in zip(axes, tile)]
    places = {}
    for row in range(rows):
        for column in range(columns):
            lane, value = function(row, column)
            element = [index - 8 * half if axis == "n" else index for axis, index in zip(axes, (row, column))]
            if value // each == half:
                places.setdefault((lane, value % each), []).append(tuple(element))
    return {
        "source": f"{path.name}: {function.__name__}",
        "ptx": ptx,
        "operand": operand,
        "inputs": (("lane", 32), ("value", each)),
        "outputs": tuple(zip(axes, extents)),
        "of": lambda lane, value: places.get((lane, value), []),
    }
