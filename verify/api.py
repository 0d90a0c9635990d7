# SPDX-License-Identifier: Apache-2.0
"""The commands as functions: they take a name, a file or a value, and return a Report.

They raise UsageError for a file that cannot be read or is of another sort, and for arguments that do not go together,
SpecError for a name that selects nothing and for a tiling that cannot exist, each with the line that the command would
print. A refutation raises nothing: a report is true only if it is verified, `report.check()` raises AssertionError with
its text, and `report.exit()` is the exit code of the command.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from layouts import ComposedLayout, Layout
from layouts.toml.errors import AtomFileError
from verify import kinds
from verify.core.errors import UsageError
from verify.core.files import open_document
from verify.core.names import select
from verify.core.verdict import Check
from verify.core.wording import in_words
from verify.gate import GateEntry, Suite
from verify.kind import Kind
from verify.report import Report
from verify.show.function import Format, PictureText, draw

if TYPE_CHECKING:
    from layouts.atoms import AnyAtom
    from verify.identify.report import Identified
    from verify.movement.bind import Movement
    from verify.tiling.spec import TilingSpec

__all__ = [
    "check",
    "show",
    "verify_atom",
    "verify_identify",
    "verify_index",
    "verify_kind",
    "verify_layout",
    "verify_map",
    "verify_movement",
    "verify_tiling",
]


def check(
    *what: object,
    kind: str = "",
    require: Sequence[str] = (),
    allow_exec: bool = False,
    allow_unchecked: bool = False,
    **options: Any,
) -> Report:
    """Return the verdicts on whatever the arguments name, as `lanecheck check` does.

    What is given may be a path or its text: a TOML file of any kind, a PTX file with its claim, a header or a folder;
    a text: a layout, an atom's name, prefix or glob, an instruction, a law, a project; or a layout as a value. Its kind
    is recognized, or said by `kind`, as any other value needs. `options` are those of that kind, such as `onto` of a
    layout and `claim` of a kernel; `require` names checks that must have been made.

    >>> check("((4,8),(2,2)):((32,1),(16,8))", onto=(16, 8)).check()
    <Report OK: 1 a bijection onto 16x8; not compared with an instruction: add --ptx … --operand C>
    >>> check("examples/movement.toml", "SM80_16x8x8_F32F16F16F32_TN").exit().name
    'OK'
    >>> bool(check("examples/kernel/fragment.ptx", claim="examples/kernel/fragment.toml"))
    False

    Raises UsageError for what no kind recognizes, and for an option that its kind doesn't read.
    """
    if not what:
        raise UsageError("check what? Give a file, a folder, a layout, or a name")
    named: dict[Kind[Any], list[str]] = {}
    reports: list[Report] = []
    for argument in what:
        if isinstance(argument, str | Path | Layout | ComposedLayout):
            row = kinds.of(kind) if kind else kinds.recognize(str(argument))
            named.setdefault(row, []).append(str(argument))
        elif not kind:
            raise UsageError(f"{argument!r:.100} is neither a path nor a text: say its kind=")
        else:
            reports.append(verify_kind(kind, argument, allow_exec=allow_exec))
    reports += [_of_kind(row, texts, allow_exec, options) for row, texts in named.items()]
    return Report(
        tuple(case for report in reports for case in report.cases),
        _checks_of(require),
        missing=sum(report.missing for report in reports),
        failures=tuple(failure for report in reports for failure in report.failures),
        allow_unchecked=allow_unchecked,
    )


def _of_kind(row: Kind[Any], texts: Sequence[str], allow_exec: bool, options: Mapping[str, Any]) -> Report:
    """Return the report on what some texts name of one kind."""
    if row.report is not None:
        known = signature(row.report).parameters.keys() - {"what", "allow_exec"}
        if unknown := options.keys() - known:
            read = f"it reads {in_words(sorted(known))}" if known else "it reads no option"
            raise UsageError(f"{min(unknown)}= is not read for {row.singular}: {read}")
        return row.report(texts, allow_exec=allow_exec, **options)
    if options:
        raise UsageError(f"{min(options)}= is not read for {row.plural}")
    if row.read is None or row.verifier is None:
        raise UsageError(f"{texts[0]:.100}: {row.plural} have no verdicts; `lanecheck check` runs them")
    suite, entries = _suite(allow_exec), []
    for text in texts:
        is_file = row.shipped is None or Path(text).is_file() or text.endswith(".toml")
        entries += _readable(suite.read_entries(Path(text)) if is_file else suite.select([text], None, row.name))
    return _report(entries, (), False)


def show(what: str | Path | Layout | ComposedLayout, /, *, format: Format = "text", **options: Any) -> PictureText:
    """Return the picture of what an argument names, as `lanecheck show` draws it: text, SVG, HTML or LaTeX.

    `options` are those of the command, such as `onto` of a layout, `operand`, and `rows`, a pair (first, last + 1).
    What it returns is a text that a notebook draws if it is SVG or HTML.

    >>> show("(2,2):(1,2)", onto=(2, 2)).splitlines()[0]
    '(2,2):(1,2): a bijection onto 2x2; not compared with an instruction: add --ptx … --operand C'
    >>> show("SM80_16x8x8_F32F16F16F32_TN", format="svg")[:4]
    '<svg'

    Raises UsageError for what has no picture, and for an option that isn't read.
    """
    return draw(str(what), format, options)


def verify_atom(
    atom: str | Path | AnyAtom,
    file: str | Path | None = None,
    *,
    require: Sequence[str] = (),
    allow_unchecked: bool = False,
) -> Report:
    """Return the verdicts on atoms: those that a name selects (exact, prefix or glob), all of a file, or one as a
    value.

    A name is looked up in `file`, or else among the shipped atoms. `require` names checks that must have been made.

    >>> verify_atom("SM80_16x8x8_F32F16F16F32_TN").check()
    <Report OK: 1 VERIFIED>
    """
    if isinstance(atom, Path):
        return _report(_whole(atom, file, "atom"), require, allow_unchecked)
    if isinstance(atom, str):
        return _report(_readable(_suite(False).select([atom], file, "atom")), require, allow_unchecked)
    return _report([_suite(False).entry(kinds.of("atom"), atom)], require, allow_unchecked)


def verify_kind(
    kind: str,
    subject: object,
    file: str | Path | None = None,
    *,
    allow_exec: bool = False,
    require: Sequence[str] = (),
    allow_unchecked: bool = False,
) -> Report:
    """Return the verdicts on subjects of a kind: one of a file by name, all of a file, or one as a value.

    `allow_exec` lets functions of the user be called in CI too; `require` names checks that must have been made.

    >>> verify_kind("movement", Path("examples/movement.toml")).exit().name
    'OK'
    """
    row = kinds.of(kind)
    if isinstance(subject, str | Path):
        return _report(_find_entries(subject, file, kind, allow_exec), require, allow_unchecked)
    entry = _suite(allow_exec).entry(row, subject)  # type: ignore[arg-type]
    return _report([entry], require, allow_unchecked)


def verify_tiling(
    tiling: str | Path | TilingSpec, file: str | Path | None = None, *, allow_unchecked: bool = False
) -> Report:
    """Return the verdicts on tilings: one of a file by name, all of a file, or one as a value.

    >>> from verify.tiling.spec import TilingSpec, atoms_layout
    >>> mine = TilingSpec("mine", "SM80_16x8x16_F32F16F16F32_TN", atoms_layout("2,2,1"), tile=(32, 16, 16))
    >>> verify_tiling(mine).check()
    <Report OK: 1 VERIFIED>
    """
    return verify_kind("tiling", tiling, file, allow_unchecked=allow_unchecked)


def verify_movement(
    movement: str | Path | Movement, file: str | Path | None = None, *, allow_unchecked: bool = False
) -> Report:
    """Return the verdicts on movements: one of a file by name, all of a file, or one as a value."""
    return verify_kind("movement", movement, file, allow_unchecked=allow_unchecked)


def verify_layout(
    layout: object,
    onto: tuple[int, int] | int | None = None,
    equals: object | None = None,
    *,
    ptx: str | None = None,
    operand: str | None = None,
) -> Report:
    """Return the verdicts on one layout: as a map onto a tile (element x + M y), or as the same function as another.

    With `ptx` and `operand` it is compared with that operand of an instruction; otherwise no instruction is compared.

    A layout is a text in any spelling, or an object of ours, of the CuTe DSL, of pycute or of tensor-layouts.

    >>> verify_layout("((4,8),(2,2)):((32,1),(16,8))", onto=(16, 8)).exit().name
    'OK'
    >>> bool(verify_layout("((4,8),8):((32,1),8)", onto=(8, 32)))
    False

    Raises UsageError for a text that isn't a layout, and SpecError unless it is said what the layout is compared with.
    """
    keys = {"layout": layout, "onto": onto, "equals": equals, "ptx": ptx, "operand": operand}
    return verify_kind("layout", kinds.bind("layout", keys))


def verify_index(
    index: str | Path | None = None, file: str | Path | None = None, *, allow_exec: bool = False, **given: Any
) -> Report:
    """Return the verdicts on index arithmetic: one entry of a file by name, all of a file, or one by its keys.

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
        return verify_kind("index", index, file, allow_exec=allow_exec)
    return verify_kind("index", kinds.bind("index", given), allow_exec=allow_exec)


