# SPDX-License-Identifier: Apache-2.0
"""Composition against its definition, and admissible against the existence of any such layout.

Whether a layout with a given table of values exists is decided without the package: the first extent of its
coalesced form is forced, it is the least k > 0 with f(k) != k*f(1).
"""

import pickle
from contextlib import suppress
from itertools import product

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as hyp

from layouts import Layout, LayoutError, admissible, coalesce, compatible, composition, make_layout, size
from tests.layouts import strategies as st


def is_layout_table(values):
    """Whether some layout of one mode, however refined, has these values."""
    while len(values) > 1:
        step = values[1]
        n = next((k for k, v in enumerate(values) if v != k * step), len(values))
        if len(values) % n or any(v != values[i - i % n] + i % n * step for i, v in enumerate(values)):
            return False
        values = values[::n]
    return True


def composed_table(a, b):
    """A(B(c)) for all c of B in colexicographic order, A extended beyond its domain."""
    return [st.value_at(a, x) for x in st.table(b).tolist()]


def exists(a, b):
    """Whether some layout R has R(c) = A(B(c)) and compatible(B, R): each mode of B a layout, and their sum exact."""
    total = [0]
    for n, r in zip(st.flat(b.shape), st.flat(b.stride), strict=True):
        mode = [st.value_at(a, k * r) for k in range(n)]
        if not is_layout_table(mode):
            return False
        total = [m + t for m in mode for t in total]
    return total == composed_table(a, b)


def rejected_or_right(a, b):
    """The composition, checked against the definition; None where it is rejected."""
    try:
        result = composition(a, b)
    except LayoutError:
        assert not admissible(a, b)
        return None
    assert admissible(a, b)
    assert st.table(result).tolist() == composed_table(a, b), (a, b, result)
    assert refines(b.shape, result.shape), (a, b, result)
    return result


def refines(coarse, fine):
    """Each extent of ``coarse`` has in its place a part of ``fine`` of that size."""
    if isinstance(coarse, tuple):
        return isinstance(fine, tuple) and len(coarse) == len(fine) and all(map(refines, coarse, fine))
    return st.count(fine) == coarse


LEFT = hyp.one_of(st.any_layout(), st.layouts(low=-20, high=20))


@given(LEFT, st.any_layout(max_leaves=3, max_size=60))
@example(Layout.parse("(6,2):(1,7)"), Layout.parse("(3,2):(2,3)"))
@example(Layout.parse("(4,1):(1,9)"), Layout.parse("8:1"))
@example(Layout.parse("():()"), Layout.parse("():()"))
def test_what_composition_returns_is_the_composition(a, b):
    rejected_or_right(a, b)


