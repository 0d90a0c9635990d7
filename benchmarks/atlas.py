# SPDX-License-Identifier: Apache-2.0
"""Time and memory of all atoms, every member of every family, in one fresh process."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.paired import IMPORTS, Figure, fresh, paired, wall

MEMORY = 300.0  # MiB
PROGRAM = """
import resource, sys
from verify.atom.command import main
code = main(["--all", "--expect-known", "--allow-unchecked", "-q", *sys.argv[1:]])
most = [resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(sum(most) / 1024, file=sys.stderr)
raise SystemExit(code)
"""


def figures() -> Iterator[Figure]:
    imports = wall(lambda: fresh("-c", IMPORTS))
    for what, words, target in (("isa and proof", ("--checks", "isa,proof"), 25.0), ("recordings too", (), 35.0)):
        peaks: list[float] = []
        run = wall(lambda: peaks.append(float(fresh("-c", PROGRAM, *words).stderr.splitlines()[-1])))
        yield paired(f"all atoms, {what}", run, f"python -c '{IMPORTS}'", imports, target)
        yield Figure(
            f"all atoms, {what}: memory", f"{MEMORY:g} MiB", tuple((peak, MEMORY) for peak in peaks), 1.0, "MiB"
        )
