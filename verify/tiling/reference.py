# SPDX-License-Identifier: Apache-2.0
"""The definition of a tiling, evaluated in plain integers from the atom, the atoms' layout and the permutation.

No layout is called or divided and no TiledMMA is used: the library's TiledMMA is compared with this.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import count
from typing import TypeAlias

from layouts import Layout
from layouts.arrays import np
from verify.core.digits import every, halves
from verify.tiling.bind import TiledOperand, Tiling

Table: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.int64]]"


def threads(tiling: Tiling) -> Table:
    """The thread [v, wM, wN, wK]: the lane of v in the atom, plus the lane at which the atom begins.

    The layout of the atoms numbers them. Each atom begins at the first lane that those with a smaller number leave
    free, so that the quadpairs of Volta fill a warp before the next one.
    """
    (thr, _), atoms = tiling.subject.numbering, tiling.spec.atoms_layout
    lanes = every(thr.shape, thr.stride)
    numbers = np.array(every(atoms.shape, atoms.stride)).reshape(tiling.atoms, order="F")
    begins: Table = np.array(_begins(tuple(sorted(lanes)), int(numbers.max()) + 1))
    found: Table = np.array(lanes)[:, None, None, None] + begins[numbers]
    return found


@lru_cache(maxsize=64)  # plain integers: no TiledMMA or layout with a planted bug is in them
def _begins(lanes: tuple[int, ...], atoms: int) -> tuple[int, ...]:
    """The lane at which each of these atoms begins: the first at which all its lanes are free."""
    taken: set[int] = set()
    found: list[int] = []
    firsts = count()
    while len(found) < atoms:
        begin = next(firsts) - lanes[0]
        mine = {begin + lane for lane in lanes}
        if not taken & mine:
            taken |= mine
            found.append(begin)
    return tuple(found)


def elements(tiling: Tiling, tiled: TiledOperand) -> Table:
    """Element of the tile of one tiled MMA that each (thread, value) is, -1 for an idle thread."""
    numbers, found = threads(tiling), parts(tiling, tiled, tiling.covered)
    by_thread = np.moveaxis(found, (4, 5, 6), (6, 5, 4)).reshape(*found.shape[:4], -1)  # frg fastest
    table = np.full((max(int(numbers.max()) + 1, tiling.mma.size), by_thread.shape[-1]), -1)
    table[numbers] = by_thread
    return table


def parts(tiling: Tiling, tiled: TiledOperand, tile: tuple[int, int, int]) -> Table:
    """Element of an operand's part of a tile that [v, wM, wN, wK][frg, restX, restY] is.

    Every atom (wM, wN, wK), thread v, value and repetition is evaluated.
    """
    atom = np.add.outer(*(np.array(every(shape, stride)) for shape, stride in halves(tiled.part.parsed)))
    rows, shape = tiled.part.extent[0], (*atom.shape[:1], *tiling.atoms, atom.shape[1], *tiled.repeats(tile))
    if (atom == atom[0]).all():  # an operand in memory: all threads have the same
        atom = atom[:1]
    v, wm, wn, wk, frg, rx, ry = np.ix_(*map(np.arange, (len(atom), *shape[1:])))
    x, y = (
        _coordinates(tiling, axis, i + tiling.subject.mma.shape[axis] * (w + tiling.atoms[axis] * r))
        for axis, i, w, r in zip(
            tiled.along,
            (atom[v, frg] % rows, atom[v, frg] // rows),
            ((wm, wn, wk)[axis] for axis in tiled.along),
            (rx, ry),
            strict=True,
        )
    )
    return np.broadcast_to(x + tiled.extent(tile)[0] * y, shape)


def _coordinates(tiling: Tiling, axis: int, position: Table) -> Table:
    """The coordinate of each position: permuted within the tile of one tiled MMA, moved by whole tiles."""
    tiler, extent = tiling.spec.permutation[axis], tiling.covered[axis]
    order = np.array(every(tiler.shape, tiler.stride)) if isinstance(tiler, Layout) else np.arange(extent)
    found: Table = order[position % extent] + extent * (position // extent)
    return found