@given(st.shapes(), hyp.data())
def test_composition_with_a_tile_of_the_domain_is_accepted(shape, data):
    """B picks, in any order, divisors of A's flat modes: nothing can carry."""
    a = Layout(shape, st.nested_like(list(range(101, 101 + len(st.flat(shape)))), shape))
    tiles, step = [], 1
    for s in st.flat(shape):
        n = data.draw(hyp.sampled_from([n for n in range(1, s + 1) if s % n == 0]))
        tiles.append((n, step * data.draw(hyp.sampled_from([1, s // n]))))
        step *= s
    tiles = data.draw(hyp.permutations(tiles))
    result = rejected_or_right(a, Layout(tuple(n for n, _ in tiles), tuple(r for _, r in tiles)))
    assert result is not None


@given(
    st.extents(max_leaves=3),
    hyp.lists(hyp.tuples(hyp.integers(1, 6), hyp.integers(0, 30)), min_size=1, max_size=3),
)
def test_admissible_is_exact_for_generic_strides(extents, modes):
    a = Layout(tuple(extents), tuple(10 ** (8 * i) for i in range(len(extents))))
    b = Layout(tuple(n for n, _ in modes), tuple(r for _, r in modes))
    # An extent of 1 isn't a mode of the function, but a last one is where larger indices go.
    assert admissible(a, b) == exists(a, b)


@pytest.mark.long
@pytest.mark.parametrize(("modes", "pairs", "composable"), [(1, 240, 176), (2, 5760, 2074)])
def test_admissible_is_exact_on_the_grid(modes, pairs, composable):
    """A = (m0,m1):(1,101), m0 in 2..6, m1 in 2..3; B with extents 2..4 and strides 1..8: all pairs."""
    seen = wrong_accepts = false_rejects = accepts = 0
    for m0, m1 in product(range(2, 7), range(2, 4)):
        a = Layout((m0, m1), (1, 101))
        for parts in product(product(range(2, 5), range(1, 9)), repeat=modes):
            b = Layout(tuple(n for n, _ in parts), tuple(r for _, r in parts))
            accepted, there_is_one = admissible(a, b), exists(a, b)
            seen += 1
            accepts += accepted
            wrong_accepts += accepted and not there_is_one
            false_rejects += there_is_one and not accepted
            if accepted:
                rejected_or_right(a, b)
    assert (seen, accepts) == (pairs, composable)
    assert (wrong_accepts, false_rejects) == (0, 0)


@pytest.mark.parametrize(
    ("a", "b", "reason"),
    [
        ("(6,2):(1,7)", "(3,2):(2,3)", "together reach digit 7 in mode 0 of the coalesced A"),
        ("(6,2):(1,7)", "(2,2,2):(1,2,3)", "reach digit 6 in mode 0"),
        ("(3,2):(1,100)", "4:2", "reach digit 3 in mode 0 of the coalesced A, which has the extent 3"),
        ("(4,6,8):(2,3,5)", "6:3", "carries"),
        ("(2,2):(1,1)", "3:1", "after 2 steps, and 2 does not divide 3"),
        ("(6,4):(1,100)", "4:4", "carries"),
        ("(4,3):(1,10)", "3:2", "after 2 steps, and 2 does not divide 3"),
        ("8:1", "4:-1", "4:-1 of B reaches negative indices"),
    ],
)
def test_published_counterexamples_are_rejected_with_the_numbers(a, b, reason):
    a, b = Layout.parse(a), Layout.parse(b)
    with pytest.raises(LayoutError, match=reason) as error:
        composition(a, b)
    assert str(a) in str(error.value)
    assert str(b) in str(error.value)
    assert not admissible(a, b)
    again = pickle.loads(pickle.dumps(error.value))
    assert (type(again), str(again)) == (type(error.value), str(error.value))


def parts(shape, profile):
    """What a shape has in the place of each integer of the profile."""
    return (
        [x for s, p in zip(shape, profile, strict=True) for x in parts(s, p)] if isinstance(profile, tuple) else [shape]
    )


@given(LEFT, hyp.one_of(st.any_layout(max_leaves=3, max_size=60), st.layouts(low=-3, high=12)))
@example(Layout.parse("(4,6):(1,100)"), Layout.parse("((1,(),(2)),3):((-9,(),(2)),0)"))
@example(Layout.parse("(6,2):(1,7)"), Layout.parse("((3),(2)):((2),(3))"))
@example(Layout.parse("8:1"), Layout.parse("((2,2),2):((1,-1),-1)"))
def test_each_mode_is_composed_after_those_left_of_it_whatever_their_nesting(a, b):
    """R has at each integer of B what it has there when B is written flat; both are rejected for the same reason."""
    flat = Layout(tuple(st.flat(b.shape)), tuple(st.flat(b.stride)))
    outcomes = []
    for inner in (b, flat):
        try:
            result = composition(a, inner)
        except LayoutError as error:
            outcomes.append(str(error).removeprefix(f"composition of A = {a} with B = {inner}: "))
        else:
            outcomes.append((parts(result.shape, inner.shape), parts(result.stride, inner.shape)))
    assert outcomes[0] == outcomes[1]
    assert isinstance(outcomes[0], str) or all(r >= 0 or n == 1 for n, r in zip(flat.shape, flat.stride, strict=True))


@pytest.mark.parametrize(
    ("a", "b", "result"),
    [
        ("8:2", "4:1", "4:2"),
        ("(6,2):(8,2)", "(4,3):(3,1)", "((2,2),3):((24,2),8)"),
        ("(10,2):(16,4)", "(5,4):(1,5)", "(5,(2,2)):(16,(80,4))"),
        ("20:2", "(5,4):(4,1)", "(5,4):(8,2)"),
        ("(4,8):(8,1)", "64:1", "(4,16):(8,1)"),
        ("(4,1):(1,9)", "8:1", "(4,2):(1,9)"),
        ("((4,8),(2,2)):((32,1),(16,8))", "32:1", "(4,8):(32,1)"),
        ("(4,8):(8,1)", "(4,3):(0,4)", "(4,3):(0,1)"),
        ("(4,8):(8,1)", "((2,2),1):((1,8),0)", "((2,2),1):((8,2),0)"),
        ("(4,8):(-8,1)", "2:1", "2:-8"),
        ("(4,6,2):(1,100,7)", "1:8", "1:7"),
        ("(4,6,2):(1,100,7)", "1:48", "1:14"),
        ("(4,6,2):(1,100,7)", "(2,1):(1,-48)", "(2,1):(1,-14)"),
        ("8:3", "1:5", "1:15"),
    ],
)
def test_results_are_cute_s(a, b, result):
    assert str(composition(Layout.parse(a), Layout.parse(b))) == result


def test_a_mode_that_carries_nowhere_is_accepted_whatever_its_stride():
    """4 = (1,1) in A's radices: no stride of A divides it, and nothing carries."""
    assert composition(Layout((3, 2), (1, 100)), Layout(2, 4)) == Layout(2, 101)


def test_a_tuple_composes_mode_by_mode_and_none_keeps_its_mode():
    a = Layout.parse("(12,(4,8)):(59,(13,1))")
    tiler = (Layout.parse("3:4"), Layout.parse("8:2"))
    by_mode = make_layout(composition(a[0], tiler[0]), composition(a[1], tiler[1]))
    result = composition(a, tiler)
    assert result == by_mode
    for i, j in product(range(3), range(8)):
        assert result(i, j) == a(4 * i, 2 * j)
    assert composition(a, (3, None)) == make_layout(composition(a[0], Layout(3)), a[1])
    assert composition(a, (None, (2, Layout(4, 2)))) == make_layout(a[0], composition(a[1], (2, Layout(4, 2))))
    assert composition(a, None) == a
    assert composition(a, 6) == composition(a, Layout(6, 1))
    assert composition(a, (3,)) == Layout((3,), (59,))
    assert admissible(a, (3, None))
    assert not admissible(a, (None, Layout(3, 2)))
    for call in (composition, admissible):
        with pytest.raises(LayoutError, match="tiler of 3 modes"):
            call(a, (None, None, None))


def touching(layout, index, step):
    """The layout with one more mode, of this stride, so that the index is in its domain."""
    return Layout((layout.shape, index // size(layout) + 1), (layout.stride, step))


@pytest.mark.long
@given(st.any_layout(max_size=40), st.any_layout(max_leaves=2, max_size=30), st.any_layout(max_leaves=2, max_size=20))
def test_composition_is_associative_inside_the_domains(a, b, c):
    b = touching(b, int(max(st.table(c))), size(b))
    a = touching(a, int(max(st.table(b))), 7)
    tables = []
    for first in (lambda: composition(composition(a, b), c), lambda: composition(a, composition(b, c))):
        with suppress(LayoutError):
            tables.append(st.table(first()).tolist())
    assume(tables)
    wanted = [st.value_at(a, x) for x in composed_table(b, c)]
    assert all(table == wanted for table in tables)


@given(LEFT)
def test_composing_with_an_identity_changes_no_value(layout):
    whole = composition(layout, Layout(size(layout)))
    assert st.table(whole).tolist() == st.table(layout).tolist()
    assert coalesce(composition(layout, Layout(layout.shape))) == coalesce(layout)
    assert compatible(layout.shape, composition(layout, Layout(layout.shape)).shape)
    image = Layout(max(1, int(max(st.table(layout))) + 1))
    if min(st.table(layout)) >= 0 and all(d >= 0 for d in st.flat(layout.stride)):
        assert st.table(composition(image, layout)).tolist() == st.table(layout).tolist()


def test_wide_numbers_stay_exact():
    a = Layout((2**40, 3**20), (3**50, -1))
    b = Layout((2**20, 3**10), (2**20, 2**40))
    result = composition(a, b)
    assert result == Layout((2**20, 3**10), (2**20 * 3**50, -1))


@pytest.mark.parametrize(
    ("b", "result"),
    [("1:1", "1:1"), ("1:3", "1:1"), ("1:4", "1:1"), ("1:5", "1:2"), ("1:9", "1:3"), ("1:-5", "1:-2"), ("1:0", "1:0")],
)
def test_an_extent_of_1_gets_the_stride_that_cute_gives_it(b, result):
    """A = (4,8):(8,1): the step is rounded up past the mode of 4, and weighed with the last stride."""
    assert str(composition(Layout((4, 8), (8, 1)), Layout.parse(b))) == result
