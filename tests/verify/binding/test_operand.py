# SPDX-License-Identifier: Apache-2.0
"""An operand has one map, whatever it is; only a plain layout has proofs."""

from __future__ import annotations

import pytest

from layouts import Layout
from verify.binding.operand import BoundOperand
from verify.maps.map import Axis
from verify.maps.strided import of_text

NONE = BoundOperand("C", "8", None, "8 isn't a layout", (16, 8), ())
TILE = Axis("m", 16), Axis("n", 8)


def test_a_plain_layout_is_a_map_with_proofs() -> None:
    part = NONE.of_layout(Layout.parse("((4,8),(2,2)):((32,1),(16,8))"))
    assert part.layout_of_text == part.layout == Layout.parse(part.text) and part.domain == (32, 4)
    assert part.points(5, 3) == (9, 3) and part.rows()[5][3] == 57 and part.points.outputs == TILE


@pytest.mark.parametrize("text", ["Sw<1,0,4> o (32,4):(1,32)", "((4,8),(2,2)):((2@1,1@0),(1@1,8@0))"])
def test_another_map_has_points_and_no_proof(text: str) -> None:
    m, fault = of_text(text, "", {"m": 16, "n": 8})
    part = NONE._replace(text=text, map=m)
    assert not fault and part.well_formed and part.layout is None and part.domain == (32, 4)
    assert part.rows() == [[x + 16 * y for x, y in row] for row in part.points.rows()]
    with pytest.raises(TypeError, match="a plain layout"):
        _ = part.layout_of_text


def test_what_is_ill_formed_has_none() -> None:
    assert not NONE.well_formed and NONE.domain == (0, 0) and NONE.layout is None
    with pytest.raises(TypeError, match="8 isn't a layout"):
        _ = NONE.points
