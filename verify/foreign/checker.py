# SPDX-License-Identifier: Apache-2.0
"""The verdicts on a project's maps: compared with the ISA where an instruction is named, and with its own inverse.

A map for an instruction that the ISA tables lack, or of another vendor, is UNCHECKED, with its own inverse compared. A
map that could not be loaded is UNCHECKED, with the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from verify.core.errors import SpecError
from verify.core.verdict import (
    Check,
    Counterexample,
    Evidence,
    Property,
    Proposal,
    Scope,
    Statement,
    Status,
    Verdict,
    finding,
    leave_unchecked,
)
from verify.core.verified_repair import settle
from verify.evidence.run import Run
from verify.index import bind
from verify.index.properties import EQUALS, draw, operand_verdicts
from verify.index.spec import IndexSpec
from verify.index.text_repair import expressions, list_texts
from verify.maps import search
from verify.maps.answers import ForeignMap, MissingMap
from verify.maps.expression import IndexFunction
from verify.maps.fragment_map import FragmentMap
from verify.maps.operand import coordinates, elements
from verify.pictures import maps
from verify.pictures.picture import Picture
from verify.report import Alone, Case, Expectation

if TYPE_CHECKING:
    from verify.pictures.picture import Picture, Window

FOREIGN = "foreign"  # the sort of subject, in `Property.says`


@dataclass(frozen=True)
class ProjectMap:
    """A map of a project, or what is said of one that could not be loaded."""

    name: str
    operand: str
    uncompared: str = ""  # why it is compared with no instruction; empty if it is
    forward: FragmentMap | None = None
    inverse: FragmentMap | None = None  # the project's own


UNCOMPARED = replace(  # of a map that is compared, `operand_verdicts` has the verdict
    EQUALS,
    says={FOREIGN: "for every lane and value the element is the ISA's, as of [your own map](maps.md)"},
    states=lambda project_map, _: Statement(project_map.operand, "equals the ISA"),
    applies=lambda project_map, _: bool(project_map.uncompared),
    isa=lambda _, project_map, __: [leave_unchecked(Check.ISA, project_map.uncompared)],
)
OWN_INVERSE = Property(
    "own_inverse",
    Scope.OPERAND,
    says={FOREIGN: "the project's own inverse function leads to a lane and value that have the element"},
    states=lambda project_map, _: Statement(project_map.operand, "is undone by the project's own inverse"),
    applies=lambda project_map, _: project_map.inverse is not None,
    isa=lambda _, project_map, __: [_compare_maps(project_map.forward, project_map.inverse)],
    how=("by enumeration", "", ""),
)
PROPERTIES = (UNCOMPARED, OWN_INVERSE)


class ForeignChecker(Run):
    """One run over the properties of a project's map that are not those of index arithmetic."""

    def units(self, subject: ProjectMap, scope: str) -> Sequence[None]:
        """Return the only unit: the map."""
        return (None,)


INVERSE_ALONE = Alone("undone by the project's own inverse", "its own inverse", "the adapter names none for it")


def case(project: str, foreign: ForeignMap | MissingMap, replay: str = "") -> Case:
    """All verdicts on one map of a project; `replay` is the command that finds a counterexample again."""
    name = f"{project}: {foreign.name}"
    if isinstance(foreign, MissingMap):
        why = foreign.why
        if foreign.whole and why.startswith(f"{project} isn't"):
            why = f"it{why.removeprefix(project)}"
        lost = ProjectMap(name, "", f"couldn't load {project if foreign.whole else foreign.name}: {why}")
        return Case(name, tuple(_own(lost)))
    verdicts = settle(_verdicts(name, foreign), foreign, partial(_confirms, name))
    layouts = ((foreign.operand or "map", str(foreign.map.origin)),)
    refuted = any(verdict.status is Status.REFUTED for verdict in verdicts)
    expected = f"UNCHECKED: {foreign.note}" if not foreign.ptx and foreign.note and not refuted else ""
    return Case(
        name, tuple(_replay(verdict, replay) for verdict in verdicts), layouts=layouts,
        expects=Expectation(unchecked=expected),
        picture=lambda window: _draw_map(name, foreign, verdicts, window), drawn_by=f"{replay} --format html",
        alone=None if any(verdict.claim.prop.key == EQUALS.key for verdict in verdicts) else INVERSE_ALONE,
    )  # fmt: skip


