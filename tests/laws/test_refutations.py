# SPDX-License-Identifier: Apache-2.0
"""R1 to R9: the published counterexample breaks the claim, the tool finds one, the repair is among the laws."""

from __future__ import annotations

import pytest

from layouts import LayoutError, complement, composition, left_inverse, parse_layout
from proofs.laws import refutations
from proofs.laws.judge import shipped

CLAIMS = refutations.catalogue()


@pytest.mark.parametrize("name", CLAIMS)
def test_the_published_counterexample_breaks_the_claim(name: str) -> None:
    assert refutations.breaks(CLAIMS[name])


@pytest.mark.parametrize("name", CLAIMS)
def test_the_tool_finds_a_counterexample(name: str) -> None:
    found = refutations.search(CLAIMS[name])
    assert found is not None
    assert found.told


@pytest.mark.parametrize("name", CLAIMS)
def test_the_repair_is_a_proved_law(name: str) -> None:
    assert all(law in shipped() and not shipped()[law].why_open for law in CLAIMS[name].repaired_by)


def test_r1_finds_shahs_example() -> None:
    found = refutations.search(CLAIMS["R1"])
    assert found is not None
    assert found.case == (((6, 2), (1, 7)), ((3, 2), (2, 3)))


def test_r2_finds_the_three_mode_example() -> None:
    found = refutations.search(CLAIMS["R2"])
    assert found is not None
    assert found.case == (((6, 2), (1, 7)), ((2, 2, 2), (1, 2, 3)))


@pytest.mark.parametrize("b", ["(3,2):(2,3)", "(2,2,2):(1,2,3)"])
def test_ours_refuses_what_r1_to_r3_let_pass(b: str) -> None:
    with pytest.raises(LayoutError, match="carries"):
        composition(parse_layout("(6,2):(1,7)"), parse_layout(b))


def test_ours_refuses_r4_to_r6() -> None:
    with pytest.raises(LayoutError):
        composition(parse_layout("(3,2):(1,100)"), parse_layout("4:2"))
    with pytest.raises(LayoutError):
        composition(parse_layout("(2,2):(1,1)"), parse_layout("3:1"))
    with pytest.raises(LayoutError):
        complement(parse_layout("(2,2):(1,3)"), 6)


def test_ours_is_right_where_r8_is_wrong() -> None:
    layout = parse_layout("(4,8):(1,5)")
    assert [left_inverse(layout)(layout(k)) for k in range(32)] == list(range(32))
