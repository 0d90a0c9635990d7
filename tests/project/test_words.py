# SPDX-License-Identifier: Apache-2.0
"""One plain vocabulary: words of a private language are in no name, docstring, comment, message, data file or page.

The list is closed. What is quoted from others, is a word of PTX, or is recorded data is in ALLOWED with its file.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OURS = ("lanecheck_console", "verify", "layouts", "isa_tables", "proofs", "gpu_checks")
PACKAGES = (*OURS, "benchmarks", "tests", "examples")
BANNED = re.compile(
    r"\b(witness\w*|testif\w+|testimony|hears?|heard|silen(?:t|ce[sd]?)|silicon|courts?|judg(?:e|ed|es|ing|e?ments?)|"
    r"borne out|bears? out|stands?(?!-in)|stood|told|untold|tells?|dealt|held|owns|owned|handed|spelled|numerals?|"
    r"nobody's|whoever|the book|sides|stated|reach(?:e[sd]|ing)?|unreached|apart|refus(?:e[sd]?|als?|ing)|anchors?|"
    r"lossy|lost|asked)\b",
    re.IGNORECASE,
)
ENGLISH = re.compile(  # a distance, what somebody wants
    r"\b(?:far|\d+|two|four|eight|rows?|columns?|bytes|elements?|steps|warps) (?:\w+ )?apart|\basked for",
    re.IGNORECASE,
)
FROZEN = {  # names in the code that the recorded campaign of `proofs.symbolic` is about, and messages of that code
    "layouts/compose.py": ("reaches negative indices", "together reach digit"),
    "proofs/symbolic/definitions.py": ("and was not refused",),
    "proofs/symbolic/execution.py": (
        "refused", "refuses", "_refuses", "refusal", "_refusal", "foreign", "_reach", "REACH_SEEDS", "stand_in",
    ),
    "proofs/symbolic/engine.py": ("refused", "refuse"),
    **{f"proofs/symbolic/{name}.py": ("refuses",) for name in ("contracts", "loops", "operations", "runs")},
    "proofs/symbolic/searched.py": ("refusing",),
}  # fmt: skip
ALLOWED = {  # by file the texts that may have one
    **FROZEN,
    "gpu_checks/kernels/digit_coded.cu": ("reached(",),  # the text of a kernel is hashed: recordings name the hash
    "gpu_checks/kernels/mma.cu": ("reached",),
    "gpu_checks/kernels/modules.cu": ("held",),
    "gpu_checks/tilings/parts.cu": ("what stands beyond",),
    **dict.fromkeys(  # a key of the recordings
        ("gpu_checks/recordings_io/reader.py", "gpu_checks/recordings_io/writer.py"), ("anchors",)
    ),
    "tests/gpu_checks/recordings_io/test_reader.py": ("anchors",),
    "proofs/symbolic/campaign.py": ("refused",),  # a key of its record, and a field
    "proofs/symbolic/enumerated.py": ("refused",),
    "tests/layouts/test_compose.py": ("reaches negative indices", "reach digit"),
    "tests/proofs/symbolic/test_campaign.py": ('"refused"',),
}
PAGES = sorted((*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "gpu_checks" / "recordings" / "README.md"))
SOURCES = sorted(
    [ROOT / "lanecheck_pytest.py"]
    + [path for name in PACKAGES for end in ("py", "cu", "toml", "smt2") for path in (ROOT / name).rglob(f"*.{end}")]
)
SETTINGS = sorted(
    [ROOT / "Makefile", ROOT / "pyproject.toml"]
    + [path for pattern in ("*.y*ml", "*.cff", ".github/**/*.y*ml") for path in ROOT.glob(pattern)]
)


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file that a person reads: of Python the comments and strings."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        yield from enumerate(text.splitlines(), 1)
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if tokenize.tok_name[token.type] in ("STRING", "FSTRING_MIDDLE", "COMMENT"):
            formatted = re.match(r"[rR]?[fF]", token.string)  # before Python 3.12 a whole string, with its expressions
            lines = re.sub(r"{[^{}]*}", "{}", token.string) if formatted else token.string
            yield from enumerate(lines.splitlines(), token.start[0])


def names(path: Path) -> Iterator[tuple[int, str]]:
    """The functions, classes, parameters, fields and constants that a file of Python defines, each with its line."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        if isinstance(node, ast.Module | ast.ClassDef):
            for line in node.body:
                targets = getattr(line, "targets", [getattr(line, "target", None)])
                yield from ((line.lineno, target.id) for target in targets if isinstance(target, ast.Name))


def in_words(name: str) -> str:
    """A name as words: those of `stays_in_place` and of `StaysInPlace` are "stays in place"."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_+", " ", name).strip()


def found(path: Path) -> list[str]:
    """The banned words of a file, each with its line."""
    if not BANNED.search(in_words(path.read_text(encoding="utf-8"))):
        return []  # found sooner than the file is parsed
    place = path.relative_to(ROOT).as_posix()
    allowed = ALLOWED.get(place, ())
    read = [(line, text) for line, text in texts(path) if not any(quoted in text for quoted in allowed)]
    if path.suffix == ".py":
        read += [(line, in_words(name)) for line, name in names(path) if name not in allowed]
    return [
        f"{place}:{line}: {word[0]!r} in {text.strip()}"
        for line, text in read
        for word in BANNED.finditer(ENGLISH.sub("", text))
    ]


@pytest.mark.parametrize("name", [*PACKAGES, "lanecheck_pytest.py"])
def test_no_word_of_a_private_language_is_in_the_code(name: str) -> None:
    inside = [path for path in SOURCES if path.relative_to(ROOT).parts[0] == name and path != Path(__file__)]
    assert inside
    assert [line for path in inside for line in found(path)] == []


@pytest.mark.parametrize("path", [*PAGES, *SETTINGS], ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_word_of_a_private_language_is_in_a_page(path: Path) -> None:
    assert found(path) == []


def test_what_is_allowed_is_there() -> None:
    lines = {place: (ROOT / place).read_text(encoding="utf-8") for place in ALLOWED}
    assert [(place, text) for place, quoted in ALLOWED.items() for text in quoted if text not in lines[place]] == []


def test_the_list_bites(tmp_path: Path) -> None:
    source = tmp_path / "source.py"
    source.write_text(
        '"""A witness."""\nx = "is held"  # Whoever\nheld = f"{held}: two rows apart, as asked for"\n'
        "def told_apart(self, sides): pass\nclass LostError: pass\n"
    )
    assert [line for line, text in texts(source) if BANNED.search(ENGLISH.sub("", text))] == [1, 2, 2]
    assert [line for line, name in names(source) if BANNED.search(in_words(name))] == [3, 4, 5, 4]
