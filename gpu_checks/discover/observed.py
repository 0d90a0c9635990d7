# SPDX-License-Identifier: Apache-2.0
"""The maps of an instruction from what a GPU showed of it, recorded or just probed.

A product shows which values share a row, a column, a k: classes. Their numbers are those of ldmatrix, stmatrix and
wgmma, which have addresses, where one of them gives every class of an axis a number; all operands then have the same.
Otherwise a class has the number of its first appearance: the map is known up to a relabelling of that axis.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gpu_checks.arrays import np
from gpu_checks.discover.found_map import FoundMap, Source
from gpu_checks.model import COLUMN, CONTRACTED, PRODUCT, ROW, Labels
from gpu_checks.recording import Move, Recording

AXES = {"A": (ROW, CONTRACTED), "B": (CONTRACTED, COLUMN), "D": (ROW, COLUMN)}  # of row and column
NAMES = {ROW: "m", COLUMN: "n", CONTRACTED: "k"}
APPEARANCE = "order of appearance", "the names of classes are not known: the map is right up to a relabelling"
STORED = "stored k"  # the columns of a sparse A: its metadata say which k each is
Numbers = Mapping[tuple[int, int], int]  # (product, class) -> number


def of_recording(seen: Recording) -> list[FoundMap]:
    """Return the maps of A, B and D of a product."""
    numbers = dict(_numbers(seen))
    return [_operand(seen, name, numbers) for name in AXES]


def of_move(seen: Move, operand: str, bits: int) -> FoundMap:
    """Return the map of a matrix move: which element of which row each value of a lane's registers is.

    A row is that of the lane which passes its address; of movmatrix it is the lane that had the element. Raises
    ValueError where the bytes of an element are of several places.
    """
    wide = bits // 8
    places = seen.places.reshape(seen.places.shape[0], -1, wide, 2)
    whole = (places[..., 0] == places[..., :1, 0]).all() and (np.diff(places[..., 1], axis=-1) == 1).all()
    if not whole or (places[..., 0, 1] % wide).any():
        raise ValueError(f"{seen.mnemonic}: the bytes of an element of {bits} bits come from several places")
    table = np.stack([places[..., 0, 0], places[..., 0, 1] // wide], axis=-1).astype(np.int64)
    row, how = ("source lane", "the source") if seen.mnemonic.startswith("movmatrix") else ("address lane", "addresses")
    return FoundMap(operand, ("lane", "value"), (row, "element"), table, dict.fromkeys((row, "element"), (how, "")))


def _operand(seen: Recording, name: str, numbers: Mapping[tuple[str, int], tuple[Source, Numbers]]) -> FoundMap:
    labels = seen.operands[name].astype(np.int64)
    columns, numbered, axes = [], {}, []
    for axis in AXES[name]:
        stored = name == "A" and axis == CONTRACTED and seen.metadata is not None
        axes.append(STORED if stored else NAMES[axis])
        source, known = numbers.get((STORED if stored else "", axis), (APPEARANCE, {}))
        pairs = labels[..., [PRODUCT, axis]].reshape(-1, 2).tolist()
        column = [known.get((product, label), label) if label >= 0 else -1 for product, label in pairs]
        columns.append(np.array(column).reshape(labels.shape[:2]))
        numbered[axes[-1]] = source
    table = np.stack(columns, axis=-1)
    inputs: tuple[str, ...] = ("lane", "value")
    if len(table) == 1 and max(map(len, seen.operands.values())) > 1:  # in shared memory
        table, inputs = table[0], ("element",)
    return FoundMap(name, inputs, (axes[0], axes[1]), table, numbered, along=int(name == "B"))


def _numbers(seen: Recording) -> Iterator[tuple[tuple[str, int], tuple[Source, Numbers]]]:
    """(which, axis) -> the source that numbers every class of it, and the numbers."""
    done = set()
    for coordinates in seen.coordinates:
        labels = seen.operands[coordinates.operand]
        if coordinates.labels.shape[:2] != labels.shape[:2]:
            continue
        for place, axis in enumerate(AXES[coordinates.operand]):
            stored = coordinates.operand == "A" and axis == CONTRACTED and seen.metadata is not None
            key = (STORED if stored else "", axis)
            bijection = _bijection(labels, axis, coordinates.labels[..., place])
            if bijection and key not in done:
                done.add(key)
                yield key, ((coordinates.name, coordinates.premise), bijection)


def _bijection(labels: Labels, axis: int, numbers: Labels) -> Numbers:
    """(product, class) -> number, where each class has one number, and each number one class; else empty."""
    given = np.stack([labels[..., PRODUCT], labels[..., axis], numbers], axis=-1).reshape(-1, 3)
    if (given < 0).any():
        return {}
    pairs = set(map(tuple, given.tolist()))
    forward = {(product, label): number for product, label, number in pairs}
    backward = {(product, number) for product, _, number in pairs}
    return forward if len(pairs) == len(forward) == len(backward) else {}
