# SPDX-License-Identifier: Apache-2.0
"""Time and memory of all atoms, every member of every family, and of their atlas, from one fresh process.

The whole atlas has the instructions without an atom too, and verifies those of which the ISA's formulas make one.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.paired import Figure, cold, process, wall

MEMORY = 300.0  # MiB
SUBJECTS = {  # with the limits by isa and proof, and with recordings too
    "all atoms": (("verify.atom", "--all", "--expect-known", "-q"), 25.0, 35.0),
    "the atlas of all atoms": (("verify.atlas", "*", "-q"), 25.0, 35.0),
    "the atlas with what has no atom": (("verify.atlas", "-q"), 35.0, 48.0),
}
PROGRAM = """
import os, subprocess, sys, time

def tree(process):
    yield process
    for task in os.listdir(f"/proc/{process}/task"):
        with open(f"/proc/{process}/task/{task}/children") as file:
            for child in file.read().split():
                yield from tree(child)

def resident(process):  # pages that processes share count once
    with open(f"/proc/{process}/smaps_rollup") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Pss:")) / 1024

most, command = 0.0, subprocess.Popen([sys.executable, "-m", *sys.argv[1:]], stdout=subprocess.DEVNULL)
while command.poll() is None:
    try:
        most = max(most, sum(map(resident, tree(command.pid))))
    except OSError:  # a process has ended meanwhile
        pass
    time.sleep(0.05)
print(most, file=sys.stderr)
raise SystemExit(command.returncode)
"""


def figures() -> Iterator[Figure]:
    with TemporaryDirectory() as folder:
        document = str(Path(folder) / "atlas.json")
        process("-m", "verify.atlas", "-q", "--format", "json", "-o", document)()
        words = ("-m", "verify.atlas", "--from", document, "--format", "html", "-o", str(Path(folder) / "atlas.html"))
        yield cold("the atlas's page from its report in JSON", words, 20.0, clock=wall)
    for subject, (command, few, more) in SUBJECTS.items():
        for what, words, target in (("isa and proof", ("--checks", "isa,proof"), few), ("recordings too", (), more)):
            yield cold(f"{subject}, {what}", ("-m", *command, *words), target, clock=wall)
            peak = float(process("-c", PROGRAM, *command, *words)().stderr.splitlines()[-1])
            name = f"{subject}, {what}: memory of all processes"
            yield Figure(name, f"{MEMORY:g} MiB", ((peak, MEMORY),), 1.0, "MiB")
