# SPDX-License-Identifier: Apache-2.0
"""`ValID` of a copy from or to Tensor Memory: the address of each bit of the tile, compared with the ISA's operand.

An address counts bits: a column has 32 of them, a lane 2^16 columns. The tile's bits are numbered along its rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import isa_tables
from verify.core.verdict import Counterexample
from verify.scan.values import Tv

COLUMN = 32  # bits
LANE = COLUMN << 16
SECOND = re.compile(r"\]\s*,\s*(\d+)")  # of tcgen05.ld.16x32bx2: the column of the second half, behind the address
MOST = 1 << 20  # bits


def find_fault(layout: Tv, operand: isa_tables.Operand, text: str) -> tuple[int, Counterexample | None]:
    """Return the number of bits, and the first that lies at another address than the instruction has it.

    `text` is the instruction with its operands.
    """
    expected = list(_expect(operand, text))
    try:
        addresses = _addresses(layout)
    except ValueError as error:
        return len(expected), Counterexample({}, f"ValID: {error}")
    if len(addresses) != len(expected):
        sizes = f"ValID has {len(addresses)} bits, the instruction moves {len(expected)}"
        return len(expected), Counterexample({}, sizes)
    wrong = [bit for bit, (mine, isa) in enumerate(zip(addresses, expected, strict=True)) if mine != isa]
    if not wrong:
        return len(expected), None
    first = wrong[0]
    statement = f"bit {first} of the tile: ValID has {_place(addresses[first])}, the ISA {_place(expected[first])}"
    damage = (f"{len(wrong)} of {len(expected)} bits disagree",)
    return len(expected), Counterexample({"bit": first}, statement, extent="smallest", damage=damage)


def _expect(operand: isa_tables.Operand, text: str) -> Iterator[int]:
    """Yield the address of each bit: along a row of the tile the columns of the first half, then of the second."""
    rows, columns = operand.extent
    second = SECOND.search(text)
    starts = (0, int(second[1])) if second else (0,)
    for row in range(rows):
        for start in starts:
            for column in range(start, start + columns):
                begin = row * LANE + column * COLUMN
                yield from range(begin, begin + operand.bits)


def _addresses(layout: Tv) -> list[int]:
    """Return the addresses of a layout, its first mode first. Raises ValueError."""
    addresses = [0]
    for extent, stride in _modes(layout.shape, layout.stride):
        if extent * len(addresses) > MOST:
            raise ValueError(f"more than {MOST} bits")
        addresses = [stride * digit + below for digit in range(extent) for below in addresses]
    return addresses


def _modes(shape: Any, stride: Any) -> Iterator[tuple[int, int]]:
    if isinstance(shape, tuple) and isinstance(stride, tuple) and len(shape) == len(stride):
        for inner, step in zip(shape, stride, strict=True):
            yield from _modes(inner, step)
    elif isinstance(shape, int) and isinstance(stride, int):
        yield shape, stride
    else:
        raise ValueError("its shape and stride differ in profile")


def _place(address: int) -> str:
    lane, rest = divmod(address, LANE)
    return f"lane {lane}, column {rest // COLUMN}, bit {rest % COLUMN}"
