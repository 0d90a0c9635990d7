# SPDX-License-Identifier: Apache-2.0
"""Short names of instructions: `mma.m16n8k16` stands for each mnemonic that has its words in their order.

A map is compared with operands, and most instructions of a shape distribute an operand alike. So a short name is an
answer where all that it may mean have one map for the operands asked for, and the report names them. Else it is an
error, which lists a mnemonic for each map, those with f32 accumulators first.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import lru_cache

import isa_tables
from verify.core.errors import SpecError
from verify.maps.fragment_map import FragmentMap
from verify.maps.map import MapError, grid

Find = Callable[[str], isa_tables.Instruction]
SHOWN = 8  # mnemonics in a message


def expand(name: str) -> tuple[str, ...]:
    """Return the mnemonics that a short name may mean, f32 first; of a mnemonic itself, in any order of words, none."""
    try:
        isa_tables.instruction(name)
    except isa_tables.IsaError:
        return _expand(name)
    return ()


@lru_cache(maxsize=256)
def _expand(name: str) -> tuple[str, ...]:
    return tuple(isa_tables.expand(name))


def find_instruction(
    key: str, name: str, operands: Collection[str], find: Find, widths: bool = False
) -> isa_tables.Instruction:
    """Return the instruction of a mnemonic or of a short name; `find` is given a mnemonic.

    With `widths`, operands whose elements have different bits differ.

    Raises SpecError under the key if the short name means instructions that differ in one of the operands, and what
    `find` raises if the ISA has none.
    """
    meant = expand(name)
    if not meant:
        return find(name)
    groups: dict[object, list[str]] = {}
    points: dict[object, object] = {}  # of maps that are written alike
    for mnemonic in meant:
        instruction = find(mnemonic)
        wanted = [operand for name in operands or instruction.operands if (operand := instruction.operands.get(name))]
        maps = tuple(
            points.setdefault(key, _points(operand) or key) for operand in wanted for key in [_key_of(operand)]
        )
        maps = (*maps, *(operand.bits for operand in wanted if widths))
        groups.setdefault(maps, []).append(mnemonic)
    if len(groups) > 1:
        listed = [f"{first}{f' ({len(rest)} more alike)' if rest else ''}" for first, *rest in groups.values()]
        more = f", and {len(listed) - SHOWN} more" if len(listed) > SHOWN else ""
        of = f"{' and '.join(operands)} of {name}" if operands else name
        raise SpecError(key, f"{of} may be {len(groups)} maps, give one: {', '.join(listed[:SHOWN])}{more}")
    return find(meant[0])


def _key_of(operand: isa_tables.Operand) -> object:
    """Return all that the map of an operand depends on, as the tables write it."""
    texts = tuple(sorted((name, formula.text) for name, formula in {**operand.let, **operand.maps}.items()))
    used = tuple(sorted((name, value) for name, value in operand.param.items() if name in operand.uses))
    place = (operand.space, operand.placed, operand.layouts, operand.majors, operand.unspecified)
    bits = 0 if operand.space == "reg" else operand.bits
    return (*place, bits, operand.lanes, operand.values, tuple(operand.axes), tuple(operand.extent), texts, used)


def _points(operand: isa_tables.Operand) -> object:
    """Return the map of an operand in registers, point by point; None for another."""
    if operand.space != "reg" or operand.placed or operand.unspecified:
        return None
    with suppress(isa_tables.IsaError, MapError):
        m = FragmentMap.from_operand(operand)
        return (m.inputs, m.outputs, tuple(m.images[point] for point in grid(m.inputs)))
    return None


def describe(name: str, operands: Sequence[str]) -> str:
    """Return a note that says what a short name means; empty for a mnemonic.

    >>> describe("mma.m16n8k8.f32.f16", ["C"])
    'mma.m16n8k8.f32.f16 is mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32'
    """
    meant = expand(name)
    if not meant:
        return ""
    first, *rest = meant
    if not rest:
        return f"{name} is {first}"
    listed = f"{', '.join(rest[:SHOWN])}{f' and {len(rest) - SHOWN} more' if len(rest) > SHOWN else ''}"
    return f"{name} is {first}; {' and '.join(operands)} has the same map in {listed}"
