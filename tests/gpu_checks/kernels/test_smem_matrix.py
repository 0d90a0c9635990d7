# SPDX-License-Identifier: Apache-2.0
"""The GPU check packs a matrix descriptor by code of its own: to the bits that the ISA's table of fields gives."""

import pytest

from gpu_checks.kernels.smem_matrix import SWIZZLES, pack_descriptor
from isa_tables.smem import read_layouts


@pytest.mark.parametrize("swizzle", SWIZZLES)
def test_a_descriptor_has_the_bits_of_the_isa(swizzle: str) -> None:
    for lbo, sbo in ((0, 0), (16, 1024), (1024, 512), ((1 << 18) - 16, (1 << 18) - 16)):
        assert pack_descriptor(swizzle, lbo, sbo) == read_layouts("wgmma").descriptor(
            start=0, lbo=lbo, sbo=sbo, swizzle=swizzle
        )
