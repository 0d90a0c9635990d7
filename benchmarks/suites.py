# SPDX-License-Identifier: Apache-2.0
"""Run test suites of others without a GPU: `python -m benchmarks.suites CHECKOUT`, for the suites of `suites.toml`.

Prints what `pytest --lanecheck-kernels` says of each file: how many launches were compared, and why others were not.
Exit code 1 if a launch is refuted or too few are compared, 4 if nothing of a suite could be measured.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

SUITES = Path(__file__).with_name("suites.toml")
COUNT = re.compile(r"(\d+) (compared|refuted|partial|undecided|safety only|not captured)")


def read_suites() -> dict[str, Any]:
    """Return the suites by name."""
    return tomllib.loads(SUITES.read_text("utf-8"))


def command(suite: dict[str, Any], file: str, more: list[str]) -> list[str]:
    """Return the command that verifies the launches of one file."""
    chosen = suite["select"].get(file)
    options = ["-p", "no:cacheprovider", "-q", "--lanecheck-kernels", "--lanecheck-target", suite["target"], *more]
    return [sys.executable, "-m", "pytest", *options, *(["-k", chosen] if chosen else []), file]


def count_launches(text: str) -> Counter[str]:
    """Return how many launches the summary of a run counts, by what became of them.

    >>> count_launches("... \\n3 compared, 1 refuted, 0 safety only, 2 not captured; for sm_90a")["compared"]
    3
    """
    lines = [line for line in text.splitlines() if "compared" in line and "not captured" in line]
    return Counter({kind: int(number) for number, kind in COUNT.findall(lines[-1])} if lines else {})


def main() -> int:
    """Measure every suite on a checkout; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.suites", description=__doc__)
    parser.add_argument("checkout", type=Path, help="a checkout of the suite's tag")
    parser.add_argument("options", nargs="*", help="more options of pytest, after --")
    options = parser.parse_args()
    total: Counter[str] = Counter()
    for name, suite in read_suites().items():
        tests = [(options.checkout / suite["folder"], file, list[str]()) for file in suite["files"]]
        scripts = [(options.checkout, file, ["--lanecheck-scripts"]) for file in suite["scripts"]]
        for folder, file, more in (*tests, *scripts):
            if not (folder / file).is_file():
                print(f"{name} {file}: not measured, {folder / file} isn't there (a checkout of {suite['tag']})")
                continue
            done = subprocess.run(
                command(suite, file, [*more, *options.options]), cwd=folder, capture_output=True, text=True, check=False
            )
            found = count_launches(done.stdout)
            total += found
            print(f"{name} {file}: {', '.join(f'{many} {kind}' for kind, many in found.items()) or 'no summary'}")
            print(*(line for line in done.stdout.splitlines() if "UNCHECKED: " in line and line[:2] == "  "), sep="\n")
        if not total:
            return 4
        if total["refuted"] or total["compared"] < suite["least"]:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
