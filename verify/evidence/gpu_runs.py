# SPDX-License-Identifier: Apache-2.0
"""The recordings of tilings and of shared memory's banks, read once in a process."""

from __future__ import annotations

from functools import cache

from gpu_checks.banks.command import Observation, recordings_of_banks
from gpu_checks.tilings import TilingRun, recordings_of_tilings


@cache
def runs() -> tuple[TilingRun, ...]:
    """The recorded runs of tilings' kernels. Raises RecordingError for one that cannot be read."""
    return recordings_of_tilings()


@cache
def observations() -> tuple[Observation, ...]:
    """The measured access patterns. Raises RecordingError for one that cannot be read."""
    return recordings_of_banks()
