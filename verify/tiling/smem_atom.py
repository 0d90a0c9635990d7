# SPDX-License-Identifier: Apache-2.0
"""Whether the swizzle atom of an operand's shared memory divides its tile."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from math import gcd
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

import proofs
from layouts import ComposedLayout, Layout, LayoutError, Swizzle, batched, cosize, size, tile_to_shape
from verify.core.digits import image
from verify.core.verdict import Check, Counterexample, Evidence, Proposal, Statement, finding, leave_unchecked
from verify.evidence.proof import as_evidence
from verify.evidence.run import Run
from verify.maps import search
from verify.maps.array_map import ArrayMap
from verify.maps.blocks import EvaluationMismatch
from verify.maps.map import Axis
from verify.tiling.bind import TiledOperand, Tiling
from verify.tiling.spec import Smem, TilingSpec

if TYPE_CHECKING:
    import numpy.typing as npt

Offsets: TypeAlias = "npt.NDArray[np.int64]"


def divides(tiling: Tiling, tiled: TiledOperand) -> Statement:
    """Return the claim on the swizzle atom of an operand."""
    x, y = tiled.extent(tiling.tile)
    rows, columns = (size(mode) for mode in tiling.spec.smem[tiled.name])
    axes = ",".join(tiled.part.axes)
    return Statement(f"smem {tiled.name}", f"the swizzle atom of {rows}x{columns} divides {x}x{y} ({axes})")


def check_every_point(run: Run, tiling: Tiling, tiled: TiledOperand) -> list[Evidence]:
    """Evidence that copies of the atom fill the tile, each element at a different offset."""
    x, y = tiled.extent(tiling.tile)
    try:
        fault = _fault(run, tiling, tiled)
    except LayoutError as error:  # the search for disjoint copies of interleaved modes ended without a result
        return [leave_unchecked(Check.ISA, str(error))]
    return [finding(Check.ISA, fault, "enumeration", x * y, "numpy")]


def _fault(run: Run, tiling: Tiling, tiled: TiledOperand) -> Counterexample | None:
    """Return the first fault, for both checks; LayoutError where it cannot be decided."""
    atom = tiling.spec.smem[tiled.name]
    extent = tiled.extent(tiling.tile)
    rows, columns = (size(mode) for mode in atom)
    where, lines = tiling.subject.mma.space.get(tiled.name), tiled.part.extent[0]

    def find() -> Counterexample | None:
        fault = _find_undivided_axis(tiled, extent, (rows, columns), "the tile")
        if where == "smem":  # the instruction reads it itself: no swizzle atom may straddle two of them
            step = f"the {lines} rows of one instruction"
            fault = fault or _find_undivided_axis(tiled, (lines, columns), (rows, columns), step)
        if extent != (rows, columns):
            fault = fault or _period(tiled.name, atom)
        return fault or _find_misplaced(tiled, atom, extent)

    return run.memo.get((Check.ISA, "swizzle_atom", str(atom), where, tiling.cache_key(tiled)), find)


def copies_key(check: Check, tiling: Tiling, tiled: TiledOperand) -> Hashable:
    """Return the cache key of the solver's evidence on a swizzle atom; enumeration is reported for each tiling."""
    atom = str(tiling.spec.smem[tiled.name])
    return (atom, *tiled.extent(tiling.tile)) if check is Check.PROOF else None


def prove_atom(run: Run, tiling: Tiling, tiled: TiledOperand) -> list[Evidence]:
    """Evidence of the solver, where enumeration found no fault."""
    try:
        whole = _fault(run, tiling, tiled) is None
    except LayoutError:
        whole = False
    return [_find_copy_fault(tiling.spec.smem[tiled.name], tiled.extent(tiling.tile), run)] if whole else []


def _find_copy_fault(atom: Smem, extent: tuple[int, int], prover: Run) -> Evidence:
    """Evidence of the solver that the tile is one copy of the atom after another, along the first axis first.

    whole(x, y) = atom(x mod R, y mod C) + size(atom) * (x div R + X div R * (y div C)), all before the swizzle; a
    copy is an integer of the swizzle's periods. UNCHECKED for an atom with holes: its copies may interleave.
    """
    plain, whole = (_plain(layout) for layout in (atom, tile_to_shape(atom, extent)))
    if cosize(plain) != size(plain):
        return leave_unchecked(Check.PROOF, f"{plain} has holes: its copies may interleave")
    (rows, columns), (first, second) = plain, whole
    across = extent[0] // size(rows)

    def expect(x: Any, y: Any) -> Any:
        copy = x // size(rows) + across * (y // size(columns))
        return image(rows, x % size(rows)) + image(columns, y % size(columns)) + size(plain) * copy

    tiled = proofs.RegisterHandOver(lambda x, y: (x, y), first, second, expect, Layout(extent[1]), extent[0])
    words = "({lane}, {value}) is at offset {place}, in copies of the atom at {wanted}"
    return as_evidence(proofs.prove_hand_over(tiled, prover.budget, prover.solver), lambda at: words.format(**at))


