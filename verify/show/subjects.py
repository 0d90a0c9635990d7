# SPDX-License-Identifier: Apache-2.0
"""What an argument of `lanecheck show` names, and its pictures: atoms, layouts, instructions, files, reports."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from layouts.toml.errors import AtomFileError
from verify import kinds
from verify.cli import arguments, inputs
from verify.core.errors import Exit, MalformedError, SpecError, UsageError
from verify.core.files import describe_source, purpose
from verify.core.names import S
from verify.core.verdict import Check
from verify.kind import Kind, Resources
from verify.pictures.picture import WHOLE, Panel, Picture, Window
from verify.report import Case
from verify.report.loaded import LoadedFiles
from verify.show.options import IN_FILES, REPORT, check, is_given, window
from verify.show.reports import of_report


@dataclass(frozen=True)
class ShownPictures:
    """The pictures of a run, and its exit code: that of the check `isa`, never of a proof."""

    pictures: tuple[Picture, ...] = ()
    code: Exit = Exit.OK

    def __add__(self, other: ShownPictures) -> ShownPictures:
        return ShownPictures((*self.pictures, *other.pictures), worse(self.code, other.code))


ORDER = (Exit.OK, Exit.UNDECIDED, Exit.REFUTED, Exit.USAGE, Exit.CONTRADICTION)


def worse(first: Exit, second: Exit) -> Exit:
    """Return the exit code of two runs together."""
    return max(first, second, key=ORDER.index)


def draw_arguments(options: Namespace) -> ShownPictures:
    """Return the pictures of every argument, of the panels, rows and columns that the options choose."""
    recognized = [_recognize(what) for what in options.what]
    check(options, [sort for sort, _ in recognized])
    shown = ShownPictures()
    for what, (sort, kind) in zip(options.what, recognized, strict=True):
        shown += _draw(what, sort, kind, options)
    chosen = [_of_operands(picture, options.operand) for picture in shown.pictures]
    pictures = [_keep_met_panels(picture) for picture in chosen]
    if not any(picture.panels for picture in pictures):
        _check_window([panel for picture in chosen for panel in picture.panels])
    return ShownPictures(tuple(picture for picture in pictures if picture.panels or picture.notes), shown.code)


def _recognize(what: str) -> tuple[str, Kind[Any] | None]:
    """Return the sort of an argument, as `options.readers` names it, and its kind; a report has none.

    Raises UsageError for a file of which there are no pictures.
    """
    path = Path(what)
    if os.path.isdir(what):
        raise UsageError(f"{what} is a folder: name a FILE in it")
    if what.endswith(".json") or _begins(path, b"{"):
        return REPORT, None
    if os.path.isfile(what) or what.endswith(".toml"):
        kind = _kind_of_file(path)
        return IN_FILES + kind.plural, kind
    drawn = [kind for kind in kinds.all() if kind.drawing is not None or kind.shipped is not None]
    surest = kinds.find_surest(what, drawn) or kinds.of("atom")
    return surest.name, surest


def _draw(what: str, sort: str, kind: Kind[Any] | None, options: Namespace) -> ShownPictures:
    """Return the pictures of one argument."""
    if kind is None:
        pictures, code = of_report(Path(what), _atoms(options.atoms), options)
        return ShownPictures(tuple(pictures), code)
    if sort.startswith(IN_FILES):
        return _of_file(what, kind, options)
    if kind.drawing is not None:
        return of_drawn(kind.drawing.draw(what, options), window(options))
    return _of_name(what, kind, options)


def _begins(path: Path, first: bytes) -> bool:
    """Whether a file begins with these bytes."""
    try:
        with path.open("rb") as file:
            return file.read(len(first)) == first
    except (OSError, ValueError):
        return False


def _kind_of_file(path: Path) -> Kind[Any]:
    """Return the kind of a file's subjects. Raise UsageError for one of which there are no pictures."""
    if fault := describe_source(path):
        raise UsageError(f"{path}: {fault}")
    try:
        kind = kinds.of_file(path)
    except AtomFileError as error:
        raise MalformedError(error.errors) from error
    if kind.read is None or kind.verifier is None:
        raise UsageError(f"{path}: there are no pictures of {kind.plural}; {purpose(path)}")
    return kind


