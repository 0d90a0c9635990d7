# SPDX-License-Identifier: Apache-2.0
"""Maps of bases: both evaluations, and a bug in either."""

from __future__ import annotations

from typing import Any

import pytest

from tests.messages import WRONG_EVALUATION
from verify.maps.linear import BasesMap
from verify.maps.map import Axis, MapError, grid

BASES = {"lane": [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)], "value": [(0, 1), (8, 0)]}
TILE = Axis("m", 16), Axis("n", 8)


def test_a_block_has_what_each_point_has() -> None:
    m = BasesMap(BASES, TILE)
    images = list(zip(*(column.tolist() for column in m.block(0, len(m))), strict=True))
    assert images == [m(*point) for point in grid(m.inputs)] and m(5, 3) == (9, 3)
    assert m.mismatch() is None and m.at(32, 0) == ()


@pytest.mark.parametrize("name", ["at", "block"])
def test_a_bug_in_either_evaluation_is_a_mismatch(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right = getattr(BasesMap, name)

    def wrong(self: BasesMap, *given: int) -> Any:
        computed = right(self, *given)
        return tuple((x ^ 1, y) for x, y in computed) if name == "at" else (computed[0] ^ 1, computed[1])

    monkeypatch.setattr(BasesMap, name, wrong)
    mismatch = BasesMap(BASES, TILE).mismatch()
    assert mismatch is not None and not mismatch.reproduced and WRONG_EVALUATION in mismatch.statement


@pytest.mark.parametrize("basis", [(1,), (1, 2.0), (True, 0)])
def test_a_basis_is_as_many_whole_numbers_as_there_are_outputs(basis: Any) -> None:
    with pytest.raises(MapError, match="each basis of 'lane' needs 2 numbers"):
        BasesMap({"lane": [basis]}, TILE)
