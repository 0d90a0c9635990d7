# SPDX-License-Identifier: Apache-2.0
"""The notebook of the docs as a page of the site: its words, its cells, and below each what Jupyter showed."""

from __future__ import annotations

import html
import json
import re
from itertools import count
from pathlib import Path
from typing import Any

from tests.site.pictures import rename_ids

STYLES = re.compile(r"<style>.*?</style>", re.DOTALL)  # site.css has it
DRAWINGS = re.compile(r"<svg .*?</svg>", re.DOTALL)
WHERE = "\nThis page is [notebook.ipynb](notebook.ipynb) with its outputs.\n"


def page(book: Path) -> str:
    """Return the Markdown of a notebook."""
    numbers = count(1)
    parts = []
    for cell in json.loads(book.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        parts += [_show(output["data"], next(numbers)) for output in cell.get("outputs", ())]
    return "\n\n".join([parts[0], WHERE.strip(), *parts[1:], ""])


def _show(data: dict[str, Any], number: int) -> str:
    """Return an output; a drawing scrolls in a frame of its own, and its ids are no other drawing's."""
    if "text/html" not in data:
        return f"```text\n{''.join(data['text/plain'])}\n```"
    text = STYLES.sub("", "".join(data["text/html"]).replace(' xmlns="http://www.w3.org/2000/svg"', ""))
    drawn = DRAWINGS.sub(lambda match: _frame(match[0], number), text)
    return f'<div class="lc-output">{rename_ids(drawn, f"cell{number}")}</div>'


def _frame(drawing: str, number: int) -> str:
    title = re.search(r"<title[^>]*>(.*?)</title>", drawing)
    words = html.unescape(title[1]) if title else ""
    label = html.escape(f"drawing {number}: {words}")
    return f'<div><div class="lc-scroll lc-whole" tabindex="0" role="region" aria-label="{label}">{drawing}</div></div>'
