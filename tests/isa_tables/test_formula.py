# SPDX-License-Identifier: Apache-2.0
"""The formula language: its values are Python's, everything outside it is rejected at its column."""

from __future__ import annotations

import numpy
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from isa_tables import where
from isa_tables.formula import evaluate
from isa_tables.formula_parser import MAX_BYTES, MAX_DEPTH, FormulaError, parse
from tests.cases import each

NAMES = {"%laneid": False, "i": False, "groupID": False, "delta": True}
VALUES = {"%laneid": 21, "i": 6, "groupID": 5, "delta": -3}


def numbers() -> st.SearchStrategy[str]:
    """Texts of numbers, brackets left to chance so that precedence is exercised."""
    leaves = st.sampled_from(["%laneid", "i", "groupID", "0", "7", "0x1F", "0b101"])

    def grow(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        free = st.tuples(inner, st.sampled_from(["+", "*", "&", "|", "^"]), inner)
        constant = st.tuples(inner, st.sampled_from(["//", "%", "<<", ">>"]), st.sampled_from(["1", "2", "3", "0x4"]))
        bare = st.one_of(free, constant).map(" ".join)
        choice = st.tuples(inner, conditions(inner), inner).map(lambda t: f"({t[0]} if {t[1]} else {t[2]})")
        return st.one_of(bare, bare.map("({})".format), choice)

    return st.recursive(leaves, grow, max_leaves=6)


def conditions(number: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    bracketed = number.map("({})".format)
    sign = st.sampled_from(["<", "<=", ">", ">=", "==", "!="])
    single = st.tuples(bracketed, sign, bracketed).map(" ".join)
    chain = st.tuples(bracketed, sign, bracketed, sign, bracketed).map(" ".join)
    both = st.tuples(st.one_of(single, chain), st.sampled_from(["and", "or", "and not", "or not"]), single).map(
        " ".join
    )
    return st.one_of(single, chain, both, single.map("not {}".format))


@pytest.mark.long
@given(numbers(), st.integers(0, 31), st.integers(0, 127))
def test_a_formula_means_what_it_means_in_python(text: str, lane: int, i: int) -> None:
    try:
        formula = parse(text, NAMES)
    except FormulaError as error:
        # what chance can write: constants multiplied out of range, 1 << 2 + i
        assert any(words in error.reason for words in ("32 bits", "must be a constant", "a shift must be"))
        return
    python = eval(text.replace("%laneid", "lane"), {"lane": lane, "i": i, "groupID": lane >> 2})
    assert evaluate(formula.tree, {"%laneid": lane, "i": i, "groupID": lane >> 2}) == python


@pytest.mark.parametrize(
    "condition", ["i < 2 or i > 4", "i > 1 and i < 5", "not i < 3", "i < 1 or i > 2 and i < 4", "not (i < 2 or i == 5)"]
)
def test_joined_conditions_mean_what_they_mean_in_python(condition: str) -> None:
    tree = parse(f"1 if {condition} else 0", NAMES).tree
    for i in range(7):
        assert evaluate(tree, {"i": i}) == int(eval(condition, {"i": i})), i
    assert evaluate(tree, {"i": numpy.arange(7)}).tolist() == [int(eval(condition, {"i": i})) for i in range(7)]


@given(numbers())
def test_arrays_give_what_ints_give(text: str) -> None:
    try:
        tree = parse(text, NAMES).tree
    except FormulaError:
        reject()
    lanes, values = numpy.arange(32)[:, None] + numpy.zeros(4, dtype=int), numpy.arange(4) + numpy.zeros((32, 1), int)
    together = evaluate(tree, {"%laneid": lanes, "i": values, "groupID": lanes >> 2})
    for lane, i in ((0, 0), (31, 3), (17, 2)):
        alone = evaluate(tree, {"%laneid": lane, "i": i, "groupID": lane >> 2})
        assert numpy.broadcast_to(together, (32, 4))[lane, i] == alone


def check_parsed_or_rejected(text: str) -> None:
    """Parse a text: the formula has that text, or the error points into it."""
    try:
        formula = parse(text, NAMES)
    except FormulaError as error:
        assert 1 <= error.column <= max(len(text), 1) + 1
    else:
        assert formula.text == text


@pytest.mark.long
@given(st.text(max_size=60))
def test_any_text_is_parsed_or_rejected_in_one_way(text: str) -> None:
    check_parsed_or_rejected(text)


@given(st.text(alphabet="%laneid igroupIDx0123456789+-*/%&|^<>=!()?:~.,[]", max_size=40))
def test_near_formulas_are_parsed_or_rejected_in_one_way(text: str) -> None:
    check_parsed_or_rejected(text)


REJECTED = [
    # C's operators: the message names Python's
    ("i / 2", 3, "write '//'"),
    ("i < 2 && i > 0", 7, "write 'and'"),
    ("i < 2 || i > 0", 7, "write 'or'"),
    ("1 if !i else 0", 6, "write 'not'"),
    ("i < 2 ? 0 : 1", 7, "write 'a if c else b'"),
    ("1 if i = 0 else 2", 8, "write '=='"),
    # names
    ("lane % 4", 1, "unknown name 'lane' (known here: %laneid, i, groupID, delta)"),
    ("_laneid % 4", 1, "unknown name '_laneid'"),
    ("4 + laneid", 5, "unknown name 'laneid'"),
    # things that Python has and the language has not
    ("abs(i)", 1, "Call is not in the language"),
    ("i.real", 1, "Attribute is not in the language"),
    ("1.5 * i", 1, "Constant is not in the language"),
    ("i + True", 5, "Constant is not in the language"),
    ("'i'", 1, "Constant is not in the language"),
    ("-i", 1, "UnaryOp is not in the language"),
    ("~i", 1, "UnaryOp is not in the language"),
    ("i ** 2", 1, "BinOp is not in the language"),
    ("i @ 2", 1, "BinOp is not in the language"),
    ("1 if i in (1, 2) else 0", 11, "Tuple is not in the language"),
    ("1 if i is i else 0", 6, "Is is not in the language"),
    ("(i := 3)", 5, "write '=='"),
    ("[i]", 1, "List is not in the language"),
    ("lambda: 0", 1, "Lambda is not in the language"),
    ("i + __import__('os')", 5, "Call is not in the language"),
    # divisors and shifts
    ("4 % i", 5, "the right side of '%' must be a constant"),
    ("i // 0", 6, "the right side of '//' must be positive"),
    ("i % (2 - 2)", 6, "the right side of '%' must be positive"),
    ("i >> 32", 6, "a shift must be by 0..31"),
    ("i << i", 6, "the right side of '<<' must be a constant"),
    ("i << (1 - 2)", 7, "a shift must be by 0..31"),
    ("(i - 8) % 4", 1, "contains a subtraction"),
    ("delta // 2", 1, "contains a subtraction"),
    ("(i if i > 2 else delta) >> 1", 1, "contains a subtraction"),
    # conditions are not numbers
    ("i & 0x1 == 0", 1, "expected a number, found a condition"),
    ("1 if i & 0x1 == 0 else 2", 6, "a bit operator beside a comparison needs brackets"),
    ("1 if 0 == i ^ 3 else 2", 11, "a bit operator beside a comparison needs brackets"),
    ("1 if (i) & (3) == 0 else 2", 6, "a bit operator beside a comparison needs brackets"),
    ("(i < 2) * 8", 2, "expected a number, found a condition"),
    ("i + (not i)", 6, "expected a number, found a condition"),
    ("1 if i else 2", 6, "expected a condition, found a number"),
    ("1 if i < 2 and 3 else 2", 16, "expected a condition, found a number"),
    # sizes
    ("i + 2147483648", 5, "a constant of 32 bits or more"),
    ("1 << 31", 1, "a constant of 32 bits or more"),
    ("65536 * 65536", 1, "a constant of 32 bits or more"),
    ("9" * 4000, 1, "a constant of 32 bits or more"),
    ("i + " * 1024 + "i", 1, f"longer than {MAX_BYTES} bytes"),
    ("(" * 65 + "i" + ")" * 65, 65, f"nested deeper than {MAX_DEPTH}"),
    ("i" + "+i" * 70, 1, f"nested deeper than {MAX_DEPTH}"),
    ("1 if " + "not " * 70 + "i < 2 else 0", 258, f"nested deeper than {MAX_DEPTH}"),
    # text that isn't a formula
    ("", 1, "not a formula"),
    ("i +", 4, "not a formula"),
    ("(i", 1, "not a formula"),
    ("i)", 2, "not a formula"),
    ("i %laneid", 3, "not a formula"),
    ("i\n+ 1", 2, "'\\n' has no place"),
    ("i \u2212 1", 3, "has no place"),
    ("i # 1", 3, "'#' has no place"),
    ("i + \\", 5, "has no place"),
]


@each(("text", "column", "reason"), REJECTED)
def test_what_is_outside_the_language_is_rejected_at_its_column(text: str, column: int, reason: str) -> None:
    with pytest.raises(FormulaError) as error:
        parse(text, NAMES)
    assert reason in error.value.reason
    assert error.value.column == column


def test_an_error_shows_the_formula_and_points_at_it() -> None:
    with pytest.raises(FormulaError) as error:
        parse("i % 4 + q", NAMES)
    assert str(error.value).splitlines()[1:] == ["  i % 4 + q", "          ^"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("%laneid % 4", 1),
        ("%laneid%4*2+i", 8),
        ("i - 2 * delta", 12),
        ("i & 0x3 | 0b1000", 10),
        ("1 if (i & 0x1) == 0 else 2", 1),
        ("1 if 0 <= i < 2 or 4 <= i < 6 else 2", 2),
        ("1 if not i < 2 and i != 3 else 2", 1),
        ("0 if i < 2 else 1 if i < 7 else 2", 1),
        ("i // (N // 2)", 1),
        ("N << 1", 16),
    ],
)
def test_a_formula_has_the_value_computed_by_hand(text: str, value: int) -> None:
    assert evaluate(parse(text, NAMES, {"N": 8}).tree, VALUES) == value


def test_the_outermost_conditional_is_kept_as_pieces() -> None:
    formula = parse("(groupID) if i < 2 else (groupID + 8) if (i < 4) else i", NAMES)
    assert formula.pieces == (("(groupID)", "i < 2"), ("(groupID + 8)", "(i < 4)"), ("i", ""))


def test_where_takes_a_bool_a_condition_or_an_array() -> None:
    class Wanted:
        def __where__(self, then: object, otherwise: object) -> tuple[object, object]:
            return (then, otherwise)

    assert [where(True, 1, 2), where(False, 1, 2)] == [1, 2]
    assert where(Wanted(), 1, 2) == (1, 2)
    assert where(numpy.array([True, False]), 1, 2).tolist() == [1, 2]
    assert where(numpy.True_, 1, 2) == 1
