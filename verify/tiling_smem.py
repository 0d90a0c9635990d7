# SPDX-License-Identifier: Apache-2.0
"""Whether the swizzle atom of an operand's shared memory divides its tile."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd
from typing import Any

import numpy as np

from layouts import Layout, LayoutError, Swizzle, cosize, size, tile_to_shape
from proofs.modes import modes
from verify.proof import solved
from verify.tiling_proof import Prover
from verify.tiling_stated import Smem
from verify.tiling_subject import Dealt, Tiling, TilingKind
from verify.verdict import Claim, Counterexample, Evidence, Status, Verdict, Witness, join


def judge(tiling: Tiling, prover: Prover) -> Iterator[Verdict]:
    """The verdict on each swizzle atom that was stated."""
    for dealt in tiling.dealt:
        if dealt.name in tiling.stated.smem:
            yield _divides(tiling, dealt, tiling.stated.smem[dealt.name], prover)


def _divides(tiling: Tiling, dealt: Dealt, atom: Smem, prover: Prover) -> Verdict:
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
    evidence = [Evidence(Witness.BOOK, status, "enumeration", x * y, "numpy", counterexample=fault)]
    if fault is None:
        question = TilingKind.SMEM, str(atom), x, y
        evidence += prover.once(question, tiling.name, lambda: [_copied(atom, (x, y), prover)])
    return join(claim, evidence)


def _copied(atom: Smem, extent: tuple[int, int], prover: Prover) -> Evidence:
    """The tile as one copy of the atom after another, those along the first axis first, by the solver.

    whole(x, y) = atom(x mod R, y mod C) + size(atom) * (x div R + X div R * (y div C)), all before the swizzle, of
    which each copy is a whole number of periods. Only of an atom without holes, whose copies follow one another so.
    """
    from proofs.movement import HandOver, prove_handed

    plain, whole = (_plain(layout) for layout in (atom, tile_to_shape(atom, extent)))
    if cosize(plain) != size(plain):
        why = f"{plain} has holes: its copies need not follow one another"
        return Evidence(Witness.PROOF, Status.UNCHECKED, "", reason=why)
    (rows, columns), (first, second) = plain, whole
    across = extent[0] // size(rows)

    def wanted(x: Any, y: Any) -> Any:
        copy = x // size(rows) + across * (y // size(columns))
        return _walked(rows, x % size(rows)) + _walked(columns, y % size(columns)) + size(plain) * copy

    tiled = HandOver(lambda x, y: (x, y), first, second, wanted, Layout(extent[1]), extent[0])
    outcome = prove_handed(tiled, prover.budget, prover.solver)
    at = outcome.model
    if at is None:
        return solved(outcome, None)
    said = f"({at['lane']}, {at['value']}) is at offset {at['place']}, in copies of the atom at {at['wanted']}"
    return solved(outcome, Counterexample(dict(at), said))


def _plain(layout: Smem) -> Layout:
    """The layout before its swizzle."""
    inner = layout if isinstance(layout, Layout) else layout.layout_b
    if not isinstance(inner, Layout):
        raise LayoutError(f"{layout} is no swizzle of a layout")
    return inner


def _walked(mode: Layout, index: Any) -> Any:
    """The mode's value, digit by digit, in integers or terms."""
    total, prefix = 0, 1
    for extent, stride in modes(mode):
        total = total + index // prefix % extent * stride
        prefix *= extent
    return total


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
