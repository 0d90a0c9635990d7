# SPDX-License-Identifier: Apache-2.0
"""One operand evaluated and shown in every way: ints, arrays, terms, text, and with the ISA's misprints."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy
import pytest

from isa_tables import IsaError, Operand, TableError, instruction, mnemonics

F16 = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
VOLTA = "mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f16"
B256 = "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc"
F64 = "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64"

# one mnemonic per distinct set of formulas
DISTINCT = list(
    {
        tuple((o.row.text, o.col.text, isa.signature.operands[o.name]) for o in isa.operands.values()): name
        for name, isa in ((name, instruction(name)) for name in mnemonics())
    }.values()
)


class Condition:
    """A symbolic condition: a text that is built, not decided."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __and__(self, other: Condition) -> Condition:
        return Condition(f"({self.text} and {other.text})")

    def __or__(self, other: Condition) -> Condition:
        return Condition(f"({self.text} or {other.text})")

    def __xor__(self, other: bool) -> Condition:
        assert other is True
        return Condition(f"(not {self.text})")

    def __where__(self, then: Any, otherwise: Any) -> Term:
        return Term(f"({then} if {self.text} else {otherwise})")

    def __bool__(self) -> bool:
        raise AssertionError("a symbolic condition has no truth value")


class Term:
    """A symbolic number: computing with it builds a text."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text

    def __bool__(self) -> bool:
        raise AssertionError("a symbolic number has no truth value")


def _infix(name: str, sign: str, kind: type) -> None:
    setattr(Term, f"__{name}__", lambda a, b: kind(f"({a} {sign} {b})"))
    setattr(Term, f"__r{name}__", lambda a, b: kind(f"({b} {sign} {a})"))


for _name, _sign in {"add": "+", "sub": "-", "mul": "*", "floordiv": "//", "mod": "%", "and": "&"}.items():
    _infix(_name, _sign, Term)
for _name, _sign in {"or": "|", "xor": "^", "lshift": "<<", "rshift": ">>"}.items():
    _infix(_name, _sign, Term)
for _name, _sign in {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}.items():
    _infix(_name, _sign, Condition)


def by_ints(operand: Operand) -> list[list[tuple[int, int]]]:
    return [[operand.locate(lane, i) for i in range(operand.values)] for lane in range(operand.lanes)]


@pytest.mark.slow
@pytest.mark.parametrize("mnemonic", DISTINCT)
def test_arrays_and_terms_agree_with_ints(mnemonic: str) -> None:
    for operand in instruction(mnemonic).operands.values():
        ints = by_ints(operand)
        lanes, values = numpy.arange(operand.lanes)[:, None], numpy.arange(operand.values)
        rows, cols = operand.locate(lanes, values)
        assert numpy.stack([rows, cols], axis=-1).tolist() == [list(map(list, line)) for line in ints]

        row, col = (eval(f"lambda lane, i: {term}") for term in operand.locate(Term("lane"), Term("i")))
        assert [[(row(lane, i), col(lane, i)) for i in range(operand.values)] for lane in range(operand.lanes)] == ints


@pytest.mark.long
@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "uint64", "int32"])
@pytest.mark.parametrize("mnemonic", [F16, F64, B256, VOLTA])
def test_narrow_arrays_do_not_wrap(mnemonic: str, dtype: str) -> None:
    """32*t + 128 leaves int8, and 2*i - 2 at i = 0 leaves uint8."""
    for operand in instruction(mnemonic).operands.values():
        lanes, values = numpy.arange(operand.lanes, dtype=dtype)[:, None], numpy.arange(operand.values, dtype=dtype)
        rows, cols = operand.locate(lanes, values)
        assert rows.dtype == cols.dtype == numpy.int64
        assert numpy.stack([rows, cols], axis=-1).tolist() == [list(map(list, line)) for line in by_ints(operand)]


def test_arrays_are_broadcast_also_where_a_formula_ignores_one() -> None:
    b = instruction(F16).operands["B"]
    rows, cols = b.locate(numpy.arange(32).reshape(4, 8, 1), numpy.arange(4))
    assert rows.shape == cols.shape == (4, 8, 4)
    rows, cols = b.locate(7, numpy.arange(4))
    assert (rows.tolist(), cols.tolist()) == ([6, 7, 14, 15], [1, 1, 1, 1])
    rows[0], cols[0] = 99, 99  # results are the caller's own
    product = instruction("dp4a.s32.s32").product(numpy.array([0, 0]))
    assert product.tolist() == [0, 0]
    assert b.locate(numpy.zeros(0, int), 0)[1].shape == (0,)


@pytest.mark.parametrize(
    ("lane", "i", "named"),
    [
        (32, 0, "%laneid = 32"),
        (-1, 0, "%laneid = -1"),
        (0, 8, "i = 8"),
        (numpy.array([0, 40]), 0, "%laneid = 0..40"),
        (numpy.array([0, 32]), 0, "%laneid = 0..32"),
        (0, numpy.arange(9), "i = 0..8"),
        (0, numpy.array([-3, 1], dtype="int8"), "i = -3..1"),
        (numpy.array([0.5]), 0, "integers"),
        (numpy.array([True]), 0, "integers"),
    ],
)
def test_lanes_and_values_that_do_not_exist_are_rejected(lane: Any, i: Any, named: str) -> None:
    with pytest.raises(IsaError, match=r"is outside 0\.\.|must be integers") as error:
        instruction(F16).operands["A"].locate(lane, i)
    assert named in str(error.value)


def test_the_lanes_of_m8n8k4_belong_to_four_products() -> None:
    """9.7.14.5.1: computation 1 is done by lanes 0-3 and 16-19, computation 2 by 4-7 and 20-23, and so on."""
    mma = instruction(VOLTA)
    assert [mma.product(lane) for lane in range(32)] == [0] * 4 + [1] * 4 + [2] * 4 + [3] * 4 + (
        [0] * 4 + [1] * 4 + [2] * 4 + [3] * 4
    )
    assert mma.signature.products == 4
    assert instruction(F16).product(31) == 0


def test_c_and_d_follow_their_own_type() -> None:
    """D .f32 beside C .f16 lies as an f32 accumulator does."""
    mma = instruction(VOLTA)
    assert mma.operands["D"].locate(2, 2) == (2, 2)
    assert mma.operands["C"].locate(2, 2) == (2, 2)
    assert mma.operands["D"].locate(2, 1) == (0, 3)
    assert mma.operands["C"].locate(2, 1) == (2, 1)


def test_text_is_printed_as_the_isa_prints_it() -> None:
    assert instruction(F16).operands["A"].text() == (
        "row = groupID       if 0 <= i < 2 or 4 <= i < 6\n"
        "      groupID + 8   otherwise\n"
        "col = (threadID_in_group * 2) + (i & 0x1)       if i < 4\n"
        "      (threadID_in_group * 2) + (i & 0x1) + 8   otherwise\n"
        "i = 0..7, groupID = %laneid >> 2, threadID_in_group = %laneid % 4"
    )
    assert instruction("dp4a.u32.u32").operands["B"].text() == "row = i\ncol = 0\ni = 0..3"


def test_every_formula_can_be_printed() -> None:
    for name in DISTINCT:
        for operand in instruction(name).operands.values():
            assert operand.text().startswith("row = ")


def test_the_misprint_of_m16n8k256_is_kept_and_is_no_bijection() -> None:
    a = instruction(B256).operands["A"]
    assert (a.provenance, list(a.printed)) == ("corrected", ["col"])
    assert "159" in str(a.erratum)
    printed = a.as_printed()
    assert max(printed.locate(lane, i)[1] for lane in range(32) for i in range(64)) == 159
    owners = Counter(printed.locate(lane, i) for lane in range(32) for i in range(128))
    assert max(owners.values()) > 1 and len(owners) < 16 * 256
    assert printed.row is a.row


def test_a_misprint_that_is_no_formula_is_rejected_at_its_column() -> None:
    a = instruction(F64).operands["A"]
    assert a.provenance == "corrected"
    with pytest.raises(TableError, match=r"A\.printed\.col: not a formula"):
        a.as_printed()


def test_what_is_not_misprinted_prints_as_it_is() -> None:
    b = instruction(B256).operands["B"]
    assert (b.printed, b.erratum, b.as_printed()) == ({}, None, b)


@pytest.mark.parametrize(
    ("mnemonic", "section", "words"),
    [
        (F64.replace("k16", "k4").replace("m16", "m8"), "9.7.14.5.2", ".m8n84"),
        ("mma.sync.aligned.m16n8k16.row.col.f16.e4m3.e5m2.f16", "9.7.14.5.9", "c0, c1, c1, c2"),
        ("mma.sync.aligned.m16n8k64.row.col.s32.u4.s4.s32", "9.7.14.5.11", "both u4 or both s4"),
    ],
)
def test_errata_are_those_of_the_section(mnemonic: str, section: str, words: str) -> None:
    mma = instruction(mnemonic)
    assert (mma.section, mma.isa) == (section, "9.0")
    assert any(words in erratum for erratum in mma.errata)
