# SPDX-License-Identifier: Apache-2.0
"""Parts of a tensor in a reference: `x[:, 64:]`, `x.chunk(2, -1)[1]` or `x[::2]` as indices, `x[m,n+64]`.

The other way round, `torch.cat` and `torch.stack` of parts are a choice by an index: `where(n < 64, a[m,n%64], …)`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from verify.capture.contents import TensorReading, read_operand, say_made
from verify.capture.places import Unchecked

MOST = 16  # parts that are joined
Names = tuple[str, ...]
Axis = tuple[int, int]  # (extent, stride)


def locate_part(own: Sequence[Axis], start: int, axes: Sequence[tuple[int, int, str]]) -> list[str | int] | None:
    """Return the index of each axis of a tensor where a part of it is read; None if no indices describe it.

    `start` is the part's first element, `axes` are (extent, stride, name) of the part. An index is a text, or a number
    where the part has one element along the axis; a name alone goes over the whole axis.

    >>> locate_part([(8, 128), (128, 1)], 64, [(8, 128, "m"), (64, 1, "n")])
    ['m', 'n+64']
    >>> locate_part([(8, 128), (128, 1)], 129, [(4, 256, "m")]), locate_part([(8, 1)], 0, [(4, 1, "m")])
    (['m*2+1', 1], ['m+0'])
    >>> locate_part([(8, 128), (128, 1)], 0, [(16, 64, "m"), (64, 1, "n")]) is None
    True
    """
    starts, rest = dict[int, int](), start
    for at in sorted(range(len(own)), key=lambda at: -own[at][1]):
        starts[at], rest = divmod(rest, own[at][1]) if own[at][1] > 0 else (0, rest)
        if not 0 <= starts[at] < own[at][0]:
            return None
    indices: dict[int, str | int] = {}
    for extent, stride, name in axes:
        fits = [
            at
            for at, (whole, step) in enumerate(own)
            if at not in indices and 0 < step <= stride and stride % step == 0
            if starts[at] + (extent - 1) * (stride // step) < whole
        ]
        if not fits:
            return None
        at = max(fits, key=lambda at: own[at][1])
        step = stride // own[at][1]
        if step != 1 and not name.isidentifier():
            return None  # it is a sum, which would have to be multiplied
        index = name if step == 1 else f"{name}*{step}"
        indices[at] = index if extent == own[at][0] else f"{index}+{starts[at]}"
    return None if rest else [indices.get(at, starts[at]) for at in range(len(own))]


class PartWriter(Protocol):
    """What writes the text of a part."""

    def write(self, reading: TensorReading, names: Names, depth: int = 0) -> str:
        """Return the text of an element of a reading."""

    def check_kind(self, content: Mapping[str, Any], reading: TensorReading) -> None:
        """Raise Unchecked if the numbers of a reading change with the type of a content."""


def write_joined(
    writer: PartWriter, content: Mapping[str, Any], given: Mapping[str, Any], kind: str, names: Names, depth: int
) -> str:
    """Return the text of `cat` along an index, or of `stack` along a new one; raises Unchecked."""
    parts = given["tensors"] if isinstance(given["tensors"], list) else []
    dim = given["dim"]
    if not 0 < len(parts) <= MOST or not isinstance(dim, int):
        raise Unchecked(f"{say_made(content)} joins tensors in a way that is not read")
    axis, readings = dim % len(names), [read_operand(content, part) for part in parts]
    index, texts, start = names[axis], list[tuple[int, str]](), 0
    for reading in readings:
        writer.check_kind(content, reading)
        own, extent = list(names), 1
        if kind == "stack":
            del own[axis]
        else:
            extent = reading.shape[axis] if len(reading.shape) == len(names) else 0
            own[axis] = fold(say_made(content), index, start, extent, sum(each.shape[axis] for each in readings))
        texts.append((start, writer.write(reading, tuple(own), depth + 1)))
        start += extent
    return choose(index, texts)


def choose(index: str, texts: Sequence[tuple[int, str]]) -> str:
    """Return the text of what is another text from each number of an index on.

    >>> choose("n", [(0, "a[n%8]"), (8, "b[n%8]")])
    'where(n < 8, a[n%8], b[n%8])'
    """
    made = texts[-1][1]
    for at in reversed(range(len(texts) - 1)):
        made = f"where({index} < {texts[at + 1][0]}, {texts[at][1]}, {made})"
    return made


def fold(said: str, index: str, start: int, extent: int, total: int) -> str:
    """Return the index of a part that begins at `start`, where the index of the whole is in it; raises Unchecked."""
    if extent in {total, 1}:
        return index if extent > 1 else ""
    if not extent or start % extent or not index.isidentifier():
        raise Unchecked(f"{said} joins parts of which one begins at no multiple of its extent")
    return f"{index}%{extent}"
