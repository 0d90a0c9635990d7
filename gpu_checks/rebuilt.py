# SPDX-License-Identifier: Apache-2.0
"""The table that a recording's labels imply, as the hash that was taken of the observed one."""

from __future__ import annotations

import numpy as np

from gpu_checks import classes, meetings
from gpu_checks.values import CONTRACTED, Recording


def hash_of(recording: Recording) -> str:
    """SHA-256 of the rebuilt table; it is `recording.hash` where the labels lose nothing."""
    if recording.probe == "pairs":
        return classes.digest(classes.rebuild(recording.operands))
    a, b, d = (recording.operands[name].reshape(-1, 4) for name in "ABD")
    kept = [a[:, CONTRACTED]] if recording.metadata is None else list(recording.metadata.kept.values())
    tables = []
    for k in kept:
        stood = np.array(a)
        stood[:, CONTRACTED] = k.reshape(-1)
        tables.append(meetings.rebuild(stood, b, d))
    return meetings.digest(tables)
