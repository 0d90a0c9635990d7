# SPDX-License-Identifier: Apache-2.0
"""`lanecheck tilings`: multiply matrices on this GPU by kernels made from layouts; compare with numpy."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from gpu_checks import command
from gpu_checks.command import Interrupted, guard_exit
from gpu_checks.model import Unavailable
from gpu_checks.tilings import TilingKernel, TilingRun, run_all, tilings
from gpu_checks.tilings.kernel import kernel
from gpu_checks.tilings.store import SHIPPED, write
from lanecheck.console.command import parser as parser_of
from lanecheck.console.counts import join_counts
from lanecheck.console.exits import Exit
from lanecheck.console.outputs import reserve_folder
from lanecheck.console.progress import Progress, each

EPILOG = """\
A result is REFUTED if an element differs from numpy's. If a wrong stride makes no difference, the check says nothing,
which is a contradiction. Nothing is recorded of a run that is interrupted.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    return guard_exit(
        "tilings",
        lambda: _command(command.parse_options(_parser(), argv, dict.fromkeys(("list", "kernel"), ("name", "file")))),
    )


def _command(options: argparse.Namespace) -> int:
    chosen = _select(tilings(options.file), options.name)
    if not chosen:
        print("tilings: nothing selected (see --list)", file=sys.stderr)
        return Exit.EMPTY
    if options.list:
        command.show(*map(_line, chosen))
        return Exit.OK
    if options.kernel:
        print("\n".join(map(kernel, chosen)))
        return Exit.OK
    return _run_tilings(chosen, options)


def _parser() -> argparse.ArgumentParser:
    what = "Run kernels that are made from a tiling's layouts alone; every element must equal numpy's."
    parser = parser_of("lanecheck tilings", what, "--list", EPILOG)
    parser.add_argument("name", nargs="*", metavar="NAME", help="of a tiling, or a glob; all when none is given")
    parser.add_argument(
        "--file", type=Path, default=SHIPPED, metavar="FILE", help="tilings as JSON Lines (the shipped)"
    )
    parser.add_argument("--list", action="store_true", help="print the tilings and stop")
    parser.add_argument("--kernel", action="store_true", help="print the CUDA text and stop")
    words = "write DIR/<gpu>.jsonl, a line for each run"
    parser.add_argument("--record", type=reserve_folder, metavar="DIR", help=words)
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the random matrices (0)")
    command.add_unchecked(parser)
    return parser


def _select(known: Sequence[TilingKernel], names: Sequence[str]) -> list[TilingKernel]:
    """Return the selected tilings in the file's order; ValueError for a name without one."""
    for name in names:
        if not any(fnmatchcase(tiling.name, name) for tiling in known):
            raise ValueError(f"no tiling is named {name!r} (see --list)")
    return [tiling for tiling in known if not names or any(fnmatchcase(tiling.name, name) for name in names)]


def _line(tiling: TilingKernel) -> str:
    m, n, k = tiling.last.tile
    return f"{tiling.name:<28} {tiling.threads:>4} threads  {m}x{n}x{k}  {tiling.product.mnemonic}"


def _run_tilings(chosen: Sequence[TilingKernel], options: argparse.Namespace) -> int:
    done: list[TilingRun] = []
    runs = iter(run_all(chosen, options.seed))

    def run_tiling(_: TilingKernel, shown: Progress) -> None:
        tiling, run = next(runs)
        with shown.aside():
            command.show(f"{tiling.name:<28} {_verdict(run)}")
        if isinstance(run, TilingRun):
            done.append(run)

    _, missing = each(chosen, run_tiling, "tilings", lambda tiling: tiling.name)
    if missing:
        raise Interrupted(missing, len(chosen))
    if options.record and done:
        write(options.record / done[0].device.file, done)
    refuted, idle = sum(not run.equal for run in done), sum(not run.finds_controls for run in done)
    counts = {"equal": len(done) - refuted, "refuted": refuted, "UNCHECKED": len(chosen) - len(done)}
    command.show(join_counts(counts))
    if idle:
        return Exit.CONTRADICTION
    if refuted:
        return Exit.REFUTED
    return command.exit_undecided(options) if len(done) < len(chosen) else Exit.OK


def _verdict(run: TilingRun | Unavailable) -> str:
    if isinstance(run, Unavailable):
        return f"UNCHECKED  {run.reason}"
    status = "REFUTED" if not run.equal else "AGREES" if run.finds_controls else "IDLE"
    controls = ", ".join(f"{name} {count}" for name, count in run.controls.items())
    differ = f"{run.mismatches} of {run.elements} elements differ"
    return f"{status:<9}  {differ}; with one wrong stride in {controls}  {run.sass}"
