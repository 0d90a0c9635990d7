# SPDX-License-Identifier: Apache-2.0
"""The atlas as one HTML page that needs no other file: its rows with a search and filters, made of its JSON.

Without its script the page shows every row; nothing in it is computed by the script but which rows are shown.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree.ElementTree import Element

from verify.core.errors import UsageError
from verify.core.html import document, element
from verify.core.verdict import origin

SCHEMA = 2
STYLE = """
form { display: flex; flex-wrap: wrap; gap: .8rem; align-items: end; padding: .6rem 0; }
label { display: grid; font-size: .85rem; }
input, select { font: inherit; padding: .3rem; max-width: 100%; background: var(--page); color: var(--text);
  border: 1px solid var(--dim); }
table { border-collapse: collapse; width: 100%; margin: .5rem 0 1.5rem; font-size: .85rem; }
caption { text-align: left; font-weight: 700; padding: .4rem 0; }
thead th { overflow-wrap: normal; }
th, td { border-top: 1px solid var(--line); padding: .3rem .6rem .3rem 0; text-align: left; vertical-align: top; }
tbody th { font-weight: 600; }
tr:target { background: var(--box); }
td ul { margin: .3rem 0; padding-left: 1rem; }
[hidden] { display: none !important; }
@media (max-width: 50rem) { thead { display: none; } tr, th, td { display: block; } tr { padding: .5rem 0; }
  tbody th, td { border: 0; padding: .1rem 0; } tbody tr { border-top: 1px solid var(--line); }
  td::before { content: attr(data-name) ": "; color: var(--dim); } td:empty { display: none; } }
"""
SCRIPT = """
const form = document.querySelector('form'), rows = [...document.querySelectorAll('tbody tr')];
const show = () => {
  const words = form.q.value.toLowerCase().split(/\\s+/), verdict = form.verdict.value, family = form.family.value;
  let shown = 0;
  for (const row of rows) {
    const text = row.textContent.toLowerCase();
    row.hidden = !(words.every((word) => text.includes(word)) && (!family || row.dataset.family === family)
      && (!verdict || row.dataset.verdicts.split(' ').includes(verdict)));
    shown += !row.hidden;
  }
  form.shown.value = `${shown} of ${rows.length} rows`;
};
form.hidden = false; form.addEventListener('input', show);
form.addEventListener('submit', (event) => event.preventDefault()); show();
"""


def of_file(path: Path) -> tuple[str, int]:
    """(page, exit code) of what `--format json` wrote; UsageError for any other file."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        return page(document), int(document["exit"])
    except OSError as error:
        raise UsageError(f"--from {path}: {error.strerror}") from error
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"--from {path}: it should be what `lanecheck atlas --format json` writes") from error


def page(atlas: Mapping[str, Any]) -> str:
    """Return the page, of the document that `--format json` writes.

    Raises KeyError, TypeError or ValueError for another one.
    """
    if atlas["schema"] != SCHEMA:
        raise ValueError(f"schema {atlas['schema']}")
    parts = (("instructions", "atoms", "total"), ("without_atom", "instructions", "total_without_atom"))
    tables = [_table(atlas, *part) for part in parts if atlas[part[0]]]
    rows = [*atlas["instructions"], *atlas["without_atom"]]
    recorded = ", ".join(atlas["total"]["recordings"])
    head = element("header", element("h1", "Atlas"), element("p", atlas["summary"]))
    below = element("p", f"gpu: {recorded}") if recorded else element("p")
    return document(
        "Lanecheck: atlas", head, element("main", _filters(rows), *tables, below, id="main"), style=STYLE, script=SCRIPT
    )


