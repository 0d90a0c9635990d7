# SPDX-License-Identifier: Apache-2.0
"""A report as compilers print theirs, FILE:LINE:COLUMN: error: TEXT [RULE]: editors jump to such lines."""

from __future__ import annotations

import re

from verify.report import Report
from verify.report.alerts import Alert, Level, alerts
from verify.report.as_text import summary

_PLACED = re.compile(r"([^\s:]+:\d+(?::\d+)?): ")
_WORDS = {Level.ERROR: "error", Level.WARNING: "warning", Level.NOTE: "note"}


def render(report: Report) -> str:
    """Return a line for each alert and, indented, what else it says; then the last line of the text."""
    return "".join(f"{line}\n" for line in (*map(_diagnostic, alerts(report)), summary(report)))


def _diagnostic(alert: Alert) -> str:
    r"""Return an alert in a compiler's form.

    >>> from verify.core.verdict import Place
    >>> print(_diagnostic(Alert("size", "size", Level.ERROR, "mine", "wrong\nrepair: 4:1", place=Place("a.toml", 3))))
    a.toml:3:1: error: wrong [size]
        repair: 4:1

    An error of a file often begins with its place.

    >>> print(_diagnostic(Alert("readable", "", Level.ERROR, "", "a.toml:3:5: B: missing")))
    a.toml:3:5: error: B: missing [readable]
    """
    first, *rest = (alert.exact or alert.text).split("\n")  # who reads it runs the replay with its seed
    placed = _PLACED.match(first)  # of what can't be read
    where = f"{alert.place}" if alert.place else placed[1] if placed else "lanecheck"
    first = first[placed.end() :] if placed else first
    return "\n".join([f"{where}: {_WORDS[alert.level]}: {first} [{alert.rule}]", *(f"    {line}" for line in rest)])
