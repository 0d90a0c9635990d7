# SPDX-License-Identifier: Apache-2.0
"""Seeded edits of right headers: each is refuted at the line of the edit, or the report lists what was not read."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.verify.scan.test_mnemonics import HEADERS as SMALL
from tests.verify.scan.test_tensor_memory import LOAD
from verify.scan.command import main

ROOT = Path(__file__).parents[3] / "examples" / "headers"
SOURCES = {
    "mma_traits_product.hpp": "\n".join(
        (ROOT / name).read_text() for name in ("arch/mma_own.hpp", "atom/mma_traits_own.hpp")
    ),
    "mma_traits_template.hpp": SMALL["template"],
    "mma_traits_adapter.hpp": SMALL["adapter"],
    "mma_traits_tensor.hpp": LOAD,
}
Edit = tuple[int, str]  # an offset, and the whole text with the edit
PER_CLASS = 4


def replace_at(text: str, match: re.Match[str], new: str) -> Edit:
    return match.start(), text[: match.start()] + new + text[match.end() :]


def matches(text: str, pattern: str) -> list[re.Match[str]]:
    return list(re.finditer(pattern, text))


def words_of_mnemonics(text: str) -> list[re.Match[str]]:
    """The words behind the first of each mnemonic in the text."""
    quoted = matches(text, r'"[\s{]*((?:mma|ldmatrix|tcgen05)\.[\w.:]+)')
    return [word for match in quoted for word in re.compile(r"\.[\w:]+").finditer(text, match.start(1), match.end(1))]


def misspelt(text: str, dice: random.Random) -> Edit:
    word = dice.choice(words_of_mnemonics(text))
    return replace_at(text, word, word[0] + "x")


def drop(text: str, dice: random.Random) -> Edit:
    needed = [word for word in words_of_mnemonics(text) if word[0] not in (".satfinite", ".shared")]  # may be left out
    return replace_at(text, dice.choice(needed), "")


def double(text: str, dice: random.Random) -> Edit:
    word = dice.choice(words_of_mnemonics(text))
    return replace_at(text, word, 2 * word[0])


def head(text: str, dice: random.Random) -> Edit:
    return replace_at(text, dice.choice(matches(text, r"(?<=\")(?:mma|ldmatrix|tcgen05)(?=\.)")), "nmma")


def placeholder(text: str, dice: random.Random) -> Edit:
    match = dice.choice(matches(text, r"%\d+"))
    return replace_at(text, match, f"%{int(match[0][1:]) + dice.choice((1, 40))}")


def operand(text: str, dice: random.Random) -> Edit:
    match = dice.choice(matches(text, r'"r"\(a[012]\)') or matches(text, r'"=[rf]"\([dt][01][^"]*?\)(?=[,\s])'))
    return replace_at(
        text, match, re.sub(r"([adt])(\d)", lambda register: f"{register[1]}{int(register[2]) + 1}", match[0], count=1)
    )


def registers(text: str, dice: random.Random) -> Edit:
    match = dice.choice(matches(text, r"(?<=Registers = )(?:uint32_t|float)\[\d\]"))
    return replace_at(text, match, dice.choice(("uint32_t[7]", "double[4]")))


def stride(text: str, dice: random.Random) -> Edit:
    lines = matches(text, r"using (?:[ABC]|Dst)Layout = Layout[^;]*;|using ValID[^;]*;")
    line = dice.choice(lines)
    number = dice.choice(list(re.compile(r"\b_(?:[248]|16|32|64|128|256)\b").finditer(text, line.start(), line.end())))
    return replace_at(text, number, f"_{3 * int(number[0][1:])}")


CLASSES: dict[Callable[[str, random.Random], Edit], tuple[str, ...]] = {
    **dict.fromkeys((misspelt, drop, double, head, placeholder, stride), tuple(SOURCES)),
    operand: ("mma_traits_product.hpp", "mma_traits_template.hpp"),
    registers: ("mma_traits_product.hpp", "mma_traits_template.hpp"),
}


def list_planted() -> Iterator[tuple[str, str, Edit]]:
    dice = random.Random(2411)
    for edit, names in CLASSES.items():
        for name in names:
            for number in range(PER_CLASS):
                yield f"{edit.__name__}-{name}-{number}", name, edit(SOURCES[name], dice)


EDITS = {label: (name, edit) for label, name, edit in list_planted()}


@pytest.mark.parametrize("name", SOURCES)
def test_the_headers_without_an_edit_are_verified(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(SOURCES[name])
    assert main([str(tmp_path)]) == 0


def declaration(text: str, offset: int) -> range:
    """The lines of the declaration or the statement around an offset."""
    start = max(text.rfind(mark, 0, offset) for mark in (";", "{\n", "}\n")) + 1
    start += len(text[start:]) - len(text[start:].lstrip())
    end = text.find(";\n", offset)
    return range(text[:start].count("\n") + 1, text[:end].count("\n") + 2)


@pytest.mark.long
@pytest.mark.parametrize("label", EDITS)
def test_an_edit_is_refuted_where_it_stands(label: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name, (offset, text) = EDITS[label]
    assert text != SOURCES[name]
    (tmp_path / name).write_text(text)
    code = main([str(tmp_path), "--allow-unchecked"])
    printed = capsys.readouterr().out
    refuted = re.findall(rf"{re.escape(name)}:(\d+):\d+:\n.*REFUTED", printed.replace("\n    ", " "))
    line = text[:offset].count("\n") + 1
    at = {line} if '"' in text.splitlines()[line - 1] else set(declaration(text, offset))
    assert code == 1 and at & set(map(int, refuted)), f"{text.splitlines()[line - 1]}\n{printed}"
