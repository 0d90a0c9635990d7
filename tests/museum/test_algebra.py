# SPDX-License-Identifier: Apache-2.0
"""Layout operations whose published implementations break their own definition; ours reject or satisfy it."""

import pytest

import isa_tables
from layouts import Layout, LayoutError, Swizzle, complement, composition


def evaluate(layout: Layout, index: int) -> int:
    """The layout's value, computed here digit by digit."""
    total, flat = 0, []

    def leaves(shape: object, stride: object) -> None:
        if isinstance(shape, tuple) and isinstance(stride, tuple):
            for s, d in zip(shape, stride, strict=True):
                leaves(s, d)
        else:
            flat.append((shape, stride))

    leaves(layout.shape, layout.stride)
    for s, d in flat:
        total += index % s * d
        index //= s
    return total


def test_28_composition_that_carries_is_rejected() -> None:
    """(6,4):(1,100) o 4:4: CuTe gives (2,2):(4,100), but A(B(2)) = A(8) = 102 and not 100."""
    a, b = Layout((6, 4), (1, 100)), Layout(4, 4)
    published = Layout((2, 2), (4, 100))
    assert [evaluate(published, c) for c in range(4)] != [evaluate(a, evaluate(b, c)) for c in range(4)]
    with pytest.raises(LayoutError, match="6") as rejection:
        composition(a, b)
    assert "4" in str(rejection.value)


def test_29_a_layout_after_a_swizzle_keeps_its_definition() -> None:
    """(2,2,4):(2,1,4) after Swizzle<2,0,2> is wrong at 8 of 16 points in CuTe; ours is right or rejected."""
    outer, inner = Layout((2, 2, 4), (2, 1, 4)), Swizzle(2, 0, 2)
    wanted = [evaluate(outer, x ^ (x >> 2 & 3)) for x in range(16)]
    try:
        result = composition(outer, inner)
    except LayoutError as rejection:
        assert "Swizzle" in str(rejection)
    else:
        assert [result(x) for x in range(16)] == wanted


def test_30_complement_that_leaves_holes_is_rejected() -> None:
    """complement((2,2):(1,5), 20): the gap 5 isn't a multiple of 2, so no layout fills it."""
    with pytest.raises(LayoutError) as rejection:
        complement(Layout((2, 2), (1, 5)), 20)
    assert "5" in str(rejection.value) and "2" in str(rejection.value)


def test_8_the_printed_formula_of_m16n8k256_is_no_bijection() -> None:
    """PTX ISA 9.7.14.5.13 prints A's column without `& 0x1F`; by the corrected formula every element has one owner."""
    table = isa_tables.instruction("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc").operands["A"]
    elements = {table.locate(lane, i) for lane in range(32) for i in range(128)}
    assert elements == {(m, k) for m in range(16) for k in range(256)}
    as_printed = table.as_printed()
    printed = [as_printed.locate(lane, i) for lane in range(32) for i in range(128)]
    assert len(set(printed)) < len(printed)
    wrong = sum(p != table.locate(lane, i) for p, (lane, i) in zip(printed, _slots(), strict=True))
    assert wrong == 1024


def _slots() -> list[tuple[int, int]]:
    return [(lane, i) for lane in range(32) for i in range(128)]


def test_6_a_tutorials_layout_is_neither_its_own_table_nor_the_isas() -> None:
    """((4,8),(2,2)):((16,1),(8,64)) over a row-major 16x8 differs from the tutorial's table at 120 of 128."""
    layout = Layout.parse("((4,8),(2,2)):((16,1),(8,64))")
    isa = isa_tables.instruction("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32").operands["C"]
    right = Layout.parse("((4,8),(2,2)):((2,8),(1,64))")
    own_table = differs = repaired = 0
    for lane in range(32):
        for i in range(4):
            offset = evaluate(layout, lane + 32 * i)
            own_table += divmod(offset, 8) != (2 * (lane // 8) + i % 2 + 8 * (i // 2), lane % 8)
            differs += divmod(offset, 8) != isa.locate(lane, i)
            repaired += divmod(evaluate(right, lane + 32 * i), 8) == isa.locate(lane, i)
    assert (own_table, differs, repaired) == (120, 112, 128)
