# SPDX-License-Identifier: Apache-2.0
"""Cases decided by arrays are decided as in plain Python, and what is wrong is found wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import layouts
from layouts import Layout, LayoutError, coalesce, cosize, make_layout
from proofs.definitions import TooLarge
from proofs.symbolic import enumerated, execution
from proofs.symbolic.enumerated import LAWS
from proofs.symbolic.execution import Target
from verify.campaign import examine, laws
from verify.campaign.domain import Domain
from verify.campaign.examine import DisagreementError, Second, examine_cases
from verify.campaign.laws import DECISIONS, LayoutBatch, Rows
from verify.campaign.spec import OPERATIONS
from verify.campaign.tally import Tally

SINGLE = Domain(3, 2, 8, (1, 2, 3, 4), (0, 1, 2, 4))
PAIRED = Domain(2, 1, 4, (1, 2, 3, 4), (0, 1, 2, 3))


def cases(law: str) -> tuple[list[Any], list[Second]]:
    """Some layouts of every form, with second arguments."""
    second = LAWS[law].second
    if second == "layout":
        some = [PAIRED[n] for n in range(0, len(PAIRED), 4)]
        return some, list(some)
    return [SINGLE[n] for n in range(0, len(SINGLE), 23)], [1, 5, 8, 24] if second else [None]


def with_function(name: str, function: Callable[..., Any]) -> Target:
    """Our implementation with another function."""
    named = {each: getattr(layouts, each) for each in LAWS}
    return replace(execution.ours(), name="planted", functions=SimpleNamespace(**(named | {name: function})))


def with_stride(law: str, change: Callable[[int], int]) -> Target:
    """Our implementation whose results have another last stride, where the first layout is not compact."""

    def wrong(*arguments: Any) -> Layout:
        result = getattr(layouts, law)(*arguments)
        if isinstance(result.stride, int):
            return Layout(result.shape, change(result.stride))
        return Layout(result.shape, _last(result.stride, change))

    return with_function(law, wrong)


def _last(stride: Any, change: Callable[[int], int]) -> Any:
    return (*stride[:-1], _last(stride[-1], change)) if isinstance(stride, tuple) else change(stride)


def plain(target: Target, law: str, firsts: list[Any], seconds: list[Second]) -> tuple[int, int, list[str]]:
    """How many cases are rejected and wrong, and the wrong ones, by the definitions in plain Python."""
    rejected, wrong = 0, []
    for a in firsts:
        for b in seconds:
            arguments = (a,) if b is None else (a, b)
            fault = enumerated.try_case(target, law, arguments)
            rejected += fault is None
            wrong += [(enumerated.weight(arguments), enumerated.call(law, arguments))] if fault else []
    return rejected, len(wrong), [text for _, text in sorted(wrong)[:1]]


@pytest.mark.long
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("target", ["ours", "one more", "none"])
def test_arrays_decide_as_plain_python_does(law: str, target: str) -> None:
    changes: dict[str, Callable[[int], int]] = {"one more": lambda d: d + 1, "none": lambda d: 0}
    used = with_stride(law, changes[target]) if target in changes else execution.ours()
    firsts, seconds = cases(law)
    tally = examine_cases(used, law, firsts, seconds)
    rejected, wrong, smallest = plain(used, law, firsts, seconds)
    assert tally.whole and tally.cases == len(firsts) * len(seconds)
    assert (tally.rejected, tally.refuted) == (rejected, wrong)
    assert ([tally.smallest.case] if tally.smallest else []) == smallest
    assert (wrong > 0) == (target in changes) and tally.confirmed > 0


def modes(layout: Any) -> list[Layout]:
    return [*layout] if isinstance(layout.shape, tuple) else [layout]


def of_each(change: Callable[[Layout], Layout]) -> Callable[[Layout], Layout]:
    """A change of the last of several modes."""
    return lambda layout: (
        make_layout(*modes(layout)[:-1], change(modes(layout)[-1])) if len(modes(layout)) > 1 else layout
    )


FORMS: dict[str, Callable[[Layout], Layout]] = {  # results of another form, whose values may be right
    "a mode of 1 more": lambda layout: make_layout(*modes(layout), Layout(1, 0)),
    "a single point": lambda layout: Layout(1, 0),
    "modes backwards": lambda layout: make_layout(*reversed(modes(layout))),
    "modes of the last backwards": of_each(lambda last: make_layout(*reversed(modes(last)))),
    "a repetition more": lambda layout: make_layout(*modes(layout), Layout(2, max(1, cosize(layout)))),
    "one mode": coalesce,
    "two modes": lambda layout: make_layout(Layout(1, 0), layout),
    "a nested mode": lambda layout: make_layout(make_layout(*modes(layout)), Layout(1, 0)),
}


@pytest.mark.long
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("form", FORMS)
def test_arrays_decide_results_of_another_form_as_plain_python_does(law: str, form: str) -> None:
    def changed(*arguments: Any) -> Any:
        return FORMS[form](getattr(layouts, law)(*arguments))

    target = with_function(law, changed)
    firsts, seconds = cases(law)
    firsts = firsts[::2]
    tally = examine_cases(target, law, firsts, seconds)
    rejected, wrong, smallest = plain(target, law, firsts, seconds)
    assert (tally.rejected, tally.refuted) == (rejected, wrong)
    assert ([tally.smallest.case] if tally.smallest else []) == smallest


def test_a_product_in_another_order_than_its_tiler_is_wrong() -> None:
    """Its values are the right ones: only their order is not T's."""

    def planted(a: Layout, b: Layout) -> Layout:
        return make_layout(a, Layout((2, 2), (4, 2)))

    tally = examine_cases(with_function("logical_product", planted), "logical_product", [(2, 1)], [((2, 2), (1, 2))])
    assert (tally.cases, tally.refuted) == (1, 1)
    right = examine_cases(execution.ours(), "logical_product", [(2, 1)], [((2, 2), (1, 2))])
    assert (right.cases, right.confirmed) == (1, 1)


