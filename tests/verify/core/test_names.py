# SPDX-License-Identifier: Apache-2.0
"""What a pattern selects: an exact name, a prefix that ends with a word, a glob."""

import pytest

from verify.core.errors import SpecError
from verify.core.names import select

NAMES = [
    "SM80_16x8x8_F32F16F16F32_TN",
    "SM80_16x8x8_F32TF32TF32F32_TN",
    "SM80_16x8x16_F32F16F16F32_TN",
    "SM80_16x8x16_F32F16F16F32_TN_SATURATE",
    "UniversalFMA<float,float,float,float>",
    "UniversalFMA<int,int,int,int>",
]


@pytest.mark.parametrize(
    ("pattern", "count"),
    [
        ("SM80_16x8x8", 2),
        ("SM80_16x8x16", 2),
        ("SM80_", 4),
        ("SM80_16x8x16_F32F16F16F32_TN", 1),
        ("UniversalFMA", 2),
        ("UniversalFMA<", 2),
        ("*TF32*", 1),
        ("SM80_16x8x[8]_*", 2),
        ("*", 6),
    ],
)
def test_a_pattern_selects_the_names_that_it_matches(pattern: str, count: int) -> None:
    assert len(select([pattern], NAMES, "atom")) == count


def test_selection_keeps_the_order_of_the_names_and_no_name_twice() -> None:
    assert select(["UniversalFMA", "SM80_16x8x8", "*"], NAMES, "atom") == NAMES


@pytest.mark.parametrize("pattern", ["SM80_16x8x1", "SM80_16x8x", "sm81_16x8x8", "", "nothing*"])
def test_a_pattern_that_selects_nothing_is_rejected(pattern: str) -> None:
    with pytest.raises(SpecError, match="no atom is named"):
        select([pattern], NAMES, "atom")


def test_the_nearest_names_are_suggested() -> None:
    with pytest.raises(SpecError, match="nearest: SM80_16x8x16_F32F16F16F32_TN"):
        select(["SM80_16x8x16_F32F16F16F16_TN"], NAMES, "atom")
