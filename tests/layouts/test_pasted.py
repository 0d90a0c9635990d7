# SPDX-License-Identifier: Apache-2.0
"""Every spelling of a layout is read as the same value, and what cannot be read is rejected with that spelling."""

from __future__ import annotations

from random import Random

import pytest

from layouts import ComposedLayout, Layout, LayoutError, LayoutParseError, Swizzle, composition, zipped_divide
from layouts.pasted import from_object, read_layout
from layouts.tensor import identity_layout
from layouts.text import parse_shape_stride
from tests.samples import many

SPELLINGS = {
    "(4,8):(8,1)": [
        "(4,8):(8,1)",
        "(_4,_8):(_8,_1)",
        " ( 4 , 8 ) : ( 8 , 1 ) ",
        "[4,8]:[8,1]",
        "[[4, 8], [8, 1]]",
        "Layout<Shape<_4,_8>,Stride<_8,_1>>",
        "Layout<Shape<_4, _8>,\n       Stride<_8, _1>>{}",
        "cute::Layout<cute::Shape<cute::Int<4>, cute::C<8>>, cute::Stride<cute::_8, cute::_1>>",
        "Layout<tuple<C<4>,C<8>>,tuple<C<8>,C<1>>>",
        "make_layout(make_shape(Int<4>{}, 8), make_stride(8, _1{}))",
        "make_layout(Shape<_4,_8>{}, LayoutRight{})",
        "make_layout(make_shape(4, 8), GenRowMajor{})",
        "make_layout(Shape<_4,_8>{}, Stride<_8,_1>{})",
        "Layout((4,8),(8,1))",
        "Layout((4, 8), (8, 1),)",
        "Layout(shape=(4, 8), stride=(8, 1))",
        "cute.make_layout((4, 8), stride=(8, 1))",
        '!cute.layout<"(4,8):(8,1)">',
        "!fly.layout<(4,8):(8,1)>",
    ],
    "((4,8),2):((1,8),4)": [
        "((4,8),2):((1,8),4)",
        "Layout<Shape<Shape<_4,_8>,_2>,Stride<Stride<_1,_8>,_4>>",
        "make_layout(make_shape(make_shape(4, 8), 2), make_stride(make_stride(1, 8), 4))",
        "Layout(((4, 8), 2), ((1, 8), 4))",
    ],
    "(4,8):(1,4)": [
        "Layout<Shape<_4,_8>>",
        "make_layout(make_shape(_4{}, _8{}))",
        "Layout((4,8))",
        "make_layout((4,8), LayoutLeft())",
        "make_layout(Shape<_4,_8>{}, GenColMajor{})",
    ],
    "128:1": ["Layout<_128,_1>", "Layout<Int<128>>", "Layout(128)", "make_layout(Int<128>{})", "_128:_1"],
    "Sw<2,3,3> o 0 o (8,32):(32,1)": [
        "Sw<2,3,3> o _0 o (8,32):(32,1)",
        "S<2,3,3> o 0 o (8,32):(32,1)",
        "Sw<2,3,3> o (8,32):(32,1)",
        "Swizzle<2,3,3>{} o Layout<Shape<_8,_32>,Stride<_32,_1>>{}",
        "composition(Swizzle<2,3,3>{}, Layout<Shape<_8,_32>,Stride<_32,_1>>{})",
        "ComposedLayout<Swizzle<2,3,3>, _0, Layout<Shape<_8,_32>,Stride<_32,_1>>>",
        "composition(Swizzle<2, 3, 3>{}, _0{}, make_layout(make_shape(8, 32), LayoutRight{}))",
    ],
    "Sw<1,0,3> o 4 o Sw<2,3,3> o 0 o 64:1": ["Sw<1,0,3> o _4 o S<2,3,3> o 0 o 64:1"],
}


@pytest.mark.parametrize(("plain", "text"), [(plain, text) for plain, texts in SPELLINGS.items() for text in texts])
def test_every_spelling_is_read(plain: str, text: str) -> None:
    assert str(read_layout(text)) == plain
    if "Sw" not in plain:
        assert Layout(*parse_shape_stride(text)) == Layout.parse(plain)


