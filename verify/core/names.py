# SPDX-License-Identifier: Apache-2.0
"""The entries that a name on the command line selects, and the nearest names where it selects none."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

from verify.core.errors import SpecError
from verify.core.registry import list_kinds


class Named(Protocol):
    """Anything with a name."""

    @property
    def name(self) -> str:
        """Its name."""


S = TypeVar("S", bound=Named)


def select(patterns: Sequence[str], names: Iterable[str], what: str) -> list[str]:
    """Return the names that the patterns select, in the order of `names`.

    A pattern is an exact name (which selects only itself), a prefix that ends at `_`, `<` or the end, or a glob.
    Case is ignored if no name matches with the case as written.
    Raises SpecError, with the nearest names, for a pattern that selects nothing.

    >>> select(["SM80_8x8x4"], ["SM80_8x8x4_F64", "SM80_8x8x40"], "atom")
    ['SM80_8x8x4_F64']
    """
    known = list(names)
    wanted: set[str] = set()
    for pattern in patterns:
        selected = {pattern} & set(known) or {name for name in known if means(pattern, name)}
        selected = selected or {name for name in known if means(pattern.lower(), name.lower())}
        if not selected:
            raise SpecError("", f"no {what} is named {pattern!r}{nearest(pattern, known, what)}")
        wanted |= selected
    return [name for name in known if name in wanted]


def means(pattern: str, name: str) -> bool:
    """Whether a pattern selects a name: as a glob, or as a prefix that ends where a word of the name does."""
    if any(c in pattern for c in "*?["):
        return fnmatch.fnmatchcase(name, pattern)
    if not pattern or not name.startswith(pattern):
        return False
    return pattern[-1] in "_<" or name[len(pattern) : len(pattern) + 1] in ("", "_", "<")


def nearest(word: str, known: Sequence[str], what: str = "") -> str:
    """Return a clause: the names that the word begins, or the nearest; of a file what it is for; else how to list all.

    >>> nearest("coalesc", ["coalesce", "composition"])
    '; nearest: coalesce'
    >>> nearest("sm80_16x8", ["SM80_16x8x8_TN", "SM80_16x8x16_TN", "SM80_8x8x4_TN"])
    '; 2 begin so, give one: SM80_16x8x8_TN, SM80_16x8x16_TN'
    """
    if os.path.isfile(word):  # unlike Path.is_file, no error for a text that cannot be a path
        from pathlib import Path  # which takes half as long as the help of the commands

        from verify.core.files import purpose

        return f"; {purpose(Path(word))}"
    begun = [name for name in known if word and name.lower().startswith(word.lower())]
    if len(begun) > 1 or any(means(word, name) for name in begun):
        return f"; {len(begun)} begin so, give one: {', '.join(begun[:3])}{', …' if len(begun) > 3 else ''}"
    import difflib

    ways = {kind.noun: kind.lists for kind in list_kinds() if kind.lists}
    ways |= {"command": "lanecheck --help", "finding": "lanecheck explain", "name": "lanecheck list"}
    lowered = {name.lower(): name for name in known}
    close = [lowered[c] for c in difflib.get_close_matches(word.lower(), lowered, n=3, cutoff=0.5)]
    if close:
        return f"; nearest: {', '.join(close)}"
    return f"; known: {', '.join(known)}" if what == "key" else f"; {ways.get(what, '--list')} shows all"
