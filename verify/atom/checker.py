# SPDX-License-Identifier: Apache-2.0
"""The verifier of atoms: binds an atom to its instructions, then checks every property of the table for each."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict

import layouts.atoms
from layouts import Layout, size
from layouts.atoms import AnyAtom, CopyAtom
from layouts.atoms.reading import ReadAtom
from verify.atom import relabelling, repairs
from verify.atom.cause import add_causes
from verify.atom.copies import prepare_copy
from verify.atom.properties import COPY, MMA, PROPERTIES, TAKEN, not_given
from verify.binding.atom import BoundAtom, NamedInstruction, bind_atom
from verify.binding.bound import BoundMaps, mnemonic_of
from verify.binding.completion import complete_atom, in_order
from verify.binding.operand import BoundOperand
from verify.core.digits import lane_of
from verify.core.verdict import Check, Claim, Evidence, Property, Scope, Status, Verdict, add_replay
from verify.evidence import isa
from verify.evidence.run import Run, Wanted, everything
from verify.maps.relabelling import spell_permutation
from verify.report import Case, Expectation

if TYPE_CHECKING:
    from verify.pictures.picture import Panel, Picture, Window

SHIPPED = os.path.dirname(layouts.atoms.__file__)


@dataclass
class AtomChecker(Run):
    """One run over the properties of atoms.

    Evidence for the same layout and formula is computed once; on later claims `shared` names the subject that it was
    computed for.
    """

    options: str = ""  # those of the command line that replace the shipped recordings, for replays
    table: tuple[Property, ...] = PROPERTIES

    def verify(self, atom: ReadAtom, wanted: Wanted = everything, edit: repairs.Edited | None = None) -> list[Verdict]:
        """Return the verdict on every wanted claim of an atom; its form is checked whichever checks are requested.

        A claim that follows from one that is not wanted is not checked. Where all are wanted, `edit` makes the atoms
        that may repair it: by default from its entry with other keys.
        """
        subject = prepare_atom(atom)
        verdicts = [verdict for verdict in list_taken_keys(subject.atom) if wanted(verdict.claim)]
        verdicts += self.explain_by_relabelling(subject, self.judge(subject, wanted))
        if wanted is everything:
            edit = edit or partial(repairs.edit_atom, subject.atom)
            verdicts = repairs.add_repairs(subject, verdicts, edit, self.confirms)
        verdicts = add_causes(subject, verdicts)
        again = partial(command, subject.atom, self.options)
        return [add_replay(verdict, again) for verdict in verdicts]

    def judge(self, subject: BoundMaps, wanted: Wanted = everything) -> list[Verdict]:
        """Return the verdicts by the evidence alone: what explains one (a relabelling, a cause) is not looked for."""
        sort = COPY if subject.is_copy else MMA
        return self.verdicts([row for row in self.table if sort in row.says], subject, wanted)

    def confirms(self, atom: AnyAtom) -> bool:
        """Whether an atom is VERIFIED by the checks of this run, on its own: no evidence is taken over or left.

        The formulas are asked first, because most candidates for a repair fail there.
        """
        for checks in dict.fromkeys(filter(None, (self.checks & {Check.ISA}, self.checks))):
            run = replace(self, checks=checks, loaded=self.solver if Check.PROOF in checks else None)
            if Case(atom.name, tuple(run.verify(atom, edit=_no_edit))).status != "VERIFIED":
                return False
        return True

    def explain_by_relabelling(self, subject: BoundMaps, verdicts: list[Verdict]) -> list[Verdict]:
        """Return the verdicts, with RELABELLED where one relabelling of m, n and k explains every refutation."""
        if subject.is_copy:
            return verdicts
        return relabelling.report_relabelled(subject, verdicts, lambda plain: relabelling.absolute(self, plain, None))

    def case(self, entry: ReadAtom | BoundMaps, edit: repairs.Edited | None = None) -> Case:
        """Return all verdicts on an atom, with what its entry states about them; or on maps that are no atom's.

        >>> from verify.core.verdict import Check
        >>> entry = layouts.atoms.registry()["SM80_16x8x16_F32F16F16F32_TN"]
        >>> case = AtomChecker(frozenset({Check.ISA})).case(entry)
        >>> case.status, {verdict.status.value for verdict in case.verdicts if verdict.claim.part == "C"}
        ('VERIFIED', {'PROVED'})
        """
        if isinstance(entry, BoundMaps):
            judged = tuple(add_causes(entry, self.explain_by_relabelling(entry, self.judge(entry))))
            layouts = tuple((part.name, part.text) for part in entry.parts)
            return Case(entry.name, judged, layouts=layouts, **show_atom(lambda: entry, judged))
        atom = complete_atom(entry)
        verdicts = tuple(self.verify(atom, edit=edit))
        return Case(
            atom.name,
            verdicts,
            layouts=tuple(atom.operands.items()),
            adapter=adapter(atom),
            expects=Expectation(atom.known_defect or "", atom.expect or "", atom.ptx == ()),
            drawn_by=command(atom, "", "show"),
            **show_atom(lambda: entry, verdicts),
        )

    def units(self, subject: BoundMaps, scope: str) -> Sequence[BoundOperand | NamedInstruction | None]:
        """Return the units of a scope: the operands, omitted ones too; the instructions named; or the atom alone."""
        if scope == Scope.OPERAND:
            absent = (
                BoundOperand(name, "", None, "", (1, 1), (), not_given(subject, name))
                for name in subject.omitted_operands
            )
            return [*subject.parts, *absent]
        named = subject.named if scope == Scope.INSTRUCTION and isinstance(subject, BoundAtom) else ()
        return named or (None,)

    def find(self, row: Property, subject: BoundMaps, operand: Any, before: Sequence[Verdict]) -> list[Evidence]:
        """Return the evidence for each view of the atom."""
        find = super().find
        if row.scope == Scope.INSTRUCTION:
            return find(row, subject, operand, before)

        def of_view(view: BoundMaps) -> list[Evidence]:
            own = operand and next((part for part in view.parts if part.name == operand.name), operand)
            return find(row, view, own, before)

        return of_each(subject, of_view)


class ShownFields(TypedDict):
    """The fields of a case that are made where they are shown."""

    formulas: Callable[[], Iterable[tuple[str, str, str]]]
    picture: Callable[[Window], Picture]


def show_atom(entry: Callable[[], ReadAtom | BoundMaps], verdicts: Sequence[Verdict]) -> ShownFields:
    """Return the formulas and the picture of an atom, or of maps."""

    def subject() -> BoundMaps:
        given = entry()
        return given if isinstance(given, BoundMaps) else prepare_atom(given)

    return {
        "formulas": lambda: list_citations(subject()),
        "picture": lambda window: draw_atom(subject(), verdicts, window),
    }


def draw_atom(subject: BoundMaps, verdicts: Sequence[Verdict], window: Window) -> Picture:
    """Return the picture of an atom with what the verdicts found, and its relabelling as a permutation of each axis."""
    from verify.pictures.atoms import of_atom  # 5 ms, in a report that shows no picture

    picture = of_atom(subject, verdicts, window=window)
    return replace(picture, panels=(*picture.panels, *permutations(subject, verdicts, window)))


def permutations(subject: BoundMaps, verdicts: Sequence[Verdict], window: Window) -> Iterator[Panel]:
    """Yield the relabelling that the verdicts found, or else the declared one: a panel for each axis."""
    from verify.pictures import maps

    numbers: relabelling.Numbers | None = None
    if any(verdict.status is Status.RELABELLED for verdict in verdicts):
        numbers = relabelling.find_permutations(subject)
    elif subject.relabel:
        numbers = {axis: permuted for axis, permuted in relabelling.read_declared(subject).items() if permuted}
    for number, (axis, permuted) in enumerate((numbers or {}).items()):
        yield maps.permutation(axis, permuted, spell_permutation(permuted), window, (4 + number, 0))


def list_citations(subject: BoundMaps) -> list[tuple[str, str, str]]:
    """(operand, citation, formula) of every operand that the ISA tables have a formula for."""
    return [(part.name, part.formulas[0].citation, part.formulas[0].text()) for part in subject.parts if part.formulas]


def list_taken_keys(atom: AnyAtom) -> list[Verdict]:
    """Return a TAKEN verdict for each key that an atom's entry leaves to its instruction: there is nothing to check."""
    reason = "taken from the instruction: the entry leaves it out"
    return [
        Verdict(Claim(atom.name, key, TAKEN, words), Status.TAKEN, (), reason=reason)
        for key, words in atom.taken.items()
    ]


