# SPDX-License-Identifier: Apache-2.0
"""The five steps from an operand's layout to one thread's partition, each with its layout."""

from __future__ import annotations

from collections.abc import Iterator

from layouts import Layout
from layouts.tensor import Tensor
from layouts.tiled import derive
from verify.core.wording import describe
from verify.tiling.bind import TiledOperand, Tiling


def explain_partitions(tiling: Tiling, thread: int = 0) -> str:
    """Return the derivation of the partitions of one thread, operand by operand."""
    return "".join(f"{line}\n" for line in _tiling(tiling, thread))


def _tiling(tiling: Tiling, thread: int) -> Iterator[str]:
    atoms, shape = ("x".join(map(str, extents)) for extents in (tiling.atoms, tiling.mma.atom.shape))
    threads = f"{tiling.threads} thread{'s' * (tiling.threads > 1)}"
    yield f"{tiling.name}: {atoms} atom{'s' * (atoms != '1x1x1')} of {shape}, {threads}"
    yield f"  threads (v, m, n, k) -> {tiling.mma.thr_layout_vmnk}"
    for tiled in tiling.operands:
        if tiled.name == tiled.like:
            yield from _steps(tiling, tiled, thread)


def _steps(tiling: Tiling, tiled: TiledOperand, thread: int) -> Iterator[str]:
    """Yield an operand's steps, from row-major memory to the elements of the thread."""
    rows, columns = tiled.extent(tiling.tile)
    memory = Layout((rows, columns), (columns, 1))
    yield f"  {tiled.name} {rows}x{columns} ({','.join(tiled.part.axes)}), row-major"
    for number, step in enumerate(derive(tiling.mma, tiled.name, memory, thread)):
        yield f"    {number or ' '} {step.name} {step.text}: {step.profile}"
        yield f"        {step.layout}"
    part = tiled.partition(thread, Tensor(None, memory))
    points = [divmod(int(at), columns) for at in part.values()]
    where = describe(points, tiled.extent(tiling.tile), tiled.part.axes)
    yield f"    {part.size} element{'s' * (part.size > 1)}: {where}"
