# SPDX-License-Identifier: Apache-2.0
"""The properties of index arithmetic: size, bounds, ownership, equality with the ISA, each by enumeration.

The rows of `PROPERTIES` have the names that they have for atoms. An entry with A, B and C is also checked as a whole
atom: its product, and the relation that a GPU recorded.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

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
)
from verify.core.verified_repair import settle
from verify.core.wording import owners
from verify.evidence import cause
from verify.evidence.run import Run
from verify.index import text_repair, whole
from verify.index.bind import BoundIndex, IndexOperand, bind
from verify.index.drawing import of_index
from verify.index.spec import IndexSpec
from verify.maps import search, short_names
from verify.maps.fragment_map import FragmentMap
from verify.maps.map import Axis, Point
from verify.report import Case, drawing_command

if TYPE_CHECKING:
    from verify.pictures.picture import Picture, Window

Finding = Callable[[], "Counterexample | None"]
MAP = "map"  # the sort of subject


@dataclass
class IndexChecker(Run):
    """One run over the properties of maps."""

    def units(self, subject: BoundIndex, scope: str) -> Sequence[IndexOperand]:
        """Return the operands."""
        return subject.parts


def case(subject: BoundIndex) -> Case:
    """All verdicts on an entry."""
    # Once more with the repairs: that one edit mends everything shows that one mistake was made.
    parts = {part.name: part for part in subject.parts}
    verdicts = cause.fold_consequences(
        settle(_verdicts(subject), subject.spec, _confirms),
        lambda name: _side_by_side(parts[name]) if name in parts else None,
    )
    return Case(
        subject.name,
        tuple(verdicts),
        layouts=tuple((part.name, part.text) for part in subject.parts),
        notes=(
            *filter(None, [short_names.describe(subject.spec.ptx, [*subject.spec.operands])]),
            *(f"warning: {part.name}: {remark}" for part in subject.parts for remark in _remarks(part)),
        ),
        picture=lambda window: draw(subject, verdicts, window),
        drawn_by=drawing_command(subject.spec.replay),
    )


def _remarks(part: IndexOperand) -> tuple[str, ...]:
    return part.function.remarks(part.spec.lang, part.spec.type) if part.function is not None else ()


def _verdicts(subject: BoundIndex) -> list[Verdict]:
    verdicts = operand_verdicts(subject)
    if len(subject.parts) > 2:  # A, B and C: a whole atom
        return whole.with_whole(subject, verdicts)
    return verdicts


def _confirms(spec: IndexSpec) -> bool:
    """Whether an entry is VERIFIED, bound and verified anew."""
    return Case(spec.name, tuple(_verdicts(bind(spec)))).status == "VERIFIED"


def draw(subject: BoundIndex, verdicts: Sequence[Verdict], window: Window) -> Picture:
    """Return the picture of an entry with what the verdicts found wrong."""
    return of_index(subject, verdicts, window)


def operand_verdicts(subject: BoundIndex) -> list[Verdict]:
    """Return the verdicts on each operand, in the order of the table."""
    parts = {part.name: part for part in subject.parts}
    verdicts = IndexChecker(frozenset({Check.ISA})).verdicts(PROPERTIES, subject)
    return cause.fold_consequences(verdicts, lambda name: _side_by_side(parts[name]))


def _side_by_side(part: IndexOperand) -> cause.Compared | None:
    """Return the map as it is beside the one that it should be; None unless both have one image of each point."""
    given, wanted = _compared_map(part), part.wanted
    if wanted is None or part.in_memory or len(given.inputs) != 2 or not given.total or len(given) > cause.MOST:
        return None
    if part.inverse:
        wanted = _choose_named(given, wanted.inverse())
    if not wanted.total or given.inputs != wanted.inputs:
        return None
    first, second = (range(axis.extent) for axis in given.inputs)
    mine, its = ([[m(a, b) for b in second] for a in first] for m in (given, wanted))
    extent = tuple(axis.extent for axis in given.outputs)
    return cause.Compared(mine, its, extent, _copies(part), single=part.function is not None)


def _tile(part: IndexOperand) -> str:
    """Return the ranges of the outputs, as printed."""
    extents, names = zip(*((str(axis.extent), axis.word) for axis in part.given.outputs), strict=True)
    return f"{'x'.join(extents)} ({','.join(names)})"


def _of(words: Callable[[IndexOperand], str]) -> Callable[[BoundIndex, IndexOperand], Statement]:
    """Return what states a claim about an operand; equality rests on the ISA's formula."""
    return lambda subject, part: Statement(
        part.name, words(part), part.operand.provenance if words is _says_equal else ""
    )


