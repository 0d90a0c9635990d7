# SPDX-License-Identifier: Apache-2.0
"""Symbolic execution: `layouts` satisfies the definitions on every path, and planted bugs are found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

import layouts
from layouts import Layout
from layouts.compose import Carry
from layouts.layout import trust_layout
from proofs import definitions
from proofs.laws.formula import Node
from proofs.symbolic import contracts, loops, runs
from proofs.symbolic.execution import Operation, agrees, examine, follow_paths, ours, run_plainly
from proofs.symbolic.operations import operations
from proofs.symbolic.searched import refusing
from proofs.symbolic.symbolic_int import InputSpace, SymInt, Unfollowed, explore
from tests.cases import each
from tests.proofs.planted import plant_bugs

pytestmark = pytest.mark.slow

DIVIDE, PRODUCT = "logical_divide, rank {} by N:r", "logical_product, rank {} by N:r"
SLOW = ("composition, rank 2 o rank 2", DIVIDE.format(2), PRODUCT.format(1), PRODUCT.format(2))


def quick() -> Iterator[Operation]:
    yield from (refusing(o) for o in operations(2) if o.label not in SLOW)
    yield from (refusing(contracts.divide(r, b)) for r, b in ((1, 1), (3, 1)))
    yield from (refusing(contracts.product(1, b)) for b in (1, 2))
    yield from (runs.composition_merging(r) for r in (1, 2))
    yield from (runs.composition_run(r) for r in (1, 2, 3))
    yield from (loops.composition_loops(r, b) for r, b in ((1, 1), (2, 1), (3, 1), (1, 2)))


def operation(label: str) -> Operation:
    return next(o for o in operations(3) if o.label == label)


@each("chosen", quick, ids=lambda o: o.label)
def test_every_path_of_ours_is_proved_or_rejected(chosen: Operation) -> None:
    examined = examine(ours(), chosen)
    assert examined.violations == ()
    assert examined.unknown == ()
    assert examined.unexplored == 0
    assert examined.proved > 0
    assert examined.outside == examined.refused or chosen.refuses is None


@each("chosen", quick, ids=lambda o: o.label)
def test_each_sample_goes_down_one_path_and_gets_what_the_code_returns(chosen: Operation) -> None:
    """The engine: the paths partition the samples, and the formulas of a path give the numbers of a plain run."""
    target = ours()
    symbols: dict[str, Any] = {x: SymInt(x) for x in chosen.space.names}
    paths, left = follow_paths(target, lambda: chosen.call(target, symbols), chosen.space)
    assert left == 0
    assert sum(len(p.samples) for p in paths) == len(chosen.space.samples)
    for path in paths:
        for at in path.samples[:8]:
            try:
                concrete = chosen.call(target, at)
            except target.refused:
                assert path.error is not None
                continue
            assert path.error is None
            last = (lambda r: r[-1]) if isinstance(concrete, tuple) else (lambda r: r)
            assert agrees(path, at, last(path.result), last(concrete))


@pytest.mark.parametrize("label", ["composition, rank 2 o rank 1", "composition, rank 2 o rank 2"])
def test_what_composition_rejects_has_no_layout_for_generic_strides(label: str) -> None:
    """For rejected inputs, with generic strides of A, the values A(B(k)) of some mode, or their sum, are no layout."""
    chosen, target = operation(label), ours()
    refused = 0
    for at in chosen.space.samples[:600]:
        generic = {**at, "D0": 1, "D1": 1_000_003}
        try:
            chosen.call(target, generic)
        except layouts.LayoutError:
            refused += 1
            assert not _mode_by_mode(generic), chosen.shown(generic)
    assert refused > 20


def _mode_by_mode(at: dict[str, int]) -> bool:
    a = [(at["M0"], at["D0"]), (at["M1"], at["D1"])]
    b = [(at[f"N{j}"], at[f"r{j}"]) for j in range(2) if f"N{j}" in at]
    alone = [[definitions.at(a, k * r) for k in range(n)] for n, r in b]
    if not all(map(definitions.representable, alone)):
        return False
    return len(b) == 1 or all(
        definitions.at(a, i * b[0][1] + j * b[1][1]) == alone[0][i] + alone[1][j]
        for i in range(b[0][0])
        for j in range(b[1][0])
    )


def test_a_fold_without_the_shape_condition_is_found() -> None:
    def composition(a: Layout, b: Layout) -> Layout:
        (m, _), (d, e) = a.shape, a.stride
        if m % b.stride:
            raise layouts.LayoutError("the stride does not divide")
        first = min(m // b.stride, b.shape)
        if first == b.shape:
            return trust_layout(b.shape, b.stride * d)
        return trust_layout((first, b.shape // first), (b.stride * d, e))

    examined = examine(plant_bugs(composition=composition), operation("composition, rank 2 o rank 1"))
    assert examined.violations
    assert "not compatible" in examined.violations[0].fault


def test_a_complement_that_rounds_gaps_down_is_found() -> None:
    def complement(layout: Layout, target: int) -> Layout:
        return trust_layout(
            (layout.stride, -(-target // (layout.shape * layout.stride)) + 1), (1, layout.shape * layout.stride + 1)
        )

    assert examine(plant_bugs(complement=complement), operation("complement, rank 1")).violations


def test_a_rejection_inside_the_precondition_is_found() -> None:
    """Every path that rejects its input must lie outside the no-carry condition; not so when everything is rejected."""

    def composition(a: Layout, b: Layout) -> Layout:
        raise layouts.LayoutError("no")

    refusing = replace(plant_bugs(composition=composition), exact=True)
    examined = examine(refusing, operation("composition, rank 2 o rank 1"))
    assert (examined.refused, examined.outside) == (1, 0)
    assert "not proved to lie outside" in examined.unknown[0]


def test_a_run_that_ends_before_a_digit_carries_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounding down keeps A(x + k r) = A(x) + k v; only the count is wrong, as no digit carries there yet."""

    def run(carry: Carry, rest: int, step: int) -> tuple[int, int]:
        (radix,), (weight, last) = carry.radices, carry.weights
        digit, value = step % radix, step % radix * weight + step // radix * last
        n = min(rest, carry.radices[0] // digit) if digit else rest
        if rest % n:
            raise layouts.LayoutError("does not divide")
        carry.use([digit], n - 1)
        return n, value

    def limit(bounded: list[Node], step: Node, count: Node) -> tuple[Node, list[Node]]:
        digit = ("%", step, bounded[0])
        down = ("//", bounded[0], digit)
        return ("if", ("and", ("!=", digit, 0), ("<", down, count)), down, count), [digit]

    monkeypatch.setattr(Carry, "take_run", run)
    monkeypatch.setattr(runs, "limit", limit)
    messages = examine(ours(), runs.composition_run(2)).unknown
    assert any("the first carry" in line for line in messages)
    assert not any("contract" in line or "length" in line for line in messages)


def test_a_run_that_forgets_a_digit_breaks_its_contract(monkeypatch: pytest.MonkeyPatch) -> None:
    def use(carry: Carry, digits: list[int], times: int) -> None:
        carry.used = [u + d * times for u, d in zip(carry.used, digits, strict=True)]

    monkeypatch.setattr(Carry, "use", use)
    assert examine(ours(), runs.composition_run(2)).unknown


@pytest.mark.parametrize("slip", ["the step", "the state"])
def test_loops_that_go_on_wrongly_are_found(monkeypatch: pytest.MonkeyPatch, slip: str) -> None:
    """After a run its step is multiplied and the digits stay used; forgetting either is reported."""

    def mode(carry: Carry, extent: int, step: int) -> tuple[Any, Any]:
        if step == 0 or extent == 1:
            return extent, 0
        if step < 0:
            raise layouts.LayoutError("negative")
        shapes, strides, rest = [], [], extent
        while rest > 1:
            n, value = carry.take_run(rest, step)
            shapes, strides, rest = [*shapes, n], [*strides, value], rest // n
            step *= 1 if slip == "the step" else n
            carry.used = [0] * len(carry.used) if slip == "the state" else carry.used
        return tuple(shapes), tuple(strides)

    monkeypatch.setattr(Carry, "mode", mode)
    messages = " ".join(examine(ours(), loops.composition_loops(2, 1)).unknown)
    assert ("the request" if slip == "the step" else "the state") in messages


def test_a_contract_that_promises_too_little_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """R(c) = A(B(c)) follows from the contract of a run: without it the loops are not proved."""
    monkeypatch.setattr(loops, "_contract", lambda *_: ("==", 0, 0))  # seam: a planted bug
    assert examine(ours(), loops.composition_loops(2, 1)).unknown


def test_a_rejection_of_the_formulas_themselves_is_found() -> None:
    def coalesce(layout: Layout) -> Layout:
        if type(layout.shape) is not int:
            raise layouts.LayoutError("not an int")
        return layout

    examined = examine(plant_bugs(coalesce=coalesce), operation("coalesce, rank 1"))
    assert "a plain run does not raise" in examined.unknown[0]


def test_a_violation_is_shown_only_when_the_code_reproduces_it() -> None:
    violation = run_plainly(
        plant_bugs(coalesce=lambda x: trust_layout(x.shape, x.stride + 1)),
        operation("coalesce, rank 1"),
        {"s0": 3, "d0": 2},
    )
    assert violation is not None
    assert violation.inputs == "coalesce(3:2)"
    assert violation.fault == "R(1) = 3, L(1) = 2"


def test_python_semantics_of_division_are_followed() -> None:
    space = InputSpace.make(["x", "y"], [(">=", "x", -5), ("<=", "x", 5), ("!=", "y", 0), (">=", "y", -3)])
    spread = InputSpace(
        space.names, space.assumed, tuple({"x": x, "y": y} for x in range(-5, 6) for y in (-3, -2, -1, 1, 2))
    )
    x, y = SymInt("x"), SymInt("y")
    paths, _ = explore(spread, lambda: trust_layout((x // y, x % y), (0, 0)), ())
    for path in paths:
        for at in path.samples:
            assert agrees(path, at, path.result, trust_layout((at["x"] // at["y"], at["x"] % at["y"]), (0, 0)))


USES: dict[str, Any] = {
    "shift": lambda x: x << 1,
    "power": lambda x: x**2,
    "quotient": lambda x: x / 2,
    "float": float,
}


@pytest.mark.parametrize("use", USES)
def test_what_cannot_be_followed_raises(use: str) -> None:
    with pytest.raises(Unfollowed):
        explore(InputSpace.make(["x"], []), lambda: USES[use](SymInt("x")), ())


def test_code_that_looks_at_a_number_is_found() -> None:
    def coalesce(layout: Layout) -> Layout:
        size = sum(1 for _ in range(layout.shape))
        return trust_layout(size, layout.stride) if layout.shape < 100 else layout

    messages = examine(plant_bugs(coalesce=coalesce), operation("coalesce, rank 1")).unknown
    assert any("looked at the value" in line for line in messages)
