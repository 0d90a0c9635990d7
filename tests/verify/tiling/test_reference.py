# SPDX-License-Identifier: Apache-2.0
"""The definition of a tiling in plain integers, against the library's TiledMMA and a bug planted in the library."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from layouts import Layout, size
from tests.verify.tiling.tilings import F16, INTERLEAVED, TWO_BY_TWO, prepare_tiling
from verify.tiling import reference
from verify.tiling.spec import TilingSpec, permutation

QUADPAIR = "SM70_8x8x4_F32F16F16F32_NT"
SPECS = [
    TilingSpec("plain", F16, TWO_BY_TWO),
    TilingSpec("reordered", F16, TWO_BY_TWO, permutation(INTERLEAVED)),
    TilingSpec("quadpairs", QUADPAIR, TWO_BY_TWO),
]


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_the_definition_is_what_the_library_evaluates(spec: TilingSpec) -> None:
    tiling = prepare_tiling(spec)
    for tiled in tiling.operands:
        rows, columns = tiled.extent(tiling.covered_shape)
        layout = tiling.mma.layout_TV(tiled.name, Layout((rows, columns)))
        threads, values = map(size, layout)
        table = np.array([[layout(t, v) for v in range(values)] for t in range(threads)])
        assert (reference.elements(tiling, tiled) == table).all()


def test_quadpairs_fill_a_warp_before_the_next_one() -> None:
    """Lanes 0 to 3 and 16 to 19 are the first quadpair; the others begin at 4, 8 and 12."""
    threads = reference.threads(prepare_tiling(SPECS[2]))
    assert threads[:, 0, 0, 0].tolist() == [0, 1, 2, 3, 16, 17, 18, 19]
    assert sorted(threads.ravel().tolist()) == list(range(32))


def test_a_bug_planted_in_the_library_is_not_in_the_definition(monkeypatch: pytest.MonkeyPatch) -> None:
    tiling = prepare_tiling(SPECS[1])
    before = [reference.elements(tiling, tiled) for tiled in tiling.operands]

    def wrong(layout: Layout, *coord: Any) -> int:
        return 7

    monkeypatch.setattr(Layout, "__call__", wrong)
    again = prepare_tiling(SPECS[1])
    after = [reference.elements(again, tiled) for tiled in again.operands]
    assert all((first == second).all() for first, second in zip(before, after, strict=True))
