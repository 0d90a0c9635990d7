# SPDX-License-Identifier: Apache-2.0
"""Integers in and out of register words, against the definitions of the formats."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_checks.kernels.packing import NUMBERS, POISON, encode, encode_one, pack, second_difference, unpack
from isa_tables.signature import mnemonics, signature
from tests.gpu_checks.simulated import bits_of, decode, elements, registers

SIGNATURES = [signature(name) for name in mnemonics()]
FRAGMENTS = {fragment for s in SIGNATURES for fragment in s.operands.values()}


def packing(f):
    """What distinguishes two packings; the tile's extent does not."""
    return f"{f.type}-{f.bits}bit-{f.values}in{f.regs}-from{f.shift}"


PACKINGS = {packing(f): f for f in sorted(FRAGMENTS, key=repr)}
RESULTS = {packing(s.operands["D"]): s.operands["D"] for s in SIGNATURES}


def numbers_of(kind: str, accumulator: bool) -> np.ndarray:
    number = NUMBERS[kind]
    low, high = number.accumulates if accumulator else (number.low, number.high)
    every = np.arange(low, high + 1)
    return every if len(every) < 5000 else np.unique(np.concatenate([every[:: len(every) // 997], [low, 0, 1, high]]))


@pytest.mark.parametrize("kind", sorted({f.type for f in FRAGMENTS}))
def test_every_drawn_number_is_exact_in_its_type(kind):
    """Negative numbers are drawn as large as positive ones; in two's complement one larger, none without a sign."""
    assert NUMBERS[kind].bits == bits_of(kind)
    for accumulator in (False, True):
        numbers = numbers_of(kind, accumulator)
        least, most = int(numbers.min()), int(numbers.max())
        smallest = [] if NUMBERS[kind].exponent else [0] if kind[0] in "ub" else [-most - 1]
        assert least in (-most, *smallest)
        assert [decode(kind, int(bits)) for bits in encode(kind, numbers)] == numbers.tolist()


def test_every_type_of_the_tables_has_its_numbers():
    assert {f.type for f in FRAGMENTS} <= set(NUMBERS)
    for s in SIGNATURES:
        low, high = NUMBERS[s.operands["C"].type].accumulates
        assert low < high, s.mnemonic


def test_every_random_sum_is_exact_in_the_accumulator():
    exact = {"f16": 2**11, "f32": 2**24, "f64": 2**53, "s32": 2**31 - 1, "u32": 2**32 - 1}
    for s in SIGNATURES:
        kinds = [NUMBERS[s.operands[name].type] for name in "AB"]
        largest = [max(-kind.low, kind.high) for kind in kinds]
        added = max(map(abs, NUMBERS[s.operands["C"].type].accumulates))
        bound = s.shape[2] * largest[0] * largest[1] + added
        assert bound <= min(exact[s.operands[name].type] for name in "CD"), s.mnemonic


@pytest.mark.parametrize("fragment", PACKINGS.values(), ids=PACKINGS.keys())
def test_packed_elements_lie_where_the_fragment_says(fragment):
    random = np.random.default_rng(3)
    accumulator = fragment.type in ("f32", "s32", "u32")
    numbers = random.choice(numbers_of(fragment.type, accumulator), (3, 32, fragment.values))
    assert (elements(fragment, pack(fragment, numbers)) == numbers).all()


@pytest.mark.parametrize("fragment", RESULTS.values(), ids=RESULTS.keys())
def test_unpacking_reads_the_accumulator_and_poison_is_no_result(fragment):
    numbers = np.random.default_rng(4).choice(numbers_of(fragment.type, True), (3, 32, fragment.values))
    words = registers(fragment, numbers)
    assert (unpack(fragment, words) == numbers).all()
    poisoned = unpack(fragment, np.full_like(words, POISON))
    low, high = NUMBERS[fragment.type].accumulates
    assert not (np.abs(poisoned) <= 2 * max(-low, high)).any()


def test_the_number_one_is_at_the_bits_of_its_element():
    by_type = {f.type: encode_one(f) for f in FRAGMENTS if not f.shift}
    assert by_type["f16"] == 0x3C00 and by_type["e4m3"] == 0x38 and by_type["tf32"] == 0x3F800000
    shifted = {(f.type, f.shift): encode_one(f) for f in FRAGMENTS if f.shift}
    assert shifted["e2m1", 2] == 0b0_01_0 << 2
    assert shifted["s8", 16] == 1 << 16


def test_the_second_difference_is_minus_two_for_xor_alone():
    # popc(a ^ b) = popc(a) + popc(b) - 2 popc(a & b)
    assert {second_difference(s) for s in SIGNATURES if "xor" in s.mnemonic} == {-2}
    assert {second_difference(s) for s in SIGNATURES if "xor" not in s.mnemonic} == {1}
