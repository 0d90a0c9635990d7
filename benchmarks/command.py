# SPDX-License-Identifier: Apache-2.0
"""The command line, cold: one process each, recorded silicon."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

from benchmarks.paired import Figure, paired

BASELINE = "import numpy, z3"


def process(*words: str) -> Callable[[], object]:
    """A fresh interpreter that runs some words; a failure is no measurement."""

    def run() -> object:
        return subprocess.run([sys.executable, *words], check=True, capture_output=True)

    return run


def figures() -> list[Figure]:
    imports = process("-c", BASELINE)
    one = process("-m", "verify.atom", "SM80_16x8x16", "-q")
    every = process("-m", "verify.atom", "--all", "--expect-known", "-q", "--witness", "book,proof")
    five = process("-c", "import time; time.sleep(5)")
    return [
        paired("verify.atom SM80_16x8x16, cold", one, f"python -c '{BASELINE}'", imports, 3.0),
        paired("verify.atom --all, book and proof, cold", every, "five seconds", five, 1.0, rounds=3),
    ]
