# SPDX-License-Identifier: Apache-2.0
"""The owners of elements under a TiledMMA, from the definition alone: digits and sums, without the algebra."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from layouts import Layout

AXES = {"A": (0, 2), "B": (1, 2), "C": (0, 1)}


def flat(t: Any) -> list[int]:
    return [x for mode in t for x in flat(mode)] if isinstance(t, tuple) else [t]


def values(layout: Layout) -> np.ndarray:
    """The values of a layout at 0, 1, ...: sums over digits, the first fastest."""
    sums = np.zeros(1, dtype=np.int64)
    for s, d in zip(flat(layout.shape), flat(layout.stride), strict=True):
        sums = (sums[None, :] + (np.arange(s) * d)[:, None]).ravel()
    return sums


def table(layout: Layout) -> np.ndarray:
    """A (thread, value) layout as an array [thread, value]."""
    threads, elements = (values(Layout(s, d)) for s, d in zip(layout.shape, layout.stride, strict=True))
    return threads[:, None] + elements[None, :]


@dataclass(frozen=True)
class Definition:
    """A tiled MMA by its definition.

    An atom's thread v at the place (tm, tn, tk) is the thread `thr[v] + base[tm, tn, tk]`. Position p of a mode, in the
    order of the permutation, is the element `order[p % P] + P * (p // P)`; the atom's row i at place t of T, repeated
    r times, is the position i + m * (t + T * r).
    """

    shape: tuple[int, int, int]
    tables: dict[str, np.ndarray]
    thr: np.ndarray
    base: np.ndarray  # [tm, tn, tk]
    order: tuple[np.ndarray, np.ndarray, np.ndarray]

    @property
    def tile(self) -> tuple[int, ...]:
        return tuple(len(order) for order in self.order)

    def elements(self, axis: int, place: int, extent: int) -> np.ndarray:
        """[row of the atom, repetition] -> element of the mode, for the atom at a place."""
        m, count = self.shape[axis], self.base.shape[axis]
        row, again = np.arange(m)[:, None], np.arange(extent // (m * count))[None, :]
        position, order = row + m * (place + count * again), self.order[axis]
        return order[position % len(order)] + len(order) * (position // len(order))

    def fragments(self, operand: str, extents: tuple[int, int]) -> dict[int, np.ndarray]:
        """Thread -> [value, rest x, rest y, 2]: the coordinates (x, y) of its elements of an operand."""
        first, second = AXES[operand]
        rows = self.shape[first]
        elements: dict[int, np.ndarray] = {}
        for place in np.ndindex(*self.base.shape):
            xs = self.elements(first, place[first], extents[0])
            ys = self.elements(second, place[second], extents[1])
            alike: dict[bytes, np.ndarray] = {}  # of an operand in memory all threads have the same
            for v, at in enumerate(self.thr):
                element = self.tables[operand][v]
                if element.tobytes() not in alike:
                    x, y = xs[element % rows][:, :, None], ys[element // rows][:, None, :]
                    alike[element.tobytes()] = np.stack(np.broadcast_arrays(x, y), axis=-1)
                elements[int(at + self.base[place])] = alike[element.tobytes()]
        return elements


def define(atom: Any, base: np.ndarray, order: Any = (None, None, None)) -> Definition:
    """The definition for an atom, the places of its threads, and the order of each mode (a count, a list, or None)."""
    orders = []
    for m, count, given in zip(atom.shape, base.shape, order, strict=True):
        listed = m * count if given is None else given
        orders.append(np.arange(listed) if isinstance(listed, int) else np.asarray(listed))
    tables = {operand: table(getattr(atom, operand)) for operand in "ABC"}
    return Definition(atom.shape, tables, values(atom.thr), base, tuple(orders))  # type: ignore[arg-type]


def bases(atom: Any, counts: tuple[int, int, int], strides: tuple[int, int, int]) -> np.ndarray:
    """[tm, tn, tk] -> the atom's first thread, for atoms numbered by strides.

    Atoms whose threads are a range of n lie at a distance of n. A quadpair, lanes 0..3 and 16..19, leaves room for
    three more in its warp: atom a is at 4 * (a % 4) + 32 * (a // 4).
    """
    grid = np.indices(counts)
    number = sum(g * d for g, d in zip(grid, strides, strict=True))
    thr = values(atom.thr)
    if list(thr) == [0, 1, 2, 3, 16, 17, 18, 19]:
        return 4 * (number % 4) + 32 * (number // 4)  # type: ignore[no-any-return]
    assert list(thr) == list(range(len(thr)))
    return len(thr) * number  # type: ignore[no-any-return]
