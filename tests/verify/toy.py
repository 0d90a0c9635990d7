# SPDX-License-Identifier: Apache-2.0
"""A kind of subject that is not in the product: the rotation of a row of places. All that a kind can do is in its row.

["mine"]
places = 8
order  = [1, 2, 3, 4, 5, 6, 7, 0]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from layouts.toml.entry import Entry
from layouts.toml.tables import ReadTables, tables
from verify.core.files import open_document, values
from verify.core.registry import Signs
from verify.core.specs import Between, Several, keys, require
from verify.core.verdict import Check, Counterexample, Evidence, Property, Statement, finding
from verify.evidence.run import Run
from verify.kind import LIKELY, Drawing, Functions, Kind, PropertyTable, Recognition, Reported, Resources
from verify.maps.fragment_map import FragmentMap
from verify.maps.map import Axis
from verify.pictures import maps
from verify.pictures.picture import Picture, Window
from verify.report import Case


@dataclass(frozen=True)
class Rotation:
    """A rotation as its user writes it."""

    name: str
    places: int = require("how many places there are", Between(2, 64))
    order: tuple[int, ...] = require("where each place goes", Several(Between(0, 63)))

    @property
    def map(self) -> FragmentMap:
        axes = Axis("place", self.places), Axis("copy", 1)
        return FragmentMap(axes, (Axis("to", self.places),), {(at, 0): ((to,),) for at, to in enumerate(self.order)})


def rotates(run: Run, rotation: Rotation, _: None) -> list[Evidence]:
    step, count = rotation.order[0], rotation.places
    wrong = next((at for at in range(count) if rotation.order[at] != (at + step) % count), None)
    counterexample = (
        None if wrong is None else Counterexample({"place": wrong}, f"place {wrong} goes to {rotation.order[wrong]}")
    )
    return [finding(Check.ISA, counterexample, "every place", count)]


ROTATES = Property(
    "rotates",
    scope="rotation",  # a word of its own
    says={"rotation": "each place goes as far as the first"},
    states=lambda rotation, _: Statement("", f"goes {rotation.order[0]} places on"),
    isa=rotates,
    how=("every place", "", ""),
    required=frozenset({Check.ISA}),
)


class Rotations(Run):
    def units(self, subject: Rotation, scope: str) -> Sequence[None]:
        assert scope == "rotation"
        return (None,)


def read(path: Path) -> ReadTables[Rotation]:
    def of_entry(entry: Entry) -> list[Rotation]:
        return [Rotation(entry.name, **values(entry, Rotation))]

    return tables(open_document(path, "rotation"), "a rotation", keys(Rotation), of_entry)


def verifier(resources: Resources) -> Callable[[Rotation], Case]:
    run = Rotations(resources.checks)

    def case(rotation: Rotation) -> Case:
        verdicts = tuple(run.verdicts((ROTATES,), rotation))
        order = " ".join(map(str, rotation.order))
        return Case(rotation.name, verdicts, layouts=(("order", order),), picture=partial(draw, rotation))

    return case


def draw(rotation: Rotation, window: Window) -> Picture:
    return Picture(rotation.name, (maps.table("to", rotation.map, window=window),), shades="thread")


def draw_reversed(rotation: Rotation, _: Resources, __: Any, window: Window) -> Picture:
    return draw(replace(rotation, name="back", order=rotation.order[::-1]), window)


def redraw(reported: Reported, _: Resources, window: Window) -> Picture | None:
    order = reported.layouts.get("order")
    return None if order is None else draw(replace(of_text(order), name=reported.name), window)


def of_text(text: str) -> Rotation:
    order = tuple(map(int, text.removeprefix("rotate ").split()))
    return Rotation(text, len(order), order)


def from_keys(given: Mapping[str, Any]) -> Rotation:
    return Rotation("keys", **given)


TOY: Kind[Rotation] = Kind(
    name="rotation",
    singular="a rotation",
    plural="rotations",
    spelled=lambda text: Recognition(LIKELY, "it begins with rotate") if text.startswith("rotate ") else None,
    signs=Signs(frozenset({"places", "order"}), "rotations"),
    specs=lambda: (Rotation,),
    read=read,
    from_keys=from_keys,
    verifier=verifier,
    functions=lambda rotation, _: Functions({"places": str(rotation.places)}, {"to": rotation.map}),
    tables=lambda: (PropertyTable("rotation.md", "rotation", (ROTATES,)),),
    pictures={"thread": draw_reversed},
    redraw=redraw,
    drawing=Drawing(lambda text, options: draw(of_text(text), (options.rows, options.columns))),
)
