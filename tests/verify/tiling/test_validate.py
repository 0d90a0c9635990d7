# SPDX-License-Identifier: Apache-2.0
"""`lanecheck tiling` rejects a spec in one line, and the suggestion in that line is accepted."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.messages import RANGE_FROM_1
from tests.verify.tiling.command import F16, FMA, run

QUADPAIR = "SM70_8x8x4_F32F16F16F32_NT"
BETWEEN = f"cannot be numbered between the lanes (4,2):(1,16) of {QUADPAIR}"


REJECTED = {
    "a tile that the tiled MMA does not divide": (
        ["--atom", F16, "--atoms-layout", "2,2,1", "--tile", "128,120,32"],
        f"--tile: N = 120 is not a multiple of 16, what one tiled MMA of {F16} covers: 112 or 128 would do",
    ),
    "a tile below one atom": (
        ["--atom", F16, "--tile", "8,8,16"],
        f"--tile: M = 8 is not a multiple of 16, what one tiled MMA of {F16} covers: 16 would do",
    ),
    "a permutation that isn't a multiple": (
        ["--atom", F16, "--atoms-layout", "2,2,1", "--permutation", "48,32,16"],
        "--permutation: M = 48, 2 atoms of 16 along M need a multiple of 32: 32 or 64 would do",
    ),
    "a permutation with a hole": (
        ["--atom", F16, "--permutation", "_,(8,2):(1,16),_"],
        "--permutation: N = (8,2):(1,16) does not cover 0..15: coordinate 8 has no position, 16 is outside; "
        "(8,2):(1,8) would do",
    ),
    "a permutation that names one twice": (
        ["--atom", F16, "--permutation", "_,(8,2):(1,4),_"],
        "--permutation: N = (8,2):(1,4) does not cover 0..15: coordinate 12 has no position, another has "
        "two positions; (8,2):(1,8) would do",
    ),
    "too many threads": (
        ["--atom", F16, "--atoms-layout", "8,8,1"],
        "--atoms-layout: 8x8x1 atoms of 32 threads each make 2048 threads, a CTA has at most 1024: "
        f"at most 32 atoms of {F16} would do",
    ),
    "threads numbered too high": (
        ["--atom", F16, "--atoms-layout", "(2,2,1):(1,64,0)"],
        f"--atoms-layout: (2,2,1):(1,64,0) of {F16}: threads are numbered up to 4095, a CTA has at most 1024; "
        "(2,2,1):(1,2,0) would do",
    ),
    "atoms that share threads": (
        ["--atom", F16, "--atoms-layout", "(2,2,1):(1,1,0)"],
        "--atoms-layout: (2,2,1):(1,1,0): atoms (1,0,0) and (0,1,0) are both number 1; (2,2,1):(1,2,0) would do",
    ),
    "atoms below the first": (
        ["--atom", F16, "--atoms-layout", "(2,2,1):(-1,2,0)"],
        "--atoms-layout: (2,2,1):(-1,2,0): atom (1,0,0) has the number -1; (2,2,1):(1,2,0) would do",
    ),
    "atoms between which no layout fits": (
        ["--atom", F16, "--atoms-layout", "(2,2,1):(2,3,0)"],
        "--atoms-layout: (2,2,1):(2,3,0) leaves holes that no layout can fill; (2,2,1):(1,2,0) would do",
    ),
    "three quadpairs before two": (
        ["--atom", QUADPAIR, "--atoms-layout", "3,2,1"],
        f"--atoms-layout: (3,2,1):(1,3,0): 3 atoms along M {BETWEEN}; (2,2,1):(1,2,0) or (4,2,1):(1,4,0) would do",
    ),
    "three quadpairs times three": (
        ["--atom", QUADPAIR, "--atoms-layout", "1,3,3"],
        f"--atoms-layout: (1,3,3):(0,1,3): 3 atoms along N {BETWEEN}; (1,4,3):(0,1,4) would do",
    ),
    "three quadpairs, as a layout": (
        ["--atom", QUADPAIR, "--atoms-layout", "(3,1,1):(1,3,3)"],
        f"--atoms-layout: (3,1,1):(1,3,3): 3 atoms along M {BETWEEN}; (2,1,1):(1,0,0) or (4,1,1):(1,0,0) would do",
    ),
    "three quadpairs beside a mode of modes": (
        ["--atom", QUADPAIR, "--atoms-layout", "((2,2),3,1):((3,6),1,0)"],
        f"--atoms-layout: ((2,2),3,1):((3,6),1,0): 3 atoms along N {BETWEEN}; "
        "((2,2),2,1):((2,4),1,0) or ((2,2),4,1):((4,8),1,0) would do",
    ),
    "three quadpairs by five by seven": (
        ["--atom", QUADPAIR, "--atoms-layout", "3,5,7"],
        f"--atoms-layout: (3,5,7):(1,3,15): the atoms {BETWEEN}; (2,4,7):(1,2,8) would do",
    ),
    "three quadpairs that share threads": (
        ["--atom", QUADPAIR, "--atoms-layout", "(3,1,2):(1,1,0)"],
        "--atoms-layout: (3,1,2):(1,1,0): atoms (0,0,0) and (0,0,1) are both number 0; "
        "(2,1,2):(2,0,1) or (4,1,2):(2,0,1) would do",
    ),
    "three quadpairs numbered too high": (
        ["--atom", QUADPAIR, "--atoms-layout", "(1,3):(2,1000000)"],
        f"--atoms-layout: (1,3,1):(2,1000000,0) of {QUADPAIR}: threads are numbered up to 23999999, a CTA has at most "
        "1024; (1,2,1):(0,1,0) or (1,4,1):(0,1,0) would do",
    ),
    "atoms with holes under a permutation that they cut across": (
        ["--atom", F16, "--atoms-layout", "(2,1,2):(2,2,5)", "--permutation", "_,(6,4):(4,1),_"],
        "--atoms-layout: (2,1,2):(2,2,5) leaves holes that no layout can fill; (2,1,2):(1,0,2) would do",
    ),
    "a permutation with a hole, in an order that the atoms cut across": (
        ["--atom", F16, "--permutation", "_,_,(3,8,4):(-1,0,3)"],
        "--permutation: K = (3,8,4):(-1,0,3) does not cover 0..95: coordinate 10 has no position, -1 is outside; "
        "96, in order, would do",
    ),
    "a permutation that the atoms cut across": (
        ["--atom", FMA, "--atoms-layout", "(2,1,3):(3,1,1)", "--permutation", "_,1,(2,3):(3,1)"],
        f"--permutation: K = (2,3):(3,1): atoms of {FMA}, 3 along K, cut across its modes, so a thread's part "
        "isn't a layout; K = 6, in order, would do",
    ),
    "a tile too large to enumerate": (
        ["--atom", F16, "--tile", "4096,4096,16"],
        "--tile: 4096,4096,16 has an operand of 16777216 elements: at most 4194304 would do",
    ),
    "four counts for three": (
        ["--atom", F16, "--atoms-layout", "2,2,1,1"],
        "--atoms-layout: '2,2,1,1': expected at most three counts for M, N, K, found 4",
    ),
    "two extents of a tile": (
        ["--atom", F16, "--tile", "32,32"],
        "--tile: '32,32': expected three extents for M, N, K, found 2",
    ),
    "four permutations": (
        ["--atom", F16, "--permutation", "_,_,_,_"],
        "--permutation: '_,_,_,_': expected at most three extents or layouts for M, N, K, found 4",
    ),
    "no atoms": (
        ["--atom", F16, "--atoms-layout", "2,0,1"],
        f"--atoms-layout: '2,0,1': {RANGE_FROM_1} 65536, found '0'",
    ),
    "no layout": (
        ["--atom", F16, "--permutation", "_,(8,2:(1,8),_"],
        "--permutation: cannot read '(8,2:(1,8),_': expected ',' or ')', found ':' at column 5",
    ),
    "a copy": (
        ["--atom", "SM75_U32x4_LDSM_N"],
        "--atom: SM75_U32x4_LDSM_N is a copy atom; a tiling needs an MMA atom",
    ),
    "nothing": (
        [],
        "which tiling? Give a FILE, or --atom NAME with --atoms-layout, --permutation and --tile",
    ),
    "a file and an atom": (
        ["x.toml", "--atom", F16],
        "--atom: a FILE has whole tilings; give a FILE or --atom, not both",
    ),
    "--only without a file": (
        ["--atom", F16, "--only", "x"],
        "--only chooses among the tilings of a FILE: give a FILE too",
    ),
    "a swizzle that is none": (
        ["--atom", F16, "--smem-a", "Sw<3,3,1> o (8,64):(64,1)"],
        "--smem-a: Sw<3,3,1> needs |shift| >= bits, got 1 < 3: the field read and the field changed overlap",
    ),
    "an explanation that no program reads": (
        ["--atom", F16, "--explain", "--format", "json"],
        "--explain prints text: there is no json of it",
    ),
    "a thread that is not there": (
        ["--atom", F16, "--explain", "--thread", "32"],
        f"--thread 32: {F16} has the threads 0 .. 31",
    ),
    "a budget of nothing": (
        ["--atom", F16, "--rlimit", "0"],
        "--rlimit 0: the budget must be positive and below 2^32",
    ),
}


@pytest.mark.parametrize("name", REJECTED)
def test_what_cannot_be_a_tiling_is_one_line(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    words, line = REJECTED[name]
    assert run(capsys, *words) == (2, "", f"lanecheck: {line}\n")


def list_replaced(words: list[str], line: str) -> Iterator[list[str]]:
    """The words with each suggestion of an error in place; where the permutation is wrong, that axis alone."""
    option, _, problem = line.partition(": ")
    for suggested in problem.rpartition("; ")[2].removesuffix(" would do").split(" or "):
        if option == "--atoms-layout":
            yield [*words[:2], option, suggested]
        else:
            tiler = suggested.removeprefix(f"{problem[0]} = ").removesuffix(",").removesuffix(", in order")
            yield [*words[: words.index(option) + 1], ",".join(tiler if axis == problem[0] else "_" for axis in "MNK")]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [name for name, (_, line) in REJECTED.items() if re.match(r"--(atoms-l|perm).*; .* would do$", line)]
)
def test_suggestions_are_verified(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each suggestion, in place of the wrong argument."""
    words, line = REJECTED[name]
    for suggestion in list_replaced(words, line):
        assert run(capsys, *suggestion, "-q")[0] == 0, suggestion
