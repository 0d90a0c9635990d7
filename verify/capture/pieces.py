# SPDX-License-Identifier: Apache-2.0
"""Comparisons of parts that make up a whole: `assert_close(out[:n], a)` and `assert_close(out[n:], b)`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from verify.capture.contents import Contents, TensorReading, find_launch, follow
from verify.capture.expressions import NAMES, GivenArray, Writer
from verify.capture.parts import MOST, choose, fold, locate_part
from verify.capture.places import Unchecked, ViewPlaces

Event = Mapping[str, Any]


class Piece(NamedTuple):
    """A part of an array along one of its axes; of those with one element none is counted."""

    axis: int
    start: int
    extent: int
    dims: tuple[int | None, ...]  # the axis of each index of the part, None for one of extent 1


def locate_piece(target: GivenArray, places: ViewPlaces, shape: Sequence[int]) -> Piece | None:
    """Return which part of an array some places are; None for all of it, and for parts along several axes."""
    if not len(places):
        return None
    own = list_axes(target)
    extents, strides, offset = target.fit(places, shape)
    axes = [(extents[x], strides[x], f"i{x}") for x in range(len(shape)) if extents[x] > 1]
    indices = locate_part(own, offset - target.reading.offset, axes) or []
    cut, dims = list[tuple[int, int, int]](), list[int | None]([None] * len(shape))
    for axis, index in enumerate(indices):
        if isinstance(index, int):
            cut.append((axis, index, 1))
            continue
        name, _, start = index.partition("+")
        if "*" in name:
            return None
        dims[int(name[1:])] = axis
        if extents[int(name[1:])] < own[axis][0]:
            cut.append((axis, int(start or 0), extents[int(name[1:])]))
    return Piece(*cut[0], tuple(dims)) if len(cut) == 1 else None


def list_axes(array: GivenArray) -> list[tuple[int, int]]:
    """Return (extent, stride) of the axes of an array that have several elements."""
    return [(x, y) for x, y in zip(array.reading.shape, array.reading.strides, strict=True) if x > 1]


def write_pieces(
    writer: Writer, target: GivenArray, sides: Sequence[tuple[ViewPlaces, TensorReading, TensorReading]]
) -> str:
    """Return the claim that all of an array is what its parts are compared with, (places, part, reference) each."""
    own = list_axes(target)
    letters = NAMES.get(len(own), "abcdefghi")[: len(own)]
    pieces = []
    for places, side, reference in sides:
        located = locate_piece(target, places, side.shape)
        if located is None or len(sides) > MOST:
            raise Unchecked(f"parts of {target.name} are compared that don't make up all of it")
        pieces.append((located, reference))
    pieces.sort(key=lambda pair: pair[0].start)
    axis, total = pieces[0][0].axis, own[pieces[0][0].axis][0]
    ends = [0, *(piece.start + piece.extent for piece, _ in pieces)]
    if {piece.axis for piece, _ in pieces} != {axis} or ends != [*(piece.start for piece, _ in pieces), total]:
        raise Unchecked(f"parts of {target.name} are compared that don't make up all of it")
    writer.sizes.update({name: extent for name, (extent, _) in zip(letters, own, strict=True)})
    writer.home = letters[0]
    texts = []
    for piece, reference in pieces:
        words = list(letters)
        words[axis] = fold("the test", letters[axis], piece.start, piece.extent, total)
        texts.append(
            (piece.start, writer.write(reference, tuple("" if at is None else words[at] for at in piece.dims)))
        )
    axes = [(extent, stride, name) for (extent, stride), name in zip(own, letters, strict=True)]
    return f"{writer._name(target, axes, target.reading.offset)} = {choose(letters[axis], texts)}"


def join_events(contents: Contents, variant: Mapping[str, Any], events: Sequence[Event]) -> list[Event]:
    """Return the comparisons of a launch, those of parts that make up a whole as one."""
    arrays = {tensor["arg"]: GivenArray(tensor["arg"], TensorReading.of(tensor)) for tensor in variant["tensors"]}
    parts: dict[tuple[str, int], list[tuple[Piece, Event]]] = {}
    for event in events:
        for side in map(TensorReading.of, event["sides"]):
            launch = find_launch(contents, side)
            if launch is None:
                continue
            try:
                names, _, places = follow(contents, side, launch)
                target = next((array for name, array in arrays.items() if name in names), None)
                piece = locate_piece(target, places, side.shape) if target is not None else None
            except Unchecked:
                continue  # which the item of this comparison says
            if target is not None and piece is not None:
                parts.setdefault((target.name, piece.axis), []).append((piece, event))
    comparisons = list(events)
    for (name, axis), group in parts.items():
        group.sort(key=lambda pair: pair[0].start)
        total = list_axes(arrays[name])[axis][0]
        joined = all(before.start + before.extent == after.start for (before, _), (after, _) in pairwise(group))
        first, last = group[0][0], group[-1][0]
        if joined and first.start == 0 and last.start + last.extent == total and len(group) > 1:
            several = sorted((event for _, event in group), key=lambda event: int(event["number"]))
            comparisons = [event for event in comparisons if event not in several] + [
                {**several[-1], "pieces": several}
            ]
    return comparisons
