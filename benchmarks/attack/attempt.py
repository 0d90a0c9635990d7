# SPDX-License-Identifier: Apache-2.0
"""One attempt of an attack, and the verdict of the project on what it tries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from verify import Report
from verify.core.errors import Exit, SpecError, UsageError


class Truth(StrEnum):
    """What the oracle says of an input."""

    RIGHT = "right"
    WRONG = "wrong"
    UNDEFINED = "undefined"  # the language leaves it open: everything but VERIFIED is fine


@dataclass(frozen=True, slots=True)
class Attempt:
    """One input, the oracle's answer, and the project's."""

    campaign: str
    number: int  # with the seed and the campaign's name it determines the input
    given: str  # what was tried, in words that suffice to try it again
    truth: Truth
    verdict: str  # VERIFIED, REFUTED, UNDECIDED, REJECTED or CRASHED
    fault: str = ""  # what is wrong with the verdict; empty if nothing is

    @property
    def key(self) -> tuple[str, int]:
        """Its identity in a log."""
        return self.campaign, self.number


VERDICTS = {Exit.OK: "VERIFIED", Exit.REFUTED: "REFUTED", Exit.UNDECIDED: "UNDECIDED"}


def verdict_of(verify: Callable[[], Report]) -> tuple[str, Report | None]:
    """Return the verdict of a call, and its report; an error of the user's input is REJECTED, any other CRASHED."""
    try:
        report = verify()
    except (UsageError, SpecError):
        return "REJECTED", None
    except Exception as error:  # whatever an input provokes is what the attack looks for
        return f"CRASHED: {type(error).__name__}: {error}"[:200], None
    return VERDICTS.get(report.exit(), "CRASHED: contradiction"), report


def fault_of(truth: Truth, verdict: str) -> str:
    """Return what is wrong with a verdict, or "".

    >>> fault_of(Truth.WRONG, "VERIFIED"), fault_of(Truth.RIGHT, "REFUTED"), fault_of(Truth.RIGHT, "UNDECIDED")
    ('false accept', 'false alarm', '')
    """
    if verdict.startswith("CRASHED"):
        return "crash"
    if verdict == "VERIFIED" and truth is not Truth.RIGHT:
        return "false accept"
    return "false alarm" if verdict == "REFUTED" and truth is Truth.RIGHT else ""
