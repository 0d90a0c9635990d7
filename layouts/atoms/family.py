# SPDX-License-Identifier: Apache-2.0
"""A family of atoms: one entry with parameters, of which each choice of values gives an atom.

    ["SM90_64x{N}x16_F16F16F16_SS"]
    params = { N = [8, 16, 24] }
    shape  = [64, "{N}", 16]
    C      = "((4,8,4),(2,2,{N//8})):((128,1,16),(64,8,512))"

Every parameter occurs in the name, so that each instance has its own name.
"""

from __future__ import annotations

import re
from math import prod

from layouts.toml.entry import Entry, Family, kind
from layouts.toml.template import PLACE, Word

MOST = 4096  # instances of one entry
PARAMETER = r"[A-Za-z][A-Za-z0-9]*"
WORD = r"[A-Za-z0-9_]+"


def family(entry: Entry) -> Family:
    """Return the family of a table with `params`. Raises AtomFileError."""
    given = entry.table["params"]
    if not isinstance(given, dict):
        entry.fail("params", f"expected a table of parameters, found {kind(given)}")
    if not given:
        entry.fail("params", "expected at least one parameter")
    params = {name: _values(entry, name, listed) for name, listed in given.items()}
    count = prod(map(len, params.values()))
    if count > MOST:
        entry.fail("params", f"{count} instances, at most {MOST} are read")
    for place in PLACE.findall(entry.name):
        if place not in params:
            entry.fail("", f"{{{place}}} in a name must be a parameter (there are: {', '.join(params)})")
    for name in params:
        if PLACE.findall(entry.name).count(name) != 1:
            entry.fail(f"params.{name}", f"must occur once in the atom's name, as {{{name}}}")
    table = {key: value for key, value in entry.table.items() if key != "params"}
    return Family(entry.name, params, Entry(entry.file, entry.name, table, entry.parsed))


def _values(entry: Entry, name: str, listed: object) -> list[Word]:
    key = f"params.{name}"
    if not re.fullmatch(PARAMETER, name):
        entry.fail(key, "a parameter is named by letters and digits")
    if not isinstance(listed, list) or not listed:
        entry.fail(key, "expected an array of integers or of words")
    values: list[Word] = []
    for value in listed:
        if isinstance(value, str):
            if not re.fullmatch(WORD, value):
                entry.fail(key, f"a word is letters, digits and _, found {value!r}")
            values.append(value)
        else:
            values.append(entry.integer(value, key, "each value"))
    if len({type(value) for value in values}) > 1:
        entry.fail(key, "integers or words, not both")
    if len(set(values)) < len(values):
        entry.fail(key, "a value is listed twice")
    return values
