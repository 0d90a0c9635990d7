# SPDX-License-Identifier: Apache-2.0
"""A family of atoms: one entry with parameters, of which each choice of values gives an atom.

    ["SM90_64x{N}x16_F16F16F16_SS"]
    params = { N = [8, 16, 24] }
    shape  = [64, "{N}", 16]
    C      = "((4,8,4),(2,2,{N//8})):((128,1,16),(64,8,512))"

Every parameter stands in the name, so that names tell instances apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from layouts.atoms import template
from layouts.atoms.entry import Entry, kind
from layouts.atoms.template import PLACE, TemplateError, Word

MOST = 4096  # instances of one entry
PARAMETER = re.compile(r"[A-Za-z][A-Za-z0-9]*")
WORD = re.compile(r"[A-Za-z0-9_]+")


@dataclass(frozen=True, slots=True)
class Family:
    """An entry with its parameters: each a list of whole numbers, or of words."""

    name: str  # with {N} where a parameter stands
    params: Mapping[str, Sequence[Word]]
    entry: Entry  # the table as it stands in the file, without `params`

    def names(self) -> Iterator[tuple[str, dict[str, Word]]]:
        """The names of all instances with their parameters, the last parameter varying fastest."""
        for values in product(*self.params.values()):
            chosen = dict(zip(self.params, values, strict=True))
            yield template.fill(self.name, chosen), chosen

    def instance(self, name: str, params: Mapping[str, Word]) -> Entry:
        """The entry of one instance; raises AtomFileError where a text cannot be filled in."""
        filled = Entry(self.entry.file, name, {}, self.entry.parsed, self, params)
        table = {key: _filled(filled, key, value) for key, value in self.entry.table.items()}
        return Entry(self.entry.file, name, table, self.entry.parsed, self, params)

    def said(self, name: str) -> dict[str, str] | None:
        """What a name gives for each parameter, listed or not; None when it is no name of this family."""
        found = re.fullmatch(_pattern(self.name), name)
        return None if found is None else found.groupdict()


def family(entry: Entry) -> Family:
    """The family that a table with `params` states; raises AtomFileError."""
    stated = entry.table["params"]
    if not isinstance(stated, dict):
        entry.fail("params", f"expected a table of parameters, found {kind(stated)}")
    if not stated:
        entry.fail("params", "expected at least one parameter")
    params = {name: _values(entry, name, listed) for name, listed in stated.items()}
    count = prod(map(len, params.values()))
    if count > MOST:
        entry.fail("params", f"{count} instances, at most {MOST} are read")
    for place in PLACE.findall(entry.name):
        if place not in params:
            entry.fail("", f"{{{place}}} in a name must be a parameter (there are: {', '.join(params)})")
    for name in params:
        if PLACE.findall(entry.name).count(name) != 1:
            entry.fail(f"params.{name}", f"must stand once in the atom's name, as {{{name}}}")
    table = {key: value for key, value in entry.table.items() if key != "params"}
    return Family(entry.name, params, Entry(entry.file, entry.name, table, entry.parsed))


def _values(entry: Entry, name: str, listed: object) -> list[Word]:
    key = f"params.{name}"
    if not PARAMETER.fullmatch(name):
        entry.fail(key, "a parameter is named by letters and digits")
    if not isinstance(listed, list) or not listed:
        entry.fail(key, "expected an array of whole numbers or of words")
    values: list[Word] = []
    for value in listed:
        if isinstance(value, str):
            if not WORD.fullmatch(value):
                entry.fail(key, f"a word is letters, digits and _, found {value!r}")
            values.append(value)
        else:
            values.append(entry.integer(value, key, "each value"))
    if len({type(value) for value in values}) > 1:
        entry.fail(key, "whole numbers or words, not both")
    if len(set(values)) < len(values):
        entry.fail(key, "a value stands twice")
    return values


def _filled(entry: Entry, key: str, value: object) -> object:
    """A value of the table with every text in it filled in; in `shape`, texts become the numbers they say."""
    if isinstance(value, str):
        try:
            text = template.fill(value, entry.params) if "{" in value else value
        except TemplateError as error:
            entry.fail(key, str(error))
        return int(text) if key == "shape" and text.isdigit() else text
    if isinstance(value, list):
        return [_filled(entry, key, item) for item in value]
    if isinstance(value, dict):
        return {name: _filled(entry, f"{key}.{name}", item) for name, item in value.items()}
    return value


def _pattern(name: str) -> str:
    """A regular expression for the names of a family's instances."""
    fixed = PLACE.split(name)
    parts = (re.escape(text) if i % 2 == 0 else rf"(?P<{text}>[A-Za-z0-9_]+?)" for i, text in enumerate(fixed))
    return "".join(parts)
