# SPDX-License-Identifier: Apache-2.0
"""A copy atom made ready for judgement, and the claims about it that neither side has alone."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

import isa_tables
from layouts import Layout, size
from layouts.atoms import CopyAtom
from verify.atom.mnemonic import again
from verify.binding.atom import BoundAtom, BoundOperand, Named, issuers, joined, known, look_up, thread_value, threads
from verify.binding.completion import moves, spaces
from verify.binding.coordinates import Formula, Memory
from verify.binding.copy import BYTE, Carried, Side, inverse
from verify.core.verdict import Check, Counterexample, Evidence, Status
from verify.evidence.isa import Table, evaluate

SIDES = ("Src", "Dst")
LARGEST_SPAN = 1 << 26  # bits between the smallest and the largest that is named, of which a table is kept
OWN_NAMES = "the names of its bits are the atom's own"
NO_ORDER = "both sides are memory under one address, for which the ISA has no order of bits"


def prepare_copy(atom: CopyAtom) -> BoundAtom:
    """Parse the atom's layouts and look up its instructions."""
    parsed = {name: thread_value(text) for name, text in atom.operands.items()}
    chosen = _chosen(parsed["Src"][0])
    named = tuple(look_up(mnemonic, chosen) for mnemonic in atom.mnemonics)
    return joined([_seen(atom, parsed, named, instruction) for instruction in known(named) or (None,)])


def _seen(
    atom: CopyAtom,
    parsed: Mapping[str, tuple[Layout | None, str]],
    named: tuple[Named, ...],
    instruction: isa_tables.Instruction | None,
) -> BoundAtom:
    """The atom as one instruction sees it: numbered over its lanes, each side with its formula."""
    lanes, thr, rep, thr_fault = threads(atom.thr, issuers(instruction) if instruction else 0)
    found: Mapping[str, Formula] = {}
    bits = 0
    if instruction is not None:
        dealt = sides(atom, instruction)
        bits = max((_bits(side) for side in dealt.values()), default=0)
        found = _formulas(atom, instruction, dealt, {name: layout for name, (layout, _) in parsed.items()})
    own = OWN_NAMES if instruction is None or _held(instruction) else NO_ORDER
    own = own if instruction is None else left_open(instruction) or own
    parts = []
    for name, text in atom.operands.items():
        layout, fault = parsed[name]
        named_bits = bits or _counted(layout, atom.copies.get(name, 1))
        formulas = (found[name],) if name in found else ()
        no_formula = "" if name in found else own
        said = tuple(formula.key for formula in formulas)
        parts.append(BoundOperand(name, text, layout, fault, (named_bits, 1), formulas, no_formula, said))
    return BoundAtom(atom, thr, rep, thr_fault, lanes, tuple(parts), named, instruction)


