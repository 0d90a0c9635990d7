# SPDX-License-Identifier: Apache-2.0
"""The claim of a tiling on its atom's instructions: each of them multiplies as the first one, in the atom's types."""

from __future__ import annotations

from collections.abc import Iterator

from verify.atom.mnemonic import type_faults
from verify.atom.properties import not_given
from verify.binding.atom import BoundAtom
from verify.binding.bound import mnemonic_of
from verify.binding.operand import BoundOperand
from verify.core.verdict import Check, Evidence, leave_unchecked
from verify.evidence import isa
from verify.tiling.bind import Tiling


def compare_instruction(run: object, tiling: Tiling, _: None) -> list[Evidence]:
    """REFUTED where an instruction has other types than the atom, else UNCHECKED for each reason why one may multiply
    otherwise; no evidence is needed where none may.

    `lanecheck atom` decides whether the layouts are those of the instruction. Where an instruction was not compared, or
    differs in size, the other claims are about the atom's layouts alone. An atom that issues no instruction has no
    such claim.
    """
    subject = tiling.subject
    bound = [(view, mnemonic_of(view.by)) for view in subject.views if view.by is not None]
    if wrong := dict.fromkeys(f"by {mnemonic}: {fault}" for view, mnemonic in bound for fault in type_faults(view)):
        return [isa.form("compared", *wrong)]
    reasons = dict.fromkeys(open_questions(subject)) if subject.mma.ptx != () else ()
    return [leave_unchecked(Check.ISA, reason) for reason in reasons]


def open_questions(subject: BoundAtom) -> Iterator[str]:
    """Why an instruction may multiply otherwise than the one that the product uses, for each such reason."""
    if subject.by is None:
        yield subject.no_instruction
        return
    yield from subject.uncompared_reasons
    for operand in subject.omitted_operands:
        yield not_given(subject, operand)
    for view in subject.views:
        yield from filter(None, (view.shape_fault, view.thr_fault))
        for part, first in zip(view.parts, subject.parts, strict=True):
            if why := part.no_formula or misfit(view, part):
                yield why
            elif part.keys != first.keys:
                mine, its = mnemonic_of(view.instruction), mnemonic_of(subject.instruction)
                yield f"{part.name} of {mine} is not distributed as that of {its}"


def misfit(view: BoundAtom, part: BoundOperand) -> str:
    """How an operand differs in size from its instruction's; empty where sizes are equal."""
    if not part.formulas or view.thr is None or part.domain == (wanted := view.expect_extents(part)):
        return ""
    sizes = (f"{threads} threads x {values} values" for threads, values in (wanted, part.domain))
    return "{} of {} is {}, the atom's {}".format(part.name, mnemonic_of(view.instruction), *sizes)
