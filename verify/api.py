# SPDX-License-Identifier: Apache-2.0
"""The commands as functions: they take a name, a file or a value, and return a Report.

They raise UsageError for a file that cannot be read or is of another sort, and for arguments that do not go together,
SpecError for a name that selects nothing and for a tiling that cannot exist, each with the line that the command would
print. A refutation raises nothing: a report is true only if it is verified, `report.check()` raises AssertionError with
its text, and `report.exit()` is the exit code of the command.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verify.core.errors import SpecError, UsageError
from verify.core.names import select
from verify.core.verdict import Check
from verify.gate import Entry, Suite
from verify.layout.command import check_operand, compare, of_operand, onto_tile, plain
from verify.report import Report

if TYPE_CHECKING:
    from layouts.atoms import AnyAtom
    from verify.identify.report import Identified
    from verify.movement.bind import Movement
    from verify.tiling.spec import TilingSpec

__all__ = [
    "verify_atom",
    "verify_identify",
    "verify_index",
    "verify_layout",
    "verify_map",
    "verify_movement",
    "verify_tiling",
]


def verify_atom(
    atom: str | Path | AnyAtom,
    file: str | Path | None = None,
    *,
    require: Sequence[str] = (),
    allow_unchecked: bool = False,
) -> Report:
    """The verdicts on atoms: those that a name selects (exact, prefix or glob), all of a file, or one as a value.

    A name is looked up in `file`, or else among the shipped atoms. `require` names checks that must have been made.

    >>> verify_atom("SM80_16x8x8_F32F16F16F32_TN").check()
    <Report OK: 1 VERIFIED>
    """
    if isinstance(atom, Path):
        return _report(_whole(atom, file, "atom"), require, allow_unchecked)
    if isinstance(atom, str):
        return _report(_readable(_suite(False).select([atom], file)), require, allow_unchecked)
    return _report([_suite(False).of_atom(atom)], require, allow_unchecked)


def verify_tiling(
    tiling: str | Path | TilingSpec, file: str | Path | None = None, *, allow_unchecked: bool = False
) -> Report:
    """The verdicts on tilings: one of a file by name, all of a file, or one as a value.

    >>> from verify.tiling.spec import TilingSpec, atoms_layout
    >>> mine = TilingSpec("mine", "SM80_16x8x16_F32F16F16F32_TN", atoms_layout("2,2,1"), tile=(32, 16, 16))
    >>> verify_tiling(mine).check()
    <Report OK: 1 VERIFIED>
    """
    if isinstance(tiling, str | Path):
        return _report(_named(tiling, file, "tiling"), (), allow_unchecked)
    return _report([_suite(False).of_tiling(tiling)], (), allow_unchecked)


def verify_movement(
    movement: str | Path | Movement, file: str | Path | None = None, *, allow_unchecked: bool = False
) -> Report:
    """The verdicts on movements: one of a file by name, all of a file, or one as a value."""
    if isinstance(movement, str | Path):
        return _report(_named(movement, file, "movement"), (), allow_unchecked)
    return _report([_suite(False).of_movement(movement)], (), allow_unchecked)


def verify_layout(
    layout: object,
    onto: tuple[int, int] | int | None = None,
    equals: object | None = None,
    *,
    ptx: str | None = None,
    operand: str | None = None,
) -> Report:
    """The verdicts on one layout: as a map onto a tile (element x + M y), or as the same function as another.

    With `ptx` and `operand` it is compared with that operand of an instruction; otherwise no instruction is compared.

    A layout is a text in any spelling, or an object of ours, of the CuTe DSL, of pycute or of tensor-layouts.

    >>> verify_layout("((4,8),(2,2)):((32,1),(16,8))", onto=(16, 8)).exit().name
    'OK'
    >>> bool(verify_layout("((4,8),8):((32,1),8)", onto=(8, 32)))
    False

    Raises UsageError for a text that is no layout, and SpecError unless it is said what the layout is compared with.
    """
    check_operand(ptx, operand)
    if (onto is None and ptx is None) == (equals is None):
        raise SpecError("", "verify_layout: give onto or equals, one of the two; or ptx and operand")
    text = _text_of(layout)
    if equals is not None:
        return compare(text, _text_of(equals))
    if onto is None:
        return of_operand(text, ptx or "", operand or "")
    tile = (onto, 1) if isinstance(onto, int) else onto
    if not (isinstance(tile, tuple) and len(tile) == 2 and all(type(extent) is int and extent > 0 for extent in tile)):
        raise SpecError("onto", f"verify_layout: expected a tile such as (16, 8) or 128, found {onto!r:.60}")
    return onto_tile(text, tile) if ptx is None else of_operand(text, ptx, operand or "", tile)


def _text_of(layout: object) -> str:
    """The text of a layout, or of an object of the CuTe DSL, pycute or tensor-layouts. Raises UsageError."""
    from layouts import LayoutError
    from layouts.pasted import from_object

    if isinstance(layout, str):
        return layout
    try:
        found = from_object(layout)
    except LayoutError as error:
        raise UsageError(str(error)) from error
    return str(found) if plain(found) or not hasattr(found, "stride") else str(layout)


def verify_index(
    index: str | Path | None = None, file: str | Path | None = None, *, allow_exec: bool = False, **given: Any
) -> Report:
    """The verdicts on index arithmetic: one entry of a file by name, all of a file, or one by its keys.

    `allow_exec` lets a function of a file be called in CI too.

    >>> c = {"ptx": "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "operand": "C", "lang": "c"}
    >>> verify_index(**c, row="lane/4 + 8*(i/2)", col="lane%4*2 + i%2").check()
    <Report OK: 1 VERIFIED>
    >>> bool(verify_index(**c, row="lane/4 + 8*(i%2)", col="lane%4*2 + i/2"))
    False
    """
    if index is not None:
        if given:
            raise UsageError(f"verify_index: {index} or the keys of an entry, {', '.join(given)}: give one of the two")
        return _report(_named(index, file, "index", allow_exec), (), False)
    from verify.index.bind import bind
    from verify.index.spec import of_options

    return _report([_suite(allow_exec).of_index(bind(of_options(given)))], (), False)


def verify_map(found: object, ptx: str, operand: str, **select: str | int) -> Report:
    """The verdicts on a map of an operand: a FragmentMap, a function of lane and value, or a (lane, value) layout.

    A function returns (row, col), as the ISA counts them. A layout is a text in any spelling, or an object of ours, of
    the CuTe DSL, of pycute or of tensor-layouts.

    >>> mma = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
    >>> verify_map(lambda lane, i: (lane // 4 + i // 2 * 8, lane % 4 * 2 + i % 2), mma, "C").check()
    <Report OK: 1 VERIFIED>
    >>> bool(verify_map("Layout(((4,8),(2,2)),((16,1),(8,64)))", mma, "C"))
    False
    """
    from verify.index.bind import of_map

    return _report([_suite(False).of_index(of_map(found, ptx, operand, select))], (), False)


def verify_identify(text: str, tile: tuple[int, int] | None = None, forms: Sequence[str] = ()) -> Identified:
    """The operands that a map is: a layout (of a tile, if it is known), F2 bases, a table's file or ATOM:A.

    `forms` are other forms to write it in: layout, bases, c.

    >>> found = verify_identify("((4,8),(2,2)):((32,1),(16,8))", tile=(16, 8), forms=["c"])
    >>> found.matches[0].relation.value, found.forms[0].text
    ('equals', 'row = lane/4 + i/2*8; col = lane%4*2 + i%2')

    Raises UsageError and SpecError for a text that is no map.
    """
    from verify.identify import query, report

    return report.identified(query.of_text(text, tile=tile), forms)


@lru_cache(maxsize=2)
def _suite(allow_exec: bool) -> Suite:
    """The suite of the process: its solver, recordings and evidence are shared by all calls."""
    return Suite(allow_exec)


def _named(subject: str | Path, file: str | Path | None, what: str, allow_exec: bool = False) -> list[Entry]:
    """The entries of a file, or those of `file` that a name selects."""
    if isinstance(subject, Path):
        return _whole(subject, file, what, allow_exec)
    if file is None:
        raise UsageError(f"verify_{what}: {subject!r} of which file? Give file=")
    entries = {entry.name: entry for entry in _entries(Path(file), what, allow_exec)}
    return [entries[name] for name in select([subject], entries, what)]


def _whole(path: Path, file: str | Path | None, sort: str, allow_exec: bool = False) -> list[Entry]:
    """All entries of a file, in which nothing else is named."""
    if file is not None:
        raise UsageError(f"verify_{sort}: all of {path}, or a name in file={file}: give one of the two")
    return _entries(path, sort, allow_exec)


def _entries(path: Path, sort: str, allow_exec: bool = False) -> list[Entry]:
    """The entries of a file of one sort; raises UsageError for another one."""
    from layouts.atoms import AtomFileError
    from verify.core.files import opened

    try:
        opened(path, sort)
    except AtomFileError as error:
        raise UsageError(str(error)) from error
    return _readable(_suite(allow_exec).read(path))


def _readable(found: tuple[list[Entry], str]) -> list[Entry]:
    entries, problem = found
    if problem:
        raise UsageError(problem)
    return entries


def _report(entries: Iterable[Entry], require: Sequence[str], allow_unchecked: bool) -> Report:
    if unknown := {*require} - {*Check}:
        raise UsageError(f"require: {sorted(unknown)[0]!r} is no check: {', '.join(Check)}")
    cases = tuple(entry.case() for entry in entries)
    return Report(cases, frozenset(map(Check, require)), allow_unchecked=allow_unchecked)
