# SPDX-License-Identifier: Apache-2.0
"""What a command returns is true only if it is verified, raises with its text by `check`, and prints as one line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

import verify
from layouts.atoms import registry
from verify.core.judgement import Judgement
from verify.identify.report import Identified
from verify.report import Case, Report

MMA = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
NAME = "SM80_16x8x16_F32F16F16F32_TN"
UNNAMED = replace(registry()[NAME], name="unnamed", ptx=None)
INDEX = {"ptx": MMA, "operand": "C", "lang": "c", "col": "lane%4*2 + i%2"}

GOOD: dict[str, Callable[[], Judgement]] = {
    "atom": lambda: verify.verify_atom(NAME),
    "layout": lambda: verify.verify_layout("((4,8),(2,2)):((32,1),(16,8))", equals="((4,8),(2,2)):((32,1),(16,8))"),
    "map": lambda: verify.verify_map(lambda lane, i: (lane // 4 + i // 2 * 8, lane % 4 * 2 + i % 2), MMA, "C"),
    "index": lambda: verify.verify_index(**INDEX, row="lane/4 + 8*(i/2)"),
    "identify": lambda: verify.verify_identify("((4,8),(2,2)):((32,1),(16,8))", tile=(16, 8)),
    "case": lambda: verify.verify_atom(NAME).cases[0],
}
BAD: dict[str, tuple[Callable[[], Judgement], str]] = {
    "map": (lambda: verify.verify_map(lambda lane, i: (lane // 4, i), MMA, "C"), "lane 0, value 0"),
    "layout": (lambda: verify.verify_layout("((4,8),8):((32,1),8)", onto=(8, 32)), "REFUTED"),
    "index": (lambda: verify.verify_index(**INDEX, row="lane/4 + 4*(i/2)"), r"lane 0, value 2"),
    "unchecked": (lambda: verify.verify_atom(UNNAMED), "not checked"),
    "empty": (lambda: Report(()), "exit 5"),
    "interrupted": (lambda: replace(verify.verify_atom(NAME), missing=1), "exit 130"),
    "identify": (lambda: verify.verify_identify("((4,8),(2,2)):((32,1),(16,9))"), "nearest"),
    "case": (lambda: verify.verify_map(lambda lane, i: (lane // 4, i), MMA, "C").cases[0], "lane 0"),
}


@pytest.mark.parametrize("name", GOOD)
def test_what_is_verified_is_true_and_check_returns_it(name: str) -> None:
    judged = GOOD[name]()
    assert judged and judged.check() is judged


@pytest.mark.parametrize("name", BAD)
def test_what_is_not_verified_is_false_and_check_raises_with_its_text(name: str) -> None:
    make, says = BAD[name]
    judged = make()
    assert not judged
    with pytest.raises(AssertionError, match=says):
        judged.check()


@pytest.mark.parametrize("name", [*GOOD, *(f"bad {name}" for name in BAD)])
def test_it_prints_as_one_short_line(name: str) -> None:
    judged = BAD[name[4:]][0]() if name.startswith("bad ") else GOOD[name]()
    for text in (str(judged), repr(judged)):
        assert len(text) < 200 and "\n" not in text
        assert (" OK: " in text) == bool(judged)


def test_what_the_public_functions_return_follows_the_rule() -> None:
    assert all(issubclass(kind, Judgement) for kind in (Report, Case, Identified))
    assert {type(make()) for make in GOOD.values()} == {Report, Case, Identified}


def test_what_is_accepted_unchecked_is_true() -> None:
    assert verify.verify_atom(UNNAMED, allow_unchecked=True).check()
