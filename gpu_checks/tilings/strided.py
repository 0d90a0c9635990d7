# SPDX-License-Identifier: Apache-2.0
"""A layout as plain data, and the CUDA expression that computes it: mixed radix, never a table.

`shape:stride` maps an index to an integer: the index is split into digits, the first extent the fastest, and every
digit counts its stride. An optional swizzle then exchanges bits of the result.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any, Self, TypeAlias, overload

from gpu_checks.arrays import np

if TYPE_CHECKING:
    import numpy.typing as npt

Indices: TypeAlias = "npt.NDArray[np.int64]"
Nested: TypeAlias = "int | tuple[Nested, ...]"
Leaf = tuple[int, int]  # extent, stride
_TEXT = re.compile(r"(?:Sw<(\d+),(\d+),(\d+)> o 0 o )?([\d,()]+):([\d,()]+)")
_JSON = str.maketrans("()", "[]")


@dataclass(frozen=True, slots=True)
class Strided:
    """The map index -> sum of digit * stride, followed by Swizzle<bits, base, shift> where there is one.

    >>> layout = Strided.parse("((4,8),(2,2)):((32,1),(16,8))")
    >>> layout.modes[1](3), layout(5), str(layout)
    (24, 33, '((4,8),(2,2)):((32,1),(16,8))')
    >>> Strided.parse("Sw<1,0,1> o 0 o (2,2):(2,1)")(1)
    3
    """

    shape: Nested
    stride: Nested
    swizzle: tuple[int, int, int] | None = None

    def __post_init__(self) -> None:
        try:
            leaves = self.leaves
        except ValueError:
            raise ValueError(f"{self}: shape and stride are not nested alike") from None
        if any(extent < 1 for extent, _ in leaves):
            raise ValueError(f"{self}: an extent is less than 1")

    @classmethod
    @lru_cache(maxsize=1024)  # recordings repeat most of their layouts
    def parse(cls, text: str) -> Self:
        """Return the layout written as `shape:stride`, with `Sw<bits,base,shift> o 0 o ` before a swizzled one."""
        match = _TEXT.fullmatch(text)
        if match is None:
            raise ValueError(f"{text!r} is not a layout: shape:stride, or Sw<bits,base,shift> o 0 o shape:stride")
        *bits, shape, stride = match.groups()
        swizzle = (int(bits[0]), int(bits[1]), int(bits[2])) if bits[0] else None
        try:
            return cls(_nest(shape), _nest(stride), swizzle)
        except json.JSONDecodeError as error:
            raise ValueError(f"{text!r} is not a layout: {error.msg}") from error
        except RecursionError:
            raise ValueError(f"{text[:40]!r}… isn't a layout that can be read: it is nested too deep") from None

    def __str__(self) -> str:
        head = "Sw<{},{},{}> o 0 o ".format(*self.swizzle) if self.swizzle else ""
        return head + f"{self.shape}:{self.stride}".replace(", ", ",").replace(",)", ")")

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        """The extents with their strides, the fastest first."""
        return tuple(_leaves(self.shape, self.stride))

    @property
    def size(self) -> int:
        """The number of indices."""
        return prod(extent for extent, _ in self.leaves)

    @property
    def modes(self) -> tuple[Strided, ...]:
        """The layouts of the outermost modes; itself where there is only one."""
        if isinstance(self.shape, int) or isinstance(self.stride, int):
            return (self,)
        return tuple(Strided(shape, stride) for shape, stride in zip(self.shape, self.stride, strict=True))

    @property
    def plain(self) -> Strided:
        """The layout without its swizzle."""
        return replace(self, swizzle=None)

    @overload
    def __call__(self, index: int) -> int: ...
    @overload
    def __call__(self, index: Indices) -> Indices: ...
    def __call__(self, index: int | Indices) -> int | Indices:
        """Return the value at an index, or at each of an array of them, digit by digit."""
        value: int | Indices = 0 * index
        for extent, stride in self.leaves:
            index, digit = index // extent, index % extent
            value = value + digit * stride
        if self.swizzle:
            bits, base, shift = self.swizzle
            value = value ^ (value & ((1 << bits) - 1) << (base + shift)) >> shift
        return value

    def expression(self, *variables: str) -> str:
        """Return the C expression of its value, for one index or for an index of each mode.

        >>> Strided.parse("((4,8),(2,2)):((32,1),(0,8))").expression("t", "v")
        't % 4 * 32 + t / 4 + v / 2 * 8'
        """
        parts = self.modes if len(variables) > 1 else (self,)
        terms = []
        for part, name in zip(parts, variables, strict=True):
            below = 1
            for extent, stride in part.leaves:
                above = below * extent
                if extent > 1 and stride:  # the last digit needs no remainder, for indices are in range
                    digit = name + (f" / {below}" if below > 1 else "") + (f" % {extent}" if above < part.size else "")
                    terms.append(digit + (f" * {stride}" if stride > 1 else ""))
                below = above
        text = " + ".join(terms) or "0"
        return "swizzle<{}, {}, {}>({})".format(*self.swizzle, text) if self.swizzle else text


@lru_cache(maxsize=1024)  # recordings repeat most of them
def _nest(text: str) -> Nested:
    """Return a number, or a tuple of them. JSON's reader is faster than Python's."""
    return _tuples(json.loads(text.translate(_JSON)))


def _tuples(value: int | list[Any]) -> Nested:
    return value if isinstance(value, int) else tuple(map(_tuples, value))


def _leaves(shape: Nested, stride: Nested) -> Iterator[Leaf]:
    if isinstance(shape, int) and isinstance(stride, int):
        yield shape, stride
    elif isinstance(shape, tuple) and isinstance(stride, tuple):
        for inner, step in zip(shape, stride, strict=True):
            yield from _leaves(inner, step)
    else:
        raise ValueError(f"{shape} and {stride} are not nested alike")
