# SPDX-License-Identifier: Apache-2.0
"""Maps of layouts have the findings of their points by blocks too, and no error of an evaluation passes."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from layouts import ComposedLayout, Layout, Swizzle, leaves
from layouts.atoms import registry
from layouts.batched.evaluate import Batch, Linear
from layouts.tensor import E, module_layout
from verify.atom.checker import AtomChecker
from verify.core.verdict import Check
from verify.layout import command
from verify.maps import blocks, search
from verify.maps.map import Axis, Map
from verify.maps.strided import StridedMap, of_text

SWIZZLED, IDENTITY = "Sw<2,1,3> o (128,128):(128,1)", "(128,128):(1@0,1@1)"  # more points than are kept
EXTENTS = st.integers(1, 5)
SWIZZLES = st.lists(
    st.tuples(st.sampled_from([(1, 0, 1), (1, 1, 2), (2, 0, 2), (2, 0, -2), (0, 0, 0)]), st.integers(0, 20)), max_size=3
)
STRIDES = st.sampled_from([0, 1, 2, 3, 4, 5, 8, 16, -1, -3])


def halves(steps: Callable[[], st.SearchStrategy[Any]]) -> st.SearchStrategy[tuple[Any, Any]]:
    """(shape, strides) of both modes of a layout, each flat or of several modes."""
    mode = st.lists(st.tuples(EXTENTS, steps()), min_size=1, max_size=3)
    return st.tuples(mode, mode).map(
        lambda both: (
            tuple(tuple(n for n, _ in pairs) if len(pairs) > 1 else pairs[0][0] for pairs in both),
            tuple(tuple(d for _, d in pairs) if len(pairs) > 1 else pairs[0][1] for pairs in both),
        )
    )


@st.composite
def swizzled(draw: st.DrawFn) -> Layout | ComposedLayout:
    """A layout behind up to three swizzles with offsets, the first large enough for negative strides."""
    shape, stride = draw(halves(lambda: STRIDES))
    layout: Layout | ComposedLayout = Layout(shape, stride)
    least = sum((n - 1) * min(0, d) for n, d in zip(leaves(layout.shape), leaves(stride), strict=True))
    for number, (swizzle, offset) in enumerate(draw(SWIZZLES)):
        layout = ComposedLayout(Swizzle(*swizzle), offset - (0 if number else least), layout)
    return layout


@st.composite
def coordinated(draw: st.DrawFn) -> Layout:
    """A layout whose strides are coordinates of two axes."""
    numbers = st.integers(-2, 5)
    shape, stride = draw(halves(lambda: st.tuples(numbers, numbers).map(lambda d: d[0] * E(0) + d[1] * E(1))))
    return module_layout(shape, stride)


LAYOUTS = st.one_of(swizzled(), coordinated())
TILES, LINES = st.tuples(st.integers(1, 12), st.integers(1, 12)), st.tuples(st.integers(1, 60))


class Kept(StridedMap):
    """The map of a layout, searched point by point."""

    searchable = False


def ways(layout: Layout | ComposedLayout, tile: tuple[int, ...]) -> list[StridedMap]:
    """The map that is searched point by point, and the one that is searched by blocks."""
    axes = tuple(map(Axis, "mn", tile))
    kept, computed = Kept(layout, axes), StridedMap(layout, axes)
    assert computed.searchable
    return [kept, computed]


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK", 7)


@pytest.mark.long
@given(st.one_of(st.tuples(LAYOUTS, TILES), st.tuples(swizzled(), LINES)), st.sampled_from([1, 1, 2, 3]))
@settings(max_examples=100)
def test_findings_on_a_tile_are_alike(on_tile: tuple[Any, tuple[int, ...]], copies: int) -> None:
    kept, *rest = ways(*on_tile)
    for computed in rest:
        assert search.find_out_of_bounds(kept) == search.find_out_of_bounds(computed)
        assert search.find_owner_fault(kept, copies) == search.find_owner_fault(computed, copies)
        assert search.find_missing_owner(kept) == search.find_missing_owner(computed)
        assert list(kept.pairs()) == list(computed.pairs()) and len(kept) == len(computed) and computed.total


@pytest.mark.long
@given(st.one_of(st.tuples(swizzled(), swizzled()), st.tuples(coordinated(), coordinated())), st.sampled_from([1, 2]))
@settings(max_examples=100)
def test_findings_on_two_layouts_are_alike(pair: tuple[Any, Any], axes: int) -> None:
    axes = 2 if isinstance(pair[0], Layout) else axes
    (kept, computed), (second, by_blocks) = (ways(layout, (5,) * axes) for layout in pair)
    wrong = search.find_difference(kept, second, "other")
    assert (
        wrong
        == search.find_difference(computed, by_blocks, "other")
        == search.find_difference(kept, by_blocks, "other")
    )
    assert search.find_difference(computed, ways(pair[0], (5,) * axes)[1]) is None


@given(swizzled(), coordinated(), st.integers(-4, 40), st.integers(-4, 40))
def test_owners_are_counted_again(first: Any, second: Layout, x: int, y: int) -> None:
    for layout in (first, second):
        _, computed = ways(layout, (6, 6))
        assert computed.count((x, y)) == Map.count(computed, (x, y))


def test_an_operand_has_as_many_points_as_a_map_may_keep() -> None:
    text = "Sw<3,3,3> o (2048,1024):(1024,1)"
    assert of_text(text, "", {"m": 2048, "n": 1024}) == (None, f"{text}: more than 1048576 points")
    m, fault = of_text("Sw<3,3,3> o (1024,1024):(1024,1)", "", {"m": 1024, "n": 1024})
    assert m is not None and not fault


RIGHT_AND_WRONG = [
    (SWIZZLED, "--onto 128x128"),
    (SWIZZLED, "--onto 128x127"),
    (SWIZZLED, "--onto 128x129"),
    (SWIZZLED, "--equals (128,128):(128,1)"),
    (SWIZZLED, "--equals Sw<2,1,3> o 0 o (128,(2,64)):(128,(1,2))"),
    (SWIZZLED, "--equals (128,129):(128,1)"),
    (SWIZZLED, "--equals (4,4):(4,1)"),
    ("Sw<1,0,3> o 8 o Sw<2,1,3> o 5 o 16000:1", "--onto 128x128"),
    ("Sw<1,0,3> o 8 o Sw<2,1,3> o 305 o (100,2,100):(1,100,-3)", "--onto 20000"),
    ("Sw<2,0,3> o 300 o (128,(2,64)):(0,(1,-3))", "--onto 128x128"),
    (IDENTITY, "--onto 128x128"),
    (IDENTITY, "--onto 127x128"),
    ("(128,(2,64)):(1@0,(1@1,1@1))", "--onto 128x65"),
    (IDENTITY, "--equals (128,128):(1@0,2@1)"),
    (IDENTITY, "--equals make_identity_layout((128,128))"),
]
OTHER_SIZES = ("--equals (128,129):(128,1)", "--equals (4,4):(4,1)")  # which is seen without an evaluation


@pytest.mark.long
@pytest.mark.parametrize(("text", "option"), RIGHT_AND_WRONG)
def test_reports_are_alike(
    text: str, option: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name, value = option.split(" ", 1)
    said = []
    for block in (1000, 1 << 18):
        monkeypatch.setattr(blocks, "BLOCK", block)
        said.append((command.main([text, name, value]), capsys.readouterr().out))
    assert said[0] == said[1] and said[0][0] in (0, 1)


def test_a_large_map_is_searched_in_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK", 1 << 18)
    tracemalloc.start()
    try:
        for words in (["--onto", "1024x1024"], ["--equals", "Sw<3,3,3> o (1024,(32,32)):(1024,(1,32))"]):
            assert command.main(["Sw<3,3,3> o (1024,1024):(1024,1)", *words]) == 0
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 40 << 20, f"{peak >> 20} MiB"


@pytest.mark.parametrize("text", ["Sw<1,0,4> o (32,4):(1,32)", "(32,4):(1@0,1@1)", "(32,4):(1,32)"])
def test_few_points_on_a_large_tile_take_little_memory(text: str) -> None:
    tracemalloc.start()
    try:
        assert command.main([text, "--onto", "2048x2048"]) == 1
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 80 << 20, f"{peak >> 20} MiB"


def test_more_points_than_a_map_keeps_are_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK", 1 << 18)
    assert command.main(["Sw<3,3,3> o (2048,1024):(1024,1)", "--onto", "1024x2048"]) == 0
    assert command.main(["Sw<3,3,3> o (2048,1024):(1024,1)", "--onto", "1024x2047"]) == 1
    assert command.main(["Sw<3,3,3> o (4096,4097):(4097,1)", "--onto", "4096x4096"]) == 2


@pytest.mark.long
@pytest.mark.parametrize(
    ("c", "refuted"),
    [
        ("((4,8),(2,2)):((32,1),(16,8))", 0),
        ("((4,8),(2,2)):((32,1),(8,16))", 2),
        ("((4,8),(2,2)):((32,1),(16,0))", 3),
        ("((4,8),(2,2)):((32,1),(16,9))", 3),
    ],
)
def test_operands_of_an_atom_are_searched_alike(c: str, refuted: int, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = registry()["SM80_16x8x16_F32F16F16F32_TN"]
    a = "((4,8),(2,2,2)):((2@1,1@0),(1@1,8@0,8@1))"
    findings = []
    for searchable in (True, False):
        monkeypatch.setattr(StridedMap, "searchable", searchable)
        checker = AtomChecker(frozenset({Check.ISA}))  # each has evidence of its own
        verdicts = checker.verify(replace(entry, operands={**entry.operands, "A": a, "C": f"Sw<0,0,0> o {c}"}))
        findings.append([(v.claim, v.status, v.counterexample) for v in verdicts])
        engines = {e.engine for v in verdicts if v.claim.part == "C" for e in v.evidence if e.method == search.METHOD}
        assert engines == {"Python" if searchable else "plain integers"}
    assert findings[0] == findings[1] and [status.value for _, status, _ in findings[0]].count("REFUTED") == refuted


TRUE_TABLE, TRUE_VALUES = Linear.table, Batch.values
TRUE_FOLLOW = Batch._follow  # seam: the steps after a layout
TRUE_IMAGE = StridedMap.image


def reversed_table(self: Linear, dtype: Any) -> Any:
    """Every line of digits backwards: still a bijection."""
    return TRUE_TABLE(self, dtype)[..., ::-1]


def not_swizzled(self: Batch, values: Any, dtype: Any) -> Any:
    """Whole domains without their swizzles."""
    return values


def swizzled_again(self: Batch, values: Any, dtype: Any) -> Any:
    """Whole domains as if a swizzle were around them."""
    return TRUE_FOLLOW(self, values, dtype) ^ 2


def one_wrong(self: Batch, start: int = 0, stop: int | None = None, narrow: bool = False) -> Any:
    """One number of a layout of two modes, at a point that is not compared, is that of its neighbour."""
    numbers = TRUE_VALUES(self, start, stop, narrow).copy()
    if self.rank == 2 and start <= 5000 < start + len(numbers) and len(numbers) > 6000:
        numbers[5000 - start] = numbers[5001 - start]
    return numbers


def image_of_the_next(self: StridedMap, thread: int, value: int) -> Any:
    """Single points as those of a neighbour."""
    return TRUE_IMAGE(self, thread ^ 1, value ^ 1 if self.extents[1] > 1 else value)


@pytest.mark.parametrize(("text", "option"), [case for case in RIGHT_AND_WRONG if case[1] not in OTHER_SIZES])
@pytest.mark.parametrize(
    ("owner", "name", "wrong"),
    [
        (Linear, "table", reversed_table),
        (Batch, "_follow", swizzled_again),
        (StridedMap, "image", image_of_the_next),
    ],
    ids=["lines", "steps", "points"],
)
def test_an_error_of_an_evaluation_contradicts(
    text: str, option: str, owner: type, name: str, wrong: Any, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setattr(blocks, "BLOCK", 1 << 18)
    monkeypatch.setattr(owner, name, wrong)
    key, value = option.split(" ", 1)
    assert command.main([text, key, value]) == 3
    output = capsys.readouterr().out
    assert "CONTRADICTION" in output and "plain arithmetic does not reproduce this" in output


@pytest.mark.parametrize("option", ["--onto 128x128", "--equals Sw<2,1,3> o 0 o (128,(2,64)):(128,(1,2))"])
@pytest.mark.parametrize(("name", "wrong"), [("_follow", not_swizzled), ("values", one_wrong)])
def test_an_error_of_few_points_refutes_nothing(
    option: str, name: str, wrong: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One wrong number of a right layout is found, and plain integers do not reproduce it."""
    monkeypatch.setattr(blocks, "BLOCK", 1 << 18)
    monkeypatch.setattr(Batch, name, wrong)
    key, value = option.split(" ", 1)
    assert command.main([SWIZZLED, key, value]) == 3


