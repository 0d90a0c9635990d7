# SPDX-License-Identifier: Apache-2.0
"""TiledMMA: the elements of a tile that each thread holds. Source: CUTLASS, include/cute/atom/mma_atom.hpp.

Main declarations: `TiledMMA`, an atom repeated over threads and values, with `thrfrg` (the layout of an operand by
thread and fragment), `steps` (the layouts on the way to it) and `layout_TV`; `ThrMMA`, the view of one thread, with
`partition` and `make_fragment`; `Permutation`, the order of each axis of the tile.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, partialmethod
from typing import Any, TypeAlias, TypeVar

from layouts.arrays import np
from layouts.atoms import Atom
from layouts.complement import complement
from layouts.compose import composition
from layouts.composed import ComposedLayout, on_layout
from layouts.coords import Index
from layouts.divide import logical_divide, zipped_divide
from layouts.errors import LayoutError
from layouts.int_tuple import IntTuple, size, wrap
from layouts.inverse import right_inverse
from layouts.layout import Layout, make_layout
from layouts.modes import append
from layouts.products import tiled_product
from layouts.tensor.partition import flat_coord
from layouts.tensor.tensor import Tensor, make_fragment_like, make_tensor
from layouts.text import parse_int_tuple
from layouts.tiled.atom import MmaAtom, check_multiple

L = TypeVar("L", bound="Layout | ComposedLayout")
Permutation: TypeAlias = "tuple[int | Layout | str | None, ...]"

AXES = {"A": (0, 2), "B": (1, 2), "C": (0, 1)}  # the modes of (M, N, K) that an operand has
WHOLE = "MNK"


@dataclass(frozen=True, slots=True, init=False)
class TiledMMA:
    """An atom repeated over (M, N, K) by threads, and over values by a permutation of each mode.

    ``atoms_layout`` maps the place (m, n, k) of an atom to the number of its threads; it may be given as a tuple of
    extents, or as a text. ``permutation`` has for each mode None (as many elements as the atoms cover), the number of
    elements (more values for each thread), or a layout of the elements in the order in which the atoms take them.

    >>> from layouts.atoms import registry
    >>> mma = TiledMMA(registry()["SM80_16x8x16_F32F16F16F32_TN"], (2, 2, 1), (None, 32, None))
    >>> mma.shape_mnk, mma.size, str(mma.thr_layout_vmnk)
    ((32, 32, 16), 128, '(32,2,2,1):(1,32,64,0)')

    Raises LayoutError when a permutation does not cover its mode evenly, with the nearest numbers that do, and when the
    atoms' threads do not fill a range of thread indices.
    """

    atom: MmaAtom
    thr_layout_vmnk: Layout
    permutation_mnk: tuple[Layout, Layout, Layout]

    def __init__(
        self, atom: MmaAtom | Atom, atoms_layout: Layout | IntTuple | str = (1, 1, 1), permutation: Permutation = ()
    ) -> None:
        atom = MmaAtom.of(atom)
        threads = _threads(atom, _three_modes(atoms_layout))
        covered = [m * size(t) for m, t in zip(atom.shape, [*threads][1:], strict=True)]
        if len(permutation) > 3:
            raise LayoutError(f"a permutation of {len(permutation)} modes: there are three, M, N and K")
        tilers = (*permutation, *(None,) * (3 - len(permutation)))
        permuted = tuple(map(_permutation, WHOLE, tilers, covered))
        for name, value in (("atom", atom), ("thr_layout_vmnk", threads), ("permutation_mnk", permuted)):
            object.__setattr__(self, name, value)

    @property
    def shape_mnk(self) -> tuple[int, int, int]:
        """The tile (M, N, K) that one use of the atoms and permutations covers; the problem is a multiple of it."""
        m, n, k = map(size, self.permutation_mnk)
        return m, n, k

    @property
    def atoms(self) -> tuple[int, int, int]:
        """The number of atoms along M, N and K."""
        m, n, k = (size(mode) for mode in [*self.thr_layout_vmnk][1:])
        return m, n, k

    @property
    def size(self) -> int:
        """The number of threads, idle lanes between and within the atoms included (CuTe does not count them).

        A thread that no atom uses has the view of the thread below it, as in a warp with one quadpair of SM70.
        """
        return size(_fill(self.thr_layout_vmnk))

    def tile_shape(self, operand: str) -> tuple[int, int]:
        """Return the extents of an operand's tile: (M, K) of A, (N, K) of B, (M, N) of C."""
        x, y = _axes(operand)
        return self.shape_mnk[x], self.shape_mnk[y]

    def thrfrg(self, operand: str, layout: L) -> L:
        """Return the layout ((V, (X, Y)), (frg, (restX, restY, ...))) of an operand's layout (x, y, ...).

        V is the thread within its atom, X and Y the atom along the operand's two modes, frg the value within the atom.
        The values of the layout are kept: addresses or coordinates, swizzled or not.

        Raises LayoutError for less than two modes, and when a mode isn't a multiple of the tile.
        """
        *_, distributed = self.steps(operand, layout)
        return distributed

    def steps(self, operand: str, layout: L) -> Iterator[L]:
        """Yield the layouts on the way to thrfrg: permuted, divided into atoms, as (thread, value), distributed over
        threads.

        The first of them is ``layout`` itself.
        """
        x, y = _axes(operand)
        self._check(operand, layout)
        yield layout
        layout = logical_divide(layout, (self.permutation_mnk[x], self.permutation_mnk[y]))
        yield layout
        layout = zipped_divide(layout, (self.atom.shape[x], self.atom.shape[y]))
        yield layout
        fragment = self.atom.operand(operand)
        layout = on_layout(lambda plain: make_layout(composition(plain[0], fragment), plain[1]), layout)
        yield layout
        yield on_layout(lambda plain: _distribute(plain, self.atoms[x], self.atoms[y]), layout)

    thrfrg_A = partialmethod(thrfrg, "A")
    thrfrg_B = partialmethod(thrfrg, "B")
    thrfrg_C = partialmethod(thrfrg, "C")

    def layout_TV(self, operand: str, layout: L) -> L:
        """Return the layout (thread, (frg, (restX, restY, ...))) of an operand's layout: thread is 0 .. size-1.

        Atoms along the mode that the operand does not have share its elements, with a stride of 0: A along N, B along
        M, C along K (where CuTe's get_layoutC_TV leaves the tile).

        Raises LayoutError where thrfrg does.
        """

        def by_thread(plain: Layout) -> Layout:
            (v, places), values = self.thrfrg(operand, plain)
            x, y = _axes(operand)
            modes = [v, *(Layout(extent, 0) for extent in self.atoms)]
            modes[1 + x], modes[1 + y] = places
            modes.append(Layout(size(_fill(self.thr_layout_vmnk)[1]), 0))
            return make_layout(composition(make_layout(*modes), _place_of(self.thr_layout_vmnk)), values)

        return on_layout(by_thread, layout)

    @property
    def layoutA_TV(self) -> Layout:
        """(thread, value) -> m + M*k over the tile."""
        return self.layout_TV("A", Layout(self.tile_shape("A")))

    @property
    def layoutB_TV(self) -> Layout:
        """(thread, value) -> n + N*k over the tile."""
        return self.layout_TV("B", Layout(self.tile_shape("B")))

    @property
    def layoutC_TV(self) -> Layout:
        """(thread, value) -> m + M*n over the tile."""
        return self.layout_TV("C", Layout(self.tile_shape("C")))

    def get_slice(self, thread: Index) -> ThrMMA:
        """Return the view of one thread; of a column of threads (an array of shape (n, 1)), a row of values for each,
        or one row where all have the same.

        Raises LayoutError for a thread outside 0 .. size-1.
        """
        if np.any(outside := (np.asarray(thread) < 0) | (np.asarray(thread) >= self.size)):
            first = np.asarray(thread)[outside].flat[0]
            raise LayoutError(f"thread {first} of a tiled MMA with the threads 0 .. {self.size - 1}")
        v, m, n, k = flat_coord(self.thr_layout_vmnk, thread)
        return ThrMMA(self, v, (m, n, k))

    def partition_shape(self, operand: str, shape: IntTuple) -> IntTuple:
        """Return the shape (frg, restX, restY, ...) of each thread's view of an operand's shape."""
        fragment: Layout = _fragment(self, operand, Layout(shape), 0, (0, 0))[0]
        return fragment.shape

    def _check(self, operand: str, layout: Layout | ComposedLayout) -> None:
        if len(layout) < 2:
            raise LayoutError(
                f"{operand} needs two modes, {' and '.join(WHOLE[x] for x in _axes(operand))}, got {layout}"
            )
        for axis, mode in zip(_axes(operand), wrap(layout.shape), strict=False):
            extent, tile = size(mode), self.shape_mnk[axis]
            problem = f"{WHOLE[axis]} = {extent} of {operand} isn't a multiple of the tile's {tile}"
            check_multiple(extent, tile, problem)