def _plain(layout: Smem) -> Layout:
    """Return the layout before its swizzle."""
    inner = layout if isinstance(layout, Layout) else layout.layout_b
    if not isinstance(inner, Layout):
        raise LayoutError(f"{layout} is not a swizzle of a layout")
    return inner


def _find_undivided_axis(
    tiled: TiledOperand, extent: tuple[int, int], atom: tuple[int, int], of: str
) -> Counterexample | None:
    """Return an axis along which the last atom would extend beyond its end."""
    for axis, whole, step in zip(tiled.part.axes, extent, atom, strict=True):
        if whole % step:
            end = whole // step * step
            return Counterexample(
                {axis: end},
                f"{of} has {whole} along {axis}, the swizzle atom {step}: one begins at {axis}={end} and ends beyond",
                f"{whole} % {step} = {whole % step}",
                damage=("the largest atom that divides it is " + "x".join(map(str, map(gcd, extent, atom))),),
            )
    return None


def _period(operand: str, atom: Smem) -> Counterexample | None:
    """Return a period that does not divide the atom: copies would be swizzled differently."""
    if isinstance(atom, Layout) or not isinstance(atom.layout_a, Swizzle) or not isinstance(atom.layout_b, Layout):
        return None
    swizzle = atom.layout_a
    elements, period = cosize(atom.layout_b), swizzle.period
    if elements % period == 0:
        return None
    # the base of a swizzle of as many bits whose period divides the elements
    base = (elements & -elements).bit_length() - 1 - swizzle.bits - abs(swizzle.shift)
    return Counterexample(
        {"elements": elements, "period": period},
        f"{swizzle} repeats every {period} elements, the atom has {elements}: its second copy differs",
        f"{elements} % {period} = {elements % period}",
        proposals=_propose_base(operand, replace(swizzle, base=base)) if base >= 0 else (),
    )


def _propose_base(operand: str, swizzle: Swizzle) -> tuple[Proposal, ...]:
    """Return the proposal of another swizzle for the atom of an operand."""

    def change(spec: TilingSpec) -> TilingSpec:
        atom = spec.smem[operand]
        mended = replace(atom, layout_a=swizzle) if isinstance(atom, ComposedLayout) else atom
        return replace(spec, smem={**spec.smem, operand: mended})

    return (Proposal(str(swizzle), change),)


def _find_misplaced(tiled: TiledOperand, atom: Smem, extent: tuple[int, int]) -> Counterexample | None:
    """Return an element outside the memory or at another's offset, in the atom or the tile, or a differing copy.

    LayoutError where no layout of the copies was found.
    """
    copy = _offsets(atom)
    if fault := _collision(tiled, atom, copy):
        return fault
    tile = tile_to_shape(atom, extent)
    whole = _offsets(tile)
    if fault := _collision(tiled, tile, whole):
        return fault
    (rows, columns), (x, y) = copy.shape, whole.shape
    starts = whole[::rows, ::columns] - copy[0, 0]
    wanted = np.tile(copy, (x // rows, y // columns)) + np.kron(starts, np.ones_like(copy))
    wrong = np.argwhere((whole != wanted).T)
    if not len(wrong):
        return None
    at = int(wrong[0][1]), int(wrong[0][0])
    got, right = int(whole[at]), int(wanted[at])
    inside, start = (at[0] % rows, at[1] % columns), (at[0] // rows * rows, at[1] // columns * columns)
    statement = f"({at[0]}, {at[1]}) is at offset {got}, in a copy of the atom at {right}"
    again = tile(*at) == got != right == tile(*start) - atom(0, 0) + atom(*inside)
    return Counterexample(_at(tiled, at), statement, reproduced=again)


def _offsets(layout: Smem) -> Offsets:
    """Return the offset of each element (x, y)."""
    rows, columns = (size(mode) for mode in layout)
    offsets: Offsets = batched.batch(layout).values().reshape(columns, rows).T
    return offsets


def _collision(tiled: TiledOperand, layout: Smem, offsets: Offsets) -> Counterexample | None:
    """Return an element below the first offset, or two elements at one."""
    rows = offsets.shape[0]
    flat = offsets.T.ravel()
    low = int(flat.argmin())
    if flat[low] < 0:
        at, got = divmod(low, rows)[::-1], int(flat[low])
        statement = f"({at[0]}, {at[1]}) is at offset {got}, below the first"
        return Counterexample(_at(tiled, at), statement, reproduced=layout(low) == got)
    end = (Axis("offset", 1 + int(flat.max())),)
    m = ArrayMap(str(layout), (Axis("index", flat.size),), (flat,), end, lambda index: (int(layout(index)),))
    try:
        collision = search.locate_collision(m)
    except EvaluationMismatch as fault:
        return fault.counterexample
    if collision is None:
        return None
    (first,), (second,) = collision.first, collision.second
    places = [f"({index % rows}, {index // rows})" for index in (first, second)]
    statement = f"{places[0]} and {places[1]} are both at offset {collision.image}"
    return Counterexample({"first": first, "second": second}, statement, reproduced=collision.reproduced)


def _at(tiled: TiledOperand, place: tuple[int, int]) -> dict[str, int]:
    return dict(zip(tiled.part.axes, place, strict=True))
