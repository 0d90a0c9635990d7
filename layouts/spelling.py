# SPDX-License-Identifier: Apache-2.0
"""Layouts in every spelling that people paste, besides CuTe's notation, which `layouts.text` reads.

    ((4,8),2):((2,1),8)   (_4,8):(_8,_1)   [4,8]:[8,1]   [[4,8],[8,1]]          CuTe's print, and lists
    Layout<Shape<_4,_8>,Stride<_8,_1>>   Layout<Shape<Int<4>,C<8>>>{}           C++ types
    make_layout(make_shape(Int<4>{},8), make_stride(8,1))   LayoutRight{}       C++ calls
    Layout((4,8),(8,1))   make_layout((4,8), stride=(8,1))                      Python: pycute, the DSL
    Layout.parse('(4,8):(8,1)')   Layout("(4,8):(8,1)")                         Python: a text
    Sw<2,3,3> o _0 o (8,32):(32,1)   S<2,3,3> o 0 o ...   Swizzle<2,3,3> o ...  swizzles
    composition(Swizzle<2,3,3>{}, Layout<Shape<_8,_32>>{})   !cute.layout<"(4,8):(8,1)">
    (4,8):(1@0,1@1)   Layout<Shape<_4,_8>,Stride<E<0>,E<1>>>                    coordinates as values
    make_identity_layout(make_shape(4,8))   cute.make_identity_layout((4,8))    the same, an identity

Parentheses always make a tuple: ``(8)`` has rank 1 and depth 1, ``8`` has depth 0. A layout without strides is compact,
the leftmost mode fastest. `layouts.pasted` makes the value of a swizzle and of coordinates.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from layouts.int_tuple import MAX_DEPTH, IntTuple, leaves
from layouts.order import compact_col_major, compact_row_major
from layouts.reader import MAX_DIGITS, Reader

EXAMPLES = "(4,8):(8,1), Layout<Shape<_4,_8>,Stride<_8,_1>> or Layout((4,8),(8,1))"
INTEGER = re.compile(r"(?:cute::)?_?(-?[0-9]+)(?:\{\})?")
STATIC = re.compile(
    r"(?:cute::)?(?:Int|C|Integral|constant)\s*<\s*(?:int\s*,\s*)?(-?[0-9]+)\s*>(?:\s*(?:\{\s*\}|\(\)))?|_([0-9]+)(?:\{\})?"
)
WORD = re.compile(r"(?:cute(?:::|\.))?([A-Za-z]\w*)")
SWIZZLE = re.compile(
    r"(?:cute::)?(?:Sw|SW|S|Swizzle)\s*<\s*_?(\d{1,2})\s*,\s*_?(\d{1,2})\s*,\s*_?(-?\d{1,2})\s*>(?:\{\}|\(\))?"
)
OFFSET = re.compile(r"_?(-?[0-9]{1,18})(?:\{\})?\s*o\b\s*")
COUNTED = re.compile(r"(?:_?-?[0-9]+|(?:cute::)?(?:Int|C)\s*<\s*-?[0-9]+\s*>)(?:\{\})?\s*,")
ORIGIN = re.compile(r"(?:ArithTuple)?\(\s*_?0(?:\s*,\s*_?0)*\s*\)\s*o\b\s*")
MLIR = re.compile(r'!(?:cute|fly)\.layout\s*<\s*("?)\s*')
QUOTED = re.compile(r"Layout(?:\.parse)?\(\s*(['\"])\s*")  # as Python writes a layout of a text
PATH = re.compile(r"(?:@[0-9]{1,2})+")
TUPLES = frozenset(
    ("Shape", "Stride", "Step", "Coord", "Tile", "tuple", "make_shape", "make_stride", "make_tuple", "make_coord")
)
CLOSING = {"(": ")", "<": ">", "[": "]"}
ORDERS: Mapping[str, Callable[[IntTuple], IntTuple]] = {
    **dict.fromkeys(("LayoutLeft", "GenColMajor"), compact_col_major),
    **dict.fromkeys(("LayoutRight", "GenRowMajor"), compact_row_major),
}


def int_tuple(text: str) -> IntTuple:
    """Read an integer tuple in any spelling.

    >>> int_tuple("Shape<Shape<_4,_8>,Int<2>>"), int_tuple("make_shape(4, [8])")
    (((4, 8), 2), (4, (8,)))

    Raises LayoutParseError.
    """
    reader = Speller(text)
    extents = reader.shape()
    reader.end()
    return extents


def shape_stride(text: str) -> tuple[IntTuple, IntTuple]:
    """Read shape and stride of a layout in any spelling without swizzles. Raises LayoutParseError."""
    reader = Speller(text)
    pair = reader.plain()
    reader.end()
    if (basis := first_basis(pair[1])) is not None:
        raise reader.fail(f"the stride {basis} is a coordinate, expected integers", 0)
    return pair


@dataclass(frozen=True, slots=True)
class Basis:
    """A stride that is a multiple of a basis coordinate: 2@1 is 2 at mode 1, 1@0@1 is 1 in mode 0 of mode 1."""

    factor: int
    path: tuple[int, ...]  # modes from the outermost

    def __str__(self) -> str:
        return "@".join(map(str, (self.factor, *reversed(self.path))))


def first_basis(t: IntTuple) -> Basis | None:
    """Return the first basis element among the integers of a stride; None if there is none."""
    return next((leaf for leaf in cast("tuple[object, ...]", leaves(t)) if isinstance(leaf, Basis)), None)


def identity(shape: IntTuple, path: tuple[int, ...] = ()) -> IntTuple:
    """Return the strides of a tuple of extents whose values are the coordinates themselves.

    >>> [str(leaf) for leaf in leaves(identity((4, (2, 8))))]
    ['1@0', '1@0@1', '1@1@1']
    """
    if isinstance(shape, tuple):
        return tuple(identity(mode, (*path, number)) for number, mode in enumerate(shape))
    return cast(int, Basis(1, path))


def factors(stride: Any) -> Any:
    """Return a stride with the factors of basis elements in their places.

    >>> factors((Basis(2, (0,)), (4, 1)))
    (2, (4, 1))
    """
    if isinstance(stride, tuple):
        return tuple(map(factors, stride))
    return stride.factor if isinstance(stride, Basis) else stride


@dataclass(frozen=True, slots=True)
class Written:
    """A layout as it is written: swizzles with their offsets, outermost first, then shape and stride.

    A stride's integers may be :class:`Basis` elements.
    """

    swizzles: tuple[tuple[tuple[int, int, int], int], ...]
    shape: IntTuple
    stride: IntTuple


def parse_written(text: str) -> Written:
    """Read a layout in any spelling, swizzles and coordinates included, without validation.

    >>> parse_written("S<2,3,3> o 0 o (8,32):(32,1)").swizzles, str(parse_written("4:1@0").stride)
    ((((2, 3, 3), 0),), '1@0')

    Raises LayoutParseError.
    """
    reader = Speller(text)
    written = reader.layout()
    reader.end()
    return written


def _complete(shape: IntTuple) -> str:
    """Name the layouts that a shape without strides may mean, as a clause; empty if its extents are none.

    >>> _complete((4, 8))
    'a shape needs strides, as (4,8):(1,4) or (4,8):(8,1); '
    """
    if not all(extent > 0 for extent in leaves(shape)):
        return ""
    written = [f"{shape}:{order(shape)}" for order in (compact_col_major, compact_row_major)]
    made = dict.fromkeys(layout.replace(" ", "").replace(",)", ")") for layout in written)
    ways = " or ".join(made)
    return f"a shape needs strides{f', as {ways}' if len(ways) < 100 else ''}; "


class Speller(Reader):
    """A reader of all spellings."""

    def end(self) -> None:
        """Raise LayoutParseError unless the whole text is read."""
        if self.at < len(self.text) and (SWIZZLE.match(self.text) or self.sees("o ")):
            raise self.fail("a swizzle of a layout, expected a plain layout here", 0)
        super().end()

    def word(self) -> str:
        """Return the next C++ or Python word without `cute::` and `cute.`; empty, and nothing read, if it is none."""
        match = WORD.match(self.text, self.at)
        return match[1] if match else ""

    def take_word(self) -> None:
        """Read the next word."""
        match = WORD.match(self.text, self.at)
        self.at = match.end() if match else self.at
        self.blank()

    def layout(self, level: int = 0) -> Written:
        """Return a layout behind any number of swizzles."""
        swizzles: list[tuple[tuple[int, int, int], int]] = []
        word = self.word()
        if word in ("composition", "ComposedLayout"):
            return self.read_composition(CLOSING[self.open_bracket()], level)
        while SWIZZLE.match(self.text, self.at):
            swizzle = self.swizzle()
            self.expect("o")
            offset = 0
            if match := OFFSET.match(self.text, self.at):
                offset = self.offset(int(match[1]), self.at)
                self.at = match.end()
                self.blank()
            swizzles.append((swizzle, offset))
        if self.word() == "smem_ptr":
            raise self.fail("a pointer's swizzle counts bytes: write the layout of elements, Sw<B,M,S> o 0 o LAYOUT")
        if match := ORIGIN.match(self.text, self.at):  # the origin of a tensor of coordinates
            self.at = match.end()
            self.blank()
        return Written(tuple(swizzles), *self.plain())

    def read_composition(self, closing: str, level: int) -> Written:
        """Return the arguments of composition: a swizzle, perhaps an offset, and a layout."""
        if level == MAX_DEPTH:
            raise self.fail(f"compositions nested deeper than {MAX_DEPTH}")
        if not SWIZZLE.match(self.text, self.at):
            raise self.fail(f"expected Swizzle<B,M,S>, found {self.next_character()}")
        swizzle, offset = self.swizzle(), 0
        self.expect(",")
        if COUNTED.match(self.text, self.at):
            start = self.at
            offset = self.offset(self.number(), start)
            self.expect(",")
        inner = self.layout(level + 1)
        self.close(closing)
        return Written(((swizzle, offset), *inner.swizzles), inner.shape, inner.stride)

    def swizzle(self) -> tuple[int, int, int]:
        """Return the three numbers of a swizzle."""
        match = SWIZZLE.match(self.text, self.at)
        if match is None:
            raise self.fail("expected a swizzle such as Sw<2,3,3>")
        self.at = match.end()
        self.blank()
        return int(match[1]), int(match[2]), int(match[3])

    def offset(self, number: int, start: int) -> int:
        """Return a number that is added before a swizzle, read from a place on."""
        if number < 0:
            raise self.fail(f"the offset of a swizzle must be a natural number, found {number}", start)
        return number

    def open_bracket(self) -> str:
        """Return the bracket after a word, read with it."""
        word = self.word()
        self.take_word()
        mark = self.text[self.at : self.at + 1]
        if mark not in CLOSING:
            raise self.fail(f"expected '<' or '(' after {word}, found {self.next_character()}")
        self.expect(mark)
        return mark

    def close(self, mark: str) -> None:
        """Read a closing bracket, and the {} of a C++ value."""
        self.expect(mark)
        self.braces()

    def plain(self) -> tuple[IntTuple, IntTuple]:
        """Return a layout without swizzles."""
        if SWIZZLE.match(self.text, self.at) or self.word() in ("composition", "ComposedLayout"):
            raise self.fail("a swizzle of a layout, expected a plain layout here")
        if match := QUOTED.match(self.text, self.at):
            return self.read_quoted(match)
        if self.word() in ("Layout", "make_layout"):
            return self.read_call()
        if self.word() == "make_identity_layout":
            closing = CLOSING[self.open_bracket()]
            shape = self.shape()
            if not isinstance(shape, tuple):
                raise self.fail(f"the identity of an integer has no coordinates: write {shape}:1")
            self.close(closing)
            return shape, identity(shape)
        if match := MLIR.match(self.text, self.at):
            self.at = match.end()
            if MLIR.match(self.text, self.at):
                raise self.fail("a layout inside a layout")
            inner = self.plain()
            if match[1]:
                self.expect('"')
            self.expect(">")
            return inner
        listed = self.sees("[")
        shape = self.shape()
        if listed and self.at == len(self.text) and isinstance(shape, tuple) and len(shape) == 2:
            return shape
        if self.at == len(self.text):
            raise self.fail(f"{_complete(shape)}expected ':', found the end")
        self.expect(":")
        return shape, self.int_tuple()

    def read_quoted(self, head: re.Match[str]) -> tuple[IntTuple, IntTuple]:
        """Return a layout in quotes, as `Layout.parse('(4,8):(8,1)')` has it; `head` is what precedes it."""
        self.at = head.end()
        if QUOTED.match(self.text, self.at):
            raise self.fail("a layout inside a layout")
        inner = self.plain()
        self.expect(head[1])
        self.expect(")")
        return inner

    def read_call(self) -> tuple[IntTuple, IntTuple]:
        """Return the arguments of Layout<...>, make_layout(...) or Layout(...): a shape, and perhaps strides."""
        closing = CLOSING[self.open_bracket()]
        shape = self.shape()
        stride: IntTuple | None = None
        if self.sees(","):
            self.expect(",")
            if order := ORDERS.get(self.word()):
                self.take_word()
                if self.sees("("):
                    self.expect("(")
                    self.expect(")")
                self.braces()
                stride = order(shape)
            elif not self.sees(closing):
                stride = self.argument("stride")
        if self.sees(","):
            self.expect(",")
        self.close(closing)
        return shape, compact_col_major(shape) if stride is None else stride

    def braces(self) -> None:
        """Skip the {} of a C++ value, if it is there."""
        if self.sees("{"):
            self.expect("{")
            self.expect("}")

    def shape(self) -> IntTuple:
        """Return an integer tuple of extents, perhaps behind its name."""
        start = self.at
        extents = self.argument("shape")
        if (basis := first_basis(extents)) is not None:
            raise self.fail(f"the extent {basis} is a coordinate, expected integers", start)
        return extents

    def argument(self, name: str) -> IntTuple:
        """Return an argument, perhaps behind its name: stride=(8,1)."""
        if self.word() == name:
            self.take_word()
            self.expect("=")
        return self.int_tuple()

    def int_tuple(self, level: int = 0) -> IntTuple:
        """Return an integer, or items in brackets, which may follow a word such as Shape."""
        marks = "(["
        if self.word() in TUPLES:
            self.take_word()
            marks = "(<"
            if not any(map(self.sees, marks)):
                raise self.fail(f"expected '<' or '(', found {self.next_character()}")
        mark = next(filter(self.sees, marks), "")
        if not mark:
            return self.integer()
        parts = self.items(mark, CLOSING[mark], level)
        self.braces()
        return parts

    def integer(self) -> int:
        """Return an integer, a C++ constant such as Int<4>{}, or a basis element, which counts as an integer here."""
        token = INTEGER.match(self.text, self.at)
        if token is None:
            return self.constant()
        if len(token[1]) > MAX_DIGITS:
            raise self.fail(f"integer of more than {MAX_DIGITS} digits")
        start, self.at = self.at, token.end()
        self.blank()
        if path := PATH.match(self.text, self.at):
            self.at = path.end()
            self.blank()
            modes = tuple(int(mode) for mode in re.findall("[0-9]+", path[0]))
            return cast(int, Basis(int(token[1]), modes[::-1]))
        if self.sees("*"):
            self.expect("*")
            basis = cast(Any, self.constant())
            if not isinstance(basis, Basis):
                raise self.fail("expected E<MODE> after '*'", start)
            return cast(int, Basis(int(token[1]) * basis.factor, basis.path))
        return int(token[1])

    def constant(self) -> int:
        """Int<4>{}, C<4>, E<0> or ScaledBasis<_2,0>."""
        if STATIC.match(self.text, self.at):
            return self.number()
        word = self.word()
        if word in ("E", "ScaledBasis"):
            start = self.at
            closing = CLOSING[self.open_bracket()]
            numbers = [self.number()]
            while self.sees(","):
                self.expect(",")
                numbers.append(self.number())
            self.close(closing)
            factor, path = (1, numbers) if word == "E" else (numbers[0], numbers[1:])
            if not path or not all(0 <= mode < MAX_DEPTH for mode in path):
                raise self.fail(f"{word} needs the number of a mode", start)
            return cast(int, Basis(factor, tuple(path)))
        if self.sees("_"):
            raise self.fail("'_' means a whole mode and is for tilers only, expected an integer")
        if word:
            raise self.fail(f"expected an integer or '(', found {word!r:.40}; a layout is written {EXAMPLES}")
        raise self.fail(f"expected an integer or '(', found {self.next_character()}")

    def number(self) -> int:
        """Return a literal or a C++ constant."""
        match = STATIC.match(self.text, self.at) or INTEGER.match(self.text, self.at)
        if match is None:
            raise self.fail(f"expected a number, found {self.next_character()}")
        digits = next(filter(None, match.groups()))
        if len(digits) > MAX_DIGITS:
            raise self.fail(f"integer of more than {MAX_DIGITS} digits")
        self.at = match.end()
        self.blank()
        return int(digits)
