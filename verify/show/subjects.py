# SPDX-License-Identifier: Apache-2.0
"""What an argument of `verify.show` names, and its pictures: atoms, layouts, instructions, files, reports."""

from __future__ import annotations

import os
import re
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from verify.core.errors import Exit, SpecError, UsageError
from verify.pictures.picture import WHOLE, Panel, Picture, Window
from verify.pictures.picture import shown as ranges
from verify.show.options import SORTS, check, window

if TYPE_CHECKING:
    from layouts import ComposedLayout, Layout
    from layouts.atoms import AnyAtom
    from layouts.atoms.tables import Found
    from verify.binding.atom import BoundAtom
    from verify.core.names import S
    from verify.maps.fragment_map import FragmentMap
    from verify.report import Case
    from verify.tiling.spec import TilingSpec

LAYOUT = re.compile(r"\s*(?:[\d(\[_]|Sw?<|cute::Layout|cute::make_|make_|Layout|ComposedLayout|Shape|[!#\"])")
INSTRUCTION = re.compile(r"[a-z][a-z0-9_]*\.[\w.:]+")


@dataclass(frozen=True)
class Shown:
    """The pictures of a run, and its exit code: that of the check `isa`, never of a proof."""

    pictures: tuple[Picture, ...] = ()
    code: Exit = Exit.OK

    def __add__(self, other: Shown) -> Shown:
        return Shown((*self.pictures, *other.pictures), worse(self.code, other.code))


ORDER = (Exit.OK, Exit.UNDECIDED, Exit.REFUTED, Exit.USAGE, Exit.CONTRADICTION)


def worse(one: Exit, other: Exit) -> Exit:
    """The exit code of two runs together."""
    return max(one, other, key=ORDER.index)


def shown(options: Namespace) -> Shown:
    """The pictures of every argument, of the panels, rows and columns that the options choose."""
    sorts = [_sort(what) for what in options.what]
    check(options, sorts)
    found = Shown()
    for what, sort in zip(options.what, sorts, strict=True):
        found += DRAWN[sort](what, options)
    chosen = [_of_operands(picture, options.operand) for picture in found.pictures]
    pictures = [_met(picture) for picture in chosen]
    if not any(picture.panels for picture in pictures):
        _check_window([panel for picture in chosen for panel in picture.panels])
    return Shown(tuple(picture for picture in pictures if picture.panels or picture.notes), found.code)


def _sort(what: str) -> str:
    """Which of `options.SORTS` an argument is. Raises UsageError for a file of which there are no pictures."""
    path = Path(what)
    if os.path.isdir(what):
        raise UsageError(f"{what} is a folder: name a FILE in it")
    if what.endswith(".json") or _begins(path, b"{"):
        return "report"
    if os.path.isfile(what) or what.endswith(".toml"):
        return _sort_of_file(path)
    if LAYOUT.match(what):
        return "layout"
    return "instruction" if INSTRUCTION.fullmatch(what) else "atom"


def _begins(path: Path, first: bytes) -> bool:
    """Whether a file begins with these bytes."""
    try:
        with path.open("rb") as file:
            return file.read(len(first)) == first
    except (OSError, ValueError):
        return False


def _sort_of_file(path: Path) -> str:
    """Which sort of entries a file has. Raises UsageError for one of which there are no pictures."""
    from layouts.atoms import AtomFileError
    from layouts.atoms.document import read
    from verify.core.errors import MalformedError
    from verify.core.files import meant_for

    try:
        sort = meant_for(read(path).tables)
    except AtomFileError as error:
        raise MalformedError(error.errors) from error
    if sort in ("atom", ""):
        return "atoms"
    if sort not in SORTS:
        raise UsageError(f"{path}: there are no pictures of a file for verify.{sort}")
    return sort


def _of_report(what: str, options: Namespace) -> Shown:
    from verify.show.reports import of_report

    pictures, code = of_report(Path(what), options)
    return Shown(tuple(pictures), code)


def _of_instruction(what: str, options: Namespace) -> Shown:
    from verify.show.instructions import of_instruction

    return Shown((of_instruction(what, window(options)),))


def _entries(what: str, options: Namespace, read: Callable[[Path], Found[S]], sort: str) -> tuple[list[S], Shown]:
    """The entries of a file that can be read, those that --only names; and the exit code of the others."""
    from verify.cli import inputs

    given = Namespace(files=[what], only=options.only)
    found = inputs.in_files(given, read, sort)
    return found, _without(given)


