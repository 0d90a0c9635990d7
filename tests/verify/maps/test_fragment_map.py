# SPDX-License-Identifier: Apache-2.0
"""FragmentMap is one relation, however it is made, in either direction and with its replicas."""

import pytest

import isa_tables
from verify.maps.fragment_map import FragmentMap
from verify.maps.map import Axis, MapError, MapOrigin
from verify.maps.search import list_differences

LANE, VALUE, ROW, COL = Axis("lane", 32), Axis("value", 4), Axis("m", 16), Axis("n", 8)
MMA = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
VOLTA = "mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16"
SPARSE = "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"


def accumulator(lane: int, value: int) -> tuple[int, int]:
    return lane // 4 + value // 2 * 8, lane % 4 * 2 + value % 2


def operand(mnemonic: str, name: str, **select: str | int) -> FragmentMap:
    return FragmentMap.from_operand(isa_tables.instruction(mnemonic, **select).operands[name])


def test_one_map_from_a_function_a_table_bases_and_the_isa() -> None:
    called = FragmentMap.tabulate(accumulator, (LANE, VALUE), (ROW, COL))
    table = FragmentMap.from_pairs((LANE, VALUE), (ROW, COL), reversed(list(called.pairs())))
    bases = FragmentMap.from_bases(
        {"lane": [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)], "value": [(0, 1), (8, 0)]}, (ROW, COL)
    )
    assert called == table == bases == operand(MMA, "C")
    assert hash(called) == hash(table)
    wrong = FragmentMap.tabulate(lambda lane, value: accumulator(lane, value)[::-1], (LANE, VALUE), (ROW, COL))
    assert called != wrong
    assert list_differences(called, wrong)[0] == (0, 1)


def test_an_inverse_of_an_inverse_is_the_map() -> None:
    for name in "ABC":
        forward = operand(MMA, name)
        inverse = forward.inverse()
        assert inverse.inverse() == forward
        assert inverse.orient(["lane", "value"]) == forward
        assert all(forward.then(inverse)(*point) == point for point in forward.domain)


def test_a_replicated_map_has_a_relation_as_its_inverse() -> None:
    a = operand(VOLTA, "A")
    assert a.functional
    assert a.total
    inverse = a.inverse()
    assert not inverse.functional
    assert len(inverse) == len(a) == 128
    assert len(inverse.at(0, 0)) == isa_tables.instruction(VOLTA).operands["A"].copies
    with pytest.raises(MapError, match="4 images, not one"):
        inverse(0, 0)


def test_lanes_that_do_not_contribute_have_no_image() -> None:
    metadata = operand(SPARSE, "E", F=2)
    assert {lane % 4 for lane, _ in metadata.domain} == {2}
    assert not metadata.total
    with pytest.raises(MapError, match="0 images"):
        metadata(0, 0)


def test_places_in_tensor_memory_are_named() -> None:
    scaled = operand("tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale", "SFA", SFA_ID=2)
    assert [axis.name for axis in scaled.outputs] == ["cta", "lane", "column", "byte"]
    assert (0, 104, 1, 2) in scaled.at(40, 0)
    assert not scaled.functional


def test_coordinates_are_reordered_and_renamed_by_name() -> None:
    b = operand(MMA, "B")
    turned = b.reorder(["value", "lane"], ["n", "k"])
    assert turned(3, 5) == b(5, 3)[::-1]
    assert b.rename({"k": "row"}).outputs[0] == Axis("row", 16)
    assert b.elements()[5][3] == 11 + 16 * 1
    assert b.reorder(["lane", "value"], ["n", "k"]).elements()[5][3] == 1 + 8 * 11


@pytest.mark.parametrize("image", [(16, 0), (-1, 1), (0, 8), (0, -1)])
def test_an_image_outside_the_tile_has_no_number(image: tuple[int, int]) -> None:
    """x + X*y would be the number of another image."""
    tile = [Axis("m", 16), Axis("n", 8)]
    single = FragmentMap.tabulate(lambda lane, value: image, [Axis("lane", 1), Axis("value", 1)], tile)
    assert single.rows() == [[image]]
    with pytest.raises(MapError, match=rf"lane 0, value 0 has \(m={image[0]}, n={image[1]}\), outside the tile"):
        single.elements()
    with pytest.raises(MapError, match=rf"\(m={image[0]}, n={image[1]}\) is outside the tile"):
        single.element(image)


def test_each_point_has_a_source() -> None:
    table = FragmentMap.from_pairs(
        [LANE], [ROW], [((0,), (1,)), ((1,), (2,))], MapOrigin("", "c.csv"), lines={(1,): 3, (0,): 2}
    )
    assert [table.source(point) for point in table.domain] == ["c.csv:2", "c.csv:3"]
    assert operand(MMA, "C").source((0, 0)).endswith("mma_m16n8k16_16b.toml")


@pytest.mark.parametrize("image", [True, 1.0, "1", (1, 2, 3), None])
def test_an_image_is_whole_numbers_one_for_each_output(image: object) -> None:
    with pytest.raises(MapError, match="expected integers"):
        FragmentMap.from_pairs([LANE], [ROW, COL], [((0,), image)])  # type: ignore[list-item]


def test_a_map_has_at_most_a_million_points() -> None:
    with pytest.raises(MapError, match="more than 1048576 points"):
        FragmentMap.tabulate(lambda i: i, [Axis("i", 1 << 40)], [ROW])
    with pytest.raises(MapError, match="a map of every lane and value"):
        FragmentMap.from_pairs([LANE, VALUE], [ROW], []).elements()
    with pytest.raises(MapError, match="not from \\(thread\\)"):
        operand(MMA, "C").orient(["thread"])


def test_a_map_with_a_point_outside_is_not_total() -> None:
    """As many points as inside, each with one image, but not those."""
    inputs, outputs = [Axis("lane", 2), Axis("value", 2)], [Axis("m", 8)]
    inside = [((lane, value), (lane,)) for lane in range(2) for value in range(2)]
    assert FragmentMap.from_pairs(inputs, outputs, inside).total
    for outside in ((2, 0), (-1, 0), (0, 2)):
        assert not FragmentMap.from_pairs(inputs, outputs, [*inside[:3], (outside, (0,))]).total
    assert not FragmentMap.from_pairs(inputs, outputs, inside[:3]).total
    assert not FragmentMap.from_pairs(inputs, outputs, [*inside, ((0, 0), (5,))]).total