@pytest.mark.parametrize(
    "text",
    [
        "(4,8):(1@0,1@1)",
        "(_4,_8):(_1@0,_1@1)",
        "ArithTuple(_0,_0) o (_4,_8):(_1@0,_1@1)",
        "(0,0) o (4,8):(1@0,1@1)",
        "Layout<Shape<_4,_8>,Stride<E<0>,E<1>>>",
        "make_identity_layout(make_shape(Int<4>{}, 8))",
        "cute.make_identity_layout((4, 8))",
        "make_layout(Shape<_4,_8>{}, make_stride(E<0>{}, 1*E<1>{}))",
        "Layout<Shape<_4,_8>,Stride<ScaledBasis<_1,0>,ScaledBasis<Int<1>,1>>>",
    ],
)
def test_an_identity_layout_gives_coordinates(text: str) -> None:
    assert read_layout(text) == identity_layout((4, 8))
    with pytest.raises(LayoutParseError):
        parse_shape_stride(text)


def test_a_basis_in_a_mode_is_printed_from_the_inside() -> None:
    layout = read_layout("(4,8):(2@1@0,1@1)")
    assert str(layout(1, 3)) == "((0,2),3)"


@pytest.mark.parametrize(
    "text",
    ["(4,8):(1@0,1@1)", "((4,8),2):((2@1,-3@0),1@1@0)", "(4):(1@12)", "4:0@0", "(4,8):(0@1,1@0)", "(4,8):(1@0,0)"],
)
def test_a_layout_of_coordinates_is_printed_as_it_is_read(text: str) -> None:
    assert str(read_layout(text)) == text


def test_a_layout_that_an_operation_makes_of_coordinates_is_printed_as_it_is_read() -> None:
    tiled = zipped_divide(identity_layout((8, (2, 6))), (4, 2))
    assert str(tiled) == "((4,2),(2,6)):((1@0,1@0@1),(4@0,1@1@1))"
    assert read_layout(str(tiled)) == tiled
    diagonal = composition(identity_layout((4, 8)), Layout(3, 5))
    assert str(diagonal) == "3:1@0+1@1"
    with pytest.raises(LayoutParseError, match=r"found '\+' at column 6"):
        read_layout(str(diagonal))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "expected an integer or '(', found the end at column 1"),
        ("hello", "found 'hello'; a layout is written (4,8):(8,1), Layout<Shape<_4,_8>,Stride<_8,_1>> or Layout((4,8)"),
        ("Layout<Shape<_4,_8>,\n  Strid<_8,_1>>", "found 'Strid'; a layout is written"),
        ("Layout<Shape<_4,_8>,\n  Strid<_8,_1>>", "at line 2, column 3"),
        ("Layout(4,8,1)", "expected ')', found '1' at column 12"),
        ("Layout", "expected '<' or '(' after Layout, found the end"),
        ("Layout<Shape<_4,_8)", "expected ',' or '>', found ')' at column 19"),
        ("Sw<2,3> o 8:1", "expected an integer or '(', found 'Sw'"),
        ("Sw<2,3,3> o -8 o 8:1", "the offset of a swizzle must be a natural number, found -8 at column 13"),
        ("composition(Sw<2,3,3>, Int<-8>{}, 8:1)", "the offset of a swizzle must be a natural number, found -8"),
        ("Sw<2,3,3> o 0", "expected ':', found the end at column 14"),
        ("Sw<2,3,3>", "expected 'o', found the end at column 10"),
        ("Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)", "a pointer's swizzle counts bytes: write the layout of"),
        ("composition(Layout<_8>, Layout<_8>)", "expected Swizzle<B,M,S>, found 'L'"),
        ("make_identity_layout(16)", "the identity of an integer has no coordinates: write 16:1"),
        ("E<0>:1", "the extent 1@0 is a coordinate, expected integers at column 1"),
        ("(4,8):(1@0,1)", "of one kind"),
        ("Sw<2,3,3> o (4,8):(1@0,1@1)", "a swizzle of coordinates has no values"),
        ("Sw<3,3,1> o 8:1", "overlap"),
        ("Int<" + "9" * 70 + ">:1", "more than 64 digits"),
        ("Layout<" + "Shape<" * 70, "nested deeper than 64"),
        ("[" * 70, "nested deeper than 64"),
    ],
)
def test_what_cannot_be_read_is_rejected_with_the_spelling_wanted(text: str, problem: str) -> None:
    with pytest.raises(LayoutError) as raised:
        read_layout(text)
    assert problem in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_plain_layout_is_asked_for_by_name() -> None:
    with pytest.raises(LayoutParseError, match="a swizzle of a layout, expected a plain layout here at column 1"):
        parse_shape_stride("Sw<2,3,3> o (8,32):(32,1)")
    with pytest.raises(LayoutParseError, match="the stride 1@0 is a coordinate, expected integers"):
        parse_shape_stride("4:1@0")


