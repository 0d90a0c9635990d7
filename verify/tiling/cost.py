# SPDX-License-Identifier: Apache-2.0
"""The cost of a tiling for a thread: registers and instructions, counted on the fragments and again on the tile."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, prod
from typing import NamedTuple

import isa_tables
from isa_tables.schema import WIDTH
from layouts import ComposedLayout, Layout, size
from layouts.tensor import Tensor
from verify.binding.completion import fragment_of
from verify.core.verdict import Evidence, Statement
from verify.evidence import isa
from verify.tiling import gemm
from verify.tiling.bind import TiledOperand, Tiling

REGISTERS = 255  # of a thread at most: CUDA C++ Programming Guide, technical specifications


class RegisterFragment(NamedTuple):
    """A thread's fragment of one operand: values of so many bits, in so many registers of 32 bits."""

    operand: str
    values: int
    bits: int
    registers: int

    def __str__(self) -> str:
        return f"{self.operand} {self.registers} ({self.values} x {self.bits} bits)"


def counts(tiling: Tiling) -> Iterator[tuple[RegisterFragment, RegisterFragment]]:
    """Yield a thread's fragment of each operand in registers, counted twice.

    First by the size of its partition's shape; then as all elements times their owners over the threads, in registers
    by the ISA tables.
    """
    for tiled in tiling.operands:
        if _space(tiling, tiled) != "reg":
            continue
        bits, values = _bits(tiling, tiled), size(_partition(tiling, tiled))
        first = RegisterFragment(tiled.name, values, bits, ceil(values * bits / 32))
        values = prod(tiled.extent(tiling.tile)) * tiled.owners // tiling.threads
        registers = ceil(values * bits / 32)
        fragment = _fragment(tiling, tiled)
        if fragment is not None and tiled.part.values == fragment.values:
            wide = 2 if fragment.reg_type.endswith("64") else 1
            registers = fragment.regs * wide * prod(tiled.repeats(tiling.tile))
        yield first, RegisterFragment(tiled.name, values, bits, registers)


def registers(tiling: Tiling, _: None) -> Statement:
    """Return the claim on the registers of a thread."""
    fragments = [first for first, _ in counts(tiling)]
    total = sum(fragment.registers for fragment in fragments)
    memory = [tiled.name for tiled in tiling.operands if _space(tiling, tiled) != "reg"]
    words = f"registers of a thread: {', '.join([*map(str, fragments), f'{total} of {REGISTERS}'])}"
    words += ", they spill" if total > REGISTERS else ""
    return Statement("", words + "".join(f"; {name} in {tiling.subject.mma.space[name]}" for name in memory))


def count_registers(run: object, tiling: Tiling, _: None) -> list[Evidence]:
    """Evidence that both counts of registers agree."""
    both = "fragments: {}; all elements over all threads: {}"
    faults = [both.format(first, second) for first, second in counts(tiling) if first != second]
    return [isa.form("counted twice", *faults, points=2)]


def _count_issued(tiling: Tiling) -> tuple[int, int, int]:
    """Return the repeats of one atom along M, N, K."""
    by = {tiled.like: tiled.repeats(tiling.tile) for tiled in tiling.operands}
    m, k = by["A"]
    return m, by["B"][0], k


def calls(tiling: Tiling, _: None) -> Statement:
    """Return the claim on the number of instructions that one atom issues for a tile."""
    each = "each atom" if prod(tiling.atoms) > 1 else "the atom"
    m, n, k = _count_issued(tiling)
    shape = "x".join(map(str, tiling.tile))
    return Statement("", f"{m * n * k} MMA of {each} for {shape}: {m} x {n} x {k} along M, N, K")


def count_calls(run: object, tiling: Tiling, _: None) -> list[Evidence]:
    """Evidence that the repeats along M, N, K equal the tile's volume over the atoms', and partitions have them."""
    calls = prod(_count_issued(tiling))
    volume = prod(tiling.tile) // (prod(tiling.subject.mma.shape) * prod(tiling.atoms))
    faults = [f"repeats: {calls}; volume: {volume}"] if calls != volume else []
    for tiled in tiling.operands:
        sizes = tuple(size(mode) for mode in _partition(tiling, tiled))
        wanted = (tiled.part.values, *tiled.repeats(tiling.tile))
        if sizes != wanted:
            faults.append(f"partition_{tiled.name} has modes of {sizes}, expected {wanted}")
    return [isa.form("counted twice", *faults, points=2)]


def _partition(tiling: Tiling, tiled: TiledOperand) -> Layout | ComposedLayout:
    """Return the layout (frg, restX, restY) of the first thread's partition."""
    tile = Tensor(None, Layout(tiled.extent(tiling.tile)))
    return tiled.partition(gemm.threads(tiling)[0], tile).layout


def _space(tiling: Tiling, tiled: TiledOperand) -> str:
    return tiling.subject.mma.space.get(tiled.name, "reg")


def _bits(tiling: Tiling, tiled: TiledOperand) -> int:
    """Register bits of an element: as the instruction packs it, else its type's width."""
    if fragment := _fragment(tiling, tiled):
        return fragment.bits
    atom = tiling.subject.mma
    count, _, element_type = atom.element.get(tiled.name, "").partition("x")
    return WIDTH.get(element_type or atom.types.get(tiled.name, "b32"), 32) * int(count or 1)


def _fragment(tiling: Tiling, tiled: TiledOperand) -> isa_tables.Fragment | None:
    """Return what one lane holds of an operand by the ISA tables; None where they do not have it."""
    return None if tiling.subject.by is None else fragment_of(tiling.subject.by.signature, tiled.name)
