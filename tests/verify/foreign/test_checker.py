# SPDX-License-Identifier: Apache-2.0
"""The verdicts on a project's map: each property can fail, and an own inverse must lead back."""

from __future__ import annotations

import pytest

from verify.foreign.checker import case, wrong_inverse
from verify.maps.answers import ForeignMap, MissingMap
from verify.maps.fragment_map import FragmentMap
from verify.maps.map import Axis

LANES, VALUES = Axis("lane", 32), Axis("value", 4)
TILE = (Axis("m", 16), Axis("n", 8))
PTX = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"


def right(lane, value):
    return lane // 4 + value // 2 * 8, lane % 4 * 2 + value % 2


def make(function, **more):
    return ForeignMap("C", FragmentMap.tabulate(function, (LANES, VALUES), TILE), PTX, "C", **more)


def statuses(foreign):
    return {verdict.claim.prop.key: verdict.status.value for verdict in case("project 1.0", foreign).verdicts}


def test_a_right_map_is_proved():
    assert set(statuses(make(right)).values()) == {"PROVED"} and case("project 1.0", make(right)).status == "VERIFIED"


@pytest.mark.parametrize(
    ("function", "refuted"),
    [
        (lambda lane, value: right(lane ^ 1, value), {"equals_isa"}),
        (lambda lane, value: right(lane & 30, value), {"ownership", "equals_isa"}),
        (
            lambda lane, value: (right(lane, value)[0] + 8, right(lane, value)[1]),
            {"in_bounds", "ownership", "equals_isa"},
        ),
    ],
)
def test_each_property_can_fail(function, refuted):
    by_key = statuses(make(function))
    assert {key for key, status in by_key.items() if status == "REFUTED"} == refuted


def test_a_map_of_other_extents_is_refuted():
    short = FragmentMap.tabulate(right, (Axis("lane", 16), VALUES), TILE)
    assert statuses(ForeignMap("C", short, PTX, "C"))["size"] == "REFUTED"


def test_an_instruction_that_is_not_in_the_tables_is_unchecked_and_its_own_inverse_is_still_compared():
    foreign = make(right, inverse=FragmentMap.tabulate(right, (LANES, VALUES), TILE))
    wanted = {"equals_isa": "UNCHECKED", "own_inverse": "PROVED"}
    assert statuses(ForeignMap("C", foreign.map, "mma.none", "C", inverse=foreign.inverse)) == wanted
    assert (
        case("p", ForeignMap("C", foreign.map, note="another vendor")).expects.unchecked == "UNCHECKED: another vendor"
    )


def repairs(foreign):
    return {
        verdict.claim.prop.key: verdict.counterexample.repair
        for verdict in case("p", foreign).verdicts
        if verdict.counterexample
    }


def odd(lane, value):
    return right(lane, value ^ 1)


def tabulate_map(function):
    return FragmentMap.tabulate(function, (LANES, VALUES), TILE)


FORWARD, BACK = "m = lane/4 + i/2*8; n = lane%4*2 + i%2", "lane = row%8*4 + col/2; value = row/8*2 + col%2"


@pytest.mark.parametrize("turned", [False, True], ids=["from lanes", "from elements"])
@pytest.mark.parametrize(
    ("forward", "inverse", "wanted"),
    [
        (odd, None, {"equals_isa": f"the ISA's map is {FORWARD}"}),
        # The inverse is the ISA's: the inverse of the wrong map would be no repair of it.
        (odd, right, {"equals_isa": f"the ISA's map is {FORWARD}", "own_inverse": ""}),
        (odd, odd, {"equals_isa": f"the ISA's map is {FORWARD}, and its inverse follows"}),
        (right, odd, {"own_inverse": "the inverse of the other is {}"}),
    ],
)
def test_the_whole_map_is_verified_again_with_a_repair(forward, inverse, wanted, turned):
    maps = [function and tabulate_map(function) for function in (forward, inverse)]
    made, back = (tabled and tabled.inverse() if turned else tabled for tabled in maps)
    expected = {key: text.format(FORWARD if turned else BACK) for key, text in wanted.items()}
    assert repairs(ForeignMap("C", made, PTX, "C", inverse=back)) == expected


def test_an_inverse_alone_is_repaired_by_the_map_that_it_undoes():
    for more in ({}, {"note": "another vendor's"}):
        assert repairs(ForeignMap("C", tabulate_map(right), inverse=tabulate_map(odd), **more)) == {
            "own_inverse": f"the inverse of the other is {BACK}"
        }


def test_a_map_that_is_missing_is_unchecked_with_the_reason():
    [verdict] = case("p", MissingMap("C", "it hangs")).verdicts
    assert verdict.status.value == "UNCHECKED" and verdict.reason == "couldn't load C: it hangs"


def test_an_inverse_of_several_owners_needs_to_name_one_of_them():
    both = FragmentMap.tabulate(lambda lane: lane // 2, [Axis("lane", 4)], [Axis("m", 2)])
    back = FragmentMap.from_pairs(both.inputs, both.outputs, [((0,), (0,)), ((3,), (1,))])
    assert wrong_inverse(both, back) is None


def test_an_inverse_that_leads_elsewhere_or_nowhere_is_refuted_at_the_smallest_element():
    forward = FragmentMap.tabulate(lambda lane: lane, [Axis("lane", 4)], [Axis("m", 4)])
    swapped = FragmentMap.tabulate(lambda lane: lane ^ (lane > 1), [Axis("lane", 4)], [Axis("m", 4)])
    wrong = wrong_inverse(forward, swapped)
    assert wrong is not None and wrong.statement == "(m=2) is said to be lane 3, which has (m=3)"
    assert wrong.damage == ("2 of 4 elements disagree",)
    short = FragmentMap.from_pairs(forward.inputs, forward.outputs, [((0,), (0,)), ((1,), (1,)), ((2,), (2,))])
    wrong = wrong_inverse(forward, short)
    assert wrong is not None and wrong.statement == "(m=3) has no lane and value" and wrong.unique
