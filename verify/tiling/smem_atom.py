# SPDX-License-Identifier: Apache-2.0
"""Whether the swizzle atom of an operand's shared memory divides its tile."""

from __future__ import annotations

from collections.abc import Hashable
from math import gcd
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from layouts import Layout, LayoutError, Swizzle, cosize, size, tile_to_shape
from verify.core.digits import image
from verify.core.verdict import Check, Counterexample, Evidence, Stated, Status
from verify.evidence.proof import solved
from verify.evidence.run import Run
from verify.tiling.bind import Dealt, Operand, Tiling
from verify.tiling.spec import Smem

Offsets: TypeAlias = "npt.NDArray[np.int64]"


def divides(tiling: Tiling, operand: Operand) -> Stated:
    """The claim about the swizzle atom that is stated of an operand."""
    x, y = operand.dealt.extent(tiling.tile)
    rows, columns = (size(mode) for mode in tiling.stated.smem[operand.name])
    axes = ",".join(operand.dealt.part.axes)
    return Stated(f"smem {operand.name}", f"the swizzle atom of {rows}x{columns} divides {x}x{y} ({axes})")


def enumerated(run: Run, tiling: Tiling, operand: Operand) -> list[Evidence]:
    """That copies of the atom fill the tile, each element at an offset of its own."""
    x, y = operand.dealt.extent(tiling.tile)
    try:
        fault = _fault(run, tiling, operand)
    except LayoutError as error:  # whether copies of interleaved modes stay apart was given up
        return [Evidence(Check.ISA, Status.UNCHECKED, "", reason=str(error))]
    status = Status.PROVED if fault is None else Status.REFUTED
    return [Evidence(Check.ISA, status, "enumeration", x * y, "numpy", counterexample=fault)]


def _fault(run: Run, tiling: Tiling, operand: Operand) -> Counterexample | None:
    """The first fault, which both checks ask for; LayoutError where it cannot be told."""
    dealt, atom = operand.dealt, tiling.stated.smem[operand.name]
    extent = dealt.extent(tiling.tile)
    rows, columns = (size(mode) for mode in atom)
    where = tiling.subject.mma.space.get(operand.name)

    def found() -> Counterexample | None:
        return (
            _undivided(dealt, extent, (rows, columns), "the tile")
            or _straddling(tiling, dealt, (rows, columns))
            or (_period(atom) if extent != (rows, columns) else None)
            or _misplaced(dealt, atom, extent)
        )

    return run.cache.kept((Check.ISA, "swizzle_atom", str(atom), where, tiling.question(dealt)), found)


def copies_key(check: Check, tiling: Tiling, operand: Operand) -> Hashable:
    """What the solver reads of a swizzle atom; what enumeration finds is told for each tiling."""
    atom = str(tiling.stated.smem[operand.name])
    return (atom, *operand.dealt.extent(tiling.tile)) if check is Check.PROOF else None


def proved(run: Run, tiling: Tiling, operand: Operand) -> list[Evidence]:
    """The same by the solver, where enumeration found no fault."""
    try:
        whole = _fault(run, tiling, operand) is None
    except LayoutError:
        whole = False
    return [_copied(tiling.stated.smem[operand.name], operand.dealt.extent(tiling.tile), run)] if whole else []


def _copied(atom: Smem, extent: tuple[int, int], prover: Run) -> Evidence:
    """The tile as one copy of the atom after another, those along the first axis first, by the solver.

    whole(x, y) = atom(x mod R, y mod C) + size(atom) * (x div R + X div R * (y div C)), all before the swizzle, of
    which each copy is a whole number of periods. Only of an atom without holes, whose copies follow one another so.
    """
    from proofs.layout.movement import HandOver, prove_hand_over

    plain, whole = (_plain(layout) for layout in (atom, tile_to_shape(atom, extent)))
    if cosize(plain) != size(plain):
        why = f"{plain} has holes: its copies need not follow one another"
        return Evidence(Check.PROOF, Status.UNCHECKED, "", reason=why)
    (rows, columns), (first, second) = plain, whole
    across = extent[0] // size(rows)

    def wanted(x: Any, y: Any) -> Any:
        copy = x // size(rows) + across * (y // size(columns))
        return image(rows, x % size(rows)) + image(columns, y % size(columns)) + size(plain) * copy

    tiled = HandOver(lambda x, y: (x, y), first, second, wanted, Layout(extent[1]), extent[0])
    outcome = prove_hand_over(tiled, prover.budget, prover.solver)
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


def _misplaced(dealt: Dealt, atom: Smem, extent: tuple[int, int]) -> Counterexample | None:
    """An element outside the memory or at another's offset, in the atom or the tile, or a copy that is not the atom.

    LayoutError where no layout of the copies was found.
    """
    copy = _offsets(atom)
    if fault := _collision(dealt, copy):
        return fault
    whole = _offsets(tile_to_shape(atom, extent))
    return _collision(dealt, whole) or _unlike(dealt, copy, whole)


def _offsets(layout: Smem) -> Offsets:
    """The offset of each element (x, y)."""
    rows, columns = (size(mode) for mode in layout)
    found: Offsets = np.asarray(layout(np.arange(rows * columns))).reshape(columns, rows).T
    return found


def _collision(dealt: Dealt, offsets: Offsets) -> Counterexample | None:
    """An element below the first offset, or two elements at one."""
    rows = offsets.shape[0]
    flat = offsets.T.ravel()
    low = int(flat.argmin())
    if flat[low] < 0:
        at = divmod(low, rows)[::-1]
        return Counterexample(_at(dealt, at), f"({at[0]}, {at[1]}) is at offset {int(flat[low])}, below the first")
    order = np.argsort(flat, kind="stable")
    twice = np.flatnonzero(np.diff(flat[order]) == 0)
    if not len(twice):
        return None
    first, second = (int(order[twice[0] + i]) for i in (0, 1))
    places = [f"({index % rows}, {index // rows})" for index in (first, second)]
    said = f"{places[0]} and {places[1]} are both at offset {int(flat[first])}"
    return Counterexample({"first": first, "second": second}, said)


def _unlike(dealt: Dealt, copy: Offsets, whole: Offsets) -> Counterexample | None:
    """An element that does not lie from the first of its copy as it lies in the atom."""
    (rows, columns), (x, y) = copy.shape, whole.shape
    starts = whole[::rows, ::columns] - copy[0, 0]
    wanted = np.tile(copy, (x // rows, y // columns)) + np.kron(starts, np.ones_like(copy))
    wrong = np.argwhere((whole != wanted).T)
    if not len(wrong):
        return None
    at = int(wrong[0][1]), int(wrong[0][0])
    said = f"({at[0]}, {at[1]}) is at offset {int(whole[at])}, in a copy of the atom at {int(wanted[at])}"
    return Counterexample(_at(dealt, at), said)


def _at(dealt: Dealt, place: tuple[int, int]) -> dict[str, int]:
    return dict(zip(dealt.part.axes, place, strict=True))