def _chosen(layout: Layout | None) -> tuple[tuple[str, int], ...]:
    """What the atom chooses where the mnemonic leaves it open: the bytes that a thread of the source has."""
    return () if layout is None or size(layout[1]) % BYTE else (("bytes", size(layout[1]) // BYTE),)


def left_open(instruction: isa_tables.Instruction) -> str:
    """Why nothing can be compared: the ISA leaves the bits open, or they depend on what is selected beyond `bytes`."""
    unspecified = [name for name, table in instruction.operands.items() if table.unspecified]
    if unspecified:
        return f"PTX ISA {instruction.section} leaves {', '.join(unspecified)} unspecified"
    moved = [table for table in instruction.operands.values() if "row" in table.maps]
    used = {name for table in moved for name in table.uses & instruction.signature.select.keys()} - {"bytes"}
    return f"the bits that it moves depend on {', '.join(sorted(used))}, which the atom leaves open" if used else ""


def _counted(layout: Layout | None, copies: int) -> int:
    """How many bits a side names, where the book does not say: as many as it has points, over the copies."""
    return 1 if layout is None else max(1, size(layout) // copies)


def _bits(side: Side) -> int:
    rows, products, columns = side.extent
    return rows * products * columns * side.bits


def _held(instruction: isa_tables.Instruction) -> list[isa_tables.Operand]:
    """The operands in registers, in the order of the text."""
    return [table for table in instruction.operands.values() if table.space == "reg"]


def sides(atom: CopyAtom, instruction: isa_tables.Instruction) -> dict[str, Side]:
    """The book's operand for each side: registers and addresses by their space, two registers in the text's order.

    A result that is computed from what is moved (tcgen05.ld.red) is no side.
    """
    if not moves(instruction.signature) or left_open(instruction):
        return {}
    held = _held(instruction)
    addressed = next((table for table in instruction.operands.values() if table.space != "reg"), None)
    if not held:
        return _in_memory(atom, instruction)
    rows, columns = held[0].extent
    extent = rows, instruction.signature.products, columns
    if len(held) > 1 and all(atom.space[name] == "reg" for name in SIDES):
        source, destination = (Side(table, instruction, extent, table.bits) for table in (held[1], held[0]))
        return {"Src": replace(source, inverse=inverse(source)), "Dst": destination}
    return {
        name: Side(held[0] if atom.space[name] == "reg" else addressed, instruction, extent, held[0].bits)
        for name in SIDES
    }


def _in_memory(atom: CopyAtom, instruction: isa_tables.Instruction) -> dict[str, Side]:
    """The operands of a copy from memory to memory, told apart by their spaces; none where nothing is dealt out."""
    dealt = {table.space: table for table in instruction.operands.values() if "row" in table.maps}
    if not all(atom.space[name] in dealt for name in SIDES):
        return {}
    found = {}
    for name in SIDES:
        table = dealt[atom.space[name]]
        rows, columns = table.extent
        found[name] = Side(table, instruction, (rows, instruction.signature.products, columns), table.bits)
    return found


def _formulas(
    atom: CopyAtom,
    instruction: isa_tables.Instruction,
    dealt: Mapping[str, Side],
    layouts: Mapping[str, Layout | None],
) -> dict[str, Formula]:
    """What each side has to equal, given what the side in memory (or else the source) calls its bits."""
    if not dealt:
        return {}
    given = next((name for name in SIDES if atom.space[name] != "reg"), "Src")
    (other,) = set(SIDES) - {given}
    names = layouts[given]
    found: dict[str, Formula] = {}
    if names is not None and (atom.space[given] != "reg" or dealt[given].inverse is not None):
        adapter = atom.adapter if other == "Dst" and not _unpacked(atom, dealt[other]) else None
        found[other] = Carried(dealt[other], dealt[given], names, adapter)
    table = dealt[given].table
    if table is None:
        lanes, section = instruction.signature.lanes, instruction.section
        why = "derived: one address for all lanes"
        found[given] = Memory((_bits(dealt[given]), 1), atom.space[given], lanes, section, why)
    elif table.space != "reg" and names is not None:
        found[given] = Carried(dealt[given], dealt[given], names, None)
    return found


def _unpacked(atom: CopyAtom, side: Side) -> str:
    """Why the adapter cannot be applied to what the instruction leaves in a thread; empty where it can."""
    if atom.adapter is None or side.per_thread % (BYTE * len(atom.adapter.bytes)) == 0:
        return ""
    held = f"the instruction leaves {side.per_thread} bits in a thread"
    return f"{held}, {atom.adapter.name} permutes groups of {len(atom.adapter.bytes)} bytes"


def gives_names(subject: BoundAtom, part: BoundOperand) -> bool:
    """Whether a side gives the bits the names that the other has to use: Src, where both are in registers."""
    in_registers = isinstance(subject.atom, CopyAtom) and all(subject.atom.space[name] == "reg" for name in SIDES)
    told = any(other.formulas for other in subject.parts if other.name == "Dst")
    return in_registers and part.name == "Src" and told


def fits_copy(subject: BoundAtom, atom: CopyAtom, named: Named) -> Evidence:
    """The book's evidence on one mnemonic: known to the ISA, as many threads, widths and multiplicities."""
    if named.unknown:
        return Evidence(Check.ISA, Status.UNCHECKED, "", reason=named.unknown)
    if named.instruction is None:
        faults, method = [named.refused], "looked up"
    else:
        faults = [*_faults(subject.seen_by(named.instruction), atom)] or [*_again(subject, atom, named)]
        method = "compared"
    if not faults:
        return Evidence(Check.ISA, Status.PROVED, method, 1)
    wrong = Counterexample({}, faults[0], damage=tuple(faults[1:]))
    return Evidence(Check.ISA, Status.REFUTED, method, 1, counterexample=wrong)


def _again(subject: BoundAtom, atom: CopyAtom, named: Named) -> Iterator[str]:
    """That the bits are copied more than once: by what is issued before, or by as much as one instruction."""
    times = (atom.ptx or ()).count(named.mnemonic)
    if times > 1:
        yield f"the atom issues {named.mnemonic} {times} times, one makes the whole copy"
    yield from again(subject, named, lambda view: _faults(view, atom), "copy")


def _faults(subject: BoundAtom, atom: CopyAtom) -> Iterator[str]:
    instruction = subject.instruction
    if not moves(instruction.signature):
        yield f"{instruction.signature.mnemonic} multiplies matrices: it copies nothing"
        return
    yield from elsewhere(atom, instruction)
    if subject.threads != issuers(instruction):
        yield f"the atom has {subject.threads} threads, the instruction {issuers(instruction)}"
    for name, side in sides(atom, instruction).items():
        if name == "Dst" and (why := _unpacked(atom, side)):
            yield why
        width = atom.bits.get(name, side.bits)
        if width != side.bits:
            yield f"elements of {name} have {width} bits, the instruction's {side.bits}"
    for part in subject.parts:
        held = subject.multiplicity(part)
        if part.formulas and atom.copies.get(part.name, 1) != held:
            stated = atom.copies.get(part.name, 1)
            yield f"each bit of {part.name} is said to be held {stated} times, the instruction holds it {held} times"


def elsewhere(atom: CopyAtom, instruction: isa_tables.Instruction) -> Iterator[str]:
    """A side in another space than the instruction's."""
    told = spaces(instruction)
    for name, space in (("Dst", told[0]), ("Src", told[-1])):
        if atom.space[name] != space:
            yield f"{name} is in {atom.space[name]}, the instruction has it in {space}"


def same_bits(subject: BoundAtom) -> Evidence:
    """Whether both sides name the same bits, and the reference is one of them, as a function."""
    started = time.perf_counter()
    parts = {part.name: part for part in subject.parts}
    tables = {name: evaluate(part.layout) for name, part in parts.items() if part.layout is not None}
    if len(tables) < len(parts):
        return Evidence(Check.ISA, Status.UNCHECKED, "", reason="a layout is not well formed")
    points = sum(table.size for table in tables.values())
    wrong = _unshared(tables)
    if wrong is None and not any(np.array_equal(tables["Ref"], tables[name]) for name in SIDES):
        wrong = Counterexample({}, "Ref is neither Src nor Dst, as a function")
    status = Status.PROVED if wrong is None else Status.REFUTED
    seconds = time.perf_counter() - started
    return Evidence(Check.ISA, status, "exhaustive", points, "numpy", seconds=seconds, counterexample=wrong)


def _unshared(tables: Mapping[str, Table]) -> Counterexample | None:
    """The smallest bit that one side names and the other does not."""
    low = min(int(table.min()) for table in tables.values())
    high = max(int(table.max()) for table in tables.values())
    if high - low > LARGEST_SPAN:
        return Counterexample({"bits": high - low}, f"the bits named lie {high - low} apart")
    named = {}
    for side in SIDES:
        named[side] = np.zeros(high - low + 1, dtype=bool)
        named[side][tables[side] - low] = True
    for side, other in (("Dst", "Src"), ("Src", "Dst")):
        alone = np.flatnonzero(named[side] & ~named[other])
        if len(alone):
            first, count = int(alone[0]) + low, int(named[side].sum())
            damage = (f"{len(alone)} of the {count} bits of {side} are not named by {other}",)
            return Counterexample({"bit": first}, f"{side} names bit {first}, {other} does not", damage=damage)
    return None
