# SPDX-License-Identifier: Apache-2.0
"""The ownership of a tiled operand, compared with brute force; changed twins must be refuted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from math import prod
from random import Random

import pytest

import proofs
from layouts import Layout
from proofs import Partition, ProblemError, TileAxis, prove_partition, prove_tiled
from proofs.layout.mixed_radix import MixedRadix, MixedRadixScript
from proofs.smt.engine import Session
from proofs.smt.sexpr import render

pytestmark = pytest.mark.slow

parse = Layout.parse
A = parse("((4,8),(2,2,2)):((32,1),(16,8,128))")
B = parse("((4,8),(2,2)):((16,1),(8,64))")
C = parse("((4,8),(2,2)):((32,1),(16,8))")
WGMMA_24 = parse("((4,8,4),(2,2,3)):((128,1,16),(64,8,512))")
IN_MEMORY = parse("(32,(16,8)):(0,(1,16))")
S4_AS_SHIPPED = parse("((4,8),8):((32,1),8)")
TWO_BY_TWO = parse("(32,2,2,1):(1,32,64,0)")
INTERLEAVED = parse("(8,2,2):(1,16,8)")

RIGHT = {
    "C 2x2": Partition(C, TWO_BY_TWO, (TileAxis(16, 2, Layout(32, 1)), TileAxis(8, 2, Layout(16, 1))), (1, 2), 1),
    "C permuted": Partition(C, TWO_BY_TWO, (TileAxis(16, 2, Layout(32, 1)), TileAxis(8, 2, INTERLEAVED)), (1, 2), 1),
    "A enlarged": Partition(A, TWO_BY_TWO, (TileAxis(16, 2, Layout(64, 1)), TileAxis(16, 1, Layout(32, 1))), (1, 3), 1),
    "B permuted in k": Partition(
        B, TWO_BY_TWO, (TileAxis(8, 2, Layout(16, 1)), TileAxis(16, 1, parse("(2,4,4):(1,8,2)"))), (2, 3), 1
    ),
    "three atoms of 24": Partition(
        WGMMA_24,
        parse("(128,1,3,1):(1,0,128,0)"),
        (TileAxis(64, 1, Layout(64, 1)), TileAxis(24, 3, parse("(8,3,3):(1,24,8)"))),
        (1, 2),
        1,
    ),
    "in memory": Partition(
        IN_MEMORY,
        parse("(32,2,1,1):(1,32,0,0)"),
        (TileAxis(16, 2, Layout(32, 1)), TileAxis(8, 1, Layout(16, 1))),
        (1, 3),
        32,
    ),
}


def digits(shape: object, index: int) -> list[int]:
    """The digits of an index, the first fastest, the last unbounded."""
    coordinates = []
    for extent in leaves(shape)[:-1]:
        coordinates.append(index % extent)
        index //= extent
    return [*coordinates, index]


def leaves(t: object) -> list[int]:
    return [t] if isinstance(t, int) else [leaf for mode in t for leaf in leaves(mode)]  # type: ignore[attr-defined]


def evaluate(layout: Layout, index: int) -> int:
    """The layout at an index, written out: the sum of digit times stride."""
    return sum(c * d for c, d in zip(digits(layout.shape, index), leaves(layout.stride), strict=True))


def owners(p: Partition, tiles: tuple[int, int]) -> Counter[tuple[int, int]]:
    """How many owners (v, value) of all atoms each element of some tiles has, by enumeration."""
    rows = p.axes[0].atom
    count: Counter[tuple[int, int]] = Counter()
    elements = Counter(evaluate(p.layout, i) for i in range(prod(leaves(p.layout.shape))))
    for ws in product(*(range(axis.count) for axis in p.axes)):
        for rs in product(*(range(axis.tile // axis.count // axis.atom) for axis in p.axes)):
            for ts in product(*map(range, tiles)):
                for element, often in elements.items():
                    inside = (element % rows, element // rows)
                    x, y = (
                        evaluate(axis.tiler, i + axis.atom * (w + axis.count * r)) + axis.tile * t
                        for axis, i, w, r, t in zip(p.axes, inside, ws, rs, ts, strict=True)
                    )
                    count[x, y] += often
    return count


@pytest.mark.parametrize("name", RIGHT)
def test_the_proof_agrees_with_counting(name: str) -> None:
    p = RIGHT[name]
    outcome = prove_partition(p)
    assert (outcome.status, outcome.model) == ("unsat", None)
    counted = owners(p, (2, 3))
    assert set(counted.values()) == {p.copies}
    assert sorted(counted) == sorted(product(range(2 * p.axes[0].tile), range(3 * p.axes[1].tile)))


@pytest.mark.parametrize("name", RIGHT)
def test_the_text_is_for_any_solver_to_check(name: str) -> None:
    """Each problem of the text is unsatisfiable, and its assumptions alone are satisfiable."""
    problems = prove_partition(RIGHT[name]).smt.replace("(check-sat)\n", "").split("(reset)\n")
    assert [Session(text, 10**7).check().status for text in problems] == ["unsat"] * len(problems)
    for problem in problems:
        assumptions = problem.rsplit("(assert (not ", 1)[0]
        assert Session(assumptions, 10**7).check().status == "sat"


TWINS = {
    "a wrong stride in the atom": replace(RIGHT["C 2x2"], layout=parse("((4,8),(2,2)):((32,1),(16,4))")),
    "the atom that was shipped": Partition(
        S4_AS_SHIPPED, TWO_BY_TWO, (TileAxis(8, 2, Layout(16, 1)), TileAxis(32, 1, Layout(32, 1))), (2, 3), 1
    ),
    "a permutation that covers too little": replace(
        RIGHT["C permuted"], axes=(TileAxis(16, 2, Layout(32, 1)), TileAxis(8, 2, parse("(8,2,2):(1,16,4)")))
    ),
    "a permutation that leaves the tile": replace(
        RIGHT["C permuted"], axes=(TileAxis(16, 2, Layout(32, 1)), TileAxis(8, 2, parse("(8,2,2):(1,16,32)")))
    ),
    "an atom beyond its tile": replace(RIGHT["C 2x2"], layout=parse("((4,8),(2,2)):((32,1),(16,128))")),
    "a negative stride": replace(RIGHT["C 2x2"], layout=parse("((4,8),(2,2)):((32,-1),(16,8))")),
    "copies that are not given": replace(RIGHT["in memory"], copies=1),
    "copies that are not there": replace(RIGHT["A enlarged"], copies=2),
    "values that are missing": replace(RIGHT["C 2x2"], layout=parse("((4,8),2):((32,1),16)")),
}


@pytest.mark.parametrize("name", TWINS)
def test_a_twin_is_refuted_and_wrong_by_counting(name: str) -> None:
    p = TWINS[name]
    outcome = prove_partition(p)
    assert outcome.status == "sat"
    counted = owners(p, (1, 1))
    right = set(product(*(range(axis.tile) for axis in p.axes)))
    assert set(counted) != right or set(counted.values()) != {p.copies}
    model = outcome.model or {}
    if "thread2" in model:
        first, second = ((model["thread" + s], model["value" + s], model["wx" + s], model["wy" + s]) for s in ("", "2"))
        assert first != second or p.axes[0].rest * p.axes[1].rest > 1


def distribute(p: Partition) -> dict[tuple[int, int], int]:
    """(thread, value) -> element of one tile, by enumeration of every atom, lane, value and repetition."""
    (x, y), elements = p.axes, {}
    lanes, frg = (prod(leaves(mode)) for mode in p.layout.shape)  # type: ignore[union-attr]
    counts = [prod(leaves(mode)) for mode in p.threads.shape]  # type: ignore[union-attr]
    for ws in product(*map(range, counts[1:])):
        for v, f, rx, ry in product(range(lanes), range(frg), range(x.rest), range(y.rest)):
            index, weight = 0, 1
            for w, count in zip((v, *ws), counts, strict=True):
                index, weight = index + w * weight, weight * count
            element = evaluate(p.layout, v + lanes * f)
            i, j = (
                evaluate(axis.tiler, inside + axis.atom * (ws[along - 1] + axis.count * r))
                for axis, inside, along, r in zip(
                    p.axes, (element % x.atom, element // x.atom), p.along, (rx, ry), strict=True
                )
            )
            elements[evaluate(p.threads, index), f + frg * (rx + x.rest * ry)] = i + x.tile * j
    return elements


TILED = {
    "C 2x2": "((4,8,2,2),(2,2)):((64,1,16,256),(32,8))",
    "C permuted": "((4,8,2,2),(2,2,2)):((64,1,16,512),(32,8,256))",
    "A enlarged": "((4,8,2,2),((2,2,2),(2,2))):((128,1,16,0),((64,8,512),(32,1024)))",
    "three atoms of 24": "((4,8,4,3),(2,2,3)):((128,1,16,512),(64,8,1536))",
}


@pytest.mark.parametrize("name", TILED)
def test_the_layout_of_a_tile_is_proved_and_is_the_definition(name: str) -> None:
    p, layout = RIGHT[name], parse(TILED[name])
    assert prove_tiled(p, layout).status == "unsat"
    threads = prod(leaves(layout.shape[0]))  # type: ignore[index]
    assert distribute(p) == {(t, v): evaluate(layout, t + threads * v) for t, v in distribute(p)}


@pytest.mark.parametrize("name", TILED)
def test_every_other_stride_is_refuted(name: str) -> None:
    """Each stride of the tile's layout doubled (or made 1): the model is a point where it really differs."""
    p, right = RIGHT[name], parse(TILED[name])
    wanted, strides = distribute(p), leaves(right.stride)
    threads = prod(leaves(right.shape[0]))  # type: ignore[index]
    for position, stride in enumerate(strides):
        changed = iter([*strides[:position], 2 * stride or 1, *strides[position + 1 :]])
        wrong = Layout(right.shape, fill(right.shape, changed))  # type: ignore[arg-type]
        outcome = prove_tiled(p, wrong)
        model = outcome.model or {}
        assert outcome.status == "sat"
        thread, value = model["thread"], model["value"]
        assert model["element"] == evaluate(wrong, thread + threads * value)
        assert model["x"] + p.axes[0].tile * model["y"] == wanted[thread, value] != model["element"]


