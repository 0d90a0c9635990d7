# SPDX-License-Identifier: Apache-2.0
"""Atoms as a kind of subject: MMA and copy atoms, of a user's file or shipped."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verify.core.registry import Signs
from verify.kind import POSSIBLE, Functions, Kind, PropertyTable, Recognition, Reported, Resources

if TYPE_CHECKING:
    from layouts.atoms import AnyAtom
    from layouts.toml.tables import ReadTables
    from verify.pictures.picture import Picture, Window
    from verify.report import Case

NAME = re.compile(r"[\w:*?<>,\[\] .-]+")


def recognize_name(text: str) -> Recognition | None:
    """Return a recognition of what may be an atom's name, a prefix or a glob."""
    return Recognition(POSSIBLE, "a name") if NAME.fullmatch(text) else None


def read_atoms(path: Path) -> ReadTables[AnyAtom]:
    """Return the completed atoms of a file, and all errors of the others."""
    from verify.binding.completion import atoms

    return atoms(path)


def shipped_atoms() -> Mapping[str, AnyAtom]:
    """Return the registry."""
    from layouts.atoms import registry

    return registry()


def choose_atoms(names: Sequence[str], pool: Mapping[str, AnyAtom]) -> list[str]:
    """Return the names of a pool that names and patterns select."""
    from verify.atom.selection import choose_names

    return choose_names(names, None, pool)


def find_table(atom: AnyAtom) -> str:
    """Return the table in which an atom stands: of a family's member that of the family."""
    from verify.atom.selection import table_of

    return table_of(atom)


def verifier(resources: Resources) -> Callable[[AnyAtom], Case]:
    """Return what verifies one atom after the other."""
    from verify.atom.checker import AtomChecker

    return AtomChecker(resources.checks).case


def functions_of(atom: AnyAtom, resources: Resources) -> Functions:
    """Return the map of each operand, (thread, value) -> element, and the lanes of the threads."""
    from verify.atom.checker import prepare_atom
    from verify.core.digits import lane_of
    from verify.maps.fragment_map import FragmentMap
    from verify.maps.strided import of_rows

    subject = prepare_atom(atom)
    says = {"ptx": "; ".join(atom.ptx or ())} | ({"thr": atom.thr} if subject.thr is None else {})
    maps = {}
    if subject.thr is not None:
        lanes = [lane_of(subject.thr, thread) for thread in range(subject.threads)]
        maps["thr"] = of_rows([[lane] for lane in lanes], (1 + max(lanes), 1), ("lane",))
    for part in subject.parts:
        if part.map is not None:
            maps[part.name] = FragmentMap.keep(part.map)  # outside the tile coordinates are those of no element
        else:
            says[part.name] = part.text
    return Functions(says, maps)


def draw_table(atom: AnyAtom, resources: Resources, _: Any, __: Window) -> Case:
    """Return the case of an atom whose picture has the elements of each (thread, value) of each operand."""
    from verify.atom.checker import prepare_atom
    from verify.pictures.atoms import list_tables

    case = verifier(resources)(atom)
    drawn = case.picture
    if drawn is None:
        return case
    return replace(case, picture=lambda part: replace(drawn(part), panels=tuple(list_tables(prepare_atom(atom), part))))


def redraw(reported: Reported, resources: Resources, window: Window) -> Picture | None:
    """Draw the atom of a report: the entry with its name and its layouts; None if there is none."""
    from verify.atom.checker import draw_atom, prepare_atom

    entry = (shipped_atoms() if resources.atoms is None else resources.atoms).get(reported.name)
    if entry is None:
        return None
    subject = prepare_atom(entry)
    alike = {part.name: part.text for part in subject.parts} == reported.layouts
    return draw_atom(subject, reported.verdicts, window) if alike else None


def tables() -> Sequence[PropertyTable]:
    """Return the properties of MMA atoms, and those of copy atoms."""
    from verify.atom.properties import COPY, MMA, PROPERTIES

    return PropertyTable("claims.md", MMA, PROPERTIES), PropertyTable("claims.md", COPY, PROPERTIES)


ATOM: Kind[AnyAtom] = Kind(
    name="atom",
    singular="an atom",
    plural="atoms",
    argument="an atom (a name, a prefix, a glob)",
    example=("SM80_16x8x16_F32F16F16F32_TN",),
    command="verify.atom.command",
    template="verify.atom.template",
    spelled=recognize_name,
    lists="lanecheck atom --list",
    # a table that names an atom is a tiling, which may state A, B and C too
    signs=Signs(frozenset({"A", "B", "C", "Src", "Dst", "Ref"}), "atoms", but=frozenset({"atom"})),
    read=read_atoms,
    table=find_table,
    shipped=shipped_atoms,
    choose=choose_atoms,
    verifier=verifier,
    functions=functions_of,
    tables=tables,
    pictures={"table": draw_table},
    redraw=redraw,
)
