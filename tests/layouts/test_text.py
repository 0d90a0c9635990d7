# SPDX-License-Identifier: Apache-2.0
"""Layouts as text: parsing, printing, and the column of an error."""

import pickle

import pytest
from hypothesis import given

from layouts import Layout, LayoutError, LayoutParseError, ProfileError, parse_int_tuple, parse_layout
from layouts.reader import MAX_TEXT
from layouts.text import parse_shape_stride
from tests.layouts import strategies as st


def in_python(t: object) -> str:
    """The tuple in Python's own notation, less its blanks and trailing commas."""
    return repr(t).replace(" ", "").replace(",)", ")")


@given(st.layouts(low=-40))
def test_prints_as_python_prints_the_tuples_and_reads_back(layout):
    text = str(layout)
    assert text == f"{in_python(layout.shape)}:{in_python(layout.stride)}"
    again = parse_layout(text)
    assert (again.shape, again.stride) == (layout.shape, layout.stride)
    assert eval(repr(layout), {"Layout": Layout}) == layout


@pytest.mark.parametrize(
    ("text", "shape", "stride"),
    [
        ("8:1", 8, 1),
        ("(8):(1)", (8,), (1,)),
        ("((4,8),(8)):((64,1),(8))", ((4, 8), (8,)), ((64, 1), (8,))),
        ("():()", (), ()),
        ("(_4,_8):(_1,_0)", (4, 8), (1, 0)),
        ("_4:_-2", 4, -2),
        (" ( 4 , ( 2 ,3 ) ) :\t(1,(-4,0)) \n", (4, (2, 3)), (1, (-4, 0))),
        ("(4,8,):(1,4,)", (4, 8), (1, 4)),
        ("007:1", 7, 1),
    ],
)
def test_a_text_is_read_as_its_layout(text, shape, stride):
    layout = Layout.parse(text)
    assert (layout.shape, layout.stride) == (shape, stride)


@pytest.mark.parametrize(
    ("text", "column", "problem"),
    [
        ("", 1, "expected an integer or '(', found the end"),
        ("((4,8),8):((32,1)", 18, "expected ',' or ')', found the end"),
        ("(4,8)", 6, "expected ':', found the end"),
        ("(4 8):(1,4)", 4, "expected ',' or ')', found '8'"),
        ("(4,,8):(1,4)", 4, "expected an integer or '(', found ','"),
        ("(,):(,)", 2, "expected an integer or '(', found ','"),
        ("4:1:1", 4, "expected the end, found ':'"),
        ("(4,_):(1,4)", 4, "'_' means a whole mode"),
        ("4:1_000", 4, "expected the end, found '_'"),
        ("4.0:1", 2, "expected ':', found '.'"),
        ("x:1", 1, "expected an integer or '(', found 'x'"),
        ("٤:1", 1, "expected an integer or '('"),
        ("4:--1", 3, "expected an integer or '('"),
        ("9" * 65 + ":1", 1, "integer of more than 64 digits"),
        ("(" * 65 + "1" + ")" * 65 + ":1", 65, "nested deeper than 64"),
        ("1" * (MAX_TEXT + 1), MAX_TEXT + 1, "text longer than"),
    ],
)
def test_points_at_the_column_of_an_error(text, column, problem):
    with pytest.raises(LayoutParseError) as error:
        parse_layout(text)
    assert error.value.column == column
    assert problem in str(error.value)
    assert f"at column {column}" in str(error.value)
    assert error.value.text == text
    assert len(str(error.value)) < 200


def test_texts_at_the_caps_are_read():
    deep = parse_int_tuple("(" * 64 + "5" + ")" * 64)
    assert Layout(deep).shape == deep
    with pytest.raises(LayoutError, match="deeper than 64"):
        Layout((deep,))
    assert parse_int_tuple("9" * 64) == 10**64 - 1
    assert parse_int_tuple("5" + " " * (64 * 1024 - 1)) == 5


def test_incongruent_is_another_error_than_unreadable():
    text = "((4,8),(32,2)):((512,1),((16,8)))"
    with pytest.raises(ProfileError, match="differ in profile"):
        Layout.parse(text)
    assert parse_shape_stride(text) == (((4, 8), (32, 2)), ((512, 1), ((16, 8),)))


@pytest.mark.parametrize("text", ["0:1", "(4,-2):(1,4)"])
def test_extents_below_one_are_rejected(text):
    with pytest.raises(LayoutError, match="extents must be at least 1"):
        Layout.parse(text)


def test_parse_error_survives_pickling():
    with pytest.raises(LayoutParseError) as error:
        parse_layout("(4")
    again = pickle.loads(pickle.dumps(error.value))
    assert (again.text, again.column, str(again)) == ("(4", 3, str(error.value))