def _without(options: Namespace) -> Shown:
    """Nothing, with the exit code of the entries that could not be read."""
    return Shown(code=Exit.USAGE if getattr(options, "malformed", ()) else Exit.OK)


def _of_tilings(what: str, options: Namespace) -> Shown:
    from collections import ChainMap

    from layouts.atoms import registry
    from verify.atom import selection
    from verify.core.verdict import Check
    from verify.tiling import spec
    from verify.tiling.proof import Prover
    from verify.tiling.properties import case

    own = selection.pool(options.atoms, options) if options.atoms else {}
    pool = ChainMap(dict(own), registry())  # type: ignore[arg-type]
    entries, found = _entries(what, options, spec.read, "tiling")
    found += _without(options)  # the atoms of --atoms
    for one in entries:
        if options.thread is None:
            found += of_case(case(one, pool, Prover(frozenset({Check.ISA}))), window(options))
        else:
            found += Shown((_of_thread(one, pool, options.thread, window(options)),))
    return found


def _of_thread(one: TilingSpec, pool: Mapping[str, AnyAtom], thread: int, part: Window) -> Picture:
    """The steps to the part of a thread of a tiling; UsageError where there are none."""
    from verify.tiling.bind import IllFormed, OutOfTile, find, prepare
    from verify.tiling.drawing import of_thread

    try:
        return of_thread(prepare(one, find(one, pool)), thread, part)
    except IllFormed as error:
        raise UsageError(f"{one.name}: {error.part} = {error.text} is no (thread, value) layout: {error}") from error
    except OutOfTile as error:
        raise UsageError(f"{one.name}: {error}") from error


def _of_movements(what: str, options: Namespace) -> Shown:
    from verify.core.verdict import Check
    from verify.movement import bind
    from verify.movement.properties import MovementChecker

    checker = MovementChecker(frozenset({Check.ISA}))
    entries, found = _entries(what, options, bind.read, "movement")
    for movement in entries:
        found += of_case(checker.case(movement), window(options))
    return found


def _of_indices(what: str, options: Namespace) -> Shown:
    from verify.cli import arguments
    from verify.index import bind
    from verify.index.properties import case

    entries, found = _entries(what, options, bind.read, "map")
    for entry in entries:
        if entry.spec.runs_code:
            arguments.check_execution(options.allow_exec)
        found += of_case(case(entry), window(options))
    return found


def _of_atoms(names: Sequence[str], files: Sequence[str], options: Namespace) -> Shown:
    from verify.atom import selection

    pool = selection.pool(files, options)
    chosen = [pool[name] for name in selection.chosen(names, None, pool)]
    found = _without(options)
    for atom in chosen:
        found += of_atom(atom, options.table, window(options))
    return found


def of_atom(entry: AnyAtom, table: bool = False, part: Window = WHOLE) -> Shown:
    """The picture of an atom after the check `isa`, or the element of each (thread, value); the check's exit code."""
    from verify.atom.checker import AtomChecker, prepared
    from verify.core.verdict import Check

    found = of_case(AtomChecker(frozenset({Check.ISA})).case(entry), part)
    if table:
        (picture,) = found.pictures
        found = replace(found, pictures=(replace(picture, panels=tuple(_tables(prepared(entry), part))),))
    return found


def of_case(case: Case, part: Window = WHOLE) -> Shown:
    """The picture of a case with its verdict by the check `isa`, and its exit code."""
    from verify.report import Report

    picture = case.picture(part) if case.picture is not None else Picture(case.name, (), notes=(case.headline,))
    return Shown((replace(picture, status=case.headline + " (isa)" * case.uses_isa),), Report((case,)).exit())


def _tables(subject: BoundAtom, part: Window) -> Iterator[Panel]:
    """The element of each (thread, value) of each operand."""
    from verify.maps.fragment_map import Axis
    from verify.maps.of_layout import of_layout
    from verify.pictures import maps

    for number, one in enumerate(one for one in subject.parts if one.well_formed):
        if one.layout is None:
            found: FragmentMap = one.points
        else:
            tile, points = tuple(map(Axis, one.axes, one.extent)), ranges(one.domain, part)
            found = of_layout(one.layout, tile, ("thread", "value"), part=points)
        heading = f"{one.name} (thread, value) -> ({', '.join(one.axes)})"
        yield maps.table(one.name, found, heading, window=part, place=(number, 0))