def fill(shape: object, strides: Iterator[int]) -> object:
    return next(strides) if isinstance(shape, int) else tuple(fill(mode, strides) for mode in shape)  # type: ignore[attr-defined]


def test_atoms_that_do_not_divide_the_tile_are_rejected() -> None:
    with pytest.raises(ProblemError, match="2 atoms of 8 do not divide the 24 of 24:1"):
        TileAxis(8, 2, Layout(24, 1))


ONE_WIDE = Partition(
    parse("(2,1):(3,0)"),
    parse("(2,1,1,1):(1,2,2,2)"),
    (TileAxis(2, 1, Layout(2, 1)), TileAxis(1, 1, Layout(1, 1))),
    (1, 2),
    1,
)


def test_a_coordinate_past_an_axis_of_one_is_outside() -> None:
    """Thread 1 has element 3 of a 2x1 tile: x = 1, y = 1, which a tile of extent 1 does not have."""
    assert owners(ONE_WIDE, (1, 1)) == {(0, 0): 1, (1, 1): 1}
    outcome = prove_partition(ONE_WIDE)
    model = outcome.model or {}
    assert (outcome.status, model["thread"], model["x"] % 2, model["y"] >= 1) == ("sat", 1, 1, True)
    assert prove_partition(replace(ONE_WIDE, layout=parse("(2,1):(1,0)"))).status == "unsat"


