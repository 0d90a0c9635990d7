# SPDX-License-Identifier: Apache-2.0
"""What a tiling says, counted out in plain integers from the atom, the atoms' layout and the permutation as stated.

No layout is called or divided and no TiledMMA is asked: this is what the library's are held against.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import count

import numpy as np

from layouts import Layout
from verify.arithmetic import every, halves
from verify.tiling_subject import Dealt, Tiling

Table = np.ndarray[tuple[int, ...], np.dtype[np.int64]]


def threads(tiling: Tiling) -> Table:
    """The thread [v, wM, wN, wK]: the lane that the atom gives v, beyond where its atom begins.

    The layout of the atoms numbers them, and the number says where: each begins at the first lane that those with a
    smaller number leave free, so that the quadpairs of Volta fill a warp before the next one.
    """
    thr, atoms = tiling.subject.thr, tiling.stated.atoms_layout
    if thr is None:
        raise TypeError(f"{tiling.subject.mma.thr} is not well formed: {tiling.subject.thr_fault}")
    lanes = every(thr.shape, thr.stride)
    numbers = np.array(every(atoms.shape, atoms.stride)).reshape(tiling.atoms, order="F")
    begins: Table = np.array(_begins(tuple(sorted(lanes)), int(numbers.max()) + 1))
    found: Table = np.array(lanes)[:, None, None, None] + begins[numbers]
    return found


@lru_cache(maxsize=64)
def _begins(lanes: tuple[int, ...], atoms: int) -> tuple[int, ...]:
    """Where each of so many atoms begins, all lanes of one before the first lane of the next that fits."""
    taken: set[int] = set()
    found: list[int] = []
    firsts = count()
    while len(found) < atoms:
        begin = next(firsts) - lanes[0]
        own = {begin + lane for lane in lanes}
        if not taken & own:
            taken |= own
            found.append(begin)
    return tuple(found)


def elements(tiling: Tiling, dealt: Dealt) -> Table:
    """Element of the tile that each (thread, value) is, -1 for a thread that idles.

    Every atom (wM, wN, wK), every thread v of it, every value, every repetition is counted out.
    """
    if dealt.part.layout is None:
        raise TypeError(f"{dealt.part.text} is not well formed: {dealt.part.fault}")
    held = np.add.outer(*(np.array(every(shape, stride)) for shape, stride in halves(dealt.part.layout)))
    x, y = dealt.repeats(tiling.covered)
    rows, values = dealt.part.extent[0], held.shape[1]
    v, wm, wn, wk, frg, rx, ry = np.ix_(*map(np.arange, (len(held), *tiling.atoms, values, x, y)))
    place = [
        _coordinates(tiling, axis)[i + tiling.subject.mma.shape[axis] * (w + tiling.atoms[axis] * r)]
        for axis, i, w, r in zip(
            dealt.along,
            (held[v, frg] % rows, held[v, frg] // rows),
            ((wm, wn, wk)[axis] for axis in dealt.along),
            (rx, ry),
            strict=True,
        )
    ]
    numbers, value = threads(tiling)[v, wm, wn, wk], frg + values * (rx + x * ry)
    lanes = max(int(numbers.max()) + 1, tiling.mma.size)
    table = np.full((lanes, values * x * y), -1)
    table[np.broadcast_to(numbers, np.broadcast_shapes(numbers.shape, value.shape)), value] = (
        place[0] + dealt.extent(tiling.covered)[0] * place[1]
    )
    return table


def _coordinates(tiling: Tiling, axis: int) -> Table:
    """The coordinate that each position is."""
    tiler = tiling.stated.permutation[axis]
    if not isinstance(tiler, Layout):
        return np.arange(tiling.covered[axis])
    return np.array(every(tiler.shape, tiler.stride))