class Theirs:
    """An object of another library, with these attributes."""

    def __init__(self, **attributes: object) -> None:
        self.__dict__ |= attributes

    def __str__(self) -> str:
        return str(self.__dict__.get("text", "?"))


class Number:
    """An integer of another library."""

    def __index__(self) -> int:
        return 8


def test_objects_of_other_libraries_are_read_by_their_parts() -> None:
    assert from_object(Theirs(shape=(4, [2, Number()]), stride=(2, (1, 8)))) == Layout.parse("(4,(2,8)):(2,(1,8))")
    inner = Theirs(shape=(8, 32), stride=(32, 1))
    swizzle = Theirs(num_bits=2, num_base=3, num_shift=3)
    expected = ComposedLayout(Swizzle(2, 3, 3), 0, Layout.parse("(8,32):(32,1)"))
    assert from_object(Theirs(inner=swizzle, offset=0, outer=inner)) == expected
    assert from_object(Theirs(outer=swizzle, offset=0, inner=inner)) == expected
    assert from_object(Theirs(layout_a=Theirs(text="S<2,3,3>"), offset=0, layout_b=inner)) == expected
    assert from_object(Theirs(swizzle=Theirs(bits=2, base=3, shift=3), layout=inner)) == expected
    assert from_object(Theirs(text="(4,8):(8,1)")) == Layout.parse("(4,8):(8,1)")
    assert from_object(Theirs(shape=Theirs(text="?"), stride=1, text="(4,8):(8,1)")) == Layout.parse("(4,8):(8,1)")
    assert from_object(expected) is expected
    assert from_object("Layout((4,8),(8,1))") == Layout.parse("(4,8):(8,1)")


def test_an_object_whose_parts_are_not_what_it_prints_is_rejected() -> None:
    with pytest.raises(LayoutError, match=r"prints as \(4,8\):\(1,4\), its shape and stride are \(4,8\):\(8,1\)"):
        from_object(Theirs(shape=(4, 8), stride=(8, 1), text="(4,8):(1,4)"))


def test_a_stride_that_is_a_basis_element_is_no_number() -> None:
    """An identity layout of the CuTe DSL: its strides have a value and a mode."""
    basis = [Theirs(value=1, mode=[0]), Theirs(value=1, mode=[1])]
    assert from_object(Theirs(shape=(4, 8), stride=tuple(basis), text="(4,8):(1@0,1@1)")) == identity_layout((4, 8))
    with pytest.raises(LayoutError, match="stride must be integers"):
        from_object(Theirs(shape=(4, 8), stride=tuple(basis)))


@pytest.mark.parametrize("value", [3, None, Theirs(), Theirs(shape=1.5, stride=1), Theirs(shape=True, stride=1)])
def test_an_object_that_is_no_layout_is_rejected(value: object) -> None:
    with pytest.raises(LayoutError, match="expected an object with shape and stride"):
        from_object(value)


def fuzz(count: int, seed: int) -> int:
    """How many of the random texts are layouts; each of the others is a LayoutError of one line."""
    rng = Random(seed)
    known = [text for texts in SPELLINGS.values() for text in texts]
    words = [
        *'()[]<>,:_481o{}*-@" \n',
        "Layout",
        "Shape",
        "Int<4>",
        "Sw<2,3,3>",
        "make_shape",
        "E<0>",
        "1@1",
        "stride=",
    ]
    read = 0
    for _ in range(count):
        text = rng.choice(known)
        for _ in range(rng.randrange(1, 4)):
            at, until = sorted(rng.choices(range(len(text) + 1), k=2))
            text = text[:at] + rng.choice([*words, ""]) + text[min(until, at + 2) :]
        try:
            read_layout(text)
            read += 1
        except LayoutError as error:
            assert "\n" not in str(error)
    return read


def test_random_texts_end_in_a_layout_or_a_line() -> None:
    assert fuzz(3000, 0) > 2


@pytest.mark.slow
def test_many_random_texts_end_in_a_layout_or_a_line() -> None:
    assert fuzz(many(20_000), 1) > 20
