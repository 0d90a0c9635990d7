# SPDX-License-Identifier: Apache-2.0
"""The atlas as text, Markdown, JSON and HTML: tables of the same cells, then what is refuted and unchecked."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from verify.atlas.page import SCHEMA, page
from verify.atlas.rows import Atlas, AtlasRow, CheckOutcome
from verify.core.verdict import Check, Status
from verify.report import cut_short
from verify.report.as_text import tally
from verify.report.expectation import write_surprise


def header(atlas: Atlas, counted: str = "atoms") -> list[str]:
    """Return the names of the columns."""
    first = "instruction" if counted == "atoms" else "without an atom"
    return [first, counted, *atlas.checks, "verdict", "provenance"]


def cells(atlas: Atlas, row: AtlasRow) -> list[str]:
    """Return a row's cells, in words."""
    outcomes = [_spell_counts(row.outcomes.get(check, Counter())) for check in atlas.checks]
    return [row.instruction, str(row.atoms), *outcomes, verdicts(row), _provenance(row)]


def _parts(atlas: Atlas) -> Iterator[tuple[list[str], list[list[str]], list[str]]]:
    """(header, rows, sums) of each table: of atoms, then of instructions without an atom; sums have no provenance."""
    for counted, rows, whole in (
        ("atoms", atlas.rows, atlas.total()),
        ("instructions", atlas.without_atom, atlas.total_without_atom()),
    ):
        if rows or counted == "atoms":
            yield header(atlas, counted), [cells(atlas, row) for row in rows], [*cells(atlas, whole)[:-1], ""]


def _spell_counts(counts: Counter[CheckOutcome]) -> str:
    return ", ".join(f"{counts[outcome]} {outcome}" for outcome in CheckOutcome if counts[outcome]) or "none"


def verdicts(row: AtlasRow) -> str:
    """How many atoms have each verdict: "88 VERIFIED, 2 REFUTED (2 known)"."""
    known = len({wrong.name for wrong in row.refuted if wrong.known})
    words = []
    for status in (
        "VERIFIED",
        "VERIFIED (observed)",
        "CONTRADICTION",
        "VACUOUS",
        "REFUTED",
        "RELABELLED",
        "UNKNOWN",
        "UNCHECKED",
        "UNSPECIFIED",
    ):
        count = row.verdicts[status]
        if count:
            noted = f" ({known} known)" if status == "REFUTED" and known else ""
            words.append(f"{count} {status}{noted}")
    return ", ".join(words)


def _provenance(row: AtlasRow) -> str:
    """Return the operands by the origin of their formulas: "A, B ISA text; C derived"."""
    grouped: dict[str, list[str]] = {}
    for operand, origins in row.origins().items():
        grouped.setdefault(" and ".join(origins), []).append(operand)
    origins_of = [f"{', '.join(operands)} {origins}" for origins, operands in grouped.items()]
    return "; ".join([*origins_of, *(f"{count} then {name}" for name, count in row.adapters.items())])


def summary(atlas: Atlas) -> str:
    """Return the last line: how many atoms and claims, how much evidence is shared, the exit code."""
    whole = atlas.total()
    shared = f"{whole.shared} of {whole.evidence} pieces of evidence shared with an equal operand and formula"
    atoms = f"{whole.atoms} atoms of {len(atlas.rows)} instructions: {verdicts(whole) or 'none'}"
    more = atlas.total_without_atom()
    bare = f"; {more.atoms} instructions without an atom: {verdicts(more)}" if more.atoms else ""
    cut = f"; {cut_short(atlas.missing, 'instruction')}" if atlas.missing else ""
    return f"{atoms}; claims: {tally(whole.claims)}; {shared}{bare}{cut}; exit {int(atlas.exit)}"


def notes(atlas: Atlas) -> Iterator[tuple[str, str]]:
    """(class, line) for every refuted claim and every surprise, then for every reason why evidence is missing."""
    for row in (*atlas.rows, *atlas.without_atom):
        for wrong in row.refuted:
            known = " (known)" if wrong.known else ""
            where = f"{wrong.name} {wrong.part or 'ptx'}"
            yield "refuted", f"{where}  REFUTED{known}   {wrong.claim}: {wrong.statement}"
        for name, how in row.surprises.items():
            yield "refuted", write_surprise(name, how)
    for counted, rows in (("atoms", atlas.rows), ("instructions", atlas.without_atom)):
        yield from _list_unchecked(counted, rows)


def _list_unchecked(counted: str, rows: Iterable[AtlasRow]) -> Iterator[tuple[str, str]]:
    for reason, missing in reasons(rows).items():
        about: dict[tuple[tuple[str, int], ...], list[str]] = {}
        for check, counts in missing.items():
            about.setdefault(tuple(counts.items()), []).append(check)
        for places, checks in about.items():
            atoms, where = sum(count for _, count in places), ", ".join(name for name, _ in places)
            who = " and ".join(checks)
            yield (
                "unchecked",
                f"UNCHECKED by {who}, {atoms} {counted if atoms > 1 else counted[:-1]}: {reason} ({where})",
            )


