# SPDX-License-Identifier: Apache-2.0
"""Changed expressions, tables and bases end in a line or a verdict at once, and only what equals the ISA passes."""

from __future__ import annotations

import json
import time
from pathlib import Path
from random import Random

import pytest

import isa_tables
from tests.samples import many
from verify.core.errors import SpecError
from verify.index import bind, spec, text_repair
from verify.index.properties import case

MMA = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
C = isa_tables.instruction(MMA).operands["C"]
WANTED = [C.locate(lane, i) for lane in range(32) for i in range(4)]
TEXTS = {
    "c": ("lane/4 + 8*(i/2)", "(lane & 3)*2 + i%2"),
    "python": ("laneid//4 + (8 if i > 1 else 0)", "lane % 4 * 2 + (i & 1)"),
    "": ("(lane >> 2) + 8*(i >> 1)", "(lane & 3)*2 + (i & 1)"),
}
BASES = "{register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]]}"
TABLE = "\n".join(["lane,i,row,col", *(f"{n // 4},{n % 4},{row},{col}" for n, (row, col) in enumerate(WANTED))])
NESTED = json.dumps([[list(WANTED[4 * lane + i]) for i in range(4)] for lane in range(32)])
LETTERS = [
    *"0123456789+-*/%&|^~<>=!?:()[]{},. lanei\n\"'\\;x",
    "",
    "é",
    "\udcff",
    "<<",
    "//",
    " if ",
    "not ",
    "1e9",
    "%0",
]


def change_letters(rng: Random, text: str) -> str:
    """The text with a few letters changed."""
    for _ in range(rng.randrange(3)):
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice(LETTERS) + text[at + rng.randrange(3) :]
    return text


def draw_entry(rng: Random, folder: Path) -> dict[str, str]:
    """A map of C in some form, changed."""
    form = rng.randrange(5)
    if form == 0:
        return {"bases": change_letters(rng, BASES) or " "}
    if form == 1:
        name, text = rng.choice([("c.csv", TABLE), ("c.json", NESTED)])
        (folder / name).write_text(change_letters(rng, text), encoding="utf-8", errors="surrogateescape")
        return {"table": str(folder / name)}
    language = rng.choice([*TEXTS])
    row, col = (change_letters(rng, text) or " " for text in TEXTS[language])
    return {"row": row, "col": col, **({"lang": language} if language else {})}


def elements(keys: dict[str, str]) -> list[tuple[int, ...]]:
    """The elements of a map in Python, by its own reading: of expressions that are Python's, a `;` at their ends."""
    texts = [keys[key].strip().rstrip("; \n") for key in ("row", "col")]
    codes = [compile(f"({text}\n)", key, "eval") for key, text in zip(("row", "col"), texts, strict=True)]
    names = [{"lane": lane, "laneid": lane, "i": i} for lane in range(32) for i in range(4)]
    return [tuple(eval(code, {"__builtins__": {}}, values) for code in codes) for values in names]


@pytest.mark.parametrize("count", [150, pytest.param(many(1_000), marks=pytest.mark.slow)])
def test_a_changed_map_is_a_line_or_a_verdict(count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_repair, "find", lambda part, wanted: ("", {}))  # it has a limit of its own
    rng = Random(count)
    ends = dict.fromkeys(("line", "VERIFIED", "REFUTED"), 0)
    for _ in range(count):
        words = draw_entry(rng, tmp_path)
        started = time.process_time()
        try:
            status = case(bind.bind(spec.of_options({"ptx": MMA, "operand": "C", **words}))).status
        except SpecError as error:
            assert "\n" not in str(error), words
            status = "line"
        assert time.process_time() - started < 2, words
        ends[status] += 1
        if status == "VERIFIED" and words.get("lang") == "python":
            assert elements(words) == WANTED, words
    assert min(ends.values()) > count // 100, ends
