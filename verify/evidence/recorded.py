# SPDX-License-Identifier: Apache-2.0
"""A recording in words, and where a recording has what an atom's operands claim."""

from __future__ import annotations

import gpu_checks

RECORDED = {"A": "A", "B": "B", "C": "D"}  # the operand of a recording for each of an atom
CLASS = {"m": 0, "n": 1, "k": 2}  # the column of a recording's labels for each axis
PRODUCT = 3  # the column with the number of the product
HOLDERS = {"m": ("A", "C"), "n": ("B", "C"), "k": ("A", "B")}


def source(recording: gpu_checks.Recording | gpu_checks.Move) -> str:
    """Return a recording in words: its GPU and driver, and whether it is emulated or stale."""
    kind = "recording of" if recording.file else "live on"
    emulated = ", known emulated" if recording.emulated else ""
    stale = ", by kernels of another text" if recording.stale else ""
    return f"{kind} {recording.gpu}, {recording.sm}, driver {recording.driver}{emulated}{stale}"


def place(recording: gpu_checks.Recording | gpu_checks.Move) -> str:
    """Return the file and line of a recording; empty for a live one."""
    return f"{recording.file}:{recording.line}" if recording.file else ""
