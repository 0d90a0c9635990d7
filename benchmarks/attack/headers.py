# SPDX-License-Identifier: Apache-2.0
"""Headers in CUTLASS's form with one edit: a number of a layout, or a word of a mnemonic.

A layout is right if it is the same function as before, by the oracle. A mnemonic with a word left out, or with
another in its place, is another instruction or none.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.attack import oracle
from benchmarks.attack.attempt import Attempt, Truth, fault_of
from benchmarks.attack.edits import edited
from verify.scan.command import main

HEADERS = Path(__file__).parents[2] / "examples" / "headers"
MNEMONIC = re.compile(r'(?<=asm volatile\(")[a-z][\w.:]+')
LAYOUT = re.compile(r"Layout<\s*Shape<.*?>>\s*;|Layout<\s*Shape<[^;]*;", re.DOTALL)
INSTEAD = {
    **{"f16": "bf16", "f32": "f16", "row": "col", "col": "row"},
    **{"m16n8k16": "m16n8k8", "x4": "x2", "m8n8": "m16n16", "b16": "b8"},
}
VERDICTS = {0: "VERIFIED", 1: "REFUTED", 2: "REJECTED", 4: "UNDECIDED"}


def layouts_of(text: str) -> list[list[int]]:
    """Return the images of every layout that a header writes out; a tile's size N is one that the shipped one uses."""
    images = []
    for written in LAYOUT.findall(text):
        plain = re.sub(r"Int<N / (\d+)>", lambda part: str(16 // max(int(part[1]), 1)), written)
        shape, _, stride = re.sub(r"[\s_;]", "", plain).partition("Stride")
        turned = [re.sub(r"(Layout|Shape|Stride)?<", "(", part).replace(">", ")") for part in (shape, stride)]
        images.append(oracle.images(f"{_balanced(turned[0])}:{_balanced(turned[1])}"))
    return images


def _balanced(text: str) -> str:
    """Return the first tuple of a text, whole.

    >>> _balanced("(((4,8),2),")
    '((4,8),2)'
    """
    text = text.removeprefix("(") if text.count("(") > text.count(")") else text
    depth = 0
    for place, letter in enumerate(text):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if not depth:
            return text[: place + 1]
    raise ValueError(f"not a tuple: {text}")


def changed_mnemonic(text: str, rng: random.Random) -> str:
    """Return a mnemonic with one of its words left out, or another in its place.

    Their order is no edit, since ptxas takes most words in any order; nor is `.shared`, without which an address that
    lies in shared memory means the same.
    """
    words = text.split(".")
    place = rng.choice([at for at, word in enumerate(words) if at and word != "shared"])
    instead = INSTEAD.get(words[place], "") if rng.random() < 0.5 else ""
    return ".".join([*words[:place], *([instead] if instead else []), *words[place + 1 :]])


def edits(text: str, rng: random.Random) -> Iterator[tuple[str, Truth]]:
    """Yield one edit of a header's layouts, and one of its mnemonics, each with what the oracle says of it."""
    if places := list(LAYOUT.finditer(text)):
        place = rng.choice(places)
        new = text[: place.start()] + edited(place[0], rng) + text[place.end() :]
        try:
            truth = Truth.RIGHT if layouts_of(new) == layouts_of(text) else Truth.WRONG
        except ValueError:
            truth = Truth.WRONG
        yield new, truth
    if places := list(MNEMONIC.finditer(text)):
        place = rng.choice(places)
        yield text[: place.start()] + changed_mnemonic(place[0], rng) + text[place.end() :], Truth.WRONG


def attempt(number: int, rng: random.Random) -> Attempt:
    """Scan a copy of the example's headers with one edit."""
    path = rng.choice(sorted(HEADERS.rglob("*.hpp")))
    new, truth = rng.choice(list(edits(path.read_text(), rng)))
    given = next(
        (f"{path.name}:{line}: {b.strip()}" for line, (a, b) in enumerate(_lines(path.read_text(), new), 1) if a != b),
        "",
    )
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "headers"
        shutil.copytree(HEADERS, home)
        (home / path.relative_to(HEADERS)).write_text(new)
        verdict = _scanned(home)
    return Attempt("headers", number, given, truth, verdict, fault_of(truth, verdict))


def _lines(old: str, new: str) -> Iterator[tuple[str, str]]:
    return zip(old.splitlines(), new.splitlines(), strict=False)


def _scanned(home: Path) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.redirect_stderr(io.StringIO()):
        code = main([str(home), "--format", "json"])
    if code == 0 and not json.loads(said.getvalue())["subjects"]:
        return "UNDECIDED"
    return VERDICTS.get(code, f"CRASHED: exit {code}")
