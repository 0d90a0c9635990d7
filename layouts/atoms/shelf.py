# SPDX-License-Identifier: Apache-2.0
"""The shipped atoms by name, read when they are asked for.

The files are ours and keep one form: each entry begins with a line `["NAME"]`. So their names are known after a look
at those lines, and an entry's text is parsed when one of its atoms is wanted. Tests hold this to `load`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from layouts.atoms.atom import IncompleteAtom
from layouts.atoms.document import parse
from layouts.atoms.entry import Entry, Family
from layouts.atoms.errors import AtomFileError
from layouts.atoms.family import family as read_family
from layouts.atoms.reading import AnyAtom, stated
from layouts.atoms.tables import named
from layouts.atoms.template import Word
from layouts.int_tuple import IntTuple

HEADER = re.compile(r'^\["(.+)"\]$', re.MULTILINE)


@cache
def registry() -> Shelf:
    """Every shipped atom by name: files in the order of their names, atoms in the order of the file."""
    shelf = Shelf()
    for path in sorted(Path(__file__).parent.glob("*.toml")):
        shelf.add(str(path), path.read_text(encoding="utf-8"))
    return shelf


@dataclass(slots=True, eq=False)
class Shelf(Mapping[str, AnyAtom]):
    """A read-only mapping from names to atoms, over entries that are still text."""

    texts: dict[str, tuple[str, str]] = field(default_factory=dict)  # entry -> file, TOML text
    read: dict[str, AnyAtom] = field(default_factory=dict)
    parsed: dict[str, IntTuple] = field(default_factory=dict)
    opened: dict[str, Family] = field(default_factory=dict)
    members: dict[str, dict[str, dict[str, Word]]] = field(default_factory=dict)  # entry -> name -> parameters
    pattern: dict[str, str] = field(default_factory=dict)  # name -> its entry, of families that were opened

    def add(self, file: str, text: str) -> None:
        """Put the entries of a file on the shelf, unread; raises AtomFileError for a name that stands twice."""
        heads = [*HEADER.finditer(text)]
        ends = [*(head.start() for head in heads[1:]), len(text)]
        for head, end in zip(heads, ends, strict=True):
            if head[1] in self.texts:
                raise AtomFileError(file, head[1], f"stands in {self.texts[head[1]][0]} too")
            self.texts[head[1]] = file, text[head.start() : end]

    def __getitem__(self, name: str) -> AnyAtom:
        if name not in self.read:
            self.read[name] = self._find(name)
        return self.read[name]

    def __iter__(self) -> Iterator[str]:
        return self.beginning("")

    def beginning(self, *starts: str) -> Iterator[str]:
        """The names of entries that may have an atom with one of these beginnings; the other families stay closed.

        >>> names = list(registry().beginning("SM80_16x8x16_F32"))
        >>> len(names), "SM80_16x8x16_F32F16F16F32_TN" in names, any("{" in name for name in names)
        (2, True, False)
        """
        for name in self.texts:
            fixed = name.partition("{")[0]
            if "{" not in name:
                if any(name.startswith(start) for start in starts):
                    yield name
            elif any(fixed.startswith(start) or start.startswith(fixed) for start in starts):
                yield from self.named(name)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def families(self) -> list[Family]:
        """The entries with parameters."""
        return [self.family(name) for name in self.texts if "{" in name]

    def family(self, name: str) -> Family:
        """A family by the name of its entry."""
        if name not in self.opened:
            self.opened[name] = read_family(self._entry(name))
        return self.opened[name]

    def named(self, pattern: str) -> dict[str, dict[str, Word]]:
        """The instances of a family, each with its parameters."""
        if pattern not in self.members:
            self.members[pattern] = dict(self.family(pattern).names())
            self.pattern.update(dict.fromkeys(self.members[pattern], pattern))
        return self.members[pattern]

    def _find(self, name: str) -> AnyAtom:
        if name in self.texts and "{" not in name:
            return _whole(self._entry(name))
        if name not in self.pattern:
            for pattern in self.texts:
                if "{" in pattern and name.startswith(pattern.partition("{")[0]):
                    self.named(pattern)
        pattern = self.pattern[name]
        return _whole(self.family(pattern).instance(name, self.members[pattern][name]))

    def _entry(self, name: str) -> Entry:
        file, text = self.texts[name]
        return replace(named(file, name, parse(text.encode(), file)[name]), parsed=self.parsed)


def _whole(entry: Entry) -> AnyAtom:
    """The atom of a shipped entry, which leaves nothing to its instruction."""
    atom = stated(entry)
    if isinstance(atom, IncompleteAtom):
        entry.fail(atom.gaps[0], "missing")
    return atom
