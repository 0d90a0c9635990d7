# SPDX-License-Identifier: Apache-2.0
"""A test of many cases runs all of them, and names each one that fails."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from tests.cases import each


def test_every_case_is_run_and_each_that_fails_is_named(tmp_path: Path) -> None:
    seen = []

    @each("text", ["a", "bb", "cc", "d"], ids=str.upper)
    @each(("size", "low"), [(1, 0), (2, 0)])
    def case(text: str, size: int, low: int, folder: Path) -> None:
        seen.append((text, size, folder))
        if text == "d" and size == 2:
            pytest.fail("failed by name")
        assert low < len(text) <= size

    assert list(inspect.signature(case).parameters) == ["folder"]
    with pytest.raises(BaseExceptionGroup, match=r"^3 of 4 cases") as caught:
        case(folder=tmp_path)
    assert [failure.__notes__ for failure in caught.value.exceptions] == [
        ["case: 1, 0", "case: BB"],
        ["case: 1, 0", "case: CC"],
        ["case: 2, 0", "case: D"],
    ]
    assert seen == [(text, size, tmp_path) for text in ("a", "bb", "cc", "d") for size in (1, 2)]


def test_a_single_failure_is_raised_itself() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        each("x", [2, 0, 1])(lambda x: 1 // x)()
    assert caught.value.__notes__ == ["case: 0"]


def test_no_case_at_all_is_a_failure() -> None:
    with pytest.raises(AssertionError, match="no case"):
        each("x", [])(lambda x: None)()


def test_cases_of_a_function_are_made_when_the_test_runs() -> None:
    made: list[object] = []

    def cases() -> list[int]:
        made.append("cases")
        return [1]

    @each("x", cases)
    def test(x: int) -> None:
        made.append(x)

    assert made == []
    test()
    assert made == ["cases", 1]
