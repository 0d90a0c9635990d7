# SPDX-License-Identifier: Apache-2.0
"""Statements about a tiled MMA, counted on its threads' partitions. A check returns "" or a counterexample."""

from __future__ import annotations

from functools import lru_cache
from itertools import product as points
from typing import Any

import numpy as np

import proofs
from isa_tables import Instruction
from layouts import Layout, LayoutError, size
from layouts.atoms import Atom, registry
from layouts.tensor import Tensor
from layouts.tiled import TiledMMA, derive
from tests.ledger.expression import compute
from tests.ledger.on_fragments import cells, in_isa
from tests.ledger.on_layouts import coordinate, differ, shown

AXES = {"A": (0, 2), "B": (1, 2), "C": (0, 1)}


@lru_cache
def tiled(atom: str, atoms: str, permutation: tuple[int | str, ...] = ()) -> TiledMMA:
    """The tiled MMA of a registered atom; a permutation's modes are numbers, layouts, or "_" for none."""
    entry = registry()[atom]
    assert isinstance(entry, Atom)
    modes = [None if p == "_" else Layout.parse(p) if isinstance(p, str) else p for p in permutation]
    return TiledMMA(entry, Layout.parse(atoms), (*modes, *(None,) * (3 - len(modes))))


def partition(mma: TiledMMA, operand: str, thread: int, tile: list[int], layout: str = "") -> Tensor:
    """A thread's part of an operand of the tile; without a layout, of element numbers x + X*y."""
    shape = tuple(tile[axis] for axis in AXES[operand])
    whole = Tensor(None, Layout.parse(layout) if layout else Layout(shape))
    part: Tensor = getattr(mma.get_slice(thread), f"partition_{operand}")(whole)
    return part


