# SPDX-License-Identifier: Apache-2.0
"""The number of cores that this process may use."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")
OWN = Path("/proc/self/cgroup")


def cores() -> int:
    """How many processes can work at once: the cores of this process, or fewer where its cgroup limits their time."""
    of_process = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(of_process, _count_granted_cores(of_process)))


def _count_granted_cores(most: int) -> int:
    """Return the whole cores that a cgroup, or one above it, grants, if it has a limit: `cpu.max` of version 2."""
    cores = most
    with suppress(OSError, ValueError, IndexError):
        own = next(line[3:] for line in OWN.read_text().splitlines() if line.startswith("0::"))
        place = CGROUPS / own.lstrip("/")
        for folder in (place, *place.parents):
            with suppress(OSError):
                quota, period = (folder / "cpu.max").read_text().split()
                cores = cores if quota == "max" else min(cores, int(quota) // int(period))
            if folder == CGROUPS:
                break
    return cores
