# SPDX-License-Identifier: Apache-2.0
"""Atoms out of TOML files: every key checked, every error with its file and key.

What is checked is the form: that a layout text parses, not that its profiles agree; that a shape is three numbers,
not that the instruction has it. The rest is for the witnesses.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import NoReturn

from layouts.atoms.atom import Atom, AtomFileError
from layouts.atoms.document import read
from layouts.errors import LayoutParseError
from layouts.text import parse_shape_stride

OPERANDS = ("A", "B", "C")
TYPED = ("D", "A", "B", "C")
REQUIRED = ("shape", "thr", "types", *OPERANDS, "source")
OPTIONAL = ("ptx", "element", "known_defect")
ELEMENT = re.compile(r"[1-9][0-9]?x[a-z][a-z0-9]*")


@cache
def registry() -> Mapping[str, Atom]:
    """Every shipped atom by name: files in the order of their names, atoms in the order of the file."""
    atoms: dict[str, Atom] = {}
    for path in sorted(Path(__file__).parent.glob("*.toml")):
        for atom in load(path):
            if atom.name in atoms:
                raise AtomFileError(atom.file, atom.name, f"stands in {atoms[atom.name].file} too")
            atoms[atom.name] = atom
    return MappingProxyType(atoms)


def load(path: Path | str) -> tuple[Atom, ...]:
    """The atoms of a TOML file, in its order.

    Raises AtomFileError: not TOML, over 1 MiB, unreadable, nested deeper than 64, a key missing, unknown or of the
    wrong type, or a layout text that does not parse. A layout whose shape and stride differ in profile is not an
    error here: it is a claim that will be refuted.
    """
    file = str(path)
    parsed: set[str] = set()
    return tuple(_Entry(file, name, table, parsed).atom() for name, table in read(Path(path)).items())


class _Entry:
    """One atom's table while it is being checked; `parsed` holds layout texts that were seen to parse."""

    def __init__(self, file: str, name: str, table: object, parsed: set[str]) -> None:
        self.file = file
        self.name = name
        self.parsed = parsed
        if not isinstance(table, dict):
            self.fail("", f"expected a table, found {_kind(table)}")
        self.table: dict[str, object] = table

    def fail(self, key: str, problem: str) -> NoReturn:
        raise AtomFileError(self.file, f"{self.name}.{key}" if key else self.name or '""', problem)

    def atom(self) -> Atom:
        if not self.name.strip():
            self.fail("", "an atom needs a name")
        self.check_keys(self.table, "", REQUIRED, OPTIONAL)
        return Atom(
            name=self.name,
            ptx=self.ptx(),
            shape=self.shape(),
            thr=self.layout("thr"),
            types=self.types(),
            operands={operand: self.layout(operand) for operand in OPERANDS},
            source=self.text(self.table["source"], "source"),
            element=self.element(),
            known_defect=self.defect(),
            file=self.file,
        )

    def check_keys(
        self, table: Mapping[str, object], under: str, required: tuple[str, ...], optional: tuple[str, ...] = ()
    ) -> None:
        known = required + optional
        for key in table:
            if key not in known:
                near = get_close_matches(key, known, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}"
                self.fail(under + key, f"unknown key; {hint}")
        for key in required:
            if key not in table:
                self.fail(under + key, "missing")

    def text(self, value: object, key: str) -> str:
        if not isinstance(value, str):
            self.fail(key, f"expected a string, found {_kind(value)}")
        if not value.strip():
            self.fail(key, "expected a text, found an empty string")
        return value

    def ptx(self) -> tuple[str, ...] | None:
        listed = self.table.get("ptx")
        if listed is None:
            return None
        if not isinstance(listed, list):
            self.fail("ptx", f"expected an array of mnemonics, found {_kind(listed)}")
        return tuple(self.text(mnemonic, f"ptx[{i}]") for i, mnemonic in enumerate(listed))

    def shape(self) -> tuple[int, int, int]:
        extents = self.table["shape"]
        if not isinstance(extents, list):
            self.fail("shape", f"expected [M, N, K], found {_kind(extents)}")
        if len(extents) != 3:
            self.fail("shape", f"expected [M, N, K], found {len(extents)} items")
        for extent, axis in zip(extents, "MNK", strict=True):
            if type(extent) is not int:
                self.fail("shape", f"{axis} should be an integer, found {_kind(extent)}")
            if extent < 1:
                self.fail("shape", f"{axis} should be at least 1, found {extent}")
        m, n, k = extents
        return m, n, k

    def layout(self, key: str) -> str:
        text = self.text(self.table[key], key)
        if text not in self.parsed:
            try:
                parse_shape_stride(text)
            except LayoutParseError as error:
                self.fail(key, str(error))
            self.parsed.add(text)
        return text

    def types(self) -> Mapping[str, str]:
        types = self.table["types"]
        if not isinstance(types, dict):
            self.fail("types", f"expected a table of D, A, B, C, found {_kind(types)}")
        self.check_keys(types, "types.", TYPED)
        return {operand: self.text(types[operand], f"types.{operand}") for operand in TYPED}

    def element(self) -> Mapping[str, str]:
        stated = self.table.get("element")
        if stated is None:
            return {}
        if isinstance(stated, str):
            stated = dict.fromkeys(TYPED, stated)
        if not isinstance(stated, dict):
            self.fail("element", f"expected a string or a table of operands, found {_kind(stated)}")
        self.check_keys(stated, "element.", (), TYPED)
        for operand, value in stated.items():
            if not ELEMENT.fullmatch(self.text(value, f"element.{operand}")):
                self.fail(f"element.{operand}", f"expected a count and a type such as 2xf64, found {value!r}")
        return stated

    def defect(self) -> str | None:
        defect = self.table.get("known_defect")
        return None if defect is None else self.text(defect, "known_defect")


def _kind(value: object) -> str:
    """A value's TOML type, as a reader of the file would call it."""
    names = {bool: "a boolean", int: "an integer", float: "a float", str: "a string", list: "an array", dict: "a table"}
    return names.get(type(value), "a date or time")
