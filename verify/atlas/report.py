# SPDX-License-Identifier: Apache-2.0
"""The atlas as text, Markdown, JSON and HTML: one table of the same cells, then what is refuted and unchecked."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from html import escape
from typing import Any

from verify.atlas.rows import Atlas, Row, Told
from verify.core.verdict import Check, Status
from verify.report import cut_short, surprise, tally

SCHEMA = 1
STYLE = """body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem; color: #222; }
table { border-collapse: collapse; } td, th { border: 1px solid #ccc; padding: .2rem .6rem; text-align: left; }
.refuted { color: #b3261e; font-weight: bold; } .stands { color: #17692d; } .unchecked { color: #7a5a00; }"""


def header(atlas: Atlas, counted: str = "atoms") -> list[str]:
    """The names of the columns."""
    first = "instruction" if counted == "atoms" else "without an atom"
    return [first, counted, *atlas.checks, "verdict", "provenance"]


def cells(atlas: Atlas, row: Row) -> list[str]:
    """A row's cells, in words."""
    heard = [_told(row.told.get(check, Counter())) for check in atlas.checks]
    return [row.instruction, str(row.atoms), *heard, _verdict(row), _provenance(row)]


def _parts(atlas: Atlas) -> Iterator[tuple[list[str], list[list[str]], list[str]]]:
    """The header, the rows and the sums of each table: of atoms, then of instructions without one.

    Where formulas come from is said row by row.
    """
    for counted, rows, whole in (
        ("atoms", atlas.rows, atlas.total()),
        ("instructions", atlas.unclaimed, atlas.without_atom()),
    ):
        if rows or counted == "atoms":
            yield header(atlas, counted), [cells(atlas, row) for row in rows], [*cells(atlas, whole)[:-1], ""]


def _told(counts: Counter[Told]) -> str:
    return ", ".join(f"{counts[told]} {told}" for told in Told if counts[told]) or "not asked"


def _verdict(row: Row) -> str:
    known = len({wrong.name for wrong in row.refuted if wrong.known})
    words = []
    for status in (
        "VERIFIED",
        "VERIFIED (observed)",
        "CONTRADICTION",
        "VACUOUS",
        "REFUTED",
        "UNKNOWN",
        "UNCHECKED",
        "UNSPECIFIED",
    ):
        count = row.verdicts[status]
        if count:
            noted = f" ({known} known)" if status == "REFUTED" and known else ""
            words.append(f"{count} {status}{noted}")
    return ", ".join(words)


def _provenance(row: Row) -> str:
    """The operands by the origin of their formulas: "A, B ISA text; C derived"."""
    grouped: dict[str, list[str]] = {}
    for operand, origins in row.origins().items():
        grouped.setdefault(" and ".join(origins), []).append(operand)
    told = [f"{', '.join(operands)} {origins}" for origins, operands in grouped.items()]
    return "; ".join([*told, *(f"{count} then {name}" for name, count in row.adapters.items())])


def summary(atlas: Atlas) -> str:
    """The last line: how many atoms and claims, what is shared, the exit code."""
    whole = atlas.total()
    shared = f"{whole.shared} of {whole.evidence} pieces of evidence shared with an equal operand and formula"
    atoms = f"{whole.atoms} atoms of {len(atlas.rows)} instructions: {_verdict(whole) or 'none'}"
    beside = atlas.without_atom()
    bare = f"; {beside.atoms} instructions without an atom: {_verdict(beside)}" if beside.atoms else ""
    cut = f"; {cut_short(atlas.missing, 'instruction')}" if atlas.missing else ""
    return f"{atoms}; claims: {tally(whole.claims)}; {shared}{bare}{cut}; exit {int(atlas.exit)}"


def notes(atlas: Atlas) -> Iterator[tuple[str, str]]:
    """(class, line) for every refuted claim and every surprise, then for every reason of silence with its atoms."""
    for row in (*atlas.rows, *atlas.unclaimed):
        for wrong in row.refuted:
            known = " (known)" if wrong.known else ""
            where = f"{wrong.name} {wrong.part or 'ptx'}"
            yield "refuted", f"{where}  REFUTED{known}   {wrong.claim}: {wrong.statement}"
        for name, how in row.surprises.items():
            yield "refuted", surprise(name, how)
    for counted, rows in (("atoms", atlas.rows), ("instructions", atlas.unclaimed)):
        yield from _silent(counted, rows)


def _silent(counted: str, rows: Iterable[Row]) -> Iterator[tuple[str, str]]:
    for reason, silent in silences(rows).items():
        about: dict[tuple[tuple[str, int], ...], list[str]] = {}
        for check, counts in silent.items():
            about.setdefault(tuple(counts.items()), []).append(check)
        for places, checks in about.items():
            atoms, where = sum(count for _, count in places), ", ".join(name for name, _ in places)
            who = " and ".join(checks)
            yield (
                "unchecked",
                f"UNCHECKED by {who}, {atoms} {counted if atoms > 1 else counted[:-1]}: {reason} ({where})",
            )


def silences(rows: Iterable[Row]) -> dict[str, dict[Check, dict[str, int]]]:
    """Reason -> witness -> instruction -> how many it was silent on."""
    found: dict[str, dict[Check, dict[str, int]]] = {}
    for row in rows:
        for check, reasons in row.reasons.items():
            for reason, count in reasons.items():
                found.setdefault(reason, {}).setdefault(check, {})[row.instruction] = count
    return found


def sources(atlas: Atlas) -> str:
    """The recordings that were heard."""
    heard = atlas.total().sources
    return f"silicon: {'; '.join(heard)}" if heard else ""


def as_text(atlas: Atlas, quiet: bool = False) -> str:
    """A line for each instruction with its atoms and verdicts, then what each witness said, then the provenance."""
    if quiet:
        return summary(atlas) + "\n"
    lines = []
    for (first, counted, *checks, _, _), rows, sums in _parts(atlas):
        lines.append(f"{first}   {counted}   verdict")
        for name, count, *heard, verdict, provenance in (*rows, sums):
            lines.append(f"{name}   {count}   {verdict}")
            lines += [f"    {line}" for line in (_together(checks, heard), provenance) if line]
    told = [line for _, line in notes(atlas)]
    return "\n".join(filter(None, [*lines, *told, sources(atlas), summary(atlas)])) + "\n"


def _together(checks: Iterable[str], heard: Iterable[str]) -> str:
    """What witnesses said, those that said the same named together: "isa, proof 8 stands; silicon 8 unchecked"."""
    said: dict[str, list[str]] = {}
    for check, words in zip(checks, heard, strict=True):
        said.setdefault(words, []).append(check)
    return "; ".join(f"{', '.join(names)} {words}" for words, names in said.items())


def table(atlas: Atlas) -> str:
    """The tables in Markdown."""
    told = []
    for names, rows, sums in _parts(atlas):
        lines = [names, ["---"] * len(names), *([f"`{first}`", *rest] for first, *rest in rows)]
        lines.append([f"**{cell}**" if cell else "" for cell in sums])
        told.append("".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines))
    return "\n".join(told)


def as_markdown(atlas: Atlas) -> str:
    """The table, then what is refuted and unchecked as lists."""
    told = "".join(f"- {line.replace('<', chr(92) + '<')}\n" for _, line in notes(atlas))
    return f"# Atlas\n\n{table(atlas)}\n{told}\n{sources(atlas)}\n\n{summary(atlas)}\n"


def as_json(atlas: Atlas) -> str:
    """Every row as plain data, `"schema": 1`, without times."""
    document = {
        "schema": SCHEMA,
        "exit": int(atlas.exit),
        "complete": not atlas.missing,
        "missing": atlas.missing,
        "witnesses": list(atlas.checks),
        "instructions": [_row(row) for row in atlas.rows],
        "total": _row(atlas.total()),
        "without_atom": [_row(row, "instructions") for row in atlas.unclaimed],
        "total_without_atom": _row(atlas.without_atom(), "instructions"),
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _row(row: Row, counted: str = "atoms") -> dict[str, Any]:
    return {
        "instruction": row.instruction,
        counted: row.atoms,
        "verdicts": dict(sorted(row.verdicts.items())),
        "claims": {status.value: row.claims[status] for status in Status},
        "witnesses": {
            check: {told.value: counts[told] for told in Told}
            | {"reasons": dict(row.reasons.get(check, Counter()).most_common())}
            for check, counts in row.told.items()
        },
        "provenance": {operand: list(told) for operand, told in row.provenance.items()},
        "recordings": list(row.sources),
        "adapters": dict(row.adapters),
        "evidence": {"given": row.evidence, "shared": row.shared},
        "refuted": [
            {"name": w.name, "part": w.part, "claim": w.claim, "statement": w.statement, "known": w.known}
            for w in row.refuted
        ],
        "surprises": list(row.surprises),
    }


def as_html(atlas: Atlas) -> str:
    """One page that needs no other file."""
    tables = "\n".join(_html(*part) for part in _parts(atlas))
    told = "\n".join(f'<li class="{kind}">{escape(line)}' for kind, line in notes(atlas))
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<meta charset="utf-8">\n<title>Lanecheck: atlas</title>\n'
        f"<style>\n{STYLE}\n</style>\n<h1>Atlas</h1>\n<p>{escape(summary(atlas))}</p>\n"
        f"{tables}\n<p>{escape(sources(atlas))}</p>\n<ul>\n{told}\n</ul>\n</html>\n"
    )


def _html(names: list[str], rows: list[list[str]], sums: list[str]) -> str:
    head = "".join(f"<th>{escape(name)}" for name in names)
    body = "\n".join("<tr>" + "".join(f"<td>{escape(cell)}" for cell in line) for line in [*rows, sums])
    return f"<table>\n<tr>{head}\n{body}\n</table>"