@dataclass(frozen=True, slots=True)
class ThrMMA:
    """The view of thread ``v`` of the atom at ``place`` (m, n, k); all may be columns of threads."""

    mma: TiledMMA
    v: Index
    place: tuple[Index, Index, Index]

    def partition(self, operand: str, tensor: Tensor) -> Tensor:
        """Return the thread's view (frg, restX, restY, ...) of an operand's tensor (x, y, ...).

        >>> from layouts.atoms import registry
        >>> from layouts.tensor import make_identity_tensor
        >>> mma = TiledMMA(registry()["SM80_16x8x16_F32F16F16F32_TN"], (2, 2, 1))
        >>> part = mma.get_slice(5).partition("C", make_identity_tensor((32, 32)))
        >>> part.shape, [part[v, 0, 1] for v in range(4)]
        (((2, 2), 1, 2), [(1, 18), (1, 19), (9, 18), (9, 19)])

        Raises LayoutError where thrfrg does.
        """
        x, y = _axes(operand)
        layout, offset = _fragment(self.mma, operand, tensor.layout, self.v, (self.place[x], self.place[y]))
        return Tensor(tensor.data, layout, tensor.offset + offset)

    partition_A = partialmethod(partition, "A")
    partition_B = partialmethod(partition, "B")
    partition_C = partialmethod(partition, "C")  # atoms along K share it: partial sums

    def make_fragment(self, operand: str, partitioned: Tensor) -> Tensor:
        """Return registers for a partition: a tensor of zeros in its shape, for A and B in the order of
        make_fragment_like.

        An operand that stays in memory has no registers: the instruction reads the partition itself. Accumulators are
        in column-major order, whatever the order of C in memory.
        """
        _axes(operand)
        if operand in self.mma.atom.memory:
            return partitioned
        if operand == "C":
            return make_tensor(partitioned.shape, np.int64 if partitioned.data is None else partitioned.data.dtype)
        return make_fragment_like(partitioned)

    make_fragment_A = partialmethod(make_fragment, "A")
    make_fragment_B = partialmethod(make_fragment, "B")
    make_fragment_C = partialmethod(make_fragment, "C")


