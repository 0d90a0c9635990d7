# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks [SUITE …]`: measure, and report which targets are met; `--write` writes docs/performance.md."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence

from gpu_checks.command import guarded
from lanecheck_console import command

SUITES = ("command", "atlas", "algebra", "batched", "campaign", "gpu", "laws", "tiling")


def main(argv: Sequence[str] | None = None) -> int:
    """Print figures of some or all suites; 0 all targets met, 1 one missed, 2 no such suite, 130 interrupted."""
    parser = command.parser("benchmarks", "Measure what has to be fast.", "command")
    parser.add_argument("suite", nargs="*", metavar="SUITE", help=f"{', '.join(SUITES)}; all when none is named")
    parser.add_argument("--write", action="store_true", help="compare with other libraries; write docs/performance.md")
    parser.add_argument("--python", metavar="FILE", default=sys.executable, help="a Python that has these libraries")
    parser.add_argument("--seconds", type=float, default=4.0, metavar="S", help="CPU seconds of a cell of that page")
    return guarded("benchmarks", lambda: _run(parser, argv))


def _run(parser: argparse.ArgumentParser, argv: Sequence[str] | None) -> int:
    arguments = parser.parse_args(argv)
    suites = arguments.suite
    if arguments.write:
        if suites:
            parser.error("--write measures what its page shows, and no suite")
        return importlib.import_module("benchmarks.performance.page").write(arguments.python, arguments.seconds)
    for word in suites:
        if word not in SUITES:
            parser.error(f"no suite is named {word!r}; one of {', '.join(SUITES)}")
    return _measured(suites or SUITES)


def _measured(suites: Sequence[str]) -> int:
    missed = 0
    for suite in suites:
        for figure in importlib.import_module(f"benchmarks.{suite}").figures():
            print(figure, flush=True)
            missed += not figure.met
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