def _says_size(part: IndexOperand) -> str:
    axes = " and ".join(axis.word for axis in _inputs(part))
    if part.in_memory and part.wanted is not None:
        count = max(map(len, _orient(part, part.wanted).images.values()))
        what = "element" if part.inverse else "place"
        return f"gives every {axes} {'one' if count == 1 else count} {what}{'s' * (count > 1)}"
    return f"gives every {axes} one {'place' if part.inverse else 'element'}"


def _says_bounds(part: IndexOperand) -> str:
    return f"stays inside {_tile(part)}"


def _says_owners(part: IndexOperand) -> str:
    if part.in_memory:
        return f"gives each {'element' if part.inverse else 'place'} as many owners as the ISA tables have"
    return f"gives each {'value' if part.inverse else 'element'} of {_tile(part)} {owners(_copies(part))}"


def _says_equal(part: IndexOperand) -> str:
    return f"equals PTX ISA {part.section} ({part.operand.provenance}){part.relabelled}"


def _inputs(part: IndexOperand) -> Sequence[Axis]:
    return part.given.inputs if part.inverse or part.wanted is None else part.wanted.inputs


def _copies(part: IndexOperand) -> int:
    """Return the owners that each element must have, lanes that do not contribute left out."""
    if part.inverse:
        return 1
    if part.wanted is None:
        return part.operand.copies
    return len(part.wanted.owners(part.wanted.at(*part.wanted.domain[0])[0]))


def _compared_map(part: IndexOperand) -> FragmentMap:
    """Return the map at the lanes that contribute; of memory at the places that hold an element."""
    if part.in_memory and part.inverse and part.wanted is not None:
        return part.given.restrict(_orient(part, part.wanted).images)
    if part.inverse or part.wanted is None or part.wanted.total:
        return part.given
    return part.given.restrict(part.wanted.images)


def _size(part: IndexOperand) -> Counterexample | None:
    """Whether each input has one image; of lanes that do not contribute none is needed."""
    given, wanted = _compared_map(part), part.wanted
    if part.in_memory and wanted is not None:
        return search.find_image_count_fault(given, _orient(part, wanted))
    if part.inverse or wanted is None or wanted.total:
        return search.find_size_fault(given, _inputs(part))
    wrong = next((point for point in wanted.domain if len(given.at(*point)) != 1), None)
    if wrong is None:
        return None
    return Counterexample(
        {axis.word: c for axis, c in zip(given.inputs, wrong, strict=True)},
        f"{given.show_input(wrong)} has {len(given.at(*wrong))} images, one wanted",
    )


def _as_evidence(part: IndexOperand, find: Finding) -> Evidence:
    """Return a finding at every point that is compared, as evidence."""
    started = time.perf_counter()
    wrong, points = find(), len(_compared_map(part))
    if wrong is not None and not all(_is_reproduced(part, point) for point in _inputs_named(part, wrong)):
        wrong = wrong._replace(reproduced=False)
    seconds = time.perf_counter() - started
    return finding(Check.ISA, wrong, search.METHOD, points, "plain integers", seconds=seconds)


def _ownership(part: IndexOperand) -> list[Evidence]:
    if part.in_memory and part.wanted is not None:
        wanted = _orient(part, part.wanted)
        return [_as_evidence(part, lambda: search.find_owner_count_fault(_compared_map(part), wanted))]
    copies = _copies(part)
    if part.inverse and part.wanted is not None and len(part.wanted) > len(part.given):
        why = "the ISA has several owners of an element, an inverse map names one of them"
        return [Evidence(Check.ISA, Status.UNCHECKED, "", reason=why, applies=False)]
    return [_as_evidence(part, lambda: search.find_owner_fault(_compared_map(part), copies))]