def _no_edit(_: repairs.Keys) -> None:
    """Edit nothing: a repair isn't repaired."""


def of_each(subject: BoundMaps, find: Callable[[BoundMaps], Iterable[Evidence]]) -> list[Evidence]:
    """Return the evidence for every view of an atom; if instructions refute it, theirs alone: all must fit.

    Two instructions that differ are no contradiction; two checks that differ on one instruction are.
    """
    if not subject.further:
        return list(find(subject))
    by_view = [list(find(view)) for view in subject.views]
    if all(each == by_view[0] for each in by_view):
        return by_view[0]
    refuting = [any(e.status is Status.REFUTED for e in each) for each in by_view]
    distinct: list[Evidence] = []
    for view, each, refutes in zip(subject.views, by_view, refuting, strict=True):
        for evidence in each if refutes or not any(refuting) else ():
            named = by_name(view, evidence)
            if named not in distinct:
                distinct.append(named)
    return distinct


def by_name(view: BoundMaps, evidence: Evidence) -> Evidence:
    """Evidence whose counterexample names the instruction."""
    wrong = evidence.counterexample
    if wrong is None:
        return evidence
    statement = f"by {mnemonic_of(view.instruction)}: {wrong.statement}"
    return evidence._replace(counterexample=wrong._replace(statement=statement))