def verify_map(mapping: object, ptx: str, operand: str, **select: str | int) -> Report:
    """Return the verdicts on a map of an operand: a FragmentMap, a function of lane and value, or a (lane, value)
    layout.

    A function returns (row, col), as the ISA counts them. A layout is a text in any spelling, or an object of ours, of
    the CuTe DSL, of pycute or of tensor-layouts.

    >>> mma = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
    >>> verify_map(lambda lane, i: (lane // 4 + i // 2 * 8, lane % 4 * 2 + i % 2), mma, "C").check()
    <Report OK: 1 VERIFIED>
    >>> bool(verify_map("Layout(((4,8),(2,2)),((16,1),(8,64)))", mma, "C"))
    False
    """
    keys = {"map": mapping, "ptx": ptx, "operand": operand, "select": select}
    return verify_kind("index", kinds.bind("index", keys))


def verify_identify(text: str, tile: tuple[int, int] | None = None, forms: Sequence[str] = ()) -> Identified:
    """Return the operands that a map is: a layout (of a tile, if it is known), F2 bases, a table's file or ATOM:A.

    `forms` are other forms to write it in: layout, bases, c.

    >>> found = verify_identify("((4,8),(2,2)):((32,1),(16,8))", tile=(16, 8), forms=["c"])
    >>> found.matches[0].relation.value, found.forms[0].text
    ('equals', 'row = lane/4 + i/2*8; col = lane%4*2 + i%2')

    Raises UsageError and SpecError for a text that isn't a map.
    """
    from verify.identify import query, report

    return report.identify_map(query.of_text(text, tile=tile), forms)


