# SPDX-License-Identifier: Apache-2.0
"""Terms compared with Python: an expression has the same value on symbolic integers as on ints, or raises."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofs import BoolTerm, Term, TermError, TermOverflow
from proofs.errors import UnsupportedTerm
from proofs.smt.engine import Session, Solver
from proofs.smt.script import WIDTHS, Script
from proofs.smt.sexpr import render
from proofs.smt.term import constant
from tests.cases import each

LANE, VALUE = st.integers(0, 31), st.integers(0, 200)
WIDTH = st.sampled_from([16, None])
SOLVER = Solver()  # creating one costs more than any of the problems here

BINARY = {"+": operator.add, "-": operator.sub, "*": operator.mul}
BITS = {"&": operator.and_, "|": operator.or_, "^": operator.xor}
BY_CONSTANT = {"//": operator.floordiv, "%": operator.mod, "<<": operator.lshift, ">>": operator.rshift}
COMPARE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq,
           "!=": operator.ne}  # fmt: skip


def extend(part: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    small = st.integers(0, 6)
    condition = st.tuples(st.sampled_from(sorted(COMPARE)), part, part)
    joined = st.tuples(st.sampled_from(["and", "or", "xor"]), condition, condition)
    return st.one_of(
        st.tuples(st.sampled_from(sorted(BINARY)), part, part),
        st.tuples(st.sampled_from(sorted(BITS)), part, part | st.integers(0, 300)),
        st.tuples(st.sampled_from(["//", "%"]), part, st.integers(1, 40) | st.sampled_from([1 << 15, 1 << 40])),
        st.tuples(st.sampled_from(["<<", ">>"]), part, small),
        st.tuples(st.just("where"), condition | joined | st.tuples(st.just("not"), condition), part, part),
    )


EXPRESSIONS = st.recursive(st.sampled_from(["lane", "value"]) | st.integers(-300, 300), extend, max_leaves=8)


def run(tree: Any, env: dict[str, Any]) -> Any:
    """The value of a tree by Python's operators, over ints or terms."""
    if isinstance(tree, str):
        return env[tree]
    if isinstance(tree, int):
        return tree
    name, *parts = tree
    values = [run(part, env) for part in parts]
    if name == "where":
        c, a, b = values
        return (a if c else b) if isinstance(c, bool) else c.__where__(a, b)
    if name == "not":
        return values[0] ^ True
    joins = {"and": operator.and_, "or": operator.or_, "xor": operator.xor}
    return (BINARY | BITS | BY_CONSTANT | COMPARE | joins)[name](*values)


def holds(width: int | None, lane: int, value: int, failure: str) -> str:
    """The answer of the solver to: does ``failure`` hold for these lane and value?"""
    sort = "Int" if width is None else f"(_ BitVec {width})"
    given_ = [f"(declare-const {n} {sort})(assert (= {n} {render(constant(x, width).expr)}))"
              for n, x in (("lane", lane), ("value", value))]  # fmt: skip
    return Session("\n".join([*given_, f"(assert {failure})"]), 10_000_000, SOLVER).check().status


@given(EXPRESSIONS, LANE, VALUE, st.sampled_from([True, False]))
def test_a_term_has_the_value_of_the_formula_on_ints(tree: Any, lane: int, value: int, integers: bool) -> None:
    for width in [None] if integers else WIDTHS:
        symbols = {"lane": Term("lane", 0, 31, width), "value": Term("value", 0, 200, width)}
        try:
            term = run(tree, symbols)
        except TermOverflow:
            continue
        except UnsupportedTerm:
            assert integers
            return
        except TermError as error:  # the only valid reason: a left side whose interval includes negative values
            assert "must not be negative" in str(error)
            return
        wanted = run(tree, {"lane": lane, "value": value})
        if not isinstance(term, Term):
            assert term == wanted
            return
        assert term.lo <= wanted <= term.hi
        assert holds(width, lane, value, render((term != wanted).expr)) == "unsat"
        assert holds(width, lane, value, render((term == wanted).expr)) == "sat"
        return
    pytest.fail("no width was wide enough")


SAMPLES = (-170, -128, -17, -1, 0, 1, 2, 5, 100, 127, 170)


@each("width", [16, 32, None])
@each("name", [*BINARY, *BITS, *BY_CONSTANT, *COMPARE])
def test_each_operation_on_all_pairs_of_samples(name: str, width: int | None) -> None:
    operation = (BINARY | BITS | BY_CONSTANT | COMPARE)[name]
    by_constant = name in BY_CONSTANT or (name in BITS and width is None)
    rights = [y for y in (*SAMPLES, 8, 12, 7) if y >= (1 if name in "//%" else 0)] if by_constant else SAMPLES
    wrong: list[Any] = []
    for x in SAMPLES:
        for y in rights:
            if (name in "//%" and x < 0) or (name in ("<<", ">>") and y > 6):
                continue
            left = Term(constant(x, width).expr, 0 if x >= 0 else -170, 170, width)
            right = y if by_constant else Term(constant(y, width).expr, 0 if y >= 0 else -170, 170, width)
            got, wanted = operation(left, right), operation(x, y)
            if isinstance(got, Term):
                assert got.lo <= wanted <= got.hi, (x, name, y)
                wrong.append(("not", (got == wanted).expr))
            else:
                wrong.append(("not", got.expr) if wanted else got.expr)
    assert len(wrong) >= 35
    assert Session(f"(assert {render(('or', *wrong))})", 10**7, SOLVER).check().status == "unsat"