def reasons(rows: Iterable[AtlasRow]) -> dict[str, dict[Check, dict[str, int]]]:
    """Reason -> check -> instruction -> how many atoms have no evidence of the check for that reason."""
    grouped: dict[str, dict[Check, dict[str, int]]] = {}
    for row in rows:
        for check, counts in row.reasons.items():
            for reason, count in counts.items():
                grouped.setdefault(reason, {}).setdefault(check, {})[row.instruction] = count
    return grouped


def sources(atlas: Atlas) -> str:
    """Return the recordings that gave evidence, in one line."""
    recordings = atlas.total().sources
    return f"gpu: {'; '.join(recordings)}" if recordings else ""


def as_text(atlas: Atlas, quiet: bool = False) -> str:
    """Return a line for each instruction with its atoms and verdicts, then each check's outcome and the provenance."""
    if quiet:
        return summary(atlas) + "\n"
    lines = []
    for (first, counted, *checks, _, _), rows, sums in _parts(atlas):
        lines.append(f"{first}   {counted}   verdict")
        for name, count, *outcomes, verdict, provenance in (*rows, sums):
            lines.append(f"{name}   {count}   {verdict}")
            lines += [f"    {line}" for line in (_together(checks, outcomes), provenance) if line]
    noted = [line for _, line in notes(atlas)]
    return "\n".join(filter(None, [*lines, *noted, sources(atlas), summary(atlas)])) + "\n"


def _together(checks: Iterable[str], outcomes: Iterable[str]) -> str:
    """Return the outcomes of the checks, equal ones together: "isa, proof 8 verified; gpu 8 unchecked"."""
    grouped: dict[str, list[str]] = {}
    for check, words in zip(checks, outcomes, strict=True):
        grouped.setdefault(words, []).append(check)
    return "; ".join(f"{', '.join(names)} {words}" for words, names in grouped.items())


def table(atlas: Atlas) -> str:
    """Return the tables in Markdown."""
    tables = []
    for names, rows, sums in _parts(atlas):
        lines = [names, ["---"] * len(names), *([f"`{first}`", *rest] for first, *rest in rows)]
        lines.append([f"**{cell}**" if cell else "" for cell in sums])
        tables.append(
            "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)
        )
    return "\n".join(tables)


def as_markdown(atlas: Atlas) -> str:
    """Return the tables, then what is refuted and unchecked as a list."""
    noted = "".join(f"- {line.replace('<', chr(92) + '<')}\n" for _, line in notes(atlas))
    return f"# Atlas\n\n{table(atlas)}\n{noted}\n{sources(atlas)}\n\n{summary(atlas)}\n"


def as_json(atlas: Atlas) -> str:
    """Every row as plain data, `"schema": 2`, without times."""
    return json.dumps(plain(atlas), indent=2, ensure_ascii=False) + "\n"


def plain(atlas: Atlas) -> dict[str, Any]:
    """Return the document that `as_json` writes."""
    return {
        "schema": SCHEMA,
        "exit": int(atlas.exit),
        "complete": not atlas.missing,
        "missing": atlas.missing,
        "checks": list(atlas.checks),
        "instructions": [_row(row) for row in atlas.rows],
        "total": _row(atlas.total()),
        "without_atom": [_row(row, "instructions") for row in atlas.without_atom],
        "total_without_atom": _row(atlas.total_without_atom(), "instructions"),
        "summary": summary(atlas),
    }


def _row(row: AtlasRow, counted: str = "atoms") -> dict[str, Any]:
    return {
        "instruction": row.instruction,
        counted: row.atoms,
        "verdicts": dict(sorted(row.verdicts.items())),
        "claims": {status.value: row.claims[status] for status in Status},
        "checks": {
            check: {outcome.value: counts[outcome] for outcome in CheckOutcome}
            | {"reasons": dict(row.reasons.get(check, Counter()).most_common())}
            for check, counts in row.outcomes.items()
        },
        "provenance": {operand: list(texts) for operand, texts in row.provenance.items()},
        "recordings": list(row.sources),
        "adapters": dict(row.adapters),
        "evidence": {"given": row.evidence, "shared": row.shared},
        "refuted": [
            {"name": w.name, "part": w.part, "claim": w.claim, "statement": w.statement, "known": w.known}
            for w in row.refuted
        ],
        "surprises": list(row.surprises),
        "unexpected": dict(row.surprises),
    }


def as_html(atlas: Atlas) -> str:
    """One page that needs no other file, with a search and filters."""
    return page(plain(atlas))
