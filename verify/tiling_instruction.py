# SPDX-License-Identifier: Apache-2.0
"""What a tiling leaves open of its atom: it multiplies by the first instruction's formulas, and by no other's."""

from __future__ import annotations

from collections.abc import Iterator

from verify.judgement import unsaid
from verify.subject import Part, Subject, spoken
from verify.tiling_subject import Tiling, TilingKind
from verify.verdict import Claim, Evidence, Status, Verdict, Witness, join


def judge(tiling: Tiling) -> list[Verdict]:
    """One UNCHECKED claim with every reason why an instruction of the atom may multiply otherwise; none where none may.

    Whether the atom is its instruction's is for `verify.atom` to decide. A tiling of one that nobody compared, or that
    differs in size, is no more than a tiling of the layouts as they stand. An atom that issues none multiplies so.
    """
    subject = tiling.subject
    reasons = list(dict.fromkeys(open_questions(subject))) if subject.mma.ptx != () else []
    claim = Claim(tiling.name, "", TilingKind.INSTRUCTION, "every instruction of the atom multiplies so")
    heard = [Evidence(Witness.BOOK, Status.UNCHECKED, "", reason=reason) for reason in reasons]
    return [join(claim, heard)] if heard else []


def open_questions(subject: Subject) -> Iterator[str]:
    """Why each instruction that the product does not go by may multiply otherwise."""
    if subject.by is None:
        yield subject.no_book
        return
    yield from subject.uncompared
    for operand in subject.unsaid:
        yield unsaid(subject, operand)
    for view in subject.views:
        yield from filter(None, (view.shape_fault, view.thr_fault))
        for part, first in zip(view.parts, subject.parts, strict=True):
            if why := part.silence or misfit(view, part):
                yield why
            elif part.said != first.said:
                one, other = spoken(view.instruction), spoken(subject.instruction)
                yield f"{part.name} of {one} is not dealt out as {other} has it"


def misfit(view: Subject, part: Part) -> str:
    """How an operand differs in size from its instruction's; empty where it does not."""
    if not part.formulas or view.thr is None or part.domain == (wanted := view.expected(part)):
        return ""
    sizes = (f"{threads} threads x {values} values" for threads, values in (wanted, part.domain))
    return "{} of {} is {}, the atom's {}".format(part.name, spoken(view.instruction), *sizes)