@pytest.mark.parametrize("option", ["--onto 600x600", "--onto 600x599", "--equals (600,(2,300)):(600,(1,2))"])
@pytest.mark.parametrize(("owner", "name", "wrong"), [(Linear, "table", reversed_table), (Batch, "values", one_wrong)])
def test_an_error_in_a_plain_layout_contradicts(
    option: str, owner: type, name: str, wrong: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "BLOCK", 1 << 18)
    key, value = option.split(" ", 1)
    assert command.main(["(600,600):(600,1)", key, value]) == int(value == "600x599")
    monkeypatch.setattr(owner, name, wrong)
    assert command.main(["(600,600):(600,1)", key, value]) == 3


def change_blocks(change: Callable[[Any], Any]) -> Callable[..., Any]:
    """Blocks whose elements are changed, and not compared with plain integers."""

    def read(m: StridedMap, start: int, stop: int) -> Any:
        (x, y), width = m.block(start, stop), m.tile[0]
        element = change(x + width * y)
        return element % width, element // width

    return read


@pytest.mark.parametrize("written", ["{}", "Sw<0,0,0> o {}"], ids=["plain", "swizzled"])
@pytest.mark.parametrize(
    ("text", "change", "inside"),
    [
        ("(4,4):(1,4)", lambda block: np.where(block == 5, 6, block), True),
        ("(4,4):(1,4)", lambda block: np.where(block == 5, 99, block), False),
        ("(4,4):(0,1)", lambda block: block ^ 1, True),
        ("(4,4):(1,9)", lambda block: block + 1, False),
    ],
    ids=["collides", "leaves", "moves", "adds"],
)
def test_what_a_block_has_wrong_is_not_reproduced(
    written: str, text: str, change: Any, inside: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the comparison of blocks, too, every counterexample is computed again."""
    monkeypatch.setattr(blocks, "BLOCK", 8)
    monkeypatch.setattr(blocks, "read_block", change_blocks(change))
    verdicts = command.onto_tile(written.format(text), (4, 4), {Check.ISA}).cases[0].verdicts
    bounds, ownership = (verdict.evidence[0].counterexample for verdict in verdicts[1:])
    assert (bounds is None) == inside and (bounds is None or not bounds.reproduced)
    assert ownership is not None and not ownership.reproduced


def test_an_element_without_an_owner_is_counted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    _, computed = ways(Layout((4, 4), (1, 4)), (4, 4))
    assert search.find_missing_owner(computed) is None
    monkeypatch.setattr(blocks, "read_block", change_blocks(lambda block: np.where(block == 5, 6, block)))
    wrong = search.find_missing_owner(computed)
    assert wrong is not None and (wrong.statement, wrong.reproduced) == ("(m=1, n=1) has no owner", False)
