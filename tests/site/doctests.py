# SPDX-License-Identifier: Apache-2.0
"""Puts the doctests of docstrings into fences, so that the site shows them as code."""

from __future__ import annotations

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\s*$).*)*", re.MULTILINE)


def fence_doctests(text: str) -> str:
    """A docstring with a fence around each doctest.

    >>> fence_doctests("One.\\n\\n>>> 1 + 1\\n2\\n").splitlines()
    ['One.', '', '```pycon', '>>> 1 + 1', '2', '```']
    """
    return EXAMPLE.sub(lambda example: f"```pycon\n{example[0]}\n```", text)


class Fences(griffe.Extension):
    """Rewrites the docstring of every object that a page shows."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Fence the doctests of an object."""
        if obj.docstring is not None:
            obj.docstring.value = fence_doctests(obj.docstring.value)
