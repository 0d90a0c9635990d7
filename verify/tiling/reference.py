# SPDX-License-Identifier: Apache-2.0
"""The definition of a tiling, evaluated in plain integers from the atom, the atoms' layout and the permutation.

No layout is called or divided and no TiledMMA is used: the library's TiledMMA is compared with this.

`threads`, `parts`, `elements`    at every place at once, as arrays
`thread`, `element`, `place_of`   at one place, without arrays: counterexamples are computed again with these
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import count, product
from typing import Any, TypeAlias

import numpy as np

from layouts import Layout
from verify.core.digits import every, halves, image, lane_of, walk
from verify.tiling.bind import TiledOperand, Tiling

Table: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.int64]]"
Place: TypeAlias = "Sequence[int]"  # (v, wM, wN, wK), and of an element (frg, restX, restY) after them


def threads(tiling: Tiling) -> Table:
    """Return the thread [v, wM, wN, wK]: the lane of v in the atom, plus the lane at which the atom begins.

    The layout of the atoms numbers them. Each atom begins at the first lane that those with a smaller number leave
    free, so that the quadpairs of Volta fill a warp before the next one.
    """
    (thr, _), atoms = tiling.subject.numbering, tiling.spec.atoms_layout
    lanes = every(thr.shape, thr.stride)
    numbers = np.array(every(atoms.shape, atoms.stride)).reshape(tiling.atoms, order="F")
    begins: Table = np.array(_begins(tuple(sorted(lanes)), int(numbers.max()) + 1))
    table: Table = np.array(lanes)[:, None, None, None] + begins[numbers]
    return table


def thread(tiling: Tiling, place: Place) -> int:
    """Return the thread at one place."""
    (thr, _), atoms, (v, wm, wn, wk) = tiling.subject.numbering, tiling.spec.atoms_layout, place[:4]
    lanes, numbers = (tuple(every(layout.shape, layout.stride)) for layout in (thr, atoms))
    number: int = image(atoms, wm + tiling.atoms[0] * (wn + tiling.atoms[1] * wk))
    return lane_of(thr, v) + _begins(tuple(sorted(lanes)), max(numbers) + 1)[number]


def place_of(tiling: Tiling, number: int) -> tuple[int, ...] | None:
    """Return the place of a thread; None of an idle one."""
    (thr, _), atoms, (m, n, k) = tiling.subject.numbering, tiling.spec.atoms_layout, tiling.atoms
    lanes, numbers = (tuple(every(layout.shape, layout.stride)) for layout in (thr, atoms))
    begins = _begins(tuple(sorted(lanes)), max(numbers) + 1)
    for v, wm, wn, wk in product(range(tiling.subject.threads), range(m), range(n), range(k)):
        if lanes[v] + begins[numbers[wm + m * (wn + n * wk)]] == number:
            return v, wm, wn, wk
    return None


@lru_cache(maxsize=64)  # plain integers: no TiledMMA or layout with a planted bug is in them
def _begins(lanes: tuple[int, ...], atoms: int) -> tuple[int, ...]:
    """Return the lane at which each of these atoms begins: the first at which all its lanes are free."""
    taken: set[int] = set()
    begins: list[int] = []
    firsts = count()
    while len(begins) < atoms:
        begin = next(firsts) - lanes[0]
        mine = {begin + lane for lane in lanes}
        if not taken & mine:
            taken |= mine
            begins.append(begin)
    return tuple(begins)


def elements(tiling: Tiling, tiled: TiledOperand) -> Table:
    """Element of the tile of one tiled MMA that each (thread, value) is, -1 for an idle thread."""
    numbers, by_lane = threads(tiling), parts(tiling, tiled, tiling.covered_shape)
    by_thread = np.moveaxis(by_lane, (4, 5, 6), (6, 5, 4)).reshape(*by_lane.shape[:4], -1)  # frg fastest
    table = np.full((max(int(numbers.max()) + 1, tiling.mma.size), by_thread.shape[-1]), -1)
    table[numbers] = by_thread
    return table


def parts(tiling: Tiling, tiled: TiledOperand, tile: tuple[int, int, int]) -> Table:
    """Element of an operand's part of a tile that [v, wM, wN, wK][frg, restX, restY] is.

    Every atom (wM, wN, wK), thread v, value and repetition is evaluated.
    """
    atom = np.add.outer(*(np.array(every(shape, stride)) for shape, stride in halves(tiled.part.layout_of_text)))
    shape = (*atom.shape[:1], *tiling.atoms, atom.shape[1], *tiled.repeats(tile))
    if (atom == atom[0]).all():  # an operand in memory: all threads have the same
        atom = atom[:1]
    v, wm, wn, wk, frg, rx, ry = np.ix_(*map(np.arange, (len(atom), *shape[1:])))
    return np.broadcast_to(_element(tiling, tiled, tile, atom[v, frg], (wm, wn, wk), (rx, ry)), shape)


def element(tiling: Tiling, tiled: TiledOperand, tile: tuple[int, int, int], place: Place) -> int:
    """Element of an operand's part of a tile at one place."""
    v, wm, wn, wk, frg, rx, ry = place
    return int(_element(tiling, tiled, tile, walk(tiled.part.layout_of_text, v, frg), (wm, wn, wk), (rx, ry)))


def _element(
    tiling: Tiling,
    tiled: TiledOperand,
    tile: tuple[int, int, int],
    atom: Any,
    atoms: tuple[Any, Any, Any],
    rest: tuple[Any, Any],
) -> Any:
    """Element of a tile that an element of an atom becomes, in the atom at (wM, wN, wK) and its repetition."""
    rows = tiled.part.extent[0]
    x, y = (
        _coordinate(tiling, axis, i + tiling.subject.mma.shape[axis] * (atoms[axis] + tiling.atoms[axis] * r))
        for axis, i, r in zip(tiled.along, (atom % rows, atom // rows), rest, strict=True)
    )
    return x + tiled.extent(tile)[0] * y


def _coordinate(tiling: Tiling, axis: int, position: Any) -> Any:
    """Return the coordinate of a position: permuted within the tile of one tiled MMA, moved by whole tiles."""
    tiler, extent = tiling.spec.permutation[axis], tiling.covered_shape[axis]
    within = position % extent
    return (image(tiler, within) if isinstance(tiler, Layout) else within) + extent * (position // extent)
