# SPDX-License-Identifier: Apache-2.0
"""The definitions of MMA_Traits and Copy_Traits in a header as a kind of subject."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from verify.core.verdict import Check, Place
from verify.kind import Functions, Kind, PropertyTable, Resources
from verify.report import Report

if TYPE_CHECKING:
    from layouts.toml.tables import ReadTables

SUFFIXES = (".hpp", ".h", ".cuh", ".hxx")


@dataclass(frozen=True)
class HeaderEntry:
    """A definition of a header with the layouts that it states; one that cannot be read has none."""

    name: str
    place: Place
    texts: dict[str, str]  # operand -> layout
    problem: str = ""  # why it cannot be read


def read_header(path: Path) -> ReadTables[HeaderEntry]:
    """Return the definitions of a header."""
    from layouts.toml.tables import ReadTables

    return ReadTables(tuple(_definitions(path)), ())


def _definitions(path: Path) -> Iterator[HeaderEntry]:
    from verify.scan.checkout import checkout

    seen: Counter[str] = Counter()
    for definition in checkout([str(path)]).definitions:
        if definition.problem:
            yield HeaderEntry(definition.name, definition.place, {}, definition.problem)
        for instance in definition.instances:
            seen[instance.name] += 1
            name = f"{instance.name} ({seen[instance.name]})" if seen[instance.name] > 1 else instance.name
            texts = {"thr": f"({instance.thr.shape},1):({instance.thr.stride},0)"}
            texts |= {part: str(operand.layout) for part, operand in instance.operands.items()}
            yield HeaderEntry(name, definition.place, texts)


def functions_of(entry: HeaderEntry, resources: Resources) -> Functions:
    """Return the map of each layout of a definition; what cannot be read is locked as that."""
    from verify.binding.bound import thread_value
    from verify.core.digits import walks
    from verify.maps.strided import of_rows

    if entry.problem:
        return Functions({"unread": entry.problem}, place=entry.place)
    says, maps = {}, {}
    for part, text in entry.texts.items():
        layout, fault = thread_value(text.replace(" ", ""))
        if layout is None:
            says[part] = f"{text}: {fault}"
        else:
            rows = walks(layout)
            extent = (1 + max(map(max, rows)), 1)
            maps[part] = of_rows(rows, extent, ("lane" if part == "thr" else "element",))
    return Functions(says, maps, entry.place)


def report_headers(
    what: Sequence[str],
    *,
    only: Sequence[str] = (),
    checks: Sequence[str] = ("isa",),
    max_files: int = 1024,
    allow_exec: bool = False,
) -> Report:
    """Return the verdicts on the definitions of headers, folders and checkouts."""
    from verify.scan import command
    from verify.scan.checkout import checkout

    read = checkout(list(what), max_files)
    return command.verify_headers(read, what, only=only, checks=frozenset(map(Check, checks)))


def tables() -> Sequence[PropertyTable]:
    """Return the properties of an operation; its layouts have those of an atom."""
    from verify.scan import properties

    return (PropertyTable("scan.md", properties.HEADER, properties.PROPERTIES),)


HEADER: Kind[HeaderEntry] = Kind(
    name="header",
    singular="a header",
    plural="headers",
    argument="a CUTLASS header or folder",
    example=("examples/headers",),
    command="verify.scan.command",
    suffixes=SUFFIXES,
    folders=True,
    read=read_header,
    report=report_headers,
    functions=functions_of,
    tables=tables,
)