def _of_layout(text: str, options: Namespace) -> Shown:
    """Draw a layout: as an operand, onto a tile, as a table of its points, or of its offsets."""
    from verify.layout import command
    from layouts import LayoutError
    from verify.core.verdict import Check
    from verify.maps.fragment_map import MapError

    try:
        tile = None if options.onto is None else command.tile_of(options.onto)
        if options.ptx is not None:
            if len(options.operand) != 1:
                raise UsageError("--ptx needs one --operand: which operand of the instruction is the layout?")
            (case,) = command.of_operand(text, options.ptx, options.operand[0], tile, {Check.ISA}).cases
            return of_case(case, window(options))
        if tile is not None:
            (case,) = command.onto_tile(text, tile, {Check.ISA}).cases
            return of_case(case, window(options))
        return Shown((_layout(text, command.read(text), options),))
    except (LayoutError, MapError, command.PointsError) as error:
        raise UsageError(f"{text} is not drawn: {error}") from error


def _layout(text: str, layout: Layout | ComposedLayout, options: Namespace) -> Picture:
    """The table of a layout's points, or of its offsets. Raises LayoutError or MapError where it has none."""
    from verify.layout import command
    from verify.pictures import layouts, maps

    if options.banks and layouts.has_coordinates(layout):
        raise SpecError("banks", f"the values of {text} are coordinates, which have no bank")
    if not options.table and not layouts.has_coordinates(layout):
        return layouts.of_layout(text, layout, options.banks or 0, window(options))
    pairs = command.as_pairs(layout)
    found = _points(pairs, *ranges(command.domain_of(pairs), window(options)))
    return Picture(text, (maps.table("", found, text, window=window(options)),), shades="thread")


def _points(pairs: Layout | ComposedLayout, threads: range, values: range) -> FragmentMap:
    """The map of some threads and values of a layout, which may have no values elsewhere."""
    from verify.layout import command
    from verify.maps.fragment_map import Axis, FragmentMap, Origin, Point
    from verify.pictures import points

    if axes := command.axes_of(pairs):
        return command.points_of(pairs, (threads, values), **{f"@{mode}": command.LARGEST for mode in range(axes)})
    domain = command.domain_of(pairs)
    found = points.within(pairs, domain[0], threads, values)
    inputs = Axis("thread", domain[0]), Axis("value", domain[1])
    images: dict[Point, tuple[Point, ...]] = {point: ((element,),) for point, element in found.items()}
    return FragmentMap(inputs, (Axis("element", command.LARGEST),), images, Origin(str(pairs)))


DRAWN: Mapping[str, Callable[[str, Namespace], Shown]] = {
    "atom": lambda what, options: _of_atoms([what], options.atoms, options),
    "atoms": lambda what, options: _of_atoms(options.only, [what], options),
    "layout": _of_layout,
    "instruction": _of_instruction,
    "tiling": _of_tilings,
    "movement": _of_movements,
    "index": _of_indices,
    "report": _of_report,
}


def _of_operands(picture: Picture, operands: Sequence[str]) -> Picture:
    """The picture with the panels of these names, with all where none is given."""
    names = [panel.name for panel in picture.panels if panel.name]
    if operands and not names:
        raise SpecError("operand", f"{picture.title} has no panels with names: leave the option out")
    if unknown := [name for name in operands if name not in names]:
        raise SpecError("operand", f"{picture.title} has {', '.join(names)}, not {unknown[0] or repr('')}")
    return picture.only(operands) if operands else picture


def _met(picture: Picture) -> Picture:
    """The picture with the panels that the window meets; the others are named in a note."""
    left = [panel for panel in picture.panels if not all(panel.extent)]
    if not left:
        return picture
    met = tuple(panel for panel in picture.panels if all(panel.extent))
    notes = (f"outside the window: {'; '.join(map(_extents, left))}",)
    return replace(picture, panels=met, notes=(*picture.notes, *notes))


def _check_window(panels: Sequence[Panel]) -> None:
    """Raise SpecError for the panels that are outside the window; it names the one that has most."""
    for number, option in enumerate(("rows", "columns")):
        if outside := [panel for panel in panels if not panel.extent[number]]:
            largest = max(outside, key=lambda panel: panel.whole[number])
            others = f"; none of {len(outside)} panels has more" if len(outside) > 1 else ""
            raise SpecError(option, _extents(largest) + others)


def _extents(panel: Panel) -> str:
    return f"{panel.heading} has {panel.whole[0]} rows and {panel.whole[1]} columns"
