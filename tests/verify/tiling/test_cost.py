# SPDX-License-Identifier: Apache-2.0
"""Registers and calls of a tiling are counted."""

from __future__ import annotations

import pytest

from layouts import Layout
from tests.verify.tiling.tilings import F16, FMA, verdict, verify_tiling
from verify.tiling.properties import (
    CALLS,
    REGISTERS,
)
from verify.tiling.spec import TilingSpec

# What a thread holds, computed by hand: 128*128 accumulators over 128 threads are 128 each; A has 128*32 elements,
# each in the two atoms along N, over 128 threads: 64 of 16 bits in 32 registers. 8 atoms of 16 make M = 128, two
# of them side by side: 4; likewise 128/8/2 = 8 along N and 32/16 = 2 along K.
COUNTED = {
    (F16, (2, 2, 1), (128, 128, 32)): (
        "A 32 (64 x 16 bits), B 32 (64 x 16 bits), C 128 (128 x 32 bits), 192 of 255",
        "64 MMA of each atom for 128x128x32: 4 x 8 x 2 along M, N, K",
    ),
    ("SM80_8x8x4_F64F64F64F64_TN", (2, 2, 1), (32, 32, 8)): (
        "A 8 (4 x 64 bits), B 8 (4 x 64 bits), C 16 (8 x 64 bits), 32 of 255",
        "8 MMA of each atom for 32x32x8: 2 x 2 x 2 along M, N, K",
    ),
    ("SM90_64x128x16_F32F16F16_SS", (2, 1, 1), (256, 128, 64)): (
        "C 128 (128 x 32 bits), 128 of 255; A in smem; B in smem",
        "8 MMA of each atom for 256x128x64: 2 x 1 x 4 along M, N, K",
    ),
    (FMA, (16, 16, 1), (128, 128, 8)): (
        "A 64 (64 x 32 bits), B 64 (64 x 32 bits), C 64 (64 x 32 bits), 192 of 255",
        "512 MMA of each atom for 128x128x8: 8 x 8 x 8 along M, N, K",
    ),
}


@pytest.mark.parametrize("case_", COUNTED, ids=lambda case: case[0])
def test_registers_and_instructions_are_counted(case_: tuple[str, tuple[int, ...], tuple[int, int, int]]) -> None:
    atom, atoms, tile = case_
    verified = verify_tiling(TilingSpec("counts", atom, Layout(atoms), tile=tile))
    registers, calls = COUNTED[case_]
    assert verdict(verified, REGISTERS).claim.text == f"registers of a thread: {registers}"
    assert verdict(verified, CALLS).claim.text == calls
