# SPDX-License-Identifier: Apache-2.0
"""Index arithmetic is evaluated at every point in the given language, and rejected where a missing one matters."""

from __future__ import annotations

import pytest

import isa_tables
from verify.maps.expression import DeclaredName, IndexFunction, InputCoordinates
from verify.maps.fragment_map import FragmentMap
from verify.maps.map import Axis, MapError
from verify.maps.tree import ExpressionError

LANE, VALUE, ROW, COL = Axis("lane", 32), Axis("value", 4), Axis("m", 16), Axis("n", 8)
NAMES = InputCoordinates(
    (LANE, VALUE),
    {"lane": DeclaredName(lambda lane, value: lane), "i": DeclaredName(lambda lane, value: value)},
    {"j": "state --values"},
)
C_OF_MMA = FragmentMap.from_operand(
    isa_tables.instruction("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32").operands["C"]
)


def index(row: str, col: str, **let: str) -> IndexFunction:
    return IndexFunction({"m": row, "n": col}, (ROW, COL), NAMES, let)


@pytest.mark.parametrize(
    ("language", "row", "col"),
    [
        ("c", "lane/4 + 8*(i/2)", "lane%4*2 + i%2"),
        ("c", "(lane >> 2) + ((i & 2) << 2)", "((lane & 3) << 1) | (i & 1)"),
        ("c", "i < 2 ? lane / 4 : lane / 4 + 8", "(int)(lane % 4u) * 2 + (i & 1)"),
        ("c", "const int g = lane >> 2; return g + 8 * (i >= 2);", "lane % 4 * 2 + i % 2;"),
        ("python", "lane//4 + 8*(i//2)", "lane%4*2 + i%2"),
        ("python", "lane//4 if i < 2 else lane//4 + 8", "(lane & 3) * 2 + (i & 1 == 1)"),
        ("", "(lane >> 2) + 8*(i >> 1)", "(lane & 3)*2 + (i & 1)"),
    ],
)
def test_the_same_map_in_many_words(language: str, row: str, col: str) -> None:
    assert index(row, col).map(language) == C_OF_MMA


def test_names_are_defined_for_all_texts() -> None:
    assert index("g + 8*(i/2)", "t*2 + i%2", g="lane >> 2", t="lane & 3").map("c") == C_OF_MMA
    with pytest.raises(ExpressionError, match="'lane' is a coordinate or defined before"):
        index("lane", "0", lane="3").map("c")
    with pytest.raises(ExpressionError, match="'g' is declared twice"):
        index("int g = 1; int g = 2; g", "0").map("c")
    with pytest.raises(ExpressionError, match="unknown name 'g'"):
        index("int g = 1; g", "g").map("c")
    assert index("lane = lane % 4; lane", "lane % 8").map("python")(5, 0) == (1, 5)


DIFFERENT = ["(lane & 3 == 0)", "lane // 4", "lane / 4", "(lane - 16) % 8", "(i - 3) % 4", "0 <= lane < 8", "i < 2 < 3"]
DIFFERENT += ["2 == i == 2", "i & 2 == 2", "lane ^ i == 2", "~lane % 4"]
SAME = ["lane % 8", "(lane >> 2) + 8*(i >> 1)"]


@pytest.mark.parametrize("text", DIFFERENT)
def test_of_thirteen_ordinary_texts_eleven_need_a_language(text: str) -> None:
    assert len(DIFFERENT + SAME) == 13
    with pytest.raises(MapError, match=r"C gives .*, Python .*: state the language"):
        index(text, "0").map()


@pytest.mark.parametrize("text", SAME)
def test_of_thirteen_ordinary_texts_two_mean_the_same(text: str) -> None:
    assert index(text, "0").map().total


def test_a_text_of_one_language_alone_needs_no_statement() -> None:
    assert index("i ? 1 : 0", "0").map()(0, 3) == (1, 0)
    assert index("1 if i else 0", "0").map()(0, 3) == (1, 0)


def test_int_or_unsigned_is_given_where_it_matters() -> None:
    text = index("(lane - 1) / 2 & 15", "0")
    with pytest.raises(MapError, match="C with int coordinates gives 0, C with unsigned coordinates 15: state int or"):
        text.map("c")
    assert text.map("c", "int")(0, 0) == (0, 0)
    assert text.map("c", "unsigned")(0, 0) == (15, 0)
    assert index("(lane - 1) & 15", "0").map("c")(0, 0) == (15, 0)


