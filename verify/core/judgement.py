# SPDX-License-Identifier: Apache-2.0
"""The rule for what the functions of `verify` return: true if it is verified, and `check` raises if it is not."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self

from verify.core.errors import Exit

SHORT = 160  # characters of a line


class Judgement(ABC):
    """What a command found, with its exit code and its text. It is true if the exit code is OK.

    `assert report` and `report.check()` fail for the same reports; `check` says why.
    """

    __slots__ = ()

    @abstractmethod
    def exit(self) -> Exit:
        """Return the exit code of the command that prints it."""

    @abstractmethod
    def text(self) -> str:
        """Return what the command prints."""

    @abstractmethod
    def brief(self) -> str:
        """Return what was found, in a few words."""

    def check(self) -> Self:
        """Return it if it is verified; else raise AssertionError with its whole text."""
        __tracebackhide__ = True  # pytest shows the user's line, not this one
        if not self:
            raise AssertionError(self.text().rstrip())
        return self

    def __bool__(self) -> bool:
        return self.exit() is Exit.OK

    def __repr__(self) -> str:
        line = " ".join(self.brief().split())
        line = line if len(line) <= SHORT else f"{line[: SHORT - 1]}…"
        return f"<{type(self).__name__} {self.exit().name}: {line}>"
