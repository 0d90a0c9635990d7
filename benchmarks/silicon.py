# SPDX-License-Identifier: Apache-2.0
"""Probing every dense mma.sync on this machine's GPU, NVRTC cold."""

from __future__ import annotations

import os
import sys
import tempfile

import gpu_checks
from benchmarks.command import process
from benchmarks.paired import Figure, paired


def figures() -> list[Figure]:
    found = gpu_checks.device()
    if isinstance(found, gpu_checks.Unavailable):
        print(f"silicon: {found.reason}", file=sys.stderr)
        return []
    ten = process("-c", "import time; time.sleep(10)")

    def cold() -> object:
        with tempfile.TemporaryDirectory() as folder:
            os.environ["CUPY_CACHE_DIR"] = folder
            return process("-m", "gpu_checks.probe", "--all", "-o", folder)()

    return [paired("gpu_checks.probe --all, NVRTC cold", cold, "ten seconds", ten, 1.0, rounds=2)]
