# SPDX-License-Identifier: Apache-2.0
"""A second coding of everything but the dense instructions: from each element to its lane and value.

The tables go from lane and value to the element; here an element's coordinates give lane and value, from the
words of the mnemonic and the selections alone, without reading the tables.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import numpy
from numpy.typing import NDArray

Array = NDArray[numpy.int64]
Chosen = Mapping[str, str | int]
Place = tuple[Array, Array]

PER_REGISTER = {
    "tf32": 1, "f16": 2, "bf16": 2, "u8": 4, "s8": 4, "e4m3": 4, "e5m2": 4, "e3m2": 4, "e2m3": 4, "e2m1": 4,
    "u4": 8, "s4": 8, "b1": 32,
}  # fmt: skip


def packed_per_register(mnemonic: str, operand: str) -> int:
    """Elements of a multiplicand in one register; mxf4 packs e2m1, the 8-bit kinds do not."""
    words = [word for word in mnemonic.split(".") if word in PER_REGISTER]
    start = -3 if mnemonic.startswith("mma") else -2  # mma ends in A, B, C; wgmma in A, B
    if mnemonic.startswith("mma") and not mnemonic.endswith((".f16", ".bf16")) and "m16n8" in mnemonic:
        start = -2  # C is f32 or s32, no multiplicand's type
    word = words[start:][:2]["AB".index(operand)]
    return 8 if "kind::mxf4" in mnemonic and word == "e2m1" else PER_REGISTER[word]


def shape(mnemonic: str) -> tuple[int, int, int]:
    match = re.search(r"\.m(\d+)n(\d+)k(\d+)", mnemonic)
    assert match is not None
    return (int(match[1]), int(match[2]), int(match[3]))


def by_rule(outer: Array, inner: Array, rows: int, packed: int) -> Place:
    """Blocks of 8 x 4*packed: lane by place in the block, register by block, outer first; 16 rows to a warp."""
    lane = 4 * (outer % 8) + inner // packed % 4
    register = outer % rows // 8 + rows // 8 * (inner // (4 * packed))
    return lane + 32 * (outer // rows), register * packed + inner % packed


def product(mnemonic: str, operand: str, row: Array, col: Array) -> Place:
    """A as it is stored (half of K when sparse), B, C and D: one rule. A and B by the contracted index."""
    if operand in "CD":
        return by_rule(row, col, 16, 2)
    packed = packed_per_register(mnemonic, operand)
    return by_rule(row, col, 16, packed) if operand == "A" else by_rule(col, row, 8, packed)


def metadata(mnemonic: str, chosen: Chosen, row: Array, bit: Array) -> Place:
    """Four lanes g, ..., g + 3 share rows g and g + 8; the bits of a row decide how."""
    width, selector = int(bit.max()) + 1, int(chosen["F"])
    warp, group, low = row // 16, row % 8, row % 16 // 8
    if width == 64:
        third, x = low + 2 * (bit // 32), bit % 32
    elif width == 32 and re.search(r"\.[us][48]\.", mnemonic):  # integers: a lane has one row, as with 64 bits
        third, x = 2 * selector + low, bit
    elif width == 32:
        third, x = 2 * selector + bit // 16, 16 * low + bit % 16
    else:
        third, x = selector + 0 * bit, 16 * low + bit
    return 32 * warp + 4 * group + third, x


def scale(operand: str, chosen: Chosen, row: Array, col: Array) -> Place:
    if operand == "SFA":
        return 4 * (row % 8) + 2 * int(chosen["thread_id_a"]) + row // 8, col
    return 4 * col + int(chosen["thread_id_b"]), row


def matrix_move(mnemonic: str, row: Array, element: Array) -> Place:
    """ldmatrix and stmatrix: the lane and value of an element of the stored row whose address lane `row` gives."""
    if ".m16n16" in mnemonic:
        return 4 * (element % 8) + row % 16 // 4, 8 * (row // 16) + 4 * (element // 8) + row % 4
    matrix, a = row // 8, row % 8
    if ".m8n16" in mnemonic:
        return 4 * a + element // 4, 4 * matrix + element % 4
    if ".m16n8" in mnemonic:
        return 4 * (element % 8) + a // 2, 4 * matrix + 2 * (element // 8) + a % 2
    if ".trans" in mnemonic:
        return 4 * element + a // 2, 2 * matrix + a % 2
    return 4 * a + element // 2, 2 * matrix + element % 2


def movmatrix(operand: str, row: Array, col: Array) -> Place:
    return (4 * row + col // 2, col % 2) if operand == "A" else (4 * col + row // 2, row % 2)


def tensor_memory(mnemonic: str, operand: str, lane: Array, column: Array, half: int) -> Place:
    """tcgen05.ld and st: the thread and register of a lane and 32-bit column; with .red, of its result."""
    if operand == "RED":
        return lane + 16 * half, column
    packed = "pack::16b" in mnemonic
    column, low = (column // 2, column % 2) if packed else (column, 0 * column)
    if ".32x32b" in mnemonic:
        thread, register = lane, column
    elif ".16x64b" in mnemonic:
        thread, register = 4 * (lane % 8) + 2 * (column % 2) + lane // 8, column // 2
    elif ".16x128b" in mnemonic:
        thread, register = 4 * (lane % 8) + column % 4, lane // 8 + 2 * (column // 4)
    elif ".16x256b" in mnemonic:
        thread, register = 4 * (lane % 8) + column % 8 // 2, 4 * (column // 8) + 2 * (lane // 8) + column % 2
    else:
        thread, register = lane + 16 * half, column
    return thread, register * (2 if packed else 1) + low


def holder(mnemonic: str, operand: str, chosen: Chosen, row: Array, col: Array, half: int = 0) -> Place:
    """The lane and value that hold an element; of the second half of 16x32bx2 where `half` is 1."""
    head = mnemonic.partition(".")[0]
    if operand == "P":  # the address of a stored row, and the elements behind it
        return row, col
    families: Mapping[str, Callable[[], Place]] = {
        "ldmatrix": lambda: matrix_move(mnemonic, row, col),
        "stmatrix": lambda: matrix_move(mnemonic, row, col),
        "movmatrix": lambda: movmatrix(operand, row, col),
        "tcgen05": lambda: tensor_memory(mnemonic, operand, row, col, half),
    }
    if head in families:
        return families[head]()
    if operand == "E":
        return metadata(mnemonic, chosen, row, col)
    return scale(operand, chosen, row, col) if operand in ("SFA", "SFB") else product(mnemonic, operand, row, col)


def extent(mnemonic: str, operand: str) -> tuple[int, int]:
    """Rows and columns of an operand's tile."""
    head = mnemonic.partition(".")[0]
    number = re.search(r"\.x(\d+)", mnemonic)
    count = int(number[1]) if number else 1
    if head == "movmatrix":
        return (8, 8)
    if head in ("ldmatrix", "stmatrix"):
        return ((16 if ".m16n16" in mnemonic else 8) * count, 8 if ".m8n8" in mnemonic else 16)
    if head == "tcgen05":
        lanes, columns = re.search(r"\.(\d+)x(\d+)b", mnemonic).groups()  # type: ignore[union-attr]
        if operand == "RED":
            return (int(lanes), 1)
        return (int(lanes), int(columns) // 32 * count * (2 if "pack::16b" in mnemonic else 1))
    m, n, k = shape(mnemonic)
    stored = k // 2 if ".sp" in mnemonic else k
    index_bits = stored * {1: 4, 2: 2, 4: 2, 8: 1}[packed_per_register(mnemonic, "A")] if operand == "E" else 0
    blocks = {"mxf8f6f4": 1, "mxf4": 2}.get(re.sub(r".*kind::(\w+).*", r"\1", mnemonic), 0)
    vector = re.search(r"scale_vec::(\d)X", mnemonic)
    blocks = int(vector[1]) if vector else blocks
    return {"A": (m, stored), "B": (k, n), "C": (m, n), "D": (m, n), "E": (m, index_bits), "SFA": (m, blocks),
            "SFB": (blocks, n)}[operand]  # fmt: skip


def in_tensor_memory(layout: str, m: int, n: int, base: int) -> dict[tuple[int, int, int], tuple[int, int]]:
    """tcgen05.mma: (cta, lane, column) -> element of D, walked through the memory of both CTAs."""
    elements = {}
    for cta, lane, column in numpy.ndindex(2, 128, 512):
        quarter, inside = divmod(lane, 32)
        row, col, there = {
            "A": (128 * cta + lane, column, column < n),
            "B": (64 * cta + lane % 64, column + n // 2 * (lane // 64), column < n // 2),
            "C": (64 * cta + 16 * quarter + inside - base, column, column < n and base <= inside < base + 16),
            "D": (lane, column, cta == 0 and column < n),
            "E": (lane % 64, column + n // 2 * (lane // 64), cta == 0 and column < n // 2),
            "F": (16 * quarter + inside - base, column, cta == 0 and column < n and base <= inside < base + 16),
            "G": (inside, column + n // 4 * quarter, cta == 0 and column < n // 4),
        }[layout]
        if there and row < m:
            elements[cta, lane, column] = (row, col)
    return elements


def scales_in_tensor_memory(
    operand: str, group: int, extent: int, blocks: int, byte_id: int
) -> dict[tuple[int, int, int, int], tuple[int, int]]:
    """tcgen05.mma: (cta, lane, column, byte) -> (row or column, block) that the scale factor there applies to.

    A word serves 32 rows of A or columns of B, one a lane, in every quarter of the lanes alike; the next column the
    next 32. A CTA of a pair has half of A's rows and all of B's columns.
    """
    scaled = {}
    own = extent // group if operand == "SFA" else extent
    for cta, lane, column, byte in numpy.ndindex(group, 128, -(-own // 32), 4):
        place = 32 * column + lane % 32
        if place < own and byte_id <= byte < byte_id + blocks:
            scaled[cta, lane, column, byte] = (place + (cta * own if operand == "SFA" else 0), byte - byte_id)
    return scaled


def copied_to_tensor_memory(mnemonic: str) -> dict[tuple[int, int, int, int], tuple[int, int]]:
    """tcgen05.cp: (cta, lane, column, byte) -> (row, element) of the source that arrives there.

    Elements are columns of 32 bits, or bytes where the copy decompresses; then each byte of a column has its own.
    """
    rows, bits = map(int, re.search(r"\.(\d+)x(\d+)b", mnemonic).groups())  # type: ignore[union-attr]
    bytes_apart = ".b8x16" in mnemonic
    copied = {}
    for cta, lane, column, byte in numpy.ndindex(int(mnemonic[len("tcgen05.cp.cta_group::")]), 128, bits // 32, 4):
        warp, inside = divmod(lane, 32)
        row = {
            "4x": warp if inside == 0 else None,
            "32": inside,
            "64": inside + 32 * (warp % 2 if "02_13" in mnemonic else warp // 2),
            "12": lane,
        }[f"{rows}x"[:2]]
        if row is not None and (bytes_apart or byte == 0):
            copied[cta, lane, column, byte] = (row, 4 * column + byte if bytes_apart else column)
    return copied