def _verdicts(name: str, foreign: ForeignMap) -> list[Verdict]:
    """Return the verdicts on the properties of an operand, as of index arithmetic, then on its own inverse.

    A map that is there for its inverse, of a tile of several instructions, is compared with that alone.
    """
    project_map = ProjectMap(name, foreign.operand, "", foreign.map, foreign.inverse)
    if not foreign.ptx and not foreign.note and foreign.inverse is not None:
        return _own(project_map)
    if not foreign.ptx:
        return _own(replace(project_map, uncompared=foreign.note or "the project names no instruction"))
    try:
        subject = _bind_map(name, foreign)
    except SpecError as error:
        return _own(replace(project_map, uncompared=error.problem))
    return [*(_of_project(verdict, foreign, subject.spec) for verdict in operand_verdicts(subject)), *_own(project_map)]


def _own(project_map: ProjectMap) -> list[Verdict]:
    return ForeignChecker(frozenset({Check.ISA})).verdicts(PROPERTIES, project_map)


def _confirms(name: str, foreign: ForeignMap) -> bool:
    """Return whether a map is verified, or its inverse if it was compared with that alone."""
    verdicts = [verdict for verdict in _verdicts(name, foreign) if foreign.ptx or verdict.claim.prop == OWN_INVERSE]
    return Case(name, tuple(verdicts)).status == "VERIFIED"


def _of_project(verdict: Verdict, foreign: ForeignMap, spec: IndexSpec) -> Verdict:
    """Return the verdict with repairs of the project's map, and of an inverse that has the same mistake."""
    wrong = verdict.counterexample
    if wrong is None or not wrong.proposals:
        return verdict
    follows = foreign.inverse is not None and search.find_inverse_fault(foreign.map, foreign.inverse) is None
    inputs, outputs = ([axis.name for axis in side] for side in (foreign.map.inputs, foreign.map.outputs))

    def change(proposal: Proposal, before: ForeignMap) -> ForeignMap:
        (part,) = bind.bind(proposal.change(spec)).parts
        right = part.given.orient(inputs).reorder(inputs, outputs)
        return replace(before, map=right, inverse=right if follows else before.inverse)

    words = ", and its inverse follows" * follows
    proposals = tuple(Proposal(f"{proposal.words}{words}", partial(change, proposal)) for proposal in wrong.proposals)
    return verdict._replace(counterexample=wrong._replace(proposals=proposals))


def _bind_map(name: str, foreign: ForeignMap) -> bind.BoundIndex:
    """Return the map beside that of its instruction. Raises SpecError."""
    subject = bind.of_map(foreign.map, foreign.ptx, foreign.operand, foreign.select)
    return replace(subject, spec=replace(subject.spec, name=name))


def _draw_map(name: str, foreign: ForeignMap, verdicts: Sequence[Verdict], window: Window) -> Picture:
    """Return the picture of a map beside the ISA's, or alone where it has no instruction."""
    try:
        return draw(_bind_map(name, foreign), verdicts, window)
    except SpecError:
        return Picture(name, (maps.tile(foreign.operand or "map", foreign.map, window=window),), shades="thread")


def _compare_maps(forward: FragmentMap, inverse: FragmentMap) -> Evidence:
    return finding(Check.ISA, wrong_inverse(forward, inverse), search.METHOD, len(inverse), "plain integers")


def wrong_inverse(forward: FragmentMap, inverse: FragmentMap) -> Counterexample | None:
    """Return the smallest element that a project's inverse does not lead back from, with the right inverse."""
    wrong = search.find_inverse_fault(forward, inverse)
    return wrong and wrong._replace(proposals=_inverse_of(forward))


def _inverse_of(forward: FragmentMap) -> tuple[Proposal, ...]:
    """Return the proposal of the other map's inverse, as expressions that are read again."""
    back = forward.inverse()
    first = replace(back, images={element: points[:1] for element, points in back.images.items()})
    if not (texts := expressions(first)):
        return ()
    words = f"the inverse of the other{'' if back.functional else ', its first copy,'} is {list_texts(texts)}"

    def change(before: ForeignMap) -> ForeignMap:
        lanes, values = first.inputs
        names = coordinates(lanes.extent, values.extent) if lanes.name == "lane" else elements(first.inputs)
        by_axis = dict(zip((axis.name for axis in first.outputs), texts.values(), strict=True))
        read = IndexFunction(by_axis, first.outputs, names).map("c")
        return replace(before, inverse=replace(read.inverse(), inputs=forward.inputs, outputs=forward.outputs))

    return (Proposal(words, change),)


def _replay(verdict: Verdict, replay: str) -> Verdict:
    wrong = verdict.counterexample
    return verdict if wrong is None else verdict._replace(counterexample=wrong._replace(replay=replay))
