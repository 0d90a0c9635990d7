# SPDX-License-Identifier: Apache-2.0
"""The shipped atoms by name, parsed on first use.

Each entry of a shipped file begins with a line `["NAME"]`. So these lines give all names, and an entry's text is
parsed when one of its atoms is used. Tests compare the result with that of `load`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from layouts.atoms.atom import IncompleteAtom
from layouts.atoms.family import family as read_family
from layouts.atoms.reading import AnyAtom, read_atom
from layouts.int_tuple import IntTuple
from layouts.toml.document import parse
from layouts.toml.entry import Entry, Family
from layouts.toml.errors import AtomFileError
from layouts.toml.tables import find_named
from layouts.toml.template import Word

HEADER = re.compile(r'\n\["(.+)"\]$', re.MULTILINE)  # the line before it ends: that is found faster than a beginning


@cache
def registry() -> Shelf:
    """All shipped atoms by name: files in the order of their names, atoms in the order of the file."""
    shelf = Shelf()
    for path in sorted(Path(__file__).parent.glob("*.toml")):
        shelf.add(str(path), path.read_text(encoding="utf-8"))
    return shelf


@dataclass(slots=True, eq=False)
class Shelf(Mapping[str, AnyAtom]):
    """A read-only mapping from names to atoms, which parses an entry when one of its atoms is used."""

    texts: dict[str, tuple[str, str]] = field(default_factory=dict)  # entry -> file, TOML text
    read: dict[str, AnyAtom] = field(default_factory=dict)  # name -> atom, of those that were used
    parsed: dict[str, IntTuple] = field(default_factory=dict)  # layout texts that parsed -> their shapes
    opened: dict[str, Family] = field(default_factory=dict)  # entry -> family, of those that were used
    members: dict[str, dict[str, dict[str, Word]]] = field(default_factory=dict)  # entry -> name -> parameters
    pattern: dict[str, str] = field(default_factory=dict)  # name -> its entry, of the families in `members`

    def add(self, file: str, text: str) -> None:
        """Add the entries of a file, unparsed. Raises AtomFileError for a name that is there already."""
        heads = [*HEADER.finditer(f"\n{text}")]  # starts in `text`
        ends = [*(head.start() for head in heads[1:]), len(text)]
        for head, end in zip(heads, ends, strict=True):
            if head[1] in self.texts:
                raise AtomFileError(file, head[1], f"is in {self.texts[head[1]][0]} too")
            self.texts[head[1]] = file, text[head.start() : end]

    def __getitem__(self, name: str) -> AnyAtom:
        if name not in self.read:
            self.read[name] = self._find(name)
        return self.read[name]

    def __iter__(self) -> Iterator[str]:
        return self.beginning("")

    def beginning(self, *starts: str) -> Iterator[str]:
        """Yield the names of entries that may have an atom with one of these beginnings; no other family is parsed.

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
                yield from self.list_instances(name)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def families(self) -> list[Family]:
        """Return the entries with parameters."""
        return [self.family(name) for name in self.texts if "{" in name]

    def family(self, name: str) -> Family:
        """Return a family by the name of its entry."""
        if name not in self.opened:
            self.opened[name] = read_family(self._entry(name))
        return self.opened[name]

    def list_instances(self, pattern: str) -> dict[str, dict[str, Word]]:
        """Return the instances of a family, each with its parameters."""
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
                    self.list_instances(pattern)
        pattern = self.pattern[name]
        return _whole(self.family(pattern).instance(name, self.members[pattern][name]))

    def _entry(self, name: str) -> Entry:
        file, text = self.texts[name]
        return replace(find_named(file, name, parse(text.encode(), file)[name]), parsed=self.parsed)


def _whole(entry: Entry) -> AnyAtom:
    """Return the atom of a shipped entry, which must have all keys."""
    atom = read_atom(entry)
    if isinstance(atom, IncompleteAtom):
        entry.fail(atom.gaps[0], "missing")
    return atom
