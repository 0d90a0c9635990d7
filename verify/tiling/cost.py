# SPDX-License-Identifier: Apache-2.0
"""What a tiling costs a thread: registers and instructions, each counted twice, on the fragments and on the tile."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, prod

from isa_tables.schema import WIDTH
from layouts import Layout, size
from layouts.tensor import Tensor
from verify.binding.atom import FRAGMENTS
from verify.core.verdict import Check, Counterexample, Evidence, Stated, Status
from verify.tiling import gemm
from verify.tiling.bind import Dealt, Tiling

REGISTERS = 255  # that a thread can have


@dataclass(frozen=True, slots=True)
class Held:
    """What a thread holds of one operand: values of so many bits, in so many registers of 32 bits."""

    operand: str
    values: int
    bits: int
    registers: int

    def __str__(self) -> str:
        return f"{self.operand} {self.registers} ({self.values} x {self.bits} bits)"


def counted(tiling: Tiling, dealt: Dealt) -> Held | None:
    """What a thread's fragment holds: the size of its partition's shape. None where the operand is in memory."""
    if _space(tiling, dealt) != "reg":
        return None
    bits = _bits(tiling, dealt)
    part = dealt.partition(_first(tiling), Tensor(None, Layout(dealt.extent(tiling.tile))))
    return Held(dealt.name, size(part.layout), bits, ceil(size(part.layout) * bits / 32))


def shared_out(tiling: Tiling, dealt: Dealt) -> Held:
    """The same by another count: all elements, as often as they are held, over the threads; by the book's registers."""
    values = prod(dealt.extent(tiling.tile)) * dealt.held // tiling.threads
    bits = _bits(tiling, dealt)
    registers = ceil(values * bits / 32)
    if tiling.subject.by is not None:
        fragments = tiling.subject.by.signature.operands
        name = next((f for f in FRAGMENTS.get(dealt.name, (dealt.name,)) if f in fragments), "")
        if name and dealt.part.values == fragments[name].values:
            wide = 2 if fragments[name].reg_type.endswith("64") else 1
            registers = fragments[name].regs * wide * prod(dealt.repeats(tiling.tile))
    return Held(dealt.name, values, bits, registers)


def _found(tiling: Tiling) -> list[tuple[Held, Held]]:
    """Both counts of every operand in registers."""
    both = [(counted(tiling, dealt), shared_out(tiling, dealt)) for dealt in tiling.dealt]
    return [(first, second) for first, second in both if first is not None]


def registers(tiling: Tiling, _: None) -> Stated:
    """What a thread needs of registers."""
    held = [first for first, _ in _found(tiling)]
    total = sum(one.registers for one in held)
    memory = [dealt.name for dealt in tiling.dealt if _space(tiling, dealt) != "reg"]
    words = f"registers of a thread: {', '.join([*map(str, held), f'{total} of {REGISTERS}'])}"
    words += ", they spill" if total > REGISTERS else ""
    return Stated("", words + "".join(f"; {name} in {tiling.subject.mma.space[name]}" for name in memory))


def count_registers(run: object, tiling: Tiling, _: None) -> list[Evidence]:
    """That both counts of registers agree."""
    differ = [(first, second) for first, second in _found(tiling) if first != second]
    return _agree([f"fragments: {first}; all elements over all threads: {second}" for first, second in differ])


def _issued(tiling: Tiling) -> tuple[int, int, int]:
    """The repeats of one atom along M, N, K."""
    by = {dealt.like: dealt.repeats(tiling.tile) for dealt in tiling.dealt}
    m, k = by["A"]
    return m, by["B"][0], k


def calls(tiling: Tiling, _: None) -> Stated:
    """How many instructions of one atom make one tile."""
    each = "each atom" if prod(tiling.atoms) > 1 else "the atom"
    m, n, k = _issued(tiling)
    shape = "x".join(map(str, tiling.tile))
    return Stated("", f"{m * n * k} MMA of {each} for {shape}: {m} x {n} x {k} along M, N, K")


def count_calls(run: object, tiling: Tiling, _: None) -> list[Evidence]:
    """Repeats along M, N, K against the tile's volume over the atoms', and the shapes of partitions."""
    calls = prod(_issued(tiling))
    volume = prod(tiling.tile) // (prod(tiling.subject.mma.shape) * prod(tiling.atoms))
    parts = [part for part in (_shape(tiling, dealt) for dealt in tiling.dealt) if part]
    return _agree(([f"repeats: {calls}; volume: {volume}"] if calls != volume else []) + parts)


def _shape(tiling: Tiling, dealt: Dealt) -> str:
    """What is wrong with the shape (frg, restX, restY) of a partition; empty where nothing is."""
    part = dealt.partition(_first(tiling), Tensor(None, Layout(dealt.extent(tiling.tile))))
    sizes = tuple(size(mode) for mode in part.layout)
    wanted = (dealt.part.values, *dealt.repeats(tiling.tile))
    return "" if sizes == wanted else f"partition_{dealt.name} has modes of {sizes}, {wanted} wanted"


def _agree(faults: list[str]) -> list[Evidence]:
    wrong = Counterexample({}, faults[0], damage=tuple(faults[1:])) if faults else None
    status = Status.REFUTED if faults else Status.PROVED
    return [Evidence(Check.ISA, status, "counted twice", 2, counterexample=wrong)]


def _first(tiling: Tiling) -> int:
    return gemm.threads(tiling)[0]


def _space(tiling: Tiling, dealt: Dealt) -> str:
    return tiling.subject.mma.space.get(dealt.name, "reg")


def _bits(tiling: Tiling, dealt: Dealt) -> int:
    """Bits of register that an element takes: as the instruction packs it, else its type's width."""
    atom = tiling.subject.mma
    fragments = {} if tiling.subject.by is None else tiling.subject.by.signature.operands
    for fragment in FRAGMENTS.get(dealt.name, (dealt.name,)):
        if fragment in fragments:
            return fragments[fragment].bits
    element = atom.element.get(dealt.name, "")
    count, _, kind = element.partition("x")
    kind = kind or atom.types.get(dealt.name, "b32")
    return WIDTH.get(kind, 32) * int(count or 1)
