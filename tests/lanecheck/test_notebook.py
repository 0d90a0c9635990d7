# SPDX-License-Identifier: Apache-2.0
"""The notebook of the docs has the outputs of its cells; `LANECHECK_SNAPSHOTS=update pytest …` writes them anew."""

from __future__ import annotations

import ast
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import isa_tables
import lanecheck
from lanecheck import display
from layouts import parse_layout
from layouts.atoms import registry
from verify.maps.fragment_map import FragmentMap

PAGE = Path(__file__).parents[2] / "docs" / "notebook.ipynb"
WRONG = "((4,8),8):((32,1),8)"
# A shell that runs, as IPython has it; then what is registered when, and what that loads.
SHELL = """
import sys, types
named = []
html = types.SimpleNamespace(for_type_by_name=lambda module, name, draw: named.append((module, name)))
shell = types.SimpleNamespace(display_formatter=types.SimpleNamespace(formatters={"text/html": html}))
sys.modules["IPython"] = types.SimpleNamespace(get_ipython=lambda: shell)
import layouts
assert not named
import lanecheck
print(*sorted(named), "verify" in sys.modules, sep="\\n")
"""


class Html:
    """What draws which class, as IPython's formatter of HTML keeps it."""

    def __init__(self) -> None:
        self.of: dict[tuple[str, str], Callable[[Any], str | None]] = {}

    def for_type_by_name(self, module: str, name: str, draw: Callable[[Any], str | None]) -> None:
        self.of[module, name] = draw

    def draw(self, value: object) -> str | None:
        names = [(kind.__module__, kind.__name__) for kind in type(value).__mro__]
        return next((self.of[name](value) for name in names if name in self.of), None)


@pytest.fixture
def html() -> Html:
    formatter = Html()
    display.register(SimpleNamespace(display_formatter=SimpleNamespace(formatters={"text/html": formatter})))
    return formatter


def test_an_import_in_a_notebook_registers_the_drawings_and_loads_nothing() -> None:
    done = subprocess.run([sys.executable, "-c", SHELL], capture_output=True, text=True, check=False)
    *named, loaded = done.stdout.splitlines()
    assert (loaded, len(named)) == ("False", 6), done.stderr
    assert "('layouts.layout', 'Layout')" in named and "('verify.report', 'Report')" in named


def test_every_class_that_is_drawn_is_where_its_name_says(html: Html) -> None:
    for module, name in html.of:
        assert getattr(importlib.import_module(module), name).__module__ == module


def test_plain_python_has_no_shell_to_register_in() -> None:
    assert display.register(None) is None


def run(source: str, names: dict[str, Any]) -> object:
    """Execute a cell, and return the value of its last line."""
    *before, last = ast.parse(source).body
    exec(compile(ast.Module(before, []), "cell", "exec"), names)
    if isinstance(last, ast.Expr):
        return eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    exec(compile(ast.Module([last], []), "cell", "exec"), names)
    return None


def outputs(value: object, html: Html, number: int) -> list[dict[str, Any]]:
    if value is None:
        return []
    drawn = html.draw(value)  # of an atom the text has the path of its file
    kind, text = ("text/html", drawn) if drawn else ("text/plain", repr(value))
    data = {kind: text.splitlines(keepends=True)}
    return [{"data": data, "execution_count": number, "metadata": {}, "output_type": "execute_result"}]


def test_the_notebook_of_the_docs_has_the_outputs_of_its_cells(html: Html, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS")
    monkeypatch.chdir(PAGE.parent)  # as Jupyter does
    book, names, number = json.loads(PAGE.read_text(encoding="utf-8")), {"__name__": "cell"}, 0
    for cell in book["cells"]:
        if cell["cell_type"] == "code":
            number += 1
            source = "".join(cell["source"])
            assert number > 1 or source == "import lanecheck"
            shown = outputs(run(source, names), html, number)
            if os.environ.get("LANECHECK_SNAPSHOTS") == "update":
                cell |= {"outputs": shown, "execution_count": number}
            assert (cell["outputs"], cell["execution_count"]) == (shown, number)
    assert number > 4
    if os.environ.get("LANECHECK_SNAPSHOTS") == "update":
        PAGE.write_text(json.dumps(book, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


@pytest.mark.slow
def test_jupyter_itself_shows_what_the_notebook_of_the_docs_has() -> None:
    """The test above plays IPython's part; here a kernel of Jupyter executes the cells and its formatters draw."""
    nbclient = pytest.importorskip("nbclient", reason="not installed: it is in the dependency group `notebook`")
    nbformat = pytest.importorskip("nbformat", reason="not installed: it is in the dependency group `notebook`")
    pytest.importorskip("ipykernel", reason="not installed: it is in the dependency group `notebook`")
    kept = nbformat.read(PAGE, as_version=4)
    anew = nbformat.from_dict(json.loads(json.dumps(kept)))
    resources = {"metadata": {"path": str(PAGE.parent)}}
    nbclient.NotebookClient(anew, kernel_name="python3", resources=resources, timeout=300).execute()
    for before, after in zip(kept.cells, anew.cells, strict=True):
        for drawn, executed in zip(before.get("outputs", ()), after.get("outputs", ()), strict=True):
            ((kind, text),) = drawn["data"].items()
            assert executed["data"][kind] == text
    assert sum(len(cell.get("outputs", ())) for cell in anew.cells) > 6


def test_a_report_is_its_text_and_the_pictures_of_what_is_wrong(html: Html) -> None:
    wrong = html.draw(lanecheck.check(WRONG, onto=(8, 32)))
    assert wrong and wrong.startswith("<pre>((4,8),8):((32,1),8)  REFUTED") and wrong.count("<svg") == 1
    right = html.draw(lanecheck.check("(4,8):(8,1)", onto=(4, 8)))
    assert right and right.endswith("exit 0</pre>") and "<svg" not in right


def test_an_atom_is_drawn_and_what_is_wrong_with_it_said(html: Html) -> None:
    right = html.draw(registry()["SM75_16x8x8_F32F16F16F32_TN"])
    assert right and right.startswith("<svg")
    wrong = html.draw(registry()["SM61_DP2A"])
    assert wrong and wrong.startswith("<pre>SM61_DP2A  REFUTED")


def test_a_large_layout_is_drawn_in_part(html: Html) -> None:
    drawn = html.draw(parse_layout("(1048576,1048576):(1,1048576)"))
    assert drawn and "row 0..63 of 0..1048575" in drawn and len(drawn) < 1 << 20


def test_a_map_is_drawn_with_the_owners_of_its_elements(html: Html) -> None:
    operand = isa_tables.instruction("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32").operands["C"]
    drawn = html.draw(FragmentMap.from_operand(operand))
    assert drawn and drawn.startswith("<svg") and drawn.count('class="c s') > 127 and "T31" in drawn


def test_other_values_are_left_to_the_notebook(html: Html) -> None:
    assert html.draw("(4,8):(8,1)") is None
