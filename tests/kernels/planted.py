# SPDX-License-Identifier: Apache-2.0
"""The page of the bugs that are planted in attention, softmax and norms: what `planted.toml` says of each.

`test_exponentials` compiles and checks every one, and holds its verdict and what is named against that file.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from verify.kernel.check import LaunchOutcome
from verify.kernel.state.findings import WARNINGS

BUGS: Mapping[str, Mapping[str, Any]] = tomllib.loads(Path(__file__).with_name("planted.toml").read_text())
HEAD = """# Planted bugs of attention

Bugs that people make in [attention](attention.md), softmax and norms, each planted in one of our kernels, compiled and
checked. "Names" is what the first finding says beyond the wrong element: a change of the claim that gives all wrong
elements, or the kind of the finding. Without one, an element is shown with its value and with the one that it should
have. This page is made of `tests/kernels/planted.toml`, which a test holds against the verdicts.

<!-- planted -->

{all} classes: {refuted} are refuted, {named} of them with a cause, and {warned} are right in exact arithmetic, where
only an overflow is at stake: they are verified with a warning that an exponent is above 0. {same} only look wrong:
they are verified, since they compute the same.

| bug | kernel | in place of | stands | verdict | names |
|---|---|---|---|---|---|
"""
SHORT = 60  # characters of a line that are shown
WARNED = "VERIFIED, warned"
PLAIN = "wrong element"  # the finding that every wrong value has
CHANGE = ": that gives all wrong elements"  # what follows a change of the claim


def page() -> str:
    """Return the page."""
    verdicts = [verdict(bug) for bug in BUGS.values()]
    named = sum(bug["says"] not in ("", PLAIN) for bug in BUGS.values())
    counts = {"refuted": verdicts.count("REFUTED"), "warned": verdicts.count(WARNED), "named": named}
    counts["same"] = verdicts.count("VERIFIED")
    head = HEAD.format(all=len(BUGS), **counts)
    return head + "".join(_row(name, bug) for name, bug in BUGS.items()) + "\n<!-- /planted -->\n"


def verdict(bug: Mapping[str, Any]) -> str:
    """Return what the check should say of a bug."""
    return WARNED if bug.get("overflow") else "VERIFIED" if bug.get("right") else "REFUTED"


def say_finding(outcome: LaunchOutcome) -> tuple[str, str]:
    """Return the verdict on a kernel, and its first finding that refutes: its kind, or the change that it names."""
    overflows = any("no power of 2 overflows" in text for text, _ in outcome.notes)
    first = next((finding for finding in outcome.findings if finding.severity not in WARNINGS), None)
    named = "" if first is None else first.text.partition(CHANGE)[0] if CHANGE in first.text else first.kind
    return WARNED if outcome.status == "VERIFIED" and overflows else outcome.status, named


def _row(name: str, bug: Mapping[str, Any]) -> str:
    named = "" if bug["says"] == PLAIN else bug["says"].replace("|", "\\|").replace("*", "\\*")
    parts = (name.replace("_", " "), f"`{bug['kernel']}`", _code(bug["old"]), _code(bug["new"]), verdict(bug), named)
    return f"| {' | '.join(parts)} |\n".replace("|  |", "| |")


def _code(text: str) -> str:
    """Return a line of a source as code, its end left out if it is long; a dash for no line."""
    line = " ".join(text.split()).replace("|", "\\|")
    return f"`{line[:SHORT]}{'…' if len(line) > SHORT else ''}`" if line else "-"
