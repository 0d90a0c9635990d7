# SPDX-License-Identifier: Apache-2.0
"""Whether the swizzle atom of an operand's shared memory divides its tile."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

import numpy as np

from layouts import Layout, LayoutError, Swizzle, cosize, size, tile_to_shape
from verify.tiling_stated import Smem
from verify.tiling_subject import Dealt, Tiling, TilingKind
from verify.verdict import Claim, Counterexample, Evidence, Status, Verdict, Witness, join


def judge(tiling: Tiling) -> Iterator[Verdict]:
    """The verdict on each swizzle atom that was stated."""
    for dealt in tiling.dealt:
        if dealt.name in tiling.stated.smem:
            yield _divides(tiling, dealt, tiling.stated.smem[dealt.name])


def _divides(tiling: Tiling, dealt: Dealt, atom: Smem) -> Verdict:
    x, y = dealt.extent(tiling.tile)
    rows, columns = (size(mode) for mode in atom)
    words = f"the swizzle atom of {rows}x{columns} divides {x}x{y} ({','.join(dealt.part.axes)})"
    claim = Claim(tiling.name, f"smem {dealt.name}", TilingKind.SMEM, words)
    fault = (
        _undivided(dealt, (x, y), (rows, columns), "the tile")
        or _straddling(tiling, dealt, (rows, columns))
        or _period(atom)
        or _collision(atom, (x, y))
    )
    status = Status.PROVED if fault is None else Status.REFUTED
    return join(claim, [Evidence(Witness.BOOK, status, "enumeration", x * y, "numpy", counterexample=fault)])


def _undivided(dealt: Dealt, extent: tuple[int, int], atom: tuple[int, int], of: str) -> Counterexample | None:
    """An axis along which the last atom would reach beyond its end."""
    for axis, whole, step in zip(dealt.part.axes, extent, atom, strict=True):
        if whole % step:
            end = whole // step * step
            return Counterexample(
                {axis: end},
                f"{of} has {whole} along {axis}, the swizzle atom {step}: one begins at {axis}={end} and ends beyond",
                f"{whole} % {step} = {whole % step}",
                repair="a swizzle atom of at most " + "x".join(map(str, map(gcd, extent, atom))),
            )
    return None


def _straddling(tiling: Tiling, dealt: Dealt, atom: tuple[int, int]) -> Counterexample | None:
    """Where an instruction reads shared memory itself, it takes whole swizzle atoms along M or N."""
    if tiling.subject.mma.space.get(dealt.name) != "smem":
        return None
    whole = (dealt.part.extent[0], atom[1])
    return _undivided(dealt, whole, atom, f"the {dealt.part.extent[0]} rows of one instruction")


def _period(atom: Smem) -> Counterexample | None:
    """The swizzle's period must divide the atom, or its copies would be swizzled differently."""
    if isinstance(atom, Layout) or not isinstance(atom.layout_a, Swizzle) or not isinstance(atom.layout_b, Layout):
        return None
    elements, period = cosize(atom.layout_b), atom.layout_a.period
    if elements % period == 0:
        return None
    return Counterexample(
        {"elements": elements, "period": period},
        f"{atom.layout_a} repeats every {period} elements, the atom has {elements}: its second copy is another",
        f"{elements} % {period} = {elements % period}",
        repair=_shorter(atom.layout_a, elements),
    )


def _shorter(swizzle: Swizzle, elements: int) -> str:
    """A swizzle of as many bits whose period divides so many elements; empty where there is none."""
    room = (elements & -elements).bit_length() - 1
    base = room - swizzle.bits - abs(swizzle.shift)
    return str(Swizzle(swizzle.bits, base, swizzle.shift)) if base >= 0 else ""


def _collision(atom: Smem, extent: tuple[int, int]) -> Counterexample | None:
    """Two elements of the tile at one offset of shared memory."""
    try:
        whole = tile_to_shape(atom, extent)
    except LayoutError as error:
        return Counterexample({}, str(error))
    offsets = whole(np.arange(extent[0] * extent[1]))
    order = np.argsort(offsets, kind="stable")
    twice = np.flatnonzero(np.diff(offsets[order]) == 0)
    if not len(twice):
        return None
    first, second = (int(order[twice[0] + i]) for i in (0, 1))
    at = [f"({index % extent[0]}, {index // extent[0]})" for index in (first, second)]
    said = f"{at[0]} and {at[1]} are both at offset {int(offsets[first])}"
    return Counterexample({"first": first, "second": second}, said)
