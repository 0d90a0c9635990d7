# SPDX-License-Identifier: Apache-2.0
"""The formulas of copies: what an adapter turns, what names a bit, and inverses of operands in registers."""

import pytest

import isa_tables
from layouts.atoms import Adapter
from verify.binding.copy import CopyOperand, adapt_bit, inverse

MOVMATRIX = isa_tables.instruction("movmatrix.sync.aligned.m8n8.trans.b16")


def operand(name: str) -> CopyOperand:
    table = MOVMATRIX.operands[name]
    rows, columns = table.extent
    return CopyOperand(table, MOVMATRIX, (rows, 1, columns), table.bits)


@pytest.mark.parametrize("order", [(0, 2, 1, 3), (3, 0, 1, 2), (0, 1, 2, 3)])
def test_an_adapter_turns_the_bytes_of_each_group_and_no_bit_within(order: tuple[int, ...]) -> None:
    bits = [adapt_bit(bit, Adapter("turned", order)) for bit in range(64)]
    assert bits == [32 * (bit // 32) + 8 * order[bit % 32 // 8] + bit % 8 for bit in range(64)]
    assert sorted(bits) == [adapt_bit(bit, None) for bit in range(64)] == list(range(64))


def test_the_inverse_of_an_operand_in_registers_gives_the_owner_of_each_bit() -> None:
    source = next(operand(name) for name in MOVMATRIX.operands)
    named = source._replace(inverse=inverse(source))
    assert named.inverse is not None
    bits = [(lane, bit) for lane in range(source.lanes) for bit in range(source.per_thread)]
    assert [named.owner(source.number(lane, bit)) for lane, bit in bits] == bits


def test_an_operand_whose_lanes_share_bits_has_no_inverse() -> None:
    shared = CopyOperand(None, MOVMATRIX, (8, 1, 8), 16)  # memory under one address
    assert inverse(shared) is None and shared.copies == shared.lanes == 32


def test_operands_are_equal_by_their_formulas_alone() -> None:
    names = list(MOVMATRIX.operands)
    assert len(names) == 2 and operand(names[0]).map != operand(names[1]).map
    assert operand(names[0]).map == operand(names[0]).map
