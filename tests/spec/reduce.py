# SPDX-License-Identifier: Apache-2.0
"""The structure and the verdicts of what a command printed, in any of its formats: what stays when only prose changes.

`reduce` tells the format by the text. A sentence becomes `…`; times, versions and the machine are left out.
"""

from __future__ import annotations

import html
import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any
from xml.etree import ElementTree

STATUSES = "VERIFIED|PROVED|AGREES|UNKNOWN|UNCHECKED|TAKEN|REFUTED|RELABELLED|VACUOUS|CONTRADICTION|CONFIRMED|FAILED"
STATUS = re.compile(rf"\b({STATUSES})\b( \((?:observed|isa|isa, [a-z, ]+)\))?")
COUNT = re.compile(
    r"\b\d+ (?:proved|agree|refuted|unknown|unchecked|verified|vacuous|relabelled|taken|contradiction|points?|subjects?"
    r"|failed|not verified|mutants?|operands?|laws?|equal|changed|recorded|cases|maps?)\b"
)
EXIT = re.compile(r"\bexit (\d+)$")
ANNOTATION = re.compile(r"^::(error|warning|notice) (.*?)::")
OPTION = re.compile(r"^ {2}(?:-\w[^,\n]*, )?(--[a-z][a-z-]*)", re.MULTILINE)
ARGUMENT = re.compile(r"^ {2}([A-Za-z]+)(?: {2,}\S|$)", re.MULTILINE)
SENTENCE = "…"
ABSENT = (None, "", [], {}, SENTENCE)
# Strings of more than one word that are no prose: names of the user's, methods of a check.
NAMES = {"name", "subject", "method", "status", "property", "known_defect", "layout", "map", "file"}
# What differs from run to run, from machine to machine, or from version to version.
VARYING = frozenset("version engine seconds time digest kernel_hash sha256 driver host date python".split())
DIGEST = re.compile(r"[0-9a-f]{64}")  # of all code, by which a campaign knows its results
LONGEST = 12  # items of a list of numbers or words that is kept as it is


def reduce(text: str, name: str = "") -> Any:
    """The structure and the verdicts of a text, as a value that JSON can hold; `name` is that of its file."""
    if name.endswith(".lock"):
        return _of_json(tomllib.loads(text))
    opening = text.lstrip()[:200].lower()
    return next(read for pattern, read in READERS if re.match(pattern, opening))(text)


def _of_json_text(text: str) -> Any:
    try:
        document = json.loads(text)
    except json.JSONDecodeError:  # JSON Lines
        return [_of_json(json.loads(line)) for line in text.splitlines() if line.strip()]
    return _of_sarif(document) if "sarif" in str(document.get("$schema", "")) else _of_json(document)


def _of_html(text: str) -> dict[str, Any]:
    words = (word for word, _ in STATUS.findall(_plain(text)))
    return {"html": _tags(text, ("svg", "table", "section", "h1", "h2", "pre")), "statuses": Counter(words)}


def _of_svg(text: str) -> dict[str, Any]:
    return {"svg": _tags(text, ("rect", "text", "path", "circle", "line", "title"))}


def _of_latex(text: str) -> dict[str, Any]:
    return {"latex": Counter(re.findall(r"\\[a-zA-Z]+", text))}


def _of_json(document: Any) -> dict[str, Any]:
    """The keys of a document, and its values without what is empty or prose."""
    keys: dict[str, set[str]] = {}
    for path, key in _paths(document, ""):
        keys.setdefault(path or ".", set()).add(key)
    return {"keys": {path: " ".join(sorted(names)) for path, names in keys.items()}, "values": _prune(document, "")}


