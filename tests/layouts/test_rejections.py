# SPDX-License-Identifier: Apache-2.0
"""The inputs that operations reject, on all small layouts: no existing result is missed.

Each definition is decided by brute force, on tables of values. Where an operation requires more than its definition,
the test has the requirement.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from itertools import product as grid
from typing import Any

import pytest

from layouts import (
    Layout,
    LayoutError,
    complement,
    composition,
    downcast,
    left_inverse,
    logical_divide,
    logical_product,
    recast,
    size,
    upcast,
)
from layouts.errors import RejectedError
from layouts.interleaved import are_spaced
from tests.messages import NOT_DIVIDING

Modes = list[tuple[int, int]]


def small(rank: int, extents: Sequence[int], strides: Sequence[int]) -> Iterator[Modes]:
    for shape in grid(extents, repeat=rank):
        for stride in grid(strides, repeat=rank):
            yield list(zip(shape, stride, strict=True))


def layout(modes: Modes) -> Layout:
    return Layout(*modes[0]) if len(modes) == 1 else Layout(*map(tuple, zip(*modes, strict=True)))


def values(modes: Modes) -> list[int]:
    out = [0]
    for s, d in modes:
        out = [x + i * d for i in range(s) for x in out]
    return out


def try_call(call: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return call(*arguments)
    except LayoutError:
        return None


def complete(given: list[int]) -> list[int]:
    """The values of the smallest layout that begins with these."""
    if len(given) < 2:
        return given
    step = next((n for n, v in enumerate(given) if v != n * given[1]), len(given))
    if step == len(given):
        return given
    return [block + i * given[1] for block in complete(given[::step]) for i in range(step)]


def rest_of(own: list[int], target: int) -> list[int] | None:
    """The values of a complement as far as the definition forces them; None where there is none.

    Values grow, so each next one is the least number that is not covered yet. The rest must continue as a layout.
    """
    if len(set(own)) < len(own) or min(own) < 0:
        return None
    rest, covered = [0], set(own)
    while (least := next(x for x in range(target + 1) if x not in covered or x == target)) < target:
        moved = {least + x for x in own}
        if moved & covered:
            return None
        covered |= moved
        rest.append(least)
    whole = complete(rest)
    sums = [x + y for x in own for y in whole]
    right = whole[: len(rest)] == rest and all(x < y for x, y in pairwise(whole)) and len(set(sums)) == len(sums)
    return rest if right else None


@pytest.mark.long
@pytest.mark.parametrize(
    ("rank", "extents", "strides"),
    [(1, range(1, 6), range(-1, 13)), (2, range(1, 5), range(-1, 13)), (3, (2, 3), (1, 2, 3, 6, 8, 9))],
)
def test_a_complement_is_rejected_exactly_where_there_is_none(
    rank: int, extents: Sequence[int], strides: Sequence[int]
) -> None:
    for modes in small(rank, extents, strides):
        own = values([(s, d) for s, d in modes if d])
        for target in (1, 2, 3, 5, 8):
            forced, complemented = rest_of(own, target), try_call(complement, layout(modes), target)
            assert (forced is None) == (complemented is None), (modes, target, forced, complemented)
            if complemented is not None and forced is not None:
                rest = [complemented(j) for j in range(size(complemented))]
                sums = {x + y for x in own for y in rest}
                assert rest[: len(forced)] == forced, (modes, target)
                assert len(sums) == len(own) * len(rest), (modes, target)
                assert set(range(target)) <= sums, (modes, target)


@pytest.mark.parametrize(
    ("text", "target", "result"),
    [
        ("(2,2):(12,8)", 2, "2:1"),
        ("(2,2):(12,8)", 4, "4:1"),
        ("(2,2):(7,10)", 3, "3:1"),
        ("(2,2,2):(2,24,16)", 7, "(2,2):(1,4)"),
        ("(2,3,3):(1,35,20)", 4, "2:2"),
        (f"(2,{2**40},2):({2**45},{2**46},{2**45 + 2**44})", 4, "4:1"),
    ],
)
def test_interleaved_modes_above_the_cotarget_have_a_complement(text: str, target: int, result: str) -> None:
    assert str(complement(Layout.parse(text), target)) == result


def test_what_takes_too_long_to_decide_is_rejected_with_a_reason() -> None:
    with pytest.raises(LayoutError, match="keep a distance of 1 takes more than 65536 steps"):
        complement(Layout((2**30, 2**30, 2**30), (2**30 - 1, 2**30 - 3, 2**30 - 5)), 1)


def test_spaced_is_the_least_difference() -> None:
    for modes in small(3, (2, 3), (1, 2, 3, 7, 10)):
        ordered = sorted(values(modes))
        least = min(y - x for x, y in pairwise(ordered))
        ascending = sorted((d, s) for s, d in modes)
        assert [are_spaced(ascending, n) for n in (1, 2, 3, 4)] == [least >= n for n in (1, 2, 3, 4)], modes


@pytest.mark.long
def test_a_division_follows_the_complement_of_its_tiler() -> None:
    assert str(logical_divide(Layout(2), Layout((2, 2), (12, 8)))) == "((2,2),2):((12,8),1)"
    for modes in small(2, (1, 2, 3), range(13)):
        for whole in (1, 2, 3, 4):
            divided = try_call(logical_divide, Layout(whole), layout(modes))
            assert (divided is None) == (rest_of(values([(s, d) for s, d in modes if d]), whole) is None), (
                modes,
                whole,
            )
            if divided is not None:
                assert set(range(whole)) <= {divided(i) for i in range(size(divided))}, (modes, whole)


def test_a_single_copy_is_the_block_whatever_the_block() -> None:
    for modes in small(2, (1, 2, 4), (-1, 0, 1, 3, 7)):
        for copies in (Layout(1), Layout(1, 5), Layout((2, 1), (0, 3))):
            product = logical_product(layout(modes), copies)
            assert product[0] == layout(modes)
            assert {product[1](j) for j in range(size(copies))} == {0}


def test_copies_of_a_block_are_rejected_exactly_where_it_takes_a_value_twice() -> None:
    """Negative strides are tried too: a block that goes below 0 has no gaps."""
    for modes in small(2, (1, 2, 3, 4), (-2, 0, 1, 2, 3, 5, 7)):
        own = values([(s, d) for s, d in modes if d])
        product = try_call(logical_product, layout(modes), Layout(2))
        assert (product is None) == (len(set(own)) < len(own) or any(d < 0 for s, d in modes if s > 1)), modes
        if product is not None:
            copies = [{x + product[1](j) for x in own} for j in range(2)]
            assert sum(map(len, copies)) == len(set().union(*copies)), modes
            assert product[1](0) == 0 < product[1](1), modes


def one_mode_is_split(modes: Modes) -> bool:
    """Whether there is one mode of stride 1, and none of stride -1: among extents above 1, or else at all."""
    strides = [d for s, d in modes if s > 1]
    return -1 not in strides and (strides.count(1) == 1 or (1 not in strides and (1, 1) in modes))


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_a_downcast_is_rejected_exactly_where_no_one_mode_is_split(rank: int) -> None:
    for modes in small(rank, (1, 2, 4), (-1, 0, 1, 2, 3)):
        cast = try_call(downcast, layout(modes), 2)
        assert (cast is not None) == one_mode_is_split(modes), modes
        if cast is not None:
            parts = sorted(2 * v + p for v in values(modes) for p in (0, 1))
            assert sorted(cast(i) for i in range(size(cast))) == parts, modes


@pytest.mark.parametrize(
    ("text", "bits", "result"),
    [
        ("(1,2):(1,1)", (16, 8), "(1,4):(2,1)"),
        ("(12,1):(1,1)", (16, 8), "(24,1):(1,2)"),
        ("(4,1):(1,-1)", (16, 8), "(8,1):(1,-2)"),
        ("(1,1):(1,1)", (16, 8), "(2,1):(1,2)"),
        ("(2,4):(1,2)", (8, 16), "(1,4):(1,1)"),
        ("(4,4):(1,4)", (6, 8), "(1,12):(3,1)"),
    ],
)
def test_extents_of_1_do_not_hinder_a_recast(text: str, bits: tuple[int, int], result: str) -> None:
    assert str(recast(Layout.parse(text), *bits)) == result


def words(modes: Modes, n: int) -> bool:
    """Whether a layout of words exists: by coordinates c_i // r_i, as upcast's definition has them."""
    ratios = [n // d if 0 < d < n and s > 1 and n % d == 0 else 1 for s, d in modes]
    seen: dict[tuple[int, ...], int] = {}
    for digits in grid(*(range(s) for s, _ in modes)):
        word = tuple(c // r for c, r in zip(digits, ratios, strict=True))
        value = sum(c * d for c, (_, d) in zip(digits, modes, strict=True)) // n
        if seen.setdefault(word, value) != value:
            return False
    unit = [seen.get(tuple(int(i == j) for j in range(len(modes))), 0) for i in range(len(modes))]
    return all(v == sum(c * u for c, u in zip(word, unit, strict=True)) for word, v in seen.items())


def test_an_upcast_is_rejected_only_where_there_is_none_or_a_stride_neither_divides_nor_is_divided() -> None:
    beyond = 0
    for modes in small(2, (1, 2, 3), range(-1, 5)):
        for n in (2, 3, 4):
            cast, exists = try_call(upcast, layout(modes), n), words(modes, n)
            divide = all(s == 1 or d % n == 0 or (d > 0 and n % d == 0) for s, d in modes)
            assert (cast is not None) == (exists and divide), (modes, n)
            beyond += exists and not divide
    assert beyond > 0  # 2:3 by 2, say: two values are a layout always, and its definition does not ask for them


def test_a_left_inverse_is_rejected_only_where_there_is_none_or_strides_do_not_divide_one_another() -> None:
    beyond = []
    for modes in small(2, (1, 2, 3), range(-1, 7)):
        inverse, own = try_call(left_inverse, layout(modes)), values(modes)
        once = len(set(own)) == len(own) and min(own) >= 0  # then no stride is 0 or below
        chain = sorted((d, s) for s, d in modes if s > 1)
        follow = once and all(s * d <= e and e % d == 0 for (d, s), (e, _) in pairwise(chain))
        assert (inverse is not None) == follow, modes
        if once and not follow:
            beyond.append(modes)
    assert [(2, 2), (2, 3)] in beyond  # (2,3):(1,1) is one: 0, 2, 3, 5 give 0, 1, 2, 3
    assert [Layout((2, 3), (1, 1))(x) for x in (0, 2, 3, 5)] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("ask", "text"),
    [
        (
            lambda: complement(Layout((2, 2), (2, 3)), 9),
            "complement of (2,2):(2,3): the mode 2:3 has overlapping modes: the smaller strides fill [0, 4)",
        ),
        (lambda: complement(Layout(2, -1), 9), "complement of 2:-1: the mode 2:-1 has a negative stride"),
        (
            lambda: complement(Layout((2, 2), (1, 3)), 9),
            f"complement of (2,2):(1,3) in [0, 9): 2 {NOT_DIVIDING} 3, so 2 cannot be covered",
        ),
        (
            lambda: composition(Layout((6, 2), (8, 2)), Layout(3, 4)),
            "composition of A = (6,2):(8,2) with B = 3:4: "
            "the mode 3:4 of B carries out of a mode of A after 2 steps, and 2 does not divide 3",
        ),
    ],
)
def test_a_rejection_is_a_text_also_where_it_is_represented_or_pickled(ask: Callable[[], Layout], text: str) -> None:
    with pytest.raises(RejectedError) as caught:
        ask()
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(caught.value) == str(again) == text and type(again) is type(caught.value)
    assert repr(caught.value) == f"{type(again).__name__}({text!r})"
