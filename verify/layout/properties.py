# SPDX-License-Identifier: Apache-2.0
"""The properties of a layout alone: of its map onto a tile, and of two layouts as functions.

A layout names no instruction, so nothing here reads the ISA tables: its map is searched, and its shape and stride are
proved. `verify.layout.product` compares one with an operand of an instruction.
"""

from __future__ import annotations

from typing import NamedTuple

from layouts import ComposedLayout, Layout, ProfileError
from layouts.errors import LayoutError
from verify.binding.operand import BoundOperand, map_layout
from verify.core.errors import UsageError
from verify.core.verdict import Check, Counterexample, Evidence, Property, Scope, Statement, Status, finding
from verify.evidence import isa, proof
from verify.evidence.run import Run
from verify.layout.reading import (
    LARGEST,
    PointsError,
    as_pairs,
    as_thread_value,
    count_axes,
    count_pairs,
    describe_fault,
    map_onto,
    map_pair,
    parse_any,
    parse_small,
    plain,
    read_small,
)
from verify.maps import search
from verify.maps.map import Map

LAYOUT = "layout"  # the sort of subject, in `Property.says`


class LayoutOnTile(NamedTuple):
    """A layout as a map onto a tile."""

    name: str  # its text
    part: BoundOperand  # without a name and formulas

    @property
    def tile(self) -> str:
        """Return the tile as `--onto` has it."""
        return "x".join(map(str, self.part.extent))


class LayoutPair(NamedTuple):
    """Two layouts that may be one function."""

    name: str  # the first one's text
    against: str


def bind_onto_tile(text: str, extent: tuple[int, int]) -> LayoutOnTile:
    """Return a layout with its map onto a tile, ill formed if its profiles differ. Raises UsageError for no layout."""
    points: Map | None = None
    fault = ""
    if extent[0] * extent[1] > LARGEST:
        shown = "x".join(map(str, extent))
        raise UsageError(f"--onto {shown}: the tile has more than 2^24 elements, too many to enumerate")
    try:
        parsed = parse_small(text)
    except ProfileError as error:
        fault = str(error)
    except LayoutError as error:
        raise UsageError(describe_fault(text, error)) from error
    else:
        if isinstance(parsed, Layout) and plain(parsed):
            points = map_layout("", as_thread_value(parsed), extent)
        else:
            try:
                points = map_onto(as_pairs(parsed), m=extent[0], n=extent[1])
            except ValueError as error:
                raise PointsError(str(error)) from error
    return LayoutOnTile(text, BoundOperand("", text, points, fault, extent, ()))


def _read_form(text: str, part: BoundOperand) -> list[Evidence]:
    """Return the evidence on the form of a layout of any rank."""
    if part.map is None:
        return [isa.form("parsed", part.fault or f"{text} isn't a layout")]
    layout = parse_any(text) if part.layout else None
    return isa.read_again(text, layout) if isinstance(layout, Layout) else [isa.form("parsed", "")]


def _prove_owners(run: Run, _: LayoutOnTile, part: BoundOperand) -> list[Evidence]:
    return [] if part.layout is None else proof.prove_ownership(part.points, 1, run.budget, run.solver)


def _prove_bounds(run: Run, laid: LayoutOnTile, part: BoundOperand) -> list[Evidence]:
    """Return the proof that a layout stays in its tile: each element of it having one owner, nothing is outside."""
    if part.layout is None:
        return []
    if run.check(Check.PROOF, ONE_OWNER, laid, part)[0].status is Status.PROVED:
        return [Evidence(Check.PROOF, Status.PROVED, f"follows from {ONE_OWNER.words!r}")]
    return [proof.in_bounds(part.points, run.budget, run.solver)]


def _compare_functions(pair: LayoutPair) -> Evidence:
    text, against = pair
    first, second = (read_small(each) for each in pair)
    domains = [count_pairs(as_pairs(each)) for each in (first, second)]
    if domains[0] != domains[1]:
        sizes = [f"{threads} x {values}" for threads, values in domains]
        wrong = Counterexample({}, f"{text} has {sizes[0]} points, {against} has {sizes[1]}")
        return finding(Check.ISA, wrong, "counted")
    if isinstance(first, Layout) and isinstance(second, Layout) and plain(first) and plain(second):
        return isa.same_function(as_thread_value(first), as_thread_value(second))
    return _compare_points(text, first, against, second)


def _compare_points(
    text: str, first: Layout | ComposedLayout, against: str, second: Layout | ComposedLayout
) -> Evidence:
    """Return the evidence that two layouts, not both plain, have the same values."""
    axes, second_axes = count_axes(first), count_axes(second)
    if (axes == 0) != (second_axes == 0):
        raise UsageError(f"{text if axes else against}: its values are coordinates, those of the other are integers")
    try:
        mine, theirs = map_pair(first, second)
    except ValueError as error:
        raise UsageError(str(error)) from error
    wrong = search.find_difference(mine, theirs, "the other")
    return finding(Check.ISA, wrong, search.METHOD, len(mine), isa.engine(mine))


TILE_FORM = Property(
    "well_formed",
    Scope.OPERAND,
    says={LAYOUT: "shape and stride have one profile"},
    states=lambda _, part: Statement("", "is a layout with congruent profiles"),
    isa=lambda _, laid, part: _read_form(laid.name, part),
    how=("parsed", "", ""),
    form=True,
)
ONE_OWNER = Property(
    "ownership",
    Scope.OPERAND,
    says={LAYOUT: "each element of the tile of `--onto` has one owner"},
    states=lambda laid, _: Statement("", f"gives each element of {laid.tile} one owner"),
    isa=lambda _, __, part: [isa.compare_points(lambda: isa.ownership(part.points, 1), part.points)],
    proof=_prove_owners,
    reads=lambda _, __, part: (part.text, part.points.key),
    how=("every point", "z3", ""),
)
IN_TILE = Property(
    "in_bounds",
    Scope.OPERAND,
    says={LAYOUT: "no value outside the tile of `--onto`"},
    states=lambda laid, _: Statement("", f"stays inside {laid.tile}"),
    isa=lambda _, __, part: [isa.compare_points(lambda: isa.in_bounds(part.points), part.points)],
    proof=_prove_bounds,
    how=("every point", "follows from *ownership*, else z3", ""),
)
SAME_FUNCTION = Property(
    "equals_isa",
    says={LAYOUT: "it is the function of `--equals`, at every (thread, value)"},
    states=lambda pair, _: Statement("", f"is the same function as {pair.against}"),
    isa=lambda run, pair, _: [_compare_functions(pair)],
    how=("every point", "", ""),
    required=frozenset({Check.ISA, Check.PROOF}),
)
PROPERTIES = (TILE_FORM, IN_TILE, ONE_OWNER, SAME_FUNCTION)
