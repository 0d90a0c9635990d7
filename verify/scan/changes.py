# SPDX-License-Identifier: Apache-2.0
"""What changed between two checkouts: the maps of the definitions that both have, as layouts and as points.

A layout that is only written differently is no change.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from layouts import LayoutError
from layouts.pasted import read_layout
from verify.binding.axes import AXES
from verify.core.errors import Exit
from verify.core.verdict import Place
from verify.maps.changes import Change, change
from verify.maps.fragment_map import FragmentMap
from verify.maps.map import Axis, MapError
from verify.maps.strided import of_layout
from verify.scan.checkout import Checkout
from verify.scan.traits import Instance, OperandTrait

EXTENTS = {"A": (0, 2), "B": (1, 2), "C": (0, 1), "E": (0, 2), "SFA": (0, 2), "SFB": (1, 2)}  # of M, N, K


@dataclass(frozen=True, slots=True)
class Changed:
    """One map that changed."""

    name: str  # of the operation
    part: str  # of the operand
    old: OperandTrait
    new: OperandTrait
    change: Change | None  # None where a layout is ill formed, so that there are no points


@dataclass(frozen=True, slots=True)
class Changes:
    """How the definitions of two checkouts differ."""

    changed: tuple[Changed, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]
    same: int  # maps that are the same function in both
    unread: tuple[str, ...]  # operations that one of the two has, and that cannot be read there

    @property
    def code(self) -> Exit:
        """REFUTED where a map changed, UNDECIDED where something could not be read, else OK."""
        return Exit.REFUTED if self.changed else Exit.UNDECIDED if self.unread else Exit.OK


def compare_checkouts(old: Checkout, new: Checkout) -> Changes:
    """Return the maps that differ between two checkouts."""
    before, after = _instances(old), _instances(new)
    changed: list[Changed] = []
    same = 0
    cache: dict[tuple[str, str, tuple[int, ...]], Change | None] = {}
    for name in before.keys() & after.keys():
        one, other = before[name], after[name]
        for part in one.operands.keys() & other.operands.keys():
            texts = str(one.operands[part].layout), str(other.operands[part].layout)
            if texts[0] == texts[1] and one.shape == other.shape:
                same += 1
                continue
            key = (*texts, one.shape + other.shape + (len(part),))
            if key not in cache:
                cache[key] = _change(one, other, part)
            if (found := cache[key]) is None and _well_formed(*texts):
                same += 1
            else:
                changed.append(Changed(name, part, one.operands[part], other.operands[part], found))
    changed.sort(key=lambda one: (one.new.place, one.name, one.part))
    gone, fresh = before.keys() - after.keys(), after.keys() - before.keys()
    unread = {one.name for side in (old, new) for one in side.definitions if one.problem}
    unread |= {place.file for side in (old, new) for place, _ in side.problems}
    return Changes(tuple(changed), tuple(sorted(fresh)), tuple(sorted(gone)), same, tuple(sorted(unread)))


def _instances(read: Checkout) -> Mapping[str, Instance]:
    return {one.name: one for definition in read.definitions for one in definition.instances}


def _change(old: Instance, new: Instance, part: str) -> Change | None:
    try:
        return change(_map(old, part), _map(new, part), most=4)
    except (LayoutError, MapError):
        return None


def _map(instance: Instance, part: str) -> FragmentMap:
    names = AXES[part]
    tile = [instance.shape[at] for at in EXTENTS[part]] if instance.shape else []
    bits = 1 << 30  # of a copy: as many as its layout names
    outputs = [Axis(name, extent) for name, extent in zip(names, tile or [bits], strict=True)]
    return of_layout(read_layout(str(instance.operands[part].layout)), outputs, ("thread", "value"))


def _well_formed(*texts: str) -> bool:
    try:
        return all(read_layout(text) is not None for text in texts)
    except LayoutError:
        return False


def as_text(found: Changes, verbose: bool = False) -> str:
    """Return the changes for people: each with both layouts, then points.

    `verbose` names what is new and what is gone.
    """
    lines: list[str] = []
    for one in found.changed:
        lines += _lines(one)
    for word, names in (("new", found.added), ("gone", found.removed)) if verbose else ():
        lines += [f"{word}: {name}" for name in names]
    lines += [f"not read: {name}" for name in found.unread]
    counts = f"{len(found.changed)} maps changed, {found.same} are the same"
    others = f"operations: {len(found.added)} new, {len(found.removed)} gone"
    return "\n".join([*lines, f"{counts}; {others}; exit {int(found.code)}"]) + "\n"


def _lines(one: Changed) -> Iterator[str]:
    yield f"{one.new.place}: {one.name}  {one.part}"
    yield f"  old {one.old.layout}      {one.old.place}"
    yield f"  new {one.new.layout}"
    if one.change is None:
        yield "  a layout is ill formed: it has no points"
    else:
        yield from (f"  {line}" for line in one.change.lines if not line.startswith(("was (", "now (")))


def as_json(found: Changes) -> str:
    """Return the changes for programs."""
    document = {
        "schema": 2,
        "exit": int(found.code),
        "changed": [
            {
                "name": one.name,
                "part": one.part,
                "old": _operand(one.old),
                "new": _operand(one.new),
                "lines": _points(one),
            }
            for one in found.changed
        ],
        "same": found.same,
        "added": found.added,
        "removed": found.removed,
        "unread": found.unread,
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _operand(one: OperandTrait) -> dict[str, Any]:
    place: Place = one.place
    return {"layout": str(one.layout), "place": {"file": place.file, "line": place.line, "column": place.column}}


def _points(one: Changed) -> list[str]:
    return [] if one.change is None else list(one.change.lines)
