# SPDX-License-Identifier: Apache-2.0
"""Texts that are no expression get one line with the column, hostile ones at once."""

from __future__ import annotations

import time
from random import Random

import pytest

from tests.samples import many
from verify.maps.syntax import MAX_TEXT, PYTHON, C, parse
from verify.maps.tree import ExpressionError, Number


@pytest.mark.parametrize(
    ("text", "language", "problem"),
    [
        ("lane //4", C, "'//' begins a comment in C: write '/', or state that the language is Python at column 6"),
        ("lane + ", C, "expected a name, a number or '(', found the end at column 8"),
        ("lane 4", C, "expected an operator or the end, found a number at column 6"),
        ("lane = 4", C, "expected an operator or the end, found '='; a comparison is '=='"),
        ("lane and 3", C, "'and' is not C: write '&&'"),
        ("lane if i else 3", C, "'if' is not C: write 'a ? b : c'"),
        ("lane && 3", PYTHON, "'&&' is not Python: write 'and'"),
        ("lane ? 3 : 4", PYTHON, "'?' is not Python: write 'a if b else c'"),
        ("lane ** 2", PYTHON, "'**' is not in the language"),
        ("f(lane)", C, "'f' isn't a function that is known here (min, max, abs) at column 1"),
        ("a[lane]", C, "'a' isn't a function"),
        ("min(lane)", C, "min takes 2 arguments, found 1"),
        ("(long)lane", C, "long has 32 bits on some machines and 64 on others"),
        ("(unsigned bool)lane", C, "'unsigned bool' isn't a type"),
        (
            "(char)lane",
            C,
            "char is signed on some machines and unsigned on others: write int8_t or uint8_t at column 2",
        ),
        (
            "1 + 5l",
            C,
            "the suffix of 5l: long has 64 bits on some machines and 32 on others: write 5ll or 5 at column 5",
        ),
        ("5UL", C, "the suffix of 5UL: long has 64 bits on some machines and 32 on others: write 5ull or 5u"),
        ("5lu", C, "the suffix of 5lu: long has 64 bits"),
        ("5lL", C, "the suffix 'lL' of 5lL is unknown: C has u, ll and ull"),
        ("5z", C, "the suffix 'z' of 5z is unknown: C has u, ll and ull"),
        ("5u", PYTHON, "the suffix 'u' of 5u is unknown: Python has none"),
        ("1.5", C, "1.5 isn't an integer"),
        ("1e3", PYTHON, "1e3 isn't an integer"),
        ("lane + 'a'", C, "'a' is a character constant: write 97 at column 8"),
        ("lane + 'a'", PYTHON, "'a' is a string: write 97 at column 8"),
        ("L'\\n'", C, "a character constant has no place in an expression at column 2"),
        ("0o4", C, "0o4 isn't a number of C: write 04 for octal at column 1"),
        ("1_000", C, "1_000 isn't a number of C: write 1000"),
        ("1'000", PYTHON, "1'000 isn't a number of Python: write 1000"),
        ("1''0", C, "1''0 isn't a number of C"),
        ("0x'1", C, "0x'1 isn't a number of C"),
        ("0x", C, "0x isn't a number of C"),
        ("09", C, "09 isn't a number of C: write 9"),
        ("010", PYTHON, "010 isn't a number of Python: write 0o10 for octal"),
        ("1" * 21, PYTHON, "a number of more than 20 digits"),
        ("0b" + "1" * 65, C, "a number of more than 64 digits"),
        ("9" * 40, C, "a number of more than 20 digits"),
        ("lane $ 2", C, "'$' has no place in an expression at column 6"),
        ("lane\x00", C, "has no place in an expression"),
        ("int g = lane\ng", C, "expected ';'"),
        ("g = lane / 4 g", PYTHON, "expected an operator or the end, found 'g'"),
        ("", C, "expected a name, a number or '(', found the end"),
        ("lambda: 1", PYTHON, "expected a name, a number or '(', found 'lambda'"),
        ("1;\n2", C, "expected an operator or the end, found a number at line 2, column 1"),
    ],
)
def test_a_text_that_is_no_expression_gets_the_column(text: str, language: str, problem: str) -> None:
    with pytest.raises(ExpressionError) as raised:
        parse(text, language)
    assert problem in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("text", "language", "value"),
    [
        ("0o4", PYTHON, 4),
        ("0O17", PYTHON, 15),
        ("0x_1f", PYTHON, 31),
        ("1_000", PYTHON, 1000),
        ("00", PYTHON, 0),
        ("1'000", C, 1000),
        ("0'17", C, 15),
        ("0x1'0uLL", C, 16),
        ("0b1111'0000'1111'0000'1111'0000'1111'0000", C, 0xF0F0F0F0),
        ("0B11", PYTHON, 3),
    ],
)
def test_literals_of_both_languages(text: str, language: str, value: int) -> None:
    result = parse(text, language).result
    assert isinstance(result, Number)
    assert result.value == value


def test_declarations_of_both_languages() -> None:
    c = parse("const unsigned int g = lane >> 2u; // the row\nauto h = g * 2;\nreturn g + h;", C)
    assert [(declaration.name, declaration.type) for declaration in c.declarations] == [("g", "unsigned"), ("h", "")]
    python = parse("g = lane >> 2  # the row\nh = g * 2; return g + h", PYTHON)
    assert [declaration.name for declaration in python.declarations] == ["g", "h"]
    assert python.result == c.result


HOSTILE = [
    "(" * 100_000,
    "(" * 1000 + "1" + ")" * 1000,
    "-" * 10_000 + "1",
    "not " * 3000 + "1",
    "1" + "+1" * 5000,
    "1?" * 3000 + "1",
    "1 if 1 else " * 1000 + "1",
    "(int)" * 3000 + "1",
    "min(1," * 2000,
    "/*" * 8000,
    "#" * 16000,
    " " * 16000 + "$",
    "a " * 8000,
    "a=" * 8000,
    "1\n" * 8000,
    "((((" + "1|1^1&1==1<1<<1+1*" * 40,
    "x" * (8 << 20),
]


@pytest.mark.parametrize("language", [C, PYTHON])
def test_a_hostile_text_is_one_line_at_once(language: str) -> None:
    for text in HOSTILE:
        started = time.perf_counter()
        with pytest.raises(ExpressionError) as raised:
            parse(text, language)
        assert time.perf_counter() - started < 2
        assert len(str(raised.value)) < 300
        assert "\n" not in str(raised.value)


def fuzz(count: int, seed: int) -> int:
    """How many of the random texts are expressions; each of the others is an ExpressionError."""
    rng = Random(seed)
    words = (
        "lane i 0 1 32 0x u ( ) + - * / // % & | ^ << >> < == != && || ! ~ ? : int unsigned = ; , \n and or not if else"
    )
    choices = [*words.split(" "), "min(", "(int)", "\\", "'", "é", "/*", "*/", "threadIdx.x", "return", "long"]
    read = 0
    for _ in range(count):
        text = rng.choice(["", " "]).join(rng.choices(choices, k=rng.randrange(12)))
        for language in (C, PYTHON):
            try:
                parse(text, language)
                read += 1
            except ExpressionError as error:
                assert "\n" not in str(error)
    return read


def test_random_texts_end_in_an_expression_or_a_line() -> None:
    assert fuzz(2000, 0) > 20


@pytest.mark.slow
def test_many_random_texts_end_in_an_expression_or_a_line() -> None:
    assert MAX_TEXT < 1 << 20
    assert fuzz(many(20_000), 1) > 200
