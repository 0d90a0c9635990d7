# SPDX-License-Identifier: Apache-2.0
"""A tiling bound to its atom: an atom that leaves its tile is found."""

from __future__ import annotations

from dataclasses import replace

import pytest

from layouts import Layout
from layouts.atoms import Atom
from layouts.tiled import TiledMMA
from tests.verify.tiling.tilings import F16, INTERLEAVED, PREPARE, TWO_BY_TWO, list_refuted, verdict, verify_tiling
from verify.binding.operand import BoundOperand
from verify.core.verdict import Status
from verify.tiling import bind
from verify.tiling.bind import Tiling
from verify.tiling.properties import (
    EQUALS,
    PARTITION,
)
from verify.tiling.spec import TilingSpec, permutation


@pytest.mark.long
def test_a_permutation_that_the_library_reads_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library tiles by (8,2,2):(1,8,16), the spec has (8,2,2):(1,16,8): same elements, other threads."""

    def prepared(spec: TilingSpec, atom: Atom) -> Tiling:
        right = PREPARE(spec, atom)
        reordered = TiledMMA(atom, spec.atoms_layout, (None, Layout.parse("(8,2,2):(1,8,16)"), None))
        return right._replace(mma=reordered, operands=tuple(replace(d, mma=reordered) for d in right.operands))

    monkeypatch.setattr("verify.tiling.properties.prepare", prepared)
    case = verify_tiling(TilingSpec("reordered", F16, TWO_BY_TWO, permutation(INTERLEAVED)))
    assert list_refuted(case) == {(part, prop) for part in "BC" for prop in (EQUALS, PARTITION)}
    assert not any(v.contradiction for v in case.verdicts)
    assert all(e.status is Status.REFUTED for part in "BC" for e in verdict(case, EQUALS, part).evidence)


@pytest.mark.parametrize(("text", "leaves"), [("(2,2):(5,2)", False), ("(2,2):(6,2)", True), ("(2,2):(-1,2)", True)])
def test_an_atom_leaves_its_tile_where_one_element_is_below_0_or_beyond_the_last(text: str, leaves: bool) -> None:
    """The last element of a tile of 8 is 7."""
    assert bind.leaves_its_tile(BoundOperand("A", "", None, "", (2, 4), ()).of_layout(Layout.parse(text))) == leaves
