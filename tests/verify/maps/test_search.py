# SPDX-License-Identifier: Apache-2.0
"""Each finding names the smallest counterexample, and finds none in a right map."""

import isa_tables
from verify.maps import search
from verify.maps.fragment_map import FragmentMap
from verify.maps.map import Axis

LANE, VALUE, ROW, COL = Axis("lane", 32), Axis("value", 4), Axis("m", 16), Axis("n", 8)
C = FragmentMap.from_operand(isa_tables.instruction("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32").operands["C"])


def change_images(**images: tuple[int, int]) -> FragmentMap:
    """C with other images of some values of lane 5, by the value's number."""
    pairs = {**C.images, **{(5, int(name[1:])): (image,) for name, image in images.items()}}
    return FragmentMap(C.inputs, C.outputs, pairs)


def test_a_right_map_has_no_counterexample() -> None:
    assert search.find_size_fault(C, (LANE, VALUE)) is None
    assert search.find_out_of_bounds(C) is None
    assert search.find_owner_fault(C, 1) is None
    assert search.find_difference(C, C) is None
    assert search.find_inverse_fault(C, C) is None
    assert search.count_agreement(C, C) == (128, 128)


def test_one_changed_point_is_found_by_every_property() -> None:
    wrong = change_images(v3=(1, 2))
    fault = search.find_difference(wrong, C)
    assert fault is not None
    assert fault.inputs == {"lane": 5, "value": 3}
    assert fault.statement == "lane 5, value 3: map (m=1, n=2), ISA (m=9, n=3); (m=1, n=2) belongs to lane 5, value 0"
    assert fault.unique
    collision = search.find_owner_fault(wrong, 1)
    assert collision is not None
    assert collision.statement == "lane 5, value 0 and lane 5, value 3 both have (m=1, n=2)"
    assert collision.damage == ("1 of 128 elements have no owner: m = 9, n = 3",)
    assert search.find_out_of_bounds(wrong) is None
    assert search.find_inverse_fault(wrong, C) is not None
    assert search.count_agreement(wrong, C) == (127, 128)


def test_an_image_outside_the_tile_is_found() -> None:
    wrong = change_images(v3=(1, 8), v2=(-1, 0))
    fault = search.find_out_of_bounds(wrong)
    assert fault is not None
    assert fault.statement == "lane 5, value 2 has (m=-1, n=0), outside 16x8"
    assert fault.damage == ("2 of 128 points fall outside",)
    assert search.find_owner_fault(wrong, 1) is not None


def test_owners_are_counted() -> None:
    missing = search.find_owner_fault(C, 2)
    assert missing is not None
    assert missing.statement == "(m=0, n=0) has one owner, 2 wanted"
    twice = FragmentMap.tabulate(lambda lane, value: C(lane % 32, value), (Axis("lane", 64), VALUE), (ROW, COL))
    assert search.find_owner_fault(twice, 2) is None
    assert search.find_owner_fault(twice, 1) is not None


def test_a_map_of_another_size_is_found() -> None:
    fewer = FragmentMap.from_pairs(C.inputs, C.outputs, list(C.pairs())[:-1])
    fault = search.find_size_fault(fewer, (LANE, VALUE))
    assert fault is not None
    assert fault.statement == "lane 31, value 3 has no image"
    small = FragmentMap.tabulate(lambda lane, value: (0, 0), (LANE, Axis("value", 2)), (ROW, COL))
    of_small = search.find_size_fault(small, (LANE, VALUE))
    assert of_small is not None
    assert of_small.statement == "the map has 32 lanes x 2 values, 32 lanes x 4 values wanted"
    several = FragmentMap.from_pairs(C.inputs, C.outputs, [*C.pairs(), ((0, 0), (3, 3))])
    many = search.find_size_fault(several, (LANE, VALUE))
    assert many is not None
    assert many.statement == "lane 0, value 0 has several images: (m=0, n=0) and (m=3, n=3)"
    beyond = FragmentMap.from_pairs(C.inputs, C.outputs, [*C.pairs(), ((32, 0), (3, 3))])
    outside = search.find_size_fault(beyond, (LANE, VALUE))
    assert outside is not None
    assert outside.statement == "lane 32, value 0 is outside 32 lanes x 4 values"
