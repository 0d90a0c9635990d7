# SPDX-License-Identifier: Apache-2.0
"""`lanecheck lock FILE…`: write the functions of atoms, tilings and maps to a lock; --check compares with it."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from lanecheck.console.command import add_execution
from lanecheck.console.outputs import reserve_file
from layouts.toml.document import read_document
from layouts.toml.errors import AtomFileError
from verify.cli import arguments, ending, inputs, output
from verify.core.errors import Exit, UsageError
from verify.core.wording import count_of
from verify.lock import lockfile
from verify.lock.functions import Subject, of_file, pool_of
from verify.lock.properties import LockComparison
from verify.report import Report
from verify.report.loaded import LoadedFiles
from verify.report.placing import locate_operands

if TYPE_CHECKING:
    from verify.lock.functions import Subject
    from verify.lock.properties import LockComparison
    from verify.report import Report

DESCRIPTION = """Write what each map of some files is to a lock, a text that is reviewed and committed: the function of
each operand of their entries, as a layout or point by point, however the file spells it. With --check,
compare the files with the lock: a function that changed is rejected and shown as two layouts and by its
points; so is a subject that was added, is missing or was renamed. A lock says what was reviewed, not that
it is right."""
EXAMPLE = "examples/my_atoms.toml examples/maps.toml"
LOCK = "lanecheck.lock"
SHOWN = 8  # points of a change; with -v all


def main(argv: Sequence[str] | None = None) -> int:
    """Write the lock that the arguments name, or compare with it; returns the exit code."""
    return ending.run_guarded(_main, argv)


def _main(argv: Sequence[str] | None) -> int:
    options = arguments.parse(_parser(), argv, {})
    if "" in options.files:
        raise UsageError("'' is the name of no file")
    lock = Path(options.lock)
    if not options.check:
        return _write(lock, options)
    locked = lockfile.read_lock(lock)
    folder = lock.parent
    files = [_relative(Path(file), folder) for file in options.files] or list(
        dict.fromkeys(kept.file for kept in locked)
    )
    loaded = _subjects(files, folder, options)
    points = 1 << 20 if options.verbose else SHOWN
    comparison = LockComparison(options.lock, loaded.items, [kept for kept in locked if kept.file in files], points)
    return _report(comparison, folder, loaded, options)


def _parser() -> argparse.ArgumentParser:
    parser = arguments.parser("lanecheck lock", DESCRIPTION, EXAMPLE)
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="TOML files of subjects, or headers; with --check and no FILE, all files of the lock",
    )
    parser.add_argument("--lock", metavar="FILE", default=LOCK, help=f"the lock ({LOCK})")
    parser.add_argument("--check", action="store_true", help="compare with the lock, and write nothing")
    add_execution(parser)
    return parser


def _write(lock: Path, options: argparse.Namespace) -> int:
    if not options.files:
        raise UsageError("which maps? Give FILEs; or --check, to compare with the lock")
    if options.format != "text" or options.output:
        raise UsageError("--format and --output are of --check: a lock is written to the file of --lock")
    reserve_file(options.lock)
    loaded = _subjects([_relative(Path(file), lock.parent) for file in options.files], lock.parent, options)
    subjects = loaded.items
    if loaded.failures:
        return Exit.USAGE  # each error is on stderr: in a lock without those entries they would count as missing
    if not subjects:
        return Exit.EMPTY
    output.write(lockfile.write(subjects), str(lock))
    functions = sum(len(subject.maps) for subject in subjects)
    output.write(f"wrote {lock}: {count_of(functions, 'function')} of {count_of(len(subjects), 'subject')}\n", None)
    return Exit.OK


def _relative(file: Path, folder: Path) -> str:
    """Return a file as a lock in that folder names it."""
    return Path(os.path.relpath(file, folder)).as_posix()


def _beside(folder: Path, file: str) -> Path:
    return Path(os.path.normpath(folder / file))


def _subjects(files: Sequence[str], folder: Path, options: argparse.Namespace) -> LoadedFiles[Subject]:
    """Return the subjects of files, tilings of the atoms in them or of the shipped ones.

    An error of an entry is kept.
    """
    subjects: list[Subject] = []
    errors: list[AtomFileError] = []
    every = [(file, _beside(folder, file)) for file in dict.fromkeys(files)]
    pool = pool_of([path for _, path in every])
    for file, path in every:
        try:
            entries = of_file(path, file, pool, options.allow_exec)
        except AtomFileError as error:
            errors += error.errors
            continue
        subjects += entries.items
        errors += entries.errors
    return LoadedFiles(tuple(subjects), failures=inputs.report_errors(errors, bool(subjects)))


def _report(comparison: LockComparison, folder: Path, loaded: LoadedFiles[Subject], options: argparse.Namespace) -> int:
    document = cache(lambda file: read_document(_beside(folder, file)))
    cases = []
    for subject, case in comparison.cases():
        if not isinstance(subject, Subject):
            cases.append(case)
        elif subject.place:
            cases.append(replace(case, place=subject.place))
        else:
            cases.append(locate_operands(case, document(subject.file), subject.table))
    report = Report(tuple(cases))
    if options.format != "text":
        return output.report(report, options, loaded)
    report = output.allowing(report, options, loaded)
    output.write(
        output.wrap_report("".join(f"{line}\n" for line in _lines(report, options)), options.output), options.output
    )
    return report.exit()


def _lines(report: Report, options: argparse.Namespace) -> Iterator[str]:
    """Yield what changed, a paragraph each, then one line with the counts."""
    wrong = {case.name: [v for v in case.verdicts if v.status.refuted] for case in report.cases}
    for case in report.cases if not options.quiet else ():
        if options.verbose and not wrong[case.name]:
            yield f"{case.name}  as locked"
        for verdict in wrong[case.name]:
            difference = verdict.counterexample
            if difference is not None:
                place = verdict.place or case.place
                where = f"   {place}" if place else ""
                yield f"{' '.join(filter(None, (case.name, verdict.claim.part)))}  {difference.statement}{where}"
                yield from (f"  {line}" for line in difference.damage)
    changed = sum(map(bool, wrong.values()))
    counts = f"{len(report.cases) - changed} as locked, {changed} not"
    yield f"{count_of(len(report.cases), 'subject')}: {counts}; exit {int(report.exit())}"
