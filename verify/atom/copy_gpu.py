# SPDX-License-Identifier: Apache-2.0
"""The check `gpu` of copies: what a GPU did with a matrix move, compared with the bits that a copy atom names.

A recording maps every byte of a register to a byte of the other operand: of the row whose address a lane gave, or of a
lane's source register. The atom names the bits of both operands, so the names must be equal bit by bit, with no
relabelling. Names are computed in plain integers, never through `Layout.__call__`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import gpu_checks
from layouts.atoms import Adapter
from verify.atom.copies import elsewhere
from verify.binding.bound import BoundMaps
from verify.core.digits import lane_of, walks
from verify.core.verdict import Check, Counterexample, Evidence, Status, finding, leave_unchecked
from verify.evidence.gpu import Lookup, MissingRecording
from verify.evidence.recorded import place, source

BYTE = 8  # bits
Rows = Sequence[Sequence[int]]  # [lane][bit] -> name of the bit
Finding = tuple[int, Counterexample | None]  # bits compared, what is wrong


def compare_moves(subject: BoundMaps, lookup: Lookup) -> list[Evidence]:
    """One piece of evidence for each recording of the atom's instruction."""
    moves = lookup.moves(subject.instruction.signature)
    if isinstance(moves, MissingRecording):
        return [leave_unchecked(Check.GPU, moves.reason, moves.applies)]
    if fault := next(elsewhere(subject.space, subject.instruction), ""):
        return [leave_unchecked(Check.GPU, fault)]
    return [_evidence(subject, move) for move in moves]


def _evidence(subject: BoundMaps, move: gpu_checks.Move) -> Evidence:
    started = time.perf_counter()
    if not move.sound:
        return leave_unchecked(Check.GPU, f"the {source(move)} is not sound: {'; '.join(move.exceptions)}")
    operands = {part.name: _by_lane(subject, part.name) for part in subject.parts if part.name in ("Src", "Dst")}
    fault = next((rows for rows in operands.values() if isinstance(rows, str)), "")
    if fault:
        return leave_unchecked(Check.GPU, fault)
    registers, opposite = ("Src", "Dst") if subject.space["Dst"] != "reg" else ("Dst", "Src")
    tables = {name: rows for name, rows in operands.items() if not isinstance(rows, str)}
    adapter = subject.adapter if registers == "Dst" else None
    points, wrong = _compare((registers, tables[registers]), (opposite, tables[opposite]), move, adapter)
    seconds = time.perf_counter() - started
    evidence = finding(Check.GPU, wrong, source(move), points, "gpu_checks", Status.AGREES, seconds)
    return evidence._replace(recording=place(move))


def _by_lane(subject: BoundMaps, operand: str) -> Rows | str:
    """Return the name of each bit of each lane in one operand, or why there is none."""
    part = next(part for part in subject.parts if part.name == operand)
    if part.layout is None or subject.thr is None:
        return f"{operand} is not well formed" if part.layout is None else subject.thr_fault
    rows = walks(part.layout)
    if len(rows) != subject.lanes or subject.rep_size != 1:
        return f"{operand} names the bits of {len(rows)} threads, there are {subject.lanes} lanes"
    named: list[list[int]] = [[]] * subject.lanes
    for thread, row in enumerate(rows):
        named[lane_of(subject.thr, thread)] = row
    return named


def _compare(
    registers: tuple[str, Rows], opposite: tuple[str, Rows], move: gpu_checks.Move, adapter: Adapter | None
) -> Finding:
    """Return the first byte of a register whose bits have other names in the other operand."""
    (operand, rows), (source, source_rows) = registers, opposite
    lanes, register_bytes, _ = move.places.shape
    if (len(rows), len(rows[0])) != (lanes, register_bytes * BYTE):
        statement = f"{operand} has {len(rows[0])} bits in each lane, the instruction moves {register_bytes * BYTE}"
        return 0, Counterexample({"bits": len(rows[0])}, statement)
    for lane in range(lanes):
        for byte in range(register_bytes):
            there, place = (int(c) for c in move.places[lane, _find_byte(byte, adapter)])
            claimed = list(rows[lane][byte * BYTE : (byte + 1) * BYTE])
            seen = list(source_rows[there][place * BYTE : (place + 1) * BYTE])
            if claimed != seen:
                names = f"{seen[0]}..{seen[-1]}" if seen else "none"
                statement = f"{operand} calls byte {byte} of lane {lane} bits {claimed[0]}..{claimed[-1]}; "
                statement += f"it is byte {place} of lane {there}, which {source} calls bits {names}"
                return 0, Counterexample({"lane": lane, "byte": byte}, statement, extent="smallest")
    return lanes * register_bytes * BYTE, None


def _find_byte(byte: int, adapter: Adapter | None) -> int:
    """Where the instruction left the byte that is at `byte` after the adapter."""
    if adapter is None:
        return byte
    group = len(adapter.bytes)
    return byte // group * group + adapter.bytes[byte % group]
