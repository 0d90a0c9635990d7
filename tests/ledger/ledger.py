# SPDX-License-Identifier: Apache-2.0
"""The ledger of teaching documents: each statement that can be checked, with its inputs and its verdict, as data.

One TOML file per document. An entry has the place of the statement (`at`), its text (`says`), the check that evaluates
it (`kind`) and the inputs (`given`). HOLDS: the check finds no counterexample. REFUTED: it finds exactly this one, and
with the inputs in `correct` it finds none; `right` is the correction in words, where the inputs alone do not show it.
`undrawn` says why the page has one picture of a refuted statement, of what is right, or none.
"""

from __future__ import annotations

import html
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.ledger import on_fragments, on_laws, on_layouts, on_programs, on_tilings

HERE = Path(__file__).parent
KINDS = {**on_layouts.KINDS, **on_fragments.KINDS, **on_tilings.KINDS, **on_programs.KINDS, **on_laws.KINDS}
KEYS = {"at", "says", "kind", "given", "verdict", "counterexample", "correct", "right", "undrawn"}
SHOWN = 4
RESERVED = {"is": "is_", "with": "with_", "property": "property_"}


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of a document, its verdict, and for a refuted one the counterexample and the correction."""

    document: str  # the name of its file
    title: str  # of the document
    name: str  # of the entry
    at: str  # its place in the document
    says: str  # the statement
    kind: str  # the check that evaluates it: a key of KINDS
    given: Mapping[str, Any]  # the inputs of the check
    verdict: str  # HOLDS or REFUTED
    counterexample: str  # the first that the check finds; empty where it holds
    correct: Mapping[str, Any]  # the inputs with which it holds, where they differ
    in_words: str  # the correction in words
    undrawn: str  # why there are no two pictures

    @property
    def id(self) -> str:
        """document/name."""
        return f"{self.document}/{self.name}"

    @property
    def anchor(self) -> str:
        """The id of its place on the page."""
        return re.sub(r"\W+", "-", self.id)

    @property
    def correction(self) -> str:
        """What is right, in words or as the inputs with which it holds."""
        names = {key: "" if key == "is" else f"{key} " for key in self.correct}
        inputs = "; ".join(f"{names[key]}{_written(value, self.given[key])}" for key, value in self.correct.items())
        return self.in_words or inputs

    @property
    def right(self) -> Mapping[str, Any]:
        """The inputs with the corrections: those of a statement that holds."""
        return {**self.given, **self.correct}


def check(kind: str, given: Mapping[str, Any]) -> str:
    """Evaluate a statement: "" when it holds, else the first counterexample."""
    return KINDS[kind](**arguments(given))


def arguments(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return inputs by names that a function of Python can have."""
    return {RESERVED.get(key, key): value for key, value in inputs.items()}


def load() -> list[Claim]:
    """Every entry, documents in the order of their files' names."""
    return [claim for path in sorted(HERE.glob("*.toml")) for claim in _read(path)]


def _read(path: Path) -> Iterator[Claim]:
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    title, short = data.pop("title"), data.pop("short", {})
    for name, entry in data.items():
        if unknown := entry.keys() - KEYS:
            raise ValueError(f"{path.name}: {name}: unknown keys {sorted(unknown)}")
        yield Claim(
            document=path.stem,
            title=title,
            name=name,
            at=entry["at"],
            says=entry["says"],
            kind=entry["kind"],
            given=_long(entry.get("given", {}), short),
            verdict=entry["verdict"],
            counterexample=entry.get("counterexample", ""),
            correct=_long(entry.get("correct", {}), short),
            in_words=entry.get("right", ""),
            undrawn=entry.get("undrawn", ""),
        )