def test_a_tile_of_one_column_is_compared_with_that_coordinate() -> None:
    """By the partition thread 1 has x + 2 * y = 3: that layout agrees, and the one without y does not."""
    assert distribute(ONE_WIDE) == {(0, 0): 0, (1, 0): 3}
    assert prove_tiled(ONE_WIDE, parse("(2,1):(3,0)")).status == "unsat"
    outcome = prove_tiled(ONE_WIDE, parse("(2,1):(1,0)"))
    assert (outcome.status, outcome.model) == ("sat", {"thread": 1, "value": 0, "element": 1, "x": 1, "y": 1})


@pytest.mark.parametrize("seed", range(4))
def test_proofs_of_small_partitions_agree_with_counting(seed: int) -> None:
    """Atoms of up to 3x3 with any small strides, over axes that may have extent 1; 1x1, 2x1, 1x2 and 2x2 tiles."""
    draw, seen = Random(seed), Counter[bool]()
    for _ in range(60):
        p = small(draw)
        counts = [(owners(p, tiles), tiles) for tiles in product((1, 2), repeat=2)]
        right = all(
            set(owned.values()) == {p.copies}
            and set(owned) == set(product(*(range(axis.tile * n) for axis, n in zip(p.axes, tiles, strict=True))))
            for owned, tiles in counts
        )
        seen[right] += 1
        assert (prove_partition(p).status == "unsat") is right, p
    assert seen[True] > 5 and seen[False] > 5