def test_one_wrong_stride_in_all_pairs_is_found() -> None:
    """The twin of a campaign that confirms: wrong for one pair only."""
    domain = Domain(2, 1, 4, (2,), (1, 2, 3))
    pairs = [domain[n] for n in range(len(domain))]
    right = examine_cases(execution.ours(), "composition", pairs, pairs)
    assert right.refuted == 0

    def wrong(a: Layout, b: Layout) -> Layout:
        return Layout(2, 1) if (a, b) == (Layout((2, 2), (1, 3)), Layout(2, 2)) else layouts.composition(a, b)

    tally = examine_cases(with_function("composition", wrong), "composition", pairs, pairs)
    assert tally.refuted == 1 and tally.confirmed == right.confirmed - 1 and tally.smallest is not None
    assert tally.smallest.case == "composition((2,2):(1,3), 2:2)"
    assert tally.smallest.fault == "-> 2:1: R(1) = 1, A(B(1)) = A(2) = 3"


ODD: dict[str, Callable[..., Any]] = {
    "raises KeyError": lambda a: {}[a],
    "no layout": lambda a: None,
    "shape": lambda a: SimpleNamespace(shape=[1], stride=[0]),
    "another nesting": lambda a: SimpleNamespace(shape=a.shape, stride=(a.stride,)),
    "a nesting of its own": lambda a: SimpleNamespace(shape=((1, a.shape), 1), stride=(0, a.stride, 0)),
    "no stride": lambda a: SimpleNamespace(shape=a.shape),
    "no natural number": lambda a: SimpleNamespace(shape=a.shape, stride=0.5),
    "an extent of 0": lambda a: SimpleNamespace(shape=0, stride=0),
    "beyond 64 bits": lambda a: SimpleNamespace(shape=a.shape, stride=1 << 70),
}


@pytest.mark.parametrize("what", ODD)
def test_what_fits_no_array_is_decided_in_plain_python(what: str) -> None:
    some = [(4, 1), (4, 2), (3, 3)]
    tally = examine_cases(with_function("coalesce", ODD[what]), "coalesce", some, [None])
    assert tally.refuted == tally.cases == 3 and tally.smallest is not None
    assert tally.smallest.case == "coalesce(4:1)"


def test_an_implementation_that_changes_its_argument_is_wrong() -> None:
    def planted(a: Any) -> Any:
        kept = SimpleNamespace(shape=a.shape, stride=a.stride)
        a.stride = 7
        return kept

    target = replace(with_function("coalesce", planted), make=lambda s, d: SimpleNamespace(shape=s, stride=d))
    tally = examine_cases(target, "coalesce", [(4, 1), (4, 7)], [None])
    assert tally.refuted == 1 and tally.smallest is not None
    assert tally.smallest.fault == "changes its argument 4:1"


