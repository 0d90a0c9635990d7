# SPDX-License-Identifier: Apache-2.0
"""One plain vocabulary: words of a private language are in no docstring, comment, message or page.

The list is closed. What is quoted from others, or is a word of PTX, is in ALLOWED with its file.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("verify", "layouts", "isa_tables", "proofs", "gpu_checks", "benchmarks")
BANNED = re.compile(
    r"\b(witness\w*|testif\w+|testimony|hears?|heard|silen(?:t|ce[sd]?)|silicon|courts?|judg(?:e|ed|es|ing|e?ments?)|"
    r"borne out|bears? out|stands?|stood|told|tells?|dealt|held|owns|owned|handed|spelled|numerals?|nobody's|whoever|"
    r"the book)\b",
    re.IGNORECASE,
)
ALLOWED: dict[str, tuple[str, ...]] = {  # by file the lines that may have one
    **dict.fromkeys(
        (f"isa_tables/{name}.py" for name in ("entries", "instructions", "parsing", "schema")),
        ("held",),  # a key of the tables' files: the lanes that contribute
    ),
}
PAGES = sorted(
    path
    for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "gpu_checks" / "recordings" / "README.md")
    if path.name != "CHANGELOG.md"
)
SOURCES = sorted([ROOT / "lanecheck_pytest.py", *(path for name in PACKAGES for path in (ROOT / name).rglob("*.py"))])


def words(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file that a person reads: of Python the comments and strings."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        yield from enumerate(text.splitlines(), 1)
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if tokenize.tok_name[token.type] in ("STRING", "FSTRING_MIDDLE", "COMMENT"):
            yield from enumerate(token.string.splitlines(), token.start[0])


def found(path: Path) -> list[str]:
    """The banned words of a file, each with its line."""
    allowed = ALLOWED.get(path.relative_to(ROOT).as_posix(), ())
    return [
        f"{path.relative_to(ROOT)}:{line}: {word[0]!r}"
        for line, text in words(path)
        for word in BANNED.finditer(text)
        if not any(quoted in text for quoted in allowed)
    ]


@pytest.mark.parametrize("name", [*PACKAGES, "lanecheck_pytest.py"])
def test_no_word_of_a_private_language_is_in_the_code(name: str) -> None:
    inside = [path for path in SOURCES if path.relative_to(ROOT).parts[0] == name]
    assert inside
    assert [line for path in inside for line in found(path)] == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_word_of_a_private_language_is_in_a_page(path: Path) -> None:
    assert found(path) == []


def test_the_list_bites(tmp_path: Path) -> None:
    source = tmp_path / "source.py"
    source.write_text('"""A witness."""\nx = "is held"  # Whoever\nheld = 1\n')
    assert [line for line, text in words(source) if BANNED.search(text)] == [1, 2, 2]