def _axes(operand: str) -> tuple[int, int]:
    """Return the modes of (M, N, K) that an operand has; raises LayoutError unless it is A, B or C."""
    if operand not in AXES:
        raise LayoutError(f"{operand!r} isn't an operand of a tiled MMA: A, B, C are")
    return AXES[operand]


@lru_cache(maxsize=64)  # by layouts alone: a test that plants a bug in thrfrg must clear it
def _thrfrg(mma: TiledMMA, operand: str, layout: Any) -> Any:
    """thrfrg, cached: all threads of a tile use the same one."""
    return mma.thrfrg(operand, layout)


def _fragment(mma: TiledMMA, operand: str, layout: Any, v: Index, place: tuple[Index, Index]) -> tuple[Any, Any]:
    divided = _thrfrg(mma, operand, layout)
    whole = divided.layout_b if isinstance(divided, ComposedLayout) else divided
    coord = ((v, place), (None, (None,) * len(whole[1][1])))
    part = Tensor(None, divided)[coord]
    return part.layout, part.offset


def _distribute(layout: Layout, x: int, y: int) -> Layout:
    """((V, frg), (restX, restY, ...)) as ((V, (x, y)), (frg, (restX / x, restY / y, ...)))."""
    (thread, value), rest = layout
    places, rests = zipped_divide(rest, (x, y))
    return make_layout(make_layout(thread, places), make_layout(value, rests))


def _threads(atom: MmaAtom, atoms: Layout) -> Layout:
    """(V, M, N, K) -> thread index: the atoms' threads one after another, idle lanes filled first."""
    try:
        threads = tiled_product(atom.thr, atoms)
        filled = _fill(threads)
    except LayoutError as error:
        raise LayoutError(f"atoms {atoms} of threads {atom.thr} do not fit together: {error}") from error
    if size(_place_of(threads)) != size(filled):
        raise LayoutError(f"atoms {atoms} of threads {atom.thr} name a thread twice or leave one out: {threads}")
    return threads


def _fill(threads: Layout) -> Layout:
    """Return the threads and, as a second mode, their repetitions that fill the range of thread indices."""
    return make_layout(threads, complement(threads))


def _place_of(threads: Layout) -> Layout:
    """Thread index -> index in (V, M, N, K, idle)."""
    return right_inverse(_fill(threads))


def _three_modes(atoms: Layout | IntTuple | str) -> Layout:
    if isinstance(atoms, str):
        atoms = Layout.parse(atoms) if ":" in atoms else parse_int_tuple(atoms if "(" in atoms else f"({atoms})")
    layout = atoms if isinstance(atoms, Layout) else Layout(atoms)
    if len(layout) > 3:
        raise LayoutError(f"atoms {layout} have {len(layout)} modes: there are three, M, N and K")
    return append(layout, up_to_rank=3)


def _permutation(axis: str, tiler: int | Layout | str | None, covered: int) -> Layout:
    """Return the tiler of one mode as a layout, of a multiple of the elements that the atoms cover."""
    if tiler is None:
        return Layout(covered)
    if isinstance(tiler, str):
        tiler = Layout.parse(tiler) if ":" in tiler else Layout(parse_int_tuple(tiler))
    layout = tiler if isinstance(tiler, Layout) else Layout(tiler)
    extent = size(layout)
    problem = f"a permutation of {extent} elements of {axis} isn't a multiple of the {covered} that the atoms cover"
    check_multiple(extent, covered, problem)
    if size(right_inverse(layout)) != extent:
        raise LayoutError(
            f"the permutation {layout} of {axis} does not cover 0 .. {extent - 1}, each once: "
            f"{size(right_inverse(layout))} is missing or an index is named twice"
        )
    return layout
