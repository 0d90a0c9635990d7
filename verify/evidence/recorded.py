# SPDX-License-Identifier: Apache-2.0
"""What GPUs recorded of tilings and of shared memory's banks: read once, however many claims ask."""

from __future__ import annotations

from functools import cache

from gpu_checks.banks.command import Observation, recordings_of_banks
from gpu_checks.tilings import TilingRun, recordings_of_tilings


@cache
def runs() -> tuple[TilingRun, ...]:
    """The kernels that were run. RecordingError for one that cannot be read."""
    return recordings_of_tilings()


@cache
def observations() -> tuple[Observation, ...]:
    """The access patterns that were measured. RecordingError for one that cannot be read."""
    return recordings_of_banks()
