# SPDX-License-Identifier: Apache-2.0
"""Claims about all members of a family, against enumeration of the first members."""

from collections import Counter
from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from isa_tables import where
from layouts import Layout
from proofs.errors import EngineError
from proofs.layout.family import Digits, Equality, FamilyLayout, Size, digits, in_order, prove_family_equals
from proofs.smt.outcome import Outcome

N = Size(1, ("n",))
LANES, ONE = Layout.parse("128:1"), Layout.parse("1:0")
THREAD = ((Size(4), Size(128)), (Size(8), Size(1)), (Size(4), Size(16)))
VALUE = ((Size(2), Size(64)), (Size(2), Size(8)), (N, Size(512)))
WGMMA = FamilyLayout(THREAD, VALUE)


def accumulator(lane, i):  # type: ignore[no-untyped-def]
    """The accumulator of wgmma, from its figure: two rows at a distance of eight, pairs of columns."""
    return lane // 32 * 16 + lane % 32 // 4 + i // 2 % 2 * 8, i // 4 * 8 + lane % 4 * 2 + i % 2


def image(half: tuple[tuple[Size, Size], ...], n: int) -> list[int]:
    """The values of a half, by the definition; the leftmost digit varies fastest."""
    modes = [(s.at({"n": n}), d.at({"n": n})) for s, d in half]
    points = product(*(range(s) for s, _ in reversed(modes)))
    return [sum(digit * d for digit, (_, d) in zip(reversed(point), modes, strict=True)) for point in points]


def owners(layout: FamilyLayout, n: int) -> Counter[int]:
    return Counter(t + v for t in image(layout.thread, n) for v in image(layout.value, n))


def equality(layout: FamilyLayout) -> Equality:
    return Equality("a family", layout, (Size(64), Size(8) * N), LANES, ONE, accumulator)


def test_each_element_of_the_accumulator_has_one_owner_for_every_n() -> None:
    certificate = digits(WGMMA, Size(64) * Size(8) * N)
    assert certificate is not None
    assert certificate.copies == 1
    assert [str(d) for _, d in certificate.steps] == ["1", "8", "16", "64", "128", "512"]


def test_the_accumulator_equals_its_formula_for_every_n() -> None:
    outcome = prove_family_equals(equality(WGMMA))
    assert (outcome.status, outcome.method) == ("unsat", "integers, for every n >= 1")
    assert "(declare-const param.n Int)" in outcome.smt


def test_a_point_right_outside_the_tile_disagrees() -> None:
    """With n = 2 the value 4 lies in column 8, which an extent of 8 columns does not have."""
    point = {"n": 2, "thread": 0, "replica": 0, "value": 4}
    assert equality(WGMMA).facts(point) is None
    cut = Equality("x", WGMMA, (Size(64), Size(8)), LANES, ONE, accumulator)
    assert cut.facts(point) == {**point, "lane": 0, "element": 512, "x": 0, "y": 8}


SIZES = st.sampled_from([Size(1), Size(2), Size(3), N, Size(2) * N, N * N])
STRIDES = st.sampled_from([Size(0), Size(1), Size(2), Size(4), N, Size(2) * N, Size(2) * N * N])
LAYOUTS = st.builds(
    FamilyLayout,
    st.lists(st.tuples(SIZES, STRIDES), max_size=2).map(tuple),
    st.lists(st.tuples(SIZES, STRIDES), max_size=3).map(tuple),
)


def counted_through(sizes: list[Size]) -> tuple[list[tuple[Size, Size]], Size]:
    """Modes that count through as many elements as they have indices, and that number."""
    modes, reach = [], Size(1)
    for size in sizes:
        modes.append((size, reach))
        reach = reach * size
    return modes, reach


