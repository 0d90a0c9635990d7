# SPDX-License-Identifier: Apache-2.0
"""Hostile PTX and claims: an outcome or one line, no traceback and no hang."""

from __future__ import annotations

import copy
import os
import random
import re
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from tests.verify.kernel.test_asynchronous import CLAIM as COPY_CLAIM
from tests.verify.kernel.test_asynchronous import COPY
from tests.verify.kernel.test_check import CLAIM, PRODUCT
from tests.verify.kernel.test_defaults import CLAIM as OPEN_CLAIM
from verify.__main__ import main
from verify.core.errors import SpecError, UsageError
from verify.kernel.check import check
from verify.kernel.claims.claim import claim_of

BUDGET = 3000  # instructions: a kernel of these tests has 60
SECONDS = 20.0  # of one case, of a processor: a machine may be busy with something else
ODD = ["", "{", "}", ";", "[", "]", "(", "%", "@", "@!", "0x", "-1", "99999999999999999999", "0f7F800000", "%r99999",
       "bra START;", "ret;", "\x00", "é", ".b32", "//", "/*", "\n" * 50, "{" * 300, "mma.sync", "call f;"]  # fmt: skip
VALUES: list[Any] = [0, -1, 1 << 40, 1.5, "", "K**9**9", "C", [], {}, None, "cdiv(M, 0)", [[]], True, "x" * 5000]


def cut(text: str, draw: random.Random) -> str:
    """A text that ends early."""
    return text[: draw.randrange(len(text))]


def replace_word(text: str, draw: random.Random) -> str:
    """A text in which one word is another, or something odd."""
    words = re.findall(r"[\w.%:$]+", text) or [""]
    old = draw.choice(words)
    return text.replace(old, draw.choice([*ODD, draw.choice(words)]), draw.choice([1, 1, -1]))


def insert_odd(text: str, draw: random.Random) -> str:
    """A text with something odd at some place."""
    place = draw.randrange(len(text))
    return text[:place] + draw.choice(ODD) + text[place:]


def shuffle(text: str, draw: random.Random) -> str:
    """A text with two lines exchanged, one repeated, or some left out."""
    lines = text.splitlines() or [text]
    first, second = draw.randrange(len(lines)), draw.randrange(len(lines))
    lines[first], lines[second] = lines[second], lines[first]
    return "\n".join(lines[: draw.choice([len(lines), first + 1])] + lines[draw.choice([first, len(lines)]) :])


EDITS: list[Callable[[str, random.Random], str]] = [cut, replace_word, replace_word, replace_word, insert_odd, shuffle]


def spoil_claim(claim: dict[str, Any], draw: random.Random) -> dict[str, Any]:
    """A claim with one value that is something else, or one key too many or too few."""
    made = copy.deepcopy(claim)
    home = made
    while True:
        key = draw.choice([*home, "nonsense"])
        if isinstance(home.get(key), dict) and home[key] and draw.random() < 0.7:
            home = home[key]
            continue
        if draw.random() < 0.2:
            home.pop(key, None)
        else:
            home[key] = draw.choice(VALUES)
        return made


def try_seed(seed: int) -> str:
    """What becomes of one hostile text or claim: a status, or the sort of error."""
    draw = random.Random(seed)
    text, claim = draw.choice([(PRODUCT, CLAIM), (COPY, COPY_CLAIM), (PRODUCT, OPEN_CLAIM)])
    for _ in range(draw.choice([1, 1, 2, 5])):
        text = draw.choice(EDITS)(text, draw) or text
    if draw.random() < 0.3:
        claim = spoil_claim(claim, draw)
    started = time.process_time()
    try:
        outcomes = check(text, claim_of(claim), seed=1, budget=BUDGET)
        status = outcomes[0].status if outcomes else "EMPTY"
    except (UsageError, SpecError) as error:
        assert str(error) and "\n" not in str(error), error
        status = "SpecError" if isinstance(error, SpecError) else "UsageError"
    assert time.process_time() - started < SECONDS
    return status


@pytest.mark.long
def test_a_hundred_hostile_inputs_are_an_outcome_or_one_line() -> None:
    assert {try_seed(seed) for seed in range(100)} >= {"UsageError", "SpecError", "UNKNOWN"}


@pytest.mark.slow
def test_many_hostile_inputs_are_an_outcome_or_one_line() -> None:
    """A thousand, or as many as the variable HOSTILE says."""
    count = int(os.environ.get("HOSTILE", "1000"))
    counted = Counter(try_seed(seed) for seed in range(count))
    assert counted.keys() - {"EMPTY"} == {"VERIFIED", "REFUTED", "UNKNOWN", "UsageError", "SpecError"}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "entry"),
        (b"\x7fELF\x02\x01\x01\x00\xff\xfe", "isn't PTX text"),
        (b"{" * 100_000, "entry"),
        (PRODUCT.replace("ret;", f"mov.b32 %r1, {'(%r1, ' * 10_000}{')' * 10_000};").encode(), "brackets and signs"),
        (PRODUCT.replace("ret;", f"mov.b32 %r1, {'!' * 10_000}%r1;").encode(), "brackets and signs"),
        (PRODUCT.replace("ret;", "AGAIN: bra AGAIN;").encode(), "goes round for ever"),
    ],
    ids=["empty", "binary", "braces", "nested", "signs", "endless"],
)
def test_a_hostile_file_is_one_line(content: bytes, words: str, tmp_path: Any, capsys: Any) -> None:
    (tmp_path / "k.ptx").write_bytes(content)
    claim = 'grid = 1\nblock = 32\nsizes = { M = 16, N = 8, K = 16 }\nclaim = "C[m,n] = sum_k A[m,k]*B[n,k]"\n'
    claim += (
        'params = ["A", "B", "C"]\narrays.A = { dims = "mk", type = "f16" }\narrays.B = { dims = "nk", type = "f16" }\n'
    )
    (tmp_path / "k.toml").write_text(claim + 'arrays.C = { dims = "mn", type = "f32", out = true }\n')
    words_of = ["kernel", str(tmp_path / "k.ptx"), "--claim", str(tmp_path / "k.toml"), "--budget", "2000"]
    code = main(words_of)
    printed = capsys.readouterr()
    assert code in (1, 2, 4) and words in printed.out + printed.err
    assert "Traceback" not in printed.err and (code != 2 or printed.err.count("\n") == 1)


@pytest.mark.parametrize("statement", [";", "L: "])
def test_a_file_of_empty_statements_is_one_line(statement: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("verify.kernel.ptx.parse.MAX_STATEMENTS", 1000)
    with pytest.raises(UsageError, match="more than 1000 statements"):
        check(PRODUCT.replace("ret;", statement * 1000), claim_of(CLAIM))
