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
from verify.pictures.picture import Panel, Picture, Window

if TYPE_CHECKING:
    from layouts import ComposedLayout, Layout
    from layouts.atoms import AnyAtom
    from verify.binding.atom import BoundAtom
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
    found = Shown()
    for what in options.what:
        found += _of(what, options)
    pictures = [_chosen(picture, options) for picture in found.pictures]
    return Shown(tuple(picture for picture in pictures if picture.panels or picture.notes), found.code)


def _of(what: str, options: Namespace) -> Shown:
    path = Path(what)
    if what.endswith(".json") or _begins(path, b"{"):
        from verify.show.reports import of_report

        pictures, code = of_report(path, options)
        return Shown(tuple(pictures), code)
    if os.path.isfile(what) or what.endswith(".toml"):
        return _of_file(path, options)
    if LAYOUT.match(what):
        return _of_layout(what, options)
    if INSTRUCTION.fullmatch(what):
        from verify.show.instructions import of_instruction

        return Shown((of_instruction(what),))
    return _of_atoms([what], options.atoms, options)


def _begins(path: Path, first: bytes) -> bool:
    """Whether a file begins with these bytes."""
    try:
        with path.open("rb") as file:
            return file.read(len(first)) == first
    except (OSError, ValueError):
        return False


def _of_file(path: Path, options: Namespace) -> Shown:
    """The pictures of a file's entries, by what sort of entries it has."""
    from layouts.atoms import AtomFileError
    from layouts.atoms.document import read
    from verify.core.errors import MalformedError
    from verify.core.files import meant_for

    try:
        sort = meant_for(read(path).tables)
    except AtomFileError as error:
        raise MalformedError(error.errors) from error
    if sort in ("atom", ""):
        return _of_atoms(options.only, [str(path)], options)
    if sort in READERS:
        return READERS[sort](path, options)
    raise UsageError(f"{path}: there are no pictures of a file for verify.{sort}")


def _of_tilings(path: Path, options: Namespace) -> Shown:
    from collections import ChainMap

    from layouts.atoms import registry
    from verify.atom import selection
    from verify.cli import inputs
    from verify.core.verdict import Check
    from verify.tiling import spec
    from verify.tiling.proof import Prover
    from verify.tiling.properties import case

    own = selection.pool(options.atoms, options) if options.atoms else {}
    pool = ChainMap(dict(own), registry())  # type: ignore[arg-type]
    found = Shown()
    for one in inputs.in_files(Namespace(files=[str(path)], only=options.only), spec.read, "tiling"):
        if options.thread is None:
            found += of_case(case(one, pool, Prover(frozenset({Check.ISA}))))
        else:
            found += Shown((_of_thread(one, pool, options.thread),))
    return found


def _of_thread(one: TilingSpec, pool: Mapping[str, AnyAtom], thread: int) -> Picture:
    """The steps to the part of a thread of a tiling; UsageError where there are none."""
    from verify.tiling.bind import IllFormed, OutOfTile, find, prepare
    from verify.tiling.drawing import of_thread

    try:
        return of_thread(prepare(one, find(one, pool)), thread)
    except IllFormed as error:
        raise UsageError(f"{one.name}: {error.part} = {error.text} is no (thread, value) layout: {error}") from error
    except OutOfTile as error:
        raise UsageError(f"{one.name}: {error}") from error


def _of_movements(path: Path, options: Namespace) -> Shown:
    from verify.cli import inputs
    from verify.core.verdict import Check
    from verify.movement import bind
    from verify.movement.properties import MovementChecker

    found, checker = Shown(), MovementChecker(frozenset({Check.ISA}))
    for movement in inputs.in_files(Namespace(files=[str(path)], only=options.only), bind.read, "movement"):
        found += of_case(checker.case(movement))
    return found


def _of_indices(path: Path, options: Namespace) -> Shown:
    from verify.cli import arguments, inputs
    from verify.index import bind
    from verify.index.properties import case

    found = Shown()
    for entry in inputs.in_files(Namespace(files=[str(path)], only=options.only), bind.read, "map"):
        if entry.spec.runs_code:
            arguments.check_execution(options.allow_exec)
        found += of_case(case(entry))
    return found


READERS: Mapping[str, Callable[[Path, Namespace], Shown]] = {
    "tiling": _of_tilings,
    "movement": _of_movements,
    "index": _of_indices,
}


