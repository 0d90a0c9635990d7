# SPDX-License-Identifier: Apache-2.0
"""Time and memory of all atoms, every member of every family, and of their atlas, from one fresh process.

The whole atlas has the instructions without an atom too, and verifies those of which the ISA's formulas make one.
Two processes work, so the time is by the clock.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.absolute import Absolute, memory
from benchmarks.paired import Figure, cold, wall
from benchmarks.programs import process

MEMORY = 300.0  # MiB
SUBJECTS = {  # with the limits by isa and proof, and with recordings too
    "all atoms": (("verify.atom", "--all", "--expect-known", "-q"), 30.0, 42.0),
    "the atlas of all atoms": (("verify.atlas", "*", "-q"), 31.0, 42.0),
    "the atlas with what has no atom": (("verify.atlas", "-q"), 35.0, 48.0),
}


def figures() -> Iterator[Figure | Absolute]:
    with TemporaryDirectory() as folder:
        document = str(Path(folder) / "atlas.json")
        process("-m", "verify.atlas", "-q", "--format", "json", "-o", document)()
        words = ("-m", "verify.atlas", "--from", document, "--format", "html", "-o", str(Path(folder) / "atlas.html"))
        yield cold("the atlas's page from its report in JSON", words, 1.7, clock=wall)
    for subject, (command, few, more) in SUBJECTS.items():
        for what, words, target in (("isa and proof", ("--checks", "isa,proof"), few), ("recordings too", (), more)):
            name, command_line = f"{subject}, {what}", ("-m", *command, *words)
            yield cold(name, command_line, target, clock=wall)
            yield memory(name, *command_line, target=MEMORY)
