# SPDX-License-Identifier: Apache-2.0
"""The definitions of the operations, checked on plain numbers by enumeration; no code of `layouts` is used.

Every counterexample of a law ends here: those of a path, of a small layout, of a campaign and of a published claim.
A layout is a pair (shape, stride) of nested tuples, as an implementation returned it. Each function named after an
operation returns one line that says what is wrong with a result, or the empty string.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from itertools import product as grid
from math import prod

Tree = object
Pair = tuple[Tree, Tree]
Flat = list[tuple[int, int]]
MOST = 2**18
"""Values that are listed."""


class TooLarge(Exception):
    """There are more values than are listed."""


def flat(pair: Pair) -> Flat:
    """Return the modes (extent, stride) of a nested layout from left to right.

    >>> flat((((2, 3), 4), ((1, 2), 6)))
    [(2, 1), (3, 2), (4, 6)]
    """
    return list(zip(_leaves(pair[0]), _leaves(pair[1]), strict=True))


def _leaves(tree: Tree) -> Iterator[int]:
    if isinstance(tree, tuple):
        for part in tree:
            yield from _leaves(part)
    else:
        yield tree  # type: ignore[misc]  # the leaves are integers, plain or symbolic


def size(modes: Flat) -> int:
    """Return the number of coordinates: the product of the extents."""
    return prod(s for s, _ in modes)


def list_indices(number: int) -> range:
    """Return the indices below a number. Raises TooLarge when there are more than MOST."""
    if number > MOST:
        raise TooLarge(f"{number} values")
    return range(number)


def at(modes: Flat, index: int) -> int:
    """Return the value of the layout at an index, the last mode unbounded.

    >>> at([(6, 1), (2, 7)], 7)
    8
    """
    total = 0
    for place, (s, d) in enumerate(modes):
        last = place == len(modes) - 1
        total += (index if last else index % s) * d
        index //= s
    return total


def coalesce(a: Flat, result: Flat) -> str:
    """Return what is wrong with the result R of coalesce: it has the size of L, and R(i) = L(i) below it."""
    if size(a) != size(result):
        return f"size {size(result)} for {size(a)}"
    return next(
        (f"R({i}) = {at(result, i)}, L({i}) = {at(a, i)}" for i in list_indices(size(a)) if at(a, i) != at(result, i)),
        "",
    )


def composition(a: Flat, b: Flat, result: Flat) -> str:
    """Return what is wrong with R = A o B: R has the size of B, and R(k) = A(B(k)) at every index of B."""
    if size(b) != size(result):
        return f"R has {size(result)} coordinates, B has {size(b)}: not compatible(B, R)"
    for k in list_indices(size(b)):
        x = at(b, k)
        if x >= 0 and at(result, k) != at(a, x):
            return f"R({k}) = {at(result, k)}, A(B({k})) = A({x}) = {at(a, x)}"
    return ""


def complement(a: Flat, target: int, result: Flat) -> str:
    """Return what is wrong with the complement R of A: R grows, A(i) + R(j) are all different and cover [0, target).

    Modes of A with stride 0 only repeat values and are left out.
    """
    a = [mode for mode in a if mode[1] != 0]
    if size(a) * size(result) > MOST:
        return _complement_by_modes(a, target, result)
    rest = [at(result, j) for j in range(size(result))]
    if rest != sorted(set(rest)):
        return f"R = {rest} does not grow"
    if not rest:
        return "R has no coordinates: an extent is 0"
    sums = [at(a, i) + y for i in range(size(a)) for y in rest]
    taken = set(sums)
    if len(taken) != len(sums):
        return "A and R overlap: some A(i) + R(j) is taken twice"
    missing = next(x for x in count() if x not in taken)
    return f"{missing} in [0, {target}) is no A(i) + R(j); cosize((A, R)) = {max(sums) + 1}" if missing < target else ""


def _complement_by_modes(a: Flat, target: int, result: Flat) -> str:
    """Return what is wrong with a complement of too many values to list: a number that breaks the definition, from the
    modes.

    Raises TooLarge when the modes interleave: they do not decide the question then.
    """
    index, before = 1, 0
    for s, d in result:
        if s > 1 and d <= before:
            return f"R({index}) = {at(result, index)} is not above R({index - 1}) = {at(result, index - 1)}"
        index, before = index * s, before + (s - 1) * d
    chain = sorted((d, s) for s, d in [*a, *result] if s > 1)
    reach, end = 1, 1
    for place, (d, s) in enumerate(chain):
        if any(d % e == 0 and d // e < t for e, t in chain[:place]):
            return f"A and R overlap: {d} is taken twice"
        if d < end:
            raise TooLarge(f"{size(a) * size(result)} values")
        reach = reach * s if d == reach else reach
        end = d * s
    return f"{reach} in [0, {target}) is no A(i) + R(j)" if reach < target else ""


def right_inverse(a: Flat, result: Flat) -> str:
    """Return what is wrong with a right inverse R of L: L(R(k)) = k for every index of R."""
    for k in list_indices(size(result)):
        if at(a, at(result, k)) != k:
            return f"L(R({k})) = L({at(result, k)}) = {at(a, at(result, k))}"
    return ""


def left_inverse(a: Flat, result: Flat) -> str:
    """Return what is wrong with a left inverse R of L: R(L(k)) = k.

    Only an injective L has one, others must be rejected.
    """
    values = [at(a, k) for k in list_indices(size(a))]
    if len(set(values)) < len(values):
        return "L takes a value twice: it has no left inverse, and was not refused"
    return next((f"R(L({k})) = R({v}) = {at(result, v)}" for k, v in enumerate(values) if at(result, v) != k), "")


def product(a: Flat, copies: int, result: Flat) -> str:
    """Return what is wrong with copies of an injective A: R has ``copies`` times its size, and takes no value twice."""
    if len({at(a, i) for i in list_indices(size(a))}) != size(a):
        return ""
    if size(result) != size(a) * copies:
        return f"{size(result)} coordinates for {size(a) * copies}"
    seen: set[int] = set()
    for i in list_indices(size(result)):
        if (value := at(result, i)) in seen:
            return f"two coordinates have the value {value}"
        seen.add(value)
    return ""


def representable(values: Sequence[int]) -> bool:
    """Whether a sequence is the values of some layout at 0, 1, 2, ...

    >>> representable([0, 1, 5, 6]), representable([0, 1, 5, 7])
    (True, False)
    """
    if len(values) <= 1:
        return not any(values)
    step = next((n for n, v in enumerate(values) if v != n * values[1]), len(values))
    if len(values) % step:
        return False
    blocks = values[::step]
    whole = all(values[j * step + i] == blocks[j] + i * values[1] for j, i in grid(range(len(blocks)), range(step)))
    return whole and (step == len(values) or representable(blocks))
