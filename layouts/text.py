# SPDX-License-Identifier: Apache-2.0
"""Integer tuples and layouts as text, in CuTe's notation ``((4,8),(2,2)):((32,1),(16,8))``.

Parentheses always make a tuple: ``(8)`` has rank 1 and depth 1, ``8`` has depth 0. CuTe's static integers
``_4`` are read as 4. Any other spelling is left to `layouts.spelling`, which is imported for it alone.
"""

from __future__ import annotations

import re

from layouts.errors import LayoutError, LayoutParseError
from layouts.int_tuple import IntTuple
from layouts.reader import Reader
from layouts.spelling import int_tuple, shape_stride

NUMBERS = r"[\[(]?\s*[0-9]{1,9}(?:\s*[,x]\s*[0-9]{1,9}){0,7}\s*[\])]?"


def format_int_tuple(t: IntTuple) -> str:
    """Return the text of an integer tuple, without blanks; a stride that is a coordinate is written as a stride.

    >>> format_int_tuple(((4, 8), (2,)))
    '((4,8),(2))'
    """
    if isinstance(t, tuple):
        return "(" + ",".join(map(format_int_tuple, t)) + ")"
    return str(getattr(t, "as_stride", t))


def parse_int_tuple(text: str) -> IntTuple:
    """Read an integer tuple.

    >>> parse_int_tuple("((_4,8),(2))")
    ((4, 8), (2,))

    Raises LayoutParseError.
    """
    try:
        reader = Reader(text)
        result = reader.int_tuple()
        reader.end()
    except LayoutParseError:
        return int_tuple(text)
    return result


def parse_shape_stride(text: str) -> tuple[IntTuple, IntTuple]:
    """Read ``shape:stride`` without validation: the profiles may differ, the extents may be of any sign.

    >>> parse_shape_stride("(4,8):(8,1)"), parse_shape_stride("Layout<Shape<_4,_8>>")
    (((4, 8), (8, 1)), ((4, 8), (1, 4)))

    Raises LayoutParseError, also for a swizzle and for strides that are coordinates.
    """
    if not isinstance(text, str):
        raise LayoutError(f"expected the text of a layout, got {type(text).__name__} {text}")
    try:
        reader = Reader(text)
        shape = reader.int_tuple()
        reader.expect(":")
        stride = reader.int_tuple()
        reader.end()
    except LayoutParseError:
        return shape_stride(text)
    return shape, stride


def numbers(text: str) -> list[int] | None:
    """Return the numbers of a text that joins them by commas or by x; None for any other text.

    >>> numbers("16x8x16"), numbers("2, 2"), numbers("[2, 2]"), numbers("2by2")
    ([16, 8, 16], [2, 2], [2, 2], None)
    """
    return [int(word) for word in re.findall(r"[0-9]+", text)] if re.fullmatch(NUMBERS, text.strip()) else None
