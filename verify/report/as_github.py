# SPDX-License-Identifier: Apache-2.0
"""A report as GitHub's workflow commands: an annotation at the line of each alert, then the last line of the text."""

from __future__ import annotations

from verify.report import Report
from verify.report.alerts import Alert, Level, alerts
from verify.report.as_text import summary

COMMANDS = {Level.ERROR: "error", Level.WARNING: "warning", Level.NOTE: "notice"}
DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
VALUE = {**DATA, **str.maketrans({":": "%3A", ",": "%2C"})}


def render(report: Report) -> str:
    """Return the report, a line for each alert; GitHub shows ten of each level of a step, its log has all."""
    return "".join(f"{line}\n" for line in (*map(_annotation, alerts(report)), summary(report)))


def _annotation(alert: Alert) -> str:
    r"""Return a workflow command; whatever a text contains, it ends the line only.

    >>> from verify.core.verdict import Place
    >>> print(_annotation(Alert("size", "size", Level.ERROR, "mine", "100%\nwrong", place=Place("a,b.toml", 3))))
    ::error file=a%2Cb.toml,line=3,col=1,title=mine%3A size::100%25%0Awrong
    """
    title = f"{alert.subject or 'lanecheck'}: {alert.words}"
    values = {"title": title}
    if alert.place:
        place = alert.place
        values = {"file": place.file, "line": str(place.line), "col": str(place.column), **values}
    listed = ",".join(f"{name}={value.translate(VALUE)}" for name, value in values.items())
    return f"::{COMMANDS[alert.level]} {listed}::{alert.text.translate(DATA)}"
