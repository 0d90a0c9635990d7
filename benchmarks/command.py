# SPDX-License-Identifier: Apache-2.0
"""The command line: a fresh process for each command, with recorded GPUs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator

from benchmarks.paired import Figure, paired

BASELINE = "import numpy, z3"
WARP_ATOMS = (
    "UniversalFMA",
    "SM61",
    "SM70",
    "SM75_16x8x8",
    "SM75_8x8x16",
    "SM80_*x*",
    "SM89",
    "SM90_16x8x4",
    "SM90_16x8x8",
    "SM90_16x8x16",
)


def process(*words: str) -> Callable[[], object]:
    """A function that runs a fresh interpreter with these arguments, and raises where that fails."""

    def run() -> object:
        return subprocess.run([sys.executable, *words], check=True, capture_output=True)

    return run


def figures() -> Iterator[Figure]:
    imports = process("-c", BASELINE)
    one = process("-m", "verify.atom", "SM80_16x8x16", "-q")
    every = process("-m", "verify.atom", "--all", "--expect-known", "-q", "--checks", "isa,proof")
    warps = process("-m", "verify.atom", *WARP_ATOMS, "--expect-known", "-q", "--checks", "isa,proof")
    five, ten = (process("-c", f"import time; time.sleep({seconds})") for seconds in (5, 10))
    yield paired("verify.atom SM80_16x8x16, cold", one, f"python -c '{BASELINE}'", imports, 3.0)
    yield paired("97 atoms up to SM90's mma.sync, isa and proof", warps, "five seconds", five, 1.0, rounds=3)
    yield paired("verify.atom --all, isa and proof, cold", every, "ten seconds", ten, 1.0, rounds=3)
