# SPDX-License-Identifier: Apache-2.0
"""What a claim does not give, chosen so that it hides nothing: sizes, strides, and where arrays begin.

Sizes are tables for several launches: CTAs in every direction and more steps than a pipeline is deep; one step; edges
that aren't a multiple of a tile, where the grid rounds up. No two strides are equal, and none is a size.
`list_blind_spots` lists which errors a launch cannot show.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import prod
from typing import Any

from verify.core.errors import SpecError
from verify.kernel.claims import expression
from verify.kernel.claims.launch import Array, Launch
from verify.kernel.data.values import SIZE

LARGEST_TILE = 1024  # elements along an axis: a grid is tried with every tile up to it
STEP = 64  # the elements of a step, where no tile says it: a multiple of 16, 32 and 64
STAGES = 4  # of a pipeline
SQUARE = "as many CTAs in x as in y: one index taken for the other is not seen"
WIDE = 1 << 32  # places of an array from which on an offset in elements, and so one in bytes, needs more than 32 bits
PAD, APART = 16, 256  # elements between rows, bytes before an array: multiples that keep accesses aligned


def sizes(table: Mapping[str, Any]) -> list[dict[str, int]]:
    """Tables of sizes for the indices of a claim's arrays, by the tiles that its grid shows or `tiles` gives."""
    _, value = expression.read_claim(table["claim"])
    summed = {index.upper() for index in expression.list_summed(value)}
    listed = [array.get("dims") for array in table["arrays"].values() if isinstance(array, dict)]
    indices = [dim for dims in listed if isinstance(dims, (str, list)) for dim in dims if isinstance(dim, str)]
    names = list(dict.fromkeys(dim.upper() for dim in indices if not dim.isdigit()))
    if not names:
        return [{}]
    given = table.get("tiles", {})
    if not isinstance(given, dict) or not all(type(tile) is int and 0 < tile <= 1 << 16 for tile in given.values()):
        raise SpecError("tiles", "expected a table of integers, as { M = 64, N = 64, K = 32 }")
    for name in given.keys() - set(names):
        raise SpecError(f"tiles.{name}", f"no index of an array is {name.lower()!r}")
    cuts = {name: find_tile(table["grid"], name, names) for name in names}
    masked = any(rounds_up for tile, rounds_up in cuts.values() if tile)
    tiles = {name: given.get(name) or cuts[name][0] or (STEP if name in summed else 0) for name in names}
    for name in (name for name in names if not tiles[name]):
        raise SpecError("sizes", f"the grid does not show the tile of {name}: give sizes, or tiles = {{ {name} = … }}")
    depth = table.get("stages", STAGES)
    if type(depth) is not int or not 1 <= depth <= 16:
        raise SpecError("stages", f"expected a number from 1 to 16, found {depth!r:.60}")
    full: dict[str, int] = {}
    for number, name in enumerate(sorted(names, key=lambda name: name in summed)):
        full[name] = tiles[name] * (depth + 2 if name in summed else number + 2)
        while full[name] in [
            *(full[earlier] for earlier in full if earlier != name),
            *(tiles[index] for index in summed),
        ]:
            full[name] += tiles[name]
    made = [full, {name: tiles[name] if name in summed else size for name, size in full.items()}]
    if masked:
        uneven = summed | {name for name in names if cuts[name][1]}
        ragged = {name: size - _part(tiles[name]) if name in uneven else size for name, size in full.items()}
        made.append(ragged)
    return [extents for number, extents in enumerate(made) if extents not in made[:number]]


def _part(tile: int) -> int:
    """Return what a ragged size lacks of its last tile."""
    return PAD if tile > PAD else tile // 2


def find_tile(grid: Any, name: str, names: Sequence[str]) -> tuple[int, bool]:
    """Return the tile of a size as a grid shows it, 0 where it does not; and whether the grid rounds up.

    >>> find_tile(["cdiv(M, 64)", "N // 32"], "M", "MNK"), find_tile(["cdiv(M, 64)", "N // 32"], "N", "MNK")
    ((64, True), (32, False))
    >>> find_tile("cdiv(M, 64)*cdiv(N, 128)", "N", "MNK"), find_tile(1, "K", "MNK")
    ((128, True), (0, False))
    """
    rest = dict.fromkeys(names, 1 << 12)
    for part in grid if isinstance(grid, list) else [grid]:
        first = expression.whole("grid", part, {**rest, name: 1})
        if expression.whole("grid", part, {**rest, name: LARGEST_TILE + 1}) == first:
            continue
        tile = next(size for size in range(1, LARGEST_TILE + 1)
                    if expression.whole("grid", part, {**rest, name: size + 1}) != first)  # fmt: skip
        return (tile, True) if first else (tile + 1, False)
    return 0, False