def _paths(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """(path of an object, one of its keys): items of one list share theirs, and names of the user's are `*`."""
    if isinstance(value, dict):
        for key, part in value.items():
            name = key if re.fullmatch(r"[a-z$][a-z_]*", key) else "*"
            yield path, name
            yield from _paths(part, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for part in value:
            yield from _paths(part, f"{path}[]")


def _prune(value: Any, key: str) -> Any:
    if isinstance(value, dict):
        kept = {name: part for name, part in value.items() if name not in VARYING and not DIGEST.fullmatch(str(part))}
        parts = {name: _prune(part, name) for name, part in kept.items()}
        return {name: part for name, part in parts.items() if part is not False and part not in ABSENT}
    if isinstance(value, list):
        parts = [_prune(part, key) for part in value]
        if len(parts) <= LONGEST or any(isinstance(part, dict) for part in value):
            return [part for part in parts if part not in (SENTENCE, {})]
        return f"{len(parts)} items, {sha256(json.dumps(value).encode()).hexdigest()[:12]}"
    if isinstance(value, str) and key not in NAMES and re.search(r"\s", value):
        return SENTENCE
    return round(value, 6) if isinstance(value, float) else value


def _of_sarif(document: dict[str, Any]) -> dict[str, Any]:
    (run,) = document["runs"]
    return {
        "sarif": document["version"],
        "invocations": [_prune(invocation, "") for invocation in run["invocations"]],
        "rules": [rule["id"] for rule in run["tool"]["driver"]["rules"]],
        "results": [
            " ".join(filter(None, (result["level"], result["ruleId"], _place(result), *result["properties"].values())))
            for result in run["results"]
        ],
    }


def _place(result: dict[str, Any]) -> str:
    places = [location["physicalLocation"] for location in result.get("locations", ())]
    return " ".join(
        f"{location['artifactLocation']['uri']}:{location['region']['startLine']}:{location['region']['startColumn']}"
        for location in places
    )


def _of_junit(text: str) -> dict[str, Any]:
    (suite,) = ElementTree.fromstring(text)
    outcomes = [(case, outcome.tag) for case in suite for outcome in case if outcome.tag != "properties"]
    return {
        "junit": {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")},
        "cases": [f"{case.get('classname')}: {case.get('name')} {outcome}" for case, outcome in outcomes],
    }


def _tags(text: str, names: Iterable[str]) -> dict[str, int]:
    """How often each of these elements occurs in a page or a picture."""
    counts = Counter(re.findall(r"<([a-z][a-z0-9]*)\b", text))
    return {name: counts[name] for name in names if name in counts}


def _plain(page: str) -> str:
    return html.unescape(re.sub(r"<(style|script)\b.*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL))


def _of_text(text: str) -> dict[str, Any]:
    """The options and arguments of a help; else the lines that decide something; else how many lines there are."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    if lines and lines[0].startswith("usage:"):
        options, arguments = (sorted(set(pattern.findall(text))) for pattern in (OPTION, ARGUMENT))
        return {"options": " ".join(options), "arguments": " ".join(arguments)}
    kept = [line for line in map(_line, lines) if line]
    return {"text": kept} if kept else {"lines": len(lines)}


def _line(line: str) -> str:
    """What a line of a report decides; empty for prose. A line that is not indented begins with the name of a subject.

    >>> _line("  A    PROVED    stays inside 16x16 (m,k)"), _line("    isa    PROVED    exhaustive, 32 points, Python")
    ('A PROVED', 'isa PROVED 32 points')
    """
    if annotation := ANNOTATION.match(line):
        values = re.findall(r"(?:file|line|col)=[^,]*", annotation[2])
        return " ".join([annotation[1], *values])
    outer, line = not line.startswith(" "), line.strip()
    if line.startswith(("repair:", "replay:", "draw it:")):
        return ""
    counts, ended = COUNT.findall(line), EXIT.search(line)
    status = STATUS.search(line)
    if status is None:
        return ", ".join([*counts, *([f"exit {ended[1]}"] if ended else [])]) if outer else ""
    before = line[: status.start()].strip(" :,-")
    before = before if outer or len(before.split()) < 4 else SENTENCE
    return " ".join(filter(None, (before, status[0], ", ".join(counts), f"exit {ended[1]}" if ended else "")))


READERS = (
    (r"[{\[]", _of_json_text),
    (r"(<\?xml.*\s)?<testsuites", _of_junit),
    (r"<\?xml|<svg", _of_svg),
    (r"<!doctype html|<html", _of_html),
    (r"%|\\documentclass", _of_latex),
    ("", _of_text),
)
"""How a text opens, and the reader of its format."""