def test_an_implementation_that_changes_its_second_argument_is_wrong() -> None:
    def planted(a: Any, b: Any) -> Any:
        composed = layouts.composition(Layout(a.shape, a.stride), Layout(b.shape, b.stride))
        b.stride = 0
        return SimpleNamespace(shape=composed.shape, stride=composed.stride)

    target = replace(with_function("composition", planted), make=lambda s, d: SimpleNamespace(shape=s, stride=d))
    tally = examine_cases(target, "composition", [(8, 1), (8, 3)], [(4, 2)])
    assert tally.refuted == 2 and tally.smallest is not None
    assert tally.smallest.fault == "changes its argument 4:2"


def test_a_simple_case_that_is_rejected_is_wrong_and_any_other_is_rejected() -> None:
    def planted(a: Layout) -> Layout:
        raise LayoutError("no")

    tally = examine_cases(with_function("right_inverse", planted), "right_inverse", [(4, 1), (4, 2)], [None])
    assert tally == Tally(2, 0, 1, 1, 0, tally.smallest) and tally.smallest is not None
    assert tally.smallest.case == "right_inverse(4:1)"


def test_arrays_that_disagree_with_plain_python_end_the_campaign(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways: a wrong counterexample, and a wrong confirmation."""
    decision = DECISIONS["coalesce"]

    def planted(broken: bool) -> Any:
        return lambda a, r: (np.full(len(a), broken), np.zeros(len(a), dtype=bool))

    monkeypatch.setattr(examine, "DECISIONS", {"coalesce": replace(decision, decide=planted(True))})
    with pytest.raises(DisagreementError, match="the arrays find it wrong, and plain Python does not"):
        examine_cases(execution.ours(), "coalesce", [(4, 1)], [None])
    monkeypatch.setattr(examine, "DECISIONS", {"coalesce": replace(decision, decide=planted(False))})
    with pytest.raises(DisagreementError, match="the arrays find nothing wrong"):
        examine_cases(with_stride("coalesce", lambda d: d + 1), "coalesce", [(4, 1)], [None])


def test_a_law_that_does_not_apply_is_no_pass() -> None:
    """B leaves the domain of A: only k = 0 can be compared."""
    tally = examine_cases(execution.ours(), "composition", [(4, 1)], [(2, 4), (2, 2)])
    assert tally == Tally(2, confirmed=1, unmet=1)


@pytest.mark.long
def test_groups_too_large_for_memory_are_decided_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    firsts, seconds = cases("logical_divide")
    whole = examine_cases(execution.ours(), "logical_divide", firsts, seconds)
    monkeypatch.setattr(examine, "POINTS", 8)
    assert examine_cases(execution.ours(), "logical_divide", firsts, seconds) == whole
    monkeypatch.setattr(laws, "SHARED", 0)
    assert examine_cases(execution.ours(), "logical_divide", firsts, seconds) == whole


def test_values_that_may_not_fit_64_bits_are_not_computed_in_arrays() -> None:
    far = Rows(LayoutBatch(2, np.array([[1 << 31]])))
    assert Rows(LayoutBatch(4, np.array([[1 << 31]]))).after(far).tolist() == [[0, 1 << 62]]
    with pytest.raises(TooLarge):
        Rows(LayoutBatch(4, np.array([[1 << 32]]))).after(far)
    with pytest.raises(TooLarge):
        Rows(LayoutBatch((4, 2), np.array([[1, 1 << 32]]))).after(far)


def test_results_too_large_for_arrays_are_decided_in_plain_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """There nothing checks that a law with a premise applies everywhere, so that its cases are no pass."""
    monkeypatch.setattr(examine, "MOST", 1)
    tally = examine_cases(execution.ours(), "right_inverse", [(4, 1)], [None])
    assert tally == Tally(1, confirmed=1)
    assert examine_cases(execution.ours(), "composition", [(4, 1)], [(2, 1)]) == Tally(1, unmet=1)


def test_each_law_is_decided_in_plain_python_and_by_arrays_and_can_be_named_in_a_spec() -> None:
    assert set(DECISIONS) == set(LAWS) == set(OPERATIONS)
