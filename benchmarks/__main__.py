# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks [command|atlas|algebra|silicon|laws|tiling …]`: measure, and say which aims were reached."""

from __future__ import annotations

import importlib
import sys

SUITES = ("command", "atlas", "algebra", "silicon", "laws", "tiling")


def main(words: list[str]) -> int:
    unknown = [word for word in words if word not in SUITES]
    if unknown:
        print(f"benchmarks: no suite is named {unknown[0]!r}; one of {', '.join(SUITES)}", file=sys.stderr)
        return 2
    missed = 0
    for suite in words or SUITES:
        for figure in importlib.import_module(f"benchmarks.{suite}").figures():
            print(figure, flush=True)
            missed += not figure.reached
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
