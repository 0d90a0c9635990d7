# SPDX-License-Identifier: Apache-2.0
"""A map that was found by observation, point by point, and its texts: a layout, F2 bases.

The texts are inferred from the points alone and compared with all of them. `layouts.fit` and `verify.maps.bases` have
the same two ideas: this check shares no code with them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from math import prod
from operator import mul
from typing import Any, TypeAlias

from gpu_checks.arrays import np
from gpu_checks.model import Labels

Source: TypeAlias = tuple[str, str]  # an instruction with addresses, or the function; and under which premise
BASES_OF = {"value": "register", "lane": "lane", "element": "offset"}  # as Triton names what a basis is of


@dataclass(frozen=True, eq=False)
class FoundMap:
    """Which element each value of each lane has."""

    operand: str  # or the function
    inputs: tuple[str, ...]  # lane and value; of a matrix in shared memory the element, in order of address
    axes: tuple[str, str]  # what row and column are: m and k
    table: Labels  # [input]...[2] -> (row, column), -1 where one is not known
    numbered: Mapping[str, Source] = field(default_factory=dict)  # axis -> what gives its numbers
    along: int = 0  # which coordinate a layout counts first: of B the column, n

    @property
    def lengths(self) -> tuple[int, ...]:
        """The extents of the inputs."""
        return self.table.shape[:-1]

    @property
    def extent(self) -> tuple[int, int]:
        """The extents of row and column, as far as they were seen."""
        rows, columns = (1 + int(self.table[..., place].max(initial=-1)) for place in (0, 1))
        return rows, columns

    @property
    def unknown(self) -> str:
        """Why the map has no text; empty where every point is known."""
        missing = int((self.table < 0).any(axis=-1).sum())
        return f"{missing} of {prod(self.lengths)} points have no row or no column" if missing else ""

    def layout(self) -> tuple[str, str]:
        """Return the layout with element row + rows*col (of B col + cols*row) at every point, and what prevents one.

        >>> table = np.array([[[v // 2 * 8 + t // 4, t % 4 * 2 + v % 2] for v in range(4)] for t in range(32)])
        >>> FoundMap("D", ("lane", "value"), ("m", "n"), table).layout()
        ('((4,8),(2,2)):((32,1),(16,8))', '')
        """
        if self.unknown:
            return "", self.unknown
        first, second = self.table[..., self.along], self.table[..., 1 - self.along]
        numbers = first + self.extent[self.along] * second
        if numbers.flat[0]:
            return "", f"the first point has element {int(numbers.flat[0])}, a layout 0"
        modes = []
        for axis in range(numbers.ndim):
            line = np.moveaxis(numbers, axis, 0).reshape(self.lengths[axis], -1)[:, 0]
            modes.append(_modes(line.tolist()))
        whole = np.zeros(self.lengths, np.int64)
        for axis, (shape, stride) in enumerate(modes):
            if prod(shape) != self.lengths[axis]:
                return "", f"{self.lengths[axis]} {self.inputs[axis]}s aren't digits of {', '.join(map(str, shape))}"
            whole += _values(shape, stride).reshape([-1 if dim == axis else 1 for dim in range(numbers.ndim)])
        wrong = np.argwhere(whole != numbers)
        if len(wrong):
            at = ", ".join(f"{name} {int(number)}" for name, number in zip(self.inputs, wrong[0], strict=True))
            place = tuple(wrong[0])
            return "", f"{at} has element {int(numbers[place])}, the digits of lane and value make {int(whole[place])}"
        shapes, strides = zip(*((_tuple(shape), _tuple(stride)) for shape, stride in modes), strict=True)
        texts = [leaves[0] if len(leaves) == 1 else f"({','.join(leaves)})" for leaves in (shapes, strides)]
        return ":".join(texts), ""

    def bases(self) -> tuple[str, str]:
        """Return the F2 bases of the map, in Triton's spelling, and what prevents them.

        >>> table = np.array([[[t >> 1, (t & 1) ^ (t >> 1)]] for t in range(4)])
        >>> FoundMap("D", ("lane", "value"), ("m", "n"), table).bases()
        ('{register = [], lane = [[0, 1], [1, 1]], warp = []}', '')
        """
        if self.unknown:
            return "", self.unknown
        if self.table.reshape(-1, 2)[0].any():
            return "", "the first point is not (0, 0)"
        whole, bases = np.zeros_like(self.table), {}
        for axis, (name, length) in enumerate(zip(self.inputs, self.lengths, strict=True)):
            if length & (length - 1):
                return "", f"{length} {name}s aren't a power of two"
            line = np.moveaxis(self.table, axis, 0).reshape(length, -1, 2)[:, 0]
            bases[name] = [line[1 << bit].tolist() for bit in range(length.bit_length() - 1)]
            index = np.arange(length).reshape([-1 if dim == axis else 1 for dim in range(self.table.ndim)])
            for bit, basis in enumerate(bases[name]):
                whole ^= np.array(basis) * (index >> bit & 1)
        wrong = np.argwhere((whole != self.table).any(axis=-1))
        if len(wrong):
            at = ", ".join(f"{name} {int(number)}" for name, number in zip(self.inputs, wrong[0], strict=True))
            return "", f"{at} is not the xor of its bits"
        return _write_bases(bases), ""


def _write_bases(bases: Mapping[str, Sequence[Sequence[int]]]) -> str:
    """Bases as Triton prints them: what is beyond 32 lanes is of the warp."""
    lanes = bases.get("lane", [])
    named: dict[str, Any] = {BASES_OF[name]: bases[name] for name in ("value", "element") if name in bases}
    if "lane" in bases:
        named |= {"lane": lanes[:5], "warp": lanes[5:]}
    return "{" + ", ".join(f"{name} = {list(map(list, vectors))}" for name, vectors in named.items()) + "}"


def _modes(line: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return the digits of an index and the step of each, of the only coalesced layout that may have these values.

    The first digit ends at the least k with L(k) != k*L(1); the others are those of L(k), L(2k), ...
    """
    shape, stride, unit = [], [], 1
    while unit < len(line):
        left, step = -(-len(line) // unit), line[unit]
        size = next((k for k in range(2, left) if line[k * unit] != k * step), left)
        shape.append(size)
        stride.append(step)
        unit *= size
    return shape or [1], stride or [0]


def _values(shape: Sequence[int], stride: Sequence[int]) -> Labels:
    """Return what the digits of 0, 1, 2, ... make, each times its step."""
    index = np.arange(prod(shape))
    units = accumulate(shape, mul, initial=1)
    digits = (index // unit % size * step for unit, size, step in zip(units, shape, stride, strict=False))
    return sum(digits, np.zeros_like(index))


def _tuple(numbers: Sequence[int]) -> str:
    return str(numbers[0]) if len(numbers) == 1 else f"({','.join(map(str, numbers))})"
