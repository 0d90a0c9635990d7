# SPDX-License-Identifier: Apache-2.0
"""The reader of an MMA atom's table: its required and optional keys, each validated."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial

from layouts.atoms.atom import Atom
from layouts.text import numbers
from layouts.toml.entry import LARGEST, Entry, kind

OPERANDS = ("A", "B", "C")
EXTRA = ("E", "SFA", "SFB")  # metadata of a sparse A, and scale factors
TYPED = ("D", "A", "B", "C")
AXES = ("m", "n", "k")
SPACES = ("reg", "smem", "tmem")
SAID = ("shape", "thr", "types")  # keys that an entry may leave to its instruction, besides `space`
REQUIRED = OPERANDS
OPTIONAL = (*SAID, "ptx", "source", *EXTRA, "element", "space", "copies", "known_defect", "expect", "relabel")
ELEMENT = r"[1-9][0-9]?x[a-z][a-z0-9]*"
PLACEHOLDERS: Mapping[str, object] = {"shape": [1, 1, 1], "thr": "1:0", "types": dict.fromkeys(TYPED, "b1")}


def whole(entry: Entry) -> Atom:
    """Return the MMA atom of an entry that leaves nothing out. Raises AtomFileError."""
    operands = (*OPERANDS, *(operand for operand in EXTRA if operand in entry.table))
    with entry.collect_errors() as read:
        read(lambda: entry.check_keys(entry.table, "", (*SAID, *REQUIRED), OPTIONAL))
        atom = Atom(
            shape=read(lambda: _shape(entry)),
            types=read(lambda: _types(entry)),
            operands={operand: read(partial(entry.layout, operand, plain=False)) for operand in operands},
            element=read(lambda: _element(entry)),
            space=read(lambda: entry.spaces((*OPERANDS, *EXTRA), SPACES)),
            copies=read(lambda: entry.copies((*OPERANDS, *EXTRA))),
            relabel=read(lambda: _relabel(entry)),
            **entry.common(read),
        )
    return atom


def _shape(entry: Entry) -> tuple[int, int, int]:
    extents = entry.value("shape")
    if isinstance(extents, str):
        extents = numbers(extents) or extents
    if not isinstance(extents, list):
        entry.fail("shape", f"expected [M, N, K], found {kind(extents)}")
    if len(extents) != 3:
        entry.fail("shape", f"expected [M, N, K], found {len(extents)} items")
    m, n, k = (entry.integer(extent, "shape", axis) for extent, axis in zip(extents, "MNK", strict=True))
    if max(m * n, n * k, m * k) > LARGEST:
        entry.fail("shape", f"{m}x{n}x{k} has tiles of more than {LARGEST} elements")
    return m, n, k


def _types(entry: Entry) -> Mapping[str, str]:
    types = entry.value("types")
    if not isinstance(types, dict):
        entry.fail("types", f"expected a table of D, A, B, C, found {kind(types)}")
    entry.check_keys(types, "types.", TYPED, EXTRA)
    for operand in types:
        if operand not in TYPED and operand not in entry.table:
            entry.fail(f"types.{operand}", f"the atom has no operand {operand}")
    return {operand: entry.text(types[operand], f"types.{operand}") for operand in (*TYPED, *EXTRA) if operand in types}


def _relabel(entry: Entry) -> Mapping[str, str]:
    """Return the declared relabelling of each axis, a layout. Whether it is a permutation is checked as a claim."""
    given = entry.tables("relabel", "axes and layouts", AXES)
    return {axis: entry.layout_of(layout, f"relabel.{axis}") for axis, layout in given.items()}


def _element(entry: Entry) -> Mapping[str, str]:
    given = entry.table.get("element")
    if given is None:
        return {}
    if isinstance(given, str):
        given = dict.fromkeys(TYPED, given)
    if not isinstance(given, dict):
        entry.fail("element", f"expected a string or a table of operands, found {kind(given)}")
    entry.check_keys(given, "element.", (), TYPED)
    for operand, value in given.items():
        if not re.fullmatch(ELEMENT, entry.text(value, f"element.{operand}")):
            entry.fail(f"element.{operand}", f"expected a count and a type such as 2xf64, found {value!r}")
    return given
