# SPDX-License-Identifier: Apache-2.0
"""All declarations of some headers, by namespace, and how a name is looked up among them.

An unnamed namespace belongs to its header: its names are first looked for there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from verify.scan.declarations import Item, items
from verify.scan.text import Header

COMMON = ("cute", "cutlass", "std", "detail")  # namespaces of types that are not among the headers


@dataclass(eq=False)
class Namespace:
    """A namespace: its declarations by name, and where else names are looked up."""

    path: tuple[str, ...]
    parent: Namespace | None
    declared: dict[str, list[Item]] = field(default_factory=dict)
    inner: dict[str, Namespace] = field(default_factory=dict)
    directives: list[str] = field(default_factory=list)

    def child(self, name: str) -> Namespace:
        """Return the namespace inside this one, made where there is none."""
        if name not in self.inner:
            self.inner[name] = Namespace((*self.path, name), self)
        return self.inner[name]

    def at(self, path: Sequence[str]) -> Namespace | None:
        """Return the namespace at a path from here."""
        space: Namespace | None = self
        for name in path:
            space = space.inner.get(name) if space else None
        return space


@dataclass(frozen=True, slots=True)
class Param:
    """One parameter of a template."""

    name: str
    typed: bool  # whether it is a type
    default: str  # empty: none
    pack: bool
    type: str = ""  # of a number: its type


class Program:
    """The declarations of some headers. Raises ReadError for a header that cannot be read."""

    def __init__(self) -> None:
        self.root = Namespace((), None)
        self.spaces: dict[Item, Namespace] = {}  # of each struct and alias

    def add(self, header: Header) -> None:
        """Take in all declarations of a header. Raises ReadError, and then takes none."""
        declared = list(self._walk(header, 0, len(header.text), self.root))
        for item, space in declared:
            self.spaces[item] = space
            if item.kind == "directive":
                space.directives.append(item.name)
            elif item.kind == "using":
                space.declared.setdefault(item.name.rpartition("::")[2], []).append(item)
            else:
                space.declared.setdefault(item.name, []).append(item)

    def _walk(self, header: Header, start: int, end: int, space: Namespace) -> Iterator[tuple[Item, Namespace]]:
        for item in items(header, start, end):
            if item.kind == "namespace" and item.body:
                inner = space
                for name in item.name.split("::") if item.name else ():
                    inner = inner.child(name)
                yield from self._walk(header, *item.body, inner)
            else:
                yield item, space

    def structs(self, *names: str) -> Iterator[tuple[Item, Namespace]]:
        """Every struct of some names, in the order of the headers."""
        for item, space in self.spaces.items():
            if item.kind == "struct" and item.name in names:
                yield item, space

    def find(
        self, name: str, space: Namespace, header: Header | None
    ) -> tuple[list[Item], Namespace] | Namespace | None:
        """Return what a name means in a namespace: its declarations with their namespace, or a namespace.

        None: unknown.
        """
        at: Namespace | None = space
        while at is not None:
            meaning = self.within(name, at, header)
            if meaning is not None:
                return meaning
            at = at.parent
        return None

    def within(
        self, name: str, space: Namespace, header: Header | None
    ) -> tuple[list[Item], Namespace] | Namespace | None:
        """Return what a name means in one namespace, or in those that its directives name."""
        if declared := space.declared.get(name):
            if len(declared) > 1 and declared[0].kind != "struct":
                declared = [item for item in declared if item.header is header] or declared
            return declared, space
        if name in space.inner:
            return space.inner[name]
        for path in space.directives:
            start: Namespace | None = space
            while start is not None:
                named = start.at(path.split("::"))
                if named is not None and named is not space:
                    if declared := named.declared.get(name):
                        return declared, named
                    if name in named.inner:
                        return named.inner[name]
                start = start.parent
        return None


@lru_cache(maxsize=4096)
def parameters(text: str) -> tuple[Param, ...]:
    """Return the parameters of a template.

    >>> [(p.name, p.type, p.default, p.pack) for p in parameters("class A, int N = 8, class... Args")]
    [('A', '', '', False), ('N', 'int', '8', False), ('Args', '', '', True)]
    """
    return tuple(_parameter(param) for param in split(text) if param.strip())


def _parameter(text: str) -> Param:
    declared, _, default = text.partition("=")
    words = re.findall(r"[\w:]+|\.\.\.", declared)
    names = [word for word in words if word != "..."]
    named = len(names) > 1
    return Param(
        names[-1] if named else "",
        names[0] in ("class", "typename") if names else False,
        default.strip(),
        "..." in words,
        "" if names and names[0] in ("class", "typename") else names[0] if named else "",
    )


def split(text: str) -> Iterator[str]:
    """Yield a list at its commas, those in brackets left alone."""
    depth, start = 0, 0
    for match in re.finditer(r"[<>(),]", text):
        mark = match[0]
        depth += {"<": 1, "(": 1, ">": -1, ")": -1, ",": 0}[mark]
        if mark == "," and depth == 0:
            yield text[start : match.start()]
            start = match.end()
    yield text[start:]
