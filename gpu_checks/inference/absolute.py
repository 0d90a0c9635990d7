# SPDX-License-Identifier: Apache-2.0
"""Absolute coordinates, from instructions that access memory: ldmatrix for A and B, stmatrix for D;
and wgmma for A and D, whose own coordinates come from its matrices in shared memory (`warpgroup`).

`copies.observe` finds, with no formula, which memory byte each register byte of the .x4 form comes from or goes
to: (the lane that passed the row's address, the byte in that row). Under the premise that register i of
both instructions means the same, a row of A, of B's columns or of D written to memory in order names the
elements that the registers hold:

    A (m, k): memory rows are m, bytes run along k        B (k, n): rows are n, bytes run along k
    D (m, n): rows are m, bytes run along n; 32-bit D elements get a row only, for stmatrix moves 16-bit pairs

A register is one tile of 8 rows of 16 bytes. No observation gives the order of the tiles, which is a matter of names:
tiles that differ in their recorded classes are stacked in the order of the registers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import compress
from typing import TYPE_CHECKING, Literal, TypeAlias

from gpu_checks.arrays import np
from gpu_checks.inference import warpgroup
from gpu_checks.inference.copies import observe
from gpu_checks.inference.queries import run_queries
from gpu_checks.machine import ProbeMachine
from gpu_checks.model import COLUMN, CONTRACTED, PRODUCT, ROW, ElementCoordinates, Labels, Unsupported
from isa_tables.signature import Fragment, Signature, mnemonics
from isa_tables.signature import signature as look_up

if TYPE_CHECKING:
    import numpy.typing as npt

SAME = "register i means the same in both instructions"
PREMISE = (
    f"{SAME}; the tiles are stacked in the order of the registers; "
    "elements narrower than a byte are counted from its low bits"
)
Places: TypeAlias = "npt.NDArray[np.int64]"  # [lane][register][byte] -> (lane that gave the row, byte)

_OPERANDS: Mapping[str, tuple[Literal["ldmatrix", "stmatrix"], int, int]] = {
    # operand -> the move that gives its coordinates, the class that memory rows are, the class that bytes run along
    "A": ("ldmatrix", ROW, CONTRACTED),
    "B": ("ldmatrix", COLUMN, CONTRACTED),
    "D": ("stmatrix", ROW, COLUMN),
}
_AXES = {ROW: "m", COLUMN: "n", CONTRACTED: "k"}


def sources_of_coordinates(signatures: Iterable[Signature]) -> set[str]:
    """Return the mnemonics of the instructions that give absolute coordinates to others."""
    sources = {same_k_wgmma(signature) for signature in signatures}
    return {
        signature.mnemonic for signature in (*map(_widest, ("ldmatrix", "stmatrix")), *sources) if signature is not None
    }


def _widest(name: str) -> Signature:
    return look_up(f"{name}.sync.aligned.m8n8.x4.shared.b16")


def observe_move(machine: ProbeMachine, name: Literal["ldmatrix", "stmatrix"]) -> Places | None:
    """Return the memory place of each register byte of the .x4 form.

    None where the GPU has no such move or it has notes.
    """
    try:
        places, notes = observe(machine, _widest(name))
    except Unsupported:
        return None
    return None if notes else places.reshape(32, 4, 4, 2)


# The cache key is the whole signature, its operands too: one in which a fault is planted is looked up anew.
@cache
def same_k_wgmma(signature: Signature) -> Signature | None:
    """Return the dense wgmma with N = 8 whose A is as wide as the instruction's, and as many elements long in k."""
    a = signature.operands.get("A")
    if a is None or signature.lanes != 32:
        return None
    alike = ((narrow.operands["A"].bits, narrow.shape[2]) == (a.bits, a.extent[1]) for narrow in _narrow())
    return next(compress(_narrow(), alike), None)


# Kept for good: the shipped tables do not change in a process. No observation is part of it.
@cache
def _narrow() -> tuple[Signature, ...]:
    """Return the dense wgmma with N = 8."""
    return tuple(look_up(name) for name in mnemonics("wgmma.mma_async.sync") if ".m64n8k" in name)


def observe_warpgroup(machine: ProbeMachine, wide: Signature) -> Mapping[str, Labels]:
    """Absolute coordinates of A, B and D of a wgmma from its matrices in shared memory; empty where there are none."""
    try:
        return {
            coordinates.operand: coordinates.labels
            for coordinates in run_queries(machine, wide, warpgroup.queries(wide)).coordinates or ()
        }
    except Unsupported:
        return {}


@dataclass(frozen=True, slots=True)
class MemoryObservations:
    """The observations of the instructions that access memory."""

    moves: Mapping[str, Places | None]
    warpgroup: Mapping[str, Labels] | None = None  # operand -> labels of the wgmma with the same k and N = 8


def absolute_coordinates(
    signature: Signature, operands: Mapping[str, Labels], seen: MemoryObservations
) -> tuple[tuple[ElementCoordinates, ...], tuple[str, ...]]:
    """Return the absolute coordinates that fit the classes, and notes on axes for which two sources disagree.

    Coordinates fit when they and the classes are one bijection on each axis. An instruction whose
    registers are no such tiles (m8n8k4 .f16, every f64) has none.
    """
    coordinates = [*_by_moves(signature, operands, seen.moves), *_by_warpgroup(operands, seen.warpgroup or {})]
    shared = [axis for axis in _AXES if axis != CONTRACTED or signature.sparsity is None]
    return tuple(coordinates), _disagreements(coordinates, operands, shared)


