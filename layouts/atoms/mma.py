# SPDX-License-Identifier: Apache-2.0
"""The table of an MMA atom: what it must and may hold, checked key by key."""

from __future__ import annotations

import re
from collections.abc import Mapping

from layouts.atoms.atom import Atom
from layouts.atoms.entry import LARGEST, Entry, kind

OPERANDS = ("A", "B", "C")
EXTRA = ("E", "SFA", "SFB")  # metadata of a sparse A, and scale factors
TYPED = ("D", "A", "B", "C")
SPACES = ("reg", "smem", "tmem")
REQUIRED = ("shape", "thr", "types", *OPERANDS, "source")
OPTIONAL = ("ptx", *EXTRA, "element", "space", "copies", "known_defect", "expect")
ELEMENT = re.compile(r"[1-9][0-9]?x[a-z][a-z0-9]*")


def atom(entry: Entry) -> Atom:
    """The atom that a table states; raises AtomFileError."""
    entry.check_keys(entry.table, "", REQUIRED, OPTIONAL)
    held = (*OPERANDS, *(operand for operand in EXTRA if operand in entry.table))
    return Atom(
        name=entry.name,
        ptx=entry.ptx(),
        shape=_shape(entry),
        thr=entry.threads(),
        types=_types(entry),
        operands={operand: entry.layout(operand) for operand in held},
        source=entry.text(entry.table["source"], "source"),
        element=_element(entry),
        known_defect=entry.defect(),
        file=entry.file,
        space=entry.spaces((*OPERANDS, *EXTRA), SPACES),
        copies=entry.copies((*OPERANDS, *EXTRA)),
        family=entry.family,
        params=entry.params,
        spellings=entry.spellings(),
        expect=entry.expectation(),
    )


def _shape(entry: Entry) -> tuple[int, int, int]:
    extents = entry.table["shape"]
    if not isinstance(extents, list):
        entry.fail("shape", f"expected [M, N, K], found {kind(extents)}")
    if len(extents) != 3:
        entry.fail("shape", f"expected [M, N, K], found {len(extents)} items")
    m, n, k = (entry.integer(extent, "shape", axis) for extent, axis in zip(extents, "MNK", strict=True))
    if max(m * n, n * k, m * k) > LARGEST:
        entry.fail("shape", f"{m}x{n}x{k} has tiles of more than {LARGEST} elements")
    return m, n, k


def _types(entry: Entry) -> Mapping[str, str]:
    types = entry.table["types"]
    if not isinstance(types, dict):
        entry.fail("types", f"expected a table of D, A, B, C, found {kind(types)}")
    entry.check_keys(types, "types.", TYPED, EXTRA)
    for operand in types:
        if operand not in TYPED and operand not in entry.table:
            entry.fail(f"types.{operand}", f"the atom has no operand {operand}")
    return {operand: entry.text(types[operand], f"types.{operand}") for operand in (*TYPED, *EXTRA) if operand in types}


def _element(entry: Entry) -> Mapping[str, str]:
    stated = entry.table.get("element")
    if stated is None:
        return {}
    if isinstance(stated, str):
        stated = dict.fromkeys(TYPED, stated)
    if not isinstance(stated, dict):
        entry.fail("element", f"expected a string or a table of operands, found {kind(stated)}")
    entry.check_keys(stated, "element.", (), TYPED)
    for operand, value in stated.items():
        if not ELEMENT.fullmatch(entry.text(value, f"element.{operand}")):
            entry.fail(f"element.{operand}", f"expected a count and a type such as 2xf64, found {value!r}")
    return stated
