# SPDX-License-Identifier: Apache-2.0
"""Where the two ways of a branch meet again: its immediate postdominator, and the instructions before it.

Places are numbers of instructions; the end of the kernel is the one behind the last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from verify.kernel.ptx.source import PtxInstruction

_ENDS = ("ret", "exit")


class ControlFlow:
    """The control flow graph of a kernel, instruction by instruction."""

    def __init__(self, instructions: Sequence[PtxInstruction]) -> None:
        self.instructions, self.end = instructions, len(instructions)

    def successors(self, place: int) -> Iterator[int]:
        """Yield the places to which control may go from one."""
        if place == self.end:
            return
        inst = self.instructions[place]
        head, sure = inst.words[0], inst.guard is None
        if head in _ENDS:
            yield self.end
        elif head in ("bra", "brx"):
            yield from inst.targets or (inst.target,)
        if not sure or head not in (*_ENDS, "bra", "brx"):
            yield place + 1

    @cached_property
    def _meets(self) -> list[int]:
        """The immediate postdominator of each place; -1 for one that no end can be reached from.

        Cooper, Harvey, Kennedy, "A simple, fast dominance algorithm", on the graph with its edges turned round.
        """
        before: list[list[int]] = [[] for _ in range(self.end + 1)]
        after = [list(self.successors(place)) for place in range(self.end + 1)]
        for place, places in enumerate(after):
            for to in places:
                before[to].append(place)
        order, number = self._postorder(before)
        meets = [-1] * (self.end + 1)
        meets[self.end] = self.end
        changed = True
        while changed:
            changed = False
            for place in reversed(order[:-1]):
                meet = -1
                for to in after[place]:
                    if meets[to] >= 0:
                        meet = to if meet < 0 else _intersect(meets, number, meet, to)
                if meet != meets[place]:
                    meets[place], changed = meet, True
        return meets

    def _postorder(self, before: Sequence[Sequence[int]]) -> tuple[list[int], list[int]]:
        """Return the places in postorder of a walk back from the end, and the number of each in it."""
        order, number = list[int](), [-1] * (self.end + 1)
        seen, stack = {self.end}, [(self.end, iter(before[self.end]))]
        while stack:
            place, rest = stack[-1]
            into = next((source for source in rest if source not in seen), None)
            if into is None:
                number[place] = len(order)
                order.append(place)
                stack.pop()
            else:
                seen.add(into)
                stack.append((into, iter(before[into])))
        return order, number

    def join(self, branch: int) -> int:
        """Return where the ways of a branch meet, -1 if they don't."""
        return self._meets[branch]

    def between(self, branch: int, join: int) -> set[int]:
        """Return the places on some way from a branch to where its ways meet; the branch is one if a loop has it."""
        places, todo = set[int](), [to for to in self.successors(branch) if to != join]
        while todo:
            place = todo.pop()
            if place not in places and place != self.end:
                places.add(place)
                todo += [to for to in self.successors(place) if to != join]
        return places


def _intersect(meets: Sequence[int], number: Sequence[int], left: int, right: int) -> int:
    """Return the first place that postdominates two."""
    while left != right:
        while number[left] < number[right]:
            left = meets[left]
        while number[right] < number[left]:
            right = meets[right]
    return left
