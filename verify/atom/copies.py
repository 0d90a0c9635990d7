# SPDX-License-Identifier: Apache-2.0
"""A copy atom bound to its instruction, and the checks that take its source and destination operand together."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import TypeAlias

import numpy as np

import isa_tables
from layouts import Layout, size
from layouts.atoms import Adapter, CopyAtom
from verify.atom.mnemonic import again
from verify.binding.atom import BoundAtom, NamedInstruction, bind_entry, join_views, list_instructions, look_up
from verify.binding.axes import OperandFormula
from verify.binding.bound import BoundMaps, issuers, thread_value, threads
from verify.binding.completion import moves, spaces
from verify.binding.coordinates import Memory
from verify.binding.copy import BYTE, Carried, CopyOperand, inverse
from verify.binding.operand import BoundOperand, map_layout
from verify.core.digits import every, halves, modes
from verify.core.verdict import Check, Counterexample, Evidence, finding, leave_unchecked
from verify.core.wording import owners
from verify.evidence import isa
from verify.evidence.isa import Table, computed_rows, evaluate

COPY_OPERANDS = ("Src", "Dst")
ParsedLayout: TypeAlias = "tuple[Layout | None, str]"  # and why there is none
LARGEST_SPAN = 1 << 26  # the largest distance between two bits that are named, for which a table is made
OWN_NAMES = "the atom chooses the names of its bits"
NO_ORDER = "both operands are memory under one address, for which the ISA has no order of bits"


def prepare_copy(atom: CopyAtom) -> BoundAtom:
    """Return the copy atom bound to its instructions: layouts parsed, instructions looked up."""
    parsed = {name: thread_value(text) for name, text in atom.operands.items()}
    chosen = _choose_bytes(parsed["Src"][0])
    named = tuple(look_up(mnemonic, chosen) for mnemonic in atom.mnemonics)
    return join_views([_view(atom, parsed, named, instruction) for instruction in list_instructions(named) or (None,)])


def _view(
    atom: CopyAtom,
    parsed: Mapping[str, ParsedLayout],
    named: tuple[NamedInstruction, ...],
    instruction: isa_tables.Instruction | None,
) -> BoundAtom:
    """Return the view of an atom by one instruction: numbered over its lanes, each operand with its formula."""
    parts = _list_parts(atom.operands, parsed, instruction, atom.space, atom.copies, atom.adapter)
    return bind_entry(atom, parts, named, instruction)


def bind_copy(
    name: str,
    instruction: isa_tables.Instruction,
    layouts: Mapping[str, Layout],
    space: Mapping[str, str],
    copies: Mapping[str, int],
) -> BoundMaps:
    """Return the layouts of a copy that is no atom, bound to its instruction, each of whose threads takes part."""
    thr_text = f"{issuers(instruction)}:1"
    lanes, thr, rep, thr_fault = threads(thr_text, issuers(instruction))
    parsed: dict[str, ParsedLayout] = {name: (layout, "") for name, layout in layouts.items()}
    texts = {name: str(layout) for name, layout in layouts.items()}
    parts = _list_parts(texts, parsed, instruction, space, copies, None)
    return BoundMaps(
        name=name, thr_text=thr_text, thr=thr, rep=rep, thr_fault=thr_fault, lanes=lanes, parts=tuple(parts),
        space=space, copies=copies, by=instruction,
    )  # fmt: skip


def _list_parts(
    texts: Mapping[str, str],
    parsed: Mapping[str, ParsedLayout],
    instruction: isa_tables.Instruction | None,
    space: Mapping[str, str],
    copies: Mapping[str, int],
    adapter: Adapter | None,
) -> list[BoundOperand]:
    """Return the operands of a copy, each with its layout and its formula."""
    by_operand: Mapping[str, OperandFormula] = {}
    bits = 0
    if instruction is not None:
        by_name = copy_operands(space, instruction)
        bits = max((_bits(operand) for operand in by_name.values()), default=0)
        by_operand = _formulas(
            space, adapter, instruction, by_name, {name: layout for name, (layout, _) in parsed.items()}
        )
    why = OWN_NAMES if instruction is None or _in_registers(instruction) else NO_ORDER
    why = why if instruction is None else left_open(instruction) or why
    parts = []
    for name, text in texts.items():
        layout, fault = parsed[name]
        # without a formula, an operand names its points over its copies
        named_bits = bits or (1 if layout is None else max(1, size(layout) // copies.get(name, 1)))
        formulas = (by_operand[name],) if name in by_operand else ()
        no_formula = "" if name in by_operand else why
        keys = tuple(formula.key for formula in formulas)
        points = None if layout is None else map_layout(name, layout, (named_bits, 1))
        parts.append(BoundOperand(name, text, points, fault, (named_bits, 1), formulas, no_formula, keys))
    return parts


def _choose_bytes(layout: Layout | None) -> tuple[tuple[str, int], ...]:
    """Return the selection that the mnemonic leaves to the atom: the bytes that a thread of the source has."""
    return () if layout is None or size(layout[1]) % BYTE else (("bytes", size(layout[1]) // BYTE),)


def left_open(instruction: isa_tables.Instruction) -> str:
    """Why nothing can be compared: the ISA leaves the bits open, or they depend on more selections than `bytes`."""
    unspecified = [name for name, table in instruction.operands.items() if table.unspecified]
    if unspecified:
        return f"PTX ISA {instruction.section} leaves {', '.join(unspecified)} unspecified"
    moved = [table for table in instruction.operands.values() if "row" in table.maps]
    used = {name for table in moved for name in table.uses & instruction.signature.select.keys()} - {"bytes"}
    return f"the bits that it moves depend on {', '.join(sorted(used))}, which the atom leaves open" if used else ""


def _bits(operand: CopyOperand) -> int:
    rows, products, columns = operand.extent
    return rows * products * columns * operand.bits


def _in_registers(instruction: isa_tables.Instruction) -> list[isa_tables.Operand]:
    """Return the operands in registers, in the order of the PTX text."""
    return [table for table in instruction.operands.values() if table.space == "reg"]


def copy_operands(space: Mapping[str, str], instruction: isa_tables.Instruction) -> dict[str, CopyOperand]:
    """Return the operand of the instruction for Src and for Dst: by space, or in the order of the text if both are
    registers.

    A result that is computed from what is moved (tcgen05.ld.red) is neither.
    """
    if not moves(instruction.signature) or left_open(instruction):
        return {}
    registers, operands = _in_registers(instruction), instruction.operands.values()

    def of(table: isa_tables.Operand | None, moved: isa_tables.Operand, bits: int) -> CopyOperand:
        rows, columns = moved.extent
        return CopyOperand(table, instruction, (rows, instruction.signature.products, columns), bits)

    if not registers:  # from memory to memory, by their spaces: none where a table has no map
        by_space = {table.space: table for table in operands if "row" in table.maps}
        if not all(space[name] in by_space for name in COPY_OPERANDS):
            return {}
        mapped = {name: by_space[space[name]] for name in COPY_OPERANDS}
        return {name: of(table, table, table.bits) for name, table in mapped.items()}
    if len(registers) > 1 and all(space[name] == "reg" for name in COPY_OPERANDS):
        source, destination = (of(registers[i], registers[0], registers[i].bits) for i in (1, 0))
        return {"Src": source._replace(inverse=inverse(source)), "Dst": destination}
    addressed = next((table for table in operands if table.space != "reg"), None)
    tables = {name: registers[0] if space[name] == "reg" else addressed for name in COPY_OPERANDS}
    return {name: of(table, registers[0], registers[0].bits) for name, table in tables.items()}


def _formulas(
    space: Mapping[str, str],
    adapter: Adapter | None,
    instruction: isa_tables.Instruction,
    by_name: Mapping[str, CopyOperand],
    layouts: Mapping[str, Layout | None],
) -> dict[str, OperandFormula]:
    """Return the formula of each operand, given the names that the operand in memory (or else Src) gives the bits."""
    if not by_name:
        return {}
    given = next((name for name in COPY_OPERANDS if space[name] != "reg"), "Src")
    (opposite,) = set(COPY_OPERANDS) - {given}
    names = layouts[given]
    formulas: dict[str, OperandFormula] = {}
    if names is not None and (space[given] != "reg" or by_name[given].inverse is not None):
        permuted = opposite == "Dst" and not _explain_misfit(adapter, by_name[opposite])
        formulas[opposite] = Carried(by_name[opposite], by_name[given], names, adapter if permuted else None)
    table = by_name[given].table
    if table is None:
        lanes, section = instruction.signature.lanes, instruction.section
        why = "derived: one address for all lanes"
        formulas[given] = Memory((_bits(by_name[given]), 1), space[given], lanes, section, why)
    elif table.space != "reg" and names is not None:
        formulas[given] = Carried(by_name[given], by_name[given], names, None)
    return formulas


def _explain_misfit(adapter: Adapter | None, operand: CopyOperand) -> str:
    """Why the adapter cannot be applied to the bits of a thread after the instruction; empty if it can."""
    if adapter is None or operand.per_thread % (BYTE * len(adapter.bytes)) == 0:
        return ""
    bits = f"the instruction leaves {operand.per_thread} bits in a thread"
    return f"{bits}, {adapter.name} permutes groups of {len(adapter.bytes)} bytes"


def gives_names(subject: BoundMaps, part: BoundOperand) -> bool:
    """Whether an operand gives the bits their names: Src, if both are in registers."""
    in_registers = subject.is_copy and all(subject.space[name] == "reg" for name in COPY_OPERANDS)
    has_formula = any(side.formulas for side in subject.parts if side.name == "Dst")
    return in_registers and part.name == "Src" and has_formula


def fits_copy(subject: BoundAtom, atom: CopyAtom, named: NamedInstruction) -> Evidence:
    """Return the evidence on one mnemonic: the ISA has it, with equal threads, widths and multiplicities."""
    if named.unknown:
        return leave_unchecked(Check.ISA, named.unknown)
    if named.instruction is None:
        return isa.form("looked up", named.rejected)
    faults = [*_faults(subject.seen_by(named.instruction), atom)]
    if not faults:  # or the bits are copied more than once, by this instruction or by one issued before
        times = (atom.ptx or ()).count(named.mnemonic)
        twice = f"the atom issues {named.mnemonic} {times} times, one makes the whole copy"
        faults = [twice] * (times > 1) + [*again(subject, named, lambda view: _faults(view, atom), "copy")]
    return isa.form("compared", *faults)


def _faults(subject: BoundAtom, atom: CopyAtom) -> Iterator[str]:
    instruction = subject.instruction
    if not moves(instruction.signature):
        yield f"{instruction.signature.mnemonic} multiplies matrices: it copies nothing"
        return
    yield from elsewhere(atom.space, instruction)
    if subject.threads != issuers(instruction):
        yield f"the atom has {subject.threads} threads, the instruction {issuers(instruction)}"
    for name, operand in copy_operands(atom.space, instruction).items():
        if name == "Dst" and (why := _explain_misfit(atom.adapter, operand)):
            yield why
        width = atom.bits.get(name, operand.bits)
        if width != operand.bits:
            yield f"elements of {name} have {width} bits, the instruction's {operand.bits}"
    for part in subject.parts:
        given, count = atom.copies.get(part.name, 1), subject.multiplicity(part)
        if part.formulas and given != count:
            yield f"each bit of {part.name} has {owners(given)} by the entry, in the instruction {owners(count)}"


def elsewhere(space: Mapping[str, str], instruction: isa_tables.Instruction) -> Iterator[str]:
    """Yield the fault that an operand is in another space than the instruction's."""
    offered = spaces(instruction)
    for name, right in (("Dst", offered[0]), ("Src", offered[-1])):
        if space[name] != right:
            yield f"{name} is in {space[name]}, the instruction has it in {right}"


