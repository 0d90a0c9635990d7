# SPDX-License-Identifier: Apache-2.0
"""Panels of maps from any source: the image of each point as a table, or the owners of each element of a tile.

>>> from verify.maps.map import Map, Axis
>>> C = FragmentMap.tabulate(lambda lane, value: (lane, value), [Axis("lane", 2), Axis("value", 2)],
...                          [Axis("m", 2), Axis("n", 2)])
>>> [cell.text for cell in tile("C", C).every()], [cell.text for cell in table("C", C).every()]
(['T0 V0', 'T0 V1', 'T1 V0', 'T1 V1'], ['0,0', '0,1', '1,0', '1,1'])
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from math import prod

from verify.maps.fragment_map import FragmentMap
from verify.maps.map import Map, MapError, Point
from verify.pictures import owners
from verify.pictures.picture import WHOLE, Cell, Fault, Panel, Window, grid

LETTERS = {
    "lane": "T", "thread": "T", "value": "V", "column": "c", "byte": "b", "cta": "CTA",
    "TMEM lane": "L", "TMEM column": "c",
}  # fmt: skip
CHUNK = 16  # bytes that a swizzle moves together


def tile(
    name: str,
    fragment: FragmentMap,
    wanted: FragmentMap | None = None,
    *,
    copies: int = 1,
    marked: Collection[Point] = (),
    window: Window = WHOLE,
    place: tuple[int, int] = (0, 0),
) -> Panel:
    """Return the elements of a map's outputs, each with its owners, and with those of another map where they differ.

    The first output is down, the second across; k of (k, n) is down, as B is drawn above C.
    """
    letters = [LETTERS.get(axis.name, f"{axis.name} ") for axis in fragment.inputs]
    backwards = fragment.inverse()
    theirs = wanted.inverse() if wanted is not None else backwards
    rows, columns = _halves(fragment)
    names = [axis.name for axis in fragment.inputs]
    shaded, unit = names.index("TMEM lane") if "TMEM lane" in names else 0, CHUNK if names[0] == "byte" else 1

    def at(row: int, column: int) -> Cell:
        element = _point(fragment, row, column)
        mine, right = backwards.at(*element), theirs.at(*element)
        about = [f"{fragment.show(element)}: {'; '.join(owners.list_owners(mine, letters)) or 'no owner'}"]
        about += [fragment.origin.text or fragment.source(mine[0])] if mine else []
        if wanted is not None:
            held = "; ".join(owners.list_owners(right, letters)) or "no owner"
            about.append(f"{wanted.origin.text or wanted.origin}: {held}")
        cell = owners.cell(mine, right, copies, letters=letters, marked=element in marked, about=about)
        return cell._replace(shade=mine[0][shaded] // unit % 8) if mine else cell

    sizes = "x".join(str(axis.extent) for axis in fragment.outputs)
    heading = f"{name} {sizes} ({','.join(axis.name for axis in fragment.outputs)})"
    captions = [f"{name} = {fragment.origin.text}"] if fragment.origin.text else []
    return grid(name, heading, (rows[0], columns[0]), (rows[1], columns[1]), at,
                window=window, place=place, captions=captions)  # fmt: skip


def table(
    name: str,
    mapping: Map,
    heading: str = "",
    *,
    wanted: Map | None = None,
    cell: Callable[[Point], Cell] | None = None,
    window: Window = WHOLE,
    place: tuple[int, int] = (0, 0),
) -> Panel:
    """Return each point's image, and another map's where it differs: the first input down, the others across.

    It is coloured by the first input.
    """
    down, across = mapping.inputs[0], mapping.inputs[1:]
    width = prod(axis.extent for axis in across)

    def at(row: int, column: int) -> Cell:
        point = (row, *_digits(column, [axis.extent for axis in across]))
        images = mapping.at(*point)
        if cell is not None and len(images) == 1:
            return cell(images[0])
        words = tuple(_words([image]) for image in images)
        fault = Fault.MISSING if not images else Fault.SEVERAL if len(images) > 1 else Fault.NONE
        about = f"{mapping.show_input(point)}: {' and '.join(map(mapping.show, images)) or 'no image'}"
        expected = "" if wanted is None or (theirs := wanted.at(*point)) == images else _words(theirs) or "none"
        return Cell(words, row % 8 if images else -1, fault, expected, about=(about,))

    names = down.name, ",".join(axis.name for axis in across)
    captions = [mapping.origin.text] if mapping.origin.text else []
    return grid(name, heading or name, names, (down.extent, width), at, window=window, place=place, captions=captions)


def permutation(
    axis: str, numbers: Sequence[int], written: str, window: Window = WHOLE, place: tuple[int, int] = (0, 0)
) -> Panel:
    """Return a relabelling as the permutation that it is: below each number of the instruction the atom's.

    >>> [cell.text for cell in permutation("k", (0, 2, 1, 3), "(2,2):(2,1)").every()]
    ['0', '2', '1', '3']
    """

    def at(_: int, column: int) -> Cell:
        number = numbers[column]
        about = f"{axis} {column} of the instruction is {axis}' {number} of the atom"
        return Cell((str(number),), number % 8, about=(about,))

    heading = f"{axis}' = {written} of {axis}"
    names = (lambda _: f"{axis}'"), None
    return grid(f"{axis}'", heading, ("", axis), (1, len(numbers)), at, window=window, place=place, names=names)


def memory(name: str, fragment: FragmentMap, window: Window = WHOLE, place: tuple[int, int] = (0, 0)) -> Panel:
    """Return the elements at each place of Tensor Memory, by a map from elements to places: lanes down."""
    names = [axis.name for axis in fragment.outputs]
    down = names.index("lane")
    across = [i for i, axis in enumerate(fragment.outputs) if i != down and axis.extent > 1] or [
        (down + 1) % len(names)
    ]
    extents = [fragment.outputs[i].extent for i in across]

    def at(row: int, column: int) -> Cell:
        point = [0] * len(names)
        point[down] = row
        for i, digit in zip(across, _digits(column, extents), strict=True):
            point[i] = digit
        held = fragment.owners(tuple(point))
        words = [
            " ".join(f"{axis.name[:1]}{c}" for axis, c in zip(fragment.inputs, element, strict=True))
            for element in held
        ]
        about = f"{fragment.show(tuple(point))}: {' and '.join(map(fragment.show_input, held)) or 'nothing'}"
        lines = tuple(words[0].split(" ")) if len(words) == 1 else tuple(words)
        fault = Fault.SEVERAL if len(words) > 1 else Fault.NONE
        return Cell(lines, held[0][0] % 8 if held else -1, fault, about=(about,))

    sizes, inputs = zip(*((str(axis.extent), axis.name) for axis in fragment.inputs), strict=True)
    heading = f"{name} {'x'.join(sizes)} ({','.join(inputs)}) in Tensor Memory"
    axes = "lane", ",".join(names[i] for i in across)
    return grid(name, heading, axes, (fragment.outputs[down].extent, prod(extents)), at, window=window, place=place)


def _halves(fragment: FragmentMap) -> tuple[tuple[str, int], tuple[str, int]]:
    """Return the name and extent of the rows and of the columns."""
    if len(fragment.outputs) == 1:
        return ("", 1), fragment.outputs[0]
    if len(fragment.outputs) != 2:
        raise MapError(f"{fragment.origin}: a map to {len(fragment.outputs)} coordinates has no tile")
    return fragment.outputs[0], fragment.outputs[1]


def _words(images: Collection[Point]) -> str:
    return "; ".join(",".join(map(str, image)) for image in images)


def _point(fragment: FragmentMap, row: int, column: int) -> Point:
    return (column,) if len(fragment.outputs) == 1 else (row, column)


def _digits(number: int, extents: Collection[int]) -> Iterator[int]:
    """Yield the coordinates of a column, the first fastest."""
    for extent in extents:
        yield number % extent
        number //= extent
