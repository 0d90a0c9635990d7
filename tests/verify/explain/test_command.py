# SPDX-License-Identifier: Apache-2.0
"""Every code that a report can give is explained, and nothing else; the page in the docs is made of the same texts."""

from __future__ import annotations

import ast
import json
import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import verify
from verify.__main__ import COMMANDS, main
from verify.core.verdict import Property
from verify.report.alerts import OTHERS
from verify.report.findings import read_findings

ROOT = Path(__file__).parents[3]
# They make a property of a key that they read: from their own table, which `codes` has, and from a report.
READERS = {"verify/kernel/verdict.py", "verify/show/reports.py"}


def properties(value: object, depth: int = 0) -> Iterator[Property]:
    """The properties in a value: alone, or in tables."""
    if isinstance(value, Property):
        yield value
    elif isinstance(value, dict) and depth < 4:
        for part in value.values():
            yield from properties(part, depth + 1)
    elif isinstance(value, tuple | list | set | frozenset) and depth < 4:
        for part in value:
            yield from properties(part, depth + 1)


def codes() -> set[str]:
    """Every rule id that SARIF can have: the keys of the properties that our modules declare, and the others."""
    names = [module.name for module in pkgutil.walk_packages(verify.__path__, "verify.")]
    modules = [import_module(name) for name in names if not re.search(r"__main__|\.adapters|child", name)]
    declared = {prop.key for module in modules for value in vars(module).values() for prop in properties(value)}
    return declared | OTHERS.keys()


def test_every_code_is_explained_and_no_entry_is_stale() -> None:
    assert read_findings().keys() == codes()


@pytest.mark.long
def test_a_property_is_declared_by_a_module_with_its_key() -> None:
    """So that `codes` has it."""
    made = {}
    for path in (ROOT / "verify").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Property":
                first = node.args[0]
                if isinstance(first, ast.Attribute) and first.attr == "key":
                    continue  # of a property that is declared
                key = first.value if isinstance(first, ast.Constant) else None
                made.setdefault(path.relative_to(ROOT).as_posix(), set()).add(key)
    assert {name for name, keys in made.items() if None in keys} == READERS
    assert {key for keys in made.values() for key in keys if key} <= codes()


def test_every_rule_of_the_recorded_command_lines_is_explained() -> None:
    rules: set[str] = set()
    for path in (ROOT / "tests" / "spec" / "recorded").glob("*.json"):
        for result in json.loads(path.read_text(encoding="utf-8")).values():
            output = result.get("stdout")
            rules |= {*output.get("rules", ())} if isinstance(output, dict) else set()
    assert len(rules) > 8 and rules <= read_findings().keys()


@pytest.mark.parametrize("key", ["means", "example", "fix"])
def test_the_texts_are_sentences(key: str) -> None:
    for code, finding in read_findings().items():
        assert finding.keys() == {"of", "means", "example", "fix"}, code
        assert re.search(r"[.…]$", finding[key]) and "  " not in finding[key], (code, finding[key])
        assert set(re.findall(r"lanecheck ([a-z]+)", finding[key])) <= COMMANDS.keys(), code


def test_the_page_is_made_of_the_same_texts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--format", "markdown"]) == 0
    assert capsys.readouterr().out == (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")


def test_a_finding_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "ownership", "order"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("ownership: ") and "\norder: " in out
    assert out.count("  example: ") == out.count("  fix: ") == 2
    assert main(["explain"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(read_findings())


def test_an_unknown_code_is_one_line_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "ownershp"]) == 2
    assert capsys.readouterr().err == "lanecheck: no finding has the code 'ownershp'; nearest: ownership, own_inverse\n"
    assert main(["explain", "zzz"]) == 2
    assert capsys.readouterr().err == "lanecheck: no finding has the code 'zzz'; lanecheck explain shows all\n"


@pytest.mark.parametrize("word, codes", [("race", "order"), ("Narrowing", "precision"), ("barrier", "order, progress")])
def test_a_word_of_a_report_leads_to_the_codes_that_explain_it(
    word: str, codes: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", word]) == 2
    assert capsys.readouterr().err == f"lanecheck: no finding has the code {word!r}; {word!r} is explained by {codes}\n"
