# SPDX-License-Identifier: Apache-2.0
"""F2 bases are read in Triton's and Gluon's spellings, and written for every map that is linear."""

from __future__ import annotations

from random import Random

import pytest

import isa_tables
from tests.samples import many
from verify.maps.bases import of_map, of_operand, read_bases, spell_bases
from verify.maps.fragment_map import FragmentMap
from verify.maps.map import Axis, MapError

ROW, COL = Axis("m", 16), Axis("n", 8)
MMA = isa_tables.instruction("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
WGMMA = isa_tables.instruction("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16")
C = FragmentMap.from_operand(MMA.operands["C"])
LANES = "[[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]]"
SPELLINGS = [
    f"#ttg.linear<{{register = [[0, 1], [8, 0]], lane = {LANES}, warp = [], block = []}}>",
    f'{{"register": [[0, 1], [8, 0]], "lane": {LANES}, "warp": []}}',
    f"DistributedLinearLayout(reg_bases=[[0, 1], [8, 0]], lane_bases={LANES}, warp_bases=[], block_bases=[], "
    "shape=[16, 8])",
    " - register=1 -> (0, 1)\n   register=2 -> (8, 0)\n - lane=1 -> (0, 2)\n   lane=2 -> (0, 4)\n   lane=4 -> (1, 0)\n"
    "   lane=8 -> (2, 0)\n   lane=16 -> (4, 0)\n - warp is a size 1 dimension\n - block is a size 1 dimension\n"
    "where out dims are: [dim0 (size 16), dim1 (size 8)]",
]


@pytest.mark.parametrize("text", SPELLINGS, ids=range(len(SPELLINGS)))
def test_each_spelling_is_the_map(text: str) -> None:
    assert of_operand(read_bases(text), (ROW, COL)) == C


@pytest.mark.parametrize(
    ("operand"), [MMA.operands["A"], MMA.operands["B"], MMA.operands["C"], WGMMA.operands["D"]], ids=lambda o: o.name
)
def test_a_linear_map_is_written_and_read_back(operand: isa_tables.Operand) -> None:
    m = FragmentMap.from_operand(operand)
    assert of_operand(read_bases(spell_bases(m)), m.outputs) == m


def test_the_first_point_that_prevents_bases_is_named() -> None:
    wrong = FragmentMap.from_pairs(C.inputs, C.outputs, [*list(C.pairs())[:-1], ((31, 3), (0, 0))])
    with pytest.raises(MapError, match=r"lane 31, value 3 has \(m=0, n=0\), its bits give \(m=15, n=7\)"):
        of_map(wrong)
    with pytest.raises(MapError, match="3 is aren't a power of two"):
        of_map(FragmentMap.tabulate(lambda i: i, [Axis("i", 3)], [ROW]))
    with pytest.raises(MapError, match="an image is negative"):
        of_map(FragmentMap.tabulate(lambda i: -i, [Axis("i", 2)], [ROW]))
    with pytest.raises(MapError, match="some input has no image"):
        of_map(FragmentMap.from_pairs([Axis("i", 2)], [ROW], []))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no bases: expected register and lane"),
        ("{lane = [[1]]}", "no bases: expected register and lane"),
        ("{register = [[1, 2, 3]], lane = []}", "the basis [1, 2, 3] has 3 numbers, expected (m, n)"),
        ("{register = [[-1, 0]], lane = []}", "the basis (-1, 0) isn't a list of integers"),
        ("{register = [[1, 0]], lane = [], block = [[1, 0]]}", "bases of block: an operand belongs to one CTA"),
        ("{register = [], lane = [[1, 0]], warp = [[2, 0]]}", "1 bases of lane beside those of warp: a warp has 5"),
        ("register=1 -> (0, 1)\nregister=4 -> (8, 0)", "the bases of register are not those of 1, 2, 4"),
        ("{register = [[1, 0]], lane = [], reg = []}", "the bases of register are there twice, again at column 34"),
        ("thread=1 -> (0, 1)", "bases of 'thread': known are register, lane, warp, block"),
        ("{register = [" + "[0, 1], " * 40 + "], lane = []}", "more than 1048576 points"),
        ("x" * 20_000, "bases of more than 16384 characters"),
    ],
)
def test_what_is_no_bases_is_one_line(text: str, problem: str) -> None:
    with pytest.raises(MapError) as raised:
        of_operand(read_bases(text), (ROW, COL))
    assert problem in str(raised.value)
    assert "\n" not in str(raised.value)


def fuzz(count: int, seed: int) -> int:
    """How many changed texts are still bases; each of the others is a MapError of one line."""
    rng = Random(seed)
    read_ = 0
    for _ in range(count):
        text = rng.choice(SPELLINGS)
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(len(text))
            text = text[:at] + rng.choice([*"0129[](){}=:,-> xé", "", "lane"]) + text[at + rng.randrange(3) :]
        try:
            of_operand(read_bases(text), (ROW, COL))
            read_ += 1
        except MapError as error:
            assert "\n" not in str(error)
    return read_


def test_changed_texts_end_in_bases_or_a_line() -> None:
    assert fuzz(300, 0) > 10


@pytest.mark.slow
def test_many_changed_texts_end_in_bases_or_a_line() -> None:
    assert fuzz(many(6_000), 1) > 60
