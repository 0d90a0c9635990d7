# SPDX-License-Identifier: Apache-2.0
"""What a tiling costs a thread: registers and instructions, each counted twice, on the fragments and on the tile."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, prod

from isa_tables.schema import WIDTH
from layouts import Layout, size
from layouts.tensor import Tensor
from verify.binding.atom import FRAGMENTS
from verify.core.verdict import Claim, Counterexample, Evidence, Status, Verdict, Witness, join
from verify.tiling import gemm
from verify.tiling.bind import Dealt, Tiling, TilingKind

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


def judge(tiling: Tiling) -> Iterator[Verdict]:
    """The verdicts on both counts."""
    yield _registers(tiling)
    yield _calls(tiling)


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


def _registers(tiling: Tiling) -> Verdict:
    found = [(counted(tiling, dealt), shared_out(tiling, dealt)) for dealt in tiling.dealt]
    held = [first for first, _ in found if first is not None]
    total = sum(one.registers for one in held)
    memory = [dealt.name for dealt in tiling.dealt if _space(tiling, dealt) != "reg"]
    words = f"registers of a thread: {', '.join([*map(str, held), f'{total} of {REGISTERS}'])}"
    words += ", they spill" if total > REGISTERS else ""
    words += "".join(f"; {name} in {tiling.subject.mma.space[name]}" for name in memory)
    claim = Claim(tiling.name, "", TilingKind.REGISTERS, words)
    differ = [(first, second) for first, second in found if first is not None and first != second]
    faults = [f"fragments: {first}; all elements over all threads: {second}" for first, second in differ]
    return join(claim, [_agree(faults)])


def _calls(tiling: Tiling) -> Verdict:
    """Instructions of one atom for one tile: its repeats along M, N, K; and the tile's volume over the atoms'."""
    by = {dealt.like: dealt.repeats(tiling.tile) for dealt in tiling.dealt}
    m, k = by["A"]
    n = by["B"][0]
    calls = m * n * k
    volume = prod(tiling.tile) // (prod(tiling.subject.mma.shape) * prod(tiling.atoms))
    each = "each atom" if prod(tiling.atoms) > 1 else "the atom"
    shape = "x".join(map(str, tiling.tile))
    words = f"{calls} MMA of {each} for {shape}: {m} x {n} x {k} along M, N, K"
    claim = Claim(tiling.name, "", TilingKind.CALLS, words)
    parts = [part for part in (_shape(tiling, dealt) for dealt in tiling.dealt) if part]
    faults = [f"repeats: {calls}; volume: {volume}"] if calls != volume else []
    return join(claim, [_agree(faults + parts)])


def _shape(tiling: Tiling, dealt: Dealt) -> str:
    """What is wrong with the shape (frg, restX, restY) of a partition; empty where nothing is."""
    part = dealt.partition(_first(tiling), Tensor(None, Layout(dealt.extent(tiling.tile))))
    sizes = tuple(size(mode) for mode in part.layout)
    wanted = (dealt.part.values, *dealt.repeats(tiling.tile))
    return "" if sizes == wanted else f"partition_{dealt.name} has modes of {sizes}, {wanted} wanted"


def _agree(faults: list[str]) -> Evidence:
    wrong = Counterexample({}, faults[0], damage=tuple(faults[1:])) if faults else None
    status = Status.REFUTED if faults else Status.PROVED
    return Evidence(Witness.BOOK, status, "counted twice", 2, counterexample=wrong)


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