def _of_atoms(names: Sequence[str], files: Sequence[str], options: Namespace) -> Shown:
    from verify.atom import selection

    pool = selection.pool(files, options)
    chosen = [pool[name] for name in selection.chosen(names, None, pool)]
    found = Shown(code=Exit.USAGE if getattr(options, "malformed", ()) else Exit.OK)
    for atom in chosen:
        found += of_atom(atom, options.table)
    return found


def of_atom(entry: AnyAtom, table: bool = False) -> Shown:
    """The picture of an atom after the check `isa`, or the element of each (thread, value); the check's exit code."""
    from verify.atom.checker import AtomChecker, prepared
    from verify.core.verdict import Check

    found = of_case(AtomChecker(frozenset({Check.ISA})).case(entry))
    if table:
        (picture,) = found.pictures
        found = replace(found, pictures=(replace(picture, panels=tuple(_tables(prepared(entry)))),))
    return found


def of_case(case: Case) -> Shown:
    """The picture of a case with its verdict by the check `isa`, and its exit code."""
    from verify.report import Report

    picture = case.picture() if case.picture is not None else Picture(case.name, (), notes=(case.headline,))
    return Shown((replace(picture, status=f"{case.headline} (isa)"),), Report((case,)).exit())


def _tables(subject: BoundAtom) -> Iterator[Panel]:
    """The element of each (thread, value) of each operand."""
    from verify.maps.fragment_map import Axis, FragmentMap
    from verify.maps.of_layout import of_layout
    from verify.pictures import maps

    for number, part in enumerate(part for part in subject.parts if part.well_formed):
        tile = tuple(map(Axis, part.axes, part.extent))
        found: FragmentMap = part.points if part.layout is None else of_layout(part.layout, tile, ("thread", "value"))
        heading = f"{part.name} (thread, value) -> ({', '.join(part.axes)})"
        yield maps.table(part.name, found, heading, place=(number, 0))


def _of_layout(text: str, options: Namespace) -> Shown:
    """The picture of a layout: onto a tile, as a table of its points, or of its offsets."""
    import verify.layout as command
    from layouts import LayoutError
    from verify.core.verdict import Check
    from verify.maps.fragment_map import MapError

    if options.onto is not None:
        extent = command.tile_of(options.onto)
        (case,) = command.onto_tile(text, extent, {Check.ISA}).cases
        return of_case(case)
    try:
        return Shown((_layout(text, command.parsed(text), options),))
    except (LayoutError, MapError) as error:
        raise UsageError(f"{text} is not drawn: {error}") from error


def _layout(text: str, layout: Layout | ComposedLayout, options: Namespace) -> Picture:
    """The table of a layout's points, or of its offsets. Raises LayoutError or MapError where it has none."""
    import verify.layout as command
    from verify.pictures import layouts, maps

    if not options.table and not layouts.has_coordinates(layout):
        return layouts.of_layout(text, layout, options.banks or 0, _window(options))
    axes = command.axes_of(layout)
    outputs = {f"@{mode}": command.LARGEST for mode in range(axes)} or {"element": command.LARGEST}
    return Picture(text, (maps.table("", command.points_of(layout, **outputs), text),), shades="thread")


def _window(options: Namespace) -> Window | None:
    return (options.rows, options.columns) if options.rows and options.columns else None


def _chosen(picture: Picture, options: Namespace) -> Picture:
    """The picture with the panels, rows and columns that the options choose."""
    names = [panel.name for panel in picture.panels]
    if unknown := [name for name in options.operand if name not in names]:
        raise SpecError("operand", f"{picture.title} has {', '.join(names) or 'none'}, not {unknown[0]}")
    kept = picture.only(options.operand) if options.operand else picture
    if not (options.rows or options.columns):
        return kept
    return replace(kept, panels=tuple(_cut(kept.panels, options)))


def _cut(panels: Sequence[Panel], options: Namespace) -> Iterator[Panel]:
    for panel in panels:
        wanted = (options.rows, options.columns)
        ends = [
            range(0, count) if one is None else range(max(0, one.start - start), min(count, one.stop - start))
            for one, start, count in zip(wanted, panel.first, panel.extent, strict=True)
        ]
        if not (ends[0] and ends[1]):
            option = "rows" if not ends[0] else "columns"
            raise SpecError(option, f"{panel.heading} has {panel.whole[0]} rows and {panel.whole[1]} columns")
        yield panel.cut(*ends)