def strides(shape: Sequence[int], taken: Collection[int]) -> list[int]:
    """Strides of an array, the last 1, its rows padded so that none of them is `taken`.

    >>> strides((128, 64), {80, 128})
    [96, 1]
    """
    made = [1]
    for extent in reversed(shape[1:]):
        step = made[0] * extent
        pads = (step + PAD * (number + 1) for number in range(len(taken) + 1))
        made.insert(0, next(pad for pad in pads if pad not in taken))
    return made


def close_rows(table: Mapping[str, Any]) -> dict[str, list[str | int]]:
    """Return the strides, without gaps, of arrays of several indices to which a claim gives none.

    >>> close_rows({"sizes": {"M": 2, "N": 3}, "arrays": {"A": {"dims": "mn"}, "x": {"dims": "n"}}})
    {'A': ['N', 1]}
    """
    sizes_given = table.get("sizes", {})
    several = sizes_given if isinstance(sizes_given, list) else [sizes_given]
    names = {name for extents in several if isinstance(extents, Mapping) for name in extents}
    closed: dict[str, list[str | int]] = {}
    for name, array in table["arrays"].items():
        dims = array.get("dims", "")
        if "strides" not in array and len(dims) > 1 and not array.get("scratch"):
            extents = [dim if dim.isdigit() or dim in names else dim.upper() for dim in dims]
            closed[name] = ["*".join(extents[at + 1 :]) or 1 for at in range(len(dims))]
    return closed


def close_launch(launch: Launch, table: Mapping[str, Any]) -> Launch:
    """Return a launch whose arrays have no gaps, where the claim gives no strides."""
    closed = close_rows(table)

    def close(array: Array) -> Array:
        packed = tuple(prod(array.shape[at + 1 :]) for at in range(len(array.shape)))
        return array._replace(strides=packed) if array.name in closed and array.stored is None else array

    return launch._replace(arrays=tuple(map(close, launch.arrays)))


def offset(number: int, kind: str) -> int:
    """Where the array of a number begins in its memory, in elements: nowhere at its start, no two alike."""
    return APART * (number + 1) // SIZE[kind]


def list_blind_spots(launch: Launch, alone: bool) -> Iterable[str]:
    """Which errors the sizes and strides of a launch cannot show; `alone` is one that has no others beside it."""
    ctas = launch.grid[0] * launch.grid[1] * launch.grid[2]
    if ctas == 1:
        yield "one CTA: an error in the index of CTAs is not seen"
    elif ctas < 4 and len(launch.target.indices) > 1:
        yield f"{ctas} CTAs: with fewer than 2 x 2 the index of one direction may be wrong"
    beside = [array.name for array in launch.arrays if array.out and array.name != launch.target.name]
    if beside and launch.target.name:  # a launch without a claim compares nothing
        yield f"the claim is about {launch.target.name} alone: what is stored in {' and '.join(beside)} is not compared"
    if alone:
        yield "one table of sizes: a loop of one step, and edges, are seen only where these sizes have them"
    dims = {index: name for array in launch.arrays for index in array.dims if (name := _name(index, launch.sizes))}
    by_size: dict[int, list[str]] = {}
    for name in sorted(set(dims.values())):
        by_size.setdefault(launch.sizes[name], []).append(name)
    for size, names in by_size.items():
        if len(names) > 1:
            yield f"{' and '.join(names)} are {size}: one taken for the other is not seen"
    wide = [array for array in launch.arrays if len(array.dims) > 1 and not array.scratch]
    for number, array in enumerate(wide):
        alike = [
            f"{array.name} and {later.name} have the same strides"
            for later in wide[number + 1 :]
            if later.strides == array.strides
        ]
        packed = [
            f"a stride of {array.name} is {by_size[step][0]}" for step in array.strides if step > 1 and step in by_size
        ]
        yield from (f"{what}: one taken for the other is not seen" for what in alike + packed)


def list_unreached(launches: Sequence[Launch]) -> Iterable[str]:
    """Yield the blind spot of arrays that are so small in all launches that every offset fits 32 bits."""
    ends: dict[str, int] = {}
    for array in (array for launch in launches for array in launch.arrays if not array.scratch):
        ends[array.name] = max(ends.get(array.name, 0), array.end)
    small = [name for name, end in ends.items() if end <= WIDE]
    if small:
        named = "every array" if len(small) == len(ends) else " and ".join(small)
        yield f"{named} ends before 2^32 elements: an offset that wraps at 32 bits is not seen"


def _name(index: str, given: Mapping[str, int]) -> str:
    return next((name for name in (index, index.upper()) if name in given), "")
