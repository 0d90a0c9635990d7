# SPDX-License-Identifier: Apache-2.0
"""The exit codes, one rule for every command; docs/stability.md has the same table."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """Exit codes, the same for every command."""

    OK = 0
    REFUTED = 1
    USAGE = 2
    CONTRADICTION = 3
    UNDECIDED = 4
    EMPTY = 5
    INTERRUPTED = 130


RULE = """exit codes, of every command: 0 verified, or done; 1 something is REFUTED; 2 usage, a name that nothing has, a
file that is malformed or cannot be written; 3 a CONTRADICTION, or an internal error (outranks 1); 4 undecided: UNKNOWN,
or UNCHECKED, as without the GPU that was asked for, and no --allow-unchecked; 5 nothing selected; 130 interrupted"""
