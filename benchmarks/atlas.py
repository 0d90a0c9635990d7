# SPDX-License-Identifier: Apache-2.0
"""Time and memory of the whole atlas, every member of every family, from one fresh process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.paired import Figure, cold, process, wall

MEMORY = 300.0  # MiB
PROGRAM = """
import multiprocessing, os, sys, threading, time
from verify.atlas.command import main

def resident(process):
    with open(f"/proc/{process}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

def watch(most):
    while True:
        try:
            most[0] = max(most[0], sum(resident(p.pid) for p in multiprocessing.active_children()) + resident("self"))
        except OSError:  # a child has ended meanwhile
            pass
        time.sleep(0.05)

most = [0.0]
threading.Thread(target=watch, args=(most,), daemon=True).start()
if __name__ == "__main__":
    code = main(["-q", *sys.argv[1:]])
    print(most[0], file=sys.stderr)
    raise SystemExit(code)
"""


def figures() -> Iterator[Figure]:
    with TemporaryDirectory() as folder:
        document = str(Path(folder) / "atlas.json")
        process("-m", "verify.atlas", "-q", "--format", "json", "-o", document)()
        words = ("-m", "verify.atlas", "--from", document, "--format", "html", "-o", str(Path(folder) / "atlas.html"))
        yield cold("the atlas's page from its report in JSON", words, 20.0, clock=wall)
    for what, words, target in (("isa and proof", ("--checks", "isa,proof"), 25.0), ("recordings too", (), 35.0)):
        yield cold(f"the atlas, {what}", ("-m", "verify.atlas", "-q", *words), target, clock=wall)
        peak = float(process("-c", PROGRAM, *words)().stderr.splitlines()[-1])
        yield Figure(f"the atlas, {what}: memory of all processes", f"{MEMORY:g} MiB", ((peak, MEMORY),), 1.0, "MiB")
