# SPDX-License-Identifier: Apache-2.0
"""The five steps from an operand's layout to one thread's part of it, each with its layout."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from layouts import Layout, size
from layouts.atoms import AnyAtom
from layouts.tensor import Tensor
from verify.cli import UsageError
from verify.region import describe
from verify.tiling_stated import Stated
from verify.tiling_subject import Dealt, IllFormed, Tiling, find, prepare


def explained(stated: Sequence[Stated], pool: Mapping[str, AnyAtom], thread: int = 0) -> str:
    """The derivation of every tiling, operand by operand, ending at a thread.

    Raises UsageError where what is stated cannot be a tiling, and for a thread that it does not have.
    """
    return "\n".join("".join(f"{line}\n" for line in _tiling(one, pool, thread)) for one in stated)


def _tiling(stated: Stated, pool: Mapping[str, AnyAtom], thread: int) -> Iterator[str]:
    try:
        tiling = prepare(stated, find(stated, pool))
    except IllFormed as error:
        raise UsageError(f"{stated.name}: {error.part} = {error.text} is no (thread, value) layout: {error}") from error
    if thread >= tiling.mma.size:
        raise UsageError(f"--thread {thread}: {stated.name} has the threads 0 .. {tiling.mma.size - 1}")
    atoms, shape = ("x".join(map(str, extents)) for extents in (tiling.atoms, tiling.mma.atom.shape))
    yield f"{stated.name}: {atoms} atoms of {shape}, {tiling.threads} threads"
    yield f"  threads (v, m, n, k) -> {tiling.mma.thr_layout_vmnk}"
    for dealt in tiling.dealt:
        if dealt.name == dealt.like:
            yield from _steps(tiling, dealt, thread)


def _steps(tiling: Tiling, dealt: Dealt, thread: int) -> Iterator[str]:
    """An operand's steps, from row-major memory."""
    rows, columns = dealt.extent(tiling.tile)
    memory = Layout((rows, columns), (columns, 1))
    permuted, shape, counts = (
        ",".join(str(of[axis]) for axis in dealt.along)
        for of in (tiling.mma.permutation_mnk, tiling.mma.atom.shape, tiling.atoms)
    )
    named = (
        "row-major memory",
        f"1 logical_divide by the permutation ({permuted})",
        f"2 zipped_divide by the atom ({shape})",
        f"3 compose with the atom's {dealt.part.layout}",
        f"4 zipped_divide by the atoms ({counts})",
    )
    yield f"  {dealt.name} {rows}x{columns} ({','.join(dealt.part.axes)})"
    for what, layout in zip(named, tiling.mma.steps(dealt.name, memory), strict=True):
        yield f"    {what}"
        yield f"        {layout}"
    yield from _slice(tiling, dealt, thread, memory)


def _slice(tiling: Tiling, dealt: Dealt, thread: int, memory: Layout) -> Iterator[str]:
    part = dealt.partition(thread, Tensor(None, memory))
    mine = tiling.mma.get_slice(thread)
    place = ", ".join(f"{axis}={mine.place['mnk'.index(axis)]}" for axis in dealt.part.axes)
    yield f"    5 slice thread {thread}: v={mine.v}, {place}"
    yield f"        {part.layout} at offset {part.offset}"
    columns = size(memory[1])
    points = [divmod(int(at), columns) for at in part.offset + part.layout(np.arange(part.size))]
    yield f"    {part.size} elements: {describe(points, dealt.extent(tiling.tile), dealt.part.axes)}"
