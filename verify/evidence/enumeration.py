# SPDX-License-Identifier: Apache-2.0
"""The check `isa` of an operand whose map is given point by point: expressions, tables, swizzled or other layouts.

Every point is visited, which is the proof: no solver is needed. The ISA's formula is evaluated at one lane and value at
a time; of a map that keeps no points both are evaluated by blocks. The modules of maps are imported for a map alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

from verify.binding.atom import BoundAtom, BoundOperand
from verify.core.digits import lane_of
from verify.core.verdict import Check, CheckFunction, Counterexample, Evidence, finding
from verify.evidence import isa

if TYPE_CHECKING:
    from verify.maps.fragment_map import FragmentMap

Find: TypeAlias = "Callable[[BoundAtom, BoundOperand, FragmentMap], Counterexample | None]"


def compared(find: Find, subject: BoundAtom, part: BoundOperand) -> Evidence:
    """A finding at every point of a map, as evidence."""
    from verify.maps import findings

    started = time.perf_counter()
    found = part.points
    wrong = find(subject, part, found)
    seconds = time.perf_counter() - started
    return finding(Check.ISA, wrong, findings.METHOD, len(found), engine(found), seconds=seconds)


def engine(found: FragmentMap) -> str:
    """What evaluates a map: plain integers, or blocks of arrays as well."""
    return "plain integers" if found.computed is None or found.computed.listed is not None else isa.ENGINE


def or_points(check: CheckFunction, find: Find | None = None) -> CheckFunction:
    """The check of an operand by its layout; of one that is a map by a finding, or none: a map needs no solver."""

    def checked(run: Any, subject: BoundAtom, part: BoundOperand) -> list[Evidence]:
        if part.map is None:
            return check(run, subject, part)
        return [] if find is None else [compared(find, subject, part)]

    return checked


def size(subject: BoundAtom, part: BoundOperand, found: FragmentMap) -> Counterexample | None:
    """Whether a map has as many threads and values as its fragment, each with one element."""
    from verify.maps import findings
    from verify.maps.fragment_map import Axis

    names = (axis.name for axis in found.inputs)
    return findings.size(found, tuple(map(Axis, names, subject.expected(part))))


def in_bounds(subject: BoundAtom, part: BoundOperand, found: FragmentMap) -> Counterexample | None:
    """Whether no (thread, value) is at an element outside the tile."""
    from verify.maps import findings

    return findings.in_bounds(found)


def ownership(subject: BoundAtom, part: BoundOperand, found: FragmentMap) -> Counterexample | None:
    """Whether each element of the tile has the number of owners that it must have."""
    from verify.maps import findings

    return findings.ownership(found, subject.multiplicity(part))


def inverse(subject: BoundAtom, part: BoundOperand, found: FragmentMap) -> Counterexample | None:
    """Whether each element of the tile has an owner, so that the map has a right inverse."""
    from verify.maps import findings

    return findings.right_inverse(found)


def equals(subject: BoundAtom, part: BoundOperand, found: FragmentMap) -> Counterexample | None:
    """Whether the map equals every formula of the operand, in every replica of its threads."""
    from verify.maps import findings

    wrongs = (findings.equals(found, wanted) for wanted in _wanted(subject, part, found))
    return next((wrong for wrong in wrongs if wrong is not None), None)


def list_lanes(subject: BoundAtom) -> list[int]:
    """Return the lanes of the logical threads, replica by replica."""
    thr, rep = subject.numbering
    lanes = [lane_of(thr, thread) for thread in range(subject.threads)]
    return [lane + lane_of(rep, replica) for replica in range(subject.rep_size) for lane in lanes]


def _wanted(subject: BoundAtom, part: BoundOperand, found: FragmentMap) -> Iterator[FragmentMap]:
    """The ISA's map of (thread, value) by each formula, for each replica."""
    from verify.maps.fragment_map import Axis, FragmentMap
    from verify.maps.images import FunctionImages

    inputs = tuple(map(Axis, (axis.name for axis in found.inputs), subject.expected(part)))
    every = list_lanes(subject)
    for formula in part.formulas:
        for first in range(0, len(every), subject.threads):
            of_replica = every[first : first + subject.threads]
            if found.computed is None or found.computed.listed is not None:
                yield FragmentMap.tabulate(
                    lambda t, v, formula=formula, lane=of_replica: formula.locate(lane[t], v), inputs, found.outputs
                )
            else:
                tile = [axis.extent for axis in found.outputs]
                places = FunctionImages(formula.locate, of_replica, inputs[1].extent, tile)
                yield FragmentMap(inputs, found.outputs, places)
