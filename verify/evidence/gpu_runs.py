# SPDX-License-Identifier: Apache-2.0
"""The recordings of tilings and of shared memory's banks, read once in a process."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpu_checks.banks.command import BankObservation
    from gpu_checks.tilings import TilingRun


@cache
def runs() -> tuple[TilingRun, ...]:
    """Return the recorded runs of tilings' kernels. Raise RecordingError for one that cannot be read."""
    from gpu_checks.tilings import recordings_of_tilings

    return recordings_of_tilings()


@cache
def observations() -> tuple[BankObservation, ...]:
    """Return the measured access patterns. Raise RecordingError for one that cannot be read."""
    from gpu_checks.banks.command import recordings_of_banks

    return recordings_of_banks()
