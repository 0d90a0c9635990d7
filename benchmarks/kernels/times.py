# SPDX-License-Identifier: Apache-2.0
"""How long the check of a kernel takes, as a ratio to a baseline of the same run, and how much memory."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.absolute import Absolute, memory
from benchmarks.paired import BASELINE, Figure, cpu, paired
from benchmarks.programs import process, program

MEMORY = 1024.0  # MiB


def figures(kernels: Sequence[Path], baseline: str, target: float, pairs: int) -> Iterator[Figure | Absolute]:
    """The time of each kernel's check against a command, `{ptx}` and `{claim}` filled in; without one two imports."""
    for path in kernels:
        claim = path.with_suffix(".toml")
        words = ["-m", "verify.kernel", str(path), "--claim", str(claim)]
        rival = [word.format(ptx=path, claim=claim, name=path.stem) for word in shlex.split(baseline)]
        base = program(*rival) if rival else process("-c", BASELINE)
        yield paired(path.stem, process(*words), " ".join(rival)[:40] or BASELINE, base, target, pairs, clock=cpu)
        yield memory(path.stem, *words, target=MEMORY)