def _equal(subject: BoundIndex, part: IndexOperand) -> list[Evidence]:
    """Return the comparison with the ISA's map, or why there is none."""
    wanted = part.wanted
    if wanted is None:
        return [Evidence(Check.ISA, Status.UNCHECKED, "", reason=part.no_formula)]
    return [_as_evidence(part, lambda: _difference(subject, part, wanted))]


def _difference(subject: BoundIndex, part: IndexOperand, wanted: FragmentMap) -> Counterexample | None:
    given = _compared_map(part)
    if part.in_memory:
        wanted = _orient(part, wanted)
    elif part.inverse:
        wanted = _choose_named(given, wanted.inverse())
    wrong = search.find_difference(given, wanted, arithmetic=lambda point: _arithmetic(part, point))
    if wrong is None or not wrong.reproduced:  # two evaluations of ours differ: there is nothing to repair
        return wrong

    words, keys = text_repair.find(part, wanted)
    return wrong._replace(
        isa=part.operand.text(),
        proposals=(Proposal(words, partial(_with_keys, part.name, keys)),) if keys else (),
        replay=subject.spec.replay,
    )


def _with_keys(operand: str, keys: Mapping[str, Any], spec: IndexSpec) -> IndexSpec:
    """Return the spec of an entry with other values for keys of one operand."""
    return replace(spec, operands={**spec.operands, operand: replace(spec.operands[operand], **keys)})


def _orient(part: IndexOperand, wanted: FragmentMap) -> FragmentMap:
    """Return the ISA's map of an operand in memory, in the direction of the user's."""
    return wanted.inverse() if part.inverse else wanted


def _choose_named(given: FragmentMap, inverse: FragmentMap) -> FragmentMap:
    """Return the ISA's inverse where an element has several owners: the one that the user's map names, if any."""
    images = {
        point: tuple(owner for owner in given.at(*point) if owner in several) or several
        for point, several in inverse.images.items()
    }
    return replace(inverse, images=images)


def _arithmetic(part: IndexOperand, point: Point) -> str:
    if part.function is None:
        return part.given.source(point) if part.given.lines else ""
    return part.function.written_out(point, part.spec.lang, part.spec.type)


def _inputs_named(part: IndexOperand, wrong: Counterexample) -> list[Point]:
    """Return the inputs of the map that a counterexample names: none, one, or two with one image."""
    names, count = [axis.word for axis in part.given.inputs], len(part.given.inputs)
    at = tuple(wrong.inputs.values())
    return [at[k : k + count] for k in range(0, len(at), count)] if [*wrong.inputs][:count] == names else []


def _is_reproduced(part: IndexOperand, point: Point) -> bool:
    """Whether texts with the point's values in place of names, parsed anew, give the same image."""
    if part.function is None or not (images := part.given.at(*point)):
        return True
    return images == (part.function.recompute(point, part.spec.lang, part.spec.type),)


# The table

_of_operand = partial(Property, scope=Scope.OPERAND, how=("by enumeration", "", ""))

SIZE = _of_operand(
    "size",
    says={MAP: "each lane and value of the instruction's fragment has one element"},
    states=_of(_says_size),
    isa=lambda _, subject, part: [_as_evidence(part, lambda: _size(part))],
)
IN_BOUNDS = _of_operand(
    "in_bounds",
    says={MAP: "no value outside the tile"},
    states=_of(_says_bounds),
    isa=lambda _, subject, part: [_as_evidence(part, lambda: search.find_out_of_bounds(_compared_map(part)))],
)
OWNERSHIP = _of_operand(
    "ownership",
    says={MAP: "each element has as many owners as the ISA tables have"},
    states=_of(_says_owners),
    isa=lambda _, subject, part: _ownership(part),
)
EQUALS = _of_operand(
    "equals_isa",
    says={MAP: "for every lane and value the element is the ISA's; inversely, for every element lane and value are"},
    states=_of(_says_equal),
    isa=lambda _, subject, part: _equal(subject, part),
    required=frozenset({Check.ISA}),
)
PROPERTIES = (SIZE, IN_BOUNDS, OWNERSHIP, EQUALS)
