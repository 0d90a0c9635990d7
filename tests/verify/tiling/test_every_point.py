# SPDX-License-Identifier: Apache-2.0
"""The library's tilings at every point: bugs in them, and in what evaluates them, are never verified."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from layouts import Layout
from layouts.batched.evaluate import Linear
from layouts.tiled import tiled_mma
from tests.verify.tiling.tilings import F16, TWO_BY_TWO, list_refuted, verify_tiling
from verify.core.errors import SpecError
from verify.tiling import every_point
from verify.tiling.spec import TilingSpec, permutation


def double(values: Any) -> Any:
    return values * 2


def late(values: Any) -> Any:
    return values - (values > 300)


def along_n_first(right: Callable[..., Layout], *given: Any) -> Layout:
    v, m, n, k = right(*given)
    return Layout((32, 2, 4, 1), (v.stride, n.stride, m.stride, k.stride))


def crowd(right: Callable[..., Layout], *given: Any) -> Layout:
    return Layout(right(*given).shape, (1, 16, 32, 0))


def exchange(right: Callable[..., Any], *given: Any) -> Any:
    v, m, n, k = right(*given)
    return v, n, m, k


PLANTED: dict[str, tuple[str, Callable[..., Any]]] = {
    "threads numbered along N first": ("_threads", along_n_first),
    "threads of a smaller atom": ("_threads", crowd),
    "a thread's place in other digits": ("flat_coord", exchange),
    "a permutation ignored": ("_permutation", lambda right, axis, tiler, covered: Layout(covered)),
    "atoms distributed by the other axis": ("_distribute", lambda right, layout, x, y: right(layout, y, x)),
    "idle threads where there are none": ("_place_of", lambda right, threads: Layout(128, 1)),
}


# with these the library cannot build the tiling
REJECTED = {"threads numbered along N first", "threads of a smaller atom", "idle threads where there are none"}


@pytest.mark.long
@pytest.mark.parametrize("name", PLANTED)
def test_a_bug_in_tiled_mma_is_never_verified(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Enumeration is compared with a definition that uses no TiledMMA: what it gets wrong is refuted."""
    where, bug = PLANTED[name]
    right = getattr(tiled_mma, where)
    monkeypatch.setattr(tiled_mma, where, lambda *given: bug(right, *given))
    tiled_mma._thrfrg.cache_clear()  # seam: the cache
    try:
        atoms, tiler = Layout((2, 4, 1)), permutation("_,(8,4,2):(1,16,8),_" if "ignored" in name else "_,_,_")
        case = verify_tiling(TilingSpec("planted", F16, atoms, tiler))
    except SpecError:
        assert name in REJECTED
    else:
        assert name not in REJECTED and (list_refuted(case) or case.contradiction)
    finally:
        tiled_mma._thrfrg.cache_clear()  # seam: the cache


@pytest.mark.parametrize("bug", [double, late])
@pytest.mark.parametrize(("owner", "name"), [(Layout, "__call__"), (Linear, "table")])
def test_a_bug_in_evaluation_is_a_contradiction(
    monkeypatch: pytest.MonkeyPatch, owner: type, name: str, bug: Callable[[Any], Any]
) -> None:
    """Of single points or of whole domains: the two are compared, and the proof uses neither."""
    right = getattr(owner, name)
    monkeypatch.setattr(owner, name, lambda *given: bug(right(*given)))
    assert verify_tiling(TilingSpec("planted", F16, TWO_BY_TWO)).contradiction


def test_a_thread_is_named_within_its_atom() -> None:
    """With two atoms of 32 threads along M and three along N, index 32 * (1 + 2 * 2) + 5 is in atom (1,2)."""
    expected = [every_point.place_in_words(Layout((32, 2, 3, 1)), index) for index in (31, 165)]
    assert expected == ["T31 of atom (0,0,0)", "T5 of atom (1,2,0)"]
