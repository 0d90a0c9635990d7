# SPDX-License-Identifier: Apache-2.0
"""R1 to R9: the published counterexample breaks the claim, the search finds one, and the repair is a proved law."""

from __future__ import annotations

import re
from itertools import product
from types import SimpleNamespace

import pytest

import layouts
from layouts import Layout, LayoutError, complement, composition, left_inverse, parse_layout
from layouts.layout import trust_layout
from proofs import definitions
from proofs.laws import published, refutations
from proofs.laws.decide import list_shipped
from proofs.laws.published import Flat
from proofs.symbolic import published_claims
from proofs.symbolic.execution import Target, ours

CLAIMS = refutations.catalogue()


def case(text: str) -> tuple[object, ...]:
    """The layouts, numbers and shapes of a published counterexample."""
    parts: list[object] = []
    for part in re.split(r" o | and |, T = ", text):
        if ":" in part:
            shapes, strides = (tuple(map(int, side.strip("()").split(","))) for side in part.split(":"))
            parts.append((shapes, strides))
        else:
            parts.append(parse_nested(part) if part.startswith("(") else int(part))
    return tuple(parts)


def parse_nested(text: str) -> object:
    """A nested tuple of integers from its text, which is not evaluated."""
    stack: list[list[object]] = [[]]
    for token in re.findall(r"\d+|[()]", text):
        if token == "(":
            stack.append([])
        elif token == ")":
            done = tuple(stack.pop())
            stack[-1].append(done)
        else:
            stack[-1].append(int(token))
    return stack[0][0]


@pytest.mark.parametrize("name", CLAIMS)
def test_the_published_counterexample_breaks_the_claim(name: str) -> None:
    _, test = refutations.SEARCHES[CLAIMS[name].search]
    assert test(published.Published(), *case(CLAIMS[name].published))


@pytest.mark.parametrize("name", CLAIMS)
def test_the_tool_finds_a_counterexample(name: str) -> None:
    refuted = refutations.search(CLAIMS[name])
    assert refuted is not None
    assert refuted.reason


@pytest.mark.parametrize("name", CLAIMS)
def test_the_repair_is_a_proved_law(name: str) -> None:
    assert all(law in list_shipped() and not list_shipped()[law].why_open for law in CLAIMS[name].repaired_by)


def test_r1_finds_shahs_example() -> None:
    refuted = refutations.search(CLAIMS["R1"])
    assert refuted is not None
    assert refuted.case == (((6, 2), (1, 7)), ((3, 2), (2, 3)))


def test_r2_finds_the_three_mode_example() -> None:
    refuted = refutations.search(CLAIMS["R2"])
    assert refuted is not None
    assert refuted.case == (((6, 2), (1, 7)), ((2, 2, 2), (1, 2, 3)))


@pytest.mark.parametrize("b", ["(3,2):(2,3)", "(2,2,2):(1,2,3)"])
def test_ours_rejects_what_r1_to_r3_let_pass(b: str) -> None:
    with pytest.raises(LayoutError, match="carries"):
        composition(parse_layout("(6,2):(1,7)"), parse_layout(b))


def test_ours_rejects_r4_to_r6() -> None:
    with pytest.raises(LayoutError):
        composition(parse_layout("(3,2):(1,100)"), parse_layout("4:2"))
    with pytest.raises(LayoutError):
        composition(parse_layout("(2,2):(1,1)"), parse_layout("3:1"))
    with pytest.raises(LayoutError):
        complement(parse_layout("(2,2):(1,3)"), 6)


def test_ours_is_right_where_r8_is_wrong() -> None:
    layout = parse_layout("(4,8):(1,5)")
    assert [left_inverse(layout)(layout(k)) for k in range(32)] == list(range(32))


def pycute_like() -> Target:
    """The published operations under CuTe's names, composition with the weak assertion of CuTe C++."""

    def layout_of(a: Flat) -> Layout:
        return Layout(*((side[0] if len(side) == 1 else side) for side in a))

    def modes(layout: Layout) -> Flat:
        flat = definitions.flat((layout.shape, layout.stride))
        return tuple(s for s, _ in flat), tuple(d for _, d in flat)

    def composition(a: Layout, b: Layout) -> Layout:
        if isinstance(b.shape, tuple):
            parts = [composition(a, mode) for mode in b]
            return trust_layout(tuple(p.shape for p in parts), tuple(p.stride for p in parts))
        folded = published.cute_fold(modes(a), b.shape, b.stride, "weak")
        if folded is None:
            raise LayoutError("the assertion")
        return layout_of(folded)

    functions = SimpleNamespace(
        composition=composition,
        complement=lambda a, t: layout_of(published.complement(modes(a), t)),
        left_inverse=lambda a: layout_of(published.Published().left_inverse(modes(a))),
        compatible=published.Published().compatible,
    )
    return Target("likewise", functions, trust_layout, (LayoutError,))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("R1", "A = (6,2):(1,7), B = (3,2):(2,3)"),
        ("R2", "A = (6,2):(1,7), B = (2,2,2):(1,2,3)"),
        ("R4", "A = (3,2):(1,100), B = 4:2: R = (2,2):(2,100), R(2) = 100, A(B(2)) = A(4) = 101"),
        ("R6", "A = (2,2):(1,3), T = 6"),
        ("R7", "A = 2:1, T = 1"),
        ("R8", "L = (2,2):(1,3)"),
        ("R9", "are compatible with one another"),
    ],
)
def test_an_implementation_with_the_error_is_refuted(name: str, expected: str) -> None:
    """R4 occurs only in CuTe C++; an implementation in Python with its assertion shows that the search finds it."""
    refuted = refutations.search(CLAIMS[name], published_claims.Claimed(pycute_like()))
    assert refuted is not None
    assert expected in refuted.reason


@pytest.mark.parametrize("name", [n for n in CLAIMS if n != "R7"])
def test_ours_has_no_published_error(name: str) -> None:
    assert refutations.search(CLAIMS[name], published_claims.Claimed(ours())) is None


def test_r9s_repair_is_a_partial_order() -> None:
    """`layouts.compatible` on every shape of size 8 or less and depth 2, by brute force."""
    flat: list[object] = [*range(1, 9), *((a,) for a in range(1, 9)), *product(range(1, 5), repeat=2)]
    shapes = [*flat, *((a, b) for a, b in product(flat[:12], repeat=2)), ((1, 2), (2, 1)), ((2, (1, 2)),)]
    small = [s for s in shapes if published.shape_size(s) <= 8]
    below = {s: {t for t in small if layouts.compatible(s, t)} for s in small}
    for s in small:
        assert s in below[s]
        for t in below[s]:
            assert s == t or s not in below[t], (s, t)
            assert below[t] <= below[s], (s, t)
