# SPDX-License-Identifier: Apache-2.0
"""`lanecheck movement …`: verify how data move through registers, shared memory and matrix descriptors."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from layouts import LayoutError
from verify.cli import arguments, ending, inputs, output
from verify.cli.batch import verify_each
from verify.core.errors import Exit, UsageError
from verify.movement import bind, spec
from verify.movement.conflict_free import search
from verify.movement.properties import MovementChecker
from verify.movement.smem import find_fault
from verify.report.loaded import LoadedFiles

if TYPE_CHECKING:
    from verify.movement.bind import Movement

DESCRIPTION = """Verify how data move between instructions. --from X --to Y: the hand-over of registers from X to Y
(ldmatrix to mma, accumulators to stmatrix, accumulators to A of the next product); with --shared LAYOUT also its
accesses of shared memory. --shared LAYOUT --access LAYOUT: the tile fits in shared memory, and accesses are whole,
aligned and free of bank conflicts for every base address. --descriptor LAYOUT: a matrix descriptor describes the layout
of wgmma's operand, and which. Or a TOML FILE with several movements."""
KEYS = spec.options()
READ = ("files", "only", *KEYS, "output")
STOPS = {"list": READ, "search_swizzle": (*READ, "format")}
EXAMPLE = '--shared 256:1 --access "(32,1):(1,0)" --element 32'


def main(argv: Sequence[str] | None = None) -> int:
    """Verify the movements that the arguments name; returns the exit code."""
    return ending.run_guarded(inputs.of_entries(_parser, _movements, _answer, STOPS), argv)


def _answer(loaded: LoadedFiles[Movement], options: argparse.Namespace) -> int:
    """Print the report on all movements, or one swizzle; an internal error in a movement is a line of its own."""
    if options.search_swizzle:
        return _search(loaded.items, options)

    checker = MovementChecker(budget=inputs.budget(options))
    report = verify_each(loaded.items, checker.case, "movements", options.require, quiet=options.quiet)
    return output.report(report, options, loaded)


def _parser() -> argparse.ArgumentParser:
    parser = arguments.parser("lanecheck movement", DESCRIPTION, EXAMPLE)
    arguments.add_statements(parser, "movements")
    for name, key in KEYS.items():
        parser.add_argument(f"--{name}", metavar=key.unit or name.upper(), type=int if key.unit else str, help=key.help)
    swizzle = "print the smallest swizzle under which no access has a conflict"
    parser.add_argument("--search-swizzle", action="store_true", help=swizzle)
    arguments.add_require(parser)
    return parser


def _movements(options: argparse.Namespace) -> LoadedFiles[Movement]:
    """Return the movements that the arguments name, in their order."""
    table = {name: value for name in KEYS if (value := getattr(options, name)) is not None}
    if options.files:
        if table:
            raise UsageError(f"--{next(iter(table))}: a FILE has whole movements; give one or the other")
        return inputs.load(options.files, bind.read_movements).only(options.only, "movement")
    if options.only:
        raise UsageError("--only chooses among the movements of a FILE: give a FILE too")
    return LoadedFiles((bind.bind(spec.of_options(table)),))


def _search(movements: Sequence[Movement], options: argparse.Namespace) -> int:
    """Print one swizzle for all accesses; UsageError where their elements differ in width."""
    if options.format != "text":
        raise UsageError(f"--search-swizzle prints a line: there is no {options.format} of it")
    accesses = [movement.accesses[-1] for movement in movements if movement.accesses and movement.operand is None]
    if len(accesses) != len(movements):
        raise UsageError("--search-swizzle needs accesses: --shared with --access, or a FILE of them")
    if len({access.element for access in accesses}) > 1:
        raise UsageError("--search-swizzle: the accesses have elements of different widths")
    try:
        swizzle, free, line = search(accesses)
    except LayoutError as error:
        raise UsageError(f"--search-swizzle: {error}") from error
    fault = find_fault(accesses, swizzle) if free else ""
    if fault:
        line = f"no swizzle is free of conflicts: under {swizzle} {fault}"
    output.write(f"{line}\n", options.output)
    return Exit.OK if free and not fault else Exit.REFUTED