def fragment(mma: TiledMMA, operand: str, thread: int, tile: list[int]) -> list[tuple[int, int]]:
    """The elements (x, y) of an operand's tile in a thread, value by value."""
    extent = tile[AXES[operand][0]]
    return [(int(n) % extent, int(n) // extent) for n in partition(mma, operand, thread, tile).values()]


def count(atom: str, atoms: str, quantity: str, is_: Any, tile: list[int] | None = None, permutation: Any = ()) -> str:
    """A number of a tiling: see `QUANTITIES`."""
    mma = tiled(atom, atoms, tuple(permutation))
    name, _, operand = quantity.partition(" of ")
    true = QUANTITIES[name](mma, operand, tile or list(mma.shape_mnk))
    return "" if true == is_ else f"{quantity} is {true}, not {is_}"


def _holdings(mma: TiledMMA, operand: str, tile: list[int]) -> int:
    """The number of elements of a thread, the same for all threads, which together have the whole tile."""
    counts = {len(set(fragment(mma, operand, t, tile))) for t in range(mma.size)}
    if len(counts) != 1 or not _complete(mma, operand, tile):
        raise ValueError("the threads have different numbers of elements")
    return counts.pop()


def _complete(mma: TiledMMA, operand: str, tile: list[int]) -> bool:
    x, y = AXES[operand]
    return len({e for t in range(mma.size) for e in fragment(mma, operand, t, tile)}) == tile[x] * tile[y]


def _modes(mma: TiledMMA, operand: str, tile: list[int]) -> list[int]:
    return [size(mode) for mode in partition(mma, operand, 0, tile).layout]


def _calls(mma: TiledMMA, operand: str, tile: list[int]) -> int:
    """MMA instructions of one warp: repeats in M, N and K."""
    (_, m, k), (_, n, _) = _modes(mma, "A", tile), _modes(mma, "B", tile)
    return m * n * k


def _lines(mma: TiledMMA, operand: str, axis: int, tile: list[int]) -> int:
    """The number of rows (axis 0) or columns (1) of an operand in which thread 0 has elements."""
    return len({element[axis] for element in fragment(mma, operand, 0, tile)})


QUANTITIES = {
    "threads": lambda mma, operand, tile: mma.size,
    "tile": lambda mma, operand, tile: list(mma.shape_mnk),
    "outputs": lambda mma, operand, tile: mma.shape_mnk[0] * mma.shape_mnk[1],
    "elements": _holdings,
    "modes": _modes,
    "rows": lambda mma, operand, tile: _lines(mma, "C", 0, tile),
    "columns": lambda mma, operand, tile: _lines(mma, "C", 1, tile),
    "depths": lambda mma, operand, tile: _lines(mma, "A", 1, tile),
    "calls": _calls,
    "k blocks": lambda mma, operand, tile: _modes(mma, "A", tile)[2],
    "tiles": lambda mma, operand, tile: tile[0] // mma.shape_mnk[0] * (tile[1] // mma.shape_mnk[1]),
    "f32 bytes": lambda mma, operand, tile: 4 * _holdings(mma, operand, tile),
    "values": lambda mma, operand, tile: [_modes(mma, x, tile)[0] for x in "ABC"],
}


def positions(
    *,
    atom: str,
    atoms: str,
    tile: list[int],
    axis: str,
    thread: int,
    are: list[int],
    permutation: Any = (),
    warp: bool = False,
) -> str:
    """The rows (or columns) of C in a thread, or in its whole warp."""
    mma = tiled(atom, atoms, tuple(permutation))
    at = ("rows", "columns").index(axis)
    whose = range(thread // 32 * 32, thread // 32 * 32 + 32) if warp else [thread]
    true = sorted({e[at] for t in whose for e in fragment(mma, "C", t, tile)})
    return "" if true == are else f"{axis} {_ranges(true)}"


def _ranges(numbers: list[int]) -> str:
    """0-7, 16-23: runs of neighbours."""
    starts = [x for x in numbers if x - 1 not in numbers]
    ends = [x for x in numbers if x + 1 not in numbers]
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in zip(starts, ends, strict=True))


def accepted(atom: str, atoms: str, permutation: list[Any], tile: list[int], yes: bool) -> str:
    """Whether the tiling exists and gives each element of C's tile one owner."""
    try:
        mma = tiled(atom, atoms, tuple(permutation))
        elements = sorted(e for t in range(mma.size) for e in fragment(mma, "C", t, tile))
    except LayoutError:
        return "rejected" if yes else ""
    once = elements == [(m, n) for m in range(tile[0]) for n in range(tile[1])]
    return "" if once == yes else "each element has one owner" if once else "an element has no owner or several"


def owners(atom: str, atoms: str, operand: str, rows: list[str], permutation: Any = (), top: int = 0) -> str:
    """A drawing of a tile, B as k x n: a cell names the first owner of this element, and its value."""
    mma = tiled(atom, atoms, tuple(permutation))
    layout = getattr(mma, f"layout{operand}_TV")
    extent = mma.shape_mnk[AXES[operand][0]]
    first: dict[tuple[int, int], tuple[int, int]] = {}
    for t in range(size(layout[0])):
        for v in range(size(layout[1])):
            x, y = layout(t, v) % extent, layout(t, v) // extent
            first.setdefault((y, x) if operand == "B" else (x, y), (t, v))
    drawn = {(i + top, j): cell for (i, j), cell in cells(rows).items()}
    wrong = [at for at in drawn if first[at] != drawn[at]]
    if not wrong:
        return ""
    (t, v), (u, w) = first[wrong[0]], drawn[wrong[0]]
    return f"{shown(wrong[0])} is T{t}V{v}, not T{u}V{w}; {len(wrong)} of {len(drawn)} differ"


def part(
    *, atom: str, atoms: str, operand: str, tensor: str, thread: int, layout: str, offset: int, permutation: Any = ()
) -> str:
    """The layout of a thread's part of a tensor, mode by mode, and where it begins."""
    mma, whole = tiled(atom, atoms, tuple(permutation)), Layout.parse(tensor)
    held = getattr(mma.get_slice(thread), f"partition_{operand}")(Tensor(None, whole))
    if held.offset != offset:
        return f"it begins at {held.offset}, not {offset}"
    sizes = [[size(mode) for mode in x] for x in (held.layout, Layout.parse(layout))]
    return differ(held.layout, Layout.parse(layout)) if sizes[0] == sizes[1] else f"modes of {sizes[0]}"


def derivation(*, atom: str, atoms: str, tensor: str, step: int, gives: str, permutation: Any = ()) -> str:
    """A step from C's tensor to thread 0's part: 1 permuted, 2 cut into atoms, 3 as (thread, value), 4 distributed."""
    steps = derive(tiled(atom, atoms, tuple(permutation)), "C", Layout.parse(tensor))
    true, claimed = steps[step].layout, Layout.parse(gives)
    sizes = [[size(mode) for mode in x] for x in (true, claimed)]
    return differ(true, claimed) if sizes[0] == sizes[1] else f"{true} has modes of {sizes[0]}"


def coordinates(atom: str, atoms: str, formulas: list[str]) -> str:
    """A thread t is at (m, n) in the grid of atoms, by formulas of t."""
    layout = tiled(atom, atoms).thr_layout_vmnk
    at = {layout(0, m, n, 0): (m, n) for m in range(size(layout[1])) for n in range(size(layout[2]))}
    for t, true in sorted(at.items()):
        claimed = tuple(compute(formula, t=t) for formula in formulas)
        if true != claimed:
            return f"thread {t} is at {shown(true)}, not {shown(claimed)}"
    return ""


def index_arrays(
    atom: str, atoms: str, tile: list[int], rows: list[str], columns: list[str], permutation: Any = ()
) -> str:
    """A kernel's arrays of rows and columns, formulas of t, are what partition_C gives each thread, in its order."""
    mma = tiled(atom, atoms, tuple(permutation))
    for t in range(mma.size):
        m, n = ([compute(formula, t=t) for formula in formulas] for formulas in (rows, columns))
        claimed = [(x, y) for y in n for x in m]
        true = fragment(mma, "C", t, tile)
        if true != claimed:
            i = next(i for i, (x, y) in enumerate(zip(true, claimed, strict=True)) if x != y)
            return f"thread {t}, element {i}: {true[i]}, not {claimed[i]}"
    return ""


def covered(threads: int, rows: list[str], columns: list[str], shape: list[int]) -> str:
    """Threads with these rows and columns, formulas of t, give each element of a matrix one owner."""
    elements: list[tuple[int, int]] = []
    for t in range(threads):
        elements += points([compute(m, t=t) for m in rows], [compute(n, t=t) for n in columns])
    missing = sorted({(m, n) for m in range(shape[0]) for n in range(shape[1])} - set(elements))
    if missing:
        return f"{missing[0]} has no owner; {len(missing)} of {shape[0] * shape[1]} have none"
    return "" if len(elements) == shape[0] * shape[1] else f"{len(elements)} owners"


def reads(threads: int, rows: list[str], columns: list[str], are: list[int]) -> str:
    """How many rows of A and columns of B a group of threads needs, for outputs of formulas of t."""
    true = [len({compute(x, t=t) for x in formulas for t in range(threads)}) for formulas in (rows, columns)]
    return "" if true == are else f"{true[0]} rows and {true[1]} columns"


def element(
    *, atom: str, atoms: str, tensor: str, at: list[Any], offset: int, row: int, column: int, permutation: Any = ()
) -> str:
    """An index into thread 0's part of a row-major tensor: its offset, row and column."""
    mma, whole = tiled(atom, atoms, tuple(permutation)), Layout.parse(tensor)
    held = mma.get_slice(0).partition_C(Tensor(None, whole))
    true = int(held[coordinate(at)])
    columns = size(whole[1])
    if (true, *divmod(true, columns)) != (offset, row, column):
        return f"offset {true}, C[{true // columns}][{true % columns}]"
    return ""


def choices(atom: str, atoms: str, threads: int, extent: int, are: list[int]) -> str:
    """The R for which the permutation (threads,R):(R,1) of M makes a tiling of this extent: each row has one owner."""
    true = []
    for r in range(1, extent + 1):
        try:
            mma = tiled(atom, atoms, (f"({threads},{r}):({r},1)",))
            divided = mma.thrfrg_C(Layout((extent, mma.shape_mnk[1])))
        except LayoutError:
            continue
        true += [r] if len({divided(i) for i in range(size(divided))}) == size(divided) else []
    return "" if true == are else f"R is one of {true}"


def every_multiple(atom: str, atoms: str, permutation: list[str]) -> str:
    """z3 proves that C's elements have one owner each, for tiles of every multiple of the permutations' extents."""
    mma = tiled(atom, atoms)
    axes = [
        proofs.TileAxis(mma.atom.shape[axis], mma.atoms[axis], Layout.parse(tiler))
        for axis, tiler in enumerate(permutation)
    ]
    posed = proofs.Partition(mma.atom.C, mma.thr_layout_vmnk, (axes[0], axes[1]), (1, 2), 1)
    outcome = proofs.prove_partition(posed)
    return "" if outcome.status == "unsat" else f"{outcome.status}: {outcome.model}"


def three_loops(*, atom: str, atoms: str, tile: list[int], loops: list[int], permutation: Any = ()) -> str:
    """Fragments copied in, an instruction per (m, n, k) of these loops, fragments copied out: that is A * B^T."""
    mma, instruction = tiled(atom, atoms, tuple(permutation)), in_isa(registry()[atom].ptx[0])
    m, n, k = tile
    data = {"A": np.arange(m * k) * 5 % 7, "B": np.arange(n * k) * 3 % 5, "C": np.zeros(m * n, dtype=np.int64)}
    shapes = {"A": (m, k), "B": (n, k), "C": (m, n)}
    tensors = {x: Tensor(data[x], Layout(shapes[x])) for x in "ABC"}
    parts = [{x: getattr(mma.get_slice(t), f"partition_{x}")(tensors[x]) for x in "ABC"} for t in range(mma.size)]
    for warp in range(0, mma.size, 32):
        lanes = parts[warp : warp + 32]
        for i, j, step in points(*map(range, loops)):
            _issue(instruction, lanes, (i, j, step))
    wanted = data["A"].reshape(k, m).T @ data["B"].reshape(k, n)
    wrong = np.argwhere(data["C"].reshape(n, m).T != wanted)
    return f"{len(wrong)} of {m * n} elements of C are wrong" if len(wrong) else ""


def _issue(instruction: Instruction, lanes: list[dict[str, Tensor]], at: tuple[int, int, int]) -> None:
    """One instruction of a warp on registers: the ISA tables give the element of each register."""
    i, j, step = at
    small = {}
    for name, where in (("A", (i, step)), ("B", (j, step)), ("C", (i, j))):
        small[name] = np.zeros(instruction.operands[name].extent, dtype=np.int64)
        for lane, part in enumerate(lanes):
            for v in range(instruction.operands[name].values):
                small[name][instruction.operands[name].locate(lane, v)] = part[name][(v, *where)]
    product = small["C"] + small["A"] @ small["B"]
    for lane, part in enumerate(lanes):
        for v in range(instruction.operands["C"].values):
            part["C"][(v, i, j)] = product[instruction.operands["C"].locate(lane, v)]


KINDS = {
    check.__name__: check
    for check in (
        count, positions, accepted, owners, part, derivation, coordinates, index_arrays, covered, reads, element,
        choices, every_multiple, three_loops,
    )
}  # fmt: skip
