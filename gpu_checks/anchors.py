# SPDX-License-Identifier: Apache-2.0
"""Absolute labels, where an instruction of known relation meets memory: ldmatrix for A and B, stmatrix for D.

`observe` finds, with no formula, which memory byte each register byte of the .x4 form comes from or goes
to: (the lane that passed the row's address, the byte in that row). Under the premise that register i of
both instructions means the same, a row of A, of B's columns or of D written to memory in order names the
elements that the registers hold:

    A (m, k): memory rows are m, bytes run along k        B (k, n): rows are n, bytes run along k
    D (m, n): rows are m, bytes run along n; 32-bit D elements get a row only, for stmatrix moves 16-bit pairs

A register is one tile of 8 rows of 16 bytes. Which tile comes first is a name, not physics: tiles that
differ in their recorded classes are stacked in the order of the registers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from gpu_checks.machine import Machine
from gpu_checks.packing import Words
from gpu_checks.values import COLUMN, CONTRACTED, PRODUCT, ROW, Anchor, Labels, Refused
from isa_tables.signature import Fragment, Signature

PREMISE = (
    "register i means the same in both instructions; the tiles are stacked in the order of the registers; "
    "elements narrower than a byte are counted from its low bits"
)
Places = npt.NDArray[np.int64]  # [lane][register][byte] -> (lane that gave the row's address, byte of that row)

_OPERANDS: Mapping[str, tuple[Literal["ldmatrix", "stmatrix"], int, int]] = {
    # operand -> the move that anchors it, the class that memory rows are, the class that bytes run along
    "A": ("ldmatrix", ROW, CONTRACTED),
    "B": ("ldmatrix", COLUMN, CONTRACTED),
    "D": ("stmatrix", ROW, COLUMN),
}
_AXES = {ROW: "m", COLUMN: "n", CONTRACTED: "k"}


def observe(machine: Machine, name: Literal["ldmatrix", "stmatrix"], seed: int = 0) -> Places | None:
    """Where each register byte meets memory; None where the move is refused or loses or repeats a byte."""
    rows = np.random.default_rng(seed).permutation(32).astype(np.uint32)
    number = np.arange(512).reshape(32, 16)
    try:
        low, high = (_bytes(machine.move(name, _words(part), rows)) for part in (number % 256, number // 256))
    except Refused:
        return None
    arrived = (low + 256 * high).reshape(-1)
    if sorted(arrived.tolist()) != list(range(512)):
        return None
    memory = arrived if name == "ldmatrix" else np.argsort(arrived)  # register byte -> memory byte
    giver = np.argsort(rows)[memory // 16]
    return np.stack([giver, memory % 16], axis=-1).reshape(32, 4, 4, 2)


def _words(numbers: npt.NDArray[np.int64]) -> Words:
    return numbers.astype(np.uint8).view("<u4").astype(np.uint32)


def _bytes(words: Words) -> npt.NDArray[np.int64]:
    return np.ascontiguousarray(words, "<u4").view(np.uint8).astype(np.int64)


def anchors(
    signature: Signature, operands: Mapping[str, Labels], places: Mapping[str, Places | None]
) -> tuple[tuple[Anchor, ...], tuple[str, ...]]:
    """The anchors that fit the classes, and the axes on which two of them disagree.

    An anchor fits when its labels and the classes are one bijection on each axis. An instruction whose
    registers are no such tiles (m8n8k4 .f16, every f64) has none.
    """
    found = []
    for name, (move, outer, inner) in _OPERANDS.items():
        fragment, where = signature.operands[name], places.get(move)
        if where is None or signature.lanes != 32 or fragment.reg_type == "f64" or fragment.regs > 4:
            continue
        runs = inner if name != "D" or fragment.per_register > 1 else None
        labels = _labels(fragment, operands[name], where, outer, runs)
        if labels is not None:
            pair = labels[..., ::-1] if name == "B" else labels
            found.append(Anchor(move, name, PREMISE, np.ascontiguousarray(pair)))
    return tuple(found), _disagreements(found, operands)


def _labels(fragment: Fragment, classes: Labels, places: Places, outer: int, inner: int | None) -> Labels | None:
    """[lane][value] -> (label on the outer axis, label on the inner axis or -1); None if it does not fit."""
    value = np.arange(fragment.values)
    register, bit = np.divmod(value, fragment.per_register)
    bit = bit * fragment.bits + fragment.shift
    giver, byte = np.moveaxis(places[:, register, bit // 8], -1, 0)
    if (giver // 8 != register).any():
        return None
    along = (byte * 8 + bit % 8) // fragment.bits
    labels = np.full((*giver.shape, 2), -1, np.int64)
    labels[..., 0] = _stack(classes[..., outer], fragment.per_register, 8) + giver % 8
    if inner is not None:
        labels[..., 1] = _stack(classes[..., inner], fragment.per_register, 128 // fragment.bits) + along
    for axis, part in ((outer, labels[..., 0]), (inner, labels[..., 1])):
        if axis is not None and _bijection(classes, axis, part) is None:
            return None
    return labels


def _stack(classes: Labels, per_register: int, step: int) -> Labels:
    """The label where each value's tile starts: tiles with the same set of classes start together."""
    tiles = classes.reshape(len(classes), -1, per_register).swapaxes(0, 1)
    sets = [frozenset(tile.reshape(-1).tolist()) for tile in tiles]
    order = list(dict.fromkeys(sets))
    return np.repeat([order.index(one) * step for one in sets], per_register).astype(np.int64)


def _bijection(classes: Labels, axis: int, labels: Labels) -> dict[tuple[int, int], int] | None:
    """(product, class) -> label where that is one bijection onto 0 .. extent - 1 in each product."""
    columns = (classes[..., PRODUCT], classes[..., axis], labels)
    pairs = set(zip(*(column.reshape(-1).tolist() for column in columns), strict=True))
    named = {(product, one): label for product, one, label in pairs}
    per_product: dict[int, list[int]] = {}
    for (product, _), label in named.items():
        per_product.setdefault(product, []).append(label)
    onto = all(sorted(found) == list(range(len(found))) for found in per_product.values())
    return named if len(named) == len(pairs) and onto else None


def _disagreements(found: Sequence[Anchor], operands: Mapping[str, Labels]) -> tuple[str, ...]:
    """Axes on which two anchored operands give one class different labels."""
    given: dict[int, tuple[Anchor, dict[tuple[int, int], int]]] = {}
    notes = []
    for anchor in found:
        _, outer, inner = _OPERANDS[anchor.operand]
        for axis in (outer, inner):
            column = int(axis != (CONTRACTED if anchor.operand == "B" else ROW))
            labels = anchor.labels[..., column]
            if (labels < 0).any():
                continue
            named = _bijection(operands[anchor.operand], axis, labels) or {}
            other, before = given.setdefault(axis, (anchor, named))
            if before != named:
                notes.append(
                    f"{other.name} on {other.operand} and {anchor.name} on {anchor.operand} "
                    f"number {_AXES[axis]} differently"
                )
    return tuple(notes)
