# SPDX-License-Identifier: Apache-2.0
"""The layout algebra on small layouts, held against the defining equation of each operation."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise

import layouts
from benchmarks.attack import oracle
from benchmarks.attack.attempt import Attempt, Truth
from layouts import Layout, LayoutError


def random_layout(rng: random.Random) -> str:
    """Return a layout of rank 1 to 3, of small extents and strides."""
    rank = rng.randint(1, 3)
    shape, stride = ([rng.choice((1, 2, 2, 3, 4, 5, 6)) for _ in range(rank)] for _ in range(2))
    step = [rng.choice((0, 1, 1, 2, 3, 4, 6, 8, 12, value)) for value in stride]
    if rng.random() < 0.5:  # compact in some order of its modes: what most operations want
        order, size = rng.sample(range(rank), rank), 1
        for mode in order:
            step[mode], size = size, size * shape[mode]
    return f"({','.join(map(str, shape))}):({','.join(map(str, step))})" if rank > 1 else f"{shape[0]}:{step[0]}"


def _kept_by_coalesce(first: str, _: str, result: str, __: int) -> bool:
    return oracle.images(result) == oracle.images(first)


def _kept_by_composition(first: str, second: str, result: str, _: int) -> bool:
    size = len(oracle.images(first))
    inner = oracle.images(second)
    if max(inner) >= size:
        return True  # beyond the layout the last mode goes on: another definition than this equation
    whole = oracle.images(first)
    return oracle.images(result) == [whole[place] for place in inner]


def _kept_by_right_inverse(first: str, _: str, result: str, __: int) -> bool:
    whole, places = oracle.images(first), oracle.images(result)
    return all(place < len(whole) and whole[place] == number for number, place in enumerate(places))


def _kept_by_left_inverse(first: str, _: str, result: str, __: int) -> bool:
    _bits, shape, stride = oracle.parts(result)
    flat, steps = oracle.leaves(shape), oracle.leaves(stride)
    return all(oracle.image(flat, steps, value) == number for number, value in enumerate(oracle.images(first)))


def _kept_by_complement(first: str, _: str, result: str, cotarget: int) -> bool:
    inside, rest = oracle.images(first), oracle.images(result)
    both = {a + b for a in inside for b in rest}
    ordered = rest[0] == 0 and all(a < b for a, b in pairwise(rest))
    distinct = len(both) == len(set(inside)) * len(rest)
    return ordered and distinct and both >= set(range(cotarget))


def _kept_by_divide(first: str, second: str, result: str, _: int) -> bool:
    whole, inner = oracle.images(first), oracle.images(second)
    if max(inner) >= len(whole):
        return True
    divided = oracle.images(result)
    tile = [whole[place] for place in inner]
    return divided[: len(tile)] == tile and (len(divided) != len(whole) or sorted(divided) == sorted(whole))


def _kept_by_product(first: str, second: str, result: str, _: int) -> bool:
    tile, tiled = oracle.images(first), oracle.images(result)
    size = len(tile)
    moved = [
        [value - tile[place % size] for place, value in enumerate(tiled[at : at + size])]
        for at in range(0, len(tiled), size)
    ]
    distinct = (
        len(set(tiled)) == len(tiled)
        or len(set(tile)) < size
        or len(set(oracle.images(second))) < len(oracle.images(second))
    )
    return tiled[:size] == tile and all(len(set(shift)) == 1 for shift in moved) and distinct


Kept = Callable[[str, str, str, int], bool]
OPERATIONS: dict[str, tuple[Callable[[Layout, Layout, int], object], Kept]] = {
    "coalesce": (lambda a, b, size: layouts.coalesce(a), _kept_by_coalesce),
    "composition": (lambda a, b, size: layouts.composition(a, b), _kept_by_composition),
    "complement": (lambda a, b, size: layouts.complement(a, size), _kept_by_complement),
    "right_inverse": (lambda a, b, size: layouts.right_inverse(a), _kept_by_right_inverse),
    "left_inverse": (lambda a, b, size: layouts.left_inverse(a), _kept_by_left_inverse),
    "logical_divide": (lambda a, b, size: layouts.logical_divide(a, b), _kept_by_divide),
    "logical_product": (lambda a, b, size: layouts.logical_product(a, b), _kept_by_product),
}  # fmt: skip


def attempt(number: int, rng: random.Random) -> Attempt:
    """Apply one operation, and hold its result against the equation that defines it."""
    name = rng.choice(sorted(OPERATIONS))
    first, second, cotarget = random_layout(rng), random_layout(rng), rng.randint(1, 48)
    given = f"{name} of {first}, {second}, {cotarget}"
    apply, kept = OPERATIONS[name]
    try:
        result = str(apply(Layout.parse(first), Layout.parse(second), cotarget))
    except LayoutError:
        return Attempt("algebra", number, given, Truth.UNDEFINED, "REJECTED")
    except Exception as error:  # whatever an input provokes is what the attack looks for
        return Attempt(
            "algebra", number, given, Truth.RIGHT, f"CRASHED: {type(error).__name__}: {error}"[:200], "crash"
        )
    right = kept(first, second, result, cotarget)
    truth, fault = (Truth.RIGHT, "") if right else (Truth.WRONG, "wrong result")
    return Attempt("algebra", number, f"{given} = {result}", truth, "VERIFIED", fault)
