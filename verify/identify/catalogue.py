# SPDX-License-Identifier: Apache-2.0
"""Every map of an operand that the ISA tables have, in registers or in tensor memory, with the operands that have it.

Thousands of operands have about two hundred maps. `catalogue.cache` has a line for each, with its elements at every
point: a search reads those of one size alone, and no formula. It is sealed with the digest of the tables, of the code
that made it and of its own content (`lanecheck.console.digests`): any other file is not used. Of other tables or code
the lines are made once, which takes some seconds, and kept on disk by that digest (`verify.identify.making`). The file
is shipped because a new environment, such as every run of a CI, has nothing on disk yet.

`python -m verify.identify.catalogue` writes the file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from lanecheck.console.digests import name_of, seal, unseal
from lanecheck.console.outputs import write_file
from verify.identify import making
from verify.identify.groups import Catalogue

ROOT = Path(__file__).parents[2]
FILE = Path(__file__).with_name("catalogue.cache")
INPUTS = (
    "isa_tables/ptx/*.toml",
    "isa_tables/schema.toml",
    "isa_tables/*.py",
    "layouts/arrays.py",
    "layouts/fit.py",
    "verify/binding/coordinates.py",
    "verify/core/digits.py",
    "verify/identify/catalogue.py",
    "verify/identify/groups.py",
    "verify/identify/making.py",
    "verify/identify/places.py",
)  # the tables, and what makes and reads the list


def files() -> Iterator[str]:
    """Yield the paths, below the root, of all that the list is made from."""
    for pattern in INPUTS:
        folder, star, ending = pattern.partition("*")
        if star:
            yield from sorted(folder + name for name in os.listdir(ROOT / folder) if name.endswith(ending))
        else:
            yield pattern


def name() -> str:
    """Return the digest of all that the list is made from."""
    parts: list[str | bytes] = []
    for path in files():
        with open(os.path.join(ROOT, path), "rb") as file:
            parts += path, file.read()
    return name_of(*parts)


def read_catalogue() -> Catalogue:
    """Every map of the ISA tables: of the file, or made anew where the file is not what is made."""
    made_from = name()
    try:
        content = unseal(made_from, FILE.read_bytes())
    except OSError:
        content = None
    return Catalogue(_make_lines(made_from) if content is None else content.decode())


@lru_cache(maxsize=1)
def _make_lines(made_from: str) -> str:
    """Return the lines by the formulas of that digest; the module that evaluates them is imported only then."""
    return making.keep_text(made_from)


if __name__ == "__main__":
    write_file(FILE, seal(name(), _make_lines(name()).encode()))
