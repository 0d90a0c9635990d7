# SPDX-License-Identifier: Apache-2.0
"""Formulas in an atom's coordinates: coarse and fine elements, memory, and what has no formula."""

import pytest

import isa_tables
from verify.binding.coordinates import Memory, Registers, codomain, formulas

SPARSE = isa_tables.instruction("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", F=0)
DENSE = isa_tables.instruction("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")


def formula(operand: str, extent: tuple[int, int], instruction: isa_tables.Instruction = DENSE) -> Registers:
    listed, why = formulas(operand, instruction, instruction.operands[operand], extent)
    assert not why and len(listed) == 1 and isinstance(listed[0], Registers)
    return listed[0]


def test_b_is_transposed_and_a_is_not() -> None:
    b, table = formula("B", (8, 16)), DENSE.operands["B"]
    assert b.locate(5, 3) == tuple(reversed(table.locate(5, 3)))
    assert formula("A", (16, 16)).locate(5, 3) == DENSE.operands["A"].locate(5, 3)


def test_a_coarse_element_is_so_many_neighbouring_positions() -> None:
    """A sparse A keeps half of the columns: an element of the tables is two positions of the tile."""
    a, table = formula("A", (16, 32), SPARSE), SPARSE.operands["A"]
    assert a.coarse == 32 // table.extent[1]
    for value in range(a.values):
        x, y = table.locate(7, value // a.coarse)
        assert a.locate(7, value) == (x, y * a.coarse + value % a.coarse)


def test_fine_elements_are_one_formula_each_and_are_outside_where_another_is_meant() -> None:
    whole = formula("A", (16, 16))
    halves = [whole._replace(fine=2, which=which) for which in (0, 1)]
    places = [[half.locate(7, value) for value in range(half.values)] for half in halves]
    assert halves[0].key != halves[1].key
    assert all(column in (*range(8), 16) for at in places for _, column in at)


@pytest.mark.parametrize(("ctas", "at"), [(1, (1, 1)), (2, (17 % 8, 17 // 8))])
def test_memory_numbers_its_elements_rows_first(ctas: int, at: tuple[int, int]) -> None:
    memory = Memory((16, 8), "smem", 128, "9.7.15", "ISA text", ctas)
    assert memory.locate(0, 17) == at and memory.values == 128 // ctas
    assert memory.locate(1, 0) == ((8, 0) if ctas == 2 else (0, 0))
    assert memory.key != memory._replace(ctas=3 - ctas).key


def test_an_operand_without_a_map_has_a_reason_and_no_formula() -> None:
    wmma = isa_tables.instruction("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32")
    table = wmma.operands["A"]
    assert formulas("A", wmma, table, table.extent) == ((), f"PTX ISA {wmma.section} leaves A unspecified")


def test_only_b_and_its_scale_factors_are_swapped() -> None:
    swapped = {operand for operand in ("A", "B", "C", "E", "SFA", "SFB") if codomain(operand, 0, 1) == (1, 0)}
    assert swapped == {"B", "SFB"}