def _long(inputs: Mapping[str, Any], short: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs with the file's short names written out."""
    return {key: short.get(value, value) if isinstance(value, str) else value for key, value in inputs.items()}


def pages(claims: list[Claim], pictures: Callable[[Claim], str] = lambda _: "") -> dict[str, str]:
    """Return the ledger as pages by their paths in the docs: one of all documents, then one of each, with statements.

    `pictures` is the Markdown of those of a refuted statement, which the site has.
    """
    documents = {claim.document: [member for member in claims if member.document == claim.document] for claim in claims}
    refuted = len(_refuted(claims))
    lines = [
        "# Teaching documents, checked",
        "",
        f"Statements of {len(documents)} teaching documents, each evaluated by the tools: {len(claims)} in all, "
        f"{len(claims) - refuted} hold, {refuted} are refuted.",
        "The tutorial in these pages uses the correct values. `tests/ledger/` has the inputs of each entry; a test",
        "evaluates it, requires the counterexample shown here, and shows that the correct value holds.",
        "",
        "| document | statements | hold | refuted |",
        "|---|---|---|---|",
    ]
    for name, own in documents.items():
        wrong = len(_refuted(own))
        lines.append(f"| [{_plain(own[0].title)}](teaching/{name}.md) | {len(own)} | {len(own) - wrong} | {wrong} |")
    lines += ["", "Each page has what is refuted first, with what is right and both pictures, then every statement."]
    made = {f"teaching/{name}.md": _page(own, pictures) for name, own in documents.items()}
    return {"teaching.md": "\n".join(lines) + "\n"} | made


def _refuted(claims: list[Claim]) -> list[Claim]:
    return [claim for claim in claims if claim.verdict == "REFUTED"]


def _page(claims: list[Claim], pictures: Callable[[Claim], str]) -> str:
    """Return the page of a document: what is refuted, and what is right, then all statements with their verdicts."""
    refuted = _refuted(claims)
    lines = [f"# {_plain(claims[0].title)}", ""]
    lines += [f"{len(claims)} of its statements were evaluated: {len(claims) - len(refuted)} hold, "
              f"{len(refuted)} are refuted ([the other documents](../teaching.md))."]  # fmt: skip
    lines += ["", "## What is refuted, and what is right"] if refuted else []
    for claim in refuted:
        lines += ["", f'<a id="{claim.anchor}"></a>**{_plain(claim.at)}**', ""]
        lines += [f"- It says: {_plain(claim.says)}", f"- REFUTED: {_plain(claim.counterexample)}"]
        lines += [f"- Right: {_plain(claim.correction)}"]
        lines += [f"- {_plain(claim.undrawn)}"] if claim.undrawn else []
        lines += ["", drawn] if (drawn := pictures(claim)) else []
    lines += ["", "## All statements", "", "| where | statement | check | verdict |", "|---|---|---|---|"]
    return "\n".join([*lines, *map(_row, claims)]) + "\n"


def _row(claim: Claim) -> str:
    verdict = claim.verdict
    if verdict == "REFUTED":
        verdict = f"[**REFUTED**](#{claim.anchor}): {claim.counterexample}"
    cells = (claim.at, claim.says, claim.kind.replace("_", " "), verdict)
    return "| " + " | ".join(map(_plain, cells)) + " |"


def _plain(text: str) -> str:
    """A cell's text, none of which Markdown takes for markup but code in backticks and the link of a verdict."""
    plain, marked = re.compile(r"[\\|*_\[\]]"), re.compile(r"(`[^`]*`|\[\*\*REFUTED\*\*\]\(#[\w-]+\))")
    parts = enumerate(marked.split(text))
    return "".join(
        part.replace("|", r"\|") if i % 2 else html.escape(plain.sub(r"\\\g<0>", part), False) for i, part in parts
    )


def _written(value: Any, instead_of: Any) -> str:
    """A corrected input as text; of a long list, the first lines that changed."""
    if isinstance(value, list) and isinstance(instead_of, list) and value and isinstance(value[0], list | str):
        new = [(i, x) for i, x in enumerate(value) if i >= len(instead_of) or x != instead_of[i]]
        lines = [f"{i}: {_written(x, None)}" for i, x in new[:SHOWN]]
        return ", ".join(lines) + (", …" if len(new) > SHOWN else "")
    return f"`{value}`" if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)
