# SPDX-License-Identifier: Apache-2.0
"""Guards that had one value in every thread of every run: what the other value would do was not seen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from verify.kernel.ptx.source import PtxInstruction, Register, Vector

LISTED = 6  # lines of one kind


def constant_guards(instructions: Sequence[PtxInstruction], values: Mapping[int, int]) -> Iterable[str]:
    """Say which guards were never true and which never false, by the setp that made them.

    `values` has 1 for a guard that was true, 2 for one that was false and 3 for both, by the number of its instruction.
    """
    makers: dict[int, int] = {}
    for number, value in values.items():
        guard = instructions[number].guard
        if guard is not None:
            line = _maker(instructions, number, guard.index)
            makers[line] = makers.get(line, 0) | value
    for which, word in ((2, "true"), (1, "false")):
        lines = sorted(line for line, seen in makers.items() if seen == which and line)
        if lines:
            listed = ", ".join(map(str, lines[:LISTED])) + (f" and {len(lines) - LISTED} more" * (len(lines) > LISTED))
            sole = len(lines) == 1
            yield f"the setp of line{'' if sole else 's'} {listed} {'was' if sole else 'were'} never {word} in a guard"


def _maker(instructions: Sequence[PtxInstruction], number: int, predicate: int) -> int:
    """Return the line of the last instruction in the text before another that writes a predicate; 0 if none does."""
    for inst in reversed(instructions[:number]):
        first = inst.operands[0] if inst.operands else None
        targets = first.items if isinstance(first, Vector) else (first,)
        if any(isinstance(each, Register) and each.index == predicate for each in targets):
            return inst.line
    return 0
