# SPDX-License-Identifier: Apache-2.0
"""Who lists the kinds of subjects, for the rooms below the list.

A reader that is given a file of another kind says whose it is, so it asks all kinds. Their list, `verify.kinds`,
imports every kind and each kind imports this room; `verify/__init__.py`, which every module of ours runs first, puts
the list here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from pathlib import Path


class Signs(NamedTuple):
    """The keys by which a table of a file is a subject of one kind: it has at least one of them, and none of `but`."""

    keys: frozenset[str]
    of: str  # "this is a file of ..."
    but: frozenset[str] = frozenset()
    inside: bool = False  # whether a table of one of its operands may have them too: A = { row = "lane/4", col = "i" }

    def fit(self, table: Mapping[str, object]) -> bool:
        """Return whether a table is of this kind. A key with a table doesn't count: `[my.atom]` is a name with a dot.

        >>> Signs(frozenset({"row"}), "maps", inside=True).fit({"A": {"row": "lane"}})
        True
        """
        plain = {key for key, value in table.items() if not isinstance(value, dict)}
        inner = {key for value in table.values() if self.inside and isinstance(value, dict) for key in value}
        return bool(self.keys & (plain | inner)) and not self.but & plain


class SignedKind(Protocol):
    """What a reader of files asks of a kind."""

    @property
    def name(self) -> str:
        """Return its name."""

    @property
    def signs(self) -> Signs | None:
        """Return the keys by which a table is one of its subjects."""

    @property
    def suffixes(self) -> Collection[str]:
        """Return the suffixes of files that are its subjects and no TOML."""

    @property
    def document(self) -> Callable[[Mapping[str, object]], bool]:
        """Return the function that says whether a whole TOML file is one."""

    @property
    def noun(self) -> str:
        """Return the word for one of its subjects."""

    @property
    def lists(self) -> str:
        """Return the command that lists the names of its subjects; empty if there is none."""

    def describe(self, path: Path) -> str:
        """Return what a file of it is and which command reads it."""


_lists: list[Callable[[], Iterable[SignedKind]]] = []


def list_by(kinds: Callable[[], Iterable[SignedKind]]) -> None:
    """Set the function that lists the kinds."""
    _lists[:] = [kinds]


def list_kinds() -> list[SignedKind]:
    """Return every kind."""
    return [kind for kinds in _lists for kind in kinds()]