@pytest.mark.parametrize(("x", "y", "interval"), [
    ((0, 31), (0, 3), (0, 3)), ((0, 31), (-8, 3), (0, 31)), ((-8, 31), (-8, 3), (-32, 31)),
])  # fmt: skip
def test_and_stays_below_an_operand_that_is_not_negative(
    x: tuple[int, int], y: tuple[int, int], interval: tuple[int, int]
) -> None:
    both = Term("x", *x, 16) & Term("y", *y, 16)
    assert (both.lo, both.hi) == interval


def test_and_over_the_integers_is_one_remainder_for_each_run_of_ones() -> None:
    """0x3c is one run of four ones from bit 2 up, 0x35 has three runs."""
    x = Term("x", 0, 100, None)
    assert [render((x & mask).expr).count("mod") for mask in (0x3C, 0x35)] == [1, 3]


def test_comparisons_with_numbers_beyond_the_width_are_decided_by_the_interval() -> None:
    value = Term("value", 0, 100, 16)
    assert (value < 1 << 40).expr == "true"
    assert (value < -(1 << 40)).expr == "false"
    assert (value == 1 << 40).expr == "false"
    assert (value != 1 << 40).expr == ("not", "false")


def test_an_eight_bit_vector_would_prove_a_false_bound_and_a_term_raises() -> None:
    wraps = "(declare-const v (_ BitVec 8))(assert (bvult v #x20))(assert (not (bvult (bvmul v #x10) #xff)))"
    assert Session(wraps, 10**6).check().status == "unsat", "31 * 16 = 496 < 255 'proved': the trap is real"
    with pytest.raises(TermOverflow):
        Term("v", 0, 31, 8) * 16
    wide = (Term("v", 0, 31, 16) * 16 < 255) ^ True
    assert Session(f"(declare-const v (_ BitVec 16))(assert (bvult v #x0020))(assert {render(wide.expr)})",
                   10**6).check().status == "sat"  # fmt: skip


@pytest.mark.parametrize("width", [16, None])
def test_operations_without_an_exact_meaning_raise(width: int | None) -> None:
    x = Term("x", -1, 31, width)
    y = Term("y", 0, 31, width)
    for refused in (
        lambda: x // 4, lambda: x % 4, lambda: y // 0, lambda: y % -2, lambda: y // y, lambda: y >> y,
        lambda: y << -1, lambda: bool(y), lambda: bool(y < 3), lambda: (y < 3) & 1, lambda: y + Term("z", 0, 1, 32),
        lambda: 0 < y < 3,
    ):  # fmt: skip
        with pytest.raises(TermError):
            refused()


def test_terms_take_numpy_integers_on_either_side() -> None:
    y = Term("y", 0, 31, 16)
    assert (np.int64(2) * y).expr == (2 * y).expr == ("bvmul", "#x0002", "y")
    assert (y + np.uint8(200)).hi == 231


def test_conditions_join_with_truth_values() -> None:
    c = Term("y", 0, 31, 16) < 3
    assert isinstance(True & c, BoolTerm)
    assert isinstance(False | c, BoolTerm)
    assert (True ^ c).expr == ("not", c.expr)
    assert c.__where__(8, 0).hi == 8


def test_shared_parts_are_written_once() -> None:
    x: Any = "x"
    for _ in range(60):
        x = ("bvadd", x, x)
    assert len(render(x)) < 3000


REFLECTED = {**BINARY, **BITS}


@pytest.mark.long
@pytest.mark.parametrize("width", [16, None])
@pytest.mark.parametrize("name", REFLECTED)
def test_an_int_on_the_left_of_a_term_means_what_it_means_on_ints(name: str, width: int | None) -> None:
    """With the int on the left: 5 - x is not x - 5, and 5 ^ x is neither 5 & x nor 5 | x."""
    operation = REFLECTED[name]
    for left in (0, 5, 12):
        term = operation(left, Term("lane", 0, 31, width))
        for lane in (0, 3, 6, 31):
            wanted = operation(left, lane)
            assert term.lo <= wanted <= term.hi
            assert holds(width, lane, 0, render(("=", term.expr, constant(wanted, width).expr))) == "sat"
            assert holds(width, lane, 0, render(("not", ("=", term.expr, constant(wanted, width).expr)))) == "unsat"


@pytest.mark.parametrize("width", [16, None])
@pytest.mark.parametrize("operation", [operator.and_, operator.or_, operator.xor])
def test_a_bool_on_the_left_of_a_condition_means_what_it_means_on_bools(operation: Any, width: int | None) -> None:
    for left in (True, False):
        condition = operation(left, Term("lane", 0, 31, width) < 7)
        assert isinstance(condition, BoolTerm)
        for lane in (3, 20):
            wanted = operation(left, lane < 7)
            truth = render(condition.expr)
            assert holds(width, lane, 0, truth) == ("sat" if wanted else "unsat"), (left, lane)
            assert holds(width, lane, 0, f"(not {truth})") == ("unsat" if wanted else "sat"), (left, lane)


def test_a_variable_has_room_for_what_its_last_value_makes_and_for_no_more() -> None:
    variable = Script(8).variable("t", 16)
    assert (variable.lo, variable.hi, (variable * 8).hi) == (0, 15, 120)
    with pytest.raises(TermOverflow):
        variable * 9
