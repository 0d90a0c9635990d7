# SPDX-License-Identifier: Apache-2.0
"""Layouts once more, in plain integers: what a text means, without a line of the packages under attack.

A layout maps an integer to the sum of its digits times their strides, the first mode fastest; `Sw<b,m,s> o L` xors bits
m+s to m+s+b-1 of the image onto bits m to m+b-1 (CuTe's definition, for s > 0).
"""

from __future__ import annotations

import ast
import re
from typing import TypeAlias

Tree: TypeAlias = "int | tuple[Tree, ...]"


def tree(text: str) -> Tree:
    """Read "((4,8),2)".

    >>> tree("((4,8),2)")
    ((4, 8), 2)
    """
    plain = re.sub(r"\s", "", text)
    if not re.fullmatch(r"[\d(),]+", plain):
        raise ValueError(f"not a tuple of integers: {text}")
    value: Tree = ast.literal_eval(plain)
    return value


def leaves(value: Tree) -> list[int]:
    """Return the integers of a tuple, in order."""
    return [value] if isinstance(value, int) else [leaf for part in value for leaf in leaves(part)]


def parts(text: str) -> tuple[tuple[int, int, int], Tree, Tree]:
    """Return the swizzle, the shape and the stride of a layout's text."""
    swizzle = re.fullmatch(r"\s*S\w*<(\d+),(\d+),(\d+)>\s*o\s*(?:0\s*o\s*)?(.*)", text)
    bits = (int(swizzle[1]), int(swizzle[2]), int(swizzle[3])) if swizzle else (0, 0, 0)
    shape, stride = (swizzle[4] if swizzle else text).split(":")
    return bits, tree(shape), tree(stride)


def image(shape: list[int], stride: list[int], number: int) -> int:
    """Return the image of an integer; digits beyond the last extent stay in the last mode.

    >>> [image([2, 2], [1, 8], number) for number in range(4)]
    [0, 1, 8, 9]
    """
    total = 0
    for place, (extent, step) in enumerate(zip(shape, stride, strict=True)):
        last = place == len(shape) - 1
        total += (number if last else number % extent) * step
        number //= extent
    return total


def xored(bits: tuple[int, int, int], value: int) -> int:
    """Return a value through a swizzle."""
    count, base, shift = bits
    mask = (1 << count) - 1
    return value ^ ((value >> (base + shift) & mask) << base)


def images(text: str) -> list[int]:
    """Return the images of 0, 1, ... of a layout's text.

    >>> images("Sw<1,0,1> o (2,2):(2,1)")
    [0, 3, 1, 2]
    """
    bits, shape, stride = parts(text)
    flat, steps = leaves(shape), leaves(stride)
    if len(flat) != len(steps):
        raise ValueError(f"shape and stride have other profiles: {text}")
    size = 1
    for extent in flat:
        size *= extent
    return [xored(bits, image(flat, steps, number)) for number in range(size)]


def rows(text: str) -> list[list[int]]:
    """Return the images by the first mode of a (thread, value) layout: a row for each thread."""
    _, shape, _ = parts(text)
    if isinstance(shape, int) or len(shape) != 2:
        raise ValueError(f"not of rank 2: {text}")
    count = 1
    for extent in leaves(shape[0]):
        count *= extent
    flat = images(text)
    return [flat[thread::count] for thread in range(count)]
