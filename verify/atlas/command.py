# SPDX-License-Identifier: Apache-2.0
"""`lanecheck atlas`: a table of instructions with their atoms, the outcome of each check and the provenance."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from lanecheck.console.outputs import Unwritable, reserve_folder, write_file
from verify.atlas import page, report
from verify.atlas.rows import tabulate
from verify.atlas.without_atom import without_atom
from verify.atom import selection
from verify.atom.checker import AtomChecker
from verify.cli import arguments, ending, output
from verify.core.errors import Exit, UsageError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping

    from layouts.atoms import AnyAtom
    from verify.atlas.rows import Atlas
    from verify.core.verdict import Check

FORMATS = ("text", "markdown", "json", "html")
FILES = {"markdown": "atlas.md", "json": "atlas.json", "html": "atlas.html"}
DESCRIPTION = """The table of instructions with the outcome of each check, the verdicts and the provenance, of all atoms
or of those that are named. An atom is verified by a check that confirms every claim which requires it: isa and proof
what each operand equals, gpu the relation. Known defects are expected to be refuted, and fail the run when they are
not. With all atoms a second table follows: the instructions without an atom, with the layouts of the ISA tables."""
EXAMPLE = "--arch sm80 --by family"


def main(argv: Sequence[str] | None = None) -> int:
    """Print the atlas, write it with --write; returns the exit code."""
    return ending.run_guarded(_main, argv)


def _main(argv: Sequence[str] | None) -> int:
    parser = arguments.parser("lanecheck atlas", DESCRIPTION, EXAMPLE, formats=FORMATS)
    selection.add_options(parser)
    parser.add_argument("--by", choices=("shape", "family"), default="shape", help="a row for each shape or family")
    words = "also write it to this folder, as Markdown, JSON and HTML"
    parser.add_argument("--write", metavar="DIR", type=reserve_folder, help=words)
    parser.add_argument("--from", dest="document", metavar="FILE", help="the page of a report that --format json wrote")
    options = arguments.parse(parser, argv, {"document": ("format", "output")})
    if options.document:
        return _page(options)
    atlas = _atlas(options)
    if not atlas.rows and atlas.exit in (Exit.USAGE, Exit.CONTRADICTION):
        return atlas.exit  # the message was printed, and there is nothing else
    if options.write:
        _write(atlas, Path(options.write))
    text = _render(atlas, options.format, options.quiet)
    plain = options.format == "text" and not options.quiet
    output.write(output.wrap_report(text, options.output) if plain else text, options.output)
    return atlas.exit


def _page(options: argparse.Namespace) -> int:
    """Write the HTML page of a report in JSON; returns the exit code that the report has."""
    if options.format != "html":
        raise UsageError("--from makes the page: say --format html")
    text, code = page.of_file(Path(options.document))
    output.write(text, options.output)
    return code


def _atlas(options: argparse.Namespace) -> Atlas:
    checks = selection.checks(options.checks)
    names, files = selection.split(options)
    pool, loaded = selection.pool(files)

    everything = not (names or options.arch or files)
    whole = _tabulate(pool, selection.choose_names(names, options.arch, pool), checks, everything, options)
    if loaded.failures and whole.exit not in (Exit.CONTRADICTION, Exit.INTERRUPTED):
        whole = replace(whole, exit=Exit.USAGE)
    return whole.by_family() if options.by == "family" else whole


def _tabulate(
    pool: Mapping[str, AnyAtom], names: Sequence[str], checks: frozenset[Check], everything: bool, options: Namespace
) -> Atlas:
    bare = without_atom(pool.values()) if everything else ()
    jobs = 0 if len(names) >= selection.MANY else 1
    atoms = (pool[name] for name in names)
    return tabulate(atoms, AtomChecker(checks), bare, options.quiet, options.allow_unchecked, jobs)


def _render(atlas: Atlas, form: str, quiet: bool = False) -> str:
    if form == "text":
        return report.as_text(atlas, quiet)
    render: dict[str, Callable[[Atlas], str]] = {
        "markdown": report.as_markdown,
        "json": report.as_json,
        "html": report.as_html,
    }
    return render[form](atlas)


def _write(atlas: Atlas, folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for form, name in FILES.items():
            write_file(folder / name, _render(atlas, form))
    except Unwritable as error:
        raise UsageError(f"--write: {error}") from error
    except OSError as error:
        raise UsageError(f"--write {folder}: {error.strerror}") from error
