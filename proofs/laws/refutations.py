# SPDX-License-Identifier: Apache-2.0
"""Published claims that are false, each with its smallest counterexample, found by exhaustive search.

Everything is computed from the definitions in plain Python, where a layout is a pair of flat tuples. The operations are
the published ones, or those of an implementation that is checked for the same errors.

`Refutation`, `catalogue`  a false claim, and all of them by name
`search`                   the smallest counterexample, a `WrongCase`
`SEARCHES`                 the cases of each search, in order of size, and their test
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from itertools import product as grid
from math import prod
from pathlib import Path

from proofs import definitions
from proofs.definitions import at, flat
from proofs.laws.published import Flat, InputRejected, Published, cosize, notation

Case = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Refutation:
    """A false claim."""

    name: str  # its key, R1 to R9
    claim: str  # the claim in words
    source: str  # where it is published
    confirmed: str  # the implementations and documents that have the error
    search: str  # the name of the search that finds the smallest counterexample
    published: str  # a counterexample from the literature or an issue tracker
    repair: str  # the condition under which the claim holds
    repaired_by: tuple[str, ...]  # the laws that prove the repair


@dataclass(frozen=True, slots=True)
class WrongCase:
    """A counterexample: its layouts and numbers, and what is wrong with them in words."""

    case: Case
    reason: str


@lru_cache(maxsize=1)
def catalogue() -> Mapping[str, Refutation]:
    """Return the refuted claims by name."""
    text = Path(__file__).with_name("refutations.toml").read_text(encoding="utf-8")
    return {
        name: Refutation(name=name, **{**entry, "repaired_by": tuple(entry["repaired_by"])})
        for name, entry in tomllib.loads(text).items()
    }


def explain_refutation(refutation: Refutation) -> str:
    """Return a refuted claim explained as text."""
    smallest = search(refutation)
    lines = [
        f"{refutation.name}: {refutation.claim}", f"  claimed by   {refutation.source}", "  status       false",
        f"  smallest     {smallest.reason if smallest else 'none found'}", f"  published    {refutation.published}",
        f"  confirmed    {refutation.confirmed}", f"  holds        {refutation.repair}",
        f"  proved by    {', '.join(refutation.repaired_by) or 'enumeration (tests)'}",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def search(refutation: Refutation, operations: Published | None = None) -> WrongCase | None:
    """Return the smallest counterexample, or None when the search finds none.

    ``operations`` are those of an implementation; by default the published ones.

    >>> print(search(catalogue()["R9"]).reason)
    ((1,),) and (1,) are compatible with one another and differ
    """
    cases, test = SEARCHES[refutation.search]
    tried = operations or Published()
    for case in cases():
        with suppress(InputRejected):
            if reason := test(tried, *case):
                return WrongCase(case, reason)
    return None


def count_cases(refutation: Refutation) -> int:
    """Return the number of cases of the search."""
    return sum(1 for _ in SEARCHES[refutation.search][0]())


def _distributive(on: Published, a: Flat, b: Flat) -> str:
    """Return a coordinate at which by-mode composition is wrong, in words; empty when there is none."""
    result = on.by_mode(a, b)
    for c in grid(*map(range, b[0])):
        x = sum(i * d for i, d in zip(c, b[1], strict=True))
        got, expected = sum(at(flat(mode), i) for mode, i in zip(result, c, strict=True)), at(flat(a), x)
        if got != expected:
            return f"A = {notation(a)}, B = {notation(b)}: at {c} the result gives {got}, A(B(c)) = A({x}) = {expected}"
    return ""


def _injective_case(on: Published, a: Flat, b: Flat) -> str:
    injective = len({at(flat(b), i) for i in range(prod(b[0]))}) == prod(b[0])
    return _distributive(on, a, b) if injective else ""


def _intervals_case(on: Published, a: Flat, b: Flat) -> str:
    spans = sorted((r, (n - 1) * r) for n, r in zip(*b, strict=True))
    apart = all(low[1] < high[0] for low, high in pairwise(spans))
    return _distributive(on, a, b) if apart else ""


def _images_case(on: Published, a: Flat, b: Flat) -> str:
    images = [set(range(r, n * r, r)) for n, r in zip(*b, strict=True)]
    divisible = all(r % s == 0 or s % r == 0 for s in a[0][:-1] for r in b[1])
    apart = len(set().union(*images)) == sum(map(len, images))
    return _distributive(on, a, b) if divisible and apart else ""


def _pairs(rank: int) -> Iterator[tuple[Flat, Flat]]:
    """Yield A = (s,2):(1,s+1) and B with ``rank`` small modes, by the sum of all numbers that vary."""
    top = 7 if rank == 2 else 6
    candidates = [
        (s, modes)
        for s in range(2, top + 1)
        for modes in grid(grid(range(2, 4), range(1, 5)), repeat=rank)
        if [r for _, r in modes] == sorted(r for _, r in modes)
    ]
    for s, modes in sorted(candidates, key=lambda c: (c[0] + sum(map(sum, c[1])), c)):
        yield ((s, 2), (1, s + 1)), (tuple(n for n, _ in modes), tuple(r for _, r in modes))


def _single(on: Published, a: Flat, b: Flat, guard: str) -> str:
    result = on.fold(a, b[0][0], b[1][0], guard)
    wrong = definitions.composition(flat(a), flat(b), flat(result))
    return f"A = {notation(a)}, B = {notation(b)}: R = {notation(result)}, {wrong}" if wrong else ""


def _modes() -> Iterator[tuple[Flat, Flat]]:
    ranges = [(s, n, r) for s in range(2, 6) for n in range(2, 6) for r in range(1, 6)]
    for s, n, r in sorted(ranges, key=lambda c: (sum(c), c)):
        yield ((s, 2), (1, 100)), ((n,), (r,))


def _layouts_with_target() -> Iterator[tuple[Flat, int]]:
    rank_1 = [((n,), (d,), t) for n in range(2, 5) for d in range(1, 5) for t in range(1, 13)]
    rank_2 = [((2, n), (d, e), t) for n in (2, 3) for d in (1, 2) for e in range(2 * d, 8) for t in range(1, 13)]
    for shapes, strides, t in sorted([*rank_1, *rank_2], key=lambda c: (sum(c[0]) + sum(c[1]) + c[2], c)):
        yield (shapes, strides), t


def _covers(on: Published, a: Flat, t: int) -> str:
    rest = on.complement(a, t)
    whole = cosize((a[0] + rest[0], a[1] + rest[1]))
    return f"A = {notation(a)}, T = {t}: complement {notation(rest)}, cosize {whole} < {t}" if whole < t else ""


def _round_up(on: Published, a: Flat, t: int) -> str:
    rest = on.complement(a, t)
    bound = -(-t // cosize(a)) * cosize(a)
    if cosize(rest) >= bound:
        return ""
    return f"A = {notation(a)}, T = {t}: complement {notation(rest)}, cosize {cosize(rest)} < {bound}"


def _left_inverse(on: Published, a: Flat) -> str:
    inverse = on.left_inverse(a)
    wrong = definitions.left_inverse(flat(a), flat(inverse))
    return f"L = {notation(a)}: R = {notation(inverse)}, {wrong}" if wrong else ""


def _disjoint_modes() -> Iterator[tuple[Flat]]:
    ranges = [(s, t, e) for s in range(2, 5) for t in range(2, 9) for e in range(s, 8)]
    for s, t, e in sorted(ranges, key=lambda c: (sum(c), c)):
        yield (((s, t), (1, e)),)


def _order(on: Published, a: object, b: object) -> str:
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