def _of_file(what: str, kind: Kind[Any], options: Namespace) -> ShownPictures:
    """Return the pictures of the entries of a file that can be read, of those that --only names."""
    own = _atoms(options.atoms if kind.names_atoms else ())
    loaded = _load(kind, [what])
    if kind.shipped is None:
        subjects = list(loaded.only(options.only, kind.noun).items)
    else:
        pool = {subject.name: subject for subject in loaded.items}
        subjects = [pool[name] for name in kind.choose(options.only, pool)]
    return _of_subjects(kind, subjects, own, options) + _without(loaded) + _without(own)


def _of_name(what: str, kind: Kind[Any], options: Namespace) -> ShownPictures:
    """Return the pictures of the subjects that a name selects, of the user's files or of those shipped."""
    own = _atoms(options.atoms)
    pool = {atom.name: atom for atom in own.items} or (kind.shipped() if kind.shipped is not None else {})
    return _of_subjects(kind, [pool[name] for name in kind.choose([what], pool)], own, options) + _without(own)


def _load(kind: Kind[S], files: Sequence[str]) -> LoadedFiles[S]:
    if kind.read is None:
        raise TypeError(f"{kind.plural} are in no file")
    return inputs.load(files, kind.read, kind.table, unique=kind.shipped is not None)


def _atoms(files: Sequence[str]) -> LoadedFiles[Any]:
    """Return the atoms of --atoms."""
    return _load(kinds.of("atom"), files)


def _without(loaded: LoadedFiles[Any]) -> ShownPictures:
    """Nothing, with the exit code of the entries that could not be read."""
    return ShownPictures(code=Exit.USAGE if loaded.failures else Exit.OK)


def _of_subjects(kind: Kind[S], subjects: Sequence[S], own: LoadedFiles[Any], options: Namespace) -> ShownPictures:
    """Return the pictures of some subjects after the check `isa`, or those that an option asks for."""
    resources = Resources(frozenset({Check.ISA}), kinds.with_shipped({atom.name: atom for atom in own.items}))
    asked = next((name for name in kind.pictures if is_given(options, name)), "")
    if kind.verifier is None:
        raise TypeError(f"{kind.plural} are not verified")
    verify, part, shown = kind.verifier(resources), window(options), ShownPictures()
    for subject in subjects:
        if kind.runs_code is not None and kind.runs_code(subject):
            arguments.check_execution(options.allow_exec)
        if asked:
            shown += of_drawn(kind.pictures[asked](subject, resources, getattr(options, asked), part), part)
        else:
            shown += of_drawn(verify(subject), part)
    return shown


def of_drawn(drawn: Picture | Case, part: Window = WHOLE) -> ShownPictures:
    """Return the picture of a case with its verdict by the check `isa`, and its exit code; a picture alone has none."""
    if isinstance(drawn, Picture):
        return ShownPictures((drawn,))
    picture = drawn.picture(part) if drawn.picture is not None else Picture(drawn.name, (), notes=(drawn.headline,))
    return ShownPictures((replace(picture, status=drawn.headline + " (isa)" * drawn.uses_isa),), drawn.exit())


def _of_operands(picture: Picture, operands: Sequence[str]) -> Picture:
    """Return the picture with the panels of these names, with all where none is given."""
    names = [panel.name for panel in picture.panels if panel.name]
    if operands and not names:
        raise SpecError("operand", f"{picture.title} has no panels with names: leave the option out")
    if unknown := [name for name in operands if name not in names]:
        raise SpecError("operand", f"{picture.title} has {', '.join(names)}, not {unknown[0] or repr('')}")
    return picture.only(operands) if operands else picture


def _keep_met_panels(picture: Picture) -> Picture:
    """Return the picture with the panels that the window meets; the others are named in a note."""
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
            note = f"; none of {len(outside)} panels has more" if len(outside) > 1 else ""
            raise SpecError(option, _extents(largest) + note)


def _extents(panel: Panel) -> str:
    return f"{panel.heading} has {panel.whole[0]} rows and {panel.whole[1]} columns"
