# SPDX-License-Identifier: Apache-2.0
"""Time of probing everything that this machine's GPU runs: with nothing compiled before, and with cached kernels."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from statistics import median

import gpu_checks
from benchmarks.command import process
from benchmarks.paired import Figure

ROUNDS = 3


def figures() -> list[Figure]:
    found = gpu_checks.device_info()
    if isinstance(found, gpu_checks.Unavailable):
        print(f"gpu: {found.reason}", file=sys.stderr)
        return []
    with tempfile.TemporaryDirectory() as folder:
        seconds = [(_seconds(f"{folder}/{turn}"), _seconds(f"{folder}/{turn}")) for turn in range(ROUNDS)]
    cold, warm = (median(part) for part in zip(*seconds, strict=True))
    return [
        Figure("gpu_checks.probe --all, nothing compiled before", "twenty seconds", cold, 20.0, 1.0),
        Figure("gpu_checks.probe --all, compiled kernels kept", "ten seconds", warm, 10.0, 1.0),
    ]


def _seconds(kept: str) -> float:
    """The seconds of the whole command, its compiled kernels kept in a folder."""
    os.environ |= {"LANECHECK_CACHE": kept, "CUPY_CACHE_DIR": kept, "CUDA_CACHE_PATH": kept}  # the last is NVRTC's own
    started = time.perf_counter()
    process("-m", "gpu_checks.probe", "--all", "-q", "-o", f"{kept}/recordings")()
    return time.perf_counter() - started
