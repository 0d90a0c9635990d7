# SPDX-License-Identifier: Apache-2.0
"""Where the ways of a branch meet: against its definition, on random kernels of branches."""

from __future__ import annotations

import random

import pytest

from verify.kernel.ptx.joins import ControlFlow
from verify.kernel.ptx.source import PtxInstruction, Register


def draw(seed: int) -> list[PtxInstruction]:
    """A kernel of branches, exits and other instructions."""
    pick, count = random.Random(seed), 12
    made = []
    for line in range(count):
        head = pick.choice(["bra", "bra", "ret", "add", "add"])
        guard = Register("%p1", 0) if head == "bra" or pick.random() < 0.5 else None
        target = pick.randrange(count) if head == "bra" else -1
        made.append(PtxInstruction(line, "", (head,), guard, (), None, target))
    return made


def reaches_end(flow: ControlFlow, start: int, without: int) -> bool:
    """Whether the end can be reached from a place without passing another."""
    seen, todo = {start}, [start]
    while todo:
        for to in flow.successors(todo.pop()):
            if to != without and to not in seen:
                seen.add(to)
                todo.append(to)
    return flow.end in seen


@pytest.mark.parametrize("seed", range(60))
def test_the_join_is_the_nearest_place_on_every_way_to_the_end(seed: int) -> None:
    flow = ControlFlow(draw(seed))
    for branch in range(flow.end):
        if not reaches_end(flow, branch, -1):
            assert flow.join(branch) == -1
            continue
        on_all = [node for node in range(flow.end) if node != branch and not reaches_end(flow, branch, node)]
        on_all.append(flow.end)
        join = flow.join(branch)
        assert join in on_all
        assert all(node in {join, flow.end} or not reaches_end(flow, join, node) for node in on_all)
        for place in flow.between(branch, join):
            assert place != join and reaches_end(flow, place, -1) <= (join not in (-1, place))
