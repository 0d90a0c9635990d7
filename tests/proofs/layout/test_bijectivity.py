# SPDX-License-Identifier: Apache-2.0
"""Ownership, onto, equality of functions and certificates, compared with counting and with each other."""

from __future__ import annotations

from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

import proofs
from layouts import Layout
from proofs import OperandLayout, Outcome
from tests.proofs.layout.brute import (
    ONE,
    evaluate_all,
    find_miscounted,
    flat_layouts,
    fragment,
    mutants,
    tv,
    tv_layouts,
)

pytestmark = pytest.mark.slow

# layout, tile, owners of each element
RIGHT = [
    ("((4,8),(2,2)):((32,1),(16,8))", (16, 8), 1),
    ("((4,8),(2,2,2)):((32,1),(16,8,128))", (16, 16), 1),
    ("((4,8),(32,2,2)):((512,1),(16,8,2048))", (16, 256), 1),
    ("((4,8),(32,2)):((256,1),(8,1024))", (8, 256), 1),
    ("((4,8),8):((64,1),8)", (8, 32), 1),
    ("((4,8),8):((0,1),8)", (8, 8), 4),
    ("((2,4,2),3):((0,1,0),4)", (4, 3), 4),
    ("((3,5),2):((1,6),3)", (6, 5), 1),
    ("(1,1):(0,0)", (1, 1), 1),
]


def check(f: OperandLayout, outcome: Outcome) -> None:
    table = tv(f.layout)
    wrong = find_miscounted(list(table.values()), f.extent[0] * f.extent[1], f.copies)
    assert outcome.status == ("sat" if wrong else "unsat")
    if not wrong:
        return
    model = outcome.model
    assert model is not None
    assert (outcome.bad, outcome.unique) == (len(wrong), len(wrong) == 1)
    holders = sorted(p for p, e in table.items() if e in wrong)
    if not holders:
        assert model == {"element": min(wrong), "owners": 0}
        return
    assert (model["thread"], model["value"]) == holders[0]
    assert model["element"] == table[holders[0]]
    if "thread2" in model:
        assert table[model["thread2"], model["value2"]] == model["element"]
        assert (model["thread2"], model["value2"]) != holders[0]


@pytest.mark.parametrize(("text", "extent", "copies"), RIGHT)
def test_layouts_with_right_ownership_and_their_mutants(text: str, extent: tuple[int, int], copies: int) -> None:
    f = fragment(text, extent, copies=copies)
    assert not find_miscounted(list(tv(f.layout).values()), extent[0] * extent[1], copies)
    check(f, proofs.prove_ownership(f))
    solver = proofs.Solver()
    for layout in mutants(f.layout):
        g = OperandLayout(layout, extent, ONE, ONE, None, copies)
        check(g, proofs.prove_ownership(g, solver=solver))
    wrong_copies = OperandLayout(f.layout, extent, ONE, ONE, None, copies + 1)
    check(wrong_copies, proofs.prove_ownership(wrong_copies))


@given(tv_layouts(), st.integers(1, 4), st.sampled_from([1, 1, 1, 2, 4, 3]))
def test_ownership_agrees_with_counting(layout: Layout, rows: int, copies: int) -> None:
    columns = max(1, len(tv(layout)) // copies // rows)
    f = OperandLayout(layout, (rows, columns), ONE, ONE, None, copies)
    check(f, proofs.prove_ownership(f))


def test_the_atom_cutlass_shipped_is_refuted_by_the_smallest_collision() -> None:
    outcome = proofs.prove_ownership(fragment("((4,8),8):((32,1),8)", (8, 32)))
    assert outcome.model == {"thread": 0, "value": 4, "thread2": 1, "value2": 0, "element": 32}
    assert outcome.bad == 192, "96 elements have two owners and 96 have none"


@given(flat_layouts(), st.integers(1, 3))
def test_certificates_solver_and_counting_agree(layout: Layout, multiple: int) -> None:
    taken = evaluate_all(layout)
    copies = max(taken.count(0), 1)
    for elements in {max(1, len(taken) // copies), len(taken) * multiple, max(taken) + 1 if max(taken) >= 0 else 1}:
        right = not find_miscounted(taken, elements, copies)
        certificate = proofs.mixed_radix(layout, elements)
        assert (certificate is not None) == right, "complete: it decides"
        assert certificate is None or certificate.copies == copies
        linear = proofs.f2_rank(layout, elements)
        assert linear is None or (right and linear.copies == copies)
        assert proofs.prove_bijective(layout, (elements,), copies).status == ("unsat" if right else "sat")


@st.composite
def linear_layouts(draw: st.DrawFn) -> Layout:
    """A layout of powers of two, its modes in any order, that gives each element the same number of owners."""
    sizes = draw(st.lists(st.sampled_from([1, 2, 4, 8]), min_size=1, max_size=4))
    modes = [(size, prod(sizes[:i])) for i, size in enumerate(sizes)]
    modes += [(size, 0) for size in draw(st.lists(st.sampled_from([2, 4]), max_size=2))]
    modes = draw(st.permutations(modes))
    return Layout(tuple(size for size, _ in modes), tuple(stride for _, stride in modes))


@given(linear_layouts())
def test_the_f2_certificate_decides_what_is_linear(layout: Layout) -> None:
    taken = evaluate_all(layout)
    elements = len(set(taken))
    assert not find_miscounted(taken, elements, len(taken) // elements)
    certificate = proofs.f2_rank(layout, elements)
    assert certificate is not None and certificate.copies == len(taken) // elements


def test_f2_rank_finds_the_rank_and_rejects_carries() -> None:
    certificate = proofs.f2_rank(Layout.parse("((4,8),(2,2)):((32,1),(16,8))"), 128)
    assert certificate is not None and len(certificate.steps) == 7
    assert proofs.f2_rank(Layout.parse("(2,2):(3,1)"), 4) is None, "3 and 1 share a bit: the sum carries"
    assert proofs.f2_rank(Layout.parse("(2,2):(3,4)"), 8) is None, "linear, but of rank 2 in 3 bits"


LARGE = [
    ("(1024,1024,8):(1,1024,1048576)", (1024, 8192), 1, None),
    ("(1024,1024,8):(1,1024,1048572)", (1024, 8192), 1,
     {"index": 1048572, "index2": 1048576, "element": 1048572}),
    ("(1000,1000,8):(1,1000,1000001)", (1000, 8000), 1, {"index": 7999993, "element": 8000000}),
    ("(1000,1000,8):(1,1000,0)", (1000, 1000), 8, None),
    ("(1000,1000,8):(1,1000,0)", (1000, 1000), 1, {"element": 0, "owners": 8}),
    ("(1000,1000,4):(1,1000,1000000)", (1000, 8000), 1, {"points": 4000000, "elements": 8000000}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "extents", "copies", "model"), LARGE)
def test_domains_too_large_to_count(text: str, extents: tuple[int, int], copies: int, model: object) -> None:
    outcome = proofs.prove_bijective(Layout.parse(text), extents, copies)
    assert (outcome.status, outcome.model, outcome.bad) == ("sat" if model else "unsat", model, None)


def test_extents_and_copies_must_be_positive() -> None:
    for extents, copies in (((0,), 1), ((2, -2), 1), ((4,), 0)):
        with pytest.raises(proofs.ProblemError, match="positive"):
            proofs.prove_bijective(Layout(4), extents, copies)
