# SPDX-License-Identifier: Apache-2.0
"""mma.sp: a sparse A by its stored elements and metadata; wrong metadata, selectors and claims."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from tests.kernels.compile import COMPILED
from verify.core.errors import SpecError
from verify.kernel.check import LaunchOutcome, check
from verify.kernel.claims.claim import claim_of

TEXT = (COMPILED / "sparse_f16.ptx").read_text()
CLAIM = tomllib.loads((COMPILED / "sparse_f16.toml").read_text())


def run(old: str = "", new: str = "", **array: Any) -> LaunchOutcome:
    """The outcome, one part of the text exchanged, or keys of the sparse array."""
    assert old in TEXT
    arrays = {**CLAIM["arrays"], "A": {**CLAIM["arrays"]["A"], **array}}
    (outcome,) = check(TEXT.replace(old, new) if old else TEXT, claim_of(CLAIM | {"arrays": arrays}), seed=5)
    return outcome


@pytest.mark.parametrize("pattern", [True, [[0, 1]], [[0, 3], [1, 2], [0, 2]]])
def test_a_sparse_product_is_verified_for_its_pattern(pattern: object) -> None:
    outcome = run(sparse=pattern)
    assert (outcome.status, outcome.findings) == ("VERIFIED", ())
    assert "one pattern of stored columns of A" in outcome.domain


@pytest.mark.long
@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("mov.b32 \t%r47, {%rs1, %rs2};", "mov.b32 \t%r47, {%rs2, %rs1};", "A register"),
        ("{%r39,%r40,%r41,%r42}", "{%r40,%r39,%r41,%r42}", "mma.sp of the warp"),
        ("{%r43,%r44,%r45,%r46}", "{%r43,%r45,%r44,%r46}", "B register"),
        ("ld.global.u16 \t%rs1, [%rd33];", "ld.global.u16 \t%rs1, [%rd33+2];", "C[m="),
    ],
)
def test_a_wrong_twin_is_refuted(old: str, new: str, words: str) -> None:
    outcome = run(old, new)
    assert outcome.status == "REFUTED"
    assert any(words in finding.text for finding in outcome.findings), outcome.findings


def test_the_selector_says_whose_metadata_are_read() -> None:
    """Lanes 2 and 3 have the same words as 0 and 1 here; where they have none, they are not read."""
    assert run("%r47, 0;", "%r47, 1;").status == "VERIFIED"
    without = "mov.b32 \t%r47, {%rs1, %rs2}; setp.gt.u32 %p1, %r3, 1; @%p1 mov.b32 %r47, 0;"
    assert run("mov.b32 \t%r47, {%rs1, %rs2};", without).status == "VERIFIED"
    without = without.replace("setp.gt", "setp.le")
    assert run("mov.b32 \t%r47, {%rs1, %rs2};", without).status == "UNKNOWN"


def test_metadata_must_be_plain_and_name_columns() -> None:
    assert run("mov.b32 \t%r47, {%rs1, %rs2};", "mov.b32 \t%r47, 0;").status == "UNKNOWN"
    outcome = run("mov.b32 \t%r47, {%rs1, %rs2};", "mov.b32 \t%r47, %r39;")
    assert outcome.status == "UNKNOWN" and "data is used as metadata" in outcome.findings[0].text


def test_metadata_are_no_output() -> None:
    outcome = run("ld.global.u16 \t%rs1, [%rd33];", "ld.global.u16 \t%rs1, [%rd33]; st.global.u16 [%rd33], %rs1;")
    assert outcome.status == "REFUTED" and any(finding.kind == "write to an input" for finding in outcome.findings)


@pytest.mark.parametrize(
    ("array", "words"),
    [
        ({"sparse": [[0, 4]]}, "there are [0, 1]"),
        ({"sparse": "yes"}, "expected true or a list"),
        ({"sparse": [0, 1]}, "expected true or a list"),
        ({"sparse": [["a", 1]]}, "there are"),
        ({"type": "f64", "sparse": True}, "no metadata describes"),
        ({"dims": "m", "strides": [1], "sparse": True}, "with two indices"),
    ],
)
def test_a_pattern_that_is_none_is_named(array: dict[str, Any], words: str) -> None:
    with pytest.raises(SpecError, match=r"arrays\.A\.sparse") as error:
        run(**array)
    assert words in str(error.value)


def test_a_claim_about_metadata_is_rejected() -> None:
    with pytest.raises(SpecError, match="E is metadata"):
        claim_of(CLAIM | {"claim": "C[m,n] = sum_k A[m,k]*B[n,k]*E[m,w]"})
    with pytest.raises(SpecError, match="words of metadata"):
        claim_of(CLAIM | {"sizes": {"M": 32, "N": 32, "K": 96, "W": 7}})
