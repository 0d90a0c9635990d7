# SPDX-License-Identifier: Apache-2.0
"""Index arithmetic of Python has the values that Python itself computes."""

from __future__ import annotations

from random import Random

import pytest

from tests.samples import many
from tests.verify.maps.generated import generate
from verify.maps.c_meaning import Undefined
from verify.maps.python_meaning import meaning
from verify.maps.syntax import PYTHON, parse
from verify.maps.tree import ExpressionError

POINTS = [{"lane": 0, "i": 0, "u": 0}, {"lane": 31, "i": 3, "u": 5}, {"lane": 7, "i": -2, "u": 128}]


def ours(text: str, values: dict[str, int]) -> object:
    try:
        return meaning(parse(text, PYTHON).result, values, text)(values)
    except Undefined as error:
        return "too large" if "64 bits" in str(error) or "a shift by" in str(error) else "error"


def pythons(text: str, values: dict[str, int]) -> object:
    try:
        return eval(text, {"__builtins__": {}}, values)
    except (ArithmeticError, ValueError, TypeError):
        return "error"


def compare_values(count: int, seed: int) -> None:
    """Compare the values of random texts; a few are too large here and not in Python."""
    rng = Random(seed)
    same = large = 0
    for _ in range(count):
        text = generate(rng, "python")
        if "<<" in text and "2147483647" in text:  # Python would fill the memory
            continue
        for values in POINTS:
            value = ours(text, values)
            large += value == "too large"
            if value != "too large":
                assert value == pythons(text, values), (text, values)
                same += 1
    assert same > count
    assert large < same / 4


def test_a_hundred_texts_have_pythons_values() -> None:
    compare_values(150, 0)


@pytest.mark.slow
def test_thousands_of_texts_have_pythons_values() -> None:
    compare_values(many(2_000), 1)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-7 // 2", -4),
        ("-7 % 3", 2),
        ("1 < 2 < 1", False),
        ("3 & 3 == 0", False),
        ("2 and 3", 3),
        ("0 or not 0", True),
        ("min(3, max(5, 1)) + abs(-2) + int(7 / 2)", 8),
        ("1 if 2 < 3 else 1 // 0", 1),
        ("(1 +\n 2)", 3),
    ],
)
def test_values_that_differ_from_cs(text: str, value: object) -> None:
    assert meaning(parse(text, PYTHON).result, {}, text)({}) == value


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("1 // 0", "division by zero in 1 // 0"),
        ("1 % 0", "division by zero"),
        ("1 / 2 & 1", "unsupported operand"),
        ("1 << -1", "negative shift count"),
        ("1 << (1 << 40)", "a shift by 1099511627776"),
        ("(1 << 40) * (1 << 40)", "more than 64 bits"),
    ],
)
def test_pythons_errors_are_reported(text: str, why: str) -> None:
    with pytest.raises(Undefined) as raised:
        meaning(parse(text, PYTHON).result, {}, text)({})
    assert why in str(raised.value)


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(ExpressionError, match="unknown name 'x' at column 5"):
        meaning(parse("1 + x", PYTHON).result, {"lane"}, "1 + x")
