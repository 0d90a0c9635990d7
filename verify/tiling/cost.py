# SPDX-License-Identifier: Apache-2.0
"""The cost of a tiling for a thread: registers and instructions, counted on the fragments and again on the tile."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, prod

from isa_tables.schema import WIDTH
from layouts import Layout, size
from layouts.tensor import Tensor
from verify.binding.atom import FRAGMENTS
from verify.core.verdict import Check, Counterexample, Evidence, Statement, Status
from verify.tiling import gemm
from verify.tiling.bind import TiledOperand, Tiling

REGISTERS = 255  # of a thread at most


@dataclass(frozen=True, slots=True)
class Fragment:
    """A thread's fragment of one operand: values of so many bits, in so many registers of 32 bits."""

    operand: str
    values: int
    bits: int
    registers: int

    def __str__(self) -> str:
        return f"{self.operand} {self.registers} ({self.values} x {self.bits} bits)"


def counted(tiling: Tiling, tiled: TiledOperand) -> Fragment | None:
    """A thread's fragment, by the size of its partition's shape. None where the operand is in memory."""
    if _space(tiling, tiled) != "reg":
        return None
    bits = _bits(tiling, tiled)
    part = tiled.partition(_first(tiling), Tensor(None, Layout(tiled.extent(tiling.tile))))
    return Fragment(tiled.name, size(part.layout), bits, ceil(size(part.layout) * bits / 32))


def divided(tiling: Tiling, tiled: TiledOperand) -> Fragment:
    """The fragment by another count: all elements times their owners over the threads; registers by the ISA tables."""
    values = prod(tiled.extent(tiling.tile)) * tiled.owners // tiling.threads
    bits = _bits(tiling, tiled)
    registers = ceil(values * bits / 32)
    if tiling.subject.by is not None:
        fragments = tiling.subject.by.signature.operands
        name = next((f for f in FRAGMENTS.get(tiled.name, (tiled.name,)) if f in fragments), "")
        if name and tiled.part.values == fragments[name].values:
            wide = 2 if fragments[name].reg_type.endswith("64") else 1
            registers = fragments[name].regs * wide * prod(tiled.repeats(tiling.tile))
    return Fragment(tiled.name, values, bits, registers)


def _counts(tiling: Tiling) -> list[tuple[Fragment, Fragment]]:
    """Both counts for every operand in registers."""
    both = [(counted(tiling, tiled), divided(tiling, tiled)) for tiled in tiling.operands]
    return [(first, second) for first, second in both if first is not None]


def registers(tiling: Tiling, _: None) -> Statement:
    """The claim on the registers of a thread."""
    fragments = [first for first, _ in _counts(tiling)]
    total = sum(one.registers for one in fragments)
    memory = [tiled.name for tiled in tiling.operands if _space(tiling, tiled) != "reg"]
    words = f"registers of a thread: {', '.join([*map(str, fragments), f'{total} of {REGISTERS}'])}"
    words += ", they spill" if total > REGISTERS else ""
    return Statement("", words + "".join(f"; {name} in {tiling.subject.mma.space[name]}" for name in memory))


def count_registers(run: object, tiling: Tiling, _: None) -> list[Evidence]:
    """Evidence that both counts of registers agree."""
    differ = [(first, second) for first, second in _counts(tiling) if first != second]
    return _agree([f"fragments: {first}; all elements over all threads: {second}" for first, second in differ])


def _issued(tiling: Tiling) -> tuple[int, int, int]:
    """The repeats of one atom along M, N, K."""
    by = {tiled.like: tiled.repeats(tiling.tile) for tiled in tiling.operands}
    m, k = by["A"]
    return m, by["B"][0], k


def calls(tiling: Tiling, _: None) -> Statement:
    """The claim on the number of instructions that one atom issues for a tile."""
    each = "each atom" if prod(tiling.atoms) > 1 else "the atom"
    m, n, k = _issued(tiling)
    shape = "x".join(map(str, tiling.tile))
    return Statement("", f"{m * n * k} MMA of {each} for {shape}: {m} x {n} x {k} along M, N, K")


def count_calls(run: object, tiling: Tiling, _: None) -> list[Evidence]:
    """Evidence that the repeats along M, N, K equal the tile's volume over the atoms', and partitions have them."""
    calls = prod(_issued(tiling))
    volume = prod(tiling.tile) // (prod(tiling.subject.mma.shape) * prod(tiling.atoms))
    parts = [part for part in (_shape(tiling, tiled) for tiled in tiling.operands) if part]
    return _agree(([f"repeats: {calls}; volume: {volume}"] if calls != volume else []) + parts)


def _shape(tiling: Tiling, tiled: TiledOperand) -> str:
    """The fault in the shape (frg, restX, restY) of a partition; empty where there is none."""
    part = tiled.partition(_first(tiling), Tensor(None, Layout(tiled.extent(tiling.tile))))
    sizes = tuple(size(mode) for mode in part.layout)
    wanted = (tiled.part.values, *tiled.repeats(tiling.tile))
    return "" if sizes == wanted else f"partition_{tiled.name} has modes of {sizes}, expected {wanted}"


def _agree(faults: list[str]) -> list[Evidence]:
    wrong = Counterexample({}, faults[0], damage=tuple(faults[1:])) if faults else None
    status = Status.REFUTED if faults else Status.PROVED
    return [Evidence(Check.ISA, status, "counted twice", 2, counterexample=wrong)]


def _first(tiling: Tiling) -> int:
    return gemm.threads(tiling)[0]


def _space(tiling: Tiling, tiled: TiledOperand) -> str:
    return tiling.subject.mma.space.get(tiled.name, "reg")


def _bits(tiling: Tiling, tiled: TiledOperand) -> int:
    """Register bits of an element: as the instruction packs it, else its type's width."""
    atom = tiling.subject.mma
    fragments = {} if tiling.subject.by is None else tiling.subject.by.signature.operands
    for fragment in FRAGMENTS.get(tiled.name, (tiled.name,)):
        if fragment in fragments:
            return fragments[fragment].bits
    element = atom.element.get(tiled.name, "")
    count, _, element_type = element.partition("x")
    element_type = element_type or atom.types.get(tiled.name, "b32")
    return WIDTH.get(element_type, 32) * int(count or 1)
