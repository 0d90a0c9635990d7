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
        old_instance, new_instance = before[name], after[name]
        for part in old_instance.operands.keys() & new_instance.operands.keys():
            texts = str(old_instance.operands[part].layout), str(new_instance.operands[part].layout)
            if texts[0] == texts[1] and old_instance.shape == new_instance.shape:
                same += 1
                continue
            key = (*texts, old_instance.shape + new_instance.shape + (len(part),))
            if key not in cache:
                cache[key] = _change(old_instance, new_instance, part)
            if (change := cache[key]) is None and _well_formed(*texts):
                same += 1
            else:
                changed.append(Changed(name, part, old_instance.operands[part], new_instance.operands[part], change))
    changed.sort(key=lambda row: (row.new.place, row.name, row.part))
    gone, fresh = before.keys() - after.keys(), after.keys() - before.keys()
    unread = {definition.name for side in (old, new) for definition in side.definitions if definition.problem}
    unread |= {place.file for side in (old, new) for place, _ in side.problems}
    return Changes(tuple(changed), tuple(sorted(fresh)), tuple(sorted(gone)), same, tuple(sorted(unread)))


def _instances(read: Checkout) -> Mapping[str, Instance]:
    return {instance.name: instance for definition in read.definitions for instance in definition.instances}


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


def as_text(changes: Changes, verbose: bool = False) -> str:
    """Return the changes for people: each with both layouts, then points.

    `verbose` names what is new and what is gone.
    """
    lines: list[str] = []
    for changed in changes.changed:
        lines += _lines(changed)
    for word, names in (("new", changes.added), ("gone", changes.removed)) if verbose else ():
        lines += [f"{word}: {name}" for name in names]
    lines += [f"not read: {name}" for name in changes.unread]
    counts = f"{len(changes.changed)} maps changed, {changes.same} are the same"
    operations = f"operations: {len(changes.added)} new, {len(changes.removed)} gone"
    return "\n".join([*lines, f"{counts}; {operations}; exit {int(changes.code)}"]) + "\n"


def _lines(changed: Changed) -> Iterator[str]:
    yield f"{changed.new.place}: {changed.name}  {changed.part}"
    yield f"  old {changed.old.layout}      {changed.old.place}"
    yield f"  new {changed.new.layout}"
    if changed.change is None:
        yield "  a layout is ill formed: it has no points"
    else:
        yield from (f"  {line}" for line in changed.change.lines if not line.startswith(("was (", "now (")))


def as_json(changes: Changes) -> str:
    """Return the changes for programs."""
    document = {
        "schema": 2,
        "exit": int(changes.code),
        "changed": [
            {
                "name": changed.name,
                "part": changed.part,
                "old": _operand(changed.old),
                "new": _operand(changed.new),
                "lines": _points(changed),
            }
            for changed in changes.changed
        ],
        "same": changes.same,
        "added": changes.added,
        "removed": changes.removed,
        "unread": changes.unread,
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _operand(operand: OperandTrait) -> dict[str, Any]:
    place: Place = operand.place
    return {"layout": str(operand.layout), "place": {"file": place.file, "line": place.line, "column": place.column}}


def _points(changed: Changed) -> list[str]:
    return [] if changed.change is None else list(changed.change.lines)
