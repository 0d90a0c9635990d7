# SPDX-License-Identifier: Apache-2.0
"""Time and memory of the whole atlas, every member of every family, in one fresh process."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator

from benchmarks.paired import Figure

LIMIT = 10.0  # seconds, for the checks that need no GPU
MEMORY = 500.0  # MiB
PROGRAM = """
import resource, sys
from verify.atlas import command as atlas
code = atlas.main(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, file=sys.stderr)
raise SystemExit(code)
"""


def figures() -> Iterator[Figure]:
    wall, peak, atoms = _made("--checks", "isa,proof")
    yield Figure(f"{atoms}, isa and proof, cold", f"{LIMIT:g} seconds", wall, LIMIT, 1.0)
    yield Figure(f"{atoms}, isa and proof, cold: memory", f"{MEMORY:g} MiB", peak, MEMORY, 1.0, "MiB")
    _, peak, atoms = _made()
    yield Figure(f"{atoms}, recordings too: memory", f"{MEMORY:g} MiB", peak, MEMORY, 1.0, "MiB")


def _made(*arguments: str) -> tuple[float, float, str]:
    """The seconds that an atlas takes, its peak memory in MiB, and its number of atoms."""
    started = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", PROGRAM, "-q", *arguments], check=True, capture_output=True, text=True)
    return time.perf_counter() - started, float(done.stderr.splitlines()[-1]), done.stdout.split(" of ")[0]
