# SPDX-License-Identifier: Apache-2.0
"""An atom as a file states it, and what can be wrong with such a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Atom:
    """The claim that an instruction deals its operands out to lanes as these layouts say.

    A layout maps (logical thread, value) to an element: A to m + M*k, B to n + N*k, C and D to m + M*n.
    Layouts are still text, because that they are layouts is the first claim.
    """

    name: str
    ptx: tuple[str, ...] | None  # the instructions in the order they are issued; None: not stated, (): none
    shape: tuple[int, int, int]  # M, N, K
    thr: str  # layout text, logical thread -> lane
    types: Mapping[str, str]  # D, A, B, C -> PTX type
    operands: Mapping[str, str]  # A, B, C -> layout text
    source: str
    element: Mapping[str, str]  # operand -> "2xf64": an element is two f64, and each obeys the layout; {}: plain
    known_defect: str | None  # why the atom is expected to be refuted
    file: str  # where it was read


class AtomFileError(ValueError):
    """A file of atoms cannot be read as one; the message is one line: file, key, problem."""

    LONGEST = 300

    def __init__(self, file: str, key: str, problem: str) -> None:
        self.file = file
        self.key = key
        self.problem = problem
        super().__init__(": ".join(_one_line(part) for part in (file, key, problem) if part))

    def __reduce__(self) -> tuple[type, tuple[str, str, str]]:
        """Pickle by the three arguments, so that the error crosses process borders."""
        return type(self), (self.file, self.key, self.problem)


def _one_line(text: str) -> str:
    """The text cut and with what does not print escaped: keys come from the file and may hold anything."""
    if len(text) > AtomFileError.LONGEST:
        text = text[: AtomFileError.LONGEST] + "..."
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
