# SPDX-License-Identifier: Apache-2.0
"""The reader of a copy atom's table: its required and optional keys, each validated."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from math import prod

from layouts.atoms.atom import Adapter, CopyAtom
from layouts.int_tuple import leaves, wrap
from layouts.toml.entry import Entry, kind

OPERANDS = ("Src", "Dst")
LAYOUTS = (*OPERANDS, "Ref")
SPACES = ("reg", "smem", "gmem", "tmem")
SAID = ("thr", "space")  # keys that an entry may leave to its instruction
REQUIRED = LAYOUTS
OPTIONAL = (*SAID, "ptx", "source", "bits", "copies", "adapter", "known_defect", "expect")
LONGEST = 64  # bytes of an adapter
PLACEHOLDERS: Mapping[str, object] = {"thr": "1:0", "space": {"Src": "reg", "Dst": "reg"}}


def whole(entry: Entry) -> CopyAtom:
    """Return the copy atom of an entry that leaves nothing out. Raises AtomFileError."""
    with entry.collect_errors() as read:
        read(lambda: entry.check_keys(entry.table, "", (*SAID, *REQUIRED), OPTIONAL))
        operands = {operand: read(partial(entry.layout, operand)) for operand in LAYOUTS}
        space = read(lambda: _space(entry))
        atom = CopyAtom(
            operands=operands,
            space=space,
            bits=read(lambda: _bits(entry)),
            copies=read(lambda: entry.copies(OPERANDS)),
            adapter=read(lambda: _adapter(entry, space or {})),
            **entry.common(read),
        )
    return atom


def _space(entry: Entry) -> dict[str, str]:
    """Return the spaces of Src and Dst."""
    space = entry.spaces(OPERANDS, SPACES)
    for operand in OPERANDS:
        if operand not in space:
            entry.fail(f"space.{operand}", "missing")
    return space


def _bits(entry: Entry) -> dict[str, int]:
    """Return the width of an element of Src and Dst; a thread's bits must be an integer of elements."""
    given = {}
    for operand, value in entry.tables("bits", "Src and Dst and integers", OPERANDS).items():
        width = entry.integer(value, f"bits.{operand}")
        bits = _bits_per_thread(entry, operand)
        if bits % width:
            entry.fail(f"bits.{operand}", f"{bits} bits per thread do not pack elements of {width} bits")
        given[operand] = width
    return given


def _bits_per_thread(entry: Entry, operand: str) -> int:
    modes = wrap(entry.parsed[entry.layout(operand)])
    return prod(leaves(modes[1])) if len(modes) == 2 else prod(map(prod, map(leaves, modes)))


def _adapter(entry: Entry, space: Mapping[str, str]) -> Adapter | None:
    given = entry.table.get("adapter")
    if given is None:
        return None
    if not isinstance(given, dict):
        entry.fail("adapter", f"expected a table of name and bytes, found {kind(given)}")
    entry.check_keys(given, "adapter.", ("name", "bytes"))
    if space.get("Dst", "reg") != "reg":
        entry.fail("adapter", f"permutes bytes of registers, Dst is in {space['Dst']}")
    listed = given["bytes"]
    if not isinstance(listed, list):
        entry.fail("adapter.bytes", f"expected an array, found {kind(listed)}")
    if len(listed) > LONGEST or any(type(b) is not int for b in listed) or sorted(listed) != [*range(len(listed))]:
        entry.fail("adapter.bytes", f"expected each of 0..n-1 once, at most {LONGEST} of them")
    bits = _bits_per_thread(entry, "Dst")
    if not listed or bits % (8 * len(listed)):
        entry.fail("adapter.bytes", f"{bits} bits per thread of Dst do not pack groups of {len(listed)} bytes")
    return Adapter(entry.text(given["name"], "adapter.name"), tuple(listed))