@lru_cache(maxsize=2)
def _suite(allow_exec: bool) -> Suite:
    """Return the suite of the process: its solver, recordings and evidence are shared by all calls."""
    return Suite(allow_exec)


def _find_entries(subject: str | Path, file: str | Path | None, what: str, allow_exec: bool = False) -> list[GateEntry]:
    """Return the entries of a file, or those of `file` that a name selects."""
    if isinstance(subject, Path):
        return _whole(subject, file, what, allow_exec)
    if file is None:
        raise UsageError(f"verify_{what}: {subject!r} of which file? Give file=")
    entries = {entry.name: entry for entry in _entries(Path(file), what, allow_exec)}
    return [entries[name] for name in select([subject], entries, what)]


def _whole(path: Path, file: str | Path | None, sort: str, allow_exec: bool = False) -> list[GateEntry]:
    """All entries of a file, in which nothing else is named."""
    if file is not None:
        raise UsageError(f"verify_{sort}: all of {path}, or a name in file={file}: give one of the two")
    return _entries(path, sort, allow_exec)


def _entries(path: Path, sort: str, allow_exec: bool = False) -> list[GateEntry]:
    """Return the entries of a file of one sort; raises UsageError for another one."""
    try:
        open_document(path, sort)
    except AtomFileError as error:
        raise UsageError(str(error)) from error
    return _readable(_suite(allow_exec).read_entries(path))


def _readable(answer: tuple[list[GateEntry], str]) -> list[GateEntry]:
    entries, problem = answer
    if problem:
        raise UsageError(problem)
    return entries


def _report(entries: Iterable[GateEntry], require: Sequence[str], allow_unchecked: bool) -> Report:
    required = _checks_of(require)
    return Report(tuple(case for entry in entries for case in entry.cases()), required, allow_unchecked=allow_unchecked)


def _checks_of(require: Sequence[str]) -> frozenset[Check]:
    """Return the checks of these names. Raises UsageError."""
    if unknown := {*require} - {*Check}:
        raise UsageError(f"require: {sorted(unknown)[0]!r} isn't a check: {', '.join(Check)}")
    return frozenset(map(Check, require))
