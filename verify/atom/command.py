# SPDX-License-Identifier: Apache-2.0
"""`lanecheck atom NAME…`: verify atoms by the ISA tables, by proof and by GPUs."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import gpu_checks
from lanecheck.console.outputs import Unwritable, reserve_folder, write_file
from verify.atom import selection
from verify.atom.checker import AtomChecker
from verify.cli import arguments, ending, inputs, output
from verify.cli.batch import verify_each
from verify.core.errors import AbsentError, UsageError
from verify.core.files import purpose
from verify.core.verdict import Check

if TYPE_CHECKING:
    from layouts.atoms import AnyAtom
    from verify.core.verdict import Verdict
    from verify.report import Case, Report

DESCRIPTION = """Verify atoms: every claim of an MMA or copy atom, by the formulas of the PTX ISA (isa), by z3
(proof) and by what a GPU did (gpu). NAME is an exact name, a prefix that ends at `_`, `<` or the end
(SM80_16x8x16 means every element type of it), or a glob."""
EXAMPLE = "SM80_16x8x16 --require gpu"


def main(argv: Sequence[str] | None = None) -> int:
    """Verify the atoms that the arguments name; returns the exit code."""
    return ending.run_guarded(_main, argv)


def _main(argv: Sequence[str] | None) -> int:
    options = arguments.parse(_parser(), argv, {"list": ("names", "arch", "atoms", "all", "output")})
    names, files = selection.split(options)
    pool, loaded = selection.pool(files)
    if options.list:
        named = tuple(pool[name] for name in selection.choose_names(names, options.arch, pool))
        return output.list_names(replace(loaded, items=named), options)
    if not (names or options.all or options.arch or files):
        raise UsageError("which atom? Give a NAME, --all, --arch SM, --atoms FILE, or --list to see them")
    chosen = selection.choose_names(names, options.arch, pool)
    _checks(options)
    if options.live:
        device = gpu_checks.device_info()
        if isinstance(device, gpu_checks.Unavailable):
            raise AbsentError(f"--live: {device.reason}")
    return output.report(_report([pool[name] for name in chosen], options), options, loaded)


def _report(atoms: Sequence[AnyAtom], options: argparse.Namespace) -> Report:
    with ExitStack() as clean_up:
        clean_up.enter_context(ending.warnings_in_a_line())
        checker, require = _checker(options, clean_up), options.require
        verify: Callable[[AnyAtom], Case] = checker.case
        if len(atoms) >= selection.MANY:
            from verify.atom.pool import pool_atoms  # which imports what starts processes: 8 ms

            verify = clean_up.enter_context(pool_atoms(checker, atoms, lambda atom: atom))
        report = verify_each(atoms, verify, "atoms", require, options.expect_known, options.quiet)
    for case in report.cases if options.emit_smt else ():
        _emit(Path(options.emit_smt), case.verdicts)
    return report


def _parser() -> argparse.ArgumentParser:
    parser = arguments.parser("lanecheck atom", DESCRIPTION, EXAMPLE)
    selection.add_options(parser)
    parser.add_argument("--all", action="store_true", help="every registered atom")
    parser.add_argument("--list", action="store_true", help="print the names instead of verifying")
    parser.add_argument(
        "--require",
        action="append",
        default=[],
        choices=("isa", "proof", "gpu"),
        help="a check that must be made on every atom: isa and proof of its maps, gpu of the relation",
    )
    parser.add_argument("--expect-known", action="store_true", help="known defects, and only they, must be REFUTED")
    parser.add_argument("--live", action="store_true", help="probe this machine's GPU instead of reading recordings")
    parser.add_argument("--recordings", metavar="DIR", help="further recordings, such as those of your own GPU")
    words = "write the SMT-LIB problem of each proof there"
    parser.add_argument("--emit-smt", metavar="DIR", type=reserve_folder, help=words)
    arguments.add_budget(parser)
    return parser


def _checks(options: argparse.Namespace) -> frozenset[Check]:
    checks = selection.checks(options.checks, options.require)
    place = Path(options.recordings or ".")
    if place.suffix == ".toml" and place.is_file():
        raise UsageError(f"--recordings {place}: {purpose(place)}")
    if options.live and (options.recordings or Check.GPU not in checks):
        raise UsageError("--live probes this machine's GPU: it needs the check gpu and no --recordings")
    return checks


def _checker(options: argparse.Namespace, clean_up: ExitStack) -> AtomChecker:
    checks = _checks(options)
    budget = inputs.budget(options)
    if options.live:
        from gpu_checks.worker import Worker
        from verify.evidence.gpu_live import Live

        live = Live(clean_up.enter_context(Worker()))
        return AtomChecker(checks, budget, live, live.product, options="--live ")
    if not options.recordings:
        return AtomChecker(checks, budget)
    from verify.evidence.gpu import Recorded

    library = gpu_checks.recordings(options.recordings)
    len(library)  # opens every file: what is no recording is reported once, not for each atom
    return AtomChecker(checks, budget, Recorded(library), options=f"--recordings {shlex.quote(options.recordings)} ")


def _emit(directory: Path, verdicts: Sequence[Verdict]) -> None:
    """Write the SMT-LIB problem of each proof; shared evidence was written where it was computed."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for verdict in verdicts:
            claim = verdict.claim
            for evidence in verdict.evidence:
                if evidence.artifact and not evidence.shared:
                    stem = f"{claim.subject}.{claim.part or 'atom'}.{claim.prop.key}"
                    path = directory / f"{quote(stem, safe='')}.smt2"
                    write_file(path, evidence.artifact)
    except Unwritable as error:
        raise UsageError(f"--emit-smt: {error}") from error
    except OSError as error:
        raise UsageError(f"--emit-smt {directory}: {error.strerror}") from error
