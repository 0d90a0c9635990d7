# SPDX-License-Identifier: Apache-2.0
"""Layouts in C++, with the numbers that CuTe names."""

from __future__ import annotations

import pytest

from verify.scan.cplusplus import write_type


@pytest.mark.parametrize("number", [0, 10, 12, 16, 24, 256, 384, 512, 768, 1024, 524288])
def test_a_number_that_cute_names_is_written_by_its_name(number: int) -> None:
    assert write_type(f"4:{number}") == f"Layout<_4, _{number}>"


@pytest.mark.parametrize("number", [11, 13, 20, 257, 264, 385, 513, 767, 1048576])
def test_any_other_number_is_an_int(number: int) -> None:
    assert write_type(f"4:{number}") == f"Layout<_4, Int<{number}>>"
