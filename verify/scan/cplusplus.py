# SPDX-License-Identifier: Apache-2.0
"""Layouts as C++ text.

>>> write_type("((4,8),2):((32,1),8)")
'Layout<Shape<Shape<_4,_8>,_2>, Stride<Stride<_32,_1>,_8>>'
"""

from __future__ import annotations

from typing import Any

from layouts import Layout, LayoutError

ALIASES = {"A": "ALayout", "B": "BLayout", "C": "CLayout", "E": "ELayout", "SFA": "SFALayout", "SFB": "SFBLayout",
           "Src": "SrcLayout", "Dst": "DstLayout", "Ref": "RefLayout", "thr": "ThrID"}  # fmt: skip
NUMBERED = frozenset(
    (*range(11), 12, *range(16, 257, 8), 384, 512, 768, *(1 << n for n in range(10, 20)))
)  # that CuTe names


def write_type(text: str) -> str:
    """Return the C++ type of a layout. Raises LayoutError."""
    layout = Layout.parse(text)
    return f"Layout<{_tuple(layout.shape, 'Shape')}, {_tuple(layout.stride, 'Stride')}>"


def _tuple(value: Any, name: str) -> str:
    if isinstance(value, tuple):
        return f"{name}<{','.join(_tuple(part, name) for part in value)}>"
    return f"_{value}" if value in NUMBERED else f"Int<{value}>"


def declare_layout(part: str, text: str) -> str:
    """Return the declaration of an operand's layout in a trait; empty for a text that isn't a layout.

    >>> declare_layout("B", "(8,4):(1,8)"), declare_layout("B", "none")
    ('using BLayout = Layout<Shape<_8,_4>, Stride<_1,_8>>;', '')
    """
    try:
        return f"using {ALIASES[part]} = {write_type(text)};"
    except (LayoutError, KeyError):
        return ""
