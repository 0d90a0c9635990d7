# SPDX-License-Identifier: Apache-2.0
"""The atlas as text, Markdown, JSON and HTML: one table of the same cells, then what is refuted and unchecked."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from html import escape
from typing import Any

from verify.atlas_table import Atlas, Row, Told
from verify.report import tally
from verify.verdict import Status, Witness

SCHEMA = 1
STYLE = """body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem; color: #222; }
table { border-collapse: collapse; } td, th { border: 1px solid #ccc; padding: .2rem .6rem; text-align: left; }
.refuted { color: #b3261e; font-weight: bold; } .stands { color: #17692d; } .unchecked { color: #7a5a00; }"""


def header(atlas: Atlas) -> list[str]:
    """The names of the columns."""
    return ["instruction", "atoms", *atlas.witnesses, "verdict", "provenance"]


def cells(atlas: Atlas, row: Row) -> list[str]:
    """A row's cells, in words."""
    heard = [_told(row.told.get(witness, Counter())) for witness in atlas.witnesses]
    return [row.instruction, str(row.atoms), *heard, _verdict(row), _provenance(row)]


def _last(atlas: Atlas) -> list[str]:
    """The cells of the whole; where formulas come from is said row by row."""
    return [*cells(atlas, atlas.total())[:-1], ""]


def _told(counts: Counter[Told]) -> str:
    return ", ".join(f"{counts[told]} {told}" for told in Told if counts[told]) or "not asked"


def _verdict(row: Row) -> str:
    known = len({wrong.name for wrong in row.refuted if wrong.known})
    words = []
    for status in ("STANDS", "CONTRADICTION", "VACUOUS", "REFUTED", "UNKNOWN", "UNCHECKED"):
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
    return "; ".join(f"{', '.join(operands)} {origins}" for origins, operands in grouped.items())


def summary(atlas: Atlas) -> str:
    """The last line: how many atoms and claims, what is shared, the exit code."""
    whole = atlas.total()
    shared = f"{whole.shared} of {whole.evidence} pieces of evidence shared with an equal operand and formula"
    atoms = f"{whole.atoms} atoms of {len(atlas.rows)} instructions: {_verdict(whole) or 'none'}"
    return f"{atoms}; claims: {tally(whole.claims)}; {shared}; exit {int(atlas.exit)}"


def notes(atlas: Atlas) -> Iterator[tuple[str, str]]:
    """(class, line) for every refuted claim, then for every reason of silence with the atoms that it is about."""
    for row in atlas.rows:
        for wrong in row.refuted:
            known = " (known)" if wrong.known else ""
            yield "refuted", f"REFUTED{known} {wrong.name} {wrong.part or 'ptx'}: {wrong.claim}: {wrong.statement}"
    for reason, silent in silences(atlas).items():
        about: dict[tuple[tuple[str, int], ...], list[str]] = {}
        for witness, counts in silent.items():
            about.setdefault(tuple(counts.items()), []).append(witness)
        for rows, witnesses in about.items():
            atoms, where = sum(count for _, count in rows), ", ".join(name for name, _ in rows)
            who = " and ".join(witnesses)
            yield "unchecked", f"UNCHECKED by {who}, {atoms} {'atom' if atoms == 1 else 'atoms'}: {reason} ({where})"


def silences(atlas: Atlas) -> dict[str, dict[Witness, dict[str, int]]]:
    """Reason -> witness -> instruction -> how many atoms it was silent on."""
    found: dict[str, dict[Witness, dict[str, int]]] = {}
    for row in atlas.rows:
        for witness, reasons in row.reasons.items():
            for reason, count in reasons.items():
                found.setdefault(reason, {}).setdefault(witness, {})[row.instruction] = count
    return found


def sources(atlas: Atlas) -> str:
    """The recordings that were heard."""
    heard = atlas.total().sources
    return f"silicon: {'; '.join(heard)}" if heard else ""


def as_text(atlas: Atlas, quiet: bool = False) -> str:
    """The table in columns."""
    if quiet:
        return summary(atlas) + "\n"
    table = [header(atlas), *(cells(atlas, row) for row in atlas.rows), _last(atlas)]
    widths = [max(len(line[i]) for line in table) for i in range(len(table[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in table]
    told = [line for _, line in notes(atlas)]
    return "\n".join(filter(None, [*lines, *told, sources(atlas), summary(atlas)])) + "\n"


def table(atlas: Atlas) -> str:
    """The table in Markdown."""
    lines = [header(atlas), ["---"] * len(header(atlas))]
    lines += [[f"`{first}`", *rest] for first, *rest in (cells(atlas, row) for row in atlas.rows)]
    lines.append([f"**{cell}**" if cell else "" for cell in _last(atlas)])
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def as_markdown(atlas: Atlas) -> str:
    """The table, then what is refuted and unchecked as lists."""
    told = "".join(f"- {line.replace('<', chr(92) + '<')}\n" for _, line in notes(atlas))
    return f"# Atlas\n\n{table(atlas)}\n{told}\n{sources(atlas)}\n\n{summary(atlas)}\n"


def as_json(atlas: Atlas) -> str:
    """Every row as plain data, `"schema": 1`, without times."""
    document = {
        "schema": SCHEMA,
        "exit": int(atlas.exit),
        "witnesses": list(atlas.witnesses),
        "instructions": [_row(row) for row in atlas.rows],
        "total": _row(atlas.total()),
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _row(row: Row) -> dict[str, Any]:
    return {
        "instruction": row.instruction,
        "atoms": row.atoms,
        "verdicts": dict(sorted(row.verdicts.items())),
        "claims": {status.value: row.claims[status] for status in Status},
        "witnesses": {witness: _counts(row, witness) for witness in row.told},
        "provenance": {operand: list(told) for operand, told in row.provenance.items()},
        "recordings": list(row.sources),
        "evidence": {"given": row.evidence, "shared": row.shared},
        "refuted": [
            {"name": w.name, "part": w.part, "claim": w.claim, "statement": w.statement, "known": w.known}
            for w in row.refuted
        ],
    }


def _counts(row: Row, witness: Witness) -> dict[str, Any]:
    counts = {told.value: row.told[witness][told] for told in Told}
    return counts | {"reasons": dict(row.reasons.get(witness, Counter()).most_common())}


def as_html(atlas: Atlas) -> str:
    """One page that needs no other file."""
    head = "".join(f"<th>{escape(name)}" for name in header(atlas))
    lines = [*(cells(atlas, row) for row in atlas.rows), _last(atlas)]
    body = "\n".join("<tr>" + "".join(f"<td>{escape(cell)}" for cell in line) for line in lines)
    told = "\n".join(f'<li class="{kind}">{escape(line)}' for kind, line in notes(atlas))
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<meta charset="utf-8">\n<title>Lanecheck: atlas</title>\n'
        f"<style>\n{STYLE}\n</style>\n<h1>Atlas</h1>\n<p>{escape(summary(atlas))}</p>\n"
        f"<table>\n<tr>{head}\n{body}\n</table>\n<p>{escape(sources(atlas))}</p>\n<ul>\n{told}\n</ul>\n</html>\n"
    )
