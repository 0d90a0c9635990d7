# SPDX-License-Identifier: Apache-2.0
"""A map's other forms are the same map; where there is none, two points prevent it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as hyp

from layouts import Layout, coalesce, make_layout, size
from layouts.pasted import read_layout
from tests.layouts.strategies import table
from verify.maps import bases, synthesis
from verify.maps.expression import IndexFunction
from verify.maps.fragment_map import FragmentMap
from verify.maps.map import Axis
from verify.maps.operand import coordinates
from verify.maps.strided import of_layout

TILE = Axis("m", 16), Axis("n", 8)
MODES = hyp.lists(hyp.tuples(hyp.sampled_from([1, 2, 3, 4]), hyp.integers(0, 40)), min_size=1, max_size=3)
LAYOUTS = MODES.map(lambda modes: Layout(*(tuple(column) for column in zip(*modes, strict=True))))


def tabulate(image: object, lanes: int = 32, values: int = 4, tile: tuple[Axis, ...] = TILE) -> FragmentMap:
    return FragmentMap.tabulate(image, (Axis("lane", lanes), Axis("value", values)), tile)  # type: ignore[arg-type]


def text(m: FragmentMap, name: str) -> str:
    """The text of one form, or why there is none."""
    (form,) = synthesis.forms(m, [name])
    return form.text or form.why


@given(LAYOUTS, LAYOUTS)
def test_the_layout_of_a_layouts_values_is_that_layout(lanes: Layout, values: Layout) -> None:
    rows = [[int(a + b) for b in table(values)] for a in table(lanes)]
    assert synthesis.layout_of(rows) == str(make_layout(coalesce(lanes), coalesce(values)))


@pytest.mark.long
@given(LAYOUTS, LAYOUTS)
def test_the_sum_in_c_of_a_layouts_values_is_that_layout(lanes: Layout, values: Layout) -> None:
    made = tabulate(lambda t, v: int(table(lanes)[t] + table(values)[v]), size(lanes), size(values), (Axis("e", 1000),))
    _, expression = text(made, "c").split(" = ")
    names = coordinates(size(lanes), size(values))
    assert IndexFunction({"e": expression}, made.outputs, names).map("c", "int") == made


def test_a_swizzled_map_has_a_layout_bases_and_an_xor() -> None:
    made = of_layout(read_layout("Sw<2,0,3> o 0 o (32,4):(4,1)"), TILE)
    assert text(made, "layout") == "Sw<2,0,3> o 0 o (32,4):(4,1)"
    again = bases.of_operand(bases.read_bases(text(made, "bases")), TILE)
    assert again == made
    assert "^" in text(made, "c")


def test_an_offset_is_an_expression_and_no_layout() -> None:
    made = tabulate(lambda t, v: ((t // 4 + 8 * (v // 2) + 3) % 16, 7 - t % 4 * 2 - v % 2))
    assert "no layout" in text(made, "layout")
    assert "no sum of digits and no xor of bits is m" in text(made, "c")
    shifted = tabulate(lambda t, v: (v + 3, 7 - t % 4))
    assert text(shifted, "c") == "m = 3 + i; n = 7 - lane%4"
    assert "lane 0, value 0 has 115, a layout 0" in text(shifted, "layout")


def test_the_points_that_prevent_a_layout_are_named() -> None:
    wrong = tabulate(lambda t, v: (t // 4 + 8 * (v // 2), (t % 4 * 2 + v % 2) if (t, v) != (5, 3) else 0))
    assert "from lane 0 to lane 5 value 3 steps by -15, value 0 by 33" in text(wrong, "layout")
    assert text(wrong, "bases").startswith("not linear over F2: lane 5, value 3 has (m=9, n=0), its bits give")
    uneven = tabulate(lambda t, v: (t + 5 * (t == 2), v), lanes=3)
    assert "from lane 1, value 0 to lane 2, value 0 it steps by 6, before by 1; 2 does not divide 3" in text(
        uneven, "layout"
    )
    line = tabulate(lambda t, v: (t + 2 * (t == 3), v), lanes=4, values=2)
    assert "from lane 2, value 0 to lane 3, value 0 it steps by 3, from" not in text(line, "layout")
    assert (
        text(tabulate(lambda t, v: (t + (t == 3), v), lanes=4, values=2), "layout")
        == "Sw<1,0,1> o 0 o ((2,2),2):((1,3),16)"
    )
    assert "outside the tile" in text(tabulate(lambda t, v: (t, v)), "layout")


def test_a_text_that_reads_otherwise_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    made = tabulate(lambda t, v: (t // 4 + 8 * (v // 2), t % 4 * 2 + v % 2))
    for name, wrong in (
        ("as_layout", "((4,8),(2,2)):((32,1),(8,16))"),
        ("as_c", "m = lane/4 + i%2*8; n = lane%4*2 + i/2"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(synthesis, name, lambda _, wrong=wrong: wrong)
            with pytest.raises(AssertionError, match="read again, differs at lane 0, value 1"):
                synthesis.forms(made, [name.removeprefix("as_")])


@pytest.mark.parametrize(
    ("far", "c"),
    [
        (-1, "no text of C: lane 0, value 1 has (e=-1), not in 0..2^31 - 1"),
        (2**31 - 1, "e = i*2147483647"),
        (2**31, "no text of C: lane 0, value 1 has (e=2147483648), not in 0..2^31 - 1"),
        (2**62, "no text of C: lane 0, value 1 has (e=4611686018427387904), not in 0..2^31 - 1"),
    ],
)
def test_numbers_that_int_and_unsigned_have_not_in_common_have_no_text_of_c(far: int, c: str) -> None:
    made = tabulate(lambda _, value: value * far, 1, 2, (Axis("e", 1 << 63),))
    assert text(made, "c") == c
    linear = f"{{register = [[{far}]], lane = [], warp = []}}"
    assert text(made, "bases") == (linear if far > 0 else "not linear over F2: an image is negative")