@st.composite
def with_owners(draw: st.DrawFn) -> tuple[FamilyLayout, Size]:
    """A layout and a number of elements: each has as many owners as any other, unless one stride is replaced."""
    modes, elements = counted_through(draw(st.lists(SIZES, max_size=2)))
    copies = [(size, Size(0)) for size in draw(st.lists(SIZES, max_size=1))]
    modes = draw(st.permutations([*modes, *copies]))
    if modes and draw(st.integers(0, 3)) == 3:
        modes[0] = (modes[0][0], draw(STRIDES))
    cut = draw(st.integers(0, len(modes)))
    return FamilyLayout(tuple(modes[:cut]), tuple(modes[cut:])), elements


@given(with_owners())
def test_a_certificate_is_right_for_every_member(given: tuple[FamilyLayout, Size]) -> None:
    layout, elements = given
    certificate = digits(layout, elements)
    assume(certificate is not None)
    for n in (1, 2, 3, 5):
        size = elements.at({"n": n})
        assert owners(layout, n) == dict.fromkeys(range(size), certificate.copies)


IN_ORDER = st.builds(
    lambda copies, sizes: FamilyLayout(tuple((size, Size(0)) for size in copies), tuple(counted_through(sizes)[0])),
    st.lists(SIZES, max_size=2),
    st.lists(SIZES, max_size=2),
)


@given(IN_ORDER | LAYOUTS)
def test_in_order_means_that_every_thread_counts_through_the_values(layout: FamilyLayout) -> None:
    assume(in_order(layout))
    for n in (1, 2, 3, 5):
        values = image(layout.value, n)
        assert values == list(range(len(values)))
        assert set(image(layout.thread, n)) == {0}


def test_a_matrix_in_memory_is_counted_through() -> None:
    whole = FamilyLayout(((Size(128), Size(0)),), ((Size(8) * N, Size(1)), (Size(16), Size(8) * N)))
    assert in_order(whole)
    assert digits(whole, Size(8) * N * Size(16)) == Digits(128, whole.value)


def without(position: int, stride: Size) -> FamilyLayout:
    modes = [*THREAD, *VALUE]
    modes[position] = (modes[position][0], stride)
    return FamilyLayout(tuple(modes[:3]), tuple(modes[3:]))


@pytest.mark.long
@pytest.mark.parametrize("position", range(6))
@pytest.mark.parametrize("factor", [0, 2, 3])
def test_a_wrong_stride_is_refuted_with_the_smallest_n(position: int, factor: int) -> None:
    old = ([*THREAD, *VALUE])[position][1]
    wrong = without(position, Size(old.factor * factor))
    assert digits(wrong, Size(64) * Size(8) * N) is None
    outcome = prove_family_equals(equality(wrong))
    assert outcome.status == "sat"
    assert outcome.model is not None

    def disagree(n: int) -> bool:
        layout = zip(image(wrong.thread, n), range(128), strict=True)
        values = image(wrong.value, n)
        return any(
            t + v != x + 64 * y for t, lane in layout for i, v in enumerate(values) for x, y in [accumulator(lane, i)]
        )

    smallest = next(n for n in range(1, 9) if disagree(n))
    assert outcome.model["n"] == smallest
    assert outcome.model["element"] != outcome.model["x"] + 64 * outcome.model["y"]


def test_what_is_not_linear_is_unknown_and_not_proved() -> None:
    bent = FamilyLayout(THREAD, ((N, Size(512)), (Size(2), Size(64)), (Size(2), Size(8))))
    outcome = prove_family_equals(equality(bent))
    assert (outcome.status, outcome.reason) == ("unknown", "a digit times n is not linear")
    assert prove_family_equals(equality(FamilyLayout(THREAD, ((N, N),)))).status == "unknown"
    square = Equality("x", WGMMA, (Size(8) * N, Size(64)), LANES, ONE, accumulator)
    assert prove_family_equals(square).status == "unknown"


UNPOSED = [
    (FamilyLayout((*THREAD[:2], (Size(2), Size(16))), VALUE), LANES, "the layout has 64 threads, thr numbers 128"),
    (FamilyLayout((*THREAD, (N, Size(0))), VALUE), LANES, "the layout has 128*n threads, thr numbers 128"),
    (WGMMA, Layout.parse("64:1"), "the layout has 128 threads, thr numbers 64"),
    (FamilyLayout(THREAD, ((Size(0), Size(7)),)), LANES, "an extent of 0 leaves nothing to prove"),
]


