# SPDX-License-Identifier: Apache-2.0
"""Run-length columns: labels as JSON. An instruction's labels repeat, and a column is written as what repeats.

    7                                        every entry is 7
    [0, 0, 8, 8]                             the entries
    {"first": [3, 5, 8], "times": [[2, 0], [4, 1]]}
                                             `first` twice as it is, and all that four times, each time one more
    "eNqr..."                                the base64 of the zlib-compressed little-endian 32-bit entries

An entry of -1, no label, stays -1 however often it is repeated.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias

from gpu_checks.arrays import np

if TYPE_CHECKING:
    import numpy.typing as npt

Entries: TypeAlias = "npt.NDArray[np.int64]"
Written: TypeAlias = "int | str | list[int] | dict[str, Any]"

LARGEST = 2**20  # labels lie below
_LONG = 256  # entries that are worth compressing


def write_runs(column: Entries) -> Written:
    """Return the form with the shortest repeated part.

    >>> write_runs(np.array([3, 5, 8, 3, 5, 8, 4, 6, 9, 4, 6, 9]))
    {'first': [3, 5, 8], 'times': [[2, 0], [2, 1]]}
    """
    return _write_column(np.ascontiguousarray(column, "<i4").tobytes())


def entries(given: object, size: int) -> Entries:
    """Return the column of `size` entries that was written; ValueError where it is none.

    >>> entries({"first": [0, -1], "times": [[2, 3]]}, 4).tolist()
    [0, -1, 3, -1]
    """
    if isinstance(given, dict):
        return _find_repeated(given, size)
    if isinstance(given, str):
        return _small(_expand(given, 4 * size))
    many = isinstance(given, list)
    if not all(type(number) is int for number in (given if isinstance(given, list) else [given])):
        raise ValueError("holds something other than small numbers")
    column = np.array(given, object).reshape(-1)
    if len(column) != size and (many or size < 1):
        raise ValueError(f"has {len(column)} entries, not {size}")
    return np.broadcast_to(_small(column), size)


# The cache key is every number of the column: another column is written anew.
@lru_cache(maxsize=4096)
def _write_column(content: bytes) -> Written:
    """Return a column's form, cached: most columns of wgmma are those of many instructions."""
    column = np.frombuffer(content, "<i4").astype(np.int64)
    first, times = _period(column)
    if len(first) == 1 and not any(step for _, step in times):
        return int(first[0])
    start = first.tolist() if len(first) < _LONG else _compress(first)
    if not times:
        return start
    return {"first": start if len(first) > 1 else start[0], "times": times}


def _period(column: Entries) -> tuple[Entries, list[list[int]]]:
    """Return the shortest beginning that the column repeats, and how: [times, step], the innermost first."""
    times: list[list[int]] = []
    while (repeat := next(_halvings(column), None)) is not None:
        column, count, step = repeat
        if times and times[0][1] == count * step:
            times[0] = [times[0][0] * count, step]
        else:
            times.insert(0, [count, step])
    return column, times


def _halvings(column: Entries) -> Iterator[tuple[Entries, int, int]]:
    """Yield the ways to see a column as its beginning, a prime number of times, each time a step further."""
    named = column >= 0
    every = bool(named.all())
    for count in _primes(len(column)):
        rows, live = column.reshape(count, -1), named.reshape(count, -1)
        known = rows if every else rows[:, live[0]]
        steps = known[1:] - known[:-1]
        step = int(steps.flat[0]) if steps.size else 0
        if (every or (live == live[0]).all()) and (steps == step).all():
            yield rows[0], count, step


def _primes(number: int) -> Iterator[int]:
    """Yield the prime divisors, the least first."""
    divisor = 2
    while number > 1:
        if number % divisor == 0:
            yield divisor
        while number % divisor == 0:
            number //= divisor
        divisor += 1


def _find_repeated(given: dict[str, Any], size: int) -> Entries:
    times, count = _times(given, size)
    column = entries(given["first"], size // count)
    named = column.min(initial=0) >= 0 and all(step >= 0 for _, step in times)  # every entry, however often
    for often, step in times:
        rows = column + step * np.arange(often)[:, None]
        column = (rows if named else np.where(column < 0, -1, rows)).reshape(-1)
    return _small(column)


def _times(given: dict[str, Any], size: int) -> tuple[list[list[int]], int]:
    """How a column is repeated, and how often in all; ValueError for a form that is none."""
    times = given.get("times")
    if given.keys() != {"first", "times"} or not isinstance(times, list):
        raise ValueError("is not what repeats and how often")
    if not all(isinstance(pair, list) and list(map(type, pair)) == [int, int] and pair[0] > 0 for pair in times) or any(
        abs(step) > LARGEST for _, step in times
    ):
        raise ValueError("is repeated otherwise than so many times with a step")
    count = prod(pair[0] for pair in times)
    if size % count or isinstance(given["first"], dict):
        raise ValueError(f"is repeated {count} times and has not {size} entries in all")
    return times, count


def _small(column: Any) -> Entries:
    if not ((column >= -1) & (column < LARGEST)).all():
        raise ValueError("holds something other than small numbers")
    numbers: Entries = column.astype(np.int64)
    return numbers


def _compress(column: Entries) -> str:
    return base64.b64encode(zlib.compress(column.astype("<i4").tobytes(), 9)).decode()


def _expand(text: str, room: int) -> Entries:
    """Return the numbers of a compressed column; ValueError where it is damaged or of another length."""
    reader = zlib.decompressobj()
    try:
        content = reader.decompress(base64.b64decode(text, validate=True), room + 1)
    except (ValueError, zlib.error) as error:
        raise ValueError(f"cannot be expanded: {error}") from error
    if len(content) != room:
        raise ValueError(f"cannot be expanded: other than {room // 4} entries")
    return np.frombuffer(content, "<i4").astype(np.int64)
