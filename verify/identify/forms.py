# SPDX-License-Identifier: Apache-2.0
"""The other forms of a query's map: its layout in an atom's order, bases and C in that of the ISA."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from verify.identify.matches import Match, Relation
from verify.identify.query import Query
from verify.maps.fragment_map import FragmentMap
from verify.maps.map import Axis
from verify.maps.synthesis import FORMS, Form, forms

ROW_AND_COLUMN = ("row", "col")


def of_query(query: Query, related: Sequence[Match], wanted: Sequence[str] = FORMS) -> tuple[list[Form], str]:
    """Return a query in some forms, those that there are first, the shortest first; or why it has not the form.

    Its tile is that of the first map which it equals or relabels, which is named; without one it is the smallest with
    all its elements.
    """
    match = next(
        (candidate for candidate in related if candidate.relation in (Relation.EQUALS, Relation.RELABELS)), None
    )
    if match is None:
        return _list_forms(query, query.tile, False, wanted), ""
    first, extent = match.group.members[0], match.group.extent
    name = f", of {first.operand} ({','.join(first.axes)}) {extent[0]}x{extent[1]}"
    return _list_forms(query, extent, match.group.swapped, wanted), name


def _list_forms(query: Query, tile: tuple[int, int] | None, swapped: bool, wanted: Sequence[str]) -> list[Form]:
    given = _on_tile(query, tile, swapped)
    if len(given.outputs) == 1:
        return forms(given, wanted)
    ordered = given.reorder(("lane", "value"), ROW_AND_COLUMN[::-1]) if swapped else given
    listed = [*forms(ordered, [name for name in wanted if name == "layout"])]
    listed += forms(given, [name for name in wanted if name != "layout"])
    return sorted(listed, key=lambda form: (not form.text, len(form.text)))


def _on_tile(query: Query, tile: tuple[int, int] | None, swapped: bool) -> FragmentMap:
    """Return the query's map to (row, column) of its tile; to one number where a layout's tile is not known."""
    fragment = query.fragment
    if len(fragment.outputs) == 1:
        if tile is None:
            end = 1 + max(max(element for (element,) in several) for several in fragment.images.values())
            return replace(fragment, outputs=(Axis("element", end),))
        order = -1 if swapped else 1
        images = {
            point: ((element % tile[0], element // tile[0])[::order],)
            for point, ((element,),) in fragment.images.items()
        }
        return replace(fragment, outputs=tuple(map(Axis, ROW_AND_COLUMN, tile[::order])), images=images)
    if tile is None:
        ends = [1 + max(image[place] for (image,) in fragment.images.values()) for place in (0, 1)]
    else:
        ends = list(tile[:: -1 if swapped else 1])
    if swapped and not query.as_isa:
        fragment = fragment.reorder(("lane", "value"), [axis.name for axis in fragment.outputs[::-1]])
    return replace(fragment, outputs=tuple(map(Axis, ROW_AND_COLUMN, ends)))
