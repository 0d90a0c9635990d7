# SPDX-License-Identifier: Apache-2.0
"""The whole atlas, every member of every family, cold in one process: how long, and how much memory."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator

from benchmarks.paired import Figure

LIMIT = 10.0  # seconds, for the witnesses that need no GPU
MEMORY = 500.0  # MiB
PROGRAM = """
import resource, sys
from verify import atlas
code = atlas.main(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, file=sys.stderr)
raise SystemExit(code)
"""


def figures() -> Iterator[Figure]:
    started = time.perf_counter()
    command = [sys.executable, "-c", PROGRAM, "-q", "--witness", "book,proof"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    wall, peak = time.perf_counter() - started, float(done.stderr.splitlines()[-1])
    what = f"{done.stdout.split(' of ')[0]}, book and proof, cold"
    yield Figure(what, f"{LIMIT:g} seconds", wall, LIMIT, 1.0)
    yield Figure(f"{what}: memory", f"{MEMORY:g} MiB", peak, MEMORY, 1.0, "MiB")
