# SPDX-License-Identifier: Apache-2.0
"""Accepted edits that were read by hand, with the reason why each kernel is right: the rows of `readings.toml`."""

from __future__ import annotations

import re
import tomllib
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.kernels.edits import Edit

READINGS = Path(__file__).with_suffix(".toml")


def find_reading(kernel: str, edit: Edit) -> str:
    """Return the reason that was read of an edit of a kernel; "" if nobody read it.

    >>> find_reading("mma_s8", Edit(7, "trips", " setp.lt.s32 %p5, %r6, %r8;", " setp.le.s32 %p5, %r6, %r8;"))[:15]
    'One trip more: '
    """
    old, new = (" ".join(text.split()) for text in (edit.old, edit.new))
    for row in _rows():
        pair = re.fullmatch(f"{row['old']} -> {row['new']}", f"{old} -> {new}")
        there = fnmatchcase(kernel, row["kernel"]) and row.get("line", edit.line) == edit.line
        if pair and there and row["sort"] == edit.sort:
            return str(row["reason"])
    return ""


@cache
def _rows() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = tomllib.loads(READINGS.read_text(encoding="utf-8"))["reading"]
    return rows
