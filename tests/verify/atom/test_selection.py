# SPDX-License-Identifier: Apache-2.0
"""What a NAME means, and the nearest names when it means nothing."""

import pytest

from layouts.atoms import registry
from verify.atom import selection
from verify.core.errors import SpecError


@pytest.mark.parametrize(
    ("wanted", "meant"),
    [
        ("cute::SM80_16x8x8_F32F16F16F32_TN", "SM80_16x8x8_F32F16F16F32_TN"),
        ("::cute::SM61_DP4A", "SM61_DP4A"),
        ("cutlass::arch::SM61_DP4A", "SM61_DP4A"),
        (
            "cute::UniversalFMA<cutlass::half_t,cutlass::half_t,cutlass::half_t,cutlass::half_t>",
            "UniversalFMA<half_t,half_t,half_t,half_t>",
        ),
        ("cute::SM90::GMMA::SPARSE::GMMA_64x8x64_S32U8U8_RS_TN", "SM90::GMMA::SPARSE::GMMA_64x8x64_S32U8U8_RS_TN"),
    ],
)
def test_a_name_as_cutlass_qualifies_it(wanted: str, meant: str) -> None:
    assert selection.choose_names([wanted], None, registry()) == [meant]


def test_a_name_of_a_users_file_is_taken_as_written() -> None:
    atom = registry()["SM61_DP4A"]
    assert selection.choose_names(["cute::MINE"], None, {"cute::MINE": atom, "MINE": atom}) == ["cute::MINE"]


def test_the_nearest_of_a_qualified_name_is_suggested() -> None:
    with pytest.raises(SpecError, match="nearest: SM80_16x8x8_F32F16F16F32_TN"):
        selection.choose_names(["cute::SM80_16x8x8_F32F16F16F33_TN"], None, registry())
