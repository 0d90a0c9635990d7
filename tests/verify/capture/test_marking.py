# SPDX-License-Identifier: Apache-2.0
"""The decorator by which the author of a test says what its kernel computes."""

import pytest

import lanecheck
from verify.capture.marking import list_claims
from verify.core.errors import SpecError


def test_a_test_keeps_its_function_and_has_its_claims_in_order() -> None:
    def function() -> int:
        return 3

    marked = lanecheck.claim("c[m] = a[m]")(lanecheck.claim("d[m] = a[m] * 2")(function))
    assert marked is function and marked() == 3
    assert list_claims(marked) == ["c[m] = a[m]", "d[m] = a[m] * 2"]
    assert list_claims(None) == []


def test_a_text_that_is_no_claim_is_an_error_where_it_stands() -> None:
    with pytest.raises(SpecError, match="column 8"):
        lanecheck.claim("c[m] = ")
