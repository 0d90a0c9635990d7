# SPDX-License-Identifier: Apache-2.0
"""A part of a launch: some of its CTAs, for a launch that takes too long, and when they speak for themselves alone.

The CTAs at the corners and on the edges of the grid, and eight that a seed draws. What one of them does is what it does
in the whole launch only if none waits for another or reads what another writes: `find_exchange` says what speaks
against that. A part refutes a kernel, and never verifies it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product

from verify.kernel.ptx.source import Address, Kernel, Operand, Register, Symbol, Vector

DRAWN = 8  # CTAs beside those of corners and edges
LOADS = frozenset("ld ldu ldmatrix prefetch prefetchu applypriority isspacep".split())
ELSEWHERE = frozenset("global const param".split())  # a load from there reads nothing that the thread put away
KEPT = "kept in memory"  # stands for all that is stored, in local memory as a spilled pointer is


def choose_ctas(grid: tuple[int, int, int], seed: int) -> tuple[int, ...]:
    """Return the numbers of CTAs at the corners, one on each edge, and eight that the seed draws, in order.

    >>> choose_ctas((4, 1, 1), 1)
    (0, 1, 2, 3)
    >>> len(choose_ctas((128, 128, 1), 1))
    16
    """
    draw = random.Random(seed)
    ends = [sorted({0, extent - 1}) for extent in grid]
    chosen = set(product(*ends))
    for axis, extent in enumerate(grid):
        if extent > 2:
            rest = [ends[dim] if dim != axis else [draw.randrange(1, extent - 1)] for dim in range(3)]
            chosen |= set(product(*rest)) if sum(size > 1 for size in grid) > 1 else set()
    x, y, z = grid
    numbers = {i + x * (j + y * k) for i, j, k in chosen}
    left = range(x * y * z)
    while len(numbers) < min(len(left), len(chosen) + DRAWN):
        numbers.add(draw.choice(left))
    return tuple(sorted(numbers))


def find_exchange(kernel: Kernel) -> str:
    """Return how CTAs of a kernel may exchange data, with the line; empty if none does."""
    if kernel.clusters:
        return f"line {kernel.clusters[0]}: clusters of several CTAs"
    for inst in kernel.instructions:
        words = set(inst.words)
        head, shared = inst.words[0], any(word.startswith("shared") for word in inst.words)
        cluster = words & {"cluster", "multimem"} and head in ("barrier", "mapa", "multimem", "clusterlaunchcontrol")
        if head in ("multimem", "clusterlaunchcontrol", "mapa") or cluster or (
            (inst.is_strong or head in ("atom", "red")) and not shared
        ) or (head == "cp" and "reduce" in words):  # fmt: skip
            return f"line {inst.line}: {inst.text[:60]}"
    return ""


def list_stored(kernel: Kernel) -> frozenset[str]:
    """Return the parameters from which the address of a store may be computed: no other array is written.

    It follows registers, not their order; what is loaded through a parameter counts as computed from it, and what is
    loaded from local or shared memory as computed from all that is stored.
    """
    sources: dict[int | str, set[int | str]] = {}
    stored: set[int | str] = set()
    for inst in kernel.instructions:
        made, *read = inst.operands or ((),)
        loads = inst.words[0] in LOADS
        if not loads:
            first = next((each for each in inst.operands if isinstance(each, Address)), None)
            stored |= set(_leaves(first)) if first is not None else set()
        given = {leaf for each in read for leaf in _leaves(each)}
        if loads and not ELSEWHERE.intersection(inst.words):
            given.add(KEPT)
        if isinstance(made, Address):
            sources.setdefault(KEPT, set()).update(given)
        if inst.guard is not None:
            given.add(inst.guard.index)
        for leaf in _leaves(made) if not isinstance(made, Address) else ():
            if isinstance(leaf, int):
                sources.setdefault(leaf, set()).update(given)
    rest, seen = list(stored), set(stored)
    while rest:
        for leaf in sources.get(rest.pop(), ()):
            if leaf not in seen:
                seen.add(leaf)
                rest.append(leaf)
    return frozenset(name for name in kernel.parameters if name in seen)


def _leaves(operand: Operand | tuple[()] | None) -> Iterator[int | str]:
    """Yield the registers of an operand by number, and its symbols by name."""
    if isinstance(operand, Register):
        yield operand.index
    elif isinstance(operand, Symbol):
        yield operand.name
    elif isinstance(operand, Address):
        yield from _leaves(operand.base)
        for each in operand.coordinates:
            yield from _leaves(each)
    elif isinstance(operand, Vector):
        for each in operand.items:
            yield from _leaves(each)