def _by_warpgroup(operands: Mapping[str, Labels], labels: Mapping[str, Labels]) -> Iterator[ElementCoordinates]:
    """Yield the coordinates of A and D in the first warp of a warpgroup, whose part is 16x8, where they fit."""
    for name in "AD":
        given = labels.get(name)
        classes = operands[name]
        if given is None or given[: len(classes)].shape[:2] != classes.shape[:2]:
            continue
        warp = given[: len(classes)]
        _, outer, inner = _OPERANDS[name]
        if all(_bijection(classes, axis, warp[..., at]) is not None for at, axis in enumerate((outer, inner))):
            yield ElementCoordinates("wgmma", name, f"{SAME}; {warpgroup.PREMISE}", warp)


def _by_moves(
    signature: Signature, operands: Mapping[str, Labels], places: Mapping[str, Places | None]
) -> Iterator[ElementCoordinates]:
    for name, (move, outer, inner) in _OPERANDS.items():
        fragment, where = signature.operands[name], places.get(move)
        # The .x4 form moves four registers of 32 bits in each of 32 lanes: of more or wider ones it says nothing.
        if where is None or signature.lanes != 32 or fragment.reg_type == "f64" or fragment.regs > 4:
            continue
        runs = inner if name != "D" or fragment.per_register > 1 else None
        labels = _labels(fragment, operands[name], where, outer, runs)
        if labels is not None:
            pair = labels[..., ::-1] if name == "B" else labels
            yield ElementCoordinates(move, name, PREMISE, np.ascontiguousarray(pair))


def _labels(fragment: Fragment, classes: Labels, places: Places, outer: int, inner: int | None) -> Labels | None:
    """[lane][value] -> (label on the outer axis, label on the inner axis or -1); None if it does not fit."""
    value = np.arange(fragment.values)
    register, bit = np.divmod(value, fragment.per_register)
    bit = bit * fragment.bits + fragment.shift
    row_lane, byte = np.moveaxis(places[:, register, bit // 8], -1, 0)
    # Lanes 8i to 8i + 7 give the addresses of the eight rows of tile i, which is register i (PTX ISA 9.7.14.5.15 and
    # 16). If a GPU were seen to do otherwise, the rows below would be those of another tile.
    if (row_lane // 8 != register).any():
        return None
    along = (byte * 8 + bit % 8) // fragment.bits
    labels = np.full((*row_lane.shape, 2), -1, np.int64)
    labels[..., 0] = _stack(classes[..., outer], fragment.per_register, 8) + row_lane % 8  # a tile has 8 rows
    if inner is not None:
        # A row has 128 bits.
        labels[..., 1] = _stack(classes[..., inner], fragment.per_register, 128 // fragment.bits) + along
    for axis, part in ((outer, labels[..., 0]), (inner, labels[..., 1])):
        if axis is not None and _bijection(classes, axis, part) is None:
            return None
    return labels


def _stack(classes: Labels, per_register: int, step: int) -> Labels:
    """Return the label where each value's tile starts: tiles with the same set of classes start together."""
    tiles = classes.reshape(len(classes), -1, per_register).swapaxes(0, 1)
    sets = [frozenset(tile.reshape(-1).tolist()) for tile in tiles]
    order = list(dict.fromkeys(sets))
    return np.repeat([order.index(group) * step for group in sets], per_register).astype(np.int64)


def _bijection(classes: Labels, axis: int, labels: Labels) -> dict[tuple[int, int], int] | None:
    """(product, class) -> label where that is one bijection onto 0 .. extent - 1 in each product."""
    columns = (classes[..., PRODUCT], classes[..., axis], labels)
    pairs = set(zip(*(column.reshape(-1).tolist() for column in columns), strict=True))
    named = {(product, number): label for product, number, label in pairs}
    per_product: dict[int, list[int]] = {}
    for (product, _), label in named.items():
        per_product.setdefault(product, []).append(label)
    onto = all(sorted(numbers) == list(range(len(numbers))) for numbers in per_product.values())
    return named if len(named) == len(pairs) and onto else None


def _disagreements(
    coordinates: Sequence[ElementCoordinates], operands: Mapping[str, Labels], shared: Sequence[int]
) -> tuple[str, ...]:
    """Return notes on shared axes for which two operands give one class different coordinates."""
    given: dict[int, tuple[ElementCoordinates, dict[tuple[int, int], int]]] = {}
    notes = []
    for source in coordinates:
        _, outer, inner = _OPERANDS[source.operand]
        for axis in (outer, inner):
            column = int(axis != (CONTRACTED if source.operand == "B" else ROW))
            labels = source.labels[..., column]
            if axis not in shared or (labels < 0).any():
                continue
            named = _bijection(operands[source.operand], axis, labels) or {}
            earlier, before = given.setdefault(axis, (source, named))
            if before != named:
                notes.append(
                    f"{earlier.name} on {earlier.operand} and {source.name} on {source.operand} "
                    f"number {_AXES[axis]} differently"
                )
    return tuple(notes)
