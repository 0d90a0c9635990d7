# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.attack`: attack the verdicts, and print the score of docs/mutants.md.

Each campaign draws right and wrong inputs from a seed; an oracle of its own, which imports none of the packages, says
which is which. A fault is a wrong input that is VERIFIED, a right one that is REFUTED, a repair that doesn't repair, a
result that breaks its definition, or a crash. The log keeps every attempt: an interrupted run goes on where it stopped.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.attack.campaign import CAMPAIGNS, run, score
from gpu_checks.command import guard_exit
from lanecheck.console import command
from lanecheck.console.progress import Progress


def main(argv: Sequence[str] | None = None) -> int:
    """Attack; 0 without a fault, 1 with one, 2 usage, 130 interrupted."""
    parser = command.parser("python -m benchmarks.attack", __doc__, "atoms expressions --count 500")
    parser.add_argument("campaign", nargs="*", metavar="CAMPAIGN", help=f"of {', '.join(CAMPAIGNS)}; all when none")
    parser.add_argument("--count", type=int, default=200, metavar="N", help="attempts of each (200)")
    parser.add_argument("--seed", type=int, default=2411, metavar="N", help="that determines every input (2411)")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), metavar="N", help="at once")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="the log (build/attack/SEED.jsonl)")
    options = parser.parse_args(argv)
    if unknown := sorted({*options.campaign} - CAMPAIGNS.keys()):
        parser.error(f"unknown campaign {', '.join(unknown)}: choose of {', '.join(CAMPAIGNS)}")
    if options.count < 1:
        parser.error(f"--count {options.count}: expected a number above 0")
    return guard_exit("benchmarks.attack", lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    names = options.campaign or list(CAMPAIGNS)
    log = options.output or Path("build/attack") / f"{options.seed}.jsonl"
    attempts = []
    with Progress(len(names) * options.count, "attempts") as progress:
        for attempt in run(names, options.count, options.seed, log, options.processes):
            attempts.append(attempt)
            progress.step(f"{attempt.campaign} {attempt.number}")
    faults = [attempt for attempt in attempts if attempt.fault]
    for failed in faults:
        print(f"{failed.fault}: {failed.campaign} {failed.number}: {failed.given}: {failed.truth}, {failed.verdict}")
    print(score(attempts))
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
