# SPDX-License-Identifier: Apache-2.0
"""Whether an atom's extents, threads and types are those of the instruction it names."""

from __future__ import annotations

from collections.abc import Iterator

import isa_tables
from verify.arithmetic import lane_of
from verify.subject import FRAGMENTS, Subject
from verify.verdict import Counterexample, Evidence, Status, Witness


def fits(subject: Subject) -> Evidence:
    """The book's evidence on the mnemonic: known to the ISA, same extents, same lanes, same types."""
    if subject.not_in_isa:
        wrong = Counterexample({}, subject.not_in_isa)
        return Evidence(Witness.BOOK, Status.REFUTED, "looked up", 1, counterexample=wrong)
    if not subject.instructions:
        return Evidence(Witness.BOOK, Status.UNCHECKED, "", reason=subject.no_book)
    faults = [fault for i in subject.instructions for fault in _faults(subject, i)]
    if not faults:
        return Evidence(Witness.BOOK, Status.PROVED, "compared", len(subject.instructions))
    wrong = Counterexample({}, faults[0], damage=tuple(faults[1:]))
    return Evidence(Witness.BOOK, Status.REFUTED, "compared", len(subject.instructions), counterexample=wrong)


def _faults(subject: Subject, instruction: isa_tables.Instruction) -> Iterator[str]:
    signature = instruction.signature
    if subject.atom.shape != signature.shape:
        claimed, real = ("x".join(map(str, shape)) for shape in (subject.atom.shape, signature.shape))
        yield f"shape is {claimed}, the instruction's is {real}"
    yield from _thread_faults(subject, signature.lanes)
    for operand, claimed in subject.atom.types.items():
        fragment = signature.operands.get(operand)
        if fragment is not None and fragment.type != claimed:
            yield f"{operand} is {claimed}, the instruction's is {fragment.type}"
    known = {name for names in FRAGMENTS.values() for name in names}
    yield from (f"the instruction has no operand {name}" for name in subject.atom.types if name not in known)


def _thread_faults(subject: Subject, lanes: int) -> Iterator[str]:
    if subject.thr is None or subject.rep is None:
        yield f"threads {subject.atom.thr}: {subject.thr_fault}"
        return
    reached = sorted(
        lane_of(subject.thr, t) + lane_of(subject.rep, q)
        for t in range(subject.threads)
        for q in range(subject.rep_size)
    )
    if reached != list(range(lanes)):
        yield f"threads {subject.atom.thr} with replicas {subject.rep} do not cover the {lanes} lanes once"