def prepare_atom(entry: ReadAtom) -> BoundAtom:
    """Return an atom of either sort, completed by and bound to its instructions."""
    atom = complete_atom(entry)
    return prepare_copy(atom) if isinstance(atom, CopyAtom) else blame_threads(bind_atom(atom))


def blame_threads(subject: BoundAtom) -> BoundAtom:
    """Return the subject with the fault in its threads, where the instruction's own make all operands right."""
    right = "" if subject.by is None or subject.further else in_order(subject.by)
    if not right or subject.thr is None or subject.shape_fault or subject.mma.thr == right:
        return subject
    own, lanes = _lanes(subject.thr), _lanes(Layout.parse(right))
    if (own != lanes and len(own) == len(lanes)) or _all_equal(subject):
        return subject
    if not _all_equal(bind_atom(replace(subject.mma, thr=right))):
        return subject
    names = ", ".join(part.name for part in subject.parts if part.formulas)
    how = "permutes the lanes" if own == lanes else f"has {len(own)} threads, not {len(lanes)}"
    fault = f"{subject.mma.thr} {how}: with {right} {names} are the instruction's"
    return replace(subject, thr=None, rep=None, thr_fault=fault, permuted=True)


def _lanes(thr: Layout) -> list[int]:
    """Return the lanes of all threads, sorted."""
    return sorted(lane_of(thr, thread) for thread in range(size(thr)))


def _all_equal(subject: BoundAtom) -> bool:
    """Whether all operands equal their formulas in the ISA tables."""
    parts = [part for part in subject.parts if part.formulas]
    if not parts or any(part.layout is None or part.domain != subject.expect_extents(part) for part in parts):
        return False
    return all(isa.equals(subject, part)[2] is None for part in parts)


def adapter(atom: AnyAtom) -> str:
    """Return the name of the permutation that a copy applies to its registers after the instruction; empty if none."""
    return atom.adapter.name if isinstance(atom, CopyAtom) and atom.adapter is not None else ""


def command(atom: AnyAtom, options: str, name: str = "atom") -> str:
    """Return the command that verifies an atom again, by the same recordings or GPU; or another that is given it."""
    shipped = os.path.dirname(atom.file) == SHIPPED  # of every atom: a Path takes longer
    source = "" if shipped or not atom.file else f"--atoms {shlex.quote(atom.file)} "
    dashes = "-- " if atom.name.startswith("-") else ""
    return f"lanecheck {name} {source}{options}{dashes}{shlex.quote(atom.name)}"
