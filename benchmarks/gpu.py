# SPDX-License-Identifier: Apache-2.0
"""Time of probing everything that this machine's GPU runs: with nothing compiled before, and with cached kernels."""

from __future__ import annotations

import os
import sys
import tempfile

import gpu_checks
from benchmarks.paired import Figure, process, wall

ROUNDS = 3


def figures() -> list[Figure]:
    found = gpu_checks.device_info()
    if isinstance(found, gpu_checks.Unavailable):
        print(f"gpu: {found.reason}", file=sys.stderr)
        return []
    with tempfile.TemporaryDirectory() as folder:
        seconds = [(_seconds(f"{folder}/{turn}"), _seconds(f"{folder}/{turn}")) for turn in range(ROUNDS)]
    cold, warm = zip(*seconds, strict=True)
    return [
        Figure(f"{found.gpu}: probe --all, nothing compiled before", "20 s", tuple((one, 20.0) for one in cold), 1.0),
        Figure(f"{found.gpu}: probe --all, compiled kernels kept", "10 s", tuple((one, 10.0) for one in warm), 1.0),
    ]


def _seconds(kept: str) -> float:
    """The seconds of the whole command, its compiled kernels kept in a folder."""
    os.environ |= {"LANECHECK_CACHE": kept, "CUPY_CACHE_DIR": kept, "CUDA_CACHE_PATH": kept}  # the last is NVRTC's own
    return wall(process("-m", "gpu_checks.probe", "--all", "-q", "-o", f"{kept}/recordings"))