def _filters(rows: list[dict[str, Any]]) -> Element:
    verdicts = sorted({verdict for row in rows for verdict in _verdicts(row)})
    families = sorted({_family(row) for row in rows})
    search = element("input", type="search", name="q", placeholder="m16n8k16 derived")
    made = element("form", element("label", "Search", search), role="search", hidden="")
    for name, label, values in (("verdict", "Verdict", verdicts), ("family", "Instruction", families)):
        options = [element("option", "all", value=""), *(element("option", value, value=value) for value in values)]
        made.append(element("label", label, element("select", *options, name=name)))
    made.append(element("output", "", name="shown"))
    return made


def _table(atlas: Mapping[str, Any], rows: str, counted: str, total: str) -> Element:
    """Return the table of the atoms' instructions, or of those without an atom, with its sums."""
    names = ["instruction", counted, *atlas["checks"], "verdict", "formulas from"]
    head = element("thead", element("tr", *(element("th", name, scope="col") for name in names)))
    body = element("tbody", *(_row(row, names) for row in atlas[rows]))
    sums = element("tfoot", _row({**atlas[total], "instruction": "total", "provenance": {}}, names, ""))
    title = "Instructions with atoms" if counted == "atoms" else "Instructions without an atom"
    return element("table", element("caption", title), head, body, sums)


def _row(row: Mapping[str, Any], names: list[str], place: str = "#") -> Element:
    name, counted = row["instruction"], names[1]
    first = element("th", element("code", name), scope="row")
    where = f"{counted}/{name}".replace(" ", "_")
    if place:
        first.append(element("a", "#", class_="permalink", href=f"#{quote(where)}", aria_label=f"Link to {name}"))
    first.extend(_why(row) if place else ())
    cells = [first, element("td", str(row[counted]), data_name=counted)]
    for check in names[2:-2]:
        outcomes = {word: count for word, count in row["checks"].get(check, {}).items() if word != "reasons" and count}
        cells.append(element("td", *_spell_counts(outcomes), data_name=check))
    known = len({wrong["name"] for wrong in row["refuted"] if wrong["known"]})
    verdict = element("td", *_spell_counts(row["verdicts"]), data_name="verdict")
    verdict.extend([element("span", f" ({known} known)")] if known else ())
    kinds: dict[str, list[str]] = {}
    for operand, texts in row["provenance"].items():
        kinds.setdefault(" and ".join(origin(" | ".join(texts))), []).append(operand)
    origins = "; ".join(f"{', '.join(operands)} {kind}" for kind, operands in kinds.items())
    cells += [verdict, element("td", origins, data_name=names[-1])]
    marks = {"id": where} if place else {}
    return element("tr", *cells, data_family=_family(row), data_verdicts=" ".join(_verdicts(row)), **marks)


def _why(row: Mapping[str, Any]) -> Iterator[Element]:
    """Yield what is refuted in a row, and why checks are missing, folded."""
    lines = [
        f"{wrong['name']} {wrong['part'] or 'ptx'} REFUTED{' (known)' * wrong['known']}: {wrong['statement']}"
        for wrong in row["refuted"]
    ]
    lines += [f"{name}  SURPRISE: it {how}" for name, how in row["unexpected"].items()]
    reasons: dict[str, list[str]] = {}
    for check, counts in row["checks"].items():
        for reason in counts["reasons"]:
            reasons.setdefault(reason, []).append(check)
    lines += [f"unchecked by {' and '.join(checks)}: {reason}" for reason, checks in reasons.items()]
    if lines:
        yield element("details", element("summary", "why"), element("ul", *(element("li", line) for line in lines)))


def _spell_counts(words: Mapping[str, int]) -> Iterator[Element | str]:
    for number, (word, count) in enumerate(words.items()):
        yield ", " if number else ""
        yield element("span", f"{count} {word}", class_=word.partition(" ")[0])


def _verdicts(row: Mapping[str, Any]) -> list[str]:
    """Return the verdicts of a row, without "(observed)"."""
    return list(dict.fromkeys(verdict.partition(" ")[0] for verdict in row["verdicts"]))


def _family(row: Mapping[str, Any]) -> str:
    return str(row["instruction"]).partition(".")[0].partition(" ")[0]