@pytest.mark.parametrize(("layout", "thr", "reason"), UNPOSED)
def test_points_that_the_digits_leave_out_are_not_proved(layout: FamilyLayout, thr: Layout, reason: str) -> None:
    """Digits of 64 threads miss thread 64: the claim is false there, but the solver cannot find it."""
    claim = Equality("x", layout, (Size(64), Size(8) * N), thr, ONE, accumulator)
    outcome = prove_family_equals(claim)
    assert (outcome.status, outcome.reason) == ("unknown", reason)


WRONG_FORMULAS = {  # the first n of which a member is wrong
    "rows exchanged": (1, lambda x, y, i: (x ^ 8, y)),
    "columns exchanged": (1, lambda x, y, i: (x, y ^ 1)),
    "blocks of columns exchanged": (1, lambda x, y, i: (x, y ^ 8)),
    "from value 12 on": (4, lambda x, y, i: (where(i >= 12, x ^ 8, x), y)),
    "beyond 1000 values": (251, lambda x, y, i: (x, where(i >= 1000, 0, y))),
}


@pytest.mark.slow
@pytest.mark.parametrize("wrong", WRONG_FORMULAS)
def test_a_wrong_formula_is_refuted_with_the_smallest_n(wrong: str) -> None:
    """Also a formula that is right for the first members, which an enumeration would try."""
    first, change = WRONG_FORMULAS[wrong]
    claim = Equality("x", WGMMA, (Size(64), Size(8) * N), LANES, ONE, lambda lane, i: change(*accumulator(lane, i), i))
    outcome = prove_family_equals(claim)
    assert outcome.status == "sat"
    assert outcome.model is not None
    if first <= 64:
        assert outcome.model["n"] == first
    else:
        assert outcome.model["n"] >= first
    assert (
        outcome.model["element"] != outcome.model["x"] + 64 * outcome.model["y"]
        or not outcome.model["y"] < 8 * outcome.model["n"]
    )


SOLVERS = [pytest.param(word, marks=pytest.mark.slow) for word in ("true", "mod", "div", "ite", "assert")]


@pytest.mark.long
@pytest.mark.parametrize("name", ["N", "and", "Int", "let", "v", *SOLVERS])
def test_a_parameter_may_have_any_name(name: str) -> None:
    """Also a name that has a meaning in SMT-LIB."""
    right, wrong = prove_named(name)
    assert (right.status, wrong.status) == ("unsat", "sat")
    assert right.method == f"integers, for every {name} >= 1"
    assert wrong.model is not None
    assert wrong.model[name] == 2


@pytest.mark.parametrize("name", ["thread", "value", "replica", "lane", "element", "x", "y"])
def test_a_parameter_with_the_name_of_a_value_in_a_counterexample_is_unknown(name: str) -> None:
    assert [outcome.status for outcome in prove_named(name)] == ["unknown", "unknown"]


def prove_named(name: str) -> list[Outcome]:
    """The accumulator with a parameter of that name, and with a wrong stride."""
    n = Size(1, (name,))
    layouts = [FamilyLayout(THREAD, (*VALUE[:2], (n, Size(stride)))) for stride in (512, 256)]
    return [
        prove_family_equals(Equality("x", layout, (Size(64), Size(8) * n), LANES, ONE, accumulator))
        for layout in layouts
    ]


def test_out_of_budget_is_unknown() -> None:
    assert prove_family_equals(equality(WGMMA), budget=10).status == "unknown"


def test_a_counterexample_that_plain_python_does_not_see_is_an_error() -> None:
    def two_faced(lane, i):  # type: ignore[no-untyped-def]
        x, y = accumulator(lane, i)
        return (x, y) if isinstance(lane, int) else (x, y + 1)

    claim = Equality("x", WGMMA, (Size(64), Size(8) * N), LANES, ONE, two_faced)
    with pytest.raises(EngineError, match="plain Python finds nothing wrong"):
        prove_family_equals(claim)
