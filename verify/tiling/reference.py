# SPDX-License-Identifier: Apache-2.0
"""What a tiling says, counted out in plain integers from the atom, the atoms' layout and the permutation as stated.

No layout is called or divided and no TiledMMA is asked: this is what the library's are held against.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import count

import numpy as np

from layouts import Layout
from verify.core.digits import every, halves
from verify.tiling.bind import Dealt, Tiling

Table = np.ndarray[tuple[int, ...], np.dtype[np.int64]]


def threads(tiling: Tiling) -> Table:
    """The thread [v, wM, wN, wK]: the lane that the atom gives v, beyond where its atom begins.

    The layout of the atoms numbers them, and the number says where: each begins at the first lane that those with a
    smaller number leave free, so that the quadpairs of Volta fill a warp before the next one.
    """
    (thr, _), atoms = tiling.subject.numbering, tiling.stated.atoms_layout
    lanes = every(thr.shape, thr.stride)
    numbers = np.array(every(atoms.shape, atoms.stride)).reshape(tiling.atoms, order="F")
    begins: Table = np.array(_begins(tuple(sorted(lanes)), int(numbers.max()) + 1))
    found: Table = np.array(lanes)[:, None, None, None] + begins[numbers]
    return found


@lru_cache(maxsize=64)  # plain integers: no TiledMMA or layout with a planted bug reaches them
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
    """Element of the tile of one tiled MMA that each (thread, value) is, -1 for a thread that idles."""
    numbers, held = threads(tiling), parts(tiling, dealt, tiling.covered)
    dealt_out = np.moveaxis(held, (4, 5, 6), (6, 5, 4)).reshape(*held.shape[:4], -1)  # frg fastest
    table = np.full((max(int(numbers.max()) + 1, tiling.mma.size), dealt_out.shape[-1]), -1)
    table[numbers] = dealt_out
    return table


def parts(tiling: Tiling, dealt: Dealt, tile: tuple[int, int, int]) -> Table:
    """Element of an operand's part of a tile that [v, wM, wN, wK][frg, restX, restY] is.

    Every atom (wM, wN, wK), every thread v of it, every value, every repetition is counted out.
    """
    held = np.add.outer(*(np.array(every(shape, stride)) for shape, stride in halves(dealt.part.parsed)))
    rows, shape = dealt.part.extent[0], (*held.shape[:1], *tiling.atoms, held.shape[1], *dealt.repeats(tile))
    if (held == held[0]).all():  # an operand in memory: all threads see the same
        held = held[:1]
    v, wm, wn, wk, frg, rx, ry = np.ix_(*map(np.arange, (len(held), *shape[1:])))
    x, y = (
        _coordinates(tiling, axis, i + tiling.subject.mma.shape[axis] * (w + tiling.atoms[axis] * r))
        for axis, i, w, r in zip(
            dealt.along,
            (held[v, frg] % rows, held[v, frg] // rows),
            ((wm, wn, wk)[axis] for axis in dealt.along),
            (rx, ry),
            strict=True,
        )
    )
    return np.broadcast_to(x + dealt.extent(tile)[0] * y, shape)


def _coordinates(tiling: Tiling, axis: int, position: Table) -> Table:
    """The coordinate that each position is: permuted within the tile of one tiled MMA, and as many tiles on."""
    tiler, extent = tiling.stated.permutation[axis], tiling.covered[axis]
    order = np.array(every(tiler.shape, tiler.stride)) if isinstance(tiler, Layout) else np.arange(extent)
    found: Table = order[position % extent] + extent * (position // extent)
    return found
