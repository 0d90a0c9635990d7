# SPDX-License-Identifier: Apache-2.0
"""How long the check of a kernel takes, and how much memory: each a ratio to a baseline of the same run."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from benchmarks.paired import BASELINE, Figure, cpu, paired, process

MOST_MEMORY = 1024.0  # MiB
_PEAK = "import resource, sys; from verify.__main__ import main; code = main(sys.argv[1:]); " \
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss); raise SystemExit(code)"  # fmt: skip


def figures(kernels: Sequence[Path], baseline: str, target: float, rounds: int) -> Iterator[Figure]:
    """The time of each kernel's check against a command, `{ptx}` and `{claim}` filled in; without one two imports."""
    for path in kernels:
        claim = path.with_suffix(".toml")
        words = ["-m", "verify.kernel", str(path), "--claim", str(claim)]
        other = [word.format(ptx=path, claim=claim, name=path.stem) for word in shlex.split(baseline)]
        base = partial(subprocess.run, other, check=True, capture_output=True) if other else process("-c", BASELINE)
        yield paired(path.stem, process(*words), " ".join(other)[:40] or BASELINE, base, target, rounds, clock=cpu)
        yield Figure(f"{path.stem}, memory", "the most", ((memory(path, claim), MOST_MEMORY),), 1.0, "MiB")


def memory(path: Path, claim: Path) -> float:
    """The most memory, in MiB, that a process with this check had."""
    words = [sys.executable, "-c", _PEAK, "kernel", str(path), "--claim", str(claim)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return int(done.stdout.split()[-1]) / 1024
