# SPDX-License-Identifier: Apache-2.0
"""Layouts of wgmma's operands in shared memory: is there a descriptor that describes them?

The oracle tries every swizzle and major-ness with LBO and SBO from a grid, against the canonical layouts of PTX ISA
9.7.15.5.1.2, in bytes.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from itertools import product

from benchmarks.attack import oracle
from benchmarks.attack.attempt import Attempt, Truth, fault_of, verdict_of
from benchmarks.attack.edits import edited
from verify import verify_movement
from verify.movement.bind import bind
from verify.movement.spec import of_options

ROWS, COLUMNS, SIZE = 64, 64, 2  # of the tile (mn, k), and the bytes of an element
T = 16 // SIZE  # elements in 16 bytes
CHUNKS = (1, 2, 4, 8)  # 16-byte chunks that a swizzle permutes, by its bits
Point = tuple[int, int]  # (mn, k)
STRIDES = (16, *(128 << shift for shift in range(8)), *(1024 * odd for odd in (3, 5, 6, 7)))  # of LBO and SBO, in bytes


def address(bits: int, major: str, lbo: int, sbo: int, mn: int, k: int) -> int:
    """Return the byte of an element in the canonical layout of a swizzle and a major-ness, before the swizzle.

    >>> address(3, "K", 16, 1024, 8, 0), address(0, "K", 128, 256, 0, 8)
    (1024, 128)
    """
    width = CHUNKS[bits]
    if major == "K":
        inner = k % T * SIZE + k // T * (lbo if bits == 0 else 16)
        return mn % 8 * 16 * width + mn // 8 * sbo + inner
    outer = mn % T * SIZE + mn // T % width * 16
    if bits == 0:
        return mn % T * SIZE + mn // T * sbo + k % 8 * 16 + k // 8 * lbo
    return outer + mn // (T * width) * lbo + k % 8 * 16 * width + k // 8 * sbo


def swizzled(byte: int, bits: int) -> int:
    """Return a byte's place: the chunk within 128 bytes is xored with the number of its line."""
    line, rest = divmod(byte, 128)
    return 128 * line + 16 * (rest // 16 ^ line % (1 << bits)) + rest % 16


def starts(bits: int, major: str, places: Mapping[Point, int], lbo: int, sbo: int) -> set[int]:
    """Return the start addresses that the first column of each part implies: one for a tile that is one part.

    A K-major tile wider than its swizzle is several parts, each from a start address of its own.
    """
    width = T * CHUNKS[bits] if major == "K" and bits else max(k for _, k in places) + 1
    by_part: dict[int, set[int]] = {}
    for (mn, k), place in places.items():
        start = place - swizzled(address(bits, major, lbo, sbo, mn, k % width), bits)
        by_part.setdefault(k // width, set()).add(start)
    if any(len(each) > 1 for each in by_part.values()):
        return set()
    whole = {start for each in by_part.values() for start in each}
    period = 128 * CHUNKS[bits]
    return whole if all(start % period == 0 for start in whole) and (len(by_part) > 1 or whole == {0}) else set()


def is_described(places: Mapping[Point, int]) -> bool:
    """Whether some canonical layout has every element at its byte, each at its own, in whole instructions."""
    rows, columns = (max(point[axis] for point in places) + 1 for axis in (0, 1))
    if len(set(places.values())) < len(places) or rows % 8 or columns % 16:
        return False
    probe = {point: place for point, place in places.items() if {*point} & {0, 1, 8, 15}}
    tried = product(range(4), ("K", "MN"), STRIDES, STRIDES)
    return any(starts(*trial[:2], probe, *trial[2:]) and starts(*trial[:2], places, *trial[2:]) for trial in tried)


def random_layout(rng: random.Random) -> str:
    """Return a canonical layout of the tile, as people write them, or one with an edit."""
    bits = rng.randint(0, 3)
    width = T * CHUNKS[bits]
    if not bits:
        text = f"((8,{ROWS // 8}),({T},{COLUMNS // T})):(({T},{8 * COLUMNS}),(1,{8 * T}))"
    elif rng.random() < 0.5:
        text = f"((8,{ROWS // 8}),({width},{COLUMNS // width})):(({width},{8 * width}),(1,{ROWS * width}))"
    else:
        text = f"(({width},{ROWS // width}),(8,{COLUMNS // 8})):((1,{width * COLUMNS}),({width},{8 * width}))"
    text = edited(text, rng) if rng.random() < 0.6 else text
    return f"Sw<{bits},3,3> o {text}" if bits else text


def points(text: str) -> dict[Point, int]:
    """Return the byte of each element (mn, k) of a layout of rank 2."""
    columns = oracle.rows(text)
    return {(mn, k): SIZE * place for mn, row in enumerate(columns) for k, place in enumerate(row)}


def attempt(number: int, rng: random.Random) -> Attempt:
    """Ask for the descriptor of one layout."""
    text = random_layout(rng)
    try:
        truth = Truth.RIGHT if is_described(points(text)) else Truth.WRONG
    except ValueError:
        truth = Truth.WRONG
    verdict, _ = verdict_of(lambda: verify_movement(bind(of_options({"descriptor": text, "element": 8 * SIZE}))))
    return Attempt("descriptors", number, text, truth, verdict, fault_of(truth, verdict))
