# SPDX-License-Identifier: Apache-2.0
"""Published claims that are false, each with its smallest counterexample, found here by exhaustive search.

Everything is computed from the definitions in plain Python: a layout is a pair of flat tuples. The operations are the
published ones, or those of an implementation, which is then held to the claims.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from itertools import product as grid
from math import prod
from pathlib import Path

from proofs.laws.published import Flat, Operations, Published, cosize, spell, value

Case = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Refutation:
    """A false claim, where it is published, and what holds instead."""

    name: str
    claim: str
    source: str
    confirmed: str
    search: str
    published: str
    repair: str
    repaired_by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """A counterexample: what it is made of, and how it reads with its numbers."""

    case: Case
    told: str


@lru_cache(maxsize=1)
def catalogue() -> Mapping[str, Refutation]:
    """The refuted claims by name."""
    text = Path(__file__).with_name("refutations.toml").read_text(encoding="utf-8")
    return {
        name: Refutation(name=name, **{**entry, "repaired_by": tuple(entry["repaired_by"])})
        for name, entry in tomllib.loads(text).items()
    }


def explained(refutation: Refutation) -> str:
    """A refuted claim as a page of text."""
    found = search(refutation)
    lines = [
        f"{refutation.name}: {refutation.claim}", f"  claimed by   {refutation.source}", "  status       false",
        f"  smallest     {found.told if found else 'none found'}", f"  published    {refutation.published}",
        f"  confirmed    {refutation.confirmed}", f"  holds        {refutation.repair}",
        f"  proved by    {', '.join(refutation.repaired_by) or 'enumeration (tests)'}",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def search(refutation: Refutation, operations: Operations | None = None) -> Found | None:
    """The first counterexample in order of size, or None within the bounds of the search.

    ``operations`` are those of an implementation; the published ones by default.
    """
    cases, test = SEARCHES[refutation.search]
    tried = operations or Published()
    return next((Found(case, told) for case in cases() if (told := test(tried, *case))), None)


def searched(refutation: Refutation) -> int:
    """How many cases the search has."""
    return sum(1 for _ in SEARCHES[refutation.search][0]())


def breaks(refutation: Refutation) -> str:
    """How the published counterexample breaks the claim; empty when it does not."""
    _, test = SEARCHES[refutation.search]
    return test(Published(), *_case(refutation.published))


def _case(text: str) -> Case:
    """The parts of a published counterexample: layouts, numbers, shapes."""
    parts: list[object] = []
    for part in re.split(r" o | and |, T = ", text):
        if ":" in part:
            shapes, strides = (tuple(map(int, side.strip("()").split(","))) for side in part.split(":"))
            parts.append((shapes, strides))
        else:
            parts.append(_nested(part) if part.startswith("(") else int(part))
    return tuple(parts)


def _nested(text: str) -> object:
    """A nested tuple of integers, read without evaluating anything."""
    stack: list[list[object]] = [[]]
    for token in re.findall(r"\d+|[()]", text):
        if token == "(":
            stack.append([])
        elif token == ")":
            done = tuple(stack.pop())
            stack[-1].append(done)
        else:
            stack[-1].append(int(token))
    return stack[0][0]


def _distributive(on: Operations, a: Flat, b: Flat) -> str:
    """Where by-mode composition is wrong; empty when it is right everywhere."""
    result = on.by_mode(a, b)
    if result is None:
        return ""
    for c in grid(*map(range, b[0])):
        x = sum(i * d for i, d in zip(c, b[1], strict=True))
        got = sum(value(mode, i) for mode, i in zip(result, c, strict=True))
        if got != value(a, x):
            return f"A = {spell(a)}, B = {spell(b)}: at {c} the result gives {got}, A(B(c)) = A({x}) = {value(a, x)}"
    return ""


def _injective_case(on: Operations, a: Flat, b: Flat) -> str:
    injective = len({value(b, i) for i in range(prod(b[0]))}) == prod(b[0])
    return _distributive(on, a, b) if injective else ""


def _intervals_case(on: Operations, a: Flat, b: Flat) -> str:
    spans = sorted((r, (n - 1) * r) for n, r in zip(*b, strict=True))
    apart = all(low[1] < high[0] for low, high in pairwise(spans))
    return _distributive(on, a, b) if apart else ""


def _images_case(on: Operations, a: Flat, b: Flat) -> str:
    images = [set(range(r, n * r, r)) for n, r in zip(*b, strict=True)]
    divisible = all(r % s == 0 or s % r == 0 for s in a[0][:-1] for r in b[1])
    apart = len(set().union(*images)) == sum(map(len, images))
    return _distributive(on, a, b) if divisible and apart else ""


def _pairs(rank: int) -> Iterator[tuple[Flat, Flat]]:
    """A = (s,2):(1,s+1) and B of a rank with small modes, in order of the sum of all numbers that vary."""
    top = 7 if rank == 2 else 6
    candidates = [
        (s, modes)
        for s in range(2, top + 1)
        for modes in grid(grid(range(2, 4), range(1, 5)), repeat=rank)
        if [r for _, r in modes] == sorted(r for _, r in modes)
    ]
    for s, modes in sorted(candidates, key=lambda c: (c[0] + sum(map(sum, c[1])), c)):
        yield ((s, 2), (1, s + 1)), (tuple(n for n, _ in modes), tuple(r for _, r in modes))


def _single(on: Operations, a: Flat, b: Flat, guard: str) -> str:
    result = on.fold(a, b[0][0], b[1][0], guard)
    given = f"A = {spell(a)}, B = {spell(b)}"
    if result is None:
        return ""
    if prod(result[0]) != b[0][0]:
        return f"{given}: the result {spell(result)} has {prod(result[0])} coordinates, B {b[0][0]}"
    for k in range(b[0][0]):
        x = k * b[1][0]
        got, wanted = value(result, k), value(a, x)
        if got != wanted:
            return f"{given}: R = {spell(result)}, R({k}) = {got}, A(B({k})) = A({x}) = {wanted}"
    return ""


def _modes() -> Iterator[tuple[Flat, Flat]]:
    ranges = [(s, n, r) for s in range(2, 6) for n in range(2, 6) for r in range(1, 6)]
    for s, n, r in sorted(ranges, key=lambda c: (sum(c), c)):
        yield ((s, 2), (1, 100)), ((n,), (r,))


def _layouts_with_target() -> Iterator[tuple[Flat, int]]:
    ones = [((n,), (d,), t) for n in range(2, 5) for d in range(1, 5) for t in range(1, 13)]
    twos = [((2, n), (d, e), t) for n in (2, 3) for d in (1, 2) for e in range(2 * d, 8) for t in range(1, 13)]
    for shapes, strides, t in sorted([*ones, *twos], key=lambda c: (sum(c[0]) + sum(c[1]) + c[2], c)):
        yield (shapes, strides), t


def _covers(on: Operations, a: Flat, t: int) -> str:
    rest = on.complement(a, t)
    if rest is None:
        return ""
    whole = cosize((a[0] + rest[0], a[1] + rest[1]))
    return f"A = {spell(a)}, T = {t}: complement {spell(rest)}, cosize {whole} < {t}" if whole < t else ""


def _round_up(on: Operations, a: Flat, t: int) -> str:
    rest = on.complement(a, t)
    if rest is None:
        return ""
    bound = -(-t // cosize(a)) * cosize(a)
    told = f"A = {spell(a)}, T = {t}: complement {spell(rest)}, cosize {cosize(rest)} < {bound}"
    return told if cosize(rest) < bound else ""


def _left_inverse(on: Operations, a: Flat) -> str:
    inverse = on.left_inverse(a)
    if inverse is None:
        return ""
    for k in range(prod(a[0])):
        if (back := value(inverse, value(a, k))) != k:
            return f"L = {spell(a)}: {spell(inverse)} sends L({k}) = {value(a, k)} to {back}"
    return ""


def _disjoint_modes() -> Iterator[tuple[Flat]]:
    ranges = [(s, t, e) for s in range(2, 5) for t in range(2, 9) for e in range(s, 8)]
    for s, t, e in sorted(ranges, key=lambda c: (sum(c), c)):
        yield (((s, t), (1, e)),)


def _order(on: Operations, a: object, b: object) -> str:
    both = a != b and on.compatible(a, b) and on.compatible(b, a)
    return f"{a} and {b} are compatible with one another and differ" if both else ""


def _shapes() -> Iterator[tuple[object, object]]:
    parts: list[object] = [1, 2, (1,), (2,), (1, 2), (2, 1)]
    shapes: list[object] = [(p,) for p in parts]
    yield from ((a, b) for i, a in enumerate(shapes) for b in shapes[:i])


SEARCHES: Mapping[str, tuple[Callable[[], Iterable[Case]], Callable[..., str]]] = {
    "distributive_injective": (lambda: _pairs(2), _injective_case),
    "distributive_intervals": (lambda: _pairs(3), _intervals_case),
    "distributive_images": (lambda: _pairs(2), _images_case),
    "weak_stride": (_modes, lambda on, a, b: _single(on, a, b, "weak")),
    "shape_divides": (_modes, lambda on, a, b: _single(on, a, b, "divides")),
    "complement_covers": (_layouts_with_target, _covers),
    "complement_round_up": (_layouts_with_target, _round_up),
    "left_inverse": (_disjoint_modes, _left_inverse),
    "compatible_order": (_shapes, _order),
}
