# SPDX-License-Identifier: Apache-2.0
"""A picture as PNG, drawn from its SVG by resvg, which the extra `png` installs."""

from __future__ import annotations

from collections.abc import Sequence
from sys import maxsize

from verify.core.errors import UsageError
from verify.pictures import palette, svg
from verify.pictures.picture import Picture


def document(pictures: Sequence[Picture]) -> bytes:
    """Return one or several pictures, below each other, as a PNG in the colours of the light scheme.

    Raises UsageError without resvg.
    """
    try:
        import resvg_py
    except ImportError as error:
        raise UsageError("--png needs resvg: pip install 'lanecheck[png]', or draw with --svg") from error
    drawn = svg.document(pictures, maxsize).replace(palette.STYLE, palette.plain())  # resvg knows no variables of CSS
    drawn = drawn.replace('class="n', 'xml:space="preserve" class="n')  # nor that white space is kept
    return bytes(resvg_py.svg_to_bytes(svg_string=drawn, background="#ffffff", monospace_family="DejaVu Sans Mono"))