def same_bits(subject: BoundMaps) -> Evidence:
    """Return the evidence that Src and Dst name the same bits, and that Ref is one of the two, as a function."""
    started = time.perf_counter()
    parts = {part.name: part for part in subject.parts}
    tables = {
        name: evaluate(part.layout, subject.tables) for name, part in parts.items() if part.layout is not None
    }  # Ref is one of two
    if len(tables) < len(parts):
        return leave_unchecked(Check.ISA, "a layout is not well formed")
    points = sum(table.size for table in tables.values())
    wrong = _find_unshared_bit(parts, tables)
    if wrong is None and not any(_equal(tables["Ref"], tables[name]) for name in COPY_OPERANDS):
        ref, *sides = (_values(parts[name]) for name in ("Ref", *COPY_OPERANDS))
        wrong = Counterexample({}, "Ref is neither Src nor Dst, as a function", reproduced=ref not in sides)
    return finding(Check.ISA, wrong, "exhaustive", points, "numpy", seconds=time.perf_counter() - started)


def _equal(table: Table, second: Table) -> bool:
    return table is second or np.array_equal(table, second)


def _find_unshared_bit(parts: Mapping[str, BoundOperand], tables: Mapping[str, Table]) -> Counterexample | None:
    """Return the smallest bit that one operand names and the other does not."""
    rows = {name: computed_rows(table)[0] for name, table in tables.items()}
    low, high = min(int(row.min()) for row in rows.values()), max(int(row.max()) for row in rows.values())
    if high - low > LARGEST_SPAN:
        ends = [end for name in tables for end in _ends(parts[name].layout_of_text)]
        statement, again = f"the distance of the bits named is up to {high - low}", max(ends) - min(ends) == high - low
        return Counterexample({"bits": high - low}, statement, reproduced=again)
    named = {}
    for operand in COPY_OPERANDS:
        named[operand] = np.zeros(high - low + 1, dtype=bool)
        named[operand][rows[operand].ravel() - low] = True
    if np.array_equal(named["Dst"], named["Src"]):
        return None
    for operand, opposite in (("Dst", "Src"), ("Src", "Dst")):
        alone = np.flatnonzero(named[operand] & ~named[opposite])
        if len(alone):
            first, count = int(alone[0]) + low, int(named[operand].sum())
            return Counterexample(
                {"bit": first},
                f"{operand} names bit {first}, {opposite} does not",
                damage=(f"{len(alone)} of the {count} bits of {operand} are not named by {opposite}",),
                reproduced=_names(parts[operand], first) and not _names(parts[opposite], first),
            )
    return None


def _values(part: BoundOperand) -> list[list[int]]:
    """Return what a layout gives every thread, and every value: its value at (thread, value) is the sum of the two."""
    return [every(shape, stride) for shape, stride in halves(part.layout_of_text)]


def _names(part: BoundOperand, bit: int) -> bool:
    threads, values = map(set, _values(part))
    return any(bit - thread in values for thread in threads)


def _ends(layout: Layout) -> tuple[int, int]:
    """Return the least and the largest value of a layout."""
    tops = [(extent - 1) * stride for extent, stride in modes(layout.shape, layout.stride)]
    return sum(min(top, 0) for top in tops), sum(max(top, 0) for top in tops)