@pytest.mark.parametrize(
    ("text", "language", "problem"),
    [
        ("4 / lane", "c", "lane 0, value 0: division by zero in 4 / lane"),
        ("lane << 30", "c", "lane 2, value 0: signed overflow in lane << 30: 2147483648 does not fit int"),
        ("1 << lane + 1", "c", "lane 30, value 0: signed overflow"),
        ("1u << lane + 1", "c", "lane 31, value 0: a shift by 32 in 1u << lane + 1"),
        ("lane / 4", "python", "lane 0, value 0: (0.0, 0) is not whole: in Python / gives a float, write //"),
        ("lane << 62", "python", "lane 4, value 0: a value of more than 64 bits"),
    ],
)
def test_what_is_undefined_is_reported_with_the_point(text: str, language: str, problem: str) -> None:
    with pytest.raises(MapError) as raised:
        index(text, "0").map(language, "int")
    assert problem in str(raised.value)


def test_names_that_are_no_variables() -> None:
    with pytest.raises(ExpressionError, match="unknown name 'laen': did you mean 'lane'"):
        index("laen", "0").map("c")
    with pytest.raises(ExpressionError, match="unknown name 'j': state --values at column 1"):
        index("j", "0").map("c")
    with pytest.raises(ExpressionError, match="unknown name 'zzz': known here are lane, i"):
        index("zzz", "0").map()


def test_a_point_is_computed_again_in_the_way_in_which_the_text_was_read() -> None:
    function = index("lane + 8 // i", "0")  # without a language // begins a comment in C
    assert function.evaluator()((2, 0)) == function.recompute((2, 0)) == (10, 0)


def test_the_arithmetic_of_a_point_is_written_out() -> None:
    function = index("g + 8*(i/2)", "int t = lane % 4; t*2 + i%2", g="lane/4")
    assert function.written_out((5, 3), "c") == "m: g + 8*(3/2) = 9, n: t*2 + 3%2 = 3"
    assert index("(-lane) * (lane)", "0").written_out((2, 0), "python") == "m: (-2) * (2) = -4, n: 0 = 0"


def test_a_text_at_many_points_is_limited() -> None:
    wide = InputCoordinates((Axis("x", 1 << 19),), {"x": DeclaredName(lambda x: x)})
    with pytest.raises(MapError, match="more than 2400000"):
        IndexFunction({"m": "+".join("x" * 50)}, (ROW,), wide).map("c")


def test_a_name_that_is_a_float_at_some_points_is_one_there() -> None:
    """1 and 1.0 are one key of a table: a value that was computed for one is not that of the other."""
    with pytest.raises(MapError, match=r"lane 1, value 0: \(1\.0, 0\) is not whole"):
        index("g", "0", g="1 if lane != 1 else lane / 1").map("python")
    assert index("g", "0", g="lane < 4").map("python")(5, 0) == (0, 0)


def test_what_is_undefined_first_is_named() -> None:
    texts = {"g": "4 / (lane - 3)", "h": "4 / (lane - 3 + g * 0)"}
    with pytest.raises(MapError, match=r"lane 3, value 0: division by zero in 4 / \(lane - 3\)$"):
        index("8 / (lane - 3)", "h", **texts).map("c", "int")
    with pytest.raises(MapError, match=r"lane 0, value 2: division by zero in 1 / \(i - 2\)$"):
        index("lane + 0 * (1 / (i - 2))", "1 / (i - 3)").map("c", "int")


def test_each_text_is_computed_for_the_values_of_its_own_names() -> None:
    m = index("lane % 16", "i * 2 + 0 * lane").map("c", "int")
    assert all(m(lane, i) == (lane % 16, 2 * i) for lane in range(32) for i in range(4))
    assert index("7", "i").map("c")(31, 3) == (7, 3)
    local = index("int g = i; g + h", "lane % 8", h="lane / 8").map("c", "int")
    assert all(local(lane, i) == (i + lane // 8, lane % 8) for lane in range(32) for i in range(4))