def small(draw: Random) -> Partition:
    """An atom of at most 3x3, right about half the time, over at most 2 atoms along each axis."""
    x, y = draw.choice((1, 2, 3)), draw.choice((1, 2, 3))
    strides = [1, x] if draw.random() < 0.5 else [draw.randrange(-1, 5), draw.randrange(-1, 5)]
    axes = []
    for atom in (x, y):
        count, rest = draw.choice((1, 2)), draw.choice((1, 2))
        tile = atom * count * rest
        across = Layout((rest, tile // rest), (tile // rest, 1)) if tile > rest else Layout(tile, 1)
        axes.append(TileAxis(atom, count, draw.choice((Layout(tile, 1), across))))
    (m, n), threads = (axis.count for axis in axes), (x, axes[0].count, axes[1].count, 1)
    return Partition(
        Layout((x, y), tuple(strides)), Layout(threads, (1, x, x * m, x * m * n)), (axes[0], axes[1]), (1, 2), 1
    )


def test_threads_and_values_that_do_not_fit_are_rejected() -> None:
    """A mode of extent 1 has no digit: an index beyond it would be ignored, so the counts must fit."""
    with pytest.raises(ProblemError, match=r"\(1,1,1,1\).* does not number 2 threads of 1 and 1 atoms"):
        replace(ONE_WIDE, threads=Layout((1, 1, 1, 1)))
    with pytest.raises(ProblemError, match=r"\(1,1\):\(0,0\) has 1 threads x 1 values, the tile 2 x 1"):
        prove_tiled(ONE_WIDE, parse("(1,1):(0,0)"))
    with pytest.raises(ProblemError, match="has 2 threads x 2 values, the tile 2 x 1"):
        prove_tiled(ONE_WIDE, parse("(2,2):(3,1)"))


AWKWARD = {
    "C by 2, 2, 2, 2, 2, 3": Partition(
        parse("((4,8,4),(2,2,4)):((128,1,16),(64,8,512))"),
        parse("(128,1,1,1):(1,0,0,0)"),
        (
            TileAxis(64, 1, parse("(2,2,2,2,2,2):(8,1,16,32,4,2)")),
            TileAxis(32, 1, parse("(2,2,2,2,2,3):(8,2,1,16,4,32)")),
        ),
        (1, 2),
        1,
    ),
    "A by eights and fives": Partition(
        parse("(128,(64,16)):(0,(1,64))"),
        parse("(128,4,1,1):(1,128,0,0)"),
        (TileAxis(64, 4, parse("(2,2,2,2,2,2,2,2,5):(20,320,10,640,160,5,40,80,1)")), TileAxis(16, 1, Layout(16, 1))),
        (1, 3),
        128,
    ),
}


@pytest.mark.parametrize("name", AWKWARD)
def test_many_small_digits_in_any_order_take_little_work(name: str) -> None:
    """By direct search of the digits these took over 20 million of z3's resource units; a twin is still refuted."""
    p = AWKWARD[name]
    outcome = prove_partition(p)
    assert (outcome.status, outcome.rlimit < 1_000_000) == ("unsat", True)
    shape, stride = p.axes[0].tiler.shape, [*leaves(p.axes[0].tiler.stride)]
    stride[0], stride[1] = stride[0], stride[0]
    twin = TileAxis(p.axes[0].atom, p.axes[0].count, Layout(shape, tuple(stride)))
    assert prove_partition(replace(p, axes=(twin, p.axes[1]))).status == "sat"


def test_ownership_of_many_small_digits_takes_little_work() -> None:
    layout = parse("((2,2,2,2,2,2,2),((2,2,(2,2)),(1,3))):((128,64,8,1,16,4,2),((512,32,(1024,256)),(0,2048)))")
    right, wrong = (proofs.prove_bijective(layout, extents) for extents in ((64, 96), (64, 95)))
    assert (right.status, right.rlimit < 1_000_000, wrong.status) == ("unsat", True, "sat")
    twin = Layout(layout.shape, ((128, 64, 8, 1, 16, 4, 4), ((512, 32, (1024, 256)), (0, 2048))))
    model = proofs.prove_bijective(twin, (64, 96)).model or {}
    assert evaluate(twin, model["index"]) == evaluate(twin, model["index2"]) and model["index"] != model["index2"]


def test_mixed_radix_numbers_are_split_and_compared() -> None:
    """Digits below 2 and 12 are split at 6 into (2, 3) and 4; digits that overlap have no lemma."""
    problem = MixedRadixScript()
    a, b = (MixedRadix(((problem.variable(f"{n}0", 2), 1), (problem.variable(f"{n}1", 12), 2))) for n in "ab")
    low, high = problem.divide(a, 6, "p")
    assert [(d.hi, w) for d, w in low.digits] == [(1, 1), (2, 2)] and [(d.hi, w) for d, w in high.digits] == [(3, 1)]
    number, parts = problem.sum(a), problem.sum(low) + problem.sum(high) * 6
    assert (
        Session(problem.spell_assumptions() + f"(assert (not {render((number == parts).expr)}))", 10**6).check().status
        == "unsat"
    )
    crowded = MixedRadix(((problem.variable("c", 3), 1), (problem.variable("d", 2), 2)))
    assert not problem.alike(crowded, crowded) and not problem.ratios
    assert problem.alike(b, b) and problem.ratios == {2}


def test_too_small_a_budget_is_unknown() -> None:
    assert prove_partition(RIGHT["C permuted"], budget=50).status == "unknown"


def test_the_proof_never_calls_a_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    def reject(*_: object) -> int:
        raise AssertionError("a layout was called")

    monkeypatch.setattr(Layout, "__call__", reject)
    assert prove_partition(RIGHT["C permuted"]).status == "unsat"
    assert proofs.prove_tiling().status == "unsat"
