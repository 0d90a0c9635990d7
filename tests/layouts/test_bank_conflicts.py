# SPDX-License-Identifier: Apache-2.0
"""The model of bank conflicts, against its definition and against measurements of an H200."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_checks.banks.command import recordings_of_banks
from layouts import LayoutError, Swizzle
from layouts.bank_conflicts import Access, AccessKind, best_swizzle, matrix_wavefronts, swizzles, wavefronts
from tests.cases import each

RECORDED = recordings_of_banks()
LANES_TOGETHER = {8: 32, 16: 32, 32: 32, 64: 16, 128: 8}


def count_waves(addresses: list[int | None], bits: int, width: int, shared: bool = True) -> list[int]:
    """Wavefronts by the definition: in each phase the largest number of different words in one bank.

    Where words are not shared, a word counts once for each lane that accesses it.
    """
    phases = []
    for start in range(0, len(addresses), width):
        here = [a for a in addresses[start : start + width] if a is not None]
        words = [word for a in here for word in sorted({byte // 4 for byte in range(a, a + bits // 8)})]
        if words:
            counted = sorted(set(words)) if shared else words
            phases.append(max(len([w for w in counted if w % 32 == bank]) for bank in range(32)))
    return phases


@st.composite
def accesses(draw: st.DrawFn) -> tuple[list[int | None], int]:
    bits = draw(st.sampled_from(sorted(LANES_TOGETHER)))
    slot = st.one_of(st.none(), st.integers(0, draw(st.sampled_from((3, 40, 600)))))
    return [None if s is None else s * bits // 8 for s in draw(st.lists(slot, min_size=1, max_size=32))], bits


@given(accesses(), st.sampled_from(AccessKind))
def test_wavefronts_are_the_most_words_of_a_bank_in_each_phase(
    drawn: tuple[list[int | None], int], operation: AccessKind
) -> None:
    addresses, bits = drawn
    shared = operation is not AccessKind.COPY
    twins = (all(addresses[i] == addresses[i ^ bit] for i in range(32)) for bit in (1, 2) if len(addresses) == 32)
    merged = operation is AccessKind.LOAD and bits > 32 and None not in addresses and any(twins)
    waves = wavefronts(addresses, bits, operation)
    assert list(waves.phases) == count_waves(addresses, bits, LANES_TOGETHER[bits] * (2 if merged else 1), shared)
    assert (waves.excess == 0) == (waves.conflict is None)
    if waves.conflict is not None:
        (left, right), bank, (here, there) = waves.conflict.lanes, waves.conflict.bank, waves.conflict.words
        assert left < right and (here != there or not shared) and here % 32 == there % 32 == bank
        for lane, word in ((left, here), (right, there)):
            start = addresses[lane]
            assert start is not None and start // 4 <= word <= (start + bits // 8 - 1) // 4


@each("observation", RECORDED, ids=lambda o: o.pattern.name)
def test_the_model_agrees_with_an_h200(observation) -> None:
    pattern = observation.pattern
    if "matrix" in pattern.operation:
        count = int(pattern.operation.split(".")[1].removeprefix("x"))
        waves = matrix_wavefronts(pattern.addresses[: 8 * count])
    else:
        waves = wavefronts(pattern.addresses, pattern.bits, AccessKind(pattern.operation))
    if pattern.operation == "cp.async" and waves.total < 3:  # a copy takes the time of three in any case
        assert observation.wavefronts == 3
    else:
        assert waves.total == observation.wavefronts


def test_the_first_conflict_is_the_earliest_pair() -> None:
    addresses = [0, 4, 8, 128 + 4, 128, *range(512, 512 + 27 * 4, 4)]
    waves = wavefronts(addresses, 32)
    assert waves.conflict is not None
    meeting = [
        (a, b)
        for a, b in combinations(range(32), 2)
        if addresses[a] != addresses[b] and (addresses[a] - addresses[b]) % 128 == 0
    ]
    assert waves.conflict.lanes == min(meeting, key=lambda pair: (pair[1], pair[0]))


@pytest.mark.parametrize(
    ("addresses", "bits", "problem"),
    [
        ([0] * 33, 32, "33 addresses: a warp has 32 lanes"),
        ([0, 2], 32, "lane 1 accesses byte 2: 32 bits need a multiple of 4"),
        ([0, None, -8], 64, "lane 2 accesses byte -8"),
        ([0], 24, "8, 16, 32, 64 or 128 bits, not 24"),
    ],
)
def test_an_access_that_no_warp_makes_is_rejected(addresses: list[int | None], bits: int, problem: str) -> None:
    with pytest.raises(LayoutError, match=problem):
        wavefronts(addresses, bits)


def test_rows_that_are_no_whole_matrices_are_rejected() -> None:
    with pytest.raises(LayoutError, match="9 rows"):
        matrix_wavefronts([0] * 9)


def test_the_best_swizzle_of_a_tile_that_is_written_by_rows_and_read_by_columns() -> None:
    """64 x 64 elements of 16 bits: rows of 128 bytes are stored, eight rows of one 16-byte column are loaded."""
    stored = Access(tuple(16 * lane for lane in range(32)), 128, AccessKind.STORE)
    loaded = Access(tuple(128 * lane for lane in range(32)), 128)
    best = best_swizzle([stored, loaded])
    assert (best.swizzle, best.totals, best.free) == (Swizzle(3, 4, 3), (4, 4), True)
    assert loaded.through(Swizzle(0, 4, 3)).degree == 8
    assert loaded.through(Swizzle(2, 4, 3)).degree == 2  # one bit too few


def test_no_searched_swizzle_is_better() -> None:
    column = Access(tuple(64 * lane for lane in range(32)), 128)
    skewed = Access(tuple(64 * (lane % 8) + 2048 * (lane // 8) for lane in range(32)), 128)
    best = best_swizzle([column, skewed])
    assert best.excess == min(
        sum(sum(p - 1 for p in count_waves([s(a) for a in access.addresses], 128, 8)) for access in (column, skewed))
        for s in swizzles(128, 2048 * 4)
    )


def test_the_result_has_conflicts_where_no_swizzle_avoids_them() -> None:
    """Lanes at a distance of a power of two can be spread; a row, a column and a diagonal at once cannot."""
    wide = Access((0, 1 << 20, 2 << 20), 32)
    everything = [Access(tuple(128 * (lane ^ bit) for lane in range(32)), 32) for bit in (0, 5)]
    assert best_swizzle([wide]).free
    assert best_swizzle(everything).free
    crowd = Access(tuple(4 * lane for lane in range(32)), 32)
    both = best_swizzle([crowd, *everything, Access(tuple(4 * 33 * lane for lane in range(32)), 32)])
    assert not both.free and both.excess > 0


def test_nothing_to_search_for_is_rejected() -> None:
    with pytest.raises(LayoutError, match="no lane has an address"):
        best_swizzle([Access((None,), 32)])


@pytest.mark.long
@each("limit", [1, 16, 17, 100, 128, 129, 512, 1000])
@each("bits", [8, 16, 32, 64, 128])
def test_the_swizzles_searched_are_all_that_stay_below_the_limits_power_of_two(bits: int, limit: int) -> None:
    """Counted out over fields: they lie above the access, below the limit, and read or change the bits of a bank."""
    base, top = {8: 0, 16: 1, 32: 2, 64: 3, 128: 4}[bits], next(k for k in range(20) if 1 << k >= limit)
    wanted = {Swizzle(0, base, 0)}
    for count, low, shift in ((c, m, s) for c in range(1, 9) for m in range(12) for s in range(-12, 13)):
        if count <= abs(shift) and low >= base and low + count + abs(shift) <= top and count <= 7 - base:
            wanted |= {Swizzle(count, low, shift)} if shift > 0 or bits < 32 else set()
    searched = list(swizzles(bits, limit))
    assert len(searched) == len(set(searched))
    assert set(searched) == wanted
    assert all(s(a) < 1 << top for s in searched for a in range(1 << top))


def test_the_best_swizzle_keeps_addresses_below_their_power_of_two() -> None:
    """Eight rows of 48 bytes: what the search returns moves none of their bytes to 512 or beyond."""
    rows = Access(tuple(48 * (lane % 8) for lane in range(32)), 128)
    best = best_swizzle([rows]).swizzle
    assert best.period <= 512
    assert max(best(a) for a in range(512)) == 511
