# SPDX-License-Identifier: Apache-2.0
"""Proofs about accesses of shared memory, compared with plain loops over all bases, lanes, steps and words."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from layouts import Swizzle, parse_layout, size
from layouts.bank_conflicts import Access as Lanes
from layouts.bank_conflicts import best_swizzle
from proofs.layout.movement import SharedAccess, prove_conflict_free, prove_disjoint, prove_room, prove_whole

pytestmark = pytest.mark.slow

NONE = Swizzle(0, 0, 0)
# (lane, value) -> index, index -> element, bytes of an element, bits, lanes served together, swizzle of bytes
CASES = {
    "a row": ("(32,2):(1,32)", "64:1", 4, 32, 32, NONE),
    "a column": ("(32,2):(1,32)", "(32,2):(32,1)", 4, 32, 32, NONE),
    "a padded column": ("(32,2):(1,32)", "(32,2):(33,1)", 4, 32, 32, NONE),
    "every second word": ("(32,2):(2,1)", "64:1", 4, 32, 32, NONE),
    "bytes of a word": ("(32,2):(1,32)", "64:1", 1, 8, 32, NONE),
    "one word for all": ("(32,1):(0,0)", "64:1", 4, 32, 32, NONE),
    "no layout when composed": ("((4,2),2):((9,1),3)", "(6,10):(1,100)", 4, 32, 32, NONE),
    "no layout, and two of a bank": ("((4,2),2):((9,1),3)", "(6,10):(1,128)", 4, 32, 32, NONE),
    "rows of ten": ("(10,(3,2)):(3,(1,0))", "(3,10):(10,1)", 2, 16, 32, NONE),
    "64 bits, a row": ("(32,(2,2)):(2,(1,64))", "128:1", 4, 64, 16, NONE),
    "64 bits, two rows": ("((8,4),4):((4,32),1)", "(4,32):(1,4)", 4, 64, 16, NONE),
    "128 bits, a column": ("(16,(8,2)):(1,(16,128))", "(16,64):(64,1)", 2, 128, 8, NONE),
    "128 bits, a swizzled column": ("(16,(8,2)):(1,(16,128))", "(16,64):(64,1)", 2, 128, 8, Swizzle(3, 4, 3)),
    "128 bits, one bit too few": ("(16,(8,2)):(1,(16,128))", "(16,64):(64,1)", 2, 128, 8, Swizzle(2, 4, 3)),
    "128 bits, read too high": ("(16,(8,2)):(1,(16,128))", "(16,64):(64,1)", 2, 128, 8, Swizzle(3, 4, 4)),
    "128 bits, torn": ("(16,(8,2)):(1,(16,128))", "(16,64):(64,1)", 2, 128, 8, Swizzle(3, 2, 5)),
    "bytes, shifted left": ("(32,1):(1,0)", "32:129", 1, 8, 32, Swizzle(2, 0, -5)),
}


def swizzle_bits(s: Swizzle, address: int) -> int:
    """The definition, bit by bit."""
    for bit in range(s.bits):
        read, changed = s.base + max(0, s.shift) + bit, s.base + max(0, -s.shift) + bit
        address ^= (address >> read & 1) << changed
    return address


def build_access(case: str) -> tuple[SharedAccess, list[list[list[int]]]]:
    """An access and its byte addresses, [base][step][lane]."""
    threads_text, tile_text, element, bits, phase, swizzle = CASES[case]
    threads, tile, unit = parse_layout(threads_text), parse_layout(tile_text), bits // 8
    if swizzle.bits:
        unit = 1 << swizzle.bits + swizzle.base + abs(swizzle.shift)
    bases, lanes, steps = 9, range(size(threads[0])), range(0, size(threads[1]), bits // 8 // element)
    addresses = [
        [
            [swizzle_bits(swizzle, unit * base + element * tile(threads(lane, first))) for lane in lanes]
            for first in steps
        ]
        for base in range(bases)
    ]
    return SharedAccess(threads, tile, element, bits, phase, swizzle, bases, unit), addresses


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("case", CASES)
def test_conflicts_are_proved_absent_when_no_two_lanes_conflict(case: str, shared: bool) -> None:
    """When words are shared, lanes of one bank may access one word; otherwise no two lanes may access one bank."""
    access, bytes_asked = build_access(case)
    words = range(max(1, access.bits // 32))
    meeting = [
        (base, step, lane, partner, a, b)
        for base, steps in enumerate(bytes_asked)
        for step, lanes in enumerate(steps)
        for lane, partner, a, b in product(range(len(lanes)), range(len(lanes)), words, words)
        if lane // access.phase == partner // access.phase
        and (lanes[lane] // 4 + a != lanes[partner] // 4 + b if shared else lane != partner)
        and (lanes[lane] // 4 + a - lanes[partner] // 4 - b) % 32 == 0
    ]
    outcome = prove_conflict_free(replace(access, shared=shared))
    assert outcome.status == ("sat" if meeting else "unsat")
    if meeting:
        assert outcome.model is not None
        names = ("base", "step", "lane", "lane2", "part", "part2")
        assert tuple(outcome.model[name] for name in names) == meeting[0]


def test_both_answers_about_conflicts_occur() -> None:
    proved = (prove_conflict_free(build_access(case)[0]).status for case in CASES)
    first = next(proved)
    assert {first, next(status for status in proved if status != first)} == {"sat", "unsat"}


@pytest.mark.parametrize("swizzle", [NONE, Swizzle(3, 4, 3), Swizzle(3, 3, 3), Swizzle(1, 0, 4), Swizzle(2, 1, -6)])
@pytest.mark.parametrize(
    ("threads", "tile"),
    [
        ("(8,8):(8,1)", "64:1"),
        ("(8,8):(1,8)", "(8,8):(64,1)"),
        ("(8,8):(1,8)", "64:1"),
        ("(8,8):(1,8)", "(8,8):(12,1)"),
        ("(8,(4,2)):(4,(1,32))", "64:1"),
        ("(8,8):(1,5)", "(6,8):(1,16)"),
    ],
)
@pytest.mark.parametrize("bits", [16, 64, 128])
def test_accesses_are_whole_where_every_value_follows_the_first(
    threads: str, tile: str, swizzle: Swizzle, bits: int
) -> None:
    at, of, vector, bases = parse_layout(threads), parse_layout(tile), bits // 16, 5
    unit = max(bits // 8, 1 << swizzle.bits + swizzle.base + abs(swizzle.shift))
    torn = []
    for base, lane, value in product(range(bases), range(8), range(8)):
        first, here = (
            swizzle_bits(swizzle, unit * base + 2 * of(at(lane, v))) for v in (value - value % vector, value)
        )
        if here != first + value % vector * 2 or first % (bits // 8):
            torn.append((base, lane, value))
    outcome = prove_whole(SharedAccess(at, of, 2, bits, 8, swizzle, bases, unit))
    assert outcome.status == ("sat" if torn else "unsat")
    if torn:
        assert outcome.model is not None
        assert tuple(outcome.model[name] for name in ("base", "lane", "value")) == torn[0]


@pytest.mark.parametrize("swizzle", [NONE, Swizzle(2, 1, 2)])
@pytest.mark.parametrize(
    ("threads", "tile"),
    [
        ("(4,6):(1,4)", "(4,6):(6,1)"),
        ("(4,6):(1,4)", "(4,6):(5,1)"),
        ("(4,6):(0,4)", "(4,6):(5,1)"),  # each element by four lanes, which write the same
        ("(4,6):(1,4)", "(4,6):(0,1)"),
        ("((4,2),2):((9,1),3)", "(6,10):(1,100)"),
        ("((4,2),2):((9,1),3)", "(6,10):(1,1)"),
    ],
)
def test_elements_are_disjoint_where_no_two_share_a_byte(threads: str, tile: str, swizzle: Swizzle) -> None:
    at, of = parse_layout(threads), parse_layout(tile)
    box = list(product(range(size(at[0])), range(size(at[1]))))
    meeting = [
        (*left, *right)
        for left, right in product(box, box)
        if swizzle_bits(swizzle, 2 * of(at(*left))) == swizzle_bits(swizzle, 2 * of(at(*right)))
        and at(*left) != at(*right)
    ]
    outcome = prove_disjoint(SharedAccess(at, of, 2, 16, 32, swizzle, 1, 2))
    assert outcome.status == ("sat" if meeting else "unsat")
    if meeting:
        assert outcome.model is not None
        assert tuple(outcome.model[name] for name in ("lane", "value", "lane2", "value2")) == meeting[0]


@pytest.mark.parametrize("swizzle", [NONE, Swizzle(2, 2, 3), Swizzle(1, 2, -4)])
@pytest.mark.parametrize("tile", ["(4,6):(6,1)", "(4,6):(5,1)", "((2,2),6):((0,16),3)", "8:7", "16:8"])
def test_a_tile_has_room_where_its_last_byte_has(tile: str, swizzle: Swizzle) -> None:
    of, base = parse_layout(tile), 512
    ends = [base + swizzle_bits(swizzle, 4 * of(index)) + 4 for index in range(size(of))]
    access = SharedAccess(parse_layout("(1,1):(0,0)"), of, 4, 32, 32, swizzle, 1, 4)
    for room in (max(ends) - 1, max(ends), max(ends) + 1):
        outcome = prove_room(access, base, room)
        assert outcome.status == ("sat" if max(ends) > room else "unsat")
        if outcome.model is not None:
            assert outcome.model["index"] == next(index for index, end in enumerate(ends) if end > room)


def test_bytes_of_different_words_may_be_parted_by_a_negative_shift() -> None:
    """Lane l accesses byte 128 l + l mod 4: only the two lowest bits and those above the banks differ."""
    lanes = [128 * lane + lane % 4 for lane in range(4)]
    assert len({a // 4 % 32 for a in lanes}) == 1
    assert len({swizzle_bits(Swizzle(2, 0, -2), a) // 4 % 32 for a in lanes}) == 4
    best = best_swizzle([Lanes(tuple(lanes), 8)])
    assert best.free and len({swizzle_bits(best.swizzle, a) // 4 % 32 for a in lanes}) == 4
